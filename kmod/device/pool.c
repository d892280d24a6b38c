// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools: the physical memory of one device, in chunks. (A lazy pool only counts its chunks, and
 * lazy.c takes them: the next paragraph is about other pools.)
 *
 * A chunk that comes back is dirty. A worker zeroes dirty chunks, so that taking
 * one from a warm pool costs no memset; a caller that takes chunks faster than the
 * worker zeroes them does so itself.
 */
#include <linux/highmem.h>
#include "compat.h"
#include "device.h"

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

/* Return: a zeroed chunk. The caller has counted it out of pool->free, so there is one. */
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
		/* the worker is zeroing the last chunks: a matter of microseconds */
		wait_event(pool->zeroed, !list_empty(&pool->clean) ||
			   !list_empty(&pool->dirty));
	}
}

/**
 * mc_pool_take() - take zeroed chunks
 * @pool: the pool
 * @chunk: output, @n of them; of a lazy pool they stay NULL until they are touched
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
	if (mc_lazy())
		return 0;

	for (i = 0; i < n; i++) {
		if (fatal_signal_pending(current))
			goto give_back;
		chunk[i] = pool_take_one(pool);
		/* a chunk takes some 75 instructions: to look for each would be felt */
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

/* Gives back the chunks of a lazy pool that were touched; all @n count as free from now on. */
static void lazy_give(struct mc_pool *pool, struct page **chunk, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (chunk[i])
			mc_lazy_give(pool, chunk[i]);
		cond_resched();
	}
	spin_lock(&pool->lock);
	WRITE_ONCE(pool->free, pool->free + n);
	spin_unlock(&pool->lock);
}

/**
 * mc_pool_give() - give chunks back
 * @pool: the pool that they came from
 * @chunk: @n of them; of a lazy pool those that no thread has touched are NULL
 * @n: how many
 */
void mc_pool_give(struct mc_pool *pool, struct page **chunk, unsigned long n)
{
	unsigned long i;

	if (mc_lazy()) {
		lazy_give(pool, chunk, n);
		return;
	}
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
		set_page_private(chunk, 0);
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
 * Return: 0, or -ENOMEM or -EINTR; then the pool holds nothing.
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

	for (i = 0; i < chunks && !mc_lazy(); i++) {
		struct page *chunk = mc_chunk_alloc(node, __GFP_THISNODE,
						    MC_CHUNK_ORDER);

		if (chunk) {
			/* the place, as long as the pool has the chunk: mc_chunk_place() */
			set_page_private(chunk, i);
			list_add_tail(&chunk->lru, &pool->clean);
		}
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

/* Frees the chunks of a pool. All are back: an object that uses one keeps the module. */
void mc_pool_destroy(struct mc_pool *pool)
{
	cancel_work_sync(&pool->zero);
	WARN_ON(pool->free != pool->total || atomic_long_read(&pool->taken));
	WRITE_ONCE(mc_pool_pages, mc_pool_pages - (pool->total << MC_CHUNK_ORDER));
	pool_free(pool);
}
