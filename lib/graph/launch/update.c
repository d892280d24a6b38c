// SPDX-License-Identifier: MIT
/*
 * Changes to instances. Launches under way keep the plan that they began with: a plan to which
 * a launch has a reference is copied before it is changed.
 */
#include <stdlib.h>

#include "compare.h"

/* With the instance's lock held: finds or makes a plan with no other reference, for give_plan() */
static CUresult own_plan(struct instance *instance, struct plan **plan)
{
	if (instance->plan->references > 1)
		return plan_copy(instance->plan, plan);
	*plan = plan_get(instance->plan);
	return CUDA_SUCCESS;
}

static void give_plan(struct instance *instance, struct plan *plan)
{
	plan_put(instance->plan);
	instance->plan = plan;
}

static CUresult step_of(const struct plan *plan, CUgraphNode node, struct step **step)
{
	*step = plan_step(plan, node);
	return *step ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "the instance was not made with node %p",
		     (void *)node);
}

/* With the instance's lock held. @params: the library's own, which this may take */
static CUresult set_step(struct instance *instance, CUgraphNode node, CUgraphNodeParams *params)
{
	struct step *step;
	struct plan *plan;
	void *room;
	CUresult result = step_of(instance->plan, node, &step);

	if (result == CUDA_SUCCESS)
		result = params_may_set(&step->params, params);
	if (result == CUDA_SUCCESS && !node_can_be_set(params->type))
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d stay as they are",
			      params->type);
	if (result == CUDA_SUCCESS)
		result = own_plan(instance, &plan);
	if (result != CUDA_SUCCESS)
		return result;
	room = plan_room(plan);
	step = plan_step(plan, node);
	result = room ? step_replace(step, params) :
			 fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a change");
	if (result == CUDA_SUCCESS) {
		if (step->event)
			plan_resolve(plan, room);
		give_plan(instance, plan);
	} else {
		plan_put(plan);
	}
	free(room);
	return result;
}

/* @change: the new state, or NULL; @enabled: output, or NULL */
static CUresult instance_enable(CUgraphExec handle, CUgraphNode node, const unsigned int *change,
				unsigned int *enabled)
{
	struct instance *instance;
	struct plan *plan;
	struct step *step;
	CUresult result = instance_get(handle, &instance);

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&instance->lock);
	result = step_of(instance->plan, node, &step);
	if (result == CUDA_SUCCESS && step->params.type != CU_GRAPH_NODE_TYPE_MEMCPY &&
	    step->params.type != CU_GRAPH_NODE_TYPE_MEMSET &&
	    step->params.type != CU_GRAPH_NODE_TYPE_KERNEL)
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "only kernels, copies and fills can be left out");
	if (result == CUDA_SUCCESS && enabled)
		*enabled = !step->disabled;
	if (result == CUDA_SUCCESS && change) {
		result = own_plan(instance, &plan);
		if (result == CUDA_SUCCESS) {
			plan_step(plan, node)->disabled = !*change;
			give_plan(instance, plan);
		}
	}
	pthread_mutex_unlock(&instance->lock);
	instance_put(instance);
	return result;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec instance, CUgraphNode node, unsigned int enabled)
{
	return WHOLE_CALL(instance_enable(instance, node, &enabled, NULL), instance, node, enabled);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec instance, CUgraphNode node, unsigned int *enabled)
{
	return WHOLE_CALL(enabled ? instance_enable(instance, node, NULL, enabled) :
				    fail(CUDA_ERROR_INVALID_VALUE, "NULL output"),
			  instance, node, enabled);
}

static void exchange_objects(struct uses *objects, struct uses *with)
{
	struct uses before = *objects;

	*objects = *with;
	*with = before;
}

/* Exchanges what two plans keep alive, beside what their steps do. */
static void exchange_kept(struct plan *plan, struct plan *with)
{
	struct conditions conditions = plan->conditions;

	plan->conditions = with->conditions;
	with->conditions = conditions;
	exchange_objects(&plan->objects, &with->objects);
}

static void exchange_bodies(struct step *step, struct step *with);

/*
 * Exchanges what two steps do; their places in their plans stay. The steps of a conditional node's
 * graphs are exchanged one by one, as their places stay, too.
 */
static void exchange(struct step *step, struct step *with)
{
	struct step before = *step;

	*step = *with;
	step->node = before.node;
	step->disabled = before.disabled;
	step->before = before.before;
	step->after = before.after;
	step->after_count = before.after_count;
	*with = before;
	exchange_bodies(step, with);
}

static void exchange_bodies(struct step *step, struct step *with)
{
	struct plan **bodies = step->bodies;

	step->bodies = with->bodies;
	with->bodies = bodies;
	for (uint32_t i = 0; i < bodies_count(&step->params); i++) {
		struct plan *to = step->bodies[i], *from = with->bodies[i];

		exchange_kept(to, from);
		for (uint32_t k = 0; k < to->count; k++)
			exchange(&to->steps[to->walk[k]], &from->steps[from->walk[k]]);
	}
}

/* Is a step of the plan itself, not of a conditional node's graph? */
static bool is_step_of(const struct plan *plan, const struct step *step)
{
	return (uintptr_t)step - (uintptr_t)plan->steps < plan->count * sizeof(*step);
}

/* Finds the steps inside of a child node's two; they are one behind the other in the walk, too. */
static struct part part_inside(const struct plan *plan, const struct step *child)
{
	uint32_t number = child - plan->steps, at = 0;

	while (plan->walk[at] != number)
		at++;
	return (struct part) {
		.plan = plan, .first = number + 1, .count = child->inner,
		.walk = &plan->walk[at + 1],
	};
}

