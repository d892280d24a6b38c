// SPDX-License-Identifier: GPL-2.0-only
/* Teams: multicast objects and their members. */
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "object.h"
#include "core/trace.h"

static unsigned int team_setup_delay_ms;
module_param(team_setup_delay_ms, uint, 0644);
MODULE_PARM_DESC(team_setup_delay_ms, "how long a complete team takes to get ready (default 0)");

static void team_end(struct mc_object *object)
{
	struct mc_team *team = mc_team(object);

	mc_fabric_forget(object);
	mc_bindings_undo_team(team);
	if (team->has_slot)
		mc_fabric_give_slot(team->object.account);
	atomic_long_dec(&mc_stats.teams);
}

static void team_free(struct mc_object *object)
{
	struct mc_team *team = mc_team(object);
	struct mc_member *member;

	BUILD_BUG_ON(offsetof(struct mc_team, object));

	for (member = team->member; member < team->member + team->joined; member++) {
		struct mc_host *host = member->device->host;

		spin_lock(&host->objects_lock);
		list_del(&member->of_host);
		spin_unlock(&host->objects_lock);
		mc_process_put(&member->joined_by);
		mc_process_put(&member->loss.process);
	}
}

static const struct mc_object_ops team_ops = {
	.type = MEMCAST_TYPE_TEAM,
	.end = team_end,
	.free = team_free,
};

static struct mc_team *team_create(struct mc_call *call)
{
	struct memcast_team_create *create = call->arg;
	struct mc_object *object;
	struct mc_team *team;

	object = mc_object_alloc(call, struct_size(team, member, create->devices) +
				 mc_device_count * sizeof(*team->place));
	if (!object)
		return NULL;
	team = mc_team(object);
	team->place = (u16 *)&team->member[create->devices];
	mc_object_init(&team->object, &team_ops, create->bytes,
		       MC_CHUNK_SIZE, create->handle_types);
	init_rwsem(&team->lock);
	team->windows = RB_ROOT_CACHED;
	team->zapped_first = ULONG_MAX;
	team->devices = create->devices;
	init_waitqueue_head(&team->complete);
	atomic_long_inc(&mc_stats.teams);
	return team;
}

/* Return: the most members of a new team: all devices of its host, with fabric handles of all. */
static u32 most_members(const struct mc_call *call)
{
	const struct memcast_team_create *create = call->arg;

	return create->handle_types & MEMCAST_HANDLE_FABRIC ? mc_device_count :
							       call->client->host->devices;
}

/* MEMCAST_TEAM_CREATE: make a team, without members. */
int mc_team_create(struct mc_call *call)
{
	struct memcast_team_create *create = call->arg;
	struct mc_team *team;
	int channel, ret;

	if (create->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", create->flags);
	if (create->handle_types & ~(MEMCAST_HANDLE_FD | MEMCAST_HANDLE_FABRIC))
		return mc_fail(call, -EINVAL, "unknown handle types %#x",
			       create->handle_types);
	if (create->devices < 2 || create->devices > most_members(call))
		return mc_fail(call, -EINVAL,
			       "a team is for 2 to %u devices, not %u%s",
			       most_members(call), create->devices,
			       create->devices > most_members(call) &&
			       create->devices <= mc_device_count ?
			       ": those of several hosts have fabric handles (handleTypes)" : "");
	ret = mc_check_range(call, "team", 0, create->bytes, S64_MAX,
			     MC_CHUNK_SIZE);
	if (ret)
		return ret;
	channel = mc_fabric_channel(call, create->handle_types);
	if (channel < 0)
		return channel;

	team = team_create(call);
	if (!team)
		return -ENOMEM;
	ret = mc_object_enter(call, &team->object, call->client->host);
	if (ret) {
		mc_object_put(&team->object);
		return ret;
	}
	team->object.channel = channel;
	return mc_handle_answer(call, &team->object, &create->out_handle);
}

/* MEMCAST_TEAM_ADD: a device joins a team. */
int mc_team_add(struct mc_call *call)
{
	struct memcast_team_add *add = call->arg;
	struct mc_device *device;
	struct mc_team *team;
	int ret = 0;

	team = mc_find_team(call, add->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	device = mc_find_device(call, add->device);
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto put_team;
	}

	ret = mc_fabric_check(call, device);
	if (ret)
		goto put_team;

	down_write(&team->lock);
	if (mc_team_member(team, device)) {
		char process[MC_PROCESS_WORDS];

		mc_process_print(&mc_team_member(team, device)->joined_by, process,
				 sizeof(process));
		ret = mc_fail(call, -EALREADY, "device %u is a member already: %s added it",
			      add->device, process);
	} else if (team->joined == team->devices) {
		ret = mc_fail(call, -EINVAL, "all %u devices have joined",
			      team->devices);
	} else {
		struct mc_member *member = &team->member[team->joined];

		member->device = device;
		member->team = team;
		member->bindings = RB_ROOT_CACHED;
		member->replicas = RB_ROOT_CACHED;
		mc_process_set(&member->joined_by);
		spin_lock(&device->host->objects_lock);
		list_add_tail(&member->of_host, &device->host->members);
		spin_unlock(&device->host->objects_lock);
		team->place[device->id] = team->joined;
		__set_bit(device->id, team->members);
		team->ready = ktime_add_ms(ktime_get(), READ_ONCE(team_setup_delay_ms));
		/* release: pairs with team_complete(), members are filled in */
		smp_store_release(&team->joined, team->joined + 1);
		trace_memcast_join(team->object.number, device->id, team->joined, team->devices);
	}
	up_write(&team->lock);
	wake_up_all(&team->complete);

put_team:
	mc_object_put(&team->object);
	return ret;
}
