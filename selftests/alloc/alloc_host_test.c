// SPDX-License-Identifier: MIT
/* Plain allocation on the host, and registration of the program's own memory. */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(alloc) { char unused; };
FIXTURE_SETUP(alloc) { }
NOTHING_LEFT(alloc)

TEST_F(alloc, host)
{
	unsigned int flags = 77, type;
	CUdeviceptr device_pointer, block;
	void *plain, *host;
	size_t bytes;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, 4096));
	ASSERT_OK(cuMemAllocHost(&plain, 4096));
	ASSERT_OK(cuMemHostAlloc(&host, 3 * CHUNK + 5,
				 CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
	memset(host, 7, 3 * CHUNK + 5);
	EXPECT_OK(cuMemHostGetFlags(&flags, plain));
	EXPECT_EQ(CU_MEMHOSTALLOC_DEVICEMAP, flags);
	EXPECT_OK(cuMemHostGetFlags(&flags, (char *)host + CHUNK));
	EXPECT_EQ(7, flags);
	EXPECT_REASON(cuMemHostGetFlags(NULL, host), "NULL pointer");
	EXPECT_REASON(cuMemHostGetFlags(&flags, &flags), "# is not in a reservation");
	EXPECT_REASON(cuMemHostGetFlags(&flags, (void *)block),
		      "not memory that was allocated or registered on the host");
	EXPECT_OK(cuMemHostGetDevicePointer(&device_pointer, (char *)host + 8, 0));
	EXPECT_EQ(ADDRESS(host) + 8, device_pointer);
	EXPECT_REASON(cuMemHostGetDevicePointer(&device_pointer, host, 1), "flags must be #");
	EXPECT_REASON(cuMemHostGetDevicePointer(&device_pointer, (void *)block, 0),
		      "not memory that was allocated or registered on the host");
	EXPECT_REASON(cuMemHostGetDevicePointer(NULL, host, 0), "NULL pointer");
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDRESS(host)));
	EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
	EXPECT_OK(cuMemGetAddressRange(NULL, &bytes, ADDRESS(host) + 1));
	EXPECT_EQ(3 * CHUNK + 5, bytes);

	/* on either side of every kind of copy */
	EXPECT_OK(cuMemcpyHtoD(block, host, 4096));
	EXPECT_OK(cuMemcpyDtoH(plain, block, 4096));
	EXPECT_EQ(0, memcmp(host, plain, 4096));
	EXPECT_OK(cuMemsetD8(ADDRESS(plain), 1, 4096));
	EXPECT_OK(cuMemcpyDtoD(ADDRESS(host), ADDRESS(plain), 4096));
	EXPECT_EQ(1, ((char *)host)[4095]);

	EXPECT_REASON(cuMemFree(ADDRESS(host)), "the block at # is of another kind");
	EXPECT_REASON(cuMemFreeHost((char *)host + 1),
		      "no block starts at #; what was mapped is unmapped");
	EXPECT_OK(cuMemFreeHost(host));
	EXPECT_REASON(cuMemFreeHost(host), "# is not in a reservation");
	EXPECT_OK(cuMemFreeHost(NULL));
	EXPECT_OK(cuMemFreeHost(plain));
}

