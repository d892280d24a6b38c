// SPDX-License-Identifier: GPL-2.0-only
/* Calls: how one fails with a reason, and how it answers. */
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
