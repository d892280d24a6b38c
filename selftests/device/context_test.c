// SPDX-License-Identifier: MIT
/* Contexts are created, made current, waited for and destroyed. */
#include <pthread.h>
#include "context_fixture.h"
#include "reason.h"

TEST_F(context, create_in_each_version)
{
	CUctxCreateParams none = {};
	CUcontext made[4];
	unsigned int flags, version;
	int i, j;

	ASSERT_OK(cuCtxCreate_v2(&made[0], CU_CTX_SCHED_SPIN, 0));
	EXPECT_EQ(made[0], current());
	ASSERT_OK(cuCtxCreate_v3(&made[1], NULL, 0, CU_CTX_SCHED_YIELD, 1));
	EXPECT_EQ(made[1], current());
	ASSERT_OK(cuCtxCreate(&made[2], NULL, CU_CTX_SCHED_BLOCKING_SYNC, 0));
	ASSERT_OK(cuCtxCreate(&made[3], &none, CU_CTX_MAP_HOST | CU_CTX_SYNC_MEMOPS, 1));
	for (i = 3; i >= 0; i--) {
		static const unsigned int expected[] = {
			CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD, CU_CTX_SCHED_BLOCKING_SYNC,
			CU_CTX_MAP_HOST | CU_CTX_SYNC_MEMOPS,
		};
		CUdevice device = -1;

		EXPECT_EQ(made[i], current());
		EXPECT_EQ(i & 1, current_device());
		EXPECT_OK(cuCtxGetFlags(&flags));
		EXPECT_EQ(expected[i], flags);
		/* whether host memory can be mapped is decided when the context is made */
		EXPECT_OK(cuCtxSetFlags(expected[i] ^ CU_CTX_MAP_HOST));
		EXPECT_OK(cuCtxGetFlags(&flags));
		EXPECT_EQ(expected[i], flags);
		version = 0;
		EXPECT_OK(cuCtxGetApiVersion(NULL, &version));
		EXPECT_EQ(3020, version);
		EXPECT_OK(cuCtxPopCurrent(NULL));
		/* of a context that is not current */
		EXPECT_OK(cuCtxGetDevice_v2(&device, made[i]));
		EXPECT_EQ(i & 1, device);
		version = 0;
		EXPECT_OK(cuCtxGetApiVersion(made[i], &version));
		EXPECT_EQ(3020, version);
		for (j = 0; j < i; j++)
			EXPECT_NE(made[i], made[j]);
	}
	EXPECT_EQ(NULL, current());
}

TEST_F(context, create_arguments)
{
	CUexecAffinityParam limits[2] = {
		{ .type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 1 },
		{ .type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 2 },
	};
	CUctxCigParam graphics = {};
	CUctxCreateParams params = { .cigParams = &graphics };
	CUcontext context = UNTOUCHED;

	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(NULL, NULL, 0, 0), "NULL pointer");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0), "NULL pointer");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v2(&context, CU_CTX_FLAGS_MASK + 1, 0), "unknown flags");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0),
			  "several scheduling flags");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&context, 0, -1),
			  "no device #: there are #");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE,
			  cuCtxCreate(&context, NULL, 0, self->devices),
			  "no device #: there are #");
	/* Hardware takes a limit of processors only where MPS serves several processes. */
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 2, 0, 0),
			  "execution affinity is not supported");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE,
			  cuCtxCreate_v3(&context, limits, 2, 0, self->devices),
			  "no device #: there are #");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v3(&context, NULL, 1, 0, 0), "NULL pointer");
	/* an affinity of an unknown type */
	limits[1].type = CU_EXEC_AFFINITY_TYPE_MAX;
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 2, 0, 0),
			  "execution affinity is not supported");
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 1, 0, 0),
			  "execution affinity is not supported");
	/* parameters to share a queue of Direct3D or Vulkan */
	EXPECT_NO_CONTEXT(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate(&context, &params, 0, 0),
			  "sharing with graphics is not supported");
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate(&context, &params, CU_CTX_FLAGS_MASK + 1, 0),
			  "unknown flags");
	params = (CUctxCreateParams) { .execAffinityParams = limits, .numExecAffinityParams = 1 };
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate(&context, &params, 0, 0),
			  "execution affinity is not supported");
	/* a count below 0 is taken as 0 */
	EXPECT_OK(cuCtxCreate_v3(&context, limits, -1, 0, 0));
	EXPECT_EQ(context, current());
	EXPECT_OK(cuCtxDestroy(context));
}

