// SPDX-License-Identifier: MIT
/*
 * Calls that block on a slow reader of the log, on a host function or on a callback. Other
 * threads' calls and fork() go on, and a thread that is cancelled meanwhile ends when its call
 * has returned. run.sh ends a program that hangs.
 */
#include <errno.h>
#include <fcntl.h>
#include <memcast/bulk.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "log_lines.h"
#include "processor.h"

FIXTURE(blocked)
{
	CUcontext context;
	CUstream stream;
	volatile pid_t thread;		/* is about to make the call that blocks */
	int gate[2];			/* a pipe: pass_gate() waits for open_gate() */
};

FIXTURE_SETUP(blocked)
{
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&self->context));
	ASSERT_OK(cuStreamCreate(&self->stream, 0));
	ASSERT_EQ(0, pipe(self->gate));
}
NOTHING_LEFT(blocked)

/* A host function or callback that blocks until open_gate() */
static void pass_gate(void *gate)
{
	char byte;

	while (read(((int *)gate)[0], &byte, 1) != 1)
		;
}

static void open_gate(int *gate)
{
	while (write(gate[1], "", 1) != 1)
		;
}

static void *synchronize(void *data)
{
	FIXTURE_DATA(blocked) *self = data;

	cuCtxSetCurrent(self->context);
	self->thread = gettid();
	cuStreamSynchronize(self->stream);
	pthread_testcancel();
	return NULL;
}

TEST_F(blocked, in_a_stream)
{
	pthread_t thread;
	void *ends;

	ASSERT_OK(cuLaunchHostFunc(self->stream, pass_gate, self->gate));
	ASSERT_EQ(0, pthread_create(&thread, NULL, synchronize, self));
	while (!self->thread)
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), self->thread));
	ASSERT_EQ(0, pthread_cancel(thread));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	open_gate(self->gate);
	ASSERT_EQ(0, pthread_join(thread, &ends));
	EXPECT_EQ(PTHREAD_CANCELED, ends);
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_OK(cuStreamDestroy(self->stream));
}

static void hear_at_the_gate(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)level;
	(void)message;
	(void)length;
	pass_gate(data);
}

static void *fail_in_thread(void *data)
{
	FIXTURE_DATA(blocked) *self = data;

	self->thread = gettid();
	fail_once();
	pthread_testcancel();
	return NULL;
}

TEST_F(blocked, in_a_callback)
{
	CUlogsCallbackHandle handle;
	pthread_t thread;
	void *ends;
	pid_t child;

	ASSERT_OK(cuLogsRegisterCallback(hear_at_the_gate, self->gate, &handle));
	ASSERT_EQ(0, pthread_create(&thread, NULL, fail_in_thread, self));
	while (!self->thread)
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), self->thread));
	ASSERT_EQ(0, pthread_cancel(thread));

	/* the child need not wait for the callback: the thread in it is the parent's only */
	child = fork();
	if (!child)
		_exit(cuLogsUnregisterCallback(handle) != CUDA_SUCCESS);
	EXPECT_EQ(0, reap_child(child));

	open_gate(self->gate);
	ASSERT_EQ(0, pthread_join(thread, &ends));
	EXPECT_EQ(PTHREAD_CANCELED, ends);
	EXPECT_OK(cuLogsUnregisterCallback(handle));
}

/* Makes a pipe that is full and has no reader yet. */
static void fill(struct __test_metadata *_metadata, int *ends)
{
	static const char page[4096];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_LE(0, fcntl(ends[1], F_SETFL, O_NONBLOCK));
	while (write(ends[1], page, sizeof(page)) > 0)
		;
	ASSERT_EQ(EAGAIN, errno);
	/* O_NONBLOCK is this file's: a thread that opens the pipe anew blocks in write() */
}

static void *read_all(void *end)
{
	char page[4096];

	while (read(*(int *)end, page, sizeof(page)) > 0)
		;
	return NULL;
}

static void *dump_to_pipe(void *data)
{
	FIXTURE_DATA(blocked) *self = data;
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->gate[1]);
	self->thread = gettid();
	cuLogsDumpToFile(NULL, path, 0);
	pthread_testcancel();
	return NULL;
}

static void hear_nothing(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)data;
	(void)level;
	(void)message;
	(void)length;
}

static void *fail_often(void *unused)
{
	for (int i = 0; i < 300; i++)
		fail_once();
	return unused;
}

