// SPDX-License-Identifier: MIT
/* Reservations, mappings and access. */
#include <pthread.h>
#include <signal.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(address)
{
	CUdeviceptr at;		/* 8 chunks */
	CUmemGenericAllocationHandle memory[5];	/* the sizes are 1, 2, … chunks */
};

FIXTURE_SETUP(address)
{
	cuda_start(0);
	self->at = reserve(8 * CHUNK);
	for (int i = 1; i < 5; i++)
		self->memory[i] = new_memory(0, i * CHUNK);
}
NOTHING_LEFT(address)

#define AT(chunk)	(self->at + (chunk) * CHUNK)
#define MAP(chunk, n)	cuMemMap(AT(chunk), (n) * CHUNK, 0, self->memory[n], 0)
#define UNMAP(chunk, n)	cuMemUnmap(AT(chunk), (n) * CHUNK)
#define LOAD(chunk)	try_load((void *)AT(chunk), NULL)
#define STORE(chunk)	try_store((void *)AT(chunk), 1)

TEST_F(address, reserve_alignment)
{
	CUdeviceptr at = 0;
	size_t alignment;

	EXPECT_EQ(0, self->at % CHUNK);
	for (alignment = 1; alignment <= 1UL << 32; alignment <<= 4) {
		EXPECT_OK(cuMemAddressReserve(&at, CHUNK, alignment, 0, 0));
		EXPECT_EQ(0, at % CHUNK);
		EXPECT_EQ(0, at % alignment);
		EXPECT_OK(cuMemAddressFree(at, CHUNK));
	}
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, 3, 0, 0),
		      "alignment # is not a power of two");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, CHUNK + 4096, 0, 0),
		      "alignment # is not a power of two");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, 1UL << 62, 0, 0),
		      "no address is a multiple of #");
}

TEST_F(address, reserve_arguments)
{
	CUdeviceptr at = 77;

	EXPECT_REASON(cuMemAddressReserve(&at, 0, 0, 0, 0),
		      "size # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemAddressReserve(&at, 4096, 0, 0, 0),
		      "size # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK + 4096, 0, 0, 0),
		      "size # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemAddressReserve(&at, -4096UL, 0, 0, 0),
		      "size # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, 0, self->at + 64 * CHUNK + 4096, 0),
		      "address # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, 0, 0, 1), "flags must be #");
	EXPECT_REASON(cuMemAddressReserve(&at, CHUNK, 0, 0, 1ULL << 32), "flags must be #");
	EXPECT_REASON(cuMemAddressReserve(NULL, CHUNK, 0, 0, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&at, 1UL << 60, 0, 0, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&at, -CHUNK, 0, 0, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&at, CHUNK, 0, 1UL << 63, 0));
	EXPECT_EQ(77, at);
}

TEST_F(address, reserve_hint)
{
	CUdeviceptr at = 0;

	ASSERT_OK(cuMemAddressFree(self->at, 8 * CHUNK));
	EXPECT_OK(cuMemAddressReserve(&at, 2 * CHUNK, 0, self->at + CHUNK, 0));
	EXPECT_EQ(self->at + CHUNK, at);
	/* the hint is taken: the reservation goes elsewhere */
	EXPECT_OK(cuMemAddressReserve(&at, 2 * CHUNK, 0, self->at + CHUNK, 0));
	EXPECT_NE(self->at + CHUNK, at);
	/* the hint is no place for a reservation: it goes elsewhere */
	EXPECT_OK(cuMemAddressReserve(&at, CHUNK, 0, ADDRESS(&at) & -CHUNK, 0));
	EXPECT_NE(ADDRESS(&at) & -CHUNK, at);
	EXPECT_EQ(0, at % CHUNK);
}

/* As on hardware, reservations follow each other upward, without holes. */
TEST_F(address, reserve_side_by_side)
{
	CUdeviceptr at[4], other;
	unsigned int i;
	void *wall;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		at[i] = reserve(3 * CHUNK);
	for (i = 1; i < ARRAY_SIZE(at); i++)
		EXPECT_EQ(at[i - 1] + 3 * CHUNK, at[i]);
	/* the last one's place is the next one's */
	ASSERT_OK(cuMemAddressFree(at[3], 3 * CHUNK));
	EXPECT_EQ(at[3], reserve(CHUNK));
	/* other mappings may be in the way */
	wall = (void *)(at[3] + CHUNK);
	ASSERT_EQ(wall, mmap(wall, CHUNK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS |
			     MAP_FIXED_NOREPLACE, -1, 0));
	at[0] = reserve(2 * CHUNK);
	EXPECT_EQ(at[0] + 2 * CHUNK, reserve(CHUNK));
	/* a greater alignment leaves a hole */
	ASSERT_OK(cuMemAddressReserve(&other, CHUNK, 512 * CHUNK, 0, 0));
	EXPECT_EQ(0, other % (512 * CHUNK));
	EXPECT_LE(at[0] + 3 * CHUNK, other);
	EXPECT_GT(at[0] + 3 * CHUNK + 512 * CHUNK, other);
	ASSERT_EQ(0, munmap(wall, CHUNK));
}

#define RESERVATIONS	200

static pthread_barrier_t start;

static void *reserve_upward(void *failed)
{
	CUdeviceptr at[RESERVATIONS];

	pthread_barrier_wait(&start);
	for (int i = 0; i < RESERVATIONS; i++)
		if (cuMemAddressReserve(&at[i], CHUNK, 0, 0, 0) || (i && at[i] < at[i - 1]))
			++*(int *)failed;
	for (int i = RESERVATIONS - 1; i >= 0; i--)
		if (cuMemAddressFree(at[i], CHUNK))
			++*(int *)failed;
	return NULL;
}

/* Each thread's do so, while others reserve: ranks in threads sort their memories by them. */
TEST_F(address, threads_reserve_upward)
{
	pthread_t threads[4];
	int failed[4] = {};
	int round, i;

	ASSERT_EQ(0, pthread_barrier_init(&start, NULL, 4));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, reserve_upward, &failed[i]));
		for (i = 0; i < 4; i++)
			ASSERT_EQ(0, pthread_join(threads[i], NULL));
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, failed[i]);
	pthread_barrier_destroy(&start);
}

