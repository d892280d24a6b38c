// SPDX-License-Identifier: MIT
/* Says why a launch has failed, and where: kernel, block, thread and line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inside.h"

#define BELOW_STACK	(256UL << 10)	/* its guard, and frames that reach beyond that */

void (*ptx_run_line_at)(uintptr_t rip, char *text, size_t size);
bool (*ptx_run_line_says)(uintptr_t rip, const char *word);

/*
 * Finds the line of translated code at which a thread is: that of the instruction, or of the call
 * of a function of this library. Such functions keep no chain of frames, so a return address is
 * looked for in the stack, from @rsp on. @rsp: 0 if it is @rip for certain
 */
static void line_of(const struct fiber *fiber, uintptr_t rip, uintptr_t rsp, char *line,
		    size_t size)
{
	uintptr_t end = (uintptr_t)fiber->at.stack_end;
	uintptr_t top = end + fiber->at.block->cluster->stacks.each;

	*line = '\0';
	if (!ptx_run_line_at)
		return;
	if (rip)
		ptx_run_line_at(rip, line, size);
	if (!rsp)
		return;
	/* a call that runs on the process's stack has left the thread at its own */
	if (rsp < end || rsp >= top)
		rsp = (uintptr_t)fiber->stack;
	rsp &= ~7UL;
	for (; !*line && rsp >= end && rsp + 8 <= top; rsp += 8)
		ptx_run_line_at(*(uintptr_t *)rsp - 1, line, size);
}

/* Of a thread that has no turn */
void line_of_waiting(const struct fiber *fiber, char *line, size_t size)
{
	line_of(fiber, 0, (uintptr_t)fiber->stack, line, size);
}

/* Says where a thread was, in words. @rip: 0, or the instruction */
static void place(const struct ptx_grid *grid, const struct fiber *fiber, uintptr_t rip,
		  uintptr_t rsp, char *text, size_t size)
{
	const struct ptx_launch *launch = grid->launch;
	char line[200];
	int used = 0;

	line_of(fiber, rip, rsp, line, sizeof(line));
	used = snprintf(text, size, "kernel %.80s, block (%u, %u, %u)", launch->kernel->name,
			fiber->at.ctaid[0], fiber->at.ctaid[1], fiber->at.ctaid[2]);
	if (fiber->at.blocks > 1)
		used += snprintf(text + used, size - used, " or another one up to (%u, %u, %u)",
				 fiber->at.ctaid[0] + fiber->at.blocks - 1, fiber->at.ctaid[1],
				 fiber->at.ctaid[2]);
	if (!grid->serial || fiber->at.named)
		used += snprintf(text + used, size - used, ", thread (%u, %u, %u)", fiber->at.tid[0],
				 fiber->at.tid[1], fiber->at.tid[2]);
	if (*line)
		snprintf(text + used, size - used, ", %s", line);
}

/*
 * Offsets in shared memory have 32 bits, and a block's window 24. Hardware has another result for
 * what is behind it. Return: the result
 */
static int result_of(const struct runner *runner, const struct fiber *fiber, char *what,
		     size_t size)
{
	const struct ptx_thread *thread = &fiber->at;
	int64_t at = runner->address - (uintptr_t)thread->cluster_shared;
	uint32_t rank = (uint32_t)at / PTX_SHARED_WINDOW;

	if (!ptx_run_line_says || !ptx_run_line_says(runner->rip, ".shared") ||
	    at != (int32_t)at || rank < thread->cluster_nctarank)
		return RESULT_ILLEGAL_ADDRESS;
	/* a copy has another address, too, which is that of any memory */
	if (ptx_run_line_says(runner->rip, ".global") &&
	    (at < -(int64_t)PTX_SHARED_WINDOW ||
	     at >= (int64_t)((thread->cluster_nctarank + 1) * PTX_SHARED_WINDOW)))
		return RESULT_ILLEGAL_ADDRESS;
	if (thread->is_cluster && ptx_run_line_says(runner->rip, ".shared::cluster")) {
		snprintf(what, size, "the cluster has no block %u", rank);
		return RESULT_LAUNCH_FAILED;
	}
	snprintf(what, size, "a block has no byte %#x of shared memory",
		 (uint32_t)(runner->address - (uintptr_t)thread->shared));
	return RESULT_ILLEGAL_INSTRUCTION;
}

