// SPDX-License-Identifier: MIT
/* The log: callbacks, memory, files. */
#include <pthread.h>
#include <unistd.h>
#include <memcast/group.h>
#include <memcast/log.h>
#include "log_lines.h"
#include "reason.h"

FIXTURE(log) { char unused; };
FIXTURE_SETUP(log) { }
NOTHING_LEFT(log)

struct heard {
	unsigned int calls;
	char text[1024];
	size_t length;
};

static void hear_line(void *data, CUlogLevel level, char *message, size_t length)
{
	struct heard *heard = data;

	heard->calls += level == CU_LOG_LEVEL_ERROR;
	snprintf(heard->text, sizeof(heard->text), "%s", message);
	heard->length = length;
}

TEST_F(log, callback)
{
	struct heard first = {}, second = {};
	CUlogsCallbackHandle handle, other;

	EXPECT_REASON(cuLogsRegisterCallback(NULL, NULL, &handle), "NULL function");
	ASSERT_OK(cuLogsRegisterCallback(hear_line, &first, &handle));
	ASSERT_OK(cuLogsRegisterCallback(hear_line, &second, &other));
	ASSERT_OK(cuInit(0));
	EXPECT_EQ(0, first.calls);
	fail_once();
	EXPECT_EQ(1, first.calls);
	EXPECT_EQ(1, second.calls);
	EXPECT_SAYS(first.text, "cuMemRelease(handle=4711): CUDA_ERROR_INVALID_VALUE: ");
	EXPECT_EQ(strlen(first.text), first.length);
	EXPECT_EQ(NULL, strchr(first.text, '\n'));

	ASSERT_OK(cuLogsUnregisterCallback(handle));
	fail_once();
	EXPECT_EQ(1, first.calls);
	EXPECT_EQ(2, second.calls);
	EXPECT_REASON(cuLogsUnregisterCallback(handle), "not a registered callback");
	EXPECT_REASON(cuLogsUnregisterCallback(NULL), "not a registered callback");
	EXPECT_OK(cuLogsUnregisterCallback(other));
}

/* Each argument is shown as its type and its name say. */
TEST_F(log, arguments)
{
	struct heard heard = {};
	CUlogsCallbackHandle handle;
	int value;

	ASSERT_OK(cuLogsRegisterCallback(hear_line, &heard, &handle));
	ASSERT_OK(cuInit(0));
	EXPECT_NE(CUDA_SUCCESS, cuParamSetf(NULL, 4, 1.5));
	EXPECT_SAYS(heard.text, "]: cuParamSetf(function=(nil), offset=4, value=1.5): ");
	EXPECT_NE(CUDA_SUCCESS, cuDeviceGetAttribute(&value, (CUdevice_attribute)-1, -2));
	EXPECT_SAYS(heard.text, ", attribute=-1, device=-2): ");
	EXPECT_NE(CUDA_SUCCESS, cuMemExportToShareableHandle(&value, 4711,
							     CU_MEM_HANDLE_TYPE_FABRIC, 0));
	EXPECT_SAYS(heard.text, ", handle=4711, type=0x8, flags=0): ");
	EXPECT_NE(CUDA_SUCCESS, cuStreamCreate(NULL, 0x10));
	EXPECT_SAYS(heard.text, "]: cuStreamCreate(stream=(nil), flags=0x10): ");
	EXPECT_NE(CUDA_SUCCESS, cuDeviceGetByPCIBusId(&value, NULL));
	EXPECT_SAYS(heard.text, ", text=NULL): ");
	EXPECT_NE(CUDA_SUCCESS, cuMemFree(0x1000));
	EXPECT_SAYS(heard.text, "(address=0x1000): ");
	EXPECT_NE(CUDA_SUCCESS, cuCtxSynchronize());
	EXPECT_SAYS(heard.text, "]: cuCtxSynchronize(): ");
	EXPECT_OK(cuLogsUnregisterCallback(handle));
}

/* Libraries on top of libcuda.so log their failures here as well, as libmemcast.so does. */
TEST_F(log, calls_of_other_libraries)
{
	struct heard heard = {};
	CUlogsCallbackHandle handle;

	ASSERT_OK(cuLogsRegisterCallback(hear_line, &heard, &handle));
	EXPECT_REASON(memcastBarrier(NULL), "NULL group");
	EXPECT_EQ(1, heard.calls);
	EXPECT_SAYS(heard.text, "]: memcastBarrier(group=NULL): "
		    "CUDA_ERROR_INVALID_VALUE: NULL group");
	memcastLogFailure("theirs", "number=1", CUDA_ERROR_OUT_OF_MEMORY, "no room");
	EXPECT_EQ(2, heard.calls);
	EXPECT_SAYS(heard.text, "]: theirs(number=1): "
		    "CUDA_ERROR_OUT_OF_MEMORY: no room");
	EXPECT_OK(cuLogsUnregisterCallback(handle));
}

