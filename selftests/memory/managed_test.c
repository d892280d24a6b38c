// SPDX-License-Identifier: MIT
/* Managed memory: allocating it, using it from everywhere, and prefetching. */
#include <dlfcn.h>
#include <sys/wait.h>

#include "managed_fixture.h"
#include "reason.h"

static uint64_t pointer_attribute(CUpointer_attribute attribute, CUdeviceptr at)
{
	uint64_t value = 0;

	cuPointerGetAttribute(&value, attribute, at);
	return value;
}

TEST_F(managed, allocation)
{
	CUdeviceptr memory = 77, other;
	CUcontext second;
	size_t bytes;
	int value;

	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
		  cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(77, memory);
	cuda_start(1);
	ASSERT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1));
	EXPECT_EQ(1, value);
	EXPECT_REASON(cuMemAllocManaged(NULL, PAGE, CU_MEM_ATTACH_GLOBAL), "NULL output");
	EXPECT_REASON(cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL), "the size is #");
	EXPECT_EQ(0, memory);
	EXPECT_REASON(cuMemAllocManaged(&memory, PAGE, 0), "flags must be GLOBAL or HOST");
	EXPECT_REASON(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_SINGLE),
		      "flags must be GLOBAL or HOST");
	EXPECT_REASON(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST),
		      "flags must be GLOBAL or HOST");
	memory = 77;
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemAllocManaged(&memory, 1UL << 46, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(0, memory);

	ASSERT_OK(cuMemAllocManaged(&memory, 3 * CHUNK + 5, CU_MEM_ATTACH_HOST));
	EXPECT_EQ(1, pointer_attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, memory + CHUNK));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE,
		  pointer_attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
	EXPECT_EQ(memory + 9, pointer_attribute(CU_POINTER_ATTRIBUTE_HOST_POINTER, memory + 9));
	EXPECT_EQ(memory + 9, pointer_attribute(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, memory + 9));
	EXPECT_EQ(1, pointer_attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
	EXPECT_OK(cuMemGetAddressRange(&other, &bytes, memory + 1));
	EXPECT_EQ(memory, other);
	EXPECT_EQ(3 * CHUNK + 5, bytes);

	/* managed memory is no host memory, and is freed as a device's memory is */
	EXPECT_REASON(cuMemFreeHost((void *)memory), "managed memory: cuMemFree() frees it");
	EXPECT_REASON(cuMemHostGetDevicePointer(&other, (void *)memory, 0), "not memory that was");
	EXPECT_REASON(cuMemFree(memory + PAGE), "no block starts at #; what was mapped is");
	EXPECT_OK(cuMemFree(memory));
	EXPECT_REASON(cuMemFree(memory), "# is not in a reservation");

	/* memory that was allocated in a context ends with the context */
	ASSERT_OK(cuCtxCreate(&second, NULL, 0, 0));
	ASSERT_OK(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere));
	EXPECT_EQ(1, READ_MOSTLY(memory, PAGE));
	ASSERT_OK(cuCtxDestroy(second));
	EXPECT_EQ(-78, READ_MOSTLY(memory, PAGE));
	EXPECT_REASON(cuMemFree(memory), "# is not in a reservation");
}

/*
 * A block of managed memory may be larger than a device, as on hardware; and every call takes one.
 */
TEST_F(managed, use)
{
	CUdeviceptr memory, plain;
	uint32_t *words;
	size_t all, left, before;
	CUstream stream;

	cuda_start(1);
	ASSERT_OK(cuMemAlloc(&plain, CHUNK));
	ASSERT_OK(cuMemGetInfo(&before, &all));
	ASSERT_OK(cuMemAllocManaged(&memory, all + CHUNK, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemGetInfo(&left, &all));
	EXPECT_EQ(before, left);
	words = (uint32_t *)memory;
	words[1] = 4711;
	words[(all + CHUNK) / 4 - 1] = 4712;
	ASSERT_OK(cuMemcpyDtoD(plain, memory, 64));
	ASSERT_OK(cuMemcpyDtoH(&words[2], plain + 4, 4));
	EXPECT_EQ(4711, words[2]);
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemsetD32Async(memory, 5, 1000, stream));
	ASSERT_OK(cuStreamWriteValue32(stream, memory + 4, 6, 0));
	ASSERT_OK(cuMemcpyAsync(memory + CHUNK, memory, 4000, stream));
	ASSERT_OK(cuStreamSynchronize(stream));
	EXPECT_EQ(5, words[CHUNK / 4]);
	EXPECT_EQ(6, words[CHUNK / 4 + 1]);
	EXPECT_EQ(4712, words[(all + CHUNK) / 4 - 1]);

	/* a context of another device can use it as well */
	cuda_start(0);
	ASSERT_OK(cuMemsetD8(memory, 1, 4));
	EXPECT_EQ(0x01010101, words[0]);
	EXPECT_OK(cuMemFree(memory));
	EXPECT_OK(cuMemFree(plain));
}

