// SPDX-License-Identifier: MIT
/*
 * Suite "many": the library's calls in a program that has many objects: streams, kernels,
 * modules, contexts with memory, nodes. A call costs no more than one tree step for each time
 * that their number doubles.
 */
#include <cuda.h>
#include <memcast/kernel.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define SAMPLES		9	/* less than the least size: those objects are destroyed */
#define SIZES		3
#define STEP		400	/* a tree step costs less: one comparison of names */

static const unsigned int sizes[SIZES] = { 10, 100, 1000 };

#define HEAD	".version 8.0\n.target sm_90\n.address_size 64\n"

/*
 * The least of all samples: interrupts add to a sample, and are not the call's. @i_: the sample's
 * number, for the three expressions
 */
#define LEAST(before, expression, after)				\
({									\
	uint64_t least_ = UINT64_MAX;					\
									\
	for (unsigned int i_ = 0; i_ < SAMPLES; i_++) {			\
		uint64_t start_, ticks_;				\
									\
		before;							\
		start_ = bench_ticks();					\
		expression;						\
		ticks_ = bench_ticks() - start_;			\
		if (ticks_ < least_)					\
			least_ = ticks_;				\
		after;							\
	}								\
	(double)least_;							\
})

/* Adds the lines of a call: its costs with each number of objects */
static void report(struct bench *bench, const char *call, const char *what, const double *cost)
{
	for (unsigned int i = 0; i < SIZES; i++) {
		char parameters[64], against[64];
		struct bench_line line = {
			.measure = call, .parameters = parameters, .value = cost[i],
			.unit = "instructions",
		};

		snprintf(parameters, sizeof(parameters), "%u %s", sizes[i], what);
		snprintf(against, sizeof(against), "the same with %u, and ten tree steps",
			 sizes[0]);
		if (i) {
			line.peer = cost[0] + 10 * STEP;
			line.against = against;
			line.at_most = 1;
		}
		bench_add(bench, &line);
	}
}

static void streams(struct bench *bench)
{
	double query[SIZES], fill[SIZES], destroy[SIZES], legacy[SIZES];
	CUstream *all = calloc(sizes[SIZES - 1], sizeof(*all)), more;
	unsigned int i, there = 0;
	CUdeviceptr at;

	CU(cuMemAlloc(&at, 64));
	CU(cuMemsetD32Async(at, 0, 1, NULL));
	CU(cuStreamSynchronize(NULL));
	for (i = 0; i < SIZES; i++) {
		while (there < sizes[i])
			CU(cuStreamCreate(&all[there++], 0));
		query[i] = LEAST(, cuStreamQuery(all[0]), );
		legacy[i] = LEAST(, cuStreamQuery(NULL), );
		fill[i] = LEAST(, CU(cuMemsetD32Async(at, 1, 1, all[SAMPLES])),
				CU(cuStreamSynchronize(all[SAMPLES])));
		destroy[i] = LEAST(CU(cuStreamCreate(&more, 0)), CU(cuStreamDestroy(all[i_])),
				   all[i_] = more);
	}
	while (there--)
		CU(cuStreamDestroy(all[there]));
	CU(cuMemFree(at));
	free(all);
	report(bench, "cuStreamQuery", "streams", query);
	report(bench, "cuStreamQuery of the legacy stream", "streams", legacy);
	report(bench, "cuMemsetD32Async", "streams", fill);
	report(bench, "cuStreamDestroy, an early one", "streams", destroy);
}

static void nothing(const struct memcast_launch *launch)
{
	(void)launch;
}

static void add_kernel(unsigned int number)
{
	char name[32];
	struct memcast_kernel kernel = {
		.size = sizeof(kernel), .name = name, .shape = MEMCAST_ONCE,
		.function = nothing,
	};

	snprintf(name, sizeof(name), "kernel%u", number);
	memcastKernelMust(&kernel);
}

