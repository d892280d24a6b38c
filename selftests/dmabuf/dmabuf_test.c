// SPDX-License-Identifier: MIT
/* Memories and ranges of addresses as dma-bufs: mmap(), debuggers, imports and lifetime. */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(dmabuf)
{
	char unused;
};

FIXTURE_SETUP(dmabuf) { }
NOTHING_LEFT(dmabuf)

#define DMA_BUF_FD	CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD

static char *map_fd(int fd, size_t bytes, off_t offset)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

/* Gives every page other contents. */
static void mark(volatile char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		*(volatile uint64_t *)(at + i) = i + 1;
}

static bool is_marked(const volatile char *at, size_t bytes, size_t from)
{
	for (size_t i = 0; i < bytes; i += PAGE)
		if (*(const volatile uint64_t *)(at + i) != from + i + 1)
			return false;
	return true;
}

TEST_F(dmabuf, mmap_shows_the_memory)
{
	CUmemGenericAllocationHandle own;
	char *plain, *other;
	int fd;

	cuda_start(0);
	own = new_memory(0, 3 * CHUNK);
	plain = (char *)mapped(own, 3 * CHUNK, 0);
	mark(plain, 3 * CHUNK);
	fd = exported(own);
	other = map_fd(fd, 3 * CHUNK, 0);
	ASSERT_NE(MAP_FAILED, (void *)other);
	EXPECT_TRUE(is_marked(other, 3 * CHUNK, 0));
	other[CHUNK + 5] = 'x';
	EXPECT_EQ('x', plain[CHUNK + 5]);

	/* mmap() takes a part of the dma-buf, from any page on */
	other = map_fd(fd, CHUNK, CHUNK + 3 * PAGE);
	ASSERT_NE(MAP_FAILED, (void *)other);
	other[1] = 'y';
	EXPECT_EQ('y', plain[CHUNK + 3 * PAGE + 1]);
}

/* A mapping of the fd costs one fault per chunk, at any alignment of its address. */
TEST_F(dmabuf, mmap_costs_a_fault_per_chunk)
{
	const size_t bytes = 16 * CHUNK;
	CUmemGenericAllocationHandle own;
	long huge, small;
	char *at;
	int fd;

	if (stat_of("pmd_faults") < 0)
		SKIP(return, "needs root and debugfs");
	cuda_start(0);
	own = new_memory(0, bytes);
	fd = exported(own);
	at = mmap(NULL, bytes + CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	at += -(uintptr_t)at & (CHUNK - 1);
	ASSERT_EQ(at, mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
	huge = stat_of(CHUNK_FAULTS);
	small = stat_of(OTHER_FAULTS);
	mark(at, bytes);
	EXPECT_EQ(16, stat_of(CHUNK_FAULTS) - huge);
	EXPECT_EQ(0, stat_of(OTHER_FAULTS) - small);

	/* shifted by a page, no PMD entry fits a chunk, but one fault maps all pages under a PMD */
	ASSERT_EQ(at, mmap(at, bytes - PAGE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, PAGE));
	huge = stat_of("pmd_faults");
	small = stat_of("pte_faults");
	EXPECT_TRUE(is_marked(at, bytes - PAGE, PAGE));
	EXPECT_EQ(0, stat_of("pmd_faults") - huge);
	EXPECT_EQ(16, stat_of("pte_faults") - small);
}

/*
 * The loss of a host would miss a PMD entry that fork() or mremap() is just copying: so the entries
 * go before, and each process faults again.
 */
TEST_F(dmabuf, copies_of_a_mapping_begin_without_entries)
{
	CUmemGenericAllocationHandle own;
	long faults;
	pid_t child;
	char *at;

	if (stat_of("pmd_faults") < 0)
		SKIP(return, "needs root and debugfs");
	cuda_start(0);
	own = new_memory(0, CHUNK);
	at = mmap(NULL, 3 * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	at = (char *)chunks_for((uintptr_t)at);
	ASSERT_EQ(at, mmap(at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			   exported(own), 0));
	mark(at, CHUNK);
	faults = stat_of(CHUNK_FAULTS);
	child = fork();
	if (!child)
		_exit(!is_marked(at, CHUNK, 0));
	EXPECT_EQ(0, reap_child(child));
	EXPECT_TRUE(is_marked(at, CHUNK, 0));
	EXPECT_EQ(faults + 2, stat_of(CHUNK_FAULTS));
	ASSERT_EQ(at + CHUNK, mremap(at, CHUNK, CHUNK, MREMAP_MAYMOVE | MREMAP_FIXED, at + CHUNK));
	EXPECT_TRUE(is_marked(at + CHUNK, CHUNK, 0));
	EXPECT_EQ(faults + 3, stat_of(CHUNK_FAULTS));
}

TEST_F(dmabuf, mmap_refused)
{
	int fd;

	cuda_start(0);
	fd = exported(new_memory(0, CHUNK));
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ, MAP_PRIVATE, fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, (void *)map_fd(fd, 2 * CHUNK, 0));
	EXPECT_EQ(MAP_FAILED, (void *)map_fd(fd, CHUNK, PAGE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0));
}

/* Under setarch -X a program can map a dma-buf, and gets memory that it cannot run. */
TEST_F(dmabuf, read_implies_exec)
{
	int before = personality(0xffffffff), fds[2];

	cuda_start(0);
	fds[0] = exported(new_memory(0, CHUNK));
	fds[1] = exported(complete_team(2, CHUNK));
	ASSERT_LE(0, personality(before | READ_IMPLIES_EXEC));
	for (int i = 0; i < 2; i++) {
		char *at = map_fd(fds[i], CHUNK, 0);

		EXPECT_NE(MAP_FAILED, (void *)at) TH_LOG("fd %d: %s", i, strerror(errno));
		if (at == MAP_FAILED)
			continue;
		EXPECT_NE(0, mprotect(at, CHUNK, PROT_READ | PROT_EXEC));
		EXPECT_EQ(0, munmap(at, CHUNK));
	}
	ASSERT_LE(0, personality(before));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_EXEC, MAP_SHARED, fds[1], 0));
}

