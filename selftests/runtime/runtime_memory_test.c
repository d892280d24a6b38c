// SPDX-License-Identifier: MIT
/* The runtime's memory: allocation, copies of each kind, addresses, pools. */
#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include "runtime_fixture.h"

RUNTIME_FIXTURE(runtime_memory)

TEST_F(runtime_memory, allocation)
{
	struct cudaPitchedPtr pitched;
	size_t free = 0, total = 0, pitch = 0;
	void *memory = (void *)1;

	ASSERT_RT(cudaMalloc(&memory, 0));
	EXPECT_EQ(NULL, memory);
	EXPECT_RT(cudaErrorInvalidValue, cudaMalloc(NULL, 1));
	EXPECT_RT(cudaErrorMemoryAllocation, cudaMalloc(&memory, 1UL << 40));
	EXPECT_EQ(NULL, memory);
	ASSERT_RT(cudaMemGetInfo(&free, &total));
	EXPECT_LT(0, free);
	EXPECT_LE(free, total);
	EXPECT_RT(cudaSuccess, cudaMemGetInfo(NULL, NULL));

	ASSERT_RT(cudaMallocPitch(&memory, &pitch, 100, 4));
	EXPECT_EQ(512, pitch);
	EXPECT_RT(cudaErrorInvalidValue, cudaFree((char *)memory + 16));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	EXPECT_RT(cudaErrorInvalidValue, cudaFree(memory));
	EXPECT_RT(cudaSuccess, cudaFree(NULL));
	ASSERT_RT(cudaMalloc3D(&pitched, (struct cudaExtent) { 100, 4, 3 }));
	EXPECT_EQ(512, pitched.pitch);
	EXPECT_EQ(100, pitched.xsize);
	EXPECT_EQ(4, pitched.ysize);
	EXPECT_RT(cudaSuccess, cudaMemset(pitched.ptr, 1, 512 * 4 * 3));
	EXPECT_RT(cudaSuccess, cudaFree(pitched.ptr));
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaMalloc3D(&pitched, (struct cudaExtent) { 1, 1UL << 40, 1UL << 40 }));
}

/* After a fault each call fails, and leaves its outputs as they are. */
TEST_F(runtime_memory, of_a_failed_device)
{
	size_t free = 77, total = 78;
	cudaStream_t stream;
	CUdeviceptr at;
	int go = 0;

	cuda_start(0);
	at = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaLaunchHostFunc(stream, wait_for, &go));
	ASSERT_RT(cudaMemsetAsync((void *)at, 1, CHUNK, stream));
	ASSERT_OK(cuMemUnmap(at, CHUNK));
	let_go(&go);
	EXPECT_RT(cudaErrorIllegalAddress, cudaStreamSynchronize(stream));
	EXPECT_RT(cudaErrorIllegalAddress, cudaMemGetInfo(&free, &total));
	EXPECT_EQ(77, free);
	EXPECT_EQ(78, total);
}

TEST_F(runtime_memory, host)
{
	unsigned int flags = 77;
	void *host, *device, *plain;

	EXPECT_RT(cudaErrorInvalidValue, cudaHostAlloc(&host, 4096, 8));
	ASSERT_RT(cudaHostAlloc(&host, 4096, cudaHostAllocPortable));
	ASSERT_RT(cudaHostGetFlags(&flags, host));
	EXPECT_EQ(cudaHostAllocPortable | cudaHostAllocMapped, flags);
	ASSERT_RT(cudaHostGetDevicePointer(&device, host, 0));
	EXPECT_EQ(host, device);
	EXPECT_RT(cudaErrorInvalidValue, cudaFree(host));
	EXPECT_RT(cudaSuccess, cudaFreeHost(host));
	EXPECT_RT(cudaErrorInvalidValue, cudaFreeHost(host));
	EXPECT_RT(cudaSuccess, cudaFreeHost(NULL));

	plain = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, plain);
	EXPECT_RT(cudaErrorInvalidValue, cudaHostRegister(plain, 4096, cudaHostRegisterIoMemory));
	ASSERT_RT(cudaHostRegister(plain, 4096, 0));
	EXPECT_RT(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(plain, 8192, 0));
	EXPECT_RT(cudaSuccess, cudaHostUnregister(plain));
	EXPECT_RT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain));
}

static bool bytes_are(const void *memory, int byte, size_t count)
{
	const unsigned char *bytes = memory;

	for (size_t i = 0; i < count; i++)
		if (bytes[i] != byte)
			return false;
	return true;
}

