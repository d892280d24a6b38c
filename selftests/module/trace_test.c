// SPDX-License-Identifier: MIT
/*
 * Tracepoints: each event comes once, in a buffer of the test's own, with the numbers of objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "memcast_test.h"
#include "raw.h"

#define TRACING		"/sys/kernel/tracing"
#define BUFFER		TRACING "/instances/memcast_test"
#define TEXT		65536

FIXTURE(trace)
{
	char *text;
};

FIXTURE_SETUP(trace)
{
	if (geteuid())
		SKIP(return, "only root may trace the kernel");
	if (access(TRACING "/instances", F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (access(TRACING "/instances", F_OK))
		SKIP(return, "the kernel has no tracefs");
	self->text = malloc(TEXT);
	ASSERT_NE(NULL, self->text);
	/* a buffer that an earlier run left would have its events */
	rmdir(BUFFER);
	ASSERT_EQ(0, mkdir(BUFFER, 0700));
	ASSERT_EQ(0, write_in(BUFFER, "events/memcast/enable", "1"));
	cuda_start(0);
}

FIXTURE_TEARDOWN(trace)
{
	rmdir(BUFFER);
	free(self->text);
}

/* Return: all events so far, of all processors in the order of time */
static const char *traced(FIXTURE_DATA(trace) *self)
{
	int file = open(BUFFER "/trace", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t bytes;

	while (length < TEXT - 1 &&
	       (bytes = read(file, self->text + length, TEXT - 1 - length)) > 0)
		length += bytes;
	close(file);
	self->text[length] = '\0';
	return self->text;
}

/* Counts this event with all of these fields, which come in that order. */
static unsigned int count_events(FIXTURE_DATA(trace) *self, const char *event, const char *fields)
{
	unsigned int count = 0;
	char *line, *rest;

	traced(self);
	for (rest = self->text; (line = strsep(&rest, "\n"));) {
		char *at = strstr(line, event);

		count += at && strstr(at, fields);
	}
	return count;
}

/* Return: the number after a field's name in the last such event; 0: there is none */
static unsigned long field_of(FIXTURE_DATA(trace) *self, const char *event, const char *field)
{
	const char *at = traced(self), *found = NULL;

	while ((at = strstr(at, event)))
		found = at++;
	found = found ? strstr(found, field) : NULL;
	return found ? strtoul(found + strlen(field), NULL, 0) : 0;
}

#define EXPECT_EVENT(times, event, ...)						\
do {										\
	char fields_[256];							\
										\
	snprintf(fields_, sizeof(fields_), __VA_ARGS__);			\
	EXPECT_EQ(times, count_events(self, event ": ", fields_))		\
		TH_LOG("%s: %s, in:\n%s", event, fields_, traced(self));	\
} while (0)

TEST_F(trace, team)
{
	CUmemGenericAllocationHandle object = new_team(2, CHUNK), handle[2];
	unsigned long number, memory[2];
	volatile uint32_t *window;

	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastAddDevice(object, i));
	number = field_of(self, "memcast_join: ", "team=");
	EXPECT_EVENT(1, "memcast_join", "team=%lu device=0 joined=1 devices=2", number);
	EXPECT_EVENT(1, "memcast_join", "team=%lu device=1 joined=2 devices=2", number);
	for (int i = 0; i < 2; i++) {
		handle[i] = new_bound(object, i, CHUNK);
		memory[i] = field_of(self, "memcast_bind: ", "memory=");
		EXPECT_EVENT(1, "memcast_bind",
			     "team=%lu device=%d memory=%lu offset=0x0 memory_offset=0x0 "
			     "bytes=0x200000",
			     number, i, memory[i]);
	}
	EXPECT_NE(memory[0], memory[1]);

	window = mapped(object, CHUNK, 0);
	EXPECT_EVENT(1, "memcast_map", "object=%lu address=0x%lx offset=0x0 bytes=0x200000", number,
		     (unsigned long)window);
	EXPECT_OK(cuMemsetD32(ADDRESS(window), 7, 2));
	EXPECT_EVENT(1, "memcast_fill", "to=0x%lx bytes=0x8 rows=1 device=0 error=0",
		     (unsigned long)window);
	EXPECT_EVENT(0, "memcast_fault", "object=%lu", number);
	EXPECT_EQ(7, window[1]);
	EXPECT_EVENT(1, "memcast_fault", "object=%lu write=0", number);
	EXPECT_OK(cuMemcpy(ADDRESS(window + 2), ADDRESS(window), 8));
	EXPECT_EVENT(1, "memcast_copy", "to=0x%lx from=0x%lx bytes=0x8 rows=1 device=0 error=0",
		     (unsigned long)(window + 2), (unsigned long)window);

	EXPECT_OK(cuMulticastUnbind(object, 0, 0, CHUNK));
	EXPECT_EVENT(1, "memcast_unbind", "team=%lu device=0 memory=%lu", number, memory[0]);
	EXPECT_EVENT(1, "memcast_zap", "address=0x%lx bytes=0x200000", (unsigned long)window);
	EXPECT_EVENT(0, "memcast_evict", "team=%lu", number);
	EXPECT_OK(cuMemRelease(handle[1]));
	EXPECT_EVENT(1, "memcast_evict", "team=%lu memory=%lu offset=0x0 bytes=0x200000", number,
		     memory[1]);
	EXPECT_EVENT(1, "memcast_unbind", "team=%lu device=1 memory=%lu", number, memory[1]);
	EXPECT_OK(cuMemUnmap(ADDRESS(window), CHUNK));
	EXPECT_EVENT(1, "memcast_unmap", "object=%lu", number);
}

