// SPDX-License-Identifier: MIT
/*
 * The peers of memcast-bench's groups: MPI_Allreduce and MPI_Bcast. The Makefile builds this
 * program with each of mpicc.openmpi and mpicc.mpich that is installed; its mpirun runs it.
 *
 * Usage: bench-mpi [-shared] [-LESS] BYTES…; rank 0 prints "NAME BYTES SECONDS" for
 * each. -100 does a hundredth of the iterations: an emulated machine is slow. -shared takes
 * shared memory, as replicas without a device have it: its pages are seldom huge ones,
 * while those of devices always are.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "data.h"

#define HUGE_BYTES	(2UL << 20)
/*
 * The two buffers must not have equal offsets in huge pages: both would then compete for
 * one entry of QEMU's TLB, which buffers from malloc() do not.
 */
#define APART		(37 * 4096)

static size_t whole(size_t bytes)
{
	return (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
}

/* Allocates both buffers in one; *to is the second. The process's end frees them. */
static char *buffers(size_t bytes, bool shared, int rank, void **to)
{
	size_t room = whole(bytes) + whole(bytes + APART);
	char *from = !shared ? aligned_alloc(HUGE_BYTES, room) :
		     mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!from || from == MAP_FAILED)
		MPI_Abort(MPI_COMM_WORLD, 1);
	madvise(from, room, MADV_HUGEPAGE);
	*to = from + whole(bytes) + APART;
	bench_data(from, bytes, (unsigned int)rank);
	bench_data(*to, bytes, (unsigned int)rank);
	return from;
}

/* Both ways to call MPI_Allreduce. memcast reduces in place, but MPI's faster way counts. */
static void separately(void *from, void *to, int count)
{
	MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void in_place(void *from, void *to, int count)
{
	(void)from;
	MPI_Allreduce(MPI_IN_PLACE, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(void *from, void *to, int count)
{
	(void)from;
	MPI_Bcast(to, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static int less = 1;

/* Return: the seconds of one call, of the slowest rank */
static double timed(void (*call)(void *from, void *to, int count), void *from, void *to,
		    size_t bytes)
{
	int times = bytes < 4096 ? 20000 : bytes < 1 << 20 ? 2000 : bytes < 16 << 20 ? 200 : 5, i;
	double start, own, slowest = 0;

	times = times / less ?: 1;
	for (i = 0; i < times / 10 + 1; i++)
		call(from, to, (int)(bytes / 4));
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (i = 0; i < times; i++)
		call(from, to, (int)(bytes / 4));
	own = (MPI_Wtime() - start) / times;
	MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return slowest;
}

int main(int argc, char **argv)
{
	bool shared = false;
	int i, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 1; i < argc && *argv[i] == '-'; i++) {
		if (!strcmp(argv[i], "-shared"))
			shared = true;
		else if (atoi(argv[i] + 1) > 0)
			less = atoi(argv[i] + 1);
	}
	for (; i < argc; i++) {
		size_t bytes = strtoull(argv[i], NULL, 10);
		void *to, *from = buffers(bytes, shared, rank, &to);
		double apart = timed(separately, from, to, bytes);
		double same = timed(in_place, from, to, bytes);
		double cast = timed(bcast, from, to, bytes);

		if (rank == 0)
			printf("allreduce %zu %.9f\nbcast %zu %.9f\n", bytes,
			       apart < same ? apart : same, bytes, cast);
	}
	MPI_Finalize();
	return 0;
}
