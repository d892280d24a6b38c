// SPDX-License-Identifier: MIT
/*
 * How the costs of calls grow with the number of devices in a team, of mappings in
 * a reservation, and of bindings in a team. A call may cost one tree step more each
 * time that the number doubles, and no more than that.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define CHUNK		MEMCAST_GRANULARITY
#define SAMPLES		9
#define SIZES_MAX	8
#define CALLS_MAX	9	/* with a NULL after the last name */

static const CUmemAccessDesc may_write = {
	.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

/* The costs of some calls, at each number of objects that existed before */
struct series {
	const char *what;		/* "mappings in the reservation" */
	const char *name[CALLS_MAX];
	unsigned int size[SIZES_MAX], sizes;
	double cost[CALLS_MAX][SIZES_MAX];
};

/* Keeps the least of all samples: interrupts add to a sample, and are not the call's. */
static void keep(struct series *series, unsigned int call, unsigned int size,
		 uint64_t ticks)
{
	double *cost = &series->cost[call][size];

	if (!*cost || (double)ticks < *cost)
		*cost = (double)ticks;
}

#define COUNT(series, call, size, expression)				\
({									\
	uint64_t before_ = bench_ticks();				\
									\
	expression;							\
	keep(series, call, size, bench_ticks() - before_);		\
})

static void report(struct bench *bench, const struct series *series)
{
	unsigned int call, i;

	for (call = 0; call < CALLS_MAX && series->name[call]; call++) {
		const double *cost = series->cost[call];

		for (i = 0; i < series->sizes; i++) {
			struct bench_line line = {
				.measure = series->name[call],
				.value = cost[i],
				.unit = "instructions",
			};
			char parameters[64], against[64];

			snprintf(parameters, sizeof(parameters), "%u %s",
				 series->size[i], series->what);
			line.parameters = parameters;
			snprintf(against, sizeof(against), "the same with %u",
				 series->size[0]);
			if (i) {
				line.against = against;
				line.peer = cost[0];
				line.at_most = log(series->size[i]) /
					       log(series->size[0]);
			}
			bench_add(bench, &line);
		}
	}
}

static CUmemGenericAllocationHandle new_memory(int device)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};
	CUmemGenericAllocationHandle memory;

	CU(cuMemCreate(&memory, CHUNK, &prop, 0));
	return memory;
}

/* ---- one memory, mapped again and again in one reservation */

enum { MAP, SET_ACCESS, TOUCH, UNMAP };

static void grow_mappings(struct bench *bench, struct series *series)
{
	unsigned int most = series->size[series->sizes - 1], there = 0, i, k;
	size_t bytes = (most + SAMPLES) * CHUNK;
	CUmemGenericAllocationHandle memory = new_memory(0);
	CUdeviceptr start;

	CU(cuMemAddressReserve(&start, bytes, 0, 0, 0));
	for (i = 0; i < series->sizes; i++) {
		CUdeviceptr at;

		for (; there < series->size[i]; there++) {
			at = start + there * CHUNK;
			CU(cuMemMap(at, CHUNK, 0, memory, 0));
			CU(cuMemSetAccess(at, CHUNK, &may_write, 1));
			bench_progress(bench, "%u of %u mappings", there, most);
		}
		for (k = 0; k < SAMPLES; k++) {
			at = start + (there + k) * CHUNK;
			COUNT(series, MAP, i, CU(cuMemMap(at, CHUNK, 0, memory, 0)));
			COUNT(series, SET_ACCESS, i,
			      CU(cuMemSetAccess(at, CHUNK, &may_write, 1)));
			COUNT(series, TOUCH, i, *(volatile char *)(uintptr_t)at = 1);
		}
		for (k = 0; k < SAMPLES; k++) {
			at = start + (there + k) * CHUNK;
			COUNT(series, UNMAP, i, CU(cuMemUnmap(at, CHUNK)));
		}
	}
	CU(cuMemUnmap(start, there * CHUNK));
	CU(cuMemAddressFree(start, bytes));
	CU(cuMemRelease(memory));
}

/* ---- one memory, bound again and again in one team */

enum { BIND, TOUCH_BOUND, UNBIND };

static void grow_bindings(struct bench *bench, struct series *series)
{
	unsigned int most = series->size[series->sizes - 1], there = 0, i, k;
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = (most + SAMPLES) * CHUNK,
	};
	CUmemGenericAllocationHandle memory = new_memory(0), team;
	CUdeviceptr start;

	CU(cuMulticastCreate(&team, &prop));
	CU(cuMulticastAddDevice(team, 0));
	CU(cuMulticastAddDevice(team, 1));
	CU(cuMemAddressReserve(&start, prop.size, 0, 0, 0));
	CU(cuMemMap(start, prop.size, 0, team, 0));
	CU(cuMemSetAccess(start, prop.size, &may_write, 1));
	for (i = 0; i < series->sizes; i++) {
		for (; there < series->size[i]; there++) {
			CU(cuMulticastBindMem(team, there * CHUNK, memory, 0, CHUNK, 0));
			bench_progress(bench, "%u of %u bindings", there, most);
		}
		for (k = 0; k < SAMPLES; k++) {
			size_t at = (there + k) * CHUNK;

			COUNT(series, BIND, i,
			      CU(cuMulticastBindMem(team, at, memory, 0, CHUNK, 0)));
			COUNT(series, TOUCH_BOUND, i,
			      *(volatile char *)(uintptr_t)(start + at));
		}
		for (k = 0; k < SAMPLES; k++)
			COUNT(series, UNBIND, i,
			      CU(cuMulticastUnbind(team, 0, (there + k) * CHUNK, CHUNK)));
	}
	CU(cuMemUnmap(start, prop.size));
	CU(cuMemAddressFree(start, prop.size));
	CU(cuMemRelease(memory));
	CU(cuMemRelease(team));
}

