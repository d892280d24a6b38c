// SPDX-License-Identifier: MIT
/* Memories, and the handles of memories and teams. */
#include <string.h>

#include "address.h"
#include "context/context.h"
#include "device/device.h"
#include "handle.h"
#include "base/ioctl.h"
#include "base/visible.h"

/* The library passes these numbers to the kernel unchanged. */
_Static_assert((int)CU_MEM_LOCATION_TYPE_DEVICE == MEMCAST_LOCATION_DEVICE &&
	       (int)CU_MEM_LOCATION_TYPE_HOST == MEMCAST_LOCATION_HOST &&
	       (int)CU_MEM_LOCATION_TYPE_HOST_NUMA == MEMCAST_LOCATION_HOST_NUMA,
	       "locations have the same numbers");
_Static_assert(sizeof(CUmemFabricHandle) == MEMCAST_FABRIC_HANDLE_SIZE,
	       "fabric handles have the same size");

#define HANDLE_TYPES_WINDOWS	(CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)
#define HANDLE_TYPES_ALL	(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | \
				 HANDLE_TYPES_WINDOWS | CU_MEM_HANDLE_TYPE_FABRIC)

CUresult memory_other_handle_types(unsigned long long types, uint32_t *mask)
{
	if (types & ~(unsigned long long)HANDLE_TYPES_ALL)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown handle types in %#llx", types);
	if (types & HANDLE_TYPES_WINDOWS)
		return fail(CUDA_ERROR_INVALID_VALUE, "handle types %#llx: there are no Windows handles here",
			    types);
	*mask = types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? MEMCAST_HANDLE_FD : 0;
	if (!(types & CU_MEM_HANDLE_TYPE_FABRIC))
		return CUDA_SUCCESS;
	*mask |= MEMCAST_HANDLE_FABRIC;
	return fabric_open_channels(false);
}

CUmemAllocationHandleType memory_types_of_mask(uint32_t mask)
{
	int types = CU_MEM_HANDLE_TYPE_NONE;

	if (mask & MEMCAST_HANDLE_FD)
		types |= CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	if (mask & MEMCAST_HANDLE_FABRIC)
		types |= CU_MEM_HANDLE_TYPE_FABRIC;
	return (CUmemAllocationHandleType)types;
}

CUresult memory_handle_info(CUmemGenericAllocationHandle handle,
			    struct memcast_handle_info *info)
{
	CUresult result = memory_handle(handle, &info->handle);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HANDLE_INFO, info);
	return result;
}

/* Checks what CUmemAllocationProp has, except what the kernel checks. */
static CUresult memory_check_prop(const CUmemAllocationProp *prop, uint32_t *handle_types)
{
	if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return fail(CUDA_ERROR_INVALID_VALUE, "type %d is not PINNED", (int)prop->type);
	for (size_t i = 0; i < sizeof(prop->allocFlags.reserved); i++)
		if (prop->allocFlags.reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved bytes must be 0");
	if (prop->win32HandleMetaData)
		return fail(CUDA_ERROR_INVALID_VALUE, "win32HandleMetaData must be NULL");
	if (prop->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such compression");
	if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE &&
	    (prop->allocFlags.compressionType || prop->allocFlags.gpuDirectRDMACapable))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "only device memory can be compressed or capable of RDMA");
	/* only here, unknown bits are ignored, and so are unknown usages */
	return memory_handle_types(prop->requestedHandleTypes & HANDLE_TYPES_ALL, handle_types);
}

/* One granularity for all memory, whether it could be created or not: @prop is ignored. */
DEFINE_CALL(cuMemGetAllocationGranularity, (size_t *bytes, const CUmemAllocationProp *prop,
					    CUmemAllocationGranularity_flags option),
	    bytes, prop, option)
{
	struct memcast_system_info info = {};
	CUresult result;

	if (!bytes || !prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
	    option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such option");
	result = system_info(&info);
	if (result == CUDA_SUCCESS)
		*bytes = option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED ?
			profile_recommended(info.out_granularity) : info.out_granularity;
	return result;
}

/* Pools give back what they keep unused where memory is short. */
static CUresult create_in_need(struct memcast_memory_create *arg)
{
	struct memcast_heap_trim trim = { .flags = MEMCAST_TRIM_ALL };
	CUresult result = device_ioctl(MEMCAST_MEMORY_CREATE, arg);

	if (result != CUDA_ERROR_OUT_OF_MEMORY || !device_ask(MEMCAST_HEAP_TRIM, &trim))
		return result;
	return device_ioctl(MEMCAST_MEMORY_CREATE, arg);
}

DEFINE_CALL(cuMemCreate, (CUmemGenericAllocationHandle *handle, size_t size,
			  const CUmemAllocationProp *prop, unsigned long long flags),
	    handle, size, prop, flags)
{
	struct memcast_memory_create arg = { .bytes = size };
	CUresult result;

	if (!handle || !prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = memory_check_prop(prop, &arg.handle_types);
	if (result != CUDA_SUCCESS)
		return result;
	/* the kernel itself would also take single pages of the host's memory */
	if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE && size % MEMCAST_GRANULARITY)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "size %zu is not a multiple of the granularity %llu: round it up", size,
			    MEMCAST_GRANULARITY);
	arg.location = prop->location.type;
	arg.location_id = location_number(&prop->location);
	if (prop->allocFlags.gpuDirectRDMACapable)
		arg.flags |= MEMCAST_MEMORY_RDMA;
	else if (prop->allocFlags.compressionType)
		arg.flags |= MEMCAST_MEMORY_COMPRESSIBLE;
	if (prop->allocFlags.usage & CU_MEM_CREATE_USAGE_TILE_POOL)
		arg.flags |= MEMCAST_MEMORY_TILES;
	result = create_in_need(&arg);
	if (result == CUDA_SUCCESS)
		*handle = arg.out_handle;
	return result;
}

