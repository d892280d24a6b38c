// SPDX-License-Identifier: MIT
/*
 * Work of captured streams becomes nodes, each after the branch's last ones (insert()) and after
 * those of events that the stream waits for (branch_join()).
 */
#include <stdlib.h>

#include "captured.h"

static CUresult failed(void)
{
	return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
		    "the stream's capture has failed before: end it");
}

/* Drops nodes that the program has destroyed. Return: how many are left. */
size_t branch_living(struct branch *branch)
{
	size_t count = 0;

	for (size_t i = 0; i < branch->count; i++)
		if (node_find(branch->nodes[i])) {
			branch->nodes[count] = branch->nodes[i];
			branch->edges[count++] = branch->edges[i];
		}
	branch->count = count;
	return count;
}

/*
 * Makes the branch's next node depend on these nodes, too: on all of a node, if one edge of two is
 * so. @edges: NULL: all are so
 */
CUresult branch_join(struct branch *branch, const CUgraphNode *nodes,
		     const CUgraphEdgeData *edges, size_t count)
{
	CUresult result = branch_reserve(branch, branch->count + count);

	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		size_t k = 0;

		while (k < branch->count && branch->nodes[k] != nodes[i])
			k++;
		if (k == branch->count) {
			branch->nodes[branch->count] = nodes[i];
			branch->edges[branch->count++] = edge_data(edge_port(edges, i));
		} else if (branch->edges[k].from_port != edge_port(edges, i)) {
			branch->edges[k] = edge_data(0);
		}
	}
	return result;
}

static CUresult insert(struct branch *branch, struct node *node)
{
	struct capture *capture = branch->capture;
	CUresult result;

	if (capture->failed)
		return failed();
	result = branch_reserve(branch, 1);
	if (result == CUDA_SUCCESS)
		result = node_insert(node, capture->graph, branch->nodes, branch->edges,
				     branch_living(branch));
	if (result == CUDA_SUCCESS) {
		branch->nodes[0] = node->handle;
		branch->edges[0] = edge_data(0);
		branch->count = 1;
		node->captured = true;
	}
	return result;
}

static CUresult add_node(struct stream *stream, CUgraphNodeParams *params)
{
	struct branch *branch;
	struct node *node;
	CUresult result = stream_working(stream);

	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		result = memory_check(params);
	if (result == CUDA_SUCCESS)
		result = node_new(&node, params);
	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	branch = stream->branch;
	result = branch ? insert(branch, node) :
			  fail(CUDA_ERROR_ILLEGAL_STATE, "the capture has just ended");
	if (result == CUDA_SUCCESS && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		params->alloc.dptr = node->params.alloc.dptr;
	graphs_unlock();
	if (result != CUDA_SUCCESS)
		node_free(node);
	return result;
}

/* For work that is checked before it is captured: has the capture failed already, or the device? */
static CUresult check_failed(struct stream *stream)
{
	CUresult result = stream_working(stream);

	graphs_lock();
	if (result == CUDA_SUCCESS && stream->branch && stream->branch->capture->failed)
		result = failed();
	graphs_unlock();
	return result;
}

/* Fails a capture whose error the caller has reported. */
static void fail_of(struct stream *stream)
{
	graphs_lock();
	if (stream->branch)
		stream->branch->capture->failed = true;
	graphs_unlock();
}

static CUresult refuse(struct stream *stream)
{
	fail_of(stream);
	return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		    "the stream is being captured, and this cannot be");
}

/* Return: the data of the edges from a mark's nodes. */
static CUgraphEdgeData *mark_edges(struct mark *mark)
{
	return (CUgraphEdgeData *)&mark->nodes[mark->count];
}

