// SPDX-License-Identifier: MIT
/* Calls that a capture forbids, and the ends of captures. */
#include "capture_fixture.h"
#include "reason.h"

/* ---- forbidden calls ---- */

static CUresult forbidden(int which, CUdeviceptr memory, CUevent event, CUstream other)
{
	CUmemoryPool pool;
	CUdeviceptr at;
	void *host;

	switch (which) {
	case 0:
		return cuMemAlloc(&at, 4096);
	case 1:
		return cuMemFree(memory);
	case 2:
		return cuMemHostAlloc(&host, 4096, 0);
	case 3:
		return cuEventQuery(event);
	case 4:
		return cuEventSynchronize(event);
	case 5:
		return cuStreamQuery(other);
	case 6:
		return cuStreamSynchronize(other);
	case 7:
		return cuDeviceGetDefaultMemPool(&pool, 0) || cuMemPoolTrimTo(pool, 0) ?
			CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
	case 8:
		return cuMemAllocManaged(&at, 4096, CU_MEM_ATTACH_GLOBAL);
	default:
		return cuMemAllocAsync(&at, 4096, other);
	}
}

#define FORBIDDEN	10

struct other_thread {
	CUcontext context;
	CUstreamCaptureMode mode;
	CUresult result;
};

static void *allocate_there(void *data)
{
	struct other_thread *thread = data;
	CUdeviceptr at;

	cuCtxSetCurrent(thread->context);
	cuThreadExchangeStreamCaptureMode(&thread->mode);
	thread->result = cuMemAlloc(&at, 4096);
	return NULL;
}

TEST_F(stream, modes_forbid)
{
	CUevent event = event_new();
	CUdeviceptr at;
	CUgraph graph;
	int which, mode, own;

	ASSERT_OK(cuEventRecord(event, self->free));
	for (which = 0; which < FORBIDDEN; which++)
		for (mode = 0; mode < 3; mode++)
			for (own = 0; own < 3; own++) {
				/* a RELAXED capture or a RELAXED thread allows every call */
				bool allowed = mode == RELAXED || own == RELAXED;
				CUstreamCaptureMode exchange = own;
				CUresult result;

				ASSERT_OK(cuMemAlloc(&at, 4096));
				ASSERT_OK(cuThreadExchangeStreamCaptureMode(&exchange));
				ASSERT_OK(cuStreamBeginCapture(self->first, mode));
				result = forbidden(which, at, event, self->free);
				EXPECT_EQ((int)(allowed ? CUDA_SUCCESS :
						CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED), (int)result)
					TH_LOG("call %d, capture %d, thread %d", which, mode, own);
				if (allowed) {
					EXPECT_OK(cuStreamEndCapture(self->first, &graph));
					EXPECT_OK(cuGraphDestroy(graph));
				} else {
					expect_failed(self->first);
				}
				ASSERT_OK(cuThreadExchangeStreamCaptureMode(&exchange));
				EXPECT_EQ(own, (int)exchange);
			}
	EXPECT_REASON(cuThreadExchangeStreamCaptureMode(NULL), "NULL pointer");
}

/* A GLOBAL capture forbids another thread's calls only if that thread's mode is GLOBAL too. */
TEST_F(stream, modes_forbid_other_threads)
{
	struct other_thread thread = {};
	pthread_t pthread;
	CUgraph graph;
	int mode, own;

	ASSERT_OK(cuCtxGetCurrent(&thread.context));
	for (mode = 0; mode < 3; mode++)
		for (own = 0; own < 3; own++) {
			bool allowed = mode != GLOBAL || own != GLOBAL;

			thread.mode = own;
			ASSERT_OK(cuStreamBeginCapture(self->first, mode));
			ASSERT_EQ(0, pthread_create(&pthread, NULL, allocate_there, &thread));
			pthread_join(pthread, NULL);
			EXPECT_EQ(allowed, thread.result == CUDA_SUCCESS)
				TH_LOG("capture %d, thread %d", mode, own);
			EXPECT_STATE(allowed ? ACTIVE : FAILED, self->first);
			cuStreamEndCapture(self->first, &graph);
			if (graph)
				EXPECT_OK(cuGraphDestroy(graph));
		}
}

