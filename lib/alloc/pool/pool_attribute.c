// SPDX-License-Identifier: MIT
/* Attributes of pools, and devices' access to pools. */
#include <string.h>

#include "memory/address.h"
#include "base/ioctl.h"
#include "pool.h"

static bool is_switch(CUmemPool_attribute attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
	       attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static CUresult set_switch(CUmemoryPool pool, CUmemPool_attribute attribute, int on)
{
	struct memcast_heap_set arg = { .setting = MEMCAST_HEAP_OPTIONS };
	struct memcast_heap_info info = {};
	CUresult result;

	/* other processes cannot set attributes of the pool */
	pthread_mutex_lock(&pools_lock);
	result = own_pool_info(pool, &info);
	arg.heap = info.heap;
	/* a set bit turns the attribute off: all are on at first */
	if (on)
		arg.value = info.out_options & ~(1U << attribute);
	else
		arg.value = info.out_options | 1U << attribute;
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HEAP_SET, &arg);
	pthread_mutex_unlock(&pools_lock);
	return result;
}

DEFINE_WHOLE_CALL(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute,
					  void *value),
		  pool, attribute, value)
{
	struct memcast_heap_info info = {};
	struct memcast_heap_set arg = {};
	CUresult result;
	int on;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (is_switch(attribute)) {
		memcpy(&on, value, sizeof(on));
		return set_switch(pool, attribute, on);
	}
	result = own_pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
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

/* Rounds up to the steps in which pools report the memory that they have of a device. */
static cuuint64_t reserved(uint64_t taken)
{
	return (taken + POOL_GROWTH - 1) & ~(POOL_GROWTH - 1);
}

DEFINE_CALL(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute,
				    void *value),
	    pool, attribute, value)
{
	struct memcast_heap_info info = {};
	cuuint64_t bytes;
	CUresult result;
	int on;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = own_pool_info(pool, &info);
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
		bytes = reserved(info.out_taken);
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		bytes = reserved(info.out_taken_high);
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

/* A device may read and write a pool, or neither; a device always has access to its own pools. */
static CUresult pool_check_access(const struct memcast_heap_info *info, const CUmemAccessDesc *desc)
{
	if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "access to pools is that of devices");
	if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "no device only reads a pool");
	if (desc->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE &&
	    info->out_location == MEMCAST_LOCATION_DEVICE &&
	    info->out_location_id == (uint32_t)desc->location.id)
		return fail(CUDA_ERROR_INVALID_DEVICE, "device %d has the pool",
			    desc->location.id);
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *desc, size_t count),
	    pool, desc, count)
{
	struct memcast_access_entry entries[ACCESS_ROOM(count)];
	struct memcast_heap_access arg = {
		.entries = (uintptr_t)entries,
		.count = count,
	};
	struct memcast_heap_info info = {};
	CUresult result;

	if (!desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS || !count)
		return result;
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = pool_check_access(&info, &desc[i]);
	if (result == CUDA_SUCCESS)
		result = access_entries(entries, desc, count);
	arg.heap = info.heap;
	return result == CUDA_SUCCESS ? device_ioctl(MEMCAST_HEAP_ACCESS, &arg) : result;
}

DEFINE_CALL(cuMemPoolGetAccess, (CUmemAccess_flags *flags, CUmemoryPool pool,
				 CUmemLocation *location),
	    flags, pool, location)
{
	struct memcast_heap_info info = {};
	CUresult result;

	if (!flags || !location)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (location->type == CU_MEM_LOCATION_TYPE_HOST ||
	    location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA) {
		*flags = (CUmemAccess_flags)info.out_host;
		return CUDA_SUCCESS;
	}
	if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location");
	result = pool_check_device(location->id);
	if (result != CUDA_SUCCESS)
		return result;
	info.device = location->id;
	result = pool_info(pool, &info);
	if (result == CUDA_SUCCESS)
		*flags = (CUmemAccess_flags)info.out_access;
	return result;
}
