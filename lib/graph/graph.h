/* SPDX-License-Identifier: MIT */
/*
 * Graphs: nodes and edges, instances that can be launched, and captures, by which streams add
 * nodes. stream/capture.h has the functions that other folders call here; this folder uses streams,
 * events, copies and heaps.
 *
 * In this folder:
 *
 *   graph.c, edge.c		graphs, the edges of their nodes; their calls
 *   clone.c, query.c, dot.c	copies of graphs; nodes and edges as outputs
 *   object.c			user objects, which graphs keep alive
 *   per_thread.c		the calls for the per-thread default stream
 *
 * node/ has the nodes:
 *
 *   node.c			nodes, and the calls for any of them
 *   params.c			parameters of nodes: checked, copied, compared
 *   typed_add.c, typed_set.c	the calls that are for one type of node
 *   kernel_calls.c		those for kernel nodes, whose work is in lib/launch/node.h
 *   memory.c, usage.c		memory of alloc nodes; which of it is allocated
 *   condition.c		what conditional nodes look at; the graphs that they do
 *
 * launch/ prepares graphs for launches, and launches them:
 *
 *   plan.c, step.c, order.c	a graph as a flat list of steps
 *   instance.c, update.c	graphs that can be launched, and changes to them
 *   compare.c		how an update's graph differs from an instance
 *   launch.c, run.c		launches, and their work in the stream's thread
 *
 * capture/ has captures, which turn calls for streams into nodes:
 *
 *   capture.c, captured.c	captures; work and events of captured streams
 *   stream_calls.c, end.c	the calls of capture
 *
 * graphs_lock protects graphs, nodes, edges and captures. It is not held while memory is
 * allocated on a device, an address is checked, a file is written or a function of the
 * program is called. stream.h has the order of locks; memory.c, object.c and condition.c have
 * a lock each, innermost but for a table's.
 */
#ifndef MEMCAST_GRAPH_H
#define MEMCAST_GRAPH_H

#include "copy/copy.h"
#include "table/table.h"

/* capture/stream_calls.c: older names, for per_thread.c */
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies
EXPORTED CUresult cuStreamBeginCapture(CUstream stream);
EXPORTED CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
					 cuuint64_t *id);
EXPORTED CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
					    cuuint64_t *id, CUgraph *graph,
					    const CUgraphNode **dependencies, size_t *count);
EXPORTED CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies,
						    size_t count, unsigned int flags);

struct capture;
struct condition;
struct memory;
struct object;

/* References to user objects: a graph's, or a plan's */
struct uses {
	unsigned int count;
	struct use {
		struct object *object;
		unsigned int references;
	} *at;
};

struct links {
	struct link {
		struct node *node;
		/* of the node where the edge starts; not 0: the edge is of type PROGRAMMATIC */
		unsigned char port;
	} *at;
	size_t count, room;
};

struct node {
	CUgraphNode handle;
	struct graph *graph;
	struct node *previous, *next;	/* in the order in which they were added */
	struct links from, to;		/* nodes that it depends on, that depend on it */
	CUgraphNodeParams params;	/* arrays in them belong to the node */
	struct memory *memory;		/* of alloc and free nodes */
	struct graph *child;		/* of child nodes */
	struct condition *condition;	/* of conditional nodes */
	struct graph **bodies;		/* theirs, params.conditional.size of them */
	CUgraphNode original;		/* the node that it is a copy of, or NULL */
	unsigned int seen, joined;	/* marks of node_insert(), cuStreamEndCapture() */
	uint64_t dropped;		/* the last capture that need not join it, or 0 */
	bool captured;			/* not put in by the program */
	uint32_t first, last;		/* numbers of its steps, set by plan_number() */
};

struct graph {
	CUgraph handle;
	struct node *first, *last;
	size_t nodes, edges;
	size_t memory_nodes;		/* alloc and free nodes */
	size_t conditional_nodes;
	struct condition *conditions;	/* made for this graph */
	struct node *owner;		/* the child or conditional node that has it, or NULL */
	struct capture *capture;	/* the capture that adds to it, or NULL */
	unsigned int instances;
	struct uses objects;
	void *by_original;		/* tree of nodes that are copies, by their original */
};

/* How deep graphs may nest: functions that copy them recurse as deep. */
#define DEPTH_MAX	64

/* graph.c. The functions that end in _of need graphs_lock, and so does use of what they find. */
void graphs_lock(void);
void graphs_unlock(void);
struct graph *graph_find(CUgraph handle);
struct node *node_find(CUgraphNode handle);
CUresult graph_of(CUgraph handle, struct graph **graph);
CUresult node_of(CUgraphNode handle, struct node **node);
CUresult graph_new(struct graph **graph);
CUresult node_register(struct node *node);
/* _withdraw() ends the handles, with the lock; _free() frees the rest, without it */
void graph_withdraw(struct graph *graph);
void node_withdraw(struct node *node);
void graph_free(struct graph *graph);
void node_free(struct node *node);