/* A child of fork() has no managed memory, as it has nothing else of its parent's devices. */
TEST_F(managed, fork)
{
	CUdeviceptr memory;
	uint32_t value;
	int status;
	pid_t pid;

	cuda_start(0);
	ASSERT_OK(cuMemAllocManaged(&memory, PAGE, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, nowhere));
	pid = fork();
	if (!pid)
		_exit(try_load((void *)memory, &value) == 0 ||
		      cuMemFree(memory) != CUDA_ERROR_NOT_INITIALIZED);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, try_load((void *)memory, &value));
	EXPECT_EQ(1, READ_MOSTLY(memory, PAGE));
}

TEST_F(managed, prefetch)
{
	CUresult (*old_prefetch)(CUdeviceptr at, size_t bytes, CUdevice to, CUstream stream) =
		dlsym(RTLD_DEFAULT, "cuMemPrefetchAsync");
	CUresult (*old_advise)(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice to) =
		dlsym(RTLD_DEFAULT, "cuMemAdvise");
	CUdeviceptr memory, plain;
	CUstream stream;
	CUgraph graph;
	int count;

	cuda_start(0);
	ASSERT_OK(cuDeviceGetCount(&count));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAlloc(&plain, 4 * PAGE));
	ASSERT_OK(cuMemAllocManaged(&memory, 4 * PAGE, CU_MEM_ATTACH_GLOBAL));
	EXPECT_OK(cuMemPrefetchAsync(memory + PAGE, 1, device(1), 0, stream));
	EXPECT_EQ(1, PREFETCHED(memory + PAGE, PAGE));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFETCHED(memory, 2 * PAGE));
	EXPECT_OK(cuMemPrefetchAsync(memory, 4 * PAGE, host, 0, NULL));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 4 * PAGE));
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_HOST,
		  range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, memory, 1));

	EXPECT_REASON(cuMemPrefetchAsync(memory, PAGE, device(0), 1, stream), "flags must be #");
	EXPECT_REASON(cuMemPrefetchAsync(memory, 0, device(0), 0, stream), "the range is empty");
	EXPECT_REASON(cuMemPrefetchAsync(memory, 5 * PAGE, device(0), 0, stream),
		      "# bytes from # on are more than was allocated there, #");
	EXPECT_REASON(cuMemPrefetchAsync(plain, PAGE, device(0), 0, stream),
		      "# is not managed memory");
	EXPECT_REASON(cuMemPrefetchAsync(memory, PAGE, nowhere, 0, stream), "a location of type #");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMemPrefetchAsync(memory, PAGE, device(count), 0, stream));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuMemPrefetchAsync(memory, PAGE, device(0), 0, (CUstream)0x123456789));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 4 * PAGE));

	/* the functions from before 12.2, which know only devices and the CPU */
	EXPECT_OK(old_prefetch(memory, PAGE, 0, stream));
	EXPECT_EQ(0, PREFETCHED(memory, 1));
	EXPECT_OK(old_prefetch(memory, PAGE, CU_DEVICE_CPU, stream));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, old_prefetch(memory, PAGE, -2, stream));
	EXPECT_OK(old_advise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
	EXPECT_EQ(CU_DEVICE_CPU, PREFERRED(memory, 1));

	/* a graph has no node for a prefetch */
	ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		  cuMemPrefetchAsync(memory, PAGE, device(1), 0, stream));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 1));
}

