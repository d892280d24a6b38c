// SPDX-License-Identifier: MIT
/* Copies and fills of rows. */
#include "memcast_test.h"
#include "reason.h"

/* Two chunks side by side, of one mapping each: rows cross the border between them. */
FIXTURE(rows)
{
	unsigned char *at;
	CUstream stream;
};

FIXTURE_SETUP(rows)
{
	CUdeviceptr address;

	cuda_start(0);
	address = reserve(4 * CHUNK);
	ASSERT_OK(cuMemMap(address, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(cuMemMap(address + CHUNK, CHUNK, 0, new_memory(0, CHUNK), 0));
	/* the third chunk stays unmapped */
	ASSERT_OK(cuMemMap(address + 3 * CHUNK, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(allow(address, 2 * CHUNK, 0, READWRITE));
	ASSERT_OK(allow(address + 3 * CHUNK, CHUNK, 0, READWRITE));
	self->at = (unsigned char *)(uintptr_t)address;
	ASSERT_OK(cuStreamCreate(&self->stream, 0));
}
NOTHING_LEFT(rows)

#define AT(offset)	ADDRESS(self->at + (offset))

static unsigned char pattern(size_t row, size_t x)
{
	return row * 37 + x * 11 + 1;
}

/* Return: how many bytes of the rows, and between them, are wrong */
static size_t differences(const unsigned char *at, size_t pitch, size_t width, size_t rows)
{
	size_t row, x, count = 0;

	for (row = 0; row < rows; row++)
		for (x = 0; x < (row + 1 < rows ? pitch : width); x++)
			count += at[row * pitch + x] != (x < width ? pattern(row, x) : 0);
	return count;
}

static unsigned char *host_rows(size_t pitch, size_t width, size_t rows)
{
	unsigned char *host = calloc(rows, pitch);
	size_t row, x;

	for (row = 0; host && row < rows; row++)
		for (x = 0; x < width; x++)
			host[row * pitch + x] = pattern(row, x);
	return host;
}

static const struct {
	size_t offset, pitch, width, rows;
} shapes[] = {
	{ 0, 64, 64, 8 }, { 5, 100, 33, 50 }, { CHUNK - 1000, 300, 299, 10 },
	{ 1, CHUNK, 70, 2 }, { CHUNK - 7, 1, 1, 14 }, { 3, 70000, 40000, 40 },
};

TEST_F(rows, host_to_device_and_back)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		size_t pitch = shapes[i].pitch, width = shapes[i].width, rows = shapes[i].rows;
		size_t narrow = width + 9;
		unsigned char *host = host_rows(narrow, width, rows);
		unsigned char *back = calloc(rows, pitch);
		CUDA_MEMCPY2D copy = {
			.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = narrow,
			.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(shapes[i].offset),
			.dstPitch = pitch, .WidthInBytes = width, .Height = rows,
		};

		ASSERT_NE(NULL, host);
		ASSERT_NE(NULL, back);
		ASSERT_OK(cuMemsetD8(AT(0), 0, 2 * CHUNK));
		ASSERT_OK(cuMemcpy2D(&copy));
		EXPECT_EQ(0, differences(self->at + shapes[i].offset, pitch, width, rows))
			TH_LOG("shape %u", i);
		copy = (CUDA_MEMCPY2D) {
			.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = AT(shapes[i].offset),
			.srcPitch = pitch,
			.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = ADDRESS(back),
			.dstPitch = pitch, .WidthInBytes = width, .Height = rows,
		};
		ASSERT_OK(cuMemcpy2DUnaligned(&copy));
		EXPECT_EQ(0, differences(back, pitch, width, rows)) TH_LOG("shape %u", i);
		free(host);
		free(back);
	}
}

/* From the middle of one picture to the middle of another */
TEST_F(rows, x_and_y)
{
	unsigned char *host = host_rows(20, 20, 10);
	CUDA_MEMCPY2D copy = {
		.srcXInBytes = 4, .srcY = 3,
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 20,
		.dstXInBytes = 7, .dstY = 2,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 50,
		.WidthInBytes = 5, .Height = 4,
	};
	size_t row, x, wrong = 0;

	ASSERT_OK(cuMemcpy2D(&copy));
	for (row = 0; row < 10; row++)
		for (x = 0; x < 50; x++) {
			bool inside = row >= 2 && row < 6 && x >= 7 && x < 12;

			wrong += self->at[row * 50 + x] !=
				 (inside ? pattern(row + 1, x - 3) : 0);
		}
	EXPECT_EQ(0, wrong);
}

TEST_F(rows, no_pitch_is_a_row)
{
	unsigned char *host = host_rows(16, 16, 4);
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0),
		.WidthInBytes = 16, .Height = 4,
	};

	ASSERT_OK(cuMemcpy2D(&copy));
	EXPECT_EQ(0, differences(self->at, 16, 16, 4));
}

/* Each row is checked by itself: the bytes between rows may be unmapped. */
TEST_F(rows, rows_apart)
{
	EXPECT_OK(cuMemsetD2D8(AT(10), 3 * CHUNK, 6, 100, 2));
	EXPECT_EQ(6, self->at[109]);
	EXPECT_EQ(6, self->at[3 * CHUNK + 10]);
}

