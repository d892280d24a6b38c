// SPDX-License-Identifier: MIT
/* Device memory and host memory. Size 0 gives NULL, as recorded on hardware. */
#include "runtime.h"

static cudaError_t device_alloc(const char *call, void **pointer, size_t bytes)
{
	CUdeviceptr made = 0;
	cudaError_t error;

	if (!pointer)
		return refuse(call, cudaErrorInvalidValue, "NULL output");
	error = bytes ? error_of(cuMemAlloc(&made, bytes)) : cudaSuccess;
	if (error == cudaSuccess)
		*pointer = (void *)(uintptr_t)made;
	return error;
}

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
	return CALL(device_alloc("cudaMalloc", pointer, bytes));
}

/* Allocates rows. The driver derives the pitch from the widest access: 4 bytes. */
static cudaError_t pitched_alloc(const char *call, void **pointer, size_t *pitch, size_t width,
				 size_t height)
{
	CUdeviceptr made = 0;
	size_t apart = 0;
	cudaError_t error = cudaSuccess;

	if (!pointer || !pitch)
		return refuse(call, cudaErrorInvalidValue, "NULL output");
	if (width && height)
		error = error_of(cuMemAllocPitch(&made, &apart, width, height, 4));
	if (error == cudaSuccess) {
		*pointer = (void *)(uintptr_t)made;
		*pitch = apart;
	}
	return error;
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	return CALL(pitched_alloc("cudaMallocPitch", pointer, pitch, width, height));
}

DEFINE_CALL(cudaMalloc3D, (struct cudaPitchedPtr *made, struct cudaExtent extent), made, extent)
{
	cudaError_t error;
	size_t rows, pitch;
	void *pointer;

	if (!made)
		return refuse("cudaMalloc3D", cudaErrorInvalidValue, "NULL output");
	if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
		return refuse("cudaMalloc3D", cudaErrorInvalidValue, "%zu rows in %zu layers",
			      extent.height, extent.depth);
	error = pitched_alloc("cudaMalloc3D", &pointer, &pitch, extent.width, rows);
	if (error == cudaSuccess)
		*made = (struct cudaPitchedPtr) { pointer, pitch, extent.width, extent.height };
	return error;
}

cudaError_t cudaFree(void *pointer)
{
	return CALL(pointer ? error_of(cuMemFree(address(pointer))) : cudaSuccess);
}

static cudaError_t host_alloc(const char *call, void **pointer, size_t bytes, unsigned int flags)
{
	void *made = NULL;
	cudaError_t error = cudaSuccess;

	if (!pointer)
		return refuse(call, cudaErrorInvalidValue, "NULL output");
	if (bytes)
		error = error_of(cuMemHostAlloc(&made, bytes, flags));
	if (error == cudaSuccess)
		*pointer = made;
	return error;
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
	return CALL(host_alloc("cudaHostAlloc", pointer, bytes, flags));
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
	return CALL(host_alloc("cudaMallocHost", pointer, bytes, 0));
}

cudaError_t cudaFreeHost(void *pointer)
{
	return CALL(pointer ? error_of(cuMemFreeHost(pointer)) : cudaSuccess);
}

FORWARD(cudaHostRegister, (void *pointer, size_t bytes, unsigned int flags),
	cuMemHostRegister(pointer, bytes, flags))
FORWARD(cudaHostUnregister, (void *pointer), cuMemHostUnregister(pointer))
FORWARD(cudaHostGetDevicePointer, (void **pointer, void *host, unsigned int flags),
	cuMemHostGetDevicePointer((CUdeviceptr *)pointer, host, flags))
FORWARD(cudaHostGetFlags, (unsigned int *flags, void *host), cuMemHostGetFlags(flags, host))

DEFINE_CALL(cudaMemGetInfo, (size_t *free, size_t *total), free, total)
{
	size_t has, all;
	cudaError_t error = error_of(cuMemGetInfo(&has, &all));

	if (error == cudaSuccess && free)
		*free = has;
	if (error == cudaSuccess && total)
		*total = all;
	return error;
}
