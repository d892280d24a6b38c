// SPDX-License-Identifier: MIT
/*
 * vgem, a DRM driver with no hardware, by libdrm's PRIME calls: it imports our
 * memory, and its fences are those of our dma-bufs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "memcast_test.h"
#include "peers.h"

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

/* Words that depend on their place */
static void mark(volatile uint32_t *at, size_t bytes, uint32_t seed)
{
	for (size_t i = 0; i < bytes / 4; i++)
		at[i] = seed + i * 2654435761u;
}

TEST_F(drm, there_and_back)
{
	CUmemGenericAllocationHandle own = memory(0, 3 * CHUNK), other;
	uint32_t handle, again;
	int fd = export(own), back;
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

	/* the object itself comes back, not another that shows the same pages */
	other = import(back);
	mark(mapped(other, 3 * CHUNK, 0), 3 * CHUNK, 2);
	EXPECT_EQ(0, memcmp(plain, through, 3 * CHUNK));
	EXPECT_EQ(2, *(uint32_t *)plain);
	EXPECT_EQ(1, stat_of("memories"));
}

/* DRM maps nobody else's buffers: the way is the dma-buf's own mmap(). */
TEST_F(drm, dumb_map_of_an_import_is_refused)
{
	uint32_t handle = vgem_import(self->card, export(memory(0, CHUNK)));

	ASSERT_NE(0, handle);
	errno = 0;
	EXPECT_EQ(NULL, vgem_map(self->card, handle, CHUNK));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(drm, bufinfo_names_exporter_and_devices)
{
	int fd = export(memory(0, CHUNK));
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
	CUmemGenericAllocationHandle own = memory(0, CHUNK);
	long all = device_bytes(0, "pool_bytes");
	int fd = export(own), back;
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

/* A part of two memories that are mapped side by side, at no chunk's border */
TEST_F(drm, range)
{
	const size_t from = CHUNK - 3 * 4096, bytes = 5 * 4096;
	CUdeviceptr at = reserve(2 * CHUNK);
	int fd = -1, back;
	uint32_t handle;
	char *through;

	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, memory(0, CHUNK), 0));
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

/* ---- fences ---- */

TEST_F(drm, poll_follows_fences)
{
	CUmemGenericAllocationHandle own = memory(0, CHUNK);
	int fd = export(own), second = export(own);
	uint32_t handle, fence;

	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	EXPECT_TRUE(readable(fd) && writable(fd));

	/* who writes keeps all away, through whichever fd they look */
	fence = vgem_fence(self->card, handle, true);
	ASSERT_NE(0, fence);
	EXPECT_FALSE(readable(fd) || writable(fd));
	EXPECT_FALSE(readable(second) || writable(second));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(readable(fd) && writable(fd));
	EXPECT_TRUE(readable(second) && writable(second));

	/* who reads keeps writers away */
	fence = vgem_fence(self->card, handle, false);
	ASSERT_NE(0, fence);
	EXPECT_TRUE(readable(fd) && readable(second));
	EXPECT_FALSE(writable(fd) || writable(second));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(writable(fd) && writable(second));
}

TEST_F(drm, fences_of_other_memories)
{
	int fd = export(memory(0, CHUNK)), other = export(memory(0, CHUNK));
	uint32_t handle = vgem_import(self->card, fd), fence;

	ASSERT_NE(0, handle);
	fence = vgem_fence(self->card, handle, true);
	ASSERT_NE(0, fence);
	EXPECT_FALSE(readable(fd));
	EXPECT_TRUE(readable(other) && writable(other));
}

TEST_F(drm, sync_file_from_our_memory)
{
	int fd = export(memory(0, CHUNK)), file;
	uint32_t handle = vgem_import(self->card, fd), fence;

	ASSERT_NE(0, handle);
	file = sync_file_of(fd, DMA_BUF_SYNC_RW);
	if (file < 0 && errno == ENOTTY)
		SKIP(return, "needs DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
	EXPECT_TRUE(readable(file));
	fence = vgem_fence(self->card, handle, true);
	ASSERT_NE(0, fence);
	file = sync_file_of(fd, DMA_BUF_SYNC_READ);
	ASSERT_LE(0, file);
	EXPECT_FALSE(readable(file));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(readable(file));
}

/* A fence of vgem's own buffer, put on ours by IMPORT_SYNC_FILE */
TEST_F(drm, sync_file_to_our_memory)
{
	uint32_t dumb = vgem_dumb(self->card, CHUNK), fence;
	int theirs, fd = export(memory(0, CHUNK)), file;

	ASSERT_NE(0, dumb);
	theirs = vgem_export(self->card, dumb);
	ASSERT_LE(0, theirs);
	fence = vgem_fence(self->card, dumb, true);
	ASSERT_NE(0, fence);
	file = sync_file_of(theirs, DMA_BUF_SYNC_READ);
	if (file < 0 && errno == ENOTTY)
		SKIP(return, "needs DMA_BUF_IOCTL_EXPORT_SYNC_FILE");
	ASSERT_LE(0, file);
	ASSERT_EQ(0, sync_file_to(fd, file, DMA_BUF_SYNC_WRITE));
	EXPECT_FALSE(readable(fd) || writable(fd));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(readable(fd) && writable(fd));
}

struct signaller {
	int card;
	uint32_t fence;
	pid_t waiter;			/* thread that is to wait for the fence */
	atomic_bool signalled;
	int result;
};

/* The state letter of a thread of ours */
static char state_of(pid_t tid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (file)
		fclose(file);
	return state;
}

/* Signals once the other thread sleeps, or after so long that it never will. */
static void *signal_when_waited_for(void *data)
{
	struct signaller *signaller = data;
	double until = now() + 5;

	while (state_of(signaller->waiter) == 'R' && now() < until)
		usleep(1000);
	atomic_store(&signaller->signalled, true);
	signaller->result = vgem_signal(signaller->card, signaller->fence);
	return NULL;
}

/* Beginning CPU access waits for who writes; and for who reads, if it is to write. */
static void begin_waits(struct __test_metadata *_metadata, int card, bool write,
			uint64_t flags)
{
	struct signaller signaller = { .card = card, .waiter = syscall(SYS_gettid) };
	int fd = export(memory(0, CHUNK));
	pthread_t thread;

	signaller.fence = vgem_fence(card, vgem_import(card, fd), write);
	ASSERT_NE(0, signaller.fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_when_waited_for, &signaller));
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | flags));
	EXPECT_TRUE(atomic_load(&signaller.signalled));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* -ETIMEDOUT: it had ended by itself */
	EXPECT_EQ(0, signaller.result);
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | flags));
}

TEST_F(drm, reading_waits_for_who_writes)
{
	begin_waits(_metadata, self->card, true, DMA_BUF_SYNC_READ);
}

TEST_F(drm, writing_waits_for_who_reads)
{
	begin_waits(_metadata, self->card, false, DMA_BUF_SYNC_WRITE);
}

TEST_F(drm, reading_does_not_wait_for_who_reads)
{
	int fd = export(memory(0, CHUNK));
	uint32_t fence = vgem_fence(self->card, vgem_import(self->card, fd), false);

	ASSERT_NE(0, fence);
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
	/* else it would have waited until the fence had ended by itself */
	EXPECT_FALSE(writable(fd));
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
}

/* ---- vgem's own memory ---- */

/* One buffer, by MODE_MAP_DUMB and by the mmap() of its dma-buf */
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

TEST_HARNESS_MAIN