TEST_F(address, free)
{
	EXPECT_REASON(cuMemAddressFree(AT(0), 7 * CHUNK), "the reservation there is #, # bytes");
	EXPECT_REASON(cuMemAddressFree(AT(0), 9 * CHUNK), "the reservation there is #, # bytes");
	EXPECT_REASON(cuMemAddressFree(AT(1), 7 * CHUNK), "the reservation there is #, # bytes");
	EXPECT_REASON(cuMemAddressFree(AT(0), 0), "the reservation there is #, # bytes");
	EXPECT_REASON(cuMemAddressFree((CUdeviceptr)(uintptr_t)&_metadata, 4096),
		      "# is not in a reservation");
	EXPECT_REASON(cuMemAddressFree(0, CHUNK), "# is not in a reservation");
	ASSERT_OK(MAP(7, 1));
	EXPECT_REASON(cuMemAddressFree(AT(0), 8 * CHUNK), "something is still mapped in it");
	ASSERT_OK(UNMAP(7, 1));
	EXPECT_OK(cuMemAddressFree(AT(0), 8 * CHUNK));
	EXPECT_REASON(cuMemAddressFree(AT(0), 8 * CHUNK), "# is not in a reservation");
	EXPECT_EQ(SIGSEGV, LOAD(0));
}

TEST_F(address, map_ranges)
{
	CUmemGenericAllocationHandle one = self->memory[1];

	EXPECT_REASON(cuMemMap(AT(0), 0, 0, one, 0), "the size is #");
	EXPECT_REASON(MAP(8, 1), "# is not in a reservation");
	EXPECT_REASON(cuMemMap(AT(0) + 4096, CHUNK, 0, one, 0),
		      "address # is not a multiple of the granularity #");
	EXPECT_REASON(cuMemMap(AT(0), CHUNK, 0, one, 1), "flags must be #");
	EXPECT_REASON(cuMemMap(AT(0), CHUNK, 0, one, 1ULL << 32), "flags must be #");
	EXPECT_REASON(cuMemMap(AT(0), CHUNK, 0, 12345, 0),
		      "no handle #: never given out, or released");
	EXPECT_REASON(cuMemMap(0, CHUNK, 0, one, 0), "# is not in a reservation");
	EXPECT_REASON(cuMemMap(-CHUNK, CHUNK, 0, one, 0),
		      "# bytes from # are outside the address space of # bytes");
	EXPECT_OK(MAP(0, 4));
	EXPECT_OK(MAP(7, 1));
	EXPECT_REASON(MAP(3, 1), "something is mapped there already");
	EXPECT_REASON(MAP(4, 4), "something is mapped there already");
	EXPECT_REASON(MAP(2, 4), "something is mapped there already");
	EXPECT_OK(MAP(4, 3));
}