static void unused_callback(CUstream stream, CUresult status, void *data)
{
	(void)stream;
	(void)status;
	(void)data;
}

/* Some calls on a captured stream are forbidden in every mode. */
TEST_F(stream, what_no_captured_stream_does)
{
	CUgraph graph, empty;
	CUgraphExec instance;
	unsigned int flags = 77;
	CUcontext context;

	ASSERT_OK(cuCtxGetCurrent(&context));
	ASSERT_OK(cuGraphCreate(&empty, 0));
	ASSERT_OK(cuGraphInstantiate(&instance, empty, 0));
#define NEVER(call)								\
({										\
	ASSERT_OK(cuStreamBeginCapture(self->free, RELAXED));			\
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call);			\
	expect_failed(self->free);						\
})
	NEVER(cuStreamQuery(self->free));
	NEVER(cuStreamSynchronize(self->free));
	NEVER(cuStreamGetFlags(self->free, &flags));
	NEVER(cuStreamAddCallback(self->free, unused_callback, NULL, 0));
	NEVER(cuCtxSynchronize());
	NEVER(cuGraphLaunch(instance, self->free));
	NEVER(cuGraphUpload(instance, self->free));
	NEVER(cuMemcpyPeerAsync(AT(0), context, AT(8), context, 4, self->free));
	NEVER(cuStreamAttachMemAsync(self->free, AT(0), 0, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(77, flags);

	/* invalid calls and batches fail, but the capture goes on, without nodes of them */
	ASSERT_OK(cuStreamBeginCapture(self->free, GLOBAL));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(self->free, GLOBAL));
	EXPECT_REASON(cuMemcpyHtoDAsync(0, &flags, 4, self->free),
		      "the destination # is not device memory");
	EXPECT_REASON(cuLaunchHostFunc(self->free, NULL, NULL), "NULL function");
	EXPECT_REASON(cuMemFreeAsync(AT(0), self->free), "no alloc node has memory at #");
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		  cuMemcpyBatchAsync(&(CUdeviceptr) { AT(0) }, &(CUdeviceptr) { AT(8) },
				     &(size_t) { 4 }, 1,
				     &(CUmemcpyAttributes) { .srcAccessOrder = 1 },
				     &(size_t) { 0 }, 1, self->free));
	EXPECT_OK(cuStreamEndCapture(self->free, &graph));
	EXPECT_EQ(0, nodes_of(graph));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(self->free, &graph));
	EXPECT_REASON(cuStreamBeginCapture(self->free, 3), "no capture mode #");
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, GLOBAL));
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuGraphDestroy(empty));
	EXPECT_OK(cuGraphExecDestroy(instance));
}

/*
 * While a blocking stream is captured, work in the legacy stream, which would wait for that
 * stream, fails the capture; a query of the legacy stream's state fails, but harms nothing.
 */
TEST_F(stream, the_legacy_stream_meanwhile)
{
	CUstreamCaptureStatus state = 77;
	CUgraph graph;

	ASSERT_OK(cuStreamBeginCapture(self->first, RELAXED));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(NULL, &state));
	EXPECT_EQ(77, (int)state);
	EXPECT_STATE(ACTIVE, self->first);
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD32(AT(0), 1, 1));
	expect_failed(self->first);
	ASSERT_OK(cuStreamBeginCapture(self->free, RELAXED));
	EXPECT_STATE(NOT_CAPTURED, NULL);
	EXPECT_OK(cuMemsetD32(AT(0), 1, 1));
	EXPECT_OK(cuStreamEndCapture(self->free, &graph));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_OK(cuGraphDestroy(graph));
}

/* ---- ends ---- */

static void *capture_and_end(void *context)
{
	cuCtxSetCurrent(context);
	cuStreamBeginCapture(CU_STREAM_PER_THREAD, GLOBAL);
	cuMemsetD32Async(0, 1, 1, CU_STREAM_PER_THREAD);
	return NULL;
}

