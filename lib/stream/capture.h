/* SPDX-License-Identifier: MIT */
/*
 * What streams, events and memory know of graphs, which stand above them. lib/graph/ fills
 * in capture_operations as the library is loaded. Two counters and a pointer in each stream
 * say that there is nothing to do, so that programs without graphs pay for a load and a
 * branch.
 */
#ifndef MEMCAST_CAPTURE_H
#define MEMCAST_CAPTURE_H

#include <stdatomic.h>

#include "stream.h"

struct branch;		/* a captured stream's place in its capture */

/* What an event stands for that was recorded in a captured stream */
struct mark {
	atomic_uint references;
	uint64_t capture;
	size_t count;
	CUgraphNode nodes[];
};

/* NULL has no references. */
struct mark *mark_get(struct mark *mark);
void mark_put(struct mark *mark);

/* How many captures are under way; how much memory alloc nodes have. */
extern atomic_uint captures, graph_memories;

struct capture_operations {
	/* add a node to what a captured stream's capture has; alloc.dptr is an output */
	CUresult (*node)(struct stream *stream, CUgraphNodeParams *params);
	/* a captured stream was asked for what cannot be captured: its capture fails */
	CUresult (*refuse)(struct stream *stream);
	/* the same for what is checked by itself: has the capture failed; it fails */
	CUresult (*check_failed)(struct stream *stream);
	void (*fail_of)(struct stream *stream);
	/* a stream ends, and the capture that began in it */
	void (*end)(struct stream *stream);

	/* events in captured streams */
	CUresult (*record)(struct stream *stream, struct mark **mark);
	CUresult (*wait)(struct stream *stream, CUevent event, const struct mark *mark,
			 bool recorded, bool external);
	CUresult (*ask_event)(const struct mark *mark);

	/* for the calls that captures forbid; these make the captures fail */
	CUresult (*unsafe)(void);
	CUresult (*legacy)(const struct stream_set *set);
	CUresult (*context)(CUcontext context);

	/*
	 * the program frees an address when @stream comes there, or at once (NULL).
	 * @taken: output: it was an alloc node's, and the node goes on having it
	 */
	CUresult (*memory_free)(CUdeviceptr address, struct stream *stream, bool *taken);
};

extern const struct capture_operations *capture_operations;

static inline bool stream_captured(const struct stream *stream)
{
	return __builtin_expect(!!atomic_load_explicit(&stream->branch,
						       memory_order_relaxed), 0);
}

static inline CUresult capture_node(struct stream *stream, CUgraphNodeParams *params)
{
	return capture_operations->node(stream, params);
}

static inline CUresult capture_refuse(struct stream *stream)
{
	return capture_operations->refuse(stream);
}

/* The thread does what might wait for a captured stream, or change under it. */
static inline CUresult capture_unsafe(void)
{
	return __builtin_expect(captures, 0) ? capture_operations->unsafe() : CUDA_SUCCESS;
}

/* The legacy stream is used: it would wait for the blocking streams of its context. */
static inline CUresult capture_legacy(const struct stream_set *set)
{
	return __builtin_expect(captures, 0) ? capture_operations->legacy(set) : CUDA_SUCCESS;
}

/* The thread waits for all streams of a context; NULL: the current one. */
static inline CUresult capture_context(CUcontext context)
{
	return __builtin_expect(captures, 0) ? capture_operations->context(context) :
					       CUDA_SUCCESS;
}

static inline CUresult graph_memory_free(CUdeviceptr address, struct stream *stream,
					 bool *taken)
{
	*taken = false;
	return __builtin_expect(graph_memories, 0) ?
		capture_operations->memory_free(address, stream, taken) : CUDA_SUCCESS;
}

#endif /* MEMCAST_CAPTURE_H */
