// SPDX-License-Identifier: MIT
/* Every call before cuInit() and after fork(), /dev/memcast's absence, and names of errors. */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

FIXTURE(process) { char unused; };
FIXTURE_SETUP(process) { }
NOTHING_LEFT(process)

/* Every function that needs cuInit(), with arguments that it must not look at */
#define EVERY_CALL(CALL)						\
	CALL(cuDeviceGet(NULL, 0))					\
	CALL(cuDeviceGetAttribute(NULL, 0, 0))				\
	CALL(cuDeviceGetCount(NULL))					\
	CALL(cuDeviceGetName(NULL, 0, 0))				\
	CALL(cuDeviceGetUuid(NULL, 0))					\
	CALL(cuDeviceTotalMem(NULL, 0))					\
	CALL(cuDevicePrimaryCtxGetState(0, NULL, NULL))			\
	CALL(cuDevicePrimaryCtxRelease(0))				\
	CALL(cuDevicePrimaryCtxReset(0))				\
	CALL(cuDevicePrimaryCtxRetain(NULL, 0))				\
	CALL(cuDevicePrimaryCtxSetFlags(0, 0))				\
	CALL(cuCtxCreate(NULL, NULL, 0, 0))				\
	CALL(cuCtxDestroy((CUcontext)1))				\
	CALL(cuCtxGetApiVersion(NULL, NULL))				\
	CALL(cuCtxGetCurrent(NULL))					\
	CALL(cuCtxGetDevice(NULL))					\
	CALL(cuCtxGetFlags(NULL))					\
	CALL(cuCtxPopCurrent(NULL))					\
	CALL(cuCtxPushCurrent(NULL))					\
	CALL(cuCtxSetCurrent(NULL))					\
	CALL(cuCtxSynchronize())					\
	CALL(cuMemCreate(NULL, 0, NULL, 0))				\
	CALL(cuMemExportToShareableHandle(NULL, 0, 0, 0))		\
	CALL(cuMemGetAllocationGranularity(NULL, NULL, 0))		\
	CALL(cuMemGetAllocationPropertiesFromHandle(NULL, 0))		\
	CALL(cuMemGetInfo(NULL, NULL))					\
	CALL(cuMemImportFromShareableHandle(NULL, NULL, 0))		\
	CALL(cuMemRelease(0))						\
	CALL(cuMemRetainAllocationHandle(NULL, NULL))			\
	CALL(cuMemAddressFree(0, 0))					\
	CALL(cuMemAddressReserve(NULL, 0, 0, 0, 0))			\
	CALL(cuMemGetAccess(NULL, NULL, 0))				\
	CALL(cuMemMap(0, 0, 0, 0, 0))					\
	CALL(cuMemSetAccess(0, 0, NULL, 0))				\
	CALL(cuMemUnmap(0, 0))						\
	CALL(cuMulticastAddDevice(0, 0))				\
	CALL(cuMulticastBindAddr(0, 0, 0, 0, 0))			\
	CALL(cuMulticastBindMem(0, 0, 0, 0, 0, 0))			\
	CALL(cuMulticastCreate(NULL, NULL))				\
	CALL(cuMulticastGetGranularity(NULL, NULL, 0))			\
	CALL(cuMulticastUnbind(0, 0, 0, 0))				\
	CALL(cuMemcpy(0, 0, 0))						\
	CALL(cuMemcpyDtoD(0, 0, 0))					\
	CALL(cuMemcpyDtoH(NULL, 0, 0))					\
	CALL(cuMemcpyHtoD(0, NULL, 0))					\
	CALL(cuMemsetD8(0, 0, 0))					\
	CALL(cuMemsetD16(0, 0, 0))					\
	CALL(cuMemsetD32(0, 0, 0))

#define EXPECT_NOT_READY(call)	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, call);

TEST_F(process, before_init)
{
	EVERY_CALL(EXPECT_NOT_READY)
	/* these calls refuse a NULL handle before they look whether cuInit() was called */
	EXPECT_REASON(cuCtxDestroy(NULL), "NULL handle");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventSynchronize(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventDestroy(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(NULL));
}

TEST_F(process, what_needs_no_init)
{
	const char *text = NULL;
	int version = 0;
	void *function;

	EXPECT_OK(cuDriverGetVersion(&version));
	EXPECT_LE(13000, version);
	EXPECT_REASON(cuDriverGetVersion(NULL), "NULL output");
	EXPECT_OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &text));
	EXPECT_STREQ("CUDA_ERROR_NOT_INITIALIZED", text);
	EXPECT_OK(cuGetErrorString(CUDA_ERROR_NOT_INITIALIZED, &text));
	EXPECT_LT(0, strlen(text));
	EXPECT_OK(cuGetProcAddress("cuInit", &function, 12000, 0, NULL));
	EXPECT_EQ((void *)cuInit, function);
}

TEST_F(process, init_flags)
{
	int count = 0;

	EXPECT_REASON(cuInit(1), "flags must be #");
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
	EXPECT_OK(cuInit(0));
	EXPECT_OK(cuInit(0));
	EXPECT_OK(cuDeviceGetCount(&count));
	EXPECT_LT(0, count);
}

/* A child of fork() has none of its parent's mappings, and every call fails there. */
TEST_F(process, after_fork)
{
	volatile uint32_t *at;
	int count = 0;
	pid_t child;

	cuda_start(0);
	at = mapped(new_memory(0, CHUNK), CHUNK, 0);
	*at = 1;
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuInit(0));
		EVERY_CALL(EXPECT_NOT_READY)
		EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
		_exit(0);
	}
	EXPECT_EQ(0, reap_child(child));
	/* the parent's calls and mappings still work */
	EXPECT_OK(cuDeviceGetCount(&count));
	EXPECT_EQ(0, try_store(at, 2));
}

