// SPDX-License-Identifier: MIT
/*
 * lib/array/bulk-way.c alone, with sizes of caches and a clock that this program defines: which
 * way calls go, given what each way costs. host-bulk.sh runs this.
 */
#include "../lib/array/bulk-way.c"
#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh see when one is stuck */

#define STREAM	(24UL << 20)
#define BELOW	(17UL << 20)	/* of the same class of sizes as ABOVE */
#define ABOVE	(25UL << 20)
#define SMALL	(1UL << 20)	/* never past the caches */
#define FIRST_CALLS	40	/* more than are timed before a way is chosen */

static const char *const way_names[BULK_WAYS] = {
	"loops", "loops that fetch", "blocks", "whole replicas", "past the caches",
	"past the caches with fetching",
};

struct bulk_machine bulk_machine_known;
static uint64_t now;
static uint64_t price[BULK_WAYS];	/* nanoseconds per KiB */

void bulk_choose(void)
{
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec) {
		.tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000),
	};
	return 0;
}

FIXTURE(choice)
{
};

/* Each test runs in a process of its own, so that no way has been timed yet. */
FIXTURE_SETUP(choice)
{
	bulk_machine_known = (struct bulk_machine) {
		.short_bytes = 16 << 10, .stream = STREAM, .cache1 = 32 << 10, .cache2 = 1 << 20,
	};
}

FIXTURE_TEARDOWN(choice)
{
}

static void cheap(enum bulk_way way, uint64_t nanoseconds)
{
	for (unsigned int i = 0; i < BULK_WAYS; i++)
		price[i] = i == way ? nanoseconds : 1000;
}

static enum bulk_way call(enum bulk_kind kind, unsigned int replicas, size_t bytes)
{
	struct bulk_trial trial;
	enum bulk_way way = bulk_way(kind, replicas, bytes, bytes / (replicas + 1), &trial);

	now += price[way] * (bytes >> 10);
	bulk_way_done(&trial);
	return way;
}

static void calls(unsigned int count, enum bulk_kind kind, unsigned int replicas, size_t bytes)
{
	while (count--)
		call(kind, replicas, bytes);
}

#define EXPECT_WAY(way, kind, replicas, bytes)	do {					\
	enum bulk_way went_ = call(kind, replicas, bytes);				\
											\
	EXPECT_EQ(way, went_) {								\
		TH_LOG("went %s, not %s", way_names[went_], way_names[way]);		\
	}										\
} while (0)

/* Sums of one class on both sides of the limit: neither decides for the other. */
TEST_F(choice, sums_below_the_limit_after_some_above)
{
	cheap(BULK_LOOP, 100);
	calls(6, BULK_SUM, 2, ABOVE);
	calls(FIRST_CALLS, BULK_SUM, 2, BELOW);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, BELOW);
}

TEST_F(choice, sums_above_the_limit_after_some_below)
{
	cheap(BULK_PAST_AHEAD, 100);
	price[BULK_LOOP] = 10;
	calls(FIRST_CALLS, BULK_SUM, 2, BELOW);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, BELOW);
	EXPECT_WAY(BULK_PAST, BULK_SUM, 2, ABOVE);
	calls(FIRST_CALLS, BULK_SUM, 2, ABOVE);
	EXPECT_WAY(BULK_PAST_AHEAD, BULK_SUM, 2, ABOVE);
}

/* With a limit that the user has set, no call below it goes past the caches and all above it do. */
TEST_F(choice, limit_of_the_users)
{
	static const enum bulk_kind kinds[] = { BULK_COPY, BULK_SUM, BULK_SUM_NARROW };

	bulk_machine_known.stream_set = true;
	cheap(BULK_PAST, 10);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned int j = 0; j < 2 * FIRST_CALLS; j++) {
			/* of a copy, only the bytes that are written count: half of these */
			bool above = kinds[i] != BULK_COPY && j % 2;
			enum bulk_way way = call(kinds[i], 1, above ? ABOVE : BELOW);

			EXPECT_EQ(above, bulk_goes_past(way)) {
				TH_LOG("kind %u, call %u: %s", kinds[i], j, way_names[way]);
			}
		}
	EXPECT_WAY(BULK_PAST, BULK_COPY, 1, 2 * ABOVE);
}

