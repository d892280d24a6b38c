// SPDX-License-Identifier: MIT
/*
 * Operations of a warp's lanes. The lanes that an operation names meet: each leaves what it
 * brings, the last one computes all results, and then all go on in the order of their numbers.
 * Lanes that have ended are not waited for. Several groups of a warp may meet at the same time.
 * While a lane lives that is not named, it may come to the same operation as well: then results are
 * computed at the end of the round, before which none of the lanes would have gone on anyway.
 */
#include <string.h>

#include "inside.h"
#include "lanes.h"

#define SITES_LONG	1024

static struct fiber *lane_of(const struct fiber *fiber, uint32_t lane)
{
	return fiber->at.block->fibers + fiber->at.warpid * PTX_WARP + lane;
}

static struct warp *warp_of(const struct fiber *fiber)
{
	return &fiber->at.block->warps[fiber->at.warpid];
}

LANES_INLINE struct lane_brings brings(const void *warp, uint32_t lane)
{
	const struct fiber *fiber = lane_of(warp, lane);

	return (struct lane_brings) {
		.value = fiber->value, .high = fiber->value >> 32, .mask = fiber->mask,
		.operation = fiber->operation, .b = fiber->b, .c = fiber->c,
	};
}

LANES_INLINE void gets(const void *warp, uint32_t lane, uint32_t outcome, bool agreed)
{
	struct fiber *fiber = lane_of(warp, lane);

	fiber->outcome = outcome;
	fiber->agreed = agreed;
}

/* Copies what each lane brings to each lane. */
static void gather(const struct fiber *first, uint32_t lanes)
{
	EACH_LANE(lane, lanes) {
		const struct fiber *to = lane_of(first, lane);
		uint32_t bytes = to->bytes;

		for (uint32_t from = 0; from < PTX_WARP; from++) {
			char *place = (char *)to->all + from * bytes;

			if (lanes >> from & 1)
				memcpy(place, (void *)lane_of(first, from)->value, bytes);
			else
				memset(place, 0, bytes);
		}
	}
}

struct together {
	void (*function)(void *const *lanes);
	void *lanes[PTX_WARP];
};

static void call_together(void *data)
{
	struct together *together = data;

	together->function(together->lanes);
}

/*
 * The function may need much of a stack: it runs on one of the process. It is called by a thread, as
 * the operation names all lanes, whose meeting is never left for the end of a round.
 */
static void together(const struct fiber *first, uint32_t lanes)
{
	struct together all = { .function = first->function };

	EACH_LANE(lane, lanes)
		all.lanes[lane] = (void *)lane_of(first, lane)->value;
	ptx_run_host(&first->at.block->runner->current->at, call_together, &all);
}

/* Lets lanes that have met go on. */
static void part(const struct fiber *first, uint32_t lanes)
{
	bool down = first->order == PTX_LANES_DOWN ||
		    (first->order == PTX_LANES_DOWN_IF_TRUE && first->outcome) ||
		    (first->order == PTX_LANES_DOWN_IF_FALSE && !first->outcome);
	struct warp *warp = warp_of(first);

	if (first->meeting == PTX_CUT_SYNC)
		races_meet_warp(lane_of(first, 0), lanes & ~warp->strangers);
	warp->waiting &= ~lanes;
	warp->strangers &= ~lanes;
	while (lanes) {
		uint32_t lane = down ? 31 - __builtin_clz(lanes) : __builtin_ctz(lanes);

		lanes &= ~(1U << lane);
		fiber_wake(lane_of(first, lane));
	}
}

/* Computes the results of lanes that have met, and of strangers that are there, too: all go on. */
static void complete(const struct fiber *first, uint32_t lanes)
{
	uint32_t strangers = 0;

	EACH_LANE(lane, warp_of(first)->strangers) {
		const struct fiber *other = lane_of(first, lane);

		if (other->meeting == first->meeting && other->operation == first->operation)
			strangers |= 1U << lane;
	}
	lanes |= strangers;
	if (first->meeting == MEET_TOGETHER)
		together(first, lanes);
	else if (first->meeting == MEET_GATHER)
		gather(first, lanes);
	else
		lanes_meet(first->meeting, lanes, strangers, first, brings, gets);
	part(first, lanes);
}

/* Return: the lanes that meet with a lane that waits, if all of them are there; else 0 */
static uint32_t all_here(const struct fiber *fiber)
{
	const struct warp *warp = warp_of(fiber);
	uint32_t lanes = fiber->mask & warp->live;

	if ((warp->waiting & lanes) != lanes)
		return 0;
	EACH_LANE(lane, lanes) {
		const struct fiber *other = lane_of(fiber, lane);

		if (other->mask != fiber->mask || other->meeting != fiber->meeting)
			return 0;
	}
	return lanes;
}

static void meet(struct fiber *fiber, uint32_t meeting, uint32_t operation, uint32_t mask,
		 uint32_t order)
{
	struct ptx_block *block = fiber->at.block;
	struct warp *warp = warp_of(fiber);
	uint32_t own = 1U << fiber->at.laneid, lanes;

	if (block->serial)
		run_fail(fiber, RESULT_LAUNCH_FAILED,
			 "an operation of a warp in a kernel that should have none");
	fiber->meeting = meeting;
	fiber->operation = operation;
	fiber->mask = mask;
	fiber->order = order;
	fiber->state = FIBER_WAITS;
	block->happened = true;
	warp->waiting |= own;
	if (mask & own) {
		lanes = all_here(fiber);
		if (lanes == warp->live)
			complete(fiber, lanes);
		else if (lanes)
			block->met |= 1U << fiber->at.warpid;
	} else {
		warp->strangers |= own;
		block->at_sites |= 1U << fiber->at.warpid;
	}
	fiber_wait(fiber);
}