static CUlogsCallbackHandle own;

static void fail_inside(void *data, CUlogLevel level, char *message, size_t length)
{
	CUresult *result = data;

	(void)level;
	(void)message;
	(void)length;
	fail_once();
	*result = cuLogsUnregisterCallback(own);
}

/* A call that fails in a callback causes no other callback; a callback cannot unregister itself. */
/* A line has 1023 bytes, however long the names are. */
TEST_F(log, long_names)
{
	struct heard heard = {};
	CUlogsCallbackHandle handle;
	char name[3000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ASSERT_OK(cuLogsRegisterCallback(hear_line, &heard, &handle));
	memcastLogFailure(name, "argument=1", CUDA_ERROR_INVALID_VALUE, "no reason");
	EXPECT_EQ(1, heard.calls);
	EXPECT_EQ(1022, heard.length);
	EXPECT_EQ(strlen(heard.text), heard.length);
	EXPECT_OK(cuLogsUnregisterCallback(handle));
}

TEST_F(log, callback_that_fails)
{
	CUresult result = CUDA_SUCCESS;

	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuLogsRegisterCallback(fail_inside, &result, &own));
	fail_once();
	EXPECT_EQ((int)CUDA_ERROR_NOT_PERMITTED, (int)result);
	EXPECT_OK(cuLogsUnregisterCallback(own));
}

static pthread_barrier_t inside, outside;

static void wait_inside(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)level;
	(void)message;
	(void)length;
	pthread_barrier_wait(&inside);
	pthread_barrier_wait(&outside);
	usleep(50000);
	*(volatile int *)data = 1;
}

static void *fail_in_thread(void *unused)
{
	fail_once();
	return unused;
}

TEST_F(log, unregister_waits)
{
	CUlogsCallbackHandle handle;
	volatile int done = 0;
	pthread_t thread;

	pthread_barrier_init(&inside, NULL, 2);
	pthread_barrier_init(&outside, NULL, 2);
	ASSERT_OK(cuLogsRegisterCallback(wait_inside, (void *)&done, &handle));
	ASSERT_EQ(0, pthread_create(&thread, NULL, fail_in_thread, NULL));
	pthread_barrier_wait(&inside);
	EXPECT_EQ(0, done);
	pthread_barrier_wait(&outside);
	ASSERT_OK(cuLogsUnregisterCallback(handle));
	EXPECT_EQ(1, done);
	pthread_join(thread, NULL);
}

TEST_F(log, memory)
{
	CUlogIterator start = 77, at;
	char buffer[4096];
	size_t size = sizeof(buffer);

	EXPECT_REASON(cuLogsCurrent(NULL, 0), "NULL output");
	EXPECT_EQ(77, start);
	ASSERT_OK(cuLogsCurrent(&start, 1));	/* the call ignores its flags */

	at = start;
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(0, size);
	EXPECT_STREQ("", buffer);
	EXPECT_EQ(start, at);

	fail_once();
	fail_once();
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(start + 2, at);
	EXPECT_EQ(strlen(buffer), size);
	EXPECT_EQ(2, count_lines(buffer));
	EXPECT_SAYS(buffer, "cuMemRelease(handle=4711): CUDA_ERROR_NOT_INITIALIZED: ");

	/* an iterator at the end gives no line; a NULL iterator gives all lines of the log */
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(0, size);
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(NULL, buffer, &size, 0));
	EXPECT_EQ(3, count_lines(buffer));
}

/*
 * A buffer too small for all lines gets a note and the last lines; if no line fits, the
 * call fails.
 */
