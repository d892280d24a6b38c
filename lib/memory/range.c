// SPDX-License-Identifier: MIT
/* Ranges of addresses as dma-bufs, and what other drivers' devices write there. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "context/context.h"
#include "base/ioctl.h"
#include "base/visible.h"

/* Other drivers can reach only memory of devices. */
static CUresult range_check_place(CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };
	CUresult result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);

	/* memory of an invisible device is good; the kernel refuses another host's */
	if (result == CUDA_SUCCESS && info.out_location != MEMCAST_LOCATION_DEVICE &&
	    !(visible_set && info.out_location == MEMCAST_LOCATION_ELSEWHERE))
		result = fail(CUDA_ERROR_INVALID_VALUE, "no device's memory is mapped there");
	return result;
}

static CUresult export_range(void *handle, CUdeviceptr address, size_t size,
			     CUmemRangeHandleType type, unsigned long long flags)
{
	struct memcast_export_range arg = { .address = address, .bytes = size };
	uint32_t device;
	CUresult result;
	uint64_t end;
	int fd = -1;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_device(&device);
	if (result != CUDA_SUCCESS)
		return result;
	if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown handle type %d", type);
	if (!address || !size || (address | size) % sysconf(_SC_PAGESIZE) ||
	    __builtin_add_overflow(address, size, &end))
		return fail(CUDA_ERROR_INVALID_VALUE, "not a range of whole pages");
	if (flags && !(flags & CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE))
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	/* from here on a failure is in the output, too */
	memcpy(handle, &fd, sizeof(fd));
	if (flags)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "there is no PCIe to map it for");
	result = range_check_place(address);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_EXPORT_RANGE, &arg);
	if (result == CUDA_SUCCESS)
		memcpy(handle, &arg.out_fd, sizeof(arg.out_fd));
	return result;
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
				       CUmemRangeHandleType handleType,
				       unsigned long long flags)
{
	CUresult ready = library_ready();

	/* only an initialised library could support a range */
	if (ready == CUDA_ERROR_NOT_INITIALIZED)
		ready = CUDA_ERROR_NOT_SUPPORTED;
	return LOGGED(ready == CUDA_SUCCESS ?
		      export_range(handle, dptr, size, handleType, flags) : ready,
		      handle, dptr, size, handleType, flags);
}

DEFINE_CALL(cuFlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget target,
					 CUflushGPUDirectRDMAWritesScope scope),
	    target, scope)
{
	uint32_t device;
	CUresult result = context_device(&device);

	if (result != CUDA_SUCCESS)
		return result;
	if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no target %d", (int)target);
	if (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
	    scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES)
		return fail(CUDA_ERROR_INVALID_VALUE, "no scope %d", (int)scope);
	/* the writes are in memory already: this keeps later loads behind the call */
	atomic_thread_fence(memory_order_seq_cst);
	return CUDA_SUCCESS;
}
