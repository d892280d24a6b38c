// SPDX-License-Identifier: MIT
/*
 * kill -9 of any rank at a random moment: the other ranks go on, and the victim's memory is back.
 * MEMCAST_TEST_SEED repeats a run.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <memcast/multimem.h>
#include "memcast_test.h"
#include "raw.h"

#define RANKS	4
#define ROUNDS	200

FIXTURE(kill)
{
	uint32_t stop;
};

FIXTURE_SETUP(kill) { }
NOTHING_LEFT(kill)

/* A rank's life, from its first call until it is told to stop, or killed */
static void live(struct __test_metadata *_metadata, int rank, int fd, int link,
		 const uint32_t *stop)
{
	CUmemGenericAllocationHandle team, own;
	struct memcast_view view;
	volatile uint32_t *window;
	CUresult added;

	cuda_start(rank);
	team = imported(fd);
	added = cuMulticastAddDevice(team, rank);
	ASSERT_OK(added);
	own = new_memory(rank, 2 * CHUNK);
	ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
	window = mapped(team, 2 * CHUNK, rank);
	ASSERT_OK(memcastViewCreate(&view, team, 0, 2 * CHUNK));
	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		uint32_t value;

		/* other ranks' replicas come and go meanwhile */
		try_store(view.replica[0], 1);
		try_load(view.replica[3], &value);
		try_load(window, &value);
		cuMemsetD32(ADDRESS(window), 7, 4096);
		ASSERT_OK(cuMulticastUnbind(team, rank, 0, CHUNK));
		ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
	}
	/* the next bind works, and its memory gets what is stored to the window */
	ASSERT_OK(cuMulticastBindMem(team, CHUNK, own, CHUNK, CHUNK, 0));
	ASSERT_OK(cuMemsetD32(ADDRESS(window) + CHUNK, rank + 1, 1));
	handshake(link);
	_exit(0);
}

/* The test's own client uses ioctls: unlike the library, it may fork. */
static void one_round(struct __test_metadata *_metadata, uint32_t *stop, int client,
		      unsigned int *seed, double *longest)
{
	struct memcast_team_create team = {
		.bytes = 2 * CHUNK, .devices = RANKS, .handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_handle_release release = {};
	int i, links[RANKS], victim = rand_r(seed) % RANKS;
	long clients = RANKS;	/* once the victim has gone: the test's, and one per other rank */
	struct timespec moment = {};
	struct memcast_team_add add;
	double started = now();
	pid_t pid[RANKS];

	*stop = 0;
	ASSERT_EQ(0, RAW(client, TEAM_CREATE, team));
	export.handle = team.out_handle;
	ASSERT_EQ(0, RAW(client, EXPORT, export));
	for (i = 0; i < RANKS; i++) {
		pid[i] = peer_fork(&links[i]);
		if (!pid[i])
			live(_metadata, i, export.out_fd, links[i], stop);
	}

	/* at any time within the length of an undisturbed round */
	moment.tv_nsec = *longest * 1e9 * (rand_r(seed) % 1000) / 1000;
	nanosleep(&moment, NULL);
	ASSERT_EQ(0, kill(pid[victim], SIGKILL));
	reap_child(pid[victim]);
	peer_close(links[victim]);

	/* if the victim died before it joined, the test adds its device */
	add = (struct memcast_team_add) { .team = team.out_handle, .device = victim };
	i = RAW(client, TEAM_ADD, add);
	ASSERT_TRUE(!i || i == EALREADY);
	__atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < RANKS; i++)
		if (i != victim)
			receive_number(links[i]);
	EXPECT_EQ(clients, stat_settled("clients", clients));
	EXPECT_EQ(device_bytes(victim, "pool_bytes"), device_bytes(victim, "free_bytes"));
	for (i = 0; i < RANKS; i++) {
		if (i == victim)
			continue;
		end_peer(links[i], pid[i]);
		clients--;
		EXPECT_EQ(clients, stat_settled("clients", clients));
		EXPECT_EQ(device_bytes(i, "pool_bytes"), device_bytes(i, "free_bytes"));
		peer_close(links[i]);
	}
	EXPECT_EQ(0, stat_settled("bindings", 0));
	EXPECT_EQ(0, stat_settled("mappings", 0));
	close(export.out_fd);
	release.handle = team.out_handle;
	ASSERT_EQ(0, RAW(client, HANDLE_RELEASE, release));
	EXPECT_EQ(0, stat_settled("teams", 0));
	/* the first round measures how long a life is */
	if (*longest <= 0)
		*longest = now() - started;
	ASSERT_EQ(0, _metadata->exit_code);
}

TEST_F(kill, any_rank_at_any_moment)
{
	const char *given = getenv("MEMCAST_TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : 1;
	unsigned int i;
	int client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	double longest = 0.05;

	ASSERT_LE(0, client);
	for (i = 0; another_round(i, ROUNDS); i++) {
		unsigned int before = seed;

		one_round(_metadata, &self->stop, client, &seed, &longest);
		if (_metadata->exit_code)
			TH_LOG("round %u, MEMCAST_TEST_SEED=%u", i, before);
	}
	EXPECT_EQ(0, close(client));
}

TEST_HARNESS_MAIN
