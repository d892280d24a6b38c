// SPDX-License-Identifier: MIT
/*
 * Groups of ranks. In each replica every rank has lines that it alone writes: a flag that counts
 * its meetings with the other ranks, and two posts with data for them. So no locked instruction
 * is needed, and a rank reads one replica only, its own: another rank's may be gone with its rank.
 *
 * Two posts used in turn are enough. Before a rank writes a post for the second time, it has met
 * all ranks once more, and each had read the post before that meeting.
 */
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"

#define POST_BYTES	448	/* larger arrays take two shots (measured) */
#define SPINS		2000	/* some 20 us */
#define YIELDS		16
#define RANKS_AWAKE	4	/* napping ranks that may wake on a CPU within NAP_MAX_NS */
#define NAP_MIN_NS	20000
#define NAP_MAX_NS	1000000	/* longer if many ranks share a CPU */

/* The epoch and data that fit its line arrive together; longer data have lines of their own. */
struct post {
	uint64_t epoch;
	unsigned char short_data[BULK_LINE - sizeof(uint64_t)];
	unsigned char long_data[POST_BYTES];
};

struct flags {
	uint64_t epoch;
	unsigned char rest[BULK_LINE - sizeof(uint64_t)];
	struct post post[2];
};

_Static_assert(MEMCAST_GROUP_BYTES(1) >= sizeof(struct flags), "they fit");
_Static_assert(MEMCAST_GROUP_BYTES(1) % BULK_LINE == 0, "they are whole lines");

static struct flags *flags_of(const struct memcast_group *group, unsigned int rank,
			      unsigned int replica)
{
	return (struct flags *)(group->view->replica[replica] + group->flags +
				MEMCAST_GROUP_BYTES(rank));
}

/*
 * Return: how many CPUs all ranks have. A rank that is bound to a single CPU assumes that the
 * other ranks are bound to other CPUs.
 */
static unsigned int cpus_for_all(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1)
		online = CPU_COUNT(&set);
	return online > 0 ? (unsigned int)online : 1;
}

/*
 * A rank that naps checks each time it wakes whether it may go on. If more than a few ranks
 * share a CPU, their checks must leave time for the ranks that work: each naps for longer.
 */
static unsigned int nap_limit(unsigned int ranks, unsigned int cpus)
{
	unsigned int share = ranks / (cpus * RANKS_AWAKE);

	return NAP_MAX_NS / 1000 * (share ?: 1);
}

static CUresult group_init(struct memcast_group *group, const struct memcast_view *view,
			   size_t flags, unsigned int rank, unsigned int ranks)
{
	unsigned int cpus;

	if (!group || !view)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL %s", group ? "view" : "output");
	if (!view->replicas || view->replicas > MEMCAST_VIEW_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "a view of %u replicas", view->replicas);
	if (!ranks || ranks > MEMCAST_GROUP_MAX || rank >= ranks)
		return fail(CUDA_ERROR_INVALID_VALUE, "rank %u of %u; there can be %d", rank,
			    ranks, MEMCAST_GROUP_MAX);
	if (flags % BULK_LINE || flags > view->bytes ||
	    MEMCAST_GROUP_BYTES(ranks) > view->bytes - flags)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "flags at %zu: %zu bytes, a multiple of %d, are not inside the view's %zu",
			    flags, MEMCAST_GROUP_BYTES(ranks), BULK_LINE, view->bytes);
	cpus = cpus_for_all();
	*group = (struct memcast_group) {
		.view = view, .flags = flags, .rank = rank, .ranks = ranks,
		.spins = ranks <= cpus ? SPINS : 0, .nap_us = nap_limit(ranks, cpus),
	};
	return CUDA_SUCCESS;
}

CUresult memcastGroupInit(struct memcast_group *group, const struct memcast_view *view,
			  size_t flags, unsigned int rank, unsigned int ranks)
{
	return LOGGED(group_init(group, view, flags, rank, ranks),
		      "group=%p, view=%p, flags=%zu, rank=%u, ranks=%u", (void *)group,
		      (const void *)view, flags, rank, ranks);
}

