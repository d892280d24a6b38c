// SPDX-License-Identifier: MIT
/* Pools: make them, ask them, and which one is a device's current one. */
#include <string.h>

#include "capture.h"
#include "heap.h"
#include "pool.h"

/* A device's current pool; 0: its default one. */
static _Atomic uint32_t current[MEMCAST_MAX_DEVICES];

static CUmemoryPool pool_handle(uint32_t heap)
{
	return (CUmemoryPool)(uintptr_t)heap;
}

/* What a handle stands for; no other heap's number is one. */
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

/* The current pool of a device that there is. */
uint32_t pool_current(uint32_t device)
{
	uint32_t heap = current[device];

	return heap ? heap : MEMCAST_HEAP_DEFAULT(device);
}

static CUresult check_props(const CUmemPoolProps *props, uint32_t *handle_types)
{
	if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return fail(CUDA_ERROR_INVALID_VALUE, "type %d is not PINNED",
			    (int)props->allocType);
	for (size_t i = 0; i < sizeof(props->reserved); i++)
		if (props->reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved bytes must be 0");
	if (props->win32SecurityAttributes ||
	    props->usage & ~CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown usage flags or attributes");
	if (props->usage)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "decompression is not supported");
	if (props->location.type == CU_MEM_LOCATION_TYPE_HOST ||
	    props->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "pools on the host are not supported");
	if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location");
	return memory_handle_types(props->handleTypes, handle_types);
}

static CUresult create(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	struct memcast_heap_create arg = {
		.location = MEMCAST_LOCATION_DEVICE,
		.flags = MEMCAST_HEAP_POOL,
	};
	CUresult result;

	if (!pool || !props)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_props(props, &arg.handle_types);
	if (result != CUDA_SUCCESS)
		return result;
	arg.location_id = device_number(props->location.id);
	arg.limit = props->maxSize;
	result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
	if (result == CUDA_SUCCESS)
		*pool = pool_handle(arg.out_heap);
	return result;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	return CALL(create(pool, props), "pool=%p, props=%p", (void *)pool, (void *)props);
}

static CUresult destroy(CUmemoryPool pool)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_destroy arg = {};
	CUresult result = pool_info(pool, &info);

	if (result != CUDA_SUCCESS)
		return result;
	arg.heap = info.heap;
	result = device_ioctl(MEMCAST_HEAP_DESTROY, &arg);
	for (unsigned int i = 0; i < ARRAY_SIZE(current) && result == CUDA_SUCCESS; i++) {
		uint32_t heap = info.heap;

		atomic_compare_exchange_strong(&current[i], &heap, 0);
	}
	return result;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	return CALL(destroy(pool), "pool=%p", (void *)pool);
}

static CUresult trim(CUmemoryPool pool, size_t keep)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_trim arg = { .keep = keep };
	CUresult result = pool_info(pool, &info);

	arg.heap = info.heap;
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	return result == CUDA_SUCCESS ? device_ioctl(MEMCAST_HEAP_TRIM, &arg) : result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	return CALL(trim(pool, keep), "pool=%p, keep=%zu", (void *)pool, keep);
}

static bool is_switch(CUmemPool_attribute attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
	       attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static CUresult set_switch(const struct memcast_heap_info *info, CUmemPool_attribute attribute,
			   int on)
{
	struct memcast_heap_set arg = {
		.heap = info->heap,
		.setting = MEMCAST_HEAP_OPTIONS,
		.value = info->out_options,
	};

	/* a bit says that it is off: they are on from the start */
	if (on != 0 && on != 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "%d is neither 0 nor 1", on);
	if (on)
		arg.value &= ~(1U << attribute);
	else
		arg.value |= 1U << attribute;
	return device_ioctl(MEMCAST_HEAP_SET, &arg);
}

static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute,
			      const void *value)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_set arg = {};
	CUresult result;
	int on;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (is_switch(attribute)) {
		memcpy(&on, value, sizeof(on));
		return set_switch(&info, attribute, on);
	}
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		arg.setting = MEMCAST_HEAP_THRESHOLD;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		arg.setting = MEMCAST_HEAP_TAKEN_HIGH;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		arg.setting = MEMCAST_HEAP_USED_HIGH;
		break;
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set",
			    (int)attribute);
	}
	arg.heap = info.heap;
	memcpy(&arg.value, value, sizeof(cuuint64_t));
	return device_ioctl(MEMCAST_HEAP_SET, &arg);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	return CALL(set_attribute(pool, attribute, value), "pool=%p, attribute=%d, value=%p",
		    (void *)pool, (int)attribute, value);
}

