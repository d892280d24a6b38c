// SPDX-License-Identifier: MIT
/* Captured streams: the nodes that calls become, forks, joins and events. */
#include "capture_fixture.h"
#include "reason.h"

TEST_F(stream, what_is_asked_is_done_by_the_launch)
{
	uint32_t host[8] = { 1, 2, 3, 4 };
	CUstream stream = self->first;
	CUdeviceptr at = 0;
	CUgraph graph;
	CUgraphExec instance;
	int calls = 0, i;

	ASSERT_OK(cuStreamBeginCapture(stream, THREAD_LOCAL));
	SET(0, 5, stream);
	ASSERT_OK(cuMemcpyDtoDAsync(AT(8), AT(0), 4, stream));
	ASSERT_OK(cuMemcpyHtoDAsync(AT(9), &host[1], 4, stream));
	ASSERT_OK(cuMemcpyDtoHAsync(&host[4], AT(8), 8, stream));
	ASSERT_OK(cuMemAllocAsync(&at, 4096, stream));
	ASSERT_OK(cuMemsetD32Async(at, 6, 4, stream));
	ASSERT_OK(cuMemcpyAsync(AT(10), at, 4, stream));
	ASSERT_OK(cuMemFreeAsync(at, stream));
	ASSERT_OK(cuStreamWriteValue32(stream, AT(11), 7, 0));
	ASSERT_OK(cuStreamWaitValue32(stream, AT(11), 7, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuMemsetD2D32Async(AT(64), 64, 8, 2, 2, stream));
	ASSERT_OK(cuLaunchHostFunc(stream, add_one, &calls));
	ASSERT_OK(cuStreamEndCapture(stream, &graph));
	EXPECT_EQ(12, nodes_of(graph));
	EXPECT_EQ(11, edges_of(graph));
	ASSERT_OK(cuStreamSynchronize(stream));
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, calls);

	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	/* the launch reads the source, not the capture */
	host[1] = 20;
	for (i = 0; i < 1000; i++)
		ASSERT_OK(cuGraphLaunch(instance, stream));
	ASSERT_OK(cuStreamSynchronize(stream));
	EXPECT_EQ(1000, calls);
	EXPECT_EQ(5, self->at[0]);
	EXPECT_EQ(5, host[4]);
	EXPECT_EQ(20, host[5]);
	EXPECT_EQ(6, self->at[10]);
	EXPECT_EQ(7, self->at[11]);
	EXPECT_EQ(8, self->at[64]);
	EXPECT_EQ(8, self->at[81]);
	EXPECT_EQ(0, self->at[66]);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(stream, nothing_is_no_node)
{
	CUgraph graph;

	ASSERT_OK(cuStreamBeginCapture(self->first, RELAXED));
	ASSERT_OK(cuMemsetD8Async(AT(0), 1, 0, self->first));
	ASSERT_OK(cuMemcpyDtoDAsync(AT(0), AT(8), 0, self->first));
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	EXPECT_EQ(0, nodes_of(graph));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* Makes a sequence of calls, captured or not; a team's replicas must be the same after both. */
static CUresult work_on(CUdeviceptr window, CUdeviceptr from, CUstream stream)
{
	CUDA_MEMCPY3D layers = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from, .srcPitch = 32,
		.srcHeight = 5, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = window + 512,
		.dstPitch = 48, .dstHeight = 4, .WidthInBytes = 31, .Height = 4, .Depth = 3,
	};

	return cuMemsetD16Async(window + 2, 0xabcd, 70, stream) ||
	       cuMemcpyDtoDAsync(window + 100, from, 100, stream) ||
	       cuMemcpy3DAsync(&layers, stream) ||
	       cuMemsetD2D8Async(window + 2048, 100, 9, 33, 5, stream) ||
	       cuStreamWriteValue64(stream, window + 3000, 1234567890123, 0) ||
	       cuMemcpyAsync(window + 1500, window + 100, 300, stream) ?
	       CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

TEST_F(stream, replicas_are_as_without_a_capture)
{
	CUmemGenericAllocationHandle group = complete_team(4, CHUNK), members[4];
	volatile uint32_t *window, *replicas[4];
	unsigned char *plain = malloc(8192);
	int i;

	for (i = 0; i < 4; i++) {
		members[i] = new_bound(group, i, CHUNK);
		replicas[i] = mapped(members[i], CHUNK, i);
	}
	window = mapped(group, CHUNK, 0);
	for (i = 0; i < 1024; i++)
		self->at[2048 + i] = i * 31;
	ASSERT_OK(work_on(ADDRESS(window), AT(2048), self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	memcpy(plain, (void *)replicas[2], 8192);
	ASSERT_OK(cuMemsetD8(ADDRESS(window), 0, 8192));
	ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
	ASSERT_OK(work_on(ADDRESS(window), AT(2048), self->first));
	end_and_run(self->first, 3);
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(0, memcmp(plain, (void *)replicas[i], 8192)) TH_LOG("replica %d", i);
	}
	free(plain);
}

/* ---- several streams ---- */

TEST_F(stream, forks_and_joins)
{
	CUevent fork = event_new(), join = event_new();
	CUgraph graph;
	CUgraphNode roots[4];
	size_t count = 4;

	ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, self->first));
	ASSERT_OK(cuStreamWaitEvent(self->free, fork, 0));
	EXPECT_STATE(ACTIVE, self->free);
	SET(0, 1, self->first);
	SET(8, 2, self->free);
	ASSERT_OK(cuEventRecord(join, self->free));
	ASSERT_OK(cuStreamWaitEvent(self->first, join, 0));
	ASSERT_OK(cuMemcpyDtoDAsync(AT(16), AT(8), 4, self->first));
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	EXPECT_STATE(NOT_CAPTURED, self->free);
	EXPECT_EQ(3, nodes_of(graph));
	EXPECT_EQ(2, edges_of(graph));
	ASSERT_OK(cuGraphGetRootNodes(graph, roots, &count));
	EXPECT_EQ(2, count);
	EXPECT_OK(cuGraphDestroy(graph));
	/* both events were recorded in the capture, so no call can wait for them */
	EXPECT_REASON(cuEventQuery(fork), "the event was recorded in a capture that has ended");
	EXPECT_REASON(cuEventSynchronize(join),
		      "the event was recorded in a capture that has ended");
	EXPECT_REASON(cuStreamWaitEvent(self->free, join, 0),
		      "the event was recorded in a capture that has ended");
	ASSERT_OK(cuEventRecord(join, self->free));
	EXPECT_OK(cuEventSynchronize(join));
}

TEST_F(stream, forks_that_do_not_end)
{
	CUevent fork = event_new(), join = event_new(), outside = event_new(), never = event_new();
	CUstream one = self->first, two = self->free;
	CUgraph graph = NULL;

	/* @one does not wait for @two's work */
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, one));
	ASSERT_OK(cuStreamWaitEvent(two, fork, 0));
	SET(0, 1, two);
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));
	EXPECT_EQ(NULL, graph);
	EXPECT_STATE(NOT_CAPTURED, one);
	EXPECT_STATE(NOT_CAPTURED, two);
	/* @two does more work after the event for which @one waited */
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, one));
	ASSERT_OK(cuStreamWaitEvent(two, fork, 0));
	SET(0, 1, two);
	ASSERT_OK(cuEventRecord(join, two));
	ASSERT_OK(cuStreamWaitEvent(one, join, 0));
	SET(8, 1, two);
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));
	/* @two has no work of its own */
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	SET(0, 1, one);
	ASSERT_OK(cuEventRecord(fork, one));
	ASSERT_OK(cuStreamWaitEvent(two, fork, 0));
	EXPECT_OK(cuStreamEndCapture(one, &graph));
	EXPECT_OK(cuGraphDestroy(graph));
	/* the capture is ended in the stream that joined it */
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, one));
	ASSERT_OK(cuStreamWaitEvent(two, fork, 0));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(two, &graph));
	EXPECT_STATE(FAILED, two);
	expect_failed(one);
	EXPECT_STATE(NOT_CAPTURED, two);
	/* two captures that would become one */
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	ASSERT_OK(cuStreamBeginCapture(two, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, one));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(two, fork, 0));
	expect_failed(one);
	expect_failed(two);
	/* an event recorded before the capture; an event that was never recorded does no harm */
	ASSERT_OK(cuEventRecord(outside, two));
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	EXPECT_OK(cuStreamWaitEvent(one, never, 0));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(one, outside, 0));
	/* a record in the capture that has failed leaves the event as it was */
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuEventRecord(outside, one));
	expect_failed(one);
	ASSERT_OK(cuStreamBeginCapture(one, GLOBAL));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(one, outside, 0));
	expect_failed(one);
	/* the legacy stream waits for a captured event; a program queries one */
	ASSERT_OK(cuStreamBeginCapture(two, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, two));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamWaitEvent(NULL, fork, 0));
	expect_failed(two);
	ASSERT_OK(cuStreamBeginCapture(two, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, two));
	EXPECT_CU(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(fork));
	expect_failed(two);
	SET(0, 3, one);
	ASSERT_OK(cuStreamSynchronize(one));
	EXPECT_EQ(3, self->at[0]);
}

