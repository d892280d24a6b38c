/* SPDX-License-Identifier: MIT */
/*
 * Groups of processes against MPI's, in turn: MPI_Allreduce and MPI_Bcast of Open MPI
 * and of MPICH, as far as they are there, by as many processes on the same CPUs. All
 * start anew in each round, and each round is held against the fastest of them.
 */
#ifndef MEMCAST_TOOLS_BENCH_PEERS_H
#define MEMCAST_TOOLS_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

struct bench;

#define CONTEST_SIZES	8

/* What MPI does as well, and for the first of them what ours could take at the least */
enum contest_call { ALL_REDUCE, BROADCAST_CALL, MPI_CALLS, LEAST = MPI_CALLS, CONTEST_CALLS };

/* Of one round; those of the slowest rank */
struct contest_times {
	double seconds[CONTEST_CALLS][CONTEST_SIZES];
};

struct contest_size {
	size_t bytes;
	unsigned int times;	/* one of ours runs between two looks at the clock */
	double bar;		/* of an all-reduce: so many times faster, or 0 */
};

struct contest {
	unsigned int ranks, rounds;
	const struct contest_size *sizes;
	unsigned int count;		/* of sizes */
	bool shared;			/* MPI's buffers, too, are in shared memory */
	unsigned int less;		/* bench-mpi does all so many times less often */
	/*
	 * One round of ours; @times is zero, in memory that forked processes share. What
	 * stays so is of no interest.
	 */
	void (*run)(const struct contest *contest, struct contest_times *times);
	void *arg;
};

/* Adds a line for each call and size. What is not installed is skipped, and named. */
void contest_run(struct bench *bench, const struct contest *contest);

/* What MPI's processes need in a virtual machine; memcast-vm brings what is there. */
#define CONTEST_FILES \
	"--add @bench-mpi.openmpi --add /usr/bin/mpirun.openmpi --add /etc/openmpi " \
	"--add /usr/share/openmpi --add /usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3 " \
	"--add /usr/lib/x86_64-linux-gnu/pmix2/lib/pmix " \
	"--add /usr/lib/x86_64-linux-gnu/pmix2/share " \
	"--add @bench-mpi.mpich --add /usr/bin/mpirun.mpich --add /usr/bin/hydra_pmi_proxy"

#endif /* MEMCAST_TOOLS_BENCH_PEERS_H */
