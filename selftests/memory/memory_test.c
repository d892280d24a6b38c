// SPDX-License-Identifier: MIT
/* Memories: what can be created, handles, and that fresh memory is zero. */
#include <sys/mman.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(memory)
{
	CUmemAllocationProp prop;
	CUmemGenericAllocationHandle handle;
};

FIXTURE_SETUP(memory)
{
	cuda_start(0);
	self->prop = memory_on(0);
	self->handle = 77;
}
NOTHING_LEFT(memory)

#define CREATE(bytes)	cuMemCreate(&self->handle, bytes, &self->prop, 0)

TEST_F(memory, granularity)
{
	size_t bytes = 0;

	EXPECT_OK(cuMemGetAllocationGranularity(&bytes, &self->prop,
						CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	EXPECT_EQ(CHUNK, bytes);
	bytes = 0;
	EXPECT_OK(cuMemGetAllocationGranularity(&bytes, &self->prop,
						CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	EXPECT_EQ(CHUNK, bytes);
}

/* All memory of any kind has the same granularity. */
TEST_F(memory, granularity_of_anything)
{
	CUmemAllocationProp odd[8];
	size_t bytes, i;

	for (i = 0; i < ARRAY_SIZE(odd); i++)
		odd[i] = self->prop;
	odd[0].location.id = 99;
	odd[1].location.id = -1;
	odd[2].location.type = CU_MEM_LOCATION_TYPE_INVALID;
	odd[3].location.type = CU_MEM_LOCATION_TYPE_HOST;
	odd[4].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	odd[5].type = CU_MEM_ALLOCATION_TYPE_INVALID;
	odd[6].requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
	odd[7].allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		bytes = 77;
		EXPECT_OK(cuMemGetAllocationGranularity(&bytes, &odd[i],
							CU_MEM_ALLOC_GRANULARITY_MINIMUM));
		EXPECT_EQ(CHUNK, bytes);
	}
}

TEST_F(memory, granularity_arguments)
{
	size_t bytes = 77;

	EXPECT_REASON(cuMemGetAllocationGranularity(NULL, &self->prop, 0), "NULL pointer");
	EXPECT_REASON(cuMemGetAllocationGranularity(&bytes, NULL, 0), "NULL pointer");
	EXPECT_REASON(cuMemGetAllocationGranularity(&bytes, &self->prop, 2), "no such option");
	EXPECT_EQ(77, bytes);
}

TEST_F(memory, create_sizes)
{
	EXPECT_REASON(CREATE(0), "the size is #");
	EXPECT_REASON(CREATE(4096), "size # is not a multiple of the granularity #: round it up");
	EXPECT_REASON(CREATE(CHUNK + 4096), "size # is not a multiple of the granularity #: round");
	EXPECT_REASON(CREATE(-4096UL), "size # is not a multiple of the granularity #: round it");
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, CREATE(-CHUNK));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, CREATE(1UL << 62));
	EXPECT_EQ(77, self->handle);
	EXPECT_OK(CREATE(CHUNK));
	EXPECT_NE(77, self->handle);
	EXPECT_OK(CREATE(3 * CHUNK));
}

TEST_F(memory, create_arguments)
{
	EXPECT_REASON(cuMemCreate(NULL, CHUNK, &self->prop, 0), "NULL pointer");
	EXPECT_REASON(cuMemCreate(&self->handle, CHUNK, NULL, 0), "NULL pointer");
	EXPECT_REASON(cuMemCreate(&self->handle, CHUNK, &self->prop, 1), "flags must be #");
	EXPECT_REASON(cuMemCreate(&self->handle, CHUNK, &self->prop, 1ULL << 40),
		      "flags must be #");

	self->prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
	EXPECT_REASON(CREATE(CHUNK), "type # is not PINNED");
	self->prop = memory_on(0);
	self->prop.allocFlags.reserved[3] = 1;
	EXPECT_REASON(CREATE(CHUNK), "reserved bytes must be #");
	self->prop = memory_on(0);
	self->prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC + 1;
	EXPECT_REASON(CREATE(CHUNK), "no such compression");
	self->prop = memory_on(0);
	self->prop.win32HandleMetaData = &self->prop;
	EXPECT_REASON(CREATE(CHUNK), "win#HandleMetaData must be NULL");
	self->prop = memory_on(99);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, CREATE(CHUNK));
	self->prop = memory_on(-1);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, CREATE(CHUNK));
	self->prop = memory_on(0);
	self->prop.location.type = 55;
	EXPECT_REASON(CREATE(CHUNK), "unknown location type #");
	EXPECT_EQ(77, self->handle);
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
}