/* A lane has ended: those that waited for it only go on. */
void warp_left(struct fiber *fiber)
{
	const struct warp *warp = warp_of(fiber);
	const struct fiber *first;

	if (!warp->waiting)
		return;
	first = lane_of(fiber, __builtin_ctz(warp->waiting));
	if (all_here(first) == warp->live)
		complete(first, warp->live);
	else
		fiber->at.block->met |= 1U << fiber->at.warpid;
}

void ptx_run_bar_warp_sync(struct ptx_thread *thread, uint32_t mask, uint32_t order)
{
	meet(fiber_of(thread), PTX_CUT_SYNC, 0, mask, order);
}

uint32_t ptx_run_vote(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		      uint32_t predicate, uint32_t order)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = predicate;
	meet(fiber, PTX_CUT_VOTE, operation, mask, order);
	return fiber->outcome;
}

uint32_t ptx_run_shfl(struct ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t value,
		      uint32_t b, uint32_t c, uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->b = b;
	fiber->c = c;
	fiber->value = value;
	meet(fiber, PTX_CUT_SHFL, mode, mask, PTX_LANES_UP);
	if (predicate)
		*predicate = fiber->agreed;
	return fiber->outcome;
}

uint32_t ptx_run_match_any(struct ptx_thread *thread, uint32_t mask, uint64_t value)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = value;
	meet(fiber, PTX_CUT_MATCH_ANY, 0, mask, PTX_LANES_UP);
	return fiber->outcome;
}

uint32_t ptx_run_match_all(struct ptx_thread *thread, uint32_t mask, uint64_t value,
			   uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = value;
	meet(fiber, PTX_CUT_MATCH_ALL, 0, mask, PTX_LANES_UP);
	if (predicate)
		*predicate = fiber->agreed;
	return fiber->outcome;
}

uint32_t ptx_run_redux(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		       uint32_t value)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = value;
	meet(fiber, PTX_CUT_REDUX, operation, mask, PTX_LANES_UP);
	return fiber->outcome;
}

uint32_t ptx_run_elect(struct ptx_thread *thread, uint32_t mask, uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	meet(fiber, PTX_CUT_ELECT, 0, mask, PTX_LANES_UP);
	if (predicate)
		*predicate = fiber->agreed;
	return fiber->outcome;
}

void ptx_run_gather(struct ptx_thread *thread, uint32_t mask, const void *own, void *all,
		    uint32_t bytes)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = (uintptr_t)own;
	fiber->all = all;
	fiber->bytes = bytes;
	meet(fiber, MEET_GATHER, 0, mask, PTX_LANES_UP);
}

void ptx_run_together(struct ptx_thread *thread, uint32_t mask, void *own,
		      void (*function)(void *const *lanes))
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = (uintptr_t)own;
	fiber->function = function;
	meet(fiber, MEET_TOGETHER, 0, mask, PTX_LANES_UP);
}

/*
 * Lanes wait at a site until all others of their warp wait for something, poll, or have ended.
 * Those that are at the same site then are active together.
 */
uint32_t ptx_run_activemask(struct ptx_thread *thread, uint64_t site)
{
	struct fiber *fiber = fiber_of(thread);
	struct ptx_block *block = thread->block;

	if (block->serial)
		run_fail(fiber, RESULT_LAUNCH_FAILED,
			 "activemask in a kernel that should have none");
	fiber->meeting = PTX_CUT_SITE;
	fiber->mask = 1U << thread->laneid;
	fiber->order = PTX_LANES_UP;
	fiber->value = site;
	fiber->state = FIBER_WAITS;
	warp_of(fiber)->waiting |= fiber->mask;
	block->at_sites |= 1U << thread->warpid;
	fiber_wait(fiber);
	return fiber->outcome;
}

/* Lets lanes of a warp go on that have met. */
static void all_complete(struct ptx_block *block, uint32_t number)
{
	const struct warp *warp = &block->warps[number];

	EACH_LANE(lane, warp->waiting & ~warp->strangers) {
		const struct fiber *fiber = &block->fibers[number * PTX_WARP + lane];
		bool meets = warp->waiting >> lane & 1 && fiber->meeting != PTX_CUT_SITE;
		uint32_t lanes = meets ? all_here(fiber) : 0;

		if (lanes)
			complete(fiber, lanes);
	}
}

/* Lets lanes at sites of a warp go on, if they are complete. */
static void sites(struct ptx_block *block, uint32_t number)
{
	const struct fiber *fibers = block->fibers + number * PTX_WARP;
	struct warp *warp = &block->warps[number];
	uint32_t at_site = 0, same;
	uint64_t site[PTX_WARP];

	EACH_LANE(lane, warp->live) {
		if (fibers[lane].state == FIBER_READY && !fibers[lane].polled)
			return;
		if (fibers[lane].state == FIBER_WAITS && fibers[lane].meeting == PTX_CUT_SITE &&
		    warp->waiting >> lane & 1) {
			at_site |= 1U << lane;
			site[lane] = fibers[lane].value;
		}
	}
	/* one site at a time: the others may still join what follows */
	same = at_site ? lanes_in_turn(site, at_site, &warp->parted, SITES_LONG) : 0;
	if (same == at_site && !warp->strangers)
		block->at_sites &= ~(1U << number);
	/* where nobody else can go on, those that do not name themselves meet */
	if (same | warp->strangers)
		complete(&fibers[__builtin_ctz(same ? same : warp->strangers)], same);
}

/* At the end of a round */
void warps_meet(struct ptx_block *block)
{
	EACH_LANE(number, block->met)
		all_complete(block, number);
	block->met = 0;
	EACH_LANE(number, block->at_sites)
		sites(block, number);
}
