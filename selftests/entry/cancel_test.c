// SPDX-License-Identifier: MIT
/*
 * Threads that are cancelled in the library's calls. Whatever they were in: other
 * threads' calls, fork() and the log go on. What hangs is ended by the harness.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/bulk.h>
#include <memcast/group.h>
#include "log_lines.h"

/* What the rounds of calls work on */
static struct {
	CUdeviceptr at, other;		/* a chunk of memory, and nothing */
	CUmemGenericAllocationHandle memory, team;	/* complete, nothing bound */
	struct memcast_view view;	/* of memory here */
	char log[64];
} on;

/* Each does the calls of a group once. Return: did they all succeed? */

static bool ask(void)
{
	CUuuid uuid;
	size_t bytes;
	char name[64];
	int value, peer;

	return !cuInit(0) && !cuDeviceGetCount(&value) && !cuDeviceGet(&value, 1) &&
	       !cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0) &&
	       !cuDeviceGetName(name, sizeof(name), 0) && !cuDeviceGetUuid(&uuid, 0) &&
	       !cuDeviceTotalMem(&bytes, 0) && !cuDeviceCanAccessPeer(&peer, 0, 1) &&
	       !cuDriverGetVersion(&value);
}

static bool use_contexts(void)
{
	CUcontext context, primary;

	return !cuCtxCreate(&context, NULL, 0, 0) && !cuCtxSynchronize() &&
	       !cuCtxDestroy(context) && !cuDevicePrimaryCtxRetain(&primary, 1) &&
	       !cuCtxPushCurrent(primary) && !cuCtxPopCurrent(&context) &&
	       !cuDevicePrimaryCtxRelease(1);
}

static bool use_memory(void)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemAccessDesc desc = { prop.location, READWRITE };
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr at;

	return !cuMemCreate(&handle, CHUNK, &prop, 0) &&
	       !cuMemAddressReserve(&at, CHUNK, 0, 0, 0) && !cuMemMap(at, CHUNK, 0, handle, 0) &&
	       !cuMemSetAccess(at, CHUNK, &desc, 1) &&
	       !cuMemRetainAllocationHandle(&again, (void *)at) && !cuMemRelease(again) &&
	       !cuMemRelease(handle) && !cuMemUnmap(at, CHUNK) && !cuMemAddressFree(at, CHUNK);
}

static bool share(void)
{
	CUmemGenericAllocationHandle again;
	bool done;
	int fd;

	if (cuMemExportToShareableHandle(&fd, on.memory, SHAREABLE, 0))
		return false;
	done = !cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, SHAREABLE) &&
	       !cuMemRelease(again);
	close(fd);
	return done;
}

static bool use_teams(void)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE };
	CUmemGenericAllocationHandle team;
	const struct memcast_view *found;
	struct memcast_view view;
	CUdeviceptr at;
	size_t offset;

	return !cuMulticastCreate(&team, &prop) && !cuMulticastAddDevice(team, 0) &&
	       !cuMulticastAddDevice(team, 1) &&
	       !cuMulticastBindMem(team, 0, on.memory, 0, CHUNK, 0) &&
	       !cuMulticastUnbind(team, 0, 0, CHUNK) &&
	       !cuMulticastBindAddr(team, 0, on.at, CHUNK, 0) &&
	       !cuMemAddressReserve(&at, CHUNK, 0, 0, 0) && !cuMemMap(at, CHUNK, 0, team, 0) &&
	       !allow(at, CHUNK, 0, READWRITE) && (found = memcastViewAt(at, &offset)) &&
	       !memcastViewCreate(&view, team, 0, CHUNK) && !memcastViewDestroy(&view) &&
	       !cuMemUnmap(at, CHUNK) && !cuMemAddressFree(at, CHUNK) && !cuMemRelease(team);
}

static void wait_a_little(void *data)
{
	(void)data;
	usleep(200);
}

