// SPDX-License-Identifier: MIT
/* Attributes of pointers. */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(pointer) { char unused; };
FIXTURE_SETUP(pointer) { }
NOTHING_LEFT(pointer)

/* An attribute's value as a number, or ~0 if the call fails */
#define ATTRIBUTE(name, type, address)						\
({										\
	type value_ = (type)0;							\
	CUresult result_ = cuPointerGetAttribute(&value_,			\
				CU_POINTER_ATTRIBUTE_##name, address);		\
										\
	result_ == CUDA_SUCCESS ? (unsigned long long)value_ : ~0ULL;		\
})
#define NO_ATTRIBUTE(name, address, reason)					\
({										\
	unsigned long long data_ = 77;						\
										\
	EXPECT_REASON(cuPointerGetAttribute(&data_,				\
				CU_POINTER_ATTRIBUTE_##name, address), reason);	\
	EXPECT_EQ(77, data_);							\
})

/* The call fails, and its output, a pointer, is NULL. */
#define NO_POINTER(name, address, reason)					\
({										\
	unsigned long long data_ = 77;						\
										\
	EXPECT_REASON(cuPointerGetAttribute(&data_,				\
				CU_POINTER_ATTRIBUTE_##name, address), reason);	\
	EXPECT_EQ(0, data_);							\
})

typedef unsigned long long wide;

/* A mapping of SIZE / 2 bytes in the middle of a larger reservation */
#define SIZE	(4 * CHUNK)
static CUdeviceptr place(struct __test_metadata *_metadata, CUdeviceptr *start)
{
	CUmemAllocationProp prop = memory_on(1);
	CUmemGenericAllocationHandle handle;

	prop.allocFlags.gpuDirectRDMACapable = 1;
	ASSERT_OK(cuMemCreate(&handle, SIZE / 2, &prop, 0));
	*start = reserve(2 * SIZE);
	ASSERT_OK(cuMemMap(*start + CHUNK, SIZE / 2, 0, handle, 0));
	return *start + CHUNK;
}

TEST_F(pointer, memory)
{
	CUdeviceptr start, at;

	cuda_start(0);
	at = place(_metadata, &start);
	ASSERT_OK(allow(at, SIZE / 2, 0, READ));
	at += 12345;
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, ATTRIBUTE(MEMORY_TYPE, unsigned int, at));
	EXPECT_EQ(1, ATTRIBUTE(DEVICE_ORDINAL, int, at));
	EXPECT_EQ(at, ATTRIBUTE(DEVICE_POINTER, CUdeviceptr, at));
	NO_POINTER(HOST_POINTER, at, "memory of devices has no address on the host");
	EXPECT_EQ(start, ATTRIBUTE(RANGE_START_ADDR, CUdeviceptr, at));
	EXPECT_EQ(2 * SIZE, ATTRIBUTE(RANGE_SIZE, size_t, at));
	EXPECT_EQ(start + CHUNK, ATTRIBUTE(MAPPING_BASE_ADDR, CUdeviceptr, at));
	EXPECT_EQ(SIZE / 2, ATTRIBUTE(MAPPING_SIZE, size_t, at));
	EXPECT_EQ(1, ATTRIBUTE(MAPPED, int, at));
	EXPECT_EQ(0, ATTRIBUTE(IS_MANAGED, int, at));
	EXPECT_EQ(0, ATTRIBUTE(IS_LEGACY_CUDA_IPC_CAPABLE, int, at));
	EXPECT_EQ(1, ATTRIBUTE(IS_GPU_DIRECT_RDMA_CAPABLE, int, at));
	EXPECT_EQ(0, ATTRIBUTE(SYNC_MEMOPS, int, at));
	EXPECT_EQ(SHAREABLE, ATTRIBUTE(ALLOWED_HANDLE_TYPES, unsigned int, at));
	EXPECT_EQ(READ, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
	EXPECT_EQ(0, ATTRIBUTE(CONTEXT, uintptr_t, at));
	EXPECT_EQ(0, ATTRIBUTE(MEMPOOL_HANDLE, uintptr_t, at));
	EXPECT_EQ(0, ATTRIBUTE(IS_HW_DECOMPRESS_CAPABLE, int, at));
}

TEST_F(pointer, access)
{
	CUdeviceptr start, at;

	ASSERT_OK(cuInit(0));
	at = place(_metadata, &start);
	/* without a context, the access is that of the memory's own device */
	EXPECT_EQ(NONE, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
	ASSERT_OK(allow(at, SIZE / 2, 1, READWRITE));
	EXPECT_EQ(READWRITE, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
	EXPECT_EQ(at, ATTRIBUTE(DEVICE_POINTER, CUdeviceptr, at));
	ASSERT_OK(allow(at, SIZE / 2, 1, NONE));
	cuda_start(0);
	EXPECT_EQ(NONE, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
	NO_POINTER(DEVICE_POINTER, at, "the current device has no access");
	ASSERT_OK(allow(at, SIZE / 2, 1, READWRITE));
	NO_POINTER(DEVICE_POINTER, at, "the current device has no access");
	NO_POINTER(HOST_POINTER, at, "memory of devices has no address on the host");
	ASSERT_OK(allow(at, SIZE / 2, 0, READWRITE));
	EXPECT_EQ(READWRITE, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
	EXPECT_EQ(at, ATTRIBUTE(DEVICE_POINTER, CUdeviceptr, at));
}

/* Two mappings of one memory have the same MEMORY_BLOCK_ID, but each its own BUFFER_ID. */
TEST_F(pointer, numbers)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr first, second, other;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	first = ADDRESS(mapped(handle, CHUNK, 0));
	second = ADDRESS(mapped(imported(exported(handle)), CHUNK, 0));
	other = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	EXPECT_NE(0, ATTRIBUTE(MEMORY_BLOCK_ID, wide, first));
	EXPECT_NE(~0ULL, ATTRIBUTE(MEMORY_BLOCK_ID, wide, first));
	EXPECT_EQ(ATTRIBUTE(MEMORY_BLOCK_ID, wide, first),
		  ATTRIBUTE(MEMORY_BLOCK_ID, wide, second));
	EXPECT_NE(ATTRIBUTE(MEMORY_BLOCK_ID, wide, first),
		  ATTRIBUTE(MEMORY_BLOCK_ID, wide, other));
	EXPECT_NE(~0ULL, ATTRIBUTE(BUFFER_ID, wide, first));
	EXPECT_EQ(ATTRIBUTE(BUFFER_ID, wide, first), ATTRIBUTE(BUFFER_ID, wide, first + 5));
	EXPECT_NE(ATTRIBUTE(BUFFER_ID, wide, first), ATTRIBUTE(BUFFER_ID, wide, second));
	EXPECT_NE(ATTRIBUTE(BUFFER_ID, wide, first), ATTRIBUTE(BUFFER_ID, wide, other));
}

/* The mapping that has a block of whole chunks ends with them. */
TEST_F(pointer, block)
{
	CUdeviceptr at;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&at, 2 * CHUNK));
	EXPECT_EQ(at, ATTRIBUTE(MAPPING_BASE_ADDR, CUdeviceptr, at + 4));
	EXPECT_EQ(2 * CHUNK, ATTRIBUTE(MAPPING_SIZE, size_t, at + 4));
}

TEST_F(pointer, window)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	cuda_start(2);
	handle = new_team(2, 2 * CHUNK);
	ASSERT_OK(cuMulticastAddDevice(handle, 2));
	ASSERT_OK(cuMulticastAddDevice(handle, 1));
	at = ADDRESS(mapped(handle, 2 * CHUNK, 2)) + CHUNK + 4;
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, ATTRIBUTE(MEMORY_TYPE, unsigned int, at));
	EXPECT_EQ(2, ATTRIBUTE(DEVICE_ORDINAL, int, at));
	EXPECT_EQ(at, ATTRIBUTE(DEVICE_POINTER, CUdeviceptr, at));
	EXPECT_EQ(at - CHUNK - 4, ATTRIBUTE(MAPPING_BASE_ADDR, CUdeviceptr, at));
	EXPECT_EQ(2 * CHUNK, ATTRIBUTE(MAPPING_SIZE, size_t, at));
	EXPECT_EQ(SHAREABLE, ATTRIBUTE(ALLOWED_HANDLE_TYPES, unsigned int, at));
	EXPECT_EQ(READWRITE, ATTRIBUTE(ACCESS_FLAGS, unsigned int, at));
}

TEST_F(pointer, host_memory)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 } };
	CUmemGenericAllocationHandle handle;
	uint64_t tokens[2] = { 77, 77 };
	CUdeviceptr at;

	cuda_start(0);
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	at = ADDRESS(mapped(handle, CHUNK, 0));
	EXPECT_EQ(CU_MEMORYTYPE_HOST, ATTRIBUTE(MEMORY_TYPE, unsigned int, at));
	EXPECT_EQ(0, (int)ATTRIBUTE(DEVICE_ORDINAL, int, at));
	EXPECT_EQ(at, ATTRIBUTE(HOST_POINTER, uintptr_t, at));
	EXPECT_EQ(0, ATTRIBUTE(ALLOWED_HANDLE_TYPES, unsigned int, at));
	EXPECT_REASON(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, at),
		      "not memory of a device");
	EXPECT_EQ(77, tokens[0]);
}

