// SPDX-License-Identifier: MIT
/*
 * Records of what this process does, for memcast-smi. The memory has no file descriptor, which a
 * program could close. A reader may see a half of a new text: nothing waits for it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"

#define BYTES	(ACTIVITY_DONE_AT + sizeof(uint64_t))

_Static_assert(sizeof(struct activity) == 1024, "memcast-smi reads records of this size");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct activity *records;	/* NULL: none could be made */
static atomic_bool taken[ACTIVITY_RECORDS];

/* A child of fork() does not have the memory, and no thread that ends what has begun. */
static void forget(void)
{
	records = NULL;
}

static void make(void)
{
	struct rlimit most;
	void *memory;
	int fd;

	/* ulimit -f: a larger file is a signal */
	if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < BYTES)
		return;
	fd = memfd_create(ACTIVITY_MEMORY, MFD_CLOEXEC);
	if (fd < 0)
		return;
	memory = ftruncate(fd, BYTES) ? MAP_FAILED :
		 mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (memory == MAP_FAILED)
		return;
	if (madvise(memory, BYTES, MADV_DONTFORK) || pthread_atfork(NULL, NULL, forget)) {
		munmap(memory, BYTES);
		return;
	}
	records = memory;
}

uint64_t activity_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000UL + time.tv_nsec;
}

/* The text ends before it is written: a reader never runs over its end. */
static void write_text(char *to, size_t size, const char *text)
{
	size_t length = strnlen(text, size - 1);

	to[0] = '\0';
	memcpy(to + 1, text + 1, length ? length - 1 : 0);
	to[length] = '\0';
	to[0] = text[0];
}

struct activity *activity_begin(uint64_t begun, const char *what, const char *name)
{
	static _Thread_local unsigned int last;

	pthread_once(&once, make);
	for (unsigned int i = 0; records && i < ACTIVITY_RECORDS; i++) {
		unsigned int number = (last + i) % ACTIVITY_RECORDS;
		struct activity *activity = &records[number];
		size_t length = strlen(what);

		if (atomic_exchange(&taken[number], true))
			continue;
		last = number;
		activity->where[0] = '\0';
		memcpy(activity->what, what, length);
		write_text(activity->what + length, sizeof(activity->what) - length, name);
		__atomic_store_n(&activity->begun, begun, __ATOMIC_RELEASE);
		return activity;
	}
	return NULL;
}

void activity_where(struct activity *activity, const char *text)
{
	if (activity && records)
		write_text(activity->where, sizeof(activity->where), text);
}

void activity_end(struct activity *activity)
{
	if (!activity || !records)
		return;
	__atomic_store_n(&activity->begun, 0, __ATOMIC_RELEASE);
	taken[activity - records] = false;
}

void activity_done(void)
{
	pthread_once(&once, make);
	if (records)
		__atomic_fetch_add((uint64_t *)(records + ACTIVITY_RECORDS), 1, __ATOMIC_RELAXED);
}
