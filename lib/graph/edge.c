// SPDX-License-Identifier: MIT
/* Edges: each is in the list of the node where it starts, and of the node where it ends. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static CUresult links_reserve(struct links *links)
{
	size_t room = links->room ? 2 * links->room : 4;
	struct link *at;

	if (links->count < links->room)
		return CUDA_SUCCESS;
	at = realloc(links->at, room * sizeof(*at));
	if (!at)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an edge");
	links->at = at;
	links->room = room;
	return CUDA_SUCCESS;
}

static struct link *links_find(const struct links *links, const struct node *node)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->at[i].node == node)
			return &links->at[i];
	return NULL;
}

/* Removes a node from a list. The nodes behind it keep their order. */
static void links_remove(struct links *links, const struct node *node)
{
	struct link *link = links_find(links, node);

	if (link)
		memmove(link, link + 1, (&links->at[links->count--] - link - 1) * sizeof(*link));
}

static const struct link *edge_find(const struct node *from, const struct node *to)
{
	return from->to.count < to->from.count ? links_find(&from->to, to) :
						 links_find(&to->from, from);
}

/* The caller has checked: both nodes are of one graph, which does not have the edge. */
CUresult edge_add(struct node *from, struct node *to, unsigned char port)
{
	CUresult result = links_reserve(&from->to);

	if (result == CUDA_SUCCESS)
		result = links_reserve(&to->from);
	if (result != CUDA_SUCCESS)
		return result;
	from->to.at[from->to.count++] = (struct link) { to, port };
	to->from.at[to->from.count++] = (struct link) { from, port };
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
		edge_remove(node->from.at[node->from.count - 1].node, node);
	while (node->to.count)
		edge_remove(node, node->to.at[node->to.count - 1].node);
}

/* A caller has no room for what its edges are. */
CUresult edge_lossy(void)
{
	return fail(CUDA_ERROR_LOSSY_QUERY,
		    "an edge has a port, and the call has no output for it");
}

CUgraphEdgeData edge_data(unsigned char port)
{
	return (CUgraphEdgeData) {
		.from_port = port,
		.type = port ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC :
			       CU_GRAPH_DEPENDENCY_TYPE_DEFAULT,
	};
}

/*
 * Checks what is given of edges: one of type DEFAULT has no port, one of type PROGRAMMATIC has one.
 * @edges: NULL: all of type DEFAULT
 */
CUresult edges_check(const CUgraphEdgeData *edges, size_t count)
{
	for (size_t i = 0; edges && i < count; i++) {
		const CUgraphEdgeData good = edge_data(edges[i].from_port);

		if (edges[i].from_port > CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ||
		    memcmp(&edges[i], &good, sizeof(good)))
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "edge %zu has a port and a type that do not go together", i);
	}
	return CUDA_SUCCESS;
}

/* @to: NULL: not known yet */
CUresult edge_check_nodes(const struct node *from, const struct node *to, unsigned char port)
{
	if (!port || (from->params.type == CU_GRAPH_NODE_TYPE_KERNEL &&
		      (!to || to->params.type == CU_GRAPH_NODE_TYPE_KERNEL)))
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE, "edges of type PROGRAMMATIC are between kernels");
}

static CUresult change(struct graph *graph, CUgraphNode from_handle, CUgraphNode to_handle,
		       unsigned char port, bool add)
{
	const struct link *link;
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
	link = edge_find(from, to);
	if (add ? !!link : !link || link->port != port)
		return fail(CUDA_ERROR_INVALID_VALUE, add ? "there is such an edge" :
			    "there is no such edge");
	if (add) {
		result = edge_check_nodes(from, to, port);
		return result == CUDA_SUCCESS ? edge_add(from, to, port) : result;
	}
	edge_remove(from, to);
	if (graph->capture)
		capture_drop_node(graph->capture, from);
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
		result = change(graph, from[i], to[i], edge_port(edges, i), add);
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
