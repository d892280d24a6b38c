/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of stream capture. */
#ifndef CAPTURE_FIXTURE_H
#define CAPTURE_FIXTURE_H

#include "graph_fixture.h"

#define GLOBAL		CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL	CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED		CU_STREAM_CAPTURE_MODE_RELAXED
#define NOT_CAPTURED	CU_STREAM_CAPTURE_STATUS_NONE
#define ACTIVE		CU_STREAM_CAPTURE_STATUS_ACTIVE
#define FAILED		CU_STREAM_CAPTURE_STATUS_INVALIDATED

#define EXPECT_STATE(state, stream)				\
({								\
	CUstreamCaptureStatus state_ = 77;			\
								\
	EXPECT_OK(cuStreamIsCapturing(stream, &state_));	\
	EXPECT_EQ((int)(state), (int)state_);			\
})

#define event_new()	event_new_(_metadata)
TEST_HELPER CUevent event_new_(struct __test_metadata *_metadata)
{
	CUevent event = NULL;

	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	return event;
}

/* Ends the capture, launches the captured graph so many times, and waits for it. */
#define end_and_run(stream, times)	end_and_run_(_metadata, stream, times)
TEST_HELPER void end_and_run_(struct __test_metadata *_metadata, CUstream stream, int times)
{
	CUgraphExec instance;
	CUgraph graph;

	ASSERT_OK(cuStreamEndCapture(stream, &graph));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphDestroy(graph));
	while (times--)
		ASSERT_OK(cuGraphLaunch(instance, stream));
	ASSERT_OK(cuStreamSynchronize(stream));
	ASSERT_OK(cuGraphExecDestroy(instance));
}

#define expect_failed(stream)	expect_failed_(_metadata, stream)
TEST_HELPER void expect_failed_(struct __test_metadata *_metadata, CUstream stream)
{
	CUgraph graph = (CUgraph)0x1;

	EXPECT_STATE(FAILED, stream);
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
	EXPECT_EQ(NULL, graph);
	EXPECT_STATE(NOT_CAPTURED, stream);
}

#endif /* CAPTURE_FIXTURE_H */
