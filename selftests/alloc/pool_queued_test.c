// SPDX-License-Identifier: MIT
/* Allocation while frees are queued in streams: who gets the place of a block, and when. */
#include <stdlib.h>
#include "memcast_test.h"
#include "pool_fixture.h"

#define MIB	(1UL << 20)

FIXTURE(queued)
{
	CUmemoryPool pool;
	CUstream stream, other;
	volatile uint32_t *gate, *other_gate;
	long bytes;
};

FIXTURE_SETUP(queued)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};

	cuda_start(0);
	ASSERT_OK(cuMemHostAlloc((void **)&self->gate, 8, 0));
	self->other_gate = self->gate + 1;
	self->gate[0] = 0;
	self->gate[1] = 0;
	ASSERT_OK(cuMemPoolCreate(&self->pool, &props));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&self->other, CU_STREAM_NON_BLOCKING));
	self->bytes = device_bytes(0, "free_bytes");
}
NOTHING_LEFT(queued)

/* Work of the streams waits until the test writes 1 to their gates. */
#define CLOSE(which, word)	\
	ASSERT_OK(cuStreamWaitValue32(self->which, ADDRESS(self->word), 1, CU_STREAM_WAIT_VALUE_EQ))
#define OPEN(which, word)						\
({									\
	*self->word = 1;						\
	EXPECT_OK(cuStreamSynchronize(self->which));			\
})
#define TAKE(block, bytes, which)	\
	cuMemAllocFromPoolAsync(block, bytes, self->pool, self->which)
#define FREE(block, which)	EXPECT_OK(cuMemFreeAsync(block, self->which))
#define FILL(block, value, bytes, which)	\
	ASSERT_OK(cuMemsetD8Async(block, value, bytes, self->which))
#define CHUNKS()	(self->bytes - device_bytes(0, "free_bytes"))

/* What a block had when the stream was there, in bytes of @at */
#define SAVE(at, block, which)	ASSERT_OK(cuMemcpyDtoHAsync(&(at), block, 1, self->which))

TEST_F(queued, same_address_in_order)
{
	CUdeviceptr first, second, address = 0;
	uint8_t *seen;

	ASSERT_OK(cuMemHostAlloc((void **)&seen, 2, 0));
	CLOSE(stream, gate);
	for (int i = 0; i < 100; i++) {
		ASSERT_OK(TAKE(&first, 1000, stream));
		EXPECT_EQ(i ? address : first, first);
		address = first;
		FILL(first, i, 1000, stream);
		SAVE(seen[0], first + 999, stream);
		FREE(first, stream);
	}
	EXPECT_EQ(1000, USED(self->pool));
	ASSERT_OK(TAKE(&second, 1000, stream));
	EXPECT_EQ(address, second);
	EXPECT_EQ(1000, USED(self->pool));
	EXPECT_EQ(1000, pool_value(self->pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	FILL(second, 200, 1000, stream);
	SAVE(seen[1], second, stream);
	EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	OPEN(stream, gate);
	EXPECT_EQ(99, seen[0]);
	EXPECT_EQ(200, seen[1]);
	EXPECT_EQ(1000, USED(self->pool));
	EXPECT_EQ(STEP, TAKEN(self->pool));
	FREE(second, stream);
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, TAKEN(self->pool));
}

/* All of the device's memory is allocated and freed again and again, and the stream waits. */
TEST_F(queued, all_of_a_device)
{
	CUdeviceptr block, more;

	CLOSE(stream, gate);
	for (int i = 0; i < 3; i++) {
		ASSERT_OK(TAKE(&block, self->bytes, stream));
		FILL(block, i, self->bytes, stream);
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, TAKE(&more, 1, stream));
		FREE(block, stream);
	}
	/* a smaller block has all of it to itself */
	ASSERT_OK(TAKE(&block, 3, stream));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, TAKE(&more, 1, stream));
	FILL(block, 9, 3, stream);
	FREE(block, stream);
	ASSERT_OK(TAKE(&block, self->bytes / 2, stream));
	EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	OPEN(stream, gate);
	EXPECT_EQ(self->bytes / 2, USED(self->pool));
	FREE(block, stream);
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, CHUNKS());
}

