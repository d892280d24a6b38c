// SPDX-License-Identifier: MIT
/*
 * MEMCAST_PTX_CHECK: looks before each access whether the thread may do it. Memory is the block's
 * shared memory, the thread's local variables, the kernel's parameters, what malloc() of kernels
 * gave, or what libcuda.so.1 says that the launch's context can access.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inside.h"

/* What is wrong with an access; the words are made later, on a stack of the process */
struct finding {
	const struct access *access;
	const struct fiber *fiber;
	enum { BEYOND_SHARED, BEYOND_LOCAL, OTHER_STACK, BEYOND_HEAP, FREED, BEYOND_ALL } what;
	uint64_t start, bytes;		/* of what lies nearest */
	int64_t at;			/* in shared memory */
	const char *text;
};

static uint32_t shared_bytes(const struct fiber *fiber)
{
	return launch_shared(fiber->at.block->runner->grid->launch);
}

int access_words(const struct access *access, char *text, size_t size)
{
	const char *what = !(access->kind & PTX_ACCESS_STORE) ? "a load" :
			   access->kind & PTX_ACCESS_LOAD ? "an atomic operation" : "a store";

	return snprintf(text, size, "%s of %u byte%s", what, access->bytes,
			access->bytes == 1 ? "" : "s");
}

static void describe(const void *data, char *text, size_t size)
{
	const struct finding *finding = data;
	const struct access *access = finding->access;
	uint32_t bytes = shared_bytes(finding->fiber);
	int used = access_words(access, text, size);
	int64_t distance;

	text += used;
	size -= used;
	switch (finding->what) {
	case BEYOND_SHARED:
		snprintf(text, size, " at byte %" PRId64 " of shared memory, of which the block has %u",
			 finding->at, bytes);
		break;
	case BEYOND_LOCAL:
		if (!finding->bytes)
			snprintf(text, size, " at %#" PRIx64 ", in the stack, where the thread has no "
				 "local variable", access->address);
		else
			snprintf(text, size, " at %#" PRIx64 ", %" PRIu64 " bytes behind the start of a "
				 "local variable of %" PRIu64, access->address,
				 access->address - finding->start, finding->bytes);
		break;
	case OTHER_STACK:
		snprintf(text, size, " at %#" PRIx64 ", in the local memory of another thread",
			 access->address);
		break;
	case FREED:
		snprintf(text, size, " at %#" PRIx64 ", which the kernel's free() has freed",
			 access->address);
		break;
	case BEYOND_HEAP:
		distance = access->address - finding->start;
		snprintf(text, size, " at %#" PRIx64 ", %" PRId64 " bytes %s the start of %" PRIu64
			 " from the kernel's malloc()", access->address,
			 distance < 0 ? -distance : distance, distance < 0 ? "before" : "behind",
			 finding->bytes);
		break;
	default:
		snprintf(text, size, " at %#" PRIx64 ": %.240s", access->address, finding->text);
	}
}

__attribute__((noreturn)) static void fail(struct fiber *fiber, struct finding *finding)
{
	finding->fiber = fiber;
	run_fail_at(fiber, finding->access->rip, RESULT_ILLEGAL_ADDRESS, describe, finding);
}

/* Windows of other blocks of a cluster are like the block's own. */
static void look_shared(struct fiber *fiber, const struct access *access, uint64_t offset)
{
	uint64_t all = (uint64_t)fiber->at.cluster_nctarank * PTX_SHARED_WINDOW;
	uint64_t at = offset < all ? offset % PTX_SHARED_WINDOW : offset;
	struct finding finding = { access, .what = BEYOND_SHARED };
	uint64_t bytes = shared_bytes(fiber);

	if (at < PTX_SHARED_RESERVED && access->bytes <= PTX_SHARED_RESERVED - at)
		return;
	if (at - PTX_SHARED_FIRST > bytes ||
	    access->bytes > bytes - (at - PTX_SHARED_FIRST)) {
		finding.at = (int64_t)(at - PTX_SHARED_FIRST);
		fail(fiber, &finding);
	}
	if (offset / PTX_SHARED_WINDOW == fiber->at.cluster_ctarank)
		race_look(fiber, access, at);
}

static bool is_within(const struct access *access, uint64_t start, uint64_t bytes)
{
	return access->address >= start && access->address - start < bytes &&
	       access->bytes <= bytes - (access->address - start);
}

static void look_local(struct fiber *fiber, const struct access *access)
{
	uint64_t end = (uintptr_t)fiber->at.stack_end, each = fiber->at.block->cluster->stacks.each;
	struct finding finding = { access, .what = BEYOND_LOCAL };

	if (access->address - end >= each) {
		finding.what = OTHER_STACK;
		fail(fiber, &finding);
	}
	if (is_within(access, fiber->taken_start, fiber->taken_end - fiber->taken_start))
		return;
	for (const struct ptx_local *local = fiber->locals; local; local = local->next) {
		if (is_within(access, local->start, local->bytes))
			return;
		if (access->address >= local->start && local->start > finding.start) {
			finding.start = local->start;
			finding.bytes = local->bytes;
		}
	}
	fail(fiber, &finding);
}

