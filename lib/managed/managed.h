/* SPDX-License-Identifier: MIT */
/*
 * Managed memory: blocks of host memory in a heap of their own, which the kernel treats like
 * other blocks. The CPU and every device reach it at any time, so nothing ever moves, and
 * advice only changes what a program reads back. The library keeps the advice: it is the
 * process's own, and ends with it.
 */
#ifndef MEMCAST_MANAGED_H
#define MEMCAST_MANAGED_H

#include "alloc/advice.h"

/* prefetch.c: an older name, which per_thread.c calls */
#undef cuMemPrefetchAsync
EXPORTED CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
				     CUstream stream);

/* managed.c */
CUresult range_of(struct range *range, CUdeviceptr address, size_t bytes);
CUresult place_check(CUmemLocation *place, bool nodes);
CUmemLocation place_of_device(CUdevice device);

#endif /* MEMCAST_MANAGED_H */