/* @mark: output, the nodes that work waiting for the event comes after */
static CUresult captured_record(struct stream *stream, struct mark **mark)
{
	CUresult result = stream_working(stream);
	struct branch *branch;

	if (result != CUDA_SUCCESS)
		return result;
	graphs_lock();
	branch = stream->branch;
	if (!branch) {
		result = fail(CUDA_ERROR_ILLEGAL_STATE, "the capture has just ended");
	} else if (branch->capture->failed) {
		result = failed();
	} else {
		*mark = malloc(sizeof(**mark) + branch->count *
			       (sizeof(*branch->nodes) + sizeof(*branch->edges)));
		if (*mark) {
			(*mark)->references = 1;
			(*mark)->capture = branch->capture->id;
			(*mark)->count = branch->count;
			for (size_t i = 0; i < branch->count; i++) {
				(*mark)->nodes[i] = branch->nodes[i];
				mark_edges(*mark)[i] = branch->edges[i];
			}
		} else {
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a record");
		}
	}
	graphs_unlock();
	return result;
}

/* Makes a stream's next node come after a mark of this capture, which is not over. */
static CUresult join(struct stream *stream, struct capture *capture, struct mark *mark)
{
	struct branch *branch = stream->branch;
	CUresult result = CUDA_SUCCESS;

	if (stream->is_legacy) {
		capture->failed = true;
		return fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
			    "the legacy stream cannot be captured");
	}
	if (branch && branch->capture != capture) {
		branch->capture->failed = capture->failed = true;
		return fail(CUDA_ERROR_STREAM_CAPTURE_MERGE,
			    "the event is of another capture than the stream");
	}
	if (capture->failed)
		return failed();
	if (!branch)
		result = branch_add(capture, stream);
	return result == CUDA_SUCCESS ?
		branch_join(stream->branch, mark->nodes, mark_edges(mark), mark->count) : result;
}

/* A captured stream waits for an event whose last record was not captured. */
static CUresult wait_outside(struct branch *branch, bool recorded)
{
	if (branch->capture->failed)
		return failed();
	if (!recorded)
		return CUDA_SUCCESS;
	branch->capture->failed = true;
	return fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
		    "the event was recorded outside of the capture");
}

/*
 * A stream waits for an event. Either the stream is captured, or the event's last record was.
 * @mark: of such a record, or NULL; @recorded: was the event ever recorded?
 */
static CUresult captured_wait_for(struct stream *stream, CUevent event, struct mark *mark,
				  bool recorded, bool external)
{
	struct capture *capture;
	CUresult result;

	graphs_lock();
	capture = mark ? capture_find(mark->capture) : NULL;
	if (mark && !capture) {
		if (stream->branch)
			stream->branch->capture->failed = true;
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "the event was recorded in a capture that has ended");
	} else if (external && !stream->branch) {
		result = fail(CUDA_ERROR_ILLEGAL_STATE,
			      "EXTERNAL is for streams that are being captured");
	} else if (external) {
		graphs_unlock();
		return add_node(stream, &(CUgraphNodeParams) {
			.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
			.eventWait.event = event,
		});
	} else if (capture) {
		result = join(stream, capture, mark);
	} else if (stream->branch) {
		result = wait_outside(stream->branch, recorded);
	} else {
		result = fail(CUDA_ERROR_ILLEGAL_STATE, "the capture has just ended");
	}
	graphs_unlock();
	return result;
}

/* The program asks for or waits for an event whose last record was captured: an error. */
static CUresult ask_event(const struct mark *mark)
{
	struct capture *capture;

	graphs_lock();
	capture = capture_find(mark->capture);
	if (capture)
		capture->failed = true;
	graphs_unlock();
	return capture ? fail(CUDA_ERROR_CAPTURED_EVENT,
			      "the event was recorded in a stream that is being captured") :
			 fail(CUDA_ERROR_INVALID_VALUE,
			      "the event was recorded in a capture that has ended");
}

static const struct capture_operations operations = {
	.node = add_node,
	.refuse = refuse,
	.check_failed = check_failed,
	.fail_of = fail_of,
	.end = captures_end,
	.record = captured_record,
	.wait = captured_wait_for,
	.ask_event = ask_event,
	.unsafe = captures_check_unsafe,
	.legacy = captures_check_legacy,
	.context = captures_check_context,
	.memory_free = memory_free_address,
};

__attribute__((constructor))
static void captured_load(void)
{
	capture_operations = &operations;
}
