// SPDX-License-Identifier: MIT
/* memcast's own memory, imported as external memory. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "foreign.h"
#include "raw.h"

FIXTURE(own) { char unused; };
FIXTURE_SETUP(own)
{
	cuda_start(0);
}
NOTHING_LEFT(own)

/* The import of a memory's fd is that memory: on its device, and bound for that device. */
TEST_F(own, handle)
{
	CUmemGenericAllocationHandle handle = new_memory(1, SIZE), group = complete_team(2, SIZE);
	uint8_t *plain = (void *)mapped(handle, SIZE, 1);
	CUexternalMemory external;
	CUdeviceptr at, part;
	int ordinal = -1, capable = -1, fd = exported(handle);
	CUipcMemHandle ipc;

	ASSERT_OK(import_as(&external, DMABUF, fd, SIZE));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, stat_of("foreign"));
	ASSERT_OK(buffer_at(&at, external, 0, SIZE));
	ASSERT_OK(buffer_at(&part, external, CHUNK + 1, CHUNK));
	ASSERT_OK(cuMemRelease(handle));
	ASSERT_OK(cuMemsetD8(at, 1, SIZE));
	ASSERT_OK(cuMemsetD8(part, 2, CHUNK));
	EXPECT_EQ(1, plain[CHUNK]);
	EXPECT_EQ(2, plain[CHUNK + 1]);
	EXPECT_EQ(2, plain[2 * CHUNK]);
	EXPECT_EQ(1, plain[2 * CHUNK + 1]);
	EXPECT_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
	EXPECT_EQ(1, ordinal);
	EXPECT_OK(cuPointerGetAttribute(&capable,
					CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at));
	EXPECT_EQ(0, capable);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&ipc, at));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindAddr_v2(group, 0, 0, at, CHUNK, 0));
	EXPECT_OK(cuMulticastBindAddr(group, 0, at, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(ADDRESS(plain), SIZE));
	EXPECT_OK(cuMemFree(part));
	EXPECT_OK(cuDestroyExternalMemory(external));
	EXPECT_OK(cuMemsetD8(at, 3, SIZE));
	EXPECT_OK(cuMemFreeAsync(at, NULL));
	EXPECT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(0, stat_of("bindings"));
	EXPECT_EQ(0, stat_of("memories"));
}

/*
 * Only the module's own interface allows ranges of single pages: the library creates, maps
 * and exports whole granules.
 */
static CUmemGenericAllocationHandle host_pages(struct __test_metadata *_metadata, size_t bytes)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_HOST_NUMA, .bytes = bytes,
	};

	ASSERT_EQ(0, RAW(raw_library_fd(), MEMORY_CREATE, create));
	return create.out_handle;
}

static void map_part(struct __test_metadata *_metadata, CUdeviceptr at, size_t bytes,
		     size_t offset, CUmemGenericAllocationHandle own)
{
	struct memcast_map map = {
		.handle = own, .address = at, .bytes = bytes, .offset = offset,
	};

	ASSERT_EQ(0, RAW(raw_library_fd(), MAP, map));
}

static int export_range(struct __test_metadata *_metadata, CUdeviceptr at, size_t bytes)
{
	struct memcast_export_range export = { .address = at, .bytes = bytes };

	ASSERT_EQ(0, RAW(raw_library_fd(), EXPORT_RANGE, export));
	return export.out_fd;
}

/* Each word holds its page's number and its place in the page. */
static void number_pages(uint32_t *words, size_t pages)
{
	for (size_t i = 0; i < pages * PAGE / 4; i++)
		words[i] = i / (PAGE / 4) << 16 | i % (PAGE / 4);
}

/*
 * A range maps a memory's pages in another order, some of them twice, and then whole chunks.
 * The imported range shows the same contents, even after all other mappings and handles went.
 */