/*
 * With the instance's lock held: puts a new plan in the place of some steps, or of all. @child:
 * the node whose graph is replaced, or NULL
 */
static CUresult put_in(struct instance *instance, CUgraphNode child, struct plan *new,
		       struct difference *difference)
{
	struct part part = part_whole(instance->plan);
	struct step *step;
	struct plan *plan;
	struct pairs pairs;
	void *room;
	CUresult result = CUDA_SUCCESS;

	if (child) {
		result = step_of(instance->plan, child, &step);
		if (result == CUDA_SUCCESS && step->params.type != CU_GRAPH_NODE_TYPE_GRAPH)
			result = fail(CUDA_ERROR_INVALID_VALUE, "not a child node");
		else if (result == CUDA_SUCCESS && !is_step_of(instance->plan, step))
			result = fail(CUDA_ERROR_NOT_SUPPORTED,
				      "child graphs in those of conditional nodes stay as they are");
		if (result != CUDA_SUCCESS)
			return result;
		part = part_inside(instance->plan, step);
	}
	part.flags = instance->flags;
	room = plan_room(instance->plan);
	if (!pairs_new(&pairs, part.count) || !room) {
		free(pairs.at);
		free(room);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a change");
	}
	*difference = part_compare(&part, new, &pairs);
	if (difference->result == CU_GRAPH_EXEC_UPDATE_ERROR)
		result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a change");
	else if (difference->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
		result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	else
		result = own_plan(instance, &plan);
	if (result == CUDA_SUCCESS) {
		for (uint32_t i = 0; i < part.count; i++)
			exchange(&plan->steps[part.first + i], &new->steps[pairs.at[i]]);
		if (child)
			exchange_objects(&plan->steps[part.first - 1].objects, &new->objects);
		else
			exchange_kept(plan, new);
		if (plan->events)
			plan_resolve(plan, room);
		give_plan(instance, plan);
	}
	free(pairs.at);
	free(room);
	return result;
}

static const char *why(CUgraphExecUpdateResult result)
{
	switch (result) {
	case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
		return "the graphs differ in their nodes or edges";
	case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
		return "a node is of another type";
	case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
		return "a kernel is of another context";
	case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
		return "a kernel has another priority, or is cooperative in one graph only";
	default:
		return "a node has parameters that cannot change";
	}
}

static CUresult instance_update(CUgraphExec handle, CUgraphNode child, CUgraph graph,
				struct difference *difference)
{
	struct instance *instance;
	CUgraphNode error = NULL;
	struct plan *new;
	CUresult result = instance_get(handle, &instance);

	if (result != CUDA_SUCCESS)
		return result;
	result = graph_plan(graph, &new, &error);
	if (error) {
		*difference = (struct difference) { CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
						    error, NULL };
		result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	} else if (result == CUDA_SUCCESS) {
		pthread_mutex_lock(&instance->lock);
		result = put_in(instance, child, new, difference);
		pthread_mutex_unlock(&instance->lock);
		plan_put(new);
	}
	instance_put(instance);
	if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
		fail(result, "%s", why(difference->result));
	return result;
}

DEFINE_WHOLE_CALL(cuGraphExecUpdate_v2, (CUgraphExec instance, CUgraph graph,
					 CUgraphExecUpdateResultInfo *info),
		  instance, graph, info)
{
	struct difference difference = {};
	CUresult result = instance_update(instance, NULL, graph, &difference);

	if (info)
		*info = (CUgraphExecUpdateResultInfo) { difference.result, difference.node,
							difference.from };
	return result;
}

static CUresult update_older(CUgraphExec instance, CUgraph graph, CUgraphNode *error_node,
			     CUgraphExecUpdateResult *why_not)
{
	struct difference difference = {};
	CUresult result = instance_update(instance, NULL, graph, &difference);

	if (error_node)
		*error_node = difference.node;
	if (why_not)
		*why_not = difference.result;
	return result;
}

#undef cuGraphExecUpdate
EXPORTED CUresult cuGraphExecUpdate(CUgraphExec instance, CUgraph graph,
				    CUgraphNode *error_node, CUgraphExecUpdateResult *result)
{
	return WHOLE_CALL(update_older(instance, graph, error_node, result),
			  instance, graph, error_node, result);
}

static CUresult set_child(CUgraphExec instance, CUgraphNode node, CUgraph graph)
{
	struct difference difference = {};

	return node ? instance_update(instance, node, graph, &difference) :
		      fail(CUDA_ERROR_INVALID_VALUE, "NULL node");
}

DEFINE_WHOLE_CALL(cuGraphExecChildGraphNodeSetParams, (CUgraphExec instance, CUgraphNode node,
						       CUgraph graph),
		  instance, node, graph)
{
	return set_child(instance, node, graph);
}

CUresult instance_set_node(CUgraphExec handle, CUgraphNode node, const CUgraphNodeParams *params)
{
	CUgraphNodeParams checked, copy;
	struct instance *instance;
	CUresult result;

	if (!params)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	checked = *params;
	result = params_check(&checked);
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_GRAPH)
		return set_child(handle, node, params->graph.graph);
	if (result == CUDA_SUCCESS)
		result = params_copy(&copy, &checked);
	if (result != CUDA_SUCCESS)
		return result;
	result = instance_get(handle, &instance);
	if (result == CUDA_SUCCESS) {
		pthread_mutex_lock(&instance->lock);
		result = set_step(instance, node, &copy);
		pthread_mutex_unlock(&instance->lock);
		instance_put(instance);
	}
	params_free(&copy);
	return result;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec instance, CUgraphNode node,
				  CUgraphNodeParams *params)
{
	return WHOLE_CALL(instance_set_node(instance, node, params), instance, node, params);
}
