// SPDX-License-Identifier: MIT
/*
 * Threads of one process whose calls look at or change what other threads change at that moment:
 * teams, bindings, fabric handles.
 */
#include "race_fixture.h"

/* ---- teams ---- */

static void join(struct player *player)
{
	CUmulticastObjectProp prop = {
		.numDevices = PLAYERS, .size = CHUNK, .handleTypes = SHAREABLE,
	};
	struct game *game = player->game;
	CUmemAllocationProp ignored;
	CUdeviceptr at;
	uint32_t word = player->number;

	if (!player->number)
		MUST(!cuMulticastCreate(&game->team, &prop));
	meet(player);
	MUST(cuMemGetAllocationPropertiesFromHandle(&ignored, game->team) ==
	     CUDA_ERROR_INVALID_VALUE);
	MUST(!cuMulticastAddDevice(game->team, player->number));
	MUST(!cuMulticastBindMem(game->team, 0, game->own[player->number], 0, CHUNK, 0));
	MUST(!cuMemAddressReserve(&at, CHUNK, 0, 0, 0));
	MUST(!cuMemMap(at, CHUNK, 0, game->team, 0));
	MUST(!allow(at, CHUNK, 0, READWRITE));
	MUST(!cuMemcpyHtoD(at, &word, 4));
	MUST(!cuMemUnmap(at, CHUNK));
	MUST(!cuMemAddressFree(at, CHUNK));
	meet(player);
	if (!player->number)
		MUST(!cuMemRelease(game->team));
}

TEST_F(race, joining)
{
	struct game game = {};
	unsigned int i;

	start(_metadata, &game);
	for (i = 0; i < PLAYERS; i++)
		game.own[i] = new_memory(i, CHUNK);
	RUN(&game, join);
}

/* Binds and unbinds a chunk, and binds another chunk, which ends with its memory. */
static void change_bindings(struct player *player)
{
	struct game *game = player->game;
	CUdevice device = player->number / 2;
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle memory;

	MUST(!RETRY_BIND(cuMulticastBindMem(game->team, 0, game->own[device], 0, CHUNK, 0)));
	MUST(!cuMemCreate(&memory, CHUNK, &prop, 0));
	MUST(!RETRY_BIND(cuMulticastBindMem(game->team, CHUNK, memory, 0, CHUNK, 0)));
	MUST(!cuMemRelease(memory));
	MUST(!cuMulticastUnbind(game->team, device, 0, CHUNK));
}

static void use_team(struct player *player)
{
	CUdeviceptr at = player->game->at, window = player->game->window;
	uint32_t word = 0;

	for (; window < player->game->window + 2 * CHUNK; window += CHUNK, at += CHUNK) {
		MUST(touch(player->game, window, false));
		MUST(touch(player->game, at, true));
		MUST(is_one_of(cuMemcpyHtoD(window, &word, 4), CUDA_ERROR_INVALID_VALUE));
		MUST(is_one_of(cuMemsetD8(window, 1, CHUNK / 2), CUDA_ERROR_INVALID_VALUE));
	}
}

TEST_F(race, bindings)
{
	struct game game = {};
	unsigned int i;

	start(_metadata, &game);
	game.team = complete_team(2, 2 * CHUNK);
	for (i = 0; i < 2; i++)
		game.own[i] = new_memory(i, CHUNK);
	game.window = ADDRESS(mapped(game.team, 2 * CHUNK, 0));
	game.at = ADDRESS(mapped(game.team, 2 * CHUNK, 1));
	RUN(&game, change_bindings, use_team);
}

/* ---- fabric handles: made once, whichever thread asks first ---- */

static void export_and_import(struct player *player)
{
	CUmemGenericAllocationHandle *own = player->game->own, handle;
	CUmemFabricHandle *fabric = player->game->fabric;
	CUmemAllocationProp prop = memory_on(0);

	prop.requestedHandleTypes = FABRIC;
	if (!player->number)
		MUST(!cuMemCreate(own, CHUNK, &prop, 0));
	meet(player);
	MUST(!cuMemExportToShareableHandle(&fabric[player->number], *own, FABRIC, 0));
	MUST(!cuMemImportFromShareableHandle(&handle, &fabric[player->number], FABRIC));
	MUST(!cuMemRelease(handle));
	meet(player);
	MUST(!memcmp(&fabric[player->number], &fabric[0], sizeof(*fabric)));
	if (!player->number)
		MUST(!cuMemRelease(*own));
}

TEST_F(race, fabric_handles)
{
	struct game game = {};

	if (access("/dev/memcast-imex/channel0", R_OK | W_OK))
		SKIP(return, "needs imex_channels");
	start(_metadata, &game);
	RUN(&game, export_and_import);
}

TEST_HARNESS_MAIN
