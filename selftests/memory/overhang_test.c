// SPDX-License-Identifier: MIT
/* Mappings that reach over the end of their reservation. */
#include <signal.h>
#include <sys/mman.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(overhang)
{
	CUdeviceptr at;		/* 16 chunks, of which the first 4 are a reservation */
	CUmemGenericAllocationHandle one, four;
};

/* Finds free addresses, and reserves the first 4 chunks of them. */
FIXTURE_SETUP(overhang)
{
	cuda_start(0);
	self->at = reserve(16 * CHUNK);
	ASSERT_OK(cuMemAddressFree(self->at, 16 * CHUNK));
	self->one = new_memory(0, CHUNK);
	self->four = new_memory(0, 4 * CHUNK);
}
NOTHING_LEFT(overhang)

#define AT(chunk)	(self->at + (chunk) * CHUNK)
#define RESERVE(chunk, n) reserve_at(_metadata, AT(chunk), (n) * CHUNK)
#define MAP(chunk)	cuMemMap(AT(chunk), 4 * CHUNK, 0, self->four, 0)
#define MAP_ONE(chunk)	cuMemMap(AT(chunk), CHUNK, 0, self->one, 0)
#define UNMAP(chunk, n)	cuMemUnmap(AT(chunk), (n) * CHUNK)
#define FREE(chunk, n)	cuMemAddressFree(AT(chunk), (n) * CHUNK)
#define LOAD(chunk)	try_load((void *)AT(chunk), NULL)

static void reserve_at(struct __test_metadata *_metadata, CUdeviceptr at, size_t bytes)
{
	CUdeviceptr got = 0;

	ASSERT_OK(cuMemAddressReserve(&got, bytes, 0, at, 0));
	ASSERT_EQ(at, got);
}

/* Is there nothing in this process at an address? */
static bool is_free(CUdeviceptr at, size_t bytes)
{
	void *got = mmap((void *)at, bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return got != MAP_FAILED && !munmap(got, bytes);
}

/* The mapping is one, over its own reservation's end, for every call and for the CPU. */
TEST_F(overhang, over_free_addresses)
{
	CUmemGenericAllocationHandle same;
	uint32_t words[2] = {};
	CUdeviceptr base = 0;
	size_t bytes = 0;

	RESERVE(0, 4);
	ASSERT_OK(MAP(2));
	EXPECT_EQ(SIGSEGV, LOAD(5));
	EXPECT_REASON(allow(AT(2), 2 * CHUNK, 0, READ), "only a part of the mapping of # bytes");
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemsetD8(AT(2), 0x5a, 4 * CHUNK));
	EXPECT_OK(cuMemsetD32(AT(4) - 4, 7, 2));
	EXPECT_OK(cuMemcpyDtoH(words, AT(4) - 4, sizeof(words)));
	EXPECT_EQ(7, words[0]);
	EXPECT_EQ(7, words[1]);
	EXPECT_EQ(7, *(volatile uint32_t *)AT(4));
	*(volatile uint32_t *)AT(5) = 9;
	EXPECT_OK(cuMemcpyDtoH(words, AT(5), sizeof(words)));
	EXPECT_EQ(9, words[0]);
	EXPECT_EQ(0x5a5a5a5a, words[1]);
	EXPECT_OK(cuMemGetAddressRange(&base, &bytes, AT(5) + 4));
	EXPECT_EQ(AT(2), base);
	EXPECT_EQ(4 * CHUNK, bytes);
	EXPECT_OK(cuMemRetainAllocationHandle(&same, (void *)AT(5)));
	EXPECT_EQ(self->four, same);
	EXPECT_OK(cuMemRelease(same));
	EXPECT_REASON(FREE(0, 4), "a mapping still reaches over its end");
	EXPECT_REASON(FREE(4, 2), "a mapping reaches into it");
	EXPECT_REASON(UNMAP(2, 2), "only a part of the mapping of # bytes");
	EXPECT_REASON(UNMAP(2, 5), "# bytes from # leave the reservation");
	ASSERT_OK(UNMAP(2, 4));
	EXPECT_EQ(SIGSEGV, LOAD(3));
	EXPECT_TRUE(is_free(AT(4), 12 * CHUNK));
	EXPECT_REASON(MAP_ONE(4), "# is not in a reservation");
	EXPECT_OK(FREE(0, 4));
}

