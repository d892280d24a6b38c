/* SPDX-License-Identifier: MIT */
/*
 * A plan is the work of a launch: the nodes of a graph and of its child graphs as one list of
 * steps, numbered as their nodes were added. A child node becomes two steps around those of its
 * graph, which do nothing. A conditional node is one step, which has plans of its graphs: they
 * neither wait nor have events or memory. A plan that has a second reference does not change.
 */
#ifndef MEMCAST_GRAPH_PLAN_H
#define MEMCAST_GRAPH_PLAN_H

#include "graph/graph.h"

#define NO_STEP		UINT32_MAX

struct step {
	CUgraphNode node;		/* of the graph that was instantiated */
	CUgraphNodeParams params;	/* arrays in them belong to the step */
	bool disabled;
	uint32_t inner;			/* of a child node's first step: number of steps inside */
	uint32_t before;		/* number of steps that it comes after */
	uint32_t after, after_count;	/* the steps that come after it: in plan->after */
	uint32_t record;		/* the step whose record of an event it waits for */
	struct memory *memory;
	struct event *event;
	struct condition *condition;
	struct plan **bodies;		/* a conditional node's, params.conditional.size of them */
	union {
		struct layers layers;
		struct memcast_fill fill;
		struct memops *memops;
		struct uses objects;	/* of a child node's graph */
	};
	uint32_t memops_device;
};

struct plan {
	atomic_uint references;
	uint32_t count;
	struct step *steps;
	uint32_t *after;
	uint32_t *order;		/* numbers of steps: each after all that it comes after */
	uint32_t *walk;			/* numbers of steps, in the order of plan_walk() */
	struct by_node {
		CUgraphNode node;
		uint32_t step;
	} *by_node;			/* sorted */
	uint32_t by_node_count;
	uint32_t events, memory_steps;	/* number of steps with an event, and with a memory */
	bool waits;			/* some step may have to wait */
	struct uses objects;		/* of the graph */
	struct conditions conditions;	/* of the graph */
};

/* plan.c */
CUresult plan_new(const struct graph *graph, struct plan **plan, CUgraphNode *error);
CUresult plan_copy(const struct plan *plan, struct plan **copy);
struct plan *plan_get(struct plan *plan);
void plan_put(struct plan *plan);
struct step *plan_step(const struct plan *plan, CUgraphNode node);
CUresult plan_look(struct plan *plan);

/* step.c */
CUresult step_fill(struct step *step, const CUgraphNodeParams *params, struct memory *memory);
CUresult step_copy(struct step *to, const struct step *from);
CUresult step_replace(struct step *step, CUgraphNodeParams *params);
void step_free(struct step *step);

/* order.c */
CUresult plan_number(const struct graph *graph, uint32_t *count);
CUresult plan_walk(struct plan *plan, const struct graph *graph);
CUresult plan_connect(struct plan *plan, const struct graph *graph, uint32_t *cycle);
void *plan_room(const struct plan *plan);
void plan_resolve(struct plan *plan, void *room);

/* instance.c */
struct instance {
	atomic_uint references;
	CUgraphExec handle;
	CUgraph graph;			/* the graph that it was made of */
	unsigned int flags;
	pthread_mutex_t lock;		/* protects what follows; held while work is queued */
	struct plan *plan;
	struct fence *last;		/* of the last launch, or NULL */
	unsigned long long last_stream;
};

CUresult instance_get(CUgraphExec handle, struct instance **instance);
void instance_put(struct instance *instance);
CUresult graph_plan(CUgraph graph, struct plan **plan, CUgraphNode *error);
CUresult instantiate_with(CUgraphExec *instance, CUgraph graph,
			  CUDA_GRAPH_INSTANTIATE_PARAMS *params, CUstream upload);

/* update.c */
CUresult instance_set_node(CUgraphExec instance, CUgraphNode node,
			   const CUgraphNodeParams *params);

/* launch.c */
struct launch {
	struct work work;
	struct plan *plan;
	struct fence *after, *done;	/* of the launch to wait for; of this one */
	struct fence **fences;		/* per step: of its record, or of its wait; or NULL */
	struct memory_step *memory;	/* allocations and frees, or NULL */
	struct progress {
		uint32_t before;	/* number of steps that it still waits for */
		uint32_t at;		/* number of its operations that are done */
	} *progress;			/* of each step, or NULL */
};

/* run.c */
CUresult launch_run(struct launch *launch, struct stream *stream);

#endif /* MEMCAST_GRAPH_PLAN_H */
