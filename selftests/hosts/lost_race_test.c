// SPDX-License-Identifier: MIT
/*
 * Hosts are lost and return at any moment, while processes of all hosts create, map, copy,
 * bind, import, reduce and fault. A process reports an error if it loads a value that was never
 * stored there, gets a signal for its own memory on a host that is not lost, or gets a result
 * that a loss does not explain. A process that ends is started again until the game is over.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <memcast/multimem.h>
#include "memcast_test.h"
#include "lost_host.h"
#include "lost_players.h"

#define ROUNDS		200

FIXTURE(lost)
{
	struct lost_host host;
	unsigned int seed;
};

FIXTURE_SETUP(lost)
{
	const char *seed = getenv("MEMCAST_TEST_SEED");

	if (!lost_host_find(&self->host))
		SKIP(return, "needs root and two devices per host");
	self->seed = seed ? strtoul(seed, NULL, 0) : (unsigned int)getpid();
}

FIXTURE_TEARDOWN_PARENT(lost)
{
	unsigned int i;

	for (i = 0; i < self->host.hosts; i++)
		host_change("return_host", i);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

/* Makes memory that all players can import, with a unique tag; or frees the player's memory. */
static void make_memory(struct player *player)
{
	struct gift *gift = &player->game->memory[player->number];
	CUmemAllocationProp prop = memory_on(player->device);

	prop.requestedHandleTypes = FABRIC;
	if (player->at && any(&player->seed, 4))
		return;
	if (player->at) {
		MUST(cuMemUnmap(player->at, CHUNK));
		MUST(cuMemAddressFree(player->at, CHUNK));
		MUST(cuMemRelease(player->own));
		player->at = 0;
		return;
	}
	if (!MUST(cuMemCreate(&player->own, CHUNK, &prop, 0)) ||
	    !MUST(cuMemAddressReserve(&player->at, CHUNK, 0, 0, 0)) ||
	    !MUST(cuMemMap(player->at, CHUNK, 0, player->own, 0)) ||
	    !MUST(allow(player->at, CHUNK, player->device, READWRITE)))
		return;
	player->tag = __atomic_add_fetch(&player->game->tags, 1, __ATOMIC_SEQ_CST);
	if (!MUST(cuMemsetD32(player->at, player->tag, 1)))
		return;
	put_gift(player, gift, player->own, player->tag);
}

/* Imports a player's memory, and reads its tag by the CPU, sometimes by the device too. */
static void visit(struct player *player)
{
	struct game *game = player->game;
	CUmemGenericAllocationHandle handle;
	uint32_t word = 0;
	struct gift gift;
	CUdeviceptr at;

	if (!get_gift(&game->memory[any(&player->seed, game->players)], &gift) ||
	    !GOOD(cuMemImportFromShareableHandle(&handle, &gift.handle, FABRIC),
		  CUDA_ERROR_INVALID_VALUE))
		return;
	if (MUST(cuMemAddressReserve(&at, CHUNK, 0, 0, 0))) {
		if (GOOD(cuMemMap(at, CHUNK, 0, handle, 0), CUDA_ERROR_INVALID_VALUE)) {
			MUST(allow(at, CHUNK, player->device, READWRITE));
			look(player, at, gift.tag, false);
			if (any(&player->seed, 8) == 0 && MUST(cuMemcpyDtoH(&word, at, 4)) &&
			    word != gift.tag)
				bad(player, "a copy of somebody else's memory", word);
			look(player, at, gift.tag, false);
			MUST(cuMemUnmap(at, CHUNK));
		}
		MUST(cuMemAddressFree(at, CHUNK));
	}
	MUST(cuMemRelease(handle));
}

/* Makes a team for all players, who know it by its number. */
static void make_team(struct player *player)
{
	struct gift *gift = &player->game->team;
	CUmulticastObjectProp prop = {
		.numDevices = player->game->players, .size = CHUNK, .handleTypes = FABRIC,
	};
	CUmemGenericAllocationHandle team;

	if (!MUST(cuMulticastCreate(&team, &prop)))
		return;
	put_gift(player, gift, team, 0);
	/* the team's maker holds it until the other players have imported it */
	if (player->team)
		MUST(cuMemRelease(player->team));
	player->team = team;
}

