// SPDX-License-Identifier: MIT
/*
 * Processes in a cgroup that has little memory, or is frozen, and a clock that is set: whatever
 * happens to one member of a team, the others go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include "cgroup.h"
#include "memcast_test.h"
#include "raw.h"

#define PARAMETERS	"/sys/module/memcast/parameters"
#define TEAM_CHUNKS	8

FIXTURE(cgroup)
{
	struct cgroup cgroup;
	pid_t child;
	_Atomic int handled;		/* signals, by the child that waits */
};

FIXTURE_SETUP(cgroup)
{
	if (!cgroup_make(&self->cgroup, "+memory"))
		SKIP(return, "needs root, and cgroups of version 2 with the memory controller");
}

FIXTURE_TEARDOWN_PARENT(cgroup)
{
	write_in(PARAMETERS, "team_timeout_ms", "0");
	EXPECT_TRUE(cgroup_end(&self->cgroup, self->child));
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

/* ---- calls that wait ---- */

struct waiter {
	CUmemGenericAllocationHandle team;
	int link;
};

/* Joins the team's second device when the parent says so. */
static void *join(void *data)
{
	struct waiter *waiter = data;
	long number;

	if (peer_receive(waiter->link, &number, NULL))
		_exit(1);
	return (void *)(intptr_t)cuMulticastAddDevice(waiter->team, 1);
}

static _Atomic int *handled;

static void count_signal(int signal)
{
	(void)signal;
	++*handled;
}

/* Binds to a team whose second device joins later. */
static void wait_for_members(struct __test_metadata *_metadata, FIXTURE_DATA(cgroup) *self,
			     int link)
{
	struct waiter waiter = { .link = link };
	pthread_t thread;

	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.procs", "0"));
	cuda_start(0);
	waiter.team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(waiter.team, 0));
	handled = &self->handled;
	signal(SIGUSR1, count_signal);
	ASSERT_EQ(0, pthread_create(&thread, NULL, join, &waiter));
	send_number(link, 0);
	EXPECT_OK(cuMulticastBindMem(waiter.team, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	_exit(_metadata->exit_code);
}

static void fork_waiter(struct __test_metadata *_metadata, FIXTURE_DATA(cgroup) *self, int *link)
{
	pid_t pid = peer_fork(link);

	if (!pid)
		wait_for_members(_metadata, self, *link);
	self->child = pid;
	receive_number(*link);
	ASSERT_TRUE(sleeps(self->child, self->child));
}

TEST_F(cgroup, freezes_a_call_that_waits)
{
	int link;

	fork_waiter(_metadata, self, &link);
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "1"));
	EXPECT_TRUE(comes_true(cgroup_says(&self->cgroup, "cgroup.events", "frozen 1")));
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.freeze", "0"));
	end_peer(link, self->child);
	self->child = 0;
}

/* How long a call has waited is not what the clock on the wall says. */
TEST_F(cgroup, waits_do_not_look_at_the_clock)
{
	struct memcast_team_create create = { .bytes = CHUNK, .devices = 2 };
	struct memcast_team_wait wait = { .command = MEMCAST_NR_MAP };
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC), link, i;
	struct timespec before, time = {}, up, later;
	time_t far[2];

	ASSERT_EQ(0, write_in(PARAMETERS, "team_timeout_ms", "1000000"));
	fork_waiter(_metadata, self, &link);
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &before));
	ASSERT_EQ(0, clock_gettime(CLOCK_MONOTONIC, &up));
	/* Linux sets no time that is less than how long the machine has been up */
	far[0] = 4000000000L;
	far[1] = up.tv_sec + 1000;
	for (i = 0; i < 2; i++) {
		time.tv_sec = far[i];
		ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &time));
		/* after a signal the wait looks at how much time is left */
		ASSERT_EQ(0, syscall(SYS_tgkill, self->child, self->child, SIGUSR1));
		EXPECT_TRUE(comes_true(self->handled == i + 1 && sleeps(self->child, self->child)));
	}
	ASSERT_EQ(0, clock_gettime(CLOCK_MONOTONIC, &later));
	before.tv_sec += later.tv_sec - up.tv_sec + 1;
	ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &before));
	end_peer(link, self->child);
	self->child = 0;

	ASSERT_EQ(0, RAW(device, TEAM_CREATE, create));
	wait.team = create.out_handle;
	ASSERT_EQ(0, write_in(PARAMETERS, "team_timeout_ms", "1"));
	EXPECT_EQ(ENETDOWN, RAW(device, TEAM_WAIT, wait));
	EXPECT_NE(0, wait.since);
	wait.since = 1;
	EXPECT_EQ(ENETDOWN, RAW(device, TEAM_WAIT, wait));
	wait.since = 1ULL << 63;
	EXPECT_EQ(EINVAL, RAW(device, TEAM_WAIT, wait));
	wait.since = ~0ULL;
	EXPECT_EQ(EINVAL, RAW(device, TEAM_WAIT, wait));
	close(device);
}

/* ---- little memory ---- */

static void take_memories(int device, size_t bytes)
{
	struct memcast_memory_create create = { .location = MEMCAST_LOCATION_HOST, .bytes = bytes };

	while (!RAW(device, MEMORY_CREATE, create))
		;
}

