// SPDX-License-Identifier: MIT
/*
 * All-reduce over a team by device code: four processes, each with a device; each adds up its share
 * of all replicas with multimem.ld_reduce, and stores the sums to all of them with multimem.st. The
 * kernels are PTX, as a compiler writes it for CUDA C++, and run on the CPU.
 *
 *	make && tools/memcast-vm -- build/examples/all-reduce-ptx
 *
 * docs/stack/ptx.md says how to build such kernels with nvcc.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define BLOCKS		8
#define THREADS		128
#define BYTES		(16UL << 20)		/* of a replica: the last 2 MiB for flags */
#define FLAGS		(2UL << 20)
#define FLOATS		((BYTES - FLAGS) / sizeof(float))
#define SHARE		(FLOATS / RANKS)
#define ROUNDS		5

/* %rd2: the number of this thread; %rd3: how many threads there are */
#define THREAD									\
	"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"	\
	"mad.lo.u32 %r4, %r1, %r2, %r3; cvt.u64.u32 %rd2, %r4;\n"		\
	"mov.u32 %r5, %nctaid.x; mul.lo.u32 %r6, %r5, %r2; cvt.u64.u32 %rd3, %r6;\n"
#define REGISTERS								\
	".reg .pred %p; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<8>;\n"

static const char code[] =
	".version 8.1\n.target sm_90\n.address_size 64\n"

	/* for (i = thread; i < count; i += threads) own[i] = i % 1024 + first; */
	".visible .entry fill(.param .u64 own, .param .u64 count, .param .u32 first) {\n"
	REGISTERS
	"ld.param.u64 %rd1, [own]; ld.param.u64 %rd4, [count]; ld.param.u32 %r7, [first];\n"
	THREAD
	"again: setp.ge.u64 %p, %rd2, %rd4; @%p ret;\n"
	"cvt.u32.u64 %r8, %rd2; and.b32 %r8, %r8, 1023; add.u32 %r8, %r8, %r7;\n"
	"cvt.rn.f32.u32 %f1, %r8; shl.b64 %rd5, %rd2, 2; add.u64 %rd5, %rd1, %rd5;\n"
	"st.global.f32 [%rd5], %f1; add.u64 %rd2, %rd2, %rd3; bra again; }\n"

	/* one thread of each rank: all ranks have come to this place */
	".visible .entry meet(.param .u64 team, .param .u64 own, .param .u32 arrivals) {\n"
	REGISTERS
	"ld.param.u64 %rd1, [team]; ld.param.u64 %rd2, [own]; ld.param.u32 %r1, [arrivals];\n"
	"multimem.red.release.sys.global.add.u32 [%rd1], 1;\n"
	"again: ld.acquire.sys.global.u32 %r2, [%rd2]; setp.lt.u32 %p, %r2, %r1; @%p bra again;\n"
	"ret; }\n"

	/* four floats at once: team[i] = the sum of all replicas' [i] */
	".visible .entry all_reduce(.param .u64 team, .param .u64 count) {\n"
	REGISTERS
	"ld.param.u64 %rd1, [team]; ld.param.u64 %rd4, [count];\n"
	THREAD
	"again: setp.ge.u64 %p, %rd2, %rd4; @%p ret;\n"
	"shl.b64 %rd5, %rd2, 4; add.u64 %rd5, %rd1, %rd5;\n"
	"multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];\n"
	"multimem.st.relaxed.sys.global.v4.f32 [%rd5], {%f1, %f2, %f3, %f4};\n"
	"add.u64 %rd2, %rd2, %rd3; bra again; }\n"

	/* counts what is not ranks * (i % 1024) + first */
	".visible .entry check(.param .u64 own, .param .u64 count, .param .u32 ranks,\n"
	".param .u32 first, .param .u64 wrong) {\n"
	REGISTERS
	"ld.param.u64 %rd1, [own]; ld.param.u64 %rd4, [count]; ld.param.u32 %r7, [ranks];\n"
	"ld.param.u32 %r9, [first]; ld.param.u64 %rd6, [wrong];\n"
	THREAD
	"again: setp.ge.u64 %p, %rd2, %rd4; @%p ret;\n"
	"cvt.u32.u64 %r8, %rd2; and.b32 %r8, %r8, 1023; mad.lo.u32 %r8, %r8, %r7, %r9;\n"
	"cvt.rn.f32.u32 %f1, %r8; shl.b64 %rd5, %rd2, 2; add.u64 %rd5, %rd1, %rd5;\n"
	"ld.global.f32 %f2, [%rd5]; setp.neu.f32 %p, %f1, %f2; @%p red.global.add.u32 [%rd6], 1;\n"
	"add.u64 %rd2, %rd2, %rd3; bra again; }\n";

