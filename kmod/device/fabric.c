// SPDX-License-Identifier: GPL-2.0-only
/* Fabric: parameters that play the part of a rack's system software. */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/module.h>
#include <linux/uuid.h>
#include "device.h"

static const char * const state_names[] = { "ready", "not_ready", "illegal" };
static int fabric_state;

static int state_set(const char *value, const struct kernel_param *param)
{
	int state = sysfs_match_string(state_names, value);

	if (state < 0)
		return state;
	WRITE_ONCE(fabric_state, state);
	return 0;
}

static int state_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", state_names[READ_ONCE(fabric_state)]);
}

static const struct kernel_param_ops state_ops = {
	.set = state_set,
	.get = state_get,
};
module_param_cb(fabric_state, &state_ops, NULL, 0644);
MODULE_PARM_DESC(fabric_state, "ready, not_ready or illegal: what joining, binding and fabric handles find (default ready)");

/* States of one device's link to the fabric, by which the device's attribute names them */
static const char * const link_names[] = {
	[MC_LINK_READY] = "ready",
	[MC_LINK_IN_PROGRESS] = "in_progress",
	[MC_LINK_FAILED] = "failed",
};

static ssize_t fabric_state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", link_names[READ_ONCE(mc_device_of(dev)->link)]);
}

static ssize_t fabric_state_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	int state = sysfs_match_string(link_names, buf);

	if (state < 0)
		return state;
	WRITE_ONCE(mc_device_of(dev)->link, state);
	return count;
}
DEVICE_ATTR_RW(fabric_state);

/* The rack's UUID, and the number of a part of it. NVML reports them; the module ignores them. */
static uuid_t fabric_cluster;

static int cluster_set(const char *value, const struct kernel_param *param)
{
	uuid_t cluster;

	if (uuid_parse(value, &cluster) ||
	    (value[UUID_STRING_LEN] && strcmp(value + UUID_STRING_LEN, "\n")))
		return -EINVAL;
	fabric_cluster = cluster;
	return 0;
}

static int cluster_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%pUb\n", &fabric_cluster);
}

static const struct kernel_param_ops cluster_ops = {
	.set = cluster_set,
	.get = cluster_get,
};
module_param_cb(fabric_cluster, &cluster_ops, NULL, 0644);
MODULE_PARM_DESC(fabric_cluster, "UUID of the rack that NVML tells (default zeros: none)");

static unsigned int fabric_clique;
module_param(fabric_clique, uint, 0644);
MODULE_PARM_DESC(fabric_clique, "which devices of a rack reach each other, as NVML tells it (default 0)");

static bool multicast = true;
module_param(multicast, bool, 0644);
MODULE_PARM_DESC(multicast, "devices can multicast (default yes)");

static unsigned int team_slots = 1024;

static int slots_set(const char *value, const struct kernel_param *param)
{
	unsigned int slots;
	int ret = kstrtouint(value, 0, &slots);

	if (ret)
		return ret;
	if (!slots) {
		pr_err("team_slots=0: no team could have bindings; must be 1 or more\n");
		return -EINVAL;
	}
	WRITE_ONCE(team_slots, slots);
	return 0;
}

static const struct kernel_param_ops slots_ops = {
	.set = slots_set,
	.get = param_get_uint,
};
module_param_cb(team_slots, &slots_ops, &team_slots, 0644);
MODULE_PARM_DESC(team_slots, "teams that can have bindings at a time, 1 or more; one user gets half of what other users leave (default 1024)");

/* Protects slots_taken and mc_account.slots. Innermost. */
static DEFINE_SPINLOCK(slots_lock);
static unsigned int slots_taken;

/* Can devices multicast? The answer may change at any time. */
bool mc_fabric_multicast(void)
{
	return READ_ONCE(multicast);
}

/*
 * Fails a call as the state, or the device's link, is not ready. A function of its own, as room
 * for words costs each call.
 */
static noinline int fail_not_ready(struct mc_call *call, const struct mc_device *device,
				   int state, int link)
{
	char words[MC_WORDS];

	if (state == 1)
		return mc_fail(call, -ENETDOWN,
			       "the fabric is not ready (parameter fabric_state)");
	if (state)
		return mc_fail(call, -ENOTRECOVERABLE,
			       "the fabric is in an illegal state (parameter fabric_state)");
	if (link == MC_LINK_IN_PROGRESS)
		return mc_fail(call, -ENETDOWN,
			       "%s's link to the fabric is still in progress (its fabric_state in sysfs)",
			       mc_device_words(call->client, device->id, words));
	return mc_fail(call, -ENOTRECOVERABLE,
		       "%s's link to the fabric has failed (its fabric_state in sysfs)",
		       mc_device_words(call->client, device->id, words));
}

/**
 * mc_fabric_check() - can a membership, a binding or a fabric handle be set up now?
 * @call: the call that does so; it takes no resources before this check
 * @device: the member, or the device whose memory it is; NULL: none
 *
 * Teams and exports that exist go on, as with a fabric whose manager has gone.
 *
 * Return: 0, or -ENETDOWN or -ENOTRECOVERABLE with the reason.
 */
int mc_fabric_check(struct mc_call *call, const struct mc_device *device)
{
	int state = READ_ONCE(fabric_state), link = device ? READ_ONCE(device->link) : 0;

	return likely(!state && !link) ? 0 : fail_not_ready(call, device, state, link);
}

/**
 * mc_fabric_take_slot() - take a slot of the fabric for a team's first binding
 * @call: for the reason if it fails
 * @account: of the user who has made the team; the slot counts for that user until the team ends
 *
 * A user without CAP_IPC_LOCK gets half of the slots that other users have not taken, so that
 * whoever comes next gets some.
 *
 * Return: 0, or -ENOMEM.
 */
int mc_fabric_take_slot(struct mc_call *call, struct mc_account *account)
{
	unsigned int slots = READ_ONCE(team_slots), mine, left;
	bool enough;

	spin_lock(&slots_lock);
	mine = account->slots;
	left = slots - min(slots, slots_taken);
	/* a user gets half of what others leave, which is mine + left, rounded up */
	enough = account->unlimited ? left : mine < left;
	if (enough) {
		WRITE_ONCE(account->slots, mine + 1);
		slots_taken++;
	}
	spin_unlock(&slots_lock);
	if (enough)
		return 0;
	if (!left)
		return mc_fail(call, -ENOMEM, "all %u team slots of the fabric are taken", slots);
	return mc_fail(call, -ENOMEM,
		       "this user's teams have %u of the fabric's %u team slots: half of what other users leave",
		       mine, slots);
}

/* Gives back what mc_fabric_take_slot() took. Once per team. */
void mc_fabric_give_slot(struct mc_account *account)
{
	spin_lock(&slots_lock);
	WRITE_ONCE(account->slots, account->slots - 1);
	slots_taken--;
	spin_unlock(&slots_lock);
}
