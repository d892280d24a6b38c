// SPDX-License-Identifier: MIT
/*
 * A block of a kernel that is cut, in one thread of the process. If all its threads are at the same
 * cut, all go on together: that is one loop. Else each warp goes on by itself as far as it can, and
 * when all are at barriers or have ended, the barriers open. Which threads wait for which is as in
 * warp.c and barrier.c; lanes that meet there are lanes at cuts here.
 */
#include <string.h>

#include "inside.h"
#include "lanes.h"

#define LOOP_LEAST	8	/* fewer threads than that run one by one */
/*
 * How many turns a warp takes before the next warp does. In blocks that run as one it is a single
 * turn, so that the warps access memory in the order of addresses.
 */
#define WARP_TURNS	64

/* No loop of a kernel that is cut waits by memory: this is for what we do not know. */
#define SITES_LONG	(1U << 20)

struct walk {
	struct ptx_thread *thread;
	const void *parameters;
	ptx_part *part;
	struct ptx_state *state;
	const struct ptx_cut *cuts;
	uint32_t threads;
	uint32_t *parted;		/* of each warp */
};

static uint64_t go(const struct walk *walk, uint32_t from, uint32_t first, uint32_t end)
{
	if (from && end - first < LOOP_LEAST)
		from = PTX_CUT_ANY;
	return walk->part(walk->thread, walk->parameters, walk->state, from, first, end);
}

static const struct ptx_cut *cut_of(const struct walk *walk, uint32_t thread)
{
	return &walk->cuts[walk->state->next[thread]];
}

/* Return: the lanes that a thread's operation names */
static uint32_t mask_of(const struct walk *walk, uint32_t thread)
{
	const struct ptx_cut *cut = cut_of(walk, thread);

	return cut->fixed & PTX_FIXED_MASK ? cut->mask : walk->state->mask[thread];
}

/* A warp, as lanes_meet() gets it */
struct place {
	const struct walk *walk;
	uint32_t first;			/* the thread that is its lane 0 */
	const struct ptx_cut *cut;	/* that all its lanes are at, or NULL */
};

LANES_INLINE struct lane_brings brings(const void *warp, uint32_t lane)
{
	const struct place *place = warp;
	const struct ptx_state *state = place->walk->state;
	uint32_t thread = place->first + lane;
	const struct ptx_cut *cut = place->cut ? place->cut : cut_of(place->walk, thread);

	return (struct lane_brings) {
		.value = state->value[thread], .high = state->high[thread],
		.mask = mask_of(place->walk, thread), .operation = cut->operation,
		.b = cut->fixed & PTX_FIXED_B ? cut->b : state->b[thread],
		.c = cut->fixed & PTX_FIXED_C ? cut->c : state->c[thread],
	};
}

LANES_INLINE void gets(const void *warp, uint32_t lane, uint32_t outcome, bool agreed)
{
	const struct place *place = warp;

	place->walk->state->outcome[place->first + lane] = outcome;
	place->walk->state->agreed[place->first + lane] = agreed;
}

/* Computes the results of lanes that meet. @strangers: those that do not name themselves */
static void meet(const struct walk *walk, uint32_t first, uint32_t lanes, uint32_t strangers)
{
	const struct place place = { walk, first, NULL };
	uint32_t kind = cut_of(walk, first + __builtin_ctz(lanes))->kind;

	if (kind != PTX_CUT_SYNC)
		lanes_meet(kind, lanes, strangers, &place, brings, gets);
}

/* All lanes of a warp are at the same shfl, of which the text says which lane gets whose value. */
static void shuffle_fixed(struct ptx_state *state, const struct ptx_cut *cut, uint32_t first)
{
	for (uint32_t lane = 0; lane < PTX_WARP; lane++)
		state->outcome[first + lane] = state->value[first + cut->source[lane]];
	for (uint32_t lane = 0; lane < PTX_WARP && cut->fixed & PTX_AGREES; lane++)
		state->agreed[first + lane] = cut->inside >> lane & 1;
}