/* Passes the time after the @round-th check in vain. */
static void relax(const struct memcast_group *group, unsigned int round)
{
	long most = (long)group->nap_us * 1000, nap = NAP_MIN_NS;

	if (round < group->spins) {
		processor_pause();
		return;
	}
	round -= group->spins;
	if (round < YIELDS) {
		sched_yield();
		return;
	}
	for (round -= YIELDS; round && nap < most; round--)
		nap *= 2;
	if (nap > most)
		nap = most;
	nanosleep(&(struct timespec) { .tv_nsec = nap }, NULL);
}

static void await(const struct memcast_group *group, const uint64_t *epoch)
{
	for (unsigned int round = 0;
	     __atomic_load_n(epoch, __ATOMIC_ACQUIRE) < group->epoch; round++)
		relax(group, round);
}

/* Return: the replica whose flags a rank reads; several ranks may have the same. */
static unsigned int own_replica(const struct memcast_group *group)
{
	return group->rank % group->view->replicas;
}

/*
 * All ranks wait for each other. Release stores do not wait for stores past the caches, which
 * the program may have made itself: hence the fence.
 */
static void barrier(struct memcast_group *group)
{
	unsigned int own = own_replica(group), i;

	processor_fence();
	group->epoch++;
	for (i = 0; i < group->view->replicas; i++)
		__atomic_store_n(&flags_of(group, group->rank, i)->epoch, group->epoch,
				 __ATOMIC_RELEASE);
	for (i = 0; i < group->ranks; i++)
		await(group, &flags_of(group, i, own)->epoch);
}

CUresult memcastBarrier(struct memcast_group *group)
{
	if (!group)
		return LOGGED(fail(CUDA_ERROR_INVALID_VALUE, "NULL group"), "group=NULL");
	barrier(group);
	return CUDA_SUCCESS;
}

static unsigned char *data_of(struct post *post, size_t bytes)
{
	return bytes <= sizeof(post->short_data) ? post->short_data : post->long_data;
}

/*
 * Each rank posts its array to all ranks, and combines the arrays that all have posted. A post's place
 * is used again two calls later. A rank that comes there has seen every other rank's epoch of the call
 * between, which that rank stored, by release, after it had read this call's posts.
 */
static void one_shot(struct memcast_group *group, size_t offset, size_t bytes,
		     enum memcast_element type, enum memcast_op op)
{
	unsigned char *own = group->view->replica[group->rank] + offset;
	unsigned char *from[MEMCAST_GROUP_MAX];
	unsigned int turn = ++group->epoch % 2, i;
	unsigned int program;
	struct post *post;

	for (i = 0; i < group->ranks; i++) {
		if (i == group->rank)
			continue;
		post = &flags_of(group, group->rank, i)->post[turn];
		memcpy(data_of(post, bytes), own, bytes);
		__atomic_store_n(&post->epoch, group->epoch, __ATOMIC_RELEASE);
	}
	for (i = 0; i < group->ranks; i++) {
		post = &flags_of(group, i, group->rank)->post[turn];
		if (i != group->rank)
			await(group, &post->epoch);
		from[i] = i == group->rank ? own : data_of(post, bytes);
	}
	program = bulk_arithmetic_begin();
	bulk_loops()->combine[type][op](&own, 0, 1, from, 0, group->ranks, bytes, BULK_LOOP);
	bulk_arithmetic_end(program);
}

/*
 * Return: the size of this rank's part of @bytes: whole lines, which no other rank touches.
 * *@at: output, the part's offset, perhaps behind the end.
 */
static size_t slice_of(const struct memcast_group *group, size_t bytes, size_t *at)
{
	size_t share = (bytes + group->ranks - 1) / group->ranks;
	size_t slice = (share + BULK_LINE - 1) / BULK_LINE * BULK_LINE;

	*at = slice * group->rank;
	return *at >= bytes ? 0 : bytes - *at < slice ? bytes - *at : slice;
}

