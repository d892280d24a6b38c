// SPDX-License-Identifier: MIT
/* Plain allocation on devices. */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(alloc) { char unused; };
FIXTURE_SETUP(alloc) { }
NOTHING_LEFT(alloc)

TEST_F(alloc, needs_a_context)
{
	CUdeviceptr address = 77;
	size_t pitch = 77;
	void *host = NULL;
	char own[64];

	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&address, 1));
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuMemHostRegister(own, 1, 0));
	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemAllocPitch(&address, &pitch, 1, 1, 4));
	EXPECT_REASON(cuMemFree(77), "# is not in a reservation");
	EXPECT_OK(cuMemFree(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemHostAlloc(&host, 1, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemAllocHost(&host, 1));
	EXPECT_REASON(cuMemFreeHost(own), "# is not in a reservation");
	EXPECT_OK(cuMemFreeHost(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemHostRegister(own, 1, 0));
	EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
	EXPECT_EQ(77, address);
	EXPECT_EQ(77, pitch);
	EXPECT_EQ(NULL, host);
}

TEST_F(alloc, arguments)
{
	CUdeviceptr address = 77;
	size_t pitch = 77;

	cuda_start(0);
	EXPECT_REASON(cuMemAlloc(NULL, 1), "NULL output");
	EXPECT_REASON(cuMemAllocPitch(&address, NULL, 1, 1, 4), "NULL output");
	EXPECT_EQ(77, address);
	EXPECT_REASON(cuMemAlloc(&address, 0), "the size is #");
	EXPECT_EQ(0, address);
	address = 77;
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 1UL << 50));
	EXPECT_EQ(0, address);
	address = 77;
	EXPECT_REASON(cuMemAllocPitch(NULL, &pitch, 1, 1, 4), "NULL output");
	EXPECT_REASON(cuMemAllocPitch(&address, &pitch, 0, 1, 4), "the size is #");
	EXPECT_REASON(cuMemAllocPitch(&address, &pitch, 1, 0, 4), "the size is #");
	EXPECT_REASON(cuMemAllocPitch(&address, &pitch, 1, 1, 5),
		      "elements are of #, # or # bytes");
	EXPECT_EQ(0, address);
	EXPECT_EQ(0, pitch);
	/* pitch times height is a multiple of 2^64: 0, in 64 bits */
	EXPECT_REASON(cuMemAllocPitch(&address, &pitch, 1UL << 40, 1UL << 40, 4), "the size is #");
	EXPECT_EQ(1UL << 40, pitch);
	EXPECT_REASON(cuMemAllocPitch(&address, &pitch, ~0UL, 2, 4), "the size is #");
	EXPECT_EQ(0, pitch);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocPitch(&address, &pitch, 100, ~0UL, 4));
	EXPECT_EQ(0, address);
	EXPECT_EQ(512, pitch);
	EXPECT_REASON(cuMemHostAlloc(NULL, 1, 0), "NULL output");
	EXPECT_OK(cuMemGetInfo(NULL, &pitch));
	EXPECT_OK(cuMemGetInfo(&pitch, NULL));
	EXPECT_OK(cuMemGetInfo(NULL, NULL));
}

/* Small blocks share a chunk and do not overlap; the chunk is free with the last of them. */
TEST_F(alloc, small_blocks_share_a_chunk)
{
	long before = device_bytes(0, "free_bytes");
	CUdeviceptr at[64];
	unsigned int i, j;

	cuda_start(0);
	for (i = 0; i < 64; i++) {
		ASSERT_OK(cuMemAlloc(&at[i], 1 + 300 * i));
		EXPECT_EQ(0, at[i] % 512);
		ASSERT_OK(cuMemsetD8(at[i], i, 1 + 300 * i));
	}
	EXPECT_EQ(before - (long)CHUNK, device_bytes(0, "free_bytes"));
	for (i = 0; i < 64; i++)
		for (j = 0; j < 1 + 300 * i; j++)
			ASSERT_EQ(i, ((unsigned char *)at[i])[j]);
	for (i = 0; i < 64; i++)
		EXPECT_OK(cuMemFree(at[i]));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

/* Blocks that come and go beside one that stays take no more than its chunk. */
TEST_F(alloc, small_blocks_take_freed_room)
{
	CUdeviceptr kept, at;
	long before;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&kept, CHUNK / 16));
	before = device_bytes(0, "free_bytes");
	for (unsigned int i = 0; i < 100; i++) {
		ASSERT_OK(cuMemAlloc(&at, CHUNK / 16));
		EXPECT_EQ(before, device_bytes(0, "free_bytes"));
		ASSERT_OK(cuMemFree(at));
	}
	EXPECT_OK(cuMemFree(kept));
}

