// SPDX-License-Identifier: MIT
/* Copies of graphs: cuGraphClone() and child nodes. graphs_lock is held. */
#include <search.h>
#include <stdlib.h>

#include "graph.h"

static int compare_originals(const void *one, const void *other)
{
	uintptr_t a = (uintptr_t)((const struct node *)one)->original;
	uintptr_t b = (uintptr_t)((const struct node *)other)->original;

	return a < b ? -1 : a > b;
}

/* A node leaves its graph. */
void original_forget(const struct node *node)
{
	if (node->original)
		tdelete(node, &node->graph->by_original, compare_originals);
}

/* Return: how many graphs are around this one. */
unsigned int graph_level(const struct graph *graph)
{
	unsigned int level = 0;

	for (; graph->owner; graph = graph->owner->graph)
		level++;
	return level;
}

/* Return: how deep graphs are nested in this one, itself included. */
unsigned int graph_depth(const struct graph *graph)
{
	unsigned int depth = 0, inner;

	for (const struct node *node = graph->first; node; node = node->next) {
		inner = node->child ? graph_depth(node->child) : 0;
		if (inner > depth)
			depth = inner;
		for (uint32_t i = 0; i < bodies_count(&node->params); i++) {
			inner = graph_depth(node->bodies[i]);
			if (inner > depth)
				depth = inner;
		}
	}
	return depth + 1;
}

static CUresult copy_node(const struct node *node, struct graph *clone, struct node **copied)
{
	CUgraphNodeParams params = node->params;
	struct node *copy;
	CUresult result;

	/* node_insert() copies the child graph */
	if (node->child)
		params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
	result = node_new(&copy, &params);
	if (result != CUDA_SUCCESS)
		return result;
	result = node_insert(copy, clone, NULL, NULL, 0);
	if (result != CUDA_SUCCESS) {
		node_free(copy);
		return result;
	}
	copy->original = node->handle;
	*copied = copy;
	if (tsearch(copy, &clone->by_original, compare_originals))
		return CUDA_SUCCESS;
	copy->original = NULL;
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
}

static CUresult copy_all(const struct graph *graph, struct graph *clone, struct node **copies)
{
	CUresult result = uses_copy(&clone->objects, &graph->objects);
	struct node *node;
	uint32_t i = 0;

	for (node = graph->first; node && result == CUDA_SUCCESS; node = node->next, i++) {
		node->first = i;
		result = copy_node(node, clone, &copies[i]);
	}
	/* edges are added in the order of each start node's list, so all lists keep their order */
	for (node = graph->first; node && result == CUDA_SUCCESS; node = node->next)
		for (size_t k = 0; k < node->to.count && result == CUDA_SUCCESS; k++)
			result = edge_add(copies[node->first],
					  copies[node->to.at[k].node->first],
					  node->to.at[k].port);
	return result;
}

/* The caller has checked that the graph has no alloc and free nodes. */
CUresult graph_clone(const struct graph *graph, struct graph **out)
{
	struct node **copies = calloc(graph->nodes + 1, sizeof(*copies));
	struct graph *clone;
	CUresult result;

	if (!copies)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	result = graph_new(&clone);
	if (result == CUDA_SUCCESS) {
		result = copy_all(graph, clone, copies);
		if (result == CUDA_SUCCESS) {
			*out = clone;
		} else {
			graph_withdraw(clone);
			graph_free(clone);
		}
	}
	free(copies);
	return result;
}

DEFINE_WHOLE_CALL(cuGraphClone, (CUgraph *handle, CUgraph original), handle, original)
{
	struct graph *graph, *copy;
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	graphs_lock();
	result = graph_of(original, &graph);
	if (result == CUDA_SUCCESS && graph->memory_nodes)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "graphs that allocate or free cannot be copied");
	if (result == CUDA_SUCCESS && graph->conditional_nodes)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "graphs with conditional nodes cannot be copied");
	if (result == CUDA_SUCCESS)
		result = graph_clone(graph, &copy);
	if (result == CUDA_SUCCESS)
		*handle = copy->handle;
	graphs_unlock();
	return result;
}

static CUresult find_in_clone(CUgraphNode *copy, CUgraphNode original, CUgraph handle)
{
	const struct node wanted = { .original = original };
	struct graph *graph;
	struct node **found;
	CUresult result;

	if (!copy || !original)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS) {
		found = tfind(&wanted, &graph->by_original, compare_originals);
		if (found)
			*copy = (*found)->handle;
		else
			result = fail(CUDA_ERROR_INVALID_VALUE,
				      "the graph has no copy of the node");
	}
	graphs_unlock();
	return result;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *copy, CUgraphNode original, CUgraph clone)
{
	return WHOLE_CALL(find_in_clone(copy, original, clone), copy, original, clone);
}
