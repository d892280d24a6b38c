// SPDX-License-Identifier: MIT
/* Pools, and stream-ordered allocation. */
#include "pool_fixture.h"
#include "reason.h"

TEST_F(pool, device_attributes)
{
	int value = 77;

	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	EXPECT_OK(cuDeviceGetAttribute(&value,
				       CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0));
	EXPECT_EQ(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, value);
}

TEST_F(pool, create)
{
	CUmemPoolProps good = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 1 },
	}, props = good;
	CUmemoryPool pool = (void *)77;

	EXPECT_REASON(cuMemPoolCreate(NULL, &props), "NULL pointer");
	EXPECT_REASON(cuMemPoolCreate(&pool, NULL), "NULL pointer");
	props.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "type # is not PINNED");
	props = good;
	props.reserved[53] = 1;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "reserved bytes must be #");
	props = good;
	props.handleTypes = 0x10;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "pools are shared as fds only, not #");
	props.handleTypes = CU_MEM_HANDLE_TYPE_WIN32;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "pools are shared as fds only, not #");
	props.handleTypes = CU_MEM_HANDLE_TYPE_WIN32 | SHAREABLE;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "pools are shared as fds only, not #");
	props = good;
	props.maxSize = (1UL << 46) + 1;
	EXPECT_CU_REASON(CUDA_ERROR_OUT_OF_MEMORY, cuMemPoolCreate(&pool, &props),
			 "a pool of # bytes: addresses reach for #");
	props = good;
	props.location.id = 99;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "no device #: there are #");
	props.location.id = -1;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "no device #: there are #");
	props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
	EXPECT_REASON(cuMemPoolCreate(&pool, &props), "no such location");
	EXPECT_EQ((void *)77, pool);
	props = good;
	props.maxSize = 1UL << 46;
	EXPECT_OK(cuMemPoolCreate(&pool, &props));
	EXPECT_OK(cuMemPoolDestroy(pool));
	/* maxSize is a limit: it may be more than the device has */
	props = good;
	props.maxSize = device_bytes(1, "pool_bytes") + 1;
	EXPECT_OK(cuMemPoolCreate(&pool, &props));
	EXPECT_OK(cuMemPoolDestroy(pool));
	/* memcast ignores these fields */
	good.usage = 1 | CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS;
	good.win32SecurityAttributes = &props;
	EXPECT_OK(cuMemPoolCreate(&pool, &good));
	EXPECT_NE(self->pool, pool);
	EXPECT_OK(cuMemPoolDestroy(pool));
	EXPECT_REASON(cuMemPoolDestroy(pool), "no heap #");
	EXPECT_REASON(cuMemPoolDestroy(NULL), "no heap #");
}

TEST_F(pool, current_and_default)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUmemoryPool pool, first, second;

	ASSERT_OK(cuDeviceGetDefaultMemPool(&first, 0));
	ASSERT_OK(cuDeviceGetDefaultMemPool(&second, 1));
	EXPECT_NE(first, second);
	EXPECT_OK(cuDeviceGetMemPool(&pool, 0));
	EXPECT_EQ(first, pool);
	EXPECT_REASON(cuMemPoolDestroy(first), "a device's default pool stays");
	EXPECT_OK(cuDeviceSetMemPool(0, self->pool));
	EXPECT_OK(cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
	EXPECT_EQ(self->pool, pool);
	EXPECT_OK(cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED));
	EXPECT_EQ(first, pool);
	/* a pool of another device, no pool, and no device */
	EXPECT_REASON(cuDeviceSetMemPool(1, self->pool), "the pool is on device #");
	EXPECT_REASON(cuDeviceSetMemPool(0, NULL), "no heap #");
	EXPECT_REASON(cuDeviceSetMemPool(99, self->pool), "no device #: there are #");
	EXPECT_REASON(cuDeviceGetMemPool(&pool, 99), "no device #: there are #");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&pool, -1));
	EXPECT_REASON(cuDeviceGetMemPool(NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_MANAGED));
	location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, self->pool));
	/* once the current pool is destroyed, the default pool is current */
	EXPECT_OK(cuMemPoolDestroy(self->pool));
	EXPECT_OK(cuDeviceGetMemPool(&pool, 0));
	EXPECT_EQ(first, pool);
}