static void use_log(struct __test_metadata *_metadata)
{
	static char lines[1 << 17];
	size_t size = sizeof(lines);
	CUlogsCallbackHandle handle;
	CUlogIterator end;

	EXPECT_OK(cuLogsRegisterCallback(hear_nothing, NULL, &handle));
	EXPECT_OK(cuLogsUnregisterCallback(handle));
	EXPECT_OK(cuLogsCurrent(&end, 0));
	EXPECT_OK(cuLogsDumpToMemory(NULL, lines, &size, 0));
	EXPECT_OK(cuLogsDumpToFile(NULL, "/dev/null", 0));
}

/* A dump to a pipe blocks on a slow reader; other threads wait neither for it nor for its end. */
TEST_F(blocked, in_a_dump)
{
	pthread_t thread, other[3], reader;
	void *result;
	pid_t child;

	fail_once();
	fill(_metadata, self->gate);
	ASSERT_EQ(0, pthread_create(&thread, NULL, dump_to_pipe, self));
	while (!self->thread)
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), self->thread));

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_create(&other[i], NULL, fail_often, NULL));
		use_log(_metadata);
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_join(other[i], NULL));
		child = fork();
		if (!child) {
			use_log(_metadata);
			_exit(0);
		}
		EXPECT_EQ(0, reap_child(child));
		/* in the second round, the thread in the dump is cancelled */
		if (!round)
			ASSERT_EQ(0, pthread_cancel(thread));
	}

	ASSERT_EQ(0, pthread_create(&reader, NULL, read_all, &self->gate[0]));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	close(self->gate[1]);
	ASSERT_EQ(0, pthread_join(reader, NULL));
}

/* CUDA_LOG_FILE has a slow reader: a call that fails waits for it, a call that reads does not. */
TEST_F(blocked, in_the_log_file)
{
	pthread_t thread, reader;
	char path[40];
	void *result;

	fill(_metadata, self->gate);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->gate[1]);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, fail_in_thread, self));
	while (!self->thread)
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), self->thread));
	use_log(_metadata);
	EXPECT_OK(cuStreamSynchronize(self->stream));
	ASSERT_EQ(0, pthread_cancel(thread));
	use_log(_metadata);

	ASSERT_EQ(0, pthread_create(&reader, NULL, read_all, &self->gate[0]));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	pthread_cancel(reader);
	pthread_join(reader, NULL);
}

static CUresult broadcast(void)
{
	static char replicas[2][4096] __attribute__((aligned(4096)));
	const struct memcast_view two = {
		.replicas = 2, .bytes = sizeof(replicas[0]),
		.replica = { (void *)replicas[0], (void *)replicas[1] },
	};

	return memcastBroadcast(&two, 0, "text", 4);
}

static void *broadcast_in_thread(void *data)
{
	FIXTURE_DATA(blocked) *self = data;
	CUresult result;

	self->thread = gettid();
	result = broadcast();
	pthread_testcancel();
	return (void *)(long)result;
}

/* The first bulk call of a program writes a warning to stderr, which has a slow reader. */
TEST_F(blocked, in_a_complaint)
{
	int own = dup(STDERR_FILENO);
	char page[4096 + 1], *text = NULL;
	pthread_t thread;
	void *result;

	ASSERT_LE(0, own);
	ASSERT_EQ(0, setenv("MEMCAST_CPU", "none", 1));
	fill(_metadata, self->gate);
	ASSERT_EQ(0, fcntl(self->gate[1], F_SETFL, 0));
	ASSERT_LE(0, dup2(self->gate[1], STDERR_FILENO));
	ASSERT_EQ(0, pthread_create(&thread, NULL, broadcast_in_thread, self));
	while (!self->thread)
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), self->thread));
	ASSERT_LE(0, dup2(own, STDERR_FILENO));
	EXPECT_OK(broadcast());
	ASSERT_EQ(0, pthread_cancel(thread));
	EXPECT_OK(broadcast());

	close(self->gate[1]);
	for (ssize_t got; (got = read(self->gate[0], page, sizeof(page) - 1)) > 0; ) {
		page[got] = '\0';
		text = page;
	}
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	ASSERT_NE(NULL, text);
	EXPECT_STREQ("memcast: MEMCAST_CPU=none: this CPU has no such thing; it is one of "
		     SAID_SETS "\n", text);
}

TEST_HARNESS_MAIN