TEST_F(choice, numbers_of_replicas)
{
	cheap(BULK_LOOP, 100);
	calls(FIRST_CALLS, BULK_SUM, 2, SMALL);
	cheap(BULK_AHEAD, 100);
	calls(FIRST_CALLS, BULK_SUM, 4, SMALL);
	cheap(BULK_LOOP, 100);
	calls(FIRST_CALLS, BULK_SUM, 8, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 1, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, SMALL);
	EXPECT_WAY(BULK_AHEAD, BULK_SUM, 3, SMALL);
	EXPECT_WAY(BULK_AHEAD, BULK_SUM, 4, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 5, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 64, SMALL);
}

TEST_F(choice, kinds)
{
	for (enum bulk_kind kind = BULK_SUM; kind <= BULK_SUM_NARROW_IN_PLACE; kind++) {
		cheap(kind % 2 ? BULK_LOOP : BULK_AHEAD, 100);
		calls(FIRST_CALLS, kind, 2, SMALL);
	}
	for (enum bulk_kind kind = BULK_SUM; kind <= BULK_SUM_NARROW_IN_PLACE; kind++)
		EXPECT_WAY(kind % 2 ? BULK_LOOP : BULK_AHEAD, kind, 2, SMALL);
}

TEST_F(choice, past_the_caches_with_fetching_and_without)
{
	cheap(BULK_PAST, 100);
	calls(FIRST_CALLS, BULK_SUM, 2, ABOVE);
	EXPECT_WAY(BULK_PAST, BULK_SUM, 2, ABOVE);
	EXPECT_WAY(BULK_PAST, BULK_SUM_NARROW, 8, ABOVE);
	cheap(BULK_PAST_AHEAD, 100);
	calls(FIRST_CALLS, BULK_SUM_NARROW, 8, ABOVE);
	EXPECT_WAY(BULK_PAST_AHEAD, BULK_SUM_NARROW, 8, ABOVE);
	EXPECT_WAY(BULK_PAST, BULK_SUM, 2, ABOVE);
}

/* Past the caches must save more time, the larger the share of written bytes. */
TEST_F(choice, past_the_caches_by_what_is_written)
{
	cheap(BULK_PAST, 930);
	calls(FIRST_CALLS, BULK_SUM, 2, BELOW);		/* a third is written: must save a tenth */
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, BELOW);
	calls(FIRST_CALLS, BULK_SUM, 8, BELOW);		/* a ninth is written: a thirtieth */
	EXPECT_WAY(BULK_PAST, BULK_SUM, 8, BELOW);
}

/* Long calls are few: two of each way are timed, after one that is not. */
TEST_F(choice, tries)
{
	cheap(BULK_PAST_AHEAD, 100);
	calls(4 * LONG_TRIES, BULK_SUM, 2, BELOW);
	EXPECT_WAY(BULK_PAST_AHEAD, BULK_SUM, 2, BELOW);
	cheap(BULK_AHEAD, 100);
	calls(2 * TRIES, BULK_SUM, 2, SMALL);
	EXPECT_WAY(BULK_AHEAD, BULK_SUM, 2, SMALL);
	cheap(BULK_LOOP, 100);
	calls(AGAIN, BULK_SUM, 2, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, SMALL);
}

/* A clock that stands still, and one that runs so fast that no figure holds its times */
TEST_F(choice, clock)
{
	memset(price, 0, sizeof(price));
	calls(FIRST_CALLS, BULK_SUM, 2, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, SMALL);
	calls(FIRST_CALLS, BULK_SUM, 2, ABOVE);
	EXPECT_WAY(BULK_PAST, BULK_SUM, 2, ABOVE);
	cheap(BULK_WAYS, 0);
	for (unsigned int i = 0; i < BULK_WAYS; i++)
		price[i] = 1UL << 33;
	calls(FIRST_CALLS, BULK_SUM, 8, SMALL);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 8, SMALL);
	calls(FIRST_CALLS, BULK_SUM, 8, ABOVE);
	EXPECT_WAY(BULK_PAST, BULK_SUM, 8, ABOVE);
}

/* Short calls are not timed, as reading the clock takes longer than they do. */
TEST_F(choice, short_calls)
{
	cheap(BULK_AHEAD, 100);
	calls(FIRST_CALLS, BULK_SUM, 2, 4096);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, 4096);
	EXPECT_WAY(BULK_LOOP, BULK_SUM, 2, 0);
	bulk_machine_known.stream = 1;
	EXPECT_WAY(BULK_PAST, BULK_SUM, 2, 4096);
}

TEST_HARNESS_MAIN
