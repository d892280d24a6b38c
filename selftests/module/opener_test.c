// SPDX-License-Identifier: MIT
/*
 * A client ends with the process that opened the file, also if another process has the same table
 * of files, or the same address space.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <uapi/memcast.h>
#include "memcast_test.h"
#include "raw.h"

FIXTURE(opener)
{
	int begin[2];		/* a byte: the process that outlives the opener goes on */
};

FIXTURE_SETUP(opener)
{
	if (stat_of("memories") < 0)
		SKIP(return, "needs root and debugfs");
	ASSERT_EQ(0, pipe(self->begin));
	/* the process that outlives its parent becomes a child of the test */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
}
NOTHING_LEFT(opener)

/* What the opener and the process that shares something with it have */
static struct {
	int fd, begin;
	uint32_t *at;
} of;

/* A client with a memory; @mapped: in a reservation */
static void take(struct __test_metadata *_metadata, FIXTURE_DATA(opener) *self, bool mapped)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	struct memcast_map map = { .bytes = CHUNK };
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	struct memcast_set_access access = {
		.bytes = CHUNK, .entries = (uintptr_t)&entry, .count = 1,
	};
	char *room;

	of.begin = self->begin[0];
	of.fd = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, of.fd);
	ASSERT_EQ(0, RAW(of.fd, MEMORY_CREATE, create));
	if (!mapped)
		return;
	room = mmap(NULL, 2 * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)room);
	of.at = (uint32_t *)(((uintptr_t)room + CHUNK - 1) & -CHUNK);
	ASSERT_EQ(of.at, mmap(of.at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			      of.fd, 0));
	map.handle = create.out_handle;
	map.address = (uintptr_t)of.at;
	ASSERT_EQ(0, RAW(of.fd, MAP, map));
	access.address = (uintptr_t)of.at;
	ASSERT_EQ(0, RAW(of.fd, SET_ACCESS, access));
	*(volatile uint32_t *)of.at = 1;
}

/* Waits, in the process that outlives the opener, for the test; then a load shows no memory. */
static int outlive(void *load)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	char byte;

	if (read(of.begin, &byte, 1) != 1)
		return 2;
	if (RAW(of.fd, MEMORY_CREATE, create) != ESRCH)
		return 3;
	if (load)
		*(volatile uint32_t *)of.at = 2;
	return 0;
}

static char stack[65536] __attribute__((aligned(16)));

/*
 * An opener takes a memory and exits, or is killed, while a process that shares @flags with it
 * lives on: the memory is gone. Return: how the other process ended
 */
#define outlived(flags, mapped)	outlived_(_metadata, self, flags, mapped)
static int outlived_(struct __test_metadata *_metadata, FIXTURE_DATA(opener) *self, int flags,
		     bool mapped)
{
	int status = -1, link;
	pid_t opener = peer_fork(&link);
	long sharer;

	if (!opener) {
		take(_metadata, self, mapped);
		sharer = clone(outlive, stack + sizeof(stack), flags | SIGCHLD,
			       flags & CLONE_VM && mapped ? of.at : NULL);
		ASSERT_LT(0, sharer);
		send_number(link, sharer);
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	sharer = receive_number(link);
	EXPECT_EQ(1, stat_of("memories"));
	EXPECT_EQ(mapped, stat_of("mappings"));
	ASSERT_EQ(0, kill(opener, SIGKILL));
	ASSERT_EQ(opener, waitpid(opener, NULL, 0));
	EXPECT_TRUE(comes_true(!stat_of("memories") && !stat_of("mappings")));
	ASSERT_EQ(1, write(self->begin[1], "", 1));
	ASSERT_EQ(sharer, waitpid(sharer, &status, 0));
	close(link);
	return status;
}

TEST_F(opener, files_are_shared)
{
	EXPECT_EQ(0, outlived(CLONE_FILES, false));
	EXPECT_EQ(0, outlived(CLONE_FILES, true));
}

TEST_F(opener, address_space_is_shared)
{
	EXPECT_EQ(0, outlived(CLONE_VM, false));
	EXPECT_EQ(SIGSEGV, WTERMSIG(outlived(CLONE_VM, true)));
}

TEST_F(opener, both_are_shared)
{
	EXPECT_EQ(0, outlived(CLONE_VM | CLONE_FILES, false));
	EXPECT_EQ(SIGSEGV, WTERMSIG(outlived(CLONE_VM | CLONE_FILES, true)));
}

static void *work_on(void *main_thread)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	char byte;

	pthread_join(*(pthread_t *)main_thread, NULL);
	if (read(of.begin, &byte, 1) != 1)
		_exit(2);
	*(volatile uint32_t *)of.at = 2;
	_exit(RAW(of.fd, MEMORY_CREATE, create));
}

/* The exit of a process's first thread does not end its clients. */
TEST_F(opener, other_threads_go_on)
{
	static pthread_t main_thread;
	pthread_t worker;
	int link;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		take(_metadata, self, true);
		main_thread = pthread_self();
		ASSERT_EQ(0, pthread_create(&worker, NULL, work_on, &main_thread));
		send_number(link, 0);
		pthread_exit(NULL);
	}
	receive_number(link);
	EXPECT_TRUE(comes_true(thread_state(pid, pid) == 'Z'));
	ASSERT_EQ(1, write(self->begin[1], "", 1));
	EXPECT_EQ(0, reap_child(pid));
}

TEST_HARNESS_MAIN
