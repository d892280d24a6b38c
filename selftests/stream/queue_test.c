// SPDX-License-Identifier: MIT
/*
 * Threads that queue work faster than a stream does it: they wait, so that the queue does not
 * take all memory, and go on with the stream, or with an error when it ends.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include "stream_fixture.h"

#define MOST		16384U		/* cuda.h: cuStreamCreate() */
#define HARDWARE	1024U		/* so many launches never wait there */
#define SMALL		(1U << 20)
#define SMALL_ALL	(64U << 20)	/* cuda.h: cuMemcpyHtoD() */

struct producer {
	CUcontext context;
	CUstream stream;
	CUdeviceptr to;
	const void *from;
	CUgraphExec graph;
	unsigned int count;		/* how many pieces it queues */
	atomic_int thread;
	atomic_uint queued;
	CUresult result;
};

static atomic_uint done;

static void count_one(void *data)
{
	(void)data;
	done++;
}

static CUresult queue_one(const struct producer *producer)
{
	if (producer->graph)
		return cuGraphLaunch(producer->graph, producer->stream);
	return producer->from ? cuMemcpyHtoDAsync(producer->to, producer->from, SMALL,
						  producer->stream) :
				cuLaunchHostFunc(producer->stream, count_one, NULL);
}

static void *produce(void *data)
{
	struct producer *producer = data;

	producer->result = cuCtxSetCurrent(producer->context);
	producer->thread = (int)syscall(SYS_gettid);
	while (producer->queued < producer->count && producer->result == CUDA_SUCCESS) {
		producer->result = queue_one(producer);
		producer->queued += producer->result == CUDA_SUCCESS;
	}
	return NULL;
}

/* Starts a producer, and waits until it waits. Return: how many pieces it has queued */
#define start(producer, handle)		start_(_metadata, producer, handle)
TEST_HELPER unsigned int start_(struct __test_metadata *_metadata, struct producer *producer,
				pthread_t *handle)
{
	ASSERT_OK(cuCtxGetCurrent(&producer->context));
	ASSERT_EQ(0, pthread_create(handle, NULL, produce, producer));
	while (!producer->thread)
		sched_yield();
	EXPECT_TRUE(sleeps(getpid(), producer->thread));
	return producer->queued;
}

TEST_F(stream, a_full_queue_makes_the_caller_wait)
{
	struct producer producer = { .stream = self->first, .count = MOST + 3000 };
	unsigned int queued;
	pthread_t thread;

	HOLD(self->first);
	queued = start(&producer, &thread);
	EXPECT_LE(HARDWARE, queued);
	EXPECT_GE(MOST, queued);
	/* other streams are not held up */
	ASSERT_OK(cuLaunchHostFunc(self->free, count_one, NULL));
	ASSERT_OK(cuStreamSynchronize(self->free));
	EXPECT_EQ(1, done);
	LET_GO();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(producer.result);
	EXPECT_EQ(producer.count, producer.queued);
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(producer.count + 1, done);
}

TEST_F(stream, a_full_queue_takes_no_graph)
{
	struct producer producer = { .stream = self->first, .count = MOST + 100 };
	CUDA_HOST_NODE_PARAMS params = { count_one, NULL };
	CUgraphNode node;
	CUgraph graph;
	pthread_t thread;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphInstantiate(&producer.graph, graph, 0));
	HOLD(self->first);
	EXPECT_GE(MOST, start(&producer, &thread));
	/* the instance can be launched in other streams, behind its launches in this one */
	ASSERT_OK(cuGraphLaunch(producer.graph, self->free));
	LET_GO();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(producer.result);
	ASSERT_OK(cuStreamSynchronize(self->first));
	ASSERT_OK(cuStreamSynchronize(self->free));
	EXPECT_EQ(producer.count + 1, done);
	ASSERT_OK(cuGraphExecDestroy(producer.graph));
	ASSERT_OK(cuGraphDestroy(graph));
}

/* What is put aside for all streams has a limit. A stream that is idle still takes copies. */
TEST_F(stream, small_copies_that_are_put_aside_have_a_limit)
{
	struct producer producer = { .stream = self->first, .to = AT(0),
				     .count = 3 * SMALL_ALL / SMALL };
	char *from = calloc(1, SMALL);
	pthread_t thread;

	ASSERT_NE(NULL, from);
	from[SMALL - 1] = 7;
	producer.from = from;
	HOLD(self->first);
	EXPECT_EQ(SMALL_ALL / SMALL, start(&producer, &thread));
	ASSERT_OK(cuMemcpyHtoDAsync(AT(0) + SMALL / 2, from + SMALL - 4, 4, self->free));
	LET_GO();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(producer.result);
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(7, ((volatile char *)self->at)[SMALL - 1]);
	/* all of the room is free again, after a failure as well */
	*self->gate = 0;
	HOLD(self->first);
	producer.queued = producer.thread = 0;
	EXPECT_EQ(SMALL_ALL / SMALL, start(&producer, &thread));
	LET_GO();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_OK(cuStreamSynchronize(self->first));
	free(from);
}

/* A destroyed stream or context ends the wait of who wants to queue more. */
TEST_F(stream, the_end_of_a_stream_ends_the_wait)
{
	struct producer producer = { .stream = self->first, .count = UINT32_MAX };
	CUcontext context, before;
	pthread_t thread;
	CUdeviceptr word;
	CUstream stream;

	HOLD(self->first);
	start(&producer, &thread);
	ASSERT_OK(cuStreamDestroy(self->first));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, producer.result);
	LET_GO();

	ASSERT_OK(cuCtxGetCurrent(&before));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuMemAlloc(&word, 4));
	ASSERT_OK(cuMemsetD32(word, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
	producer = (struct producer) { .stream = stream, .count = UINT32_MAX };
	start(&producer, &thread);
	ASSERT_OK(cuCtxDestroy(context));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_NE(CUDA_SUCCESS, producer.result);
	ASSERT_OK(cuCtxSetCurrent(before));
	ASSERT_OK(cuStreamCreate(&self->first, 0));
}

TEST_HARNESS_MAIN