/* What a rank has on its device */
struct place {
	CUdeviceptr team, own;		/* the window, and this rank's replica */
	CUstream stream;
	CUfunction fill, meet, all_reduce, check;
	uint32_t arrivals;		/* at all meetings so far, of all ranks */
};

static void launch(struct place *place, CUfunction kernel, unsigned int blocks, void **parameters)
{
	CHECK(cuLaunchKernel(kernel, blocks, 1, 1, blocks > 1 ? THREADS : 1, 1, 1, 0,
			     place->stream, parameters, NULL));
}

static void meet_in_kernels(struct place *place)
{
	CUdeviceptr team = place->team + BYTES - FLAGS, own = place->own + BYTES - FLAGS;

	place->arrivals += RANKS;
	launch(place, place->meet, 1, (void *[]) { &team, &own, &place->arrivals });
}

/* Return: how many floats are wrong */
static uint32_t all_reduce(struct place *place, uint32_t round, float *milliseconds)
{
	uint32_t first = round + rank, all = RANKS * round + RANKS * (RANKS - 1) / 2;
	CUdeviceptr share = place->team + rank * SHARE * sizeof(float);
	CUdeviceptr wrong = place->own + BYTES - FLAGS + 64;
	uint64_t floats = FLOATS, vectors = SHARE / 4;
	uint32_t ranks = RANKS, count;
	CUevent begin, end;

	CHECK(cuEventCreate(&begin, 0));
	CHECK(cuEventCreate(&end, 0));
	CHECK(cuMemsetD32Async(wrong, 0, 1, place->stream));
	launch(place, place->fill, BLOCKS, (void *[]) { &place->own, &floats, &first });
	meet_in_kernels(place);
	CHECK(cuEventRecord(begin, place->stream));
	launch(place, place->all_reduce, BLOCKS, (void *[]) { &share, &vectors });
	meet_in_kernels(place);
	CHECK(cuEventRecord(end, place->stream));
	launch(place, place->check, BLOCKS,
	       (void *[]) { &place->own, &floats, &ranks, &all, &wrong });
	CHECK(cuMemcpyDtoHAsync(&count, wrong, sizeof(count), place->stream));
	CHECK(cuStreamSynchronize(place->stream));
	CHECK(cuEventElapsedTime(milliseconds, begin, end));
	CHECK(cuEventDestroy(begin));
	CHECK(cuEventDestroy(end));
	return count;
}

static int run(const int *sockets)
{
	CUmemGenericAllocationHandle team;
	struct place place = { };
	float milliseconds = 0;
	uint32_t wrong = 0;
	CUcontext context;
	CUmodule module;

	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, rank));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, code));
	CHECK(cuModuleGetFunction(&place.fill, module, "fill"));
	CHECK(cuModuleGetFunction(&place.meet, module, "meet"));
	CHECK(cuModuleGetFunction(&place.all_reduce, module, "all_reduce"));
	CHECK(cuModuleGetFunction(&place.check, module, "check"));
	CHECK(cuStreamCreate(&place.stream, CU_STREAM_NON_BLOCKING));

	team = get_team(BYTES, sockets);
	place.own = map(join_team(team, BYTES), BYTES);
	place.team = map(team, BYTES);
	CHECK(cuMemsetD8(place.own + BYTES - FLAGS, 0, FLAGS));
	meet(sockets);

	if (!rank)
		printf("# %lu floats, summed over %u devices by multimem.ld_reduce and multimem.st\n"
		       "round  milliseconds  wrong, of rank 0's\n", FLOATS, RANKS);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = all_reduce(&place, round, &milliseconds);

		if (!rank)
			printf("%5u  %12.2f  %5u\n", round, milliseconds, count);
		wrong += count;
	}
	printf("rank %u: %u of %lu floats are wrong: %s\n", rank, wrong, ROUNDS * FLOATS,
	       wrong ? "FAILED" : "OK");
	meet(sockets);
	return wrong != 0;
}

int main(void)
{
	return run_ranks(run);
}
