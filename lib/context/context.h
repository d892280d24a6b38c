/* SPDX-License-Identifier: MIT */
/*
 * Contexts are the library's own: a device number and flags. A CUcontext is not
 * a pointer but a slot's number and how often the slot was used, so that a stale
 * one is always told from a live one. The first slots are the primary contexts,
 * one per device, which keep their value for ever.
 */
#ifndef MEMCAST_CONTEXT_H
#define MEMCAST_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "library.h"

#define SLOT_BITS	12
#define SLOTS		(1U << SLOT_BITS)
#define PRIMARIES	MEMCAST_MAX_DEVICES

/* For plain allocation; see heap.h. */
enum context_heap { HEAP_OF_DEVICE, HEAP_OF_HOST, CONTEXT_HEAPS };

struct slot {
	atomic_uintptr_t live;	/* the CUcontext, 0 if there is none */
	atomic_uintptr_t uses;	/* counts from 1, so that no context is NULL */
	uint32_t device;
	atomic_uint flags;
	_Atomic uint64_t peers;	/* a bit per device that access is on for */
	_Atomic uint32_t heaps[CONTEXT_HEAPS];	/* by enum context_heap; 0: none yet */
	atomic_size_t limits[CU_LIMIT_MAX];	/* by CUlimit; see limit.c */
	_Atomic CUfunc_cache cache;		/* what code is to prefer */
	unsigned int retained;	/* primary contexts: references owed */
};

extern struct slot slots[SLOTS];

/* Protects the slots, but for what is atomic, which is read without. */
extern pthread_mutex_t slots_lock;

CUresult context_find(CUcontext context, struct slot **slot);
CUcontext context_value(struct slot *slot);
CUresult context_check_flags(unsigned int flags);
CUresult context_check_device(CUdevice device);
void context_limits_reset(struct slot *slot);
void context_heaps_take(struct slot *slot, uint32_t *heaps);
void context_heaps_end(const uint32_t *heaps);

#endif /* MEMCAST_CONTEXT_H */
