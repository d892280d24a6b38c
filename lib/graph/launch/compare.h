/* SPDX-License-Identifier: MIT */
/* How a plan differs from steps that it is to replace, for update.c */
#ifndef MEMCAST_GRAPH_COMPARE_H
#define MEMCAST_GRAPH_COMPARE_H

#include "plan.h"

/* Some steps of a plan, which are to be replaced */
struct part {
	const struct plan *plan;
	uint32_t first, count;
	const uint32_t *walk;		/* their numbers, in the order of the plan's walk */
	unsigned int flags;		/* the instance's */
};

/* For each step of a part its number in the new plan; and room for comparing edges */
struct pairs {
	uint32_t *at, *marks;
};

struct difference {
	CUgraphExecUpdateResult result;
	CUgraphNode node, from;		/* of the new graph; from: a dependency of node, or NULL */
};

bool pairs_new(struct pairs *pairs, uint32_t count);
struct difference part_compare(const struct part *part, const struct plan *new,
			       const struct pairs *pairs);

static inline struct part part_whole(const struct plan *plan)
{
	return (struct part) { .plan = plan, .count = plan->count, .walk = plan->walk };
}

#endif /* MEMCAST_GRAPH_COMPARE_H */
