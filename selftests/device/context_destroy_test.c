// SPDX-License-Identifier: MIT
/* Contexts are destroyed, detached from, or destroyed while another thread has them current. */
#include <pthread.h>
#include <unistd.h>
#include "context_fixture.h"
#include "reason.h"

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
	/* below it is the context that was destroyed while it was not at the top */
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
	/* a destroyed context can still be made current */
	EXPECT_OK(cuCtxSetCurrent(first));
	EXPECT_EQ(first, current());
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	EXPECT_OK(cuCtxSetCurrent(NULL));
	EXPECT_REASON(cuCtxDestroy(NULL), "NULL handle");
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(UNTOUCHED));
}

TEST_F(context, attach_and_detach)
{
	CUcontext made, other, primary, same = NULL;

	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxAttach(&same, 0));
	ASSERT_OK(cuCtxCreate(&made, NULL, 0, 0));
	EXPECT_REASON(cuCtxAttach(NULL, 0), "NULL output");
	EXPECT_REASON(cuCtxAttach(&same, 1), "flags must be #");
	EXPECT_OK(cuCtxAttach(&same, 0));
	EXPECT_EQ(made, same);
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(made));
	EXPECT_REASON(cuCtxDetach(NULL), "NULL handle");
	EXPECT_OK(cuCtxDetach(other));
	EXPECT_OK(cuCtxDetach(made));
	EXPECT_OK(cuCtxGetCurrent(&same));
	EXPECT_EQ(made, same);
	EXPECT_OK(cuCtxDetach(made));
	EXPECT_OK(cuCtxGetCurrent(&same));
	EXPECT_EQ(NULL, same);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuProfilerStart());

	/* cuCtxDetach() releases a primary context */
	ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 0));
	ASSERT_OK(cuCtxSetCurrent(primary));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(primary));
	EXPECT_OK(cuCtxAttach(&same, 0));
	EXPECT_OK(cuCtxDetach(primary));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(primary));
	EXPECT_OK(cuProfilerStart());
	EXPECT_OK(cuProfilerStop());
}

/* A process has as many events for others at once. */
#define EVENTS_MOST	1024

#define import_memory(fd)	import_memory_(_metadata, fd)
TEST_HELPER CUexternalMemory import_memory_(struct __test_metadata *_metadata, int fd)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = CHUNK,
		.handle.fd = dup(fd),
	};
	CUexternalMemory memory = NULL;

	ASSERT_OK(cuImportExternalMemory(&memory, &desc));
	return memory;
}

/* What a context leaves ends with it, and leaves nothing, however often that is so. */
TEST_F(context, its_events_and_external_memories_end)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = { .size = CHUNK };
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	CUexternalMemory memory;
	int fd = exported(handle);
	CUcontext context, other;
	CUevent event, shared;
	CUdeviceptr at;

	ASSERT_OK(cuMemRelease(handle));
	for (int round = 0; round < EVENTS_MOST + 8; round++) {
		bool primary = round % 2;

		ASSERT_OK(primary ? cuDevicePrimaryCtxRetain(&context, 0) :
				    cuCtxCreate(&context, NULL, 0, 0));
		ASSERT_OK(cuCtxSetCurrent(context));
		ASSERT_OK(cuEventCreate(&event, 0));
		ASSERT_OK(cuEventRecord(event, NULL));
		ASSERT_OK(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
		memory = import_memory(fd);
		ASSERT_OK(cuExternalMemoryGetMappedBuffer(&at, memory, &part));
		ASSERT_OK(primary ? cuDevicePrimaryCtxReset(0) : cuCtxDestroy(context));
		if (primary) {
			/* the same value, but another context */
			ASSERT_OK(cuDevicePrimaryCtxRetain(&other, 0));
			ASSERT_EQ(context, other);
		} else {
			other = created(0, 0);
		}
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventQuery(event));
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuEventDestroy(shared));
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED,
			  cuExternalMemoryGetMappedBuffer(&at, memory, &part));
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuDestroyExternalMemory(memory));
		if (primary) {
			ASSERT_OK(cuDevicePrimaryCtxRelease(0));
			ASSERT_OK(cuDevicePrimaryCtxRelease(0));
		} else {
			ASSERT_OK(cuCtxDestroy(other));
		}
		ASSERT_OK(cuCtxSetCurrent(NULL));
	}
	/* a new event has the place of one, whose handle it is not */
	other = created(0, 0);
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuCtxDestroy(other));
	other = created(0, 0);
	ASSERT_OK(cuEventCreate(&shared, 0));
	EXPECT_NE(event, shared);
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
	EXPECT_OK(cuEventDestroy(shared));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(shared));
	EXPECT_OK(cuCtxDestroy(other));
	ASSERT_EQ(0, close(fd));
	/* the page of this process's events */
	EXPECT_EQ(1, stat_of("memories"));
}

struct thread {
	CUcontext context;
	pthread_barrier_t barrier;
	CUcontext seen;
	CUresult set, results[8];
	CUlibrary library;
	CUresult loaded, pop, none;
};

static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

/* Makes calls in a context that another thread has destroyed while it was current here. */
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
	/* a library is no context's */
	thread->loaded = cuLibraryLoadData(&thread->library, code, NULL, NULL, 0, NULL, NULL, 0);
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
	/* a new context in its slot is another context */
	created(0, 0);
	pthread_barrier_wait(&thread.barrier);
	ASSERT_EQ(0, pthread_join(id, NULL));
	EXPECT_OK(thread.set);
	EXPECT_EQ(thread.context, thread.seen);
	for (i = 0; i < 8; i++) {
		EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, thread.results[i])
			TH_LOG("call %d", i);
	}
	EXPECT_OK(thread.loaded);
	EXPECT_OK(cuLibraryUnload(thread.library));
	EXPECT_OK(thread.pop);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, thread.none);
}

TEST_HARNESS_MAIN
