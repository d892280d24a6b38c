// SPDX-License-Identifier: MIT
/*
 * Bulk functions over ordinary memory, compared with memcpy()s that do the same and
 * with the limit of the memory: the same number of streams written or read, and
 * nothing else done.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <memcast/bulk.h>

#include "bench/bench.h"
#include "jobs.h"
#include "shared/ranks.h"
#include "shared/team.h"

#define REPLICAS_MAX	12
#define LARGE_MAX	8	/* replicas of LARGEST bytes; the others have HUGE_BYTES */
#define LARGEST		(64UL << 20)
#define PIECE		(8UL << 10)	/* bytes of a reduced result that are used at once */
#define HUGE_BYTES	(2UL << 20)
#define RUN_BYTES	(16UL << 20)	/* at least so many bytes of all replicas in a run */
#define FIRST_CALLS	20		/* in these the bulk functions find the fastest way */

#define NEVER_SLOWER	0.97	/* two runs of the same function differ by the rest */

/* ---- the racers */

static void broadcast(struct part *part)
{
	CU(memcastBroadcast(&part->view, 0, part->buffer, part->bytes));
}

static void copy(struct part *part)
{
	unsigned int i;

	for (i = 0; i < part->view.replicas; i++)
		memcpy(part->view.replica[i], part->buffer, part->bytes);
}

/*
 * Reduces in pieces that all go to the same place, as a program does that uses each piece
 * at once, or into a buffer as large as a replica.
 */
static void reduce(struct part *part, enum memcast_element type, size_t width)
{
	size_t at;

	for (at = 0; at < part->bytes; at += part->piece)
		CU(memcastReduceLoad(&part->view, at, part->buffer, part->piece / width, type,
				     MEMCAST_ADD));
}

static void reduce_f32(struct part *part)
{
	reduce(part, MEMCAST_F32, 4);
}

static void reduce_bf16(struct part *part)
{
	reduce(part, MEMCAST_BF16, 2);
}

static void reduce_f16(struct part *part)
{
	reduce(part, MEMCAST_F16, 2);
}

/* ---- results */

static struct memcast_view memory;
static unsigned char *buffer;

static unsigned char *allocate(size_t bytes)
{
	unsigned char *at = aligned_alloc(HUGE_BYTES, bytes);

	if (!at)
		rank_die("no memory for %zu bytes", bytes);
	madvise(at, bytes, MADV_HUGEPAGE);
	memset(at, 1, bytes);
	return at;
}

/* @skew: how many bytes further into its cache line each replica begins than the one before */
static struct job job_of(void (*run)(struct part *part), unsigned int replicas, size_t bytes,
			 unsigned int threads, size_t skew)
{
	struct job job = { .run = run, .threads = threads };
	size_t share = bytes / threads;
	unsigned int thread, i;

	for (thread = 0; thread < threads; thread++) {
		struct part *part = &job.part[thread];

		part->view.replicas = replicas;
		part->view.bytes = part->bytes = part->piece = share;
		for (i = 0; i < replicas; i++)
			part->view.replica[i] = memory.replica[i] + thread * share + i * skew;
		part->buffer = buffer + thread * share;
		part->times = RUN_BYTES / (replicas * bytes) ?: 1;
	}
	job.again = job.part[0].times < FIRST_CALLS && bytes < LARGEST;
	return job;
}

static void race(struct bench *bench, unsigned int replicas, size_t bytes, unsigned int threads,
		 struct bench_racer *racers, struct job *jobs, unsigned int count)
{
	unsigned int i, k;

	for (i = 0; i < count; i++)
		racers[i] = (struct bench_racer) { .run = job_run, .arg = &jobs[i] };
	for (i = 0; i < count; i++)
		for (k = 0; k < FIRST_CALLS; k += jobs[i].part[0].times)
			job_run(&jobs[i]);
	bench_race(racers, count, bench_quick(bench) ? 5 : 15);
	/* From here on @seconds is the speed in GB/s, over all replicas. */
	for (i = 0; i < count; i++)
		racers[i].seconds = (double)replicas * (double)bytes * jobs[i].part[0].times *
				    1e-9 / racers[i].seconds;
	bench_progress(bench, "%u replicas, %s, %u threads", replicas, bench_bytes(bytes),
		       threads);
}

static void parameters(char *text, size_t size, unsigned int replicas, size_t bytes,
		       unsigned int threads)
{
	snprintf(text, size, "N=%u, %s, %u thread%s", replicas, bench_bytes(bytes), threads,
		 threads > 1 ? "s" : "");
}

/* Gives a line @other as its peer, with the ratio of the first racer to it. */
static void against(struct bench_line *line, const char *what, const struct bench_racer *other)
{
	line->against = what;
	line->peer = other->seconds;
	line->ratio = other->lead.value;
	line->low = other->lead.low;
	line->high = other->lead.high;
}

/*
 * The bar of a broadcast, in multiples of the speed of N memcpy()s: nearly 2 in memory, as a
 * broadcast reads the source once, not N times. But the bar is at most nine tenths of the
 * limit, and never below N memcpy()s.
 */
static double times_memcpy(double memcpy_speed, double limit)
{
	double possible = 0.9 * limit / memcpy_speed;

	return possible > 1.8 ? 1.8 : possible < NEVER_SLOWER ? NEVER_SLOWER : possible;
}

