// SPDX-License-Identifier: MIT
/* Foreign memory: a call waits only for the buffers that it accesses; no page can be pinned. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "memcast_test.h"
#include "peers.h"

FIXTURE(bounds)
{
	CUdeviceptr at;
};

FIXTURE_SETUP(bounds)
{
	cuda_start(0);
}

NOTHING_LEFT(bounds)

/* Maps memcast's memory before and after a dma-buf; the dma-buf's chunk gets no access. */
static CUdeviceptr sandwich(struct __test_metadata *_metadata, int fd)
{
	CUmemGenericAllocationHandle ours = new_memory(0, CHUNK);
	CUdeviceptr at = reserve(3 * CHUNK);

	ASSERT_OK(cuMemMap(at, CHUNK, 0, ours, 0));
	ASSERT_OK(cuMemMap(at + CHUNK, CHUNK, 0, imported(fd), 0));
	ASSERT_OK(cuMemMap(at + 2 * CHUNK, CHUNK, 0, ours, 0));
	ASSERT_OK(allow(at, CHUNK, 0, READWRITE));
	ASSERT_OK(allow(at + 2 * CHUNK, CHUNK, 0, READWRITE));
	return at;
}

/* A call does not wait for the fence of a buffer between two of its rows: the fence remains. */
TEST_F(bounds, nothing_between_rows)
{
	uint32_t buffer, fence, words[2] = { 1, 2 };
	int card = vgem_open(), fd;

	if (card < 0)
		SKIP(return, "needs vgem");
	buffer = vgem_dumb(card, CHUNK);
	fd = vgem_export(card, buffer);
	ASSERT_LE(0, fd);
	self->at = sandwich(_metadata, fd);
	fence = vgem_fence(card, buffer, true);
	ASSERT_NE(0, fence);

	ASSERT_OK(cuMemsetD2D32(self->at, 2 * CHUNK, 5, 1, 2));
	EXPECT_FALSE(readable(fd));
	ASSERT_OK(cuMemcpy2D(&(CUDA_MEMCPY2D) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = self->at,
		.srcPitch = 2 * CHUNK,
		.dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = words,
		.dstPitch = sizeof(*words),
		.WidthInBytes = sizeof(*words),
		.Height = 2,
	}));
	EXPECT_EQ(5, words[0]);
	EXPECT_EQ(5, words[1]);
	EXPECT_FALSE(readable(fd));
	EXPECT_EQ(0, vgem_signal(card, fence));
	EXPECT_TRUE(readable(fd));
}

/* Windows show two buffers over and over, in turn; a fill begins CPU access to each only once. */
TEST_F(bounds, shown_over_and_over)
{
	const size_t chunks = 4000, windows = 100, bytes = chunks * CHUNK;
	CUmemGenericAllocationHandle turn[2], all;
	unsigned int i;
	size_t n;

	for (i = 0; i < 2; i++) {
		int fd = heap_buffer(CHUNK);

		if (fd < 0)
			fd = udmabuf_buffer(CHUNK);
		if (fd < 0)
			SKIP(return, "needs /dev/dma_heap/system or /dev/udmabuf");
		turn[i] = imported(fd);
	}
	all = complete_team(2, bytes);
	for (n = 0; n < chunks; n++)
		ASSERT_OK(cuMulticastBindMem_v2(all, 0, n * CHUNK, turn[n % 2], 0,
						CHUNK, 0));
	self->at = reserve(windows * bytes);
	for (n = 0; n < windows; n++)
		ASSERT_OK(cuMemMap(self->at + n * bytes, bytes, 0, all, 0));
	ASSERT_OK(allow(self->at, windows * bytes, 0, READWRITE));
	/* rows that reach from the end of the first window into the second */
	ASSERT_OK(cuMemsetD2D8(self->at + bytes - 2 * CHUNK, CHUNK, 7, 1, 4));
	ASSERT_OK(cuMemsetD2D8(self->at, windows * bytes / 2 - 1, 7, 1, 2));
}

static int pin(struct __test_metadata *_metadata, volatile void *at)
{
	struct iovec piece = { (void *)at, 4096 };
	int pipes[2], error;
	ssize_t got;

	ASSERT_EQ(0, pipe(pipes));
	got = vmsplice(pipes[1], &piece, 1, 0);
	error = ERRNO_OF(got);
	close(pipes[0]);
	close(pipes[1]);
	return error;
}

/* A process with a pinned page would still see the page after its memory has a new owner. */
static void expect_no_pins(struct __test_metadata *_metadata, volatile uint32_t *at)
{
	void *address = (void *)at;
	int status = 0;

	at[0] = 1;
	EXPECT_EQ(EFAULT, pin(_metadata, at));
	/* move_pages() asks for the page's node; the kernel must not warn */
	EXPECT_EQ(0, syscall(SYS_move_pages, 0, 1UL, &address, NULL, &status, 0));
	EXPECT_GT(0, status);
}

TEST_F(bounds, no_pins_of_ours)
{
	expect_no_pins(_metadata, mapped(new_memory(0, CHUNK), CHUNK, 0));
}

TEST_F(bounds, no_pins_of_others)
{
	const char *file = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
	FILE *huge = fopen(file, "we");
	int card = vgem_open(), fd;
	long entries;

	if (card < 0)
		SKIP(return, "needs vgem");
	if (!huge || stat_of("pmd_faults") < 0)
		SKIP(return, "needs root, debugfs and huge pages of shmem");
	fputs("force\n", huge);
	fclose(huge);
	fd = vgem_export(card, vgem_dumb(card, CHUNK));
	ASSERT_LE(0, fd);
	entries = stat_of(CHUNK_FAULTS);
	expect_no_pins(_metadata, mapped(imported(fd), CHUNK, 0));
	EXPECT_EQ(1, stat_of(CHUNK_FAULTS) - entries);
	huge = fopen(file, "we");
	ASSERT_NE(NULL, huge);
	fputs("never\n", huge);
	fclose(huge);
}

TEST_HARNESS_MAIN
