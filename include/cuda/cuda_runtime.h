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
cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t bytes = 0,
			 unsigned int flags = cudaMemAttachSingle)
{
	return cudaStreamAttachMemAsync(stream, (void *)pointer, bytes, flags);
}

/* Batches of typed pointers; one location or one set of attributes may stand for all of them. */
template <class T> static inline cudaError_t
cudaMemPrefetchBatchAsync(T **pointers, size_t *bytes, size_t count,
			  struct cudaMemLocation *places, size_t *firsts, size_t places_count,
			  unsigned long long flags, cudaStream_t stream)
{
	return cudaMemPrefetchBatchAsync((void **)pointers, bytes, count, places, firsts,
					 places_count, flags, stream);
}

template <class T> static inline cudaError_t
cudaMemPrefetchBatchAsync(T **pointers, size_t *bytes, size_t count, struct cudaMemLocation place,
			  unsigned long long flags, cudaStream_t stream)
{
	size_t first = 0;

	return cudaMemPrefetchBatchAsync((void **)pointers, bytes, count, &place, &first, 1, flags,
					 stream);
}

template <class T> static inline cudaError_t
cudaMemDiscardAndPrefetchBatchAsync(T **pointers, size_t *bytes, size_t count,
				    struct cudaMemLocation *places, size_t *firsts,
				    size_t places_count, unsigned long long flags,
				    cudaStream_t stream)
{
	return cudaMemDiscardAndPrefetchBatchAsync((void **)pointers, bytes, count, places, firsts,
						   places_count, flags, stream);
}

template <class T> static inline cudaError_t
cudaMemDiscardAndPrefetchBatchAsync(T **pointers, size_t *bytes, size_t count,
				    struct cudaMemLocation place, unsigned long long flags,
				    cudaStream_t stream)
{
	size_t first = 0;

	return cudaMemDiscardAndPrefetchBatchAsync((void **)pointers, bytes, count, &place, &first,
						   1, flags, stream);
}

template <class T, class U> static inline cudaError_t
cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *bytes, size_t count,
		     struct cudaMemcpyAttributes *attributes, size_t *firsts,
		     size_t attributes_count, cudaStream_t stream)
{
	return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, bytes, count,
				    attributes, firsts, attributes_count, stream);
}

template <class T, class U> static inline cudaError_t
cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *bytes, size_t count,
		     struct cudaMemcpyAttributes attributes, cudaStream_t stream)
{
	size_t first = 0;

	return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, bytes, count,
				    &attributes, &first, 1, stream);
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
cudaFuncSetSharedMemConfig(T *kernel, enum cudaSharedMemConfig config)
{
	return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}

template <class T> static inline cudaError_t cudaFuncGetName(const char **name, T *kernel)
{
	return cudaFuncGetName(name, (const void *)kernel);
}

template <class T> static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *handle, T *kernel)
{
	return cudaGetFuncBySymbol(handle, (const void *)kernel);
}

template <class T> static inline cudaError_t cudaGetKernel(cudaKernel_t *handle, T *kernel)
{
	return cudaGetKernel(handle, (const void *)kernel);
}

template <class T> static inline cudaError_t
cudaLibraryGetGlobal(T **pointer, size_t *bytes, cudaLibrary_t library, const char *name)
{
	return cudaLibraryGetGlobal((void **)pointer, bytes, library, name);
}

template <class T> static inline cudaError_t
cudaLibraryGetManaged(T **pointer, size_t *bytes, cudaLibrary_t library, const char *name)
{
	return cudaLibraryGetManaged((void **)pointer, bytes, library, name);
}

template <class T> static inline cudaError_t
cudaLibraryGetUnifiedFunction(T **pointer, cudaLibrary_t library, const char *name)
{
	return cudaLibraryGetUnifiedFunction((void **)pointer, library, name);
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
cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, T *kernel, int blocks, int block_size)
{
	return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void *)kernel, blocks,
							 block_size);
}

template <class T> static inline cudaError_t
cudaOccupancyMaxPotentialClusterSize(int *size, T *kernel, const cudaLaunchConfig_t *config)
{
	return cudaOccupancyMaxPotentialClusterSize(size, (const void *)kernel, config);
}

template <class T> static inline cudaError_t
cudaOccupancyMaxActiveClusters(int *clusters, T *kernel, const cudaLaunchConfig_t *config)
{
	return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, config);
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

/* Launches a kernel by its function, with arguments of types that convert to its parameters' */
template <class... Parameters, class... Arguments> static inline cudaError_t
cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
		   Arguments &&...arguments)
{
	return [&](Parameters... converted) {
		void *places[] = { (void *)&converted..., nullptr };

		return cudaLaunchKernelExC(config, (const void *)kernel, places);
	}(static_cast<Arguments &&>(arguments)...);
}

