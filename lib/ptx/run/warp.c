// SPDX-License-Identifier: MIT
/*
 * Operations of a warp's lanes. The lanes that an operation names meet: each leaves what it
 * brings, the last one computes all results, and then all go on in the order of their numbers.
 * Lanes that have ended are not waited for. Several groups of a warp may meet at the same time.
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

/* The function may need much of a stack: it runs on one of the process. */
static void together(const struct fiber *first, uint32_t lanes)
{
	struct together all = { .function = first->function };

	EACH_LANE(lane, lanes)
		all.lanes[lane] = (void *)lane_of(first, lane)->value;
	ptx_run_host(&first->at.block->runner->current->at, call_together, &all);
}

/* Computes the results of lanes that have met. */
static void compute(const struct fiber *first, uint32_t lanes)
{
	if (first->meeting == MEET_TOGETHER)
		together(first, lanes);
	else if (first->meeting == MEET_GATHER)
		gather(first, lanes);
	else
		lanes_meet(first->meeting, lanes, 0, first, brings, gets);
}

/* Notes what lanes bring to a meeting. */
static void note(struct met *met, const struct fiber *first, uint32_t lanes)
{
	met->mask = first->mask;
	met->lanes = lanes;
	met->meeting = first->meeting;
	EACH_LANE(lane, lanes)
		met->value[lane] = lane_of(first, lane)->value;
}

/*
 * Lanes that do not name themselves may do anything, says PTX. On GPUs they take part in what the
 * lanes do that are at the same instruction.
 */
static void compute_for_stranger(struct fiber *fiber, const struct met *met)
{
	uint32_t named = met->lanes & fiber->mask, yes = 0, from;
	bool inside;

	if (fiber->meeting == PTX_CUT_SHFL) {
		from = lane_source(fiber->operation, fiber->at.laneid, fiber->b, fiber->c, &inside);
		fiber->outcome = met->lanes >> from & 1 ? met->value[from] : fiber->value;
		fiber->agreed = inside;
		return;
	}
	EACH_LANE(lane, named)
		yes |= (uint32_t)!!met->value[lane] << lane;
	fiber->outcome = fiber->meeting == PTX_CUT_VOTE ? lane_vote(fiber->operation, named, yes) :
						       named;
}

/* Lets lanes go on that do not name themselves. */
static void part_strangers(struct warp *warp, const struct fiber *first, uint32_t lanes)
{
	warp->strangers &= ~lanes;
	warp->waiting &= ~lanes;
	EACH_LANE(lane, lanes) {
		compute_for_stranger(lane_of(first, lane), &warp->met);
		fiber_wake(lane_of(first, lane));
	}
}

static bool is_same_meeting(const struct fiber *fiber, const struct met *met)
{
	return met->lanes && met->mask == fiber->mask && met->meeting == fiber->meeting;
}

/* Lets lanes that have met go on. */
static void part(const struct fiber *first, uint32_t lanes)
{
	bool down = first->order == PTX_LANES_DOWN ||
		    (first->order == PTX_LANES_DOWN_IF_TRUE && first->outcome) ||
		    (first->order == PTX_LANES_DOWN_IF_FALSE && !first->outcome);
	struct warp *warp = warp_of(first);

	warp->waiting &= ~lanes;
	warp->met.lanes = 0;
	if (first->mask != UINT32_MAX && first->meeting != PTX_CUT_SITE) {
		note(&warp->met, first, lanes);
		EACH_LANE(lane, warp->strangers)
			if (is_same_meeting(lane_of(first, lane), &warp->met))
				part_strangers(warp, first, 1U << lane);
	}
	if (first->meeting == PTX_CUT_SYNC)
		races_meet_warp(lane_of(first, 0), lanes);
	while (lanes) {
		uint32_t lane = down ? 31 - __builtin_clz(lanes) : __builtin_ctz(lanes);

		lanes &= ~(1U << lane);
		fiber_wake(lane_of(first, lane));
	}
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

static void meet(struct fiber *fiber, uint32_t meeting, uint32_t mask, uint32_t order)
{
	struct warp *warp = warp_of(fiber);
	uint32_t lanes;

	if (fiber->at.block->serial)
		run_fail(fiber, RESULT_LAUNCH_FAILED,
			 "an operation of a warp in a kernel that should have none");
	fiber->meeting = meeting;
	fiber->mask = mask;
	fiber->order = order;
	fiber->state = FIBER_WAITS;
	fiber->at.block->happened = true;
	warp->waiting |= 1U << fiber->at.laneid;
	if (!(mask >> fiber->at.laneid & 1)) {
		warp->strangers |= 1U << fiber->at.laneid;
		fiber->at.block->at_sites |= 1U << fiber->at.warpid;
		if (is_same_meeting(fiber, &warp->met))
			part_strangers(warp, fiber, 1U << fiber->at.laneid);
		fiber_wait(fiber);
		return;
	}
	lanes = all_here(fiber);
	if (lanes) {
		compute(fiber, lanes);
		part(fiber, lanes);
	}
	fiber_wait(fiber);
}

/* A lane has ended: those that waited for it only go on. */
void warp_left(struct fiber *fiber)
{
	const struct warp *warp = warp_of(fiber);
	uint32_t lanes;

	EACH_LANE(lane, warp->waiting) {
		struct fiber *other = lane_of(fiber, lane);

		if (!(warp->waiting & ~warp->strangers & 1U << lane) || other->meeting == PTX_CUT_SITE ||
		    !(other->mask >> fiber->at.laneid & 1))
			continue;
		lanes = all_here(other);
		if (lanes) {
			compute(other, lanes);
			part(other, lanes);
		}
	}
}

void ptx_run_bar_warp_sync(struct ptx_thread *thread, uint32_t mask, uint32_t order)
{
	meet(fiber_of(thread), PTX_CUT_SYNC, mask, order);
}

uint32_t ptx_run_vote(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		      uint32_t predicate, uint32_t order)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->operation = operation;
	fiber->value = predicate;
	meet(fiber, PTX_CUT_VOTE, mask, order);
	return fiber->outcome;
}

