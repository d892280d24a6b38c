// SPDX-License-Identifier: MIT
/* A program built for the per-thread default stream: NULL is the thread's own. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include <pthread.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(per_thread)
{
	volatile uint32_t *at, *gate;
	CUcontext context;
	CUstream first, free;		/* created streams; free is non-blocking */
	CUevent event;
};

FIXTURE_SETUP(per_thread)
{
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&self->context));
	self->at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	self->gate = self->at + 100;
	ASSERT_OK(cuStreamCreate(&self->first, CU_STREAM_DEFAULT));
	ASSERT_OK(cuStreamCreate(&self->free, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&self->event, CU_EVENT_DEFAULT));
}
NOTHING_LEFT(per_thread)

#define HOLD(stream)		\
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(self->gate), 1, CU_STREAM_WAIT_VALUE_EQ))
#define LET_GO()		(*self->gate = 1)
#define EXPECT_WAITS(stream)	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream))

struct other {
	CUcontext context;
	CUdeviceptr at;
	uint32_t word;
	CUresult results[6];
};

/* All calls go to this thread's own stream. */
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

/* A program may have made all keys of thread-specific data that there are. */
TEST_F(per_thread, without_keys)
{
	static int mine;
	pthread_key_t key;
	void *before;

	while (!pthread_key_create(&key, NULL))
		ASSERT_EQ(0, pthread_setspecific(key, &mine));
	before = pthread_getspecific(0);
	ASSERT_OK(cuMemsetD32Async(ADDRESS(self->at), 7, 1, NULL));
	ASSERT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(before, pthread_getspecific(0));
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
	for (i = 0; i < 6; i++) {
		EXPECT_OK(other.results[i]) TH_LOG("call %d", i);
	}
	EXPECT_EQ(7, other.word);
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(NULL));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(NULL));
}

/* A call without a stream goes to the thread's own, which is a blocking stream. */
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
	/* work in the legacy stream comes after it */
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

/* ---- NULL as a stream: copies and fills are in per_thread_forms_test ---- */

/* A stream that holds up the legacy stream does not hold up the thread's own. */
TEST_F(per_thread, not_the_legacy_stream)
{
	HOLD(self->first);
	EXPECT_WAITS(CU_STREAM_LEGACY);
	EXPECT_OK(cuStreamQuery(NULL));
	EXPECT_OK(cuStreamSynchronize(NULL));
	ASSERT_OK(cuEventRecord(self->event, NULL));
	EXPECT_OK(cuEventQuery(self->event));
	ASSERT_OK(cuEventRecordWithFlags(self->event, NULL, CU_EVENT_RECORD_DEFAULT));
	EXPECT_OK(cuEventQuery(self->event));
	ASSERT_OK(cuEventRecord(self->event, CU_STREAM_LEGACY));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	/* that record is work in the legacy stream, and the thread's own stream comes after it */
	ASSERT_OK(cuEventRecord(self->event, NULL));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	LET_GO();
	EXPECT_OK(cuEventSynchronize(self->event));
}

TEST_F(per_thread, events_stand_for_own_work)
{
	HOLD(NULL);
	ASSERT_OK(cuEventRecord(self->event, NULL));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	ASSERT_OK(cuEventRecordWithFlags(self->event, self->free, CU_EVENT_RECORD_DEFAULT));
	EXPECT_OK(cuEventQuery(self->event));
	ASSERT_OK(cuEventRecordWithFlags(self->event, NULL, CU_EVENT_RECORD_DEFAULT));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(self->event));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuEventRecordWithFlags(self->event, NULL, CU_EVENT_RECORD_EXTERNAL));
	LET_GO();
	EXPECT_OK(cuEventSynchronize(self->event));
}

