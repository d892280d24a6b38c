// SPDX-License-Identifier: MIT
/* Lazy pools: a thread that touches a new chunk of a memory while the memory ends. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "lazy_fixture.h"
#include "raw.h"

#define TEAMS		4U
#define BOUND		2000UL			/* bindings to each of them */

FIXTURE(lazy_end)
{
	int client, file;
	uint32_t teams[TEAMS];		/* handles */
	char *at;			/* where the first chunks of all teams are mapped */
};

static uint32_t team_of(struct __test_metadata *_metadata, FIXTURE_DATA(lazy_end) *self,
			uint64_t bytes)
{
	struct memcast_team_create create = { .bytes = bytes, .devices = 2 };

	ASSERT_EQ(0, RAW(self->client, TEAM_CREATE, create));
	for (uint32_t i = 0; i < 2; i++) {
		struct memcast_team_add add = { .team = create.out_handle, .device = i };

		ASSERT_EQ(0, RAW(self->client, TEAM_ADD, add));
	}
	return create.out_handle;
}

FIXTURE_SETUP(lazy_end)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	struct memcast_map map = { .bytes = CHUNK };
	struct memcast_set_access access = {
		.bytes = CHUNK, .entries = (uintptr_t)&entry, .count = 1,
	};

	NEEDS_LAZY();
	self->client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->client);
	self->file = memfd_create("lazy_end", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(self->file, 1));
	self->at = mmap(NULL, TEAMS * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, self->client, 0);
	ASSERT_NE(MAP_FAILED, self->at);
	for (unsigned int i = 0; i < TEAMS; i++) {
		self->teams[i] = team_of(_metadata, self, BOUND * CHUNK);
		map.address = access.address = (uintptr_t)self->at + i * CHUNK;
		map.handle = self->teams[i];
		ASSERT_EQ(0, RAW(self->client, MAP, map));
		ASSERT_EQ(0, RAW(self->client, SET_ACCESS, access));
	}
}
NOTHING_LEFT(lazy_end)

/* A thread that touches a memory's chunk when the memory's handle has gone */
struct toucher {
	FIXTURE_DATA(lazy_end) *self;
	uint32_t handle;
	_Atomic bool ready;
	long faults;			/* the most that a touch took */
	bool touched, ending;		/* a touch succeeded; the memory was being freed */
};

static long faults_of_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* The kernel touches the chunk, in pwrite(): its faults need no signal handler. */
static void *touch(void *argument)
{
	struct toucher *toucher = argument;
	FIXTURE_DATA(lazy_end) *self = toucher->self;
	struct memcast_handle_info info = { .handle = toucher->handle };
	char said[128];
	struct memcast_address_check check = {
		.header = { .reason = (uintptr_t)said, .reason_size = sizeof(said) },
	};
	long before;

	/* the C library's code that is used below is there then, too */
	pwrite(self->file, &info, 1, 0);
	faults_of_thread();
	while (!RAW(self->client, HANDLE_INFO, info))
		toucher->ready = true;
	for (char *at = self->at; at < self->at + TEAMS * CHUNK; at += CHUNK) {
		before = faults_of_thread();
		toucher->touched |= pwrite(self->file, at, 1, 0) == 1;
		before = faults_of_thread() - before;
		if (toucher->faults < before)
			toucher->faults = before;
		said[0] = '\0';
		check.address = (uintptr_t)at;
		RAW(self->client, ADDRESS_CHECK, check);
		toucher->ending |= !!strstr(said, "is being freed");
	}
	return NULL;
}

/* Return: a memory of a chunk, which is bound to all of the teams often */
static uint32_t bound_memory(struct __test_metadata *_metadata, FIXTURE_DATA(lazy_end) *self)
{
	struct memcast_memory_create create = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = CHUNK,
	};
	struct memcast_bind_memory bind = { .bytes = CHUNK };

	ASSERT_EQ(0, RAW(self->client, MEMORY_CREATE, create));
	bind.memory = create.out_handle;
	for (unsigned long i = 0; i < TEAMS * BOUND; i++) {
		bind.team = self->teams[i % TEAMS];
		bind.team_offset = i / TEAMS * CHUNK;
		ASSERT_EQ(0, RAW(self->client, BIND_MEMORY, bind));
	}
	return create.out_handle;
}

/*
 * A memory whose last user has gone gets no more chunks, and is bound until the module has undone
 * all of its bindings, which takes as long as there are many. A thread that touches a new chunk
 * meanwhile gets an error at once: it does not fault again and again until then. The module undoes
 * the bindings team by team, in an order that nobody knows: the thread looks at all teams.
 */
TEST_F(lazy_end, touched_meanwhile)
{
	struct memcast_handle_release release = {};
	struct toucher toucher = { .self = self };
	pthread_t thread;

	/* a touch that comes before the last user has gone takes a chunk */
	while (toucher.touched || !toucher.ending) {
		toucher = (struct toucher) { .self = self };
		release.handle = toucher.handle = bound_memory(_metadata, self);
		ASSERT_EQ(0, pthread_create(&thread, NULL, touch, &toucher));
		while (!toucher.ready)
			sched_yield();
		ASSERT_EQ(0, RAW(self->client, HANDLE_RELEASE, release));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		ASSERT_GE(1, toucher.faults);
	}
}

TEST_HARNESS_MAIN
