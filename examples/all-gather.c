// SPDX-License-Identifier: MIT
/*
 * All-gather and reduce-scatter of several processes on a team, as collective
 * libraries set them up: each rank has a device, rank 0 makes the team and hands it to
 * the others as an fd over a UNIX socket.
 *
 *	make && tools/memcast-vm -- build/examples/all-gather
 *
 * The array has a slice for each rank. All-gather: each rank writes its slice to all
 * replicas. Reduce-scatter: each rank reads the sum of all replicas of its slice.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <memcast/bulk.h>
#include <memcast/group.h>
#include <memcast/view.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define SLICE	(1 << 16)	/* floats */
#define BYTES	((size_t)RANKS * SLICE * sizeof(float))

/* Return: this rank's replica of the team, and the view of all of them */
static float *join(struct memcast_view *view, const int *sockets)
{
	CUmulticastObjectProp prop = { .numDevices = RANKS };
	CUmemGenericAllocationHandle team, memory;
	size_t bytes = BYTES + MEMCAST_GROUP_BYTES(RANKS), granularity;

	CHECK(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
	bytes = (bytes + granularity - 1) / granularity * granularity;
	team = get_team(bytes, sockets);
	memory = join_team(team, bytes);
	CHECK(memcastViewCreate(view, team, 0, bytes));
	return (float *)map(memory, bytes);
}

static int run(const int *sockets)
{
	struct memcast_group group;
	struct memcast_view view;
	static float sum[SLICE];
	unsigned int wrong = 0;
	float *array;

	CHECK(cuInit(0));
	array = join(&view, sockets);
	CHECK(memcastGroupInit(&group, &view, BYTES, rank, RANKS));	/* flags behind it */
	meet(sockets);

	for (unsigned int i = 0; i < SLICE; i++)
		sum[i] = rank + 1;
	CHECK(memcastBroadcast(&view, rank * sizeof(sum), sum, sizeof(sum)));
	CHECK(memcastBarrier(&group));
	for (unsigned int i = 0; i < RANKS * SLICE; i++)
		wrong += array[i] != i / SLICE + 1;
	CHECK(memcastBarrier(&group));

	for (unsigned int i = 0; i < RANKS * SLICE; i++)
		array[i] = rank * RANKS + i / SLICE;
	CHECK(memcastBarrier(&group));
	CHECK(memcastReduceLoad(&view, rank * sizeof(sum), sum, SLICE, MEMCAST_F32, MEMCAST_ADD));
	for (unsigned int i = 0; i < SLICE; i++)
		wrong += sum[i] != RANKS * (RANKS - 1) / 2 * RANKS + RANKS * rank;
	/* not a barrier in memory, which goes with the first rank that ends */
	meet(sockets);
	printf("rank %u: %u of %u values are wrong\n", rank, wrong, (RANKS + 1) * SLICE);
	return wrong != 0;
}

int main(void)
{
	return run_ranks(run);
}