/* A signal has ended a turn. */
void fault_explain(struct runner *runner, struct ptx_grid *grid)
{
	const struct fiber *fiber = runner->current;
	const struct ptx_run_host *host = grid->launch->host;
	char where[320], what[160] = "no memory is there";
	int result = RESULT_ILLEGAL_ADDRESS;
	bool on_stack = runner->address >= (uintptr_t)fiber->at.stack_end - BELOW_STACK &&
			runner->address < (uintptr_t)fiber->at.stack_end + 64;

	place(grid, fiber, runner->rip, runner->rsp, where, sizeof(where));
	if (on_stack)
		strcpy(what, "its stack has overflowed");
	else
		result = result_of(runner, fiber, what, sizeof(what));
	if (!on_stack && result == RESULT_ILLEGAL_ADDRESS && host->reason)
		host->reason(runner->address, runner->store, what, sizeof(what));
	launch_failed(grid, result, "%s: %s at %#lx: %.150s", where,
		      runner->store ? "store" : "load", runner->address, what);
}

/* No thread of a cluster can ever go on: names the first one that waits. */
void stuck_explain(struct runner *runner, const struct cluster *cluster)
{
	const struct ptx_block *block = cluster->blocks;
	const struct fiber *fiber;
	char where[320];

	while (!block->live)
		block++;
	for (fiber = block->fibers; fiber->state == FIBER_DONE; fiber++)
		;
	place(runner->grid, fiber, 0, (uintptr_t)fiber->stack, where, sizeof(where));
	launch_failed(runner->grid, RESULT_LAUNCH_FAILED,
		      "%s: threads wait at different barriers, and for ever", where);
}

struct failure {
	struct fiber *fiber;
	int result;
	void (*write)(const void *data, char *text, size_t size);
	const void *data;
	uintptr_t rip, rsp;
};

struct words {
	const char *format;
	va_list *list;
};

static void write_words(const void *data, char *text, size_t size)
{
	const struct words *words = data;

	vsnprintf(text, size, words->format, *words->list);
}

static void tell_failure(void *data)
{
	const struct failure *failure = data;
	struct runner *runner = failure->fiber->at.block->runner;
	char where[320], what[400];

	failure->write(failure->data, what, sizeof(what));
	place(runner->grid, failure->fiber, failure->rip, failure->rsp, where, sizeof(where));
	launch_failed(runner->grid, failure->result, "%s: %s", where, what);
}

__attribute__((noreturn)) static void fail_with(struct failure *failure)
{
	struct fiber *fiber = failure->fiber;

	ptx_run_host(&fiber->at, tell_failure, failure);
	for (;;)
		fiber_switch(&fiber->stack, fiber->at.block->runner->stack);
}

/* Ends the launch because of what a thread has done. A thread's stack is too small for the words. */
void run_fail_at(struct fiber *fiber, uintptr_t rip, int result,
		 void (*write)(const void *data, char *text, size_t size), const void *data)
{
	fail_with(&(struct failure) {
		.fiber = fiber, .result = result, .write = write, .data = data, .rip = rip,
	});
}

/*
 * The place is the first address of generated code on the stack, from this frame's end on: what is
 * within it and below may be left of earlier calls.
 */
void run_fail(struct fiber *fiber, int result, const char *format, ...)
{
	struct words words = { .format = format };
	va_list list;

	va_start(list, format);
	words.list = &list;
	fail_with(&(struct failure) {
		.fiber = fiber, .result = result, .write = write_words, .data = &words,
		.rsp = (uintptr_t)__builtin_frame_address(0),
	});
}
