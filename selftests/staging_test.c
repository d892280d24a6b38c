// SPDX-License-Identifier: MIT
/* The dma-buf of a team: what is written to it reaches every replica. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "importer.h"
#include "memcast_test.h"
#include "peers.h"

#define DEVICES	3
#define BYTES	(2 * CHUNK)
#define PAGE	4096UL
#define PAGES	(BYTES / PAGE)

#define START	DMA_BUF_SYNC_START
#define END	DMA_BUF_SYNC_END
#define RD	DMA_BUF_SYNC_READ
#define WR	DMA_BUF_SYNC_WRITE
#define RW	DMA_BUF_SYNC_RW

/* A team of three, bound everywhere, and one fd of it */
FIXTURE(staging)
{
	CUmemGenericAllocationHandle team, own[DEVICES];
	/* each memory, as it is mapped itself */
	volatile char *replica[DEVICES];
	int fd;
};

FIXTURE_SETUP(staging)
{
	cuda_start(0);
	self->team = full_team(DEVICES, BYTES);
	for (int i = 0; i < DEVICES; i++) {
		self->own[i] = memory(i, BYTES);
		self->replica[i] = (volatile char *)mapped(self->own[i], BYTES, i);
		ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[i], 0, BYTES, 0));
	}
	self->fd = export(self->team);
}
NOTHING_LEFT(staging)

#define map_fd(fd, bytes)	map_fd_(_metadata, fd, bytes, PROT_READ | PROT_WRITE)
#define map_read(fd, bytes)	map_fd_(_metadata, fd, bytes, PROT_READ)
static volatile char *map_fd_(struct __test_metadata *_metadata, int fd, size_t bytes, int prot)
{
	void *at = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);

	ASSERT_NE(MAP_FAILED, at);
	return at;
}

#define sync_fd(fd, flags)	ASSERT_EQ(0, dma_buf_sync(fd, flags))
/* @value may depend on _i, which replica it is */
#define EXPECT_ALL(value, offset)					\
	do {								\
		for (int _i = 0; _i < DEVICES; _i++) {			\
			EXPECT_EQ(value, self->replica[_i][offset]);	\
		}							\
	} while (0)

TEST_F(staging, store_reaches_every_replica)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	at[PAGE + 5] = 2;
	at[CHUNK - 1] = 3;
	at[BYTES - 1] = 4;
	/* not before the end */
	EXPECT_ALL(0, 0);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE + 5);
	EXPECT_ALL(3, CHUNK - 1);
	EXPECT_ALL(4, BYTES - 1);

	/* and again: the first store of a bracket is always noticed */
	sync_fd(self->fd, START | WR);
	at[0] = 5;
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(5, 0);

	/* also without a new bracket */
	at[0] = 6;
	EXPECT_ALL(5, 0);
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(6, 0);
}

TEST_F(staging, reading_bracket_broadcasts_nothing)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RD);
	at[0] = 1;
	sync_fd(self->fd, END | RD);
	EXPECT_ALL(0, 0);
	/* but it is not lost */
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(1, at[0]);
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(1, 0);
}

TEST_F(staging, reads_see_the_first_member)
{
	volatile char *at = map_read(self->fd, BYTES);

	self->replica[0][PAGE] = 1;
	self->replica[1][PAGE] = 2;
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(1, at[PAGE]);
	sync_fd(self->fd, END | RD);

	/* at the next bracket, what is there then */
	self->replica[0][PAGE] = 3;
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(3, at[PAGE]);
	sync_fd(self->fd, END | RD);

	ASSERT_OK(cuMulticastUnbind(self->team, 0, 0, BYTES));
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(2, at[PAGE]);
	sync_fd(self->fd, END | RD);
	EXPECT_EQ(SIGSEGV, try_store(at, 1));
}