static void kernels(struct bench *bench)
{
	static const char code[] = HEAD ".visible .entry kernel0() { ret; }\n";
	double first[SIZES], second[SIZES];
	unsigned int i, there = 0;
	CUfunction function;
	CUmodule module;
	CUstream stream;

	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < SIZES; i++) {
		while (there < sizes[i])
			add_kernel(there++);
#define LAUNCH	CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL))
		first[i] = LEAST(({
			CU(cuModuleLoadData(&module, code));
			CU(cuModuleGetFunction(&function, module, "kernel0"));
		}), LAUNCH, CU(cuModuleUnload(module)));
		CU(cuModuleLoadData(&module, code));
		CU(cuModuleGetFunction(&function, module, "kernel0"));
		LAUNCH;
		second[i] = LEAST(CU(cuStreamSynchronize(stream)), LAUNCH, );
		CU(cuModuleUnload(module));
	}
	CU(cuStreamDestroy(stream));
	report(bench, "cuLaunchKernel, a function's first", "registered kernels", first);
	report(bench, "cuLaunchKernel", "registered kernels", second);
}

static void modules(struct bench *bench)
{
	static const char code[] = HEAD ".visible .entry kernel0() { ret; }\n";
	CUmodule *all = calloc(sizes[SIZES - 1], sizeof(*all)), more;
	double load[SIZES], unload[SIZES];
	unsigned int i, there = 0;

	for (i = 0; i < SIZES; i++) {
		while (there < sizes[i])
			CU(cuModuleLoadData(&all[there++], code));
		load[i] = LEAST(, CU(cuModuleLoadData(&more, code)), CU(cuModuleUnload(more)));
		unload[i] = LEAST(CU(cuModuleLoadData(&more, code)), CU(cuModuleUnload(all[i_])),
				  all[i_] = more);
	}
	while (there--)
		CU(cuModuleUnload(all[there]));
	free(all);
	report(bench, "cuModuleLoadData", "modules", load);
	report(bench, "cuModuleUnload, an early one", "modules", unload);
}

static void clones(struct bench *bench)
{
	double find[SIZES];
	CUgraph graph, clone;
	CUgraphNode node, last, copy;
	unsigned int i, there = 0;

	CU(cuGraphCreate(&graph, 0));
	for (i = 0; i < SIZES; i++) {
		for (; there < sizes[i]; there++)
			CU(cuGraphAddEmptyNode(&node, graph, NULL, 0));
		last = node;
		CU(cuGraphClone(&clone, graph));
		find[i] = LEAST(, CU(cuGraphNodeFindInClone(&copy, last, clone)), );
		CU(cuGraphDestroy(clone));
	}
	CU(cuGraphDestroy(graph));
	report(bench, "cuGraphNodeFindInClone", "nodes", find);
}

/* Memory of a pool belongs to no context; to find that out must not cost a look at them all. */
static void pools(struct bench *bench)
{
	unsigned long long own, pool;
	CUdeviceptr plain, of_pool;
	CUmemoryPool handle;
	CUstream stream;

	CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CU(cuMemAlloc(&plain, 64));
	CU(cuMemAllocAsync(&of_pool, 64, stream));
	CU(cuStreamSynchronize(stream));
	own = LEAST(, cuPointerGetAttribute(&handle, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, plain), );
	pool = LEAST(, cuPointerGetAttribute(&handle, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
					     of_pool), );
	bench_add(bench, &(struct bench_line) {
		.measure = "cuPointerGetAttribute", .parameters = "memory of a context",
		.value = own, .unit = "instructions",
	});
	bench_add(bench, &(struct bench_line) {
		.measure = "cuPointerGetAttribute", .parameters = "memory of a pool",
		.value = pool, .unit = "instructions", .peer = own + STEP,
		.against = "the same of a context's memory", .at_most = 1,
	});
	CU(cuMemFree(of_pool));
	CU(cuMemFree(plain));
	CU(cuStreamDestroy(stream));
}

static void run(struct bench *bench)
{
	CUcontext context;

	bench_count_alone(bench);
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	streams(bench);
	kernels(bench);
	modules(bench);
	clones(bench);
	pools(bench);
}

const struct bench_suite bench_many = {
	.name = "many",
	.about = "the library's calls among many objects, in instructions",
	.obstacle = bench_control_obstacle,
	.machine = BENCH_CONTROL_MACHINE,
	.counted = true,
	.run = run,
};
