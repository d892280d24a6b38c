// SPDX-License-Identifier: MIT
/* The calls that begin, query and change a capture. */
#include <stdlib.h>

#include "captured.h"

static CUresult check_begin(struct stream *stream, CUstreamCaptureMode mode)
{
	if (mode != CU_STREAM_CAPTURE_MODE_GLOBAL && mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
	    mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no capture mode %d", mode);
	if (stream->is_legacy)
		return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
			    "the legacy stream cannot be captured");
	return CUDA_SUCCESS;
}

static CUresult check_nodes(const struct graph *graph, const CUgraphNode *nodes,
			    const CUgraphEdgeData *edges, size_t count)
{
	CUresult result = edges_check(edges, count);
	struct node *node;

	if (count && !nodes)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		result = node_of(nodes[i], &node);
		if (result == CUDA_SUCCESS && node->graph != graph)
			result = fail(CUDA_ERROR_INVALID_VALUE, "node %zu is of another graph", i);
		if (result == CUDA_SUCCESS)
			result = edge_check_nodes(node, NULL, edge_port(edges, i));
	}
	return result;
}

/* With graphs_lock held: finds the graph that a capture adds to: @handle, or (@own) a new one */
static CUresult graph_to_capture(CUgraph handle, bool own, struct graph **graph)
{
	CUresult result;

	if (own)
		return graph_new(graph);
	result = graph_of(handle, graph);
	if (result == CUDA_SUCCESS && ((*graph)->capture || ((*graph)->owner &&
	    (*graph)->owner->params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL)))
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "the graph is a child node's, or captured to already");
	return result;
}

static CUresult capture_start(struct stream *stream, struct graph *graph, bool own,
			      const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
			      CUstreamCaptureMode mode)
{
	struct capture *capture;
	CUresult result = capture_new(&capture, mode);

	if (result != CUDA_SUCCESS)
		return result;
	result = branch_add(capture, stream);
	if (result == CUDA_SUCCESS)
		result = branch_join(capture->branches, nodes, edges, count);
	if (result != CUDA_SUCCESS) {
		capture_drop(capture);
		return result;
	}
	capture->origin = capture->branches;
	capture->owns_graph = own;
	capture->graph = graph;
	graph->capture = capture;
	return CUDA_SUCCESS;
}

/* @own: capture to a new graph, not to @graph_handle */
static CUresult capture_begin(CUstream handle, CUgraph graph_handle, const CUgraphNode *nodes,
			      const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode,
			      bool own)
{
	struct graph *graph = NULL;
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_working(stream);
	if (result == CUDA_SUCCESS)
		result = check_begin(stream, mode);
	if (result != CUDA_SUCCESS) {
		stream_put(stream);
		return result;
	}
	graphs_lock();
	if (stream->branch)
		result = fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured");
	else
		result = graph_to_capture(graph_handle, own, &graph);
	if (result == CUDA_SUCCESS) {
		result = check_nodes(graph, nodes, edges, count);
		if (result == CUDA_SUCCESS)
			result = capture_start(stream, graph, own, nodes, edges, count, mode);
		if (result != CUDA_SUCCESS && own) {
			graph_withdraw(graph);
			graph_free(graph);
		}
	}
	graphs_unlock();
	stream_put(stream);
	return result;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	return WHOLE_CALL(capture_begin(stream, NULL, NULL, NULL, 0, mode, true), stream, mode);
}

/* The first version knows one mode. */
CUresult cuStreamBeginCapture(CUstream stream)
{
	return WHOLE_CALL(capture_begin(stream, NULL, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL,
					true), stream);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
				     const CUgraphEdgeData *edges, size_t count,
				     CUstreamCaptureMode mode)
{
	return WHOLE_CALL(capture_begin(stream, graph, nodes, edges, count, mode, false),
			  stream, graph, nodes, edges, count, mode);
}

/*
 * The outputs that a call asks of a stream's capture, each NULL if unasked. Asking for the
 * legacy stream makes no capture fail, so that stream is looked up in another way.
 */
struct question {
	CUstreamCaptureStatus *status;
	cuuint64_t *id;
	CUgraph *graph;
	const CUgraphNode **nodes;
	const CUgraphEdgeData **edges;
	size_t *count;
};

static CUresult check_question(const struct question *question)
{
	return !question->status || (question->edges && !question->nodes) ?
		fail(CUDA_ERROR_INVALID_VALUE, "NULL output") : CUDA_SUCCESS;
}