/* What was not stored to keeps what others wrote meanwhile. */
TEST_F(staging, clean_pages_overwrite_nothing)
{
	volatile char *at = map_fd(self->fd, BYTES);
	char sum = 0;

	sync_fd(self->fd, START | RW);
	for (size_t i = 0; i < BYTES; i += PAGE)
		sum += at[i];
	at[3 * PAGE] = 1;
	for (int i = 0; i < DEVICES; i++) {
		self->replica[i][2 * PAGE] = 20 + i;
		self->replica[i][4 * PAGE] = 40 + i;
		self->replica[i][CHUNK] = 60 + i;
	}
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(0, sum);
	EXPECT_ALL(1, 3 * PAGE);
	EXPECT_ALL(20 + _i, 2 * PAGE);
	EXPECT_ALL(40 + _i, 4 * PAGE);
	EXPECT_ALL(60 + _i, CHUNK);
}

/* No comparing: a value that one replica has already goes to those that have not. */
TEST_F(staging, same_value_is_a_store_too)
{
	volatile char *at = map_fd(self->fd, BYTES);

	for (int i = 0; i < DEVICES; i++)
		self->replica[i][7] = i;
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(0, at[7]);
	at[7] = 0;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(0, 7);
}

TEST_F(staging, two_writers_on_different_pages)
{
	volatile char *at = map_fd(self->fd, BYTES), *other = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	sync_fd(self->fd, START | RW);
	at[0] = 1;
	other[PAGE] = 2;
	/* they share the pages */
	EXPECT_EQ(1, other[0]);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE);
	other[2 * PAGE] = 3;
	EXPECT_ALL(0, 2 * PAGE);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(3, 2 * PAGE);
}

/* Each fd of a team that was exported by itself has its own pages. */
TEST_F(staging, fds_are_independent)
{
	int other_fd = export(self->team);
	volatile char *at = map_fd(self->fd, BYTES), *other = map_fd(other_fd, BYTES);

	sync_fd(self->fd, START | RW);
	sync_fd(other_fd, START | RW);
	at[0] = 1;
	other[PAGE] = 2;
	EXPECT_EQ(0, other[0]);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(0, PAGE);
	sync_fd(other_fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE);
	/* either gives the team */
	ASSERT_OK(cuMemRelease(import(self->fd)));
	ASSERT_OK(cuMemRelease(import(other_fd)));
}

TEST_F(staging, partly_bound)
{
	volatile char *at = map_fd(self->fd, BYTES);

	/* the second chunk: of device 2 alone; the first: of none */
	for (int i = 0; i < DEVICES; i++)
		ASSERT_OK(cuMulticastUnbind(self->team, i, 0, BYTES));
	ASSERT_OK(cuMulticastBindMem(self->team, CHUNK, self->own[2], 0, CHUNK, 0));
	self->replica[2][1] = 9;
	self->replica[0][1] = 8;
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(0, at[1]);
	EXPECT_EQ(9, at[CHUNK + 1]);
	at[2] = 1;
	at[CHUNK + 2] = 2;
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(2, self->replica[2][2]);
	EXPECT_EQ(0, self->replica[0][2]);
	EXPECT_EQ(0, self->replica[2][CHUNK + 2]);

	/* dropped for good: binding later does not bring it */
	ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[0], 0, CHUNK, 0));
	sync_fd(self->fd, START | RW);
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(0, self->replica[0][2]);
	EXPECT_EQ(8, at[1]);
}

TEST_F(staging, bindings_change_within_a_bracket)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	ASSERT_OK(cuMulticastUnbind(self->team, 1, 0, BYTES));
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(1, self->replica[0][0]);
	EXPECT_EQ(0, self->replica[1][0]);
	EXPECT_EQ(1, self->replica[2][0]);

	sync_fd(self->fd, START | RW);
	at[0] = 2;
	ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[1], 0, BYTES, 0));
	/* a memory that dies, and its binding with it */
	ASSERT_OK(cuMemUnmap(ADDRESS(self->replica[0]), BYTES));
	ASSERT_OK(cuMemRelease(self->own[0]));
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(2, self->replica[1][0]);
	EXPECT_EQ(2, self->replica[2][0]);
}