/* External events become nodes: each launch records them and waits for them. */
TEST_F(stream, external_events)
{
	CUevent event = event_new();
	CUgraphNodeType type;
	CUgraphNode nodes[4];
	CUgraph graph;
	CUgraphExec instance;
	size_t count = 4;

	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuEventRecordWithFlags(event, self->first, CU_EVENT_RECORD_EXTERNAL));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuStreamWaitEvent(self->first, event, CU_EVENT_WAIT_EXTERNAL));
	ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
	ASSERT_OK(cuStreamWaitEvent(self->first, event, CU_EVENT_WAIT_EXTERNAL));
	ASSERT_OK(cuEventRecordWithFlags(event, self->first, CU_EVENT_RECORD_EXTERNAL));
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	ASSERT_OK(cuGraphGetNodes(graph, nodes, &count));
	ASSERT_EQ(2, count);
	ASSERT_OK(cuGraphNodeGetType(nodes[0], &type));
	EXPECT_EQ((int)CU_GRAPH_NODE_TYPE_WAIT_EVENT, (int)type);
	ASSERT_OK(cuGraphNodeGetType(nodes[1], &type));
	EXPECT_EQ((int)CU_GRAPH_NODE_TYPE_EVENT_RECORD, (int)type);
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	HOLD(self->second);
	ASSERT_OK(cuEventRecord(event, self->second));
	ASSERT_OK(cuGraphLaunch(instance, self->free));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	LET_GO();
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* ---- a capture's nodes and dependencies ---- */

