// SPDX-License-Identifier: MIT
/* Suite "launch": the cost of a stream's launch of an empty kernel, and of the wait for its end. */
#include <cuda.h>
#include <memcast/kernel.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define ROUNDS	200

/* 2 us more than a host function, at three instructions in a nanosecond */
#define BAR	6000

static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry empty(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n";

MEMCAST_KERNEL(empty, MEMCAST_ONCE, void *, void *, int)
{
	(void)at;
}

static void nothing(void *data)
{
	(void)data;
}

/* The least of all rounds: interrupts add to a round, and are not the call's. */
#define LEAST(expression)						\
({									\
	uint64_t least_ = UINT64_MAX;					\
									\
	for (unsigned int i_ = 0; i_ < ROUNDS; i_++) {			\
		uint64_t before_ = bench_ticks(), ticks_;		\
									\
		expression;						\
		ticks_ = bench_ticks() - before_;			\
		if (ticks_ < least_)					\
			least_ = ticks_;				\
	}								\
	(double)least_;							\
})

static void run(struct bench *bench)
{
	CUdeviceptr a = 0, b = 0;
	int c = 0;
	void *parameters[] = { &a, &b, &c };
	CUfunction function;
	CUcontext context;
	CUmodule module;
	CUstream stream;
	double host, kernel;

	bench_count_alone(bench);
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	CU(cuModuleLoadData(&module, code));
	CU(cuModuleGetFunction(&function, module, "empty"));
	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	host = LEAST(({
		CU(cuLaunchHostFunc(stream, nothing, NULL));
		CU(cuStreamSynchronize(stream));
	}));
	kernel = LEAST(({
		CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
		CU(cuStreamSynchronize(stream));
	}));
	bench_add(bench, &(struct bench_line) {
		.measure = "cuLaunchHostFunc, empty, until it is done",
		.value = host, .unit = "instructions",
	});
	bench_add(bench, &(struct bench_line) {
		.measure = "cuLaunchKernel, empty, until it is done",
		.value = kernel, .unit = "instructions", .peer = host + BAR,
		.against = "an empty cuLaunchHostFunc and 2 us natively", .at_most = 1,
	});
	CU(cuStreamDestroy(stream));
	CU(cuModuleUnload(module));
}

const struct bench_suite bench_launch = {
	.name = "launch",
	.about = "an empty kernel in a stream in instructions, against an empty host function",
	.obstacle = bench_control_obstacle,
	.machine = BENCH_CONTROL_MACHINE,
	.counted = true,
	.run = run,
};
