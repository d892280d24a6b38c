// SPDX-License-Identifier: MIT
/* Streams: order, waits for each other, and their attributes. */
#include <sys/resource.h>
#include "reason.h"
#include "stream_fixture.h"

/* ---- order ---- */

TEST_F(stream, work_is_done_in_order)
{
	uint32_t i, seen = 0;

	HOLD(self->first);
	for (i = 1; i <= 100; i++) {
		SET(0, i, self->first);
		ASSERT_OK(cuMemcpyDtoDAsync(AT(i), AT(0), 4, self->first));
	}
	EXPECT_WAITS(self->first);
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuStreamQuery(self->first));
	for (i = 1; i <= 100; i++)
		seen += self->at[i] == i;
	EXPECT_EQ(100, seen);
}

TEST_F(stream, streams_do_not_wait_for_each_other)
{
	HOLD(self->first);
	SET(0, 7, self->second);
	ASSERT_OK(cuStreamSynchronize(self->second));
	EXPECT_EQ(7, self->at[0]);
	EXPECT_WAITS(self->first);
	LET_GO();
}

TEST_F(stream, threads_only_for_work)
{
	int calls = 0;

	ASSERT_OK(cuMemsetD32(AT(0), 1, 4));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, threads());
	ASSERT_OK(cuLaunchHostFunc(self->first, add_one, &calls));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, calls);
	EXPECT_EQ(2, threads());
}

/*
 * A call that cannot queue its work leaves nothing: no work, no record, no block without an owner.
 */
TEST_F(stream, no_thread_for_work)
{
	struct rlimit before, limit;
	CUdeviceptr block;
	CUevent event;
	int calls = 0;

	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuMemAllocAsync(&block, 4, self->first));
	HOLD(NULL);		/* the next work has to wait for this */
	ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
	limit = before;
	limit.rlim_cur = 4096;	/* no room for a thread's stack, nor for anything else */
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &limit));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuLaunchHostFunc(self->first, add_one, &calls));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD32Async(AT(0), 1, 1, self->first));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuStreamWriteValue32(self->first, AT(0), 1, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuEventRecord(event, self->first));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemFreeAsync(block, self->first));
	ASSERT_EQ(0, setrlimit(RLIMIT_AS, &before));
	EXPECT_OK(cuStreamQuery(self->first));
	EXPECT_OK(cuEventQuery(event));
	EXPECT_OK(cuLaunchHostFunc(self->first, add_one, &calls));
	EXPECT_OK(cuMemFreeAsync(block, self->first));
	EXPECT_REASON(cuMemFreeAsync(block, self->first), "the block at # is being freed already");
	LET_GO();
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(1, calls);
	EXPECT_EQ(0, self->at[0]);
}

/* The stream's thread ends, too. */
TEST_F(stream, destroyed_finishes_its_work)
{
	int i, calls = 0;

	HOLD(self->first);
	for (i = 0; i < 10; i++)
		ASSERT_OK(cuLaunchHostFunc(self->first, add_one, &calls));
	ASSERT_OK(cuStreamDestroy(self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(self->first));
	LET_GO();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(10, calls);
	EXPECT_TRUE(comes_true(threads() == 1));
}

/* A wait for a stream that is destroyed meanwhile still waits for the stream's work. */
TEST_F(stream, destroyed_while_others_wait)
{
	CUevent event;
	pthread_t thread;

	ASSERT_OK(cuEventCreate(&event, 0));
	HOLD(self->first);
	SET(0, 5, self->first);
	ASSERT_OK(cuEventRecord(event, self->first));
	ASSERT_OK(cuStreamWaitEvent(self->free, event, 0));
	SET(1, 6, self->free);
	SET(2, 7, NULL);
	ASSERT_OK(cuStreamDestroy(self->first));
	ASSERT_OK(cuStreamDestroy(self->free));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	EXPECT_WAITS(NULL);
	EXPECT_EQ(0, self->at[1]);
	thread = LET_GO_LATER();
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_EQ(5, self->at[0]);
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(6, self->at[1]);
	EXPECT_EQ(7, self->at[2]);
	pthread_join(thread, NULL);
}

struct ending {
	pthread_barrier_t barrier;
	CUstream stream;
	int accepted, refused, calls;
};

static void *call_until_refused(void *argument)
{
	struct ending *ending = argument;
	CUresult result;

	pthread_barrier_wait(&ending->barrier);
	while ((result = cuLaunchHostFunc(ending->stream, add_one, &ending->calls)) ==
	       CUDA_SUCCESS)
		ending->accepted++;
	ending->refused += result == CUDA_ERROR_INVALID_HANDLE;
	return NULL;
}

/* An accepted call is done and a refused one is not, whenever the stream is destroyed. */
TEST_F(stream, destroyed_under_a_caller)
{
	struct ending ending = {};
	pthread_t thread;
	int i;

	ASSERT_EQ(0, pthread_barrier_init(&ending.barrier, NULL, 2));
	for (i = 0; i < 100; i++) {
		ASSERT_OK(cuStreamCreate(&ending.stream, CU_STREAM_NON_BLOCKING));
		ASSERT_EQ(0, pthread_create(&thread, NULL, call_until_refused, &ending));
		pthread_barrier_wait(&ending.barrier);
		ASSERT_OK(cuStreamDestroy(ending.stream));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(100, ending.refused);
	EXPECT_EQ(ending.accepted, ending.calls);
}

/* ---- default streams ---- */

TEST_F(stream, legacy_waits_for_others_and_they_for_it)
{
	HOLD(self->first);
	SET(0, 1, NULL);
	SET(1, 1, self->second);
	SET(2, 1, self->free);
	ASSERT_OK(cuStreamSynchronize(self->free));
	usleep(50000);
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, self->at[1]);
	EXPECT_EQ(1, self->at[2]);
	EXPECT_WAITS(NULL);
	EXPECT_WAITS(CU_STREAM_LEGACY);
	EXPECT_WAITS(self->second);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->second));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_EQ(1, self->at[1]);
}

