// SPDX-License-Identifier: MIT
/*
 * A whole story of calls is told again and again: each time the kernel fails one later allocation
 * or user copy, until none is left to fail. A call that met the failure changes nothing, so it
 * succeeds when repeated, and at the end nothing is left. Needs the fault injection of a debug
 * kernel, and root.
 */
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <memcast/view.h>
#include "fail_fixture.h"

static bool armed;	/* a failure is asked for */
static bool has_failed;

static void arm(unsigned long n)
{
	char text[24];

	has_failed = false;
	armed = pwrite(failures, text, snprintf(text, sizeof(text), "%lu", n), 0) > 0;
}

/* Ends the request for a failure. Return: has it happened? */
static bool disarm(void)
{
	char text[24] = "";

	/* this read is itself a user copy, which may be the one to fail */
	if (pread(failures, text, sizeof(text) - 1, 0) < 0)
		return has_failed = true;
	armed = false;
	while (pwrite(failures, "0", 1, 0) != 1)
		;
	return has_failed = text[0] == '0';
}

/* A call fails at most once, by the failure that was asked for; repeated, it succeeds. */
#define STEP(call)							\
do {									\
	CUresult result_ = (call);					\
									\
	if (result_ != CUDA_SUCCESS && armed) {				\
		ASSERT_EQ(true, disarm()) TH_LOG("%s: %d", #call, result_); \
		result_ = (call);					\
	}								\
	ASSERT_OK(result_) TH_LOG("%s", #call);				\
} while (0)

#define STORY(name)	\
	static void name(struct __test_metadata *_metadata)

STORY(memory_of_a_device)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr at;

	STEP(cuMemCreate(&handle, 2 * CHUNK, &prop, 0));
	STEP(cuMemAddressReserve(&at, 4 * CHUNK, 0, 0, 0));
	STEP(cuMemMap(at, 2 * CHUNK, 0, handle, 0));
	STEP(allow(at, 2 * CHUNK, 0, READWRITE));
	STEP(cuMemRetainAllocationHandle(&again, (void *)at));
	STEP(cuMemRelease(again));
	*(volatile uint32_t *)at = 1;
	STEP(cuMemsetD32(at, 7, CHUNK / 2));
	STEP(cuMemcpyDtoD(at + CHUNK, at, CHUNK));
	STEP(cuMemUnmap(at, 2 * CHUNK));
	STEP(cuMemAddressFree(at, 4 * CHUNK));
	STEP(cuMemRelease(handle));
}

STORY(memory_of_the_host)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 },
	};
	CUmemGenericAllocationHandle handle;

	STEP(cuMemCreate(&handle, 3 * CHUNK, &prop, 0));
	STEP(cuMemRelease(handle));
}

STORY(team_with_views)
{
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = 4 * CHUNK, .handleTypes = SHAREABLE,
	};
	CUmemAllocationProp of[2] = { memory_on(0), memory_on(1) };
	CUmemGenericAllocationHandle team, part[2];
	struct memcast_view view;
	CUdeviceptr at;
	int i;

	STEP(cuMulticastCreate(&team, &prop));
	for (i = 0; i < 2; i++) {
		STEP(cuMulticastAddDevice(team, i));
		STEP(cuMemCreate(&part[i], 2 * CHUNK, &of[i], 0));
	}
	for (i = 0; i < 2; i++)
		STEP(cuMulticastBindMem(team, CHUNK, part[i], 0, 2 * CHUNK, 0));
	STEP(cuMemAddressReserve(&at, 4 * CHUNK, 0, 0, 0));
	STEP(cuMemMap(at, 4 * CHUNK, 0, team, 0));
	STEP(allow(at, 4 * CHUNK, 0, READWRITE));
	STEP(cuMemsetD8(at + CHUNK, 3, 2 * CHUNK));
	STEP(memcastViewCreate(&view, team, 0, 4 * CHUNK));
	*(volatile uint32_t *)(view.replica[1] + CHUNK) = 5;
	STEP(memcastViewDestroy(&view));
	STEP(cuMulticastUnbind(team, 0, CHUNK, 2 * CHUNK));
	STEP(cuMulticastUnbind(team, 1, CHUNK, 2 * CHUNK));
	STEP(cuMemUnmap(at, 4 * CHUNK));
	STEP(cuMemAddressFree(at, 4 * CHUNK));
	STEP(cuMemRelease(team));
	for (i = 0; i < 2; i++)
		STEP(cuMemRelease(part[i]));
}

