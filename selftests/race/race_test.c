// SPDX-License-Identifier: MIT
/*
 * Threads of one process whose calls look at or change what other threads change at that moment:
 * memory, blocks, pools, handles, mappings.
 */
#include "race_fixture.h"

/* ---- a device's memory ---- */

static void take_and_give(struct player *player)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle;
	CUresult result = cuMemCreate(&handle, (1 + player->round % 5) * CHUNK, &prop, 0);

	MUST(is_one_of(result, CUDA_ERROR_OUT_OF_MEMORY));
	MUST(result || !cuMemRelease(handle));
}

static void ask_what_is_free(struct player *player)
{
	long bytes = device_bytes(0, "free_bytes");
	size_t available, total;

	MUST(!cuMemGetInfo(&available, &total));
	MUST(available <= total && available % CHUNK == 0);
	MUST(bytes % (long)CHUNK == 0 && bytes <= (long)total);
}

TEST_F(race, memory_of_a_device)
{
	struct game game = {};

	start(_metadata, &game);
	RUN(&game, take_and_give, take_and_give, take_and_give, ask_what_is_free);
}

/* ---- plain allocation: blocks that a heap has just given out or is taking back ---- */

static void allocate(struct player *player)
{
	CUdeviceptr at;
	CUresult result = cuMemAlloc(&at, (1 + player->round % 2) * CHUNK);

	MUST(is_one_of(result, CUDA_ERROR_OUT_OF_MEMORY));
	if (result)
		return;
	player->game->at = at;
	MUST(!cuMemsetD32(at, player->number, 1));
	MUST(!cuMemFree(at));
}

static void look_at_blocks(struct player *player)
{
	CUdeviceptr base, at = player->game->at;
	CUmemGenericAllocationHandle handle;
	uint32_t word;
	size_t bytes;
	int fd;

	MUST(cuMemRetainAllocationHandle(&handle, (void *)at) == CUDA_ERROR_INVALID_VALUE);
	MUST(is_one_of(cuMemcpyDtoH(&word, at, 4), CUDA_ERROR_INVALID_VALUE));
	MUST(is_one_of(cuMemGetAddressRange(&base, &bytes, at), CUDA_ERROR_NOT_FOUND));
	if (!cuMemGetHandleForAddressRange(&fd, at, CHUNK,
					   CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0))
		close(fd);
	/* no store: the address may belong to any other block by now */
	MUST(touch(player->game, at, false));
}

TEST_F(race, blocks)
{
	struct game game = {};

	start(_metadata, &game);
	RUN(&game, allocate, look_at_blocks);
}

static void allocate_of_pool(struct player *player)
{
	/* what the pool keeps of some sizes makes room for others */
	size_t unit = player->round % 8 < 4 ? CHUNK / 2 : 5 * CHUNK;
	CUdeviceptr at;
	CUresult result = cuMemAllocFromPoolAsync(&at, 1 + player->round % 4 * unit,
						  player->game->pool, CU_STREAM_PER_THREAD);

	MUST(is_one_of(result, CUDA_ERROR_OUT_OF_MEMORY));
	player->game->at = result ? 0 : at;
	MUST(result || !cuMemFreeAsync(at, CU_STREAM_PER_THREAD));
}

static void change_pool(struct player *player)
{
	CUmemoryPool pool = player->game->pool;
	cuuint64_t value = player->round % 3 * 16 * CHUNK;
	CUmemAccessDesc desc = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 1 },
		.flags = player->round % 2 ? READWRITE : NONE,
	};
	uint32_t word;

	MUST(!cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
	MUST(!cuMemPoolSetAccess(pool, &desc, 1));
	MUST(!cuMemPoolTrimTo(pool, CHUNK));
	MUST(!cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
	MUST(value % CHUNK == 0);
	MUST(is_one_of(cuMemcpyDtoH(&word, player->game->at, 4), CUDA_ERROR_INVALID_VALUE));
}

TEST_F(race, pool)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	struct game game = {};

	start(_metadata, &game);
	ASSERT_OK(cuMemPoolCreate(&game.pool, &props));
	RUN(&game, allocate_of_pool, change_pool);
}