/* A capture ends with its stream, context or thread; from then on it forbids no call. */
TEST_F(stream, captures_end)
{
	CUevent fork = event_new();
	CUcontext context, current;
	CUstream stream, other;
	CUdeviceptr at;
	pthread_t thread;
	CUgraph graph;

	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamBeginCapture(stream, GLOBAL));
	SET(0, 1, stream);
	ASSERT_OK(cuStreamDestroy(stream));
	EXPECT_OK(cuMemAlloc(&at, 4096));

	/* the work of a stream that joined the capture stays unjoined after the stream's end */
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamBeginCapture(self->first, GLOBAL));
	ASSERT_OK(cuEventRecord(fork, self->first));
	ASSERT_OK(cuStreamWaitEvent(other, fork, 0));
	SET(0, 1, other);
	ASSERT_OK(cuStreamDestroy(other));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(self->first, &graph));
	EXPECT_OK(cuMemAlloc(&at, 4096));

	ASSERT_OK(cuCtxGetCurrent(&current));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuStreamBeginCapture(stream, GLOBAL));
	ASSERT_OK(cuCtxDestroy(context));
	ASSERT_OK(cuCtxSetCurrent(current));
	EXPECT_OK(cuMemAlloc(&at, 4096));

	ASSERT_EQ(0, pthread_create(&thread, NULL, capture_and_end, current));
	pthread_join(thread, NULL);
	EXPECT_OK(cuMemAlloc(&at, 4096));
	EXPECT_OK(cuCtxSynchronize());
}

static void *end_there(void *data)
{
	CUgraph graph = NULL;
	long result = cuStreamEndCapture(data, &graph);

	if (graph)
		cuGraphDestroy(graph);
	return (void *)result;
}

TEST_F(stream, threads_end_what_they_began)
{
	int mode;

	for (mode = 0; mode < 3; mode++) {
		pthread_t thread;
		void *result;

		ASSERT_OK(cuStreamBeginCapture(self->free, mode));
		ASSERT_EQ(0, pthread_create(&thread, NULL, end_there, self->free));
		pthread_join(thread, &result);
		EXPECT_EQ(mode == RELAXED ? 0 : (long)CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
			  (long)result);
		/* the capture has ended, whatever the result */
		EXPECT_STATE(NOT_CAPTURED, self->free);
	}
}

struct capturer {
	CUcontext context;
	CUdeviceptr at;
	long failures;
};

static void *capturer(void *data)
{
	struct capturer *own = data;
	CUgraphExec instance;
	CUstream stream;
	CUgraph graph;
	int i;

#define MUST(call)	(own->failures += (call) != CUDA_SUCCESS)
	MUST(cuCtxSetCurrent(own->context));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 1; i <= 50; i++) {
		MUST(cuStreamBeginCapture(stream, THREAD_LOCAL));
		MUST(cuMemsetD32Async(own->at, i, 4, stream));
		MUST(cuMemcpyDtoDAsync(own->at + 64, own->at, 16, stream));
		MUST(cuStreamEndCapture(stream, &graph));
		MUST(cuGraphInstantiate(&instance, graph, 0));
		MUST(cuGraphDestroy(graph));
		MUST(cuGraphLaunch(instance, stream));
		MUST(cuStreamSynchronize(stream));
		MUST(cuGraphExecDestroy(instance));
		own->failures += ((volatile uint32_t *)(uintptr_t)own->at)[16] != (uint32_t)i;
	}
	MUST(cuStreamDestroy(stream));
	return NULL;
}

TEST_F(stream, threads_capture_at_once)
{
	struct capturer own[4];
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++) {
		own[i] = (struct capturer) { .at = AT(1024 * i) };
		ASSERT_OK(cuCtxGetCurrent(&own[i].context));
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, capturer, &own[i]));
	}
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, own[i].failures);
	}
}

TEST_HARNESS_MAIN
