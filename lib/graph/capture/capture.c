// SPDX-License-Identifier: MIT
/*
 * Captures: the streams in each, and the calls that a capture forbids. A capture has a branch
 * for each stream in it. All of this file's data needs graphs_lock.
 */
#include <stdlib.h>

#include "captured.h"

static struct capture *first;

static __thread CUstreamCaptureMode thread_mode;
static __thread uint64_t thread_number;

static uint64_t this_thread(void)
{
	static atomic_ullong threads;

	if (!thread_number)
		thread_number = ++threads;
	return thread_number;
}

bool capture_is_own(const struct capture *capture)
{
	return capture->thread == this_thread();
}

void capture_fail(struct capture *capture)
{
	capture->failed = true;
}

/* The capture's graph ends, with graphs_lock held: the capture has failed. */
void capture_lose(struct capture *capture)
{
	capture->failed = true;
	capture->graph->capture = NULL;
	capture->graph = NULL;
}

/* The program takes a node from the capture's streams: none has to wait for it at the end. */
void capture_drop_node(const struct capture *capture, struct node *node)
{
	node->dropped = capture->id;
}

struct capture *capture_find(uint64_t id)
{
	struct capture *capture = first;

	while (capture && capture->id != id)
		capture = capture->next;
	return capture;
}

static bool blocks_legacy(const struct branch *branch)
{
	return branch->stream && !(branch->stream->flags & CU_STREAM_NON_BLOCKING);
}

/* Is a stream captured for which the context's legacy stream would wait? @fail: fail its capture */
bool capture_has_blocking(CUcontext context, bool fail)
{
	bool found = false;

	for (struct capture *capture = first; capture; capture = capture->next)
		for (struct branch *branch = capture->branches; branch; branch = branch->next) {
			if (!blocks_legacy(branch) || branch->stream->set->context != context)
				continue;
			found = true;
			capture->failed |= fail;
		}
	return found;
}

CUresult captures_check_legacy(const struct stream_set *set)
{
	bool found;

	graphs_lock();
	found = capture_has_blocking(set->context, true);
	graphs_unlock();
	return found ? fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
			    "the legacy stream would wait for a stream that is being captured") :
		       CUDA_SUCCESS;
}

CUresult captures_check_context(CUcontext context)
{
	struct stream_set *set;
	bool found = false;
	CUresult result = set_find(context, &set);

	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	for (struct capture *capture = first; capture; capture = capture->next)
		for (struct branch *branch = capture->branches; branch; branch = branch->next)
			if (branch->stream && branch->stream->set == set)
				found = capture->failed = true;
	graphs_unlock();
	set_put(set);
	return found ? fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
			    "a stream of the context is being captured") : CUDA_SUCCESS;
}

/* Does a capture forbid this thread calls that may wait or change memory? */
static bool forbids(const struct capture *capture)
{
	bool own = capture_is_own(capture) && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;

	if (thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
		return own || capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
	return thread_mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && own;
}

static CUresult check_unsafe(void)
{
	bool found = false;

	graphs_lock();
	for (struct capture *capture = first; capture; capture = capture->next)
		if (forbids(capture))
			found = capture->failed = true;
	graphs_unlock();
	return found ? fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
			    "a stream is being captured; in mode RELAXED the thread may do this "
			    "(cuThreadExchangeStreamCaptureMode)") : CUDA_SUCCESS;
}

/* Some callers take no locks, and can be cancelled. */
CUresult captures_check_unsafe(void)
{
	return WHOLE(check_unsafe());
}

DEFINE_CALL(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode), mode)
{
	CUstreamCaptureMode before = thread_mode;

	if (!mode)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	thread_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}

/*
 * Adds a stream to a capture, with a reference. A stream that has ended is refused:
 * stream_end() first sets the flag checked here, then looks for a branch.
 */
CUresult branch_add(struct capture *capture, struct stream *stream)
{
	struct branch *branch = calloc(1, sizeof(*branch));
	CUresult result = CUDA_SUCCESS;

	if (!branch)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
	branch->capture = capture;
	pthread_mutex_lock(&stream->lock);
	if (stream->ended) {
		result = fail(CUDA_ERROR_INVALID_HANDLE, "the stream was destroyed");
	} else {
		stream_reference(stream);
		branch->stream = stream;
		stream->branch = branch;
	}
	pthread_mutex_unlock(&stream->lock);
	if (result != CUDA_SUCCESS) {
		free(branch);
		return result;
	}
	branch->next = capture->branches;
	capture->branches = branch;
	return CUDA_SUCCESS;
}

/* Makes room for @count nodes. */
CUresult branch_reserve(struct branch *branch, size_t count)
{
	CUgraphEdgeData *edges;
	CUgraphNode *nodes;

	if (count <= branch->room && branch->nodes)
		return CUDA_SUCCESS;
	count += 4;
	nodes = realloc(branch->nodes, count * sizeof(*nodes));
	if (nodes)
		branch->nodes = nodes;
	edges = realloc(branch->edges, count * sizeof(*edges));
	if (edges)
		branch->edges = edges;
	if (!nodes || !edges)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
	branch->room = count;
	return CUDA_SUCCESS;
}

static void branch_leave_stream(struct branch *branch)
{
	struct stream *stream = branch->stream;

	if (!stream)
		return;
	stream->branch = NULL;
	branch->stream = NULL;
	stream_put(stream);
}

CUresult capture_new(struct capture **out, CUstreamCaptureMode mode)
{
	static uint64_t ids;
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
	*capture = (struct capture) { .next = first, .id = ++ids, .mode = mode,
				      .thread = this_thread() };
	first = capture;
	captures++;
	*out = capture;
	return CUDA_SUCCESS;
}

/* The caller frees the capture's graph. */
void capture_drop(struct capture *capture)
{
	struct capture **link = &first;
	struct branch *branch, *next;

	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	captures--;
	for (branch = capture->branches; branch; branch = next) {
		next = branch->next;
		branch_leave_stream(branch);
		free(branch->nodes);
		free(branch->edges);
		free(branch);
	}
	if (capture->graph)
		capture->graph->capture = NULL;
	free(capture);
}

/* A stream ends. If the capture began in it, the capture ends, too; otherwise its branch stays. */
void captures_end(struct stream *stream)
{
	struct graph *graph = NULL;
	struct capture *capture;
	struct branch *branch;

	graphs_lock();
	branch = stream->branch;
	if (branch) {
		capture = branch->capture;
		if (capture->origin == branch) {
			graph = capture->owns_graph ? capture->graph : NULL;
			capture_drop(capture);
			if (graph)
				graph_withdraw(graph);
		} else {
			branch_leave_stream(branch);
		}
	}
	graphs_unlock();
	if (graph)
		graph_free(graph);
}
