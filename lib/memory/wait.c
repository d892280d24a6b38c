// SPDX-License-Identifier: MIT
/*
 * Calls that wait for a team's members. The library first asks the kernel not to wait, so that
 * a call on a complete team costs no more than without a wait. A call that waits long logs that
 * it waits, and which members are missing: a program that hangs should not hang silently.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "handle.h"
#include "base/ioctl.h"
#include "base/visible.h"

struct waiter {
	const char *call;		/* name of the called function */
	uint32_t team, memory;		/* handles; 0: no such object */
	bool holds_team, holds_memory;
};

/* A call that has begun keeps the handle's object: the program may release the handle meanwhile. */
static CUresult hold(uint32_t handle, bool *holds)
{
	struct memcast_handle_retain arg = { .handle = handle };
	CUresult result = CUDA_SUCCESS;

	if (handle)
		result = device_ioctl(MEMCAST_HANDLE_RETAIN, &arg);
	*holds = handle && result == CUDA_SUCCESS;
	return result;
}

/* device_ask() gives no reason, so that the call's own reason stays. */
static void let_go(void *data)
{
	const struct waiter *waiter = data;
	struct memcast_handle_release team = { .handle = waiter->team };
	struct memcast_handle_release memory = { .handle = waiter->memory };

	if (waiter->holds_team)
		device_ask(MEMCAST_HANDLE_RELEASE, &team);
	if (waiter->holds_memory)
		device_ask(MEMCAST_HANDLE_RELEASE, &memory);
}

/* A text that grows, and is cut off at the array's end */
struct text {
	char at[800];
	size_t length;
};

__attribute__((format(printf, 2, 3)))
static void wait_add(struct text *text, const char *format, ...)
{
	size_t room = sizeof(text->at) - text->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->at + text->length, room, format, arguments);
	va_end(arguments);
	text->length += (size_t)length < room ? (size_t)length : room - 1;
}

#define MOST_NAMED	12	/* of each kind: more would not fit the text */

/* Adds "3", or for another host's device "0 of host 2". */
static void wait_add_member(struct text *text, unsigned int device,
			    const struct memcast_system_info *info)
{
	unsigned int machine, each;

	if (device < info->out_devices || !info->out_machine) {
		wait_add(text, "%u", device);
		return;
	}
	machine = (device + info->out_first) % info->out_machine;
	each = info->out_machine / info->out_hosts;
	wait_add(text, "%u of host %u", machine % each, machine / each);
}

/* Adds "0 (712 rank0), 1 (713 rank1, which has ended)". */
static void add_members(struct text *text, const struct memcast_team_member *member,
			unsigned int count, const struct memcast_system_info *info)
{
	for (unsigned int i = 0; i < count && i < MOST_NAMED; i++) {
		wait_add(text, i ? ", " : "");
		wait_add_member(text, member[i].device, info);
		wait_add(text, " (");
		if (member[i].pid == getpid())
			wait_add(text, "this process");
		else
			wait_add(text, "%d %.*s", member[i].pid, (int)sizeof(member[i].name),
				 (const char *)member[i].name);
		wait_add(text, member[i].flags & MEMCAST_MEMBER_ENDED ? ", which has ended)" : ")");
	}
	if (count > MOST_NAMED)
		wait_add(text, ", and %u more", count - MOST_NAMED);
}

/* Adds the devices that could still join. */
static void add_others(struct text *text, const struct memcast_team_member *member,
		       unsigned int count, unsigned int devices,
		       const struct memcast_system_info *info)
{
	unsigned int others = 0;

	for (unsigned int device = 0; device < devices; device++) {
		unsigned int i = 0;

		while (i < count && member[i].device != device)
			i++;
		if (i < count || others++ >= MOST_NAMED)
			continue;
		wait_add(text, others > 1 ? ", " : "");
		wait_add_member(text, device, info);
	}
	if (others > MOST_NAMED)
		wait_add(text, ", and %u more", others - MOST_NAMED);
}

/* The missing devices are known only if the team takes all @others. */
static void add_missing(struct text *text, unsigned int missing, unsigned int others)
{
	if (missing == others)
		wait_add(text, missing == 1 ? "; missing: device " : "; missing: devices ");
	else
		wait_add(text, "; missing: %u of the devices ", missing);
}

/*
 * Has this process added no device? A rank that forgot to join, and so waits for itself, is
 * told so.
 */
static bool has_added_none(const struct memcast_team_member *member, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (member[i].pid == getpid())
			return false;
	return true;
}

