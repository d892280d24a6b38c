// SPDX-License-Identifier: MIT
/* The calls that add a node of one type, and those that read its parameters. */
#include "typed.h"

#define ADD		node_add(node, graph, dependencies, NULL, count, &all)

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			     size_t count)
{
	CUgraphNodeParams all = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	return WHOLE_CALL(ADD, node, graph, dependencies, count);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph,
			      const CUgraphNode *dependencies, size_t count,
			      const CUDA_MEMCPY3D *params, CUcontext context)
{
	return WHOLE_CALL(WITH_ALL(all, params, memcpy_all(params, context), ADD),
			  node, graph, dependencies, count, params, context);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph,
			      const CUgraphNode *dependencies, size_t count,
			      const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
	return WHOLE_CALL(WITH_ALL(all, params, memset_all(params, context), ADD),
			  node, graph, dependencies, count, params, context);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			    size_t count, const CUDA_HOST_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, host_all(params), ADD), node, graph, dependencies,
			  count, params);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph,
				  const CUgraphNode *dependencies, size_t count, CUgraph child)
{
	CUgraphNodeParams all = { .type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child };

	return WHOLE_CALL(ADD, node, graph, dependencies, count, child);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
				   const CUgraphNode *dependencies, size_t count, CUevent event)
{
	CUgraphNodeParams all = record_all(event);

	return WHOLE_CALL(ADD, node, graph, dependencies, count, event);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph,
				 const CUgraphNode *dependencies, size_t count, CUevent event)
{
	CUgraphNodeParams all = wait_all(event);

	return WHOLE_CALL(ADD, node, graph, dependencies, count, event);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph,
				  const CUgraphNode *dependencies, size_t count,
				  const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, memops_all(params), ADD), node, graph, dependencies,
			  count, params);
}

static CUresult add_alloc(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			  size_t count, CUgraphNodeParams *all, CUdeviceptr *address)
{
	CUresult result = node_add(node, graph, dependencies, NULL, count, all);

	if (result == CUDA_SUCCESS)
		*address = all->alloc.dptr;
	return result;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph,
				const CUgraphNode *dependencies, size_t count,
				CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, alloc_all(params),
			       add_alloc(node, graph, dependencies, count, &all, &params->dptr)),
			  node, graph, dependencies, count, params);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph,
			       const CUgraphNode *dependencies, size_t count,
			       CUdeviceptr address)
{
	CUgraphNodeParams all = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = address };

	return WHOLE_CALL(ADD, node, graph, dependencies, count, address);
}

/* A call that reads a property of a node of one type: @expression, made of "all" */
#define GETTER(name, node_type, output_type, expression)			\
static CUresult get_##name(CUgraphNode node, output_type *output)		\
{										\
	CUgraphNodeParams all;							\
	CUresult result = output ? node_get(node, node_type, &all) :		\
			  fail(CUDA_ERROR_INVALID_VALUE, "NULL output");	\
										\
	if (result == CUDA_SUCCESS)						\
		*output = expression;						\
	return result;								\
}										\
										\
CUresult name(CUgraphNode node, output_type *output)				\
{										\
	return WHOLE_CALL(get_##name(node, output), node, output);		\
}

GETTER(cuGraphMemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D,
       all.memcpy.copyParams)
GETTER(cuGraphMemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS,
       ((CUDA_MEMSET_NODE_PARAMS) { all.memset.dst, all.memset.pitch, all.memset.value,
				    all.memset.elementSize, all.memset.width,
				    all.memset.height }))
GETTER(cuGraphHostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS,
       ((CUDA_HOST_NODE_PARAMS) { all.host.fn, all.host.userData }))
GETTER(cuGraphChildGraphNodeGetGraph, CU_GRAPH_NODE_TYPE_GRAPH, CUgraph, all.graph.graph)
GETTER(cuGraphEventRecordNodeGetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent,
       all.eventRecord.event)
GETTER(cuGraphEventWaitNodeGetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent,
       all.eventWait.event)
GETTER(cuGraphBatchMemOpNodeGetParams, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
       CUDA_BATCH_MEM_OP_NODE_PARAMS,
       ((CUDA_BATCH_MEM_OP_NODE_PARAMS) { all.memOp.ctx, all.memOp.count,
					  all.memOp.paramArray, all.memOp.flags }))
GETTER(cuGraphMemAllocNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS,
       ((CUDA_MEM_ALLOC_NODE_PARAMS) { all.alloc.poolProps, all.alloc.accessDescs,
				       all.alloc.accessDescCount, all.alloc.bytesize,
				       all.alloc.dptr }))
GETTER(cuGraphMemFreeNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_FREE, CUdeviceptr, all.free.dptr)