TEST_F(per_thread, waits_for_events)
{
	HOLD(self->free);
	ASSERT_OK(cuEventRecord(self->event, self->free));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuStreamWaitEvent(NULL, self->event, CU_EVENT_WAIT_EXTERNAL));
	EXPECT_OK(cuStreamQuery(NULL));
	ASSERT_OK(cuStreamWaitEvent(NULL, self->event, CU_EVENT_WAIT_DEFAULT));
	EXPECT_WAITS(CU_STREAM_PER_THREAD);
	EXPECT_OK(cuStreamQuery(self->first));
	ASSERT_OK(cuStreamWaitEvent(self->first, self->event, CU_EVENT_WAIT_DEFAULT));
	EXPECT_WAITS(self->first);
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(NULL));
}

/* A wait compares by its condition: 5 is greater than the value, but not equal. */
TEST_F(per_thread, waits_for_values)
{
	*(volatile uint64_t *)self->gate = 5;
	ASSERT_OK(cuStreamWaitValue32(NULL, ADDRESS(self->gate), 4, CU_STREAM_WAIT_VALUE_GEQ));
	ASSERT_OK(cuStreamWaitValue64(NULL, ADDRESS(self->gate), 4, CU_STREAM_WAIT_VALUE_GEQ));
	EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	ASSERT_OK(cuStreamWaitValue32(NULL, ADDRESS(self->gate), 4, CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_WAITS(CU_STREAM_PER_THREAD);
	*self->gate = 4;
	EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	ASSERT_OK(cuStreamWaitValue64(NULL, ADDRESS(self->gate), 1ULL << 40 | 4,
				      CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_WAITS(CU_STREAM_PER_THREAD);
	*(volatile uint64_t *)self->gate = 1ULL << 40 | 4;
	EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	EXPECT_REASON(cuStreamWaitValue32(NULL, ADDRESS(self->gate) + 2, 0, 0),
		      "# is not a multiple of #");
	EXPECT_REASON(cuStreamWaitValue64(NULL, ADDRESS(self->gate) + 4, 0, 0),
		      "# is not a multiple of #");
}

#define EXPECT_GET(value, output, call)				\
do {								\
	memset(&output, 0x77, sizeof(output));			\
	EXPECT_OK(call);					\
	EXPECT_EQ(value, output);				\
} while (0)

TEST_F(per_thread, what_there_is_to_ask)
{
	unsigned long long id[3];
	CUcontext peer, context;
	unsigned int flags;
	CUgreenCtx green;
	CUdevice device;
	CUstream stream;
	int priority;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
	ASSERT_OK(cuCtxPushCurrent(peer));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuStreamGetId(NULL, &id[0]));
	EXPECT_OK(cuStreamGetId(CU_STREAM_PER_THREAD, &id[1]));
	EXPECT_OK(cuStreamGetId(CU_STREAM_LEGACY, &id[2]));
	EXPECT_EQ(id[0], id[1]);
	EXPECT_NE(id[0], id[2]);
	EXPECT_GET(0, priority, cuStreamGetPriority(NULL, &priority));
	EXPECT_GET(CU_STREAM_DEFAULT, flags, cuStreamGetFlags(NULL, &flags));
	EXPECT_GET(CU_STREAM_NON_BLOCKING, flags, cuStreamGetFlags(stream, &flags));
	EXPECT_GET(0, device, cuStreamGetDevice(NULL, &device));
	EXPECT_GET(1, device, cuStreamGetDevice(stream, &device));
	EXPECT_GET(self->context, context, cuStreamGetCtx(NULL, &context));
	EXPECT_GET(peer, context, cuStreamGetCtx(stream, &context));
	EXPECT_GET(NULL, green, cuStreamGetCtx_v2(NULL, &context, &green));
	EXPECT_EQ(self->context, context);
	EXPECT_GET(peer, context, cuStreamGetCtx_v2(stream, &context, &green));
	EXPECT_OK(cuStreamGetCtx_v2(NULL, &context, NULL));
	EXPECT_EQ(self->context, context);
	EXPECT_OK(cuStreamGetCtx_v2(NULL, NULL, &green));
	EXPECT_REASON(cuStreamGetCtx_v2(NULL, NULL, NULL), "NULL output");
	EXPECT_REASON(cuStreamGetId(NULL, NULL), "NULL output");
	EXPECT_REASON(cuStreamGetPriority(NULL, NULL), "NULL output");
	/* without a context, NULL names no stream */
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamGetCtx(NULL, &context));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamGetId(NULL, &id[0]));
}

static cuuint64_t used(CUmemoryPool pool)
{
	cuuint64_t bytes = -1;

	cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes);
	return bytes;
}