static CUresult ask_legacy(const struct question *question)
{
	struct stream_set *set;
	CUresult result = set_find(NULL, &set);
	bool found;

	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	found = capture_has_blocking(set->context, false);
	graphs_unlock();
	set_put(set);
	result = check_question(question);
	if (result != CUDA_SUCCESS)
		return result;
	if (found)
		return fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
			    "a stream that the legacy stream would wait for is being captured");
	*question->status = CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

static CUresult answer(const struct question *question, struct branch *branch)
{
	const struct capture *capture = branch->capture;
	CUresult result;

	if (capture->failed) {
		*question->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		return CUDA_SUCCESS;
	}
	branch_living(branch);
	result = branch_reserve(branch, 1);
	if (result != CUDA_SUCCESS)
		return result;
	for (size_t i = 0; question->nodes && !question->edges && i < branch->count; i++)
		if (branch->edges[i].from_port)
			return edge_lossy();
	*question->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (question->id)
		*question->id = capture->id;
	if (question->graph)
		*question->graph = capture->graph->handle;
	if (question->nodes)
		*question->nodes = branch->nodes;
	if (question->edges)
		*question->edges = branch->edges;
	if (question->count)
		*question->count = branch->count;
	return CUDA_SUCCESS;
}

static CUresult ask(CUstream handle, const struct question *question)
{
	struct stream *stream;
	CUresult result;

	if (!handle || handle == CU_STREAM_LEGACY)
		return ask_legacy(question);
	result = stream_get(handle, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	result = check_question(question);
	graphs_lock();
	if (result == CUDA_SUCCESS && stream->branch)
		result = answer(question, stream->branch);
	else if (result == CUDA_SUCCESS)
		*question->status = CU_STREAM_CAPTURE_STATUS_NONE;
	graphs_unlock();
	stream_put(stream);
	return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	return WHOLE_CALL(ask(stream, &(struct question) { .status = status }), stream, status);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status,
				   cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
				   const CUgraphEdgeData **edges, size_t *count)
{
	const struct question question = { status, id, graph, nodes, edges, count };

	return WHOLE_CALL(ask(stream, &question), stream, status);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
				   cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
				   size_t *count)
{
	const struct question question = { status, id, graph, nodes, NULL, count };

	return WHOLE_CALL(ask(stream, &question), stream, status);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return WHOLE_CALL(ask(stream, &(struct question) { .status = status, .id = id }),
			  stream, status);
}

/* Notes which of a branch's nodes are none of its new ones. */
static void drop_nodes(const struct branch *branch, const struct branch *changed)
{
	for (size_t i = 0; i < branch->count; i++) {
		struct node *node = node_find(branch->nodes[i]);
		size_t k = 0;

		while (k < changed->count && changed->nodes[k] != branch->nodes[i])
			k++;
		if (node && k == changed->count)
			capture_drop_node(branch->capture, node);
	}
}

/* Changes a branch's dependencies, with graphs_lock held. */
static CUresult capture_change(struct branch *branch, const CUgraphNode *nodes,
			       const CUgraphEdgeData *edges, size_t count, unsigned int flags)
{
	struct branch changed = {};
	CUresult result;

	if (!branch)
		return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
	if (branch->capture->failed)
		return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has failed before");
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	result = check_nodes(branch->capture->graph, nodes, edges, count);
	/* in a new array: @nodes may be in the old one, which cuStreamGetCaptureInfo() has given */
	if (result == CUDA_SUCCESS && flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		result = branch_join(&changed, branch->nodes, branch->edges, branch->count);
	if (result == CUDA_SUCCESS)
		result = branch_join(&changed, nodes, edges, count);
	if (result != CUDA_SUCCESS) {
		free(changed.nodes);
		free(changed.edges);
		return result;
	}
	drop_nodes(branch, &changed);
	free(branch->nodes);
	free(branch->edges);
	branch->nodes = changed.nodes;
	branch->edges = changed.edges;
	branch->count = changed.count;
	branch->room = changed.room;
	return CUDA_SUCCESS;
}

static CUresult capture_update(CUstream handle, const CUgraphNode *nodes,
			       const CUgraphEdgeData *edges, size_t count, unsigned int flags)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_working(stream);
	graphs_lock();
	if (result == CUDA_SUCCESS)
		result = capture_change(stream->branch, nodes, edges, count, flags);
	graphs_unlock();
	stream_put(stream);
	return result;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *nodes,
					      const CUgraphEdgeData *edges, size_t count,
					      unsigned int flags)
{
	return WHOLE_CALL(capture_update(stream, nodes, edges, count, flags),
			  stream, nodes, edges, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
					   unsigned int flags)
{
	return WHOLE_CALL(capture_update(stream, nodes, NULL, count, flags), stream, nodes, count,
			  flags);
}
