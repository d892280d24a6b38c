// SPDX-License-Identifier: MIT
/* Mappings that reach over the end of their reservation, into a tail. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

FIXTURE(tail)
{
	CUdeviceptr at;		/* 16 chunks, of which the first 4 are a reservation */
	CUmemGenericAllocationHandle one, four;
};

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

/* Finds free addresses, and reserves the first 4 chunks of them. */
FIXTURE_SETUP(tail)
{
	cuda_start(0);
	self->at = reserve(16 * CHUNK);
	ASSERT_OK(cuMemAddressFree(self->at, 16 * CHUNK));
	self->one = new_memory(0, CHUNK);
	self->four = new_memory(0, 4 * CHUNK);
	RESERVE(0, 4);
}
NOTHING_LEFT(tail)

static void *wall_at(CUdeviceptr at, size_t bytes)
{
	return mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Is there nothing in this process at an address? */
static bool is_free(CUdeviceptr at, size_t bytes)
{
	void *got = wall_at(at, bytes);

	return got != MAP_FAILED && !munmap(got, bytes);
}

/* The mapping is one, over its own reservation's end, for every call and for the CPU. */
TEST_F(tail, is_one_mapping)
{
	CUmemGenericAllocationHandle same;
	uint32_t words[2] = {};
	CUdeviceptr base = 0;
	size_t bytes = 0;

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
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READ));
	EXPECT_EQ(SIGSEGV, try_store((void *)AT(5), 1));
	EXPECT_REASON(FREE(0, 4), "something is still mapped in it");
	EXPECT_REASON(UNMAP(2, 2), "only a part of the mapping of # bytes");
	EXPECT_REASON(UNMAP(4, 2), "only a part of the mapping of # bytes");
	EXPECT_REASON(UNMAP(2, 5), "# bytes from # leave the reservation");
	EXPECT_REASON(MAP(1), "# bytes are behind the reservation's end, where something else is");
	EXPECT_EQ(0, LOAD(5));
	ASSERT_OK(UNMAP(2, 4));
	EXPECT_EQ(SIGSEGV, LOAD(3));
	EXPECT_TRUE(is_free(AT(4), 12 * CHUNK));
	EXPECT_REASON(MAP_ONE(4), "# is not in a reservation");
	/* with what is mapped before it */
	ASSERT_OK(MAP_ONE(0));
	ASSERT_OK(MAP(3));
	EXPECT_OK(UNMAP(0, 7));
	EXPECT_TRUE(is_free(AT(4), 12 * CHUNK));
	EXPECT_OK(FREE(0, 4));
}

/* Where something else is behind the end, a reservation too, the call fails and changes nothing. */
TEST_F(tail, meets_something_else)
{
	void *wall = wall_at(AT(5), CHUNK);

	ASSERT_EQ((void *)AT(5), wall);
	*(volatile uint32_t *)wall = 4;
	EXPECT_REASON(MAP(2), "# bytes are behind the reservation's end, where something else is");
	EXPECT_TRUE(is_free(AT(4), CHUNK));
	EXPECT_EQ(4, *(volatile uint32_t *)wall);
	ASSERT_EQ(0, munmap(wall, CHUNK));
	RESERVE(5, 1);
	EXPECT_REASON(MAP(2), "# bytes are behind the reservation's end, where something else is");
	EXPECT_OK(MAP(1));
	EXPECT_OK(UNMAP(1, 4));
	EXPECT_OK(FREE(5, 1));
	EXPECT_OK(MAP(2));
	EXPECT_OK(UNMAP(2, 4));
	/* a call that fails for another reason leaves nothing behind the end */
	ASSERT_OK(MAP_ONE(3));
	EXPECT_REASON(MAP(2), "something is mapped there already");
	EXPECT_TRUE(is_free(AT(4), 12 * CHUNK));
}

