/* SPDX-License-Identifier: MIT */
/* The advice of managed memory, which ends with its block or its heap. */
#ifndef MEMCAST_ADVICE_H
#define MEMCAST_ADVICE_H

#include "base/base.h"

/* Accessors of memory: a bit for each device, and one for the CPU */
#define ACCESSOR_CPU	MEMCAST_MAX_DEVICES
#define ACCESSOR_WORDS	(MEMCAST_MAX_DEVICES / 64 + 1)

/* The advice of a page; all zeros at first */
struct advice {
	CUmemLocation preferred, prefetched;	/* type INVALID: none */
	uint64_t accessors[ACCESSOR_WORDS];
	uint64_t read_mostly;			/* a boolean, without padding */
};

/* A part of a block, in whole pages but for the block's ends */
struct range {
	uint64_t start, end;
	uint64_t block_start, block_end;
	uint64_t block;		/* the block's number, which no other block gets */
	uint32_t heap;
};

static inline bool accessor_get(const struct advice *advice, unsigned int who)
{
	return advice->accessors[who / 64] >> who % 64 & 1;
}

/*
 * Advice of ranges. A change has three steps, so that it changes all of several ranges or none:
 * only advice_prepare() can fail, and it changes no advice. The caller holds advice_lock() over
 * all three.
 */
void advice_lock(void);
void advice_unlock(void);
CUresult advice_prepare(const struct range *range);
void advice_change(const struct range *range,
		   void (*change)(struct advice *advice, const void *how), const void *how);
void advice_settle(const struct range *range);

/*
 * Fills in the advice that all pages of a range share; a property in which they differ is left
 * empty.
 */
void advice_get(const struct range *range, struct advice *common);

/* A block is freed, or a heap ends: forgets its advice. */
void advice_forget(const struct memcast_address_info *block);
void advice_forget_heap(uint32_t heap);

#endif /* MEMCAST_ADVICE_H */
