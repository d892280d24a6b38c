/* SPDX-License-Identifier: MIT */
/*
 * What streams, events and memory know of graphs. lib/graph/ defines the functions.
 * Two counters and a pointer in each stream say that there is nothing to do, so that
 * programs without graphs pay for a load and a branch.
 */
#ifndef MEMCAST_CAPTURE_H
#define MEMCAST_CAPTURE_H

#include <stdatomic.h>

#include "stream.h"

struct branch;		/* a captured stream's place in its capture */
struct mark;		/* what an event stands for that was recorded in a captured stream */

/* How many captures are under way; how much memory alloc nodes have. */
extern atomic_uint captures, graph_memories;

static inline bool stream_captured(const struct stream *stream)
{
	return __builtin_expect(!!atomic_load_explicit(&stream->branch,
						       memory_order_relaxed), 0);
}

/*
 * capture_node() - add a node to what a captured stream's capture has
 * @params: alloc.dptr is an output
 */
CUresult capture_node(struct stream *stream, CUgraphNodeParams *params);
/* A captured stream was asked for what cannot be captured: its capture fails. */
CUresult capture_refuse(struct stream *stream);
/* The same for what is checked by itself: has the capture failed; it fails */
CUresult capture_look(struct stream *stream);
void capture_fail_of(struct stream *stream);
/* A stream ends, and the capture that began in it. */
void capture_end(struct stream *stream);

/* Events in captured streams. Marks count their references; NULL has none. */
struct mark *mark_get(struct mark *mark);
void mark_put(struct mark *mark);
CUresult capture_record(struct stream *stream, struct mark **mark);
CUresult capture_wait(struct stream *stream, CUevent event, const struct mark *mark,
		      bool recorded, bool external);
CUresult capture_ask_event(const struct mark *mark);

/* For the calls that captures forbid; these make the captures fail. */
CUresult capture_unsafe_slow(void);
CUresult capture_legacy_slow(const struct stream_set *set);
CUresult capture_context_slow(CUcontext context);

/* The thread does what might wait for a captured stream, or change under it. */
static inline CUresult capture_unsafe(void)
{
	return __builtin_expect(captures, 0) ? capture_unsafe_slow() : CUDA_SUCCESS;
}

/* The legacy stream is used: it would wait for the blocking streams of its context. */
static inline CUresult capture_legacy(const struct stream_set *set)
{
	return __builtin_expect(captures, 0) ? capture_legacy_slow(set) : CUDA_SUCCESS;
}

/* The thread waits for all streams of a context; NULL: the current one. */
static inline CUresult capture_context(CUcontext context)
{
	return __builtin_expect(captures, 0) ? capture_context_slow(context) : CUDA_SUCCESS;
}

/*
 * graph_memory_free() - the program frees an address
 * @stream: when this stream comes there; NULL: at once
 * @taken: output: it was an alloc node's, and the node goes on having it
 */
CUresult graph_memory_free_slow(CUdeviceptr address, struct stream *stream, bool *taken);

static inline CUresult graph_memory_free(CUdeviceptr address, struct stream *stream,
					 bool *taken)
{
	*taken = false;
	return __builtin_expect(graph_memories, 0) ?
		graph_memory_free_slow(address, stream, taken) : CUDA_SUCCESS;
}

#endif /* MEMCAST_CAPTURE_H */
