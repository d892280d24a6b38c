// SPDX-License-Identifier: MIT
/* Eight processes that open each other's plain allocations, any of which dies at any moment. */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>
#include "memcast_test.h"

#define PLAYERS	8
#define ROUNDS	200
#define HANDLES	4
#define LAZY	CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

/* What all processes of a test see */
FIXTURE(ipc_kill)
{
	CUipcMemHandle of[PLAYERS][HANDLES];
	uint32_t filled[PLAYERS][HANDLES];	/* how often; odd: being filled */
	uint32_t stop;
};

FIXTURE_SETUP(ipc_kill)
{
}
NOTHING_LEFT(ipc_kill)

struct game {
	CUipcMemHandle (*of)[HANDLES];
	uint32_t (*filled)[HANDLES];
};

/* Export blocks of all sizes, open what others export, use it, close it, for ever */
static void play(struct __test_metadata *_metadata, struct game game, unsigned int me,
		 unsigned int seed, const uint32_t *stop)
{
	CUdeviceptr own[HANDLES] = {}, at;

	cuda_start(me % 4);
	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		unsigned int i = rand_r(&seed) % HANDLES, other = rand_r(&seed) % PLAYERS;
		CUresult result;
		CUipcMemHandle handle;
		uint32_t word, before;

		if (rand_r(&seed) % 4 == 0) {
			/* nobody can have the handle that was there before any more */
			game.filled[me][i] += 1 + (game.filled[me][i] & 1);
			ASSERT_OK(cuMemFree(own[i]));
			ASSERT_OK(cuMemAlloc(&own[i], 512 << rand_r(&seed) % 14));
			ASSERT_OK(cuMemsetD32(own[i], me << 16 | i, 128));
			ASSERT_OK(cuIpcGetMemHandle(&game.of[me][i], own[i]));
			__atomic_add_fetch(&game.filled[me][i], 1, __ATOMIC_SEQ_CST);
			continue;
		}
		before = __atomic_load_n(&game.filled[other][i], __ATOMIC_SEQ_CST);
		handle = game.of[other][i];
		if (!before || before & 1 ||
		    before != __atomic_load_n(&game.filled[other][i], __ATOMIC_SEQ_CST))
			continue;
		result = cuIpcOpenMemHandle(&at, handle, LAZY);
		if (other == me)
			ASSERT_CU(own[i] ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE,
				  result);
		/* who exported it has freed it, or was killed */
		if (result == CUDA_ERROR_INVALID_VALUE || other == me)
			continue;
		ASSERT_OK(result);
		ASSERT_OK(cuMemcpyDtoH(&word, at, 4));
		ASSERT_EQ(other << 16 | i, word);
		ASSERT_OK(cuMemsetD32(at + 4, me, 1));
		ASSERT_OK(cuIpcCloseMemHandle(at));
	}
	_exit(_metadata->exit_code);
}

TEST_F(ipc_kill, at_any_moment)
{
	const char *given = getenv("MEMCAST_TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : 1;
	struct game game = { self->of, self->filled };
	pid_t pid[PLAYERS] = {};
	unsigned int i, round;
	int links[PLAYERS];

	for (round = 0; round < loops(ROUNDS) + PLAYERS; round++) {
		unsigned int any = rand_r(&seed), victim = round < PLAYERS ? round : any % PLAYERS;
		struct timespec moment = { .tv_nsec = rand_r(&seed) % 30000000 };

		if (pid[victim]) {
			nanosleep(&moment, NULL);
			ASSERT_EQ(0, kill(pid[victim], SIGKILL));
			ASSERT_EQ(SIGKILL, ended(pid[victim]));
			peer_close(links[victim]);
		}
		pid[victim] = peer_fork(&links[victim]);
		ASSERT_LE(0, pid[victim]);
		if (!pid[victim])
			play(_metadata, game, victim, round + seed, &self->stop);
	}
	__atomic_store_n(&self->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < PLAYERS; i++) {
		EXPECT_EQ(0, ended(pid[i]));
		peer_close(links[i]);
	}
	for (i = 0; i < 4; i++)
		EXPECT_EQ(device_bytes(i, "pool_bytes"), device_bytes(i, "free_bytes"));
	EXPECT_EQ(0, stat_of("memories"));
}

TEST_HARNESS_MAIN
