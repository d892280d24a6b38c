// SPDX-License-Identifier: MIT
/* Steps: a node's parameters, translated into work. */
#include <stdlib.h>
#include <string.h>

#include "launch/node.h"
#include "plan.h"

static CUresult fill_memops(struct step *step)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params = &step->params.memOp;
	CUresult result = params_device(params->ctx, &step->memops_device);

	if (result != CUDA_SUCCESS)
		return result;
	step->memops = malloc(memops_bytes(params->count));
	if (!step->memops)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for operations");
	return memops_translate(step->memops, params->count, params->paramArray);
}

static CUresult fill_event(struct step *step, CUevent event)
{
	CUresult result = event_get(event, &step->event);

	if (result != CUDA_SUCCESS)
		step->event = NULL;
	return result;
}

static CUresult fill_work(struct step *step)
{
	CUgraphNodeParams *params = &step->params;
	CUresult result;

	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		result = layers_of(&step->layers, &params->memcpy.copyParams);
		params_types(&params->memcpy.copyParams);
		return result == CUDA_SUCCESS ?
			params_device(params->memcpy.copyCtx, &step->layers.copy.device) : result;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		step->fill = fill_of(&params->memset);
		return params_device(params->memset.ctx, &step->fill.device);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return fill_memops(step);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return fill_event(step, params->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return fill_event(step, params->eventWait.event);
	default:
		return CUDA_SUCCESS;
	}
}

/*
 * Fills in a step that has only its place in the plan. step_free() frees it even after a
 * failure.
 */
CUresult step_fill(struct step *step, const CUgraphNodeParams *params, struct memory *memory)
{
	CUresult result = params_copy(&step->params, params);

	if (result == CUDA_SUCCESS && memory)
		step->memory = memory_get(memory);
	return result == CUDA_SUCCESS ? fill_work(step) : result;
}

/* Takes from a copy what it must not share with the original step. */
static void disown(struct step *step)
{
	step->params.type = CU_GRAPH_NODE_TYPE_EMPTY;
	step->memory = NULL;
	step->event = NULL;
	step->condition = NULL;
	step->bodies = NULL;
}

/* Copies the plans of a conditional node's graphs. */
static CUresult copy_bodies(struct step *to, const struct step *from)
{
	uint32_t size = from->params.conditional.size;
	CUresult result = CUDA_SUCCESS;

	to->condition = condition_get(from->condition);
	to->bodies = calloc(size, sizeof(*to->bodies));
	if (!to->bodies)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
	for (uint32_t i = 0; i < size && result == CUDA_SUCCESS; i++)
		result = plan_copy(from->bodies[i], &to->bodies[i]);
	return result;
}

/* Copies a step. It does not look up the context and the event again: they may have ended. */
CUresult step_copy(struct step *to, const struct step *from)
{
	CUgraphNodeParams params;
	CUresult result = params_copy(&params, &from->params);

	*to = *from;
	disown(to);
	if (result != CUDA_SUCCESS)
		return result;
	if (params.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
		to->memops = malloc(memops_bytes(params.memOp.count));
		if (!to->memops) {
			params_free(&params);
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for operations");
		}
		memcpy(to->memops, from->memops, memops_bytes(params.memOp.count));
	}
	to->params = params;
	to->memory = from->memory ? memory_get(from->memory) : NULL;
	to->event = from->event ? event_reference(from->event) : NULL;
	if (params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		return uses_copy(&to->objects, &from->objects);
	return from->bodies ? copy_bodies(to, from) : CUDA_SUCCESS;
}

/* On failure the step is unchanged. @params: the library's own, which this takes */
CUresult step_replace(struct step *step, CUgraphNodeParams *params)
{
	struct step new = *step;
	CUresult result;

	disown(&new);
	new.memops = NULL;
	new.params = *params;
	params->type = CU_GRAPH_NODE_TYPE_EMPTY;	/* nothing to free */
	result = fill_work(&new);
	if (result == CUDA_SUCCESS && new.params.type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = kernel_node_keep(&new.params, &step->params);
	if (result == CUDA_SUCCESS) {
		struct step before = *step;

		*step = new;
		new = before;
	}
	step_free(&new);
	return result;
}

void step_free(struct step *step)
{
	if (step->params.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
		free(step->memops);
	if (step->params.type == CU_GRAPH_NODE_TYPE_GRAPH)
		uses_free(&step->objects);
	if (step->event)
		event_put(step->event);
	if (step->memory)
		memory_put(step->memory);
	for (uint32_t i = 0; step->bodies && i < step->params.conditional.size; i++)
		if (step->bodies[i])
			plan_put(step->bodies[i]);
	free(step->bodies);
	if (step->condition)
		condition_put(step->condition);
	params_free(&step->params);
}
