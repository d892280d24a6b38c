// SPDX-License-Identifier: MIT
/* Nodes: creates them, adds them to a graph, reads and changes their parameters. */
#include <stdlib.h>

#include "graph/graph.h"
#include "launch/node.h"

/*
 * Makes a node that is in no graph yet, of parameters that have been checked. An alloc node
 * gets its memory here, so the caller does not hold graphs_lock.
 */
CUresult node_new(struct node **out, CUgraphNodeParams *params)
{
	struct node *node = calloc(1, sizeof(*node));
	CUresult result;

	if (!node)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
	result = params_copy(&node->params, params);
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		result = memory_new(&node->params.alloc, &node->memory);
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
		node->memory = memory_find(params->free.dptr);
		if (!node->memory)
			result = fail(CUDA_ERROR_INVALID_VALUE,
				      "no alloc node has memory at %#llx", params->free.dptr);
	}
	if (result == CUDA_SUCCESS)
		*out = node;
	else
		node_free(node);
	return result;
}

/* This and all functions below need graphs_lock. */
static CUresult check_dependencies(const struct graph *graph, const struct node *to,
				   const CUgraphNode *dependencies,
				   const CUgraphEdgeData *edges, size_t count)
{
	static unsigned int epoch;
	struct node *node;
	CUresult result;

	epoch++;
	for (size_t i = 0; i < count; i++) {
		result = node_of(dependencies[i], &node);
		if (result != CUDA_SUCCESS)
			return result;
		if (node->graph != graph)
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "dependency %zu is of another graph", i);
		if (node->seen == epoch)
			return fail(CUDA_ERROR_INVALID_VALUE, "dependency %zu is there twice", i);
		node->seen = epoch;
		result = edge_check_nodes(node, to, edge_port(edges, i));
		if (result != CUDA_SUCCESS)
			return result;
	}
	return CUDA_SUCCESS;
}

static bool is_inside(const struct graph *graph, const struct graph *outer)
{
	while (graph != outer && graph->owner)
		graph = graph->owner->graph;
	return graph == outer;
}

static CUresult take_child(struct node *node, struct graph *graph)
{
	CUDA_CHILD_GRAPH_NODE_PARAMS *params = &node->params.graph;
	bool move = params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
	struct graph *child;
	CUresult result = graph_of(params->graph, &child);

	if (result != CUDA_SUCCESS)
		return result;
	if (child == graph || (!move && is_inside(graph, child)))
		return fail(CUDA_ERROR_NOT_SUPPORTED, "a graph in itself");
	if (child->conditional_nodes)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "graphs with conditional nodes are no child graphs");
	if (child->memory_nodes && !move)
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "graphs that allocate or free cannot be copied");
	if (move && (child->owner || child->capture || is_inside(graph, child)))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "the graph is in another, or a stream is captured to it");
	if (graph_level(graph) + 1 + graph_depth(child) > DEPTH_MAX)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "graphs nest %u deep at most", DEPTH_MAX);
	if (!move)
		result = graph_clone(child, &child);
	if (result != CUDA_SUCCESS)
		return result;
	child->owner = node;
	node->child = child;
	params->graph = child->handle;
	return CUDA_SUCCESS;
}

static void leave_child(struct node *node)
{
	if (!node->child)
		return;
	if (node->params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
		node->child->owner = NULL;
	} else {
		graph_withdraw(node->child);
		graph_free(node->child);
	}
	node->child = NULL;
}

static void count_memory_nodes(struct graph *graph, const struct node *node)
{
	size_t count = node->child ? node->child->memory_nodes : !!node->memory;

	graph->memory_nodes += count;
	while (graph->owner) {
		graph = graph->owner->graph;
		graph->memory_nodes += count;
	}
}

static void append(struct graph *graph, struct node *node)
{
	node->graph = graph;
	node->previous = graph->last;
	if (graph->last)
		graph->last->next = node;
	else
		graph->first = node;
	graph->last = node;
	graph->nodes++;
}

static void take_out(struct node *node)
{
	struct graph *graph = node->graph;

	original_forget(node);
	*(node->previous ? &node->previous->next : &graph->first) = node->next;
	*(node->next ? &node->next->previous : &graph->last) = node->previous;
	graph->nodes--;
}

