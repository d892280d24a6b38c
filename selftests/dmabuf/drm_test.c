// SPDX-License-Identifier: MIT
/*
 * vgem, a DRM driver with no hardware, by libdrm's PRIME calls: vgem imports memcast's
 * memory and teams, and memcast imports vgem's buffers.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "memcast_test.h"
#include "peers.h"
#include "reason.h"

FIXTURE(drm)
{
	int card;
};

FIXTURE_SETUP(drm)
{
	self->card = vgem_open();
	if (self->card < 0)
		SKIP(return, "needs the driver vgem, and root");
	cuda_start(0);
}
NOTHING_LEFT(drm)

static ino_t file_number(int fd)
{
	struct stat is = { };

	fstat(fd, &is);
	return is.st_ino;
}

/* Writes words that depend on their place and on @seed. */
static void mark(volatile uint32_t *at, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes / 4; i++)
		at[i] = seed + i * 2654435761u;
}

TEST_F(drm, there_and_back)
{
	CUmemGenericAllocationHandle own = new_memory(0, 3 * CHUNK), other;
	uint32_t handle, again;
	int fd = exported(own), back;
	char *plain, *through;

	plain = (char *)mapped(own, 3 * CHUNK, 0);
	mark((uint32_t *)plain, 3 * CHUNK, 1);
	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	again = vgem_import(self->card, fd);
	EXPECT_EQ(handle, again);
	back = vgem_export(self->card, handle);
	ASSERT_LE(0, back);
	EXPECT_EQ(file_number(fd), file_number(back));

	through = mmap(NULL, 3 * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, back, 0);
	ASSERT_NE(MAP_FAILED, (void *)through);
	EXPECT_EQ(0, memcmp(plain, through, 3 * CHUNK));

	/* the import gives the memory itself, not another that shows the same pages */
	other = imported(back);
	mark(mapped(other, 3 * CHUNK, 0), 3 * CHUNK, 2);
	EXPECT_EQ(0, memcmp(plain, through, 3 * CHUNK));
	EXPECT_EQ(2, *(uint32_t *)plain);
	EXPECT_EQ(1, stat_of("memories"));
}

/* DRM refuses to map imported buffers: a program uses the dma-buf's own mmap(). */
TEST_F(drm, dumb_map_of_an_import_is_refused)
{
	uint32_t handle = vgem_import(self->card, exported(new_memory(0, CHUNK)));

	ASSERT_NE(0, handle);
	errno = 0;
	EXPECT_EQ(NULL, vgem_map(self->card, handle, CHUNK));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(drm, bufinfo_names_exporter_and_devices)
{
	int fd = exported(new_memory(0, CHUNK));
	uint32_t handle;

	if (bufinfo_has(fd, "memcast", 0) < 0)
		SKIP(return, "needs root and debugfs");
	EXPECT_EQ(1, bufinfo_has(fd, "memcast", 0));
	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	EXPECT_EQ(1, bufinfo_has(fd, "memcast", 1));
	vgem_close(self->card, handle);
	EXPECT_EQ(1, bufinfo_has(fd, "memcast", 0));
}

/* The importer's handle alone keeps the memory. */
TEST_F(drm, import_keeps_the_memory)
{
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);
	long all = device_bytes(0, "pool_bytes");
	int fd = exported(own), back;
	volatile uint32_t *at;
	uint32_t handle;

	at = mapped(own, CHUNK, 0);
	mark(at, CHUNK, 3);
	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	ASSERT_EQ(0, close(fd));
	ASSERT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	ASSERT_OK(cuMemRelease(own));
	EXPECT_EQ(all - (long)CHUNK, device_bytes(0, "free_bytes"));

	back = vgem_export(self->card, handle);
	ASSERT_LE(0, back);
	at = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, back, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	EXPECT_EQ(3, at[0]);
	ASSERT_EQ(0, munmap((void *)at, CHUNK));
	ASSERT_EQ(0, close(back));
	EXPECT_EQ(all - (long)CHUNK, device_bytes(0, "free_bytes"));
	vgem_close(self->card, handle);
	EXPECT_EQ(all, device_bytes(0, "free_bytes"));
}