TEST_F(rows, all_are_checked_before_the_first_is_written)
{
	unsigned char host[3][8] = { { 1 }, { 2 }, { 3 } };
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = CHUNK,
		.WidthInBytes = 8, .Height = 3,
	};

	EXPECT_REASON(cuMemcpy2D(&copy), "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemcpy2DAsync(&copy, self->stream),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemsetD2D8(AT(0), CHUNK, 1, 8, 3),
		      "device # cannot write # bytes at #: unmapped, unbound");
	EXPECT_REASON(cuMemsetD2D32Async(AT(0), CHUNK, 1, 2, 3, self->stream),
		      "device # cannot write # bytes at #: unmapped, unbound");
	/* the last row ends one byte behind the mapping */
	EXPECT_REASON(cuMemsetD2D8(AT(0), CHUNK - 8, 1, 17, 3),
		      "device # cannot write # bytes at #: unmapped, unbound");
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, self->at[CHUNK]);
	EXPECT_OK(cuMemsetD2D8(AT(0), CHUNK - 8, 1, 16, 3));
	EXPECT_EQ(1, self->at[2 * CHUNK - 1]);
}

/* The first row of each copy is inside a block of plain memory, and the second is not. */
TEST_F(rows, all_are_in_the_block)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = AT(0), .srcPitch = 64,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstPitch = 4096,
		.WidthInBytes = 64, .Height = 2,
	};
	CUdeviceptr block, behind;

	ASSERT_OK(cuMemAlloc(&block, 4096));
	ASSERT_OK(cuMemAlloc(&behind, 4096));
	copy.dstDevice = block;
	EXPECT_REASON(cuMemcpy2D(&copy), "the destination leaves the block at #");
	EXPECT_REASON(cuMemsetD2D8(block, 4096, 1, 64, 2), "the destination leaves the block at #");
	copy.dstDevice = AT(0);
	copy.dstPitch = 64;
	copy.srcDevice = block;
	copy.srcPitch = 4096;
	EXPECT_REASON(cuMemcpy2D(&copy), "the source leaves the block at #");
	copy.srcPitch = 4096 - 64;
	EXPECT_OK(cuMemcpy2D(&copy));
	EXPECT_OK(cuMemFree(behind));
	EXPECT_OK(cuMemFree(block));
}

/* The first row is in a registered range, and the second is in memory of the program behind it. */
TEST_F(rows, all_are_registered)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcPitch = 4096,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 64,
		.WidthInBytes = 64, .Height = 2,
	};
	char *own = aligned_alloc(4096, 8192);

	ASSERT_NE(NULL, own);
	memset(own, 1, 8192);
	ASSERT_OK(cuMemHostRegister(own, 4096, 0));
	copy.srcDevice = ADDRESS(own);
	EXPECT_REASON(cuMemcpy2D(&copy), "the source # is not device memory");
	copy.srcPitch = 4096 - 64;
	EXPECT_OK(cuMemcpy2D(&copy));
	ASSERT_OK(cuMemHostUnregister(own));
	free(own);
}

TEST_F(rows, host_rows_are_checked)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = (void *)4096, .srcPitch = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 8,
		.WidthInBytes = 8, .Height = 3,
	};

	EXPECT_REASON(cuMemcpy2D(&copy), "the source # is not accessible");
}

TEST_F(rows, wrong_arguments)
{
	unsigned char host[64] = {};
	const CUDA_MEMCPY2D good = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 8,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 8,
		.WidthInBytes = 8, .Height = 2,
	};
	CUDA_MEMCPY2D copy = good;

	EXPECT_OK(cuMemcpy2D(&copy));
	EXPECT_REASON(cuMemcpy2D(NULL), "NULL pointer");
	copy.srcPitch = 7;
	EXPECT_REASON(cuMemcpy2D(&copy), "pitch # is less than x # and width #");
	copy = good;
	copy.dstXInBytes = 1;
	EXPECT_REASON(cuMemcpy2D(&copy), "pitch # is less than x # and width #");
	/* a row whose end overflows the address space */
	copy = good;
	copy.srcPitch = copy.dstPitch = 0;
	copy.srcXInBytes = -8UL;
	EXPECT_REASON(cuMemcpy2D(&copy), "the row's end overflows");
	copy = good;
	copy.dstXInBytes = -4UL;
	EXPECT_REASON(cuMemcpy2DUnaligned(&copy), "the row's end overflows");
	copy = good;
	copy.dstPitch = 1UL << 31;
	EXPECT_REASON(cuMemcpy2D(&copy), "a pitch is more than #");
	/* the pitch of a single row does not matter */
	copy.Height = 1;
	EXPECT_OK(cuMemcpy2D(&copy));
	EXPECT_OK(cuMemcpy2DUnaligned(&copy));
	copy.dstPitch = -1UL;
	EXPECT_OK(cuMemcpy2DUnaligned(&copy));
	copy.Height = 2;
	EXPECT_REASON(cuMemcpy2DUnaligned(&copy), "the destination leaves the address space");
	copy = good;
	copy.dstY = -1UL;
	EXPECT_REASON(cuMemcpy2D(&copy), "the first row's address overflows");
	copy = good;
	copy.Height = -1UL;
	EXPECT_REASON(cuMemcpy2D(&copy), "the destination leaves the address space");
	copy = good;
	copy.srcMemoryType = 0;
	EXPECT_REASON(cuMemcpy2D(&copy), "no such memory type");
	copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	EXPECT_REASON(cuMemcpy2D(&copy), "the array is NULL");
	copy.srcArray = (void *)0x1000;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy2D(&copy));
	/* a host address is not a device's */
	copy = good;
	copy.dstDevice = ADDRESS(host);
	EXPECT_REASON(cuMemcpy2D(&copy), "the destination # is not device memory");
	/* nothing to copy */
	copy = good;
	copy.Height = 0;
	EXPECT_OK(cuMemcpy2D(&copy));
	copy.srcMemoryType = 9;
	EXPECT_OK(cuMemcpy2D(&copy));
	copy = good;
	copy.WidthInBytes = 0;
	EXPECT_OK(cuMemcpy2DAsync(&copy, self->stream));
}

