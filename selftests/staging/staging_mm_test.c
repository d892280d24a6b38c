// SPDX-License-Identifier: MIT
/* The dma-buf of a team: what the memory management does with a process's mapping of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "staging_fixture.h"

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

	/* a store, then read-only, then a broadcast, then writable: the next store is noticed */
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

	/* a mapping that begins in the middle of the buffer */
	room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, CHUNK + PAGE);
	ASSERT_NE(MAP_FAILED, (void *)room);
	room[1] = 4;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(4, CHUNK + PAGE + 1);

	/* mremap() moves the mapping, with what was stored in it */
	at[5] = 5;
	room = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)room);
	moved = mremap(at, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ(room, moved);
	moved[PAGE] = 6;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(5, 5);
	EXPECT_ALL(6, PAGE);

	/* soft-dirty tracking takes write access away: no store is lost */
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
	/* unmapping a part broadcasts only that part */
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

/* A child has the mapping and the fd, but no client. */
TEST_F(staging, fork_shares_the_mapping)
{
	volatile char *at = map_fd(self->fd, BYTES);
	pid_t child;
	int link;

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	child = peer_fork(&link);
	if (!child) {
		EXPECT_EQ(1, at[0]);
		at[0] = 2;
		at[PAGE] = 3;
		handshake(link);
		/* the parent has ended its bracket: new stores of the child are noticed, too */
		at[0] = 4;
		at[2 * PAGE] = 5;
		EXPECT_EQ(0, dma_buf_sync(self->fd, END | RW));
		handshake(link);
		at[3 * PAGE] = 6;
		_exit(_metadata->exit_code != KSFT_PASS);
	}
	receive_number(link);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(2, 0);
	EXPECT_ALL(3, PAGE);
	handshake(link);
	EXPECT_ALL(4, 0);
	EXPECT_ALL(5, 2 * PAGE);
	at[4 * PAGE] = 7;
	end_peer(link, child);
	/* the child's death broadcasts all, early for the parent's stores, and loses nothing */
	EXPECT_ALL(6, 3 * PAGE);
	at[4 * PAGE + 1] = 8;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(7, 4 * PAGE);
	EXPECT_ALL(8, 4 * PAGE + 1);
}

/* kill -9 within a bracket: pages that were stored to are broadcast, and no others. */
TEST_F(staging, killed_within_a_bracket)
{
	pid_t child;
	int link;

	child = peer_fork(&link);
	if (!child) {
		volatile char *at = map_fd(self->fd, BYTES);

		ASSERT_EQ(0, dma_buf_sync(self->fd, START | RW));
		at[0] = 1;
		at[CHUNK] = at[PAGE] + 2;
		send_number(link, 0);
		pause();
		_exit(1);
	}
	receive_number(link);
	EXPECT_ALL(0, 0);
	for (int i = 0; i < DEVICES; i++)
		self->replica[i][PAGE] = 30 + i;
	ASSERT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(SIGKILL, reap_child(child));
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, CHUNK);
	EXPECT_ALL(30 + _i, PAGE);
}

/* The fd and the mapping keep the team; the team's bindings keep no memory. */
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

/* A debugger's write counts as a store. */
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
	ASSERT_EQ(0, mprotect((char *)at, BYTES, PROT_READ));
	EXPECT_EQ(-1, pwrite(mem, "x", 1, (off_t)(at + offset)));
	EXPECT_STREQ(data, (char *)at + offset);
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

TEST_F(staging, takes_what_is_touched)
{
	const size_t bytes = 1UL << 30;
	volatile char *at;
	int fd;

	if (stat_of("staging_pages") < 0)
		SKIP(return, "needs root and debugfs");
	EXPECT_EQ(0, stat_of("staging_pages"));
	fd = exported(complete_team(2, bytes));
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

TEST_HARNESS_MAIN
