// SPDX-License-Identifier: MIT
/*
 * Stream-ordered allocation. A block can be used as soon as it is allocated; only frees are
 * work in a stream. The kernel is told of a free at once, so that no call frees a block twice.
 */
#include <stdlib.h>

#include "stream/capture.h"
#include "device/device.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "pool.h"

/*
 * Is an address in memory of a pool? For lib/stream/memop.c. Blocks of pools have no flags; other
 * memory of the host has CU_MEMHOSTALLOC_DEVICEMAP or is managed, also when the context has gone
 * that allocated it.
 */
bool pool_has(CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };

	if (!device_ask(MEMCAST_ADDRESS_INFO, &info) || !info.out_heap || slot_of_block(&info))
		return false;
	return info.out_location == MEMCAST_LOCATION_DEVICE ||
	       !(info.out_block_flags & ~BLOCK_CONTEXT_MASK);
}

/* Allocates memory of a pool, or of an alloc node: from now on streams look where they write. */
CUresult pool_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address)
{
	CUresult result = heap_alloc(heap, bytes, flags, address);

	if (result == CUDA_SUCCESS)
		memops_pools_used(pool_has);
	return result;
}

typedef CUresult allocate_function(struct stream *stream, CUdeviceptr *address, size_t bytes,
				   uint32_t heap);

/* If memory is short, waits for the stream, whose work may free some, and tries again. */
static CUresult allocate_in(struct stream *stream, CUdeviceptr *address, size_t bytes,
			    uint32_t heap)
{
	CUresult result = pool_alloc(heap, bytes, 0, address);
	bool idle;

	if (result != CUDA_ERROR_OUT_OF_MEMORY)
		return result;
	if (stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle) != CUDA_SUCCESS || idle)
		return result;
	result = stream_wait(stream, WAIT_OWN | WAIT_BEFORE);
	return result == CUDA_SUCCESS ? pool_alloc(heap, bytes, 0, address) : result;
}

/* Finds which devices have access to a pool beside its own. @desc: output, to be freed */
static CUresult pool_access(const struct memcast_heap_info *pool, CUmemAccessDesc **desc,
			    size_t *count)
{
	struct memcast_heap_info info = { .heap = pool->heap };
	struct memcast_system_info system = {};
	CUresult result = system_info(&system);

	if (result != CUDA_SUCCESS)
		return result;
	*desc = calloc(system.out_devices + 1, sizeof(**desc));
	if (!*desc)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
	for (; info.device < system.out_devices && result == CUDA_SUCCESS; info.device++) {
		result = device_ioctl(MEMCAST_HEAP_INFO, &info);
		if (info.device != pool->out_location_id && info.out_access)
			(*desc)[(*count)++] = (CUmemAccessDesc) {
				{ CU_MEM_LOCATION_TYPE_DEVICE, info.device },
				(CUmemAccess_flags)info.out_access,
			};
	}
	return result;
}

/*
 * Adds an alloc node to a capture: its memory is where the pool's is, for the devices that may
 * access the pool now, but it counts as memory of graphs.
 */
static CUresult capture_alloc(struct stream *stream, CUdeviceptr *address, size_t bytes,
			      uint32_t heap)
{
	struct memcast_heap_info pool = {};
	CUresult result = own_pool_info((CUmemoryPool)(uintptr_t)heap, &pool);
	CUmemAccessDesc *desc = NULL;
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
		.alloc = {
			.poolProps = {
				.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.location = { (CUmemLocationType)pool.out_location,
					      pool.out_location_id },
			},
			.bytesize = bytes,
		},
	};

	if (result == CUDA_SUCCESS)
		result = pool_access(&pool, &desc, &params.alloc.accessDescCount);
	params.alloc.accessDescs = desc;
	if (result == CUDA_SUCCESS)
		result = capture_node(stream, &params);
	if (result == CUDA_SUCCESS)
		*address = params.alloc.dptr;
	free(desc);
	return result;
}

