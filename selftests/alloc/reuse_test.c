// SPDX-License-Identifier: MIT
/* Bindings, exports and imports of a freed block show nothing of later blocks at its place. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(reuse)
{
	CUmemoryPool pool;	/* keeps the chunks of freed blocks */
};

FIXTURE_SETUP(reuse)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	cuuint64_t threshold = ~0ULL;

	cuda_start(0);
	ASSERT_OK(cuMemPoolCreate(&self->pool, &props));
	ASSERT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
					&threshold));
}
NOTHING_LEFT(reuse)

#define new_block(bytes)	new_block_(_metadata, self->pool, bytes)
static CUdeviceptr new_block_(struct __test_metadata *_metadata, CUmemoryPool pool, size_t bytes)
{
	CUdeviceptr at = 0;

	ASSERT_OK(cuMemAllocFromPoolAsync(&at, bytes, pool, NULL));
	ASSERT_OK(cuStreamSynchronize(NULL));
	return at;
}

#define free_block(at)	free_block_(_metadata, at)
static void free_block_(struct __test_metadata *_metadata, CUdeviceptr at)
{
	ASSERT_OK(cuMemFreeAsync(at, NULL));
	ASSERT_OK(cuStreamSynchronize(NULL));
}

TEST_F(reuse, bound_block)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	volatile uint32_t *window = mapped(team, CHUNK, 0);
	CUdeviceptr at = new_block(CHUNK);

	ASSERT_OK(cuMulticastBindAddr(team, 0, at, CHUNK, 0));
	EXPECT_EQ(0, try_load(window, NULL));
	free_block(at);
	for (int i = 0; i < 8; i++)
		ASSERT_OK(cuMemsetD32(new_block(CHUNK / 8), 0x5ec4e7, CHUNK / 32));
	EXPECT_EQ(SIGBUS, try_load(window, NULL));
}

/* A bind that fails changes nothing: the pool keeps the place for the next block. */
TEST_F(reuse, block_that_was_not_bound)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	long free_bytes = device_bytes(0, "free_bytes");
	CUdeviceptr bound = new_block(CHUNK), at = new_block(CHUNK);

	ASSERT_OK(cuMulticastBindAddr(team, 0, bound, CHUNK, 0));
	EXPECT_REASON(cuMulticastBindAddr(team, 0, at, CHUNK, 0), "the range overlaps a binding");
	EXPECT_EQ(free_bytes - 2 * (long)CHUNK, device_bytes(0, "free_bytes"));
	free_block(at);
	EXPECT_EQ(free_bytes - 2 * (long)CHUNK, device_bytes(0, "free_bytes"));
	free_block(bound);
	EXPECT_EQ(free_bytes - (long)CHUNK, device_bytes(0, "free_bytes"));
}

/* An importer binds one block, exports another, and frees each before its exporter does. */
TEST_F(reuse, block_that_an_importer_gave_on)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	volatile uint32_t *window = mapped(team, CHUNK, 0), *shown;
	CUdeviceptr at[2] = { new_block(CHUNK), new_block(CHUNK) }, imported[2];
	CUmemPoolPtrExportData data;
	CUmemoryPool other;
	int fd, i;

	ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, self->pool, SHAREABLE, 0));
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&other, (void *)(long)fd, SHAREABLE, 0));
	close(fd);
	for (i = 0; i < 2; i++) {
		ASSERT_OK(cuMemsetD32(at[i], 1, CHUNK / 4));
		ASSERT_OK(cuMemPoolExportPointer(&data, at[i]));
		ASSERT_OK(cuMemPoolImportPointer(&imported[i], other, &data));
	}
	ASSERT_OK(cuMulticastBindAddr(team, 0, imported[0], CHUNK, 0));
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, imported[1], CHUNK,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	shown = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)shown);
	EXPECT_EQ(1, *window);
	EXPECT_EQ(1, *shown);

	for (i = 0; i < 2; i++) {
		free_block(imported[i]);
		free_block(at[i]);
	}
	for (i = 0; i < 16; i++)
		ASSERT_OK(cuMemsetD32(new_block(CHUNK / 8), 0x5ec4e7, CHUNK / 32));
	EXPECT_EQ(SIGBUS, try_load(window, NULL));
	EXPECT_EQ(1, *shown);
	munmap((void *)shown, CHUNK);
	close(fd);
	ASSERT_OK(cuMemPoolDestroy(other));
}