/* Only all of a memory can be mapped. */
TEST_F(address, map_part)
{
	CUmemGenericAllocationHandle handle = self->memory[4];

#define PART(bytes, offset)							\
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(AT(0), bytes, offset, handle, 0))
	PART(CHUNK, 0);
	PART(2 * CHUNK, 0);
	PART(5 * CHUNK, 0);
	PART(4096, 0);
	PART(-CHUNK, 0);
	PART(CHUNK, CHUNK);
	PART(4 * CHUNK, CHUNK);
	PART(4 * CHUNK, 4 * CHUNK);
	PART(CHUNK, 4096);
	EXPECT_EQ(SIGSEGV, LOAD(0));
	EXPECT_OK(MAP(0, 4));
}

/* A range over two reservations that happen to touch belongs to neither. */
TEST_F(address, map_over_two_reservations)
{
	CUdeviceptr next = 0;

	ASSERT_OK(cuMemAddressFree(self->at, 8 * CHUNK));
	ASSERT_OK(cuMemAddressReserve(&next, 4 * CHUNK, 0, AT(0), 0));
	ASSERT_EQ(AT(0), next);
	ASSERT_OK(cuMemAddressReserve(&next, 4 * CHUNK, 0, AT(4), 0));
	ASSERT_EQ(AT(4), next);
	EXPECT_REASON(MAP(3, 2), "# bytes are behind the reservation's end, where something else");
	ASSERT_OK(MAP(3, 1));
	ASSERT_OK(MAP(4, 1));
	EXPECT_REASON(UNMAP(3, 2), "# bytes from # leave the reservation");
	EXPECT_REASON(UNMAP(2, 5), "# bytes from # leave the reservation");
	EXPECT_REASON(allow(AT(3), 2 * CHUNK, 0, READ), "# bytes from # leave the reservation");
}

TEST_F(address, memory_mapped_twice)
{
	volatile uint32_t *a, *b;

	ASSERT_OK(MAP(0, 4));
	ASSERT_OK(MAP(4, 4));
	ASSERT_OK(allow(AT(0), 8 * CHUNK, 0, READWRITE));
	a = (volatile uint32_t *)AT(1);
	b = (volatile uint32_t *)AT(5);
	*a = 5;
	EXPECT_EQ(5, *b);
	*b = 6;
	EXPECT_EQ(6, *a);
	ASSERT_OK(UNMAP(0, 4));
	EXPECT_EQ(6, *b);
}

TEST_F(address, no_access_before_set_access)
{
	EXPECT_EQ(SIGSEGV, LOAD(0));
	ASSERT_OK(MAP(0, 4));
	EXPECT_EQ(SIGSEGV, LOAD(0));
	EXPECT_EQ(SIGSEGV, STORE(0));
	ASSERT_OK(allow(AT(0), 4 * CHUNK, 0, READ));
	EXPECT_EQ(0, LOAD(0));
	EXPECT_EQ(SIGSEGV, STORE(0));
	EXPECT_EQ(SIGSEGV, LOAD(4));
	ASSERT_OK(UNMAP(0, 4));
	EXPECT_EQ(SIGSEGV, LOAD(0));
	ASSERT_OK(MAP(0, 4));
	EXPECT_EQ(SIGSEGV, LOAD(0));
}

/* A change of access shows at once, even where the page tables still had the former access. */
TEST_F(address, access_changes)
{
	ASSERT_OK(MAP(0, 1));
	ASSERT_OK(allow(AT(0), CHUNK, 0, READ));
	EXPECT_EQ(0, LOAD(0));
	EXPECT_EQ(SIGSEGV, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 0, READWRITE));
	EXPECT_EQ(0, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 0, READ));
	EXPECT_EQ(SIGSEGV, STORE(0));
	EXPECT_EQ(0, LOAD(0));
	ASSERT_OK(allow(AT(0), CHUNK, 0, READWRITE));
	EXPECT_EQ(0, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 0, NONE));
	EXPECT_EQ(SIGSEGV, LOAD(0));
	EXPECT_EQ(SIGSEGV, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 0, READWRITE));
	EXPECT_EQ(0, STORE(0));
}