TEST_F(staging, host_memory)
{
	CUmemAllocationProp prop = memory_on(0);
	volatile char *at = map_fd(self->fd, BYTES), *host;
	CUmemGenericAllocationHandle own;
	int node = -1;

	ASSERT_OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1));
	prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	prop.location.id = node;
	ASSERT_OK(cuMemCreate(&own, BYTES, &prop, 0));
	host = (volatile char *)mapped(own, BYTES, 1);
	ASSERT_OK(cuMulticastUnbind(self->team, 1, 0, BYTES));
	ASSERT_OK(cuMulticastBindMem_v2(self->team, 1, 0, own, 0, BYTES, 0));
	sync_fd(self->fd, START | RW);
	at[CHUNK + 77] = 7;
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(7, self->replica[0][CHUNK + 77]);
	EXPECT_EQ(7, host[CHUNK + 77]);
}

/* ---- what the memory management of a process does with a mapping ---- */

TEST_F(staging, mmap_refused)
{
	errno = 0;
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ, MAP_PRIVATE, self->fd, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_EXEC, MAP_SHARED, self->fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, BYTES + PAGE, PROT_READ, MAP_SHARED, self->fd, 0));
}

TEST_F(staging, protection_and_moves)
{
	char *at = (char *)map_fd(self->fd, BYTES), *room, *moved;

	/* stored to, then read-only, then broadcast, then writable: a store is seen */
	at[0] = 1;
	ASSERT_EQ(0, mprotect(at, BYTES, PROT_READ));
	EXPECT_EQ(SIGSEGV, try_store(at, 2));
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_EQ(1, *(volatile char *)at);
	ASSERT_EQ(0, mprotect(at, BYTES, PROT_READ | PROT_WRITE));
	*(volatile char *)at = 3;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(3, 0);

	/* an offset within */
	room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, CHUNK + PAGE);
	ASSERT_NE(MAP_FAILED, (void *)room);
	room[1] = 4;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(4, CHUNK + PAGE + 1);

	/* moved with what is stored in it */
	at[5] = 5;
	room = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)room);
	moved = mremap(at, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ(room, moved);
	moved[PAGE] = 6;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(5, 5);
	EXPECT_ALL(6, PAGE);

	/* forgotten write access, as soft-dirty tracking does: no store is lost */
	for (int i = 0; i < 2; i++) {
		int fd = open("/proc/self/clear_refs", O_WRONLY);

		moved[7] = 10 + i;
		if (fd >= 0) {
			EXPECT_EQ(1, write(fd, "4", 1));
			close(fd);
		}
		moved[8] = 20 + i;
		sync_fd(self->fd, END | RW);
		EXPECT_ALL(10 + i, 7);
		EXPECT_ALL(20 + i, 8);
	}
}

TEST_F(staging, munmap_broadcasts_what_was_stored)
{
	volatile char *at = map_fd(self->fd, BYTES);

	at[0] = 1;
	at[PAGE] = 2;
	/* a part: only that is broadcast */
	ASSERT_EQ(0, munmap((char *)at + PAGE, PAGE));
	EXPECT_ALL(2, PAGE);
	EXPECT_ALL(0, 0);
	ASSERT_EQ(0, close(self->fd));
	at[CHUNK] = 3;
	ASSERT_EQ(0, munmap((char *)at, PAGE));
	ASSERT_EQ(0, munmap((char *)at + 2 * PAGE, BYTES - 2 * PAGE));
	EXPECT_ALL(1, 0);
	EXPECT_ALL(3, CHUNK);
	EXPECT_EQ(0, stat_of("staging_pages") > 0);
}

