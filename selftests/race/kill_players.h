/* SPDX-License-Identifier: MIT */
/* Processes that use each other's objects, any of which is killed at any moment. */
#ifndef MEMCAST_KILL_PLAYERS_H
#define MEMCAST_KILL_PLAYERS_H

#include <signal.h>
#include <time.h>
#include "memcast_test.h"

#define PLAYERS	8

/*
 * Start all PLAYERS, then kill one of them within 30 ms and start another in its place, in so many
 * rounds as another_round() makes of @rounds. In the end all living players have to exit with success.
 *
 * @play: a player's process, which ends with success some time after *@stop has become 1; @me is
 *         its place, and @seed differs from round to round. MEMCAST_TEST_SEED repeats a run's.
 * @game: passed to @play
 * @stop: in memory that all processes share
 */
static inline void kill_players(struct __test_metadata *_metadata, unsigned int rounds,
				void (*play)(struct __test_metadata *_metadata, void *game,
					     unsigned int me, unsigned int seed),
				void *game, uint32_t *stop)
{
	const char *given = getenv("MEMCAST_TEST_SEED");
	unsigned int seed = given ? strtoul(given, NULL, 0) : 1;
	pid_t pid[PLAYERS] = {};
	unsigned int i, round;
	int links[PLAYERS];

	for (round = 0; round < PLAYERS || another_round(round - PLAYERS, rounds); round++) {
		unsigned int any = rand_r(&seed), victim = round < PLAYERS ? round : any % PLAYERS;
		struct timespec moment = { .tv_nsec = rand_r(&seed) % 30000000 };

		if (pid[victim]) {
			nanosleep(&moment, NULL);
			ASSERT_EQ(0, kill(pid[victim], SIGKILL));
			ASSERT_EQ(SIGKILL, reap_child(pid[victim]));
			peer_close(links[victim]);
		}
		pid[victim] = peer_fork(&links[victim]);
		if (!pid[victim])
			play(_metadata, game, victim, round + seed);
	}
	__atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < PLAYERS; i++) {
		EXPECT_EQ(0, reap_child(pid[i]));
		peer_close(links[i]);
	}
}

#endif /* MEMCAST_KILL_PLAYERS_H */
