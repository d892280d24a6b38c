// SPDX-License-Identifier: GPL-2.0-only
/* The program's own memory, as opposed to what the module maps for it. */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include "core.h"

/*
 * Checks that the calling process can read, or (@write) write, all of a range of its own memory.
 * It goes by slices and looks for a fatal signal before each, as the kernel's helpers look for
 * none. Without locks: it faults pages in.
 * Return: 0, -EFAULT, or -EINTR when the caller is dying.
 */
int mc_user_check(u64 address, u64 bytes, bool write)
{
	while (bytes) {
		u64 slice = min_t(u64, bytes, MC_CHUNK_SIZE);
		char __user *user = u64_to_user_ptr(address);

		if (fatal_signal_pending(current))
			return -EINTR;
		if (write ? fault_in_safe_writeable(user, slice) :
			    fault_in_readable(user, slice))
			return -EFAULT;
		address += slice;
		bytes -= slice;
		cond_resched();
	}
	return 0;
}