/* A range of two memories mapped side by side, which starts and ends inside their chunks */
TEST_F(drm, range)
{
	const size_t from = CHUNK - 3 * PAGE, bytes = 5 * PAGE;
	CUdeviceptr at = reserve(2 * CHUNK);
	int fd = -1, back;
	uint32_t handle;
	char *through;

	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(allow(at, 2 * CHUNK, 0, READWRITE));
	mark((uint32_t *)at, 2 * CHUNK, 4);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at + from, bytes,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	back = vgem_export(self->card, handle);
	ASSERT_LE(0, back);
	EXPECT_EQ((off_t)bytes, lseek(back, 0, SEEK_END));
	through = mmap(NULL, bytes, PROT_READ, MAP_SHARED, back, 0);
	ASSERT_NE(MAP_FAILED, (void *)through);
	EXPECT_EQ(0, memcmp(through, (char *)at + from, bytes));
}

/* ---- vgem's own memory ---- */

/* MODE_MAP_DUMB and the mmap() of its dma-buf show the same buffer. */
TEST_F(drm, dumb_buffer)
{
	uint32_t handle = vgem_dumb(self->card, CHUNK), *dumb, *through;
	int fd;

	ASSERT_NE(0, handle);
	dumb = vgem_map(self->card, handle, CHUNK);
	ASSERT_NE(NULL, dumb);
	fd = vgem_export(self->card, handle);
	ASSERT_LE(0, fd);
	through = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)through);
	mark(dumb, CHUNK, 5);
	EXPECT_EQ(0, memcmp(dumb, through, CHUNK));
}

/* Copies to and from the external memory match what MODE_MAP_DUMB shows, to the byte. */
TEST_F(drm, dumb_buffer_as_external_memory)
{
	const size_t bytes = 2 * CHUNK + 3 * PAGE, odd = 12345;
	volatile uint32_t *own = mapped(new_memory(0, 3 * CHUNK), 3 * CHUNK, 0);
	uint32_t handle = vgem_dumb(self->card, bytes);
	CUdeviceptr outside;
	char *dumb;
	int fd;

	ASSERT_NE(0, handle);
	dumb = vgem_map(self->card, handle, bytes);
	ASSERT_NE(NULL, dumb);
	fd = vgem_export(self->card, handle);
	ASSERT_LE(0, fd);
	outside = external_at(fd, bytes);

	mark((uint32_t *)dumb, bytes, 6);
	ASSERT_OK(cuMemcpyDtoD(ADDRESS(own), outside, bytes));
	EXPECT_EQ(0, memcmp((void *)own, dumb, bytes));
	mark(own, bytes, 7);
	ASSERT_OK(cuMemcpyDtoD(outside + odd, ADDRESS(own) + odd, bytes - 2 * odd));
	EXPECT_EQ(0, memcmp((char *)own + odd, dumb + odd, bytes - 2 * odd));
	EXPECT_EQ(6, *(uint32_t *)dumb);

	/* loads and stores of the CPU reach the buffer as well */
	*(volatile uint32_t *)outside = 8;
	EXPECT_EQ(8, *(uint32_t *)dumb);
}

/* ---- a team ---- */

TEST_F(drm, team_there_and_back)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK), other;
	volatile uint32_t *replica[2], *through;
	uint32_t handle;
	int back;

	for (int i = 0; i < 2; i++) {
		CUmemGenericAllocationHandle own = new_memory(i, CHUNK);

		replica[i] = mapped(own, CHUNK, i);
		ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
	}
	handle = vgem_import(self->card, exported(team));
	ASSERT_NE(0, handle);
	back = vgem_export(self->card, handle);
	ASSERT_LE(0, back);
	other = imported(back);
	EXPECT_REASON(cuMulticastBindMem(other, 0, new_memory(0, CHUNK), 0, CHUNK, 0),
		      "the range overlaps a binding of device #: memory # is bound from byte # to");
	ASSERT_OK(cuMulticastUnbind(other, 1, 0, CHUNK));

	/* a store through vgem's fd reaches the memory that is bound now */
	through = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, back, 0);
	ASSERT_NE(MAP_FAILED, (void *)through);
	ASSERT_EQ(0, dma_buf_sync(back, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	through[5] = 9;
	ASSERT_EQ(0, dma_buf_sync(back, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	EXPECT_EQ(9, replica[0][5]);
	EXPECT_EQ(0, replica[1][5]);
}

TEST_HARNESS_MAIN