/* As on hardware, the place is taken from the reservation behind for as long as it is mapped. */
TEST_F(overhang, over_another_reservation)
{
	uint32_t word = 0;

	RESERVE(0, 4);
	RESERVE(4, 8);
	ASSERT_OK(MAP_ONE(7));
	ASSERT_OK(MAP(2));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	ASSERT_OK(allow(AT(7), CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemsetD32(AT(5), 5, 1));
	EXPECT_OK(cuMemsetD32(AT(7), 8, 1));
	EXPECT_EQ(5, *(volatile uint32_t *)AT(5));
	EXPECT_EQ(8, *(volatile uint32_t *)AT(7));
	EXPECT_OK(cuMemcpyDtoH(&word, AT(5), 4));
	EXPECT_EQ(5, word);
	EXPECT_EQ(SIGSEGV, LOAD(6));
	EXPECT_REASON(MAP_ONE(4), "something is mapped there already");
	EXPECT_REASON(MAP_ONE(5), "something is mapped there already");
	EXPECT_OK(MAP_ONE(6));
	EXPECT_OK(UNMAP(6, 2));
	EXPECT_REASON(FREE(4, 8), "a mapping reaches into it");
	EXPECT_REASON(FREE(0, 4), "a mapping still reaches over its end");
	ASSERT_OK(UNMAP(2, 4));
	EXPECT_EQ(SIGSEGV, LOAD(5));
	EXPECT_OK(MAP(4));
	EXPECT_OK(UNMAP(4, 4));
	EXPECT_OK(FREE(4, 8));
	EXPECT_OK(FREE(0, 4));
}

/* Gaps between reservations are filled, and given back; the last reservation lends a part. */
TEST_F(overhang, over_several)
{
	RESERVE(0, 1);
	RESERVE(1, 1);
	RESERVE(3, 2);
	ASSERT_OK(MAP(0));
	ASSERT_OK(allow(AT(0), 4 * CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemsetD8(AT(0), 1, 4 * CHUNK));
	EXPECT_EQ(0, LOAD(2));
	EXPECT_EQ(0, LOAD(3));
	EXPECT_FALSE(is_free(AT(2), CHUNK));
	/* the last one's own mapping goes on over its end as well */
	EXPECT_OK(MAP(4));
	EXPECT_OK(UNMAP(0, 4));
	EXPECT_TRUE(is_free(AT(2), CHUNK));
	EXPECT_FALSE(is_free(AT(5), CHUNK));
	EXPECT_OK(UNMAP(4, 4));
	EXPECT_TRUE(is_free(AT(5), 8 * CHUNK));
	EXPECT_OK(FREE(0, 1));
	EXPECT_OK(FREE(1, 1));
	EXPECT_OK(FREE(3, 2));
}

/* What would hurt is refused, and nothing has changed. */
TEST_F(overhang, refused)
{
	void *wall = (void *)AT(5);

	RESERVE(0, 4);
	ASSERT_EQ(wall, mmap(wall, CHUNK, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	*(volatile uint32_t *)wall = 4;
	EXPECT_REASON(MAP(2), "the mapping would reach over the reservation's end, and what is at #");
	EXPECT_TRUE(is_free(AT(4), CHUNK));
	EXPECT_EQ(4, *(volatile uint32_t *)wall);
	ASSERT_EQ(0, munmap(wall, CHUNK));

	RESERVE(5, 1);
	ASSERT_OK(MAP_ONE(5));
	EXPECT_REASON(MAP(2), "the mapping would reach over the reservation's end, and something");
	EXPECT_TRUE(is_free(AT(4), CHUNK));
	EXPECT_EQ(SIGSEGV, LOAD(3));
	ASSERT_OK(UNMAP(5, 1));
	EXPECT_OK(MAP(2));
	EXPECT_OK(UNMAP(2, 4));
	EXPECT_OK(FREE(5, 1));
	EXPECT_OK(FREE(0, 4));
}

/* A mapping reaches into 16 reservations at most: one behind the other, of one chunk each. */
TEST_F(overhang, over_too_many)
{
	CUmemGenericAllocationHandle large = new_memory(0, 18 * CHUNK);
	CUdeviceptr at = reserve(18 * CHUNK);
	int i;

	ASSERT_OK(cuMemAddressFree(at, 18 * CHUNK));
	for (i = 0; i < 18; i++)
		reserve_at(_metadata, at + i * CHUNK, CHUNK);
	EXPECT_REASON(cuMemMap(at, 18 * CHUNK, 0, large, 0),
		      "the mapping would reach into more than # reservations behind its own");
	ASSERT_OK(cuMemAddressFree(at, CHUNK));
	ASSERT_OK(cuMemAddressFree(at + CHUNK, CHUNK));
	reserve_at(_metadata, at, 2 * CHUNK);
	ASSERT_OK(cuMemMap(at, 18 * CHUNK, 0, large, 0));
	ASSERT_OK(cuMemUnmap(at, 18 * CHUNK));
	ASSERT_OK(cuMemAddressFree(at, 2 * CHUNK));
	for (i = 2; i < 18; i++)
		ASSERT_OK(cuMemAddressFree(at + i * CHUNK, CHUNK));
	ASSERT_OK(cuMemRelease(large));
}

/* munmap() of what a reservation lends, or has borrowed, leaves nothing behind. */
TEST_F(overhang, program_unmaps)
{
	RESERVE(0, 4);
	RESERVE(4, 1);
	ASSERT_OK(MAP(2));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_EQ(0, LOAD(5));
	ASSERT_EQ(0, munmap((void *)AT(4), CHUNK));
	EXPECT_EQ(SIGSEGV, LOAD(4));
	EXPECT_EQ(0, LOAD(3));
	EXPECT_EQ(0, LOAD(5));
	/* the place is the program's: what it puts there stays */
	ASSERT_EQ((void *)AT(4), mmap((void *)AT(4), CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE |
				      MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	EXPECT_OK(UNMAP(2, 4));
	EXPECT_EQ(0, LOAD(4));
	EXPECT_TRUE(is_free(AT(5), CHUNK));
	ASSERT_EQ(0, munmap((void *)AT(4), CHUNK));

	RESERVE(4, 1);
	ASSERT_OK(MAP(2));
	ASSERT_EQ(0, munmap((void *)AT(0), 4 * CHUNK));
	EXPECT_EQ(SIGSEGV, LOAD(4));
	EXPECT_OK(MAP_ONE(4));
	EXPECT_OK(UNMAP(4, 1));
	EXPECT_OK(FREE(4, 1));
}

/* A process ends, in whatever way, with such a mapping; the fixture looks for what is left. */
TEST_F(overhang, exit)
{
	RESERVE(0, 4);
	RESERVE(4, 1);
	ASSERT_OK(MAP(2));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_EQ(0, LOAD(4));
	EXPECT_EQ(0, LOAD(5));
}

/* A team's window goes on over the end: stores and copies reach all replicas. */
TEST_F(overhang, window)
{
	CUmemGenericAllocationHandle team = complete_team(2, 4 * CHUNK);
	CUmemGenericAllocationHandle memory[2];
	volatile uint32_t *replica;

	for (int i = 0; i < 2; i++) {
		memory[i] = new_memory(i, 4 * CHUNK);
		ASSERT_OK(cuMulticastBindMem(team, 0, memory[i], 0, 4 * CHUNK, 0));
	}
	RESERVE(0, 4);
	ASSERT_OK(cuMemMap(AT(2), 4 * CHUNK, 0, team, 0));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemsetD32(AT(4) - 4, 3, 2));
	*(volatile uint32_t *)AT(5) = 6;
	replica = mapped(memory[1], 4 * CHUNK, 1);
	EXPECT_EQ(3, replica[2 * CHUNK / 4 - 1]);
	EXPECT_EQ(3, replica[2 * CHUNK / 4]);
	EXPECT_EQ(6, replica[3 * CHUNK / 4]);
	EXPECT_OK(UNMAP(2, 4));
}

TEST_HARNESS_MAIN
