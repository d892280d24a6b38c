// SPDX-License-Identifier: MIT
/*
 * The log, and what the environment changes: MEMCAST_ATTR and MEMCAST_INJECT. The
 * library reads the environment once, so what needs another one is run in a new
 * program: this one, told by ROLE what to do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include "memcast_test.h"

FIXTURE(log) { char unused; };
FIXTURE_SETUP(log) { }
NOTHING_LEFT(log)

static void fail_once(void)
{
	cuMemRelease(4711);
}

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

	EXPECT_INVALID(cuLogsRegisterCallback(NULL, NULL, &handle));
	ASSERT_OK(cuLogsRegisterCallback(hear_line, &first, &handle));
	ASSERT_OK(cuLogsRegisterCallback(hear_line, &second, &other));
	ASSERT_OK(cuInit(0));
	EXPECT_EQ(0, first.calls);
	fail_once();
	EXPECT_EQ(1, first.calls);
	EXPECT_EQ(1, second.calls);
	EXPECT_NE(NULL, strstr(first.text, "cuMemRelease(handle=4711): CUDA_ERROR_INVALID_VALUE: "));
	EXPECT_EQ(strlen(first.text), first.length);
	EXPECT_EQ(NULL, strchr(first.text, '\n'));

	ASSERT_OK(cuLogsUnregisterCallback(handle));
	fail_once();
	EXPECT_EQ(1, first.calls);
	EXPECT_EQ(2, second.calls);
	EXPECT_INVALID(cuLogsUnregisterCallback(handle));
	EXPECT_INVALID(cuLogsUnregisterCallback(NULL));
	EXPECT_OK(cuLogsUnregisterCallback(other));
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

/* A call that fails in a callback calls none; the callback cannot remove itself. */
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

static unsigned int count_lines(const char *text)
{
	unsigned int count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

TEST_F(log, memory)
{
	CUlogIterator start = 77, at;
	char buffer[4096];
	size_t size = sizeof(buffer);

	EXPECT_INVALID(cuLogsCurrent(NULL, 0));
	EXPECT_INVALID(cuLogsCurrent(&start, 1));
	EXPECT_EQ(77, start);
	ASSERT_OK(cuLogsCurrent(&start, 0));

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
	EXPECT_NE(NULL, strstr(buffer, "cuMemRelease(handle=4711): CUDA_ERROR_NOT_INITIALIZED: "));

	/* from its end: nothing new; without one: all, with those of the start */
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(0, size);
	size = sizeof(buffer);
	ASSERT_OK(cuLogsDumpToMemory(NULL, buffer, &size, 0));
	EXPECT_EQ(4, count_lines(buffer));
}

/* Too small for all: a note, and the last lines. For none: an error. */
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
	EXPECT_INVALID(cuLogsDumpToMemory(&at, buffer, &size, 0));
	EXPECT_EQ(0, size);
	EXPECT_EQ(0, at);
	size = 0;
	EXPECT_INVALID(cuLogsDumpToMemory(NULL, buffer, &size, 0));
	EXPECT_INVALID(cuLogsDumpToMemory(NULL, NULL, &whole, 0));
	EXPECT_INVALID(cuLogsDumpToMemory(NULL, buffer, NULL, 0));
	EXPECT_INVALID(cuLogsDumpToMemory(NULL, buffer, &whole, 1));
	at = 1000;
	EXPECT_INVALID(cuLogsDumpToMemory(&at, buffer, &whole, 0));
}

/* 100 lines are kept, and it is said that there were more. */
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

static void read_file(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");

	text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
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
	EXPECT_INVALID(cuLogsDumpToFile(&at, NULL, 0));
	EXPECT_INVALID(cuLogsDumpToFile(&at, path, 1));
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuLogsDumpToFile(&at, "/nowhere/at/all", 0));
	unlink(path);
}

/* ---- in a program of its own ---- */

static int fail_thrice(void)
{
	cuInit(0);
	fail_once();
	cuMemMap(0, 4096, 1, 0, 0);
	return cuMemRelease(4711) == CUDA_ERROR_INVALID_VALUE;
}

static int attribute(CUdevice device, CUdevice_attribute attribute)
{
	int value = -77;

	cuDeviceGetAttribute(&value, attribute, device);
	return value;
}

static int see_attributes(void)
{
	char bus[20] = "";

	cuInit(0);
	cuDeviceGetPCIBusId(bus, sizeof(bus), 1);
	return attribute(0, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) == 0 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) == 1 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID) == -5 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9 &&
	       !strcmp(bus, "ca57:ab:00.0");
}

static int see_failures(void)
{
	size_t bytes;
	int (*load)(void) = dlsym(RTLD_DEFAULT, "cuModuleLoad");
	unsigned int i;
	CUdevice device;

	/* what is not supported, and what needs no cuInit() */
	if (load() != CUDA_ERROR_INVALID_SOURCE || load() != CUDA_ERROR_NOT_INITIALIZED)
		return false;
	if (cuDriverGetVersion(&device) != CUDA_ERROR_STUB_LIBRARY)
		return false;
	for (i = 0; i < 3; i++)
		if (cuInit(0) != CUDA_ERROR_SYSTEM_NOT_READY)
			return false;
	if (cuInit(0) != CUDA_SUCCESS)
		return false;
	/* the name stands for all versions; every call */
	for (i = 0; i < 10; i++)
		if (cuDeviceTotalMem(&bytes, 0) != CUDA_ERROR_UNKNOWN)
			return false;
	/* two are let through */
	return cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
	       cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
	       cuDeviceGet(&device, 0) == CUDA_ERROR_INVALID_DEVICE &&
	       cuDeviceGet(&device, 0) == CUDA_SUCCESS;
}