/* A child has the mapping, the fd, and no client. */
TEST_F(staging, fork_shares_the_mapping)
{
	volatile char *at = map_fd(self->fd, BYTES);
	pid_t child;
	int link;

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	child = peer_fork(&link);
	ASSERT_LE(0, child);
	if (!child) {
		EXPECT_EQ(1, at[0]);
		at[0] = 2;
		at[PAGE] = 3;
		tell(link, 0);
		hear(link);
		/* the parent's end has been: new stores are noticed here, too */
		at[0] = 4;
		at[2 * PAGE] = 5;
		EXPECT_EQ(0, dma_buf_sync(self->fd, END | RW));
		tell(link, 0);
		hear(link);
		at[3 * PAGE] = 6;
		_exit(_metadata->exit_code != KSFT_PASS);
	}
	hear(link);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(2, 0);
	EXPECT_ALL(3, PAGE);
	tell(link, 0);
	hear(link);
	EXPECT_ALL(4, 0);
	EXPECT_ALL(5, 2 * PAGE);
	at[4 * PAGE] = 7;
	tell(link, 0);
	EXPECT_EQ(0, ended(child));
	/* what dies broadcasts, early for the parent, and nothing gets lost */
	EXPECT_ALL(6, 3 * PAGE);
	at[4 * PAGE + 1] = 8;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(7, 4 * PAGE);
	EXPECT_ALL(8, 4 * PAGE + 1);
}

/* kill -9 within a bracket: what was stored is broadcast, what was not is not. */
TEST_F(staging, killed_within_a_bracket)
{
	pid_t child;
	int link;

	child = peer_fork(&link);
	ASSERT_LE(0, child);
	if (!child) {
		volatile char *at = map_fd(self->fd, BYTES);

		ASSERT_EQ(0, dma_buf_sync(self->fd, START | RW));
		at[0] = 1;
		at[CHUNK] = at[PAGE] + 2;
		tell(link, 0);
		pause();
		_exit(1);
	}
	hear(link);
	EXPECT_ALL(0, 0);
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][PAGE] = 30 + i;
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(SIGKILL, ended(child));
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, CHUNK);
	EXPECT_ALL(30 + _i, PAGE);
}

/* The fd and the mapping keep the team; its bindings keep no memory. */
TEST_F(staging, outlives_handle_and_fd)
{
	volatile char *at = map_fd(self->fd, BYTES);

	ASSERT_OK(cuMemRelease(self->team));
	at[0] = 1;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	ASSERT_EQ(0, close(self->fd));
	at[0] = 2;
	ASSERT_EQ(0, munmap((char *)at, BYTES));
	EXPECT_ALL(2, 0);
	EXPECT_EQ(0, stat_of("teams") > 0);
}

/* A debugger stores, too. */
TEST_F(staging, proc_mem)
{
	volatile char *at = map_fd(self->fd, BYTES);
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	char data[] = "over the border", back[sizeof(data)];
	const size_t offset = PAGE - 4;

	ASSERT_LE(0, mem);
	ASSERT_EQ(sizeof(data), pwrite(mem, data, sizeof(data), (off_t)(at + offset)));
	ASSERT_EQ(sizeof(back), pread(mem, back, sizeof(back), (off_t)(at + offset)));
	EXPECT_STREQ(data, back);
	EXPECT_STREQ(data, (char *)at + offset);
	sync_fd(self->fd, END | WR);
	for (int i = 0; i < DEVICES; i++)
		EXPECT_STREQ(data, (char *)self->replica[i] + offset);
}

TEST_F(staging, names)
{
	char name[] = "all-reduce";

	if (bufinfo_has(self->fd, "memcast-team", 0) < 0)
		SKIP(return, "needs root and debugfs' dma_buf/bufinfo");
	EXPECT_EQ(1, bufinfo_has(self->fd, "memcast-team", 0));
	EXPECT_EQ(0, ioctl(self->fd, DMA_BUF_SET_NAME_B, name));
	EXPECT_TRUE(readable(self->fd));
	EXPECT_TRUE(writable(self->fd));
	EXPECT_EQ((off_t)BYTES, lseek(self->fd, 0, SEEK_END));
}

