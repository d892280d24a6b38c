// SPDX-License-Identifier: MIT
/* The suite "ptx": the speed of kernels */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <memcast/bulk.h>

#include "bench/bench.h"
#include "ptx.h"
#include "shared/ranks.h"
#include "shared/team.h"

#define WORDS		(16U << 20)
#define LARGEST		(4UL * WORDS)
#define MATRIX		512U
#define SQUARE		2048U
#define REPLICAS_MOST	8
#define PIECE		(8UL << 10)	/* bytes of an array that are in caches */
#define THREADS_MOST	64
#define HUGE_BYTES	(2UL << 20)

typedef void loop(const struct arrays *arrays, size_t first, size_t end);

/* A kernel and a loop that do the same */
struct work {
	const char *name, *kernel;
	loop *loop;
	size_t range;			/* of the loop, which threads divide */
	unsigned int grid[2], block[2];
	uint32_t n;
	size_t written;			/* bytes of c */
	double at_least;		/* of the loop's speed */
	double opencl_at_least;		/* of that of the same kernel by OpenCL */
};

static struct ptx_code *code;
static unsigned char *memory[REPLICAS_MOST + 2];	/* arrays, and replicas of a view */
static unsigned int processors;		/* that work runs on */
static bool on_all;			/* on all that there are */

/* ---- racers */

struct race {
	const struct work *work;
	const struct ptx_kernel *kernel;
	struct arrays arrays;
	const struct memcast_view *view;
	const struct opencl_kernel *opencl;
};

/* Clears a small result, to which kernels add. Return: when the work begins */
static double begin(const struct race *race)
{
	size_t written = race->work->written;

	memset(race->arrays.c, 0, written < HUGE_BYTES ? written : 0);
	return bench_now();
}

static double run_kernel(void *data)
{
	const struct race *race = data;
	const struct work *work = race->work;
	double start = begin(race);

	device_launch(race->kernel, work->grid[0], work->grid[1], work->block[0], work->block[1],
		      &race->arrays);
	return bench_now() - start;
}

static double run_opencl(void *data)
{
	const struct race *race = data;
	const struct work *work = race->work;
	double start = begin(race);

	opencl_launch(race->opencl, work->grid, work->block);
	return bench_now() - start;
}

struct share {
	const struct race *race;
	size_t first, end;
	pthread_t thread;
};

static void *run_share(void *data)
{
	const struct share *share = data;

	share->race->work->loop(&share->race->arrays, share->first, share->end);
	return NULL;
}

static double run_loop(void *data)
{
	const struct race *race = data;
	const struct work *work = race->work;
	struct share shares[THREADS_MOST];
	double start;

	start = begin(race);
	for (unsigned int i = 0; i < processors; i++) {
		shares[i] = (struct share) { race, work->range * i / processors,
					     work->range * (i + 1) / processors, 0 };
		if (i && pthread_create(&shares[i].thread, NULL, run_share, &shares[i]))
			rank_die("no thread");
	}
	run_share(&shares[0]);
	for (unsigned int i = 1; i < processors; i++)
		pthread_join(shares[i].thread, NULL);
	return bench_now() - start;
}

/* ---- kernels against loops */

static const char *on_processors(char *text, size_t size)
{
	snprintf(text, size, "%u processor%s", processors, processors > 1 ? "s" : "");
	return text;
}

/* Both have to give the same: a wrong kernel's speed is of no use. */
static void check(struct race *race, double (*other)(void *data))
{
	size_t bytes = race->work->written;
	void *result = malloc(bytes);

	if (!result)
		rank_die("no memory for results");
	memset(race->arrays.c, 0, bytes);
	run_kernel(race);
	memcpy(result, race->arrays.c, bytes);
	memset(race->arrays.c, 0, bytes);
	other(race);
	if (memcmp(result, race->arrays.c, bytes))
		rank_die("kernel %s has other results than what it is compared with", race->work->kernel);
	free(result);
}

