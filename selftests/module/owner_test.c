// SPDX-License-Identifier: MIT
/*
 * A client ends with the process that opened it, whichever other process has its fd. Only its own
 * user learns the key to what it holds.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "limit_fixture.h"
#include "log_lines.h"

FIXTURE(owner) { char unused; };
FIXTURE_SETUP(owner)
{
	if (geteuid() || stat_of("clients") < 0)
		SKIP(return, "needs root and debugfs");
}
NOTHING_LEFT(owner)

/* Takes all of device 0's memory, with one handle. */
static int take_pool(int device)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE,
		.bytes = device_bytes(0, "free_bytes"),
	};

	return RAW(device, MEMORY_CREATE, create);
}

/* How the owner ends after it has taken the pool */
enum end { EXIT, KILLED, EXEC, EXEC_WITH_FD };

static void own(struct __test_metadata *_metadata, int link, enum end how, bool mapped)
{
	int device;
	char *at;

	ASSERT_EQ(0, take_open(&device));
	ASSERT_EQ(0, take_pool(device));
	if (mapped) {
		at = mmap(NULL, 2 * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		at = (char *)(((uintptr_t)at + CHUNK - 1) & -CHUNK);
		ASSERT_EQ(at, mmap(at, CHUNK, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_FIXED, device, 0));
	}
	send_fd(link, device);
	receive_number(link);
	if (how == EXEC_WITH_FD)
		ASSERT_EQ(0, fcntl(device, F_SETFD, 0));
	if (how == EXEC || how == EXEC_WITH_FD)
		execl("/bin/sleep", "sleep", "1000", NULL);
	else if (how == KILLED)
		pause();
	_exit(how == EXIT ? 0 : 1);
}

static void end_of(struct __test_metadata *_metadata, enum end how, bool mapped)
{
	struct memcast_system_info info = {};
	pid_t pid;
	int link, fd;

	pid = peer_fork(&link);
	if (!pid)
		own(_metadata, link, how, mapped);
	fd = receive_fd(link);
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	EXPECT_EQ(ESRCH, RAW(fd, SYSTEM_INFO, info));
	send_number(link, 0);
	if (how == EXIT || how == KILLED) {
		ASSERT_EQ(0, how == EXIT ? 0 : kill(pid, SIGKILL));
		reap_child(pid);
	}
	/* exec() takes a moment, and so does an end while another process reads /proc/PID/stat */
	EXPECT_EQ(0, stat_settled("memories", 0));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	EXPECT_EQ(1, stat_of("clients"));
	EXPECT_EQ(ESRCH, RAW(fd, SYSTEM_INFO, info));
	if (how == EXEC || how == EXEC_WITH_FD) {
		/* after exec() the process lives on with another program */
		EXPECT_EQ(0, waitpid(pid, NULL, WNOHANG));
		kill(pid, SIGKILL);
		reap_child(pid);
	}
	close(fd);
	peer_close(link);
}

TEST_F(owner, exits)
{
	end_of(_metadata, EXIT, false);
	end_of(_metadata, EXIT, true);
}

TEST_F(owner, is_killed)
{
	end_of(_metadata, KILLED, false);
	end_of(_metadata, KILLED, true);
}

/* exec() closes the fd, or hands it on. */
TEST_F(owner, becomes_another_program)
{
	end_of(_metadata, EXEC, false);
	end_of(_metadata, EXEC, true);
	end_of(_metadata, EXEC_WITH_FD, true);
}

/* A forked child has the fd, and can do nothing with it. */
TEST_F(owner, leaves_a_child)
{
	int link, other, device;
	pid_t pid = peer_fork(&link), child;

	if (!pid) {
		ASSERT_EQ(0, take_open(&device));
		ASSERT_EQ(0, take_pool(device));
		child = fork();
		if (!child) {
			/* the child is not to die with its parent */
			ASSERT_EQ(0, prctl(PR_SET_PDEATHSIG, 0));
			receive_number(link);
			exit(0);
		}
		send_number(link, child);
		pause();
	}
	other = receive_number(link);
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	EXPECT_EQ(1, stat_of("clients"));
	EXPECT_EQ(0, kill(other, 0));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	send_number(link, 0);
}

/* A thread with its own table of fds ends; the process does not. */
static void *leave_with_own_table(void *unused)
{
	unshare(CLONE_FILES);
	return unused;
}

TEST_F(owner, thread_ends)
{
	pthread_t thread;
	int device;

	ASSERT_EQ(0, take_open(&device));
	ASSERT_EQ(0, take_pool(device));
	ASSERT_EQ(0, pthread_create(&thread, NULL, leave_with_own_table, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
	/* closing another fd of the file does not end the client either */
	ASSERT_EQ(0, close(dup(device)));
	EXPECT_EQ(0, device_bytes(0, "free_bytes"));
}

/* ---- the users who see what a client holds ---- */

static bool shows_key(struct __test_metadata *_metadata, int fd)
{
	char path[40], text[4096];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_file(text, sizeof(text), path);
	EXPECT_SAYS(text, "memcast-client:");
	EXPECT_EQ(!strstr(text, "memcast-key:"), !strstr(text, "memcast-handles:"));
	return strstr(text, "memcast-key:");
}

TEST_F(owner, table_is_its_users)
{
	static const struct {
		unsigned int owner, reader;
		bool sees;
	} cases[] = {
		{ 1000, 1001, false }, { 1000, 1000, true }, { 0, 1000, false },
		{ 1000, 0, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		int owner, reader;
		pid_t pids[2];

		pids[0] = user_fork(cases[i].owner, &owner);
		if (!pids[0]) {
			int device;

			ASSERT_EQ(0, take_open(&device));
			ASSERT_EQ(0, take_pool(device));
			EXPECT_TRUE(shows_key(_metadata, device));
			send_fd(owner, device);
			receive_number(owner);
			exit(0);
		}
		pids[1] = user_fork(cases[i].reader, &reader);
		if (!pids[1]) {
			send_number(reader, shows_key(_metadata, receive_fd(reader)));
			exit(0);
		}
		send_fd(reader, receive_fd(owner));
		EXPECT_EQ(cases[i].sees, receive_number(reader)) TH_LOG("case %u", i);
		end_peer(owner, pids[0]);
		EXPECT_EQ(0, reap_child(pids[1]));
		peer_close(owner);
		peer_close(reader);
	}
}

TEST_HARNESS_MAIN