TEST_F(memory, create_handle_types)
{
	self->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	EXPECT_OK(CREATE(CHUNK));
	self->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
	EXPECT_REASON(CREATE(CHUNK), "handle types #: there are no Windows handles here");
	self->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32_KMT;
	EXPECT_REASON(CREATE(CHUNK), "handle types #: there are no Windows handles here");
	self->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32 | SHAREABLE;
	EXPECT_REASON(CREATE(CHUNK), "handle types #: there are no Windows handles here");
	/* bits that stand for no handle type */
	self->prop.requestedHandleTypes = 0x30;
	EXPECT_OK(CREATE(CHUNK));
	EXPECT_OK(cuMemRelease(self->handle));
	self->prop.requestedHandleTypes = 0x10 | SHAREABLE;
	EXPECT_OK(CREATE(CHUNK));
	EXPECT_OK(cuMemRelease(self->handle));
	self->prop.requestedHandleTypes = 0x10 | CU_MEM_HANDLE_TYPE_WIN32;
	EXPECT_REASON(CREATE(CHUNK), "handle types #: there are no Windows handles here");
}

/* All of the pool, then one chunk more: a failed call takes nothing. */
TEST_F(memory, pool_empty)
{
	size_t bytes = device_bytes(0, "free_bytes");
	CUmemGenericAllocationHandle all;

	ASSERT_LT(2 * CHUNK, bytes);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, CREATE(bytes + CHUNK));
	EXPECT_EQ(bytes, device_bytes(0, "free_bytes"));
	all = new_memory(0, bytes - CHUNK);
	EXPECT_EQ(CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, CREATE(2 * CHUNK));
	EXPECT_EQ(CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_OK(CREATE(CHUNK));
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, CREATE(CHUNK));
	/* and other devices still have memory */
	new_memory(1, CHUNK);
	EXPECT_OK(cuMemRelease(all));
	EXPECT_EQ(bytes - CHUNK, device_bytes(0, "free_bytes"));
}

static size_t words_not_zero(volatile uint32_t *at, size_t bytes)
{
	size_t i, count = 0;

	for (i = 0; i < bytes / 4; i += 16)
		count += at[i] != 0 || at[i + 15] != 0;
	return count;
}

/* Writes to every page of a few chunks, gives them back and takes them again, often. */
TEST_F(memory, fresh_is_zero)
{
	const size_t bytes = 4 * CHUNK;
	CUdeviceptr address = reserve(bytes);
	volatile uint32_t *at = (volatile uint32_t *)address;
	unsigned int round;
	size_t i;

	/* the rest of the pool is taken, so that the same chunks come round */
	new_memory(0, device_bytes(0, "free_bytes") - bytes);
	for (round = 0; round < 8; round++) {
		CUmemGenericAllocationHandle handle = new_memory(0, bytes);

		ASSERT_OK(cuMemMap(address, bytes, 0, handle, 0));
		ASSERT_OK(allow(address, bytes, 0, READWRITE));
		ASSERT_OK(cuMemRelease(handle));
		ASSERT_EQ(0, words_not_zero(at, bytes));
		for (i = 0; i < bytes / 4; i += 16)
			at[i] = at[i + 15] = round + 1;
		ASSERT_OK(cuMemUnmap(address, bytes));
	}
}

TEST_F(memory, release)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	size_t before = device_bytes(0, "free_bytes");

	EXPECT_OK(cuMemRelease(handle));
	EXPECT_EQ(before + CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_REASON(cuMemRelease(handle), "no handle #: never given out, or released");
	EXPECT_REASON(cuMemRelease(0), "no handle #: never given out, or released");
	EXPECT_REASON(cuMemRelease(12345), "no handle #: never given out, or released");
	EXPECT_REASON(cuMemRelease(1ULL << 32 | new_memory(0, CHUNK)), "no such handle");
	EXPECT_REASON(cuMemRelease(-1ULL), "no such handle");
	EXPECT_REASON(cuMemMap(reserve(CHUNK), CHUNK, 0, handle, 0), "no handle #: never given");
	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(&self->prop, handle),
		      "no handle #: never given out, or released");
}

/* Releasing a mapped memory is legal: the mapping keeps the memory. */
/* Numbers of handles come round late, but the table does not grow by those that are released. */
TEST_F(memory, numbers_come_round)
{
	CUmemGenericAllocationHandle handle, most = 0;

	cuda_start(0);
	for (int i = 0; i < 5000; i++) {
		handle = new_team(2, CHUNK);
		most = handle > most ? handle : most;
		ASSERT_OK(cuMemRelease(handle));
	}
	EXPECT_LT(4000, most);
	EXPECT_GT(4200, most);
}

TEST_F(memory, release_while_mapped)
{
	size_t before = device_bytes(0, "free_bytes");
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	volatile uint32_t *at = mapped(handle, CHUNK, 0), *other;

	at[0] = 5;
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_EQ(before - CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_EQ(5, at[0]);
	/* the mapping also keeps the handle valid, though no further release is owed */
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&self->prop, handle));
	other = mapped(handle, CHUNK, 1);
	EXPECT_EQ(5, other[0]);
	EXPECT_REASON(cuMemRelease(handle), "no handle #: never given out, or released");
	EXPECT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	EXPECT_EQ(before - CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemRetainAllocationHandle(&self->handle, (void *)other));
	EXPECT_EQ(handle, self->handle);
	EXPECT_OK(cuMemUnmap(ADDRESS(other), CHUNK));
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(&self->prop, handle),
		      "no handle #: never given out, or released");
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

