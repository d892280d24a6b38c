/* SPDX-License-Identifier: MIT */
/*
 * The CUDA runtime API as programs that are not compiled by nvcc include it: all of
 * cuda_runtime_api.h, and for C++ the same functions with typed pointers. With kernels in
 * it, a program is compiled by nvcc, with NVIDIA's header.
 */
/* The guard of NVIDIA's header of this name: whichever comes first serves both. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include <cuda_runtime_api.h>

/* What cudaMallocPitch() and its like are about */
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
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int block_size,
					      size_t dynamic_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel,
							     block_size, dynamic_bytes);
}

template <class T> static inline cudaError_t
cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
		 cudaStream_t stream = 0)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes,
				stream);
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
	return cudaEventCreateWithFlags(event, flags);
}

#endif /* __cplusplus */

#endif /* __CUDA_RUNTIME_H__ */