TEST_F(managed, batches)
{
	CUmemLocation to[] = { device(0), device(1), host };
	size_t starts[] = { 0, 1 }, sizes[3];
	CUdeviceptr at[3], memory, other;
	CUstream stream;

	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAllocManaged(&memory, 4 * PAGE, CU_MEM_ATTACH_GLOBAL));
	ASSERT_OK(cuMemAllocManaged(&other, PAGE, CU_MEM_ATTACH_GLOBAL));
	for (int i = 0; i < 3; i++) {
		at[i] = memory + i * PAGE;
		sizes[i] = PAGE;
	}
	at[2] = other;
	EXPECT_OK(cuMemPrefetchBatchAsync(at, sizes, 3, to, starts, 2, 0, stream));
	EXPECT_EQ(0, PREFETCHED(memory, PAGE));
	EXPECT_EQ(1, PREFETCHED(memory + PAGE, PAGE));
	EXPECT_EQ(1, PREFETCHED(other, PAGE));
	EXPECT_EQ(CU_DEVICE_INVALID, PREFETCHED(memory, 2 * PAGE));

	/* one bad address: the call prefetches nothing */
	at[2] = ADDRESS(&stream);
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[2], starts, 1, 0, stream),
		      "# is not in a reservation");
	at[2] = other;
	to[2] = nowhere;
	starts[1] = 2;
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 2, 0, stream),
		      "a location of type # is not for this");
	to[2] = host;
	starts[1] = 3;
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 2, 0, stream),
		      "location # starts at range #: # at first, then rising");
	starts[1] = 0;
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 2, 0, stream),
		      "location # starts at range #: # at first, then rising");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], &sizes[0], 1, 0, stream),
		      "location # starts at range #: # at first, then rising");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 0, 0, stream),
		      "# locations for # ranges");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 4, 0, stream),
		      "# locations for # ranges");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 0, &to[1], starts, 1, 0, stream),
		      "no ranges, or a NULL pointer");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 1, 1, stream),
		      "flags must be #");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, &to[1], starts, 1, 0, NULL),
		      "batches are not for the legacy stream");
	EXPECT_REASON(cuMemPrefetchBatchAsync(at, sizes, 3, NULL, starts, 1, 0, stream),
		      "NULL pointer");
	EXPECT_EQ(0, PREFETCHED(memory, PAGE));
	EXPECT_EQ(1, PREFETCHED(other, PAGE));

	EXPECT_OK(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 3, &to[2], starts, 1, 0, stream));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 2 * PAGE));
	EXPECT_OK(cuMemDiscardBatchAsync(at, sizes, 3, 0, stream));
	EXPECT_EQ(CU_DEVICE_CPU, PREFETCHED(memory, 2 * PAGE));
	EXPECT_REASON(cuMemDiscardBatchAsync(at, sizes, 3, 1, stream), "flags must be #");
	EXPECT_REASON(cuMemDiscardBatchAsync(at, sizes, 3, 0, CU_STREAM_LEGACY),
		      "batches are not for the legacy stream");
	EXPECT_REASON(cuMemDiscardBatchAsync(NULL, sizes, 3, 0, stream), "no ranges, or a NULL");
	sizes[1] = 0;
	EXPECT_REASON(cuMemDiscardBatchAsync(at, sizes, 3, 0, stream), "the range is empty");
}

TEST_F(managed, attach)
{
	CUdeviceptr memory;
	CUstream stream;

	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAllocManaged(&memory, 2 * PAGE, CU_MEM_ATTACH_HOST));
	EXPECT_OK(cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
	EXPECT_OK(cuStreamAttachMemAsync(stream, memory, 2 * PAGE, CU_MEM_ATTACH_GLOBAL));
	EXPECT_OK(cuStreamAttachMemAsync(NULL, memory, 0, CU_MEM_ATTACH_HOST));
	EXPECT_REASON(cuStreamAttachMemAsync(NULL, memory, 0, CU_MEM_ATTACH_SINGLE),
		      "the legacy stream stands for all streams");
	EXPECT_REASON(cuStreamAttachMemAsync(stream, memory, PAGE, CU_MEM_ATTACH_SINGLE),
		      "only all of what was allocated is attached: # bytes at #");
	EXPECT_REASON(cuStreamAttachMemAsync(stream, memory + PAGE, 0, CU_MEM_ATTACH_SINGLE),
		      "only all of what was allocated is attached: # bytes at #");
	EXPECT_REASON(cuStreamAttachMemAsync(stream, memory, 0, 3), "no such way to attach memory");
	EXPECT_REASON(cuStreamAttachMemAsync(stream, ADDRESS(&stream), 0, CU_MEM_ATTACH_GLOBAL),
		      "# is not in a reservation");
}

TEST_F(managed, flushes_of_other_devices_writes)
{
	const CUflushGPUDirectRDMAWritesScope owner = CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER;
	int options;

	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuFlushGPUDirectRDMAWrites(0, owner));
	cuda_start(0);
	ASSERT_OK(cuDeviceGetAttribute(&options,
				       CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
				       0));
	EXPECT_EQ(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST, options);
	EXPECT_OK(cuFlushGPUDirectRDMAWrites(0, owner));
	EXPECT_OK(cuFlushGPUDirectRDMAWrites(0, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
	EXPECT_REASON(cuFlushGPUDirectRDMAWrites(1, owner), "no target #");
	EXPECT_REASON(cuFlushGPUDirectRDMAWrites(0, 0), "no scope #");
}

TEST_HARNESS_MAIN
