// SPDX-License-Identifier: MIT
/* The nodes and edges of a graph, and the edges of a node. */
#include "graph.h"

/*
 * An output array of the caller. *count is its length; without an array, *count becomes the
 * number of items. Places left over become NULL.
 */
struct output {
	CUgraphNode *nodes, *others;	/* others: the second array, of edges */
	CUgraphEdgeData *edges;
	size_t room, used;
	bool lossy;			/* a port has no place in the output */
};

static struct output output_start(CUgraphNode *nodes, CUgraphNode *others,
				  CUgraphEdgeData *edges, const size_t *count)
{
	return (struct output) { nodes, others, edges, nodes ? *count : SIZE_MAX, 0, false };
}

static void output_add(struct output *output, const struct node *node,
		       const struct node *other, unsigned char port)
{
	if (output->used == output->room)
		return;
	if (output->nodes)
		output->nodes[output->used] = node->handle;
	if (output->others)
		output->others[output->used] = other->handle;
	if (output->edges)
		output->edges[output->used] = edge_data(port);
	output->lossy |= output->nodes && !output->edges && port;
	output->used++;
}

static CUresult output_end(struct output *output, size_t *count)
{
	*count = output->used;
	for (size_t i = output->used; output->nodes && i < output->room; i++) {
		output->nodes[i] = NULL;
		if (output->others)
			output->others[i] = NULL;
	}
	return output->lossy ? edge_lossy() : CUDA_SUCCESS;
}

static CUresult get_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots)
{
	struct output output;
	struct graph *graph;
	CUresult result;

	if (!count)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	output = output_start(nodes, NULL, NULL, count);
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS) {
		for (struct node *node = graph->first; node; node = node->next)
			if (!roots || !node->from.count)
				output_add(&output, node, NULL, 0);
		result = output_end(&output, count);
	}
	graphs_unlock();
	return result;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	return WHOLE_CALL(get_nodes(graph, nodes, count, false), graph, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	return WHOLE_CALL(get_nodes(graph, nodes, count, true), graph, nodes, count);
}

static CUresult get_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
			  CUgraphEdgeData *edges, size_t *count)
{
	struct output output;
	struct graph *graph;
	CUresult result;

	if (!count || !from != !to || (edges && !from))
		return fail(CUDA_ERROR_INVALID_VALUE, "one of the outputs is NULL");
	output = output_start(from, to, edges, count);
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS) {
		for (struct node *node = graph->first; node; node = node->next)
			for (size_t i = 0; i < node->to.count; i++)
				output_add(&output, node, node->to.at[i].node, node->to.at[i].port);
		result = output_end(&output, count);
	}
	graphs_unlock();
	return result;
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
			    CUgraphEdgeData *edges, size_t *count)
{
	return WHOLE_CALL(get_edges(graph, from, to, edges, count), graph, from, to, edges, count);
}

#undef cuGraphGetEdges
EXPORTED CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
				  size_t *count)
{
	return WHOLE_CALL(get_edges(graph, from, to, NULL, count), graph, from, to, count);
}

static CUresult get_links(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *edges,
			  size_t *count, bool dependencies)
{
	struct output output;
	struct node *node;
	CUresult result;

	if (!count || (edges && !nodes))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	output = output_start(nodes, NULL, edges, count);
	graphs_lock();
	result = node_of(handle, &node);
	if (result == CUDA_SUCCESS) {
		const struct links *links = dependencies ? &node->from : &node->to;

		for (size_t i = 0; i < links->count; i++)
			output_add(&output, links->at[i].node, NULL, links->at[i].port);
		result = output_end(&output, count);
	}
	graphs_unlock();
	return result;
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies,
				       CUgraphEdgeData *edges, size_t *count)
{
	return WHOLE_CALL(get_links(node, dependencies, edges, count, true),
			  node, dependencies, edges, count);
}

#undef cuGraphNodeGetDependencies
EXPORTED CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies,
					     size_t *count)
{
	return WHOLE_CALL(get_links(node, dependencies, NULL, count, true),
			  node, dependencies, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *dependents,
					 CUgraphEdgeData *edges, size_t *count)
{
	return WHOLE_CALL(get_links(node, dependents, edges, count, false),
			  node, dependents, edges, count);
}

#undef cuGraphNodeGetDependentNodes
EXPORTED CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *dependents,
					       size_t *count)
{
	return WHOLE_CALL(get_links(node, dependents, NULL, count, false), node, dependents, count);
}

static CUresult get_type(CUgraphNode handle, CUgraphNodeType *type)
{
	struct node *node;
	CUresult result;

	if (!type)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	graphs_lock();
	result = node_of(handle, &node);
	if (result == CUDA_SUCCESS)
		*type = node->params.type;
	graphs_unlock();
	return result;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	return WHOLE_CALL(get_type(node, type), node, type);
}