#define WHOLE	(16 * CHUNK)		/* the smallest limit of a pool */

/*
 * A free comes after the thread's own work. An allocation that finds no memory waits for frees that
 * come before it in its stream, and not for a free in a created stream.
 */
TEST_F(per_thread, pools)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.maxSize = WHOLE,
	};
	CUdeviceptr block, other = 77;
	CUmemoryPool pool;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	ASSERT_OK(cuDeviceSetMemPool(0, pool));
	ASSERT_OK(cuMemAllocAsync(&block, WHOLE, NULL));
	HOLD(NULL);
	EXPECT_OK(cuMemFreeAsync(block, NULL));
	EXPECT_EQ(WHOLE, used(pool));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(0, used(pool));

	*self->gate = 0;
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, WHOLE, pool, NULL));
	HOLD(self->first);
	EXPECT_OK(cuMemFreeAsync(block, self->first));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&other, CHUNK, NULL));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&other, CHUNK, pool, NULL));
	EXPECT_EQ(0, other);
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(self->first));
	ASSERT_OK(cuMemAllocFromPoolAsync(&other, CHUNK, pool, NULL));
	/* nor does a free in the thread's stream wait for the created stream */
	*self->gate = 0;
	HOLD(self->first);
	EXPECT_OK(cuMemFreeAsync(other, NULL));
	EXPECT_EQ(0, used(pool));
	LET_GO();
}

/* A thread has one stream per context, and loses it with the context. */
TEST_F(per_thread, one_stream_per_context)
{
	unsigned long long id[3], again;
	CUcontext made[2];
	int i;

	EXPECT_OK(cuStreamGetId(NULL, &id[2]));
	for (i = 0; i < 2; i++) {
		ASSERT_OK(cuCtxCreate(&made[i], NULL, 0, i));
		EXPECT_OK(cuStreamGetId(NULL, &id[i]));
		EXPECT_OK(cuMemsetD32Async(ADDRESS(self->at + i), 1, 0, NULL));
	}
	EXPECT_NE(id[0], id[1]);
	EXPECT_NE(id[0], id[2]);
	EXPECT_NE(id[1], id[2]);
	/* each context keeps its stream */
	EXPECT_OK(cuCtxSetCurrent(made[0]));
	EXPECT_OK(cuStreamGetId(NULL, &again));
	EXPECT_EQ(id[0], again);
	EXPECT_OK(cuCtxDestroy(made[0]));
	EXPECT_OK(cuCtxSetCurrent(made[1]));
	EXPECT_OK(cuStreamGetId(NULL, &again));
	EXPECT_EQ(id[1], again);
	EXPECT_OK(cuCtxDestroy(made[1]));
	EXPECT_OK(cuCtxSetCurrent(self->context));
	EXPECT_OK(cuStreamGetId(NULL, &again));
	EXPECT_EQ(id[2], again);
}

static void *outlive_contexts(void *results)
{
	CUresult *result = results;
	CUcontext first, second;

	result[0] = cuCtxCreate(&first, NULL, 0, 0);
	result[1] = cuStreamSynchronize(NULL);
	result[2] = cuCtxCreate(&second, NULL, 0, 1);
	result[3] = cuStreamSynchronize(NULL);
	result[4] = cuCtxDestroy(second);
	result[5] = cuCtxDestroy(first);
	return NULL;
}

/* A thread with streams ends after the contexts of those streams. */
TEST_F(per_thread, ends_after_its_contexts)
{
	CUresult results[6];
	pthread_t thread;
	int i;

	memset(results, 0x77, sizeof(results));
	ASSERT_EQ(0, pthread_create(&thread, NULL, outlive_contexts, results));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	for (i = 0; i < 6; i++) {
		EXPECT_OK(results[i]) TH_LOG("call %d", i);
	}
}

TEST_HARNESS_MAIN
