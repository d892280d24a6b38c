// SPDX-License-Identifier: MIT
/*
 * Two threads that only a lock of the module keeps apart: if the module did not take the lock, or
 * took it only for reading, they would meet within some rounds. (A kernel with lockdep reports that
 * at once.)
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "memcast_test.h"
#include "raw.h"

#define ROUNDS	1000
#define PAIRS	1500			/* bindings of each of two memories */

FIXTURE(lock)
{
	int client, file;
	pthread_barrier_t barrier;
};

FIXTURE_SETUP(lock)
{
	cpu_set_t allowed;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) < 2)
		SKIP(return, "needs two processors");
	self->client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->client);
	self->file = memfd_create("lock", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(self->file, 1));
	ASSERT_EQ(0, pthread_barrier_init(&self->barrier, NULL, 2));
}
NOTHING_LEFT(lock)

#define DO(NAME, name, ...)							\
({										\
	struct memcast_##name argument_ = { __VA_ARGS__ };			\
	ASSERT_EQ(0, RAW(self->client, NAME, argument_));			\
	argument_;								\
})

static uint64_t reservation(struct __test_metadata *_metadata, FIXTURE_DATA(lock) *self,
			    size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, self->client, 0);

	ASSERT_NE(MAP_FAILED, at);
	return (uintptr_t)at;
}

/* ---- a fault fills the page tables while another thread unmaps the memory ---- */

struct toucher {
	FIXTURE_DATA(lock) *self;
	char *at;
	_Atomic bool stop;
	_Atomic unsigned int touched;	/* how often */
};

/* Touches a page by a system call: a fault in the kernel needs no signal handler. */
static bool is_there(FIXTURE_DATA(lock) *self, char *at)
{
	return pwrite(self->file, at, 1, 0) == 1;
}

static void *touch(void *argument)
{
	struct toucher *toucher = argument;

	for (; !toucher->stop; toucher->touched++)
		is_there(toucher->self, toucher->at);
	return NULL;
}

/*
 * Pages at addresses where no entry of 2 MiB fits: one fault inserts 511 of them, in order, and in
 * that time the other thread may try to unmap them. When both are done, the last page is not
 * mapped; it would be if the fault had gone on after the unmap.
 */
TEST_F(lock, no_fault_while_unmapping)
{
	const unsigned long bytes = CHUNK - PAGE;
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_HOST, .access = MEMCAST_ACCESS_READWRITE,
	};
	uint32_t handle = DO(MEMORY_CREATE, memory_create, .bytes = CHUNK,
			     .location = MEMCAST_LOCATION_HOST).out_handle;
	uint64_t at = reservation(_metadata, self, CHUNK);
	struct toucher toucher = { .self = self, .at = (char *)at };
	unsigned int i, touched, rounds = loops(ROUNDS);
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, touch, &toucher));
	for (i = 0; i < rounds; i++) {
		DO(MAP, map, .handle = handle, .address = at, .offset = PAGE, .bytes = bytes);
		DO(SET_ACCESS, set_access, .address = at, .bytes = bytes,
		   .entries = (uintptr_t)&entry, .count = 1);
		/* unmap at a different moment each time */
		for (volatile unsigned int j = 0; j < i % 64 * 500; j++)
			;
		DO(UNMAP, unmap, .address = at, .bytes = bytes);
		/* wait until the access that was under way has ended */
		for (touched = toucher.touched; toucher.touched - touched < 2;)
			sched_yield();
		ASSERT_FALSE(is_there(self, (char *)at + bytes - PAGE))
			TH_LOG("round %u: a page of what is unmapped can be read", i);
	}
	toucher.stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* ---- two memories end at once, and both are bound to one team ---- */

struct releaser {
	FIXTURE_DATA(lock) *self;
	struct memcast_handle_release release;
	unsigned int rounds, failed;
};

static void *release(void *argument)
{
	struct releaser *releaser = argument;

	for (unsigned int i = 0; i < releaser->rounds; i++) {
		pthread_barrier_wait(&releaser->self->barrier);
		releaser->failed += !!RAW(releaser->self->client, HANDLE_RELEASE,
					  releaser->release);
		pthread_barrier_wait(&releaser->self->barrier);
	}
	return NULL;
}

/*
 * Binds chunks of both memories in turn, so that they are neighbours in the tree of the team's
 * bindings.
 */
static void bind_in_turn(struct __test_metadata *_metadata, FIXTURE_DATA(lock) *self,
			 uint32_t team, const uint32_t handle[2], uint64_t at)
{
	for (unsigned long i = 0; i < 2 * PAIRS; i++)
		DO(MAP, map, .handle = handle[i % 2], .address = at + i * CHUNK,
		   .bytes = CHUNK);
	DO(BIND_ADDRESS, bind_address, .team = team, .address = at, .bytes = 2 * PAIRS * CHUNK);
	DO(UNMAP, unmap, .address = at, .bytes = 2 * PAIRS * CHUNK);
}

