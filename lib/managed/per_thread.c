// SPDX-License-Identifier: MIT
/*
 * Symbols that programs built for the per-thread default stream import, as in
 * lib/entry/per_thread.c.
 */
#include "managed.h"

#pragma GCC visibility push(default)

LAST(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
     address, bytes, device)
LAST(cuMemPrefetchAsync_v2, (CUdeviceptr address, size_t bytes, CUmemLocation place,
			     unsigned int flags, CUstream stream),
     address, bytes, place, flags)
LAST(cuMemPrefetchBatchAsync, (CUdeviceptr *addresses, size_t *sizes, size_t count,
			       CUmemLocation *places, size_t *starts, size_t places_count,
			       unsigned long long flags, CUstream stream),
     addresses, sizes, count, places, starts, places_count, flags)
LAST(cuMemDiscardBatchAsync, (CUdeviceptr *addresses, size_t *sizes, size_t count,
			      unsigned long long flags, CUstream stream),
     addresses, sizes, count, flags)
LAST(cuMemDiscardAndPrefetchBatchAsync, (CUdeviceptr *addresses, size_t *sizes, size_t count,
					 CUmemLocation *places, size_t *starts,
					 size_t places_count, unsigned long long flags,
					 CUstream stream),
     addresses, sizes, count, places, starts, places_count, flags)