TEST_F(runtime_memory, kinds_of_copies)
{
	char here[64], there[64];
	void *memory;

	memset(here, 5, sizeof(here));
	ASSERT_RT(cudaMalloc(&memory, CHUNK));
	EXPECT_RT(cudaSuccess, cudaMemcpy(memory, here, 64, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaSuccess, cudaMemcpy((char *)memory + 64, memory, 64,
					  cudaMemcpyDeviceToDevice));
	EXPECT_RT(cudaSuccess, cudaMemcpy(there, (char *)memory + 64, 64,
					  cudaMemcpyDeviceToHost));
	EXPECT_TRUE(bytes_are(there, 5, 64));
	memset(here, 6, sizeof(here));
	EXPECT_RT(cudaSuccess, cudaMemcpy(there, here, 64, cudaMemcpyHostToHost));
	EXPECT_TRUE(bytes_are(there, 6, 64));
	EXPECT_RT(cudaSuccess, cudaMemcpy(memory, there, 64, cudaMemcpyDefault));
	EXPECT_RT(cudaSuccess, cudaMemcpy(here, memory, 64, cudaMemcpyDefault));
	EXPECT_TRUE(bytes_are(here, 6, 64));

	EXPECT_RT(cudaErrorInvalidValue, cudaMemcpy(memory, here, 64, cudaMemcpyDeviceToHost));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemcpy(here, memory, 64, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, here, 64, 5));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, here, 64, -1));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection, cudaMemcpyAsync(memory, here, 64, 5, NULL));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemcpy(NULL, here, 1, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemcpy(memory, here, 2 * CHUNK,
						    cudaMemcpyDeviceToDevice));
	EXPECT_RT(cudaSuccess, cudaMemcpy(NULL, NULL, 0, cudaMemcpyDefault));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

