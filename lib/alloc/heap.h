/* SPDX-License-Identifier: MIT */
/*
 * Heaps are the kernel's: blocks of any size, and who has which. Each context has
 * two of its own, for plain allocation on its device and on the host, whose
 * numbers are in its slot. A CUmemoryPool is the number of a heap.
 */
#ifndef MEMCAST_HEAP_H
#define MEMCAST_HEAP_H

#include "context.h"

/* Older names that binaries import; cuda.h has them under new ones. */
#undef cuMemHostRegister

#pragma GCC visibility push(default)
CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags);
#pragma GCC visibility pop

CUresult heap_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address);
CUresult heap_free(CUdeviceptr address, uint32_t flags);
CUresult context_heap(enum context_heap which, uint32_t *heap);
CUcontext context_of_heap(uint32_t heap);
CUresult context_free(CUdeviceptr address, uint32_t kind);

#endif /* MEMCAST_HEAP_H */