TEST_F(pool, comes_from_the_current_pool)
{
	CUmemoryPool pool, first;
	CUdeviceptr block;

	ASSERT_OK(cuDeviceGetDefaultMemPool(&first, 0));
	ASSERT_OK(cuMemAllocAsync(&block, 1000, self->stream));
	EXPECT_OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
	EXPECT_EQ(first, pool);
	EXPECT_EQ(1000, USED(first));
	EXPECT_EQ(STEP, TAKEN(first));
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
	ASSERT_OK(cuDeviceSetMemPool(0, self->pool));
	ASSERT_OK(cuMemAllocAsync(&block, 1000, self->stream));
	EXPECT_OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
	EXPECT_EQ(self->pool, pool);
	/* cuMemFree() takes a block of a pool as well */
	EXPECT_OK(cuMemFree(block));
	EXPECT_EQ(0, USED(self->pool));
}

TEST_F(pool, alloc_arguments)
{
	CUdeviceptr block = 77;

	EXPECT_REASON(cuMemAllocAsync(NULL, 1, self->stream), "NULL output");
	EXPECT_REASON(cuMemAllocFromPoolAsync(&block, 1, NULL, self->stream), "no heap #");
	EXPECT_REASON(cuMemAllocFromPoolAsync(&block, 1, (void *)0x123456, self->stream),
		      "no heap #");
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuMemAllocAsync(&block, 1, (CUstream)0x12345678));
	EXPECT_EQ(77, block);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocAsync(&block, 1UL << 50, self->stream));
	EXPECT_EQ(0, block);
	block = 77;
	EXPECT_OK(cuMemAllocAsync(&block, 0, self->stream));
	EXPECT_EQ(0, block);
	block = 77;
	EXPECT_OK(cuMemAllocFromPoolAsync(&block, 0, self->pool, self->stream));
	EXPECT_EQ(0, block);
	EXPECT_OK(cuMemFreeAsync(0, self->stream));
	EXPECT_REASON(cuMemFreeAsync(77, self->stream), "no block starts at #; what was mapped is");
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemAllocAsync(&block, 1, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemFreeAsync(77, NULL));
	/* with no context current, the stream's own context is used */
	EXPECT_OK(cuMemAllocAsync(&block, 1, self->stream));
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
}

/* Lets @stream wait until the word at the returned address is 1. */
#define close_gate(stream)	close_gate_(_metadata, stream)
static CUdeviceptr close_gate_(struct __test_metadata *_metadata, CUstream stream)
{
	CUdeviceptr at;

	ASSERT_OK(cuMemAlloc(&at, 4));
	*(volatile uint32_t *)at = 0;
	ASSERT_OK(cuStreamWaitValue32(stream, at, 1, CU_STREAM_WAIT_VALUE_GEQ));
	return at;
}

TEST_F(pool, free_is_work_in_the_stream)
{
	CUdeviceptr block, plain, gate = close_gate(self->stream);

	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, self->pool, self->stream));
	ASSERT_OK(cuMemAlloc(&plain, 1000));
	ASSERT_OK(cuMemsetD32Async(block, 5, 250, self->stream));
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_OK(cuMemFreeAsync(plain, self->stream));
	EXPECT_EQ(1000, USED(self->pool));
	/* a second free fails although the first has not happened yet */
	EXPECT_REASON(cuMemFreeAsync(block, self->stream), "the block at # is being freed already");
	EXPECT_REASON(cuMemFree(block), "the block at # is being freed already");
	EXPECT_REASON(cuMemFreeAsync(plain, NULL), "the block at # is being freed already");
	*(volatile uint32_t *)gate = 1;
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_REASON(cuMemFreeAsync(block, self->stream), "no block starts at #; what was mapped");
	EXPECT_REASON(cuMemFree(plain), "# is not in a reservation");
}

