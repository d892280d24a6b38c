// SPDX-License-Identifier: MIT
/* Memory of the host for devices: allocated by the library, or registered by the program. */
#include "stream/capture.h"
#include "alloc.h"
#include "base/ioctl.h"

#define ALLOC_FLAGS	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | \
			 CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_FLAGS	(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | \
			 CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)

static CUresult host_allocate(void **pointer, size_t bytes, unsigned int flags)
{
	CUdeviceptr address;
	CUresult result;
	uint32_t heap, tag;

	if (!pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_heap(HEAP_OF_HOST, &heap, &tag);
	if (result != CUDA_SUCCESS)
		return result;
	/* a program that ignores the result finds NULL, as on hardware */
	*pointer = NULL;
	if (flags & ~ALLOC_FLAGS)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	result = capture_unsafe();
	if (result != CUDA_SUCCESS || !bytes)
		return result;
	/* all host memory is mapped for devices, even if the flags do not ask for it */
	result = heap_alloc(heap, bytes, flags | CU_MEMHOSTALLOC_DEVICEMAP | tag, &address);
	if (result == CUDA_SUCCESS)
		*pointer = (void *)(uintptr_t)address;
	return result;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	return CALL(host_allocate(pointer, bytes, flags), pointer, bytes, flags);
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
	return CALL(host_allocate(pointer, bytes, 0), pointer, bytes);
}

FORWARD(cuMemFreeHost, (void *pointer),
	context_free((uintptr_t)pointer, MEMCAST_BLOCK_HOST), pointer)

DEFINE_CALL(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned int flags),
	    pointer, bytes, flags)
{
	struct memcast_block_register arg = {
		.address = (uintptr_t)pointer,
		.bytes = bytes,
	};
	CUresult result;
	uint64_t end;
	uint32_t tag;

	if (!pointer || flags & ~REGISTER_FLAGS)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer or unknown flags");
	result = context_heap(HEAP_OF_HOST, &arg.heap, &tag);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
		return fail(CUDA_ERROR_INVALID_VALUE, "no device here has I/O memory");
	if (!__builtin_add_overflow(arg.address, bytes, &end) && end > addresses_end)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "addresses do not reach that far");
	/* the range is mapped for devices; the flags are those that the program can read back */
	if (flags & CU_MEMHOSTREGISTER_READ_ONLY)
		arg.access = MEMCAST_ACCESS_READ;
	arg.flags = (flags & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTREGISTER_DEVICEMAP |
		    tag;
	return device_ioctl(MEMCAST_BLOCK_REGISTER, &arg);
}

DEFINE_CALL(cuMemHostUnregister, (void *pointer), pointer)
{
	struct memcast_address_info info = { .address = (uintptr_t)pointer };
	CUresult result;

	if (!pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = heap_free(info.address, MEMCAST_BLOCK_REGISTERED);
	if (result != CUDA_ERROR_INVALID_VALUE)
		return result;
	if (device_ioctl(MEMCAST_ADDRESS_INFO, &info) == CUDA_SUCCESS && info.out_mapping_bytes)
		return fail(result, "%p is not where a registered range starts", pointer);
	return fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "nothing is registered at %p", pointer);
}

/* Finds the block or the registered range of the host that has an address. */
static CUresult host_find(void *pointer, struct memcast_address_info *info)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	info->address = (uintptr_t)pointer;
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_ADDRESS_INFO, info);
	if (result != CUDA_SUCCESS)
		return result;
	if (info->out_location != MEMCAST_LOCATION_HOST || block_managed(info) ||
	    !(info->out_heap || block_registered(info)))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "not memory that was allocated or registered on the host");
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemHostGetDevicePointer_v2, (CUdeviceptr *address, void *pointer,
					   unsigned int flags),
	    address, pointer, flags)
{
	struct memcast_address_info info = {};
	CUresult result;

	if (!address || !pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = host_find(pointer, &info);
	if (result == CUDA_SUCCESS)
		*address = info.address;
	return result;
}

DEFINE_CALL(cuMemHostGetFlags, (unsigned int *flags, void *pointer), flags, pointer)
{
	struct memcast_address_info info = {};
	CUresult result;

	if (!flags || !pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = host_find(pointer, &info);
	if (result == CUDA_SUCCESS)
		*flags = info.out_block_flags & BLOCK_FLAGS_GIVEN;
	return result;
}

/* The first version does the same. */
#undef cuMemHostRegister
OLDER_NAME(cuMemHostRegister, (void *pointer, size_t bytes, unsigned int flags),
	   cuMemHostRegister_v2(pointer, bytes, flags))
