// SPDX-License-Identifier: MIT
/*
 * Threads that are cancelled in the library's calls. Whichever call they were in, other
 * threads' calls, fork() and the log go on. run.sh ends a program that hangs.
 */
#include <memcast/bulk.h>
#include <memcast/group.h>
#include "cancel_fixture.h"

static struct memcast_view two;		/* two replicas in this process's own memory */

/* Each round makes the calls of a group once. Return: did they all succeed? */

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
	return shut(fd) && done;
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

	return !memcastBroadcast(&two, 4096, text, sizeof(text)) &&
	       !memcastGroupInit(&group, &two, 8192, 0, 1) && !memcastBarrier(&group);
}

ROUND(ask);
ROUND(use_contexts);
ROUND(use_memory);
ROUND(share);
ROUND(use_teams);
ROUND(use_streams);
ROUND(copy);
ROUND(allocate);
ROUND(use_log);
ROUND(look_up);
ROUND(broadcast);

bool (*const rounds[])(void) = {
	ask, use_contexts, use_memory, share, use_teams, use_streams, copy, allocate, use_log,
	look_up, broadcast, NULL,
};

static void prepare_early(struct __test_metadata *_metadata)
{
	static char replicas[2][16384] __attribute__((aligned(4096)));

	(void)_metadata;
	two = (struct memcast_view) {
		.replicas = 2, .bytes = sizeof(replicas[0]),
		.replica = { (void *)replicas[0], (void *)replicas[1] },
	};
}

static void prepare(struct __test_metadata *_metadata)
{
	(void)_metadata;
}

TEST_HARNESS_MAIN