static void run_broadcast(struct bench *bench, unsigned int replicas, size_t bytes,
			  unsigned int threads, size_t skew)
{
	struct job jobs[4] = {
		job_of(broadcast, replicas, bytes, threads, skew),
		job_of(copy, replicas, bytes, threads, skew),
		job_of(limit_write, replicas, bytes, threads, skew),
		job_of(limit_read_write_all, replicas, bytes, threads, skew),
	};
	struct bench_racer racers[4];
	char text[64];
	struct bench_line line = {
		.measure = "broadcast", .parameters = text, .unit = "GB/s",
		.at_least = NEVER_SLOWER,
	};

	/* limits that write past the caches would empty these for the other racers */
	race(bench, replicas, bytes, threads, racers, jobs, bytes < LARGEST ? 2 : 4);
	parameters(text, sizeof(text), replicas, bytes, threads);
	if (skew)
		strcat(text, ", skewed");
	line.value = racers[0].seconds;
	if (bytes == LARGEST)
		line.at_least = times_memcpy(racers[1].seconds, racers[3].seconds);
	against(&line, "N x memcpy()", &racers[1]);
	bench_add(bench, &line);
	if (bytes < LARGEST)
		return;
	line.at_least = 0;
	against(&line, "lines written past the caches, none read", &racers[2]);
	bench_add(bench, &line);
	line.at_least = 0.9;
	against(&line, "a line read for each N written past the caches", &racers[3]);
	bench_add(bench, &line);
}

/* @pieces: the limit is that of reading alone, otherwise that of reading and writing */
static void run_reduce(struct bench *bench, unsigned int replicas, size_t bytes,
		       unsigned int threads, bool pieces)
{
	struct job jobs[4] = {
		job_of(pieces ? limit_read : limit_read_all_write, replicas, bytes, threads,
		       0),
		job_of(reduce_f32, replicas, bytes, threads, 0),
		job_of(reduce_bf16, replicas, bytes, threads, 0),
		job_of(reduce_f16, replicas, bytes, threads, 0),
	};
	static const char *const name[] = {
		NULL, "ld_reduce.add.f32", "ld_reduce.add.acc::f32.bf16",
		"ld_reduce.add.acc::f32.f16",
	};
	struct bench_racer racers[4];
	unsigned int i, thread;
	char text[64];

	for (i = 1; i < 4; i++)
		for (thread = 0; thread < threads && pieces; thread++)
			jobs[i].part[thread].piece = PIECE;
	race(bench, replicas, bytes, threads, racers, jobs, 4);
	parameters(text, sizeof(text), replicas, bytes, threads);
	strcat(text, pieces ? ", by 8 KiB" : ", whole");
	for (i = 1; i < 4; i++) {
		struct bench_line line = {
			.measure = name[i], .parameters = text, .unit = "GB/s",
			.value = racers[i].seconds,
			.against = pieces ? "N streams read, no sums" :
				   "N streams read, one written past the caches, no sums",
			.peer = racers[0].seconds, .ratio = 1 / racers[i].lead.value,
			.low = 1 / racers[i].lead.high, .high = 1 / racers[i].lead.low,
			.at_least = i == 1 ? 0.9 : 0.8,
		};

		bench_add(bench, &line);
	}
}

/* Replicas with different alignment, and more of them than the library has special loops for */
static void run_odd_broadcasts(struct bench *bench)
{
	static const size_t sizes[] = { 300, 1500 };
	unsigned int s, n;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (n = 2; n <= 8; n *= 2)
			run_broadcast(bench, n, sizes[s], 1, 7);
		run_broadcast(bench, REPLICAS_MAX, sizes[s], 1, 0);
	}
}

static void run(struct bench *bench)
{
	static const size_t sizes[] = {
		64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20,
		4 << 20, 16 << 20, LARGEST,
	};
	static const unsigned int counts[] = { 2, 4, 8 };
	unsigned int threads, s, n;
	cpu_set_t cpus;

	for (n = 0; n < REPLICAS_MAX; n++)
		memory.replica[n] = allocate(n < LARGE_MAX ? LARGEST : HUGE_BYTES);
	buffer = allocate(LARGEST);
	sched_getaffinity(0, sizeof(cpus), &cpus);

	run_odd_broadcasts(bench);
	for (threads = 1; threads <= JOB_THREADS; threads++) {
		if (threads > (unsigned int)CPU_COUNT(&cpus)) {
			bench_skip(bench, "2 threads", "there is one CPU");
			break;
		}
		if (threads > 1)
			job_helper_start();
		/* Two threads skip the smallest size: halves of 64 bytes would share a line. */
		for (s = threads - 1; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
				run_broadcast(bench, counts[n], sizes[s], threads, 0);
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			run_reduce(bench, counts[n], LARGEST, threads, true);
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			run_reduce(bench, counts[n], LARGEST, threads, false);
		if (threads > 1)
			job_helper_stop();
	}
	for (n = 0; n < REPLICAS_MAX; n++)
		free(memory.replica[n]);
	free(buffer);
}

const struct bench_suite bench_bulk = {
	.name = "bulk",
	.about = "broadcasts and reductions of arrays, against memcpy() and the memory's limits",
	.run = run,
};
