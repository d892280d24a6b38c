/* SPDX-License-Identifier: MIT */
/*
 * Groups: ranks that work on one view, each a process or a thread. A barrier, an
 * all-reduce and a broadcast, both in place.
 *
 * All state that the ranks share is in the view: part of each replica is set
 * aside for flags. So a group needs no devices either: replicas in ordinary
 * shared memory will do.
 *
 * A rank that waits spins for some microseconds if there is a CPU for each rank, then
 * yields the CPU to other threads, then sleeps for longer and longer, up to 1 ms, or
 * longer if more than four ranks share a CPU. (A futex would not do: there are none in
 * device memory, EFAULT.) A rank that may run on one CPU only assumes that the other
 * ranks have other CPUs: if they share it, every wait spins in vain first. A rank that
 * dies keeps the others waiting: the program that started them has to end them. A thread
 * that waits can be cancelled (pthread_cancel()); that is as if its rank had died.
 *
 * Library: libmemcast.so (link with -lmemcast -lcuda, or pkg-config libmemcast).
 *
 * Source of these calls: ours; the all-reduce is the "two-shot" and for little
 * data the "one-shot" that CUDA libraries have on multicast memory.
 */
#ifndef MEMCAST_GROUP_H
#define MEMCAST_GROUP_H

#include <stddef.h>
#include <stdint.h>
#include <memcast/bulk.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEMCAST_GROUP_MAX	MEMCAST_VIEW_MAX	/* ranks */

/* Bytes of each replica that a group needs */
#define MEMCAST_GROUP_BYTES(ranks)	((size_t)(ranks) * 1152)

/**
 * struct memcast_group - a rank's part in a group; only the library uses the members
 * @view: the replicas
 * @flags: where in the view the group's bytes are
 * @rank: this rank
 * @ranks: how many there are
 * @spins: how often to look before giving way
 * @nap_us: how many microseconds to sleep at most before looking again
 * @epoch: how many times the ranks have met
 */
struct memcast_group {
	const struct memcast_view *view;
	size_t flags;
	unsigned int rank, ranks;
	unsigned int spins, nap_us;
	uint64_t epoch;
};

/**
 * memcastGroupInit() - take part in a group
 * @group: output; for one thread at a time
 * @view: must stay as long as the group is used. Ranks may have it at different
 *	addresses, the replicas in the same order.
 * @flags: offset of MEMCAST_GROUP_BYTES(ranks) bytes in the view, the same for
 *	all ranks, a multiple of 64. They must be zero before the first rank comes to its
 *	first barrier, as fresh memory is, and are for this group only.
 * @rank: 0 to @ranks - 1, each once
 * @ranks: how many; may differ from the number of replicas
 *
 * On a team, the flags of all replicas must be bound before the first rank comes to its
 * first barrier: binding waits until all devices have joined, but not until all are
 * bound. Ranks meet in another way first, as in examples/all-gather.c; else SIGBUS.
 *
 * This call does not wait for other ranks, and touches no replica.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE.
 */
CUresult memcastGroupInit(struct memcast_group *group, const struct memcast_view *view,
			  size_t flags, unsigned int rank, unsigned int ranks);

/**
 * memcastBarrier() - wait for all ranks
 * @group: as memcastGroupInit() gave it
 *
 * No rank returns before all have called. All ranks then see the stores that any rank
 * made before its call, also those past the caches. A rank that has returned may end,
 * and take its replica along.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE for NULL.
 */
CUresult memcastBarrier(struct memcast_group *group);

/**
 * memcastAllReduce() - combine the replicas, in place
 * @group: as memcastGroupInit() gave it
 * @offset: bytes into the view, a multiple of the type's size
 * @count: elements
 * @type: of the elements
 * @op: how to combine them
 *
 * All ranks call it with the same arguments. If there are as many ranks as
 * replicas, rank i has written nothing but replica i since ranks met last, and
 * when its call returns, replica i is done. Otherwise any rank may have written
 * any replica, and all replicas are done when a call returns. The size decides which
 * part of the work each rank does; all replicas get the same bits, those of
 * memcastReduceLoad().
 *
 * Errors: as of memcastReduceBroadcast(), and CUDA_ERROR_INVALID_VALUE for a range
 * that has some of the group's own bytes; no rank waits for others then.
 */
CUresult memcastAllReduce(struct memcast_group *group, size_t offset, size_t count,
			  enum memcast_element type, enum memcast_op op);

/**
 * memcastGroupBroadcast() - copy a range of one replica to all, in place
 * @group: as memcastGroupInit() gave it
 * @root: number of the replica to copy from, 0 to the view's replicas - 1
 * @offset: bytes into the view
 * @bytes: how many; any number
 *
 * All ranks call it with the same arguments, and all have a part in copying. If
 * there are as many ranks as replicas, rank i has written nothing but replica i since
 * ranks met last, and when its call returns, replica i is done. Otherwise any rank may
 * have written any replica, and all replicas are done when a call returns. A rank that
 * has returned may end, and take its replica along. For data that is not in a replica
 * yet, and one caller: memcastBroadcast().
 *
 * Errors: CUDA_ERROR_INVALID_VALUE; no rank waits for others then.
 */
CUresult memcastGroupBroadcast(struct memcast_group *group, unsigned int root, size_t offset,
			       size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_GROUP_H */
