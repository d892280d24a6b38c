// SPDX-License-Identifier: MIT
/*
 * How many blocks of a kernel fit a multiprocessor at once: by the device's limits and what is
 * known of the kernel (registers, where the driver has loaded it).
 */
#include "kernel.h"

static cudaError_t attribute(int *value, CUdevice_attribute which)
{
	CUdevice device;
	cudaError_t error = error_of(cuCtxGetDevice(&device));

	return error == cudaSuccess ? error_of(cuDeviceGetAttribute(value, which, device)) : error;
}

/* What a device has of something, and how much of it a block takes */
static cudaError_t limit(int *blocks, CUdevice_attribute which, size_t of_a_block)
{
	int has = 0;
	cudaError_t error = attribute(&has, which);

	if (error == cudaSuccess && of_a_block && has / of_a_block < (size_t)*blocks)
		*blocks = has / of_a_block;
	return error;
}

static cudaError_t blocks_that_fit(const char *call, int *blocks, const void *stub,
				   int block_size, size_t dynamic_bytes, unsigned int flags)
{
	struct cudaFuncAttributes kernel;
	int most = 0, warp = 0, reserved = 0;
	cudaError_t error;

	if (!blocks || block_size <= 0 ||
	    flags & ~(unsigned int)cudaOccupancyDisableCachingOverride)
		return refuse(call, cudaErrorInvalidValue,
			      "NULL output, %d threads or flags %#x", block_size, flags);
	error = cudaFuncGetAttributes(&kernel, stub) ?:
		attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) ?:
		attribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE) ?:
		attribute(&reserved, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
	if (error != cudaSuccess)
		return error;
	block_size = (block_size + warp - 1) / warp * warp;
	if (block_size > kernel.maxThreadsPerBlock)
		most = 0;
	error = limit(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, block_size) ?:
		limit(&most, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
		      (size_t)kernel.numRegs * block_size) ?:
		limit(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
		      kernel.sharedSizeBytes + dynamic_bytes + reserved);
	if (error == cudaSuccess)
		*blocks = most;
	return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
							  int block_size, size_t dynamic_bytes)
{
	return CALL(blocks_that_fit("cudaOccupancyMaxActiveBlocksPerMultiprocessor", blocks, stub,
				    block_size, dynamic_bytes, 0));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
								   int block_size,
								   size_t dynamic_bytes,
								   unsigned int flags)
{
	return CALL(blocks_that_fit("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
				    blocks, stub, block_size, dynamic_bytes, flags));
}