TEST_F(stream, dependencies_by_hand)
{
	const CUgraphNode *nodes = NULL;
	const CUgraphEdgeData *edges = NULL;
	CUstreamCaptureStatus state = 77;
	CUgraphNode mine, outside;
	cuuint64_t id = 0, later = 0;
	CUgraph graph, other, same;
	CUgraphExec instance = NULL;
	size_t count = 77;

	ASSERT_OK(cuGraphCreate(&other, 0));
	ASSERT_OK(cuGraphAddEmptyNode(&outside, other, NULL, 0));
	EXPECT_OK(cuStreamGetCaptureInfo(self->free, &state, &id, &graph, &nodes, &edges, &count));
	EXPECT_EQ((int)NOT_CAPTURED, (int)state);
	EXPECT_EQ(77, count);
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuStreamUpdateCaptureDependencies(self->free, NULL, NULL, 0, 0));
	ASSERT_OK(cuStreamBeginCapture(self->free, GLOBAL));
	SET(0, 1, self->free);
	SET(8, 1, self->free);
	ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, &id, &graph, &nodes, &edges, &count));
	EXPECT_EQ((int)ACTIVE, (int)state);
	EXPECT_EQ(1, count);
	EXPECT_EQ(2, nodes_of(graph));
	EXPECT_EQ(0, edges[0].type);
	EXPECT_REASON(cuStreamGetCaptureInfo(self->free, &state, &id, NULL, NULL, &edges, &count),
		      "NULL output");
	EXPECT_REASON(cuGraphDestroy(graph), "a stream is captured to the graph: end that first");
	ASSERT_OK(cuGraphAddEmptyNode(&mine, graph, NULL, 0));
	EXPECT_REASON(cuStreamUpdateCaptureDependencies(self->free, &outside, NULL, 1, 0),
		      "node # is of another graph");
	EXPECT_REASON(cuStreamUpdateCaptureDependencies(self->free, &mine, NULL, 1, 2),
		      "unknown flags");
	ASSERT_OK(cuStreamUpdateCaptureDependencies(self->free, &mine, NULL, 1,
						    CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, NULL, NULL, &nodes, NULL, &count));
	EXPECT_EQ(2, count);
	SET(16, 1, self->free);
	EXPECT_EQ(3, edges_of(graph));
	ASSERT_OK(cuStreamUpdateCaptureDependencies(self->free, NULL, NULL, 0,
						    CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	SET(24, 1, self->free);
	EXPECT_EQ(3, edges_of(graph));
	ASSERT_OK(cuStreamEndCapture(self->free, &same));
	EXPECT_EQ(graph, same);
	EXPECT_OK(cuGraphDestroy(same));

	/* captures into an existing graph, after one of its nodes */
	EXPECT_REASON(cuStreamBeginCaptureToGraph(self->free, other, &mine, NULL, 1, GLOBAL),
		      "# is not a node, or destroyed");
	ASSERT_OK(cuStreamBeginCaptureToGraph(self->free, other, &outside, NULL, 1, GLOBAL));
	ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, &later, NULL, NULL, NULL, NULL));
	EXPECT_NE(id, later);
	EXPECT_REASON(cuStreamBeginCaptureToGraph(self->first, other, NULL, NULL, 0, GLOBAL),
		      "the graph is a child node's, or captured to already");
	SET(0, 1, self->free);
	ASSERT_OK(cuStreamEndCapture(self->free, &same));
	EXPECT_EQ(other, same);
	EXPECT_EQ(2, nodes_of(other));
	EXPECT_EQ(1, edges_of(other));
	/* to instantiate the graph during the capture fails the capture, but not the graph */
	ASSERT_OK(cuStreamBeginCaptureToGraph(self->free, other, NULL, NULL, 0, GLOBAL));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphInstantiate(&instance, other, 0));
	expect_failed(self->free);
	EXPECT_OK(cuGraphInstantiate(&instance, other, 0));
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(other));
}

