// SPDX-License-Identifier: MIT
/*
 * Hosts that are lost while a process has several pieces of work in its streams: all its threads
 * that wait for the work are woken, with the error, and none of the work is done.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include "lost_host.h"
#include "memcast_test.h"
#include "reason.h"

FIXTURE(work)
{
	struct lost_host host;
};

FIXTURE_SETUP(work)
{
	if (!lost_host_find(&self->host))
		SKIP(return, "needs root and two devices per host");
}

FIXTURE_TEARDOWN_PARENT(work)
{
	host_return(&self->host);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

enum waiting {
	FOR_A_STREAM, FOR_AN_EVENT, FOR_THE_CONTEXT, FOR_THE_LEGACY_STREAM,
	FOR_ROOM_IN_THE_QUEUE, FOR_AN_EVENT_IN_ANOTHER_STREAM, FOR_A_GRAPH_IN_ANOTHER_STREAM, WAITINGS
};

static void must_not_run(void *data)
{
	(void)data;
	_exit(99);
}

/* Each callback is called, with the error. */
static atomic_uint calls;

static void count_call(CUstream stream, CUresult error, void *data)
{
	(void)stream;
	(void)data;
	calls += error == CUDA_ERROR_UNKNOWN;
}

/* A graph of one fill */
static CUgraphExec fill_graph(struct __test_metadata *_metadata, CUdeviceptr to)
{
	CUDA_MEMSET_NODE_PARAMS fill = { .dst = to, .value = 1, .elementSize = 4, .width = 4,
					 .height = 1 };
	CUgraphExec instance;
	CUgraphNode node;
	CUgraph graph;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	return instance;
}

/* Queues work behind a wait for a word that nobody writes, and waits for the last piece. */
static CUresult wait_for(struct __test_metadata *_metadata, enum waiting what, int link)
{
	CUstream stream, other;
	CUgraphExec instance;
	CUevent event, shared;
	CUdeviceptr word;
	CUresult result;

	ASSERT_OK(cuMemAlloc(&word, 64));
	ASSERT_OK(cuMemsetD32(word, 0, 16));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, 0));
	ASSERT_OK(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	instance = fill_graph(_metadata, word + 16);

	ASSERT_OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuMemsetD32Async(word + 4, 1, 1, stream));
	ASSERT_OK(cuGraphLaunch(instance, stream));
	ASSERT_OK(cuLaunchHostFunc(stream, must_not_run, NULL));
	ASSERT_OK(cuStreamAddCallback(stream, count_call, NULL, 0));
	ASSERT_OK(cuEventRecord(event, stream));
	ASSERT_OK(cuEventRecord(shared, stream));
	ASSERT_OK(cuMemsetD32Async(word + 8, 1, 1, stream));
	ASSERT_OK(cuStreamAddCallback(stream, count_call, NULL, 0));
	if (what == FOR_AN_EVENT_IN_ANOTHER_STREAM)
		ASSERT_OK(cuStreamWaitEvent(other, event, 0));
	if (what == FOR_A_GRAPH_IN_ANOTHER_STREAM)
		ASSERT_OK(cuGraphLaunch(instance, other));
	if (what >= FOR_AN_EVENT_IN_ANOTHER_STREAM)
		ASSERT_OK(cuLaunchHostFunc(other, must_not_run, NULL));
	if (what == FOR_THE_LEGACY_STREAM)
		ASSERT_OK(cuMemsetD32Async(word + 12, 1, 1, NULL));
	send_number(link, 0);
	switch (what) {
	case FOR_AN_EVENT:
		return cuEventSynchronize(event);
	case FOR_THE_CONTEXT:
		return cuCtxSynchronize();
	case FOR_THE_LEGACY_STREAM:
		return cuStreamSynchronize(NULL);
	case FOR_ROOM_IN_THE_QUEUE:
		do
			result = cuLaunchHostFunc(stream, must_not_run, NULL);
		while (result == CUDA_SUCCESS);
		return result;
	case FOR_AN_EVENT_IN_ANOTHER_STREAM:
	case FOR_A_GRAPH_IN_ANOTHER_STREAM:
		return cuStreamSynchronize(other);
	default:
		return cuStreamSynchronize(stream);
	}
}

TEST_F(work, that_is_queued_ends)
{
	int link, i;
	pid_t pid;

	for (i = 0; i < WAITINGS; i++) {
		pid = peer_fork(&link);
		if (!pid) {
			ASSERT_EQ(0, host_enter(&self->host, self->host.number));
			cuda_start(0);
			EXPECT_CU(CUDA_ERROR_UNKNOWN, wait_for(_metadata, i, link));
			_exit(_metadata->exit_code);
		}
		receive_number(link);
		EXPECT_TRUE(sleeps(pid, pid)) TH_LOG("waiting %d", i);
		ASSERT_EQ(0, host_lose(&self->host));
		EXPECT_EQ(0, reap_child(pid)) TH_LOG("waiting %d", i);
		ASSERT_EQ(0, host_return(&self->host));
	}
}

struct waiter {
	CUstream stream;
	_Atomic pid_t thread;
	CUresult result;
};

static void *wait_in_thread(void *argument)
{
	struct waiter *waiter = argument;

	waiter->thread = gettid();
	waiter->result = cuStreamSynchronize(waiter->stream);
	return NULL;
}

/* Several threads wait for several streams; all are woken, and all callbacks come. */
TEST_F(work, of_all_streams_ends)
{
	struct waiter waiters[8];
	pthread_t threads[ARRAY_SIZE(waiters)];
	CUdeviceptr word;
	unsigned int i;
	int link;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		ASSERT_EQ(0, host_enter(&self->host, self->host.number));
		cuda_start(0);
		ASSERT_OK(cuMemAlloc(&word, 64));
		ASSERT_OK(cuMemsetD32(word, 0, 16));
		for (i = 0; i < ARRAY_SIZE(waiters); i++) {
			struct waiter *waiter = &waiters[i];
			CUstream *stream = &waiter->stream;

			waiter->thread = 0;
			ASSERT_OK(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
			ASSERT_OK(cuStreamWaitValue32(*stream, word, 1, CU_STREAM_WAIT_VALUE_EQ));
			ASSERT_OK(cuStreamAddCallback(*stream, count_call, NULL, 0));
			ASSERT_OK(cuMemsetD32Async(word + 4, 1, 1, *stream));
			ASSERT_OK(cuStreamAddCallback(*stream, count_call, NULL, 0));
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, wait_in_thread, waiter));
		}
		for (i = 0; i < ARRAY_SIZE(waiters); i++) {
			ASSERT_TRUE(comes_true(waiters[i].thread));
			EXPECT_TRUE(sleeps(getpid(), waiters[i].thread));
		}
		send_number(link, 0);
		for (i = 0; i < ARRAY_SIZE(waiters); i++) {
			ASSERT_EQ(0, pthread_join(threads[i], NULL));
			EXPECT_CU(CUDA_ERROR_UNKNOWN, waiters[i].result);
		}
		EXPECT_TRUE(comes_true(calls == 2 * ARRAY_SIZE(waiters)));
		_exit(_metadata->exit_code);
	}
	receive_number(link);
	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(0, reap_child(pid));
}

TEST_HARNESS_MAIN
