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