/* Neither cuMemMap() nor a failed one changes how many releases a handle needs. */
TEST_F(memory, mapping_owes_nothing)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	CUdeviceptr at = reserve(2 * CHUNK);
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
		EXPECT_REASON(cuMemMap(at, CHUNK, 0, handle, 0), "something is mapped there");
		EXPECT_OK(cuMemUnmap(at, 2 * CHUNK));
	}
	EXPECT_REASON(cuMemMap(at + 2 * CHUNK, CHUNK, 0, handle, 0), "# is not in a reservation");
	EXPECT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
	EXPECT_OK(cuMemMap(at + CHUNK, CHUNK, 0, handle, 0));
	EXPECT_OK(cuMemUnmap(at, CHUNK));
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
	/* the last mapping goes with the reservation */
	EXPECT_EQ(0, munmap((void *)at, 2 * CHUNK));
	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(&self->prop, handle),
		      "no handle #: never given out, or released");
}

TEST_F(memory, retain)
{
	CUmemGenericAllocationHandle handle = new_memory(0, 2 * CHUNK), found = 0;
	volatile uint32_t *at = mapped(handle, 2 * CHUNK, 0);
	size_t before = device_bytes(0, "free_bytes");

	EXPECT_OK(cuMemRetainAllocationHandle(&found, (char *)at + CHUNK + 4097));
	EXPECT_EQ(handle, found);
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_REASON(cuMemRelease(handle), "no handle #: never given out, or released");

	/* also when the handle has been released for good */
	EXPECT_OK(cuMemRetainAllocationHandle(&found, (void *)at));
	EXPECT_EQ(handle, found);
	EXPECT_OK(cuMemRetainAllocationHandle(&found, (char *)at + 2 * CHUNK - 1));
	EXPECT_EQ(handle, found);
	EXPECT_OK(cuMemRelease(found));
	EXPECT_OK(cuMemUnmap(ADDRESS(at), 2 * CHUNK));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemRelease(found));
	EXPECT_EQ(before + 2 * CHUNK, device_bytes(0, "free_bytes"));
}

TEST_F(memory, retain_of_what_is_not_mapped)
{
	CUmemGenericAllocationHandle found = 77;
	CUdeviceptr address = reserve(2 * CHUNK);
	int local;

	ASSERT_OK(cuMemMap(address, CHUNK, 0, new_memory(0, CHUNK), 0));
	EXPECT_REASON(cuMemRetainAllocationHandle(&found, (void *)(address + CHUNK)),
		      "no memory with a handle is mapped at #");
	EXPECT_REASON(cuMemRetainAllocationHandle(&found, &local), "# is not in a reservation");
	EXPECT_REASON(cuMemRetainAllocationHandle(&found, NULL), "# is not in a reservation");
	EXPECT_REASON(cuMemRetainAllocationHandle(&found, (void *)-1UL),
		      "# is not in a reservation");
	EXPECT_REASON(cuMemRetainAllocationHandle(NULL, (void *)address), "NULL output");
	EXPECT_EQ(77, found);
}

TEST_F(memory, properties)
{
	CUmemAllocationProp seen;

	self->prop = memory_on(1);
	self->prop.allocFlags.gpuDirectRDMACapable = 1;
	ASSERT_OK(CREATE(CHUNK));
	memset(&seen, 0xff, sizeof(seen));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&seen, self->handle));
	EXPECT_EQ(0, memcmp(&self->prop, &seen, sizeof(seen)));

	self->prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	self->prop.allocFlags.gpuDirectRDMACapable = 0;
	ASSERT_OK(CREATE(CHUNK));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&seen, self->handle));
	EXPECT_EQ(0, memcmp(&self->prop, &seen, sizeof(seen)));

	/* memory for a pool of tiles cannot be mapped; memory for RDMA is never compressed */
	self->prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
	self->prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
	ASSERT_OK(CREATE(CHUNK));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&seen, self->handle));
	self->prop.allocFlags.usage = 0;
	EXPECT_EQ(0, memcmp(&self->prop, &seen, sizeof(seen)));
	EXPECT_REASON(cuMemMap(reserve(CHUNK), CHUNK, 0, self->handle, 0), "the memory is for the");
	self->prop.allocFlags.gpuDirectRDMACapable = 255;
	self->prop.allocFlags.usage = CU_MEM_CREATE_USAGE_HW_DECOMPRESS;
	ASSERT_OK(CREATE(CHUNK));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&seen, self->handle));
	self->prop.allocFlags.gpuDirectRDMACapable = 1;
	self->prop.allocFlags.compressionType = 0;
	self->prop.allocFlags.usage = 0;
	EXPECT_EQ(0, memcmp(&self->prop, &seen, sizeof(seen)));

	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(NULL, self->handle), "NULL output");
	EXPECT_REASON(cuMemGetAllocationPropertiesFromHandle(&seen, 12345), "no handle #: never");
}

TEST_HARNESS_MAIN
