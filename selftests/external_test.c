// SPDX-License-Identifier: MIT
/* Our own memory, as external memory. */
#include <unistd.h>
#include "foreign.h"

FIXTURE(own) { char unused; };
FIXTURE_SETUP(own)
{
	cuda_start(0);
}
NOTHING_LEFT(own)

/* It is the memory itself, wherever that is, and bound as such. */
TEST_F(own, handle)
{
	CUmemGenericAllocationHandle handle = memory(1, SIZE), group = full_team(2, SIZE);
	uint8_t *plain = (void *)mapped(handle, SIZE, 1);
	CUexternalMemory external;
	CUdeviceptr at, part;
	int ordinal = -1, fd = export(handle);

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