TEST_F(context, as_many_as_there_can_be)
{
	static CUcontext made[MAX_CONTEXTS];
	CUcontext context = UNTOUCHED, again;
	int i;

	for (i = 0; i < MAX_CONTEXTS; i++) {
		ASSERT_OK(cuCtxCreate(&made[i], NULL, 0, 0));
		ASSERT_OK(cuCtxPopCurrent(NULL));
	}
	EXPECT_NO_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY, cuCtxCreate(&context, NULL, 0, 0),
			  "# contexts are live");
	/* a context that ends makes room for another, which gets another handle */
	ASSERT_OK(cuCtxDestroy(made[77]));
	ASSERT_OK(cuCtxCreate(&again, NULL, 0, 1));
	EXPECT_NE(made[77], again);
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize_v2(made[77]));
	EXPECT_EQ(again, current());
	for (i = 0; i < MAX_CONTEXTS; i++)
		ASSERT_CU(i == 77 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS,
			  cuCtxDestroy(made[i]));
	ASSERT_OK(cuCtxDestroy(again));
}

/* ---- current ---- */

TEST_F(context, push_pop_set)
{
	CUcontext first = created(0, 0), second = created(0, 1), popped = UNTOUCHED;

	EXPECT_OK(cuCtxPushCurrent(first));
	EXPECT_EQ(0, current_device());
	EXPECT_OK(cuCtxPopCurrent(&popped));
	EXPECT_EQ(first, popped);
	EXPECT_EQ(second, current());
	/* cuCtxSetCurrent() replaces the top of the stack, and pops it if the context is NULL */
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_EQ(first, current());
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_EQ(first, current());
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(UNTOUCHED));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(UNTOUCHED));
	EXPECT_REASON(cuCtxPushCurrent(NULL), "NULL context");
	EXPECT_EQ(first, current());
	EXPECT_OK(cuCtxPopCurrent(NULL));
	EXPECT_EQ(NULL, current());
	popped = UNTOUCHED;
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
	EXPECT_EQ(UNTOUCHED, popped);
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_OK(cuCtxSetCurrent(second));
	EXPECT_EQ(second, current());
	EXPECT_REASON(cuCtxGetCurrent(NULL), "NULL output");
}

/* A call that finds the stack full makes no context, however often it is made. */
TEST_F(context, stack_is_full)
{
	CUcontext first = created(0, 0), context = UNTOUCHED;
	int i;

	for (i = 1; i < MAX_STACK; i++)
		ASSERT_OK(cuCtxPushCurrent(first));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuCtxPushCurrent(first));
	for (i = 0; i <= MAX_CONTEXTS; i++)
		ASSERT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuCtxCreate(&context, NULL, 0, 1));
	EXPECT_EQ(UNTOUCHED, context);
	EXPECT_EQ(first, current());
	/* the top of a full stack can be replaced */
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuCtxCreate(&context, NULL, 0, 1));
	EXPECT_EQ(context, current());
	for (i = 0; i < MAX_STACK; i++)
		ASSERT_OK(cuCtxPopCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(NULL));
}

TEST_F(context, none_is_current)
{
	unsigned int flags = 77, version = 77;
	unsigned long long id = 77;
	CUdevice device = 77;

	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2(&device, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetFlags(&flags));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetFlags(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetId(NULL, &id));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(NULL, &version));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2(NULL));
	EXPECT_EQ(77, flags);
	EXPECT_EQ(77, version);
	EXPECT_EQ(77, id);
	EXPECT_EQ(77, device);
}