TEST_F(log, small_buffer)
{
	char buffer[4096], all[4096];
	size_t whole = sizeof(all), size;
	CUlogIterator at = 0;

	fail_once();
	fail_once();
	fail_once();
	ASSERT_OK(cuLogsDumpToMemory(NULL, all, &whole, 0));
	ASSERT_EQ(3, count_lines(all));

	size = whole + 1;
	ASSERT_OK(cuLogsDumpToMemory(NULL, buffer, &size, 0));
	EXPECT_STREQ(all, buffer);
	size = whole;
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_GT(whole, size);
	EXPECT_EQ(strlen(buffer), size);
	EXPECT_EQ(NULL, strstr(buffer, "cuLogs"));
	EXPECT_EQ(0, strncmp(buffer, "memcast: there is no room", 25));
	EXPECT_STREQ(all + whole - 5, buffer + size - 5);
	EXPECT_EQ(3, at);

	at = 0;
	size = 60;
	EXPECT_REASON(cuLogsDumpToMemory(&at, buffer, &size, 0), "no line fits into the buffer");
	EXPECT_EQ(0, size);
	EXPECT_EQ(0, at);
	size = 0;
	EXPECT_REASON(cuLogsDumpToMemory(NULL, buffer, &size, 0), "NULL pointer, or no bytes");
	EXPECT_REASON(cuLogsDumpToMemory(NULL, NULL, &whole, 0), "NULL pointer, or no bytes");
	EXPECT_REASON(cuLogsDumpToMemory(NULL, buffer, NULL, 0), "NULL pointer, or no bytes");
	EXPECT_OK(cuLogsDumpToMemory(NULL, buffer, &whole, 1));
	at = 1000;
	EXPECT_REASON(cuLogsDumpToMemory(&at, buffer, &whole, 0), "the log has # lines, not #");
}

/* The log keeps 100 lines; a note says that older lines are lost. */
TEST_F(log, lost_lines)
{
	static char buffer[100000];
	size_t size = sizeof(buffer);
	CUlogIterator at = 0;
	unsigned int i;

	for (i = 0; i < 100; i++)
		fail_once();
	ASSERT_OK(cuLogsDumpToMemory(NULL, buffer, &size, 0));
	EXPECT_EQ(100, count_lines(buffer));
	fail_once();
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(101, count_lines(buffer));
	EXPECT_EQ(0, strncmp(buffer, "memcast: older lines are lost\n", 30));
	EXPECT_EQ(101, at);
}

TEST_F(log, file)
{
	char path[] = "/tmp/memcast-log-XXXXXX", text[4096];
	CUlogIterator at = 0;

	ASSERT_LE(0, mkstemp(path));
	fail_once();
	ASSERT_OK(cuLogsDumpToFile(&at, path, 0));
	fail_once();
	ASSERT_OK(cuLogsDumpToFile(&at, path, 0));
	EXPECT_EQ(2, at);
	read_file(text, sizeof(text), path);
	EXPECT_EQ(2, count_lines(text));
	EXPECT_REASON(cuLogsDumpToFile(&at, NULL, 0), "NULL pointer");
	EXPECT_OK(cuLogsDumpToFile(&at, path, 1));
	/* without stdin, the file has its number */
	close(STDIN_FILENO);
	EXPECT_OK(cuLogsDumpToFile(&at, path, 0));
	EXPECT_REASON(cuLogsDumpToFile(&at, "/nowhere/at/all", 0), "/nowhere/at/all: No such file");
	unlink(path);
}

/* The log's fd is another file's: that file gets no line. */
TEST_F(log, file_of_a_daemon)
{
	char path[] = "/tmp/memcast-log-XXXXXX", own[] = "/tmp/memcast-own-XXXXXX", text[4096];
	int log = mkstemp(path), other = mkstemp(own);

	ASSERT_LE(0, log);
	ASSERT_LE(0, other);
	close(log);
	close(STDIN_FILENO);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	fail_once();
	ASSERT_EQ(1, replace_files(path, other));
	fail_once();
	read_file(text, sizeof(text), path);
	EXPECT_EQ(2, count_lines(text));
	read_file(text, sizeof(text), own);
	EXPECT_STREQ("", text);
	unlink(path);
	unlink(own);
}

/* Return: the reason in the last line of the log */
static const char *reason(void)
{
	static char lines[30000];
	size_t size = sizeof(lines);
	char *last;

	if (cuLogsDumpToMemory(NULL, lines, &size, 0) != CUDA_SUCCESS || !size)
		return "none";
	lines[size - 1] = '\0';
	last = strrchr(lines, '\n');
	last = strstr(last ?: lines, ": CUDA_ERROR_");
	return strchr(last + 2, ':') + 2;
}

#define EXPECT_WORDS(words, call)					\
do {									\
	EXPECT_NE((int)CUDA_SUCCESS, (int)(call));			\
	EXPECT_STREQ(words, reason());					\
} while (0)

