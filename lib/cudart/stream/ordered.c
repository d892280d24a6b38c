// SPDX-License-Identifier: MIT
/* Calls with a stream, except copies. Compiled twice: per_thread.c. */
#include "runtime.h"

SAME_LAYOUT(cudaGraphEdgeData, CUgraphEdgeData);
SAME_LAYOUT(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	return DRIVER(cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
	return DRIVER(cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
	return DRIVER(cuStreamGetId(stream, id));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
	return DRIVER(cuStreamGetDevice(stream, device));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	return DRIVER(cuStreamQuery(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	return DRIVER(cuStreamSynchronize(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	return DRIVER(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	return DRIVER(cuLaunchHostFunc(stream, function, data));
}

/* The errors in callbacks have the numbers of the driver's results. */
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
				  unsigned int flags)
{
	return DRIVER(cuStreamAddCallback(stream, (CUstreamCallback)callback, data, flags));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
				     unsigned int flags)
{
	return DRIVER(cuStreamAttachMemAsync(stream, address(pointer), bytes, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return DRIVER(cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	return DRIVER(cuEventRecordWithFlags(event, stream, flags));
}

/* Memory: size 0 gives NULL, as with cudaMalloc() */

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
	if (pointer && !bytes)
		return CALL((*pointer = NULL, cudaSuccess));
	return DRIVER(cuMemAllocAsync((CUdeviceptr *)pointer, bytes, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
				    cudaStream_t stream)
{
	if (pointer && !bytes)
		return CALL((*pointer = NULL, cudaSuccess));
	return DRIVER(cuMemAllocFromPoolAsync((CUdeviceptr *)pointer, bytes, pool, stream));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	return CALL(pointer ? error_of(cuMemFreeAsync(address(pointer), stream)) : cudaSuccess);
}

/* Capture */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	return DRIVER(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
					  const cudaGraphNode_t *dependencies,
					  const cudaGraphEdgeData *edges, size_t count,
					  enum cudaStreamCaptureMode mode)
{
	return DRIVER(cuStreamBeginCaptureToGraph(stream, graph, dependencies,
						  (const CUgraphEdgeData *)edges, count,
						  (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	return DRIVER(cuStreamEndCapture(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	return DRIVER(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **dependencies,
				     const cudaGraphEdgeData **edges, size_t *count)
{
	return DRIVER(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
					     (cuuint64_t *)id, graph, dependencies,
					     (const CUgraphEdgeData **)edges, count));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
						cudaGraphNode_t *dependencies,
						const cudaGraphEdgeData *edges, size_t count,
						unsigned int flags)
{
	return DRIVER(cuStreamUpdateCaptureDependencies(stream, dependencies,
							(const CUgraphEdgeData *)edges, count,
							flags));
}

/* Graphs */

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *instance, cudaGraph_t graph,
					   cudaGraphInstantiateParams *params)
{
	return DRIVER(cuGraphInstantiateWithParams(instance, graph,
						   (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t instance, cudaStream_t stream)
{
	return DRIVER(cuGraphLaunch(instance, stream));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t instance, cudaStream_t stream)
{
	return DRIVER(cuGraphUpload(instance, stream));
}

/* The driver's functions; the default here are those for per-thread streams */

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
					     unsigned int version, unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
	if (flags == cudaEnableDefault)
		flags = cudaEnablePerThreadDefaultStream;
#endif
	return DRIVER_LOADED(cuGetProcAddress(symbol, function, version, flags,
					      (CUdriverProcAddressQueryResult *)status));
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
				    unsigned long long flags,
				    enum cudaDriverEntryPointQueryResult *status)
{
	return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