/* An allocation waits for a free before it in the stream when the device has no free chunk. */
TEST_F(pool, alloc_waits_for_frees_before_it)
{
	long bytes = device_bytes(0, "pool_bytes");
	CUdeviceptr block, other, third;

	ASSERT_OK(cuMemAllocFromPoolAsync(&block, bytes, self->pool, self->stream));
	ASSERT_OK(cuMemsetD8Async(block, 5, bytes, self->stream));
	ASSERT_OK(cuMemFreeAsync(block, self->stream));
	ASSERT_OK(cuMemAllocFromPoolAsync(&other, bytes, self->pool, self->stream));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemAllocFromPoolAsync(&third, 1, self->pool, self->stream));
	EXPECT_OK(cuMemFreeAsync(other, self->stream));
}

TEST_F(pool, free_in_a_context_that_ends)
{
	CUcontext context;
	CUdeviceptr block;
	CUstream stream;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	close_gate(stream);
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, self->pool, stream));
	ASSERT_OK(cuMemFreeAsync(block, stream));
	ASSERT_OK(cuCtxDestroy(context));
	while (USED(self->pool))
		usleep(1000);
	EXPECT_REASON(cuMemFree(block), "# is not in a reservation");
}

/* A queued free of a block that has ended with its context is no fault. */
TEST_F(pool, free_after_the_context_of_the_block)
{
	CUdeviceptr block, gate = close_gate(self->stream);
	CUcontext context;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuMemFreeAsync(block, self->stream));
	ASSERT_OK(cuCtxDestroy(context));
	*(volatile uint32_t *)gate = 1;
	EXPECT_OK(cuStreamSynchronize(self->stream));
}

TEST_F(pool, switches)
{
	int i, value;

	for (i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
	     i <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; i++) {
		value = 77;
		EXPECT_OK(cuMemPoolGetAttribute(self->pool, i, &value));
		EXPECT_EQ(1, value);
		value = 0;
		EXPECT_OK(cuMemPoolSetAttribute(self->pool, i, &value));
		value = 77;
		EXPECT_OK(cuMemPoolGetAttribute(self->pool, i, &value));
		EXPECT_EQ(0, value);
		value = i % 2 ? 2 : -1;
		EXPECT_OK(cuMemPoolSetAttribute(self->pool, i, &value));
		EXPECT_OK(cuMemPoolGetAttribute(self->pool, i, &value));
		EXPECT_EQ(1, value);
	}
	EXPECT_REASON(cuMemPoolGetAttribute(self->pool, 0, &value), "no attribute #");
	EXPECT_REASON(cuMemPoolGetAttribute(self->pool, 9, &value), "no attribute #");
	EXPECT_REASON(cuMemPoolGetAttribute(self->pool, 1, NULL), "NULL output");
	EXPECT_REASON(cuMemPoolGetAttribute(NULL, 1, &value), "no heap #");
}