/* Each rank combines a slice, and stores it to all replicas. */
static void two_shot(struct memcast_group *group, size_t offset, size_t bytes,
		     enum memcast_element type, enum memcast_op op)
{
	size_t at, slice = slice_of(group, bytes, &at);

	barrier(group);
	if (slice)
		bulk_reduce_in_place(group->view, offset + at, slice, type, op);
	barrier(group);
}

static CUresult check_apart(const struct memcast_group *group, size_t offset, size_t bytes)
{
	if (bytes && offset < group->flags + MEMCAST_GROUP_BYTES(group->ranks) &&
	    group->flags < offset + bytes)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "%zu bytes at %zu share some with the group's own %zu at %zu", bytes,
			    offset, MEMCAST_GROUP_BYTES(group->ranks), group->flags);
	return CUDA_SUCCESS;
}

static bool goes_by_post(const struct memcast_group *group, size_t bytes)
{
	return bytes <= POST_BYTES && group->ranks == group->view->replicas;
}

static CUresult all_reduce(struct memcast_group *group, size_t offset, size_t count,
			   enum memcast_element type, enum memcast_op op)
{
	CUresult result;
	size_t bytes;

	if (!group)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL group");
	result = bulk_check(group->view, offset, count, type, op, &bytes);
	if (result == CUDA_SUCCESS)
		result = check_apart(group, offset, bytes);
	if (result != CUDA_SUCCESS || !bytes)
		return result;
	if (goes_by_post(group, bytes))
		one_shot(group, offset, bytes, type, op);
	else
		two_shot(group, offset, bytes, type, op);
	return CUDA_SUCCESS;
}

CUresult memcastAllReduce(struct memcast_group *group, size_t offset, size_t count,
			  enum memcast_element type, enum memcast_op op)
{
	return LOGGED(all_reduce(group, offset, count, type, op),
		      "group=%p, offset=%zu, count=%zu, type=%d, op=%d", (void *)group, offset,
		      count, type, op);
}

/*
 * The root posts its array to all ranks before they meet; each then stores it in its own
 * replica.
 */
static void broadcast_by_post(struct memcast_group *group, unsigned int root, size_t offset,
			      size_t bytes)
{
	unsigned char *own = group->view->replica[group->rank] + offset;
	unsigned int turn = (group->epoch + 1) % 2, i;

	for (i = 0; i < group->ranks && group->rank == root; i++)
		if (i != root)
			memcpy(data_of(&flags_of(group, root, i)->post[turn], bytes), own, bytes);
	barrier(group);
	if (group->rank != root)
		memcpy(own, data_of(&flags_of(group, root, group->rank)->post[turn], bytes),
		       bytes);
}

/* Each rank copies a slice to all replicas. */
static void broadcast_slices(struct memcast_group *group, unsigned int root, size_t offset,
			     size_t bytes)
{
	size_t at, slice = slice_of(group, bytes, &at);

	barrier(group);
	if (slice)
		bulk_broadcast(group->view, offset + at, group->view->replica[root] + offset + at,
			       slice);
	barrier(group);
}

static CUresult group_broadcast(struct memcast_group *group, unsigned int root, size_t offset,
				size_t bytes)
{
	CUresult result;

	if (!group)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL group");
	if (root >= group->view->replicas)
		return fail(CUDA_ERROR_INVALID_VALUE, "root %u: there are %u replicas", root,
			    group->view->replicas);
	result = bulk_check_range(group->view, offset, bytes);
	if (result == CUDA_SUCCESS)
		result = check_apart(group, offset, bytes);
	if (result != CUDA_SUCCESS || !bytes)
		return result;
	if (goes_by_post(group, bytes))
		broadcast_by_post(group, root, offset, bytes);
	else
		broadcast_slices(group, root, offset, bytes);
	return CUDA_SUCCESS;
}

CUresult memcastGroupBroadcast(struct memcast_group *group, unsigned int root, size_t offset,
			       size_t bytes)
{
	return LOGGED(group_broadcast(group, root, offset, bytes),
		      "group=%p, root=%u, offset=%zu, bytes=%zu", (void *)group, root, offset,
		      bytes);
}
