// SPDX-License-Identifier: MIT
/*
 * When pools give memory back. As on hardware, memory that a stream has freed stays with its pool
 * until the program waits for a stream, an event or a context: then each pool keeps what its
 * threshold says. Where memory is short, pools give back all that is unused before that: the
 * kernel sees to it for blocks, cuMemCreate() for memories.
 */
#include "base/ioctl.h"
#include "base/prints.h"
#include "stream.h"

static atomic_bool freed;	/* since the last synchronization */

/* Notes that a stream has freed memory of a pool. */
void give_back_later(void)
{
	atomic_store_explicit(&freed, true, memory_order_release);
}

/* Takes the result of a synchronization, and returns it. What kernels have printed comes out. */
CUresult synchronized(CUresult result)
{
	struct memcast_heap_trim trim = { .flags = MEMCAST_TRIM_FREED };

	prints_flush();
	if (__builtin_expect(atomic_load_explicit(&freed, memory_order_relaxed), 0) &&
	    result == CUDA_SUCCESS && atomic_exchange(&freed, false))
		device_ask(MEMCAST_HEAP_TRIM, &trim);
	return result;
}
