// SPDX-License-Identifier: MIT
/* Runs kernels that were translated from PTX, by memcast-ptx.so. */
#include <stdio.h>
#include <string.h>

#include "base/activity.h"
#include "base/ioctl.h"
#include "fault/fault.h"
#include "launch.h"
#include "memory/view/window.h"
#include "translate/translate.h"

_Static_assert(offsetof(struct window, shown) == offsetof(struct ptx_window, start) &&
	       offsetof(struct window, view) == offsetof(struct ptx_window, view),
	       "kernels read the head of a window");

/* The object's function for faults of this thread */
static __thread ptx_catcher *chosen;

static void caught(int number, const siginfo_t *info, bool store, uintptr_t rip, uintptr_t rsp)
{
	chosen(number, (uintptr_t)info->si_addr, rip, rsp, store);
}

static void set_catcher(ptx_catcher *function)
{
	chosen = function;
	fault_catch(function ? caught : NULL);
}

static const struct ptx_window *window_at(uint64_t address, size_t *offset)
{
	const char *view = (const char *)memcastViewAt(address, offset);

	return view ? (const void *)(view - offsetof(struct ptx_window, view)) : NULL;
}

/* A program that has unmapped the window meanwhile does not ask for its count. */
static void count(uint64_t window, uint64_t operations)
{
	struct memcast_team_count told = { .address = window, .multimem = operations };

	device_ask(MEMCAST_TEAM_COUNT, &told);
}

#define NOTICE_AFTER	5000000000UL

/* Threads of a launch have waited for long. @all: all of them */
static void waits(void *data, const char *where, uint64_t nanoseconds, bool all)
{
	struct translated *launch = data;
	static atomic_bool aloud;
	char text[960];

	if (all)
		stream_waits(launch->stream);
	else if (launch->stream)
		launch->stream->in_vain = 0;
	activity_where(launch->activity, where);
	if (nanoseconds < NOTICE_AFTER || atomic_exchange(&launch->said, true))
		return;
	snprintf(text, sizeof(text), "kernel %.80s has waited %.1f s: %.800s", launch->name,
		 nanoseconds * 1e-9, where);
	log_notice(text, !atomic_exchange(&aloud, true));
}

static int failed(void *data)
{
	const struct translated *launch = data;

	return launch->stream ? launch->stream->set->error : CUDA_SUCCESS;
}

/* lib/graph/, which stands above, has conditions, once the program has made one. */
static bool (*_Atomic set_condition)(uint64_t handle, uint32_t value);

void translated_conditions(bool (*function)(uint64_t handle, uint32_t value))
{
	set_condition = function;
}

static bool condition(uint64_t handle, uint32_t value)
{
	bool (*set)(uint64_t handle, uint32_t value) = set_condition;

	return set && set(handle, value);
}

static const struct ptx_run_host host = {
	.catch = set_catcher,
	.window_at = window_at,
	.count = count,
	.condition = condition,
	.print = prints_add,
	.reason = fault_reason,
	.reach = reach_find,
	.memory = memory_words,
	.waits = waits,
	.failed = failed,
};

/*
 * Finds the first window that a value of a launch's parameters points into. Kernels that are given one
 * store to it, mostly, as the copy kernels of benchmarks do. A window of which a member has nothing
 * bound somewhere is left to the signals' handler, which leaves the member out.
 */
static void find_window(const struct code *code, struct ptx_launch *launch)
{
	struct trap_window window;
	uint64_t value;
	size_t offset;

	for (uint32_t at = 0; at + sizeof(value) <= code->parameters_bytes; at += sizeof(value)) {
		memcpy(&value, (const char *)launch->parameters + at, sizeof(value));
		if (fault_near(value) && fault_window_at(value, &window) &&
		    fault_window_is_bound(value) && (launch->window = window_at(value, &offset)))
			return;
	}
}

/* Finds the translation of a kernel that has no function in C; it may take its time. */
CUresult translated_find(struct function *function, struct invocation *invocation)
{
	const unsigned int *block = invocation->block;
	const char *why;
	CUresult result = module_compiled(function->module, function->code->name,
					  &invocation->translated, &why);

	if (result != CUDA_SUCCESS)
		return result;
	invocation->resident = (unsigned int)function->module->figures->multiprocessors *
			       occupancy(function, block[0] * block[1] * block[2],
					 invocation->shared);
	return invocation->translated ? CUDA_SUCCESS : registered_missing(function->code, why);
}

CUresult translated_run(const struct invocation *invocation, struct activity *activity)
{
	const struct code *code = invocation->code;
	struct slot *slot = context_slot(invocation->module->context);
	struct translated running = { .slot = slot, .stream = stream_here(), .name = code->name,
				      .activity = activity };
	const unsigned int *cluster = invocation->cluster;
	struct ptx_launch launch = {
		.kernel = invocation->translated,
		.parameters = invocation->parameters,
		.dynamic_shared = invocation->shared,
		.resident = invocation->resident,
		.cooperative = invocation->cooperative,
		.is_cluster = cluster[0],
		.multiprocessors = invocation->module->figures->multiprocessors,
		.stack_limit = slot->limits[CU_LIMIT_STACK_SIZE],
		.heap_limit = slot->limits[CU_LIMIT_MALLOC_HEAP_SIZE],
		/* a primary context keeps its value as it is reset, and counts its ends */
		.heap = slot,
		.heap_life = (uintptr_t)invocation->module->context + invocation->module->ends,
		.print_limit = slot->limits[CU_LIMIT_PRINTF_FIFO_SIZE],
		.host = &host,
		.host_data = &running,
	};
	struct ptx_outcome outcome;
	const char *why;

	/* the runner has the stack for signals, on which overflows are handled */
	if (!runner_here())
		return image_no_memory();
	if (code->parameters_count)
		launch.parameters = (char *)invocation->parameters[0] - code->parameters[0].offset;
	if (fault_wanted() && !fault_strict() && launch.parameters)
		find_window(code, &launch);
	if (launch.window)
		launch.kernel = module_for_windows(invocation->module, launch.kernel);
	for (int i = 0; i < 3; i++) {
		launch.grid[i] = invocation->grid[i];
		launch.block[i] = invocation->block[i];
		launch.cluster[i] = cluster[i] ? cluster[i] : 1;
	}
	translator_get(&why)->run(&launch, &outcome);
	return outcome.result ? fail(outcome.result, "%s", outcome.reason) : CUDA_SUCCESS;
}
