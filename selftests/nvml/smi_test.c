// SPDX-License-Identifier: MIT
/*
 * memcast-smi, and the files that it reads: which processes hold what, also while they are killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include "smi_fixture.h"

/*
 * Two chunks of device 0, mapped and bound, without a handle; a chunk of device 1 with two handles;
 * two teams, one of them incomplete; an fd.
 */
static void hold(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle own, team, waiting;
	CUmulticastObjectProp prop = { .numDevices = 3, .size = CHUNK };
	long number;
	int fd;

	cuda_start(0);
	team = complete_team(2, 2 * CHUNK);
	own = new_memory(0, 2 * CHUNK);
	mapped(own, 2 * CHUNK, 0);
	ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, 2 * CHUNK, 0));
	ASSERT_OK(cuMemRelease(own));
	ASSERT_OK(cuMemExportToShareableHandle(&fd, new_memory(1, CHUNK), SHAREABLE, 0));
	ASSERT_OK(cuMemImportFromShareableHandle(&own, (void *)(intptr_t)fd, SHAREABLE));
	ASSERT_OK(cuMulticastCreate(&waiting, &prop));
	ASSERT_OK(cuMulticastAddDevice(waiting, 1));
	ASSERT_EQ(0, peer_send(link, team, fd));
	peer_receive(link, &number, &fd);
}

TEST_F(smi, who_holds_what)
{
	struct json_object *all, *one;
	char members[320];
	int64_t memory, placed;
	long number_of_team;
	size_t i;
	int link, fd;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		hold(_metadata, link);
		exit(0);
	}
	ASSERT_EQ(0, peer_receive(link, &number_of_team, &fd));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);

	EXPECT_EQ(2 * CHUNK, number(find(part(all, "devices"), "device", 0), "seen"));
	EXPECT_EQ(CHUNK, number(find(part(all, "devices"), "device", 1), "seen"));
	EXPECT_EQ(device_bytes(1, "pool_bytes") - CHUNK,
		  number(find(part(all, "devices"), "device", 1), "free"));
	one = find(part(all, "processes"), "pid", pid);
	ASSERT_NE(NULL, one);
	EXPECT_STREQ("smi_test", json_object_get_string(part(one, "name")));
	EXPECT_STREQ("{\"0\":4194304,\"1\":2097152}", text_of(part(one, "memory")));
	EXPECT_EQ(2, json_object_array_length(part(one, "teams")));
	EXPECT_EQ(1, number(one, "fds"));
	/* the test's own process holds only the fd that came through the socket */
	one = find(part(all, "processes"), "pid", getpid());
	ASSERT_NE(NULL, one);
	EXPECT_STREQ("{}", text_of(part(one, "memory")));
	EXPECT_EQ(1, number(one, "fds"));

	one = find(part(all, "memories"), "bytes", 2 * CHUNK);
	ASSERT_NE(NULL, one);
	memory = number(one, "memory");
	EXPECT_STREQ("eager", json_object_get_string(part(all, "backing")));
	EXPECT_EQ(NULL, part(one, "untold"));
	for (i = 0, placed = 0; i < json_object_array_length(part(one, "places")); i++)
		placed += number(json_object_array_get_idx(part(one, "places"), i), "bytes");
	EXPECT_EQ(2 * CHUNK, placed);
	EXPECT_STREQ("0", json_object_get_string(part(one, "where")));
	EXPECT_EQ(1, json_object_array_length(part(one, "pids")));
	EXPECT_EQ(pid, json_object_get_int64(json_object_array_get_idx(part(one, "pids"), 0)));
	EXPECT_EQ(2, json_object_array_length(part(all, "memories")));

	one = find(part(all, "teams"), "size", 2 * CHUNK);
	ASSERT_NE(NULL, one);
	snprintf(members, sizeof(members), "[{\"device\":0,\"bound\":4194304,\"pid\":%d,"
		 "\"bindings\":[{\"at\":0,\"memory\":%jd,\"from\":0,\"bytes\":4194304}]},"
		 "{\"device\":1,\"bound\":0,\"pid\":%d,\"bindings\":[]}]",
		 pid, (intmax_t)memory, pid);
	EXPECT_STREQ(members, text_of(part(one, "members")));
	EXPECT_EQ(0, number(one, "missing"));
	EXPECT_EQ(pid, json_object_get_int64(json_object_array_get_idx(part(one, "pids"), 0)));
	one = find(part(all, "teams"), "size", CHUNK);
	ASSERT_NE(NULL, one);
	EXPECT_EQ(3, number(one, "devices"));
	EXPECT_EQ(1, json_object_array_length(part(one, "members")));
	EXPECT_EQ(2, number(one, "missing"));
	EXPECT_STREQ("[]", text_of(part(one, "waits")));
	json_object_put(all);

	ASSERT_EQ(0, close(fd));
	peer_close(link);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);
	EXPECT_STREQ("[]", text_of(part(all, "processes")));
	EXPECT_STREQ("[]", text_of(part(all, "teams")));
	json_object_put(all);
}