TEST_F(trace, handles)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK), same;
	unsigned long number;
	int fd;

	ASSERT_OK(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	number = field_of(self, "memcast_export: ", "object=");
	EXPECT_EVENT(1, "memcast_export", "object=%lu bytes=0x200000 handle_type=", number);
	EXPECT_EVENT(0, "memcast_import", "object=%lu", number);
	ASSERT_OK(cuMemImportFromShareableHandle(&same, (void *)(long)fd, SHAREABLE));
	EXPECT_EVENT(1, "memcast_import", "object=%lu bytes=0x200000 handle_type=", number);
	close(fd);
}

struct binder {
	CUmemGenericAllocationHandle team, memory;
	CUresult result;
};

static void *bind(void *argument)
{
	struct binder *binder = argument;

	binder->result = cuMulticastBindMem(binder->team, 0, binder->memory, 0, CHUNK, 0);
	return NULL;
}

/* A waiting call has an event when it begins to wait, and one when it stops waiting. */
TEST_F(trace, waits)
{
	struct binder binder = { .team = new_team(2, CHUNK), .memory = new_memory(0, CHUNK) };
	unsigned long number;
	pthread_t thread;

	ASSERT_OK(cuMulticastAddDevice(binder.team, 0));
	number = field_of(self, "memcast_join: ", "team=");
	ASSERT_EQ(0, pthread_create(&thread, NULL, bind, &binder));
	while (!count_events(self, "memcast_wait: ", ""))
		usleep(1000);
	EXPECT_EVENT(1, "memcast_wait", "team=%lu command=", number);
	EXPECT_EVENT(1, "memcast_wait", "joined=1 devices=2");
	EXPECT_EVENT(0, "memcast_wait_end", "team=%lu", number);
	ASSERT_OK(cuMulticastAddDevice(binder.team, 1));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_OK(binder.result);
	EXPECT_EVENT(1, "memcast_wait_end", "team=%lu error=0", number);
}

#define EACH	8

/* A memory that ends is taken out of each mapping of a team once, however often it is bound. */
TEST_F(trace, memory_ends_bound_to_two_teams_in_turn)
{
	CUmemGenericAllocationHandle own, team[2];
	unsigned long number;

	own = new_memory(0, EACH * CHUNK);
	for (int i = 0; i < 2; i++)
		team[i] = complete_team(2, EACH * CHUNK);
	for (int i = 0; i < EACH; i++)
		for (int k = 0; k < 2; k++)
			ASSERT_OK(cuMulticastBindMem(team[k], i * CHUNK, own, i * CHUNK, CHUNK, 0));
	number = field_of(self, "memcast_bind: ", "memory=");
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++)
			mapped(team[k], EACH * CHUNK, 0);
	EXPECT_EVENT(0, "memcast_zap", "address=");
	ASSERT_OK(cuMemRelease(own));
	EXPECT_EVENT(2, "memcast_evict", "memory=%lu offset=0x0 bytes=0x%lx", number, EACH * CHUNK);
	EXPECT_EVENT(2 * EACH, "memcast_unbind", "memory=%lu", number);
	EXPECT_EVENT(2 * 3, "memcast_zap", "address=");
}

/*
 * A process with a memory in each chunk of a team, which it has mapped one by one. Of every second
 * one it has released the handle: the mapping alone keeps it.
 */
static void hold_each_chunk(struct __test_metadata *_metadata, int fd, int link)
{
	struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD, .fd = fd };
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, device);
	ASSERT_EQ(0, RAW(device, IMPORT, import));
	for (int i = 0; i < EACH; i++) {
		struct memcast_memory_create create = {
			.location = MEMCAST_LOCATION_DEVICE, .location_id = 1, .bytes = CHUNK,
			.handle_types = MEMCAST_HANDLE_FD,
		};
		struct memcast_bind_memory bind = {
			.team = import.out_handle, .device = 1, .team_offset = i * CHUNK,
			.bytes = CHUNK,
		};
		struct memcast_map map = { .bytes = CHUNK };
		struct memcast_handle_release release = {};

		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
		bind.memory = create.out_handle;
		ASSERT_EQ(0, RAW(device, BIND_MEMORY, bind));
		map.handle = create.out_handle;
		map.address = (uintptr_t)mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED,
					      device, 0);
		ASSERT_EQ(0, RAW(device, MAP, map));
		release.handle = create.out_handle;
		if (i % 2)
			ASSERT_EQ(0, RAW(device, HANDLE_RELEASE, release));
	}
	send_number(link, 0);
	pause();
}

