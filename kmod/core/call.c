// SPDX-License-Identifier: GPL-2.0-only
/* Calls: how one fails with a reason and answers, and checks of the ranges that it names. */
#include <linux/interval_tree.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "core.h"

/**
 * mc_fail() - say why a call fails
 * @call: the call
 * @error: the negative errno that it answers
 * @format: the reason, a sentence without a full stop, and its arguments
 *
 * Return: @error
 */
int mc_fail(struct mc_call *call, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(call->reason, sizeof(call->reason), format, args);
	va_end(args);
	return error;
}

/*
 * Copies the argument, outputs filled in, back to user space. Handlers call it without locks,
 * after all else that can fail. Return: 0, or -EFAULT with the reason.
 */
int mc_respond(struct mc_call *call)
{
	return copy_to_user(call->user, call->arg, call->bytes) ?
		mc_fail(call, -EFAULT, "the argument cannot be written") : 0;
}

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

/*
 * Checks that the calling process can read, or (@write) write, all of a range of its own memory.
 * It goes by slices and looks for a fatal signal before each, as the kernel's helpers look for
 * none. Without locks: it faults pages in.
 * Return: 0, -EFAULT, -EINTR when the caller is dying, or -ERESTARTNOINTR when it is to be frozen.
 */
int mc_user_check(u64 address, u64 bytes, bool write)
{
	while (bytes) {
		u64 slice = min_t(u64, bytes, MC_CHUNK_SIZE);
		char __user *user = u64_to_user_ptr(address);
		/* the next try finds the pages of this one */
		int ret = mc_must_stop();

		if (ret)
			return ret;
		if (write ? fault_in_safe_writeable(user, slice) :
			    fault_in_readable(user, slice))
			return -EFAULT;
		address += slice;
		bytes -= slice;
		cond_resched();
	}
	return 0;
}
