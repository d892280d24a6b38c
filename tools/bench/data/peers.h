/* SPDX-License-Identifier: MIT */
/*
 * Contests of memcast's groups and MPI, in turn: MPI_Allreduce and MPI_Bcast of the MPI
 * libraries that are installed, by as many processes on the same CPUs. All processes start
 * anew in each round, and each round is compared with its fastest MPI.
 */
#ifndef MEMCAST_TOOLS_BENCH_PEERS_H
#define MEMCAST_TOOLS_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

struct bench;

#define CONTEST_SIZES	8

/* Calls that MPI has as well, and LEAST: the least work of any all-reduce, of memcast only */
enum contest_call { ALL_REDUCE, BROADCAST_CALL, MPI_CALLS, LEAST = MPI_CALLS, CONTEST_CALLS };

/* The times of one round: those of the slowest rank */
struct contest_times {
	double seconds[CONTEST_CALLS][CONTEST_SIZES];
};

struct contest_size {
	size_t bytes;
	unsigned int times;	/* calls of memcast between two readings of the clock */
	double bar;		/* how many times faster an all-reduce has to be; 0: no bar */
};

struct contest {
	unsigned int ranks, rounds;
	const struct contest_size *sizes;
	unsigned int count;		/* of sizes */
	bool shared;			/* MPI's buffers, too, are in shared memory */
	unsigned int less;		/* bench-mpi makes so many times fewer iterations */
	/*
	 * Runs one round of memcast; @times is zero at first, in memory that forked processes
	 * share. Times that stay zero give no line.
	 */
	void (*run)(const struct contest *contest, struct contest_times *times);
	void *arg;
};

/* Adds a line for each call and size, and one that names each MPI that is not installed. */
void contest_run(struct bench *bench, const struct contest *contest);

/* Files that MPI's processes need in a virtual machine; memcast-vm takes those that exist. */
#define CONTEST_FILES \
	"--add @bench-mpi.openmpi --add /usr/bin/mpirun.openmpi --add /etc/openmpi " \
	"--add /usr/share/openmpi --add /usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3 " \
	"--add /usr/lib/x86_64-linux-gnu/pmix2/lib/pmix " \
	"--add /usr/lib/x86_64-linux-gnu/pmix2/share " \
	"--add @bench-mpi.mpich --add /usr/bin/mpirun.mpich --add /usr/bin/hydra_pmi_proxy"

#endif /* MEMCAST_TOOLS_BENCH_PEERS_H */