TEST_F(reuse, exported_block)
{
	/* the neighbour keeps their chunk in use */
	CUdeviceptr neighbour = new_block(PAGE), at = new_block(2 * PAGE);
	volatile uint32_t *shown;
	int fd = -1, changed = 0;

	ASSERT_EQ(neighbour / CHUNK, at / CHUNK);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, (at + PAGE - 1) & -PAGE, PAGE,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	shown = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)shown);
	ASSERT_OK(cuMemsetD32(at, 1, 2 * PAGE / 4));
	EXPECT_EQ(1, shown[0]);
	free_block(at);
	for (int i = 0; i < 300; i++)
		ASSERT_OK(cuMemsetD32(new_block(2 * PAGE), 0x5ec4e7, 2 * PAGE / 4));
	for (unsigned int i = 0; i < PAGE / 4; i++)
		changed += shown[i] != 1;
	EXPECT_EQ(0, changed);
}

/* A context's blocks end with it; the chunk of an exported block is free once its fd is closed. */
TEST_F(reuse, context_ends)
{
	CUcontext context;
	CUdeviceptr at[6];
	int fd;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	for (int i = 0; i < 6; i++) {
		ASSERT_OK(cuMemAlloc(&at[i], CHUNK));
		ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at[i], PAGE,
							CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
		if (i % 2)
			EXPECT_EQ(0, close(fd));
	}
	EXPECT_OK(cuCtxDestroy(context));
	/* three fds are open and keep a chunk each */
	EXPECT_EQ(device_bytes(0, "pool_bytes") - 3 * (long)CHUNK, device_bytes(0, "free_bytes"));
}

/* The program unmaps a range that it has registered, so that new blocks may be placed there. */
TEST_F(reuse, stale_registration)
{
	const size_t bytes = 16 * CHUNK;
	CUdeviceptr at[6];
	char *own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)own);
	ASSERT_OK(cuMemHostRegister(own, bytes, 0));
	ASSERT_EQ(0, munmap(own, bytes));
	for (int i = 0; i < 6; i++)
		at[i] = new_block(2 * CHUNK);
	for (int i = 0; i < 6; i++)
		free_block(at[i]);
}

/*
 * The program unmaps blocks of another heap: their chunks are free at once, and a new block at
 * such an address ends the stale one.
 */
TEST_F(reuse, stale_blocks)
{
	CUdeviceptr stale[4], at;
	int i, j, again = 0;

	for (i = 0; i < 4; i++)
		ASSERT_OK(cuMemAlloc(&stale[i], 2 * CHUNK));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, munmap((void *)stale[i], 2 * CHUNK));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	for (i = 0; i < 4; i++) {
		at = new_block(2 * CHUNK);
		for (j = 0; j < 4; j++)
			again += at == stale[j];
	}
	EXPECT_LT(0, again);
}

/* A range whose end reaches into a reservation cannot be registered. */
TEST_F(reuse, registration_into_a_reservation)
{
	CUdeviceptr at = reserve(CHUNK);
	char *before = mmap((void *)(at - PAGE), PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);

	if (before == MAP_FAILED)
		SKIP(return, "no room before the reservation");
	ASSERT_OK(cuMemMap(at, CHUNK, 0, own, 0));
	ASSERT_OK(allow(at, CHUNK, 0, READWRITE));
	EXPECT_REASON(cuMemHostRegister(before, 2 * PAGE, 0), "a part of the range is in a");
	EXPECT_OK(cuMemHostRegister(before, PAGE, 0));
}

TEST_HARNESS_MAIN