/*
 * cuPointerGetAttributes() tells the range of a reservation with nothing mapped; the call for one
 * attribute fails.
 */
TEST_F(pointer, reserved)
{
	CUpointer_attribute which[] = {
		CU_POINTER_ATTRIBUTE_MAPPED, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
		CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_HOST_POINTER,
	};
	CUdeviceptr start, at, range = 77, host = 77;
	size_t size = 77;
	int is_mapped = 77;
	void *data[] = { &is_mapped, &range, &size, &host };

	cuda_start(0);
	at = place(_metadata, &start);
	NO_ATTRIBUTE(MAPPED, start, "nothing is mapped at #");
	NO_ATTRIBUTE(RANGE_START_ADDR, start + 5, "nothing is mapped at #");
	NO_ATTRIBUTE(RANGE_SIZE, start, "nothing is mapped at #");
	ASSERT_OK(cuPointerGetAttributes(4, which, data, start + 5));
	EXPECT_EQ(start, range);
	EXPECT_EQ(2 * SIZE, size);
	EXPECT_EQ(0, is_mapped);
	/* an address at which nothing is mapped is taken for one of the host */
	EXPECT_EQ(start + 5, host);
	NO_ATTRIBUTE(MEMORY_TYPE, start, "nothing is mapped at #");
	NO_ATTRIBUTE(DEVICE_ORDINAL, at + SIZE / 2, "nothing is mapped at #");
	NO_ATTRIBUTE(MAPPING_SIZE, start, "nothing is mapped at #");
}

