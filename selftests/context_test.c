// SPDX-License-Identifier: MIT
/* Contexts: made, current, ended; and the primary one of each device. */
#include <pthread.h>
#include "memcast_test.h"

/* What binaries of before 13.0 import; cuda.h has the newest under the plain name. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *limits, int count,
			unsigned int flags, CUdevice device);

/* Nothing is current, nothing retained. */
FIXTURE(context) { int devices; };
FIXTURE_SETUP(context)
{
	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDeviceGetCount(&self->devices));
	ASSERT_LE(2, self->devices);
}
NOTHING_LEFT(context)

#define UNTOUCHED	((CUcontext)0x7777)
#define MAX_CONTEXTS	3520
#define MAX_STACK	256

/* Nothing was made, and nothing pushed. */
#define EXPECT_NO_CONTEXT(result, call)			\
do {							\
	EXPECT_CU(result, call);			\
	EXPECT_EQ(UNTOUCHED, context);			\
	EXPECT_EQ(NULL, current());			\
} while (0)

static CUcontext current(void)
{
	CUcontext context = UNTOUCHED;

	cuCtxGetCurrent(&context);
	return context;
}

static CUdevice current_device(void)
{
	CUdevice device = -1;

	cuCtxGetDevice(&device);
	return device;
}

#define created(flags, device)	created_(_metadata, flags, device)
static CUcontext created_(struct __test_metadata *_metadata, unsigned int flags,
			  CUdevice device)
{
	CUcontext context = NULL;

	ASSERT_OK(cuCtxCreate(&context, NULL, flags, device));
	return context;
}

/* ---- made ---- */

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
		version = 0;
		EXPECT_OK(cuCtxGetApiVersion(NULL, &version));
		EXPECT_EQ(3020, version);
		EXPECT_OK(cuCtxPopCurrent(NULL));
		/* of one that is not current */
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

	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(NULL, NULL, 0, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v2(&context, CU_CTX_FLAGS_MASK + 1, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate_v2(&context, 0, -1));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE,
			  cuCtxCreate(&context, NULL, 0, self->devices));
	/* fewer processors: only where MPS serves several processes */
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 2, 0, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_DEVICE,
			  cuCtxCreate_v3(&context, limits, 2, 0, self->devices));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate_v3(&context, NULL, 1, 0, 0));
	/* of no kind that there is */
	limits[1].type = CU_EXEC_AFFINITY_TYPE_MAX;
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 2, 0, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate_v3(&context, limits, 1, 0, 0));
	/* a queue of Direct3D or Vulkan */
	EXPECT_NO_CONTEXT(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate(&context, &params, 0, 0));
	EXPECT_NO_CONTEXT(CUDA_ERROR_INVALID_VALUE,
			  cuCtxCreate(&context, &params, CU_CTX_FLAGS_MASK + 1, 0));
	params = (CUctxCreateParams) { .execAffinityParams = limits, .numExecAffinityParams = 1 };
	EXPECT_NO_CONTEXT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			  cuCtxCreate(&context, &params, 0, 0));
	/* less than none is none */
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
	EXPECT_NO_CONTEXT(CUDA_ERROR_OUT_OF_MEMORY, cuCtxCreate(&context, NULL, 0, 0));
	/* one that goes makes room, and its name is not given out again */
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
	/* the top is replaced; NULL pops it */
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_EQ(first, current());
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_EQ(first, current());
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(UNTOUCHED));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(UNTOUCHED));
	EXPECT_INVALID(cuCtxPushCurrent(NULL));
	EXPECT_EQ(first, current());
	EXPECT_OK(cuCtxPopCurrent(NULL));
	EXPECT_EQ(NULL, current());
	popped = UNTOUCHED;
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));
	EXPECT_EQ(UNTOUCHED, popped);
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_OK(cuCtxSetCurrent(second));
	EXPECT_EQ(second, current());
	EXPECT_INVALID(cuCtxGetCurrent(NULL));
}

/* A call that finds the stack full makes nothing, however often. */
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
	/* its top can be replaced */
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
	EXPECT_INVALID(cuCtxSetFlags(CU_CTX_SCHED_YIELD | CU_CTX_SCHED_SPIN));
	EXPECT_INVALID(cuCtxSetFlags(CU_CTX_FLAGS_MASK + 1));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_YIELD | CU_CTX_LMEM_RESIZE_TO_MAX, flags);
	EXPECT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_SPIN, flags);

	EXPECT_INVALID(cuCtxGetDevice(NULL));
	EXPECT_INVALID(cuCtxGetDevice_v2(NULL, second));
	EXPECT_INVALID(cuCtxGetFlags(NULL));
	EXPECT_INVALID(cuCtxGetId(second, NULL));
	EXPECT_INVALID(cuCtxGetApiVersion(second, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2(&device, UNTOUCHED));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(UNTOUCHED, &flags));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2(UNTOUCHED));
}

/* Each context waits for its own work. */
TEST_F(context, synchronize)
{
	volatile uint32_t *at = mapped(memory(0, CHUNK), CHUNK, 0);
	CUcontext first = created(0, 1), second = created(0, 0);
	CUstream stream;

	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(at), 1, CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_OK(cuCtxSynchronize_v2(first));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	at[0] = 1;
	EXPECT_OK(cuCtxSynchronize_v2(second));
	EXPECT_OK(cuStreamQuery(stream));
	/* of another one than the current one, and its failures */
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(at), 2, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize_v2(second));
	EXPECT_OK(cuCtxSynchronize_v2(NULL));
	EXPECT_OK(cuCtxSynchronize());
}

