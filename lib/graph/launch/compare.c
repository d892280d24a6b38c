// SPDX-License-Identifier: MIT
/*
 * Compares a plan with steps that it is to replace. Steps are paired in the order of both plans'
 * walks; cuda.h says of cuGraphExecUpdate() which node is named for which difference.
 */
#include <stdlib.h>

#include "compare.h"
#include "launch/node.h"

static struct difference differ(CUgraphExecUpdateResult result, CUgraphNode node, CUgraphNode from)
{
	return (struct difference) { result, node, from };
}

static struct difference no_difference(void)
{
	return differ(CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL);
}

bool pairs_new(struct pairs *pairs, uint32_t count)
{
	pairs->at = calloc(2 * ((size_t)count + 1), sizeof(*pairs->at));
	if (pairs->at)
		pairs->marks = pairs->at + count + 1;
	return pairs->at;
}

static uint32_t exits_of(const struct plan *plan)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < plan->count; i++)
		count += !plan->steps[i].after_count;
	return count;
}

/* Finds the first node at the new graph's end for which the steps have no pair. */
static struct difference compare_exits(const struct part *part, const struct plan *new)
{
	uint32_t exits = exits_of(part->plan), i = 0;

	/* a child graph's come before the child node's second step: compare_edges() sees that */
	if (part->count != part->plan->count || exits_of(new) <= exits)
		return no_difference();
	while (new->steps[new->walk[i]].after_count || exits--)
		i++;
	return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, new->steps[new->walk[i]].node,
		      NULL);
}

/* Finds a node of the new graph with another number of dependencies than its pair. */
static struct difference compare_counts(const struct part *part, const struct plan *new)
{
	/* steps of a child graph come after the child node's first one, too: compare_edges() */
	bool whole = part->count == part->plan->count;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct step *step = &part->plan->steps[part->walk[i]];
		const struct step *other = &new->steps[new->walk[i]];

		if (step->inner != other->inner || (whole && step->before != other->before))
			return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, other->node,
				      NULL);
	}
	return no_difference();
}

/* Finds an edge of the new graph that the steps do not have; if there is none, counts edges. */
static struct difference compare_edges(const struct part *part, const struct plan *new,
				       const struct pairs *pairs)
{
	size_t count = 0, new_count = 0;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct step *step = &part->plan->steps[part->first + i];
		const struct step *other = &new->steps[pairs->at[i]];

		for (uint32_t k = 0; k < step->after_count; k++) {
			uint32_t to = part->plan->after[step->after + k] - part->first;

			/* not the second step of a child node around these */
			if (to < part->count) {
				pairs->marks[pairs->at[to]] = i + 1;
				count++;
			}
		}
		new_count += other->after_count;
		for (uint32_t k = 0; k < other->after_count; k++) {
			uint32_t to = new->after[other->after + k];

			if (pairs->marks[to] != i + 1)
				return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
					      new->steps[to].node, other->node);
		}
	}
	return count == new_count ? no_difference() :
		differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
}

/* Have two kernels' nodes the same attributes, as far as these cannot change in an instance? */
static bool same_attributes(const struct step *step, const struct step *new, unsigned int flags)
{
	CUlaunchAttributeValue now, then;

	node_attribute(&step->params, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &now);
	node_attribute(&new->params, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &then);
	if (!now.cooperative != !then.cooperative)
		return false;
	node_attribute(&step->params, CU_LAUNCH_ATTRIBUTE_PRIORITY, &now);
	node_attribute(&new->params, CU_LAUNCH_ATTRIBUTE_PRIORITY, &then);
	return !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) ||
	       now.priority == then.priority;
}

static struct difference compare_whole(const struct plan *plan, const struct plan *new,
				       unsigned int flags);

static struct difference compare_steps(const struct step *step, const struct step *new,
				       unsigned int flags)
{
	bool is_kernel = step->params.type == CU_GRAPH_NODE_TYPE_KERNEL;
	struct difference difference = no_difference();

	if (params_may_replace(&step->params, &new->params))
		return differ(is_kernel ? CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE :
					  CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
			      new->node, NULL);
	if (is_kernel && !same_attributes(step, new, flags))
		return differ(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, new->node, NULL);
	for (uint32_t i = 0; i < bodies_count(&step->params) &&
	     difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
		difference = compare_whole(step->bodies[i], new->bodies[i], flags);
	return difference;
}

/* Return: the first difference that keeps a new plan from replacing some steps, or none */
struct difference part_compare(const struct part *part, const struct plan *new,
			       const struct pairs *pairs)
{
	const struct step *steps = &part->plan->steps[part->first];
	struct difference difference;
	uint32_t count = part->count;

	if (new->count != count)
		return differ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
	for (uint32_t i = 0; i < count; i++)
		pairs->at[part->walk[i] - part->first] = new->walk[i];
	difference = compare_exits(part, new);
	if (difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
		difference = compare_counts(part, new);
	if (difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
		difference = compare_edges(part, new, pairs);
	for (uint32_t i = 0; i < count && difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
		if (steps[i].params.type != new->steps[pairs->at[i]].params.type)
			difference = differ(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
					    new->steps[pairs->at[i]].node, NULL);
	for (uint32_t i = 0; i < count && difference.result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
		difference = compare_steps(&steps[i], &new->steps[pairs->at[i]], part->flags);
	return difference;
}

static struct difference compare_whole(const struct plan *plan, const struct plan *new,
				       unsigned int flags)
{
	struct difference difference = differ(CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
	struct part part = part_whole(plan);
	struct pairs pairs;

	part.flags = flags;
	if (pairs_new(&pairs, plan->count))
		difference = part_compare(&part, new, &pairs);
	free(pairs.at);
	return difference;
}
