// SPDX-License-Identifier: MIT
/*
 * MEMCAST_PTX_CHECK: races of a block's threads. For each byte of the block's shared memory, the
 * last store and the last loads of two threads are remembered. Time is counted in steps, which
 * end where a barrier opens, or a thread passes a fence, an acquire or a release. An access comes
 * after an earlier one if both are of one thread, or if its thread has since
 *  - waited at a barrier, of the block or, for threads of one warp, of the warp; or
 *  - acquired, and the other thread has released since its access.
 * A barrier for some of the threads orders all that was before it, so that some races are missed;
 * none is reported that is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "inside.h"

struct seen {
	uintptr_t rip;
	uint32_t step;			/* 0: there was none */
	uint16_t thread;
	bool strong;
};

struct shadow {
	struct seen store, loads[2];
};

struct races {
	struct shadow *bytes;		/* of shared memory */
	uint32_t step;
	bool used;			/* an access was in this step */
	struct thread_order {
		uint32_t barrier, warp;	/* the steps that were over as it waited last */
		uint32_t acquired, released;
	} threads[PTX_BLOCK_THREADS];
};

#define SHADOW_BYTES	(SHARED_MAPPED * sizeof(struct shadow))

#define PAGE_MOST	65536UL		/* madvise() takes whole pages, of arm64's too */

static size_t races_bytes(void)
{
	return ((sizeof(struct races) + PAGE_MOST - 1) & ~(PAGE_MOST - 1)) + SHADOW_BYTES;
}

/* Memory is taken as it is written. */
struct races *races_new(void)
{
	struct races *races = mmap(NULL, races_bytes(), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (races == MAP_FAILED)
		return NULL;
	races->bytes = (void *)((char *)races + races_bytes() - SHADOW_BYTES);
	races->step = 1;
	return races;
}

void races_free(struct races *races)
{
	if (races)
		munmap(races, races_bytes());
}

/* Return: the step that is over */
static uint32_t next_step(struct races *races)
{
	if (!races->used)
		return races->step - 1;
	races->used = false;
	if (races->step == UINT32_MAX) {
		madvise(races->bytes, SHADOW_BYTES, MADV_DONTNEED);
		memset(races->threads, 0, sizeof(races->threads));
		races->step = 1;
	}
	return races->step++;
}

/* A block starts: what was before is nobody's. */
void races_start(struct races *races)
{
	uint32_t over;

	races->used = true;
	over = next_step(races);
	for (uint32_t i = 0; i < PTX_BLOCK_THREADS; i++)
		races->threads[i] = (struct thread_order) { .barrier = over };
}

static uint32_t number_of(const struct fiber *fiber)
{
	return fiber - fiber->at.block->fibers;
}

/*
 * Threads have waited for each other at a barrier. What one of them releases afterwards, is
 * released for the others, too.
 */
void races_meet(const struct fiber *fiber)
{
	struct races *races = fiber->at.block->races;
	struct thread_order *own;

	if (!races)
		return;
	own = &races->threads[number_of(fiber)];
	own->barrier = own->released = next_step(races);
}

/* Lanes of a warp have; what one has acquired, all have. @warp: the fiber of lane 0 */
void races_meet_warp(const struct fiber *warp, uint32_t lanes)
{
	struct races *races = warp->at.block->races;
	struct thread_order *own;
	uint32_t over, acquired = 0;

	if (!races)
		return;
	over = next_step(races);
	own = &races->threads[number_of(warp)];
	for (uint32_t lane = 0; lane < PTX_WARP; lane++)
		if (lanes >> lane & 1 && own[lane].acquired > acquired)
			acquired = own[lane].acquired;
	for (uint32_t lane = 0; lane < PTX_WARP; lane++)
		if (lanes >> lane & 1) {
			own[lane].warp = own[lane].released = over;
			own[lane].acquired = acquired;
		}
}

void ptx_run_order(struct ptx_thread *thread, uint32_t kind)
{
	struct races *races = thread->block->races;
	struct thread_order *own;
	uint32_t over;

	if (!kind || !races)
		return;
	own = &races->threads[number_of(fiber_of(thread))];
	over = next_step(races);
	if (kind & PTX_ORDER_RELEASE)
		own->released = over;
	if (kind & PTX_ORDER_ACQUIRE)
		own->acquired = over;
}

static bool comes_after(const struct races *races, uint32_t thread, const struct seen *seen)
{
	const struct thread_order *own = &races->threads[thread];

	return !seen->step || seen->thread == thread || seen->step <= own->barrier ||
	       (seen->thread / PTX_WARP == thread / PTX_WARP && seen->step <= own->warp) ||
	       (seen->step <= own->acquired && seen->step <= races->threads[seen->thread].released);
}

struct race {
	const struct access *access;
	const struct fiber *other;
	struct seen seen;
	bool stored;
	uint64_t at;
};

static void describe(const void *data, char *text, size_t size)
{
	const struct race *race = data;
	char line[200] = "";
	int used = access_words(race->access, text, size);

	if (ptx_run_line_at)
		ptx_run_line_at(race->seen.rip, line, sizeof(line));
	snprintf(text + used, size - used, " at byte %" PRIu64 " of shared memory, which thread "
		 "(%u, %u, %u) %s at %.120s: a race, as no barrier is between the two",
		 race->at - PTX_SHARED_FIRST, race->other->at.tid[0], race->other->at.tid[1],
		 race->other->at.tid[2], race->stored ? "has stored" : "has loaded",
		 *line ? line : "a line that is not known");
}

static void look(struct fiber *fiber, const struct access *access, const struct seen *seen,
		 uint64_t at, bool stored)
{
	struct ptx_block *block = fiber->at.block;
	struct race race = {
		.access = access, .seen = *seen, .at = at, .stored = stored,
		.other = &block->fibers[seen->thread],
	};

	if ((seen->strong && access->kind & PTX_ACCESS_STRONG) ||
	    comes_after(block->races, number_of(fiber), seen))
		return;
	run_fail_at(fiber, access->rip, RESULT_LAUNCH_FAILED, describe, &race);
}

/* @at: the first byte, in the block's window; all bytes are there. What is far behind is not seen. */
void race_look(struct fiber *fiber, const struct access *access, uint64_t at)
{
	struct races *races = fiber->at.block->races;
	bool stores = access->kind & PTX_ACCESS_STORE, changes = stores;
	const void *value = &access->value;
	struct seen now = {
		.rip = access->rip, .thread = number_of(fiber),
		.strong = access->kind & PTX_ACCESS_STRONG,
	};

	if (!races || at + access->bytes > SHARED_MAPPED)
		return;
	now.step = races->step;
	races->used = true;
	/* threads may store the same value */
	if (access->kind & PTX_ACCESS_VALUE_AT)
		value = (const void *)access->value;
	if (access->kind & (PTX_ACCESS_VALUE | PTX_ACCESS_VALUE_AT) &&
	    !memcmp((void *)access->address, value, access->bytes))
		changes = false;
	for (uint64_t i = at; i < at + access->bytes; i++) {
		struct shadow *byte = &races->bytes[i];

		if (!stores || changes)
			look(fiber, access, &byte->store, i, true);
		for (int j = 0; j < 2 && changes; j++)
			look(fiber, access, &byte->loads[j], i, false);
		if (stores) {
			byte->store = now;
			continue;
		}
		if (byte->loads[0].thread != now.thread)
			byte->loads[1] = byte->loads[0];
		byte->loads[0] = now;
	}
}