/* A debugger may not store where the program may not. */
TEST_F(dmabuf, debuggers_keep_to_the_mapping)
{
	char byte = 7, *at[2];
	int i, fd, memory_of_self = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, memory_of_self);
	cuda_start(0);
	for (i = 0; i < 2; i++) {
		fd = exported(i ? complete_team(2, CHUNK) : new_memory(0, CHUNK));
		at[0] = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, fd, 0);
		at[1] = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ASSERT_NE(MAP_FAILED, (void *)at[0]);
		ASSERT_NE(MAP_FAILED, (void *)at[1]);
		EXPECT_EQ(EIO, ERRNO_OF(pwrite(memory_of_self, &byte, 1, ADDRESS(at[0]))));
		EXPECT_EQ(0, *at[0]);
		EXPECT_EQ(1, pwrite(memory_of_self, &byte, 1, ADDRESS(at[1])));
		EXPECT_EQ(7, *at[1]);
	}
}

/* A process can unmap or protect a part of its mapping; the rest stays. */
TEST_F(dmabuf, mmap_in_parts)
{
	char *at;
	int fd;

	cuda_start(0);
	fd = exported(new_memory(0, 2 * CHUNK));
	at = map_fd(fd, 2 * CHUNK, 0);
	ASSERT_NE(MAP_FAILED, (void *)at);
	mark(at, 2 * CHUNK);
	ASSERT_EQ(0, munmap(at + CHUNK / 2, PAGE));
	EXPECT_TRUE(is_marked(at, CHUNK / 2, 0));
	EXPECT_TRUE(is_marked(at + CHUNK / 2 + PAGE, CHUNK, CHUNK / 2 + PAGE));
	EXPECT_EQ(SIGSEGV, try_load(at + CHUNK / 2, NULL));
	ASSERT_EQ(0, mprotect(at, PAGE, PROT_READ));
	EXPECT_EQ(SIGSEGV, try_store(at, 1));
	EXPECT_EQ(0, try_store(at + PAGE, 1));
}

