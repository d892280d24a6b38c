// SPDX-License-Identifier: MIT
/* Nodes of any type: from the runtime's parameters to the driver's. */
#include <string.h>

#include "../kernel/kernel.h"
#include "../memory/copy.h"

SAME_LAYOUT(struct cudaGraphNodeParams, CUgraphNodeParams);
SAME_LAYOUT(struct cudaChildGraphNodeParams, CUDA_CHILD_GRAPH_NODE_PARAMS);
SAME_LAYOUT(struct cudaMemAllocNodeParamsV2, CUDA_MEM_ALLOC_NODE_PARAMS_v2);

/*
 * Only these types have other parameters in the driver. Those of other types go to the driver
 * unchanged, also of types that it does not support, such as semaphores.
 */
static cudaError_t translate(const char *call, CUgraphNodeParams *drivers,
			     const struct cudaGraphNodeParams *params)
{
	if (!params)
		return refuse(call, cudaErrorInvalidValue, "NULL parameters");
	memcpy(drivers, params, sizeof(*drivers));
	switch (params->type) {
	case cudaGraphNodeTypeMemcpy:
		memset(drivers->reserved1, 0, sizeof(drivers->reserved1));
		drivers->memcpy.flags = params->memcpy.flags;
		if (params->memcpy.reserved[0] || params->memcpy.reserved[1] ||
		    params->memcpy.reserved[2])
			return refuse(call, cudaErrorInvalidValue, "reserved fields must be 0");
		return copy_3d(call, &drivers->memcpy.copyParams, &params->memcpy.copyParams);
	case cudaGraphNodeTypeKernel:
		drivers->kernel.func = NULL;
		drivers->kernel.ctx = NULL;
		return kernel_handle(call, &drivers->kernel.kern, params->kernel.func);
	case cudaGraphNodeTypeMemset:
		drivers->memset.ctx = NULL;
		return cudaSuccess;
	case cudaGraphNodeTypeConditional:
		drivers->conditional.ctx = NULL;
		return cudaSuccess;
	default:
		return cudaSuccess;
	}
}

DEFINE_CALL(cudaGraphAddNode, (cudaGraphNode_t *node, cudaGraph_t graph,
			       const cudaGraphNode_t *dependencies,
			       const cudaGraphEdgeData *edges, size_t count,
			       struct cudaGraphNodeParams *params),
	    node, graph, dependencies, edges, count, params)
{
	CUgraphNodeParams drivers;
	cudaError_t error = translate("cudaGraphAddNode", &drivers, params);

	if (error == cudaSuccess)
		error = error_of(cuGraphAddNode(node, graph, dependencies,
						(const CUgraphEdgeData *)edges, count, &drivers));
	if (error == cudaSuccess && params->type == cudaGraphNodeTypeMemAlloc)
		params->alloc.dptr = (void *)(uintptr_t)drivers.alloc.dptr;
	if (error == cudaSuccess && params->type == cudaGraphNodeTypeConditional)
		params->conditional.phGraph_out = drivers.conditional.phGraph_out;
	return error;
}

FORWARD_WITH(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *params),
	     CUgraphNodeParams drivers,
	     translate(__func__, &drivers, params) ?:
	     error_of(cuGraphNodeSetParams(node, &drivers)))
FORWARD_WITH(cudaGraphExecNodeSetParams, (cudaGraphExec_t instance, cudaGraphNode_t node,
					  struct cudaGraphNodeParams *params),
	     CUgraphNodeParams drivers,
	     translate(__func__, &drivers, params) ?:
	     error_of(cuGraphExecNodeSetParams(instance, node, &drivers)))

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
					     unsigned int initial, unsigned int flags)
{
	cuuint64_t created;
	cudaError_t error;

	if (!handle)
		return CALL(refuse("cudaGraphConditionalHandleCreate", cudaErrorInvalidValue,
				   "NULL output"));
	error = CALL(error_of(cuGraphConditionalHandleCreate(&created, graph, NULL, initial,
							     flags)));
	if (error == cudaSuccess)
		*handle = created;
	return error;
}