/* A pool that ceased to be the current one may have been destroyed meanwhile. */
static CUresult allocate_from_current(struct stream *stream, CUdeviceptr *address, size_t bytes,
				      allocate_function *allocate)
{
	CUresult result;
	uint32_t heap;

	do {
		heap = pool_current(stream->set->device);
		result = allocate(stream, address, bytes, heap);
	} while (result == CUDA_ERROR_INVALID_VALUE && heap != pool_current(stream->set->device));
	return result;
}

/* @pool: NULL: the current pool of the stream's device */
static CUresult ordered_allocate(CUdeviceptr *address, size_t bytes, const CUmemoryPool *pool,
				 CUstream handle)
{
	struct memcast_heap_info info = {};
	struct stream *stream;
	CUresult result;

	if (!address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = stream_get(handle, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	result = pool ? pool_info(*pool, &info) : CUDA_SUCCESS;
	if (result != CUDA_SUCCESS) {
		stream_put(stream);
		return result;
	}
	if (stream_captured(stream)) {
		result = pool ? capture_alloc(stream, address, bytes, info.heap) :
				allocate_from_current(stream, address, bytes, capture_alloc);
		stream_put(stream);
		return result;
	}
	result = stream_working(stream);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	/* a program that ignores the result finds NULL, and so does one that allocates 0 bytes */
	if (result == CUDA_SUCCESS)
		*address = 0;
	if (result == CUDA_SUCCESS && bytes)
		result = pool ? allocate_in(stream, address, bytes, info.heap) :
				allocate_from_current(stream, address, bytes, allocate_in);
	stream_put(stream);
	return result;
}

FORWARD(cuMemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream),
	ordered_allocate(address, bytes, NULL, stream), address, bytes, stream)
FORWARD(cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
				  CUstream stream),
	ordered_allocate(address, bytes, &pool, stream), address, bytes, pool, stream)

struct free_work {
	struct work work;
	CUdeviceptr address;
};

/* The pool keeps the memory until the next synchronization. */
static CUresult free_now(CUdeviceptr address)
{
	CUresult result = heap_free(address, MEMCAST_BLOCK_NOW);

	if (result == CUDA_SUCCESS)
		give_back_later();
	return result;
}

/*
 * Frees the block even after a failure: nothing else would. It is no fault if the block has ended
 * before with the context that allocated it.
 */
static CUresult run_free(struct work *work, struct stream *stream, CUresult error)
{
	CUresult result = free_now(((struct free_work *)work)->address);

	(void)stream;
	(void)error;
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : result;
}

static CUresult submit_free(struct stream *stream, CUdeviceptr address)
{
	const struct free_work work = { .work.run = run_free, .address = address };

	return stream_submit_copy(stream, &work.work, sizeof(work));
}

static CUresult free_in(struct stream *stream, CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };
	bool idle, taken;
	CUresult result;

	if (stream_captured(stream))
		return capture_node(stream, &(CUgraphNodeParams) {
			.type = CU_GRAPH_NODE_TYPE_MEM_FREE,
			.free.dptr = address,
		});
	if (!address)
		return CUDA_SUCCESS;
	result = graph_memory_free(address, stream, &taken);
	if (result != CUDA_SUCCESS || taken)
		return result;
	if (blocks_kept)
		result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);
	if (result == CUDA_SUCCESS)
		result = check_free(&info);
	if (result == CUDA_SUCCESS)
		result = heap_free(address, MEMCAST_BLOCK_LATER);
	if (result != CUDA_SUCCESS)
		return result;
	result = stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle);
	if (result == CUDA_SUCCESS)
		result = idle ? free_now(address) : submit_free(stream, address);
	if (result != CUDA_SUCCESS)
		heap_free(address, MEMCAST_BLOCK_KEEP);
	return result;
}

DEFINE_WHOLE_CALL(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), address, stream)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);

	if (result != CUDA_SUCCESS)
		return result;
	result = free_in(found, address);
	stream_put(found);
	return result;
}
