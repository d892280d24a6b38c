// SPDX-License-Identifier: MIT
/* Graphs: the calls that have no parameters of nodes. */
#include "runtime.h"

SAME_LAYOUT(cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	return DRIVER(cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	return DRIVER(cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	return DRIVER(cuGraphClone(clone, graph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node,
				     cudaGraph_t clone)
{
	return DRIVER(cuGraphNodeFindInClone(found, node, clone));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	return DRIVER(cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	return DRIVER(cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	return DRIVER(cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			      cudaGraphEdgeData *edges, size_t *count)
{
	return DRIVER(cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *dependencies,
					 cudaGraphEdgeData *edges, size_t *count)
{
	return DRIVER(cuGraphNodeGetDependencies(node, dependencies, (CUgraphEdgeData *)edges,
						 count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *dependents,
					   cudaGraphEdgeData *edges, size_t *count)
{
	return DRIVER(cuGraphNodeGetDependentNodes(node, dependents, (CUgraphEdgeData *)edges,
						   count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
				     const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				     size_t count)
{
	return DRIVER(cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges,
					     count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
					const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
					size_t count)
{
	return DRIVER(cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges,
						count));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
	return DRIVER(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
	return DRIVER(cuGraphDebugDotPrint(graph, path, flags));
}

/* Instances */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *instance, cudaGraph_t graph,
				 unsigned long long flags)
{
	return DRIVER(cuGraphInstantiate(instance, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *instance, cudaGraph_t graph,
					  unsigned long long flags)
{
	return DRIVER(cuGraphInstantiate(instance, graph, flags));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t instance, unsigned long long *flags)
{
	return DRIVER(cuGraphExecGetFlags(instance, (cuuint64_t *)flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t instance)
{
	return DRIVER(cuGraphExecDestroy(instance));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t instance, cudaGraph_t graph,
				cudaGraphExecUpdateResultInfo *info)
{
	return DRIVER(cuGraphExecUpdate(instance, graph, (CUgraphExecUpdateResultInfo *)info));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t instance, cudaGraphNode_t node,
				    unsigned int enabled)
{
	return DRIVER(cuGraphNodeSetEnabled(instance, node, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t instance, cudaGraphNode_t node,
				    unsigned int *enabled)
{
	return DRIVER(cuGraphNodeGetEnabled(instance, node, enabled));
}

/* The memory of graphs */

cudaError_t cudaDeviceGraphMemTrim(int device)
{
	return DRIVER(cuDeviceGraphMemTrim(device));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	return DRIVER(cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute,
						   value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	return DRIVER(cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute,
						   value));
}

/* User objects, which live as long as the graphs that use them */

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy,
				 unsigned int references, unsigned int flags)
{
	return DRIVER(cuUserObjectCreate(object, data, destroy, references, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
	return DRIVER(cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
	return DRIVER(cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
				      unsigned int count, unsigned int flags)
{
	return DRIVER(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
				       unsigned int count)
{
	return DRIVER(cuGraphReleaseUserObject(graph, object, count));
}
