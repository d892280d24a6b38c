// SPDX-License-Identifier: MIT
/* The calls that change a node of one type: of a graph, and of an instance. */
#include "graph/launch/plan.h"
#include "typed.h"

/* Sets the parameters of a copy or a fill, whose context stays. */
static CUresult set_work(CUgraphNode node, CUgraphNodeParams *all)
{
	CUgraphNodeParams before;
	CUresult result = node_get(node, all->type, &before);

	if (result != CUDA_SUCCESS)
		return result;
	if (all->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		all->memcpy.copyCtx = before.memcpy.copyCtx;
	else
		all->memset.ctx = before.memset.ctx;
	return node_set(node, all);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, memcpy_all(params, NULL), set_work(node, &all)),
			  node, params);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, memset_all(params, NULL), set_work(node, &all)),
			  node, params);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, host_all(params), node_set(node, &all)), node,
			  params);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
	CUgraphNodeParams all = record_all(event);

	return WHOLE_CALL(node_set(node, &all), node, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
	CUgraphNodeParams all = wait_all(event);

	return WHOLE_CALL(node_set(node, &all), node, event);
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
					const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, memops_all(params), node_set(node, &all)), node,
			  params);
}

#define SET		instance_set_node(instance, node, &all)

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec instance, CUgraphNode node,
					const CUDA_MEMCPY3D *params, CUcontext context)
{
	return WHOLE_CALL(WITH_ALL(all, params, memcpy_all(params, context), SET),
			  instance, node, params, context);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec instance, CUgraphNode node,
					const CUDA_MEMSET_NODE_PARAMS *params,
					CUcontext context)
{
	return WHOLE_CALL(WITH_ALL(all, params, memset_all(params, context), SET),
			  instance, node, params, context);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec instance, CUgraphNode node,
				      const CUDA_HOST_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, host_all(params), SET), instance, node, params);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec instance, CUgraphNode node,
					    CUevent event)
{
	CUgraphNodeParams all = record_all(event);

	return WHOLE_CALL(SET, instance, node, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec instance, CUgraphNode node, CUevent event)
{
	CUgraphNodeParams all = wait_all(event);

	return WHOLE_CALL(SET, instance, node, event);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec instance, CUgraphNode node,
					    const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, memops_all(params), SET), instance, node, params);
}
