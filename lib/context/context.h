/* SPDX-License-Identifier: MIT */
/*
 * Contexts exist in the library only: a device number and flags. A CUcontext is not a pointer
 * but a slot's number and a count of the slot's uses, so that a stale context is always told
 * from a live one. The first slots are the primary contexts, one per device, which keep their
 * value for ever.
 */
#ifndef MEMCAST_CONTEXT_H
#define MEMCAST_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

#define SLOT_BITS	12
#define SLOTS		(1U << SLOT_BITS)
#define PRIMARIES	MEMCAST_MAX_DEVICES

/* Range of stream priorities, as on hardware; priorities have no effect. */
#define STREAM_PRIORITY_LEAST		0
#define STREAM_PRIORITY_GREATEST	(-5)

/* Heaps of a context for plain allocation; see heap.h. */
enum context_heap { HEAP_OF_DEVICE, HEAP_OF_HOST, HEAP_MANAGED, CONTEXT_HEAPS };

struct slot {
	/* the CUcontext; 0: no context; its complement after a fault of the device */
	atomic_uintptr_t live;
	atomic_uintptr_t uses;	/* counts from 1, so that no context is NULL */
	uint32_t device;
	atomic_uint flags;
	_Atomic uint32_t heaps[CONTEXT_HEAPS];	/* by enum context_heap; 0: none yet */
	atomic_size_t limits[CU_LIMIT_MAX];	/* by CUlimit; see limit.c */
	_Atomic CUfunc_cache cache;		/* preference for code */
	unsigned int retained;	/* references to a primary context */
	atomic_uint ends;	/* of a primary context, whose value stays when it is revived */
	unsigned int attached;	/* how many calls of cuCtxDetach() do not end the context yet */
};

extern struct slot slots[SLOTS];

/* Protects the slots. Atomic members are read without it. */
extern pthread_mutex_t slots_lock;

/* Finds the device of the current context. */
CUresult context_device(uint32_t *device);
CUresult context_find(CUcontext context, struct slot **slot);
CUcontext context_value(const struct slot *slot);
CUresult context_make_current(CUcontext context);
void context_drop_current(CUcontext context);
CUresult context_check_flags(unsigned int flags);
CUresult context_check_device(CUdevice device);

/* limit.c */
void context_limits_reset(struct slot *slot);
CUresult banks_check(CUsharedconfig banks);

/* peer.c: has it peer access to plain memory of the other? Drop it both ways, slots_lock held */
bool slot_has_peer(const struct slot *slot, const struct slot *peer);
void slot_drop_peers(const struct slot *slot);

static inline struct slot *context_slot(CUcontext context)
{
	return &slots[(uintptr_t)context % SLOTS];
}

/* Is the slot's context this one, not destroyed? Its device may have failed. */
static inline bool slot_is_of(const struct slot *slot, CUcontext context)
{
	uintptr_t live = slot->live;

	return context && (live == (uintptr_t)context || live == ~(uintptr_t)context);
}

/*
 * Operations on a context's streams and heaps. lib/stream/ and lib/alloc/, which stand above
 * lib/context/, fill this in as the library is loaded.
 */
extern struct context_operations {
	/*
	 * without a lock, before a context ends: waits for work of its streams that can end by
	 * itself
	 */
	void (*finish_streams)(CUcontext context);
	/*
	 * with slots_lock held: ends a context's events, and its streams without running the work
	 * in their queues
	 */
	void (*end_streams)(CUcontext context);
	/* with slots_lock held: all streams of a device return @error from now on */
	void (*fail_streams)(uint32_t device, CUresult error);
	/*
	 * with slots_lock held: moves the slot's heaps to @heaps (CONTEXT_HEAPS of them), and puts
	 * its external memories aside
	 */
	void (*take_heaps)(struct slot *slot, uint32_t *heaps);
	/* without a lock: ends what was taken, for which the kernel may need long */
	void (*end_heaps)(const uint32_t *heaps);
} context_operations;

/*
 * Is this a stream's thread? A host function may not make a call that could wait for its own
 * stream.
 */
bool thread_is_worker(void);
void thread_becomes_worker(void);
int thread_start(void *(*run)(void *), void *argument);

/* fault.c */
void context_fault(uint32_t device, CUresult error);
CUresult device_answer(uint32_t device, CUresult result);
CUresult device_working(uint32_t device);

#endif /* MEMCAST_CONTEXT_H */
