// SPDX-License-Identifier: MIT
/*
 * What programs have done with memcast: libcuda.so.1 counts it in memory of theirs
 * (lib/base/activity.h). A program that only spins does nothing of it.
 */
#include <sys/uio.h>
#include "base/activity.h"
#include "progress.h"
#include "shared/activity.h"

bool activity_sum(const struct process *list, size_t count, uint64_t *sum)
{
	bool found = false;

	*sum = 0;
	for (size_t i = 0; i < count; i++) {
		uintptr_t records = list[i].ours ? activity_find(list[i].pid) : 0;
		uint64_t done = 0;
		struct iovec to = { &done, sizeof(done) };
		struct iovec from = { (void *)(records + ACTIVITY_DONE_AT), sizeof(done) };

		if (!records || process_vm_readv(list[i].pid, &to, 1, &from, 1, 0) != sizeof(done))
			continue;
		/* a process that comes or goes is something that is done, too */
		*sum += done + (uint64_t)list[i].pid;
		found = true;
	}
	return found;
}
