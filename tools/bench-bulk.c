// SPDX-License-Identifier: MIT
/*
 * Bulk functions over ordinary memory, against what memcpy() takes for the same
 * and against what the memory can do: the same number of streams written, or
 * read, and nothing else done.
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <memcast/bulk.h>

#include "bench.h"
#include "ranks.h"
#include "team.h"

#define REPLICAS_MAX	8
#define THREADS_MAX	2
#define LARGEST		(64UL << 20)
#define PIECE		(8UL << 10)	/* what is made of replicas and used at once */
#define HUGE_BYTES	(2UL << 20)
#define LEAST_BYTES	(64UL << 20)	/* per measurement, of all replicas */

/* What one thread does: its share of a view and of a buffer */
struct part {
	struct memcast_view view;
	unsigned char *buffer;
	size_t bytes;
	size_t piece;
	unsigned int times;
};

struct job {
	void (*run)(struct part *part);
	struct part part[THREADS_MAX];
	unsigned int threads;
};

/* ---- what races */

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

/* As the STREAM benchmark's stores, past the caches: the widest there are */
__attribute__((target("avx512f")))
static void write_512(unsigned char *to, size_t bytes)
{
	const __m512i value = _mm512_set1_epi8(1);
	size_t at;

	for (at = 0; at < bytes; at += 64)
		_mm512_stream_si512((void *)(to + at), value);
}

static void write_128(unsigned char *to, size_t bytes)
{
	const __m128i value = _mm_set1_epi8(1);
	size_t at;

	for (at = 0; at < bytes; at += 16)
		_mm_stream_si128((void *)(to + at), value);
}

static void write_only(struct part *part)
{
	bool wide = __builtin_cpu_supports("avx512f");
	unsigned int i;

	for (i = 0; i < part->view.replicas; i++)
		(wide ? write_512 : write_128)(part->view.replica[i], part->bytes);
	_mm_sfence();
}

typedef long long words __attribute__((vector_size(64)));

/* Four lines at a time of each replica; what is read has to be used somehow. */
__attribute__((target_clones("avx512f", "avx2", "default")))
static long long read_lines(const struct memcast_view *view, size_t from, size_t to)
{
	words seen[4] = {};
	unsigned int i, k;
	size_t at;

	for (at = from; at < to; at += 256)
		for (i = 0; i < view->replicas; i++) {
			const words *line = (const void *)(view->replica[i] + at);

#pragma GCC unroll 4
			for (k = 0; k < 4; k++)
				seen[k] |= line[k];
		}
	seen[0] |= seen[1] | seen[2] | seen[3];
	return seen[0][0] | seen[0][1] | seen[0][2] | seen[0][3] | seen[0][4] | seen[0][5] |
	       seen[0][6] | seen[0][7];
}

static volatile long long used;

static void read_only(struct part *part)
{
	used = read_lines(&part->view, 0, part->bytes);
}

/* As much read, and what is made of it written past the caches */
__attribute__((target("avx512f")))
static void read_write_512(const struct part *part)
{
	size_t at;
	unsigned int i;

	for (at = 0; at < part->bytes; at += 64) {
		__m512i seen = _mm512_load_si512(part->view.replica[0] + at);

		for (i = 1; i < part->view.replicas; i++)
			seen = _mm512_or_si512(seen, _mm512_load_si512(part->view.replica[i] + at));
		_mm512_stream_si512((void *)(part->buffer + at), seen);
	}
}

static void read_write_128(const struct part *part)
{
	size_t at;
	unsigned int i;

	for (at = 0; at < part->bytes; at += 16) {
		__m128i seen = _mm_load_si128((void *)(part->view.replica[0] + at));

		for (i = 1; i < part->view.replicas; i++)
			seen = _mm_or_si128(seen, _mm_load_si128((void *)(part->view.replica[i] + at)));
		_mm_stream_si128((void *)(part->buffer + at), seen);
	}
}

static void read_write(struct part *part)
{
	(__builtin_cpu_supports("avx512f") ? read_write_512 : read_write_128)(part);
	_mm_sfence();
}

/*
 * In pieces of which each goes where the last one went, as one would use the result,
 * or all into a buffer as large as a replica.
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

/* ---- threads */

static struct {
	pthread_t thread;
	struct job *_Atomic job;	/* the second half of which is to be done */
} helper;

static void run_part(const struct job *job, unsigned int thread)
{
	struct part part = job->part[thread];

	while (part.times--)
		job->run(&part);
}

/* Waits busily: a thread that has to be woken is no second thread for 1 ms. */
static void *help(void *arg)
{
	struct job *job;

	(void)arg;
	for (;;) {
		while (!(job = helper.job))
			_mm_pause();
		if (!job->threads)
			return NULL;
		run_part(job, 1);
		helper.job = NULL;
	}
}

