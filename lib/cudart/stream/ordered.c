// SPDX-License-Identifier: MIT
/* Calls with a stream, except copies. Compiled twice: per_thread.c. */
#include "runtime.h"

SAME_LAYOUT(cudaGraphEdgeData, CUgraphEdgeData);
SAME_LAYOUT(cudaGraphInstantiateParams, CUDA_GRAPH_INSTANTIATE_PARAMS);

FORWARD(cudaStreamGetPriority, (cudaStream_t stream, int *priority),
	cuStreamGetPriority(stream, priority))
FORWARD(cudaStreamGetFlags, (cudaStream_t stream, unsigned int *flags),
	cuStreamGetFlags(stream, flags))
FORWARD(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), cuStreamGetId(stream, id))
FORWARD(cudaStreamGetDevice, (cudaStream_t stream, int *device), cuStreamGetDevice(stream, device))
FORWARD(cudaStreamSetAttribute, (cudaStream_t stream, cudaLaunchAttributeID attribute,
				 const cudaLaunchAttributeValue *value),
	cuStreamSetAttribute(stream, (CUstreamAttrID)attribute, (const CUstreamAttrValue *)value))
FORWARD(cudaStreamGetAttribute, (cudaStream_t stream, cudaLaunchAttributeID attribute,
				 cudaLaunchAttributeValue *value),
	cuStreamGetAttribute(stream, (CUstreamAttrID)attribute, (CUstreamAttrValue *)value))
FORWARD(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from),
	cuStreamCopyAttributes(to, from))
FORWARD(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery(stream))
FORWARD(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize(stream))
FORWARD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	cuStreamWaitEvent(stream, event, flags))
FORWARD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data),
	cuLaunchHostFunc(stream, function, data))

/* The errors in callbacks have the numbers of the driver's results. */
FORWARD(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t callback, void *data,
				unsigned int flags),
	cuStreamAddCallback(stream, (CUstreamCallback)callback, data, flags))
FORWARD(cudaStreamAttachMemAsync, (cudaStream_t stream, void *pointer, size_t bytes,
				   unsigned int flags),
	cuStreamAttachMemAsync(stream, address(pointer), bytes, flags))
FORWARD(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), cuEventRecord(event, stream))
FORWARD(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
	cuEventRecordWithFlags(event, stream, flags))

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

FORWARD(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode))
FORWARD(cudaStreamBeginCaptureToGraph, (cudaStream_t stream, cudaGraph_t graph,
					const cudaGraphNode_t *dependencies,
					const cudaGraphEdgeData *edges, size_t count,
					enum cudaStreamCaptureMode mode),
	cuStreamBeginCaptureToGraph(stream, graph, dependencies, (const CUgraphEdgeData *)edges,
				    count, (CUstreamCaptureMode)mode))
FORWARD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph),
	cuStreamEndCapture(stream, graph))
FORWARD(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
	cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status))
FORWARD(cudaStreamGetCaptureInfo, (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
				   unsigned long long *id, cudaGraph_t *graph,
				   const cudaGraphNode_t **dependencies,
				   const cudaGraphEdgeData **edges, size_t *count),
	cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph,
			       dependencies, (const CUgraphEdgeData **)edges, count))
FORWARD(cudaStreamUpdateCaptureDependencies, (cudaStream_t stream, cudaGraphNode_t *dependencies,
					      const cudaGraphEdgeData *edges, size_t count,
					      unsigned int flags),
	cuStreamUpdateCaptureDependencies(stream, dependencies, (const CUgraphEdgeData *)edges,
					  count, flags))

/* Graphs */

FORWARD(cudaGraphInstantiateWithParams, (cudaGraphExec_t *instance, cudaGraph_t graph,
					 cudaGraphInstantiateParams *params),
	cuGraphInstantiateWithParams(instance, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params))
FORWARD(cudaGraphLaunch, (cudaGraphExec_t instance, cudaStream_t stream),
	cuGraphLaunch(instance, stream))
FORWARD(cudaGraphUpload, (cudaGraphExec_t instance, cudaStream_t stream),
	cuGraphUpload(instance, stream))

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
