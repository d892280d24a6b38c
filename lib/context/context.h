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
#define PEER_WORDS	((MEMCAST_MAX_DEVICES + 63) / 64)

/* Of streams, as hardware has them; here the work of all is done alike. */
#define STREAM_PRIORITY_LEAST		0
#define STREAM_PRIORITY_GREATEST	(-5)

/* For plain allocation; see heap.h. */
enum context_heap { HEAP_OF_DEVICE, HEAP_OF_HOST, HEAP_MANAGED, CONTEXT_HEAPS };

struct slot {
	/* the CUcontext, 0 if there is none; its complement after a fault of the device */
	atomic_uintptr_t live;
	atomic_uintptr_t uses;	/* counts from 1, so that no context is NULL */
	uint32_t device;
	atomic_uint flags;
	_Atomic uint64_t peers[PEER_WORDS];	/* a bit per device that access is on for */
	_Atomic uint32_t heaps[CONTEXT_HEAPS];	/* by enum context_heap; 0: none yet */
	atomic_size_t limits[CU_LIMIT_MAX];	/* by CUlimit; see limit.c */
	_Atomic CUfunc_cache cache;		/* what code is to prefer */
	unsigned int retained;	/* primary contexts: references owed */
	atomic_uint ends;	/* of a primary context, whose value stays when it is revived */
	unsigned int attached;	/* how often cuCtxDetach() does not end the context yet */
};

extern struct slot slots[SLOTS];

/* Protects the slots, but for what is atomic, which is read without. */
extern pthread_mutex_t slots_lock;

/* The device of the current context */
CUresult context_device(uint32_t *device);
CUresult context_find(CUcontext context, struct slot **slot);
CUcontext context_value(const struct slot *slot);
CUresult context_make_current(CUcontext context);
void context_drop_current(CUcontext context);
CUresult context_check_flags(unsigned int flags);
CUresult context_check_device(CUdevice device);
void context_limits_reset(struct slot *slot);

/* Whether the context has peer access to that device's */
static inline bool slot_has_peer(const struct slot *slot, uint32_t device)
{
	return slot->peers[device / 64] >> device % 64 & 1;
}

static inline void slot_drop_peers(struct slot *slot)
{
	for (unsigned int i = 0; i < PEER_WORDS; i++)
		slot->peers[i] = 0;
}

static inline struct slot *context_slot(CUcontext context)
{
	return &slots[(uintptr_t)context % SLOTS];
}

/* Whether the context was not destroyed; its device may have failed. */
static inline bool slot_is_of(const struct slot *slot, CUcontext context)
{
	uintptr_t live = slot->live;

	return context && (live == (uintptr_t)context || live == ~(uintptr_t)context);
}

/*
 * What a context has that stands above contexts: lib/stream/ and lib/alloc/ fill this in as
 * the library is loaded.
 */
extern struct context_operations {
	/* with slots_lock held: what is queued in the context's streams is left out */
	void (*end_streams)(CUcontext context);
	/* with slots_lock held: all streams of a device answer @error from now on */
	void (*fail_streams)(uint32_t device, CUresult error);
	/* with slots_lock held: @heaps (CONTEXT_HEAPS of them) are not the slot's any more */
	void (*take_heaps)(struct slot *slot, uint32_t *heaps);
	/* without a lock: those heaps end, which may take the kernel long */
	void (*end_heaps)(const uint32_t *heaps);
} context_operations;

/* A thread of a stream: a host function may not call what could wait for its own stream. */
bool thread_is_worker(void);
void thread_becomes_worker(void);

/* fault.c */
void context_fault(uint32_t device, CUresult error);
CUresult device_answer(uint32_t device, CUresult result);
CUresult device_working(uint32_t device);

#endif /* MEMCAST_CONTEXT_H */