/* What the program itself takes out of a capture needs no stream that waits for it. */
TEST_F(stream, nodes_that_are_dropped)
{
	CUevent fork = event_new(), join = event_new();
	enum { BY_CALL, BY_EDGE, AND_MORE_WORK, WAYS };
	CUstreamCaptureStatus state;
	const CUgraphNode *nodes;
	CUgraphNode before[2], last;
	CUgraph graph;
	size_t count;

	for (int way = 0; way < WAYS; way++) {
		ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
		SET(0, 1, self->first);
		ASSERT_OK(cuEventRecord(fork, self->first));
		ASSERT_OK(cuStreamWaitEvent(self->free, fork, 0));
		SET(8, 1, self->free);
		ASSERT_OK(cuEventRecord(join, self->free));
		ASSERT_OK(cuStreamWaitEvent(self->first, join, 0));
		ASSERT_OK(cuStreamGetCaptureInfo(self->first, &state, NULL, &graph, &nodes, NULL,
						 &count));
		ASSERT_EQ(2, count);
		memcpy(before, nodes, sizeof(before));
		if (way == BY_EDGE) {
			SET(16, 1, self->first);
			ASSERT_OK(cuStreamGetCaptureInfo(self->first, &state, NULL, NULL, &nodes,
							 NULL, &count));
			last = *nodes;
			ASSERT_OK(cuGraphRemoveDependencies(graph, &before[1], &last, NULL, 1));
		} else {
			ASSERT_OK(cuStreamUpdateCaptureDependencies(
				self->first, before, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
		}
		if (way == AND_MORE_WORK) {
			SET(24, 1, self->free);
			EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
				  cuStreamEndCapture(self->first, &graph));
		} else {
			EXPECT_OK(cuStreamEndCapture(self->first, &graph));
			EXPECT_EQ(2 + (way == BY_EDGE), nodes_of(graph));
			EXPECT_OK(cuGraphDestroy(graph));
		}
	}
}

/* NCCL's own stream ends with a node that NCCL has put in, which nothing joins; work behind it is to be. */
TEST_F(stream, node_that_was_put_in)
{
	CUevent fork = event_new(), join = event_new();
	CUstreamCaptureStatus state;
	const CUgraphNode *nodes;
	CUgraphNode mark;
	CUgraph graph;
	size_t count;

	for (int more = 0; more < 2; more++) {
		ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
		ASSERT_OK(cuEventRecord(fork, self->first));
		ASSERT_OK(cuStreamWaitEvent(self->free, fork, 0));
		SET(8, 1, self->free);
		ASSERT_OK(cuEventRecord(join, self->free));
		ASSERT_OK(cuStreamWaitEvent(self->first, join, 0));
		ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, NULL, &graph, &nodes, NULL,
						 &count));
		ASSERT_OK(cuGraphAddEventRecordNode(&mark, graph, nodes, count, fork));
		ASSERT_OK(cuStreamUpdateCaptureDependencies(self->free, &mark, NULL, 1,
							    CU_STREAM_SET_CAPTURE_DEPENDENCIES));
		if (more) {
			SET(24, 1, self->free);
			EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
				  cuStreamEndCapture(self->first, &graph));
		} else {
			EXPECT_OK(cuStreamEndCapture(self->first, &graph));
			EXPECT_EQ(2, nodes_of(graph));
			EXPECT_OK(cuGraphDestroy(graph));
		}
	}
}

/* The array that a query gives is good for a change, which may need a larger one. */
TEST_F(stream, dependencies_given_back)
{
	CUstreamCaptureStatus state;
	const CUgraphNode *nodes;
	CUgraphNode node;
	CUgraph graph;
	size_t count;

	ASSERT_OK(cuStreamBeginCapture(self->free, GLOBAL));
	for (size_t i = 0; i < 100; i++) {
		ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, NULL, &graph, NULL, NULL,
						 NULL));
		ASSERT_OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
		ASSERT_OK(cuStreamUpdateCaptureDependencies(self->free, &node, NULL, 1,
							    CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
		ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, NULL, NULL, &nodes, NULL,
						 &count));
		ASSERT_OK(cuStreamUpdateCaptureDependencies(self->free, (CUgraphNode *)nodes, NULL,
							    count, i % 2));
		ASSERT_OK(cuStreamGetCaptureInfo(self->free, &state, NULL, NULL, &nodes, NULL,
						 &count));
		EXPECT_EQ(i + 1, count);
		EXPECT_EQ(node, nodes[i]);
	}
	ASSERT_OK(cuStreamEndCapture(self->free, &graph));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_HARNESS_MAIN
