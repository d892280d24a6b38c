// SPDX-License-Identifier: MIT
/* Pools: create and destroy them, find their properties, and set a device's current pool. */
#include <string.h>

#include "stream/capture.h"
#include "device/device.h"
#include "memory/handle.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "pool.h"
#include "base/visible.h"

pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

/* A device's current pool; 0: its default one. It changes with pools_lock held. */
static _Atomic uint32_t current[MEMCAST_MAX_DEVICES];

/* The default pools of the host: for the whole host, and for each node; 0: not made yet */
#define NODES		64
static _Atomic uint32_t host_pools[1 + NODES];

static CUmemoryPool pool_handle(uint32_t heap)
{
	return (CUmemoryPool)(uintptr_t)heap;
}

/* Finds the pool of a handle; the number of a heap that is no pool is refused. */
CUresult pool_info(CUmemoryPool pool, struct memcast_heap_info *info)
{
	CUresult result;

	if ((uintptr_t)pool > UINT32_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "not a pool");
	info->heap = (uintptr_t)pool;
	result = device_ioctl(MEMCAST_HEAP_INFO, info);
	if (result == CUDA_SUCCESS && !(info->out_flags & MEMCAST_HEAP_POOL))
		result = fail(CUDA_ERROR_INVALID_VALUE, "not a pool");
	return result;
}

/* As pool_info(), for calls that only the process may make which created the pool */
CUresult own_pool_info(CUmemoryPool pool, struct memcast_heap_info *info)
{
	CUresult result = pool_info(pool, info);

	if (result == CUDA_SUCCESS && info->out_flags & MEMCAST_HEAP_IMPORTED)
		result = fail(CUDA_ERROR_INVALID_VALUE, "the pool is another process's");
	return result;
}

/* Return: the default heap of a device; heaps have the module's device numbers. */
static uint32_t default_heap(uint32_t device)
{
	return MEMCAST_HEAP_DEFAULT(visible_module_number(device));
}

/* Return: the current pool of a device that exists. */
uint32_t pool_current(uint32_t device)
{
	uint32_t heap = current[device];

	return heap ? heap : default_heap(device);
}

/* Checks a device number, with the result that hardware's pool calls give a wrong one. */
CUresult pool_check_device(CUdevice device)
{
	CUresult result = context_check_device(device);

	return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

static CUresult check_types(CUmemAllocationHandleType types, uint32_t *mask)
{
	if (types != CU_MEM_HANDLE_TYPE_NONE && types != CU_MEM_HANDLE_TYPE_FABRIC &&
	    types != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return fail(CUDA_ERROR_INVALID_VALUE, "pools are shared as fds only, not %#x",
			    (int)types);
	return memory_handle_types(types, mask);
}

static CUresult check_props(const CUmemPoolProps *props, struct memcast_heap_create *arg)
{
	CUresult result;

	if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return fail(CUDA_ERROR_INVALID_VALUE, "type %d is not PINNED",
			    (int)props->allocType);
	for (size_t i = 0; i < sizeof(props->reserved); i++)
		if (props->reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved bytes must be 0");
	/* hardware ignores the usage and the attributes for Windows */
	arg->location_id = props->location.id;
	switch (props->location.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		arg->location = MEMCAST_LOCATION_DEVICE;
		result = pool_check_device(props->location.id);
		if (result == CUDA_SUCCESS && props->maxSize > POOL_LARGEST)
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "a pool of %zu bytes: addresses reach for %llu",
				      props->maxSize, POOL_LARGEST);
		if (result != CUDA_SUCCESS)
			return result;
		break;
	case CU_MEM_LOCATION_TYPE_HOST:
		arg->location = MEMCAST_LOCATION_HOST;
		arg->location_id = 0;
		break;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
		arg->location = MEMCAST_LOCATION_HOST_NUMA;
		break;
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location");
	}
	arg->limit = props->maxSize + POOL_GROWTH - 1 < props->maxSize ? UINT64_MAX :
		     (props->maxSize + POOL_GROWTH - 1) & ~(POOL_GROWTH - 1);
	return check_types(props->handleTypes, &arg->handle_types);
}

DEFINE_CALL(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *props), pool, props)
{
	struct memcast_heap_create arg = { .flags = MEMCAST_HEAP_POOL };
	CUresult result;

	if (!pool || !props)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_props(props, &arg);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
	if (result == CUDA_SUCCESS)
		*pool = pool_handle(arg.out_heap);
	/* the result for a node that does not exist */
	return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : result;
}

DEFINE_WHOLE_CALL(cuMemPoolDestroy, (CUmemoryPool pool), pool)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_destroy arg = {};
	CUresult result = pool_info(pool, &info);
	_Atomic uint32_t *place = NULL;
	uint32_t heap = info.heap;
	bool was_current;

	if (result != CUDA_SUCCESS)
		return result;
	for (unsigned int i = 0; i < ARRAY_SIZE(host_pools); i++)
		if (host_pools[i] == info.heap)
			return fail(CUDA_ERROR_INVALID_VALUE, "a default pool stays");
	arg.heap = info.heap;
	if (info.out_location == MEMCAST_LOCATION_DEVICE)
		place = &current[info.out_location_id];
	/* a thread that allocates meanwhile finds the default pool, not one that has gone */
	pthread_mutex_lock(&pools_lock);
	was_current = place && atomic_compare_exchange_strong(place, &heap, 0);
	result = device_ioctl(MEMCAST_HEAP_DESTROY, &arg);
	if (was_current && result != CUDA_SUCCESS)
		*place = info.heap;
	pthread_mutex_unlock(&pools_lock);
	return result;
}

