/* SPDX-License-Identifier: MIT */
/*
 * Captures, as streams, events and memory see them: lib/graph/, which stands above, fills in
 * capture_operations as the library is loaded. Two counters and a pointer in each stream say
 * whether there is a capture at all, so that programs without graphs pay for a load and a
 * branch.
 */
#ifndef MEMCAST_CAPTURE_H
#define MEMCAST_CAPTURE_H

#include <stdatomic.h>

#include "stream.h"

struct branch;		/* a captured stream's place in its capture */

/* The nodes that an event stands for, if it was recorded in a captured stream */
struct mark {
	atomic_uint references;
	uint64_t capture;
	size_t count;
	CUgraphNode nodes[];		/* behind them, the data of their edges */
};

/* @mark may be NULL: then there is nothing to count. */
struct mark *mark_get(struct mark *mark);
void mark_put(struct mark *mark);

/* Number of captures under way; number of memories of alloc nodes */
extern atomic_uint captures, graph_memories;

struct capture_operations {
	/* adds a node to a captured stream's capture; alloc.dptr is an output */
	CUresult (*node)(struct stream *stream, CUgraphNodeParams *params);
	/*
	 * fails the capture of a stream, which was asked for an operation that cannot be
	 * captured
	 */
	CUresult (*refuse)(struct stream *stream);
	/* the two halves, for a caller with checks of its own: has the capture failed? fail it */
	CUresult (*check_failed)(struct stream *stream);
	void (*fail_of)(struct stream *stream);
	/* ends the capture that began in a stream which ends */
	void (*end)(struct stream *stream);

	/* events in captured streams */
	CUresult (*record)(struct stream *stream, struct mark **mark);
	CUresult (*wait)(struct stream *stream, CUevent event, struct mark *mark,
			 bool recorded, bool external);
	CUresult (*ask_event)(const struct mark *mark);

	/* the calls that captures forbid; each makes the captures fail */
	CUresult (*unsafe)(void);
	CUresult (*legacy)(const struct stream_set *set);
	CUresult (*context)(CUcontext context);

	/*
	 * the program frees an address in @stream, or at once (NULL). @taken: output, the
	 * address is an alloc node's, which keeps its memory
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

/* For a call that may wait for a captured stream, or change an object that the capture uses */
static inline CUresult capture_unsafe(void)
{
	return __builtin_expect(captures, 0) ? capture_operations->unsafe() : CUDA_SUCCESS;
}

/* For a call that uses the legacy stream: that waits for the blocking streams of its context. */
static inline CUresult capture_legacy(const struct stream_set *set)
{
	return __builtin_expect(captures, 0) ? capture_operations->legacy(set) : CUDA_SUCCESS;
}

/* For a call that waits for all streams of a context; NULL: the current one. */
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
