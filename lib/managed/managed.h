/* SPDX-License-Identifier: MIT */
/*
 * Managed memory: blocks of the host's memory in a heap of their own, of which the kernel
 * keeps all that it keeps of other blocks. The CPU and every device reach it at any time, so
 * that nothing ever moves, and what a program advises changes nothing but what it is told when
 * it asks. That is kept here: it is the process's own affair, and ends with the process.
 */
#ifndef MEMCAST_MANAGED_H
#define MEMCAST_MANAGED_H

#include "advice.h"

/* prefetch.c: an older name, for per_thread.c */
#undef cuMemPrefetchAsync
EXPORTED CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
				     CUstream stream);

/* managed.c */
CUresult range_of(struct range *range, CUdeviceptr address, size_t bytes);
CUresult place_check(CUmemLocation *place, bool nodes);
CUmemLocation place_of_device(CUdevice device);

#endif /* MEMCAST_MANAGED_H */
