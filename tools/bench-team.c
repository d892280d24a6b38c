// SPDX-License-Identifier: MIT
/*
 * All-reduce of processes on a team: real multicast mappings, one device for each
 * process, against MPI_Allreduce of as many processes on the same machine.
 */
#define _GNU_SOURCE
#include <unistd.h>
#include <memcast/group.h>

#include "bench.h"
#include "bench-data.h"
#include "bench-peers.h"
#include "ranks.h"
#include "team.h"

#define LARGEST		(16UL << 20)
#define FLAGS_BYTES	(1UL << 20)
#define ROUNDS		5
#define LESS		100		/* a hundredth of bench-mpi's iterations */

/* As many times as bench-mpi does it */
static const struct contest_size sizes[] = {
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

static double time_of(struct memcast_group *group, const struct contest_size *size)
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

static int rank_main(struct rank *rank, void *arg)
{
	struct contest_times *slowest = arg;
	struct memcast_group group;
	struct team team;
	unsigned int s;

	rank_pin(rank->index);
	team_join(&team, rank, LARGEST + FLAGS_BYTES);
	bench_data(team.own, LARGEST, rank->index);
	CU(memcastGroupInit(&group, &team.view, LARGEST, rank->index, rank->count));
	for (s = 0; s < SIZES; s++) {
		double all[RANKS_MAX], own = time_of(&group, &sizes[s]);
		unsigned int i;

		rank_gather(rank, &own, sizeof(own), all);
		for (i = 0; i < rank->count && !rank->index; i++)
			if (all[i] > slowest->seconds[ALL_REDUCE][s])
				slowest->seconds[ALL_REDUCE][s] = all[i];
	}
	return 0;
}

static void run_round(const struct contest *contest, struct contest_times *times)
{
	if (ranks_run(contest->ranks, rank_main, times))
		rank_die("a rank failed");
}

static void run(struct bench *bench)
{
	static const unsigned int counts[] = { 2, 4 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct contest contest = {
			.ranks = counts[i], .rounds = bench_quick(bench) ? 3 : ROUNDS,
			.sizes = sizes, .count = SIZES, .less = LESS, .run = run_round,
		};

		if (counts[i] <= cpus)
			contest_run(bench, &contest);
		else
			bench_skip(bench, "all-reduce f32",
				   "%u processes would share %ld processors", counts[i], cpus);
	}
}

const struct bench_suite bench_team = {
	.name = "team",
	.about = "all-reduce of processes on a team of devices, against Open MPI and MPICH",
	.obstacle = obstacle,
	.machine = "--cpus 4 --devices 4 --timeout 1500 " CONTEST_FILES,
	.run = run,
};
