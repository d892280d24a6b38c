// SPDX-License-Identifier: MIT
/* Graphs: the calls that have no parameters of nodes. */
#include "runtime.h"

SAME_LAYOUT(cudaGraphExecUpdateResultInfo, CUgraphExecUpdateResultInfo);

FORWARD(cudaGraphCreate, (cudaGraph_t *graph, unsigned int flags), cuGraphCreate(graph, flags))
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph))
FORWARD(cudaGraphClone, (cudaGraph_t *clone, cudaGraph_t graph), cuGraphClone(clone, graph))
FORWARD(cudaGraphNodeFindInClone, (cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone),
	cuGraphNodeFindInClone(found, node, clone))
FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
	cuGraphNodeGetType(node, (CUgraphNodeType *)type))
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
	cuGraphGetNodes(graph, nodes, count))
FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
	cuGraphGetRootNodes(graph, nodes, count))
FORWARD(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			    cudaGraphEdgeData *edges, size_t *count),
	cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, count))
FORWARD(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *dependencies,
				       cudaGraphEdgeData *edges, size_t *count),
	cuGraphNodeGetDependencies(node, dependencies, (CUgraphEdgeData *)edges, count))
FORWARD(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *dependents,
					 cudaGraphEdgeData *edges, size_t *count),
	cuGraphNodeGetDependentNodes(node, dependents, (CUgraphEdgeData *)edges, count))
FORWARD(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
				   const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				   size_t count),
	cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, count))
FORWARD(cudaGraphRemoveDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
				      const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
				      size_t count),
	cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges, count))
FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode(node))
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
	cuGraphDebugDotPrint(graph, path, flags))

/* Instances */

FORWARD(cudaGraphInstantiate, (cudaGraphExec_t *instance, cudaGraph_t graph,
			       unsigned long long flags),
	cuGraphInstantiate(instance, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags, (cudaGraphExec_t *instance, cudaGraph_t graph,
					unsigned long long flags),
	cuGraphInstantiate(instance, graph, flags))
FORWARD(cudaGraphExecGetFlags, (cudaGraphExec_t instance, unsigned long long *flags),
	cuGraphExecGetFlags(instance, (cuuint64_t *)flags))
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t instance), cuGraphExecDestroy(instance))
FORWARD(cudaGraphExecUpdate, (cudaGraphExec_t instance, cudaGraph_t graph,
			      cudaGraphExecUpdateResultInfo *info),
	cuGraphExecUpdate(instance, graph, (CUgraphExecUpdateResultInfo *)info))
FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t instance, cudaGraphNode_t node,
				  unsigned int enabled),
	cuGraphNodeSetEnabled(instance, node, enabled))
FORWARD(cudaGraphNodeGetEnabled, (cudaGraphExec_t instance, cudaGraphNode_t node,
				  unsigned int *enabled),
	cuGraphNodeGetEnabled(instance, node, enabled))

/* The memory of graphs */

FORWARD(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim(device))
FORWARD(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute,
					 void *value),
	cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value))
FORWARD(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute,
					 void *value),
	cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute, value))

/* User objects, which live as long as the graphs that use them */

FORWARD(cudaUserObjectCreate, (cudaUserObject_t *object, void *data, cudaHostFn_t destroy,
			       unsigned int references, unsigned int flags),
	cuUserObjectCreate(object, data, destroy, references, flags))
FORWARD(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count),
	cuUserObjectRetain(object, count))
FORWARD(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count),
	cuUserObjectRelease(object, count))
FORWARD(cudaGraphRetainUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
				    unsigned int flags),
	cuGraphRetainUserObject(graph, object, count, flags))
FORWARD(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object,
				     unsigned int count),
	cuGraphReleaseUserObject(graph, object, count))