DEFINE_CALL(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), pool, keep)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_trim arg = {};
	CUresult result = own_pool_info(pool, &info);

	arg.heap = info.heap;
	/* a pool keeps whole steps; a number near 2^64 overflows to 0, as recorded on hardware */
	arg.keep = (keep + POOL_GROWTH - 1) & ~(POOL_GROWTH - 1);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	return result == CUDA_SUCCESS ? device_ioctl(MEMCAST_HEAP_TRIM, &arg) : result;
}

static CUresult get_pool(CUmemoryPool *pool, CUdevice device, bool get_default)
{
	CUresult result;

	if (!pool)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = pool_check_device(device);
	if (result == CUDA_SUCCESS)
		*pool = pool_handle(get_default ? default_heap(device) : pool_current(device));
	return result;
}

DEFINE_CALL(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device), pool, device)
{
	CUresult result = pool ? context_check_device(device) : CUDA_SUCCESS;

	return result == CUDA_SUCCESS ? get_pool(pool, device, true) : result;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	return CALL(get_pool(pool, device, false), pool, device);
}

/* With pools_lock held, so that the pool is not destroyed between the check and its use */
static CUresult set_pool_locked(CUdevice device, CUmemoryPool pool)
{
	struct memcast_heap_info info = {};
	CUresult result = own_pool_info(pool, &info);

	if (result != CUDA_SUCCESS)
		return result;
	if (info.out_location != MEMCAST_LOCATION_DEVICE)
		return fail(CUDA_ERROR_INVALID_VALUE, "the pool is on the host");
	if (info.out_location_id != (uint32_t)device)
		return fail(CUDA_ERROR_INVALID_VALUE, "the pool is on device %u",
			    info.out_location_id);
	current[device] = info.heap;
	return CUDA_SUCCESS;
}

static CUresult set_pool(CUdevice device, CUmemoryPool pool)
{
	CUresult result = pool_check_device(device);

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&pools_lock);
	result = set_pool_locked(device, pool);
	pthread_mutex_unlock(&pools_lock);
	return result;
}

FORWARD(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
	set_pool(device, pool), device, pool)

static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type)
{
	if (!location)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such type");
	if (location->type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_PINNED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location");
	if (location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "no location that has a pool");
	if (type == CU_MEM_ALLOCATION_TYPE_MANAGED)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "pools are of pinned memory");
	return CUDA_SUCCESS;
}

/*
 * A default pool of the host is made when a program first asks for it. Only the devices'
 * current pools can be changed.
 */
static CUresult get_host_pool(CUmemoryPool *pool, const CUmemLocation *location)
{
	bool numa = location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
	struct memcast_heap_create arg = {
		.location = numa ? MEMCAST_LOCATION_HOST_NUMA : MEMCAST_LOCATION_HOST,
		.location_id = numa ? location->id : 0,
		.flags = MEMCAST_HEAP_POOL,
	};
	uint32_t slot = numa ? 1 + arg.location_id : 0, none = 0;
	struct memcast_heap_destroy extra = {};
	CUresult result;

	if (!pool)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (arg.location_id >= NODES)
		return fail(CUDA_ERROR_INVALID_VALUE, "no NUMA node %d", location->id);
	if (!host_pools[slot]) {
		result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
		if (result != CUDA_SUCCESS)
			return result == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE :
								     result;
		if (!atomic_compare_exchange_strong(&host_pools[slot], &none, arg.out_heap)) {
			extra.heap = arg.out_heap;
			device_ioctl(MEMCAST_HEAP_DESTROY, &extra);
		}
	}
	*pool = pool_handle(host_pools[slot]);
	return CUDA_SUCCESS;
}

static CUresult get_pool_of(CUmemoryPool *pool, const CUmemLocation *location,
			    CUmemAllocationType type, bool get_default)
{
	CUresult result = check_location(location, type);

	if (result != CUDA_SUCCESS)
		return result;
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE ?
		get_pool(pool, location->id, get_default) : get_host_pool(pool, location);
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
				CUmemAllocationType type)
{
	return CALL(get_pool_of(pool, location, type, true), pool, location, type);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
			 CUmemAllocationType type)
{
	return CALL(get_pool_of(pool, location, type, false), pool, location, type);
}

DEFINE_WHOLE_CALL(cuMemSetMemPool, (CUmemLocation *location, CUmemAllocationType type,
				    CUmemoryPool pool),
		  location, type, pool)
{
	CUresult result = check_location(location, type);

	if (result == CUDA_SUCCESS && location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		result = fail(CUDA_ERROR_INVALID_VALUE, "the host's current pools stay");
	return result == CUDA_SUCCESS ? set_pool(location->id, pool) : result;
}