/* A reservation that comes meanwhile lies elsewhere, and takes the place afterwards. */
TEST_F(tail, keeps_its_place)
{
	CUdeviceptr got = 0;

	ASSERT_OK(MAP(2));
	ASSERT_OK(cuMemAddressReserve(&got, 4 * CHUNK, 0, AT(4), 0));
	EXPECT_NE(AT(4), got);
	ASSERT_OK(cuMemAddressFree(got, 4 * CHUNK));
	ASSERT_OK(UNMAP(2, 4));
	RESERVE(4, 4);
	EXPECT_OK(FREE(4, 4));
}

/* A program that unmaps a tail unmaps the mapping; one that unmaps the reservation, likewise. */
TEST_F(tail, program_unmaps)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	unsigned long long flags;

	ASSERT_OK(MAP_ONE(0));
	ASSERT_OK(MAP(2));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_EQ(0, LOAD(3));
	EXPECT_EQ(0, LOAD(5));
	EXPECT_EQ(EINVAL, ERRNO_OF(munmap((void *)AT(5), CHUNK)));
	EXPECT_EQ(EINVAL, ERRNO_OF(mremap((void *)AT(4), 2 * CHUNK, 2 * CHUNK,
					  MREMAP_MAYMOVE | MREMAP_FIXED, (void *)AT(8))));
	EXPECT_EQ(0, LOAD(5));
	ASSERT_EQ(0, munmap((void *)AT(4), 2 * CHUNK));
	EXPECT_EQ(SIGSEGV, LOAD(3));
	EXPECT_EQ(SIGSEGV, LOAD(5));
	EXPECT_OK(cuMemGetAccess(&flags, &location, AT(0)));
	EXPECT_OK(MAP(3));
	EXPECT_OK(UNMAP(3, 4));

	ASSERT_OK(MAP(3));
	ASSERT_OK(allow(AT(3), 4 * CHUNK, 0, READWRITE));
	EXPECT_EQ(0, LOAD(4));
	ASSERT_EQ(0, munmap((void *)AT(0), 4 * CHUNK));
	EXPECT_EQ(SIGSEGV, LOAD(4));
	EXPECT_EQ(0, stat_of("mappings"));
	EXPECT_EQ(0, munmap((void *)AT(4), 3 * CHUNK));
}

/* A process ends, in whatever way, with such a mapping; the fixture looks for what is left. */
TEST_F(tail, exit)
{
	ASSERT_OK(MAP(2));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_EQ(0, LOAD(3));
	EXPECT_EQ(0, LOAD(4));
}

/* A team's window goes on over the end: stores and copies reach all replicas. */
TEST_F(tail, window)
{
	CUmemGenericAllocationHandle team = complete_team(2, 4 * CHUNK);
	CUmemGenericAllocationHandle memory[2];
	volatile uint32_t *replica;

	for (int i = 0; i < 2; i++)
		memory[i] = new_bound(team, i, 4 * CHUNK);
	ASSERT_OK(cuMemMap(AT(2), 4 * CHUNK, 0, team, 0));
	ASSERT_OK(allow(AT(2), 4 * CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemsetD32(AT(4) - 4, 3, 2));
	*(volatile uint32_t *)AT(5) = 6;
	replica = mapped(memory[1], 4 * CHUNK, 1);
	EXPECT_EQ(3, replica[2 * CHUNK / 4 - 1]);
	EXPECT_EQ(3, replica[2 * CHUNK / 4]);
	EXPECT_EQ(6, replica[3 * CHUNK / 4]);
	EXPECT_OK(cuMulticastUnbind(team, 0, 0, 4 * CHUNK));
	EXPECT_OK(cuMulticastUnbind(team, 1, 0, 4 * CHUNK));
	EXPECT_EQ(SIGBUS, LOAD(5));
	EXPECT_OK(UNMAP(2, 4));
}

/* The file makes a tail only where a reservation of the client ends, and one. */
TEST_F(tail, that_mmap_refuses)
{
#define TAIL(fd, chunk, offset)							\
	ERRNO_OF(mmap((void *)AT(chunk), CHUNK, PROT_READ | PROT_WRITE,		\
		      MAP_SHARED | MAP_FIXED_NOREPLACE, fd, MEMCAST_MMAP_TAIL + (offset)))
	int fd = raw_library_fd(), other = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, other);
	EXPECT_EQ(EINVAL, TAIL(fd, 5, 0));
	EXPECT_EQ(EINVAL, TAIL(fd, 4, PAGE));
	EXPECT_EQ(EINVAL, TAIL(other, 4, 0));
	EXPECT_EQ(0, TAIL(fd, 4, 0));
	EXPECT_EQ(EINVAL, TAIL(fd, 5, 0));
	/* a mapping comes into it only by a call that knows of it */
	EXPECT_REASON(MAP_ONE(4), "# bytes from # leave the reservation");
	EXPECT_REASON(UNMAP(3, 2), "# bytes from # leave the reservation");
	EXPECT_EQ(0, munmap((void *)AT(4), CHUNK));
	close(other);
}