/* Smaller blocks in a queued one's place: its work still finds all of it. */
TEST_F(queued, parts_of_a_block)
{
	CUdeviceptr whole, half, rest, none;
	uint8_t *seen;

	ASSERT_OK(cuMemHostAlloc((void **)&seen, 4, 0));
	CLOSE(stream, gate);
	ASSERT_OK(TAKE(&whole, CHUNK, stream));
	FILL(whole, 1, CHUNK, stream);
	SAVE(seen[0], whole + CHUNK - 1, stream);
	FREE(whole, stream);
	ASSERT_OK(TAKE(&half, MIB, stream));
	EXPECT_EQ(whole, half);
	EXPECT_EQ(MIB, USED(self->pool));
	FILL(half, 2, MIB, stream);
	ASSERT_OK(TAKE(&rest, MIB, stream));
	EXPECT_EQ(whole + MIB, rest);
	SAVE(seen[1], rest, stream);
	FILL(rest, 3, MIB, stream);
	SAVE(seen[2], half + MIB - 1, stream);
	SAVE(seen[3], rest, stream);
	EXPECT_EQ(CHUNK, CHUNKS());
	/* what both had goes together to one block of the same stream */
	FREE(half, stream);
	FREE(rest, stream);
	ASSERT_OK(TAKE(&none, CHUNK, stream));
	EXPECT_EQ(whole, none);
	EXPECT_EQ(CHUNK, CHUNKS());
	OPEN(stream, gate);
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(1, seen[1]);
	EXPECT_EQ(2, seen[2]);
	EXPECT_EQ(3, seen[3]);
	EXPECT_EQ(CHUNK, USED(self->pool));
	FREE(none, stream);
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, CHUNKS());
}

/* A block that ends by itself leaves its place to the stream whose work uses it. */
TEST_F(queued, place_of_earlier_work)
{
	CUdeviceptr first, second, third;
	uint8_t *seen;

	ASSERT_OK(cuMemHostAlloc((void **)&seen, 1, 0));
	CLOSE(stream, gate);
	for (unsigned long bytes = MIB; bytes <= CHUNK; bytes += MIB) {
		ASSERT_OK(TAKE(&first, CHUNK, stream));
		FILL(first, 1, CHUNK, stream);
		SAVE(seen[0], first, stream);
		FREE(first, stream);
		ASSERT_OK(TAKE(&second, bytes, stream));
		EXPECT_EQ(first, second);
		/* the program does not wait, as it has to */
		EXPECT_OK(bytes == MIB ? cuMemFree(second) : cuMemFreeAsync(second, self->other));
		ASSERT_OK(TAKE(&third, CHUNK, other));
		EXPECT_NE(first, third);
		FILL(third, 5, CHUNK, other);
		FREE(third, other);
		EXPECT_OK(cuStreamSynchronize(self->other));
	}
	OPEN(stream, gate);
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_EQ(0, CHUNKS());
}

/* Another stream gets the place if there is no other memory, and waits for the free. */
TEST_F(queued, internal_dependencies)
{
	CUdeviceptr first, second, third;
	int value = 0;
	uint8_t *seen;

	ASSERT_OK(cuMemHostAlloc((void **)&seen, 2, 0));
	CLOSE(stream, gate);
	ASSERT_OK(TAKE(&first, self->bytes, stream));
	FILL(first, 1, self->bytes, stream);
	SAVE(seen[0], first + self->bytes - 1, stream);
	FREE(first, stream);
	ASSERT_OK(cuMemPoolSetAttribute(self->pool,
					CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &value));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, TAKE(&second, self->bytes, other));
	EXPECT_EQ(0, second);
	EXPECT_EQ(CUDA_SUCCESS, cuStreamQuery(self->other));
	value = 1;
	ASSERT_OK(cuMemPoolSetAttribute(self->pool,
					CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &value));
	/* work that comes later in the first stream is not waited for */
	CLOSE(stream, other_gate);
	ASSERT_OK(TAKE(&second, self->bytes, other));
	EXPECT_EQ(first, second);
	EXPECT_EQ(self->bytes, USED(self->pool));
	FILL(second, 2, self->bytes, other);
	SAVE(seen[1], second + self->bytes - 1, other);
	EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(self->other));
	*self->gate = 1;
	EXPECT_OK(cuStreamSynchronize(self->other));
	EXPECT_EQ(1, seen[0]);
	EXPECT_EQ(2, seen[1]);
	EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	/* the place is free for all streams now */
	FREE(second, other);
	ASSERT_OK(TAKE(&third, self->bytes, other));
	EXPECT_EQ(CUDA_SUCCESS, cuStreamQuery(self->other));
	FREE(third, other);
	OPEN(stream, other_gate);
	EXPECT_EQ(0, CHUNKS());
}

