// SPDX-License-Identifier: MIT
/* Eight processes that wait for each other's events, any of which dies at any moment. */
#include "kill_players.h"

#define FLAGS	(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
#define ROUNDS	100

/* Shared by all processes of a test */
FIXTURE(ipc_event_kill)
{
	CUipcEventHandle of[PLAYERS];
	uint32_t ready[PLAYERS];	/* counts; odd while the handle is written */
	uint32_t stop;
};

FIXTURE_SETUP(ipc_event_kill) { }
NOTHING_LEFT(ipc_event_kill)

static void play(struct __test_metadata *_metadata, void *shared, unsigned int me,
		 unsigned int seed)
{
	FIXTURE_DATA(ipc_event_kill) *game = shared;
	CUstream stream, other_stream;
	CUevent own, opened;

	cuda_start(me % 4);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&own, FLAGS));
	game->ready[me] += 1 + (game->ready[me] & 1);
	ASSERT_OK(cuIpcGetEventHandle(&game->of[me], own));
	__atomic_add_fetch(&game->ready[me], 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&game->stop, __ATOMIC_SEQ_CST)) {
		unsigned int other = rand_r(&seed) % PLAYERS;
		uint32_t before = __atomic_load_n(&game->ready[other], __ATOMIC_SEQ_CST);
		CUipcEventHandle handle = game->of[other];
		CUresult result;

		if (other == me || !before || before & 1 ||
		    before != __atomic_load_n(&game->ready[other], __ATOMIC_SEQ_CST))
			continue;
		result = cuIpcOpenEventHandle(&opened, handle);
		if (result == CUDA_ERROR_MAP_FAILED)
			continue;	/* the event's owner was killed */
		ASSERT_OK(result);
		ASSERT_OK(cuStreamWaitEvent(stream, opened, 0));
		ASSERT_OK(cuEventRecord(rand_r(&seed) % 2 ? own : opened, stream));
		ASSERT_OK(cuStreamWaitEvent(other_stream, own, 0));
		ASSERT_OK(cuEventSynchronize(opened));
		ASSERT_OK(cuStreamSynchronize(other_stream));
		ASSERT_OK(cuStreamSynchronize(stream));
		ASSERT_OK(cuEventDestroy(opened));
	}
	_exit(_metadata->exit_code);
}

/* Whichever process is killed, at any moment, the others go on. */
TEST_F(ipc_event_kill, at_any_moment)
{
	kill_players(_metadata, ROUNDS, play, self, &self->stop);
}

TEST_HARNESS_MAIN