TEST_F(context, what_there_is_to_ask)
{
	CUcontext first = created(CU_CTX_SCHED_SPIN, 0), second = created(0, 1);
	unsigned long long id[2] = {};
	unsigned int flags = 77;
	CUdevice device = -1;

	EXPECT_OK(cuCtxGetDevice_v2(&device, first));
	EXPECT_EQ(0, device);
	EXPECT_OK(cuCtxGetDevice_v2(&device, NULL));
	EXPECT_EQ(1, device);
	EXPECT_OK(cuCtxGetId(first, &id[0]));
	EXPECT_OK(cuCtxGetId(NULL, &id[1]));
	EXPECT_NE(id[0], id[1]);
	EXPECT_OK(cuCtxGetId(second, &id[0]));
	EXPECT_EQ(id[0], id[1]);
	/* the flags are those of one context */
	EXPECT_OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD | CU_CTX_LMEM_RESIZE_TO_MAX));
	EXPECT_REASON(cuCtxSetFlags(CU_CTX_SCHED_YIELD | CU_CTX_SCHED_SPIN),
		      "several scheduling flags");
	EXPECT_REASON(cuCtxSetFlags(CU_CTX_FLAGS_MASK + 1), "unknown flags");
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_YIELD | CU_CTX_LMEM_RESIZE_TO_MAX, flags);
	EXPECT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_SPIN, flags);

	EXPECT_REASON(cuCtxGetDevice(NULL), "NULL output");
	EXPECT_REASON(cuCtxGetDevice_v2(NULL, second), "NULL output");
	EXPECT_REASON(cuCtxGetFlags(NULL), "NULL output");
	EXPECT_REASON(cuCtxGetId(second, NULL), "NULL output");
	EXPECT_REASON(cuCtxGetApiVersion(second, NULL), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2(&device, UNTOUCHED));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(UNTOUCHED, &flags));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2(UNTOUCHED));
}

static void *open_later(void *gate)
{
	usleep(50000);
	*(volatile uint32_t *)gate = 1;
	return NULL;
}

enum kind { PLAIN, MAPPED, OF_POOL, KINDS };

/* Return: zeroed memory of a device, whose context is current; the other device has access. */
#define memory_of(kind, device)		memory_of_(_metadata, kind, device)
TEST_HELPER CUdeviceptr memory_of_(struct __test_metadata *_metadata, enum kind kind, int device)
{
	CUmemAccessDesc other = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, !device }, .flags = READWRITE,
	};
	CUmemoryPool pool;
	CUdeviceptr at = 0;

	if (kind == MAPPED) {
		at = ADDRESS(mapped(new_memory(device, CHUNK), CHUNK, device));
		ASSERT_OK(allow(at, CHUNK, !device, READWRITE));
	} else if (kind == OF_POOL) {
		ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, device));
		ASSERT_OK(cuMemPoolSetAccess(pool, &other, 1));
		ASSERT_OK(cuMemAllocAsync(&at, 4096, NULL));
	} else {
		ASSERT_OK(cuMemAlloc(&at, 4096));
	}
	ASSERT_OK(cuMemsetD32(at, 0, 2));
	return at;
}

/* A copy without a stream between two devices comes after the work of both, and before what follows. */
TEST_F(context, copies_wait_for_both_devices)
{
	volatile uint32_t *gate = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUcontext contexts[] = { created(0, 0), created(0, 1) };
	CUdeviceptr at[2];
	pthread_t thread;
	uint32_t word;

	ASSERT_OK(allow(ADDRESS(gate), CHUNK, 1, READWRITE));
	for (enum kind kind = PLAIN; kind < KINDS; kind++) {
		for (int i = 0; i < 2; i++) {
			/* other memory than cuMemAlloc()'s counts as the primary context's */
			if (kind != PLAIN)
				ASSERT_OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
			ASSERT_OK(cuCtxSetCurrent(contexts[i]));
			at[i] = memory_of(kind, i);
		}
		for (int busy = 0; busy < 2; busy++) {
			*gate = 0;
			ASSERT_OK(cuCtxSetCurrent(contexts[busy]));
			ASSERT_OK(cuStreamWaitValue32(NULL, ADDRESS(gate), 1,
						      CU_STREAM_WAIT_VALUE_EQ));
			ASSERT_OK(cuMemsetD32Async(at[busy], 5 + busy, 1, NULL));
			ASSERT_EQ(0, pthread_create(&thread, NULL, open_later, (void *)gate));
			ASSERT_OK(cuCtxSetCurrent(contexts[0]));
			ASSERT_OK(cuMemcpyDtoD(at[!busy], at[busy], 4));
			ASSERT_OK(cuCtxSetCurrent(contexts[!busy]));
			ASSERT_OK(cuMemcpyDtoH(&word, at[!busy], 4));
			EXPECT_EQ(5 + busy, word) TH_LOG("memory of kind %d", kind);
			pthread_join(thread, NULL);
		}
		/* a copy within the other device's memory is done, too */
		*gate = 0;
		ASSERT_OK(cuCtxSetCurrent(contexts[0]));
		ASSERT_OK(cuStreamWaitValue32(NULL, ADDRESS(gate), 1, CU_STREAM_WAIT_VALUE_EQ));
		ASSERT_EQ(0, pthread_create(&thread, NULL, open_later, (void *)gate));
		ASSERT_OK(cuMemcpyDtoD(at[1] + 4, at[1], 4));
		ASSERT_OK(cuCtxSetCurrent(contexts[1]));
		ASSERT_OK(cuMemcpyDtoH(&word, at[1] + 4, 4));
		EXPECT_EQ(6, word);
		pthread_join(thread, NULL);
		if (kind == OF_POOL)
			ASSERT_OK(cuMemFree(at[0]) ?: cuMemFree(at[1]));
	}
}