TEST_F(staging, module_is_in_use)
{
	if (geteuid())
		SKIP(return, "needs root");
	errno = 0;
	EXPECT_EQ(-1, syscall(SYS_delete_module, "memcast", O_NONBLOCK));
	EXPECT_EQ(EWOULDBLOCK, errno);
}

/* ---- memory ---- */

TEST_F(staging, takes_what_is_touched)
{
	const size_t bytes = 1UL << 30;
	volatile char *at;
	int fd;

	if (stat_of("staging_pages") < 0)
		SKIP(return, "needs root and debugfs");
	EXPECT_EQ(0, stat_of("staging_pages"));
	fd = export(full_team(2, bytes));
	at = map_fd(fd, bytes);
	for (size_t i = 0; i < bytes; i += bytes / 8)
		EXPECT_EQ(0, at[i]);
	at[bytes - 1] = 1;
	sync_fd(fd, START | RW);
	sync_fd(fd, END | RW);
	EXPECT_EQ(9, stat_of("staging_pages"));
	ASSERT_EQ(0, munmap((char *)at, bytes));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(0, stat_of("staging_pages"));
}

/* Larger than any memory: what is touched works, mapping it for a device does not. */
TEST_F(staging, more_than_there_is)
{
	const size_t bytes = 1UL << 44;
	volatile char *at;
	const char *why;
	uint32_t id;
	int fd, device;

	fd = export(full_team(2, bytes));
	at = map_fd(fd, bytes);
	at[bytes - 1] = 1;
	EXPECT_EQ(1, at[bytes - 1]);
	sync_fd(fd, END | RW);

	device = importer_open(&why);
	if (device < 0)
		SKIP(return, "%s", why);
	ASSERT_EQ(0, importer_attach(device, fd, &id));
	EXPECT_EQ(-ENOMEM, importer_map(device, id, 0, MEMCAST_IMPORTER_BOTH, NULL));
	EXPECT_EQ(1, stat_of("staging_pages"));
}

/* ---- devices that import ---- */

FIXTURE(imported)
{
	CUmemGenericAllocationHandle team, own[DEVICES];
	volatile char *replica[DEVICES];
	int fd, device;
	uint32_t id;
};

FIXTURE_SETUP(imported)
{
	const char *why;

	self->device = importer_open(&why);
	if (self->device < 0)
		SKIP(return, "%s", why);
	cuda_start(0);
	self->team = full_team(DEVICES, BYTES);
	for (int i = 0; i < DEVICES; i++) {
		self->own[i] = memory(i, BYTES);
		self->replica[i] = (volatile char *)mapped(self->own[i], BYTES, i);
		ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[i], 0, BYTES, 0));
	}
	self->fd = export(self->team);
	ASSERT_EQ(0, importer_attach(self->device, self->fd, &self->id));
}
NOTHING_LEFT(imported)

#define MAP(slot, direction)	\
	ASSERT_EQ(0, importer_map(self->device, self->id, slot,		\
				  MEMCAST_IMPORTER_##direction, NULL))
#define UNMAP(slot)	ASSERT_EQ(0, importer_unmap(self->device, self->id, slot))
#define PUT(slot, offset, value)					\
	do {								\
		char _value = value;					\
		ASSERT_EQ(0, importer_write(self->device, self->id, slot, offset, &_value, 1)); \
	} while (0)
#define GET(slot, offset) get_(_metadata, self->device, self->id, slot, offset)
static char get_(struct __test_metadata *_metadata, int device, uint32_t id, uint32_t slot,
		 uint64_t offset)
{
	char value = -1;

	ASSERT_EQ(0, importer_read(device, id, slot, offset, &value, 1));
	return value;
}

TEST_F(imported, device_writes)
{
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][100] = i + 1;
	MAP(0, BOTH);
	EXPECT_EQ(1, GET(0, 100));
	PUT(0, 0, 10);
	PUT(0, BYTES - 1, 11);
	EXPECT_ALL(0, 0);
	UNMAP(0);
	EXPECT_ALL(10, 0);
	EXPECT_ALL(11, BYTES - 1);
	/* what it did not write is written as it was when it was mapped */
	EXPECT_ALL(1, 100);
	/* and is up to date the next time */
	self->replica[0][0] = 12;
	MAP(0, READS);
	EXPECT_EQ(12, GET(0, 0));
	UNMAP(0);
}

TEST_F(imported, device_reads)
{
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][100] = i + 1;
	MAP(0, READS);
	EXPECT_EQ(1, GET(0, 100));
	UNMAP(0);
	EXPECT_ALL(_i + 1, 100);
}

