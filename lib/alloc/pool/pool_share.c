// SPDX-License-Identifier: MIT
/* Pools that several processes share, and pointers into them. */
#include <fcntl.h>
#include <string.h>

#include "base/ioctl.h"
#include "memory/handle.h"
#include "pool.h"
#include "stream/stream.h"

/* The content of a CUmemPoolPtrExportData */
struct shared_pointer {
	char kind[8];
	uint64_t object;
	uint64_t offset;
	uint64_t bytes;
	uint64_t zero[4];
};

_Static_assert(sizeof(struct shared_pointer) == sizeof(CUmemPoolPtrExportData),
	       "it has the size that the interface gives it");

static const char kind[8] = "memcast";

static CUresult check_type(CUmemAllocationHandleType type, unsigned long long flags,
			   uint32_t *mask)
{
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (type == CU_MEM_HANDLE_TYPE_FABRIC)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "pools are shared as fds only");
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return fail(CUDA_ERROR_INVALID_VALUE, "pools are shared as fds only");
	*mask = MEMCAST_HANDLE_FD;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemPoolExportToShareableHandle, (void *handle, CUmemoryPool pool,
					       CUmemAllocationHandleType type,
					       unsigned long long flags),
	    handle, pool, type, flags)
{
	struct memcast_heap_export arg = {};
	struct memcast_heap_info info = {};
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_type(type, flags, &arg.handle_type);
	if (result == CUDA_SUCCESS)
		result = pool_info(pool, &info);
	arg.heap = info.heap;
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HEAP_EXPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	/* a child that executes another program inherits the fd: programs rely on that */
	fcntl(arg.out_fd, F_SETFD, 0);
	memcpy(handle, &arg.out_fd, sizeof(arg.out_fd));
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemPoolImportFromShareableHandle, (CUmemoryPool *pool, void *handle,
						 CUmemAllocationHandleType type,
						 unsigned long long flags),
	    pool, handle, type, flags)
{
	struct memcast_heap_import arg = {};
	CUresult result;

	if (!pool)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_type(type, flags, &arg.handle_type);
	if (result == CUDA_SUCCESS)
		result = memory_fd(handle, &arg.fd);
	if (result != CUDA_SUCCESS)
		return result;
	result = device_ioctl(MEMCAST_HEAP_IMPORT, &arg);
	if (result == CUDA_SUCCESS)
		*pool = (CUmemoryPool)(uintptr_t)arg.out_heap;
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_UNKNOWN : result;
}

DEFINE_CALL(cuMemPoolExportPointer, (CUmemPoolPtrExportData *data, CUdeviceptr address),
	    data, address)
{
	struct memcast_block_export arg = { .address = address };
	struct shared_pointer pointer = {};
	CUresult result;

	if (!data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = device_ioctl(MEMCAST_BLOCK_EXPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(pointer.kind, kind, sizeof(kind));
	pointer.object = arg.out_object;
	pointer.offset = arg.out_offset;
	pointer.bytes = arg.out_bytes;
	memcpy(data, &pointer, sizeof(pointer));
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemPoolImportPointer, (CUdeviceptr *address, CUmemoryPool pool,
				     CUmemPoolPtrExportData *data),
	    address, pool, data)
{
	struct memcast_block_import arg = {};
	struct memcast_heap_info info = {};
	struct shared_pointer pointer;
	CUresult result;

	if (!address || !data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = pool_info(pool, &info);
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(&pointer, data, sizeof(pointer));
	if (memcmp(pointer.kind, kind, sizeof(kind)))
		return fail(CUDA_ERROR_INVALID_VALUE, "not what cuMemPoolExportPointer() said");
	arg.heap = info.heap;
	arg.object = pointer.object;
	arg.offset = pointer.offset;
	arg.bytes = pointer.bytes;
	result = device_ioctl(MEMCAST_BLOCK_IMPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	memops_pools_used(pool_has);
	*address = arg.out_address;
	return CUDA_SUCCESS;
}