TEST_F(lock, memories_end_one_after_the_other)
{
	struct releaser releaser = { .self = self, .rounds = loops(20) };
	uint64_t at = reservation(_metadata, self, 2 * PAIRS * CHUNK);
	uint32_t team = DO(TEAM_CREATE, team_create, .bytes = 2 * PAIRS * CHUNK,
			   .devices = 2).out_handle;
	pthread_t thread;
	unsigned int i, j;

	for (i = 0; i < 2; i++)
		DO(TEAM_ADD, team_add, .team = team, .device = i);
	ASSERT_EQ(0, pthread_create(&thread, NULL, release, &releaser));
	for (i = 0; i < releaser.rounds; i++) {
		uint32_t handle[2];

		for (j = 0; j < 2; j++)
			handle[j] = DO(MEMORY_CREATE, memory_create, .bytes = CHUNK,
				       .location = MEMCAST_LOCATION_DEVICE).out_handle;
		bind_in_turn(_metadata, self, team, handle, at);
		EXPECT_EQ(2 * PAIRS, stat_of("bindings"));
		releaser.release.handle = handle[0];
		pthread_barrier_wait(&self->barrier);
		DO(HANDLE_RELEASE, handle_release, .handle = handle[1]);
		pthread_barrier_wait(&self->barrier);
		EXPECT_EQ(0, releaser.failed);
		EXPECT_EQ(0, stat_of("bindings"));
		EXPECT_EQ(0, stat_of("memories"));
	}
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* ---- a thread maps something where a heap is just getting a reservation ---- */

/*
 * A thread that maps a team at an address, if there is a reservation. The team is not complete, so
 * that the call looks at the reservation, and then waits until another thread completes the team.
 */
struct intruder {
	FIXTURE_DATA(lock) *self;
	_Atomic uint64_t at;
	_Atomic uint32_t team;		/* 0: the intruder is making the next one */
	_Atomic pid_t thread;
	_Atomic bool stop, ended, failed;
	_Atomic unsigned int late;	/* it had looked before the reservation was a heap's */
};

static uint32_t incomplete_team(struct intruder *intruder)
{
	struct memcast_team_create create = { .bytes = CHUNK, .devices = 2 };
	struct memcast_team_add add = {};

	intruder->failed |= !!RAW(intruder->self->client, TEAM_CREATE, create);
	add.team = create.out_handle;
	intruder->failed |= !!RAW(intruder->self->client, TEAM_ADD, add);
	return create.out_handle;
}

static void *intrude(void *argument)
{
	struct intruder *intruder = argument;
	int client = intruder->self->client;

	intruder->thread = gettid();
	while (!intruder->stop) {
		uint32_t team = incomplete_team(intruder);
		struct memcast_handle_release release = { .handle = team };
		char said[128] = "";

		intruder->team = team;
		while (!intruder->stop && intruder->team) {
			struct memcast_map map = {
				.header = { .reason = (uintptr_t)said, .reason_size = sizeof(said) },
				.handle = team, .address = intruder->at, .bytes = CHUNK,
			};

			if (RAW(client, MAP, map) == EINVAL && strstr(said, "has become a heap's"))
				intruder->late++;
		}
		/* what it has mapped goes with the reservation, at the latest with the client */
		RAW(client, HANDLE_RELEASE, release);
	}
	intruder->ended = true;
	return NULL;
}

/* Completes the intruder's team once the intruder waits for it. */
static void *complete(void *argument)
{
	struct intruder *intruder = argument;
	struct memcast_team_add add = { .device = 1 };

	while (!intruder->ended) {
		add.team = intruder->team;
		if (!add.team || !sleeps(getpid(), intruder->thread)) {
			sched_yield();
			continue;
		}
		intruder->team = 0;
		intruder->failed |= !!RAW(intruder->self->client, TEAM_ADD, add);
		while (!intruder->ended && !intruder->team)
			sched_yield();
	}
	return NULL;
}

/*
 * Only a heap maps in its reservations. A call that has looked at one before it was the heap's
 * comes when the heap has not mapped its memory yet, as that has to be zeroed first.
 */
TEST_F(lock, no_mapping_in_a_heap)
{
	struct memcast_heap_create heap = { .location = MEMCAST_LOCATION_HOST };
	struct intruder intruder = { .self = self };
	char said[128];
	struct memcast_block_alloc block = {
		.header = { .reason = (uintptr_t)said, .reason_size = sizeof(said) },
		.bytes = 16 * CHUNK,
	};
	pthread_t thread[2];
	bool started = false;
	int i;

	while (!intruder.late) {
		ASSERT_EQ(0, RAW(self->client, HEAP_CREATE, heap));
		block.heap = heap.out_heap;
		said[0] = '\0';
		if (!RAW(self->client, BLOCK_ALLOC, block))
			intruder.at = block.out_address;
		else
			/* the intruder was first: the heap leaves the reservation to it */
			ASSERT_NE(NULL, strstr(said, "unmaps what is not its own"))
				TH_LOG("%s", said);
		DO(HEAP_DESTROY, heap_destroy, .heap = heap.out_heap, .flags = MEMCAST_HEAP_FORCE);
		if (!started) {
			ASSERT_EQ(0, pthread_create(&thread[0], NULL, intrude, &intruder));
			ASSERT_EQ(0, pthread_create(&thread[1], NULL, complete, &intruder));
		}
		started = true;
		ASSERT_FALSE(intruder.failed);
	}
	intruder.stop = true;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
}

TEST_HARNESS_MAIN