struct waiter {
	CUdeviceptr at;
	CUmemGenericAllocationHandle team;
	_Atomic pid_t thread;
	CUresult result;
};

static void *map_window(void *data)
{
	struct waiter *waiter = data;

	waiter->thread = gettid();
	waiter->result = cuMemMap(waiter->at, 4 * CHUNK, 0, waiter->team, 0);
	return NULL;
}

/*
 * While a call waits for a team, its tail is no other call's, and goes with it. Meanwhile no other
 * mapping came into the tail, and no other call has unmapped it.
 */
TEST_F(tail, of_a_call_that_waits)
{
	struct waiter waiter = { .at = AT(2), .team = new_team(2, 4 * CHUNK) };
	pthread_t thread;

	ASSERT_OK(MAP_ONE(3));
	ASSERT_EQ(0, pthread_create(&thread, NULL, map_window, &waiter));
	ASSERT_TRUE(comes_true(waiter.thread));
	ASSERT_TRUE(sleeps(getpid(), waiter.thread));
	EXPECT_REASON(MAP(2), "# bytes are behind the reservation's end, where something else is");
	EXPECT_REASON(MAP_ONE(4), "# bytes from # leave the reservation");
	EXPECT_REASON(UNMAP(2, 4), "# bytes from # leave the reservation");
	EXPECT_EQ(MAP_FAILED, wall_at(AT(4), CHUNK));
	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastAddDevice(waiter.team, i));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* something is mapped there already */
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, waiter.result);
	EXPECT_TRUE(is_free(AT(4), 12 * CHUNK));
	EXPECT_OK(UNMAP(3, 1));
	EXPECT_OK(MAP(2));
	EXPECT_OK(UNMAP(2, 4));
}

struct racers {
	CUdeviceptr at;
	CUmemGenericAllocationHandle four;
	unsigned int rounds;
};

/* Maps over the end and unmaps, whatever comes of it. */
static void *map_and_unmap(void *data)
{
	const struct racers *racers = data;

	for (unsigned int i = 0; i < racers->rounds; i++) {
		CUdeviceptr at = racers->at + (2 + i % 2) * CHUNK;

		if (cuMemMap(at, 4 * CHUNK, 0, racers->four, 0))
			continue;
		if (!allow(at, 4 * CHUNK, 0, READWRITE))
			cuMemsetD32(at, i, CHUNK);
		cuMemUnmap(at, 4 * CHUNK);
	}
	return NULL;
}

/* Threads that map over the same end, and one that unmaps tails under them. */
TEST_F(tail, race)
{
	struct racers racers = { self->at, self->four, 300 };
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, map_and_unmap, &racers));
	for (unsigned int i = 0; i < racers.rounds; i++) {
		munmap((void *)AT(4), (2 + i % 2) * CHUNK);
		try_load((void *)AT(3 + i % 3), NULL);
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	munmap((void *)AT(4), 3 * CHUNK);
	EXPECT_EQ(0, stat_of("mappings"));
	EXPECT_OK(MAP(2));
	EXPECT_OK(UNMAP(2, 4));
	EXPECT_OK(FREE(0, 4));
}

TEST_HARNESS_MAIN