/* The second one does not undo what the first has written and not yet ended. */
TEST_F(imported, two_mappings)
{
	MAP(0, WRITES);
	PUT(0, 0, 1);
	MAP(1, BOTH);
	EXPECT_EQ(1, GET(1, 0));
	PUT(1, 1, 2);
	UNMAP(1);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, 1);
	PUT(0, 2, 3);
	EXPECT_ALL(0, 2);
	UNMAP(0);
	EXPECT_ALL(3, 2);
}

TEST_F(imported, device_and_processor)
{
	volatile char *at = map_fd(self->fd, BYTES);

	at[0] = 1;
	MAP(0, BOTH);
	EXPECT_EQ(1, GET(0, 0));
	PUT(0, 1, 2);
	PUT(0, PAGE, 3);
	/* a bracket does not undo what the device has written */
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(2, at[1]);
	EXPECT_EQ(3, at[PAGE]);
	at[2 * PAGE] = 4;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, 1);
	EXPECT_ALL(0, PAGE);
	EXPECT_ALL(4, 2 * PAGE);
	at[3 * PAGE] = 5;
	UNMAP(0);
	EXPECT_ALL(3, PAGE);
	EXPECT_ALL(5, 3 * PAGE);
	/* a store after that is noticed */
	at[3 * PAGE] = 6;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(6, 3 * PAGE);
}

TEST_F(imported, kernel_addresses)
{
	self->replica[0][5] = 5;
	MAP(MEMCAST_IMPORTER_VMAP, BOTH);
	EXPECT_EQ(5, GET(MEMCAST_IMPORTER_VMAP, 5));
	PUT(MEMCAST_IMPORTER_VMAP, CHUNK, 1);
	EXPECT_ALL(0, CHUNK);
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(1, GET(MEMCAST_IMPORTER_VMAP, CHUNK));
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, CHUNK);
	PUT(MEMCAST_IMPORTER_VMAP, CHUNK + 1, 2);
	UNMAP(MEMCAST_IMPORTER_VMAP);
	EXPECT_ALL(2, CHUNK + 1);
	EXPECT_ALL(5, 5);
}

/* Where memory is not in pieces, a device gets few runs. */
TEST_F(imported, segments)
{
	uint32_t runs;

	ASSERT_EQ(0, importer_map(self->device, self->id, 0, MEMCAST_IMPORTER_BOTH, &runs));
	EXPECT_GE(BYTES / CHUNK, runs);
	UNMAP(0);
}

/* The device's file goes, its mapping with it: that ends the write. */
TEST_F(imported, importer_dies)
{
	MAP(0, WRITES);
	PUT(0, 1, 1);
	ASSERT_EQ(0, close(self->fd));
	ASSERT_OK(cuMemRelease(self->team));
	EXPECT_ALL(0, 1);
	ASSERT_EQ(0, close(self->device));
	EXPECT_ALL(1, 1);
	EXPECT_EQ(0, stat_of("staging_pages"));
	EXPECT_EQ(0, stat_of("teams"));
}

TEST_HARNESS_MAIN
