// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lazy pools: a pool promises its size and has no memory at first. It takes a zeroed chunk from
 * the host when a thread first touches the chunk, and gives it back when the chunk's memory ends.
 *
 * The chunk is charged to the memory cgroup of the process that touches it first, as pages of
 * shared memory are: that process can be told when the chunk cannot be had. All pools together
 * have a limit, so that promises larger than the machine cannot take it down, and so have the
 * memories of one user; over a limit a touch fails, and nothing else.
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

static unsigned long lazy_user_mib;
module_param(lazy_user_mib, ulong, 0644);
MODULE_PARM_DESC(lazy_user_mib, "MiB of these that memories of one user may have who has not CAP_IPC_LOCK (default 0: half)");

/* Return: the chunks that an account's memories may have. */
static long user_limit(const struct mc_account *account)
{
	unsigned long mib = READ_ONCE(lazy_user_mib), most = READ_ONCE(lazy_limit);

	if (account->unlimited)
		return LONG_MAX;
	return mib ? min(mib >> (MC_CHUNK_SHIFT - 20), (unsigned long)LONG_MAX) :
		     DIV_ROUND_UP(most, 2);
}

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

/* Tells the kernel's log, where memcast-vm looks: many programs do not print why a call failed. */
static void say_short(void)
{
	pr_warn_once("lazy pools have no more memory: they may take %lu of the machine's %lu MiB (lazy_max_mib, lazy_user_mib)\n",
		     READ_ONCE(lazy_limit) << (MC_CHUNK_SHIFT - 20),
		     totalram_pages() >> (20 - PAGE_SHIFT));
}

static bool count_below(atomic_long_t *count, long limit)
{
	long now = atomic_long_read(count);

	do {
		if (now >= limit)
			return false;
	} while (!atomic_long_try_cmpxchg(count, &now, now + 1));
	return true;
}

/* The user's limit first: a user who is over it must not be in the way of others. */
static bool count_one(struct mc_account *account)
{
	if (!count_below(&account->lazy, user_limit(account)))
		return false;
	if (count_below(&lazy_taken, READ_ONCE(lazy_limit)))
		return true;
	atomic_long_dec(&account->lazy);
	return false;
}

static void uncount_one(struct mc_account *account)
{
	atomic_long_dec(&lazy_taken);
	atomic_long_dec(&account->lazy);
}

/**
 * mc_lazy_take() - take a chunk from the host
 * @pool: the pool, which has counted the chunk out of its free ones
 * @account: of the memory's owner
 *
 * Return: the chunk, zeroed and charged to the caller's memory cgroup; or NULL.
 */
struct page *mc_lazy_take(struct mc_pool *pool, struct mc_account *account)
{
	struct page *chunk;

	if (mc_check_left(NULL) || !count_one(account)) {
		say_short();
		return NULL;
	}
	chunk = mc_chunk_alloc(pool->node, __GFP_ACCOUNT | __GFP_THISNODE, MC_CHUNK_ORDER);
	if (chunk) {
		atomic_long_inc(&pool->taken);
	} else {
		uncount_one(account);
		say_short();
	}
	return chunk;
}

/* Gives a chunk of mc_lazy_take() back to the host. */
void mc_lazy_give(struct mc_pool *pool, struct mc_account *account, struct page *chunk)
{
	mc_chunk_free(chunk, MC_CHUNK_ORDER);
	atomic_long_dec(&pool->taken);
	uncount_one(account);
}

static bool fits(const atomic_long_t *count, unsigned long chunks, unsigned long limit)
{
	unsigned long taken = atomic_long_read(count);

	return chunks <= limit && taken <= limit - chunks;
}

/*
 * May pools take so many more chunks, for memories of one user, as things are now? A call that
 * needs many asks before it takes the first, so that a call that fails has not taken chunks that
 * others could have had. One that touches several users' memories counts all for each of them.
 */
bool mc_lazy_has_room(const struct mc_account *account, unsigned long chunks)
{
	return fits(&account->lazy, chunks, user_limit(account)) &&
	       fits(&lazy_taken, chunks, READ_ONCE(lazy_limit));
}

/**
 * mc_lazy_fail() - say why a touch has failed
 * @call: the call
 * @error: the errno that it fails with
 * @account: of the owner of the memory that it touched; NULL: not known
 * @chunks: how many it needed
 *
 * The reason is that of now: other threads may have taken chunks, or given some back, since.
 *
 * Return: @error.
 */
int mc_lazy_fail(struct mc_call *call, int error, const struct mc_account *account,
		 unsigned long chunks)
{
	const unsigned int mib = MC_CHUNK_SHIFT - 20;
	const char *whose;

	if (account && !fits(&account->lazy, chunks, user_limit(account))) {
		say_short();
		whose = account == call->client->account ? "this user's" : "the owner's";
		return mc_fail(call, error,
			       "%lu MiB or more that are touched first cannot be had: %s memories have taken %lu of %lu MiB; memcast-vm --memory or lazy_user_mib gives more",
			       chunks << mib, whose, atomic_long_read(&account->lazy) << mib,
			       user_limit(account) << mib);
	}
	if (!fits(&lazy_taken, chunks, READ_ONCE(lazy_limit))) {
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