static void run_job(void *arg)
{
	struct job *job = arg;

	if (job->threads > 1)
		helper.job = job;
	run_part(job, 0);
	while (helper.job)
		_mm_pause();
}

static void helper_start(void)
{
	if (pthread_create(&helper.thread, NULL, help, NULL))
		rank_die("no second thread");
}

static void helper_stop(void)
{
	static struct job none;

	helper.job = &none;
	pthread_join(helper.thread, NULL);
	helper.job = NULL;
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

static struct job job_of(void (*run)(struct part *part), unsigned int replicas, size_t bytes,
			 unsigned int threads)
{
	struct job job = { .run = run, .threads = threads };
	size_t share = bytes / threads;
	unsigned int thread, i;

	for (thread = 0; thread < threads; thread++) {
		struct part *part = &job.part[thread];

		part->view.replicas = replicas;
		part->view.bytes = part->bytes = part->piece = share;
		for (i = 0; i < replicas; i++)
			part->view.replica[i] = memory.replica[i] + thread * share;
		part->buffer = buffer + thread * share;
		part->times = LEAST_BYTES / (replicas * bytes) ?: 1;
	}
	return job;
}

static void race(struct bench *bench, unsigned int replicas, size_t bytes, unsigned int threads,
		 struct bench_racer *racers, struct job *jobs, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		racers[i] = (struct bench_racer) { .run = run_job, .arg = &jobs[i] };
	bench_race(racers, count, bench_quick(bench) ? 5 : 15);
	/* into GB/s of all replicas */
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

static void run_broadcast(struct bench *bench, unsigned int replicas, size_t bytes,
			  unsigned int threads)
{
	struct job jobs[3] = {
		job_of(broadcast, replicas, bytes, threads),
		job_of(copy, replicas, bytes, threads),
		job_of(write_only, replicas, bytes, threads),
	};
	struct bench_racer racers[3];
	char text[64];
	struct bench_line line = {
		.measure = "broadcast", .parameters = text, .unit = "GB/s",
	};

	/* what passes the caches by would empty them for the others */
	race(bench, replicas, bytes, threads, racers, jobs, bytes < LARGEST ? 2 : 3);
	parameters(text, sizeof(text), replicas, bytes, threads);
	line.value = racers[0].seconds;
	line.against = "N x memcpy()";
	line.peer = racers[1].seconds;
	line.ratio = racers[1].lead;
	/* "never slower", but for what two runs of the same differ by */
	line.at_least = bytes >= LARGEST ? 1.8 : bytes < 1 << 20 ? 0.97 : 0;
	bench_add(bench, &line);
	if (bytes < LARGEST)
		return;
	line.against = "lines written past the caches, none read";
	line.peer = racers[2].seconds;
	line.ratio = racers[2].lead;
	line.at_least = 0.9;
	bench_add(bench, &line);
}

/* @pieces: against reading alone; otherwise against reading and writing */
static void run_reduce(struct bench *bench, unsigned int replicas, size_t bytes,
		       unsigned int threads, bool pieces)
{
	struct job jobs[4] = {
		job_of(pieces ? read_only : read_write, replicas, bytes, threads),
		job_of(reduce_f32, replicas, bytes, threads),
		job_of(reduce_bf16, replicas, bytes, threads),
		job_of(reduce_f16, replicas, bytes, threads),
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
			.peer = racers[0].seconds, .ratio = 1 / racers[i].lead,
			.at_least = i == 1 ? 0.9 : 0.8,
		};

		bench_add(bench, &line);
	}
}

static void run(struct bench *bench)
{
	static const size_t sizes[] = {
		64, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20, LARGEST,
	};
	static const unsigned int counts[] = { 2, 4, 8 };
	unsigned int threads, s, n;
	cpu_set_t cpus;

	for (n = 0; n < REPLICAS_MAX; n++)
		memory.replica[n] = allocate(LARGEST);
	buffer = allocate(LARGEST);
	sched_getaffinity(0, sizeof(cpus), &cpus);

	for (threads = 1; threads <= THREADS_MAX; threads++) {
		if (threads > (unsigned int)CPU_COUNT(&cpus)) {
			bench_skip(bench, "2 threads", "there is one CPU");
			break;
		}
		if (threads > 1)
			helper_start();
		/* halves of 64 bytes would share a line */
		for (s = threads - 1; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
				run_broadcast(bench, counts[n], sizes[s], threads);
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			run_reduce(bench, counts[n], LARGEST, threads, true);
		for (n = 0; n < sizeof(counts) / sizeof(counts[0]); n++)
			run_reduce(bench, counts[n], LARGEST, threads, false);
		if (threads > 1)
			helper_stop();
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