static bool use_streams(void)
{
	CUstream stream;
	CUevent event;
	float time;

	return !cuStreamCreate(&stream, 0) && !cuEventCreate(&event, 0) &&
	       !cuEventRecord(event, stream) &&
	       !cuLaunchHostFunc(stream, wait_a_little, NULL) &&
	       !cuStreamWriteValue32(stream, on.at, 1, 0) &&
	       !cuMemsetD32Async(on.at + 8, 7, 4, stream) && !cuEventRecord(event, stream) &&
	       !cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0) &&
	       !cuLaunchHostFunc(stream, wait_a_little, NULL) &&
	       !cuEventSynchronize(event) && !cuEventElapsedTime(&time, event, event) &&
	       cuStreamQuery(stream) <= CUDA_ERROR_NOT_READY && !cuStreamSynchronize(stream) &&
	       !cuStreamSynchronize(CU_STREAM_PER_THREAD) && !cuEventDestroy(event) &&
	       !cuStreamDestroy(stream);
}

static bool copy(void)
{
	CUDA_MEMCPY2D rows = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = on.at, .srcPitch = 512,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = on.at + 65536,
		.dstPitch = 512, .WidthInBytes = 100, .Height = 10,
	};
	uint32_t words[64] = {};

	return !cuMemcpyHtoD(on.at, words, sizeof(words)) &&
	       !cuMemcpyDtoH(words, on.at, sizeof(words)) &&
	       !cuMemcpyHtoDAsync(on.at, words, sizeof(words), NULL) && !cuMemcpy2D(&rows) &&
	       !cuMemsetD8(on.at, 1, 100) && !cuMemcpyDtoD(on.at + 4096, on.at, 4096);
}

static bool allocate(void)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUdeviceptr block, later;
	CUmemoryPool pool;
	unsigned int type;
	void *host;

	return !cuMemAlloc(&block, 5000) &&
	       !cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block) &&
	       !cuMemFree(block) && !cuMemHostAlloc(&host, 4096, 0) && !cuMemFreeHost(host) &&
	       !cuMemPoolCreate(&pool, &props) &&
	       !cuMemAllocFromPoolAsync(&later, 100, pool, NULL) && !cuMemFreeAsync(later, NULL) &&
	       !cuMemPoolTrimTo(pool, 0) && !cuMemPoolDestroy(pool);
}

static void hear_line(void *data, CUlogLevel level, char *message, size_t length)
{
	(void)data;
	(void)level;
	(void)message;
	(void)length;
	/* where a thread that may be cancelled would be */
	pthread_testcancel();
}

static bool use_log(void)
{
	CUlogsCallbackHandle handle;
	CUlogIterator end;
	char lines[4096];
	size_t size = sizeof(lines);

	fail_once();
	if (cuLogsRegisterCallback(hear_line, NULL, &handle))
		return false;
	fail_once();
	return !cuLogsCurrent(&end, 0) && !cuLogsDumpToFile(&end, on.log, 0) &&
	       !cuLogsDumpToMemory(NULL, lines, &size, 0) && !cuLogsUnregisterCallback(handle) &&
	       !truncate(on.log, 0);
}

static bool look_up(void)
{
	const char *text;
	void *function;

	return !cuGetProcAddress("cuMemMap", &function, 12000, 0, NULL) &&
	       cuGetProcAddress("cuMemMap", &function, 99999, 0, NULL) &&
	       !cuGetErrorName(CUDA_ERROR_UNKNOWN, &text) &&
	       !cuGetErrorString(CUDA_ERROR_UNKNOWN, &text);
}

static bool broadcast(void)
{
	struct memcast_group group;
	static const char text[256];

	return !memcastBroadcast(&on.view, 4096, text, sizeof(text)) &&
	       !memcastGroupInit(&group, &on.view, 8192, 0, 1) && !memcastBarrier(&group);
}

FIXTURE(cancelled)
{
	CUcontext context;
};

FIXTURE_VARIANT(cancelled)
{
	bool (*round)(void);
	int type;
};