/* A copy from or to the host comes after the work of the current context alone. */
TEST_F(context, copy_that_lets_another_go_on)
{
	CUcontext first = created(0, 0), second = created(0, 1);
	CUdeviceptr block, gate;
	uint32_t one = 1;

	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemAlloc(&block, 4096));
	ASSERT_OK(cuCtxSetCurrent(second));
	ASSERT_OK(cuMemAlloc(&gate, 4096));
	ASSERT_OK(cuMemsetD32(gate, 0, 1));
	ASSERT_OK(cuStreamWaitValue32(NULL, gate, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemcpyHtoD(gate, &one, 4));
	ASSERT_OK(cuCtxSynchronize_v2(second));
	ASSERT_OK(cuMemFree(block));
}

/* Each context waits for its own work. */
TEST_F(context, synchronize)
{
	volatile uint32_t *at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUcontext first = created(0, 1), second = created(0, 0);
	CUstream stream;

	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(at), 1, CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_OK(cuCtxSynchronize_v2(first));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	at[0] = 1;
	EXPECT_OK(cuCtxSynchronize_v2(second));
	EXPECT_OK(cuStreamQuery(stream));
	/* waits for a context that is not current, and returns its failure */
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(at), 2, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize_v2(second));
	EXPECT_OK(cuCtxSynchronize_v2(NULL));
	EXPECT_OK(cuCtxSynchronize());
}

/* ---- ended ---- */

/* On hardware each context has an address space of its own. */
TEST_F(context, copies_between_two_of_a_device)
{
	CUcontext first = created(0, 0), second = created(0, 0), other = created(0, 1);
	CUdeviceptr one, two, three;
	CUstream stream;

	ASSERT_OK(cuCtxSetCurrent(other));
	ASSERT_OK(cuMemAlloc(&three, 4096));
	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemAlloc(&one, 4096));
	EXPECT_OK(cuMemcpyDtoD(one, three, 4096));
	ASSERT_OK(cuCtxSetCurrent(second));
	ASSERT_OK(cuMemAlloc(&two, 4096));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	/* within one context, whichever is current; and from memory that belongs to no context */
	EXPECT_OK(cuMemcpyDtoD(one, one + 2048, 2048));
	EXPECT_OK(cuMemsetD8(one, 1, 4096));
	EXPECT_OK(cuMemcpyDtoD(one, ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0)), 4096));
	EXPECT_OK(cuMemcpyDtoD(one, two, 0));
	/* this call names both contexts */
	EXPECT_OK(cuMemcpyPeer(two, second, one, first, 4096));
	EXPECT_OK(cuCtxSynchronize());
	/* a copy between two contexts of a device fails later, in the stream */
	EXPECT_OK(cuMemcpyDtoDAsync(two, one, 4096, stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(two));
	ASSERT_OK(cuCtxSetCurrent(other));
	EXPECT_OK(cuMemFree(three));
}

TEST_HARNESS_MAIN
