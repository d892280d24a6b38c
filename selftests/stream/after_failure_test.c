// SPDX-License-Identifier: MIT
/*
 * After a failure of work, what is queued still waits for what it comes after: callbacks are
 * called and memory is freed then as well. Other devices go on.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include "stream_fixture.h"

/* A callback that says that it is called, and returns once it may */
struct gate {
	atomic_int thread;	/* the thread that calls it; 0: not called yet */
	atomic_bool open, left;
};

static void pass(CUstream stream, CUresult error, void *data)
{
	struct gate *gate = data;

	(void)stream;
	(void)error;
	gate->thread = (int)syscall(SYS_gettid);
	while (!gate->open)
		usleep(1000);
	gate->left = true;
}

static void entered(const struct gate *gate)
{
	while (!gate->thread)
		usleep(1000);
}

/* Work of device 0 fails: a fill finds its memory unmapped. */
#define fail_in(stream)		fail_in_(_metadata, self, stream)
TEST_HELPER void fail_in_(struct __test_metadata *_metadata, FIXTURE_DATA(stream) *self,
			  CUstream stream)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));

	HOLD(stream);
	ASSERT_OK(cuMemsetD32Async(gone, 1, 1, stream));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	LET_GO();
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
}

TEST_F(stream, waits_for_events_stay)
{
	static struct gate first, other, last = { .open = true };
	CUstream free, failing;
	CUevent event;

	ASSERT_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&failing, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuStreamAddCallback(self->free, pass, &first, 0));
	ASSERT_OK(cuStreamAddCallback(free, pass, &other, 0));
	ASSERT_OK(cuEventRecord(event, free));
	ASSERT_OK(cuStreamWaitEvent(self->free, event, 0));
	ASSERT_OK(cuStreamAddCallback(self->free, pass, &last, 0));
	entered(&first);
	entered(&other);
	fail_in(failing);
	first.open = true;
	while (!first.left)
		usleep(1000);
	EXPECT_TRUE(sleeps(getpid(), first.thread));
	EXPECT_EQ(0, last.thread);
	other.open = true;
	entered(&last);
	EXPECT_TRUE(other.left);
}

TEST_F(stream, the_legacy_stream_stays_behind_others)
{
	static struct gate first, other, last = { .open = true };

	ASSERT_OK(cuStreamAddCallback(NULL, pass, &first, 0));
	ASSERT_OK(cuStreamAddCallback(self->first, pass, &other, 0));
	ASSERT_OK(cuStreamAddCallback(NULL, pass, &last, 0));
	entered(&first);
	fail_in(self->free);
	first.open = true;
	entered(&other);
	EXPECT_TRUE(sleeps(getpid(), first.thread));
	EXPECT_EQ(0, last.thread);
	other.open = true;
	entered(&last);
	EXPECT_TRUE(other.left);
}

TEST_F(stream, other_devices_go_on)
{
	CUcontext failed, other;
	CUstream stream;
	CUdeviceptr at;

	ASSERT_OK(cuCtxGetCurrent(&failed));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAlloc(&at, 64));
	ASSERT_OK(cuCtxSetCurrent(failed));
	fail_in(self->first);
	ASSERT_OK(cuCtxSetCurrent(other));
	EXPECT_OK(cuStreamQuery(stream));
	EXPECT_OK(cuMemsetD32Async(at, 1, 1, stream));
	EXPECT_OK(cuStreamSynchronize(stream));
	EXPECT_OK(cuMemFree(at));
	EXPECT_OK(cuCtxDestroy(other));
}

/* Calls that queue nothing fail, too. A capture under way ends all the same. */
TEST_F(stream, captures_and_uploads_fail)
{
	CUcontext failed, other;
	CUstreamCaptureStatus status;
	CUgraphExec instance;
	CUevent done, event;
	CUgraph graph;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuCtxGetCurrent(&failed));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 1));
	ASSERT_OK(cuEventCreate(&done, 0));
	ASSERT_OK(cuEventRecord(done, NULL));
	ASSERT_OK(cuCtxSynchronize());
	ASSERT_OK(cuCtxSetCurrent(failed));
	ASSERT_OK(cuStreamBeginCapture(self->free, CU_STREAM_CAPTURE_MODE_RELAXED));
	fail_in(self->first);
#define EXPECT_FAULT(call)	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, call)
	EXPECT_FAULT(cuStreamWaitEvent(self->second, done, 0));
	EXPECT_FAULT(cuGraphUpload(instance, self->second));
	EXPECT_FAULT(cuStreamBeginCapture(self->second, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_FAULT(cuStreamUpdateCaptureDependencies(self->free, NULL, NULL, 0, 0));
	EXPECT_FAULT(cuMemsetD32Async(AT(0), 1, 1, self->free));
	EXPECT_FAULT(cuLaunchHostFunc(self->free, add_one, &(int) { 0 }));
	EXPECT_FAULT(cuEventRecord(event, self->free));
	EXPECT_FAULT(cuStreamWaitEvent(self->free, done, 0));
	EXPECT_FAULT(cuStreamEndCapture(self->free, &graph));
	EXPECT_EQ(NULL, graph);
	ASSERT_OK(cuStreamIsCapturing(self->free, &status));
	EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status);
	EXPECT_FAULT(cuStreamDestroy(self->free));
	EXPECT_OK(cuCtxDestroy(other));
}

/* ---- not after a failure, but in the same order: memory that is freed ---- */

/* A block that is freed in a stream stays until the legacy stream's work before has used it. */
TEST_F(stream, a_free_comes_after_the_legacy_stream)
{
	CUdeviceptr freed, next = 0;
	uint32_t word = 0;

	ASSERT_OK(cuMemAllocAsync(&freed, CHUNK, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	HOLD(NULL);
	ASSERT_OK(cuMemsetD32Async(freed, 7, CHUNK / 4, NULL));
	ASSERT_OK(cuMemFreeAsync(freed, self->first));
	ASSERT_OK(cuMemAllocAsync(&next, CHUNK, self->free));
	ASSERT_OK(cuMemsetD32Async(next, 1, CHUNK / 4, self->free));
	ASSERT_OK(cuStreamSynchronize(self->free));
	EXPECT_NE(freed, next);
	LET_GO();
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_OK(cuMemcpyDtoH(&word, next, 4));
	EXPECT_EQ(1, word);
	EXPECT_OK(cuMemFree(next));
}

TEST_HARNESS_MAIN
