// SPDX-License-Identifier: MIT
/* Plain allocation by several threads, and by processes that are killed. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "memcast_test.h"

FIXTURE(alloc) { char unused; };
FIXTURE_SETUP(alloc) { }
NOTHING_LEFT(alloc)

#define THREADS	4
#define BLOCKS	64
#define ROUNDS	2000

struct player {
	pthread_t thread;
	CUcontext context;
	unsigned int number, seed, failed, refused;
};

static void check(struct player *player, const unsigned char *at, size_t bytes, unsigned char value)
{
	if (at[0] != value || at[bytes / 2] != value || at[bytes - 1] != value)
		player->failed++;
}

/* Allocates and frees random blocks, most of them small, each filled with a value of its own. */
static void *play(void *argument)
{
	struct player *player = argument;
	struct { CUdeviceptr at; size_t bytes; unsigned char value; } blocks[BLOCKS] = {};
	unsigned int i, round;

	if (cuCtxSetCurrent(player->context))
		player->failed++;
	for (round = 0; round < loops(ROUNDS); round++) {
		unsigned int pick = rand_r(&player->seed);
		CUresult result;

		i = pick / 64 % BLOCKS;
		if (blocks[i].at) {
			check(player, (void *)blocks[i].at, blocks[i].bytes, blocks[i].value);
			if (cuMemFree(blocks[i].at))
				player->failed++;
			blocks[i].at = 0;
			continue;
		}
		blocks[i].bytes = 1 + rand_r(&player->seed) %
			(pick % 32 ? (pick % 4 ? 8000 : 400000) : 2 * CHUNK);
		result = cuMemAlloc(&blocks[i].at, blocks[i].bytes);
		if (result == CUDA_ERROR_OUT_OF_MEMORY) {
			blocks[i].at = 0;
			player->refused++;
			continue;
		}
		blocks[i].value = pick + player->number;
		if (result || cuMemsetD8(blocks[i].at, blocks[i].value, blocks[i].bytes))
			player->failed++;
	}
	for (i = 0; i < BLOCKS; i++) {
		if (!blocks[i].at)
			continue;
		check(player, (void *)blocks[i].at, blocks[i].bytes, blocks[i].value);
		if (cuMemFree(blocks[i].at))
			player->failed++;
	}
	return NULL;
}

TEST_F(alloc, random_from_several_threads)
{
	long before = device_bytes(0, "free_bytes");
	struct player players[THREADS] = {};
	CUcontext context;
	unsigned int i;

	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&context));
	for (i = 0; i < THREADS; i++) {
		players[i].context = context;
		players[i].seed = players[i].number = i + 1;
		ASSERT_EQ(0, pthread_create(&players[i].thread, NULL, play, &players[i]));
	}
	for (i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(players[i].thread, NULL));
		EXPECT_EQ(0, players[i].failed);
		/* the blocks of all threads nearly always fit into the pool */
		EXPECT_GT(loops(ROUNDS) / 4 + 1, players[i].refused);
	}
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
	EXPECT_EQ(0, stat_of("blocks"));
}

TEST_F(alloc, killed_at_any_moment)
{
	unsigned int round;

	for (round = 0; round < loops(40); round++) {
		struct timespec moment = { .tv_nsec = 1000000 * (round % 40) };
		int link;
		pid_t pid = peer_fork(&link);

		if (!pid) {
			struct player player = { .seed = round };

			cuda_start(0);
			ASSERT_OK(cuCtxGetCurrent(&player.context));
			send_number(link, 0);
			for (;;)
				play(&player);
		}
		receive_number(link);
		nanosleep(&moment, NULL);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		reap_child(pid);
		peer_close(link);
		ASSERT_EQ(0, stat_settled("clients", 0));
		ASSERT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
		ASSERT_EQ(0, stat_of("blocks"));
	}
}

struct pool_user {
	CUcontext context;
	atomic_bool stop, runs;
	atomic_uint failed;
};

static void *allocate_always(void *argument)
{
	struct pool_user *user = argument;
	CUdeviceptr at;
	CUstream stream;

	if (cuCtxSetCurrent(user->context) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
		user->failed++;
	while (!user->failed && !user->stop) {
		if (cuMemAllocAsync(&at, 1000, stream) || cuMemFreeAsync(at, stream))
			user->failed++;
		user->runs = true;
	}
	return NULL;
}

/* The end of a current pool is no failure of a thread that allocates. */
TEST_F(alloc, current_pool_ends)
{
	const CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	struct pool_user user = {};
	CUmemoryPool pool;
	pthread_t thread;

	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&user.context));
	ASSERT_EQ(0, pthread_create(&thread, NULL, allocate_always, &user));
	while (!user.runs && !user.failed)
		sched_yield();
	for (unsigned int i = 0; i < 20 * loops(ROUNDS); i++) {
		ASSERT_OK(cuMemPoolCreate(&pool, &props));
		ASSERT_OK(cuDeviceSetMemPool(0, pool));
		ASSERT_OK(cuMemPoolDestroy(pool));
	}
	user.stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, user.failed);
}

struct switcher {
	CUmemoryPool pool;
	CUmemPool_attribute attribute;
	unsigned int failed;
};

static void *turn_on_and_off(void *argument)
{
	struct switcher *switcher = argument;
	int value, read;

	for (unsigned int i = 0; i < 20 * loops(ROUNDS); i++) {
		value = i % 2;
		read = -1;
		if (cuMemPoolSetAttribute(switcher->pool, switcher->attribute, &value) ||
		    cuMemPoolGetAttribute(switcher->pool, switcher->attribute, &read) ||
		    read != value)
			switcher->failed++;
	}
	return NULL;
}

/* A thread that sets one attribute of a pool leaves those alone that another one sets. */
TEST_F(alloc, attributes_from_two_threads)
{
	struct switcher one = { .attribute = CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC };
	struct switcher other = { .attribute = CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES };
	pthread_t thread;

	cuda_start(0);
	ASSERT_OK(cuDeviceGetDefaultMemPool(&one.pool, 0));
	other.pool = one.pool;
	ASSERT_EQ(0, pthread_create(&thread, NULL, turn_on_and_off, &other));
	turn_on_and_off(&one);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, one.failed);
	EXPECT_EQ(0, other.failed);
}

TEST_HARNESS_MAIN
