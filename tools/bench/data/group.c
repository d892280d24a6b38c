// SPDX-License-Identifier: MIT
/*
 * Suite "group": processes on replicas in shared memory, without devices: all-reduce
 * and broadcast against MPI's, and the cost of waiting where there are more ranks
 * than processors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/group.h>

#include "bench/bench.h"
#include "data.h"
#include "peers.h"
#include "shared/ranks.h"
#include "shared/team.h"

#define RANKS		2
#define LARGEST		(64UL << 20)
#define ROUNDS		7
#define FLAGS_BYTES	(1UL << 20)

static const struct contest_size sizes[] = {
	{ 8, 20000, 1.2 }, { 1024, 20000, 0 }, { 8192, 5000, 0 }, { 64 << 10, 2000, 8 },
	{ 1 << 20, 200, 6 }, { 8 << 20, 20, 0 }, { LARGEST, 5, 3.5 },
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

static void make_view(struct memcast_view *view, unsigned int replicas)
{
	unsigned int i;

	view->replicas = replicas;
	view->bytes = LARGEST + FLAGS_BYTES;
	for (i = 0; i < replicas; i++) {
		view->replica[i] = mmap(NULL, view->bytes, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (view->replica[i] == MAP_FAILED)
			rank_die("no memory for %zu bytes", view->bytes);
		madvise(view->replica[i], LARGEST, MADV_HUGEPAGE);
		memset(view->replica[i], 0, LARGEST);
	}
}

static void destroy_view(struct memcast_view *view)
{
	unsigned int i;

	for (i = 0; i < view->replicas; i++)
		munmap(view->replica[i], view->bytes);
}

static void call(struct memcast_group *group, enum contest_call which, size_t bytes)
{
	if (which == ALL_REDUCE) {
		CU(memcastAllReduce(group, 0, bytes / 4, MEMCAST_F32, MEMCAST_ADD));
		return;
	}
	CU(memcastGroupBroadcast(group, 0, 0, bytes));
}

/* A rank's part of the contest. @slowest: times of the slowest rank, as bench-mpi prints them */
static void rank_main(struct memcast_group *group, struct contest_times *slowest)
{
	enum contest_call which;
	unsigned int s, i;

	for (s = 0; s < SIZES; s++)
		for (which = 0; which < MPI_CALLS; which++) {
			unsigned int times = sizes[s].times;
			double start, own;

			bench_data(group->view->replica[group->rank], sizes[s].bytes, group->rank);
			CU(memcastBarrier(group));
			for (i = 0; i < times / 10 + 1; i++)
				call(group, which, sizes[s].bytes);
			CU(memcastBarrier(group));
			start = bench_now();
			for (i = 0; i < times; i++)
				call(group, which, sizes[s].bytes);
			own = (bench_now() - start) / times;
			if (group->rank == 0)
				slowest->seconds[which][s] = own;
			CU(memcastBarrier(group));
			if (group->rank && own > slowest->seconds[which][s])
				slowest->seconds[which][s] = own;
			CU(memcastBarrier(group));
		}
}

static void run_round(const struct contest *contest, struct contest_times *times)
{
	const struct memcast_view *view = contest->arg;
	unsigned int rank;
	int status;

	for (rank = 0; rank < view->replicas; rank++)
		memset(view->replica[rank] + LARGEST, 0, FLAGS_BYTES);
	fflush(NULL);
	for (rank = 0; rank < RANKS; rank++) {
		struct memcast_group group;

		if (fork())
			continue;
		rank_pin(rank);
		CU(memcastGroupInit(&group, view, LARGEST, rank, RANKS));
		rank_main(&group, times);
		_exit(0);
	}
	for (rank = 0; rank < RANKS; rank++)
		if (wait(&status) < 0 || status)
			rank_die("a rank failed");
}

static void run_against_mpi(struct bench *bench)
{
	struct memcast_view view;
	struct contest contest = {
		.ranks = RANKS, .rounds = bench_quick(bench) ? 3 : ROUNDS,
		.sizes = sizes, .count = SIZES, .shared = true, .less = 1,
		.run = run_round, .arg = &view,
	};

	make_view(&view, RANKS);
	contest_run(bench, &contest);
	destroy_view(&view);
}

/* ---- more ranks than processors */

/* CPU seconds of all children so far */
static double cpu_of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Measures the CPU time of @ranks processes that make @times all-reduces of @bytes. */
static double cpu_of_ranks(const struct memcast_view *view, unsigned int ranks, size_t bytes,
			   unsigned int times)
{
	double before = cpu_of_children();
	unsigned int rank;
	int status;

	for (rank = 0; rank < view->replicas; rank++)
		memset(view->replica[rank] + LARGEST, 0, FLAGS_BYTES);
	fflush(NULL);
	for (rank = 0; rank < ranks; rank++) {
		struct memcast_group group;

		if (fork())
			continue;
		CU(memcastGroupInit(&group, view, LARGEST, rank, ranks));
		while (times--)
			CU(memcastAllReduce(&group, 0, bytes / 4, MEMCAST_F32, MEMCAST_ADD));
		_exit(0);
	}
	for (rank = 0; rank < ranks; rank++)
		if (wait(&status) < 0 || status)
			rank_die("a rank failed");
	return cpu_of_children() - before;
}

/* Compares many ranks with one rank that does the work of all alone, and never waits. */
static void run_crowded(struct bench *bench)
{
	static const struct { size_t bytes; unsigned int times; } work[] = {
		{ 1 << 20, 1000 }, { 16 << 20, 40 },
	};
	unsigned int ranks = 2 * (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), i, round;
	struct memcast_view view;

	if (ranks > 16) {
		bench_skip(bench, "more ranks than processors", "too many processors: %u",
			   ranks / 2);
		return;
	}
	make_view(&view, ranks);
	for (i = 0; i < sizeof(work) / sizeof(work[0]); i++) {
		double alone[5], together[5], ratio[5];
		struct bench_median median;
		char text[64];
		struct bench_line line = {
			.measure = "CPU time of an all-reduce", .parameters = text, .unit = "us",
			.against = "one rank that does the work of all", .at_most = 2,
		};

		for (round = 0; round < 5; round++) {
			together[round] = cpu_of_ranks(&view, ranks, work[i].bytes, work[i].times);
			alone[round] = cpu_of_ranks(&view, 1, work[i].bytes, work[i].times);
			ratio[round] = together[round] / alone[round];
		}
		snprintf(text, sizeof(text), "%u processes on %u CPUs, %s", ranks, ranks / 2,
			 bench_bytes(work[i].bytes));
		line.value = bench_median(together, 5) * 1e6 / work[i].times;
		line.peer = bench_median(alone, 5) * 1e6 / work[i].times;
		median = bench_median_of(ratio, 5);
		line.ratio = median.value;
		line.low = median.low;
		line.high = median.high;
		bench_add(bench, &line);
		bench_progress(bench, "more ranks than processors");
	}
	destroy_view(&view);
}

static void run(struct bench *bench)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < RANKS)
		bench_skip(bench, "all-reduce f32", "there is one CPU");
	else
		run_against_mpi(bench);
	run_crowded(bench);
}

const struct bench_suite bench_group = {
	.name = "group",
	.about = "all-reduce and broadcast of processes in shared memory, against Open MPI and "
		 "MPICH",
	.run = run,
};