/* All lanes of a warp are at the same cut, and it is for all of them. */
static void meet_all(const struct walk *walk, const struct ptx_cut *cut, uint32_t first)
{
	const struct place place = { walk, first, cut };

	if (cut->kind == PTX_CUT_SHFL && (cut->fixed & PTX_FIXED_BC) == PTX_FIXED_BC)
		shuffle_fixed(walk->state, cut, first);
	else if (cut->kind != PTX_CUT_SYNC)
		lanes_meet(cut->kind, UINT32_MAX, 0, &place, brings, gets);
}

/* Return: the lanes of a warp that are at any cut: they have not ended */
static uint32_t live_of(const struct walk *walk, uint32_t first)
{
	uint32_t count = walk->threads - first < PTX_WARP ? walk->threads - first : PTX_WARP;
	uint32_t live = 0;

	for (uint32_t lane = 0; lane < count; lane++)
		live |= (uint32_t)!!walk->state->next[first + lane] << lane;
	return live;
}

/* Return: the lanes that a lane meets, if all are at operations of that kind and mask; else 0 */
static uint32_t all_here(const struct walk *walk, uint32_t first, uint32_t lane, uint32_t live)
{
	uint32_t mask = mask_of(walk, first + lane), kind = cut_of(walk, first + lane)->kind;

	EACH_LANE(other, mask & live)
		if (cut_of(walk, first + other)->kind != kind ||
		    mask_of(walk, first + other) != mask)
			return 0;
	return mask & live;
}

/* Return: the lanes that are at the site whose turn it is */
static uint32_t same_site(const struct walk *walk, uint32_t first, uint32_t live)
{
	uint64_t site[PTX_WARP];
	uint32_t at_site = 0;

	EACH_LANE(lane, live) {
		at_site |= (uint32_t)(cut_of(walk, first + lane)->kind == PTX_CUT_SITE) << lane;
		site[lane] = walk->state->next[first + lane];
	}
	return lanes_in_turn(site, at_site, &walk->parted[first / PTX_WARP], SITES_LONG);
}

/* Return: the lanes of a warp that are at an operation whose mask does not name them */
static uint32_t strangers_of(const struct walk *walk, uint32_t first, uint32_t live)
{
	uint32_t found = 0;

	EACH_LANE(lane, live) {
		uint32_t kind = cut_of(walk, first + lane)->kind;

		if (kind >= PTX_CUT_SYNC && kind != PTX_CUT_SITE)
			found |= (uint32_t)!(mask_of(walk, first + lane) >> lane & 1) << lane;
	}
	return found;
}

/* Return: those of a warp's lanes that are at a cut */
static uint32_t lanes_at(const struct walk *walk, uint32_t first, uint32_t lanes, uint32_t cut)
{
	uint32_t found = 0;

	EACH_LANE(lane, lanes)
		found |= (uint32_t)(walk->state->next[first + lane] == cut) << lane;
	return found;
}

/* Return: those of a warp's lanes that are at the first cut of the text at which any is */
static uint32_t lanes_first(const struct walk *walk, uint32_t first, uint32_t lanes)
{
	uint32_t cut = UINT32_MAX;

	EACH_LANE(lane, lanes)
		if (walk->state->next[first + lane] < cut)
			cut = walk->state->next[first + lane];
	return lanes_at(walk, first, lanes, cut);
}

/* Return: the cut that all lanes of a warp are at, if by the text it is for all there; or NULL */
static const struct ptx_cut *same_cut(const struct walk *walk, uint32_t first, uint32_t live)
{
	const uint32_t *next = walk->state->next + first;
	const struct ptx_cut *cut = &walk->cuts[*next];
	uint32_t differs = 0;

	if (live != UINT32_MAX || (cut->kind != PTX_CUT_SITE &&
				   (!(cut->fixed & PTX_FIXED_MASK) || cut->mask != UINT32_MAX)))
		return NULL;
	for (uint32_t lane = 1; lane < PTX_WARP; lane++)
		differs |= next[lane] ^ *next;
	return differs ? NULL : cut;
}