uint32_t ptx_run_shfl(struct ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t value,
		      uint32_t b, uint32_t c, uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->operation = mode;
	fiber->b = b;
	fiber->c = c;
	fiber->value = value;
	meet(fiber, PTX_CUT_SHFL, mask, PTX_LANES_UP);
	if (predicate)
		*predicate = fiber->agreed;
	return fiber->outcome;
}

uint32_t ptx_run_match_any(struct ptx_thread *thread, uint32_t mask, uint64_t value)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = value;
	meet(fiber, PTX_CUT_MATCH_ANY, mask, PTX_LANES_UP);
	return fiber->outcome;
}

uint32_t ptx_run_match_all(struct ptx_thread *thread, uint32_t mask, uint64_t value,
			   uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = value;
	meet(fiber, PTX_CUT_MATCH_ALL, mask, PTX_LANES_UP);
	if (predicate)
		*predicate = fiber->agreed;
	return fiber->outcome;
}

uint32_t ptx_run_redux(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		       uint32_t value)
{
	struct fiber *fiber = fiber_of(thread);

	fiber->operation = operation;
	fiber->value = value;
	meet(fiber, PTX_CUT_REDUX, mask, PTX_LANES_UP);
	return fiber->outcome;
}

uint32_t ptx_run_elect(struct ptx_thread *thread, uint32_t mask, uint32_t *predicate)
{
	struct fiber *fiber = fiber_of(thread);

	meet(fiber, PTX_CUT_ELECT, mask, PTX_LANES_UP);
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
	meet(fiber, MEET_GATHER, mask, PTX_LANES_UP);
}

void ptx_run_together(struct ptx_thread *thread, uint32_t mask, void *own,
		      void (*function)(void *const *lanes))
{
	struct fiber *fiber = fiber_of(thread);

	fiber->value = (uintptr_t)own;
	fiber->function = function;
	meet(fiber, MEET_TOGETHER, mask, PTX_LANES_UP);
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

/* Nobody else of a warp can go on: those that do not name themselves meet. Return: are there any? */
static bool strangers_meet(struct ptx_block *block, uint32_t number, const struct fiber *lanes)
{
	struct warp *warp = &block->warps[number];
	const struct fiber *first;
	uint32_t same = 0;

	if (!warp->strangers) {
		block->at_sites &= ~(1U << number);
		return false;
	}
	first = &lanes[__builtin_ctz(warp->strangers)];
	EACH_LANE(lane, warp->strangers)
		if (lanes[lane].meeting == first->meeting && lanes[lane].operation == first->operation)
			same |= 1U << lane;
	note(&warp->met, first, same);
	part_strangers(warp, first, same);
	return true;
}

/* Lets lanes at sites of a warp go on, if they are complete. Return: does one go on? */
static bool sites(struct ptx_block *block, uint32_t number)
{
	const struct fiber *warp = block->fibers + number * PTX_WARP;
	uint32_t at_site = 0, same;
	uint64_t site[PTX_WARP];

	EACH_LANE(lane, block->warps[number].live) {
		if (warp[lane].state == FIBER_READY && !warp[lane].polled)
			return false;
		if (warp[lane].state == FIBER_WAITS && warp[lane].meeting == PTX_CUT_SITE &&
		    block->warps[number].waiting >> lane & 1) {
			at_site |= 1U << lane;
			site[lane] = warp[lane].value;
		}
	}
	if (!at_site)
		return strangers_meet(block, number, warp);
	/* one site at a time: the others may still join what follows */
	same = lanes_in_turn(site, at_site, &block->warps[number].parted, SITES_LONG);
	EACH_LANE(lane, same)
		block->fibers[number * PTX_WARP + lane].outcome = same;
	if (same == at_site && !block->warps[number].strangers)
		block->at_sites &= ~(1U << number);
	part(&warp[__builtin_ctz(same)], same);
	return true;
}

/* At the end of a round: for all warps with lanes at sites. Return: does one go on? */
bool warps_sites(struct ptx_block *block)
{
	bool any = false;

	EACH_LANE(number, block->at_sites)
		any |= sites(block, number);
	return any;
}