/* Cancelled where a thread looks for it; the C library's calls promise no more than that. */
#define GROUP(name)								\
	FIXTURE_VARIANT_ADD(cancelled, name)					\
	{									\
		.round = name, .type = PTHREAD_CANCEL_DEFERRED,			\
	}

GROUP(ask);
GROUP(use_contexts);
GROUP(use_memory);
GROUP(share);
GROUP(use_teams);
GROUP(use_streams);
GROUP(copy);
GROUP(allocate);
GROUP(use_log);
GROUP(look_up);
GROUP(broadcast);

FIXTURE_SETUP(cancelled)
{
	static char replicas[2][16384] __attribute__((aligned(4096)));
	int fd;

	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&self->context));
	strcpy(on.log, "/tmp/memcast-cancel-XXXXXX");
	fd = mkstemp(on.log);
	ASSERT_LE(0, fd);
	close(fd);
	on.memory = new_memory(0, CHUNK);
	on.at = ADDRESS(mapped(on.memory, CHUNK, 0));
	on.team = complete_team(2, CHUNK);
	on.view = (struct memcast_view) {
		.replicas = 2, .bytes = sizeof(replicas[0]),
		.replica = { (void *)replicas[0], (void *)replicas[1] },
	};
}
NOTHING_LEFT(cancelled)

struct looper {
	const FIXTURE_VARIANT(cancelled) *variant;
	CUcontext context;
	unsigned int rounds;
};

static void *go_round(void *arg)
{
	struct looper *looper = arg;

	cuCtxSetCurrent(looper->context);
	pthread_setcanceltype(looper->variant->type, NULL);
	for (;;) {
		pthread_testcancel();
		looper->variant->round();
		__atomic_add_fetch(&looper->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* In a child of fork(), which may log and nothing else */
static void child_works(struct __test_metadata *_metadata)
{
	pid_t child = fork();

	if (!child) {
		if (!use_log())
			_exit(1);
		_exit(cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
	}
	ASSERT_LT(0, child);
	EXPECT_EQ(0, ended(child));
}

static void *do_all(void *context)
{
	static bool (*const rounds[])(void) = {
		ask, use_contexts, use_memory, share, use_teams, use_streams, copy, allocate,
		use_log, look_up, broadcast,
	};

	cuCtxSetCurrent(context);
	for (unsigned long i = 0; i < ARRAY_SIZE(rounds); i++)
		if (!rounds[i]())
			return (void *)(i + 1);
	return NULL;
}

/* Cancelled a little later each time, wherever it is; two at a time, that meet */
TEST_F(cancelled, while_it_calls)
{
	enum { THREADS = 2 };
	struct looper looper[THREADS];
	pthread_t thread[THREADS], last;
	void *ends;

	EXPECT_TRUE(variant->round());
	for (unsigned int i = 0; i < loops(12); i++) {
		for (int t = 0; t < THREADS; t++) {
			looper[t] = (struct looper) { variant, self->context, 0 };
			ASSERT_EQ(0, pthread_create(&thread[t], NULL, go_round, &looper[t]));
		}
		for (int t = 0; t < THREADS; t++) {
			while (__atomic_load_n(&looper[t].rounds, __ATOMIC_RELAXED) < 1 + i % 2)
				sched_yield();
			for (volatile unsigned int wait = 0; wait < 977 * i * (t + 1); wait++)
				;
			ASSERT_EQ(0, pthread_cancel(thread[t]));
		}
		child_works(_metadata);
		/* glibc 2.36 forgets to say PTHREAD_CANCELED; they end in no other way */
		for (int t = 0; t < THREADS; t++)
			ASSERT_EQ(0, pthread_join(thread[t], NULL));
	}
	child_works(_metadata);
	ASSERT_EQ(0, pthread_create(&last, NULL, do_all, self->context));
	ASSERT_EQ(0, pthread_join(last, &ends));
	EXPECT_EQ(NULL, ends);
	unlink(on.log);
}

TEST_HARNESS_MAIN
