// SPDX-License-Identifier: MIT
/* Calls refuse what is no pool, no location of a pool or no attribute of one, and say why. */
#include "pool_fixture.h"
#include "reason.h"

#define FABRIC	CU_MEM_HANDLE_TYPE_FABRIC

/* Every call that takes a pool refuses @pool for the reason @text, and writes no output. */
#define EXPECT_NO_POOL(pool, text)						\
do {										\
	CUmemoryPool no_ = (pool);						\
	CUdeviceptr block_ = 77;						\
	CUmemAccess_flags access_ = 77;						\
	CUmemPoolPtrExportData data_ = {};					\
	cuuint64_t value_ = 0;							\
	int fd_ = -7;								\
										\
	EXPECT_REASON(cuMemPoolTrimTo(no_, 0), text);				\
	EXPECT_REASON(cuMemPoolDestroy(no_), text);				\
	EXPECT_REASON(cuMemPoolSetAttribute(no_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, \
					    &value_), text);			\
	EXPECT_REASON(cuMemPoolGetAttribute(no_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, \
					    &value_), text);			\
	EXPECT_REASON(cuMemPoolSetAccess(no_, &second, 1), text);		\
	EXPECT_REASON(cuMemPoolGetAccess(&access_, no_, &second.location), text); \
	EXPECT_REASON(cuMemAllocFromPoolAsync(&block_, 4, no_, self->stream), text); \
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd_, no_, SHAREABLE, 0), text); \
	EXPECT_REASON(cuMemPoolImportPointer(&block_, no_, &data_), text);	\
	EXPECT_REASON(cuDeviceSetMemPool(0, no_), text);			\
	EXPECT_REASON(cuMemSetMemPool(&first, CU_MEM_ALLOCATION_TYPE_PINNED, no_), text); \
	EXPECT_EQ(77, block_);							\
	EXPECT_EQ(77, access_);							\
	EXPECT_EQ(-7, fd_);							\
} while (0)

static CUmemLocation first = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
static CUmemAccessDesc second = {
	.location = { CU_MEM_LOCATION_TYPE_DEVICE, 1 }, .flags = READWRITE,
};

TEST_F(pool, handles_that_are_none)
{
	CUmemoryPool pool, current;

	EXPECT_NO_POOL(NULL, "no heap #");
	EXPECT_NO_POOL((CUmemoryPool)0x123456, "no heap #");
	/* a number of more than 32 bits, of which the lower 32 are the pool's */
	EXPECT_NO_POOL((CUmemoryPool)((uintptr_t)self->pool | 1UL << 32), "not a pool");
	EXPECT_NO_POOL((CUmemoryPool)-1UL, "not a pool");
	ASSERT_OK(cuDeviceGetMemPool(&pool, 0));
	ASSERT_OK(cuDeviceGetDefaultMemPool(&current, 0));
	EXPECT_EQ(current, pool);
	ASSERT_OK(cuMemPoolDestroy(self->pool));
	EXPECT_NO_POOL(self->pool, "no heap #");
}

/* The heaps of contexts have numbers like pools', and no call takes one for a pool. */
TEST_F(pool, memory_of_contexts_is_none)
{
	uintptr_t last = (uintptr_t)self->pool + 64, i;
	unsigned int pools = 0;
	CUdeviceptr plain;
	int devices;
	void *host;

	ASSERT_OK(cuDeviceGetCount(&devices));
	ASSERT_OK(cuMemAlloc(&plain, 4));
	ASSERT_OK(cuMemAllocHost(&host, 4));
	for (i = 0; i <= last; i++) {
		CUresult result = cuMemPoolTrimTo((CUmemoryPool)i, 0);

		ASSERT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
		pools += result == CUDA_SUCCESS;
	}
	/* the devices' default pools, and the test's own pool */
	EXPECT_EQ(devices + 1, pools);
	EXPECT_OK(cuMemFree(plain));
	EXPECT_OK(cuMemFreeHost(host));
}

TEST_F(pool, places_that_are_none)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED };
	static const struct {
		CUmemLocationType type;
		CUresult create, get;
	} places[] = {
		{ CU_MEM_LOCATION_TYPE_INVALID, CUDA_ERROR_INVALID_VALUE,
		  CUDA_ERROR_INVALID_VALUE },
		{ CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, CUDA_ERROR_INVALID_VALUE,
		  CUDA_ERROR_NOT_SUPPORTED },
		{ 99, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED },
	};
	const CUmemAllocationType pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
	static const int nodes[] = { 64, 99, -1 };
	CUmemAccess_flags access = 77;
	CUmemoryPool pool = (void *)77;
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		CUmemLocation place = { places[i].type, 0 };

		props.location = place;
		EXPECT_CU(places[i].create, cuMemPoolCreate(&pool, &props)) TH_LOG("%u", i);
		EXPECT_CU(places[i].get, cuMemGetMemPool(&pool, &place, pinned))
			TH_LOG("%u", i);
		EXPECT_CU(places[i].get, cuMemGetDefaultMemPool(&pool, &place, pinned))
			TH_LOG("%u", i);
		EXPECT_CU(places[i].get, cuMemSetMemPool(&place, pinned, self->pool))
			TH_LOG("%u", i);
		EXPECT_REASON(cuMemPoolGetAccess(&access, self->pool, &place), "no such location");
	}
	EXPECT_REASON(cuMemGetMemPool(&pool, NULL, pinned), "NULL pointer");
	EXPECT_REASON(cuMemGetDefaultMemPool(&pool, NULL, pinned), "NULL pointer");
	EXPECT_REASON(cuMemSetMemPool(NULL, pinned, self->pool), "NULL pointer");
	EXPECT_REASON(cuMemGetMemPool(NULL, &first, pinned), "NULL output");
	EXPECT_REASON(cuMemGetMemPool(&pool, &first, CU_MEM_ALLOCATION_TYPE_INVALID),
		      "no such type");
	EXPECT_REASON(cuMemGetMemPool(&pool, &first, 99), "no such type");
	EXPECT_REASON(cuMemPoolGetAccess(&access, self->pool, NULL), "NULL pointer");
	EXPECT_REASON(cuMemGetMemPool(&pool,
				      &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 99 },
				      pinned), "no device #: there are #");
	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		CUmemLocation node = { CU_MEM_LOCATION_TYPE_HOST_NUMA, nodes[i] };

		EXPECT_REASON(cuMemGetMemPool(&pool, &node, pinned), "no NUMA node ");
		/* which is how the module's reason would end */
		EXPECT_EQ(NULL, strstr(reason_heard(), " with memory"))
			TH_LOG("%d", nodes[i]);
	}
	EXPECT_REASON(cuMemPoolGetAccess(&access, self->pool,
					 &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, -1 }),
		      "no device #: there are #");
	EXPECT_EQ((void *)77, pool);
	EXPECT_EQ(77, access);
}

