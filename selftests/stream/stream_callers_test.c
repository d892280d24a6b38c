// SPDX-License-Identifier: MIT
/* Several threads that call the same streams at once. */
#include "stream_fixture.h"

#define CALLERS	4

struct caller {
	CUcontext context;
	CUdeviceptr at;
	CUstream streams[3];	/* shared by all callers */
	int *calls, failed;
};

/* Every call succeeds; the order of the threads' work is open. */
static void *call_around(void *argument)
{
	struct caller *caller = argument;
	unsigned int seed = (uintptr_t)caller >> 4, i, count = loops(300);
	CUevent event;
	CUstream own;

#define GOOD(call)	(caller->failed += (call) != CUDA_SUCCESS)
	GOOD(cuCtxSetCurrent(caller->context));
	GOOD(cuEventCreate(&event, 0));
	for (i = 0; i < count; i++) {
		CUstream some = caller->streams[rand_r(&seed) % 3];

		GOOD(cuMemsetD32Async(caller->at, i, 64, some));
		GOOD(cuEventRecord(event, some));
		GOOD(cuStreamWaitEvent(caller->streams[rand_r(&seed) % 3], event, 0));
		GOOD(cuLaunchHostFunc(some, add_one, caller->calls));
		switch (rand_r(&seed) % 8) {
		case 0:
			GOOD(cuStreamSynchronize(some));
			break;
		case 1:
			GOOD(cuMemsetD32Async(caller->at, 1, 64, NULL));
			break;
		case 2:
			GOOD(cuStreamCreate(&own, 0));
			GOOD(cuMemsetD32Async(caller->at, 2, 64, own));
			GOOD(cuLaunchHostFunc(own, add_one, caller->calls));
			GOOD(cuStreamDestroy(own));
			__atomic_sub_fetch(caller->calls, 1, __ATOMIC_RELAXED);
			break;
		case 3:
			GOOD(cuMemsetD32Async(caller->at, 3, 64, CU_STREAM_PER_THREAD));
			break;
		case 4:
			GOOD(cuEventSynchronize(event));
			break;
		case 5:
			GOOD(cuCtxSynchronize());
			break;
		}
	}
	GOOD(cuEventDestroy(event));
	return NULL;
}

TEST_F(stream, many_callers)
{
	struct caller callers[CALLERS];
	pthread_t thread[CALLERS];
	CUcontext context;
	int i, calls = 0;

	ASSERT_OK(cuCtxGetCurrent(&context));
	for (i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller) { .context = context, .at = AT(64 * i),
			.streams = { self->first, self->second, self->free }, .calls = &calls };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, call_around, &callers[i]));
	}
	for (i = 0; i < CALLERS; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_EQ(0, callers[i].failed);
	}
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(CALLERS * loops(300), calls);
}

TEST_HARNESS_MAIN