TEST_F(alloc, registered)
{
	const CUresult already = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	const CUresult never = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	CUdeviceptr block, pointer;
	static char own[3 * PAGE_MOST] __attribute__((aligned(PAGE_MOST)));
	unsigned int type, flags;
	char *read_only;
	void *host;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&block, PAGE));
	ASSERT_OK(cuMemAllocHost(&host, PAGE));
	read_only = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_REASON(cuMemHostRegister(NULL, 1, 0), "NULL pointer or unknown flags");
	EXPECT_REASON(cuMemHostRegister(own, 0, 0), "the size is #");
	EXPECT_REASON(cuMemHostRegister(own, 1, 16), "NULL pointer or unknown flags");
	EXPECT_REASON(cuMemHostRegister(read_only, 1, 0),
		      "not all of the range is memory, or writable");
	ASSERT_OK(cuMemHostRegister(read_only, PAGE, CU_MEMHOSTREGISTER_READ_ONLY));
	EXPECT_OK(cuMemcpyHtoD(block, read_only, PAGE));
	EXPECT_REASON(cuMemsetD8(ADDRESS(read_only), 1, 1), "the destination # is not accessible");
	EXPECT_OK(cuMemHostUnregister(read_only));
	EXPECT_REASON(cuMemHostRegister(own, 1UL << 45, 0),
		      "not all of the range is memory, or writable");
	EXPECT_REASON(cuMemHostRegister((void *)block, 1, 0),
		      "a part of the range is in a reservation");
	EXPECT_REASON(cuMemHostRegister(own, 1, CU_MEMHOSTREGISTER_IOMEMORY),
		      "no device here has I/O memory");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemHostRegister(own, 1UL << 62, 0));
	EXPECT_REASON(cuMemHostRegister(own, ~0UL, 0),
		      "# bytes from # are outside the address space of # bytes");
	EXPECT_CU(never, cuMemHostUnregister(own));
	EXPECT_REASON(cuMemHostUnregister(host), "# is not where a registered range starts");
	EXPECT_REASON(cuMemHostUnregister((void *)block),
		      "# is not where a registered range starts");
	EXPECT_REASON(cuMemHostUnregister(NULL), "NULL pointer");
	EXPECT_REASON(cuMemHostGetDevicePointer(&pointer, own, 0), "# is not in a reservation");

	ASSERT_OK(cuMemHostRegister(own, PAGE, CU_MEMHOSTREGISTER_DEVICEMAP));
	EXPECT_CU(already, cuMemHostRegister(own, PAGE, 0));
	EXPECT_CU(already, cuMemHostRegister(own + PAGE - 1, 2, 0));
	EXPECT_OK(cuMemHostRegister(own + PAGE, PAGE, 0));
	EXPECT_OK(cuMemHostGetDevicePointer(&pointer, own + 4, 0));
	EXPECT_EQ(ADDRESS(own) + 4, pointer);
	EXPECT_OK(cuMemHostGetFlags(&flags, own));
	EXPECT_EQ(CU_MEMHOSTREGISTER_DEVICEMAP, flags);
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer));
	EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
	own[0] = 9;
	EXPECT_OK(cuMemcpyHtoD(block, own, PAGE));
	EXPECT_OK(cuMemcpyDtoD(ADDRESS(own) + PAGE, block, PAGE));
	EXPECT_EQ(9, own[PAGE]);
	EXPECT_OK(cuMemsetD8(ADDRESS(own) + PAGE, 5, PAGE - 1));
	EXPECT_EQ(5, own[PAGE]);
	EXPECT_EQ(5, own[2 * PAGE - 2]);
	EXPECT_EQ(0, own[2 * PAGE - 1]);
	EXPECT_OK(cuMemsetD2D16(ADDRESS(own) + PAGE + 2, 1000, 0x1234, 300, 4));
	EXPECT_EQ(5, own[PAGE + 1]);
	EXPECT_EQ(0x34, own[PAGE + 2]);
	EXPECT_EQ(0x12, own[PAGE + 2 + 3000 + 599]);
	EXPECT_EQ(5, own[PAGE + 2 + 3000 + 600]);
	/* the destination's last byte is behind the registered range */
	EXPECT_REASON(cuMemcpyDtoD(ADDRESS(own) + PAGE + 1, block, PAGE),
		      "the destination # is not device memory");
	EXPECT_REASON(cuMemFreeHost(own), "the block at # is of another kind");
	EXPECT_REASON(cuMemHostUnregister(own + 1), "# is not where a registered range starts");
	EXPECT_OK(cuMemHostUnregister(own));
	EXPECT_CU(never, cuMemHostUnregister(own));
	EXPECT_OK(cuMemHostUnregister(own + PAGE));
	EXPECT_REASON(cuMemcpyDtoD(ADDRESS(own), block, 16),
		      "the destination # is not device memory");
}

/*
 * cuMemHostGetFlags() gives back the flags of the registration; the pointer has the context and
 * the device that were current then.
 */
TEST_F(alloc, registered_flags)
{
	CUcontext context, first;
	static char own[4096];
	unsigned int flags;
	int ordinal;

	cuda_start(1);
	ASSERT_OK(cuCtxGetCurrent(&first));
	for (unsigned int given = 0; given < 16; given++) {
		if (given & CU_MEMHOSTREGISTER_IOMEMORY)
			continue;
		ASSERT_OK(cuMemHostRegister(own + 10, 100, given));
		EXPECT_OK(cuMemHostGetFlags(&flags, own + 50));
		EXPECT_EQ((given & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTREGISTER_DEVICEMAP,
			  flags);
		EXPECT_REASON(cuMemHostGetFlags(&flags, own), "# is not in a reservation");
		ASSERT_OK(cuMemHostUnregister(own + 10));
	}
	ASSERT_OK(cuMemHostRegister(own, 4096, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	EXPECT_OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, ADDRESS(own)));
	EXPECT_EQ(first, context);
	EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
					ADDRESS(own)));
	EXPECT_EQ(1, ordinal);
	EXPECT_OK(cuMemHostUnregister(own));
}

/* A registered range ends with the context that was current. */
TEST_F(alloc, registered_until_the_context_ends)
{
	static char own[4096], other[16];
	CUcontext context, first;
	unsigned int flags;

	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&first));
	ASSERT_OK(cuMemHostRegister(other, sizeof(other), 0));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuMemHostRegister(own, 100, 0));
	ASSERT_OK(cuMemHostRegister(own + 100, 100, CU_MEMHOSTREGISTER_PORTABLE));
	ASSERT_OK(cuMemHostRegister(own + 200, 100, 0));
	EXPECT_OK(cuMemHostUnregister(own + 200));
	ASSERT_OK(cuCtxDestroy(context));
	ASSERT_OK(cuCtxSetCurrent(first));
	EXPECT_CU(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own));
	EXPECT_REASON(cuMemHostGetFlags(&flags, own + 100), "# is not in a reservation");
	EXPECT_OK(cuMemHostRegister(own, sizeof(own), 0));
	EXPECT_OK(cuMemHostGetFlags(&flags, other));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 0));
	EXPECT_OK(cuMemHostRegister(own, sizeof(own), 0));
	EXPECT_OK(cuMemHostRegister(other, sizeof(other), 0));
}

/* An allocation of 0 bytes succeeds and gives NULL. */
TEST_F(alloc, nothing)
{
	void *host = &host;

	cuda_start(0);
	EXPECT_OK(cuMemHostAlloc(&host, 0, 0));
	EXPECT_EQ(NULL, host);
	host = &host;
	EXPECT_OK(cuMemAllocHost(&host, 0));
	EXPECT_EQ(NULL, host);
	host = &host;
	EXPECT_REASON(cuMemHostAlloc(&host, 1, 8), "unknown flags");
	EXPECT_EQ(NULL, host);
	EXPECT_OK(cuMemFreeHost(host));
	EXPECT_OK(cuMemFree(0));
}

TEST_HARNESS_MAIN
