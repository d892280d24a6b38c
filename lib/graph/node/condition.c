// SPDX-License-Identifier: MIT
/*
 * Conditions, which kernels set and conditional nodes look at, and the graphs that such a node does
 * by them. A condition lives as long as its graph and the plans that were made of it. As its value
 * is one for all, a graph with conditional nodes has one instance and no copy, as on hardware; only
 * an update can put it into another instance as well, whose launches then share the value.
 */
#include <stdlib.h>

#include "context/context.h"
#include "graph/graph.h"
#include "launch/node.h"

struct condition {
	uintptr_t handle;
	unsigned int references;	/* under references_lock */
	struct condition *next;		/* of the same graph */
	const struct graph *graph;	/* under graphs_lock; NULL once its handle has ended */
	const struct node *node;	/* under graphs_lock: the node that looks at it, or NULL */
	CUcontext context;
	unsigned int initial;
	bool assigned;			/* a launch sets it to what it was initially */
	atomic_uint value;
};

/* Innermost but for the table's: kernels find conditions while others end. */
static pthread_mutex_t references_lock = PTHREAD_MUTEX_INITIALIZER;

static void condition_found(void *condition)
{
	((struct condition *)condition)->references++;
}

static struct table table = TABLE(condition_found);

struct condition *condition_get(struct condition *condition)
{
	pthread_mutex_lock(&references_lock);
	condition->references++;
	pthread_mutex_unlock(&references_lock);
	return condition;
}

void condition_put(struct condition *condition)
{
	bool last;

	pthread_mutex_lock(&references_lock);
	last = !--condition->references;
	if (last)
		table_remove(&table, (void *)condition->handle);
	pthread_mutex_unlock(&references_lock);
	if (last)
		free(condition);
}

static struct condition *condition_find(uint64_t handle)
{
	struct condition *condition;

	pthread_mutex_lock(&references_lock);
	condition = handle ? table_find(&table, (void *)(uintptr_t)handle) : NULL;
	pthread_mutex_unlock(&references_lock);
	return condition;
}

/* A kernel sets a condition. Return: is there one with this handle? */
static bool condition_set(uint64_t handle, uint32_t value)
{
	struct condition *condition = condition_find(handle);

	if (!condition)
		return false;
	condition->value = value;
	condition_put(condition);
	return true;
}

unsigned int condition_value(const struct condition *condition)
{
	return condition->value;
}

/* Sets what a launch begins with. */
void conditions_reset(const struct conditions *conditions)
{
	for (uint32_t i = 0; i < conditions->count; i++)
		if (conditions->at[i]->assigned)
			conditions->at[i]->value = conditions->at[i]->initial;
}

/* Fills in conditions, which are empty, with a graph's or with others. */
CUresult conditions_copy(struct conditions *to, const struct graph *graph,
			 const struct conditions *from)
{
	struct condition *first = graph ? graph->conditions : NULL;
	uint32_t count = from ? from->count : 0;

	for (const struct condition *at = first; at; at = at->next)
		count++;
	to->at = count ? malloc(count * sizeof(*to->at)) : NULL;
	if (count && !to->at)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for conditions");
	for (struct condition *at = first; at; at = at->next)
		to->at[to->count++] = condition_get(at);
	for (uint32_t i = 0; from && i < from->count; i++)
		to->at[to->count++] = condition_get(from->at[i]);
	return CUDA_SUCCESS;
}

void conditions_put(struct conditions *conditions)
{
	while (conditions->count)
		condition_put(conditions->at[--conditions->count]);
	free(conditions->at);
	conditions->at = NULL;
}

/* A graph's handle ends, with graphs_lock held: no node finds its conditions any more. */
void conditions_withdraw(struct graph *graph)
{
	for (struct condition *at = graph->conditions; at; at = at->next)
		at->graph = NULL;
}

void conditions_free(struct graph *graph)
{
	struct condition *next;

	for (struct condition *at = graph->conditions; at; at = next) {
		next = at->next;
		condition_put(at);
	}
	graph->conditions = NULL;
}

static bool has_unused(const struct graph *graph)
{
	for (const struct condition *at = graph->conditions; at; at = at->next)
		if (!at->node)
			return true;
	for (const struct node *node = graph->first; node; node = node->next)
		for (uint32_t i = 0; i < bodies_count(&node->params); i++)
			if (has_unused(node->bodies[i]))
				return true;
	return false;
}

/* Has a graph, or one of its conditional nodes, a condition that no node looks at? */
bool conditions_unused(CUgraph handle)
{
	struct graph *graph;
	bool unused;

	graphs_lock();
	graph = graph_find(handle);
	unused = graph && has_unused(graph);
	graphs_unlock();
	return unused;
}

CUresult condition_check(CUDA_CONDITIONAL_NODE_PARAMS *params)
{
	struct slot *slot;
	CUresult result = context_find(params->ctx, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	params->ctx = context_value(slot);
	if (params->type > CU_GRAPH_COND_TYPE_SWITCH)
		return fail(CUDA_ERROR_INVALID_VALUE, "no conditional type %d", params->type);
	if (!params->size || (params->type == CU_GRAPH_COND_TYPE_IF && params->size > 2) ||
	    (params->type == CU_GRAPH_COND_TYPE_WHILE && params->size > 1))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "%u graphs: IF has 1 or 2, WHILE 1, SWITCH 1 or more", params->size);
	if (params->size >= TABLE_FIRST)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "%u graphs are too many", params->size);
	return CUDA_SUCCESS;
}

static bool is_of(const struct condition *condition, const struct graph *graph)
{
	while (graph != condition->graph && graph->owner)
		graph = graph->owner->graph;
	return graph == condition->graph;
}