/* A process over memory.high is slowed down in its calls, and can be killed there. */
TEST_F(cgroup, over_memory_high_is_killable)
{
	int link, device;
	pid_t pid;

	ASSERT_EQ(0, write_in(self->cgroup.path, "memory.high", "20M"));
	pid = peer_fork(&link);
	if (!pid) {
		ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.procs", "0"));
		device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
		ASSERT_LE(0, device);
		/* the pages alone are more than the cgroup may have: the structs would take long */
		take_memories(device, CHUNK);
		pause();
	}
	self->child = pid;
	ASSERT_TRUE(comes_true(!cgroup_says(&self->cgroup, "memory.events", "high 0")));
	ASSERT_EQ(0, kill(self->child, SIGKILL));
	EXPECT_TRUE(comes_true(has_ended(self->child)));
	self->child = 0;
}

/* What a member takes until it has too much */
enum taking { HANDLES, OWN_MEMORY, STAGING_PAGES, TAKINGS };

static void take(enum taking what, int device, int fd, uint32_t team, uint32_t memory)
{
	struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD, .fd = fd };
	struct memcast_bind_memory bind = {
		.team = team, .memory = memory, .device = 1, .bytes = TEAM_CHUNKS * CHUNK,
	};
	struct memcast_unbind unbind = {
		.team = team, .device = 1, .bytes = TEAM_CHUNKS * CHUNK,
	};
	const size_t much = 64 << 20;
	volatile char *at;
	size_t i;

	switch (what) {
	case HANDLES:
		while (!RAW(device, IMPORT, import))
			;
		return;
	case OWN_MEMORY:
		at = mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (i = 0; i < much; i += PAGE) {
			at[i] = 1;
			if (i % (16 * PAGE))
				continue;
			RAW(device, UNBIND, unbind);
			RAW(device, BIND_MEMORY, bind);
		}
		return;
	default:
		at = mmap(NULL, TEAM_CHUNKS * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		for (i = 0; i < TEAM_CHUNKS * CHUNK; i += PAGE)
			if (try_store((void *)(at + i), 1))
				break;
		take_memories(device, PAGE);
	}
}

/* A member of the team in the cgroup: it binds, and takes until it is killed, or refused. */
static void be_greedy(struct __test_metadata *_metadata, FIXTURE_DATA(cgroup) *self,
		      enum taking what, int link)
{
	struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .location_id = 1,
		.bytes = TEAM_CHUNKS * CHUNK, .handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_bind_memory bind = { .device = 1, .bytes = TEAM_CHUNKS * CHUNK };
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	long number;

	ASSERT_EQ(0, peer_receive(link, &number, &import.fd));
	ASSERT_EQ(0, write_in(self->cgroup.path, "cgroup.procs", "0"));
	ASSERT_EQ(0, RAW(device, IMPORT, import));
	ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
	bind.team = import.out_handle;
	bind.memory = create.out_handle;
	ASSERT_EQ(0, RAW(device, BIND_MEMORY, bind));
	take(what, device, import.fd, bind.team, bind.memory);
	peer_send(link, 0, -1);
	pause();
}

/* Return: how often the cgroup would have gone over memory.max; -1: the kernel does not say */
static long times_at_limit(const struct cgroup *cgroup)
{
	char path[64], word[16];
	long count, found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/memory.events", cgroup->path);
	file = fopen(path, "re");
	while (file && fscanf(file, "%15s %ld", word, &count) == 2)
		if (!strcmp(word, "max"))
			found = count;
	if (file)
		fclose(file);
	return found;
}

TEST_F(cgroup, members_without_memory_stop_no_others)
{
	int links[TAKINGS], i, fd;
	CUmemGenericAllocationHandle team;
	volatile uint32_t *window;
	pid_t members[TAKINGS];
	long number, before;
	uint32_t word;

	ASSERT_EQ(0, write_in(self->cgroup.path, "memory.max", "24M"));
	for (i = 0; i < TAKINGS; i++) {
		members[i] = peer_fork(&links[i]);
		if (!members[i])
			be_greedy(_metadata, self, i, links[i]);
	}
	cuda_start(0);
	for (i = 0; i < TAKINGS; i++) {
		team = complete_team(2, TEAM_CHUNKS * CHUNK);
		new_bound(team, 0, TEAM_CHUNKS * CHUNK);
		window = mapped(team, TEAM_CHUNKS * CHUNK, 0);
		fd = exported(team);
		before = times_at_limit(&self->cgroup);
		ASSERT_EQ(0, peer_send(links[i], 0, fd));
		/* the member is killed, and ends the link; or a call of its has failed */
		(void)!peer_receive(links[i], &number, NULL);
		EXPECT_OK(cuMemsetD32(ADDRESS(window), 5 + i, 1));
		EXPECT_EQ(0, try_load(window, &word));
		EXPECT_EQ(5 + i, word);
		EXPECT_OK(cuMemRelease(new_memory(0, CHUNK)));
		kill(members[i], SIGKILL);
		ASSERT_EQ(members[i], waitpid(members[i], NULL, 0));
		close(fd);
		EXPECT_LT(before, times_at_limit(&self->cgroup)) TH_LOG("member %d", i);
	}
}

TEST_HARNESS_MAIN
