// SPDX-License-Identifier: MIT
/*
 * A failed call of the driver calls the program back, and writes to a log that may be read slowly.
 * The runtime holds no lock meanwhile: a callback may use the runtime, and other threads and fork()
 * go on. run.sh ends a test that hangs.
 */
#include <cuda_runtime_api.h>
#include <memcast/kernel.h>
#include <sys/stat.h>
#include "log_lines.h"
#include "role.h"
#include "runtime_kernel_fixture.h"

#define NO_DEVICE	63	/* the module could have so many devices */

RUNTIME_FIXTURE(runtime_blocked)

static pid_t caller;		/* the thread that is about to call */
static int gate[2];		/* the caller waits here for a byte */

#define start_caller(call, data)	start_caller_(_metadata, call, data)
static pthread_t start_caller_(struct __test_metadata *_metadata, void *(*call)(void *),
			       void *data)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, call, data));
	while (!__atomic_load_n(&caller, __ATOMIC_SEQ_CST))
		sched_yield();
	ASSERT_TRUE(sleeps(getpid(), caller));
	return thread;
}

static void called(void)
{
	__atomic_store_n(&caller, gettid(), __ATOMIC_SEQ_CST);
}

/* ---- another thread is in a driver's call */

static void hear_at_the_gate(void *unused, cudaLogLevel level, char *message, size_t length)
{
	char byte;

	(void)unused, (void)level, (void)message, (void)length;
	while (gettid() == caller && read(gate[0], &byte, 1) != 1)
		;
}

/* Asks the driver, through the runtime, for a context of a device that does not exist. */
static void *copy_from_nowhere(void *memory)
{
	called();
	return (void *)(long)cudaMemcpyPeer(memory, 0, memory, NO_DEVICE, 1);
}

TEST_F(runtime_blocked, in_a_callback)
{
	cudaLogsCallbackHandle handle;
	void *memory, *other, *result;
	pthread_t thread;

	ASSERT_EQ(0, pipe(gate));
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_RT(cudaLogsRegisterCallback(hear_at_the_gate, NULL, &handle));
	thread = start_caller(copy_from_nowhere, memory);
	IN_CHILD(cudaSetDevice(1) == cudaErrorInitializationError);
	ASSERT_RT(cudaSetDevice(1));
	ASSERT_RT(cudaMalloc(&other, 1));
	EXPECT_RT(cudaSuccess, cudaFree(other));
	ASSERT_RT(cudaDeviceReset());
	ASSERT_RT(cudaSetDevice(0));
	ASSERT_EQ(1, write(gate[1], "", 1));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(cudaErrorInvalidDevice, (int)(long)result);
	ASSERT_RT(cudaLogsUnregisterCallback(handle));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

/* ---- a callback uses the runtime itself */

static unsigned int heard;

static void hear_and_call(void *unused, cudaLogLevel level, char *message, size_t length)
{
	const char *name;
	int before, status = -1;
	pid_t child;

	(void)unused, (void)level, (void)message, (void)length;
	child = fork();
	if (!child)
		_exit(0);
	if (waitpid(child, &status, 0) == child && !status &&
	    cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(1) == cudaSuccess &&
	    cudaSetDevice(before) == cudaSuccess && cudaFuncGetName(&name, &add) == cudaSuccess)
		heard++;
}

static bool listen(void)
{
	cudaLogsCallbackHandle handle;

	return register_all() &&
	       cudaLogsRegisterCallback(hear_and_call, NULL, &handle) == cudaSuccess;
}

static int retain(void)
{
	return listen() && cudaSetDevice(0) == cudaErrorMemoryAllocation && heard == 1 &&
	       cudaSetDevice(0) == cudaSuccess;
}

static int reset(void)
{
	void *memory;

	return listen() && cudaMalloc(&memory, 1) == cudaSuccess &&
	       cudaDeviceReset() == cudaErrorMemoryAllocation && heard == 1 &&
	       cudaFree(memory) == cudaSuccess && cudaMalloc(&memory, 1) == cudaSuccess &&
	       cudaDeviceReset() == cudaSuccess && cudaFree(memory) == cudaErrorInvalidValue;
}

/* cudaDeviceReset() succeeds whatever the driver answers to the release. */
static int release(void)
{
	void *memory;

	return listen() && cudaMalloc(&memory, 1) == cudaSuccess &&
	       cudaDeviceReset() == cudaSuccess && heard == 1 &&
	       cudaMalloc(&memory, 1) == cudaSuccess;
}

static void add_numbers(const struct memcast_launch *at)
{
	(void)at;
}

/* To name a captured node's kernel, the runtime asks the driver for each kernel of that name. */
static int get_function(void)
{
	static const size_t sizes[] = { 8, 4 };
	const struct memcast_kernel kernel = {
		.size = sizeof(kernel), .name = "runtime_test_add", .function = add_numbers,
		.shape = MEMCAST_THREADS_ALONE, .sizes = sizes, .count = 2,
	};
	unsigned int number = 4;
	void *memory = NULL, *arguments[] = { &memory, &number };
	struct cudaKernelNodeParams found;
	cudaStream_t stream;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	size_t count = 1;

	return listen() && memcastKernelRegister(&kernel) == CUDA_SUCCESS &&
	       cudaStreamCreate(&stream) == cudaSuccess &&
	       cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess &&
	       cudaLaunchKernel(&add, one, one, arguments, 0, stream) == cudaSuccess &&
	       cudaStreamEndCapture(stream, &graph) == cudaSuccess &&
	       cudaGraphGetNodes(graph, &node, &count) == cudaSuccess && count == 1 &&
	       cudaGraphKernelNodeGetParams(node, &found) == cudaSuccess && heard == 1 &&
	       found.func != &add &&
	       cudaGraphKernelNodeGetParams(node, &found) == cudaSuccess && found.func == &add;
}

static const struct role roles[] = {
	{ "retain", retain },
	{ "reset", reset },
	{ "release", release },
	{ "get_function", get_function },
	{ }
};

TEST_F(runtime_blocked, callbacks_call)
{
	char said[4096];

	EXPECT_EQ(0, run_role("retain", "MEMCAST_INJECT=cuDevicePrimaryCtxRetain:2*1", said));
	EXPECT_EQ(0, run_role("reset", "MEMCAST_INJECT=cuDevicePrimaryCtxReset:2*1", said));
	EXPECT_EQ(0, run_role("release", "MEMCAST_INJECT=cuDevicePrimaryCtxRelease:2*1", said));
	EXPECT_EQ(0, run_role("get_function", "MEMCAST_INJECT=cuKernelGetFunction:2*1", said));
}

/* ---- another thread opens the log */

static void *refused(void *unused)
{
	called();
	return cudaGetDevice(NULL) == cudaErrorInvalidValue ? unused : NULL;
}

/* Each thread with a reason to write opens the log; the first to have it open gives it to all. */
TEST_F(runtime_blocked, in_the_log)
{
	char folder[] = "/tmp/runtime_block_XXXXXX", fifo[64], path[64], text[4096];
	pthread_t thread;
	void *done;
	int reader;

	ASSERT_NE(NULL, mkdtemp(folder));
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(path, sizeof(path), "%s/log", folder);
	ASSERT_EQ(0, mkfifo(fifo, 0600));
	ASSERT_RT(cudaSetDevice(0));
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", fifo, 1));
	thread = start_caller(refused, folder);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetDevice(NULL));
	read_file(text, sizeof(text), path);
	EXPECT_EQ(1, count_lines(text));
	EXPECT_SAYS(text, "cudaGetDevice(): cudaErrorInvalidValue: NULL output");

	reader = open(fifo, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, reader);
	ASSERT_EQ(0, pthread_join(thread, &done));
	EXPECT_EQ((void *)folder, done);
	EXPECT_EQ(0, read(reader, text, sizeof(text)));
	read_file(text, sizeof(text), path);
	EXPECT_EQ(2, count_lines(text));
	close(reader);
	unlink(path);
	unlink(fifo);
	rmdir(folder);
}