/* The fd, or a mapping of the fd, keeps the memory after all else has gone. */
TEST_F(dmabuf, outlives_handle_and_fd)
{
	CUmemGenericAllocationHandle own;
	long free_bytes = device_bytes(0, "free_bytes");
	char *plain, *other;
	int fd;

	cuda_start(0);
	own = new_memory(0, CHUNK);
	plain = (char *)mapped(own, CHUNK, 0);
	mark(plain, CHUNK);
	fd = exported(own);
	ASSERT_OK(cuMemUnmap(ADDRESS(plain), CHUNK));
	ASSERT_OK(cuMemRelease(own));
	other = map_fd(fd, CHUNK, 0);
	ASSERT_NE(MAP_FAILED, (void *)other);
	ASSERT_EQ(0, close(fd));
	EXPECT_TRUE(is_marked(other, CHUNK, 0));
	EXPECT_EQ(free_bytes - (long)CHUNK, device_bytes(0, "free_bytes"));
	ASSERT_EQ(0, munmap(other, CHUNK));
	EXPECT_EQ(free_bytes, device_bytes(0, "free_bytes"));
}

TEST_F(dmabuf, cpu_access_brackets)
{
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	int fd;

	cuda_start(0);
	fd = exported(new_memory(0, CHUNK));
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
	sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW;
	EXPECT_EQ(0, ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync));
}

/* ---- cuMemGetHandleForAddressRange() ---- */

TEST_F(dmabuf, range_of_adjacent_mappings)
{
	const size_t from = CHUNK - 2 * PAGE, bytes = CHUNK + 3 * PAGE;
	CUdeviceptr at;
	char *other;
	int fd = -1;

	cuda_start(0);
	at = reserve(3 * CHUNK);
	for (int i = 0; i < 3; i++)
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(allow(at, 3 * CHUNK, 0, READWRITE));
	mark((char *)at, 3 * CHUNK);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at + from, bytes, DMA_BUF_FD, 0));
	EXPECT_EQ((off_t)bytes, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	other = map_fd(fd, bytes, 0);
	ASSERT_NE(MAP_FAILED, (void *)other);
	EXPECT_TRUE(is_marked(other, bytes, from));

	/* the dma-buf keeps the memories, not the mappings */
	ASSERT_OK(cuMemUnmap(at, 3 * CHUNK));
	EXPECT_TRUE(is_marked(other, bytes, from));
}

/* The dma-buf of a range imports as a memory of its own. */
TEST_F(dmabuf, range_is_no_handle)
{
	CUmemGenericAllocationHandle own;
	CUdeviceptr at, other;
	int fd = -1;

	cuda_start(0);
	own = new_memory(0, CHUNK);
	at = ADDRESS(mapped(own, CHUNK, 0));
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at, CHUNK, DMA_BUF_FD, 0));
	other = ADDRESS(mapped(imported(fd), CHUNK, 0));
	mark((char *)at, CHUNK);
	EXPECT_TRUE(is_marked((char *)other, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(at, CHUNK));
	ASSERT_OK(cuMemRelease(own));
	EXPECT_TRUE(is_marked((char *)other, CHUNK, 0));
}

TEST_F(dmabuf, range_arguments)
{
	CUdeviceptr at, window;
	int fd = -7;

	cuda_start(0);
	at = reserve(4 * CHUNK);
	ASSERT_OK(cuMemMap(at, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(cuMemMap(at + CHUNK, CHUNK, 0, new_memory(1, CHUNK), 0));
	window = ADDRESS(mapped(complete_team(2, CHUNK), CHUNK, 0));

	EXPECT_REASON(cuMemGetHandleForAddressRange(NULL, at, CHUNK, DMA_BUF_FD, 0), "NULL output");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at, CHUNK, 0, 0), "unknown handle type #");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at, CHUNK, DMA_BUF_FD, 2),
		      "unknown flags");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at, 0, DMA_BUF_FD, 0),
		      "not a range of whole pages");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at + 1, PAGE, DMA_BUF_FD, 0),
		      "not a range of whole pages");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at, PAGE - 1, DMA_BUF_FD, 0),
		      "not a range of whole pages");
	EXPECT_EQ(-7, fd);
	/* memory of two devices; unmapped addresses; host memory */
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at, 2 * CHUNK, DMA_BUF_FD, 0),
		      "the range is on several devices");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, at + 2 * CHUNK, CHUNK, DMA_BUF_FD, 0),
		      "no device's memory is mapped there");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, ADDRESS(&fd) & -PAGE, PAGE,
						    DMA_BUF_FD, 0),
		      "# is not in a reservation");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetHandleForAddressRange(&fd, window, CHUNK, DMA_BUF_FD, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuMemGetHandleForAddressRange(&fd, at, CHUNK, DMA_BUF_FD,
						CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE));
	EXPECT_EQ(-1, fd);
}

TEST_HARNESS_MAIN