/* node/node.c */
CUresult node_new(struct node **node, CUgraphNodeParams *params);
CUresult node_insert(struct node *node, struct graph *graph, const CUgraphNode *dependencies,
		     const CUgraphEdgeData *edges, size_t count);
CUresult node_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
		  const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params);
CUresult node_get(CUgraphNode node, CUgraphNodeType type, CUgraphNodeParams *params);
CUresult node_set(CUgraphNode node, const CUgraphNodeParams *params);
bool node_can_be_set(CUgraphNodeType type);

/* edge.c */
CUresult edge_add(struct node *from, struct node *to, unsigned char port);
void edges_drop(struct node *node);
CUresult edges_check(const CUgraphEdgeData *edges, size_t count);
CUresult edge_check_nodes(const struct node *from, const struct node *to, unsigned char port);
CUgraphEdgeData edge_data(unsigned char port);
CUresult edge_lossy(void);

/* Return: the port of an edge that edges_check() has seen. @edges: NULL: all of type DEFAULT */
static inline unsigned char edge_port(const CUgraphEdgeData *edges, size_t i)
{
	return edges ? edges[i].from_port : 0;
}

/* clone.c */
CUresult graph_clone(const struct graph *graph, struct graph **clone);
void original_forget(const struct node *node);
unsigned int graph_depth(const struct graph *graph);
unsigned int graph_level(const struct graph *graph);

/* node/params.c */
CUresult params_check(CUgraphNodeParams *params);
CUresult params_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from);
void params_free(CUgraphNodeParams *params);
CUresult params_may_replace(const CUgraphNodeParams *now, const CUgraphNodeParams *new);
CUresult params_may_set(const CUgraphNodeParams *now, const CUgraphNodeParams *new);
void params_types(CUDA_MEMCPY3D *copy);
CUresult params_device(CUcontext context, uint32_t *device);
struct memcast_fill fill_of(const CUDA_MEMSET_NODE_PARAMS_v2 *params);

/* node/memory.c: one reference for each node and each step that names it */
CUresult memory_check(const CUgraphNodeParams *params);
CUresult memory_new(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params, struct memory **memory);
struct memory *memory_find(CUdeviceptr address);
struct memory *memory_get(struct memory *memory);
void memory_put(struct memory *memory);
CUresult memory_insert_free(struct memory *memory, const struct graph *graph);
void memory_remove_free(struct memory *memory, const struct graph *graph);

/* node/usage.c: allocated memory. A step of a launch that allocates or frees: */
struct memory_step {
	struct memory *memory;
	bool allocates;
	bool was;		/* output: it was allocated before */
};

CUresult memory_launch(struct memory_step *steps, size_t count, bool auto_free);
void memory_unlaunch(const struct memory_step *steps, size_t count);
/* the program frees an address; see graph_memory_free() in capture.h */
CUresult memory_free_address(CUdeviceptr address, struct stream *stream, bool *taken);

/* Return: how many graphs a conditional node does by its condition; 0: it is of another type */
static inline uint32_t bodies_count(const CUgraphNodeParams *params)
{
	return params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? params->conditional.size : 0;
}

/* node/condition.c */
CUresult condition_check(CUDA_CONDITIONAL_NODE_PARAMS *params);
CUresult condition_insert(struct node *node, struct graph *graph);
CUresult condition_allows(const struct graph *graph, const struct node *node);
bool condition_captured(const struct graph *graph);
void condition_leave(struct node *node);
void condition_free_bodies(struct node *node);
void conditions_withdraw(struct graph *graph);
void conditions_free(struct graph *graph);
bool conditions_unused(CUgraph graph);
struct condition *condition_get(struct condition *condition);
void condition_put(struct condition *condition);
unsigned int condition_value(const struct condition *condition);
/* A plan's references to its graph's conditions; conditions_reset() sets those with a default. */
struct conditions {
	uint32_t count;
	struct condition **at;
};
CUresult conditions_copy(struct conditions *to, const struct graph *graph,
			 const struct conditions *from);
void conditions_put(struct conditions *conditions);
void conditions_reset(const struct conditions *conditions);

/* capture/capture.c */
void capture_fail(struct capture *capture);
void capture_lose(struct capture *capture);
void capture_drop_node(const struct capture *capture, struct node *node);

/* object.c */
CUresult uses_copy(struct uses *to, const struct uses *from);
void uses_free(struct uses *uses);

#endif /* MEMCAST_GRAPH_H */
