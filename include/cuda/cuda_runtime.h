/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime API for programs that are not compiled by nvcc: all of cuda_runtime_api.h, and
 * for C++ the same functions with typed pointers. A program with kernels is compiled by nvcc, with
 * NVIDIA's header, or by clang with this one (clang/cuda.h).
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include <cuda_runtime_api.h>
#include <vector_functions.h>
#if defined(__clang__) && defined(__CUDA__)
#include <clang/cuda.h>
#endif

/* Values of the types that cudaMallocPitch() and similar functions use */
static inline struct cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t xsize,
							size_t ysize)
{
	struct cudaPitchedPtr made;

	made.ptr = pointer;
	made.pitch = pitch;
	made.xsize = xsize;
	made.ysize = ysize;
	return made;
}

static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
	struct cudaPos made;

	made.x = x;
	made.y = y;
	made.z = z;
	return made;
}

static inline struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
	struct cudaExtent made;

	made.width = width;
	made.height = height;
	made.depth = depth;
	return made;
}

#ifdef __cplusplus

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes)
{
	return cudaMalloc((void **)pointer, bytes);
}

template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes,
							    unsigned int flags = 0)
{
	return cudaHostAlloc((void **)pointer, bytes, flags);
}

template <class T> static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes,
							   unsigned int flags)
{
	return cudaHostAlloc((void **)pointer, bytes, flags);
}

template <class T> static inline cudaError_t
cudaMallocManaged(T **pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal)
{
	return cudaMallocManaged((void **)pointer, bytes, flags);
}

template <class T> static inline cudaError_t cudaHostGetDevicePointer(T **pointer, void *host,
								      unsigned int flags)
{
	return cudaHostGetDevicePointer((void **)pointer, host, flags);
}

template <class T> static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch,
							     size_t width, size_t height)
{
	return cudaMallocPitch((void **)pointer, pitch, width, height);
}

template <class T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes,
							     cudaStream_t stream)
{
	return cudaMallocAsync((void **)pointer, bytes, stream);
}

template <class T> static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes,
							     cudaMemPool_t pool,
							     cudaStream_t stream)
{
	return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}

template <class T> static inline cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t bytes,
								     cudaMemPool_t pool,
								     cudaStream_t stream)
{
	return cudaMallocFromPoolAsync((void **)pointer, bytes, pool, stream);
}

template <class T> static inline cudaError_t
cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T *kernel)
{
	return cudaFuncGetAttributes(attributes, (const void *)kernel);
}

template <class T> static inline cudaError_t
cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
	return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

template <class T> static inline cudaError_t
cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
	return cudaFuncSetCacheConfig((const void *)kernel, config);
}

template <class T> static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int block_size,
					      size_t dynamic_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel,
							     block_size, dynamic_bytes);
}

template <class T> static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *kernel, int block_size,
						       size_t dynamic_bytes, unsigned int flags)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		blocks, (const void *)kernel, block_size, dynamic_bytes, flags);
}

template <class T> static inline cudaError_t
cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
			    size_t shared_bytes = 0, cudaStream_t stream = 0)
{
	return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments,
					   shared_bytes, stream);
}

template <class T> static inline cudaError_t
cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
		 cudaStream_t stream = 0)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes,
				stream);
}

/**
 * cudaOccupancyMaxPotentialBlockSizeVariableSMem() - a block's size that uses most threads
 * @grid_size: output: blocks that run at the same time
 * @block_size: output: threads of a block, the largest of the sizes that are best
 * @kernel: its function
 * @dynamic_bytes: function of a block's size: the dynamic shared memory that it needs
 * @limit: the largest size that the caller can use; 0: the kernel's limit
 *
 * Errors: cudaErrorInvalidValue; those of cudaFuncGetAttributes().
 */
template <class F, class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T *kernel,
					       F dynamic_bytes, int limit = 0)
{
	struct cudaFuncAttributes attributes;
	int device, processors, warp, best = 0, size, blocks;
	cudaError_t error;

	if (!grid_size || !block_size || !kernel)
		return cudaErrorInvalidValue;
	error = cudaFuncGetAttributes(&attributes, kernel);
	if (error == cudaSuccess)
		error = cudaGetDevice(&device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
	if (error != cudaSuccess)
		return error;
	if (!limit || limit > attributes.maxThreadsPerBlock)
		limit = attributes.maxThreadsPerBlock;
	*grid_size = *block_size = 0;
	/* the largest size first, then whole warps */
	for (size = limit; size > 0; size = (size - 1) / warp * warp) {
		error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, size,
								      dynamic_bytes(size));
		if (error != cudaSuccess)
			return error;
		if (blocks * size <= best)
			continue;
		best = blocks * size;
		*block_size = size;
		*grid_size = blocks * processors;
	}
	return cudaSuccess;
}

/* The same with an equal size of dynamic shared memory for all blocks */
template <class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, T *kernel,
				   size_t dynamic_bytes = 0, int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
		grid_size, block_size, kernel, [dynamic_bytes](int) { return dynamic_bytes; },
		limit);
}

/* Variables of device code (__device__, __constant__) by their names */
template <class T> static inline cudaError_t
cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
		   enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}

template <class T> static inline cudaError_t
cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
		     enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}

template <class T> static inline cudaError_t
cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
			enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
	return cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}

template <class T> static inline cudaError_t
cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
			  enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
	return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}

template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol)
{
	return cudaGetSymbolAddress(pointer, (const void *)&symbol);
}

template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
	return cudaGetSymbolSize(bytes, (const void *)&symbol);
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
	return cudaEventCreateWithFlags(event, flags);
}

#endif /* __cplusplus */

#endif /* __CUDA_RUNTIME_H__ */
