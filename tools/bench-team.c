// SPDX-License-Identifier: MIT
/*
 * All-reduce of processes on a team: real multicast mappings, one device for each
 * process, against MPI_Allreduce of as many processes on the same machine.
 */
#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <memcast/group.h>

#include "bench.h"
#include "bench-data.h"
#include "ranks.h"
#include "team.h"

#define LARGEST		(16UL << 20)
#define FLAGS_BYTES	(1UL << 20)
#define ROUNDS		3
#define LESS		100		/* a hundredth of bench-mpi's iterations */

/* As many times as bench-mpi does it */
static const struct size {
	size_t bytes;
	unsigned int times;
	double bar;
} sizes[] = {
	{ 8, 200, 1 }, { 64 << 10, 20, 1 }, { 1 << 20, 2, 3 }, { 4 << 20, 2, 3 },
	{ LARGEST, 1, 3 },
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

static const char *obstacle(void)
{
	if (access("/dev/memcast", R_OK | W_OK))
		return "no /dev/memcast that can be opened (insmod memcast.ko)";
	return NULL;
}

/* Seconds of the slowest rank, by size; shared by all ranks */
static double *slowest;

static double time_of(struct memcast_group *group, const struct size *size)
{
	size_t count = size->bytes / sizeof(float);
	unsigned int i;
	double start;

	CU(memcastAllReduce(group, 0, count, MEMCAST_F32, MEMCAST_ADD));
	CU(memcastBarrier(group));
	start = bench_now();
	for (i = 0; i < size->times; i++)
		CU(memcastAllReduce(group, 0, count, MEMCAST_F32, MEMCAST_ADD));
	return (bench_now() - start) / size->times;
}

/* A processor for each: who waits may spin. */
static void pin(unsigned int rank)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(rank, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int rank_main(struct rank *rank, void *arg)
{
	struct memcast_group group;
	struct team team;
	unsigned int s;

	(void)arg;
	pin(rank->index);
	team_join(&team, rank, LARGEST + FLAGS_BYTES);
	bench_data(team.own, LARGEST, rank->index);
	CU(memcastGroupInit(&group, &team.view, LARGEST, rank->index, rank->count));
	for (s = 0; s < SIZES; s++) {
		double all[RANKS_MAX], own = time_of(&group, &sizes[s]);
		unsigned int i;

		rank_gather(rank, &own, sizeof(own), all);
		for (i = 0, own = 0; i < rank->count && !rank->index; i++)
			if (all[i] > slowest[s])
				slowest[s] = all[i];
	}
	return 0;
}

/* NULL, or why there are no figures of MPI's */
static const char *run_mpi(unsigned int ranks, double *seconds)
{
	char own[PATH_MAX] = "", path[PATH_MAX + 32], command[PATH_MAX + 256], name[32];
	unsigned int found = 0, s;
	double each;
	size_t bytes;
	int length;
	FILE *pipe;

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		return "/proc/self/exe cannot be read";
	snprintf(path, sizeof(path), "%s/bench-mpi.mpich", dirname(own));
	if (access(path, X_OK))
		return "no bench-mpi.mpich beside this program: apt-get install mpich libmpich-dev; make tools";
	length = snprintf(command, sizeof(command), "timeout 300 mpiexec.hydra -bind-to core -n %u '%s' -%d",
			  ranks, path, LESS);
	for (s = 0; s < SIZES; s++)
		length += snprintf(command + length, sizeof(command) - (size_t)length, " %zu",
				   sizes[s].bytes);
	pipe = popen(command, "re");
	if (!pipe)
		return "popen failed";
	while (fscanf(pipe, "%31s %zu %lf", name, &bytes, &each) == 3)
		for (s = 0; s < SIZES; s++)
			if (bytes == sizes[s].bytes && !strcmp(name, "allreduce")) {
				seconds[s] = each;
				found++;
			}
	return pclose(pipe) || found != SIZES ? "mpiexec.hydra failed" : NULL;
}

static void report(struct bench *bench, unsigned int ranks, double (*ours)[ROUNDS],
		   double (*theirs)[ROUNDS], bool compared)
{
	double ratio[ROUNDS];
	unsigned int s, i;
	char text[64];

	for (s = 0; s < SIZES; s++) {
		struct bench_line line = {
			.measure = "all-reduce f32", .parameters = text, .unit = "us",
			.faster = true,
		};

		snprintf(text, sizeof(text), "%u processes, %s", ranks,
			 bench_bytes(sizes[s].bytes));
		for (i = 0; i < ROUNDS && compared; i++)
			ratio[i] = theirs[s][i] / ours[s][i];
		line.value = bench_median(ours[s], ROUNDS) * 1e6;
		if (compared) {
			line.against = "MPICH";
			line.peer = bench_median(theirs[s], ROUNDS) * 1e6;
			line.ratio = bench_median(ratio, ROUNDS);
			line.at_least = sizes[s].bar;
		}
		bench_add(bench, &line);
	}
}

static void run_ranks(struct bench *bench, unsigned int ranks)
{
	double ours[SIZES][ROUNDS], theirs[SIZES][ROUNDS], seconds[SIZES];
	const char *why = NULL;
	unsigned int round, s;

	for (round = 0; round < ROUNDS; round++) {
		memset(slowest, 0, SIZES * sizeof(*slowest));
		if (ranks_run(ranks, rank_main, NULL))
			rank_die("a rank failed");
		for (s = 0; s < SIZES; s++)
			ours[s][round] = slowest[s];
		if (!why)
			why = run_mpi(ranks, seconds);
		for (s = 0; s < SIZES && !why; s++)
			theirs[s][round] = seconds[s];
		bench_progress(bench, "%u processes, round %u of %u", ranks, round + 1,
			       ROUNDS);
	}
	if (why)
		bench_skip(bench, "MPICH", "%s", why);
	report(bench, ranks, ours, theirs, !why);
}

static void run(struct bench *bench)
{
	static const unsigned int counts[] = { 2, 4 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i;

	slowest = mmap(NULL, SIZES * sizeof(*slowest), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (slowest == MAP_FAILED)
		rank_die("no memory for times");
	for (i = 0; i < 2; i++) {
		if (counts[i] <= cpus)
			run_ranks(bench, counts[i]);
		else
			bench_skip(bench, "all-reduce f32",
				   "%u processes would share %ld processors", counts[i], cpus);
	}
	munmap(slowest, SIZES * sizeof(*slowest));
}

const struct bench_suite bench_team = {
	.name = "team",
	.about = "all-reduce of processes on a team of devices, against MPICH",
	.obstacle = obstacle,
	.machine = "--cpus 4 --devices 4 --timeout 900 --add @bench-mpi.mpich "
		   "--add /usr/bin/mpiexec.hydra --add /usr/bin/hydra_pmi_proxy",
	.run = run,
};
