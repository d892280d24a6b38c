// SPDX-License-Identifier: MIT
/*
 * Threads that are cancelled in calls for memory that is managed, registered, another
 * driver's, or another process's; and in calls for another process's events.
 */
#include <sys/mman.h>
#include "cancel_fixture.h"

#define LAZY	CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define SHARED	(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)

/* IPC handles of another process's memory and event */
static struct handles {
	CUipcMemHandle memory;
	CUipcEventHandle event;
} *others;

/* Each round makes the calls of a group once. Return: did they all succeed? */

static bool manage(void)
{
	const CUmemLocation here = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUdeviceptr memory;
	int value;

	return !cuMemAllocManaged(&memory, 4 * PAGE, CU_MEM_ATTACH_GLOBAL) &&
	       !cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, here) &&
	       !cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here) &&
	       !cuMemPrefetchAsync(memory, PAGE, here, 0, CU_STREAM_PER_THREAD) &&
	       !cuStreamSynchronize(CU_STREAM_PER_THREAD) &&
	       !cuMemRangeGetAttribute(&value, sizeof(value),
				       CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, PAGE) &&
	       !cuMemFree(memory);
}

static bool register_memory(void)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int flags;
	CUdeviceptr at;

	return memory != MAP_FAILED && !cuMemHostRegister(memory, PAGE, 0) &&
	       !cuMemHostGetDevicePointer(&at, memory, 0) &&
	       !cuMemHostGetFlags(&flags, memory) &&
	       !cuMemsetD8(at, 1, 8) && !cuMemHostUnregister(memory) && !munmap(memory, PAGE);
}

static bool export_range(CUdeviceptr at, int *fd)
{
	return !cuMemGetHandleForAddressRange(fd, at, CHUNK,
					      CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
}

/* Imports a dma-buf of memcast's, as if it were another driver's. */
static bool use_external(void)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, .size = CHUNK,
	};
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = { .size = CHUNK / 2 };
	CUmemGenericAllocationHandle handle;
	CUexternalMemory external;
	CUdeviceptr block, at;

	return !cuMemAlloc(&block, CHUNK) && export_range(block, &desc.handle.fd) &&
	       !cuImportExternalMemory(&external, &desc) &&
	       !cuExternalMemoryGetMappedBuffer(&at, external, &part) &&
	       !cuMemImportFromShareableHandle(&handle, (void *)(long)desc.handle.fd,
					       SHAREABLE) &&
	       !cuMemRelease(handle) && shut(desc.handle.fd) &&
	       !cuDestroyExternalMemory(external) && !cuMemFree(at) && !cuMemFree(block);
}

static bool open_memory(void)
{
	CUipcMemHandle own;
	CUdeviceptr block, at;

	return !cuMemAlloc(&block, PAGE) && !cuIpcGetMemHandle(&own, block) &&
	       !cuMemFree(block) && !cuIpcOpenMemHandle(&at, others->memory, LAZY) &&
	       !cuMemsetD32(at, 1, 1) && !cuIpcCloseMemHandle(at);
}

static bool open_events(void)
{
	CUipcEventHandle handle;
	CUevent own, opened;

	return !cuEventCreate(&own, SHARED) && !cuIpcGetEventHandle(&handle, own) &&
	       !cuIpcOpenEventHandle(&opened, others->event) &&
	       !cuEventRecord(own, CU_STREAM_PER_THREAD) &&
	       !cuStreamWaitEvent(CU_STREAM_PER_THREAD, opened, 0) &&
	       !cuEventSynchronize(own) && cuEventQuery(opened) <= CUDA_ERROR_NOT_READY &&
	       !cuEventDestroy(opened) && !cuEventDestroy(own);
}

static bool share_pools(void)
{
	const CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUstream stream = CU_STREAM_PER_THREAD;
	CUdeviceptr block, imported;
	CUmemPoolPtrExportData data;
	CUmemoryPool pool, other;
	cuuint64_t keep = CHUNK;
	int fd;

	return !cuMemPoolCreate(&pool, &props) &&
	       !cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep) &&
	       !cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0) &&
	       !cuMemPoolImportFromShareableHandle(&other, (void *)(long)fd, SHAREABLE, 0) &&
	       shut(fd) && !cuMemAllocFromPoolAsync(&block, 100, pool, stream) &&
	       !cuMemPoolExportPointer(&data, block) &&
	       !cuMemPoolImportPointer(&imported, other, &data) &&
	       !cuMemFreeAsync(imported, stream) && !cuMemFreeAsync(block, stream) &&
	       !cuStreamSynchronize(stream) && !cuMemPoolDestroy(other) &&
	       !cuMemPoolDestroy(pool);
}

ROUND(manage);
ROUND(register_memory);
ROUND(use_external);
ROUND(open_memory);
ROUND(open_events);
ROUND(share_pools);

bool (*const rounds[])(void) = {
	manage, register_memory, use_external, open_memory, open_events, share_pools, NULL,
};

/* Forks a process that shares its memory and event by handles, and runs until the test ends. */
static void prepare_early(struct __test_metadata *_metadata)
{
	CUdeviceptr block;
	CUevent event;
	int link;
	pid_t pid;

	others = mmap(NULL, sizeof(*others), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ASSERT_NE(MAP_FAILED, others);
	pid = peer_fork(&link);
	if (!pid) {
		cuda_start(0);
		ASSERT_OK(cuMemAlloc(&block, PAGE));
		ASSERT_OK(cuIpcGetMemHandle(&others->memory, block));
		ASSERT_OK(cuEventCreate(&event, SHARED));
		ASSERT_OK(cuIpcGetEventHandle(&others->event, event));
		send_number(link, 0);
		for (;;)
			pause();
	}
	receive_number(link);
}

static void prepare(struct __test_metadata *_metadata)
{
	(void)_metadata;
}

TEST_HARNESS_MAIN
