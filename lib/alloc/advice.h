/* SPDX-License-Identifier: MIT */
/* What was advised of managed memory, which ends with its block or its heap. */
#ifndef MEMCAST_ADVICE_H
#define MEMCAST_ADVICE_H

#include "library.h"

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

static inline bool accessor_get(const struct advice *advice, unsigned int who)
{
	return advice->accessors[who / 64] >> who % 64 & 1;
}

/*
 * What was said of ranges. A change has three steps, so that several ranges change
 * or none does: advice_prepare() alone can fail, and changes nothing that is ever told. The
 * advice_lock() is held over all three.
 */
void advice_lock(void);
void advice_unlock(void);
CUresult advice_prepare(const struct range *range);
void advice_change(const struct range *range,
		   void (*change)(struct advice *advice, const void *how), const void *how);
void advice_settle(const struct range *range);

/* Fills in the advice that all of a range shares; where its pages differ, there is none. */
void advice_get(const struct range *range, struct advice *common);

/* A block is freed, a heap ends, and what was advised of its memory. */
void advice_forget(const struct memcast_address_info *block);
void advice_forget_heap(uint32_t heap);

#endif /* MEMCAST_ADVICE_H */