/* memcast-smi shows a call that waits for members, and for how long it has waited. */
TEST_F(smi, who_waits)
{
	struct json_object *all, *teams, *team, *one, *wait = NULL;
	int64_t first, fd_pid;
	int link;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		CUmemGenericAllocationHandle team;

		cuda_start(0);
		team = new_team(3, CHUNK);
		ASSERT_OK(cuMulticastAddDevice(team, 1));
		ASSERT_EQ(0, peer_send(link, 0, -1));
		cuMulticastBindMem(team, 0, new_memory(1, CHUNK), 0, CHUNK, 0);
		exit(1);
	}
	ASSERT_EQ(0, peer_receive(link, NULL, NULL));
	/* until the wait shows */
	for (first = -1; ; json_object_put(all)) {
		all = end_smi(start_smi());
		ASSERT_NE(NULL, all);
		teams = part(all, "teams");
		ASSERT_EQ(1, json_object_array_length(teams));
		team = json_object_array_get_idx(teams, 0);
		wait = json_object_array_get_idx(part(team, "waits"), 0);
		if (!wait)
			continue;
		fd_pid = number(wait, "pid");
		EXPECT_EQ(pid, fd_pid);
		EXPECT_STREQ("cuMulticastBindMem", json_object_get_string(part(wait, "call")));
		EXPECT_EQ(2, number(team, "missing"));
		one = json_object_array_get_idx(part(team, "others"), 0);
		EXPECT_EQ(0, json_object_get_int64(one));
		/* the same wait is still going on */
		if (first >= 0 && number(wait, "ms") > first)
			break;
		first = number(wait, "ms");
	}
	json_object_put(all);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	peer_close(link);
}

static bool says(const char *command, const char *words)
{
	FILE *smi = popen(command, "re");
	char line[1024];
	bool said = false;

	while (smi && fgets(line, sizeof(line), smi))
		said |= !!strstr(line, words);
	return smi && !pclose(smi) && said;
}

/* memcast-smi lists a process that added a device and ended before it bound memory. */
TEST_F(smi, who_has_ended)
{
	CUmemGenericAllocationHandle team;
	struct json_object *all, *one;
	char members[320];
	int link, fd;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		cuda_start(1);
		ASSERT_EQ(0, peer_receive(link, NULL, &fd));
		ASSERT_OK(cuMemImportFromShareableHandle(&team, (void *)(intptr_t)fd, SHAREABLE));
		ASSERT_OK(cuMulticastAddDevice(team, 1));
		exit(0);
	}
	cuda_start(0);
	team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0));
	ASSERT_EQ(0, peer_send(link, 0, fd));
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);
	one = find(part(all, "teams"), "size", CHUNK);
	ASSERT_NE(NULL, one);
	snprintf(members, sizeof(members), "[{\"device\":0,\"bound\":0,\"pid\":%d,\"bindings\":[]},"
		 "{\"device\":1,\"bound\":0,\"pid\":%d,\"ended\":true,\"bindings\":[]}]",
		 getpid(), pid);
	EXPECT_STREQ(members, text_of(part(one, "members")));
	json_object_put(all);
	snprintf(members, sizeof(members), "0: 0 MiB, 1: 0 MiB (%d has ended)", pid);
	EXPECT_TRUE(says("./memcast-smi", members));
	snprintf(members, sizeof(members), "process %d which has ended, 0 of 2 MiB bound", pid);
	EXPECT_TRUE(says("./memcast-smi -q", members));
	peer_close(link);
}

