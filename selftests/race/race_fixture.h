/* SPDX-License-Identifier: MIT */
/*
 * Threads whose calls race with each other. In whichever order calls come, each answers as that
 * order allows, and nothing is left. Most useful with a kernel that finds data races: make
 * check-kcsan.
 */
#ifndef RACE_FIXTURE_H
#define RACE_FIXTURE_H

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
	int file;				/* touch() writes what it loads there */
	CUmemGenericAllocationHandle team, own[PLAYERS];
	CUmemoryPool pool;
	_Atomic CUdeviceptr at, window;
	_Atomic unsigned int freed;		/* how often a call succeeded */
	CUmemFabricHandle fabric[PLAYERS];
	const char *_Atomic wrong;		/* NULL, or the condition that failed */
	struct player player[PLAYERS];
};

#define TEXT_(line)		#line
#define TEXT(line)		TEXT_(line)
/* For threads, which cannot use the harness's assertions */
#define MUST(condition)							\
do {									\
	if (!(condition))						\
		player->game->wrong = TEXT(__LINE__) ": " #condition;	\
} while (0)

/* For a call whose object another thread may have changed before */
TEST_HELPER bool is_one_of(CUresult result, CUresult other)
{
	return result == CUDA_SUCCESS || result == other;
}

TEST_HELPER void meet(struct player *player)
{
	pthread_barrier_wait(&player->game->barrier);
}

/* All threads start each round together; otherwise their calls would not meet. */
TEST_HELPER void *play(void *argument)
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

TEST_HELPER void start(struct __test_metadata *_metadata, struct game *game)
{
	cuda_start(0);
	ASSERT_OK(cuCtxGetCurrent(&game->context));
	game->file = memfd_create("race", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(game->file, 4));
}

#define RUN(game, first, ...)	run_(_metadata, game,			\
	(void (*[])(struct player *)) { first, ##__VA_ARGS__ },		\
	sizeof((void *[]) { first, ##__VA_ARGS__ }) / sizeof(void *))

TEST_HELPER void run_(struct __test_metadata *_metadata, struct game *game,
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

/* Touches 4 bytes by a system call: it gives EFAULT where a load or store would raise a signal. */
TEST_HELPER bool touch(const struct game *game, CUdeviceptr at, bool store)
{
	ssize_t got = store ? pread(game->file, (void *)at, 4, 0) :
			      pwrite(game->file, (void *)at, 4, 0);

	return got == 4 || (got < 0 && errno == EFAULT);
}

#endif /* RACE_FIXTURE_H */
