// SPDX-License-Identifier: MIT
/* Nodes of graphs. The driver gets NULL as the context of copies and fills: the current one. */
#include "../memory/copy.h"

SAME_LAYOUT(struct cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS);
SAME_LAYOUT(struct cudaHostNodeParams, CUDA_HOST_NODE_PARAMS);
SAME_LAYOUT(struct cudaMemAllocNodeParams, CUDA_MEM_ALLOC_NODE_PARAMS);

FORWARD_WITH(cudaGraphAddMemcpyNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				      const cudaGraphNode_t *dependencies, size_t count,
				      const struct cudaMemcpy3DParms *params),
	     CUDA_MEMCPY3D copy,
	     copy_3d(__func__, &copy, params) ?:
	     error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)))
FORWARD_WITH(cudaGraphAddMemcpyNode1D, (cudaGraphNode_t *node, cudaGraph_t graph,
					const cudaGraphNode_t *dependencies, size_t count, void *to,
					const void *from, size_t bytes, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     copy_1d_as_3d(__func__, &copy, to, from, bytes, kind) ?:
	     error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, NULL)))

DEFINE_CALL(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node,
					   struct cudaMemcpy3DParms *params),
	    node, params)
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

FORWARD_WITH(cudaGraphMemcpyNodeSetParams, (cudaGraphNode_t node,
					    const struct cudaMemcpy3DParms *params),
	     CUDA_MEMCPY3D copy,
	     copy_3d(__func__, &copy, params) ?:
	     error_of(cuGraphMemcpyNodeSetParams(node, &copy)))
FORWARD_WITH(cudaGraphMemcpyNodeSetParams1D, (cudaGraphNode_t node, void *to, const void *from,
					      size_t bytes, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     copy_1d_as_3d(__func__, &copy, to, from, bytes, kind) ?:
	     error_of(cuGraphMemcpyNodeSetParams(node, &copy)))
FORWARD_WITH(cudaGraphExecMemcpyNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
						const struct cudaMemcpy3DParms *params),
	     CUDA_MEMCPY3D copy,
	     copy_3d(__func__, &copy, params) ?:
	     error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)))
FORWARD_WITH(cudaGraphExecMemcpyNodeSetParams1D, (cudaGraphExec_t instance, cudaGraphNode_t node,
						  void *to, const void *from, size_t bytes,
						  enum cudaMemcpyKind kind),
	     CUDA_MEMCPY3D copy,
	     copy_1d_as_3d(__func__, &copy, to, from, bytes, kind) ?:
	     error_of(cuGraphExecMemcpyNodeSetParams(instance, node, &copy, NULL)))
FORWARD(cudaGraphAddMemsetNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				 const cudaGraphNode_t *dependencies, size_t count,
				 const struct cudaMemsetParams *params),
	cuGraphAddMemsetNode(node, graph, dependencies, count,
			     (const CUDA_MEMSET_NODE_PARAMS *)params, NULL))
FORWARD(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *params),
	cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)params))
FORWARD(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *params),
	cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)params))
FORWARD(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
					   const struct cudaMemsetParams *params),
	cuGraphExecMemsetNodeSetParams(instance, node, (const CUDA_MEMSET_NODE_PARAMS *)params,
				       NULL))
FORWARD(cudaGraphAddHostNode, (cudaGraphNode_t *node, cudaGraph_t graph,
			       const cudaGraphNode_t *dependencies, size_t count,
			       const struct cudaHostNodeParams *params),
	cuGraphAddHostNode(node, graph, dependencies, count, (const CUDA_HOST_NODE_PARAMS *)params))
FORWARD(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *params),
	cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)params))
FORWARD(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *params),
	cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)params))
FORWARD(cudaGraphExecHostNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
					 const struct cudaHostNodeParams *params),
	cuGraphExecHostNodeSetParams(instance, node, (const CUDA_HOST_NODE_PARAMS *)params))
FORWARD(cudaGraphAddChildGraphNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *dependencies, size_t count,
				     cudaGraph_t child),
	cuGraphAddChildGraphNode(node, graph, dependencies, count, child))
FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph),
	cuGraphChildGraphNodeGetGraph(node, graph))
FORWARD(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
					       cudaGraph_t child),
	cuGraphExecChildGraphNodeSetParams(instance, node, child))
FORWARD(cudaGraphAddEmptyNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				const cudaGraphNode_t *dependencies, size_t count),
	cuGraphAddEmptyNode(node, graph, dependencies, count))
FORWARD(cudaGraphAddEventRecordNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				      const cudaGraphNode_t *dependencies, size_t count,
				      cudaEvent_t event),
	cuGraphAddEventRecordNode(node, graph, dependencies, count, event))
FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
	cuGraphEventRecordNodeGetEvent(node, event))
FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
	cuGraphEventRecordNodeSetEvent(node, event))
FORWARD(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t instance, cudaGraphNode_t node,
					       cudaEvent_t event),
	cuGraphExecEventRecordNodeSetEvent(instance, node, event))
FORWARD(cudaGraphAddEventWaitNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				    const cudaGraphNode_t *dependencies, size_t count,
				    cudaEvent_t event),
	cuGraphAddEventWaitNode(node, graph, dependencies, count, event))
FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
	cuGraphEventWaitNodeGetEvent(node, event))
FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
	cuGraphEventWaitNodeSetEvent(node, event))
FORWARD(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t instance, cudaGraphNode_t node,
					     cudaEvent_t event),
	cuGraphExecEventWaitNodeSetEvent(instance, node, event))
FORWARD(cudaGraphAddMemAllocNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				   const cudaGraphNode_t *dependencies, size_t count,
				   struct cudaMemAllocNodeParams *params),
	cuGraphAddMemAllocNode(node, graph, dependencies, count,
			       (CUDA_MEM_ALLOC_NODE_PARAMS *)params))
FORWARD(cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t node,
					 struct cudaMemAllocNodeParams *params),
	cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params))
FORWARD(cudaGraphAddMemFreeNode, (cudaGraphNode_t *node, cudaGraph_t graph,
				  const cudaGraphNode_t *dependencies, size_t count, void *pointer),
	cuGraphAddMemFreeNode(node, graph, dependencies, count, address(pointer)))
FORWARD(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *pointer),
	cuGraphMemFreeNodeGetParams(node, pointer))