static void look_heap(struct fiber *fiber, const struct access *access)
{
	struct finding finding = { access, .what = BEYOND_HEAP };
	bool freed;

	heap_block(access->address, &finding.start, &finding.bytes, &freed);
	if (freed)
		finding.what = FREED;
	else if (is_within(access, finding.start, finding.bytes))
		return;
	fail(fiber, &finding);
}

struct question {
	const struct ptx_launch *launch;
	uint64_t address;
	struct ptx_reach *reach;
	bool known;
};

static void ask(void *data)
{
	struct question *question = data;

	question->known = question->launch->host->reach(question->launch->host_data,
							question->address, question->reach);
}

/* Finds the memory around an address, among what was found before or by asking. */
static bool find(struct fiber *fiber, uint64_t address, struct ptx_reach *reach)
{
	struct runner *runner = fiber->at.block->runner;
	struct question question = { runner->grid->launch, address, reach, false };

	for (uint32_t i = 0; i < REACHED; i++) {
		const struct reached *reached = &runner->reached[i];

		if (address - reached->start >= reached->bytes)
			continue;
		*reach = (struct ptx_reach) {
			.start = reached->start, .end = reached->start + reached->bytes,
			.stores = reached->stores, .window = reached->window,
		};
		return true;
	}
	ptx_run_host(&fiber->at, ask, &question);
	if (question.known)
		runner->reached[runner->reached_next++ % REACHED] = (struct reached) {
			reach->start, reach->end - reach->start, reach->stores, reach->window,
		};
	return question.known;
}

/* All of it must be in memory that the context reaches, in one mapping or in several. */
static void look_global(struct fiber *fiber, const struct access *access)
{
	const struct ptx_launch *launch = fiber->at.block->runner->grid->launch;
	struct ptx_reach reach = {};
	struct finding finding = { access, .what = BEYOND_ALL, .text = reach.text };

	if (!launch->host->reach ||
	    is_within(access, (uintptr_t)launch->parameters, launch->kernel->parameter_bytes) ||
	    is_within(access, (uintptr_t)fiber->at.block->runner->grid->workspace,
		      sizeof(fiber->at.block->runner->grid->workspace)))
		return;
	for (uint64_t done = 0; done < access->bytes; done = reach.end - access->address) {
		if (!find(fiber, access->address + done, &reach))
			fail(fiber, &finding);
		finding.text = "";
		if (reach.window)
			finding.text = "this is the window of a multicast object, where PTX has "
				       "multimem operations only";
		else if (access->kind & PTX_ACCESS_STORE && !reach.stores)
			finding.text = "the device may only read there";
		if (*finding.text)
			fail(fiber, &finding);
		finding.text = reach.text;
	}
}

void ptx_run_access(struct ptx_thread *thread, uint64_t address, uint32_t bytes, uint32_t kind,
		    uint64_t value)
{
	const struct cluster *cluster = thread->block->cluster;
	const struct stacks *stacks = &cluster->stacks;
	struct access access = {
		.address = address, .bytes = bytes, .kind = kind, .value = value,
		.rip = (uintptr_t)__builtin_return_address(0) - 1,
	};

	if (!bytes)
		return;
	if (kind & PTX_ACCESS_SHARED ||
	    address - (uintptr_t)cluster->shared < cluster->count * PTX_SHARED_WINDOW)
		look_shared(fiber_of(thread), &access, address - (uintptr_t)cluster->shared);
	else if (address - (uintptr_t)stacks->memory < stacks->bytes)
		look_local(fiber_of(thread), &access);
	else if (heap_has(address))
		look_heap(fiber_of(thread), &access);
	else
		look_global(fiber_of(thread), &access);
}

struct ptx_local *ptx_run_locals(struct ptx_thread *thread)
{
	return fiber_of(thread)->locals;
}

void ptx_run_local(struct ptx_thread *thread, struct ptx_local *local, void *start, uint32_t bytes)
{
	*local = (struct ptx_local) { fiber_of(thread)->locals, (uintptr_t)start, bytes };
	fiber_of(thread)->locals = local;
}

void ptx_run_locals_end(struct ptx_thread *thread, struct ptx_local *outer)
{
	fiber_of(thread)->locals = outer;
}

/* alloca: from the lowest to the highest that there has been, all counts */
void ptx_run_stack_taken(struct ptx_thread *thread, void *start, uint32_t bytes)
{
	struct fiber *fiber = fiber_of(thread);
	uint64_t first = (uintptr_t)start;

	if (!fiber->taken_end || first < fiber->taken_start)
		fiber->taken_start = first;
	if (first + bytes > fiber->taken_end)
		fiber->taken_end = first + bytes;
}
