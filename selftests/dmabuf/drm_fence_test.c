// SPDX-License-Identifier: MIT
/*
 * vgem's fences on memcast's memory: poll(), sync files, CPU access and copies wait for
 * them. A fence ends by itself after 10 s, so no call waits for ever.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "memcast_test.h"
#include "peers.h"

FIXTURE(drm_fence)
{
	int card;
};

FIXTURE_SETUP(drm_fence)
{
	self->card = vgem_open();
	if (self->card < 0)
		SKIP(return, "needs the driver vgem, and root");
	cuda_start(0);
}
NOTHING_LEFT(drm_fence)

TEST_F(drm_fence, poll_follows_fences)
{
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK);
	int fd = exported(own), second = exported(own);
	uint32_t handle, fence;

	handle = vgem_import(self->card, fd);
	ASSERT_NE(0, handle);
	EXPECT_TRUE(readable(fd) && writable(fd));

	/* a writer's fence keeps readers and writers away, through either fd */
	fence = vgem_fence(self->card, handle, true);
	ASSERT_NE(0, fence);
	EXPECT_FALSE(readable(fd) || writable(fd));
	EXPECT_FALSE(readable(second) || writable(second));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(readable(fd) && writable(fd));
	EXPECT_TRUE(readable(second) && writable(second));

	/* a reader's fence keeps writers away */
	fence = vgem_fence(self->card, handle, false);
	ASSERT_NE(0, fence);
	EXPECT_TRUE(readable(fd) && readable(second));
	EXPECT_FALSE(writable(fd) || writable(second));
	ASSERT_EQ(0, vgem_signal(self->card, fence));
	EXPECT_TRUE(writable(fd) && writable(second));
}

TEST_F(drm_fence, fences_of_other_memories)
{
	int fd = exported(new_memory(0, CHUNK)), other = exported(new_memory(0, CHUNK));
	uint32_t handle = vgem_import(self->card, fd), fence;

	ASSERT_NE(0, handle);
	fence = vgem_fence(self->card, handle, true);
	ASSERT_NE(0, fence);
	EXPECT_FALSE(readable(fd));
	EXPECT_TRUE(readable(other) && writable(other));
}

TEST_F(drm_fence, sync_file_from_our_memory)
{
	int fd = exported(new_memory(0, CHUNK)), file;
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

/* IMPORT_SYNC_FILE puts a fence of vgem's own buffer on memcast's memory. */
TEST_F(drm_fence, sync_file_to_our_memory)
{
	uint32_t dumb = vgem_dumb(self->card, CHUNK), fence;
	int theirs, fd = exported(new_memory(0, CHUNK)), file;

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

/* Signals the fence once the waiting thread sleeps; after 5 s in any case. */
static void *signal_when_waited_for(void *data)
{
	struct signaller *signaller = data;
	double until = now() + 5;

	while (thread_state(getpid(), signaller->waiter) == 'R' && now() < until)
		usleep(1000);
	atomic_store(&signaller->signalled, true);
	signaller->result = vgem_signal(signaller->card, signaller->fence);
	return NULL;
}

/* The start of CPU access waits for a writer's fence; CPU writes wait for a reader's as well. */
static void begin_waits(struct __test_metadata *_metadata, int card, bool write,
			uint64_t flags)
{
	struct signaller signaller = { .card = card, .waiter = syscall(SYS_gettid) };
	int fd = exported(new_memory(0, CHUNK));
	pthread_t thread;

	signaller.fence = vgem_fence(card, vgem_import(card, fd), write);
	ASSERT_NE(0, signaller.fence);
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_when_waited_for, &signaller));
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | flags));
	EXPECT_TRUE(atomic_load(&signaller.signalled));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* -ETIMEDOUT: the fence had ended by itself */
	EXPECT_EQ(0, signaller.result);
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | flags));
}

TEST_F(drm_fence, reading_waits_for_who_writes)
{
	begin_waits(_metadata, self->card, true, DMA_BUF_SYNC_READ);
}

TEST_F(drm_fence, writing_waits_for_who_reads)
{
	begin_waits(_metadata, self->card, false, DMA_BUF_SYNC_WRITE);
}

TEST_F(drm_fence, reading_does_not_wait_for_who_reads)
{
	int fd = exported(new_memory(0, CHUNK));
	uint32_t fence = vgem_fence(self->card, vgem_import(self->card, fd), false);

	ASSERT_NE(0, fence);
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ));
	/* the fence is still there: had the call waited, the fence would have ended by itself */
	EXPECT_FALSE(writable(fd));
	EXPECT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
}

/* Copies from vgem's buffer wait for writers' fences, copies to the buffer for readers'. */
TEST_F(drm_fence, copies_wait_for_fences)
{
	volatile uint32_t *own = mapped(new_memory(0, CHUNK), CHUNK, 0);
	uint32_t handle = vgem_dumb(self->card, CHUNK);
	CUdeviceptr outside;
	int fd;

	ASSERT_NE(0, handle);
	fd = vgem_export(self->card, handle);
	ASSERT_LE(0, fd);
	outside = external_at(fd, CHUNK);
	for (int write = 0; write < 2; write++) {
		struct signaller signaller = {
			.card = self->card,
			.waiter = syscall(SYS_gettid),
			.fence = vgem_fence(self->card, handle, write),
		};
		pthread_t thread;

		ASSERT_NE(0, signaller.fence);
		ASSERT_EQ(0, pthread_create(&thread, NULL, signal_when_waited_for, &signaller));
		EXPECT_OK(cuMemcpyDtoD(write ? ADDRESS(own) : outside,
				       write ? outside : ADDRESS(own), CHUNK));
		EXPECT_TRUE(atomic_load(&signaller.signalled));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(0, signaller.result);
	}
}

TEST_HARNESS_MAIN
