// SPDX-License-Identifier: MIT
/* Plans: made of a graph, copied, shared between an instance and its launches. */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

static struct plan *plan_alloc(uint32_t count)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->references = 1;
	plan->steps = calloc(count + 1, sizeof(*plan->steps));
	plan->order = calloc(count + 1, sizeof(*plan->order));
	plan->walk = calloc(count + 1, sizeof(*plan->walk));
	plan->by_node = calloc(count + 1, sizeof(*plan->by_node));
	if (plan->steps)
		plan->count = count;
	for (uint32_t i = 0; i < plan->count; i++)
		plan->steps[i].params.type = CU_GRAPH_NODE_TYPE_EMPTY;
	if (plan->steps && plan->order && plan->walk && plan->by_node)
		return plan;
	plan_put(plan);
	return NULL;
}

struct plan *plan_get(struct plan *plan)
{
	plan->references++;
	return plan;
}

void plan_put(struct plan *plan)
{
	if (--plan->references)
		return;
	for (uint32_t i = 0; i < plan->count; i++)
		step_free(&plan->steps[i]);
	uses_free(&plan->objects);
	conditions_put(&plan->conditions);
	free(plan->steps);
	free(plan->after);
	free(plan->order);
	free(plan->walk);
	free(plan->by_node);
	free(plan);
}

static int plan_compare(const void *one, const void *other)
{
	uintptr_t a = (uintptr_t)((const struct by_node *)one)->node;
	uintptr_t b = (uintptr_t)((const struct by_node *)other)->node;

	return a < b ? -1 : a > b;
}

struct step *plan_step(const struct plan *plan, CUgraphNode node)
{
	struct by_node key = { .node = node };
	const struct by_node *found = bsearch(&key, plan->by_node, plan->by_node_count,
					      sizeof(key), plan_compare);

	if (found)
		return &plan->steps[found->step];
	for (uint32_t i = 0; i < plan->count; i++) {
		struct step *step = &plan->steps[i], *inner = NULL;

		for (uint32_t k = 0; k < bodies_count(&step->params) && !inner; k++)
			inner = plan_step(step->bodies[k], node);
		if (inner)
			return inner;
	}
	return NULL;
}

static CUresult plan_bodies(struct step *step, const struct node *node, CUgraphNode *error)
{
	uint32_t size = node->params.conditional.size;
	CUresult result = CUDA_SUCCESS;

	step->condition = condition_get(node->condition);
	step->bodies = calloc(size, sizeof(*step->bodies));
	if (!step->bodies)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	for (uint32_t i = 0; i < size && result == CUDA_SUCCESS; i++)
		result = plan_new(node->bodies[i], &step->bodies[i], error);
	return result;
}

static CUresult plan_fill(struct plan *plan, const struct graph *graph, CUgraphNode *error)
{
	CUresult result = CUDA_SUCCESS;

	for (const struct node *node = graph->first; node && result == CUDA_SUCCESS;
	     node = node->next) {
		struct step *step = &plan->steps[node->first];

		plan->steps[node->last].node = step->node = node->handle;
		step->inner = node->child ? node->last - node->first - 1 : 0;
		plan->by_node[plan->by_node_count++] = (struct by_node) { node->handle,
									  node->first };
		result = step_fill(step, &node->params, node->memory);
		if (result == CUDA_SUCCESS && node->child)
			result = uses_copy(&step->objects, &node->child->objects);
		if (result == CUDA_SUCCESS && node->child)
			result = plan_fill(plan, node->child, error);
		if (result == CUDA_SUCCESS && node->condition)
			result = plan_bodies(step, node, error);
	}
	return result;
}

/* Finds what a launch has to prepare, and for each waiting step the record that it waits for. */
CUresult plan_look(struct plan *plan)
{
	void *room;

	plan->waits = false;
	plan->events = plan->memory_steps = 0;
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct step *step = &plan->steps[i];

		plan->events += !!step->event;
		plan->memory_steps += !!step->memory;
		if (step->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ||
		    (step->params.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP &&
		     memops_wait(step->memops)))
			plan->waits = true;
	}
	if (!plan->events)
		return CUDA_SUCCESS;
	room = plan_room(plan);
	if (!room)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	plan_resolve(plan, room);
	free(room);
	return CUDA_SUCCESS;
}

/* A capture fails if the program uses its graph, or a graph around it, meanwhile. */
static CUresult check_capture(const struct graph *graph)
{
	if (!graph->capture)
		return CUDA_SUCCESS;
	capture_fail(graph->capture);
	return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		    "a stream is captured to the graph: end that first");
}

/*
 * With graphs_lock held. @error: output, a node of a cycle, or NULL. The caller calls
 * plan_look().
 */
CUresult plan_new(const struct graph *graph, struct plan **out, CUgraphNode *error)
{
	uint32_t count = 0, cycle;
	struct plan *plan;
	CUresult result = check_capture(graph);

	*error = NULL;
	if (result == CUDA_SUCCESS)
		result = plan_number(graph, &count);
	if (result != CUDA_SUCCESS)
		return result;
	plan = plan_alloc(count);
	if (!plan)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	result = plan_fill(plan, graph, error);
	if (result == CUDA_SUCCESS)
		result = uses_copy(&plan->objects, &graph->objects);
	if (result == CUDA_SUCCESS)
		result = conditions_copy(&plan->conditions, graph, NULL);
	if (result == CUDA_SUCCESS) {
		result = plan_connect(plan, graph, &cycle);
		if (cycle != NO_STEP)
			*error = plan->steps[cycle].node;
	}
	if (result == CUDA_SUCCESS)
		result = plan_walk(plan, graph);
	if (result != CUDA_SUCCESS) {
		plan_put(plan);
		return result;
	}
	qsort(plan->by_node, plan->by_node_count, sizeof(*plan->by_node), plan_compare);
	*out = plan;
	return CUDA_SUCCESS;
}

static size_t count_after(const struct plan *plan)
{
	const struct step *last = &plan->steps[plan->count - 1];

	return plan->count ? last->after + last->after_count : 0;
}

CUresult plan_copy(const struct plan *plan, struct plan **out)
{
	struct plan *copy = plan_alloc(plan->count);
	CUresult result;

	if (!copy)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	copy->after = malloc((count_after(plan) + 1) * sizeof(*copy->after));
	result = copy->after ? uses_copy(&copy->objects, &plan->objects) :
			       fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	if (result == CUDA_SUCCESS)
		result = conditions_copy(&copy->conditions, NULL, &plan->conditions);
	for (uint32_t i = 0; i < plan->count && result == CUDA_SUCCESS; i++)
		result = step_copy(&copy->steps[i], &plan->steps[i]);
	if (result != CUDA_SUCCESS) {
		plan_put(copy);
		return result;
	}
	memcpy(copy->after, plan->after, count_after(plan) * sizeof(*copy->after));
	memcpy(copy->order, plan->order, plan->count * sizeof(*copy->order));
	memcpy(copy->walk, plan->walk, plan->count * sizeof(*copy->walk));
	memcpy(copy->by_node, plan->by_node, plan->by_node_count * sizeof(*copy->by_node));
	copy->by_node_count = plan->by_node_count;
	copy->events = plan->events;
	copy->memory_steps = plan->memory_steps;
	copy->waits = plan->waits;
	*out = copy;
	return CUDA_SUCCESS;
}
