// SPDX-License-Identifier: MIT
#include <time.h>
#include <x86intrin.h>
#include "vm/watch/counter.h"

#define TRIES	20

/* Reads the counter and the clock together: of TRIES pairs, the one that took least time to read */
static double counter_at(double *nanoseconds)
{
	unsigned long long least = ~0ULL, counter = 0;

	for (int i = 0; i < TRIES; i++) {
		unsigned long long before = __rdtsc(), after;
		struct timespec time;

		clock_gettime(CLOCK_MONOTONIC_RAW, &time);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		counter = before + least / 2;
		*nanoseconds = (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
	}
	return (double)counter;
}

double counter_rate(void)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	double start = 0, end = 0, first = counter_at(&start);

	nanosleep(&moment, NULL);
	return (counter_at(&end) - first) * 1e6 / (end - start);
}