/* What a process had bound leaves each mapping of the team at once when the process ends. */
TEST_F(trace, a_process_ends_with_many_memories)
{
	volatile uint32_t *window[3];
	CUmemGenericAllocationHandle team = complete_team(2, EACH * CHUNK);
	int link, fd = exported(team);
	pid_t pid = peer_fork(&link);

	if (!pid)
		hold_each_chunk(_metadata, fd, link);
	for (int i = 0; i < 3; i++)
		window[i] = mapped(team, EACH * CHUNK, 0);
	receive_number(link);
	EXPECT_EQ(0, window[0][0]);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EVENT(EACH, "memcast_evict", "bytes=0x200000");
	for (int i = 0; i < 3; i++)
		EXPECT_EVENT(1, "memcast_zap", "address=0x%lx bytes=0x%lx",
			     (unsigned long)window[i], EACH * CHUNK);
	EXPECT_NE(0, try_load(window[0], NULL));
	close(fd);
}

/*
 * A process with three memories, which it has bound to different ones of three teams: to the first
 * and second team, to the second and third, and so on.
 */
static void bind_to_some(struct __test_metadata *_metadata, const int fd[3], int link)
{
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	uint32_t team[3];

	ASSERT_LE(0, device);
	for (int i = 0; i < 3; i++) {
		struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD, .fd = fd[i] };

		ASSERT_EQ(0, RAW(device, IMPORT, import));
		team[i] = import.out_handle;
	}
	for (int i = 0; i < 3; i++) {
		struct memcast_memory_create create = {
			.location = MEMCAST_LOCATION_DEVICE, .location_id = 1, .bytes = CHUNK,
			.handle_types = MEMCAST_HANDLE_FD,
		};

		ASSERT_EQ(0, RAW(device, MEMORY_CREATE, create));
		for (int k = 0; k < 2; k++) {
			struct memcast_bind_memory bind = {
				.team = team[(i + k) % 3], .device = 1, .memory = create.out_handle,
				.team_offset = k * CHUNK, .bytes = CHUNK,
			};

			ASSERT_EQ(0, RAW(device, BIND_MEMORY, bind));
		}
	}
	send_number(link, 0);
	pause();
}

/* Each team is zapped once, also if no two memories that end have the same teams. */
TEST_F(trace, memories_of_different_teams_end_together)
{
	CUmemGenericAllocationHandle team[3];
	volatile uint32_t *window[3];
	int link, fd[3];
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		team[i] = complete_team(2, 2 * CHUNK);
		fd[i] = exported(team[i]);
	}
	pid = peer_fork(&link);
	if (!pid)
		bind_to_some(_metadata, fd, link);
	for (int i = 0; i < 3; i++)
		window[i] = mapped(team[i], 2 * CHUNK, 0);
	receive_number(link);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_EVENT(6, "memcast_evict", "bytes=0x200000");
	for (int i = 0; i < 3; i++) {
		EXPECT_EVENT(1, "memcast_zap", "address=0x%lx bytes=0x%lx",
			     (unsigned long)window[i], 2 * CHUNK);
		close(fd[i]);
	}
	EXPECT_EVENT(3, "memcast_zap", "address=");
}

/* Chunks that come back are zeroed by who takes them: no worker of the kernel does it. */
TEST_F(trace, no_work_for_workers)
{
	unsigned long bytes = device_bytes(0, "free_bytes"), i;
	CUmemGenericAllocationHandle own;
	volatile uint32_t *at;
	const char *found;

	/* faults would fill the text */
	ASSERT_EQ(0, write_in(BUFFER, "events/memcast/enable", "0"));
	ASSERT_EQ(0, write_in(BUFFER, "trace", "\n"));
	ASSERT_EQ(0, write_in(BUFFER, "events/workqueue/workqueue_queue_work/enable", "1"));
	for (int round = 0; round < 2; round++) {
		own = new_memory(0, bytes);
		at = mapped(own, bytes, 0);
		for (i = 0; i < bytes / 4; i += CHUNK / 4) {
			ASSERT_EQ(0, at[i]);
			at[i] = 1;
		}
		ASSERT_OK(cuMemUnmap(ADDRESS(at), bytes));
		ASSERT_OK(cuMemRelease(own));
	}
	ASSERT_EQ(0, write_in(BUFFER, "tracing_on", "0"));
	found = strstr(traced(self), " [memcast] ");
	EXPECT_EQ(NULL, found) TH_LOG("%.200s", found - 150);
}

TEST_HARNESS_MAIN