TEST_F(stream, legacy_does_not_wait_for_non_blocking)
{
	HOLD(self->free);
	SET(0, 1, NULL);
	ASSERT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_WAITS(self->free);
	LET_GO();
}

/* Copies and fills of what the program can see are done when they return, whatever its kind. */
TEST_F(stream, calls_without_stream_come_after)
{
	static uint32_t page[1024] __attribute__((aligned(4096)));
	uint32_t word, *seen[4] = { &word };
	CUdeviceptr managed, at;
	pthread_t thread;

	ASSERT_OK(cuMemAllocHost((void **)&seen[1], 64));
	ASSERT_OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
	seen[2] = (uint32_t *)managed;
	ASSERT_OK(cuMemHostRegister(page, sizeof(page), 0));
	seen[3] = page;
	for (int i = 0; i < 4; i++) {
		*seen[i] = 0;
		at = (uintptr_t)seen[i];
		*self->gate = 0;
		HOLD(self->first);
		SET(0, 5 + i, self->first);
		thread = LET_GO_LATER();
		ASSERT_OK(cuMemcpyDtoH(seen[i], AT(0), 4));
		EXPECT_EQ(5 + i, *seen[i]);
		pthread_join(thread, NULL);

		*self->gate = 0;
		HOLD(self->first);
		thread = LET_GO_LATER();
		ASSERT_OK(cuMemcpyHtoD(AT(1), seen[i], 4));
		EXPECT_EQ(5 + i, self->at[1]);
		pthread_join(thread, NULL);

		if (!i)
			continue;
		*self->gate = 0;
		HOLD(self->first);
		thread = LET_GO_LATER();
		ASSERT_OK(cuMemsetD32(at, 9, 1));
		EXPECT_EQ(9, *seen[i]);
		pthread_join(thread, NULL);
	}
	ASSERT_OK(cuMemHostUnregister(page));
	ASSERT_OK(cuMemFreeHost(seen[1]));
	ASSERT_OK(cuMemFree(managed));
}

/* Another driver may look at memory with SYNC_MEMOPS, or a context's, as soon as a call returns. */
TEST_F(stream, sync_memops_wait)
{
	unsigned int on = 1;
	CUdeviceptr block;
	pthread_t thread;

	for (int whole = 0; whole < 2; whole++) {
		ASSERT_OK(cuMemAlloc(&block, 64));
		ASSERT_OK(whole ? cuCtxSetFlags(CU_CTX_SYNC_MEMOPS) :
			  cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
		*self->gate = 0;
		HOLD(self->first);
		thread = LET_GO_LATER();
		ASSERT_OK(cuMemsetD32(block, 3 + whole, 1));
		EXPECT_OK(cuStreamQuery(self->first));
		pthread_join(thread, NULL);
		*self->gate = 0;
		HOLD(self->first);
		thread = LET_GO_LATER();
		ASSERT_OK(cuMemcpyDtoD(AT(0), block, 4));
		EXPECT_EQ(3 + whole, self->at[0]);
		pthread_join(thread, NULL);
		ASSERT_OK(cuMemFree(block));
	}
	ASSERT_OK(cuCtxSetFlags(0));
}

/* These calls use no memory of the host, so they return before their work in the legacy stream. */
TEST_F(stream, fills_without_stream_do_not_block)
{
	HOLD(self->first);
	ASSERT_OK(cuMemsetD32(AT(0), 3, 1));
	ASSERT_OK(cuMemcpyDtoD(AT(1), AT(0), 4));
	ASSERT_OK(cuMemsetD32(AT(0), 3, 0));
	ASSERT_OK(cuMemcpyDtoD(AT(1), AT(0), 0));
	/* nor does one that is refused */
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(4096, 3, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(AT(1), 4096, 4));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(3, self->at[1]);
}

static void *id_of_own(void *id)
{
	CUcontext context;

	if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuMemsetD32Async(0, 0, 0, CU_STREAM_PER_THREAD) ||
	    cuStreamGetId(CU_STREAM_PER_THREAD, id))
		return id;
	return NULL;
}

