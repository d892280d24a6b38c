// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lazy pools: a pool promises its size and has no memory at first. It takes a zeroed chunk from
 * the host when a thread first touches the chunk, and gives it back when the chunk's memory ends.
 *
 * The chunk is charged to the memory cgroup of the process that touches it first, as pages of
 * shared memory are: that process can be told when the chunk cannot be had. All pools together
 * have a limit, so that promises larger than the machine cannot take it down; over
 * the limit a touch fails, and nothing else.
 *
 * No thread takes a chunk under a lock of the module, but for that of a team's dma-buf: see
 * staging.c.
 */
#define pr_fmt(fmt) "memcast: " fmt

#include <linux/cache.h>
#include <linux/moduleparam.h>
#include "device.h"

static const char * const backing_names[] = { "eager", "lazy" };
static bool backing_given;
bool mc_is_lazy __ro_after_init;

static int backing_set(const char *value, const struct kernel_param *param)
{
	int ret = sysfs_match_string(backing_names, value);

	if (ret < 0) {
		pr_err("backing=%s: must be eager or lazy\n", value);
		return ret;
	}
	mc_is_lazy = ret;
	backing_given = true;
	return 0;
}

static int backing_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%s\n", backing_names[mc_is_lazy]);
}

static const struct kernel_param_ops backing_ops = {
	.set = backing_set,
	.get = backing_get,
};
module_param_cb(backing, &backing_ops, NULL, 0444);
MODULE_PARM_DESC(backing, "eager: pools take their memory when the module is loaded; lazy: when it is first touched (default: eager if pool_mib is given, else lazy)");

static unsigned long lazy_max_mib;

/* Chunks that all pools may have together; lockless */
static unsigned long lazy_limit;
/* Chunks that pools have, and those that a thread is just about to take */
static atomic_long_t lazy_taken;
/* The chunk of zeros that copies and fills read where no thread has written yet */
static struct page *zero_chunk;

static void limit_update(void)
{
	unsigned long chunks = lazy_max_mib ? lazy_max_mib >> (MC_CHUNK_SHIFT - 20) :
					      totalram_pages() / 2 >> MC_CHUNK_ORDER;

	chunks = min(chunks, (unsigned long)LONG_MAX >> MC_CHUNK_SHIFT);
	WRITE_ONCE(lazy_limit, chunks);
	/* what programs may take besides the pools is a share of what the pools leave */
	if (mc_lazy())
		WRITE_ONCE(mc_pool_most, chunks << MC_CHUNK_ORDER);
}

static int lazy_max_set(const char *value, const struct kernel_param *param)
{
	int ret = param_set_ulong(value, param);

	if (!ret)
		limit_update();
	return ret;
}

static const struct kernel_param_ops lazy_max_ops = {
	.set = lazy_max_set,
	.get = param_get_ulong,
};
module_param_cb(lazy_max_mib, &lazy_max_ops, &lazy_max_mib, 0644);
MODULE_PARM_DESC(lazy_max_mib, "MiB that all lazy pools may take together (default 0: half of the machine's memory)");

/*
 * Decides whether pools are lazy, and takes the chunk of zeros, before there are pools.
 * @sized: a size of pools was given
 *
 * A size that was given is one that the machine is to have: those pools take it at once. Pools of
 * the default size are larger than most machines.
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int mc_lazy_init(bool sized)
{
	if (!backing_given)
		mc_is_lazy = !sized;
	if (!mc_lazy() && !sized) {
		pr_err("backing=eager: pool_mib must say how much\n");
		return -EINVAL;
	}
	limit_update();
	if (!mc_lazy())
		return 0;
	zero_chunk = mc_chunk_alloc(numa_node_id(), 0, MC_CHUNK_ORDER);
	if (zero_chunk)
		return 0;
	pr_err("backing=lazy: the machine has no free 2 MiB\n");
	return -ENOMEM;
}

/* Frees the chunk of zeros, after the last pool. */
void mc_lazy_exit(void)
{
	WARN_ON(atomic_long_read(&lazy_taken));
	if (zero_chunk)
		mc_chunk_free(zero_chunk, MC_CHUNK_ORDER);
	zero_chunk = NULL;
}

/* Return: a chunk of zeros, to be read and never written. */
void *mc_lazy_zeros(void)
{
	return page_address(zero_chunk);
}

/* In the kernel's log, for memcast-vm: what programs learn of it, not all of them show. */
static void say_short(void)
{
	pr_warn_once("lazy pools have no more memory: they may take %lu of the machine's %lu MiB (lazy_max_mib)\n",
		     READ_ONCE(lazy_limit) << (MC_CHUNK_SHIFT - 20),
		     totalram_pages() >> (20 - PAGE_SHIFT));
}

static bool count_one(void)
{
	long limit = READ_ONCE(lazy_limit), now = atomic_long_read(&lazy_taken);

	do {
		if (now >= limit)
			return false;
	} while (!atomic_long_try_cmpxchg(&lazy_taken, &now, now + 1));
	return true;
}

/**
 * mc_lazy_take() - take a chunk from the host
 * @pool: the pool, which has counted the chunk out of its free ones
 *
 * Return: the chunk, zeroed and charged to the caller's memory cgroup; or NULL.
 */
struct page *mc_lazy_take(struct mc_pool *pool)
{
	struct page *chunk;

	if (mc_check_left(NULL) || !count_one()) {
		say_short();
		return NULL;
	}
	chunk = mc_chunk_alloc(pool->node, __GFP_ACCOUNT | __GFP_THISNODE, MC_CHUNK_ORDER);
	if (chunk)
		atomic_long_inc(&pool->taken);
	else
		atomic_long_dec(&lazy_taken);
	return chunk;
}

/* Gives a chunk of mc_lazy_take() back to the host. */
void mc_lazy_give(struct mc_pool *pool, struct page *chunk)
{
	mc_chunk_free(chunk, MC_CHUNK_ORDER);
	atomic_long_dec(&pool->taken);
	atomic_long_dec(&lazy_taken);
}

/*
 * May pools take so many more chunks, as things are now? A call that needs many asks before
 * it takes the first, so that a call that fails has not taken chunks that others could have had.
 */
bool mc_lazy_has_room(unsigned long chunks)
{
	unsigned long limit = READ_ONCE(lazy_limit), taken = atomic_long_read(&lazy_taken);

	return chunks <= limit && taken <= limit - chunks;
}

/**
 * mc_lazy_fail() - say why a touch has failed
 * @call: the call
 * @error: the errno that it fails with
 * @chunks: how many it needed
 *
 * The reason is that of now: other threads may have taken chunks, or given some back, since.
 *
 * Return: @error.
 */
int mc_lazy_fail(struct mc_call *call, int error, unsigned long chunks)
{
	const unsigned int mib = MC_CHUNK_SHIFT - 20;

	if (!mc_lazy_has_room(chunks)) {
		say_short();
		return mc_fail(call, error,
			       "%lu MiB or more that are touched first cannot be had: pools have taken %lu of %lu MiB; memcast-vm --memory or lazy_max_mib gives more",
			       chunks << mib, atomic_long_read(&lazy_taken) << mib,
			       READ_ONCE(lazy_limit) << mib);
	}
	if (mc_check_left(call))
		return error;
	return mc_fail(call, error,
		       "2 MiB that are touched first cannot be had: the machine has none, or the program's memory cgroup allows no more");
}