/* Two blocks that are queued have a memory each: what needs both waits for the stream. */
TEST_F(queued, alloc_waits_for_two_frees)
{
	CUdeviceptr half, rest, whole;

	ASSERT_OK(TAKE(&half, self->bytes / 2, stream));
	ASSERT_OK(TAKE(&rest, self->bytes / 2, stream));
	FILL(half, 1, self->bytes / 2, stream);
	FREE(half, stream);
	FREE(rest, stream);
	ASSERT_OK(TAKE(&whole, self->bytes, stream));
	FREE(whole, stream);
}

/* A pool that is destroyed lives until its queued blocks have ended. */
TEST_F(queued, pool_ends_before)
{
	CUdeviceptr first, second;

	CLOSE(stream, gate);
	ASSERT_OK(TAKE(&first, 1000, stream));
	FREE(first, stream);
	ASSERT_OK(TAKE(&second, 2000, stream));
	EXPECT_OK(cuMemPoolDestroy(self->pool));
	FILL(second, 1, 2000, stream);
	FREE(second, stream);
	OPEN(stream, gate);
	EXPECT_EQ(0, CHUNKS());
}

#define ACTS	2000
#define LIVE	24

/* Blocks are filled, read later, and freed, each in one of two streams, which stop at times. */
TEST_F(queued, random_blocks)
{
	static const size_t largest[] = { 1000, 100000, 3 * MIB };
	const char *given = getenv("MEMCAST_TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : (unsigned int)getpid();
	struct { CUdeviceptr at; size_t bytes; unsigned int act; } live[2][LIVE] = {}, *block;
	volatile uint32_t *gates[] = { self->gate, self->other_gate };
	CUstream streams[] = { self->stream, self->other };
	unsigned int state = seed, stops[2] = {}, act, s, what;
	uint8_t *seen;

	ASSERT_OK(cuMemHostAlloc((void **)&seen, 2 * ACTS, 0));
	for (act = 0; act < ACTS; act++) {
		s = rand_r(&state) % 2;
		what = rand_r(&state) % 24;
		block = &live[s][rand_r(&state) % LIVE];
		if (!what) {
			ASSERT_OK(cuStreamWaitValue32(streams[s], ADDRESS(gates[s]), ++stops[s],
						      CU_STREAM_WAIT_VALUE_GEQ));
		} else if (what <= 2) {
			*gates[s] = stops[s];
		}
		if (what == 2)
			ASSERT_OK(cuStreamSynchronize(streams[s]));
		/* what is not overwritten is right */
		seen[2 * act] = 1 + act % 255;
		seen[2 * act + 1] = 1 + act % 255;
		if (block->at) {
			uint8_t *to = &seen[2 * block->act];

			to[0] = 0;
			to[1] = 0;
			ASSERT_OK(cuMemcpyDtoHAsync(to, block->at, 1, streams[s]));
			ASSERT_OK(cuMemcpyDtoHAsync(to + 1, block->at + block->bytes - 1, 1,
						    streams[s]));
			ASSERT_OK(cuMemFreeAsync(block->at, streams[s]));
			block->at = 0;
			continue;
		}
		block->bytes = 1 + rand_r(&state) % largest[rand_r(&state) % 3];
		block->act = act;
		ASSERT_OK(cuMemAllocFromPoolAsync(&block->at, block->bytes, self->pool, streams[s]))
			TH_LOG("MEMCAST_TEST_SEED=%u, act %u", seed, act);
		ASSERT_OK(cuMemsetD8Async(block->at, 1 + act % 255, block->bytes, streams[s]));
	}
	for (s = 0; s < 2; s++) {
		for (unsigned int i = 0; i < LIVE; i++)
			EXPECT_OK(cuMemFreeAsync(live[s][i].at, streams[s]));
		*gates[s] = stops[s];
	}
	ASSERT_OK(cuCtxSynchronize());
	for (act = 0; act < 2 * ACTS; act++)
		ASSERT_EQ(1 + act / 2 % 255, seen[act])
			TH_LOG("MEMCAST_TEST_SEED=%u, block of act %u", seed, act / 2);
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_EQ(0, CHUNKS());
}

TEST_HARNESS_MAIN