TEST_F(stream, per_thread_default)
{
	CUresult (*query)(CUstream stream), (*fill)(CUdeviceptr, unsigned int, size_t, CUstream);
	CUdriverProcAddressQueryResult status;
	unsigned long long own, legacy, other = 0;
	pthread_t thread;
	void *failed = NULL;

	ASSERT_OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
	ASSERT_OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
	EXPECT_NE(own, legacy);
	ASSERT_EQ(0, pthread_create(&thread, NULL, id_of_own, &other));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	EXPECT_NE(own, other);

	/* the thread's own stream is a blocking one; functions obtained so take NULL for it */
	ASSERT_OK(cuGetProcAddress("cuMemsetD32Async", (void **)&fill, 12000,
				   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	ASSERT_OK(cuGetProcAddress("cuStreamQuery", (void **)&query, 12000,
				   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	HOLD(CU_STREAM_LEGACY);
	ASSERT_OK(fill(AT(0), 4, 1, NULL));
	EXPECT_CU(CUDA_ERROR_NOT_READY, query(NULL));
	EXPECT_WAITS(CU_STREAM_PER_THREAD);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	EXPECT_EQ(4, self->at[0]);
	/* query(NULL) asks the thread's own stream, which has work, not the legacy one */
	self->gate[0] = 0;
	HOLD(CU_STREAM_PER_THREAD);
	EXPECT_CU(CUDA_ERROR_NOT_READY, query(NULL));
	LET_GO();
}

TEST_F(stream, context_synchronize_waits_for_all)
{
	pthread_t thread;

	HOLD(self->free);
	SET(0, 1, self->free);
	thread = LET_GO_LATER();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(1, self->at[0]);
	pthread_join(thread, NULL);
}

/* ---- attributes ---- */

TEST_F(stream, what_it_is)
{
	CUcontext context, current;
	unsigned long long id[2];
	unsigned int flags = 9;
	CUgreenCtx green = (CUgreenCtx)&flags;
	CUdevice device = 9;
	CUstream stream;
	int priority = 9;

	ASSERT_OK(cuCtxGetCurrent(&current));
	ASSERT_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
	EXPECT_OK(cuStreamGetFlags(stream, &flags));
	EXPECT_EQ(CU_STREAM_NON_BLOCKING, flags);
	EXPECT_OK(cuStreamGetFlags(self->first, &flags));
	EXPECT_EQ(CU_STREAM_DEFAULT, flags);
	EXPECT_OK(cuStreamGetPriority(stream, &priority));
	EXPECT_EQ(-5, priority);
	EXPECT_OK(cuStreamGetPriority(self->first, &priority));
	EXPECT_EQ(0, priority);
	EXPECT_OK(cuStreamGetDevice(stream, &device));
	EXPECT_EQ(0, device);
	EXPECT_OK(cuStreamGetCtx(stream, &context));
	EXPECT_EQ(current, context);
	context = NULL;
	EXPECT_OK(cuStreamGetCtx_v2(NULL, &context, &green));
	EXPECT_EQ(current, context);
	EXPECT_EQ(NULL, green);
	green = (CUgreenCtx)77;
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuStreamGetCtx_v2((CUstream)0x77777777, &context, &green));
	EXPECT_EQ((CUgreenCtx)77, green);
	EXPECT_OK(cuStreamGetId(stream, &id[0]));
	EXPECT_OK(cuStreamGetId(self->first, &id[1]));
	EXPECT_NE(id[0], id[1]);

	EXPECT_REASON(cuStreamCreate(&stream, 2), "unknown flags");
	EXPECT_REASON(cuStreamCreate(NULL, 0), "NULL output");
	EXPECT_REASON(cuStreamGetFlags(stream, NULL), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_LEGACY));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamGetId((CUstream)0x77777777, &id[0]));
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamSynchronize(NULL));
	EXPECT_OK(cuStreamSynchronize(self->first));
}

