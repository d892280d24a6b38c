/* SPDX-License-Identifier: MIT */
/* Memory of alloc nodes: shared by memory.c and usage.c. */
#ifndef MEMCAST_GRAPH_MEMORY_H
#define MEMCAST_GRAPH_MEMORY_H

#include "graph/graph.h"

struct memory {
	CUdeviceptr address;
	size_t bytes;
	uint32_t device;
	unsigned int references;	/* under memory_lock */
	bool allocated;			/* under memory_lock */
	/* the graphs that have a free node for it; under graphs_lock */
	const struct graph **frees;
	unsigned int frees_count;
};

/* Innermost. It also protects the tree of memories and the sums of usage.c. */
void memory_lock(void);
void memory_unlock(void);

/* With the lock held */
struct memory *memory_at(CUdeviceptr address);
void memory_forget(struct memory *memory);

#endif /* MEMCAST_GRAPH_MEMORY_H */
