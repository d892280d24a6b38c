// SPDX-License-Identifier: MIT
/* Which memory cgroup pays for the chunks of lazy pools, and what happens when it is full. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include "lazy_limit_fixture.h"
#include "peers.h"

#define FREE	20	/* a chunk that no process in the cgroup touches */

static long charged(const char *group)
{
	char path[96], text[32];

	snprintf(path, sizeof(path), "%s/memory.current", group);
	read_file(text, sizeof(text), path);
	return atol(text);
}

/*
 * The process that first touches a chunk is charged, even if another process created the memory,
 * and gets an error when its cgroup is full.
 */
static void in_a_group(struct __test_metadata *_metadata, const char *group)
{
	int link, fd;
	pid_t pid = peer_fork(&link);
	long before;

	if (!pid) {
		volatile uint32_t *at;
		int chunk, signal = 0;

		ASSERT_EQ(0, write_in(group, "cgroup.procs", "0"));
		cuda_start(0);
		at = mapped(imported(receive_fd(link)), SIZE, 0);
		handshake(link);
		ASSERT_OK(cuMemsetD8(ADDRESS(at), 1, 4 * CHUNK));
		handshake(link);
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemsetD8(ADDRESS(at) + 4 * CHUNK, 1,
							       12 * CHUNK));
		/* each processor keeps charges of up to 64 pages for the cgroup: 4 MiB, of 64 KiB */
		for (chunk = 31; chunk > FREE && !signal; chunk--)
			signal = try_store(at + chunk * (CHUNK / 4), 1);
		EXPECT_EQ(SIGBUS, signal);
		EXPECT_EQ(1, *at & 0xff);
		handshake(link);
		exit(_metadata->exit_code);
	}
	cuda_start(0);
	fd = exported(new_memory(0, SIZE));
	send_fd(link, fd);
	receive_number(link);
	before = charged(group);
	handshake(link);
	TH_LOG("4 chunks touched: %ld KiB more in the cgroup", (charged(group) - before) >> 10);
	EXPECT_LE((long)(4 * CHUNK), charged(group) - before);
	EXPECT_TAKEN(4, 0);
	ASSERT_EQ(0, write_in(group, "memory.max", "24M"));
	handshake(link);
	/* a process outside of the full cgroup still gets chunks */
	EXPECT_EQ(0, try_store(mapped(imported(fd), SIZE, 0) + FREE * (CHUNK / 4), 1));
	end_peer(link, pid);
	close(fd);
	peer_close(link);
}

TEST_F(lazy_limit, cgroup)
{
	char mounted[] = "/tmp/cgroup.XXXXXX", group[48];

	ASSERT_NE(NULL, mkdtemp(mounted));
	if (mount("none", mounted, "cgroup2", 0, NULL))
		SKIP(return, "needs cgroups of version 2");
	snprintf(group, sizeof(group), "%s/child", mounted);
	if (write_in(mounted, "cgroup.subtree_control", "+memory"))
		SKIP(return, "needs the memory controller");
	ASSERT_EQ(0, mkdir(group, 0755));
	in_a_group(_metadata, group);
	EXPECT_TRUE(comes_true(!rmdir(group)));
	umount(mounted);
	rmdir(mounted);
}

TEST_HARNESS_MAIN
