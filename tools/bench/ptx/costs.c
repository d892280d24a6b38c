// SPDX-License-Identifier: MIT
/* What compiling, launches and turns of threads cost, whatever the number of processors is */
#include <stdlib.h>

#include "bench/bench.h"
#include "ptx.h"

static double least_of(double (*run)(void *data), void *data, unsigned int times)
{
	double least = run(data), next;

	while (--times) {
		next = run(data);
		if (next < least)
			least = next;
	}
	return least;
}

#define LAUNCHES	1000

static double run_launches(void *data)
{
	const struct arrays arrays = { 0 };
	double start = bench_now();

	for (unsigned int i = 0; i < LAUNCHES; i++)
		device_launch(data, 1, 1, 1, 1, &arrays);
	return bench_now() - start;
}

#define TURNS	2000
#define TURNING	128

struct turning {
	const struct ptx_kernel *kernel;
	uint32_t turns;
};

static double run_turns(void *data)
{
	const struct turning *turning = data;
	const struct arrays arrays = { .n = turning->turns };
	double start = bench_now();

	device_launch(turning->kernel, 1, 1, TURNING, 1, &arrays);
	return bench_now() - start;
}

#define INSTRUCTIONS	2000

static double compile(void *data)
{
	struct ptx_code *new = device_load(data);
	double start = bench_now();

	device_kernel(new, "long");
	start = bench_now() - start;
	device_unload(new);
	return start;
}

static void compiling(struct bench *bench)
{
	char *text = ptx_long_kernel(INSTRUCTIONS);
	unsigned int times = bench_quick(bench) ? 2 : 5;

	for (int level = 0; level < 2; level++) {
		if (level)
			unsetenv("MEMCAST_PTX_LEVEL");
		else
			setenv("MEMCAST_PTX_LEVEL", "0", 1);
		bench_progress(bench, "compiling");
		bench_add(bench, &(struct bench_line) {
			.measure = "compiling 1,000 instructions",
			.parameters = level ? "of a small kernel: -O2" : "as of a large one: -O0",
			.value = 1e3 * least_of(compile, text, times) / INSTRUCTIONS * 1000,
			.unit = "ms",
		});
	}
	free(text);
}

void costs_measure(struct bench *bench, struct ptx_code *code)
{
	struct turning few = { device_kernel(code, "turns"), 1 }, many = { few.kernel, TURNS };
	double turns;

	compiling(bench);
	bench_add(bench, &(struct bench_line) {
		.measure = "launch of an empty kernel", .parameters = "without a stream",
		.value = 1e9 * least_of(run_launches, (void *)device_kernel(code, "empty"), 10) /
			 LAUNCHES,
		.unit = "ns",
	});
	turns = least_of(run_turns, &many, 10) - least_of(run_turns, &few, 10);
	bench_add(bench, &(struct bench_line) {
		.measure = "a thread's turn at a barrier", .parameters = "128 threads",
		.value = 1e9 * turns / ((double)TURNING * (TURNS - 1)), .unit = "ns",
	});
}
