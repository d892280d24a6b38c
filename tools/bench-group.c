// SPDX-License-Identifier: MIT
/*
 * Groups of processes on replicas in shared memory, without devices: all-reduce
 * and broadcast against MPI's, and what waiting costs where there are more ranks
 * than processors.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/group.h>

#include "bench.h"
#include "bench-data.h"
#include "ranks.h"
#include "team.h"

#define RANKS		2
#define LARGEST		(64UL << 20)
#define ROUNDS		7
#define FLAGS_BYTES	(1UL << 20)

static const struct size {
	size_t bytes;
	unsigned int times;
	double bar;	/* of an all-reduce, against the faster MPI */
} sizes[] = {
	{ 8, 20000, 1.2 }, { 1024, 20000, 0 }, { 8192, 5000, 0 }, { 64 << 10, 2000, 8 },
	{ 1 << 20, 200, 6 }, { 8 << 20, 20, 0 }, { LARGEST, 5, 3.5 },
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

enum call { ALL_REDUCE, BROADCAST_CALL, CALLS };

/* Whose times: ours first */
enum side { OURS, OPEN_MPI, MPICH, SIDES };

struct times {
	double seconds[CALLS][SIZES];
};

static const struct peer {
	const char *name, *program, *run, *packages;
} peers[SIDES] = {
	[OPEN_MPI] = {
		"Open MPI", "bench-mpi.openmpi",
		"OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 300 "
		"mpirun.openmpi --bind-to core -np 2", "openmpi-bin libopenmpi-dev",
	},
	[MPICH] = {
		"MPICH", "bench-mpi.mpich", "timeout 300 mpirun.mpich -bind-to core -np 2",
		"mpich libmpich-dev",
	},
};

/* ---- ranks of ours */

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

static void call(struct memcast_group *group, enum call which, size_t bytes, const void *buffer)
{
	if (which == ALL_REDUCE) {
		CU(memcastAllReduce(group, 0, bytes / 4, MEMCAST_F32, MEMCAST_ADD));
		return;
	}
	CU(memcastBarrier(group));
	if (group->rank == 0)
		CU(memcastBroadcast(group->view, 0, buffer, bytes));
	CU(memcastBarrier(group));
}

static void pin(unsigned int rank)
{
	cpu_set_t all, one;
	unsigned int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && !rank--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* The slowest rank's times, as those of MPI are */
static void rank_main(struct memcast_group *group, struct times *slowest)
{
	unsigned char *buffer = aligned_alloc(2UL << 20, LARGEST);
	enum call which;
	unsigned int s, i;

	if (!buffer)
		rank_die("no memory for a buffer");
	madvise(buffer, LARGEST, MADV_HUGEPAGE);
	memset(buffer, 0, LARGEST);
	for (s = 0; s < SIZES; s++)
		for (which = 0; which < CALLS; which++) {
			unsigned int times = sizes[s].times;
			double start, own;

			for (i = 0; i < times / 10 + 1; i++)
				call(group, which, sizes[s].bytes, buffer);
			CU(memcastBarrier(group));
			start = bench_now();
			for (i = 0; i < times; i++)
				call(group, which, sizes[s].bytes, buffer);
			own = (bench_now() - start) / times;
			if (group->rank == 0)
				slowest->seconds[which][s] = own;
			CU(memcastBarrier(group));
			if (group->rank && own > slowest->seconds[which][s])
				slowest->seconds[which][s] = own;
			CU(memcastBarrier(group));
		}
}

static void run_ours(const struct memcast_view *view, struct times *shared)
{
	unsigned int rank;
	int status;

	for (rank = 0; rank < view->replicas; rank++)
		memset(view->replica[rank] + LARGEST, 0, FLAGS_BYTES);
	fflush(NULL);
	for (rank = 0; rank < RANKS; rank++) {
		struct memcast_group group;

		if (fork())
			continue;
		pin(rank);
		CU(memcastGroupInit(&group, view, LARGEST, rank, RANKS));
		rank_main(&group, shared);
		_exit(0);
	}
	for (rank = 0; rank < RANKS; rank++)
		if (wait(&status) < 0 || status)
			rank_die("a rank failed");
}

/* ---- MPI's */

static void program_path(char *path, size_t size, const char *name)
{
	char own[PATH_MAX] = "";

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		rank_die("readlink /proc/self/exe");
	snprintf(path, size, "%s/%s", dirname(own), name);
}

/* False, and a line that says so, if it cannot be had */
static bool run_mpi(struct bench *bench, const struct peer *peer, struct times *times)
{
	char path[PATH_MAX + 64], command[PATH_MAX + 512], name[32];
	unsigned int found = 0, s;
	double seconds;
	size_t bytes;
	FILE *pipe;
	int length;

	program_path(path, sizeof(path), peer->program);
	if (access(path, X_OK)) {
		bench_skip(bench, peer->name,
			   "no %s beside this program: apt-get install %s; make tools",
			   peer->program, peer->packages);
		return false;
	}
	length = snprintf(command, sizeof(command), "%s '%s'", peer->run, path);
	for (s = 0; s < SIZES; s++)
		length += snprintf(command + length, sizeof(command) - (size_t)length, " %zu",
				   sizes[s].bytes);
	pipe = popen(command, "re");
	if (!pipe)
		rank_die("popen");
	while (fscanf(pipe, "%31s %zu %lf", name, &bytes, &seconds) == 3)
		for (s = 0; s < SIZES; s++)
			if (bytes == sizes[s].bytes) {
				times->seconds[strcmp(name, "allreduce") ? BROADCAST_CALL :
					       ALL_REDUCE][s] = seconds;
				found++;
			}
	if (pclose(pipe) || found != CALLS * SIZES) {
		bench_skip(bench, peer->name, "failed: %s", command);
		return false;
	}
	return true;
}

static void add_line(struct bench *bench, enum call which, unsigned int s,
		     const struct times (*rounds)[SIDES], unsigned int count, const bool *there)
{
	double ours[ROUNDS], faster[ROUNDS], ratio[ROUNDS], wins = 0;
	char text[64];
	struct bench_line line = {
		.measure = which == ALL_REDUCE ? "all-reduce f32" : "broadcast to ranks",
		.parameters = text, .unit = "us", .faster = true,
		.at_least = which == ALL_REDUCE ? sizes[s].bar : 0,
	};
	unsigned int i;

	for (i = 0; i < count; i++) {
		double open_mpi = rounds[i][OPEN_MPI].seconds[which][s];
		double mpich = rounds[i][MPICH].seconds[which][s];
		bool first = !there[MPICH] || (there[OPEN_MPI] && open_mpi < mpich);

		ours[i] = rounds[i][OURS].seconds[which][s];
		faster[i] = first ? open_mpi : mpich;
		ratio[i] = faster[i] / ours[i];
		wins += first;
	}
	snprintf(text, sizeof(text), "%d processes, %s", RANKS, bench_bytes(sizes[s].bytes));
	line.value = bench_median(ours, count) * 1e6;
	if (there[OPEN_MPI] || there[MPICH]) {
		line.against = peers[wins * 2 > count ? OPEN_MPI : MPICH].name;
		line.peer = bench_median(faster, count) * 1e6;
		line.ratio = bench_median(ratio, count);
	}
	bench_add(bench, &line);
}

static void run_against_mpi(struct bench *bench)
{
	unsigned int count = bench_quick(bench) ? 3 : ROUNDS, round, s;
	bool there[SIDES] = { true, true, true };
	static struct times rounds[ROUNDS][SIDES];
	struct memcast_view view;
	struct times *shared;
	enum side side;
	enum call which;

	make_view(&view, RANKS);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		rank_die("no memory for times");
	for (round = 0; round < count; round++) {
		run_ours(&view, shared);
		rounds[round][OURS] = *shared;
		for (side = OPEN_MPI; side < SIDES; side++)
			if (there[side])
				there[side] = run_mpi(bench, &peers[side], &rounds[round][side]);
		bench_progress(bench, "round %u of %u", round + 1, count);
	}
	for (which = 0; which < CALLS; which++)
		for (s = 0; s < SIZES; s++)
			add_line(bench, which, s, (const struct times (*)[SIDES])rounds, count, there);
	munmap(shared, sizeof(*shared));
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

/* The CPU time of @ranks that do @times all-reduces of @bytes together */
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

/* One rank alone does the work of all, and waits for nobody. */
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
		line.ratio = bench_median(ratio, 5);
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
	.about = "all-reduce and broadcast of processes in shared memory, against Open MPI and MPICH",
	.run = run,
};
