/* SPDX-License-Identifier: MIT */
/*
 * A team of all ranks: each joins with its device, binds memory of that device at
 * offset 0, and has a view of all replicas; collectives work in place.
 */
#ifndef MEMCAST_TOOLS_TEAM_H
#define MEMCAST_TOOLS_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>
#include <memcast/group.h>

#include "ranks.h"

/* If the call fails, ends the process with a message of what failed and what to do. */
#define CU(call) do {						\
	CUresult result_ = (call);				\
								\
	if (__builtin_expect(result_ != CUDA_SUCCESS, 0))	\
		team_check(result_, #call);			\
} while (0)
void team_check(CUresult result, const char *call);

struct team {
	struct memcast_view view;
	unsigned char *own;	/* this rank's memory, mapped for itself */
	size_t sync;		/* where in the team the sync area starts */
	struct memcast_group group;
	unsigned int index;
	unsigned int count;
};

struct element {
	const char *name;	/* as in PTX */
	const char *nccl_name;	/* as nccl-tests prints it */
	size_t bytes;
	enum memcast_element type;
};

extern const struct element element_u32, element_u64, element_f32;

/* Finds an element by either name. Return: NULL if there is none. */
const struct element *element_find(const char *name);

/*
 * How many ranks to run: as many as @wanted, 0 for one per device. Ends the
 * process if there are too few devices. A child calls the driver, so that
 * this process can still fork.
 */
unsigned int team_ranks(unsigned int wanted);

/* Sizes in bytes; 0: no more than needed */
struct team_sizes {
	size_t bytes;		/* the data that the ranks work on */
	size_t bound;		/* the team, and the bound part of each memory */
	size_t created;		/* each memory */
};

/*
 * Joins, binds and maps; returns when all ranks have done so. They join in order, so that replica i
 * is rank i's and f32 sums repeat from run to run. Ranks of a launcher, which may be on several
 * hosts, share the team by a fabric handle, other ranks by an fd.
 */
void team_join(struct team *team, struct rank *rank, const struct team_sizes *sizes);

/* No rank returns before all have called it; then all see what was written before. */
void team_barrier(struct team *team);

/* Gives every rank's @mine to all ranks: all[i] is rank i's. */
void team_exchange(struct team *team, uint64_t mine, uint64_t *all);

/* The elements at offset 0 become their sum over all ranks, on all ranks. */
void team_allreduce(struct team *team, const struct element *element,
		    size_t count);

/* @from of @root reaches offset 0 of all ranks. */
void team_broadcast(struct team *team, const struct element *element,
		    size_t count, unsigned int root, const void *from);

/* @to of @root receives the sum over all ranks of the elements at offset 0. */
void team_reduce(struct team *team, const struct element *element,
		 size_t count, unsigned int root, void *to);

#endif /* MEMCAST_TOOLS_TEAM_H */
