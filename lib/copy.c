// SPDX-License-Identifier: MIT
/* Copies and fills: the kernel's copy engine does them. */
#include "library.h"

static CUresult copy(uintptr_t to, uintptr_t from, size_t bytes, uint32_t flags)
{
	struct memcast_copy arg = {
		.to = to,
		.from = from,
		.bytes = bytes,
		.flags = flags,
	};
	CUresult result = context_device(&arg.device);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_COPY, &arg);
	return result;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return CALL(copy(to, from, bytes, 0), "to=%#llx, from=%#llx, bytes=%zu",
		    to, from, bytes);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return CALL(copy(to, (uintptr_t)from, bytes, MEMCAST_COPY_TO_DEVICE),
		    "to=%#llx, from=%p, bytes=%zu", to, from, bytes);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return CALL(copy((uintptr_t)to, from, bytes, MEMCAST_COPY_FROM_DEVICE),
		    "to=%p, from=%#llx, bytes=%zu", to, from, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return CALL(copy(to, from, bytes, MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE),
		    "to=%#llx, from=%#llx, bytes=%zu", to, from, bytes);
}

static CUresult fill(CUdeviceptr to, uint32_t value, uint32_t width, size_t count)
{
	struct memcast_fill arg = {
		.to = to,
		.count = count,
		.width = width,
		.value = value,
	};
	CUresult result = context_device(&arg.device);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_FILL, &arg);
	return result;
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
	return CALL(fill(to, value, sizeof(value), count),
		    "to=%#llx, value=%#x, count=%zu", to, value, count);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
	return CALL(fill(to, value, sizeof(value), count),
		    "to=%#llx, value=%#x, count=%zu", to, value, count);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count)
{
	return CALL(fill(to, value, sizeof(value), count),
		    "to=%#llx, value=%#x, count=%zu", to, value, count);
}

/* The per-thread default stream: every copy is done when it returns, on any. */
CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
	__attribute__((alias("cuMemcpy")));
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
	__attribute__((alias("cuMemcpyHtoD_v2")));
CUresult cuMemcpyDtoH_v2_ptds(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
	__attribute__((alias("cuMemcpyDtoH_v2")));
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
	__attribute__((alias("cuMemcpyDtoD_v2")));
CUresult cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc, size_t N)
	__attribute__((alias("cuMemsetD8_v2")));
CUresult cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us, size_t N)
	__attribute__((alias("cuMemsetD16_v2")));
CUresult cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui, size_t N)
	__attribute__((alias("cuMemsetD32_v2")));