/* Parent and child can both call cuInit(), if neither has before fork(). */
TEST_F(process, init_in_two_processes)
{
	int link, count = 0;
	pid_t peer = peer_fork(&link);

	cuda_start(peer ? 0 : 1);
	EXPECT_OK(cuDeviceGetCount(&count));
	if (!peer)
		_exit(0);
	EXPECT_EQ(0, reap_child(peer));
}

/* Mounts an empty directory at @place, for this process only. */
static void own_dev(struct __test_metadata *_metadata, const char *place)
{
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(place, place, "tmpfs", 0, NULL))
		SKIP(_exit(KSFT_SKIP), "not allowed to mount");
}

TEST_F(process, no_device)
{
	own_dev(_metadata, "/dev");
	EXPECT_CU(CUDA_ERROR_NO_DEVICE, cuInit(0));
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(NULL));
}

TEST_F(process, device_not_permitted)
{
	int fd;

	own_dev(_metadata, "/dev");
	fd = open("/dev/memcast", O_CREAT | O_WRONLY, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setuid(65534));
	EXPECT_CU(CUDA_ERROR_OPERATING_SYSTEM, cuInit(0));
}

static int file_with(const char *path, const char *word)
{
	static char text[4096];
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[got] = '\0';
	return !!strstr(text, word);
}

/* CUDA_LOG_FILE gets the failed call, and the kernel's reason in words. */
TEST_F(process, log_says_why)
{
	CUmemGenericAllocationHandle handle;
	CUmemAllocationProp prop = memory_on(0);
	char path[] = "/tmp/memcast-log-XXXXXX";
	int fd = mkstemp(path);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	cuda_start(0);
	EXPECT_REASON(cuMemCreate(&handle, 4096, &prop, 0),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_TRUE(file_with(path, "cuMemCreate"));
	EXPECT_TRUE(file_with(path, "CUDA_ERROR_INVALID_VALUE"));
	EXPECT_TRUE(file_with(path, "4096 is not a multiple of the granularity 2097152"));
	unlink(path);
}

/* As daemons do: they close all files, and open their own. A child leaves those alone. */
TEST_F(process, files_of_a_daemon)
{
	int fd, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t child;

	ASSERT_LE(0, null);
	for (int i = 0; i < 2; i++) {
		cuda_start(0);
		fd = raw_library_fd();
		ASSERT_LE(0, fd);
		if (i)
			ASSERT_EQ(fd, dup2(null, fd));
		child = fork();
		if (!child)
			_exit(fcntl(fd, F_GETFD) >= 0);
		/* the first time it is the library's, which a child does not keep open */
		EXPECT_EQ(i << 8, reap_child(child));
	}
}

/* Without stdin the file gets another number: one that no program gives away unasked */
TEST_F(process, never_stdin)
{
	int before = dup(STDIN_FILENO);

	close(STDIN_FILENO);
	EXPECT_OK(cuInit(0));
	EXPECT_LT(STDERR_FILENO, raw_library_fd());
	EXPECT_LT(fcntl(STDIN_FILENO, F_GETFD), 0);
	EXPECT_EQ(FD_CLOEXEC, fcntl(raw_library_fd(), F_GETFD));
	if (before >= 0)
		dup2(before, STDIN_FILENO);
}

/* Programs compare the sentences, which are those of the runtime where it has the error. */
TEST_F(process, error_strings)
{
	static const struct {
		CUresult result;
		const char *sentence;
	} known[] = {
		{ CUDA_SUCCESS, "no error" },
		{ CUDA_ERROR_INVALID_VALUE, "invalid argument" },
		{ CUDA_ERROR_OUT_OF_MEMORY, "out of memory" },
		{ CUDA_ERROR_NOT_INITIALIZED, "initialization error" },
		{ CUDA_ERROR_DEINITIALIZED, "driver shutting down" },
		{ CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected" },
		{ CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal" },
		{ CUDA_ERROR_INVALID_CONTEXT, "invalid device context" },
		{ CUDA_ERROR_INVALID_HANDLE, "invalid resource handle" },
		{ CUDA_ERROR_NOT_READY, "device not ready" },
		{ CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered" },
		{ CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure" },
		{ CUDA_ERROR_NOT_SUPPORTED, "operation not supported" },
		{ CUDA_ERROR_UNKNOWN, "unknown error" },
	};
	const char *sentence;

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		EXPECT_OK(cuGetErrorString(known[i].result, &sentence));
		EXPECT_STREQ(known[i].sentence, sentence);
	}
}

TEST_F(process, error_names)
{
	const char *name = "";

	EXPECT_OK(cuGetErrorName(CUDA_SUCCESS, &name));
	EXPECT_STREQ("CUDA_SUCCESS", name);
	EXPECT_OK(cuGetErrorName(CUDA_ERROR_UNKNOWN, &name));
	EXPECT_STREQ("CUDA_ERROR_UNKNOWN", name);
	EXPECT_REASON(cuGetErrorName(123456, &name), "no such result");
	EXPECT_EQ(NULL, name);
	EXPECT_REASON(cuGetErrorString(123456, &name), "no such result");
	EXPECT_REASON(cuGetErrorName(CUDA_SUCCESS, NULL), "NULL output");
	EXPECT_REASON(cuGetErrorString(CUDA_SUCCESS, NULL), "NULL output");
}

TEST_HARNESS_MAIN