/* The reasons for beginners' mistakes say what to do instead. */
TEST_F(log, reasons_for_beginners)
{
	CUmemAllocationProp on_host = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 },
		.requestedHandleTypes = SHAREABLE };
	CUmemAllocationProp kept = memory_on(0);
	CUmemGenericAllocationHandle own, host, team, secret;
	CUdeviceptr at, block;
	char words[160];
	uint32_t value;
	int fd = 0;

	cuda_start(0);
	team = complete_team(2, 2 * CHUNK);
	own = new_memory(0, 2 * CHUNK);
	ASSERT_OK(cuMemCreate(&host, CHUNK, &on_host, 0));
	kept.requestedHandleTypes = 0;
	ASSERT_OK(cuMemCreate(&secret, CHUNK, &kept, 0));
	at = reserve(3 * CHUNK);
	ASSERT_OK(cuMemMap(at, 2 * CHUNK, 0, own, 0));
	ASSERT_OK(cuMemAlloc(&block, CHUNK));

	EXPECT_WORDS("host memory is of no device: cuMulticastBindMem_v2 names one",
		     cuMulticastBindMem(team, 0, host, 0, CHUNK, 0));
	EXPECT_WORDS("size 4096 is not a multiple of the granularity 2097152: round it up",
		     cuMulticastBindAddr(team, 0, at, 4096, 0));
	snprintf(words, sizeof(words), "address %#llx is not a multiple of the granularity 2097152",
		 at + 4096);
	EXPECT_WORDS(words, cuMulticastBindAddr(team, 0, at + 4096, CHUNK, 0));
	EXPECT_WORDS("memory of cuMemAlloc() cannot be bound; that of cuMemCreate() can, and that of cuMemAllocAsync() from 2097152 bytes on",
		     cuMulticastBindAddr(team, 0, block, CHUNK, 0));
	snprintf(words, sizeof(words), "%llu is the handle of a memory, not of a team", own);
	EXPECT_WORDS(words, cuMulticastBindMem(own, 0, team, 0, CHUNK, 0));
	EXPECT_WORDS("a shareable team takes only shareable memory: requestedHandleTypes",
		     cuMulticastBindMem(team, 0, secret, 0, CHUNK, 0));
	EXPECT_WORDS("nothing of device 0 is bound at 0", cuMulticastUnbind(team, 0, 0, CHUNK));
	ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, 2 * CHUNK, 0));
	EXPECT_WORDS("only a part of the binding of 4194304 bytes at 0 of device 0 is in the range",
		     cuMulticastUnbind(team, 0, 0, CHUNK));
	EXPECT_WORDS("only a part of the binding of 4194304 bytes at 0 of device 0 is in the range",
		     cuMulticastUnbind(team, 0, CHUNK, CHUNK));

	snprintf(words, sizeof(words), "device 0 cannot read 4 bytes at %#llx: "
		 "unmapped, unbound or without cuMemSetAccess", at);
	EXPECT_WORDS(words, cuMemcpyDtoH(&value, at, 4));
	snprintf(words, sizeof(words),
		 "only a part of the mapping of 4194304 bytes at %#llx is in the range", at);
	EXPECT_WORDS(words, cuMemUnmap(at, CHUNK));
	EXPECT_WORDS(words, cuMemUnmap(at + CHUNK, CHUNK));
	snprintf(words, sizeof(words), "%#llx to %#llx begins or ends at no mapping, "
		 "and at no multiple of the granularity 2097152",
		 at + 2 * CHUNK + PAGE, at + 3 * CHUNK);
	EXPECT_WORDS(words, cuMemUnmap(at + 2 * CHUNK + PAGE, CHUNK - PAGE));
	EXPECT_WORDS("a memory is mapped as a whole: 4194304 bytes from offset 0",
		     cuMemMap(at + 2 * CHUNK, CHUNK, 0, own, 0));
	snprintf(words, sizeof(words), "nothing is mapped at %#llx", at + 2 * CHUNK);
	EXPECT_WORDS(words, cuMemSetAccess(at + 2 * CHUNK, CHUNK, &(CUmemAccessDesc) {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	}, 1));
	snprintf(words, sizeof(words), "no block starts at %#llx; what was mapped is unmapped", at);
	EXPECT_WORDS(words, cuMemFree(at));

	EXPECT_WORDS("it was not created to be exported as an fd "
		     "(requestedHandleTypes, of teams handleTypes)",
		     cuMemExportToShareableHandle(&fd, secret, SHAREABLE, 0));
	snprintf(words, sizeof(words), "%p is not an fd: pass it itself, not its address",
		 (void *)&fd);
	EXPECT_WORDS(words, cuMemImportFromShareableHandle(&own, &fd, SHAREABLE));
	EXPECT_WORDS("no handle 4711: never given out, or released", cuMemRelease(4711));
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_WORDS("no context is current: cuCtxSetCurrent() makes one", cuMemsetD8(at, 0, 1));
}

TEST_HARNESS_MAIN
