/* SPDX-License-Identifier: MIT */
/* What memory.c and usage.c share. */
#ifndef MEMCAST_GRAPH_MEMORY_H
#define MEMCAST_GRAPH_MEMORY_H

#include "graph.h"

struct memory {
	CUdeviceptr address;
	size_t bytes;
	uint32_t device;
	unsigned int references;	/* memory_lock */
	bool allocated;			/* memory_lock */
	/* the graphs that have a free node for it; graphs_lock */
	const struct graph **frees;
	unsigned int frees_count;
};

/* Innermost. It also protects which memory can be found, and the sums of usage.c. */
void memory_lock(void);
void memory_unlock(void);

/* With the lock held */
struct memory *memory_at(CUdeviceptr address);
void memory_forget(struct memory *memory);

#endif /* MEMCAST_GRAPH_MEMORY_H */