static void compare(struct bench *bench, const struct work *work)
{
	struct race race = {
		.work = work, .kernel = device_kernel(code, work->kernel),
		.arrays = { memory[0], memory[1], memory[2], work->n },
	};
	struct bench_racer racers[] = {
		{ .run = run_kernel, .arg = &race }, { .run = run_loop, .arg = &race },
	};
	char text[64];

	bench_progress(bench, "%s", work->name);
	check(&race, run_loop);
	bench_race(racers, 2, bench_quick(bench) ? 3 : 9);
	bench_add(bench, &(struct bench_line) {
		.measure = work->name, .parameters = on_processors(text, sizeof(text)),
		.value = 1e3 * racers[0].seconds, .unit = "ms", .peer = 1e3 * racers[1].seconds,
		.against = "the same loop by gcc -O3", .faster = true,
		.ratio = racers[1].lead.value, .low = racers[1].lead.low,
		.high = racers[1].lead.high, .at_least = work->at_least,
	});
}

/* Against the same kernel by OpenCL, if that is here: it takes all processors. */
static void compare_opencl(struct bench *bench, const struct work *work)
{
	struct race race = {
		.work = work, .kernel = device_kernel(code, work->kernel),
		.arrays = { memory[0], memory[1], memory[2], work->n },
	};
	struct bench_racer racers[] = {
		{ .run = run_kernel, .arg = &race }, { .run = run_opencl, .arg = &race },
	};
	const char *name = opencl_open();
	char text[64], against[128];

	race.opencl = name ? opencl_kernel(work->kernel, &race.arrays, LARGEST) : NULL;
	if (!race.opencl)
		return;
	check(&race, run_opencl);
	bench_race(racers, 2, bench_quick(bench) ? 3 : 9);
	snprintf(against, sizeof(against), "the same kernel by %s", name);
	bench_add(bench, &(struct bench_line) {
		.measure = work->name, .parameters = on_processors(text, sizeof(text)),
		.value = 1e3 * racers[0].seconds, .unit = "ms", .peer = 1e3 * racers[1].seconds,
		.against = against, .faster = true, .ratio = racers[1].lead.value,
		.low = racers[1].lead.low, .high = racers[1].lead.high,
		.at_least = work->opencl_at_least,
	});
}

static void fill(uint32_t words)
{
	float *a = (float *)memory[0], *b = (float *)memory[1];

	for (uint32_t i = 0; i < words; i++) {
		a[i] = (float)((i * 2654435761U) >> 20);
		b[i] = (float)((i * 40503U) >> 24);
	}
}

/* Numbers that f16 has */
static void fill_halves(uint32_t count)
{
	for (unsigned int array = 0; array < 2; array++)
		for (uint32_t i = 0; i < count; i++)
			((uint16_t *)memory[array])[i] = 0x3000 + (i * (array ? 7 : 13)) % 4096;
}

static void all_kernels(struct bench *bench)
{
	uint32_t n = bench_quick(bench) ? WORDS / 8 : WORDS;
	uint32_t side = bench_quick(bench) ? 256 : MATRIX;
	uint32_t square = bench_quick(bench) ? SQUARE / 2 : SQUARE;
	const struct work works[] = {
		{ "vectorAdd, f32", "vector_add", loop_vector_add, n, { n / 256, 1 }, { 256, 1 }, n,
		  4UL * n, 0.8, 0 },
		{ "stencil, 5 points, f32", "stencil", loop_stencil, square,
		  { square / 32, square / 8 }, { 32, 8 }, square, 4UL * square * square, 0.8, 0 },
		{ "histogram, atomics", "histogram", loop_histogram, n, { 256, 1 }, { 256, 1 }, n,
		  4UL * HISTOGRAM_BINS, 0, 0 },
		{ "sum, shared memory", "sum_shared", loop_sum, n, { 1024, 1 }, { 256, 1 }, n, 4,
		  0, 1 },
		{ "sum, shuffles", "sum_shuffle", loop_sum, n, { 1024, 1 }, { 256, 1 }, n, 4, 0,
		  0 },
		{ "product, shared tiles, f32", "product", loop_product, side,
		  { side / 16, side / 16 }, { 16, 16 }, side, 4UL * side * side, 0, 1 },
		{ "transpose, shared tiles, f32", "transpose", loop_transpose, square,
		  { square / 32, square / 32 }, { 32, 8 }, square, 4UL * square * square, 0, 1 },
	};
	const struct work halves = { "saxpy, f16", "saxpy", loop_saxpy, n, { n / 256, 1 },
				     { 256, 1 }, n, 2UL * n, 0.8, 0 };

	fill(n);
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		compare(bench, &works[i]);
		if (on_all)
			compare_opencl(bench, &works[i]);
	}
	fill_halves(n);
	compare(bench, &halves);
	fill(n);
}

