// SPDX-License-Identifier: MIT
/*
 * Bulk functions: long broadcasts go the way that their first calls found to be the fastest.
 *
 * This program defines the clock_gettime() and the memcpy() that the library calls. Its clock
 * says how long each way takes. The longest memcpy() of a call shows its way, as no replica begins
 * at a line: loops of the library copy blocks of 8 KiB of such replicas by memcpy(), the way
 * "blocks" 16 KiB, "whole replicas" all, and "past the caches" no more than parts of lines.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <memcast/bulk.h>

#include "kselftest_harness.h"
#include "processor.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh see when one is stuck */

#define EXPECT_OK(call)	EXPECT_EQ((int)CUDA_SUCCESS, (int)(call))

#define REPLICAS	2
#define SKEW		8
#define FIRST_CALLS	40	/* more than the library times before it chooses a way */
#define MANY_CALLS	1100	/* more than it makes before it times all ways again */

enum way { LOOP, BLOCKS, WHOLE, PAST, WAYS };

static const char *const way_names[WAYS] = {
	"loops", "blocks", "whole replicas", "past the caches",
};

/* ---- the library's clock and memcpy() */

static __thread size_t longest;		/* the longest copy since this was last set to 0 */
static __thread uint64_t now;
static uint64_t nanoseconds[WAYS];	/* of a call */

static enum way way_of(size_t bytes)
{
	return bytes < 64 ? PAST : bytes <= 8192 ? LOOP : bytes <= 16384 ? BLOCKS : WHOLE;
}

void *memcpy(void *to, const void *from, size_t bytes)
{
	if (bytes > longest)
		longest = bytes;
	bytes_copy(to, from, bytes);
	return to;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, clock, time);
	if (longest)
		now += nanoseconds[way_of(longest)];
	longest = 0;
	*time = (struct timespec) {
		.tv_sec = (time_t)(now / 1000000000), .tv_nsec = (long)(now % 1000000000),
	};
	return 0;
}

/* ---- broadcasts */

FIXTURE(way)
{
	struct memcast_view view;
	unsigned char *from;
	size_t bytes;
};

FIXTURE_SETUP(way)
{
	long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
	unsigned int i;

	/* together four times the second-level cache: so long that the library also times "past" */
	self->bytes = (cache > 0 ? (size_t)cache : 1 << 20) * 4 / (REPLICAS + 1) / 64 * 64;
	ASSERT_EQ(0, unsetenv("MEMCAST_STREAM"));
	ASSERT_EQ(0, unsetenv("MEMCAST_CPU"));
	self->view.replicas = REPLICAS;
	self->view.bytes = self->bytes;
	for (i = 0; i < REPLICAS; i++) {
		unsigned char *at = aligned_alloc(4096, (self->bytes + 8192) / 4096 * 4096);

		ASSERT_NE(NULL, at);
		self->view.replica[i] = at + SKEW;
	}
	self->from = aligned_alloc(4096, (self->bytes + 8192) / 4096 * 4096);
	ASSERT_NE(NULL, self->from);
}

FIXTURE_TEARDOWN(way)
{
	unsigned int i;

	for (i = 0; i < REPLICAS; i++)
		free(self->view.replica[i] - SKEW);
	free(self->from);
}

/* Makes one broadcast and checks all replicas. Return: the way that it went */
#define broadcast_once()	broadcast_once_(_metadata, self)
static enum way broadcast_once_(struct __test_metadata *_metadata, FIXTURE_DATA(way) *self)
{
	static unsigned char fill;
	size_t bytes = self->bytes;
	enum way way;
	unsigned int i;

	memset(self->from, ++fill, bytes);
	longest = 0;
	EXPECT_OK(memcastBroadcast(&self->view, 0, self->from, bytes));
	way = way_of(longest);
	for (i = 0; i < REPLICAS; i++)
		EXPECT_EQ(0, memcmp(self->view.replica[i], self->from, bytes)) {
			TH_LOG("replica %u", i);
		}
	return way;
}

/* Does even a first call go past the caches, as the third-level cache is too small? */
static bool always_past(FIXTURE_DATA(way) *self)
{
	longest = 0;
	memcastBroadcast(&self->view, 0, self->from, self->bytes);
	return way_of(longest) == PAST;
}

static void prices(enum way cheap, uint64_t price)
{
	enum way way;

	for (way = LOOP; way < WAYS; way++)
		nanoseconds[way] = way == cheap ? price : 100000000;
}

/* Checks the way of the calls after the first ones, of which the library times some. */
#define expect_settled(wanted)	expect_settled_(_metadata, self, wanted)
static void expect_settled_(struct __test_metadata *_metadata, FIXTURE_DATA(way) *self,
			    enum way wanted)
{
	unsigned int i;

	for (i = 0; i < FIRST_CALLS; i++)
		broadcast_once();
	for (i = 0; i < 3; i++)
		EXPECT_EQ(wanted, broadcast_once()) {
			TH_LOG("not by %s", way_names[wanted]);
		}
}

TEST_F(way, loops)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(LOOP, 50000000);
	expect_settled(LOOP);
}

TEST_F(way, blocks_of_the_c_library)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(BLOCKS, 50000000);
	expect_settled(BLOCKS);
}

TEST_F(way, whole_replicas)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(WHOLE, 50000000);
	expect_settled(WHOLE);
}

TEST_F(way, past_the_caches)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(PAST, 50000000);
	expect_settled(PAST);
}

/* Past the caches a reader finds nothing in them: a tenth of the time does not make up for that. */
TEST_F(way, past_the_caches_for_a_tenth)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(PAST, 90000000);
	expect_settled(WHOLE);
}

/* Without a clear winner the C library's copies are kept, so that noise makes no call slower. */
TEST_F(way, whole_replicas_if_nothing_is_clearly_faster)
{
	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(LOOP, 98000000);
	expect_settled(WHOLE);
}

TEST_F(way, tried_again)
{
	unsigned int i;

	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	self->bytes = 1 << 16;		/* MANY_CALLS of this size take little time */
	prices(LOOP, 50000000);
	expect_settled(LOOP);
	prices(BLOCKS, 50000000);
	EXPECT_EQ(LOOP, broadcast_once());
	longest = 0;
	for (i = 0; i < MANY_CALLS; i++)
		EXPECT_OK(memcastBroadcast(&self->view, 0, self->from, self->bytes));
	EXPECT_EQ(BLOCKS, broadcast_once());
}

static void *first_call(void *arg)
{
	FIXTURE_DATA(way) *self = arg;

	longest = 0;
	memcastBroadcast(&self->view, 0, self->from, self->bytes);
	return (void *)(uintptr_t)way_of(longest);
}

/* The first call of a second thread goes the way that the first thread has found. */
TEST_F(way, of_all_threads)
{
	pthread_t thread;
	void *way;

	if (always_past(self))
		SKIP(return, "this machine's caches hold too little");
	prices(WHOLE, 50000000);
	expect_settled(WHOLE);
	ASSERT_EQ(0, pthread_create(&thread, NULL, first_call, self));
	ASSERT_EQ(0, pthread_join(thread, &way));
	EXPECT_EQ(WHOLE, (enum way)(uintptr_t)way);
}

TEST_HARNESS_MAIN
