/* SPDX-License-Identifier: MIT */
/* What operations of a warp give its lanes, wherever these leave what they bring */
#ifndef MEMCAST_PTX_LANES_H
#define MEMCAST_PTX_LANES_H

#include "run.h"

#define EACH_LANE(lane, lanes)							\
	for (uint32_t left = (lanes), lane; left && (lane = __builtin_ctz(left), 1);	\
	     left &= left - 1)

/* Return: the lane whose value a lane gets by shfl. @inside: output, is it in the segment? */
static inline uint32_t lane_source(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c,
				   bool *inside)
{
	uint32_t segment = c >> 8 & 31, clamp = c & 31;
	int limit = (lane & segment) | (clamp & ~segment), from = lane;

	b &= 31;
	switch (mode) {
	case PTX_SHFL_UP:
		from -= b;
		*inside = from >= limit;
		break;
	case PTX_SHFL_DOWN:
		from += b;
		*inside = from <= limit;
		break;
	case PTX_SHFL_BFLY:
		from ^= b;
		*inside = from <= limit;
		break;
	default:
		from = (lane & segment) | (b & ~segment);
		*inside = from <= limit;
	}
	return *inside ? (uint32_t)from : lane;
}

static inline uint32_t lane_reduce(uint32_t operation, uint32_t a, uint32_t b)
{
	switch (operation) {
	case PTX_REDUX_ADD:
		return a + b;
	case PTX_REDUX_MIN_U:
		return a < b ? a : b;
	case PTX_REDUX_MAX_U:
		return a > b ? a : b;
	case PTX_REDUX_MIN_S:
		return (int32_t)a < (int32_t)b ? a : b;
	case PTX_REDUX_MAX_S:
		return (int32_t)a > (int32_t)b ? a : b;
	case PTX_REDUX_AND:
		return a & b;
	case PTX_REDUX_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* @yes: the lanes of @lanes whose predicate is true */
static inline uint32_t lane_vote(uint32_t operation, uint32_t lanes, uint32_t yes)
{
	switch (operation) {
	case PTX_VOTE_ALL:
		return yes == lanes;
	case PTX_VOTE_ANY:
		return yes != 0;
	case PTX_VOTE_UNI:
		return yes == lanes || !yes;
	default:
		return yes;
	}
}

/* What a lane brings to an operation */
struct lane_brings {
	uint32_t value, high;		/* high: of match */
	uint32_t mask, operation, b, c;	/* mask: lanes that it names; b, c: of shfl */
};

typedef struct lane_brings lane_brings(const void *warp, uint32_t lane);
typedef void lane_gets(const void *warp, uint32_t lane, uint32_t outcome, bool agreed);

#define LANES_INLINE	static inline __attribute__((always_inline))

LANES_INLINE void lanes_shuffle(uint32_t lanes, const void *warp, lane_brings *brings,
				lane_gets *gets)
{
	EACH_LANE(lane, lanes) {
		struct lane_brings own = brings(warp, lane);
		bool inside;
		uint32_t from = lane_source(own.operation, lane, own.b, own.c, &inside);

		/* a lane that is not there brings nothing */
		gets(warp, lane, brings(warp, lanes >> from & 1 ? from : lane).value, inside);
	}
}

LANES_INLINE void lanes_vote(uint32_t lanes, uint32_t strangers, const void *warp,
			     lane_brings *brings, lane_gets *gets)
{
	uint32_t yes = 0;

	EACH_LANE(lane, lanes)
		yes |= (uint32_t)!!brings(warp, lane).value << lane;
	EACH_LANE(lane, lanes) {
		struct lane_brings own = brings(warp, lane);
		uint32_t named = lanes & (strangers >> lane & 1 ? own.mask : ~strangers);

		gets(warp, lane, lane_vote(own.operation, named, yes & named), false);
	}
}

static inline uint32_t lane_equals(struct lane_brings a, struct lane_brings b)
{
	return a.value == b.value && a.high == b.high;
}

/* What lanes @to get, all of which name @named */
LANES_INLINE void lanes_compare(uint32_t kind, uint32_t to, uint32_t named, const void *warp,
				lane_brings *brings, lane_gets *gets)
{
	uint32_t first = __builtin_ctz(named ? named : to), others = named & ~to, same, sum;
	struct lane_brings own = brings(warp, first);
	bool agreed = true;

	switch (kind) {
	case PTX_CUT_MATCH_ANY:
		for (; to; to &= ~same) {
			own = brings(warp, __builtin_ctz(to));
			same = 0;
			EACH_LANE(lane, others | to)
				same |= lane_equals(brings(warp, lane), own) << lane;
			EACH_LANE(lane, same & to)
				gets(warp, lane, same & named, false);
		}
		break;
	case PTX_CUT_MATCH_ALL:
		EACH_LANE(lane, others | to)
			agreed &= lane_equals(brings(warp, lane), own);
		EACH_LANE(lane, to)
			gets(warp, lane, agreed ? named : 0, agreed);
		break;
	case PTX_CUT_REDUX:
		sum = own.value;
		EACH_LANE(lane, named & (named - 1))
			sum = lane_reduce(own.operation, sum, brings(warp, lane).value);
		EACH_LANE(lane, to)
			gets(warp, lane, sum, false);
		break;
	case PTX_CUT_ELECT:
		EACH_LANE(lane, to)
			gets(warp, lane, first, named & -named & 1U << lane);
		break;
	default:
		EACH_LANE(lane, to)
			gets(warp, lane, named, false);
	}
}

/*
 * What an operation gives lanes that meet. Those that do not name themselves (@strangers) may do
 * anything, says PTX. On GPUs they take part in what the lanes do that are at the same instruction:
 * they get what those bring that they name, and others get nothing of them but by shfl.
 */
LANES_INLINE void lanes_meet(uint32_t kind, uint32_t lanes, uint32_t strangers, const void *warp,
			     lane_brings *brings, lane_gets *gets)
{
	if (kind == PTX_CUT_SHFL) {
		lanes_shuffle(lanes, warp, brings, gets);
		return;
	}
	if (kind == PTX_CUT_VOTE) {
		lanes_vote(lanes, strangers, warp, brings, gets);
		return;
	}
	if (lanes & ~strangers)
		lanes_compare(kind, lanes & ~strangers, lanes & ~strangers, warp, brings, gets);
	EACH_LANE(lane, strangers)
		lanes_compare(kind, 1U << lane, lanes & brings(warp, lane).mask, warp, brings, gets);
}

/* Return: of lanes at sites, those at the first one. @site: of each lane */
static inline uint32_t lanes_at_first(const uint64_t *site, uint32_t lanes)
{
	uint64_t first = UINT64_MAX;
	uint32_t same = 0;

	EACH_LANE(lane, lanes) {
		if (site[lane] < first)
			same = 0;
		if (site[lane] <= first) {
			first = site[lane];
			same |= 1U << lane;
		}
	}
	return same;
}

/*
 * Of lanes at several sites those at the first one of the text go on, which may come to where the
 * others are: so lanes meet again behind a branch. They may wait in a loop for the others, though:
 * of these, too, some go on after a long time. @parted: how often lanes of the warp have gone on
 * while others were at another site. Return: the lanes whose turn it is
 */
static inline uint32_t lanes_in_turn(const uint64_t *site, uint32_t lanes, uint32_t *parted,
				     uint32_t long_time)
{
	uint32_t same = lanes_at_first(site, lanes), passed = 0, pass = 0;

	if (*parted % long_time == long_time - 1)
		pass = 1 + *parted / long_time % (PTX_WARP - 1);
	*parted = same == lanes ? 0 : *parted + 1;
	for (; pass && (same | passed) != lanes; pass--) {
		passed |= same;
		same = lanes_at_first(site, lanes & ~passed);
	}
	return same;
}

#endif /* MEMCAST_PTX_LANES_H */