/* ---- multimem */

static double load_array(void *data)
{
	const struct race *race = data;
	double start = bench_now();

	for (size_t at = 0; at < race->view->bytes; at += PIECE)
		CU(memcastReduceLoad(race->view, at, (char *)race->arrays.c + at, PIECE / 4,
				     MEMCAST_F32, MEMCAST_ADD));
	return bench_now() - start;
}

static double all_reduce_array(void *data)
{
	const struct race *race = data;
	double start = bench_now();

	for (size_t at = 0; at < race->view->bytes; at += PIECE) {
		CU(memcastReduceLoad(race->view, at, race->arrays.c, PIECE / 4, MEMCAST_F32,
				     MEMCAST_ADD));
		CU(memcastBroadcast(race->view, at, race->arrays.c, PIECE));
	}
	return bench_now() - start;
}

static void multimem(struct bench *bench, unsigned int replicas, bool all_reduce)
{
	struct memcast_view view = { .replicas = replicas, .bytes = LARGEST / 4 };
	const struct work work = { .grid = { 64, 1 }, .block = { 256, 1 } };
	struct race race = {
		.work = &work, .view = &view,
		.kernel = device_kernel(code, all_reduce ? "multimem_all_reduce" :
					      "multimem_load"),
		.arrays = { device_window(&view), NULL, memory[0], view.bytes / 16 },
	};
	struct bench_racer racers[] = {
		{ .run = run_kernel, .arg = &race },
		{ .run = all_reduce ? all_reduce_array : load_array, .arg = &race },
	};
	char text[64];

	for (unsigned int i = 0; i < replicas; i++) {
		view.replica[i] = memory[i + 1];
		memset(memory[i + 1], 0, view.bytes);
	}
	((float *)memory[1])[1] = 1;
	run_kernel(&race);
	if (((float *)(all_reduce ? memory[replicas] : memory[0]))[1] != 1)
		rank_die("a kernel's multimem gives a wrong sum");
	bench_race(racers, 2, bench_quick(bench) ? 3 : 9);
	snprintf(text, sizeof(text), "N=%u, v4.f32, %u processor%s", replicas, processors,
		 processors > 1 ? "s" : "");
	bench_add(bench, &(struct bench_line) {
		.measure = all_reduce ? "multimem.ld_reduce and .st" : "multimem.ld_reduce",
		.parameters = text, .value = 1e3 * racers[0].seconds, .unit = "ms",
		.peer = 1e3 * racers[1].seconds,
		.against = all_reduce ? "memcastReduceLoad and memcastBroadcast, one processor" :
			   "memcastReduceLoad, one processor",
		.faster = true, .ratio = racers[1].lead.value, .low = racers[1].lead.low,
		.high = racers[1].lead.high, .at_least = all_reduce ? 0 : 0.5,
	});
}

/* ---- the suite */

static void allocate(void)
{
	for (unsigned int i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		memory[i] = aligned_alloc(HUGE_BYTES, LARGEST);
		if (!memory[i])
			rank_die("no memory for %zu bytes", LARGEST);
		madvise(memory[i], LARGEST, MADV_HUGEPAGE);
		memset(memory[i], 0, LARGEST);
	}
}

static void run(struct bench *bench)
{
	cpu_set_t all, one;

	/* what is measured is made here, and not taken from the user's folder */
	setenv("MEMCAST_PTX_CACHE", "0", 1);
	allocate();
	code = device_load(ptx_kernels);
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	processors = 1;
	on_all = CPU_COUNT(&all) == 1;
	costs_measure(bench, code);
	for (;;) {
		all_kernels(bench);
		for (unsigned int n = 2; n <= REPLICAS_MOST; n *= 2) {
			multimem(bench, n, false);
			multimem(bench, n, true);
		}
		if (processors > 1 || CPU_COUNT(&all) < 2)
			break;
		sched_setaffinity(0, sizeof(all), &all);
		processors = CPU_COUNT(&all) < THREADS_MOST ? CPU_COUNT(&all) : THREADS_MOST;
		on_all = true;
	}
	device_unload(code);
	for (unsigned int i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		free(memory[i]);
}

const struct bench_suite bench_ptx = {
	.name = "ptx",
	.about = "kernels from PTX, against loops of C; compiling, launches, turns",
	.obstacle = device_open,
	.run = run,
};
