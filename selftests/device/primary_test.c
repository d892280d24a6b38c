// SPDX-License-Identifier: MIT
/* Primary contexts: retain and release keep and end them; a reset leaves them without objects. */
#include <pthread.h>
#include "memcast_test.h"
#include "reason.h"

/* No context is current, and no primary context is retained. */
FIXTURE(primary) { int devices; };
FIXTURE_SETUP(primary)
{
	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDeviceGetCount(&self->devices));
	ASSERT_LE(2, self->devices);
}
NOTHING_LEFT(primary)

static int active(CUdevice device)
{
	unsigned int flags;
	int active = -1;

	cuDevicePrimaryCtxGetState(device, &flags, &active);
	return active;
}

#define EXPECT_FLAGS(expected, device)						\
do {										\
	unsigned int flags_ = 77;						\
	int active_;								\
										\
	EXPECT_OK(cuDevicePrimaryCtxGetState(device, &flags_, &active_));	\
	EXPECT_EQ(expected, flags_);						\
} while (0)

TEST_F(primary, alive_while_retained)
{
	CUcontext first, again, other, current = (CUcontext)77;
	CUdevice device = -1;

	EXPECT_EQ(0, active(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&again, 0));
	EXPECT_EQ(first, again);
	EXPECT_EQ(1, active(0));
	EXPECT_EQ(0, active(1));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&other, 1));
	EXPECT_NE(first, other);
	EXPECT_OK(cuCtxGetDevice_v2(&device, other));
	EXPECT_EQ(1, device);
	/* a retain makes no context current */
	EXPECT_OK(cuCtxGetCurrent(&current));
	EXPECT_EQ(NULL, current);
	/* a primary context cannot be destroyed */
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(first));
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(1, active(0));
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(0, active(0));
	EXPECT_EQ(1, active(1));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
}

TEST_F(primary, arguments)
{
	CUcontext context = (CUcontext)77;
	unsigned int flags = 77;
	int active = 77;

	EXPECT_REASON(cuDevicePrimaryCtxRetain(NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&context, -1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuDevicePrimaryCtxRetain(&context, self->devices));
	EXPECT_EQ((CUcontext)77, context);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease(self->devices));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(-1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxSetFlags(self->devices, 0));
	EXPECT_REASON(cuDevicePrimaryCtxSetFlags(0, CU_CTX_FLAGS_MASK + 1), "unknown flags");
	EXPECT_REASON(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_MASK), "several scheduling flags");
	EXPECT_FLAGS(0, 0);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuDevicePrimaryCtxGetState(self->devices, &flags, &active));
	EXPECT_REASON(cuDevicePrimaryCtxGetState(0, NULL, &active), "NULL output");
	EXPECT_REASON(cuDevicePrimaryCtxGetState(0, &flags, NULL), "NULL output");
	EXPECT_EQ(77, flags);
	EXPECT_EQ(77, active);
}

/* Flags can be set before the context is alive, and later; an alive one always has MAP_HOST. */
TEST_F(primary, flags)
{
	unsigned int flags = 77;
	CUcontext context;

	EXPECT_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
	EXPECT_FLAGS(CU_CTX_SCHED_BLOCKING_SYNC, 0);
	EXPECT_FLAGS(0, 1);
	EXPECT_EQ(0, active(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST, flags);
	EXPECT_REASON(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST),
		      "primary contexts always have MAP_HOST");
	EXPECT_OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_YIELD | CU_CTX_MAP_HOST, flags);
	EXPECT_OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
	EXPECT_FLAGS(CU_CTX_SCHED_SPIN, 0);
	/* the flags end with the context */
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_FLAGS(0, 0);
}

/* The last release ends the context, but does not pop it from the thread's stack. */
TEST_F(primary, released_while_current)
{
	CUcontext context, current = NULL, again;
	CUdevice device = 77;
	CUdeviceptr at;
	CUstream stream;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAlloc(&at, 4));
	ASSERT_OK(cuDevicePrimaryCtxRelease(1));
	EXPECT_OK(cuCtxGetCurrent(&current));
	EXPECT_EQ(context, current);
	EXPECT_OK(cuCtxGetDevice(&device));
	EXPECT_EQ(1, device);
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	ASSERT_OK(cuDevicePrimaryCtxRetain(&again, 1));
	EXPECT_EQ(context, again);
	EXPECT_OK(cuCtxGetDevice(&device));
	EXPECT_EQ(1, device);
	/* the context that is retained again has none of its former streams and blocks */
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
	EXPECT_REASON(cuMemFree(at), "# is not in a reservation");
}

TEST_F(primary, reset_releases_nothing)
{
	CUcontext context, again;
	CUdevice device = 77;
	CUdeviceptr at;

	EXPECT_OK(cuDevicePrimaryCtxReset(0));	/* of a context that is not alive */
	EXPECT_EQ(0, active(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuMemAlloc(&at, 4));
	EXPECT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_EQ(0, active(0));
	EXPECT_OK(cuCtxGetDevice(&device));
	EXPECT_EQ(0, device);
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));

	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	EXPECT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&again, 0));
	EXPECT_EQ(context, again);
	EXPECT_REASON(cuMemFree(at), "# is not in a reservation");
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(1, active(0));
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(0, active(0));
}

