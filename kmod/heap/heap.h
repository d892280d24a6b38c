/* SPDX-License-Identifier: GPL-2.0-only */
/* Plain allocation and pools: heaps, their segments, the blocks in them. */
#ifndef _MC_HEAP_H
#define _MC_HEAP_H

#include <linux/bitmap.h>
#include <linux/interval_tree.h>
#include <linux/mmu_notifier.h>
#include "map/map.h"

/* ---- heap.c: where blocks come from ---- */

struct mc_heap {
	u32 id, flags, options;
	struct memcast_memory_create create;	/* how its memory is created */
	struct mc_device *device;	/* NULL: the host */
	struct mc_account *account;	/* charged with the struct */
	MC_DECLARE_SET(readable);		/* devices */
	MC_DECLARE_SET(writable);
	u32 host;			/* enum memcast_access */
	struct mc_share *share;		/* NULL: other processes cannot import it */
	u64 limit, threshold;
	u64 taken, taken_high;		/* bytes of segments, or of those to come */
	u64 used, used_high;		/* bytes of blocks */
	unsigned long blocks;		/* of it, and calls that are about to make one */
	bool ending;			/* a thread walks its segments: reap later */
	bool ended;			/* destroyed; freed with its last block */
	struct list_head registered;	/* ranges that end with it */
	struct list_head segments;
	struct list_head rooms;		/* segments where a block may fit */
	struct list_head freed;		/* in client->freed, or empty */
};

#define MC_SLOTS	(MC_CHUNK_SIZE / MEMCAST_BLOCK_ALIGN)

/*
 * A reservation with one mapping of one memory: a chunk that blocks share, or
 * the memory of one larger block.
 */
struct mc_segment {
	struct list_head list;		/* in heap->segments */
	struct list_head room;		/* in heap->rooms, unless it is full */
	struct mc_heap *heap;
	struct mc_share *share;		/* held; NULL: others cannot import it */
	struct mc_memory *memory;	/* holds the struct */
	struct mc_reservation *reservation;
	struct mc_account *account;	/* charged with the struct */
	unsigned long start, bytes;
	unsigned long blocks;
	unsigned int free;		/* slots, of a shared chunk */
	unsigned int most;		/* no run of free slots is longer */
	bool alone;			/* of one block only, at any offset */
	DECLARE_BITMAP(slots, MC_SLOTS);
};

struct mc_block;

struct mc_heap *mc_heap_new(struct mc_call *call, const struct memcast_memory_create *create,
			    struct mc_device *device, u32 flags);
int mc_heap_publish(struct mc_call *call, struct mc_heap *heap, u32 *id);
struct mc_heap *mc_heap_find(struct mc_call *call, u32 id);
void mc_heaps_destroy(struct mc_client *client);
void mc_heap_add_segment(struct mc_segment *segment, struct list_head *reaped);

/* ---- free.c ---- */

void mc_heap_free(struct mc_heap *heap);
void mc_heap_put_block(struct mc_heap *heap, struct list_head *reaped);
bool mc_heap_reap_all(struct mc_client *client, struct list_head *reaped);
void mc_heap_reap_freed(struct mc_client *client, struct list_head *reaped);
void mc_block_end(struct mc_client *client, struct mc_block *block,
		  struct list_head *reaped);
void mc_block_end_later(struct mc_client *client, struct mc_block *block,
			struct list_head *reaped);

/* ---- segment.c ---- */

struct mc_segment *mc_segment_new(struct mc_call *call, struct mc_heap *heap,
				  u64 bytes, struct mc_memory *memory, u64 from);
void mc_segment_place(struct mc_segment *segment, struct mc_block *block,
		      unsigned long offset, u64 bytes);
bool mc_segments_place(struct mc_heap *heap, struct mc_block *block, u64 bytes);
void mc_segment_take_back(struct mc_block *block);
void mc_segments_reap(struct mc_heap *heap, u64 keep, struct list_head *reaped);
void mc_segments_replace(struct mc_heap *heap, u64 bytes, struct list_head *reaped);
void mc_segments_free(struct mc_client *client, struct list_head *reaped);

/* ---- block.c ---- */

struct mc_block {
	struct interval_tree_node va;	/* addresses */
	struct mc_segment *segment;	/* NULL: memory of the program's own */
	u64 number;			/* no other block's or object's */
	u32 flags;			/* the client's, which alone interprets them */
	struct mc_ipc *ipc;		/* its IPC handle, or NULL */
	struct mc_registered *registered;	/* of a registered range; else NULL */
	bool freeing;			/* MEMCAST_BLOCK_LATER has announced its end */
};

/* Return: a block's size. */
static inline unsigned long mc_block_bytes(const struct mc_block *block)
{
	return block->va.last - block->va.start + 1;
}

struct mc_block *mc_block_new(struct mc_call *call, u32 flags);
void mc_block_drop(struct mc_call *call, struct mc_block *block);
struct mc_block *mc_block_find(struct mc_client *client, unsigned long first,
			       unsigned long last);
void mc_block_insert(struct mc_client *client, struct mc_block *block);
bool mc_block_describe(struct mc_client *client,
		       struct memcast_address_info *info);
bool mc_block_holds(struct mc_client *client, u64 address, u64 bytes);
bool mc_block_pages_hold(struct mc_client *client, u64 address, u64 bytes);

/* ---- registered.c ---- */

/* What a registered range has beside its block */
struct mc_registered {
	struct mmu_interval_notifier notifier;	/* of the block's addresses */
	struct mc_client *client;
	struct mc_block *block;
	/* its heap's registered, if any; then client->registered_ended, without a block */
	struct list_head list;
	bool unmapped;			/* a part of it was, since; only ever set, lockless */
	bool said;			/* of that; the heap_lock protects it */
};

int mc_registered_watch(struct mc_call *call, struct mc_block *block);
void mc_registered_free(struct mc_registered *registered);
void mc_registered_end(struct mc_client *client, struct mc_registered *registered);
void mc_registered_free_ended(struct mc_client *client);
bool mc_registered_note(struct mc_call *call, unsigned long address, unsigned long bytes,
			unsigned long count, unsigned long pitch);

/* ---- alloc.c ---- */

int mc_block_respond(struct mc_call *call, unsigned long address);

/* ---- share.c: memories of a heap, for other processes ---- */

struct mc_share {
	struct kref kref;		/* by the exporter's heap, segments, fds, imports */
	const struct mc_host *host;	/* of the exporter */
	struct mc_account *account;	/* charged with the struct */
	struct memcast_memory_create create;
	struct mc_device *device;
	struct xarray memories;		/* by number; holds their structs */
};

struct mc_share *mc_share_new(struct mc_call *call,
			      const struct memcast_memory_create *create,
			      struct mc_device *device);
struct mc_share *mc_share_get(struct mc_share *share);
void mc_share_put(struct mc_share *share);
int mc_share_add(struct mc_share *share, struct mc_memory *memory);
void mc_share_remove(struct mc_share *share, u64 object);
struct mc_memory *mc_share_memory(struct mc_share *share, u64 object);
int mc_share_export(struct mc_call *call, struct mc_share *share, s32 *out_fd);
struct mc_share *mc_share_of_fd(int fd);

/* ---- ipc_handle.c ---- */

void mc_ipc_end(struct mc_client *client, struct mc_block *block);

#endif /* _MC_HEAP_H */
