// SPDX-License-Identifier: MIT
/* Edges: each is in the list of the node where it starts, and of the node where it ends. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static CUresult links_reserve(struct links *links)
{
	size_t room = links->room ? 2 * links->room : 4;
	struct node **at;

	if (links->count < links->room)
		return CUDA_SUCCESS;
	at = realloc(links->at, room * sizeof(*at));
	if (!at)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an edge");
	links->at = at;
	links->room = room;
	return CUDA_SUCCESS;
}

/* Removes a node from a list. The nodes behind it keep their order. Return: was it in the list? */
static bool links_remove(struct links *links, const struct node *node)
{
	for (size_t i = 0; i < links->count; i++) {
		if (links->at[i] != node)
			continue;
		links->count--;
		memmove(&links->at[i], &links->at[i + 1],
			(links->count - i) * sizeof(*links->at));
		return true;
	}
	return false;
}

static bool links_have(const struct links *links, const struct node *node)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->at[i] == node)
			return true;
	return false;
}

static bool edge_exists(const struct node *from, const struct node *to)
{
	return from->to.count < to->from.count ? links_have(&from->to, to) :
						 links_have(&to->from, from);
}

/* The caller has checked: both nodes are of one graph, which does not have the edge. */
CUresult edge_add(struct node *from, struct node *to)
{
	CUresult result = links_reserve(&from->to);

	if (result == CUDA_SUCCESS)
		result = links_reserve(&to->from);
	if (result != CUDA_SUCCESS)
		return result;
	from->to.at[from->to.count++] = to;
	to->from.at[to->from.count++] = from;
	to->graph->edges++;
	return CUDA_SUCCESS;
}

static void edge_remove(struct node *from, struct node *to)
{
	links_remove(&from->to, to);
	links_remove(&to->from, from);
	to->graph->edges--;
}

/* Removes all edges of a node, the last of a list first: that is the cheapest. */
void edges_drop(struct node *node)
{
	while (node->from.count)
		edge_remove(node->from.at[node->from.count - 1], node);
	while (node->to.count)
		edge_remove(node, node->to.at[node->to.count - 1]);
}

/* Checks that all edges are plain. @edges: their data, or NULL: all plain */
CUresult edges_check(const CUgraphEdgeData *edges, size_t count)
{
	static const CUgraphEdgeData plain;

	for (size_t i = 0; edges && i < count; i++)
		if (memcmp(&edges[i], &plain, sizeof(plain)))
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "edge %zu has a port or a type, which only kernels have", i);
	return CUDA_SUCCESS;
}

static CUresult change(struct graph *graph, CUgraphNode from_handle, CUgraphNode to_handle,
		       bool add)
{
	struct node *from, *to;
	CUresult result = node_of(from_handle, &from);

	if (result == CUDA_SUCCESS)
		result = node_of(to_handle, &to);
	if (result != CUDA_SUCCESS)
		return result;
	if (from->graph != graph || to->graph != graph)
		return fail(CUDA_ERROR_INVALID_VALUE, "a node is of another graph");
	if (from == to)
		return fail(CUDA_ERROR_INVALID_VALUE, "a node cannot depend on itself");
	if (edge_exists(from, to) == add)
		return fail(CUDA_ERROR_INVALID_VALUE, add ? "there is such an edge" :
			    "there is no such edge");
	if (add)
		return edge_add(from, to);
	edge_remove(from, to);
	return CUDA_SUCCESS;
}

/* Changes edges one after the other; those before one that fails are done (as on hardware). */
static CUresult edges_change(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
			     const CUgraphEdgeData *edges, size_t count, bool add)
{
	struct graph *graph;
	CUresult result;

	if (count && (!from || !to))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = edges_check(edges, count);
	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS && !add && graph->memory_nodes)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "graphs that allocate or free keep their edges");
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = change(graph, from[i], to[i], add);
	graphs_unlock();
	return result;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
				   const CUgraphNode *to, const CUgraphEdgeData *edges,
				   size_t count)
{
	return WHOLE_CALL(edges_change(graph, from, to, edges, count, true),
			  graph, from, to, edges, count);
}

#undef cuGraphAddDependencies
EXPORTED CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
					 const CUgraphNode *to, size_t count)
{
	return WHOLE_CALL(edges_change(graph, from, to, NULL, count, true), graph, from, to, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from,
				      const CUgraphNode *to, const CUgraphEdgeData *edges,
				      size_t count)
{
	return WHOLE_CALL(edges_change(graph, from, to, edges, count, false),
			  graph, from, to, edges, count);
}

#undef cuGraphRemoveDependencies
EXPORTED CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from,
					    const CUgraphNode *to, size_t count)
{
	return WHOLE_CALL(edges_change(graph, from, to, NULL, count, false),
			  graph, from, to, count);
}
