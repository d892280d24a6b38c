// SPDX-License-Identifier: MIT
/*
 * The calls for kernel nodes. The older versions' parameters lack a library's kernel and a
 * context.
 */
#include <string.h>

#include "launch/node.h"
#include "graph/launch/plan.h"
#include "typed.h"

static CUgraphNodeParams kernel_all(const CUDA_KERNEL_NODE_PARAMS *params)
{
	CUgraphNodeParams all = { .type = CU_GRAPH_NODE_TYPE_KERNEL };

	_Static_assert(sizeof(all.kernel) == sizeof(*params), "two versions of one layout");
	memcpy(&all.kernel, params, sizeof(*params));
	return all;
}

static CUgraphNodeParams kernel_all_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUgraphNodeParams all = { .type = CU_GRAPH_NODE_TYPE_KERNEL };

	memcpy(&all.kernel, params, sizeof(*params));
	return all;
}

#define ADD		node_add(node, graph, dependencies, NULL, count, &all)

EXPORTED CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph,
					  const CUgraphNode *dependencies, size_t count,
					  const CUDA_KERNEL_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all(params), ADD), node, graph, dependencies,
			  count, params);
}

#undef cuGraphAddKernelNode
EXPORTED CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph,
				       const CUgraphNode *dependencies, size_t count,
				       const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all_v1(params), ADD), node, graph,
			  dependencies, count, params);
}

EXPORTED CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
						const CUDA_KERNEL_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all(params), node_set(node, &all)), node,
			  params);
}

#undef cuGraphKernelNodeSetParams
EXPORTED CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
					     const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all_v1(params), node_set(node, &all)), node,
			  params);
}

EXPORTED CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec instance, CUgraphNode node,
						    const CUDA_KERNEL_NODE_PARAMS *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all(params),
			       instance_set_node(instance, node, &all)),
			  instance, node, params);
}

#undef cuGraphExecKernelNodeSetParams
EXPORTED CUresult cuGraphExecKernelNodeSetParams(CUgraphExec instance, CUgraphNode node,
						 const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	return WHOLE_CALL(WITH_ALL(all, params, kernel_all_v1(params),
			       instance_set_node(instance, node, &all)),
			  instance, node, params);
}

static CUresult kernel_node_get(CUgraphNode node, void *params, size_t bytes)
{
	CUgraphNodeParams all;
	CUresult result;

	if (!params)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = node_get(node, CU_GRAPH_NODE_TYPE_KERNEL, &all);
	if (result == CUDA_SUCCESS)
		memcpy(params, &all.kernel, bytes);
	return result;
}

EXPORTED CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
						CUDA_KERNEL_NODE_PARAMS *params)
{
	return WHOLE_CALL(kernel_node_get(node, params, sizeof(*params)), node, params);
}

#undef cuGraphKernelNodeGetParams
EXPORTED CUresult cuGraphKernelNodeGetParams(CUgraphNode node,
					     CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	return WHOLE_CALL(kernel_node_get(node, params, sizeof(*params)), node, params);
}

/* Finds a kernel node, with graphs_lock held. */
static CUresult kernel_of(CUgraphNode handle, struct node **node)
{
	CUresult result = node_of(handle, node);

	if (result == CUDA_SUCCESS && (*node)->params.type != CU_GRAPH_NODE_TYPE_KERNEL)
		result = fail(CUDA_ERROR_INVALID_VALUE, "not a kernel node");
	return result;
}

static CUresult attribute(CUgraphNode handle, CUkernelNodeAttrID number,
			  CUkernelNodeAttrValue *output, const CUkernelNodeAttrValue *input)
{
	struct node *node;
	CUresult result;

	if (!output && !input)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL value");
	graphs_lock();
	result = kernel_of(handle, &node);
	if (result == CUDA_SUCCESS)
		result = output ? node_attribute(&node->params, number, output) :
				  node_attribute_set(&node->params, number, input);
	graphs_unlock();
	return result;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID number,
				       CUkernelNodeAttrValue *value)
{
	return WHOLE_CALL(attribute(node, number, value, NULL), node, number, value);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID number,
				       const CUkernelNodeAttrValue *value)
{
	return WHOLE_CALL(attribute(node, number, NULL, value), node, number, value);
}

static CUresult copy_attributes(CUgraphNode to_handle, CUgraphNode from_handle)
{
	struct node *to, *from;
	CUresult result;

	graphs_lock();
	result = kernel_of(to_handle, &to);
	if (result == CUDA_SUCCESS)
		result = kernel_of(from_handle, &from);
	if (result == CUDA_SUCCESS)
		result = node_attributes_copy(&to->params, &from->params);
	graphs_unlock();
	return result;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
	return WHOLE_CALL(copy_attributes(to, from), to, from);
}
