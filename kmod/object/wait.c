// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that wait for a team's members: until all have joined and the fabric has set
 * the team up. They are known while they wait, for those who look at the client.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "object.h"
#include "trace.h"

static bool team_complete(struct mc_team *team)
{
	/* acquire: pairs with mc_team_add(), members are filled in */
	return smp_load_acquire(&team->joined) == team->devices;
}

static bool team_ready(struct mc_team *team)
{
	return team_complete(team) && !ktime_before(ktime_get(), team->ready);
}

/* The devices that could still join, as text. Best effort: for a reason. */
static void team_missing(struct mc_team *team, char *text, size_t size)
{
	size_t length = 0;
	u32 id;

	text[0] = '\0';
	down_read(&team->lock);
	for (id = 0; id < mc_device_count; id++) {
		if (mc_team_member(team, mc_device_find(id)))
			continue;
		/* no number is cut */
		if (size - length < sizeof(", 575 …")) {
			scnprintf(text + length, size - length, " …");
			break;
		}
		length += scnprintf(text + length, size - length, "%s%u",
				    length ? ", " : "", id);
	}
	up_read(&team->lock);
}

/* Unless there is a signal: anything may wake a task. */
static bool sleep_until(ktime_t time)
{
	do {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!schedule_hrtimeout(&time, HRTIMER_MODE_ABS))
			return true;
	} while (!signal_pending(current));
	return false;
}

/* Return: 0, -ERESTARTSYS, or -ETIME: it is later than @until. */
static int wait_until(struct mc_team *team, ktime_t until)
{
	ktime_t left = until == KTIME_MAX ? KTIME_MAX :
		       max(ktime_sub(until, ktime_get()), (ktime_t)0);
	int ret;

	ret = wait_event_interruptible_hrtimeout(team->complete, team_complete(team), left);
	if (ret || !ktime_before(ktime_get(), team->ready))
		return ret;
	if (!sleep_until(min(team->ready, until)))
		return -ERESTARTSYS;
	return ktime_before(until, team->ready) ? -ETIME : 0;
}

/* @notice: when to return with -ETIME, for the caller to say that it waits */
static int wait_for_team(struct mc_call *call, struct mc_team *team, u32 command,
			 ktime_t since, ktime_t notice)
{
	struct mc_client *client = call->client;
	ktime_t deadline = ktime_add_safe(since, mc_fabric_timeout());
	struct mc_wait wait = {
		.team = team, .pid = task_tgid(current), .command = command, .since = since,
	};
	char missing[64];
	int ret;

	mutex_lock(&client->wait_lock);
	list_add_tail(&wait.list, &client->waits);
	mutex_unlock(&client->wait_lock);
	trace_memcast_wait(team->object.number, command, READ_ONCE(team->joined), team->devices);
	ret = wait_until(team, min(deadline, notice));
	trace_memcast_wait_end(team->object.number, ret);
	mutex_lock(&client->wait_lock);
	list_del(&wait.list);
	mutex_unlock(&client->wait_lock);

	if (ret != -ETIME || ktime_before(notice, deadline))
		return ret;
	team_missing(team, missing, sizeof(missing));
	return mc_fail(call, -ENETDOWN,
		       "%u of %u devices have joined within team_timeout_ms; not yet: %s",
		       READ_ONCE(team->joined), team->devices, missing);
}

/**
 * mc_team_await() - wait until all devices have joined; no lock is needed for members then
 * @call: the call that waits
 * @team: for this team
 * @command: which call it is, MEMCAST_NR_…
 * @no_wait: answer -EAGAIN instead
 */
int mc_team_await(struct mc_call *call, struct mc_team *team, u32 command, bool no_wait)
{
	if (likely(team_ready(team)))
		return 0;
	if (no_wait)
		return mc_fail(call, -EAGAIN, "%u of %u devices have joined so far",
			       READ_ONCE(team->joined), team->devices);
	return wait_for_team(call, team, command, ktime_get(), KTIME_MAX);
}

static ktime_t notice_time(const struct memcast_team_wait *wait)
{
	ktime_t after = mc_fabric_notice();

	if (wait->flags & MEMCAST_WAIT_SAID || after == KTIME_MAX)
		return KTIME_MAX;
	return ktime_add_safe(wait->since, after);
}

/* MEMCAST_TEAM_WAIT: wait for a team's members, as long as the call that needs them would. */
int mc_team_wait(struct mc_call *call)
{
	struct memcast_team_wait *wait = call->arg;
	struct mc_team *team;
	int ret = 0;

	if (wait->flags & ~MEMCAST_WAIT_SAID || wait->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	if (wait->verb != MEMCAST_NR_BIND_MEMORY && wait->verb != MEMCAST_NR_BIND_ADDRESS &&
	    wait->verb != MEMCAST_NR_MAP)
		return mc_fail(call, -EINVAL, "%u is no command that waits", wait->verb);
	/* from the future on, a wait would have no end */
	if (wait->since > ktime_get_ns())
		return mc_fail(call, -EINVAL, "the wait cannot have begun in the future");
	team = mc_find_team(call, wait->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	/* before it waits: a signal makes the caller call again, and go on with this wait */
	if (!wait->since) {
		wait->since = ktime_get_ns();
		ret = mc_respond(call);
	}
	if (!ret && !team_ready(team))
		ret = wait_for_team(call, team, wait->verb, wait->since, notice_time(wait));
	mc_object_put(&team->object);
	return ret;
}

/* Who has joined, in that order, as far as there is room */
static struct memcast_team_member *copy_members(struct mc_team *team,
						struct memcast_team_members *out)
{
	struct memcast_team_member *copy, *to;
	struct mc_member *member = team->member;

	copy = kcalloc(out->count ?: 1, sizeof(*copy), GFP_KERNEL_ACCOUNT);
	if (!copy)
		return NULL;
	down_read(&team->lock);
	out->out_joined = team->joined;
	out->count = min(out->count, team->joined);
	for (to = copy; to < copy + out->count; to++, member++) {
		to->device = member->device->id;
		to->pid = pid_vnr(member->joined_by.pid);
		to->flags = mc_who_has_ended(&member->joined_by) ? MEMCAST_MEMBER_ENDED : 0;
		BUILD_BUG_ON(sizeof(to->name) != sizeof(member->joined_by.name));
		mc_who_name(&member->joined_by, to->name);
	}
	up_read(&team->lock);
	return copy;
}

/* MEMCAST_TEAM_MEMBERS: who has joined a team. */
int mc_team_members(struct mc_call *call)
{
	struct memcast_team_members *out = call->arg;
	struct memcast_team_member *copy;
	struct mc_team *team;
	int ret = -ENOMEM;

	if (out->count > MEMCAST_MAX_DEVICES)
		return mc_fail(call, -EINVAL, "a team has %u members at most",
			       MEMCAST_MAX_DEVICES);
	team = mc_find_team(call, out->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	copy = copy_members(team, out);
	if (!copy)
		goto put_team;
	out->out_object = team->object.number;
	out->out_devices = team->devices;
	ret = copy_to_user(u64_to_user_ptr(out->members), copy, out->count * sizeof(*copy)) ?
	      mc_fail(call, -EFAULT, "the members cannot be written") : mc_respond(call);
	kfree(copy);
put_team:
	mc_object_put(&team->object);
	return ret;
}