/* With graphs_lock held, as what follows: may the node look at the condition? */
static CUresult may_look(const struct condition *condition, const struct node *node,
			 const struct graph *graph)
{
	const CUDA_CONDITIONAL_NODE_PARAMS *params = &node->params.conditional;

	if (!condition || !is_of(condition, graph))
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is no handle of this graph",
			    (unsigned long long)params->handle);
	if (condition->node)
		return fail(CUDA_ERROR_INVALID_VALUE, "another node has the handle");
	if (condition->context != params->ctx)
		return fail(CUDA_ERROR_INVALID_VALUE, "the handle is of another context");
	return CUDA_SUCCESS;
}

static CUresult make_bodies(struct node *node)
{
	CUDA_CONDITIONAL_NODE_PARAMS *params = &node->params.conditional;
	CUresult result = CUDA_SUCCESS;

	node->bodies = calloc(params->size, sizeof(*node->bodies));
	params->phGraph_out = calloc(params->size, sizeof(*params->phGraph_out));
	if (!node->bodies || !params->phGraph_out)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u graphs", params->size);
	for (uint32_t i = 0; i < params->size && result == CUDA_SUCCESS; i++) {
		result = graph_new(&node->bodies[i]);
		if (result != CUDA_SUCCESS)
			break;
		node->bodies[i]->owner = node;
		params->phGraph_out[i] = node->bodies[i]->handle;
	}
	return result;
}

/* Ties a conditional node that comes into a graph to its condition, and makes its graphs. */
CUresult condition_insert(struct node *node, struct graph *graph)
{
	struct condition *condition = condition_find(node->params.conditional.handle);
	CUresult result = may_look(condition, node, graph);

	if (result == CUDA_SUCCESS && graph->owner &&
	    graph->owner->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "graphs of child nodes have no conditions");
	if (result == CUDA_SUCCESS && graph_level(graph) + 2 > DEPTH_MAX)
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "graphs nest %u deep at most", DEPTH_MAX);
	if (result != CUDA_SUCCESS) {
		if (condition)
			condition_put(condition);
		return result;
	}
	condition->node = node;
	node->condition = condition;
	graph->conditional_nodes++;
	return make_bodies(node);
}

/* A node leaves its graph, or has not come into it: the handles of its graphs end. */
void condition_leave(struct node *node)
{
	if (!node->condition)
		return;
	node->graph->conditional_nodes--;
	node->condition->node = NULL;
	condition_put(node->condition);
	node->condition = NULL;
	for (uint32_t i = 0; node->bodies && i < node->params.conditional.size; i++)
		if (node->bodies[i])
			graph_withdraw(node->bodies[i]);
}

/* Frees the graphs of a node, without graphs_lock. */
void condition_free_bodies(struct node *node)
{
	for (uint32_t i = 0; node->bodies && i < node->params.conditional.size; i++)
		if (node->bodies[i])
			graph_free(node->bodies[i]);
	free(node->bodies);
}

static bool is_allowed(CUgraphNodeType type)
{
	return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY ||
	       type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

static CUresult all_allowed(const struct node *node, CUcontext context)
{
	const CUgraphNodeParams *params = &node->params;
	CUresult result = CUDA_SUCCESS;

	if (!is_allowed(node->params.type))
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "a conditional node's graphs have no nodes of type %d",
			    node->params.type);
	if (params->type == CU_GRAPH_NODE_TYPE_KERNEL && params->kernel.ctx &&
	    params->kernel.ctx != context)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "the kernel is of another context than the conditional node");
	if (node->child)
		for (node = node->child->first; node && result == CUDA_SUCCESS; node = node->next)
			result = all_allowed(node, context);
	return result;
}

/* May a graph have the node? Those of conditional nodes take some types only, however deep. */
CUresult condition_allows(const struct graph *graph, const struct node *node)
{
	while (graph->owner && graph->owner->params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
		graph = graph->owner->graph;
	return graph->owner ? all_allowed(node, graph->owner->params.conditional.ctx) : CUDA_SUCCESS;
}

/* Is a stream captured to a graph, or to one of its conditional nodes? */
bool condition_captured(const struct graph *graph)
{
	if (graph->capture)
		return true;
	for (const struct node *node = graph->first; node; node = node->next)
		for (uint32_t i = 0; i < bodies_count(&node->params); i++)
			if (condition_captured(node->bodies[i]))
				return true;
	return false;
}

static CUresult condition_create(CUgraphConditionalHandle *handle, CUgraph graph_handle,
				 CUcontext context, unsigned int initial, unsigned int flags)
{
	struct condition *condition;
	struct graph *graph;
	struct slot *slot;
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	result = context_find(context, &slot);
	if (result != CUDA_SUCCESS)
		return result;
	condition = calloc(1, sizeof(*condition));
	if (!condition)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a condition");
	*condition = (struct condition) { .references = 1, .context = context_value(slot),
					  .initial = initial, .value = initial,
					  .assigned = flags & CU_GRAPH_COND_ASSIGN_DEFAULT };
	translated_conditions(condition_set);
	graphs_lock();
	result = graph_of(graph_handle, &graph);
	if (result == CUDA_SUCCESS) {
		condition->handle = table_add(&table, condition);
		if (!condition->handle)
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "too many conditions");
	}
	if (result == CUDA_SUCCESS) {
		condition->graph = graph;
		condition->next = graph->conditions;
		graph->conditions = condition;
		*handle = condition->handle;
	}
	graphs_unlock();
	if (result != CUDA_SUCCESS)
		free(condition);
	return result;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
					CUcontext context, unsigned int initial,
					unsigned int flags)
{
	return WHOLE_CALL(condition_create(handle, graph, context, initial, flags),
			  handle, graph, context, initial, flags);
}
