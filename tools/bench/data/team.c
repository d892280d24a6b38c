// SPDX-License-Identifier: MIT
/*
 * All-reduce of processes on a team: real multicast mappings, one device for each
 * process, against MPI_Allreduce of as many processes on the same machine.
 */
#include <unistd.h>
#include <memcast/group.h>

#include "bench/bench.h"
#include "data.h"
#include "peers.h"
#include "shared/ranks.h"
#include "shared/team.h"

#define LARGEST		(16UL << 20)
#define FLAGS_BYTES	(1UL << 20)
#define ROUNDS		5
#define LESS		100		/* a hundredth of bench-mpi's iterations */

/* With as many calls as bench-mpi makes */
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

typedef float vector __attribute__((vector_size(32)));

/*
 * The least work of any all-reduce: each rank loads its part of each replica, adds them up,
 * and stores the sum to each replica. In an emulated machine this is the limit.
 */
__attribute__((target_clones("avx2", "default")))
static void least(const struct memcast_group *group, size_t bytes)
{
	const struct memcast_view *view = group->view;
	size_t part = bytes / group->ranks, at;
	vector *replica[RANKS_MAX];
	unsigned int i, k;

	for (i = 0; i < view->replicas; i++)
		replica[i] = (void *)(view->replica[i] + part * group->rank);
	for (at = 0; at < part / sizeof(vector); at += 4) {
		vector sum[4];

#pragma GCC unroll 4
		for (k = 0; k < 4; k++)
			sum[k] = replica[0][at + k];
		for (i = 1; i < view->replicas; i++)
#pragma GCC unroll 4
			for (k = 0; k < 4; k++)
				sum[k] += replica[i][at + k];
		for (i = 0; i < view->replicas; i++)
#pragma GCC unroll 4
			for (k = 0; k < 4; k++)
				replica[i][at + k] = sum[k];
	}
}

static void call(struct memcast_group *group, enum contest_call which, size_t bytes)
{
	if (which == LEAST)
		least(group, bytes);
	else
		CU(memcastAllReduce(group, 0, bytes / 4, MEMCAST_F32, MEMCAST_ADD));
}

static double time_of(struct memcast_group *group, enum contest_call which,
		      const struct contest_size *size)
{
	unsigned int i;
	double start;

	call(group, which, size->bytes);
	CU(memcastBarrier(group));
	start = bench_now();
	for (i = 0; i < size->times; i++)
		call(group, which, size->bytes);
	return (bench_now() - start) / size->times;
}

/* Times a call on all ranks; the slowest rank's time counts. */
static void time_all(struct rank *rank, struct memcast_group *group, enum contest_call which,
		     unsigned int s, struct contest_times *slowest)
{
	double all[RANKS_MAX], own = time_of(group, which, &sizes[s]);
	unsigned int i;

	rank_gather(rank, &own, sizeof(own), all);
	for (i = 0; i < rank->count && !rank->index; i++)
		if (all[i] > slowest->seconds[which][s])
			slowest->seconds[which][s] = all[i];
}

static int rank_main(struct rank *rank, void *arg)
{
	struct contest_times *slowest = arg;
	struct memcast_group group;
	struct team team;
	unsigned int s;

	rank_pin(rank->index);
	team_join(&team, rank, &(struct team_sizes) { .bytes = LARGEST + FLAGS_BYTES });
	bench_data(team.own, LARGEST, rank->index);
	CU(memcastGroupInit(&group, &team.view, LARGEST, rank->index, rank->count));
	for (s = 0; s < SIZES; s++) {
		time_all(rank, &group, ALL_REDUCE, s, slowest);
		if (sizes[s].bytes >= 1 << 20)
			time_all(rank, &group, LEAST, s, slowest);
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
	.machine = "--cpus 4 --devices 4 --pool-mib 64 --timeout 1500 " CONTEST_FILES,
	.run = run,
};
