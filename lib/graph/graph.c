// SPDX-License-Identifier: MIT
/* Graphs and their handles. */
#include <stdlib.h>

#include "graph.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The tables take no references: a caller holds graphs_lock while it uses a graph or node. */
static void graph_no_reference(void *object)
{
	(void)object;
}

static struct table graphs_table = TABLE(graph_no_reference);
static struct table nodes_table = TABLE(graph_no_reference);

void graphs_lock(void)
{
	pthread_mutex_lock(&lock);
}

void graphs_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

struct graph *graph_find(CUgraph handle)
{
	return handle ? table_find(&graphs_table, handle) : NULL;
}

struct node *node_find(CUgraphNode handle)
{
	return handle ? table_find(&nodes_table, handle) : NULL;
}

CUresult graph_of(CUgraph handle, struct graph **graph)
{
	*graph = graph_find(handle);
	return *graph ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "%p is not a graph, or destroyed", (void *)handle);
}

CUresult node_of(CUgraphNode handle, struct node **node)
{
	*node = node_find(handle);
	return *node ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "%p is not a node, or destroyed", (void *)handle);
}

CUresult graph_new(struct graph **graph)
{
	*graph = calloc(1, sizeof(**graph));
	if (!*graph)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	(*graph)->handle = (CUgraph)table_add(&graphs_table, *graph);
	if ((*graph)->handle)
		return CUDA_SUCCESS;
	free(*graph);
	*graph = NULL;
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many graphs");
}

CUresult node_register(struct node *node)
{
	node->handle = (CUgraphNode)table_add(&nodes_table, node);
	return node->handle ? CUDA_SUCCESS :
		fail(CUDA_ERROR_OUT_OF_MEMORY, "too many nodes");
}

void node_withdraw(struct node *node)
{
	if (node->handle)
		table_remove(&nodes_table, node->handle);
	if (node->child)
		graph_withdraw(node->child);
	condition_leave(node);
	if (node->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE && node->memory)
		memory_remove_free(node->memory, node->graph);
}

void graph_withdraw(struct graph *graph)
{
	table_remove(&graphs_table, graph->handle);
	conditions_withdraw(graph);
	/* a conditional node's graph may end with the graph around it while it is captured to */
	if (graph->capture)
		capture_lose(graph->capture);
	for (struct node *node = graph->first; node; node = node->next)
		node_withdraw(node);
}

void node_free(struct node *node)
{
	if (node->child)
		graph_free(node->child);
	condition_free_bodies(node);
	if (node->memory)
		memory_put(node->memory);
	params_free(&node->params);
	free(node->from.at);
	free(node->to.at);
	free(node);
}

void graph_free(struct graph *graph)
{
	struct node *node, *next;

	for (node = graph->first; node; node = next) {
		next = node->next;
		original_forget(node);
		node_free(node);
	}
	uses_free(&graph->objects);
	conditions_free(graph);
	free(graph);
}

static CUresult graph_create(CUgraph *handle, unsigned int flags)
{
	struct graph *graph;
	CUresult result;

	if (!handle || flags)
		return fail(CUDA_ERROR_INVALID_VALUE, handle ? "flags must be 0" : "NULL output");
	graphs_lock();
	result = graph_new(&graph);
	if (result == CUDA_SUCCESS)
		*handle = graph->handle;
	graphs_unlock();
	return result;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
	return WHOLE_CALL(graph_create(graph, flags), graph, flags);
}

static CUresult graph_destroy(CUgraph handle)
{
	struct graph *graph;
	CUresult result;

	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS && graph->owner)
		result = fail(CUDA_ERROR_INVALID_VALUE, graph->owner->child == graph ?
			      "the graph is a child node's" : "the graph is a conditional node's");
	if (result == CUDA_SUCCESS && condition_captured(graph))
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "a stream is captured to the graph: end that first");
	if (result == CUDA_SUCCESS)
		graph_withdraw(graph);
	graphs_unlock();
	if (result == CUDA_SUCCESS)
		graph_free(graph);
	return result;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	return WHOLE_CALL(graph_destroy(graph), graph);
}