TEST_F(rows, memset)
{
	uint16_t *halves = (uint16_t *)self->at;
	uint32_t *words = (uint32_t *)self->at;

	ASSERT_OK(cuMemsetD2D8(AT(1), 10, 0xab, 3, 4));
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0xab, self->at[1]);
	EXPECT_EQ(0xab, self->at[33]);
	EXPECT_EQ(0, self->at[4]);
	EXPECT_EQ(0, self->at[34]);
	ASSERT_OK(cuMemsetD2D16(AT(100), 10, 0x1234, 3, 4));
	EXPECT_EQ(0x1234, halves[50 + 17]);
	EXPECT_EQ(0, halves[50 + 18]);
	EXPECT_EQ(0, halves[50 + 3]);
	ASSERT_OK(cuMemsetD2D32(AT(CHUNK - 20), 16, 0x12345678, 3, 4));
	EXPECT_EQ(0x12345678, words[CHUNK / 4 - 5 + 14]);
	EXPECT_EQ(0, words[CHUNK / 4 - 5 + 3]);
	EXPECT_REASON(cuMemsetD2D16(AT(100), 11, 0, 3, 2),
		      "# or the pitch # is not a multiple of #");
	EXPECT_REASON(cuMemsetD2D32(AT(2), 16, 0, 3, 2), "# or the pitch # is not a multiple of #");
	EXPECT_REASON(cuMemsetD2D8(AT(0), 2, 0, 3, 2),
		      "the destination's pitch # is less than a row of #");
	EXPECT_OK(cuMemsetD2D8(AT(200), 0, 9, 3, 1));
	EXPECT_EQ(9, self->at[202]);
	EXPECT_OK(cuMemsetD2D8(AT(300), 8, 9, 3, 0));
	EXPECT_EQ(0, self->at[300]);
}

TEST_F(rows, in_a_stream)
{
	unsigned char *host = host_rows(40, 30, 20);
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 40,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(0), .dstPitch = 64,
		.WidthInBytes = 30, .Height = 20,
	};
	static uint32_t gate;

	ASSERT_OK(cuMemHostRegister(&gate, sizeof(gate), 0));
	ASSERT_OK(cuStreamWaitValue32(self->stream, ADDRESS(&gate), 1,
				      CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuMemcpy2DAsync(&copy, self->stream));
	/* the call has read the source already */
	memset(host, 0, 40 * 20);
	ASSERT_OK(cuMemsetD2D8Async(AT(5000), 10, 1, 1, 2, self->stream));
	ASSERT_OK(cuMemsetD2D16Async(AT(6000), 10, 2, 1, 2, self->stream));
	ASSERT_OK(cuMemsetD2D32Async(AT(7000), 12, 3, 1, 2, self->stream));
	EXPECT_EQ(0, self->at[0]);
	*(volatile uint32_t *)&gate = 1;
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, differences(self->at, 64, 30, 20));
	EXPECT_EQ(1, self->at[5010]);
	EXPECT_EQ(2, self->at[6010]);
	EXPECT_EQ(3, self->at[7012]);
}

TEST_F(rows, a_window_reaches_every_replica)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK), part[2];
	unsigned char *plain[2], *host = host_rows(50, 40, 6);
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 50,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstPitch = 99,
		.WidthInBytes = 40, .Height = 6,
	};
	int i;

	for (i = 0; i < 2; i++) {
		part[i] = new_bound(team, i, CHUNK);
		plain[i] = (unsigned char *)mapped(part[i], CHUNK, i);
	}
	copy.dstDevice = ADDRESS(mapped(team, CHUNK, 0));
	ASSERT_OK(cuMemcpy2D(&copy));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, differences(plain[i], 99, 40, 6)) TH_LOG("replica %d", i);
	}
}

TEST_HARNESS_MAIN
