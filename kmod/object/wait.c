// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that wait for a team's members: until all have joined and the fabric has set
 * the team up. While they wait, client->waits has them, and list.c lists them.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "object.h"
#include "core/trace.h"

static unsigned int team_timeout_ms;
module_param(team_timeout_ms, uint, 0644);
MODULE_PARM_DESC(team_timeout_ms, "how long a call waits for a team to be complete, then \"not ready\" (default 0: for ever)");

static unsigned int team_notice_ms = 5000;
module_param(team_notice_ms, uint, 0644);
MODULE_PARM_DESC(team_notice_ms, "after how long a call that waits for a team says so, and who is missing (default 5000; 0: never)");

static bool team_complete(struct mc_team *team)
{
	/* acquire: pairs with mc_team_add(), members are filled in */
	return smp_load_acquire(&team->joined) == team->devices;
}

static bool team_ready(struct mc_team *team)
{
	return team_complete(team) && !ktime_before(ktime_get(), team->ready);
}

/* Writes the devices that could still join, for a reason: as many as there is room for. */
static void team_missing(const struct mc_client *client, struct mc_team *team, char *text,
			 size_t size)
{
	char words[MC_WORDS];
	const char *number;
	size_t length = 0;
	u32 id;

	text[0] = '\0';
	down_read(&team->lock);
	for (id = 0; id < mc_device_count; id++) {
		if (mc_team_member(team, mc_device_find(id)))
			continue;
		number = mc_device_words(client, id, words) + strlen("device ");
		/* a number is never cut */
		if (size - length < strlen(number) + sizeof(",  …")) {
			scnprintf(text + length, size - length, " …");
			break;
		}
		length += scnprintf(text + length, size - length, "%s%s",
				    length ? ", " : "", number);
	}
	up_read(&team->lock);
}

/* Return: the time that is left until @time; KTIME_MAX: for ever */
static ktime_t left_until(ktime_t time)
{
	return time == KTIME_MAX ? KTIME_MAX : max_t(ktime_t, ktime_sub(time, ktime_get()), 0);
}

/*
 * Return: 0, -ERESTARTSYS, or -ETIME: it is later than @until. Also 0 if the client's host was
 * lost meanwhile.
 */
static int wait_until(const struct mc_client *client, struct mc_team *team, ktime_t until)
{
	int ret;

	ret = wait_event_interruptible_hrtimeout(team->complete,
						 team_complete(team) || READ_ONCE(client->lost),
						 left_until(until));
	if (ret || READ_ONCE(client->lost) || !ktime_before(ktime_get(), team->ready))
		return ret;
	ret = wait_event_interruptible_hrtimeout(team->complete, READ_ONCE(client->lost),
						 left_until(min(team->ready, until)));
	if (ret == -ETIME && !ktime_before(until, team->ready))
		ret = 0;
	return ret;
}

/* Return: so many milliseconds; 0: for ever */
static ktime_t or_never(unsigned int ms)
{
	return ms ? ms_to_ktime(ms) : KTIME_MAX;
}

/* @notice: when to return with -ETIME, for the caller to say that it waits */
static int wait_for_team(struct mc_call *call, struct mc_team *team, u32 command,
			 ktime_t since, ktime_t notice)
{
	struct mc_client *client = call->client;
	ktime_t deadline = ktime_add_safe(since, or_never(READ_ONCE(team_timeout_ms)));
	struct mc_wait wait = {
		.team = team, .pid = task_tgid(current), .command = command, .since = since,
	};
	char missing[64];
	int ret;

	mutex_lock(&client->wait_lock);
	list_add_tail(&wait.list, &client->waits);
	WRITE_ONCE(client->wait_count, client->wait_count + 1);
	mutex_unlock(&client->wait_lock);
	trace_memcast_wait(team->object.number, command, READ_ONCE(team->joined), team->devices);
	ret = wait_until(client, team, min(deadline, notice));
	trace_memcast_wait_end(team->object.number, ret);
	mutex_lock(&client->wait_lock);
	list_del(&wait.list);
	WRITE_ONCE(client->wait_count, client->wait_count - 1);
	mutex_unlock(&client->wait_lock);

	if (READ_ONCE(client->lost))
		return mc_fail_lost(call);
	if (ret != -ETIME || ktime_before(notice, deadline))
		return ret;
	team_missing(client, team, missing, sizeof(missing));
	return mc_fail(call, -ENETDOWN,
		       "%u of %u devices have joined within team_timeout_ms; not yet: %s",
		       READ_ONCE(team->joined), team->devices, missing);
}

/* Wakes the waiting calls of a client whose host was lost. Takes client->wait_lock. */
void mc_waits_wake(struct mc_client *client)
{
	struct mc_wait *wait;

	mutex_lock(&client->wait_lock);
	list_for_each_entry(wait, &client->waits, list) {
		wake_up_all(&wait->team->complete);
		cond_resched();
	}
	mutex_unlock(&client->wait_lock);
}

/**
 * mc_team_await() - wait until a team is complete; its members need no lock then
 * @call: the call that waits, without locks
 * @team: the team
 * @command: the call's command, MEMCAST_NR_…
 * @no_wait: answer -EAGAIN instead
 *
 * Return: 0, -EAGAIN, -ERESTARTSYS, -ENETDOWN after team_timeout_ms, or -EHOSTDOWN.
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
	ktime_t after = or_never(READ_ONCE(team_notice_ms));

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
	if (wait->command != MEMCAST_NR_BIND_MEMORY && wait->command != MEMCAST_NR_BIND_ADDRESS &&
	    wait->command != MEMCAST_NR_MAP)
		return mc_fail(call, -EINVAL, "%u is no command that waits", wait->command);
	/* a wait that began in the future would have no end */
	if (wait->since > ktime_get_ns())
		return mc_fail(call, -EINVAL, "the wait cannot have begun in the future");
	team = mc_find_team(call, wait->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	/* before the wait: after a signal the caller calls again, and goes on with this wait */
	if (!wait->since) {
		wait->since = ktime_get_ns();
		ret = mc_respond(call);
	}
	if (!ret && !team_ready(team))
		ret = wait_for_team(call, team, wait->command, wait->since, notice_time(wait));
	mc_object_put(&team->object);
	return ret;
}

/* Return: a copy of the members in the order of joining, as far as there is room; or NULL. */
static struct memcast_team_member *copy_members(const struct mc_client *client,
						struct mc_team *team,
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
		to->device = mc_device_ordinal(client, member->device->id);
		to->pid = pid_vnr(member->joined_by.pid);
		to->flags = mc_process_has_ended(&member->joined_by) ? MEMCAST_MEMBER_ENDED : 0;
		if (!mc_host_has(client->host, member->device->id))
			to->flags |= MEMCAST_MEMBER_ELSEWHERE;
		BUILD_BUG_ON(sizeof(to->name) != sizeof(member->joined_by.name));
		mc_process_name(&member->joined_by, to->name);
	}
	up_read(&team->lock);
	return copy;
}

/* MEMCAST_TEAM_MEMBERS: the devices that have joined a team, and the processes that added them. */
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
	copy = copy_members(call->client, team, out);
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