/* On failure the node and the graph are unchanged. */
CUresult node_insert(struct node *node, struct graph *graph, const CUgraphNode *dependencies,
		     const CUgraphEdgeData *edges, size_t count)
{
	bool frees = node->params.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
	CUresult result;

	if (count && !dependencies)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = edges_check(edges, count);
	if (result == CUDA_SUCCESS)
		result = check_dependencies(graph, node, dependencies, edges, count);
	if (result == CUDA_SUCCESS && frees)
		result = memory_insert_free(node->memory, graph);
	if (result != CUDA_SUCCESS)
		return result;
	append(graph, node);
	if (node->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		result = take_child(node, graph);
	if (node->params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		result = condition_insert(node, graph);
	if (result == CUDA_SUCCESS)
		result = condition_allows(graph, node);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = edge_add(node_find(dependencies[i]), node, edge_port(edges, i));
	if (result == CUDA_SUCCESS)
		result = node_register(node);
	if (result == CUDA_SUCCESS) {
		count_memory_nodes(graph, node);
		return result;
	}
	edges_drop(node);
	leave_child(node);
	condition_leave(node);
	take_out(node);
	if (frees)
		memory_remove_free(node->memory, graph);
	return result;
}

/* The caller's parameters stay, but for two outputs: a check fills in the current context. */
CUresult node_add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies,
		  const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params)
{
	CUgraphNodeParams checked;
	struct graph *graph;
	struct node *node;
	CUresult result;

	if (!handle || !graph_handle || !params)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	checked = *params;
	result = params_check(&checked);
	if (result == CUDA_SUCCESS)
		result = node_new(&node, &checked);
	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	result = graph_of(graph_handle, &graph);
	if (result == CUDA_SUCCESS)
		result = node_insert(node, graph, dependencies, edges, count);
	if (result == CUDA_SUCCESS) {
		*handle = node->handle;
		if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
			params->alloc.dptr = node->params.alloc.dptr;
		if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
			params->conditional.phGraph_out = node->params.conditional.phGraph_out;
	}
	graphs_unlock();
	if (result != CUDA_SUCCESS)
		node_free(node);
	return result;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			   const CUgraphEdgeData *edges, size_t count,
			   CUgraphNodeParams *params)
{
	return WHOLE_CALL(node_add(node, graph, dependencies, edges, count, params),
			  node, graph, dependencies, edges, count, params);
}

#undef cuGraphAddNode
EXPORTED CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph,
				 const CUgraphNode *dependencies, size_t count,
				 CUgraphNodeParams *params)
{
	return WHOLE_CALL(node_add(node, graph, dependencies, NULL, count, params),
			  node, graph, dependencies, count, params);
}

/* Pointers in the output point to the node's own arrays. */
CUresult node_get(CUgraphNode handle, CUgraphNodeType type, CUgraphNodeParams *params)
{
	struct node *node;
	CUresult result;

	graphs_lock();
	result = node_of(handle, &node);
	if (result == CUDA_SUCCESS && node->params.type != type)
		result = fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d",
			      node->params.type, type);
	if (result == CUDA_SUCCESS)
		*params = node->params;
	graphs_unlock();
	return result;
}

bool node_can_be_set(CUgraphNodeType type)
{
	return type != CU_GRAPH_NODE_TYPE_EMPTY && type != CU_GRAPH_NODE_TYPE_GRAPH &&
	       type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
	       type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult node_set(CUgraphNode handle, const CUgraphNodeParams *params)
{
	CUgraphNodeParams checked, copy;
	struct node *node;
	CUresult result;

	if (!params)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	checked = *params;
	result = params_check(&checked);
	if (result == CUDA_SUCCESS)
		result = params_copy(&copy, &checked);
	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	result = node_of(handle, &node);
	if (result == CUDA_SUCCESS && node->params.type != params->type)
		result = fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d",
			      node->params.type, params->type);
	else if (result == CUDA_SUCCESS && !node_can_be_set(params->type))
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d stay as they are",
			      params->type);
	if (result == CUDA_SUCCESS)
		result = condition_allows(node->graph, &(struct node) { .params = copy });
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = kernel_node_keep(&copy, &node->params);
	if (result == CUDA_SUCCESS) {
		CUgraphNodeParams before = node->params;

		node->params = copy;
		copy = before;
	}
	graphs_unlock();
	params_free(&copy);
	return result;
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
	return WHOLE_CALL(node_set(node, params), node, params);
}

static CUresult node_destroy(CUgraphNode handle)
{
	struct node *node;
	CUresult result;

	graphs_lock();
	result = node_of(handle, &node);
	if (result == CUDA_SUCCESS && node->graph->memory_nodes)
		result = fail(CUDA_ERROR_NOT_SUPPORTED,
			      "graphs that allocate or free keep their nodes");
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < bodies_count(&node->params); i++)
		if (condition_captured(node->bodies[i]))
			result = fail(CUDA_ERROR_INVALID_VALUE,
				      "a stream is captured to the node: end that first");
	if (result == CUDA_SUCCESS) {
		edges_drop(node);
		take_out(node);
		node_withdraw(node);
	}
	graphs_unlock();
	if (result == CUDA_SUCCESS)
		node_free(node);
	return result;
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
	return WHOLE_CALL(node_destroy(node), node);
}
