// SPDX-License-Identifier: MIT
/* Nodes of graphs. The driver gets NULL as the context of copies and fills: the current one. */
#include "../memory/copy.h"

SAME_LAYOUT(struct cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS);
SAME_LAYOUT(struct cudaHostNodeParams, CUDA_HOST_NODE_PARAMS);
SAME_LAYOUT(struct cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *dependencies, size_t count,
				   const struct cudaMemcpy3DParms *params)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_3d("cudaGraphAddMemcpyNode", &copy, params) ?:
		    error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *dependencies, size_t count,
				     void *to, const void *from, size_t bytes,
				     enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_1d_as_3d("cudaGraphAddMemcpyNode1D", &copy, to, from, bytes, kind) ?:
		    error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)));
}

static cudaError_t memcpy_params(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
	CUDA_MEMCPY3D copy;
	cudaError_t error;

	if (!params)
		return refuse("cudaGraphMemcpyNodeGetParams", cudaErrorInvalidValue, "NULL output");
	error = error_of(cuGraphMemcpyNodeGetParams(node, &copy));
	if (error == cudaSuccess)
		params_of_copy_3d(params, &copy);
	return error;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
	return CALL(memcpy_params(node, params));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
					 const struct cudaMemcpy3DParms *params)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_3d("cudaGraphMemcpyNodeSetParams", &copy, params) ?:
		    error_of(cuGraphMemcpyNodeSetParams(node, &copy)));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
					   size_t bytes, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_1d_as_3d("cudaGraphMemcpyNodeSetParams1D", &copy, to, from, bytes, kind) ?:
		    error_of(cuGraphMemcpyNodeSetParams(node, &copy)));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node,
					     const struct cudaMemcpy3DParms *params)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_3d("cudaGraphExecMemcpyNodeSetParams", &copy, params) ?:
		    error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t instance, cudaGraphNode_t node,
					       void *to, const void *from, size_t bytes,
					       enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D copy;

	return CALL(copy_1d_as_3d("cudaGraphExecMemcpyNodeSetParams1D", &copy, to, from, bytes,
				  kind) ?:
		    error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *dependencies, size_t count,
				   const struct cudaMemsetParams *params)
{
	return DRIVER(cuGraphAddMemsetNode(node, graph, dependencies, count,
					   (const CUDA_MEMSET_NODE_PARAMS *)params, NULL));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
	return DRIVER(cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)params));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
					 const struct cudaMemsetParams *params)
{
	return DRIVER(cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)params));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node,
					     const struct cudaMemsetParams *params)
{
	return DRIVER(cuGraphExecMemsetNodeSetParams(instance, node,
						     (const CUDA_MEMSET_NODE_PARAMS *)params,
						     NULL));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *dependencies, size_t count,
				 const struct cudaHostNodeParams *params)
{
	return DRIVER(cuGraphAddHostNode(node, graph, dependencies, count,
					 (const CUDA_HOST_NODE_PARAMS *)params));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params)
{
	return DRIVER(cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)params));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
				       const struct cudaHostNodeParams *params)
{
	return DRIVER(cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node,
					   const struct cudaHostNodeParams *params)
{
	return DRIVER(cuGraphExecHostNodeSetParams(instance, node,
						   (const CUDA_HOST_NODE_PARAMS *)params));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *dependencies, size_t count,
				       cudaGraph_t child)
{
	return DRIVER(cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
	return DRIVER(cuGraphChildGraphNodeGetGraph(node, graph));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t instance, cudaGraphNode_t node,
						 cudaGraph_t child)
{
	return DRIVER(cuGraphExecChildGraphNodeSetParams(instance, node, child));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				  const cudaGraphNode_t *dependencies, size_t count)
{
	return DRIVER(cuGraphAddEmptyNode(node, graph, dependencies, count));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
					const cudaGraphNode_t *dependencies, size_t count,
					cudaEvent_t event)
{
	return DRIVER(cuGraphAddEventRecordNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
	return DRIVER(cuGraphEventRecordNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
	return DRIVER(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t instance, cudaGraphNode_t node,
						 cudaEvent_t event)
{
	return DRIVER(cuGraphExecEventRecordNodeSetEvent(instance, node, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
				      const cudaGraphNode_t *dependencies, size_t count,
				      cudaEvent_t event)
{
	return DRIVER(cuGraphAddEventWaitNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
	return DRIVER(cuGraphEventWaitNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
	return DRIVER(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t instance, cudaGraphNode_t node,
					       cudaEvent_t event)
{
	return DRIVER(cuGraphExecEventWaitNodeSetEvent(instance, node, event));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *dependencies, size_t count,
				     struct cudaMemAllocNodeParams *params)
{
	return DRIVER(cuGraphAddMemAllocNode(node, graph, dependencies, count,
					     (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
					   struct cudaMemAllocNodeParams *params)
{
	return DRIVER(cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
				    const cudaGraphNode_t *dependencies, size_t count,
				    void *pointer)
{
	return DRIVER(cuGraphAddMemFreeNode(node, graph, dependencies, count, address(pointer)));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
	return DRIVER(cuGraphMemFreeNodeGetParams(node, pointer));
}
