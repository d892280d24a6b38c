// SPDX-License-Identifier: GPL-2.0-only
/* Checks of ranges: of a call's arguments, and of the intervals in a tree. */
#include <linux/interval_tree.h>
#include <linux/sched/signal.h>
#include "core.h"

/**
 * mc_check_range() - check a range given in bytes
 * @call: the call
 * @what: what the range is in, a word of the reason; NULL: the address space
 * @first: where the range starts
 * @bytes: how long it is
 * @limit: where @what ends
 * @granularity: start and length have to be multiples of it
 *
 * Return: 0, or -EINVAL with the reason.
 */
int mc_check_range(struct mc_call *call, const char *what, u64 first, u64 bytes,
		   u64 limit, u32 granularity)
{
	if (!bytes)
		return mc_fail(call, -EINVAL, "the size is 0");
	if (!IS_ALIGNED(bytes, granularity))
		return mc_fail(call, -EINVAL,
			       "size %llu is not a multiple of the granularity %u: round it up",
			       bytes, granularity);
	if (!IS_ALIGNED(first, granularity) && !what)
		return mc_fail(call, -EINVAL,
			       "address %#llx is not a multiple of the granularity %u",
			       first, granularity);
	if (!IS_ALIGNED(first, granularity))
		return mc_fail(call, -EINVAL,
			       "%s offset %llu is not a multiple of the granularity %u",
			       what, first, granularity);
	if (first > limit || bytes > limit - first)
		return mc_fail(call, -EINVAL,
			       "%llu bytes from %llu are outside the %s of %llu bytes",
			       bytes, first, what ?: "address space", limit);
	return 0;
}

/**
 * mc_range_is_covered() - do whole intervals cover a range, without a hole?
 * @tree: of intervals that do not overlap; the caller holds its lock
 * @first: where the range begins
 * @last: its last byte
 * @where: output, if it is not covered: a byte in the hole, or in @partial
 * @partial: output, likewise: the interval of which only a part is in the range, or NULL
 *
 * Return: 0, -EINVAL if it is not covered, or -EINTR when the caller is dying.
 */
int mc_range_is_covered(struct rb_root_cached *tree, unsigned long first, unsigned long last,
			unsigned long *where, struct interval_tree_node **partial)
{
	struct interval_tree_node *node;
	unsigned long next = first;

	for (node = interval_tree_iter_first(tree, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		if (node->start != next)
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		next = node->last + 1;
		cond_resched();
	}
	if (!node && next == last + 1)
		return 0;
	*where = min(next, last);
	*partial = interval_tree_iter_first(tree, *where, *where);
	return -EINVAL;
}
