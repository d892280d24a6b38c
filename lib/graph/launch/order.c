// SPDX-License-Identifier: MIT
/*
 * Finds which step comes after which, an order in which all can be done, and one in which steps of
 * like graphs are paired. All but plan_resolve() need graphs_lock.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* Numbers the steps of a graph and of the child graphs in it. */
CUresult plan_number(const struct graph *graph, uint32_t *count)
{
	CUresult result = CUDA_SUCCESS;

	for (struct node *node = graph->first; node && result == CUDA_SUCCESS; node = node->next) {
		if (*count >= NO_STEP / 2)
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many nodes");
		node->first = (*count)++;
		if (node->child)
			result = plan_number(node->child, count);
		node->last = node->child ? (*count)++ : node->first;
	}
	return result;
}

/* The first pass counts edges, the second fills them in. */
struct pass {
	struct plan *plan;
	size_t count;
	bool fill;
};

static void connect(struct pass *pass, uint32_t from, uint32_t to)
{
	struct step *step = &pass->plan->steps[from];

	pass->count++;
	if (pass->fill)
		pass->plan->after[step->after + step->after_count] = to;
	else
		pass->plan->steps[to].before++;
	step->after_count++;
}

/* @first, @last: the steps of the child node that has the graph, or NO_STEP */
static void connect_graph(struct pass *pass, const struct graph *graph, uint32_t first,
			  uint32_t last)
{
	for (const struct node *node = graph->first; node; node = node->next) {
		for (size_t i = 0; i < node->to.count; i++)
			connect(pass, node->last, node->to.at[i].node->first);
		if (first != NO_STEP && !node->from.count)
			connect(pass, first, node->first);
		if (last != NO_STEP && !node->to.count)
			connect(pass, node->last, last);
		if (node->child)
			connect_graph(pass, node->child, node->first, node->last);
	}
	if (first != NO_STEP && !graph->first)
		connect(pass, first, last);
}

/*
 * Puts each step in the order as soon as all steps before it are there. Return: how many have a
 * place.
 */
static uint32_t find_order(struct plan *plan, uint32_t *left)
{
	uint32_t at, count = 0;

	for (uint32_t i = 0; i < plan->count; i++) {
		left[i] = plan->steps[i].before;
		if (!left[i])
			plan->order[count++] = i;
	}
	for (at = 0; at < count; at++) {
		const struct step *step = &plan->steps[plan->order[at]];

		for (uint32_t i = 0; i < step->after_count; i++)
			if (!--left[plan->after[step->after + i]])
				plan->order[count++] = plan->after[step->after + i];
	}
	return count;
}

static bool is_order(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->count; i++)
		for (uint32_t k = 0; k < plan->steps[i].after_count; k++)
			if (plan->after[plan->steps[i].after + k] <= i)
				return false;
	return true;
}

/* Return: a step without a place in the order: it is on a cycle, or behind one. */
static uint32_t find_cycle(const struct plan *plan, const uint32_t *left)
{
	uint32_t i = 0;

	while (i < plan->count && !left[i])
		i++;
	return i;
}

/* @cycle: output, a step of a cycle, or NO_STEP */
CUresult plan_connect(struct plan *plan, const struct graph *graph, uint32_t *cycle)
{
	struct pass pass = { .plan = plan };
	uint32_t *left, at = 0;

	*cycle = NO_STEP;
	connect_graph(&pass, graph, NO_STEP, NO_STEP);
	plan->after = malloc((pass.count + 1) * sizeof(*plan->after));
	left = malloc((plan->count + 1) * sizeof(*left));
	if (!plan->after || !left || pass.count >= NO_STEP) {
		free(left);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for edges");
	}
	for (uint32_t i = 0; i < plan->count; i++) {
		plan->steps[i].after = at;
		at += plan->steps[i].after_count;
		plan->steps[i].after_count = 0;
	}
	pass.fill = true;
	connect_graph(&pass, graph, NO_STEP, NO_STEP);

	if (is_order(plan))
		for (uint32_t i = 0; i < plan->count; i++)
			plan->order[i] = i;
	else if (find_order(plan, left) < plan->count)
		*cycle = find_cycle(plan, left);
	free(left);
	return *cycle == NO_STEP ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "the edges form a cycle");
}

struct walk {
	struct plan *plan;
	uint32_t count;
	bool *seen;			/* for each step */
	struct visit {
		const struct node *node;
		size_t at;		/* how many of its edges were followed */
	} *stack;
};