TEST_F(pointer, arguments)
{
	unsigned long long data = 77, tokens[2] = {};
	CUdeviceptr start, at;

	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED,
		  cuPointerGetAttribute(&data, CU_POINTER_ATTRIBUTE_MAPPED, 0));
	cuda_start(0);
	at = place(_metadata, &start);
	EXPECT_REASON(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MAPPED, at), "NULL output");
	EXPECT_REASON(cuPointerGetAttribute(&data, 0, at), "no attribute #");
	EXPECT_REASON(cuPointerGetAttribute(&data, 22, at), "no attribute #");
	EXPECT_REASON(cuPointerGetAttribute(&data, -1, at), "no attribute -#");
	EXPECT_OK(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, at));
	EXPECT_NE(0, tokens[0]);
	EXPECT_REASON(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, start),
		      "nothing is mapped at #");
	NO_ATTRIBUTE(MAPPED, 0, "# is not in a reservation");
	NO_ATTRIBUTE(MAPPED, ADDRESS(&data), "# is not in a reservation");
	NO_ATTRIBUTE(MEMORY_TYPE, ADDRESS(&data), "# is not in a reservation");
	NO_ATTRIBUTE(MEMORY_TYPE, ~0ULL, "# is not in a reservation");
}

/* An attribute of type int writes 4 bytes and nothing behind them. */
TEST_F(pointer, sizes)
{
	unsigned int two[2] = { 77, 77 };
	CUdeviceptr start, at;

	cuda_start(0);
	at = place(_metadata, &start);
	EXPECT_OK(cuPointerGetAttribute(two, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
	EXPECT_EQ(1, two[0]);
	EXPECT_EQ(77, two[1]);
}

TEST_F(pointer, several)
{
	CUpointer_attribute which[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
		CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_MAPPED,
	};
	unsigned int type = 77;
	int device = 77, is_mapped = 77;
	CUdeviceptr start, at, pointer = 77;
	void *data[] = { &type, &device, &pointer, &is_mapped };

	cuda_start(1);
	at = place(_metadata, &start);
	ASSERT_OK(allow(at, SIZE / 2, 1, READWRITE));
	ASSERT_OK(cuPointerGetAttributes(4, which, data, at + 7));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_EQ(1, device);
	EXPECT_EQ(at + 7, pointer);
	EXPECT_EQ(1, is_mapped);

	/* unlike cuPointerGetAttribute(), this takes pointers that are not memcast's */
	ASSERT_OK(cuPointerGetAttributes(4, which, data, ADDRESS(&type)));
	EXPECT_EQ(0, type);
	EXPECT_EQ(CU_DEVICE_INVALID, device);
	EXPECT_EQ(0, pointer);
	EXPECT_EQ(0, is_mapped);

	type = 77;
	EXPECT_REASON(cuPointerGetAttributes(0, which, data, at), "no attributes, or a NULL");
	EXPECT_REASON(cuPointerGetAttributes(4, NULL, data, at), "no attributes, or a NULL");
	EXPECT_REASON(cuPointerGetAttributes(4, which, NULL, at), "no attributes, or a NULL");
	data[3] = NULL;
	EXPECT_REASON(cuPointerGetAttributes(4, which, data, at), "NULL output #");
	data[3] = &is_mapped;
	which[3] = 99;
	EXPECT_REASON(cuPointerGetAttributes(4, which, data, at), "no attribute #");
	/* attributes before the wrong one are written */
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
}

TEST_F(pointer, set)
{
	unsigned int on = 1, two = 2, off = 0;
	CUdeviceptr start, at, block;
	void *host;

	cuda_start(0);
	at = place(_metadata, &start);
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuMemAllocHost(&host, 1000));
	EXPECT_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
	EXPECT_EQ(1, ATTRIBUTE(SYNC_MEMOPS, int, block + 999));
	EXPECT_OK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block + 5));
	EXPECT_EQ(0, ATTRIBUTE(SYNC_MEMOPS, int, block));
	EXPECT_OK(cuPointerSetAttribute(&two, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block + 10));
	EXPECT_EQ(1, ATTRIBUTE(SYNC_MEMOPS, int, block));
	EXPECT_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS(host)));
	EXPECT_EQ(1, ATTRIBUTE(SYNC_MEMOPS, int, ADDRESS(host)));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at));
	EXPECT_REASON(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, at),
		      "NULL pointer");
	EXPECT_REASON(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_IS_MANAGED, at),
		      "attribute # cannot be set");
	EXPECT_REASON(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, start),
		      "nothing is mapped at #");
	EXPECT_REASON(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS(&on)),
		      "# is not in a reservation");
}

