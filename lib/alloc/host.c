// SPDX-License-Identifier: MIT
/* Memory of the host that devices use: what the library gives, what it is given. */
#include "capture.h"
#include "heap.h"

#define ALLOC_FLAGS	(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | \
			 CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_OTHERS	(CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY)
#define REGISTER_FLAGS	(CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | \
			 REGISTER_OTHERS)

static CUresult allocate(void **pointer, size_t bytes, unsigned int flags)
{
	CUdeviceptr address;
	CUresult result;
	uint32_t heap;

	if (!pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags & ~ALLOC_FLAGS)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if (!bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = context_heap(HEAP_OF_HOST, &heap);
	if (result == CUDA_SUCCESS)
		result = heap_alloc(heap, bytes, flags, &address);
	if (result == CUDA_SUCCESS)
		*pointer = (void *)(uintptr_t)address;
	return result;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	return CALL(allocate(pointer, bytes, flags), "pointer=%p, bytes=%zu, flags=%#x",
		    (void *)pointer, bytes, flags);
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
	return CALL(allocate(pointer, bytes, 0), "pointer=%p, bytes=%zu",
		    (void *)pointer, bytes);
}

CUresult cuMemFreeHost(void *pointer)
{
	return WHOLE_CALL(context_free((uintptr_t)pointer, MEMCAST_BLOCK_HOST), "pointer=%p",
			  pointer);
}

static CUresult add(void *pointer, size_t bytes, unsigned int flags)
{
	struct memcast_block_register arg = {
		.address = (uintptr_t)pointer,
		.bytes = bytes,
		.flags = flags,
	};
	struct slot *slot;
	CUresult result;

	if (!pointer || flags & ~REGISTER_FLAGS)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer or unknown flags");
	result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (flags & REGISTER_OTHERS)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "I/O memory and read-only memory are not supported");
	return device_ioctl(MEMCAST_BLOCK_REGISTER, &arg);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags)
{
	return CALL(add(pointer, bytes, flags), "pointer=%p, bytes=%zu, flags=%#x",
		    pointer, bytes, flags);
}

static CUresult drop(void *pointer)
{
	struct slot *slot;
	CUresult result;

	if (!pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = heap_free((uintptr_t)pointer, MEMCAST_BLOCK_REGISTERED);
	return result == CUDA_ERROR_INVALID_VALUE ?
		CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : result;
}

CUresult cuMemHostUnregister(void *pointer)
{
	return CALL(drop(pointer), "pointer=%p", pointer);
}

/* What was allocated (@registered: or registered) on the host around an address. */
static CUresult find(void *pointer, bool registered, struct memcast_address_info *info)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	info->address = (uintptr_t)pointer;
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_ADDRESS_INFO, info);
	if (result != CUDA_SUCCESS)
		return result;
	/* a registered range shows no object; a mapped memory is of no heap */
	if (info->out_location != MEMCAST_LOCATION_HOST ||
	    !(info->out_heap || (registered && !info->out_type)))
		return fail(CUDA_ERROR_INVALID_VALUE, "not memory that was allocated%s on the host",
			    registered ? " or registered" : "");
	return CUDA_SUCCESS;
}

static CUresult get_device_pointer(CUdeviceptr *address, void *pointer, unsigned int flags)
{
	struct memcast_address_info info = {};
	CUresult result;

	if (!address || !pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = find(pointer, true, &info);
	if (result == CUDA_SUCCESS)
		*address = info.address;
	return result;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer,
				      unsigned int flags)
{
	return CALL(get_device_pointer(address, pointer, flags),
		    "address=%p, pointer=%p, flags=%#x", (void *)address, pointer, flags);
}

static CUresult get_flags(unsigned int *flags, void *pointer)
{
	struct memcast_address_info info = {};
	CUresult result;

	if (!flags || !pointer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = find(pointer, false, &info);
	if (result == CUDA_SUCCESS)
		*flags = info.out_block_flags;
	return result;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer)
{
	return CALL(get_flags(flags, pointer), "flags=%p, pointer=%p",
		    (void *)flags, pointer);
}

/* The first version registered the same. */
OLDER_NAME(cuMemHostRegister, (void *pointer, size_t bytes, unsigned int flags),
	   cuMemHostRegister_v2(pointer, bytes, flags))