TEST_F(alloc, large_blocks_are_whole_chunks)
{
	long before = device_bytes(0, "free_bytes");
	CUdeviceptr first, second;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&first, CHUNK));
	ASSERT_OK(cuMemAlloc(&second, 2 * CHUNK + 1));
	EXPECT_EQ(0, (first | second) % CHUNK);
	EXPECT_EQ(before - 4 * (long)CHUNK, device_bytes(0, "free_bytes"));
	*(volatile uint32_t *)(second + 2 * CHUNK - 4) = 5;
	EXPECT_OK(cuMemFree(second));
	EXPECT_EQ(before - (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_NE(0, try_load((void *)second, NULL));
	EXPECT_OK(cuMemFree(first));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

TEST_F(alloc, rows)
{
	CUdeviceptr address;
	size_t pitch, bytes;

	cuda_start(0);
	ASSERT_OK(cuMemAllocPitch(&address, &pitch, 700, 10, 16));
	EXPECT_EQ(1024, pitch);
	EXPECT_OK(cuMemsetD2D8(address, pitch, 3, 700, 10));
	EXPECT_OK(cuMemGetAddressRange(NULL, &bytes, address + 9 * pitch));
	EXPECT_EQ(10 * pitch, bytes);
	EXPECT_OK(cuMemFree(address));
}

TEST_F(alloc, out_of_memory_takes_nothing)
{
	long total = device_bytes(0, "pool_bytes");
	CUdeviceptr address = 77, all, again;

	cuda_start(0);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, total + 1));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, SIZE_MAX));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, SIZE_MAX - CHUNK));
	EXPECT_EQ(total, device_bytes(0, "free_bytes"));
	ASSERT_OK(cuMemAlloc(&all, total));
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 1));
	EXPECT_EQ(0, address);
	EXPECT_OK(cuMemFree(all));
	EXPECT_OK(cuMemAlloc(&again, total));
	EXPECT_OK(cuMemFree(again));
}

TEST_F(alloc, free_takes_the_base_of_a_block_once)
{
	CUdeviceptr block, reserved;
	volatile uint32_t *vmm;
	CUmemGenericAllocationHandle handle;
	uint32_t own;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, 4096));
	handle = new_memory(0, CHUNK);
	vmm = mapped(handle, CHUNK, 0);
	reserved = reserve(CHUNK);
	EXPECT_OK(cuMemFree(0));
	EXPECT_REASON(cuMemFree(block + 1), "no block starts at #; what was mapped is unmapped");
	EXPECT_REASON(cuMemFree(block + 512), "no block starts at #; what was mapped is unmapped");
	EXPECT_REASON(cuMemFree(block + 4096), "# is not in a reservation");
	EXPECT_REASON(cuMemFree(ADDRESS(vmm)), "no block starts at #; what was mapped is unmapped");
	EXPECT_REASON(cuMemFree(reserved), "no block starts at #; what was mapped is unmapped");
	EXPECT_REASON(cuMemFree(ADDRESS(&own)), "# is not in a reservation");
	EXPECT_REASON(cuMemFreeHost((void *)block), "the block at # is of another kind");
	EXPECT_OK(cuMemFree(block));
	EXPECT_REASON(cuMemFree(block), "# is not in a reservation");
}