TEST_F(stream, attributes_are_kept)
{
	CUstreamAttrValue value = {}, window = { .accessPolicyWindow = {
		.base_ptr = self, .num_bytes = 4096, .hitRatio = 0.5,
		.hitProp = CU_ACCESS_PROPERTY_PERSISTING,
		.missProp = CU_ACCESS_PROPERTY_STREAMING } };
	int priority = 0;

	EXPECT_OK(cuStreamGetAttribute(self->first, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
				       &value));
	EXPECT_EQ(CU_SYNC_POLICY_AUTO, value.syncPolicy);
	EXPECT_OK(cuStreamGetAttribute(self->first, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
				       &value));
	EXPECT_EQ(1, value.memSyncDomainMap.remote);
	ASSERT_OK(cuStreamSetAttribute(self->first, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
				       &window));
	value = (CUstreamAttrValue) { .syncPolicy = CU_SYNC_POLICY_YIELD };
	ASSERT_OK(cuStreamSetAttribute(self->first, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
				       &value));
	value = (CUstreamAttrValue) { .priority = -7 };
	ASSERT_OK(cuStreamSetAttribute(self->first, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
	EXPECT_OK(cuStreamGetPriority(self->first, &priority));
	EXPECT_EQ(-5, priority);

	ASSERT_OK(cuStreamCopyAttributes(self->second, self->first));
	EXPECT_OK(cuStreamGetPriority(self->second, &priority));
	EXPECT_EQ(-5, priority);
	EXPECT_OK(cuStreamGetAttribute(self->second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
				       &value));
	EXPECT_EQ(CU_SYNC_POLICY_YIELD, value.syncPolicy);
	EXPECT_OK(cuStreamGetAttribute(self->second, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
				       &value));
	EXPECT_EQ(0, memcmp(&value, &window, sizeof(value)));
}

TEST_F(stream, bad_attributes_change_nothing)
{
	CUstreamAttrValue value, zero = {}, before = { .cooperative = 7 };
	CUcontext context;
	CUstream other;

#define BAD(attribute, reason, ...)						\
({										\
	value = (CUstreamAttrValue) { __VA_ARGS__ };				\
	EXPECT_REASON(cuStreamSetAttribute(self->first,				\
					   CU_LAUNCH_ATTRIBUTE_##attribute, &value), reason); \
})
	BAD(ACCESS_POLICY_WINDOW, "missProp",
	    .accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING);
	BAD(ACCESS_POLICY_WINDOW, "unknown hitProp",
	    .accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING + 1);
	BAD(ACCESS_POLICY_WINDOW, "hitRatio", .accessPolicyWindow.hitRatio = 1.5);
	BAD(ACCESS_POLICY_WINDOW, "hitRatio", .accessPolicyWindow.hitRatio = -0.5);
	BAD(ACCESS_POLICY_WINDOW, "hitRatio", .accessPolicyWindow.hitRatio = __builtin_nanf(""));
	BAD(ACCESS_POLICY_WINDOW, "num_bytes", .accessPolicyWindow.num_bytes = 1UL << 40);
	EXPECT_OK(cuStreamGetAttribute(self->first, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW,
				       &value));
	EXPECT_EQ(0, memcmp(&value, &zero, sizeof(value)));
	BAD(SYNCHRONIZATION_POLICY, "no such policy", .syncPolicy = 5);
	BAD(SYNCHRONIZATION_POLICY, "no such policy", .syncPolicy = 0);
	BAD(MEM_SYNC_DOMAIN, "no such domain", .memSyncDomain = 5);
	BAD(COOPERATIVE, "streams have no attribute", 0);
	EXPECT_REASON(cuStreamSetAttribute(self->first, CU_STREAM_ATTRIBUTE_PRIORITY, NULL),
		      "NULL value");
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuStreamGetAttribute(self->first, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &before));
	EXPECT_EQ(7, before.cooperative);
	EXPECT_REASON(cuStreamGetAttribute(self->first, CU_STREAM_ATTRIBUTE_PRIORITY, NULL),
		      "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuStreamCopyAttributes(self->first, (CUstream)0x77777777));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&other, 0));
	EXPECT_REASON(cuStreamCopyAttributes(other, self->first), "the streams have two contexts");
	ASSERT_OK(cuCtxDestroy(context));
}

TEST_HARNESS_MAIN