/* The CPU may do what any device may. */
TEST_F(address, access_of_any_device)
{
	ASSERT_OK(MAP(0, 1));
	ASSERT_OK(allow(AT(0), CHUNK, 2, READ));
	EXPECT_EQ(0, LOAD(0));
	ASSERT_OK(allow(AT(0), CHUNK, 1, READWRITE));
	EXPECT_EQ(0, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 1, NONE));
	EXPECT_EQ(0, LOAD(0));
	EXPECT_EQ(SIGSEGV, STORE(0));
	ASSERT_OK(allow(AT(0), CHUNK, 2, NONE));
	EXPECT_EQ(SIGSEGV, LOAD(0));
}

TEST_F(address, whole_mappings)
{
	ASSERT_OK(MAP(0, 2));
	ASSERT_OK(MAP(2, 1));
	ASSERT_OK(MAP(4, 1));
	EXPECT_REASON(allow(AT(0), CHUNK, 0, READ),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(allow(AT(1), CHUNK, 0, READ),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(allow(AT(1), 2 * CHUNK, 0, READ),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(allow(AT(0), 5 * CHUNK, 0, READ), "nothing is mapped at #");
	EXPECT_REASON(allow(AT(0), 4 * CHUNK, 0, READ), "nothing is mapped at #");
	EXPECT_REASON(allow(AT(3), CHUNK, 0, READ), "nothing is mapped at #");
	EXPECT_REASON(UNMAP(0, 1), "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(UNMAP(1, 2), "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(UNMAP(1, 4), "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(UNMAP(0, 0), "the size is #");
	EXPECT_REASON(cuMemUnmap(AT(0), CHUNK / 2),
		      "only a part of the mapping of # bytes at # is in the");
	EXPECT_REASON(cuMemUnmap(AT(0), -CHUNK),
		      "# bytes from # are outside the address space of # bytes");
	EXPECT_REASON(UNMAP(0, 9), "# bytes from # leave the reservation");
	EXPECT_REASON(UNMAP(8, 1), "# is not in a reservation");
	EXPECT_REASON(cuMemUnmap(AT(3) + PAGE, CHUNK - PAGE),
		      "# to # begins or ends at no mapping, and at no multiple");
	EXPECT_OK(allow(AT(0), 3 * CHUNK, 0, READ));	/* several mappings are fine */
	EXPECT_EQ(0, LOAD(0));
	EXPECT_EQ(0, LOAD(2));
	EXPECT_OK(UNMAP(3, 1));				/* nothing is mapped here */
	EXPECT_OK(UNMAP(5, 3));
	EXPECT_EQ(0, LOAD(2));
	EXPECT_OK(UNMAP(0, 8));				/* whole mappings, and holes */
	EXPECT_EQ(SIGSEGV, LOAD(0));
	EXPECT_EQ(SIGSEGV, LOAD(2));
	EXPECT_OK(UNMAP(4, 1));
	EXPECT_OK(MAP(0, 4));
	EXPECT_OK(MAP(4, 4));
}

/* A range may end within a chunk, which counts as a whole one, and cuts no mapping. */
TEST_F(address, unmap_ends_anywhere)
{
	ASSERT_OK(cuMemMap(self->at, CHUNK, 0, self->memory[1], 0));
	ASSERT_OK(cuMemMap(self->at + CHUNK, 2 * CHUNK, 0, self->memory[2], 0));
	EXPECT_OK(cuMemUnmap(self->at + 4 * CHUNK, PAGE));
	EXPECT_REASON(cuMemUnmap(self->at, CHUNK + PAGE), "only a part of the mapping");
	EXPECT_REASON(cuMemUnmap(self->at + CHUNK, PAGE), "only a part of the mapping");
	EXPECT_REASON(cuMemUnmap(self->at + PAGE, 4 * CHUNK), "only a part of the mapping");
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(self->at, 8 * CHUNK + PAGE));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(self->at + CHUNK, -1));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(self->at, PAGE - CHUNK));
	/* nothing of that has unmapped anything */
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuMemMap(self->at, CHUNK, 0, self->memory[1], 0));
	EXPECT_OK(cuMemUnmap(self->at, PAGE));
	EXPECT_OK(cuMemUnmap(self->at, 2 * CHUNK + PAGE));
	EXPECT_OK(cuMemMap(self->at, 3 * CHUNK, 0, self->memory[3], 0));
	EXPECT_OK(cuMemUnmap(self->at, 3 * CHUNK + PAGE));
	EXPECT_OK(cuMemMap(self->at, 3 * CHUNK, 0, self->memory[3], 0));
	EXPECT_OK(cuMemUnmap(self->at, 3 * CHUNK));
}

TEST_F(address, several_descriptors)
{
	CUmemAccessDesc desc[3] = {
		{ { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, READ },
		{ { CU_MEM_LOCATION_TYPE_DEVICE, 1 }, READWRITE },
		{ { CU_MEM_LOCATION_TYPE_DEVICE, 99 }, READ },
	};
	unsigned long long access = 77;

	ASSERT_OK(MAP(0, 1));
	/* one bad entry: the call changes no access */
	EXPECT_REASON(cuMemSetAccess(AT(0), CHUNK, desc, 3), "no device #: there are #");
	EXPECT_EQ(SIGSEGV, LOAD(0));
	EXPECT_OK(cuMemSetAccess(AT(0), CHUNK, desc, 2));
	EXPECT_OK(cuMemGetAccess(&access, &desc[0].location, AT(0)));
	EXPECT_EQ(READ, access);
	EXPECT_OK(cuMemGetAccess(&access, &desc[1].location, AT(0)));
	EXPECT_EQ(READWRITE, access);
	EXPECT_REASON(cuMemSetAccess(AT(0), CHUNK, desc, 0), "# to # descriptors");
	EXPECT_REASON(cuMemSetAccess(AT(0), CHUNK, NULL, 1), "# to # descriptors");
	desc[0].flags = 2;
	EXPECT_REASON(cuMemSetAccess(AT(0), CHUNK, desc, 1), "unknown access #");
	desc[0].flags = READ;
	desc[0].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemSetAccess(AT(0), CHUNK, desc, 1));
	desc[0].location.type = 55;
	EXPECT_REASON(cuMemSetAccess(AT(0), CHUNK, desc, 1), "unknown location type #");
}

TEST_F(address, get_access)
{
	CUmemLocation device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	unsigned long long access = 77;

	/* where nothing is mapped, the call fails but writes its output */
	EXPECT_REASON(cuMemGetAccess(&access, &device, AT(0)), "nothing is mapped at #");
	EXPECT_EQ(0, access);
	ASSERT_OK(MAP(0, 2));
	access = 77;
	EXPECT_REASON(cuMemGetAccess(&access, &device, AT(2)), "nothing is mapped at #");
	EXPECT_EQ(0, access);
	access = 77;
	EXPECT_REASON(cuMemGetAccess(&access, &device, ADDRESS(&device)),
		      "# is not in a reservation");
	EXPECT_EQ(0, access);
	access = 77;
	EXPECT_REASON(cuMemGetAccess(NULL, &device, AT(0)), "NULL pointer");
	EXPECT_REASON(cuMemGetAccess(&access, NULL, AT(0)), "NULL pointer");
	EXPECT_REASON(cuMemGetAccess(&access, &device, 0), "NULL pointer");
	EXPECT_EQ(77, access);
	EXPECT_OK(cuMemGetAccess(&access, &device, AT(0)));
	EXPECT_EQ(NONE, access);
	ASSERT_OK(allow(AT(0), 2 * CHUNK, 0, READWRITE));
	EXPECT_OK(cuMemGetAccess(&access, &device, AT(1) + 4097));
	EXPECT_EQ(READWRITE, access);
	device.id = 1;
	EXPECT_OK(cuMemGetAccess(&access, &device, AT(1)));
	EXPECT_EQ(NONE, access);
	device.id = 99;
	access = 77;
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&access, &device, AT(0)));
	EXPECT_EQ(77, access);

	/* the host at large has the access of all devices; its node was given none */
	device = (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST, 0 };
	EXPECT_OK(cuMemGetAccess(&access, &device, AT(0)));
	EXPECT_EQ(READWRITE, access);
	device.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	EXPECT_OK(cuMemGetAccess(&access, &device, AT(0)));
	EXPECT_EQ(NONE, access);
}

/* cuMemGetAccess() does not answer for memory of cuMemAlloc(). */
TEST_F(address, get_access_of_plain_memory)
{
	CUmemLocation device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	unsigned long long access = 77;
	CUdeviceptr plain;
	void *host;

	ASSERT_OK(cuMemAlloc(&plain, CHUNK));
	ASSERT_OK(cuMemAllocHost(&host, 4096));
	EXPECT_OK(cuMemGetAccess(&access, &device, plain));
	EXPECT_EQ(NONE, access);
	access = 77;
	EXPECT_OK(cuMemGetAccess(&access, &device, ADDRESS(host)));
	EXPECT_EQ(NONE, access);
	EXPECT_OK(cuMemFree(plain));
	EXPECT_OK(cuMemFreeHost(host));
}

TEST_HARNESS_MAIN