/* Computes what lanes of a warp wait for, if it is complete. Return: the lanes that can go on */
static uint32_t warp_ready(const struct walk *walk, uint32_t first, uint32_t live)
{
	const struct ptx_cut *same = same_cut(walk, first, live);
	uint32_t ready = 0, looked_at = 0, lanes, others = 0, strangers;

	if (same) {
		walk->parted[first / PTX_WARP] = 0;
		meet_all(walk, same, first);
		return live;
	}

	strangers = strangers_of(walk, first, live);
	EACH_LANE(lane, live) {
		uint32_t kind = cut_of(walk, first + lane)->kind;

		if (kind == PTX_CUT_TURN)
			ready |= 1U << lane;
		if (looked_at >> lane & 1 || kind < PTX_CUT_SYNC || kind == PTX_CUT_SITE ||
		    !(mask_of(walk, first + lane) >> lane & 1))
			continue;
		lanes = all_here(walk, first, lane, live);
		if (lanes) {
			others = lanes_at(walk, first, strangers & ~looked_at,
					  walk->state->next[first + lane]);
			lanes |= others;
			meet(walk, first, lanes, others);
		}
		ready |= lanes;
		looked_at |= lanes;
	}
	if (!ready) {
		ready = same_site(walk, first, live);
		if (!ready)
			ready = others = lanes_first(walk, first, strangers);
		if (ready)
			meet(walk, first, ready, others);
	}
	return ready;
}

/* Lets lanes go on: those side by side that are at the same cut, as a loop. */
static void go_lanes(const struct walk *walk, uint32_t first, uint32_t lanes)
{
	const uint32_t *next = walk->state->next + first;

	while (lanes) {
		uint32_t lane = __builtin_ctz(lanes), end = lane, from = next[lane];

		for (; end < PTX_WARP && lanes >> end & 1; end++)
			if (next[end] != from)
				from = PTX_CUT_ANY;
		go(walk, from, first + lane, first + end);
		lanes &= end < PTX_WARP ? -1U << end : 0;
	}
}

/* What barriers with a predicate give their threads. @number: of the cut that all are at, or 0 */
static void barriers_red(const struct walk *walk, uint32_t number)
{
	uint32_t yes = 0, asked = 0, operation;

	if (number && walk->cuts[number].kind != PTX_CUT_BARRIER_RED)
		return;
	for (uint32_t i = 0; i < walk->threads; i++)
		if (cut_of(walk, i)->kind == PTX_CUT_BARRIER_RED) {
			yes += !!walk->state->value[i];
			asked++;
		}
	for (uint32_t i = 0; asked && i < walk->threads; i++) {
		operation = cut_of(walk, i)->operation;
		walk->state->outcome[i] = operation == PTX_RED_POPC ? yes :
					  operation == PTX_RED_AND ? yes == asked : yes > 0;
	}
}

/* No thread that is left can go on: names the first one that waits for lanes of its warp. */
static void stuck(const struct walk *walk)
{
	struct ptx_thread *thread = walk->thread;
	uint32_t i = 0;

	while (cut_of(walk, i)->kind < PTX_CUT_SYNC)
		i++;
	thread->tid[0] = i % thread->ntid[0];
	thread->tid[1] = i / thread->ntid[0] % thread->ntid[1];
	thread->tid[2] = i / thread->ntid[0] / thread->ntid[1];
	thread->named = 1;
	run_fail(fiber_of(thread), RESULT_LAUNCH_FAILED,
		 "line %u: threads wait at different barriers, and for ever", cut_of(walk, i)->line);
}

/* Is each thread that has not ended at a barrier? @same: output, all at the same cut, or 0 */
static bool at_barriers(const struct walk *walk, uint32_t *same)
{
	bool all = true;

	*same = walk->state->next[0];
	for (uint32_t i = 0; i < walk->threads; i++) {
		if (walk->state->next[i] && cut_of(walk, i)->kind >= PTX_CUT_SYNC)
			all = false;
		if (walk->state->next[i] != *same)
			*same = 0;
	}
	return all;
}