/* The log's fd is another file's: that file gets no line. */
TEST_F(runtime_blocked, log_of_a_daemon)
{
	char path[] = "/tmp/runtime_block_XXXXXX", own[] = "/tmp/runtime_own_XXXXXX", text[4096];
	int log = mkstemp(path), other = mkstemp(own);

	ASSERT_LE(0, log);
	ASSERT_LE(0, other);
	close(log);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetDevice(NULL));
	ASSERT_EQ(1, replace_files(path, other));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetDevice(NULL));
	read_file(text, sizeof(text), path);
	EXPECT_EQ(2, count_lines(text));
	read_file(text, sizeof(text), own);
	EXPECT_STREQ("", text);
	unlink(path);
	unlink(own);
}

/* ---- a canceled thread */

/* Return: did all calls answer as they should? */
static bool use_runtime(void)
{
	cudaStream_t stream;
	void *memory, *where;
	char byte;

	return cudaLaunchKernel(&plain, one, one, NULL, 0, NULL) == cudaErrorNotSupported &&
	       cudaGetDevice(NULL) == cudaErrorInvalidValue &&
	       cudaMalloc(&memory, 1) == cudaSuccess && cudaMemset(memory, 0, 1) == cudaSuccess &&
	       cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost) == cudaSuccess &&
	       cudaMemcpyPeer(memory, 0, memory, NO_DEVICE, 1) == cudaErrorInvalidDevice &&
	       cudaFree(memory) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess &&
	       cudaStreamSynchronize(stream) == cudaSuccess &&
	       cudaStreamDestroy(stream) == cudaSuccess &&
	       cudaGetSymbolAddress(&where, &counter) == cudaSuccess &&
	       cudaGetSymbolAddress(&where, &nowhere) == cudaErrorInvalidSymbol &&
	       cudaDeviceSynchronize() == cudaSuccess && cudaDeviceReset() == cudaSuccess;
}

static void *use_cancelled(void *done)
{
	pthread_cancel(pthread_self());
	*(int *)done = use_runtime();
	pthread_testcancel();
	return NULL;
}

/* The thread ends after its calls, some of which are the first to open the log. */
TEST_F(runtime_blocked, cancelled_in_no_call)
{
	char path[] = "/tmp/runtime_block_XXXXXX";
	int done = -1, log = mkstemp(path);
	pthread_t thread;
	void *result;

	ASSERT_LE(0, log);
	close(log);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	ASSERT_NE(NULL, register_all());
	ASSERT_EQ(0, pthread_create(&thread, NULL, use_cancelled, &done));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(1, done)
		TH_LOG("%s", done ? "the thread ended in a call" : "a call's answer is wrong");
	EXPECT_EQ(true, use_runtime());
	unlink(path);
}

TEST_HARNESS_MAIN