/* The host and each NUMA node have pools, too. Their default pools cannot be destroyed. */
TEST_F(pool, on_the_host)
{
	static const CUmemLocation places[] = {
		{ CU_MEM_LOCATION_TYPE_HOST, 5 }, { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 },
	};
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED };
	const CUmemAllocationType pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
	CUmemLocation on_device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUmemoryPool pool, again, current, other;
	CUmemAccess_flags access;
	unsigned int type, i;
	CUdeviceptr block;

	for (i = 0; i < 2; i++) {
		CUmemLocation place = places[i];

		ASSERT_OK(cuMemGetDefaultMemPool(&pool, &place, pinned));
		ASSERT_OK(cuMemGetDefaultMemPool(&again, &place, pinned));
		ASSERT_OK(cuMemGetMemPool(&current, &place, pinned));
		EXPECT_EQ(pool, again);
		EXPECT_EQ(pool, current);
		EXPECT_REASON(cuMemPoolDestroy(pool), "a default pool stays");
		EXPECT_REASON(cuMemSetMemPool(&place, pinned, self->pool), "the host's current");
		EXPECT_REASON(cuMemSetMemPool(&place, pinned, pool), "the host's current pools");
		EXPECT_REASON(cuDeviceSetMemPool(0, pool), "the pool is on the host");
		props.location = place;
		ASSERT_OK(cuMemPoolCreate(&other, &props));
		EXPECT_NE(pool, other);
		EXPECT_OK(cuMemPoolGetAccess(&access, other, &place));
		EXPECT_EQ(READWRITE, access);
		EXPECT_OK(cuMemPoolGetAccess(&access, other, &on_device));
		EXPECT_EQ(NONE, access);
		ASSERT_OK(cuMemAllocFromPoolAsync(&block, 5000, other, self->stream));
		memset((void *)block, 7, 5000);
		EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
		EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
		EXPECT_REASON(cuMemFreeHost((void *)block), "the block at # is of another kind");
		EXPECT_OK(cuMemFreeAsync(block, self->stream));
		EXPECT_OK(cuMemPoolDestroy(other));
	}
	props.location.id = 99;
	EXPECT_REASON(cuMemPoolCreate(&other, &props), "no NUMA node # with memory");
}

/* A pool of managed memory may have no location; memcast has no pools of managed memory. */
TEST_F(pool, managed_memory)
{
	CUmemLocation place = { CU_MEM_LOCATION_TYPE_INVALID, 0 };
	CUmemoryPool pool = (void *)77;

	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_MANAGED));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetDefaultMemPool(&pool, &first, CU_MEM_ALLOCATION_TYPE_MANAGED));
	place.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetMemPool(&pool, &place, CU_MEM_ALLOCATION_TYPE_MANAGED));
	EXPECT_EQ((void *)77, pool);
}

/* Each switch is turned on by itself, after all are off. */
TEST_F(pool, switches_go_back)
{
	const int first = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
	const int last = CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
	int i, j, on, off = 0, yes = 1;

	EXPECT_REASON(cuMemPoolSetAttribute(self->pool, first, NULL), "NULL pointer");
	for (i = first; i <= last; i++)
		ASSERT_OK(cuMemPoolSetAttribute(self->pool, i, &off));
	for (i = first; i <= last; i++) {
		ASSERT_OK(cuMemPoolSetAttribute(self->pool, i, &yes));
		for (j = first; j <= last; j++) {
			EXPECT_OK(cuMemPoolGetAttribute(self->pool, j, &on));
			EXPECT_EQ(j <= i, on) TH_LOG("%d after %d", j, i);
		}
	}
}

/* Pools are exported as fds only; memories also have fabric handles. */
TEST_F(pool, handle_types)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemoryPool pool, other = (void *)77;
	CUmemFabricHandle handle = {};
	int fd;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemPoolExportToShareableHandle(&handle, pool, FABRIC, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemPoolImportFromShareableHandle(&other, &handle, FABRIC, 0));
	ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
	EXPECT_REASON(cuMemPoolImportFromShareableHandle(NULL, (void *)(intptr_t)fd,
							 SHAREABLE, 0), "NULL output");
	EXPECT_REASON(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd,
							 SHAREABLE, 1), "flags must be #");
	EXPECT_EQ((void *)77, other);
}

TEST_HARNESS_MAIN