TEST_F(runtime_memory, rows_and_layers)
{
	unsigned char here[3][4][8], there[3][4][8] = {};
	struct cudaMemcpy3DParms copy = {
		.srcPtr = { here, 8, 8, 4 },
		.extent = { 8, 4, 3 },
		.kind = cudaMemcpyHostToDevice,
	};
	struct cudaPitchedPtr pitched;

	memset(here, 9, sizeof(here));
	ASSERT_RT(cudaMalloc3D(&pitched, copy.extent));
	EXPECT_RT(cudaErrorInvalidPitchValue,
		  cudaMemcpy2D(pitched.ptr, 7, here, 8, 8, 4, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaErrorInvalidPitchValue,
		  cudaMemcpy2D(pitched.ptr, 8, here, 7, 8, 4, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaMemcpy2D(pitched.ptr, 8, here, 8, 8, 4, 7));
	copy.dstPtr = pitched;
	ASSERT_RT(cudaMemcpy3D(&copy));
	/* the middle of each layer becomes 1, and all other bytes stay */
	ASSERT_RT(cudaMemset3D((struct cudaPitchedPtr) { (char *)pitched.ptr + pitched.pitch,
							 pitched.pitch, 8, 4 },
			       1, (struct cudaExtent) { 8, 2, 2 }));
	copy.srcPtr = pitched;
	copy.dstPtr = (struct cudaPitchedPtr) { there, 8, 8, 4 };
	copy.kind = cudaMemcpyDeviceToHost;
	ASSERT_RT(cudaMemcpy3D(&copy));
	for (int z = 0; z < 3; z++) {
		for (int y = 0; y < 4; y++)
			EXPECT_TRUE(bytes_are(there[z][y], z < 2 && (y == 1 || y == 2) ? 1 : 9, 8));
	}
	ASSERT_RT(cudaMemset3D(pitched, 3, copy.extent));
	ASSERT_RT(cudaMemcpy2D(there, 8, pitched.ptr, pitched.pitch, 8, 12,
			       cudaMemcpyDeviceToHost));
	EXPECT_TRUE(bytes_are(there, 3, sizeof(there)));
	copy.srcArray = (cudaArray_t)1;
	EXPECT_RT(cudaErrorNotSupported, cudaMemcpy3D(&copy));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemset2D(pitched.ptr, 4, 0, 8, 2));
	EXPECT_RT(cudaSuccess, cudaFree(pitched.ptr));
}

TEST_F(runtime_memory, batches)
{
	struct cudaMemcpyAttributes any = { .srcAccessOrder = cudaMemcpySrcAccessOrderStream };
	char here[2][64], there[2][64] = {};
	const void *from[2] = { here[0], here[1] };
	size_t bytes[2] = { 64, 64 }, first = 0;
	cudaStream_t stream;
	void *memory, *to[2];

	memset(here, 4, sizeof(here));
	ASSERT_RT(cudaMalloc(&memory, 4096));
	ASSERT_RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	to[0] = memory;
	to[1] = (char *)memory + 1024;
	ASSERT_RT(cudaMemcpyBatchAsync(to, from, bytes, 2, &any, &first, 1, stream));
	ASSERT_RT(cudaMemcpyAsync(there[0], to[0], 64, cudaMemcpyDeviceToHost, stream));
	ASSERT_RT(cudaMemcpyAsync(there[1], to[1], 64, cudaMemcpyDeviceToHost, stream));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_TRUE(bytes_are(there, 4, sizeof(there)));
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaMemcpyBatchAsync(to, from, bytes, 0, &any, &first, 1, stream));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

#define EXPECT_ATTRIBUTES(pointer, type_, device_, on_device, on_host)		\
do {										\
	struct cudaPointerAttributes found_;					\
										\
	memset(&found_, 0xee, sizeof(found_));					\
	ASSERT_RT(cudaPointerGetAttributes(&found_, pointer));			\
	EXPECT_EQ((int)(type_), (int)found_.type);				\
	EXPECT_EQ(device_, found_.device);					\
	EXPECT_EQ((void *)(on_device), found_.devicePointer);			\
	EXPECT_EQ((void *)(on_host), found_.hostPointer);			\
} while (0)

TEST_F(runtime_memory, what_an_address_is)
{
	void *memory, *host;
	int plain;

	ASSERT_RT(cudaSetDevice(1));
	ASSERT_RT(cudaMalloc(&memory, 4096));
	ASSERT_RT(cudaMallocHost(&host, 4096));
	EXPECT_ATTRIBUTES((char *)memory + 100, cudaMemoryTypeDevice, 1, (char *)memory + 100,
			  NULL);
	EXPECT_ATTRIBUTES(host, cudaMemoryTypeHost, 1, host, host);
	EXPECT_ATTRIBUTES(&plain, cudaMemoryTypeUnregistered, cudaInvalidDeviceId, NULL, &plain);
	EXPECT_ATTRIBUTES(NULL, cudaMemoryTypeUnregistered, cudaInvalidDeviceId, NULL, NULL);
	EXPECT_RT(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, memory));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	EXPECT_ATTRIBUTES(memory, cudaMemoryTypeUnregistered, cudaInvalidDeviceId, NULL, memory);
	EXPECT_RT(cudaSuccess, cudaFreeHost(host));
}

TEST_F(runtime_memory, pools)
{
	struct cudaMemPoolProps properties = {
		.allocType = cudaMemAllocationTypePinned,
		.location = { cudaMemLocationTypeDevice, 0 },
	};
	unsigned long long bytes = 0;
	cudaMemPool_t pool, usual;
	cudaStream_t stream;
	void *memory;

	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaMemPoolCreate(&pool, &properties));
	ASSERT_RT(cudaMallocFromPoolAsync(&memory, 4096, pool, stream));
	ASSERT_RT(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &bytes));
	EXPECT_LE(4096, bytes);
	ASSERT_RT(cudaMemsetAsync(memory, 0, 4096, stream));
	ASSERT_RT(cudaFreeAsync(memory, stream));
	EXPECT_RT(cudaErrorInvalidValue, cudaFreeAsync(memory, stream));
	EXPECT_RT(cudaSuccess, cudaFreeAsync(NULL, stream));
	ASSERT_RT(cudaMallocAsync(&memory, 4096, stream));
	ASSERT_RT(cudaFreeAsync(memory, stream));
	ASSERT_RT(cudaDeviceGetDefaultMemPool(&usual, 0));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_RT(cudaSuccess, cudaMemPoolTrimTo(usual, 0));
	EXPECT_RT(cudaSuccess, cudaMemPoolDestroy(pool));
	EXPECT_RT(cudaErrorInvalidValue, cudaMemPoolTrimTo(pool, 0));
	/* 0 bytes are of no pool */
	EXPECT_RT(cudaSuccess, cudaMallocFromPoolAsync(&memory, 0, pool, stream));
	EXPECT_EQ(NULL, memory);
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

