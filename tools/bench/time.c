// SPDX-License-Identifier: MIT
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "count.h"
#include "shared/ranks.h"

/* A race gets up to MORE_ROUNDS times @least rounds, but stops adding some after LONG_SECONDS. */
#define MORE_ROUNDS		8
#define LONG_SECONDS		3
#define NARROW			0.01	/* no more rounds for intervals of this part of a lead */

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

struct bench_median bench_median_of(double *values, unsigned int count)
{
	double median = bench_median(values, count);	/* sorts them */
	/* In 19 samples of 20 the true median is between the values @off from both ends. */
	unsigned int off = (unsigned int)fmax(0, floor((count - 1.96 * sqrt(count)) / 2));

	return (struct bench_median) { median, values[off], values[count - 1 - off] };
}

/* How often the scheduler has taken a CPU from a thread of this process */
static long interruptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

struct rounds {
	unsigned int count, clean;	/* uninterrupted rounds, which come first in @seconds */
	double *seconds;		/* of each racer, round by round */
};

static void run_round(struct bench_racer *racers, unsigned int count, struct rounds *rounds)
{
	double *last = rounds->seconds + (size_t)rounds->count++ * count;
	double *first = rounds->seconds + (size_t)rounds->clean * count, swap;
	long before = interruptions();
	unsigned int i;

	for (i = 0; i < count; i++)
		last[i] = racers[i].run(racers[i].arg);
	if (interruptions() != before)
		return;
	for (i = 0; i < count; i++) {
		swap = first[i];
		first[i] = last[i];
		last[i] = swap;
	}
	rounds->clean++;
}

/*
 * Sets the racers' medians over the first @count rounds. Return: the width of the widest interval,
 * as a fraction of its lead
 */
static double evaluate(struct bench_racer *racers, unsigned int racers_count,
		       const struct rounds *rounds, unsigned int count)
{
	double leads[count], seconds[count], widest = 0;
	unsigned int round, i;

	for (i = 0; i < racers_count; i++) {
		for (round = 0; round < count; round++) {
			const double *all = rounds->seconds + (size_t)round * racers_count;

			leads[round] = all[i] / all[0];
			seconds[round] = all[i];
		}
		racers[i].lead = bench_median_of(leads, count);
		racers[i].seconds = bench_median(seconds, count);
		widest = fmax(widest, (racers[i].lead.high - racers[i].lead.low) /
				      racers[i].lead.value);
	}
	return widest;
}

void bench_race(struct bench_racer *racers, unsigned int count, unsigned int least)
{
	unsigned int most = least * MORE_ROUNDS, counted, i;
	struct rounds rounds = { .seconds = calloc((size_t)most * count, sizeof(double)) };
	double start = bench_now();
	bool last;

	if (!rounds.seconds)
		rank_die("no memory for %u rounds", most);
	for (i = 0; i < count; i++)
		racers[i].run(racers[i].arg);
	do {
		run_round(racers, count, &rounds);
		last = rounds.count == most ||
		       (rounds.count >= least && bench_now() - start > LONG_SECONDS);
		counted = rounds.clean;
		if (last && rounds.clean < least)
			counted = rounds.count;	/* too few uninterrupted ones: all count */
	} while (!last && (counted < least || evaluate(racers, count, &rounds, counted) > NARROW));
	evaluate(racers, count, &rounds, counted);
	free(rounds.seconds);
}

bool bench_counts_instructions(void)
{
	uint64_t ticks, least = UINT64_MAX;
	unsigned int tries, turns;

	/* Take the fewest ticks of some tries, as an interrupt may add to a try. */
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

	/* Without root this fails, and a kernel thread may be counted with a call. */
	sched_setscheduler(0, SCHED_FIFO, &first);
}