/* Opens barriers that all threads have come to. Return: as a part does */
static uint64_t open_barriers(const struct walk *walk)
{
	uint32_t all = UINT32_MAX, any = 0, same;

	if (!at_barriers(walk, &same))
		stuck(walk);
	barriers_red(walk, same);
	if (same)
		return go(walk, same, 0, walk->threads);
	for (uint32_t first = 0; first < walk->threads; first += PTX_WARP)
		go_lanes(walk, first, live_of(walk, first));
	for (uint32_t i = 0; i < walk->threads; i++) {
		all &= walk->state->next[i];
		any |= walk->state->next[i];
	}
	return all | (uint64_t)any << 32;
}

/* Does not come back if the launch has failed in another block. */
static void leave_if_failed(const struct walk *walk)
{
	if (walk->thread->block->runner->grid->failed)
		ptx_run_poll(walk->thread);
}

/* Lets a warp go on by itself, some times. Return: might it have gone on? */
static bool warp_goes_on(const struct walk *walk, uint32_t first)
{
	uint32_t turns = walk->thread->blocks > 1 ? 1 : WARP_TURNS;

	for (uint32_t turn = 0; turn < turns; turn++) {
		uint32_t live = live_of(walk, first);
		uint32_t ready = live ? warp_ready(walk, first, live) : 0;

		if (!ready)
			return turn;
		go_lanes(walk, first, ready);
	}
	return true;
}

/*
 * Lets each warp go on by itself, up to a barrier or its end, and then opens the barriers. A warp
 * that waits for another one, at a word, may be ready all the time.
 */
static uint64_t by_warps(const struct walk *walk)
{
	bool any = true;

	while (any) {
		leave_if_failed(walk);
		any = false;
		for (uint32_t first = 0; first < walk->threads; first += PTX_WARP)
			any |= warp_goes_on(walk, first);
	}
	return open_barriers(walk);
}

/* Do all threads name all lanes of their warps? */
static bool masks_are_full(const struct walk *walk, const struct ptx_cut *cut)
{
	if (cut->fixed & PTX_FIXED_MASK)
		return cut->mask == UINT32_MAX;
	for (uint32_t i = 0; i < walk->threads; i++)
		if (walk->state->mask[i] != UINT32_MAX)
			return false;
	return true;
}

/* All threads are at one cut. Can they go on together? Then they have what it gives. */
static bool all_ready(const struct walk *walk, uint32_t number)
{
	const struct ptx_cut *cut = &walk->cuts[number];
	uint32_t whole = walk->threads & -PTX_WARP;

	if (cut->kind < PTX_CUT_SYNC) {
		barriers_red(walk, number);
		return true;
	}
	if (cut->kind == PTX_CUT_SITE)
		memset(walk->parted, 0, PTX_BLOCK_THREADS / PTX_WARP * sizeof(*walk->parted));
	else if (!masks_are_full(walk, cut))
		return false;
	for (uint32_t first = 0; first < whole; first += PTX_WARP)
		meet_all(walk, cut, first);
	if (whole < walk->threads)
		meet(walk, whole, (1U << (walk->threads - whole)) - 1, 0);
	return true;
}

uint32_t ptx_run_cuts(struct ptx_thread *thread, const void *parameters, ptx_part *part,
		      struct ptx_state *state, const struct ptx_cut *cuts)
{
	uint32_t parted[PTX_BLOCK_THREADS / PTX_WARP] = {};
	struct walk walk = { thread, parameters, part, state, cuts,
			     thread->ntid[0] * thread->ntid[1] * thread->ntid[2] *
			     thread->blocks, parted };
	uint64_t at = part(thread, parameters, state, 0, 0, walk.threads);

	while (at >> 32) {
		uint32_t all = at, any = at >> 32;

		leave_if_failed(&walk);
		at = all == any && all_ready(&walk, any) ? go(&walk, any, 0, walk.threads) :
		     by_warps(&walk);
	}
	return state->wrong;
}