static int open_in_child(cudaIpcMemHandle_t handle)
{
	char byte = 0;
	void *memory;

	return cudaIpcOpenMemHandle(&memory, handle, 0) == cudaErrorInvalidValue &&
		cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess) ==
			cudaSuccess &&
		cudaMemcpy(&byte, memory, 1, cudaMemcpyDeviceToHost) == cudaSuccess &&
		byte == 8 && cudaIpcCloseMemHandle(memory) == cudaSuccess;
}

/* The other process is forked first, and gets the handle through a pipe. */
TEST_F(runtime_memory, other_processes)
{
	cudaIpcMemHandle_t handle;
	int pipes[2], status = -1;
	void *memory;
	pid_t child;

	ASSERT_EQ(0, pipe(pipes));
	child = fork();
	if (!child)
		_exit(read(pipes[0], &handle, sizeof(handle)) != sizeof(handle) ||
		      !open_in_child(handle));
	ASSERT_RT(cudaMalloc(&memory, 4096));
	ASSERT_RT(cudaMemset(memory, 8, 4096));
	ASSERT_RT(cudaIpcGetMemHandle(&handle, memory));
	EXPECT_RT(cudaErrorDeviceUninitialized,
		  cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess));
	EXPECT_EQ(sizeof(handle), (size_t)write(pipes[1], &handle, sizeof(handle)));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

TEST_F(runtime_memory, managed)
{
	const struct cudaMemLocation on_device = { cudaMemLocationTypeDevice, 1 };
	const struct cudaMemLocation on_host = { cudaMemLocationTypeHost, 0 };
	struct cudaPointerAttributes attributes;
	enum cudaMemRangeAttribute wanted[] = {
		cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
	};
	int said = 77, also_said = 77;
	void *outputs[] = { &said, &also_said };
	size_t sizes[] = { 4, 4 }, first = 0, bytes = 4096;
	struct cudaMemLocation to = on_device;
	cudaStream_t stream;
	void *memory;

	EXPECT_RT(cudaErrorInvalidValue, cudaMallocManaged(&memory, 0, cudaMemAttachGlobal));
	ASSERT_RT(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
	*(int *)memory = 4711;
	EXPECT_RT(cudaSuccess, cudaMemcpy(&said, memory, 4, cudaMemcpyDefault));
	EXPECT_EQ(4711, said);
	ASSERT_RT(cudaPointerGetAttributes(&attributes, memory));
	EXPECT_EQ(cudaMemoryTypeManaged, attributes.type);
	EXPECT_EQ(0, attributes.device);
	EXPECT_EQ(memory, attributes.hostPointer);
	EXPECT_EQ(memory, attributes.devicePointer);

	EXPECT_RT(cudaSuccess, cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, on_host));
	EXPECT_RT(cudaSuccess, cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation,
					     on_host));
	EXPECT_RT(cudaSuccess, cudaMemRangeGetAttributes(outputs, sizes, wanted, 2, memory, 4096));
	EXPECT_EQ(1, said);
	EXPECT_EQ(cudaCpuDeviceId, also_said);
	ASSERT_RT(cudaStreamCreate(&stream));
	EXPECT_RT(cudaSuccess, cudaMemPrefetchAsync(memory, 4096, on_device, 0, stream));
	EXPECT_RT(cudaSuccess, cudaMemRangeGetAttribute(&said, 4,
							cudaMemRangeAttributeLastPrefetchLocation,
							memory, 1));
	EXPECT_EQ(1, said);
	to.id = 0;
	EXPECT_RT(cudaSuccess, cudaMemPrefetchBatchAsync(&memory, &bytes, 1, &to, &first, 1, 0,
							 stream));
	EXPECT_RT(cudaSuccess, cudaMemRangeGetAttribute(&said, 4,
							cudaMemRangeAttributeLastPrefetchLocation,
							memory, 1));
	EXPECT_EQ(0, said);
	EXPECT_RT(cudaSuccess, cudaMemDiscardBatchAsync(&memory, &bytes, 1, 0, stream));
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaMemDiscardAndPrefetchBatchAsync(&memory, &bytes, 1, &to, &first, 1, 0, NULL));
	EXPECT_RT(cudaSuccess, cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	EXPECT_RT(cudaErrorInvalidValue, cudaFree(memory));
	EXPECT_RT(cudaSuccess,
		  cudaDeviceFlushGPUDirectRDMAWrites(
			cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
			cudaFlushGPUDirectRDMAWritesToOwner));
}

TEST_HARNESS_MAIN
