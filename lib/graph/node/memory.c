// SPDX-License-Identifier: MIT
/*
 * The memory of alloc nodes. It is allocated when the node is made, so that its address is valid
 * from then on, and freed when no node, instance or launch names it and it does not count as
 * allocated. "Allocated" is what the program sees: a launch begins it; a free node, cuMemFree()
 * or cuMemFreeAsync() ends it.
 */
#include <search.h>
#include <stdlib.h>

#include "memory/address.h"
#include "device/device.h"
#include "graph/graph.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *tree;		/* all memories, by address */

static _Atomic uint32_t heaps[MEMCAST_MAX_DEVICES];

void memory_lock(void)
{
	pthread_mutex_lock(&lock);
}

void memory_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static int graph_memory_compare(const void *one, const void *other)
{
	const struct memory *a = one, *b = other;

	return a->address < b->address ? -1 : a->address > b->address;
}

static CUresult heap_new(uint32_t device, uint32_t *heap)
{
	struct memcast_heap_create arg = {
		.location = MEMCAST_LOCATION_DEVICE,
		.location_id = device,
		.flags = MEMCAST_HEAP_POOL,
	};
	CUresult result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);

	*heap = arg.out_heap;
	return result;
}

/* The kernel ends the heap with its last block. */
static void graph_heap_end(uint32_t heap)
{
	struct memcast_heap_destroy arg = { .heap = heap };

	device_ioctl(MEMCAST_HEAP_DESTROY, &arg);
}

/* Finds a device's heap for memory that only this device may access, or makes it. */
static CUresult heap_of(uint32_t device, uint32_t *heap)
{
	uint32_t none = 0;
	CUresult result;

	*heap = heaps[device];
	if (*heap)
		return CUDA_SUCCESS;
	result = heap_new(device, heap);
	if (result != CUDA_SUCCESS)
		return result;
	if (!atomic_compare_exchange_strong(&heaps[device], &none, *heap)) {
		graph_heap_end(*heap);
		*heap = none;
	}
	return CUDA_SUCCESS;
}

/* Allocates memory that other devices may access, too: in a heap of its own. */
static CUresult take_shared(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
	struct memcast_access_entry entries[ACCESS_ROOM(params->accessDescCount)];
	struct memcast_heap_access arg = {
		.entries = (uintptr_t)entries,
		.count = params->accessDescCount,
	};
	CUresult result = access_entries(entries, params->accessDescs, params->accessDescCount);

	if (result == CUDA_SUCCESS)
		result = heap_new(params->poolProps.location.id, &arg.heap);
	if (result != CUDA_SUCCESS)
		return result;
	result = device_ioctl(MEMCAST_HEAP_ACCESS, &arg);
	if (result == CUDA_SUCCESS)
		result = pool_alloc(arg.heap, params->bytesize, BLOCK_GRAPH, &params->dptr);
	graph_heap_end(arg.heap);
	return result;
}

static CUresult graph_memory_take(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
	uint32_t heap;
	CUresult result;

	if (params->accessDescCount)
		return take_shared(params);
	result = heap_of(params->poolProps.location.id, &heap);
	return result == CUDA_SUCCESS ?
		pool_alloc(heap, params->bytesize, BLOCK_GRAPH, &params->dptr) : result;
}

static CUresult check_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
	const CUmemPoolProps *props = &params->poolProps;
	struct memcast_device_info info = {};

	if (!params->bytesize)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return fail(CUDA_ERROR_INVALID_VALUE, "type %d is not PINNED", props->allocType);
	if (params->accessDescCount && !params->accessDescs)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (props->handleTypes)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "memory of graphs has no handle types");
	if (props->location.type == CU_MEM_LOCATION_TYPE_HOST ||
	    props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "memory of graphs is on devices");
	if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    device_info(props->location.id, &info) != CUDA_SUCCESS)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location: type %d, %d",
			    props->location.type, props->location.id);
	return CUDA_SUCCESS;
}

/* Checks the parameters of an alloc node or a free node. */
CUresult memory_check(const CUgraphNodeParams *params)
{
	struct memory *memory;

	if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return check_alloc(&params->alloc);
	memory = memory_find(params->free.dptr);
	if (!memory)
		return fail(CUDA_ERROR_INVALID_VALUE, "no alloc node has memory at %#llx",
			    params->free.dptr);
	memory_put(memory);
	return CUDA_SUCCESS;
}

/* @params: dptr is an output. @out: output, with a reference. */
CUresult memory_new(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct memory **out)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	CUresult result;
	bool added;

	if (!memory)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
	result = graph_memory_take(params);
	if (result != CUDA_SUCCESS) {
		free(memory);
		return result;
	}
	*memory = (struct memory) {
		.address = params->dptr,
		.bytes = params->bytesize,
		.device = params->poolProps.location.id,
		.references = 1,
	};
	memory_lock();
	added = tsearch(memory, &tree, graph_memory_compare);
	memory_unlock();
	if (!added) {
		heap_free(memory->address, 0);
		free(memory);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
	}
	graph_memories++;
	*out = memory;
	return CUDA_SUCCESS;
}

/* With the lock held. Return: the memory, without a reference, or NULL. */
struct memory *memory_at(CUdeviceptr address)
{
	struct memory key = { .address = address };
	struct memory **found = tfind(&key, &tree, graph_memory_compare);

	return found ? *found : NULL;
}

/* Return: the memory, with a reference, or NULL. */
struct memory *memory_find(CUdeviceptr address)
{
	struct memory *memory;

	memory_lock();
	memory = memory_at(address);
	if (memory)
		memory->references++;
	memory_unlock();
	return memory;
}

struct memory *memory_get(struct memory *memory)
{
	memory_lock();
	memory->references++;
	memory_unlock();
	return memory;
}

/* With the lock held: memory_at() does not find the memory any more. */
void memory_forget(struct memory *memory)
{
	tdelete(memory, &tree, graph_memory_compare);
	graph_memories--;
}

void memory_put(struct memory *memory)
{
	bool last;

	memory_lock();
	last = !--memory->references && !memory->allocated;
	if (last)
		memory_forget(memory);
	memory_unlock();
	if (!last)
		return;
	heap_free(memory->address, 0);
	free(memory->frees);
	free(memory);
}

/* With graphs_lock held. A graph may have one free node for a memory. */
CUresult memory_insert_free(struct memory *memory, const struct graph *graph)
{
	const struct graph **frees;

	for (unsigned int i = 0; i < memory->frees_count; i++)
		if (memory->frees[i] == graph)
			return fail(CUDA_ERROR_INVALID_VALUE, "the graph frees %#llx already",
				    memory->address);
	frees = realloc(memory->frees, (memory->frees_count + 1) * sizeof(*frees));
	if (!frees)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
	frees[memory->frees_count++] = graph;
	memory->frees = frees;
	return CUDA_SUCCESS;
}

void memory_remove_free(struct memory *memory, const struct graph *graph)
{
	for (unsigned int i = 0; i < memory->frees_count; i++)
		if (memory->frees[i] == graph)
			memory->frees[i--] = memory->frees[--memory->frees_count];
}