/* Calls for mapped memory refuse a block. */
TEST_F(alloc, is_not_vmm)
{
	CUmemGenericAllocationHandle handle = 77, team, own;
	CUdeviceptr block, managed;
	void *host;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, CHUNK));
	ASSERT_OK(cuMemHostAlloc(&host, CHUNK, 0));
	ASSERT_OK(cuMemAllocManaged(&managed, CHUNK, CU_MEM_ATTACH_GLOBAL));
	team = complete_team(2, CHUNK);
	own = new_memory(0, CHUNK);
	EXPECT_REASON(cuMemRetainAllocationHandle(&handle, (void *)block),
		      "no memory with a handle is mapped at #");
	EXPECT_REASON(cuMemUnmap(block, CHUNK), "what is at # is a heap's");
	EXPECT_REASON(cuMemMap(block, CHUNK, 0, own, 0), "what is at # is a heap's");
	EXPECT_REASON(allow(block, CHUNK, 0, READ), "what is at # is a heap's");
	EXPECT_REASON(cuMemAddressFree(block, CHUNK), "what is at # is a heap's");
	EXPECT_REASON(cuMulticastBindAddr(team, 0, block, CHUNK, 0),
		      "memory of cuMemAlloc() cannot be bound; that of cuMemCreate() can, and that of cuMemAllocAsync() from # bytes on");
	EXPECT_REASON(cuMulticastBindAddr(team, 0, ADDRESS(host), CHUNK, 0),
		      "memory of cuMemHostAlloc() or cuMemAllocManaged() cannot be bound; that of cuMemCreate() can");
	EXPECT_REASON(cuMulticastBindAddr(team, 0, managed, CHUNK, 0),
		      "memory of cuMemHostAlloc() or cuMemAllocManaged() cannot be bound; that of cuMemCreate() can");
	EXPECT_EQ(77, handle);
	*(volatile uint32_t *)block = 1;
	EXPECT_OK(cuMemFree(block));
}

TEST_F(alloc, copies_stay_in_the_block)
{
	CUdeviceptr first, second;
	char data[4096] = { 1, 2, 3 }, back[4096];

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&first, 1000));
	ASSERT_OK(cuMemAlloc(&second, 4096));
	EXPECT_OK(cuMemcpyHtoD(first, data, 1000));
	EXPECT_REASON(cuMemcpyHtoD(first, data, 1001), "the destination leaves the block at #");
	EXPECT_REASON(cuMemcpyHtoD(first + 999, data, 2), "the destination leaves the block at #");
	EXPECT_REASON(cuMemcpyHtoD(first + 1000, data, 1), "the destination leaves the block at #");
	EXPECT_REASON(cuMemsetD8(first, 0, 1001), "the destination leaves the block at #");
	EXPECT_OK(cuMemcpyDtoD(second, first, 1000));
	EXPECT_OK(cuMemcpyDtoH(back, second, 1000));
	EXPECT_EQ(0, memcmp(data, back, 1000));
	EXPECT_OK(cuMemFree(first));
	EXPECT_REASON(cuMemcpyHtoD(first, data, 1), "the destination leaves the block at #");
	EXPECT_OK(cuMemFree(second));
}

TEST_F(alloc, every_device_may_access)
{
	CUdeviceptr block, other;
	CUcontext second;
	uint32_t value;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, 4));
	ASSERT_OK(cuMemsetD32(block, 5, 1));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&second, 1));
	ASSERT_OK(cuCtxSetCurrent(second));
	ASSERT_OK(cuMemAlloc(&other, 4));
	EXPECT_OK(cuMemcpyDtoD(other, block, 4));
	EXPECT_OK(cuMemcpyDtoH(&value, other, 4));
	EXPECT_EQ(5, value);
	EXPECT_OK(cuMemFree(block));
	EXPECT_OK(cuMemFree(other));
}