static void leave_team(struct player *player)
{
	if (player->window) {
		MUST(memcastViewDestroy(&player->view));
		MUST(cuMemUnmap(player->window, CHUNK));
		MUST(cuMemAddressFree(player->window, CHUNK));
		player->window = 0;
	}
	if (player->team)
		MUST(cuMemRelease(player->team));
	player->team = 0;
	player->team_number = 0;
}

/* Return: have all players joined? A bind would wait for a player whose host may be lost. */
static bool is_complete(const struct game *game, uint32_t number)
{
	unsigned int i;

	for (i = 0; i < game->players; i++)
		if (__atomic_load_n(&game->joined[i], __ATOMIC_SEQ_CST) != number)
			return false;
	return true;
}

static void join_team(struct player *player)
{
	struct game *game = player->game;
	CUmemGenericAllocationHandle team;
	struct gift gift;
	uint32_t number = get_gift(&game->team, &gift);

	if (!number || number == player->team_number)
		return;
	if (!GOOD(cuMemImportFromShareableHandle(&team, &gift.handle, FABRIC),
		  CUDA_ERROR_INVALID_VALUE)) {
		/* the team's maker was lost, or has ended */
		if (!player->lost && any(&player->seed, 4) == 0)
			make_team(player);
		return;
	}
	leave_team(player);
	player->team = team;
	player->team_number = number;
	/* an earlier process of this player may have joined its device, which is for good */
	if (__atomic_load_n(&game->joined[player->number], __ATOMIC_SEQ_CST) != number &&
	    MUST(cuMulticastAddDevice(team, player->device)))
		__atomic_store_n(&game->joined[player->number], number, __ATOMIC_SEQ_CST);
}

static void use_team(struct player *player)
{
	int number;

	if (!player->team_number || !is_complete(player->game, player->team_number))
		return;
	if (!player->window) {
		if (!MUST(cuMemAddressReserve(&player->window, CHUNK, 0, 0, 0)))
			return;
		if (!MUST(cuMemMap(player->window, CHUNK, 0, player->team, 0)) ||
		    !MUST(allow(player->window, CHUNK, player->device, READWRITE)) ||
		    !MUST(memcastViewCreate(&player->view, player->team, 0, CHUNK)))
			return;
	}
	if (!player->at)
		make_memory(player);
	if (player->at)
		GOOD(cuMulticastBindMem(player->team, 0, player->own, 0, CHUNK, 0),
		     CUDA_ERROR_INVALID_VALUE);
	/* the fills spare the first word, which holds the tag */
	GOOD(cuMemsetD32(player->window + 64, 1, 16), CUDA_ERROR_INVALID_VALUE);
	GOOD(cuMemsetD32Async(player->window + 128, 1, 16, player->stream),
	     CUDA_ERROR_INVALID_VALUE);
	number = sigsetjmp(way_out, 1);
	if (!number) {
		multimem_st_u32(&player->view, 256, 1);
		multimem_ld_reduce_add_u32(&player->view, 256);
		COUNT(player, reductions);
	} else if (number != SIGBUS) {
		bad(player, "a signal of the view", number);
	}
	if (any(&player->seed, 16) == 0)
		GOOD(cuMulticastUnbind(player->team, player->device, 0, CHUNK),
		     CUDA_ERROR_INVALID_VALUE);
	/* a failure in the stream has ended the device for this process, as it does on hardware */
	if (GOOD(cuStreamSynchronize(player->stream), CUDA_ERROR_LAUNCH_FAILED) == false &&
	    !player->lost)
		_exit(0);
}

static void use_heap(struct player *player)
{
	CUdeviceptr at = 0;

	if (MUST(cuMemAllocAsync(&at, 4096, player->stream)))
		MUST(cuMemFreeAsync(at, player->stream));
	/* a fill that reports the loss has not written, so the value is checked after a success */
	if (MUST(cuMemsetD32(player->plain, player->number + 1, 16)))
		look(player, player->plain, player->number + 1, true);
}

