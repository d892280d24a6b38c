// SPDX-License-Identifier: MIT
/*
 * All-reduce over a team by a kernel, as NCCL's NVLS algorithms do it: four processes, each
 * with a device; the kernel has barriers of its own, words that all ranks count up over the
 * multicast address. What the kernel does is a C function, registered for its name.
 *
 *	make && tools/memcast-vm -- build/examples/all-reduce-kernel
 *
 * 1,000 launches in a stream, then as many by a graph. docs/stack/kernels.md has the kernel's
 * device code beside this C.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <memcast/kernel.h>
#include <memcast/multimem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define THREADS		16
#define WORDS		(RANKS * THREADS)	/* a word of each rank's share for each thread */
#define LAUNCHES	1000
#define BYTES		(2UL << 20)

/* The layout of each replica */
struct shared {
	float words[WORDS];
	uint32_t arrived __attribute__((aligned(64)));	/* ranks at barriers, counted by all */
	uint32_t barriers __attribute__((aligned(64)));	/* that this rank was at */
	uint32_t wrong;				/* words, of all launches */
};

/* Device code, from which memcast reads only the name and the parameters of the kernel */
static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry all_reduce(.param .u64 team, .param .u64 own, .param .u32 rank)\n"
	"{ ret; }\n";

/* A barrier for one thread of each rank: all ranks have finished their work before it. */
static void barrier(const struct memcast_launch *at, struct shared *team, struct shared *own)
{
	uint32_t want = ++own->barriers * RANKS;

	multimem_red_release_add_u32_at(&team->arrived, 1);
	while (__atomic_load_n(&own->arrived, __ATOMIC_ACQUIRE) < want)
		memcastYield(at);
}

MEMCAST_KERNEL(all_reduce, MEMCAST_THREADS, struct shared *, struct shared *, uint32_t)
{
	struct shared *team = MEMCAST_PARAMETER(at, 0, struct shared *);
	struct shared *own = MEMCAST_PARAMETER(at, 1, struct shared *);
	uint32_t rank = MEMCAST_PARAMETER(at, 2, uint32_t), thread = at->thread_index.x;
	uint32_t share = rank * THREADS + thread;
	float before = own->barriers;	/* the same on all ranks */

	memcastSyncThreads(at);
	for (uint32_t i = thread; i < WORDS; i += THREADS)
		own->words[i] = before + rank + i;
	memcastSyncThreads(at);
	if (!thread)
		barrier(at, team, own);
	memcastSyncThreads(at);

	multimem_st_f32_at(&team->words[share], multimem_ld_reduce_add_f32_at(&team->words[share]));

	memcastSyncThreads(at);
	if (!thread)
		barrier(at, team, own);
	memcastSyncThreads(at);
	for (uint32_t i = thread; i < WORDS; i += THREADS)
		own->wrong += own->words[i] != RANKS * (before + i) + RANKS * (RANKS - 1) / 2;
}

static int run(const int *sockets)
{
	CUmemGenericAllocationHandle team;
	struct shared *window, *own;
	void *parameters[] = { &window, &own, &rank };
	CUgraphExec instance;
	CUfunction function;
	CUcontext context;
	CUmodule module;
	CUstream stream;
	CUgraph graph;

	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, rank));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, code));
	CHECK(cuModuleGetFunction(&function, module, "all_reduce"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

	team = get_team(BYTES, sockets);
	own = (struct shared *)map(join_team(team, BYTES), BYTES);
	window = (struct shared *)map(team, BYTES);
	CHECK(cuMemsetD8((CUdeviceptr)own, 0, sizeof(*own)));
	meet(sockets);

	for (int i = 0; i < LAUNCHES; i++)
		CHECK(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
	CHECK(cuStreamSynchronize(stream));
	printf("rank %u: %u of %u words are wrong, launched\n", rank, own->wrong, LAUNCHES * WORDS);

	CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	for (int i = 0; i < 10; i++)
		CHECK(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL));
	CHECK(cuStreamEndCapture(stream, &graph));
	CHECK(cuGraphInstantiate(&instance, graph, 0));
	for (int i = 0; i < LAUNCHES / 10; i++)
		CHECK(cuGraphLaunch(instance, stream));
	CHECK(cuStreamSynchronize(stream));
	printf("rank %u: %u of %u words are wrong, by a graph, after %u barriers\n", rank, own->wrong,
	       LAUNCHES * WORDS, own->barriers);
	meet(sockets);
	return own->wrong || own->barriers != 4 * LAUNCHES;
}

int main(void)
{
	return run_ranks(run);
}