TEST_F(alloc, pointers)
{
	unsigned int type, ordinal, exportable;
	CUdeviceptr block, other, base, start;
	unsigned long long id, id2;
	CUcontext context, current;
	CUmemoryPool pool;
	size_t bytes;

	cuda_start(1);
	ASSERT_OK(cuCtxGetCurrent(&current));
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuMemAlloc(&other, 1000));
	EXPECT_OK(cuMemGetAddressRange(&base, &bytes, block + 999));
	EXPECT_EQ(block, base);
	EXPECT_EQ(1000, bytes);
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, block + 1000));
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block + 5));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block));
	EXPECT_EQ(1, ordinal);
	EXPECT_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, block));
	EXPECT_EQ(current, context);
	EXPECT_OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
	EXPECT_EQ(NULL, pool);
	EXPECT_OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, block + 9));
	EXPECT_EQ(block, start);
	EXPECT_OK(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, block));
	EXPECT_EQ(1000, bytes);
	EXPECT_OK(cuPointerGetAttribute(&exportable, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
					block));
	EXPECT_EQ(0, exportable);
	EXPECT_OK(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, block));
	EXPECT_OK(cuPointerGetAttribute(&id2, CU_POINTER_ATTRIBUTE_BUFFER_ID, other));
	EXPECT_NE(id, id2);
	EXPECT_OK(cuMemFree(block));
	EXPECT_REASON(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, block),
		      "# is not in a reservation");
	/* a new block at the same address has another BUFFER_ID */
	ASSERT_OK(cuMemAlloc(&block, 1000));
	EXPECT_OK(cuPointerGetAttribute(&id2, CU_POINTER_ATTRIBUTE_BUFFER_ID, block));
	EXPECT_NE(id, id2);
}

TEST_F(alloc, ends_with_its_context)
{
	long before = device_bytes(0, "free_bytes");
	CUcontext context;
	CUdeviceptr block, large;
	void *host;

	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuMemAlloc(&large, 5 * CHUNK));
	ASSERT_OK(cuMemHostAlloc(&host, 1000, 0));
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
	EXPECT_NE(0, try_load((void *)block, NULL));
	EXPECT_NE(0, try_load(host, NULL));
	cuda_start(0);
	EXPECT_REASON(cuMemFree(block), "# is not in a reservation");
	EXPECT_REASON(cuMemFreeHost(host), "# is not in a reservation");
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

TEST_F(alloc, free_waits_for_work)
{
	CUdeviceptr block, flag;
	CUstream stream;

	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuMemAlloc(&block, 8 * CHUNK));
	ASSERT_OK(cuMemAlloc(&flag, 4));
	ASSERT_OK(cuMemsetD8Async(block, 1, 8 * CHUNK, stream));
	ASSERT_OK(cuMemsetD32Async(flag, 1, 1, stream));
	EXPECT_OK(cuMemFree(block));
	EXPECT_EQ(1, *(volatile uint32_t *)flag);
	EXPECT_OK(cuStreamSynchronize(stream));
}

TEST_F(alloc, as_a_dma_buf)
{
	const CUmemRangeHandleType type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
	CUdeviceptr block, small;
	uint32_t *view;
	int fd = -1;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, 2 * CHUNK));
	ASSERT_OK(cuMemAlloc(&small, 8192));
	ASSERT_OK(cuMemsetD32(block, 7, 1024));
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, block, 2 * CHUNK, type, 0));
	view = mmap(NULL, 2 * CHUNK, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, view);
	EXPECT_EQ(7, view[1023]);
	munmap(view, 2 * CHUNK);
	close(fd);
	/* a range that is larger than the block */
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, small & ~4095UL, CHUNK, type, 0),
		      "the range is not in one block");
	EXPECT_OK(cuMemFree(block));
	EXPECT_OK(cuMemFree(small));
}

/* A block is zero, although a process that has ended wrote to the same chunks. */
TEST_F(alloc, nothing_of_another_process)
{
	long bytes = device_bytes(0, "pool_bytes");
	const uint32_t *words;
	CUdeviceptr block;
	int link;
	pid_t pid = peer_fork(&link);
	long i;

	if (!pid) {
		cuda_start(0);
		ASSERT_OK(cuMemAlloc(&block, bytes));
		ASSERT_OK(cuMemsetD32(block, 0xdeadbeef, bytes / 4));
		send_number(link, 0);
		_exit(0);
	}
	receive_number(link);
	reap_child(pid);
	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, bytes));
	words = (void *)block;
	for (i = 0; i < bytes / 4; i += 512)
		ASSERT_EQ(0, words[i]);
}

TEST_F(alloc, not_in_a_child)
{
	CUdeviceptr block, other;
	pid_t pid;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, 4096));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(cuMemFree(block) != CUDA_ERROR_NOT_INITIALIZED ||
		      cuMemAlloc(&other, 1) != CUDA_ERROR_NOT_INITIALIZED ||
		      !try_load((void *)block, NULL));
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_OK(cuMemFree(block));
}

TEST_HARNESS_MAIN
