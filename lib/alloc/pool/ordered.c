// SPDX-License-Identifier: MIT
/*
 * Stream-ordered allocation. A block can be used as soon as it is allocated, or by work of its
 * stream if it has the place of a block whose free is queued there; only frees are work in a
 * stream. The kernel is told of a free at once, with the stream: so no call frees a block twice,
 * and later blocks of the stream get the place before the free has run (kmod/heap/queued.c).
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

struct free_work {
	struct work work;
	struct free_work *next, **link;
	CUdeviceptr address;
	uint64_t ticket;	/* no other free's; frees of a stream have higher and higher ones */
	struct fence *fence;	/* signalled when it has run; NULL: nobody waits for it */
};

/* Frees that have not run. Their lock is one of the innermost. */
static pthread_mutex_t frees_lock = PTHREAD_MUTEX_INITIALIZER;
static struct free_work *frees;

/* Lists a free before the kernel knows of it, which may give the place to other streams then. */
static void free_list(struct free_work *work)
{
	static uint64_t tickets;

	pthread_mutex_lock(&frees_lock);
	work->ticket = ++tickets;
	work->next = frees;
	work->link = &frees;
	if (frees)
		frees->link = &work->next;
	frees = work;
	pthread_mutex_unlock(&frees_lock);
}

static void free_unlist(struct free_work *work)
{
	pthread_mutex_lock(&frees_lock);
	*work->link = work->next;
	if (work->next)
		work->next->link = work->link;
	pthread_mutex_unlock(&frees_lock);
	if (work->fence) {
		fence_signal(work->fence, CUDA_SUCCESS);
		fence_put(work->fence);
	}
}

/* Has a stream wait for a free that is queued in another. */
static CUresult wait_for_free(struct stream *stream, uint64_t ticket)
{
	struct fence *fence = NULL;
	struct free_work *work;
	CUresult result;

	pthread_mutex_lock(&frees_lock);
	for (work = frees; work && work->ticket != ticket; work = work->next)
		;
	if (work && !work->fence)
		work->fence = fence_alloc();
	if (work)
		fence = fence_reference(work->fence);
	pthread_mutex_unlock(&frees_lock);
	if (!work)
		return CUDA_SUCCESS;
	if (!fence)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	result = stream_submit_fence(stream, fence, true);
	fence_put(fence);
	return result;
}

/*
 * Allocates memory that work of the stream may use. @others: the stream may wait for a free that is
 * queued in another one, if there is no other memory
 */
static CUresult allocate_for(struct stream *stream, CUdeviceptr *address, size_t bytes,
			     uint32_t heap, bool others)
{
	struct memcast_block_alloc arg = {
		.heap = heap, .bytes = bytes, .order = stream->id, .others = others,
	};
	CUresult result = device_ioctl(MEMCAST_BLOCK_ALLOC, &arg);

	if (result != CUDA_SUCCESS)
		return result;
	memops_pools_used(pool_has);
	if (arg.out_after)
		result = wait_for_free(stream, arg.out_after);
	if (result == CUDA_SUCCESS)
		*address = arg.out_address;
	else
		heap_free(arg.out_address, 0);
	return result;
}

typedef CUresult allocate_function(struct stream *stream, CUdeviceptr *address, size_t bytes,
				   uint32_t heap);

/*
 * If memory is short, the place of a block whose free is queued in another stream may do. What is
 * queued may also be of other pools, or several blocks that each have a memory of their own: so the
 * last resort is to wait for the stream.
 */
static CUresult allocate_in(struct stream *stream, CUdeviceptr *address, size_t bytes,
			    uint32_t heap)
{
	CUresult result = allocate_for(stream, address, bytes, heap, false);
	struct memcast_heap_info info = { .heap = heap };
	bool idle;

	if (result != CUDA_ERROR_OUT_OF_MEMORY || !device_ask(MEMCAST_HEAP_INFO, &info) ||
	    !info.out_queued)
		return result;
	if (!(info.out_options & 1U << CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES))
		result = allocate_for(stream, address, bytes, heap, true);
	if (result != CUDA_ERROR_OUT_OF_MEMORY)
		return result;
	if (stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle) != CUDA_SUCCESS || idle)
		return result;
	result = stream_wait(stream, WAIT_OWN | WAIT_BEFORE);
	return result == CUDA_SUCCESS ? allocate_for(stream, address, bytes, heap, false) : result;
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
	result = stream->set->error;
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	else
		fail(result, "work in a stream has failed");
	/* a program that ignores the result finds NULL, and so does one that allocates 0 bytes */
	if (result == CUDA_SUCCESS)
		*address = 0;
	if (result == CUDA_SUCCESS && bytes)
		result = pool ? allocate_in(stream, address, bytes, info.heap) :
				allocate_from_current(stream, address, bytes, allocate_in);
	stream_put(stream);
	return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(ordered_allocate(address, bytes, NULL, stream), address, bytes, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
				 CUstream stream)
{
	return WHOLE_CALL(ordered_allocate(address, bytes, &pool, stream), address, bytes, pool,
			  stream);
}

static CUresult free_step(const struct free_work *work, uint32_t step, uint64_t order)
{
	struct memcast_block_free arg = {
		.address = work->address, .flags = step, .order = order, .ticket = work->ticket,
	};

	return device_ioctl(MEMCAST_BLOCK_FREE, &arg);
}

/*
 * The pool keeps the memory until the next synchronization. It is no fault if the block has ended
 * before with the context that allocated it, or if a later block has its place.
 */
static CUresult free_now(struct free_work *work)
{
	CUresult result = free_step(work, MEMCAST_BLOCK_NOW, 0);

	free_unlist(work);
	if (result == CUDA_SUCCESS)
		give_back_later();
	return result;
}

/* Frees the block even after a failure: nothing else would. */
static CUresult run_free(struct work *work, struct stream *stream, CUresult error)
{
	(void)stream;
	(void)error;
	return free_now((struct free_work *)work);
}

/* Announces the free of a block, and queues it, or carries it out if nothing comes before it. */
static CUresult free_ordered(struct stream *stream, CUdeviceptr address)
{
	struct free_work *work = malloc(sizeof(*work));
	bool idle = false;
	CUresult result;

	if (!work)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	*work = (struct free_work) { .work.run = run_free, .address = address };
	free_list(work);
	result = free_step(work, MEMCAST_BLOCK_LATER, stream->id);
	if (result != CUDA_SUCCESS)
		goto unlist;
	result = stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle);
	if (result == CUDA_SUCCESS && idle) {
		result = free_now(work);
		free(work);
		return result;
	}
	if (result == CUDA_SUCCESS)
		result = stream_submit(stream, &work->work);
	if (result == CUDA_SUCCESS)
		return result;
	free_step(work, MEMCAST_BLOCK_KEEP, 0);
unlist:
	free_unlist(work);
	free(work);
	return result;
}

static CUresult free_in(struct stream *stream, CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };
	bool taken;
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
	return result == CUDA_SUCCESS ? free_ordered(stream, address) : result;
}

static CUresult free_async(CUdeviceptr address, CUstream handle)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = free_in(stream, address);
	stream_put(stream);
	return result;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	return WHOLE_CALL(free_async(address, stream), address, stream);
}
