// SPDX-License-Identifier: MIT
/*
 * External memory: an opaque fd comes from cuMemExportToShareableHandle(), a dma-buf from any
 * driver. In the kernel both are memories; a CUexternalMemory is the number of a handle, and a
 * mapped buffer a block.
 */
#include <unistd.h>

#include "memory/handle.h"
#include "alloc.h"
#include "base/ioctl.h"

static CUresult check_reserved(const unsigned int *reserved, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved fields must be 0");
	return CUDA_SUCCESS;
}

static CUresult external_release(uint32_t handle)
{
	struct memcast_handle_release arg = { .handle = handle };

	return device_ioctl(MEMCAST_HANDLE_RELEASE, &arg);
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
		return fail(CUDA_ERROR_NOT_SUPPORTED, "only fds are supported");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "there are no handles of type %d",
			    (int)desc->type);
	}
	if (!desc->size)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	return check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
}

/*
 * Imports memory that memcast exported. The program's size may be larger than the memory: it is
 * ignored.
 */
static CUresult import_opaque(CUexternalMemory *memory,
			      const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	struct memcast_import arg = {
		.handle_type = MEMCAST_HANDLE_FD,
		.fd = desc->handle.fd,
	};
	struct memcast_handle_info info = {};
	CUresult result = device_ioctl(MEMCAST_IMPORT, &arg);

	if (result != CUDA_SUCCESS)
		return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_UNKNOWN : result;
	result = memory_handle_info(arg.out_handle, &info);
	if (result == CUDA_SUCCESS && info.out_type != MEMCAST_TYPE_MEMORY)
		result = fail(CUDA_ERROR_UNKNOWN, "the fd is of a team");
	if (result != CUDA_SUCCESS) {
		external_release(arg.out_handle);
		return result;
	}
	close(desc->handle.fd);
	*memory = (CUexternalMemory)(uintptr_t)arg.out_handle;
	return CUDA_SUCCESS;
}

/* Imports a dma-buf. Hardware, as recorded, supports none: the errors are NOT_SUPPORTED. */
static CUresult import_dma_buf(CUexternalMemory *memory,
			       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, uint32_t device)
{
	struct memcast_import arg = {
		.handle_type = MEMCAST_HANDLE_FD,
		.fd = desc->handle.fd,
		.flags = MEMCAST_IMPORT_FOREIGN,
		.device = device,
		.bytes = desc->size,
	};
	CUresult result;

	if (desc->handle.fd < 0)
		return fail(CUDA_ERROR_INVALID_VALUE, "%d is no fd", desc->handle.fd);
	result = device_ioctl(MEMCAST_IMPORT, &arg);
	/* CUDA's documentation does not say that the driver takes over the fd */
	if (result == CUDA_SUCCESS)
		*memory = (CUexternalMemory)(uintptr_t)arg.out_handle;
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_SUPPORTED : result;
}

DEFINE_WHOLE_CALL(cuImportExternalMemory, (CUexternalMemory *memory,
					   const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc),
		  memory, desc)
{
	CUresult result;
	uint32_t device;

	if (!memory || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_desc(desc);
	if (result == CUDA_SUCCESS)
		result = context_device(&device);
	if (result != CUDA_SUCCESS)
		return result;
	return desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ?
		import_opaque(memory, desc) : import_dma_buf(memory, desc, device);
}

static CUresult check_external(CUexternalMemory memory, uint32_t *handle)
{
	struct memcast_handle_info info = {};
	CUresult result;

	if (!memory)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL external memory");
	result = memory_handle_info((uintptr_t)memory, &info);
	if (result != CUDA_SUCCESS)
		return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_INVALID_HANDLE : result;
	if (info.out_type != MEMCAST_TYPE_MEMORY)
		return fail(CUDA_ERROR_INVALID_HANDLE, "it is a team");
	*handle = info.handle;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuExternalMemoryGetMappedBuffer, (CUdeviceptr *address, CUexternalMemory memory,
					      const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc),
	    address, memory, desc)
{
	struct memcast_block_map arg = {};
	CUresult result;

	if (!address || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (desc->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
	if (result == CUDA_SUCCESS)
		result = check_external(memory, &arg.handle);
	if (result == CUDA_SUCCESS)
		result = context_heap(HEAP_OF_DEVICE, &arg.heap, &arg.flags);
	if (result != CUDA_SUCCESS)
		return result;
	arg.offset = desc->offset;
	arg.bytes = desc->size;
	result = device_ioctl(MEMCAST_BLOCK_MAP, &arg);
	if (result == CUDA_SUCCESS)
		*address = arg.out_address;
	return result;
}

DEFINE_CALL(cuDestroyExternalMemory, (CUexternalMemory memory), memory)
{
	uint32_t handle;
	CUresult result = check_external(memory, &handle);

	return result == CUDA_SUCCESS ? external_release(handle) : result;
}