/* ---- a team of more and more devices, bound one after the other */

enum {
	JOIN, BIND_FIRST, BIND_LAST, MAP_WINDOW, ALLOW_WINDOW, TOUCH_WINDOW, UNMAP_WINDOW,
	UNBIND_LAST
};

static void team_of(struct series *series, unsigned int i,
		    const CUmemGenericAllocationHandle *memory)
{
	unsigned int devices = series->size[i], last = devices - 1, d;
	CUmulticastObjectProp prop = { .numDevices = devices, .size = CHUNK };
	CUmemGenericAllocationHandle team;
	CUdeviceptr at;

	CU(cuMulticastCreate(&team, &prop));
	for (d = 0; d < last; d++)
		CU(cuMulticastAddDevice(team, (int)d));
	COUNT(series, JOIN, i, CU(cuMulticastAddDevice(team, (int)last)));
	/* To bind the first member, the module looks whether windows may show a later one. */
	COUNT(series, BIND_FIRST, i,
	      CU(cuMulticastBindMem(team, 0, memory[0], 0, CHUNK, 0)));
	for (d = 1; d < last; d++)
		CU(cuMulticastBindMem(team, 0, memory[d], 0, CHUNK, 0));
	COUNT(series, BIND_LAST, i,
	      CU(cuMulticastBindMem(team, 0, memory[last], 0, CHUNK, 0)));
	CU(cuMemAddressReserve(&at, CHUNK, 0, 0, 0));
	COUNT(series, MAP_WINDOW, i, CU(cuMemMap(at, CHUNK, 0, team, 0)));
	COUNT(series, ALLOW_WINDOW, i, CU(cuMemSetAccess(at, CHUNK, &may_write, 1)));
	COUNT(series, TOUCH_WINDOW, i, *(volatile char *)(uintptr_t)at);
	COUNT(series, UNBIND_LAST, i,
	      CU(cuMulticastUnbind(team, (int)last, 0, CHUNK)));
	COUNT(series, UNMAP_WINDOW, i, CU(cuMemUnmap(at, CHUNK)));
	CU(cuMemAddressFree(at, CHUNK));
	CU(cuMemRelease(team));
}

static void grow_devices(struct bench *bench, struct series *series)
{
	unsigned int devices = series->size[series->sizes - 1], device, i, k;
	CUmemGenericAllocationHandle memory[devices];

	for (device = 0; device < devices; device++)
		memory[device] = new_memory((int)device);
	for (i = 0; i < series->sizes; i++)
		for (k = 0; k < SAMPLES; k++) {
			team_of(series, i, memory);
			bench_progress(bench, "%u devices", series->size[i]);
		}
	for (device = 0; device < devices; device++)
		CU(cuMemRelease(memory[device]));
}

#define OF_DEVICES							\
	.what = "devices",						\
	.name = {							\
		[JOIN] = "cuMulticastAddDevice, the last",		\
		[BIND_FIRST] = "cuMulticastBindMem, the first",		\
		[BIND_LAST] = "cuMulticastBindMem, the last",		\
		[MAP_WINDOW] = "cuMemMap of the team",			\
		[ALLOW_WINDOW] = "cuMemSetAccess of the team",		\
		[TOUCH_WINDOW] = "first touch of the team",		\
		[UNMAP_WINDOW] = "cuMemUnmap of the team",		\
		[UNBIND_LAST] = "cuMulticastUnbind, the last",		\
	}

/* This suite has its own machine: data that the module keeps per device make all calls dearer. */
static void run_rack(struct bench *bench)
{
	struct series devices = { OF_DEVICES, .size = { 2, 72, 144, 288, 576 }, .sizes = 5 };

	bench_count_alone(bench);
	CU(cuInit(0));
	grow_devices(bench, &devices);
	report(bench, &devices);
}

static void run(struct bench *bench)
{
	struct series devices = {
		OF_DEVICES, .size = { 2, 4, 8, 16, 32, 64 }, .sizes = 6,
	}, mappings = {
		.what = "mappings",
		.name = {
			[MAP] = "cuMemMap",
			[SET_ACCESS] = "cuMemSetAccess",
			[TOUCH] = "first touch",
			[UNMAP] = "cuMemUnmap",
		},
		.size = { 10, 100, 1000, 10000, 100000 }, .sizes = 5,
	}, bindings = {
		.what = "bindings",
		.name = {
			[BIND] = "cuMulticastBindMem",
			[TOUCH_BOUND] = "first touch of the team",
			[UNBIND] = "cuMulticastUnbind",
		},
		.size = { 10, 100, 1000, 10000, 100000 }, .sizes = 5,
	};

	if (bench_quick(bench))
		mappings.sizes = bindings.sizes = 4;
	bench_count_alone(bench);
	CU(cuInit(0));
	grow_devices(bench, &devices);
	report(bench, &devices);
	grow_mappings(bench, &mappings);
	report(bench, &mappings);
	grow_bindings(bench, &bindings);
	report(bench, &bindings);
}

const struct bench_suite bench_growth = {
	.name = "growth",
	.about = "calls in instructions, with 2 to 64 devices, 10 to 100,000 mappings and bindings",
	.obstacle = bench_control_obstacle,
	.machine = BENCH_CONTROL_MACHINE,
	.counted = true,
	.run = run,
};

const struct bench_suite bench_rack = {
	.name = "rack",
	.about = "calls on teams in instructions, with 2 to 576 devices",
	.obstacle = bench_control_obstacle,
	.machine = "--root --icount --cpus 1 --devices 576 --pool-mib 2 --timeout 900",
	.counted = true,
	.run = run_rack,
};
