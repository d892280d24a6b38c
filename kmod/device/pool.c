// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools: the physical memory of one device, in chunks.
 *
 * A chunk that comes back is dirty. A worker zeroes dirty chunks, so that taking
 * one from a warm pool costs no memset; who takes faster than it works zeroes
 * what he takes himself.
 */
#include <linux/highmem.h>
#include "compat.h"
#include "device.h"

/*
 * A chunk has no references, in use or not: who would pin one of its pages (fast
 * GUP can try on 6.1) fails, as he does for a free page. So no pin can outlive
 * the chunk's owner.
 */
struct page *mc_chunk_alloc(int node, gfp_t flags, unsigned int order)
{
	struct page *chunk = alloc_pages_node(node, GFP_KERNEL | __GFP_COMP |
					      __GFP_NOWARN | __GFP_ZERO |
					      __GFP_RETRY_MAYFAIL | flags, order);

	/* who walks all pages of the machine may hold one for a moment */
	while (chunk && !page_ref_freeze(chunk, 1))
		cond_resched();
	return chunk;
}

/* Gives a chunk of mc_chunk_alloc(), of the same order, back to the kernel. */
void mc_chunk_free(struct page *chunk, unsigned int order)
{
	page_ref_unfreeze(chunk, 1);
	__free_pages(chunk, order);
}

static void chunk_zero(struct page *chunk)
{
	unsigned int i;

	for (i = 0; i < 1U << MC_CHUNK_ORDER; i++) {
		clear_highpage(chunk + i);
		cond_resched();
	}
}

static struct page *list_take(struct list_head *list)
{
	struct page *chunk = list_first_entry_or_null(list, struct page, lru);

	if (chunk)
		list_del(&chunk->lru);
	return chunk;
}

static void pool_zero(struct work_struct *work)
{
	struct mc_pool *pool = container_of(work, struct mc_pool, zero);
	struct page *chunk;

	for (;;) {
		spin_lock(&pool->lock);
		chunk = list_take(&pool->dirty);
		spin_unlock(&pool->lock);
		if (!chunk)
			return;

		chunk_zero(chunk);

		spin_lock(&pool->lock);
		list_add_tail(&chunk->lru, &pool->clean);
		spin_unlock(&pool->lock);
		wake_up(&pool->zeroed);
	}
}

/* A zeroed chunk. The caller has counted it out of pool->free, so there is one. */
static struct page *pool_take_one(struct mc_pool *pool)
{
	struct page *chunk;

	for (;;) {
		spin_lock(&pool->lock);
		chunk = list_take(&pool->clean);
		if (chunk) {
			spin_unlock(&pool->lock);
			return chunk;
		}
		chunk = list_take(&pool->dirty);
		spin_unlock(&pool->lock);
		if (chunk) {
			chunk_zero(chunk);
			return chunk;
		}
		/* the worker has it in hand: a matter of microseconds */
		wait_event(pool->zeroed, !list_empty(&pool->clean) ||
			   !list_empty(&pool->dirty));
	}
}

/**
 * mc_pool_take() - take zeroed chunks
 * @pool: where from
 * @chunk: output, @n of them
 * @n: how many
 *
 * Return: 0, -ENOMEM (nothing was taken), or -EINTR when the caller is dying.
 */
int mc_pool_take(struct mc_pool *pool, struct page **chunk, unsigned long n)
{
	unsigned long i;

	spin_lock(&pool->lock);
	if (n > pool->free) {
		spin_unlock(&pool->lock);
		return -ENOMEM;
	}
	WRITE_ONCE(pool->free, pool->free - n);
	spin_unlock(&pool->lock);

	for (i = 0; i < n; i++) {
		if (fatal_signal_pending(current))
			goto give_back;
		chunk[i] = pool_take_one(pool);
		/* Each takes some 75 instructions: to look every time would be felt. */
		if (i % 64 == 63)
			cond_resched();
	}
	return 0;

give_back:
	spin_lock(&pool->lock);
	WRITE_ONCE(pool->free, pool->free + n - i);
	spin_unlock(&pool->lock);
	mc_pool_give(pool, chunk, i);
	return -EINTR;
}

/**
 * mc_pool_give() - give chunks back
 * @pool: where they came from
 * @chunk: @n of them
 * @n: how many
 */
void mc_pool_give(struct mc_pool *pool, struct page **chunk, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		spin_lock(&pool->lock);
		list_add_tail(&chunk[i]->lru, &pool->dirty);
		WRITE_ONCE(pool->free, pool->free + 1);
		spin_unlock(&pool->lock);
		cond_resched();
	}
	wake_up(&pool->zeroed);
	queue_work(mc_unbound_wq, &pool->zero);
}

static void pool_free(struct mc_pool *pool)
{
	struct page *chunk;

	while ((chunk = list_take(&pool->clean)) ||
	       (chunk = list_take(&pool->dirty))) {
		mc_chunk_free(chunk, MC_CHUNK_ORDER);
		cond_resched();
	}
}

/**
 * mc_pool_init() - fill a new pool
 * @pool: the pool
 * @chunks: how many
 * @node: NUMA node
 *
 * Return: 0 or -ENOMEM; then the pool holds nothing.
 */
int mc_pool_init(struct mc_pool *pool, unsigned long chunks, int node)
{
	unsigned long i;

	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->clean);
	INIT_LIST_HEAD(&pool->dirty);
	INIT_WORK(&pool->zero, pool_zero);
	init_waitqueue_head(&pool->zeroed);
	pool->node = node;

	for (i = 0; i < chunks; i++) {
		struct page *chunk = mc_chunk_alloc(node, __GFP_THISNODE,
						    MC_CHUNK_ORDER);

		if (chunk)
			list_add_tail(&chunk->lru, &pool->clean);
		if (!chunk || fatal_signal_pending(current)) {
			pool_free(pool);
			return chunk ? -EINTR : -ENOMEM;
		}
		cond_resched();
	}
	pool->free = chunks;
	pool->total = chunks;
	WRITE_ONCE(mc_pool_pages, mc_pool_pages + (chunks << MC_CHUNK_ORDER));
	return 0;
}

/* All chunks are back: whatever uses one keeps the module. */
void mc_pool_destroy(struct mc_pool *pool)
{
	cancel_work_sync(&pool->zero);
	WARN_ON(pool->free != pool->total);
	WRITE_ONCE(mc_pool_pages, mc_pool_pages - (pool->total << MC_CHUNK_ORDER));
	pool_free(pool);
}
