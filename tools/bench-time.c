// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "bench-control.h"
#include "ranks.h"

double bench_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double bench_median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] :
	       (values[count / 2 - 1] + values[count / 2]) / 2;
}

void bench_race(struct bench_racer *racers, unsigned int count,
		unsigned int rounds)
{
	double *seconds = calloc((size_t)count * rounds, sizeof(*seconds));
	double *leads = calloc(rounds, sizeof(*leads));
	unsigned int round, i;

	if (!seconds || !leads)
		rank_die("no memory for %u rounds", rounds);
	for (i = 0; i < count; i++)
		racers[i].run(racers[i].arg);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < count; i++) {
			double start = bench_now();

			racers[i].run(racers[i].arg);
			seconds[i * rounds + round] = bench_now() - start;
		}
	/* the first's times last: all are compared with them, unsorted */
	for (i = count; i--;) {
		for (round = 0; round < rounds; round++)
			leads[round] = seconds[i * rounds + round] / seconds[round];
		racers[i].lead = bench_median(leads, rounds);
		racers[i].seconds = bench_median(seconds + i * rounds, rounds);
	}
	free(leads);
	free(seconds);
}

bool bench_counts_instructions(void)
{
	uint64_t ticks, least = UINT64_MAX;
	unsigned int tries, turns;

	/* the least of some: an interrupt may come in between */
	for (tries = 0; tries < 5; tries++) {
		turns = 100000;
		ticks = bench_ticks();
		asm volatile("1: dec %0; jnz 1b" : "+r" (turns) : : "cc");
		ticks = bench_ticks() - ticks;
		if (ticks < least)
			least = ticks;
	}
	return least >= 200000 && least < 200100;
}

void bench_count_alone(struct bench *bench)
{
	struct sched_param first = { .sched_priority = 1 };

	free(bench->counted_on);
	bench->counted_on = bench_counting_machine();

	/* Not as root: then a kernel thread may be counted with a call. */
	sched_setscheduler(0, SCHED_FIFO, &first);
}