static CUresult get_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	struct memcast_heap_info info = {};
	cuuint64_t bytes;
	CUresult result;
	int on;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (is_switch(attribute)) {
		on = !(info.out_options & 1U << attribute);
		memcpy(value, &on, sizeof(on));
		return CUDA_SUCCESS;
	}
	switch (attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		bytes = info.out_threshold;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		bytes = info.out_taken;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		bytes = info.out_taken_high;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		bytes = info.out_used;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		bytes = info.out_used_high;
		break;
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d", (int)attribute);
	}
	memcpy(value, &bytes, sizeof(bytes));
	return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	return CALL(get_attribute(pool, attribute, value), "pool=%p, attribute=%d, value=%p",
		    (void *)pool, (int)attribute, value);
}

static CUresult set_access(CUmemoryPool pool, const CUmemAccessDesc *desc, size_t count)
{
	struct memcast_access_entry entries[ACCESS_ENTRIES];
	struct memcast_heap_access arg = {
		.entries = (uintptr_t)entries,
		.count = count,
	};
	struct memcast_heap_info info = {};
	CUresult result = access_entries(entries, desc, count);

	if (result == CUDA_SUCCESS)
		result = pool_info(pool, &info);
	arg.heap = info.heap;
	return result == CUDA_SUCCESS ? device_ioctl(MEMCAST_HEAP_ACCESS, &arg) : result;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *desc, size_t count)
{
	return CALL(set_access(pool, desc, count), "pool=%p, desc=%p, count=%zu",
		    (void *)pool, (void *)desc, count);
}

static CUresult get_access(CUmemAccess_flags *flags, CUmemoryPool pool,
			   const CUmemLocation *location)
{
	struct memcast_device_info device = {};
	struct memcast_heap_info info = {};
	CUresult result;
	uint64_t bit;

	if (!flags || !location)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return fail(CUDA_ERROR_INVALID_VALUE, "not the location of a device");
	result = device_info(location->id, &device);
	if (result != CUDA_SUCCESS)
		return result;
	bit = 1ULL << location->id;
	*flags = info.out_writable & bit ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE :
		 info.out_readable & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ :
					   CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool,
			    CUmemLocation *location)
{
	return CALL(get_access(flags, pool, location), "flags=%p, pool=%p, location=%p",
		    (void *)flags, (void *)pool, (void *)location);
}

static CUresult get_pool(CUmemoryPool *pool, CUdevice device, bool get_default)
{
	CUresult result;

	if (!pool)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_check_device(device);
	if (result == CUDA_SUCCESS)
		*pool = pool_handle(get_default ? MEMCAST_HEAP_DEFAULT(device) :
						  pool_current(device));
	return result;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	return CALL(get_pool(pool, device, true), "pool=%p, device=%d", (void *)pool, device);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	return CALL(get_pool(pool, device, false), "pool=%p, device=%d", (void *)pool, device);
}

static CUresult set_pool(CUdevice device, CUmemoryPool pool)
{
	struct memcast_heap_info info = {};
	CUresult result = context_check_device(device);

	if (result == CUDA_SUCCESS)
		result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (info.out_flags & MEMCAST_HEAP_IMPORTED)
		return fail(CUDA_ERROR_INVALID_VALUE, "the pool is another process's");
	if (info.out_location_id != (uint32_t)device)
		return fail(CUDA_ERROR_INVALID_VALUE, "the pool is on device %u",
			    info.out_location_id);
	current[device] = info.heap;
	return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	return CALL(set_pool(device, pool), "device=%d, pool=%p", device, (void *)pool);
}

static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type)
{
	if (!location)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such type");
	if (location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA ||
	    (location->type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_PINNED))
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location");
	if (location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    type == CU_MEM_ALLOCATION_TYPE_MANAGED)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "pools are of pinned memory on devices");
	return CUDA_SUCCESS;
}

static CUresult get_pool_of(CUmemoryPool *pool, const CUmemLocation *location,
			    CUmemAllocationType type, bool get_default)
{
	CUresult result = check_location(location, type);

	return result == CUDA_SUCCESS ? get_pool(pool, location->id, get_default) : result;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
				CUmemAllocationType type)
{
	return CALL(get_pool_of(pool, location, type, true), "pool=%p, location=%p, type=%d",
		    (void *)pool, (void *)location, (int)type);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location,
			 CUmemAllocationType type)
{
	return CALL(get_pool_of(pool, location, type, false), "pool=%p, location=%p, type=%d",
		    (void *)pool, (void *)location, (int)type);
}

static CUresult set_pool_of(const CUmemLocation *location, CUmemAllocationType type,
			    CUmemoryPool pool)
{
	CUresult result = check_location(location, type);

	return result == CUDA_SUCCESS ? set_pool(location->id, pool) : result;
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type,
			 CUmemoryPool pool)
{
	return CALL(set_pool_of(location, type, pool), "location=%p, type=%d, pool=%p",
		    (void *)location, (int)type, (void *)pool);
}
