// SPDX-License-Identifier: MIT
/* Ranges of addresses as dma-bufs. */
#include <string.h>

#include "library.h"

static CUresult export_range(void *handle, CUdeviceptr address, size_t size,
			     CUmemRangeHandleType type, unsigned long long flags)
{
	struct memcast_export_range arg = { .address = address, .bytes = size };
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown handle type %d", type);
	if (flags == CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "there is no PCIe to map it for");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	result = device_ioctl(MEMCAST_EXPORT_RANGE, &arg);
	if (result == CUDA_SUCCESS)
		memcpy(handle, &arg.out_fd, sizeof(arg.out_fd));
	return result;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
				       CUmemRangeHandleType handleType,
				       unsigned long long flags)
{
	return CALL(export_range(handle, dptr, size, handleType, flags),
		    "handle=%p, dptr=%#llx, size=%zu, handleType=%d, flags=%#llx",
		    handle, dptr, size, handleType, flags);
}
