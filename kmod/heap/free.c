// SPDX-License-Identifier: GPL-2.0-only
/* Ends of blocks and heaps, and which memory without blocks heaps give back then. */
#include "heap.h"

/* Frees a heap that is in no table. The heap_lock is held if it was in one. */
void mc_heap_free(struct mc_heap *heap)
{
	list_del(&heap->freed);
	/* ranges that it did not end stay */
	list_del_init(&heap->registered);
	if (heap->share)
		mc_share_put(heap->share);
	mc_free(heap->account, heap, sizeof(*heap));
}

/* As mc_heap_put_block(); the heap keeps @keep bytes. */
static void heap_put_block(struct mc_heap *heap, u64 keep, struct list_head *reaped)
{
	heap->blocks--;
	if (heap->ending)
		return;
	mc_segments_reap(heap, heap->ended ? 0 : keep, reaped);
	if (heap->ended && !heap->blocks)
		mc_heap_free(heap);
}

/*
 * A block of the heap has ended, or was not made: segments that the heap need not keep go to
 * @reaped, and a destroyed heap is freed with its last block. The client's heap_lock is held; the
 * heap may be gone afterwards.
 */
void mc_heap_put_block(struct mc_heap *heap, struct list_head *reaped)
{
	heap_put_block(heap, heap->threshold, reaped);
}

static void block_free(struct mc_client *client, struct mc_block *block)
{
	mc_free(client->account, block, sizeof(*block));
	atomic_long_dec(&mc_stats.blocks);
}

static void block_remove(struct mc_client *client, struct mc_block *block)
{
	lockdep_assert_held(&client->heap_lock);
	interval_tree_remove(&block->va, &client->blocks);
	if (block->ipc)
		mc_ipc_end(client, block);
	if (block->segment)
		mc_segment_take_back(block);
	if (block->registered)
		mc_registered_end(client, block->registered);
}

/* Ends and frees a block. Segments that its heap need not keep go to @reaped. With heap_lock. */
void mc_block_end(struct mc_client *client, struct mc_block *block,
		  struct list_head *reaped)
{
	block_remove(client, block);
	if (block->segment)
		mc_heap_put_block(block->segment->heap, reaped);
	block_free(client, block);
}

/*
 * As mc_block_end(), but a pool keeps its memory, whatever its threshold is, until
 * MEMCAST_TRIM_FREED, or until memory is short. Memory that teams or other processes may show goes
 * at once, as the pool cannot use it again. With heap_lock.
 */
void mc_block_end_later(struct mc_client *client, struct mc_block *block,
			struct list_head *reaped)
{
	struct mc_heap *heap = block->segment ? block->segment->heap : NULL;

	if (!heap || heap->ended || heap->flags != MEMCAST_HEAP_POOL) {
		mc_block_end(client, block, reaped);
		return;
	}
	block_remove(client, block);
	if (list_empty(&heap->freed) && heap->taken > heap->threshold)
		list_add(&heap->freed, &client->freed);
	heap_put_block(heap, U64_MAX, reaped);
	block_free(client, block);
}

/* Moves all unused segments of a client to @reaped. Return: are there any? With the heap_lock. */
bool mc_heap_reap_all(struct mc_client *client, struct list_head *reaped)
{
	struct mc_heap *heap;
	unsigned long id;

	lockdep_assert_held(&client->heap_lock);
	xa_for_each(&client->heaps, id, heap) {
		mc_segments_reap(heap, 0, reaped);
		cond_resched();
	}
	return !list_empty(reaped);
}

/* Reaps the heaps in which blocks have ended, down to their thresholds. The heap_lock is held. */
void mc_heap_reap_freed(struct mc_client *client, struct list_head *reaped)
{
	struct mc_heap *heap, *next;

	lockdep_assert_held(&client->heap_lock);
	list_for_each_entry_safe(heap, next, &client->freed, freed) {
		list_del_init(&heap->freed);
		mc_segments_reap(heap, heap->threshold, reaped);
		cond_resched();
	}
}
