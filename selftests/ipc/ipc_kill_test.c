// SPDX-License-Identifier: MIT
/* Eight processes that open each other's plain allocations, any of which dies at any moment. */
#include "kill_players.h"

#define ROUNDS	200
#define HANDLES	4
#define LAZY	CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

/* Shared by all processes of a test */
FIXTURE(ipc_kill)
{
	CUipcMemHandle of[PLAYERS][HANDLES];
	uint32_t filled[PLAYERS][HANDLES];	/* how often; odd while a process fills the block */
	uint32_t stop;
};

FIXTURE_SETUP(ipc_kill) { }
NOTHING_LEFT(ipc_kill)

/*
 * A player: exports blocks of all sizes, and opens, uses and closes other players' blocks, for
 * ever.
 */
static void play(struct __test_metadata *_metadata, void *shared, unsigned int me,
		 unsigned int seed)
{
	FIXTURE_DATA(ipc_kill) *game = shared;
	CUdeviceptr own[HANDLES] = {}, at;

	cuda_start(me % 4);
	while (!__atomic_load_n(&game->stop, __ATOMIC_SEQ_CST)) {
		unsigned int i = rand_r(&seed) % HANDLES, other = rand_r(&seed) % PLAYERS;
		CUresult result;
		CUipcMemHandle handle;
		uint32_t word, before;

		if (rand_r(&seed) % 4 == 0) {
			/* an odd count: no player opens the handle while the block is replaced */
			game->filled[me][i] += 1 + (game->filled[me][i] & 1);
			ASSERT_OK(cuMemFree(own[i]));
			ASSERT_OK(cuMemAlloc(&own[i], 512 << rand_r(&seed) % 14));
			ASSERT_OK(cuMemsetD32(own[i], me << 16 | i, 128));
			ASSERT_OK(cuIpcGetMemHandle(&game->of[me][i], own[i]));
			__atomic_add_fetch(&game->filled[me][i], 1, __ATOMIC_SEQ_CST);
			continue;
		}
		before = __atomic_load_n(&game->filled[other][i], __ATOMIC_SEQ_CST);
		handle = game->of[other][i];
		if (!before || before & 1 ||
		    before != __atomic_load_n(&game->filled[other][i], __ATOMIC_SEQ_CST))
			continue;
		result = cuIpcOpenMemHandle(&at, handle, LAZY);
		if (other == me)
			ASSERT_CU(own[i] ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE,
				  result);
		/* the exporter has freed the block, or was killed */
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
	unsigned int i;

	kill_players(_metadata, ROUNDS, play, self, &self->stop);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(device_bytes(i, "pool_bytes"), device_bytes(i, "free_bytes"));
	EXPECT_EQ(0, stat_of("memories"));
}

TEST_HARNESS_MAIN
