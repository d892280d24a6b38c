// SPDX-License-Identifier: MIT
/*
 * Suites "launch" and "translated": the cost of a stream's launch of an empty kernel, and of the
 * wait for its end; of a C function, and of a kernel that was translated from PTX.
 */
#include <cuda.h>
#include <memcast/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define ROUNDS	200

#define HOST_ACCESS	"MEMCAST_HOST_ACCESS"
#define OF_KERNEL	"cuLaunchKernel, empty, until it is done"

/* With device memory forbidden to the host, in multiples of a launch without that */
#define FORBIDDEN_BAR	1.02

/* 2 us more than a host function, at three instructions in a nanosecond */
#define BAR	6000

/* Of a kernel that was translated, in multiples of a C function's cost */
#define TRANSLATED_BAR	1.2

#define PARAMETERS	"(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n"

/* The first has a C function. */
static const char code[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry empty" PARAMETERS ".visible .entry empty_ptx" PARAMETERS;

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

static CUstream stream;
static CUmodule module;

static void begin(struct bench *bench)
{
	CUcontext context;

	bench_count_alone(bench);
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	CU(cuModuleLoadData(&module, code));
	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void end(void)
{
	CU(cuStreamDestroy(stream));
	CU(cuModuleUnload(module));
}

static double cost_of(const char *name)
{
	CUdeviceptr a = 0, b = 0;
	int c = 0;
	void *parameters[] = { &a, &b, &c };
	CUfunction function;

	CU(cuModuleGetFunction(&function, module, name));
	return LEAST(({
		CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
		CU(cuStreamSynchronize(stream));
	}));
}

/* Adds the cost of a launch in a process whose own code may not access device memory. */
static void add_forbidden(struct bench *bench, double allowed)
{
	static const char *const names[] = { "launch" };
	struct bench other = { .suite = bench->suite, .quick = bench->quick };
	bool good;
	size_t i;

	setenv(HOST_ACCESS, "forbid", 1);
	good = bench_machine_run(&other, NULL, names, 1);
	unsetenv(HOST_ACCESS);
	for (i = 0; good && i < other.count; i++)
		if (!strcmp(other.result[i].measure, OF_KERNEL))
			break;
	if (!good || i == other.count) {
		bench_skip(bench, OF_KERNEL ", " HOST_ACCESS "=forbid",
			   "the machine has no protection keys");
		return;
	}
	bench_add(bench, &(struct bench_line) {
		.measure = OF_KERNEL ", " HOST_ACCESS "=forbid",
		.value = other.result[i].value, .unit = "instructions", .peer = allowed,
		.against = "the same without it", .at_most = FORBIDDEN_BAR,
	});
}

static void run(struct bench *bench)
{
	double host, kernel;

	begin(bench);
	host = LEAST(({
		CU(cuLaunchHostFunc(stream, nothing, NULL));
		CU(cuStreamSynchronize(stream));
	}));
	bench_add(bench, &(struct bench_line) {
		.measure = "cuLaunchHostFunc, empty, until it is done",
		.value = host, .unit = "instructions",
	});
	kernel = cost_of("empty");
	bench_add(bench, &(struct bench_line) {
		.measure = OF_KERNEL,
		.value = kernel, .unit = "instructions", .peer = host + BAR,
		.against = "an empty cuLaunchHostFunc and 2 us natively", .at_most = 1,
	});
	end();
	if (!getenv(HOST_ACCESS))
		add_forbidden(bench, kernel);
}

static void run_translated(struct bench *bench)
{
	double function;

	/* what is measured is made here, and not taken from the user's folder */
	setenv("MEMCAST_PTX_CACHE", "0", 1);
	begin(bench);
	function = cost_of("empty");
	bench_add(bench, &(struct bench_line) {
		.measure = "cuLaunchKernel of a C function, until it is done",
		.value = function, .unit = "instructions",
	});
	bench_add(bench, &(struct bench_line) {
		.measure = "cuLaunchKernel of PTX, until it is done",
		.value = cost_of("empty_ptx"), .unit = "instructions", .peer = function,
		.against = "an empty C function", .at_most = TRANSLATED_BAR,
	});
	end();
}

const struct bench_suite bench_launch = {
	.name = "launch",
	.about = "an empty kernel in a stream in instructions, against an empty host function",
	.obstacle = bench_control_obstacle,
	.machine = BENCH_CONTROL_MACHINE,
	.counted = true,
	.run = run,
};

static const char *no_translator(void)
{
	const char *value = getenv("MEMCAST_PTX");

	return value && !strcmp(value, "0") ? "MEMCAST_PTX=0 is set" : bench_control_obstacle();
}

const struct bench_suite bench_translated = {
	.name = "translated",
	.about = "an empty kernel of PTX in a stream in instructions, against a C function",
	.obstacle = no_translator,
	.machine = BENCH_TRANSLATED_MACHINE,
	.counted = true,
	.run = run_translated,
};