/* By its handle, which knows no types: the arguments are of exactly the parameters' */
template <class... Arguments> static inline cudaError_t
cudaLaunchKernelEx(const cudaLaunchConfig_t *config, cudaKernel_t kernel, Arguments &&...arguments)
{
	void *places[] = { (void *)&arguments..., nullptr };

	return cudaLaunchKernelExC(config, (const void *)kernel, places);
}

/* The object is deleted when no graph and no caller holds a reference any more. */
template <class T> static inline cudaError_t
cudaUserObjectCreate(cudaUserObject_t *handle, T *object, unsigned int references,
		     unsigned int flags)
{
	return cudaUserObjectCreate(handle, (void *)object,
				    [](void *data) { delete static_cast<T *>(data); }, references,
				    flags);
}

/**
 * cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags() - a block's size that uses most threads
 * @grid_size: output: blocks that run at the same time
 * @block_size: output: threads of a block, the largest of the sizes that are best
 * @kernel: its function
 * @dynamic_bytes: function of a block's size: the dynamic shared memory that it needs
 * @limit: the largest size that the caller can use; 0: the kernel's limit
 * @flags: of cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags()
 *
 * Errors: cudaErrorInvalidValue; those of cudaFuncGetAttributes().
 */
template <class F, class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid_size, int *block_size, T *kernel,
							F dynamic_bytes, int limit = 0,
							unsigned int flags = 0)
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
		error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
			&blocks, kernel, size, dynamic_bytes(size), flags);
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

template <class F, class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid_size, int *block_size, T *kernel,
					       F dynamic_bytes, int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
		grid_size, block_size, kernel, dynamic_bytes, limit);
}

/* The same with an equal size of dynamic shared memory for all blocks */
template <class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid_size, int *block_size, T *kernel,
					    size_t dynamic_bytes = 0, int limit = 0,
					    unsigned int flags = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
		grid_size, block_size, kernel, [dynamic_bytes](int) { return dynamic_bytes; },
		limit, flags);
}

template <class T> static inline cudaError_t
cudaOccupancyMaxPotentialBlockSize(int *grid_size, int *block_size, T *kernel,
				   size_t dynamic_bytes = 0, int limit = 0)
{
	return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid_size, block_size, kernel,
							   dynamic_bytes, limit);
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

template <class T> static inline cudaError_t
cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
			       const cudaGraphNode_t *after, size_t after_count, const T &symbol,
			       const void *from, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	return cudaGraphAddMemcpyNodeToSymbol(node, graph, after, after_count,
					      (const void *)&symbol, from, bytes, offset, kind);
}

template <class T> static inline cudaError_t
cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *after, size_t after_count, void *to,
				 const T &symbol, size_t bytes, size_t offset,
				 enum cudaMemcpyKind kind)
{
	return cudaGraphAddMemcpyNodeFromSymbol(node, graph, after, after_count, to,
						(const void *)&symbol, bytes, offset, kind);
}

template <class T> static inline cudaError_t
cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol, const void *from,
				     size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, from, bytes,
						    offset, kind);
}

template <class T> static inline cudaError_t
cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const T &symbol,
				       size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	return cudaGraphMemcpyNodeSetParamsFromSymbol(node, to, (const void *)&symbol, bytes,
						      offset, kind);
}

template <class T> static inline cudaError_t
cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t instance, cudaGraphNode_t node,
					 const T &symbol, const void *from, size_t bytes,
					 size_t offset, enum cudaMemcpyKind kind)
{
	return cudaGraphExecMemcpyNodeSetParamsToSymbol(instance, node, (const void *)&symbol, from,
							bytes, offset, kind);
}

template <class T> static inline cudaError_t
cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t instance, cudaGraphNode_t node, void *to,
					   const T &symbol, size_t bytes, size_t offset,
					   enum cudaMemcpyKind kind)
{
	return cudaGraphExecMemcpyNodeSetParamsFromSymbol(instance, node, to, (const void *)&symbol,
							  bytes, offset, kind);
}

/* As before CUDA 12: what an instantiation fails by is in the log, not in the buffer. */
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *instance, cudaGraph_t graph,
					       cudaGraphNode_t *, char *, size_t)
{
	return cudaGraphInstantiate(instance, graph, 0);
}

static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph,
					      cudaGraphNode_t *node,
					      enum cudaGraphExecUpdateResult *result)
{
	cudaGraphExecUpdateResultInfo info = {};
	cudaError_t error = cudaGraphExecUpdate(instance, graph, &info);

	if (node)
		*node = info.errorNode;
	if (result)
		*result = info.result;
	return error;
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
	return cudaEventCreateWithFlags(event, flags);
}

#endif /* __cplusplus */

#endif /* __CUDA_RUNTIME_H__ */