/* Return: how many devices could join: those of all hosts if the team has fabric handles. */
static unsigned int could_join(const struct waiter *waiter,
			       const struct memcast_system_info *info)
{
	struct memcast_handle_info team = { .handle = waiter->team };

	if (info->out_hosts > 1 && device_ask(MEMCAST_HANDLE_INFO, &team) &&
	    team.out_handle_types & MEMCAST_HANDLE_FABRIC)
		return info->out_machine;
	return info->out_devices;
}

static void say_who_of(const struct waiter *waiter, uint64_t since,
		       const struct memcast_system_info *info)
{
	unsigned int devices = could_join(waiter, info);
	struct memcast_team_member member[devices];
	struct memcast_team_members team = {
		.team = waiter->team, .count = devices, .members = (uintptr_t)member,
	};
	static atomic_bool said;
	struct text text = {};
	struct timespec now;

	if (!device_ask(MEMCAST_TEAM_MEMBERS, &team))
		return;
	/*
	 * users compare these lines with those of other processes: all lines have the module's
	 * numbers
	 */
	for (uint32_t i = 0; i < team.count; i++)
		member[i].device = visible_module_number(member[i].device);
	clock_gettime(CLOCK_MONOTONIC, &now);
	wait_add(&text, "%s has waited %.1f s for team %llu: ", waiter->call,
		 now.tv_sec + now.tv_nsec * 1e-9 - since * 1e-9,
		 (unsigned long long)team.out_object);
	if (team.out_joined == team.out_devices) {
		wait_add(&text, "it is complete: this call goes on at once, or after the module's "
				"team_setup_delay_ms");
	} else {
		wait_add(&text, "%u of %u devices have joined", team.out_joined, team.out_devices);
		wait_add(&text, team.out_joined ? ": " : "");
		add_members(&text, member, team.count, info);
		add_missing(&text, team.out_devices - team.out_joined, devices - team.count);
		add_others(&text, member, team.count, devices, info);
		wait_add(&text, has_added_none(member, team.count) ?
				"; this process has added none (cuMulticastAddDevice)" :
				" (cuMulticastAddDevice)");
	}
	log_notice(text.at, !atomic_exchange(&said, true));
}

static void say_who_is_missing(const struct waiter *waiter, uint64_t since)
{
	struct memcast_system_info info = {};

	if (device_ask(MEMCAST_SYSTEM_INFO, &info))
		say_who_of(waiter, since, &info);
}

/* Waits until the team is complete; logs once, if the wait is long, which members are missing. */
static CUresult await(const struct waiter *waiter, uint32_t command)
{
	struct memcast_team_wait wait = { .team = waiter->team, .command = command };
	CUresult result = device_ioctl(MEMCAST_TEAM_WAIT, &wait);

	if (result != CUDA_ERROR_TIMEOUT)
		return result;
	say_who_is_missing(waiter, wait.since);
	wait.flags = MEMCAST_WAIT_SAID;
	return device_ioctl(MEMCAST_TEAM_WAIT, &wait);
}

/* A thread that is cancelled at any instruction here releases the handles that it holds. */
static CUresult wait_and_call(struct waiter *waiter, unsigned long request,
			      struct memcast_header *argument, size_t size)
{
	CUresult result;

	pthread_cleanup_push(let_go, waiter);
	result = hold(waiter->team, &waiter->holds_team);
	if (result == CUDA_SUCCESS)
		result = hold(waiter->memory, &waiter->holds_memory);
	if (result == CUDA_SUCCESS)
		result = await(waiter, _IOC_NR(request));
	if (result == CUDA_SUCCESS)
		result = device_ioctl_fd(library_fd(), request, argument, size);
	pthread_cleanup_pop(1);
	return result;
}

/**
 * team_ioctl() - an ioctl that waits until a team is complete
 * @call: what the program called, for the log
 * @request: MEMCAST_BIND_MEMORY, _BIND_ADDRESS or _MAP
 * @argument: its argument, which has MEMCAST_NO_WAIT among its flags
 * @size: of that
 * @team: handle that the argument has
 * @memory: another one, or 0
 */
CUresult team_ioctl(const char *call, unsigned long request, struct memcast_header *argument,
		    size_t size, uint32_t team, uint32_t memory)
{
	CUresult result = device_ioctl_fd(library_fd(), request, argument, size);
	struct waiter waiter = { .call = call, .team = team, .memory = memory };

	/* a signal handler waits for nobody; the team's own mapping has waited already */
	if (result != CUDA_ERROR_NOT_READY || reason_quiet())
		return result;
	return wait_and_call(&waiter, request, argument, size);
}
