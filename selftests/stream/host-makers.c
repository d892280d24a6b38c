// SPDX-License-Identifier: MIT
/*
 * lib/stream/event/shared_maker.c without the module: a process takes the place of one that has ended,
 * and others take it at the moment between. host-makers.sh runs this.
 */
#include "../lib/stream/event/shared_maker.c"
#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh notice a stuck test */

#define PROCESSES	200

static struct shared_event event;
static bool lives[PROCESSES];
static uint8_t self;		/* the process that calls, as the first byte of its key */
static void (*meanwhile)(void);	/* is done once, while a process looks whether another one lives */

CUresult fail(CUresult result, const char *reason, ...)
{
	(void)reason;
	return result;
}

const uint8_t *shared_self(void)
{
	static uint8_t key[MEMCAST_IPC_KEY_SIZE];

	key[0] = self;
	return key;
}

bool shared_alive(const uint8_t *key)
{
	void (*act)(void) = meanwhile;
	bool alive = lives[*key];

	meanwhile = NULL;
	if (act)
		act();
	return alive;
}

/* Return: the place that a new process gets; MAKERS: none */
static unsigned int place_of(uint8_t process)
{
	struct shared shared = { .event = &event };
	unsigned int place = MAKERS;
	uint8_t before = self;

	self = process;
	lives[process] = true;
	if (shared_maker(&shared, &place) != CUDA_SUCCESS)
		lives[process] = false;
	self = before;
	return place;
}

static uint64_t record(unsigned int number, unsigned int place)
{
	return (uint64_t)number << RECORD_NUMBER_SHIFT | place << RECORD_MAKER_SHIFT;
}

FIXTURE(makers)
{
};

FIXTURE_SETUP(makers)
{
	memset(&event, 0, sizeof(event));
	memset(lives, 0, sizeof(lives));
	for (unsigned int i = 0; i < MAKERS; i++)
		ASSERT_EQ(i, place_of(i));
}

FIXTURE_TEARDOWN(makers)
{
}

TEST_F(makers, of_living_processes_are_kept)
{
	EXPECT_EQ(MAKERS, place_of(100));
}

/* All that an ended process has recorded has happened before its place shows another process. */
TEST_F(makers, of_ended_processes_are_taken)
{
	event.records[1] = record(1, 7);
	event.records[2] = record(2, 8);
	lives[7] = false;
	EXPECT_EQ(7, place_of(100));
	EXPECT_EQ(record(1, 7) | RECORD_HAPPENED, event.records[1]);
	EXPECT_EQ(record(2, 8), event.records[2]);
	EXPECT_TRUE(shared_pending(&event, record(2, 8)));
	EXPECT_TRUE(shared_pending(&event, record(3, 7)));
}

TEST_F(makers, that_leave_make_room)
{
	struct shared shared = { .event = &event, .maker = 1 + 5 };

	shared_maker_end(&shared);
	EXPECT_EQ(5, place_of(100));
}

static unsigned int taken_meanwhile;

static void another_takes_it(void)
{
	taken_meanwhile = place_of(101);
	event.records[3] = record(3, taken_meanwhile);
}

/*
 * Two processes find that a third has ended. One of them takes its place and records, before the
 * other goes on: that one must neither take the place, nor end the record.
 */
TEST_F(makers, taken_meanwhile_are_not_taken_again)
{
	lives[0] = false;
	meanwhile = another_takes_it;
	EXPECT_EQ(MAKERS, place_of(100));
	EXPECT_EQ(0, taken_meanwhile);
	EXPECT_EQ(record(3, 0), event.records[3]);
	EXPECT_TRUE(shared_pending(&event, event.records[3]));
}

TEST_HARNESS_MAIN