STORY(bind_by_address)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = 2 * CHUNK };
	CUmemAllocationProp on = memory_on(0);
	CUmemGenericAllocationHandle team, part;
	CUdeviceptr at;

	STEP(cuMulticastCreate(&team, &prop));
	STEP(cuMulticastAddDevice(team, 0));
	STEP(cuMulticastAddDevice(team, 1));
	STEP(cuMemCreate(&part, CHUNK, &on, 0));
	STEP(cuMemAddressReserve(&at, 2 * CHUNK, 0, 0, 0));
	STEP(cuMemMap(at, CHUNK, 0, part, 0));
	STEP(cuMemMap(at + CHUNK, CHUNK, 0, part, 0));
	STEP(allow(at, 2 * CHUNK, 0, READWRITE));
	STEP(cuMulticastBindAddr(team, 0, at, 2 * CHUNK, 0));
	STEP(cuMemRelease(team));
	STEP(cuMemUnmap(at, 2 * CHUNK));
	STEP(cuMemAddressFree(at, 2 * CHUNK));
	STEP(cuMemRelease(part));
}

STORY(shared_by_fd)
{
	const CUmemRangeHandleType range = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle, imported;
	volatile uint32_t *shown;
	int fd, part;
	CUdeviceptr at;

	STEP(cuMemCreate(&handle, CHUNK, &prop, 0));
	STEP(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	STEP(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd, SHAREABLE));
	STEP(cuMemAddressReserve(&at, CHUNK, 0, 0, 0));
	STEP(cuMemMap(at, CHUNK, 0, imported, 0));
	STEP(allow(at, CHUNK, 0, READWRITE));
	STEP(cuMemGetHandleForAddressRange(&part, at, CHUNK / 2, range, 0));
	do {
		shown = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	} while (shown == MAP_FAILED && armed && disarm());
	ASSERT_NE(MAP_FAILED, shown);
	*shown = 9;
	EXPECT_EQ(9, *(volatile uint32_t *)at);
	munmap((void *)shown, CHUNK);
	close(part);
	close(fd);
	STEP(cuMemUnmap(at, CHUNK));
	STEP(cuMemAddressFree(at, CHUNK));
	STEP(cuMemRelease(imported));
	STEP(cuMemRelease(handle));
}

/* For the module, the dma-buf of a range is as foreign as another driver's. */
STORY(foreign_memory)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
		.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD, .size = CHUNK,
	};
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = { .offset = 5, .size = CHUNK / 2 };
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE,
	};
	CUmemGenericAllocationHandle imported, team;
	CUexternalMemory external;
	CUdeviceptr at, window;
	int fd, again;

	STEP(cuMemAlloc(&at, CHUNK));
	STEP(cuMemGetHandleForAddressRange(&fd, at, CHUNK,
					   CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	STEP(cuMemFree(at));
	desc.handle.fd = fd;
	STEP(cuImportExternalMemory(&external, &desc));
	STEP(cuExternalMemoryGetMappedBuffer(&at, external, &part));
	STEP(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd, SHAREABLE));
	STEP(cuMemExportToShareableHandle(&again, imported, SHAREABLE, 0));
	STEP(cuMulticastCreate(&team, &prop));
	STEP(cuMulticastAddDevice(team, 0));
	STEP(cuMulticastAddDevice(team, 1));
	STEP(cuMulticastBindMem_v2(team, 1, 0, imported, 0, CHUNK, 0));
	STEP(cuMemAddressReserve(&window, CHUNK, 0, 0, 0));
	STEP(cuMemMap(window, CHUNK, 0, team, 0));
	STEP(allow(window, CHUNK, 0, READWRITE));
	STEP(cuMemsetD8(window, 3, CHUNK));
	EXPECT_EQ(3, *(volatile uint8_t *)(at + 4));
	STEP(cuMemcpyDtoD(at + 1, window, 1000));
	close(fd);
	close(again);
	STEP(cuMemRelease(imported));
	STEP(cuMemUnmap(window, CHUNK));
	STEP(cuMemAddressFree(window, CHUNK));
	STEP(cuMemRelease(team));
	STEP(cuMemFree(at));
	/* only this test makes a release fail, by its argument's copy: the library does not tell */
	if (armed)
		disarm();
	ASSERT_OK(cuDestroyExternalMemory(external));
}