/* A query of P2P_TOKENS sets SYNC_MEMOPS for that mapping, until it is unmapped. */
TEST_F(pointer, tokens_make_calls_wait)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at, other;
	uint64_t tokens[2];

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	at = ADDRESS(mapped(handle, CHUNK, 0));
	other = ADDRESS(mapped(handle, CHUNK, 0));
	EXPECT_EQ(0, ATTRIBUTE(SYNC_MEMOPS, int, at));
	EXPECT_OK(cuPointerGetAttribute(tokens, CU_POINTER_ATTRIBUTE_P2P_TOKENS, at + 5));
	EXPECT_EQ(1, ATTRIBUTE(SYNC_MEMOPS, int, at));
	EXPECT_EQ(0, ATTRIBUTE(SYNC_MEMOPS, int, other));
	ASSERT_OK(cuMemUnmap(at, CHUNK));
	ASSERT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
	EXPECT_EQ(0, ATTRIBUTE(SYNC_MEMOPS, int, at));
}

TEST_F(pointer, address_range)
{
	CUdeviceptr start, at, base = 77;
	size_t size = 77;

	cuda_start(0);
	at = place(_metadata, &start);
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, start));
	EXPECT_EQ(0, base);
	EXPECT_EQ(0, size);
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, ADDRESS(&base)));
	EXPECT_OK(cuMemGetAddressRange(NULL, NULL, 64));
	EXPECT_OK(cuMemGetAddressRange(&base, &size, at + SIZE / 2 - 1));
	EXPECT_EQ(at, base);
	EXPECT_EQ(SIZE / 2, size);
	EXPECT_OK(cuMemGetAddressRange(NULL, &size, at));
	EXPECT_OK(cuMemGetAddressRange(&base, NULL, at));
}

TEST_HARNESS_MAIN
