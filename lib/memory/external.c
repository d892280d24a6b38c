// SPDX-License-Identifier: MIT
/*
 * External memory: dma-bufs that others made. In the kernel one is a memory, its
 * CUexternalMemory the number of a handle, and a mapped buffer a block.
 */
#include <unistd.h>

#include "heap.h"

static CUresult check_reserved(const unsigned int *reserved, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved fields must be 0");
	return CUDA_SUCCESS;
}

static CUresult check_desc(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	switch (desc->type) {
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD:
		if (desc->flags & ~CUDA_EXTERNAL_MEMORY_DEDICATED)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		break;
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD:
		if (desc->flags)
			return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
		break;
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF:
		return fail(CUDA_ERROR_NOT_SUPPORTED, "only fds are supported");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown handle type %d",
			    (int)desc->type);
	}
	if (!desc->size)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	return check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
}

static CUresult import_external(CUexternalMemory *memory,
				const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	struct memcast_import arg = {
		.handle_type = MEMCAST_HANDLE_FD,
		.flags = MEMCAST_IMPORT_FOREIGN,
	};
	CUresult result;

	if (!memory || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_desc(desc);
	if (result == CUDA_SUCCESS)
		result = context_device(&arg.device);
	if (result != CUDA_SUCCESS)
		return result;
	arg.fd = desc->handle.fd;
	arg.bytes = desc->size;
	result = device_ioctl(MEMCAST_IMPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	/* of the other type the document does not say that it changes hands */
	if (desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
		close(desc->handle.fd);
	*memory = (CUexternalMemory)(uintptr_t)arg.out_handle;
	return CUDA_SUCCESS;
}

CUresult cuImportExternalMemory(CUexternalMemory *memory,
				const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	return WHOLE_CALL(import_external(memory, desc), "extMem_out=%p, memHandleDesc=%p",
			  (void *)memory, (const void *)desc);
}

static CUresult check_external(CUexternalMemory memory, uint32_t *handle)
{
	struct memcast_handle_info info = {};
	CUresult result = memory_handle_info((uintptr_t)memory, &info);

	if (result != CUDA_SUCCESS)
		return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_INVALID_HANDLE : result;
	if (info.out_type != MEMCAST_TYPE_MEMORY)
		return fail(CUDA_ERROR_INVALID_HANDLE, "it is a team");
	*handle = info.handle;
	return CUDA_SUCCESS;
}

static CUresult map_buffer(CUdeviceptr *address, CUexternalMemory memory,
			   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
	struct memcast_block_map arg = {};
	CUresult result;

	if (!address || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (desc->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
	if (result == CUDA_SUCCESS)
		result = context_heap(HEAP_OF_DEVICE, &arg.heap);
	if (result == CUDA_SUCCESS)
		result = check_external(memory, &arg.handle);
	if (result != CUDA_SUCCESS)
		return result;
	arg.offset = desc->offset;
	arg.bytes = desc->size;
	result = device_ioctl(MEMCAST_BLOCK_MAP, &arg);
	if (result == CUDA_SUCCESS)
		*address = arg.out_address;
	return result;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *address, CUexternalMemory memory,
					 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
	return CALL(map_buffer(address, memory, desc), "devPtr=%p, extMem=%p, bufferDesc=%p",
		    (void *)address, (void *)memory, (const void *)desc);
}

static CUresult destroy_external(CUexternalMemory memory)
{
	struct memcast_handle_release arg = {};
	CUresult result = check_external(memory, &arg.handle);

	return result == CUDA_SUCCESS ? device_ioctl(MEMCAST_HANDLE_RELEASE, &arg) : result;
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
	return CALL(destroy_external(memory), "extMem=%p", (void *)memory);
}
