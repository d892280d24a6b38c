// SPDX-License-Identifier: MIT
/* Managed memory: allocates and finds it, and checks the locations that a program may give. */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "stream/capture.h"
#include "device/device.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "managed.h"

DEFINE_CALL(cuMemAllocManaged, (CUdeviceptr *address, size_t bytes, unsigned int flags),
	    address, bytes, flags)
{
	struct slot *slot;
	CUresult result;
	int supported;
	uint32_t heap;

	if (!address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(NULL, &slot);
	if (result != CUDA_SUCCESS)
		return result;
	/* a program that ignores the result finds NULL, as with plain memory */
	*address = 0;
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be GLOBAL or HOST");
	if (!bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	result = device_attribute(&supported, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, slot->device);
	if (result == CUDA_SUCCESS && !supported)
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "device %u has no managed memory",
			      slot->device);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = context_heap_of(slot, HEAP_MANAGED, &heap);
	return result != CUDA_SUCCESS ? result :
		heap_alloc(heap, bytes, BLOCK_MANAGED | block_flags_of(slot), address);
}

/* Finds the pages of a range, as far as they are the block's: two blocks may share a page. */
CUresult range_of(struct range *range, CUdeviceptr address, size_t bytes)
{
	struct memcast_address_info info = { .address = address };
	uint64_t end, page = getpagesize();
	CUresult result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);

	if (result != CUDA_SUCCESS)
		return result;
	if (!block_managed(&info))
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not managed memory", address);
	*range = (struct range) {
		.block_start = info.out_mapping,
		.block_end = info.out_mapping + info.out_mapping_bytes,
		.block = info.out_number,
		.heap = info.out_heap,
	};
	if (!bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "the range is empty");
	if (__builtin_add_overflow(address, bytes, &end) || end > range->block_end)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "%zu bytes from %#llx on are more than was allocated there, %llu",
			    bytes, address, range->block_end - address);
	range->start = address & ~(page - 1);
	if (range->start < range->block_start)
		range->start = range->block_start;
	range->end = (end + page - 1) & ~(page - 1);
	if (range->end > range->block_end)
		range->end = range->block_end;
	return CUDA_SUCCESS;
}

static bool node_exists(int node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
	return node == 0 || (node > 0 && !access(path, F_OK));
}

/*
 * place_check() - check a location of managed memory
 * @place: the location; what it leaves open is filled in
 * @nodes: may it be a node of the host?
 */
CUresult place_check(CUmemLocation *place, bool nodes)
{
	struct memcast_system_info system = {};
	unsigned int node = 0;
	CUresult result;
	int concurrent;

	switch (place->type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		result = system_info(&system);
		if (result != CUDA_SUCCESS)
			return result;
		if (place->id < 0 || (uint32_t)place->id >= system.out_devices)
			return fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", place->id);
		result = device_attribute(&concurrent,
					  CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
					  place->id);
		if (result == CUDA_SUCCESS && !concurrent)
			result = fail(CUDA_ERROR_INVALID_DEVICE,
				      "device %d has no concurrent managed access", place->id);
		return result;
	case CU_MEM_LOCATION_TYPE_HOST:
		place->id = 0;
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
		if (!nodes)
			break;
		if (!node_exists(place->id))
			return fail(CUDA_ERROR_INVALID_VALUE, "there is no node %d", place->id);
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		if (!nodes)
			break;
		getcpu(NULL, &node);
		*place = (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST_NUMA, node };
		return CUDA_SUCCESS;
	default:
		break;
	}
	return fail(CUDA_ERROR_INVALID_VALUE, "a location of type %d is not for this",
		    (int)place->type);
}

/* Return: the location of an older function's argument: a device, or the CPU. */
CUmemLocation place_of_device(CUdevice device)
{
	if (device == CU_DEVICE_CPU)
		return (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST, 0 };
	return (CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, device };
}

static CUresult attach_to(struct stream *stream, CUdeviceptr address, size_t bytes,
			  unsigned int flags)
{
	struct memcast_address_info info = { .address = address };
	CUresult result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);

	if (result != CUDA_SUCCESS)
		return result;
	if (!block_managed(&info))
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not managed memory", address);
	if (address != info.out_mapping || (bytes && bytes != info.out_mapping_bytes))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "only all of what was allocated is attached: %llu bytes at %#llx",
			    (unsigned long long)info.out_mapping_bytes,
			    (unsigned long long)info.out_mapping);
	if (flags == CU_MEM_ATTACH_SINGLE && stream->is_legacy)
		return fail(CUDA_ERROR_INVALID_VALUE, "the legacy stream stands for all streams");
	return CUDA_SUCCESS;
}

/* Attaching has no effect: devices reach managed memory at any time. */
DEFINE_WHOLE_CALL(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr address, size_t bytes,
					   unsigned int flags),
		  stream, address, bytes, flags)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
	    flags != CU_MEM_ATTACH_SINGLE)
		result = fail(CUDA_ERROR_INVALID_VALUE, "no such way to attach memory");
	else if (stream_captured(found))
		result = capture_refuse(found);
	else
		result = attach_to(found, address, bytes, flags);
	stream_put(found);
	return result;
}
