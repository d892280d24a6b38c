// SPDX-License-Identifier: MIT
#include <alloca.h>
#include <immintrin.h>
#include <pthread.h>
#include <time.h>

#include "bench/bench.h"
#include "jobs.h"
#include "shared/ranks.h"

#define PAGE		4096
#define STACK_PLACES	15	/* places on the stack, not a multiple of a cache line apart */

static struct {
	pthread_t thread;
	struct job *_Atomic job;	/* whose second part this thread is to run */
} helper;

/* The CPU time of the calling thread; wall time where there is no such clock */
static double own_seconds(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time))
		return bench_now();
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static __attribute__((__noinline__)) void run_part_here(struct job *job, unsigned int thread)
{
	struct part part = job->part[thread];
	double start;

	if (job->again)
		job->run(&part);
	start = own_seconds();
	while (part.times--)
		job->run(&part);
	job->seconds[thread] = own_seconds() - start;
}

/*
 * Runs at another place of the stack each time: a load waits for a store to the same offset in
 * another page, so that the time of short work depends on where the stack happens to be.
 */
static void run_part(struct job *job, unsigned int thread, unsigned int turn)
{
	volatile char *room = alloca(turn % STACK_PLACES * (PAGE / STACK_PLACES) + 1);

	*room = 0;
	run_part_here(job, thread);
}

/* The helper waits busily: to wake a sleeping thread can take 1 ms, as long as a job. */
static void *help(void *arg)
{
	struct job *job;

	(void)arg;
	for (;;) {
		while (!(job = helper.job))
			_mm_pause();
		if (!job->threads)
			return NULL;
		run_part(job, 1, job->turn);
		helper.job = NULL;
	}
}

double job_run(void *arg)
{
	struct job *job = arg;

	job->seconds[1] = 0;
	if (job->threads > 1)
		helper.job = job;
	run_part(job, 0, job->turn);
	while (helper.job)
		_mm_pause();
	job->turn++;
	return job->seconds[0] > job->seconds[1] ? job->seconds[0] : job->seconds[1];
}

void job_helper_start(void)
{
	if (pthread_create(&helper.thread, NULL, help, NULL))
		rank_die("no second thread");
}

void job_helper_stop(void)
{
	static struct job none;

	helper.job = &none;
	pthread_join(helper.thread, NULL);
	helper.job = NULL;
}