/* One thread has a block of 7 or 8 chunks, another one of 5 or 6. */
static void replace(struct player *player)
{
	size_t chunks = (player->number ? 6 : 8) - player->round % 2;
	CUdeviceptr at;

	if (player->number > 1)
		return;
	MUST(!cuMemAllocFromPoolAsync(&at, chunks * CHUNK, player->game->pool,
				      CU_STREAM_PER_THREAD));
	MUST(!cuMemFreeAsync(at, CU_STREAM_PER_THREAD));
	MUST(!cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* Both blocks fit at any time: what the pool keeps of other sizes must go, and go to no other. */
TEST_F(race, full_pool)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.maxSize = 16 * CHUNK,
	};
	cuuint64_t all = UINT64_MAX;
	struct game game = {};

	start(_metadata, &game);
	ASSERT_OK(cuMemPoolCreate(&game.pool, &props));
	ASSERT_OK(cuMemPoolSetAttribute(game.pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	RUN(&game, replace);
}

/* ---- handles ---- */

static void use_handles(struct player *player)
{
	CUdeviceptr at = player->game->at;
	CUmemGenericAllocationHandle handle;
	int fd = -1;

	MUST(!cuMemRetainAllocationHandle(&handle, (void *)at));
	MUST(!cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	MUST(!cuMemRelease(handle));
	MUST(!cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, SHAREABLE));
	MUST(!cuMemRelease(handle));
	MUST(!close(fd));
}

TEST_F(race, handles)
{
	struct game game = {};
	CUmemGenericAllocationHandle own;

	start(_metadata, &game);
	own = new_memory(0, CHUNK);
	game.at = ADDRESS(mapped(own, CHUNK, 0));
	ASSERT_OK(cuMemRelease(own));
	RUN(&game, use_handles);
}

/* ---- mappings ---- */

static void change_mappings(struct player *player)
{
	static const CUmemAccess_flags flags[] = { NONE, READ, READWRITE };
	CUdeviceptr part = player->game->at + player->number * CHUNK;

	MUST(!cuMemMap(part, CHUNK, 0, player->game->own[0], 0));
	MUST(!allow(part, CHUNK, player->number % 2, flags[player->round % 3]));
	MUST(!allow(part, CHUNK, player->number % 2, READWRITE));
	MUST(cuMemAddressFree(player->game->at, BYTES) == CUDA_ERROR_INVALID_VALUE);
	MUST(!cuMemUnmap(part, CHUNK));
}

static void look_at_mappings(struct player *player)
{
	CUdeviceptr part = player->game->at +
			   (player->number - player->round % 2) % PLAYERS * CHUNK;
	CUmemLocation where = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUmemGenericAllocationHandle handle;
	unsigned long long access;
	uint32_t word = 0;

	MUST(touch(player->game, part, false));
	MUST(touch(player->game, part, true));
	MUST(is_one_of(cuMemGetAccess(&access, &where, part), CUDA_ERROR_INVALID_VALUE));
	MUST(is_one_of(cuMemcpyHtoD(part, &word, 4), CUDA_ERROR_INVALID_VALUE));
	if (!cuMemRetainAllocationHandle(&handle, (void *)part))
		MUST(!cuMemRelease(handle));
}

TEST_F(race, mappings)
{
	struct game game = {};

	start(_metadata, &game);
	game.own[0] = new_memory(0, CHUNK);
	game.at = reserve(BYTES);
	/* one mapping stays, so that the reservation is never empty and cannot be freed */
	ASSERT_OK(cuMemMap(game.at + CHUNK, CHUNK, 0, game.own[0], 0));
	RUN(&game, change_mappings, look_at_mappings);
}

/* ---- reservations ---- */

/*
 * Two threads free a reservation at once, and one succeeds; the other's call finds nothing there.
 */
static void free_one(struct player *player)
{
	struct game *game = player->game;
	CUresult result;
	CUdeviceptr at;

	if (!player->number) {
		MUST(!cuMemAddressReserve(&at, CHUNK, 0, 0, 0));
		game->at = at;
		game->freed = 0;
	}
	meet(player);
	result = cuMemAddressFree(game->at, CHUNK);
	MUST(is_one_of(result, CUDA_ERROR_INVALID_VALUE));
	game->freed += result == CUDA_SUCCESS;
	meet(player);
	MUST(game->freed == 1);
}

TEST_F(race, reservations)
{
	struct game game = {};

	start(_metadata, &game);
	RUN(&game, free_one);
}

TEST_HARNESS_MAIN