static void sleep_a_little(void *unused)
{
	(void)unused;
	usleep(50000);
}

/* A reset lets queued work end, also what waits for other work of the context. */
TEST_F(primary, reset_after_work)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUstream first, second;
	CUcontext context;
	CUevent event;

	for (int round = 0; round < 20; round++) {
		ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
		ASSERT_OK(cuCtxSetCurrent(context));
		ASSERT_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
		ASSERT_OK(cuStreamCreate(&second, CU_STREAM_DEFAULT));
		ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
		ASSERT_OK(cuLaunchHostFunc(first, sleep_a_little, NULL));
		ASSERT_OK(cuEventRecord(event, first));
		ASSERT_OK(cuStreamWaitEvent(second, event, 0));
		ASSERT_OK(cuMemsetD32Async(ADDRESS(at), round + 1, 1, second));
		/* after that of the second stream */
		ASSERT_OK(cuMemcpyDtoDAsync(ADDRESS(at + 1), ADDRESS(at), 4, NULL));
		ASSERT_OK(cuStreamWaitValue32(first, ADDRESS(at + 1), round + 1,
					      CU_STREAM_WAIT_VALUE_EQ));
		ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 2), round + 1, 1, first));
		/* the last release ends it as well */
		if (round % 2)
			ASSERT_OK(cuDevicePrimaryCtxReset(0));
		ASSERT_OK(cuDevicePrimaryCtxRelease(0));
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(round + 1, at[i]);
	}
}

/* Work that waits for an event of another context is discarded, and that context goes on. */
TEST_F(primary, reset_with_work_of_another)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUcontext context, other;
	CUstream stream, held;
	CUevent event;

	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	ASSERT_OK(cuStreamWaitValue32(held, ADDRESS(at), 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuEventRecord(event, held));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamWaitEvent(stream, event, 0));
	ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 1), 5, 1, stream));
	ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 2), 5, 1, NULL));
	ASSERT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(5, at[2]);
	at[0] = 1;
	EXPECT_OK(cuStreamSynchronize(held));
	EXPECT_EQ(0, at[1]);
	EXPECT_OK(cuCtxDestroy(other));
}

static void destroy_own(void *context)
{
	cuCtxDestroy(*(CUcontext *)context);
}

/* A host function ends the context in whose stream it runs: it does not wait for itself. */
TEST_F(primary, ended_by_its_work)
{
	unsigned int version;
	CUcontext context;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuLaunchHostFunc(NULL, destroy_own, &context));
	EXPECT_TRUE(comes_true(cuCtxGetApiVersion(context, &version) != CUDA_SUCCESS));
}

static CUstreamBatchMemOpParams on_word(bool wait, volatile uint32_t *at, uint32_t value)
{
	return (CUstreamBatchMemOpParams) { .waitValue = {
		.operation = wait ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_32,
		.address = ADDRESS(at),
		.value = value,
		.flags = wait ? CU_STREAM_WAIT_VALUE_EQ : 0,
	} };
}

/* Two streams answer each other, each in one piece of work: it comes to its end. */
TEST_F(primary, reset_with_answers)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUstreamBatchMemOpParams ask[200], answer[200];
	CUstream first, second;
	CUcontext context;

	for (int i = 0; i < 100; i++) {
		ask[2 * i] = on_word(false, at, i + 1);
		ask[2 * i + 1] = on_word(true, at + 1, i + 1);
		answer[2 * i] = on_word(true, at, i + 1);
		answer[2 * i + 1] = on_word(false, at + 1, i + 1);
	}
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamBatchMemOp(first, 200, ask, 0));
	ASSERT_OK(cuStreamBatchMemOp(second, 200, answer, 0));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_EQ(100, at[1]);
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

static void *reset(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)cuDevicePrimaryCtxReset(0);
}

/* Two threads end a context with work that waits for a word: neither keeps the other. */
TEST_F(primary, reset_by_two)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUcontext context;
	pthread_t threads[2];
	void *result;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuStreamWaitValue32(NULL, ADDRESS(at), 1, CU_STREAM_WAIT_VALUE_EQ));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, reset, NULL));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &result));
		EXPECT_OK((CUresult)(uintptr_t)result);
	}
	EXPECT_OK(cuDevicePrimaryCtxRelease(0));
}

/* A reset discards work that waits for a word, and later work does not fail by it. */
TEST_F(primary, reset_with_work)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUcontext context;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuStreamWaitValue32(CU_STREAM_PER_THREAD, ADDRESS(at), 1,
				      CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 1), 5, 1, CU_STREAM_PER_THREAD));
	ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 2), 5, 1, NULL));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	EXPECT_OK(cuStreamQuery(CU_STREAM_PER_THREAD));
	EXPECT_OK(cuCtxSynchronize());
	ASSERT_OK(cuMemsetD32Async(ADDRESS(at + 3), 6, 1, CU_STREAM_PER_THREAD));
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(6, at[3]);
	at[0] = 1;
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, at[1]);
	EXPECT_EQ(0, at[2]);
}

TEST_HARNESS_MAIN
