// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <time.h>

#include "bench.h"
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
