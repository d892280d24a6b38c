// SPDX-License-Identifier: GPL-2.0-only
/* Calls: how one fails with a reason, and how it answers. */
#include <linux/uaccess.h>
#include "private.h"

/**
 * mc_fail() - say why a call fails
 * @call: the call
 * @error: the negative errno that it answers
 * @format: the reason, a sentence without a stop, and what it takes
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

/**
 * mc_check_range() - check a range given in bytes
 * @call: the call
 * @what: the range is in, for the reason; NULL: the address space
 * @first: where it starts
 * @bytes: how long it is
 * @limit: where what it is in ends
 * @granularity: what start and length are multiples of
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

/* Hand the argument back, outputs filled in: the last thing that can fail. */
int mc_respond(struct mc_call *call)
{
	return copy_to_user(call->user, call->arg, call->bytes) ?
		mc_fail(call, -EFAULT, "the argument cannot be written") : 0;
}
