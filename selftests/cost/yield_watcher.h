/* SPDX-License-Identifier: MIT */
/* A thread of high priority on the first processor, which records how long it waited to run there. */
#ifndef YIELD_WATCHER_H
#define YIELD_WATCHER_H

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include "memcast_test.h"

#define SECOND		1000000000L

struct watcher {
	pthread_t thread;
	_Atomic bool stop;
	bool exact;
	_Atomic uint64_t longest;	/* the longest wait since this was set to 0, nanoseconds */
};

/* Nanoseconds that the calling thread has spent waiting for a processor */
TEST_HELPER uint64_t waited_so_far(int schedstat)
{
	char text[64] = "";
	uint64_t waited = 0;

	if (pread(schedstat, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%*u %lu", &waited);
	return waited;
}

TEST_HELPER int64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

/*
 * Return: how long the watcher waited after one wake-up, in nanoseconds. The scheduler's account
 * begins with the wake-up, an interrupt. A host that stops the emulator delays that interrupt, so
 * most of such a delay is not in the account. The clock has all of it, and is right only where
 * nothing stops the emulator.
 */
TEST_HELPER uint64_t one_wait(const struct watcher *watcher, int schedstat)
{
	uint64_t before = waited_so_far(schedstat);
	int64_t until = clock_now() + SECOND / 1000;
	struct timespec time = { until / SECOND, until % SECOND };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	if (watcher->exact)
		return clock_now() - until;
	return waited_so_far(schedstat) - before;
}

TEST_HELPER void *watch(void *argument)
{
	struct watcher *watcher = argument;
	int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	while (!watcher->stop) {
		uint64_t wait = one_wait(watcher, schedstat);

		if (wait > watcher->longest)
			watcher->longest = wait;
	}
	close(schedstat);
	return NULL;
}

TEST_HELPER void start_watching(struct __test_metadata *_metadata, struct watcher *watcher)
{
	struct sched_param priority = { .sched_priority = 50 };
	pthread_attr_t attributes;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	watcher->exact = getenv("MEMCAST_TEST_EXACT");
	ASSERT_EQ(0, pthread_attr_init(&attributes));
	ASSERT_EQ(0, pthread_attr_setaffinity_np(&attributes, sizeof(first), &first));
	ASSERT_EQ(0, pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED));
	ASSERT_EQ(0, pthread_attr_setschedpolicy(&attributes, SCHED_FIFO));
	ASSERT_EQ(0, pthread_attr_setschedparam(&attributes, &priority));
	ASSERT_EQ(0, pthread_create(&watcher->thread, &attributes, watch, watcher));
}

#endif /* YIELD_WATCHER_H */
