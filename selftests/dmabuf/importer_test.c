// SPDX-License-Identifier: MIT
/* dma-bufs of memories, as an importing device sees them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "importer.h"
#include "memcast_test.h"

FIXTURE(importer)
{
	int device;
	uint32_t id;
	CUmemGenericAllocationHandle own;
	char *plain;
	int fd;
};

#define BYTES	(3 * CHUNK)

FIXTURE_SETUP(importer)
{
	const char *why;

	self->device = importer_open(&why);
	if (self->device < 0)
		SKIP(return, "%s", why);
	cuda_start(0);
	self->own = new_memory(0, BYTES);
	self->plain = (char *)mapped(self->own, BYTES, 0);
	self->fd = exported(self->own);
	ASSERT_EQ(0, importer_attach(self->device, self->fd, &self->id));
}
NOTHING_LEFT(importer)

TEST_F(importer, writes_and_reads)
{
	char data[] = "over the border of two chunks", back[sizeof(data)];
	const size_t at = CHUNK - 7;
	uint32_t segments;

	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_BOTH, &segments));
	EXPECT_LE(1, segments);
	EXPECT_GE(3, segments);
	ASSERT_EQ(0, importer_write(self->device, self->id, 0, at, data, sizeof(data)));
	ASSERT_EQ(0, importer_unmap(self->device, self->id, 0));
	EXPECT_STREQ(data, self->plain + at);

	strcpy(self->plain + at, "what a processor writes");
	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_READS, NULL));
	ASSERT_EQ(0, importer_read(self->device, self->id, 0, at, back, sizeof(back)));
	EXPECT_STREQ("what a processor writes", back);
	EXPECT_EQ(-EACCES, importer_write(self->device, self->id, 0, at, data, 1));
}

/* A device can map one attachment more than once. */
TEST_F(importer, several_mappings)
{
	char x = 'x', y = 'y';

	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_BOTH, NULL));
	ASSERT_EQ(0, importer_map(self->device, self->id, 1, MEMCAST_IMPORTER_BOTH, NULL));
	ASSERT_EQ(0, importer_unmap(self->device, self->id, 0));
	ASSERT_EQ(0, importer_write(self->device, self->id, 1, 1, &x, 1));
	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_WRITES, NULL));
	ASSERT_EQ(0, importer_unmap(self->device, self->id, 1));
	ASSERT_EQ(0, importer_write(self->device, self->id, 0, 2, &y, 1));
	EXPECT_EQ('x', self->plain[1]);
	EXPECT_EQ('y', self->plain[2]);
}

TEST_F(importer, kernel_addresses)
{
	char data[] = "through vmap", back[sizeof(data)];

	ASSERT_EQ(0, importer_map(self->device, self->id, MEMCAST_IMPORTER_VMAP, 0, NULL));
	ASSERT_EQ(0, importer_write(self->device, self->id, MEMCAST_IMPORTER_VMAP, CHUNK - 3,
				    data, sizeof(data)));
	EXPECT_STREQ(data, self->plain + CHUNK - 3);
	strcpy(self->plain, data);
	ASSERT_EQ(0, importer_read(self->device, self->id, MEMCAST_IMPORTER_VMAP, 0,
				   back, sizeof(back)));
	EXPECT_STREQ(data, back);
}

/* The importer keeps the memory when mapping, handle and fd have gone. */
TEST_F(importer, outlives_fd_and_handle)
{
	char data[] = "still there", back[sizeof(data)];
	long room = device_bytes(0, "free_bytes");

	strcpy(self->plain + CHUNK, data);
	ASSERT_OK(cuMemUnmap(ADDRESS(self->plain), BYTES));
	ASSERT_OK(cuMemRelease(self->own));
	ASSERT_EQ(0, close(self->fd));
	EXPECT_EQ(room, device_bytes(0, "free_bytes"));
	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_READS, NULL));
	ASSERT_EQ(0, importer_read(self->device, self->id, 0, CHUNK, back, sizeof(back)));
	EXPECT_STREQ(data, back);
	ASSERT_EQ(0, importer_unmap(self->device, self->id, 0));
	ASSERT_EQ(0, importer_detach(self->device, self->id));
	EXPECT_EQ(room + (long)BYTES, device_bytes(0, "free_bytes"));
}

/* Exports a range of @chunks chunks that all map one memory of a chunk. */
#define export_repeated(chunks)	export_repeated_(_metadata, chunks)
static int export_repeated_(struct __test_metadata *_metadata, size_t chunks)
{
	const CUmemRangeHandleType type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
	const size_t bytes = chunks * CHUNK;
	CUdeviceptr at = reserve(bytes);
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);
	CUdeviceptr end = at + bytes;
	int fd = -1;

	for (CUdeviceptr place = at; place < end; place += CHUNK)
		ASSERT_OK(cuMemMap(place, CHUNK, 0, own, 0));
	ASSERT_OK(allow(at, bytes, 0, READWRITE));
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at, bytes, type, 0));
	return fd;
}

/* No device can map a dma-buf that is larger than the machine's memory. */
TEST_F(importer, too_large)
{
	uint32_t id;

	ASSERT_EQ(0, importer_attach(self->device, export_repeated(16384), &id));
	EXPECT_EQ(-ENOMEM, importer_map(self->device, id, 0, MEMCAST_IMPORTER_READS, NULL));
}

/* The module splits a dma-buf into at most so many segments: 1 GiB of single pages of 4 KiB */
#define MOST_SEGMENTS	(1U << 18)
#define MOST_CHUNKS	(MOST_SEGMENTS * PAGE / CHUNK)

/* With pages of 64 KiB, as many are 16 GiB. */
static bool is_more_than_memory(size_t chunks)
{
	return chunks * (CHUNK / PAGE) > (size_t)sysconf(_SC_PHYS_PAGES);
}

TEST_F(importer, as_many_segments_as_there_may_be)
{
	uint32_t id, segments;

	if (is_more_than_memory(MOST_CHUNKS))
		SKIP(return, "as many pages are more than the machine has");
	if (importer_is_debugged())
		SKIP(return, "the DMA API's debugging warns of as many mappings of a page");
	ASSERT_EQ(0, importer_attach_pages(self->device, export_repeated(MOST_CHUNKS), &id));
	ASSERT_EQ(0, importer_map(self->device, id, 0, MEMCAST_IMPORTER_READS, &segments));
	EXPECT_EQ(MOST_SEGMENTS, segments);
}

TEST_F(importer, too_many_segments)
{
	int fd = export_repeated(MOST_CHUNKS + 1);
	uint32_t id, segments;

	ASSERT_EQ(0, importer_attach_pages(self->device, fd, &id));
	EXPECT_EQ(-ENOMEM, importer_map(self->device, id, 0, MEMCAST_IMPORTER_READS, NULL));
	if (importer_is_debugged() || is_more_than_memory(MOST_CHUNKS + 1))
		return;
	/* a device that takes longer segments can map the dma-buf */
	ASSERT_EQ(0, importer_attach(self->device, fd, &id));
	ASSERT_EQ(0, importer_map(self->device, id, 0, MEMCAST_IMPORTER_READS, &segments));
	EXPECT_EQ(MOST_CHUNKS + 1, segments);
}

TEST_HARNESS_MAIN