/* ---- ended ---- */

TEST_F(context, destroy_pops_the_top_only)
{
	CUcontext first = created(0, 0), second = created(0, 1);
	CUdeviceptr at = 77;
	CUdevice device = 77;
	CUcontext popped;

	ASSERT_OK(cuCtxPushCurrent(first));
	EXPECT_OK(cuCtxDestroy(second));
	EXPECT_EQ(first, current());
	EXPECT_OK(cuCtxDestroy(first));
	/* under it is what was destroyed while it was not at the top */
	EXPECT_EQ(second, current());
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetDevice(&device));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&at, 4));
	EXPECT_EQ(77, device);
	EXPECT_EQ(77, at);
	EXPECT_OK(cuCtxPopCurrent(&popped));
	EXPECT_EQ(second, popped);
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetDevice(&device));
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDestroy(first));
	/* it can still be made current */
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_EQ(first, current());
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_INVALID(cuCtxDestroy(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(UNTOUCHED));
}

/* Each context has an address space of its own on hardware. */
TEST_F(context, attach_and_detach)
{
	CUcontext made, other, primary, same = NULL;

	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxAttach(&same, 0));
	ASSERT_OK(cuCtxCreate(&made, NULL, 0, 0));
	EXPECT_INVALID(cuCtxAttach(NULL, 0));
	EXPECT_INVALID(cuCtxAttach(&same, 1));
	EXPECT_OK(cuCtxAttach(&same, 0));
	EXPECT_EQ(made, same);
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(made));
	EXPECT_INVALID(cuCtxDetach(NULL));
	EXPECT_OK(cuCtxDetach(other));
	EXPECT_OK(cuCtxDetach(made));
	EXPECT_OK(cuCtxGetCurrent(&same));
	EXPECT_EQ(made, same);
	EXPECT_OK(cuCtxDetach(made));
	EXPECT_OK(cuCtxGetCurrent(&same));
	EXPECT_EQ(NULL, same);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuProfilerStart());

	/* a primary one is released */
	ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
	ASSERT_OK(cuCtxSetCurrent(primary));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(primary));
	EXPECT_OK(cuCtxAttach(&same, 0));
	EXPECT_OK(cuCtxDetach(primary));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(primary));
	EXPECT_OK(cuProfilerStart());
	EXPECT_OK(cuProfilerStop());
}

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
	/* within one of them, whichever is current; and what no context has */
	EXPECT_OK(cuMemcpyDtoD(one, one + 2048, 2048));
	EXPECT_OK(cuMemsetD8(one, 1, 4096));
	EXPECT_OK(cuMemcpyDtoD(one, ADDRESS(mapped(memory(0, CHUNK), CHUNK, 0)), 4096));
	EXPECT_OK(cuMemcpyDtoD(one, two, 0));
	/* the device finds it out */
	EXPECT_OK(cuMemcpyDtoDAsync(two, one, 4096, stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemFree(two));
	ASSERT_OK(cuCtxSetCurrent(other));
	EXPECT_OK(cuMemFree(three));
}

struct thread {
	CUcontext context;
	pthread_barrier_t barrier;
	CUcontext seen;
	CUresult set, results[8];
	CUresult pop, none;
};

/* The context ends while it is current here. */
static void *ask_of_destroyed(void *argument)
{
	struct thread *thread = argument;
	unsigned long long id;
	unsigned int word;
	CUdevice device;
	CUdeviceptr at;
	CUstream stream;
	CUevent event;

	thread->set = cuCtxSetCurrent(thread->context);
	pthread_barrier_wait(&thread->barrier);
	pthread_barrier_wait(&thread->barrier);
	thread->seen = current();
	thread->results[0] = cuCtxGetDevice(&device);
	thread->results[1] = cuCtxGetFlags(&word);
	thread->results[2] = cuCtxGetId(NULL, &id);
	thread->results[3] = cuCtxSynchronize();
	thread->results[4] = cuStreamCreate(&stream, 0);
	thread->results[5] = cuEventCreate(&event, 0);
	thread->results[6] = cuMemAlloc(&at, 4);
	thread->results[7] = cuStreamSynchronize(CU_STREAM_PER_THREAD);
	thread->pop = cuCtxPopCurrent(NULL);
	thread->none = cuCtxGetDevice(&device);
	return NULL;
}

TEST_F(context, destroyed_while_current_elsewhere)
{
	struct thread thread = { .context = created(0, 1) };
	pthread_t id;
	int i;

	ASSERT_EQ(0, pthread_barrier_init(&thread.barrier, NULL, 2));
	ASSERT_EQ(0, pthread_create(&id, NULL, ask_of_destroyed, &thread));
	pthread_barrier_wait(&thread.barrier);
	ASSERT_OK(cuCtxDestroy(thread.context));
	/* whoever comes into its place is another one */
	created(0, 0);
	pthread_barrier_wait(&thread.barrier);
	ASSERT_EQ(0, pthread_join(id, NULL));
	EXPECT_OK(thread.set);
	EXPECT_EQ(thread.context, thread.seen);
	for (i = 0; i < 8; i++)
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, thread.results[i])
			TH_LOG("call %d", i);
	EXPECT_OK(thread.pop);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, thread.none);
}

TEST_HARNESS_MAIN