DEFINE_CALL(cuMemRelease, (CUmemGenericAllocationHandle handle), (unsigned long)handle)
{
	struct memcast_handle_release arg = {};
	CUresult result = memory_handle(handle, &arg.handle);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HANDLE_RELEASE, &arg);
	return result;
}

DEFINE_CALL(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *address),
	    handle, address)
{
	struct memcast_handle_retain arg = { .address = (uintptr_t)address };
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = device_ioctl(MEMCAST_HANDLE_RETAIN, &arg);
	if (result == CUDA_SUCCESS)
		*handle = arg.out_handle;
	return result;
}

DEFINE_CALL(cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *prop,
						     CUmemGenericAllocationHandle handle),
	    prop, (unsigned long)handle)
{
	struct memcast_handle_info info = {};
	CUresult result;

	if (!prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = memory_handle_info(handle, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (info.out_type != MEMCAST_TYPE_MEMORY)
		return fail(CUDA_ERROR_INVALID_VALUE, "a team has no such properties");

	/* CU_DEVICE_INVALID goes with CU_MEM_LOCATION_TYPE_INVISIBLE (CUDA 13.2) */
	if (info.out_location == MEMCAST_LOCATION_ELSEWHERE)
		info.out_location_id = CU_DEVICE_INVALID;
	*prop = (CUmemAllocationProp) {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = memory_types_of_mask(info.out_handle_types),
		.location = { (CUmemLocationType)info.out_location, info.out_location_id },
		.allocFlags.compressionType = info.out_flags & MEMCAST_MEMORY_COMPRESSIBLE ?
			CU_MEM_ALLOCATION_COMP_GENERIC : CU_MEM_ALLOCATION_COMP_NONE,
		.allocFlags.gpuDirectRDMACapable = !!(info.out_flags & MEMCAST_MEMORY_RDMA),
	};
	return CUDA_SUCCESS;
}

/* An export or import is of exactly one type. */
static CUresult check_one_type(CUmemAllocationHandleType type, uint32_t *mask)
{
	if (!type || type & (type - 1))
		return fail(CUDA_ERROR_INVALID_VALUE, "handle type %#x", (int)type);
	return memory_handle_types(type, mask);
}

DEFINE_CALL(cuMemExportToShareableHandle, (void *shareable, CUmemGenericAllocationHandle handle,
					   CUmemAllocationHandleType type,
					   unsigned long long flags),
	    shareable, (unsigned long)handle, type, flags)
{
	struct memcast_export arg = {};
	CUresult result;

	if (!shareable)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = check_one_type(type, &arg.handle_type);
	if (result == CUDA_SUCCESS)
		result = memory_handle(handle, &arg.handle);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_EXPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	if (type == CU_MEM_HANDLE_TYPE_FABRIC)
		memcpy(shareable, arg.out_fabric, sizeof(arg.out_fabric));
	else
		memcpy(shareable, &arg.out_fd, sizeof(arg.out_fd));
	return CUDA_SUCCESS;
}

static CUresult import_handle(CUmemGenericAllocationHandle *handle, const void *shareable,
			      CUmemAllocationHandleType type)
{
	struct memcast_import arg = {};
	CUresult result;

	if (!handle || (type == CU_MEM_HANDLE_TYPE_FABRIC && !shareable))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_one_type(type, &arg.handle_type);
	if (result != CUDA_SUCCESS)
		return result;
	if (type == CU_MEM_HANDLE_TYPE_FABRIC) {
		memcpy(arg.fabric, shareable, sizeof(arg.fabric));
	} else {
		result = memory_fd(shareable, &arg.fd);
		if (result != CUDA_SUCCESS)
			return result;
		arg.flags = MEMCAST_IMPORT_FOREIGN;
		arg.device = MEMCAST_DEVICE_NONE;
	}
	result = device_ioctl(MEMCAST_IMPORT, &arg);
	/* the node of the exporter's channel may have appeared after others were opened */
	if (result == CUDA_ERROR_NOT_PERMITTED && type == CU_MEM_HANDLE_TYPE_FABRIC) {
		result = fabric_open_channels(true);
		if (result == CUDA_SUCCESS)
			result = device_ioctl(MEMCAST_IMPORT, &arg);
	}
	if (result == CUDA_SUCCESS) {
		*handle = arg.out_handle;
		memory_watcher->expect_team();
	}
	/* all other arguments are good: the fd is of no memory or team */
	if (result == CUDA_ERROR_INVALID_VALUE && type != CU_MEM_HANDLE_TYPE_FABRIC)
		return CUDA_ERROR_UNKNOWN;
	return result;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *os_handle, CUmemAllocationHandleType type)
{
	return CALL(import_handle(handle, os_handle, type), handle, (long)os_handle, type);
}

DEFINE_CALL(cuMemGetInfo_v2, (size_t *available, size_t *total), available, total)
{
	struct memcast_device_info info = {};
	CUresult result;

	result = context_device(&info.device);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_DEVICE_INFO, &info);
	if (result == CUDA_SUCCESS && available)
		*available = info.out_free_bytes;
	if (result == CUDA_SUCCESS && total)
		*total = info.out_pool_bytes;
	return result;
}
