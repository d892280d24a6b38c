// SPDX-License-Identifier: MIT
/*
 * Barriers of a block, which have numbers and may be for a part of its threads, and the barrier
 * of a cluster. A thread that has ended counts at barriers for all threads, as it never comes.
 * A barrier for a number of threads counts whole warps: lanes that do not exist, or have ended,
 * count with the others of their warp.
 */
#include <string.h>

#include "inside.h"

/* Have all live lanes of a warp arrived? Then those that it lacks count, too. */
static void count_warp(struct barrier *barrier, const struct warp *warp, uint32_t number)
{
	uint32_t lanes = barrier->lanes[number];

	if (!lanes || barrier->full >> number & 1 || (lanes & warp->live) != warp->live)
		return;
	barrier->full |= 1U << number;
	barrier->sum += PTX_WARP - __builtin_popcount(lanes);
}

/* Opens the barrier if all have arrived. */
static void open_if_complete(struct ptx_block *block, uint32_t id)
{
	struct barrier *barrier = &block->barrier[id];
	struct queue waiting;
	uint32_t yes, asked;

	if (barrier->expected ? barrier->sum < barrier->expected : barrier->arrived < block->live)
		return;
	waiting = barrier->waiting;
	yes = barrier->yes;
	asked = barrier->asked;
	memset(barrier, 0, sizeof(*barrier));
	block->barriers &= ~(1U << id);
	for (struct fiber *fiber = waiting.first; fiber; fiber = fiber->next) {
		fiber->outcome = fiber->operation == PTX_RED_POPC ? yes :
				 fiber->operation == PTX_RED_AND ? yes == asked : yes > 0;
		races_meet(fiber);
	}
	fibers_wake(&waiting);
}

/* @waits: does the thread stay until all have arrived? */
static void arrive(struct fiber *fiber, uint32_t id, uint32_t count, bool waits)
{
	struct ptx_block *block = fiber->at.block;
	struct barrier *barrier = &block->barrier[id % PTX_BARRIERS];
	uint32_t warp = fiber->at.warpid;

	if (block->serial)
		run_fail(fiber, RESULT_LAUNCH_FAILED, "a barrier in a kernel that should have none");
	if (count % PTX_WARP)
		run_fail(fiber, RESULT_ILLEGAL_INSTRUCTION,
			 "a barrier for %u threads, which are no whole warps", count);
	id %= PTX_BARRIERS;
	block->barriers |= 1U << id;
	block->happened = true;
	barrier->expected = count;
	barrier->arrived++;
	barrier->sum++;
	barrier->lanes[warp] |= 1U << fiber->at.laneid;
	count_warp(barrier, &block->warps[warp], warp);
	if (waits) {
		fiber->state = FIBER_WAITS;
		queue_add(&barrier->waiting, fiber);
	} else {
		ptx_run_order(&fiber->at, PTX_ORDER_RELEASE);
	}
	open_if_complete(block, id);
	if (waits)
		fiber_wait(fiber);
}

void ptx_run_bar_sync(struct ptx_thread *thread, uint32_t id, uint32_t count)
{
	fiber_of(thread)->operation = PTX_RED_POPC;
	arrive(fiber_of(thread), id, count, true);
}

void ptx_run_bar_arrive(struct ptx_thread *thread, uint32_t id, uint32_t count)
{
	arrive(fiber_of(thread), id, count, false);
}

uint32_t ptx_run_bar_red(struct ptx_thread *thread, uint32_t id, uint32_t count,
			 uint32_t operation, uint32_t predicate)
{
	struct fiber *fiber = fiber_of(thread);
	struct barrier *barrier = &thread->block->barrier[id % PTX_BARRIERS];

	fiber->operation = operation;
	barrier->asked++;
	barrier->yes += !!predicate;
	arrive(fiber, id, count, true);
	return fiber->outcome;
}

static void open_cluster(struct cluster *cluster)
{
	if (cluster->arrived < cluster->live)
		return;
	cluster->arrived = 0;
	cluster->phase++;
	for (const struct fiber *fiber = cluster->waiting.first; fiber; fiber = fiber->next)
		races_meet(fiber);
	fibers_wake(&cluster->waiting);
}

void ptx_run_cluster_arrive(struct ptx_thread *thread)
{
	struct cluster *cluster = thread->block->cluster;

	if (thread->block->serial)
		run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED,
			 "a barrier in a kernel that should have none");
	fiber_of(thread)->cluster_phase = cluster->phase;
	fiber_of(thread)->arrived = true;
	cluster->arrived++;
	ptx_run_order(thread, PTX_ORDER_RELEASE);
	open_cluster(cluster);
}

void ptx_run_cluster_wait(struct ptx_thread *thread)
{
	struct fiber *fiber = fiber_of(thread);
	struct cluster *cluster = thread->block->cluster;

	fiber->arrived = false;
	if (fiber->cluster_phase != cluster->phase) {
		races_meet(fiber);
		return;
	}
	fiber->state = FIBER_WAITS;
	queue_add(&cluster->waiting, fiber);
	fiber_wait(fiber);
}

/* A thread has ended: barriers that waited for it only may open. None counts it any more. */
void barriers_left(struct fiber *fiber)
{
	struct ptx_block *block = fiber->at.block;
	struct cluster *cluster = block->cluster;
	uint32_t warp = fiber->at.warpid;

	for (uint32_t left = block->barriers; left; left &= left - 1) {
		uint32_t id = __builtin_ctz(left);

		count_warp(&block->barrier[id], &block->warps[warp], warp);
		if (block->live || block->barrier[id].waiting.first)
			open_if_complete(block, id);
	}
	if (fiber->arrived && fiber->cluster_phase == cluster->phase)
		cluster->arrived--;
	if (cluster->live)
		open_cluster(cluster);
}
