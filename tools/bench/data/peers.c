// SPDX-License-Identifier: MIT
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bench.h"
#include "peers.h"
#include "shared/ranks.h"

#define PATIENCE	300	/* seconds for one round of an MPI */

/* The sides of a contest: memcast first, then its peers */
enum side { OURS, OPEN_MPI, OPEN_MPI_SHM, MPICH, SIDES };

/*
 * Each MPI runs as its users run it, with the transport and the algorithms that it chooses
 * itself. But Open MPI lets the kernel copy large messages (CMA), which is slow in an emulated
 * machine, so it also runs without CMA, through shared memory. Open MPI has to be told that
 * root may run it, and, where there is no ssh, that it needs none.
 */
#define OPEN_MPI_SETTINGS "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " \
	"OMPI_MCA_plm_rsh_agent=sh "

static const struct peer {
	const char *name, *suffix, *environment, *bind, *packages;
} peers[SIDES] = {
	[OPEN_MPI] = {
		"Open MPI", "openmpi", OPEN_MPI_SETTINGS, "--bind-to",
		"openmpi-bin libopenmpi-dev",
	},
	[OPEN_MPI_SHM] = {
		"Open MPI without CMA", "openmpi",
		OPEN_MPI_SETTINGS "OMPI_MCA_btl_vader_single_copy_mechanism=none ", "--bind-to",
		"openmpi-bin libopenmpi-dev",
	},
	[MPICH] = { "MPICH", "mpich", "", "-bind-to", "mpich libmpich-dev" },
};

static void take(const struct contest *contest, const char *name, size_t bytes, double seconds,
		 struct contest_times *times)
{
	unsigned int s;

	for (s = 0; s < contest->count; s++)
		if (bytes == contest->sizes[s].bytes)
			times->seconds[strcmp(name, "allreduce") ? BROADCAST_CALL :
				       ALL_REDUCE][s] = seconds;
}

/* Runs one peer. Return: false, after a line that says why, if the peer cannot run */
static bool run_peer(struct bench *bench, const struct contest *contest, const struct peer *peer,
		     struct contest_times *times)
{
	char own[PATH_MAX] = "", path[PATH_MAX + 32], command[PATH_MAX + 512], name[32];
	unsigned int found = 0, s;
	double seconds, start;
	size_t bytes;
	int length;
	FILE *pipe;

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		rank_die("readlink /proc/self/exe");
	snprintf(path, sizeof(path), "%s/bench-mpi.%s", dirname(own), peer->suffix);
	if (access(path, X_OK)) {
		bench_skip(bench, peer->name,
			   "no bench-mpi.%s beside this program: apt-get install %s; make tools",
			   peer->suffix, peer->packages);
		return false;
	}
	length = snprintf(command, sizeof(command),
			  "%stimeout %u mpirun.%s %s core -n %u '%s'%s -%u", peer->environment,
			  PATIENCE, peer->suffix, peer->bind, contest->ranks, path,
			  contest->shared ? " -shared" : "", contest->less);
	for (s = 0; s < contest->count; s++)
		length += snprintf(command + length, sizeof(command) - (size_t)length, " %zu",
				   contest->sizes[s].bytes);
	start = bench_now();
	pipe = popen(command, "re");
	if (!pipe)
		rank_die("popen");
	while (fscanf(pipe, "%31s %zu %lf", name, &bytes, &seconds) == 3) {
		take(contest, name, bytes, seconds, times);
		found++;
	}
	if (pclose(pipe) || found != MPI_CALLS * contest->count) {
		bench_skip(bench, peer->name, bench_now() - start < PATIENCE ? "failed: %s" :
			   "took too long (it spins; is this machine busy?): %s", command);
		return false;
	}
	return true;
}

/* The fastest peer of one round, by one measure; OURS if there is none */
static enum side fastest(const struct contest_times *round, enum contest_call call,
			 unsigned int s, const bool *missing)
{
	enum side best = OURS, side;

	for (side = OURS + 1; side < SIDES; side++)
		if (!missing[side] &&
		    (best == OURS || round[side].seconds[call][s] < round[best].seconds[call][s]))
			best = side;
	return best;
}

static void add_line(struct bench *bench, const struct contest *contest, enum contest_call call,
		     unsigned int s, const struct contest_times (*rounds)[SIDES], const bool *missing)
{
	static const char *const measures[] = {
		[ALL_REDUCE] = "all-reduce f32", [BROADCAST_CALL] = "broadcast to ranks",
		[LEAST] = "loads, sums, stores f32",
	};
	enum contest_call theirs_is = call == LEAST ? ALL_REDUCE : call;
	double ours[contest->rounds], theirs[contest->rounds], ratio[contest->rounds];
	unsigned int wins[SIDES] = { 0 }, i;
	enum side best = OURS, side;
	struct bench_median median;
	char text[64];
	struct bench_line line = {
		.measure = measures[call],
		.parameters = text, .unit = "us", .faster = true,
		.at_least = call == ALL_REDUCE ? contest->sizes[s].bar : 0,
	};

	for (i = 0; i < contest->rounds; i++) {
		side = fastest(rounds[i], theirs_is, s, missing);
		ours[i] = rounds[i][OURS].seconds[call][s];
		if (!ours[i])
			return;
		theirs[i] = rounds[i][side].seconds[theirs_is][s];
		ratio[i] = theirs[i] / ours[i];
		if (++wins[side] > wins[best])
			best = side;
	}
	snprintf(text, sizeof(text), "%u processes, %s", contest->ranks,
		 bench_bytes(contest->sizes[s].bytes));
	line.value = bench_median(ours, contest->rounds) * 1e6;
	if (best != OURS) {
		line.against = peers[best].name;
		line.peer = bench_median(theirs, contest->rounds) * 1e6;
		median = bench_median_of(ratio, contest->rounds);
		line.ratio = median.value;
		line.low = median.low;
		line.high = median.high;
	}
	bench_add(bench, &line);
}

void contest_run(struct bench *bench, const struct contest *contest)
{
	struct contest_times (*rounds)[SIDES] = calloc(contest->rounds, sizeof(*rounds));
	struct contest_times *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool missing[SIDES] = { false };
	unsigned int round, s;
	enum contest_call call;
	enum side side;

	if (!rounds || shared == MAP_FAILED)
		rank_die("no memory for times");
	for (round = 0; round < contest->rounds; round++) {
		memset(shared, 0, sizeof(*shared));
		contest->run(contest, shared);
		rounds[round][OURS] = *shared;
		for (side = OURS + 1; side < SIDES; side++)
			if (!missing[side])
				missing[side] = !run_peer(bench, contest, &peers[side],
							  &rounds[round][side]);
		bench_progress(bench, "%u processes, round %u of %u", contest->ranks, round + 1,
			       contest->rounds);
	}
	for (call = 0; call < CONTEST_CALLS; call++)
		for (s = 0; s < contest->count; s++)
			add_line(bench, contest, call, s,
				 (const struct contest_times (*)[SIDES])rounds, missing);
	munmap(shared, sizeof(*shared));
	free(rounds);
}
