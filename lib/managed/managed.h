/* SPDX-License-Identifier: MIT */
/*
 * Managed memory: blocks of the host's memory in a heap of their own, of which the kernel
 * keeps all that it keeps of other blocks. The CPU and every device reach it at any time, so
 * that nothing ever moves, and what a program advises changes nothing but what it is told when
 * it asks. That is kept here: it is the process's own affair, and ends with the process.
 */
#ifndef MEMCAST_MANAGED_H
#define MEMCAST_MANAGED_H

#include <stdbool.h>

#include "library.h"

/* Older names that binaries import; cuda.h has them under new ones. */
#undef cuMemAdvise
#undef cuMemPrefetchAsync

#pragma GCC visibility push(default)
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);
#pragma GCC visibility pop

/* Who accesses memory: a bit for each device, and one for the CPU */
#define ACCESSOR_CPU	MEMCAST_MAX_DEVICES
#define ACCESSOR_WORDS	(MEMCAST_MAX_DEVICES / 64 + 1)

/* What was said of a page; all 0 before anything was. */
struct advice {
	CUmemLocation preferred, prefetched;	/* type INVALID: none */
	uint64_t accessors[ACCESSOR_WORDS];
	uint64_t read_mostly;			/* bool, without bytes that nobody sets */
};

/* A part of a block, in whole pages but for the block's ends */
struct range {
	uint64_t start, end;
	uint64_t block_start, block_end;
	uint64_t block;		/* its number, which no other block gets */
	uint32_t heap;
};

/* managed.c */
CUresult range_of(struct range *range, CUdeviceptr address, size_t bytes);
CUresult place_check(CUmemLocation *place, bool nodes);
CUmemLocation place_of_device(CUdevice device);

static inline bool accessor_get(const struct advice *advice, unsigned int who)
{
	return advice->accessors[who / 64] >> who % 64 & 1;
}

/*
 * advice.c: what was said of ranges. A change has three steps, so that several ranges change
 * or none does: advice_prepare() alone can fail, and changes nothing that is ever told. The
 * advice_lock() is held over all three.
 */
void advice_lock(void);
void advice_unlock(void);
CUresult advice_prepare(const struct range *range);
void advice_change(const struct range *range,
		   void (*change)(struct advice *advice, const void *how), const void *how);
void advice_settle(const struct range *range);

/* What is so in all of a range; what is not the same everywhere is none. */
void advice_get(const struct range *range, struct advice *common);

#endif /* MEMCAST_MANAGED_H */