/* A fault that gets no page for the dma-buf of a team is a SIGBUS. */
STORY(team_by_fd)
{
	struct dma_buf_sync end = { .flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW };
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE,
	};
	CUmemGenericAllocationHandle team;
	volatile uint32_t *shown;
	int fd, error, i;

	STEP(cuMulticastCreate(&team, &prop));
	STEP(cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0));
	do {
		shown = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	} while (shown == MAP_FAILED && armed && disarm());
	ASSERT_NE(MAP_FAILED, shown);
	for (i = 0; i < 3; i++) {
		do {
			error = try_store(shown + i * 1024, i);
		} while (error == SIGBUS && armed && disarm());
		ASSERT_EQ(0, error);
	}
	do {
		error = ioctl(fd, DMA_BUF_IOCTL_SYNC, &end);
	} while (error && armed && disarm());
	ASSERT_EQ(0, error);
	munmap((void *)shown, CHUNK);
	close(fd);
	STEP(cuMemRelease(team));
}

STORY(fabric_handle)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle, imported;
	CUmemFabricHandle fabric;

	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
	STEP(cuMemCreate(&handle, CHUNK, &prop, 0));
	STEP(cuMemExportToShareableHandle(&fabric, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0));
	STEP(cuMemImportFromShareableHandle(&imported, &fabric, CU_MEM_HANDLE_TYPE_FABRIC));
	STEP(cuMemRelease(imported));
	STEP(cuMemRelease(handle));
}

STORY(plain_allocation)
{
	CUdeviceptr small, large;
	void *host;

	STEP(cuMemAlloc(&small, 1000));
	STEP(cuMemAlloc(&large, 3 * CHUNK));
	STEP(cuMemHostAlloc(&host, 10000, 0));
	STEP(cuMemcpyHtoD(large, host, 10000));
	STEP(cuMemFreeHost(host));
	STEP(cuMemFree(large));
	STEP(cuMemFree(small));
}

STORY(shared_pool)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemPoolPtrExportData data;
	CUdeviceptr block, other;
	CUmemoryPool pool, imported;
	int fd;

	STEP(cuMemPoolCreate(&pool, &props));
	STEP(cuMemAllocFromPoolAsync(&block, 5000, pool, NULL));
	STEP(cuStreamSynchronize(NULL));
	STEP(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
	STEP(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd, SHAREABLE, 0));
	STEP(cuMemPoolExportPointer(&data, block));
	STEP(cuMemPoolImportPointer(&other, imported, &data));
	STEP(cuMemFree(other));
	STEP(cuMemFree(block));
	STEP(cuMemPoolDestroy(imported));
	STEP(cuMemPoolDestroy(pool));
	close(fd);
}

FIXTURE(fail) { char unused; };
FIXTURE_VARIANT(fail) { void (*play)(struct __test_metadata *_metadata); };
#define VARIANT(story)	\
	FIXTURE_VARIANT_ADD(fail, story) { .play = story }
VARIANT(memory_of_a_device);
VARIANT(memory_of_the_host);
VARIANT(team_with_views);
VARIANT(bind_by_address);
VARIANT(shared_by_fd);
VARIANT(foreign_memory);
VARIANT(team_by_fd);
VARIANT(fabric_handle);
VARIANT(plain_allocation);
VARIANT(shared_pool);

FIXTURE_SETUP(fail)
{
	if (!can_fail())
		SKIP(return, "needs root and a kernel with CONFIG_FAULT_INJECTION");
}
NOTHING_LEFT(fail)

static void expect_nothing(struct __test_metadata *_metadata, unsigned long n)
{
	static const char *const names[] = {
		"memories", "teams", "bindings", "reservations", "mappings", "blocks",
		"staging_pages",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_EQ(0, stat_of(names[i])) TH_LOG("%s left by failure %lu", names[i], n);
	}
}

TEST_F(fail, at_every_place)
{
	unsigned long n = 0;

	cuda_start(0);
	/* the first run makes what stays for good, before anything is counted */
	variant->play(_metadata);
	expect_nothing(_metadata, 0);
	do {
		arm(++n);
		ASSERT_EQ(true, armed);
		variant->play(_metadata);
		if (armed)
			disarm();
		expect_nothing(_metadata, n);
	} while (has_failed);
	ASSERT_LT(1, n);
	TH_LOG("%lu failures", n - 1);
}

TEST_HARNESS_MAIN
