// SPDX-License-Identifier: MIT
/* Events: the work that they stand for, and when they happen. */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(event)
{
	volatile uint32_t *at, *gate;
	CUstream first, second;
	CUevent event;
};

FIXTURE_SETUP(event)
{
	cuda_start(0);
	self->at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	self->gate = self->at + 100;
	ASSERT_OK(cuStreamCreate(&self->first, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&self->second, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&self->event, CU_EVENT_DEFAULT));
}
NOTHING_LEFT(event)

#define HOLD(stream)		\
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(self->gate), 1, CU_STREAM_WAIT_VALUE_EQ))
#define LET_GO()		(*self->gate = 1)
#define SET(word, value, stream) \
	ASSERT_OK(cuMemsetD32Async(ADDRESS(self->at + (word)), value, 1, stream))

TEST_F(event, not_recorded_is_done)
{
	EXPECT_OK(cuEventQuery(self->event));
	EXPECT_OK(cuEventSynchronize(self->event));
	EXPECT_OK(cuStreamWaitEvent(self->first, self->event, 0));
	EXPECT_OK(cuStreamQuery(self->first));
}

TEST_F(event, stands_for_the_work_before_it)
{
	HOLD(self->first);
	SET(0, 1, self->first);
	ASSERT_OK(cuEventRecord(self->event, self->first));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	LET_GO();
	ASSERT_OK(cuEventSynchronize(self->event));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_OK(cuEventQuery(self->event));
	/* work after the record does not count */
	*self->gate = 0;
	HOLD(self->first);
	EXPECT_OK(cuEventQuery(self->event));
	LET_GO();
}

TEST_F(event, streams_wait)
{
	HOLD(self->first);
	SET(0, 5, self->first);
	ASSERT_OK(cuEventRecordWithFlags(self->event, self->first, CU_EVENT_RECORD_DEFAULT));
	ASSERT_OK(cuStreamWaitEvent(self->second, self->event, CU_EVENT_WAIT_DEFAULT));
	ASSERT_OK(cuMemcpyDtoDAsync(ADDRESS(self->at + 1), ADDRESS(self->at), 4, self->second));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(self->second));
	/* the waits are for that record, whatever becomes of the event */
	ASSERT_OK(cuEventDestroy(self->event));
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->second));
	EXPECT_EQ(5, self->at[1]);
}

TEST_F(event, the_last_record_counts)
{
	HOLD(self->first);
	ASSERT_OK(cuEventRecord(self->event, self->first));
	ASSERT_OK(cuStreamWaitEvent(self->second, self->event, 0));
	ASSERT_OK(cuEventRecord(self->event, CU_STREAM_PER_THREAD));
	EXPECT_OK(cuEventQuery(self->event));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(self->second));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(self->second));
}

TEST_F(event, elapsed_time)
{
	float milliseconds = -1;
	double start = now();
	CUevent end;

	ASSERT_OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, self->event, end));
	ASSERT_OK(cuEventRecord(self->event, self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, self->event, end));
	HOLD(self->first);
	ASSERT_OK(cuEventRecord(end, self->first));
	EXPECT_CU(CUDA_ERROR_NOT_READY,
		  cuEventElapsedTime(&milliseconds, self->event, end));
	EXPECT_EQ(-1, milliseconds);
	usleep(100000);
	LET_GO();
	ASSERT_OK(cuEventSynchronize(end));
	ASSERT_OK(cuEventElapsedTime(&milliseconds, self->event, end));
	EXPECT_LE(100, milliseconds);
	EXPECT_GE((now() - start) * 1000, milliseconds);
	ASSERT_OK(cuEventElapsedTime(&milliseconds, end, self->event));
	EXPECT_GE(-100, milliseconds);
}

TEST_F(event, flags)
{
	float milliseconds;
	CUevent event = NULL;

	EXPECT_REASON(cuEventCreate(&event, 8), "unknown flags");
	EXPECT_REASON(cuEventCreate(NULL, 0), "NULL output");
	EXPECT_REASON(cuEventCreate(&event, CU_EVENT_INTERPROCESS),
		      "INTERPROCESS needs DISABLE_TIMING");
	EXPECT_EQ(NULL, event);
	EXPECT_OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	EXPECT_OK(cuEventDestroy(event));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuEventRecordWithFlags(self->event, self->first, CU_EVENT_RECORD_EXTERNAL));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuStreamWaitEvent(self->first, self->event, CU_EVENT_WAIT_EXTERNAL));

	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	ASSERT_OK(cuEventRecord(event, self->first));
	ASSERT_OK(cuEventRecord(self->event, self->first));
	EXPECT_OK(cuEventQuery(event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, event, self->event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, self->event, event));
}

TEST_F(event, of_its_context_only)
{
	CUcontext other;
	CUstream stream;

	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(self->event, stream));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(self->event, NULL));
	/* but any stream can wait for the event */
	HOLD(self->first);
	ASSERT_OK(cuEventRecord(self->event, self->first));
	EXPECT_OK(cuStreamWaitEvent(stream, self->event, 0));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(stream));
	ASSERT_OK(cuCtxDestroy(other));
}

TEST_F(event, times_of_two_contexts)
{
	float milliseconds = -1;
	CUcontext other;
	CUstream stream;
	CUevent event;

	ASSERT_OK(cuEventRecord(self->event, self->first));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuEventRecord(event, stream));
	EXPECT_OK(cuEventQuery(self->event));
	EXPECT_OK(cuEventQuery(event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, self->event, event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuEventElapsedTime(&milliseconds, event, self->event));
	EXPECT_EQ(-1, milliseconds);
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(NULL, event, event));
	EXPECT_OK(cuEventElapsedTime(&milliseconds, event, event));
	EXPECT_EQ(0, milliseconds);
}

/* After a failure, even an event from before it answers with the failure. */
TEST_F(event, work_before_it_has_failed)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	float milliseconds = -1;
	CUevent before, late;

	ASSERT_OK(cuEventCreate(&before, 0));
	ASSERT_OK(cuEventCreate(&late, 0));
	ASSERT_OK(cuEventRecord(before, self->first));
	ASSERT_OK(cuStreamWaitValue32(self->first, gone, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuEventRecord(self->event, self->first));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(self->event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventQuery(self->event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED,
		  cuEventElapsedTime(&milliseconds, before, self->event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED,
		  cuEventElapsedTime(&milliseconds, self->event, before));
	EXPECT_EQ(-1, milliseconds);
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventQuery(before));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(before));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventRecord(before, self->second));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventRecord(late, self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventQuery(late));
	/* the event is destroyed all the same */
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventDestroy(self->event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(self->event));
}

static void CUDA_CB called(void *data)
{
	*(int *)data = 5;
}

/* A stream of another device's context goes on: the failure was not in its context. */
TEST_F(event, waits_for_work_that_fails)
{
	CUdeviceptr gone = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	int value = 0;
	CUcontext other;
	CUstream stream;

	ASSERT_OK(cuStreamWaitValue32(self->first, gone, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuEventRecord(self->event, self->first));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuStreamWaitEvent(stream, self->event, 0));
	ASSERT_OK(cuLaunchHostFunc(stream, called, &value));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	EXPECT_EQ(0, value);
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	EXPECT_OK(cuStreamSynchronize(stream));
	EXPECT_EQ(5, value);
	EXPECT_OK(cuStreamQuery(stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
}

TEST_F(event, destroyed)
{
	ASSERT_OK(cuEventDestroy(self->event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(self->event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(self->event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(self->event, self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(NULL));
}

TEST_HARNESS_MAIN
