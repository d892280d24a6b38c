// SPDX-License-Identifier: MIT
/* The call that ends a capture, if all captured work is joined. */
#include <stdlib.h>

#include "captured.h"

/* Marks all nodes on which marked nodes depend. @order: room for all nodes of the graph */
static void mark_ancestors(struct node **order, size_t count, unsigned int mark)
{
	for (size_t at = 0; at < count; at++)
		for (size_t i = 0; i < order[at]->from.count; i++) {
			struct node *node = order[at]->from.at[i].node;

			if (node->joined != mark) {
				node->joined = mark;
				order[count++] = node;
			}
		}
}

/*
 * Checks that all captured work of other streams comes before the origin's last nodes, or before
 * nodes that the program has dropped itself: by cuStreamUpdateCaptureDependencies(), or by removing
 * edges. A stream may also end with a node that the program has put there itself, as NCCL's does.
 */
static CUresult check_joined(struct capture *capture)
{
	static unsigned int mark;
	struct node **order = malloc((capture->graph->nodes + 1) * sizeof(*order));
	const struct node *last;
	struct branch *branch;
	size_t count = 0;
	bool joined = true;

	if (!order)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a capture");
	mark++;
	branch_living(capture->origin);
	for (size_t i = 0; i < capture->origin->count; i++)
		node_find(capture->origin->nodes[i])->joined = mark;
	for (struct node *node = capture->graph->first; node; node = node->next) {
		if (node->dropped == capture->id)
			node->joined = mark;
		if (node->joined == mark)
			order[count++] = node;
	}
	mark_ancestors(order, count, mark);
	free(order);
	for (branch = capture->branches; branch; branch = branch->next) {
		branch_living(branch);
		for (size_t i = 0; i < branch->count; i++) {
			last = node_find(branch->nodes[i]);
			joined &= last->joined == mark || !last->captured;
		}
	}
	return joined ? CUDA_SUCCESS :
		fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
		     "another stream has work that the first one did not wait for");
}

/* Checks whether the capture may end in this stream; if not, it goes on. */
static CUresult check_end(const struct stream *stream)
{
	struct branch *branch = stream->branch;
	CUresult result;

	if (branch && branch == branch->capture->origin)
		return CUDA_SUCCESS;
	result = stream_working(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!branch)
		return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
	capture_fail(branch->capture);
	return fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
}

static CUresult how_it_ends(const struct stream *stream, struct capture *capture)
{
	CUresult result = stream_working(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && !capture_is_own(capture))
		return fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
			    "another thread began the capture");
	if (capture->failed)
		return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has failed before");
	return check_joined(capture);
}

static CUresult capture_end(CUstream stream_handle, CUgraph *handle)
{
	struct graph *graph = NULL;
	struct capture *capture;
	struct stream *stream;
	CUresult result = stream_get(stream_handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	result = check_end(stream);
	if (result == CUDA_SUCCESS) {
		capture = stream->branch->capture;
		result = how_it_ends(stream, capture);
		if (handle)
			*handle = result == CUDA_SUCCESS ? capture->graph->handle : NULL;
		if (capture->owns_graph && (result != CUDA_SUCCESS || !handle))
			graph = capture->graph;
		capture_drop(capture);
		if (graph)
			graph_withdraw(graph);
	}
	graphs_unlock();
	if (graph)
		graph_free(graph);
	stream_put(stream);
	return result;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	return WHOLE_CALL(capture_end(stream, graph), stream, graph);
}