TEST_F(pool, access)
{
	CUmemLocation second = { CU_MEM_LOCATION_TYPE_DEVICE, 1 };
	CUmemAccessDesc desc = { .location = second, .flags = READWRITE };
	CUdeviceptr block, later, other;
	CUmemAccess_flags flags = 77;
	CUcontext context;

	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, self->pool, self->stream));
	EXPECT_OK(cuMemPoolGetAccess(&flags, self->pool, &second));
	EXPECT_EQ(NONE, flags);
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuMemAlloc(&other, 1000));
	EXPECT_REASON(cuMemcpyDtoD(other, block, 1000), "device # cannot read # bytes at #:");
	EXPECT_OK(cuMemPoolSetAccess(self->pool, &desc, 1));
	EXPECT_OK(cuMemPoolGetAccess(&flags, self->pool, &second));
	EXPECT_EQ(READWRITE, flags);
	EXPECT_OK(cuMemcpyDtoD(other, block, 1000));
	/* blocks that are allocated later have the same access */
	ASSERT_OK(cuMemAllocFromPoolAsync(&later, 4 * CHUNK, self->pool, self->stream));
	EXPECT_OK(cuMemcpyDtoD(other, later, 1000));
	desc.flags = READ;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolSetAccess(self->pool, &desc, 1));
	EXPECT_OK(cuMemcpyDtoD(later, other, 1000));
	desc.flags = NONE;
	EXPECT_OK(cuMemPoolSetAccess(self->pool, &desc, 1));
	EXPECT_REASON(cuMemcpyDtoD(other, later, 1000), "device # cannot read # bytes at #:");
	EXPECT_REASON(cuMemcpyDtoD(later, other, 1000), "device # cannot write # bytes at #:");
	desc.flags = 2;
	EXPECT_REASON(cuMemPoolSetAccess(self->pool, &desc, 1), "unknown access #");
	desc.flags = NONE;
	desc.location.id = 0;
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMemPoolSetAccess(self->pool, &desc, 1));
	desc.location.id = 99;
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMemPoolSetAccess(self->pool, &desc, 1));
	EXPECT_REASON(cuMemPoolSetAccess(self->pool, NULL, 1), "NULL pointer");
	EXPECT_REASON(cuMemPoolSetAccess(self->pool, NULL, 0), "NULL pointer");
	EXPECT_OK(cuMemPoolSetAccess(self->pool, &desc, 0));
	desc.location = (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST, 0 };
	desc.flags = READWRITE;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolSetAccess(self->pool, &desc, 1));
	flags = 77;
	EXPECT_OK(cuMemPoolGetAccess(&flags, self->pool, &desc.location));
	EXPECT_EQ(NONE, flags);
	EXPECT_REASON(cuMemPoolGetAccess(NULL, self->pool, &second), "NULL pointer");
}

/* Whole chunks of a shareable pool can be bound; blocks of less than a chunk cannot. */
TEST_F(pool, bound_to_a_team)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemGenericAllocationHandle team = complete_team(2, 4 * CHUNK), handle;
	CUdeviceptr block, small, unshared;
	volatile uint32_t *window;
	CUmemoryPool pool;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	ASSERT_OK(cuMemAllocFromPoolAsync(&small, 512, pool, self->stream));
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 2 * CHUNK, pool, self->stream));
	ASSERT_OK(cuMemAllocFromPoolAsync(&unshared, CHUNK, self->pool, self->stream));
	EXPECT_REASON(cuMulticastBindAddr(team, 0, small & ~(CHUNK - 1), CHUNK, 0),
		      "a pool's memory is bound as an allocation of whole chunks: cuMemAllocAsync() of # bytes or more");
	EXPECT_REASON(cuMulticastBindAddr(team, 0, unshared, CHUNK, 0), "a shareable team takes");
	EXPECT_REASON(cuMemRetainAllocationHandle(&handle, (void *)block),
		      "no memory with a handle is mapped at #");
	ASSERT_OK(cuMulticastBindAddr(team, CHUNK, block, 2 * CHUNK, 0));
	window = mapped(team, 4 * CHUNK, 0);
	ASSERT_OK(cuMemsetD32(ADDRESS(window) + 2 * CHUNK, 9, 1));
	EXPECT_EQ(9, *(volatile uint32_t *)(block + CHUNK));
	/* a binding ends with its memory */
	EXPECT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_NE(0, try_load(window + 2 * CHUNK / 4, NULL));
	EXPECT_REASON(cuMulticastUnbind(team, 0, CHUNK, 2 * CHUNK), "nothing of device # is bound");
}

TEST_F(pool, per_thread_names)
{
	CUresult (*alloc)(CUdeviceptr *address, size_t bytes, CUstream stream) = NULL;
	CUresult (*done)(CUdeviceptr address, CUstream stream) = NULL;
	const cuuint64_t own = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	CUdeviceptr block;

	ASSERT_OK(cuGetProcAddress("cuMemAllocAsync", (void **)&alloc, 13000, own, NULL));
	ASSERT_OK(cuGetProcAddress("cuMemFreeAsync", (void **)&done, 13000, own, NULL));
	ASSERT_OK(alloc(&block, 100, NULL));
	EXPECT_OK(done(block, NULL));
}

TEST_HARNESS_MAIN