/* A copy or fill to a window counts once for all replicas; other copies and fills do not count. */
TEST_F(smi, writes_to_a_window)
{
	CUmemGenericAllocationHandle team;
	struct json_object *all;
	uint32_t word = 7, i;
	CUdeviceptr window;

	cuda_start(0);
	team = complete_team(2, 2 * CHUNK);
	for (i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(i, 2 * CHUNK), 0, 2 * CHUNK, 0));
	window = ADDRESS(mapped(team, 2 * CHUNK, 0));
	for (i = 0; i < 10; i++)
		ASSERT_OK(cuMemcpyHtoD(window + 4 * i, &word, sizeof(word)));
	ASSERT_OK(cuMemcpyDtoH(&word, window, sizeof(word)));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);
	EXPECT_EQ(10, number(find(part(all, "teams"), "size", 2 * CHUNK), "writes"));
	json_object_put(all);
	/* two pieces of 2 MiB */
	ASSERT_OK(cuMemsetD8(window, 1, 2 * CHUNK));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);
	EXPECT_EQ(12, number(find(part(all, "teams"), "size", 2 * CHUNK), "writes"));
	json_object_put(all);
}

/* Counts processes with a program. Kernel threads have none, and neither have dead processes. */
static int programs(void)
{
	char path[300], target[300];
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	while ((entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/exe", entry->d_name);
		if (isdigit((unsigned char)*entry->d_name))
			found += readlink(path, target, sizeof(target)) > 0;
	}
	closedir(proc);
	return found;
}

TEST_F(smi, unseen_are_other_users_processes)
{
	int link, fd, before, after;
	long unseen;
	pid_t pid;

	/* repeats until the count is the same before and after, and so was the same meanwhile */
	do {
		before = programs();
		pid = peer_fork(&link);
		if (!pid) {
			struct json_object *all;

			ASSERT_EQ(0, setresuid(1000, 1000, 1000));
			all = end_smi(start_smi());
			ASSERT_EQ(0, peer_send(link, all ? number(all, "unseen") : -1, -1));
			exit(0);
		}
		ASSERT_EQ(0, peer_receive(link, &unseen, &fd));
		peer_close(link);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		after = programs();
	} while (before != after);
	/* one more is unseen: the process that ran memcast-smi, which was root before */
	EXPECT_EQ(before + 1, unseen);
}

/* Makes calls until killed, so that all that memcast-smi shows changes. */
static void be_busy(struct __test_metadata *_metadata, int link)
{
	CUmemGenericAllocationHandle team, own;
	CUdeviceptr at, block;

	cuda_start(0);
	at = reserve(2 * CHUNK);
	ASSERT_EQ(0, peer_send(link, 0, -1));
	for (;;) {
		team = complete_team(2, 2 * CHUNK);
		own = new_memory(1, 2 * CHUNK);
		ASSERT_OK(cuMemMap(at, 2 * CHUNK, 0, own, 0));
		ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, 2 * CHUNK, 0));
		ASSERT_OK(cuMemAlloc(&block, 5));
		ASSERT_OK(cuMemRelease(own));
		ASSERT_OK(cuMemUnmap(at, 2 * CHUNK));
		ASSERT_OK(cuMemFree(block));
		ASSERT_OK(cuMemRelease(team));
	}
}

TEST_F(smi, while_they_die)
{
	enum { PEERS = 4 };
	struct json_object *all, *devices;
	int link[PEERS];
	pid_t pid[PEERS];
	long ready;
	FILE *smi;
	int fd;

	for (unsigned int round = 0; round < loops(8); round++) {
		for (int i = 0; i < PEERS; i++) {
			pid[i] = peer_fork(&link[i]);
			if (!pid[i]) {
				be_busy(_metadata, link[i]);
				exit(1);
			}
		}
		for (int i = 0; i < PEERS; i++)
			ASSERT_EQ(0, peer_receive(link[i], &ready, &fd));
		/* one output while all live, one while they die, one after */
		for (int look = 0; look < 3; look++) {
			smi = start_smi();
			ASSERT_NE(NULL, smi);
			for (int i = 0; i < PEERS && look == 1; i++)
				ASSERT_EQ(0, kill(pid[i], SIGKILL));
			all = end_smi(smi);
			ASSERT_NE(NULL, all);
			devices = part(all, "devices");
			for (size_t i = 0; i < json_object_array_length(devices); i++) {
				struct json_object *one = json_object_array_get_idx(devices, i);

				EXPECT_LE(number(one, "free"), number(one, "total"));
			}
			if (look == 0)
				EXPECT_EQ(PEERS, json_object_array_length(part(all, "processes")));
			if (look == 2)
				EXPECT_STREQ("[]", text_of(part(all, "processes")));
			json_object_put(all);
			for (int i = 0; i < PEERS && look == 1; i++) {
				peer_close(link[i]);
				ASSERT_EQ(pid[i], waitpid(pid[i], NULL, 0));
			}
		}
	}
}

TEST_HARNESS_MAIN
