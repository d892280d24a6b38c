// SPDX-License-Identifier: MIT
/*
 * Several threads of one process, each with calls that look at or change what the
 * others change at that moment. Whoever comes first, every call answers what its
 * order allows, and nothing is left. Above all for a kernel that finds data races:
 * make check-kcsan.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "memcast_test.h"

#define PLAYERS	4
#define ROUNDS	300
#define BYTES	(4 * CHUNK)
#define FABRIC	CU_MEM_HANDLE_TYPE_FABRIC

FIXTURE(race) { char unused; };
FIXTURE_SETUP(race) { }
NOTHING_LEFT(race)

struct player {
	struct game *game;
	void (*play)(struct player *player);
	unsigned int number, round;
	pthread_t thread;
};

struct game {
	CUcontext context;
	pthread_barrier_t barrier;
	int file;				/* where what is mapped is written to */
	CUmemGenericAllocationHandle team, own[PLAYERS];
	CUmemoryPool pool;
	_Atomic CUdeviceptr at, window;
	_Atomic unsigned int freed;		/* times */
	CUmemFabricHandle fabric[PLAYERS];
	const char *_Atomic wrong;		/* NULL: nothing */
	struct player player[PLAYERS];
};

#define TEXT_(line)		#line
#define TEXT(line)		TEXT_(line)
/* In a thread, where the harness cannot be asked */
#define MUST(condition)							\
do {									\
	if (!(condition))						\
		player->game->wrong = TEXT(__LINE__) ": " #condition;	\
} while (0)

/* Of a call whose object another may have changed before */
static bool is_one_of(CUresult result, CUresult other)
{
	return result == CUDA_SUCCESS || result == other;
}

static void meet(struct player *player)
{
	pthread_barrier_wait(&player->game->barrier);
}

/* Each round starts for all at once, or its calls would not meet. */
static void *play(void *argument)
{
	struct player *player = argument;
	unsigned int rounds = loops(ROUNDS);

	MUST(!cuCtxSetCurrent(player->game->context));
	for (; player->round < rounds; player->round++) {
		meet(player);
		player->play(player);
	}
	return NULL;
}

static void start(struct __test_metadata *_metadata, struct game *game)
{
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&game->context));
	game->file = memfd_create("race", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(game->file, 4));
}

#define RUN(game, first, ...)	run_(_metadata, game,			\
	(void (*[])(struct player *)) { first, ##__VA_ARGS__ },		\
	sizeof((void *[]) { first, ##__VA_ARGS__ }) / sizeof(void *))

static void run_(struct __test_metadata *_metadata, struct game *game,
		 void (**const plays)(struct player *), unsigned int kinds)
{
	unsigned int i;

	ASSERT_EQ(0, pthread_barrier_init(&game->barrier, NULL, PLAYERS));
	for (i = 0; i < PLAYERS; i++) {
		game->player[i] = (struct player) {
			.game = game, .play = plays[i % kinds], .number = i,
		};
		ASSERT_EQ(0, pthread_create(&game->player[i].thread, NULL, play,
					    &game->player[i]));
	}
	for (i = 0; i < PLAYERS; i++)
		ASSERT_EQ(0, pthread_join(game->player[i].thread, NULL));
	ASSERT_STREQ("", game->wrong ?: "");
}

/* A fault in the kernel needs no signal: 4 bytes, or EFAULT */
static bool touch(const struct game *game, CUdeviceptr at, bool store)
{
	ssize_t got = store ? pread(game->file, (void *)at, 4, 0) :
			      pwrite(game->file, (void *)at, 4, 0);

	return got == 4 || (got < 0 && errno == EFAULT);
}

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

/* ---- plain allocation: what a heap has just got or is giving back ---- */

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
	/* no store: it may be anybody's by now */
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
	CUdeviceptr at;
	CUresult result = cuMemAllocFromPoolAsync(&at, 1 + player->round % 4 * CHUNK / 2,
						  player->game->pool, CU_STREAM_PER_THREAD);

	MUST(is_one_of(result, CUDA_ERROR_OUT_OF_MEMORY));
	player->game->at = result ? 0 : at;
	MUST(result || !cuMemFreeAsync(at, CU_STREAM_PER_THREAD));
}

static void change_pool(struct player *player)
{
	CUmemoryPool pool = player->game->pool;
	cuuint64_t value = player->round % 3 * CHUNK;
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
	own = memory(0, CHUNK);
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
	CUdeviceptr part = player->game->at + (player->number - player->round % 2) % PLAYERS * CHUNK;
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
	game.own[0] = memory(0, CHUNK);
	game.at = reserve(BYTES);
	/* so that it is never empty, and cannot be freed */
	ASSERT_OK(cuMemMap(game.at + CHUNK, CHUNK, 0, game.own[0], 0));
	RUN(&game, change_mappings, look_at_mappings);
}

/* ---- reservations ---- */

/* What two free at once, one of them has freed: the other's addresses may be new ones. */
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
		game.own[i] = memory(i, CHUNK);
	RUN(&game, join);
}

/* One binds and unbinds a chunk, one binds another until its memory ends. */
static void change_bindings(struct player *player)
{
	struct game *game = player->game;
	CUdevice device = player->number / 2;
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle memory;

	MUST(!when_free(cuMulticastBindMem(game->team, 0, game->own[device], 0, CHUNK, 0)));
	MUST(!cuMemCreate(&memory, CHUNK, &prop, 0));
	MUST(!when_free(cuMulticastBindMem(game->team, CHUNK, memory, 0, CHUNK, 0)));
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
	game.team = full_team(2, 2 * CHUNK);
	for (i = 0; i < 2; i++)
		game.own[i] = memory(i, CHUNK);
	game.window = ADDRESS(mapped(game.team, 2 * CHUNK, 0));
	game.at = ADDRESS(mapped(game.team, 2 * CHUNK, 1));
	RUN(&game, change_bindings, use_team);
}

/* ---- fabric handles: made once, whoever asks first ---- */

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