TEST_F(own, range_of_pieces)
{
	const size_t pages = 1000, bytes = pages * PAGE + 3 * CHUNK;
	CUmemGenericAllocationHandle own = host_pages(_metadata, 2 * CHUNK);
	CUdeviceptr all = reserve(2 * CHUNK), at = reserve(bytes), imported;
	CUmemAccessDesc host = {
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 }, .flags = READWRITE,
	};
	uint32_t *numbered = (uint32_t *)all, *expected = malloc(bytes), *back = malloc(bytes);
	CUexternalMemory external;
	size_t i, n;
	int fd;

	ASSERT_TRUE(expected && back);
	ASSERT_OK(cuMemMap(all, 2 * CHUNK, 0, own, 0));
	ASSERT_OK(cuMemSetAccess(all, 2 * CHUNK, &host, 1));
	number_pages(numbered, 2 * CHUNK / PAGE);
	for (i = 0; i < pages; i++) {
		n = i * 7919 % (2 * CHUNK / PAGE) / 2 * 2;
		map_part(_metadata, at + i * PAGE, PAGE, n * PAGE, own);
		memcpy((char *)expected + i * PAGE, (char *)numbered + n * PAGE, PAGE);
	}
	for (i = 0; i < 3; i++) {
		map_part(_metadata, at + pages * PAGE + i * CHUNK, CHUNK, (i + 1) % 2 * CHUNK, own);
		memcpy((char *)expected + pages * PAGE + i * CHUNK,
		       (char *)numbered + (i + 1) % 2 * CHUNK, CHUNK);
	}
	fd = export_range(_metadata, at, bytes);
	ASSERT_OK(import_as(&external, DMABUF, fd, bytes));
	ASSERT_EQ(0, close(fd));
	ASSERT_OK(buffer_at(&imported, external, 0, bytes));
	ASSERT_OK(cuMemUnmap(at, bytes));
	ASSERT_OK(cuMemUnmap(all, 2 * CHUNK));
	ASSERT_OK(cuMemRelease(own));
	ASSERT_OK(cuDestroyExternalMemory(external));

	EXPECT_EQ(0, memcmp((void *)imported, expected, bytes));
	ASSERT_OK(cuMemcpyDtoH(back, imported, bytes));
	EXPECT_EQ(0, memcmp(back, expected, bytes));
	/* a copy across the border of two pieces, at odd addresses */
	ASSERT_OK(cuMemcpyDtoH((char *)back + 1, imported + PAGE - 5, PAGE + 7));
	EXPECT_EQ(0, memcmp((char *)back + 1, (char *)expected + PAGE - 5, PAGE + 7));
	/* a chunk that the range shows twice changes at both addresses */
	ASSERT_OK(cuMemsetD32(imported + pages * PAGE, 77, CHUNK / 4));
	EXPECT_EQ(77, *(uint32_t *)(imported + pages * PAGE + 2 * CHUNK));
	EXPECT_OK(cuMemFree(imported));
	EXPECT_EQ(0, stat_of("memories"));
}

/* The import of a range costs at most 2 KiB of kernel memory, however many pieces it has. */
TEST_F(own, range_has_no_table)
{
	const size_t pages = loops(20000);
	CUmemGenericAllocationHandle own = host_pages(_metadata, PAGE);
	CUdeviceptr at = reserve(pages * PAGE);
	CUexternalMemory external;
	long before;
	size_t i;
	int fd;

	if (stat_of("charged_bytes") < 0)
		SKIP(return, "needs debugfs");
	for (i = 0; i < pages; i++)
		map_part(_metadata, at + i * PAGE, PAGE, 0, own);
	fd = export_range(_metadata, at, pages * PAGE);
	before = stat_of("charged_bytes");
	ASSERT_OK(import_as(&external, DMABUF, fd, pages * PAGE));
	EXPECT_GE(2048, stat_of("charged_bytes") - before);
	/* the imported range cannot be part of another range */
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetHandleForAddressRange(&fd, map_buffer(external, 0, pages * PAGE),
						pages * PAGE,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
}

TEST_F(own, attributes)
{
	int value = -1;

	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1));
	EXPECT_EQ(1, value);
	value = -1;
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED, 1));
	EXPECT_EQ(1, value);
}

TEST_HARNESS_MAIN