static void act(struct player *player)
{
	switch (any(&player->seed, 8)) {
	case 0:
		make_memory(player);
		break;
	case 1:
	case 2:
		visit(player);
		break;
	case 3:
		join_team(player);
		break;
	case 4:
		if (player->team || player->number)
			use_team(player);
		else
			make_team(player);
		break;
	case 5:
		use_heap(player);
		break;
	default:
		if (player->at)
			look(player, player->at, player->tag, true);
		use_team(player);
	}
}

/* Plays until the player's host or device is lost, or the game is over. */
static void play(struct player *player)
{
	const struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	struct game *game = player->game;
	CUresult result = cuInit(0);
	CUcontext context;

	COUNT(player, acts);
	if (result == CUDA_ERROR_NO_DEVICE)
		return;
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (!good(player, "cuInit", result, CUDA_SUCCESS) ||
	    !MUST(cuDevicePrimaryCtxRetain(&context, player->device)) ||
	    !MUST(cuCtxSetCurrent(context)) ||
	    !MUST(cuStreamCreate(&player->stream, CU_STREAM_NON_BLOCKING)) ||
	    !MUST(cuMemAlloc(&player->plain, 64)))
		return;
	while (!player->lost && !__atomic_load_n(&game->stop, __ATOMIC_SEQ_CST) && !game->bad) {
		act(player);
		COUNT(player, acts);
	}
}

/*
 * Starts a player's processes one after the other. This process never calls cuInit(): the child
 * of a process that has could not.
 */
static void seat(struct __test_metadata *_metadata, struct game *game,
		 const struct lost_host *host, unsigned int number, unsigned int seed)
{
	struct player player = {
		.game = game, .number = number, .host = number / PLAYERS_EACH,
		.device = number % PLAYERS_EACH,
	};

	ASSERT_EQ(0, host_enter(host, player.host));
	while (!__atomic_load_n(&game->stop, __ATOMIC_SEQ_CST) && !game->bad) {
		int status;
		pid_t pid = fork();

		ASSERT_LE(0, pid);
		if (!pid) {
			player.seed = seed;
			play(&player);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (status)
			bad(&player, "it has ended with", status);
		seed += MOST_PLAYERS;
	}
	_exit(0);
}

/* Waits until the players together have done so many more acts. */
static void wait_for_acts(const struct game *game, unsigned int acts)
{
	uint32_t before = __atomic_load_n(&game->acts, __ATOMIC_SEQ_CST);

	while (__atomic_load_n(&game->acts, __ATOMIC_SEQ_CST) - before < acts && !game->bad)
		usleep(100);
}

TEST_F(lost, at_any_moment)
{
	struct game *game = mmap(NULL, sizeof(*game), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int hosts, host, i, seed = self->seed;
	pid_t pid[MOST_PLAYERS];
	int link;

	ASSERT_NE(MAP_FAILED, game);
	if (access("/dev/memcast-imex/channel0", F_OK))
		SKIP(return, "needs imex_channels=1");
	TH_LOG("MEMCAST_TEST_SEED=%u", seed);
	hosts = self->host.hosts < MOST_PLAYERS / PLAYERS_EACH ? self->host.hosts :
							       MOST_PLAYERS / PLAYERS_EACH;
	game->players = hosts * PLAYERS_EACH;
	for (i = 0; i < game->players; i++) {
		pid[i] = peer_fork(&link);
		if (!pid[i])
			seat(_metadata, game, &self->host, i, self->seed + i);
	}
	for (i = 0; another_round(i, ROUNDS) && !game->bad; i++) {
		wait_for_acts(game, any(&seed, 30 * game->players));
		host = any(&seed, hosts);
		ASSERT_EQ(0, host_change("lose_host", host));
		wait_for_acts(game, any(&seed, 4 * game->players));
		ASSERT_EQ(0, host_change("return_host", host));
	}
	__atomic_store_n(&game->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < game->players; i++)
		EXPECT_EQ(0, reap_child(pid[i]));
	EXPECT_FALSE(game->bad) TH_LOG("%s; seed %u", game->said, self->seed);
	TH_LOG("%u losses, %u acts, %u memories, %u visits, %u signals, %u teams, %u reductions",
	       i, game->acts, game->tags, game->visits, game->signals,
	       game->team.number / 2, game->reductions);
}

TEST_HARNESS_MAIN
