// SPDX-License-Identifier: MIT
/* A program built for the per-thread default stream: NULL is the thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <pthread.h>
#include "memcast_test.h"

FIXTURE(per_thread)
{
	volatile uint32_t *at, *gate;
	CUcontext context;
};

FIXTURE_SETUP(per_thread)
{
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&self->context));
	self->at = mapped(memory(0, CHUNK), CHUNK, 0);
	self->gate = self->at + 100;
}
NOTHING_LEFT(per_thread)

#define HOLD(stream)		\
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(self->gate), 1, CU_STREAM_WAIT_VALUE_EQ))
#define LET_GO()		(*self->gate = 1)

struct other {
	CUcontext context;
	CUdeviceptr at;
	uint32_t word;
	CUresult results[6];
};

/* All of it in this thread's own stream */
static void *use_own(void *argument)
{
	struct other *other = argument;
	uint32_t seven = 7;
	CUevent event;

	other->results[0] = cuCtxSetCurrent(other->context);
	other->results[1] = cuMemcpyHtoDAsync(other->at, &seven, 4, NULL);
	other->results[2] = cuMemcpyDtoH(&other->word, other->at, 4);
	other->results[3] = cuStreamQuery(NULL);
	other->results[4] = cuEventCreate(&event, 0) || cuEventRecord(event, NULL) ?
			    CUDA_ERROR_UNKNOWN : cuEventQuery(event);
	other->results[5] = cuStreamSynchronize(NULL);
	return NULL;
}

TEST_F(per_thread, threads_do_not_wait_for_each_other)
{
	struct other other = { .context = self->context, .at = ADDRESS(self->at) };
	pthread_t thread;
	int i;

	HOLD(NULL);
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(CU_STREAM_PER_THREAD));
	ASSERT_EQ(0, pthread_create(&thread, NULL, use_own, &other));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	for (i = 0; i < 6; i++)
		EXPECT_OK(other.results[i]) TH_LOG("call %d", i);
	EXPECT_EQ(7, other.word);
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(NULL));
}

/* Without a stream, a call is in the thread's own; it is a blocking one. */
TEST_F(per_thread, fills_and_copies)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = ADDRESS(self->at),
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = ADDRESS(self->at + 8),
		.WidthInBytes = 4, .Height = 2,
	};

	HOLD(NULL);
	ASSERT_OK(cuMemsetD32(ADDRESS(self->at), 5, 2));
	ASSERT_OK(cuMemsetD2D32(ADDRESS(self->at + 4), 4, 6, 1, 2));
	ASSERT_OK(cuMemcpyDtoD(ADDRESS(self->at + 2), ADDRESS(self->at), 8));
	ASSERT_OK(cuMemcpy2D(&copy));
	/* later in the legacy stream */
	ASSERT_OK(cuMemsetD32Async(ADDRESS(self->at + 10), 9, 1, CU_STREAM_LEGACY));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(CU_STREAM_LEGACY));
	EXPECT_EQ(5, self->at[3]);
	EXPECT_EQ(6, self->at[5]);
	EXPECT_EQ(5, self->at[9]);
	EXPECT_EQ(9, self->at[10]);
}

static void *fill_and_end(void *argument)
{
	struct other *other = argument;

	other->results[0] = cuCtxSetCurrent(other->context);
	other->results[1] = cuMemsetD32Async(other->at, 3, 1, NULL);
	return NULL;
}

TEST_F(per_thread, a_thread_that_ends_leaves_its_work)
{
	struct other other = { .context = self->context, .at = ADDRESS(self->at) };
	pthread_t thread;

	HOLD(CU_STREAM_LEGACY);
	ASSERT_EQ(0, pthread_create(&thread, NULL, fill_and_end, &other));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(other.results[0]);
	EXPECT_OK(other.results[1]);
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(3, self->at[0]);
}

TEST_HARNESS_MAIN
