// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools: the physical memory of one device, in chunks. (A lazy pool only counts its chunks, and
 * lazy.c takes them: the next paragraph is about other pools.)
 *
 * A chunk that comes back is dirty. Who takes it zeroes it: in its own time, which its cgroup
 * limits, and where a signal can end it. (A worker would do it in nobody's time, so that a program
 * could use more of the processors than it may; and the end of a program must not take long.)
 */
#include <linux/highmem.h>
#include <linux/sched/signal.h>
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

/*
 * Return: a zeroed chunk. The caller has counted it out of pool->free, so there is one.
 * @zeroed: counts the chunks that this call has zeroed
 */
static struct page *pool_take_one(struct mc_pool *pool, unsigned long *zeroed)
{
	struct page *chunk;

	spin_lock(&pool->lock);
	chunk = list_take(&pool->clean);
	if (likely(chunk)) {
		spin_unlock(&pool->lock);
		return chunk;
	}
	chunk = list_take(&pool->dirty);
	spin_unlock(&pool->lock);
	chunk_zero(chunk);
	++*zeroed;
	return chunk;
}

/*
 * Has a thread to stop, that has taken some chunks? A dying one has. One with another signal, or
 * that is to be frozen, makes the same call again, if it has zeroed @enough chunks in this try.
 */
static __always_inline int must_stop(bool enough)
{
	if (likely(!task_sigpending(current)))
		return 0;
	if (fatal_signal_pending(current))
		return -EINTR;
	return enough ? -ERESTARTNOINTR : 0;
}

/* Puts chunks on one of the pool's lists. */
static void pool_put(struct mc_pool *pool, struct list_head *list, struct page **chunk,
		     unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		spin_lock(&pool->lock);
		list_add_tail(&chunk[i]->lru, list);
		WRITE_ONCE(pool->free, pool->free + 1);
		spin_unlock(&pool->lock);
		cond_resched();
	}
}

/**
 * mc_pool_take() - take zeroed chunks
 * @pool: the pool
 * @chunk: output, @n of them; of a lazy pool they stay NULL until they are touched
 * @n: how many
 * @enough: of the caller's client, 0 at first: a signal stops a try that has zeroed more chunks
 *
 * The next try finds the chunks that a stopped one has zeroed, unless another program has taken
 * them. So each zeroes twice as many as the last one, and the call ends whatever others do.
 *
 * Return: 0, or an error, and nothing was taken: -ENOMEM, -EINTR when the caller is dying, or
 * -ERESTARTNOINTR: it has a signal.
 */
int mc_pool_take(struct mc_pool *pool, struct page **chunk, unsigned long n,
		 unsigned long *enough)
{
	unsigned long i, zeroed = 0;
	int ret;

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
		/* a zeroed chunk takes some 75 instructions: to look for each would be felt */
		ret = zeroed || i % 64 == 0 ? must_stop(zeroed > READ_ONCE(*enough)) : 0;
		if (ret)
			goto give_back;
		chunk[i] = pool_take_one(pool, &zeroed);
		if (i % 64 == 63)
			cond_resched();
	}
	WRITE_ONCE(*enough, 0);
	return 0;

give_back:
	WRITE_ONCE(*enough, 2 * zeroed);
	spin_lock(&pool->lock);
	WRITE_ONCE(pool->free, pool->free + n - i);
	spin_unlock(&pool->lock);
	pool_put(pool, &pool->clean, chunk, i);
	return ret;
}

/* Gives back the chunks of a lazy pool that were touched; all @n count as free from now on. */
static void lazy_give(struct mc_pool *pool, struct mc_account *account, struct page **chunk,
		      unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (chunk[i])
			mc_lazy_give(pool, account, chunk[i]);
		cond_resched();
	}
	spin_lock(&pool->lock);
	WRITE_ONCE(pool->free, pool->free + n);
	spin_unlock(&pool->lock);
}

/**
 * mc_pool_give() - give chunks back
 * @pool: the pool that they came from
 * @account: of the memory's owner
 * @chunk: @n of them; of a lazy pool those that no thread has touched are NULL
 * @n: how many
 */
void mc_pool_give(struct mc_pool *pool, struct mc_account *account, struct page **chunk,
		  unsigned long n)
{
	if (mc_lazy())
		lazy_give(pool, account, chunk, n);
	else
		pool_put(pool, &pool->dirty, chunk, n);
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
	WARN_ON(pool->free != pool->total || atomic_long_read(&pool->taken));
	WRITE_ONCE(mc_pool_pages, mc_pool_pages - (pool->total << MC_CHUNK_ORDER));
	pool_free(pool);
}