static void walk_graph(struct walk *walk, const struct graph *graph, struct visit *stack);

/* Puts a node into the walk behind all that it depends on. @stack: room for all nodes left */
static void walk_to(struct walk *walk, const struct node *node, struct visit *stack)
{
	struct visit *top = stack;

	*top = (struct visit) { .node = node };
	while (top >= stack) {
		node = top->node;
		if (top->at < node->from.count) {
			node = node->from.at[top->at++].node;
			if (!walk->seen[node->first])
				*++top = (struct visit) { .node = node };
			walk->seen[node->first] = true;
			continue;
		}
		walk->plan->walk[walk->count++] = node->first;
		if (node->child) {
			walk_graph(walk, node->child, top + 1);
			walk->plan->walk[walk->count++] = node->last;
		}
		top--;
	}
}

static void walk_graph(struct walk *walk, const struct graph *graph, struct visit *stack)
{
	for (const struct node *node = graph->first; node; node = node->next)
		if (!node->to.count)
			walk_to(walk, node, stack);
}

/*
 * Walks from each node that no other depends on along its edges, in the order in which these were
 * added. NVIDIA's driver pairs the nodes of two graphs so: programs may add nodes in another order.
 * The graph has no cycle.
 */
CUresult plan_walk(struct plan *plan, const struct graph *graph)
{
	struct walk walk = { .plan = plan };

	walk.seen = calloc(plan->count + 1, sizeof(*walk.seen));
	walk.stack = calloc(plan->count + 1, sizeof(*walk.stack));
	if (walk.seen && walk.stack)
		walk_graph(&walk, graph, walk.stack);
	free(walk.seen);
	free(walk.stack);
	return walk.seen && walk.stack ? CUDA_SUCCESS :
		fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
}

/* A step that records an event, or waits for it */
struct mention {
	struct event *event;
	uint32_t at;			/* place in the plan's order */
	bool records;
};

static int order_compare(const void *one, const void *other)
{
	const struct mention *a = one, *b = other;

	if (a->event != b->event)
		return (uintptr_t)a->event < (uintptr_t)b->event ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/*
 * Finds, for the steps that wait for one event, the last record before each. Walks from the
 * first record to the last wait, and hands each step's last record on to those that follow it.
 * @places: of the steps, in the order; @last: room for all steps
 */
static void resolve_event(struct plan *plan, const struct mention *mentions, size_t count,
			  const uint32_t *places, uint32_t *last)
{
	size_t first = 0;
	uint32_t end;

	while (first < count && !mentions[first].records)
		first++;
	while (count > first && mentions[count - 1].records)
		count--;
	if (first == count)
		return;
	end = mentions[count - 1].at;
	for (uint32_t at = mentions[first].at; at <= end; at++)
		last[plan->order[at]] = NO_STEP;
	for (uint32_t at = mentions[first].at; at <= end; at++) {
		uint32_t number = plan->order[at], found = last[number];
		struct step *step = &plan->steps[number];

		if (step->event == mentions->event &&
		    step->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
			found = number;
		else if (step->event == mentions->event)
			step->record = found;
		for (uint32_t i = 0; i < step->after_count && found != NO_STEP; i++) {
			uint32_t after = plan->after[step->after + i];

			if (places[after] <= end && (last[after] == NO_STEP ||
						     places[found] > places[last[after]]))
				last[after] = found;
		}
	}
}

/* Return: room for plan_resolve(), to be freed; NULL: no memory */
void *plan_room(const struct plan *plan)
{
	return malloc((plan->count + 1) * (sizeof(struct mention) + 2 * sizeof(uint32_t)));
}

/*
 * Finds for each step that waits for an event the record before it in the plan, if there is
 * one. @room: of plan_room()
 */
void plan_resolve(struct plan *plan, void *room)
{
	struct mention *mentions = room;
	uint32_t *places = (uint32_t *)(mentions + plan->count), *last = places + plan->count;
	size_t count = 0, first, end;

	for (uint32_t at = 0; at < plan->count; at++) {
		struct step *step = &plan->steps[plan->order[at]];

		places[plan->order[at]] = at;
		step->record = NO_STEP;
		if (step->event)
			mentions[count++] = (struct mention) {
				step->event, at,
				step->params.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD,
			};
	}
	qsort(mentions, count, sizeof(*mentions), order_compare);
	for (first = 0; first < count; first = end) {
		for (end = first; end < count && mentions[end].event == mentions[first].event;)
			end++;
		resolve_event(plan, &mentions[first], end - first, places, last);
	}
}
