// SPDX-License-Identifier: MIT
/* How many unused chunks a pool keeps, how large a pool may be, and when its chunks are free. */
#include "pool_fixture.h"
#include "reason.h"

TEST_F(pool, threshold_and_trim)
{
	long before = device_bytes(0, "free_bytes");
	cuuint64_t threshold = 3 * CHUNK, zero = 0, one = 1;
	CUdeviceptr block[4];
	int i;

	ASSERT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	EXPECT_EQ(threshold, pool_value(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
	for (i = 0; i < 4; i++)
		ASSERT_OK(cuMemAllocFromPoolAsync(&block[i], CHUNK, self->pool, self->stream));
	EXPECT_EQ(STEP, TAKEN(self->pool));
	EXPECT_EQ(before - 4 * (long)CHUNK, device_bytes(0, "free_bytes"));
	for (i = 0; i < 4; i++)
		ASSERT_OK(cuMemFreeAsync(block[i], self->stream));
	EXPECT_EQ(STEP, TAKEN(self->pool));
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_EQ(STEP, pool_value(self->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
	EXPECT_EQ(4 * CHUNK, pool_value(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	EXPECT_EQ(before - 4 * (long)CHUNK, device_bytes(0, "free_bytes"));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(before - 3 * (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_REASON(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
		      "setting # cannot be #");
	EXPECT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
	EXPECT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
	EXPECT_EQ(0, pool_value(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	EXPECT_EQ(STEP, pool_value(self->pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
	EXPECT_REASON(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
		      "attribute # cannot be set");

	/* a new block comes from a chunk that the pool has kept */
	ASSERT_OK(cuMemAllocFromPoolAsync(&block[0], 5, self->pool, self->stream));
	EXPECT_EQ(before - 3 * (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
	EXPECT_EQ(5, pool_value(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	/* a trim rounds up to a whole step what the pool is to keep */
	EXPECT_OK(cuMemPoolTrimTo(self->pool, 2 * CHUNK));
	EXPECT_EQ(before - 3 * (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemPoolTrimTo(self->pool, 0));
	EXPECT_EQ(before - (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_EQ(STEP, TAKEN(self->pool));
	EXPECT_OK(cuMemFreeAsync(block[0], self->stream));
	EXPECT_EQ(before - (long)CHUNK, device_bytes(0, "free_bytes"));
	/* rounding up ~0 overflows: the pool keeps nothing */
	EXPECT_OK(cuMemPoolTrimTo(self->pool, ~0UL));
	EXPECT_EQ(0, TAKEN(self->pool));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));

	if (device_bytes(0, "pool_bytes") < 4 * (long)STEP)
		SKIP(return, "steps given back one by one need a pool of 128 MiB");
	/* a trim gives back several steps one by one */
	threshold = UINT64_MAX;
	ASSERT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	for (i = 0; i < 4; i++)
		ASSERT_OK(cuMemAllocFromPoolAsync(&block[i], STEP, self->pool, self->stream));
	for (i = 0; i < 4; i++)
		ASSERT_OK(cuMemFreeAsync(block[i], self->stream));
	EXPECT_EQ(4 * STEP, TAKEN(self->pool));
	EXPECT_OK(cuMemPoolTrimTo(self->pool, STEP + 1));
	EXPECT_EQ(2 * STEP, TAKEN(self->pool));
	EXPECT_OK(cuMemPoolTrimTo(self->pool, 0));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

/* A pool gives up the chunks that it keeps unused when another heap needs them. */
TEST_F(pool, kept_memory_is_given_up)
{
	long bytes = device_bytes(0, "pool_bytes");
	cuuint64_t all = UINT64_MAX;
	CUdeviceptr block;

	ASSERT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, bytes, self->pool, self->stream));
	ASSERT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	ASSERT_OK(cuMemAlloc(&block, bytes));
	EXPECT_EQ(0, TAKEN(self->pool));
}

#define set_threshold(pool, bytes)	set_threshold_(_metadata, pool, bytes)
static void set_threshold_(struct __test_metadata *_metadata, CUmemoryPool pool, cuuint64_t bytes)
{
	ASSERT_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
}

/* Allocates and frees a block. */
#define pass(pool, bytes)	pass_(_metadata, pool, bytes)
static void pass_(struct __test_metadata *_metadata, CUmemoryPool pool, size_t bytes)
{
	CUdeviceptr block;

	ASSERT_OK(cuMemAllocFromPoolAsync(&block, bytes, pool, NULL));
	ASSERT_OK(cuMemFreeAsync(block, NULL));
	ASSERT_OK(cuStreamSynchronize(NULL));
}

/* What a pool keeps makes room for blocks of any size, so that it grows no more than it must. */
TEST_F(pool, sizes_one_after_the_other)
{
	long before = device_bytes(0, "free_bytes");
	CUdeviceptr block;
	size_t chunks;

	set_threshold(self->pool, UINT64_MAX);
	for (chunks = 1; chunks <= 16; chunks++) {
		pass(self->pool, chunks * CHUNK);
		ASSERT_EQ(STEP, TAKEN(self->pool))
			TH_LOG("%zu chunks", chunks);
	}
	for (; chunks; chunks--) {
		pass(self->pool, chunks * CHUNK);
		ASSERT_GE(chunks > 16 ? 2 * STEP : STEP, TAKEN(self->pool))
			TH_LOG("%zu chunks", chunks);
	}
	/* what is in use stays, and single chunks make room as well */
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 12 * CHUNK, self->pool, NULL));
	ASSERT_OK(cuMemsetD8(block, 5, 12 * CHUNK));
	for (chunks = 1; chunks <= 4; chunks++) {
		pass(self->pool, chunks * CHUNK);
		EXPECT_EQ(STEP, TAKEN(self->pool));
	}
	EXPECT_EQ(5, *(volatile char *)(block + 12 * CHUNK - 1));
	EXPECT_OK(cuMemFree(block));

	/* within a step, a pool keeps blocks of several sizes */
	EXPECT_OK(cuMemPoolTrimTo(self->pool, 0));
	for (chunks = 2; chunks <= 6; chunks++)
		pass(self->pool, (2 + chunks % 2) * CHUNK);
	EXPECT_EQ(before - 5 * (long)CHUNK, device_bytes(0, "free_bytes"));
}

/* A pool that has reached its largest size takes nothing of other pools. */
TEST_F(pool, full_beside_another)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.maxSize = STEP,
	};
	CUdeviceptr block, other;
	CUmemoryPool pool;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	set_threshold(self->pool, UINT64_MAX);
	set_threshold(pool, UINT64_MAX);
	pass(self->pool, CHUNK);
	/* what it keeps of one size makes room for another */
	pass(pool, 10 * CHUNK);
	pass(pool, 12 * CHUNK);
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, STEP, pool, NULL));
	EXPECT_CU_REASON(CUDA_ERROR_OUT_OF_MEMORY,
			 cuMemAllocFromPoolAsync(&other, 1, pool, NULL),
			 "the heap has # of the # bytes that it may have");
	EXPECT_EQ(STEP, TAKEN(self->pool));
	EXPECT_OK(cuMemFreeAsync(block, NULL));
	EXPECT_OK(cuMemPoolDestroy(pool));
}

TEST_F(pool, largest_size)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.maxSize = 2 * CHUNK - 1,
	};
	CUdeviceptr block, other;
	CUmemoryPool pool;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemAllocFromPoolAsync(&block, STEP + 1, pool, self->stream));
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, STEP, pool, self->stream));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemAllocFromPoolAsync(&other, 1, pool, self->stream));
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_OK(cuMemAllocFromPoolAsync(&other, 1, pool, self->stream));
}

TEST_F(pool, lives_until_its_last_block)
{
	long before = device_bytes(0, "free_bytes");
	CUdeviceptr block, other;

	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, self->pool, self->stream));
	EXPECT_OK(cuMemPoolDestroy(self->pool));
	EXPECT_REASON(cuMemAllocFromPoolAsync(&other, 1000, self->pool, self->stream), "no heap #");
	EXPECT_REASON(cuMemPoolTrimTo(self->pool, 0), "no heap #");
	EXPECT_OK(cuMemsetD8(block, 1, 1000));
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

TEST_HARNESS_MAIN