static int start(void)
{
	return cuInit(0) == CUDA_SUCCESS;
}

static const struct {
	const char *name;
	int (*run)(void);
} roles[] = {
	{ "fail_thrice", fail_thrice },
	{ "see_attributes", see_attributes },
	{ "see_failures", see_failures },
	{ "start", start },
};

__attribute__((constructor))
static void play_role(void)
{
	const char *role = getenv("ROLE");
	unsigned int i;

	for (i = 0; role && i < ARRAY_SIZE(roles); i++)
		if (!strcmp(role, roles[i].name))
			exit(roles[i].run() ? 0 : 1);
}

/* Return: its exit status; what it says on stderr is in @said. */
#define run(role, setting, said)	run_(_metadata, role, setting, said, sizeof(said))
static int run_(struct __test_metadata *_metadata, const char *role,
		const char *setting, char *said, size_t size)
{
	char library[256], name[40];
	char *environment[] = { name, (char *)setting, library, NULL };
	char *arguments[] = { "log_test", NULL };
	int ends[2], status;
	ssize_t length = 0, part;
	pid_t pid;

	snprintf(name, sizeof(name), "ROLE=%s", role);
	snprintf(library, sizeof(library), "LD_LIBRARY_PATH=%s",
		 getenv("LD_LIBRARY_PATH") ?: "");
	ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		execve("/proc/self/exe", arguments, environment);
		_exit(127);
	}
	close(ends[1]);
	while ((part = read(ends[0], said + length, size - 1 - length)) > 0)
		length += part;
	said[length] = '\0';
	close(ends[0]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST_F(log, cuda_log_file)
{
	char said[4096], text[4096], setting[64] = "CUDA_LOG_FILE=/tmp/memcast-log-XXXXXX";
	char *path = setting + strlen("CUDA_LOG_FILE=");

	EXPECT_EQ(0, run("fail_thrice", "CUDA_LOG_FILE=stderr", said));
	EXPECT_EQ(3, count_lines(said));
	EXPECT_NE(NULL, strstr(said, "cuMemMap(address=0, size=4096, offset=1, handle=0, flags=0): CUDA_ERROR_INVALID_VALUE: offset must be 0\n"))
		TH_LOG("%s", said);
	EXPECT_EQ(NULL, strstr(said, "no reason given"));

	ASSERT_LE(0, mkstemp(path));
	EXPECT_EQ(0, run("fail_thrice", setting, said));
	EXPECT_STREQ("", said);
	read_file(text, sizeof(text), path);
	EXPECT_EQ(3, count_lines(text));
	unlink(path);

	EXPECT_EQ(0, run("fail_thrice", "CUDA_LOG_FILE=/nowhere/at/all", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run("fail_thrice", "UNRELATED=1", said));
	EXPECT_STREQ("", said);
}

TEST_F(log, memcast_attr)
{
	char said[4096];

	EXPECT_EQ(0, run("see_attributes", "MEMCAST_ATTR=MULTICAST_SUPPORTED=0,1:MULTICAST_SUPPORTED=1,"
			 "WARP_SIZE=0x40,HOST_NUMA_ID=-5,1:PCI_BUS_ID=0xab", said));
	EXPECT_STREQ("", said);
}

/* What is wrong is reported, once each, and the rest counts. */
TEST_F(log, memcast_attr_wrong)
{
	char said[4096];

	EXPECT_EQ(0, run("see_attributes", "MEMCAST_ATTR=MULTICAST_SUPPORTED=0,1:MULTICAST_SUPPORTED=1,"
			 "NO_SUCH=1,WARP_SIZE,WARP_SIZE=,WARP_SIZE=7x,x:WARP_SIZE=1,-1:WARP_SIZE=1,"
			 "WARP_SIZE=99999999999,"
			 "WARP_SIZE=64,HOST_NUMA_ID=-5,1:PCI_BUS_ID=0xab", said));
	EXPECT_EQ(7, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_NE(NULL, strstr(said, "memcast: MEMCAST_ATTR: 'NO_SUCH=1' is ignored: no such attribute\n"));
}

TEST_F(log, memcast_inject)
{
	char said[4096];

	EXPECT_EQ(0, run("see_failures", "MEMCAST_INJECT=cuInit:802*3,cuDeviceTotalMem:999,"
			 "cuDeviceGet:0*2,cuDeviceGet:101*1,"
			 "cuModuleLoad:300*1,cuDriverGetVersion:34", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run("start", "MEMCAST_INJECT=cuNoSuch:1,cuInit:12345,cuInit,cuInit:,cuInit:1*,"
			 "cuInit:1*x,cuInit:1*0", said));
	EXPECT_EQ(6, count_lines(said))
		TH_LOG("%s", said);
}

TEST_HARNESS_MAIN
