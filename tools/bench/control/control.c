// SPDX-License-Identifier: MIT
/*
 * Suite "control": costs of calls, mappings and faults before any byte is moved,
 * in instructions of this processor, the kernel's included. Under a clock that
 * counts instructions (memcast-vm --icount) each cost is the same on every run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define SMALL		(2UL << 20)
#define LARGE		(1UL << 30)
#define ROUNDS		33
#define ROUNDS_LARGE	3	/* few, as zeroing the memory again takes long */
#define EMPTY_BAR	5

#define EMPTY_IOCTL	_IO(MEMCAST_IOC_MAGIC, 0x7f)

enum call {
	CREATE, EXPORT, IMPORT, RELEASE_IMPORT, RESERVE, MAP, SET_ACCESS, FAULT,
	COPY, FILL, TAKE_ACCESS, UNMAP, FREE, TEAM_CREATE, ADD_DEVICE, BIND_MEMORY,
	MAP_WINDOW, SET_ACCESS_WINDOW, FAULT_WINDOW, UNBIND, BIND_ADDRESS,
	UNMAP_WINDOW, RELEASE_TEAM, RELEASE, CALLS
};

static const struct {
	const char *name;
	bool bar;	/* the cost does not depend on the size, and has a bar */
} calls[CALLS] = {
	[CREATE] = { "cuMemCreate", false },
	[EXPORT] = { "cuMemExportToShareableHandle", false },
	[IMPORT] = { "cuMemImportFromShareableHandle", false },
	[RELEASE_IMPORT] = { "cuMemRelease, not the last", false },
	[RESERVE] = { "cuMemAddressReserve", false },
	[MAP] = { "cuMemMap", true },
	[SET_ACCESS] = { "cuMemSetAccess", true },
	[FAULT] = { "first touch", false },
	[COPY] = { "cuMemcpyHtoD of 8 bytes", false },
	[FILL] = { "cuMemsetD32 of 8 bytes", false },
	[TAKE_ACCESS] = { "cuMemSetAccess, none after touch", false },
	[UNMAP] = { "cuMemUnmap", false },
	[FREE] = { "cuMemAddressFree", false },
	[TEAM_CREATE] = { "cuMulticastCreate", false },
	[ADD_DEVICE] = { "cuMulticastAddDevice", false },
	[BIND_MEMORY] = { "cuMulticastBindMem", true },
	[MAP_WINDOW] = { "cuMemMap of a team", true },
	[SET_ACCESS_WINDOW] = { "cuMemSetAccess of a team", true },
	[FAULT_WINDOW] = { "first touch of a team", false },
	[UNBIND] = { "cuMulticastUnbind", false },
	[BIND_ADDRESS] = { "cuMulticastBindAddr", false },
	[UNMAP_WINDOW] = { "cuMemUnmap of a team", false },
	[RELEASE_TEAM] = { "cuMemRelease of a team", false },
	[RELEASE] = { "cuMemRelease, the last", false },
};

static double cost[CALLS];

/* Keeps the least of all rounds: interrupts add to a round, and are not the call's. */
static void keep(enum call call, uint64_t ticks)
{
	if (!cost[call] || (double)ticks < cost[call])
		cost[call] = (double)ticks;
}

#define COUNT(call, expression)						\
({									\
	uint64_t before_ = bench_ticks();				\
									\
	expression;							\
	keep(call, bench_ticks() - before_);				\
})

static const CUmemAccessDesc may_write = {
	.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static const CUmemAccessDesc may_nothing = {
	.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE,
};

/* Makes each call of a team once; the memory is on device 0. */
static void round_of_team(CUmemGenericAllocationHandle memory, CUdeviceptr mapped,
			  size_t bytes)
{
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = bytes,
		.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	};
	CUmemGenericAllocationHandle team;
	CUdeviceptr at;

	COUNT(TEAM_CREATE, CU(cuMulticastCreate(&team, &prop)));
	CU(cuMulticastAddDevice(team, 0));
	COUNT(ADD_DEVICE, CU(cuMulticastAddDevice(team, 1)));
	CU(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	COUNT(MAP_WINDOW, CU(cuMemMap(at, bytes, 0, team, 0)));
	COUNT(BIND_MEMORY, CU(cuMulticastBindMem(team, 0, memory, 0, bytes, 0)));
	COUNT(SET_ACCESS_WINDOW, CU(cuMemSetAccess(at, bytes, &may_write, 1)));
	COUNT(FAULT_WINDOW, *(volatile char *)(uintptr_t)at);
	COUNT(UNBIND, CU(cuMulticastUnbind(team, 0, 0, bytes)));
	COUNT(BIND_ADDRESS, CU(cuMulticastBindAddr(team, 0, mapped, bytes, 0)));
	COUNT(UNMAP_WINDOW, CU(cuMemUnmap(at, bytes)));
	CU(cuMemAddressFree(at, bytes));
	COUNT(RELEASE_TEAM, CU(cuMemRelease(team)));
}

static void round_of_calls(size_t bytes)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	};
	CUmemGenericAllocationHandle memory, import, other;
	uint64_t word = 1;
	CUdeviceptr at;
	int fd;

	CU(cuMemCreate(&other, SMALL, &prop, 0));
	COUNT(CREATE, CU(cuMemCreate(&memory, bytes, &prop, 0)));
	COUNT(EXPORT, CU(cuMemExportToShareableHandle(&fd, memory,
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
	COUNT(IMPORT, CU(cuMemImportFromShareableHandle(&import,
			(void *)(uintptr_t)fd,
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)));
	COUNT(RELEASE_IMPORT, CU(cuMemRelease(import)));
	close(fd);
	COUNT(RESERVE, CU(cuMemAddressReserve(&at, bytes, 0, 0, 0)));
	COUNT(MAP, CU(cuMemMap(at, bytes, 0, memory, 0)));
	COUNT(SET_ACCESS, CU(cuMemSetAccess(at, bytes, &may_write, 1)));
	COUNT(FAULT, *(volatile char *)(uintptr_t)at = 1);
	COUNT(COPY, CU(cuMemcpyHtoD(at, &word, sizeof(word))));
	COUNT(FILL, CU(cuMemsetD32(at, 1, 2)));
	round_of_team(memory, at, bytes);
	COUNT(TAKE_ACCESS, CU(cuMemSetAccess(at, bytes, &may_nothing, 1)));
	COUNT(UNMAP, CU(cuMemUnmap(at, bytes)));
	COUNT(FREE, CU(cuMemAddressFree(at, bytes)));
	CU(cuMemRelease(other));
	COUNT(RELEASE, CU(cuMemRelease(memory)));
}

/* Measures an ioctl whose number the file's driver does not know. */
static double empty_ioctl(struct bench *bench, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint64_t before, ticks, least = UINT64_MAX;
	char measure[64];
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		before = bench_ticks();
		ioctl(fd, EMPTY_IOCTL, NULL);
		ticks = bench_ticks() - before;
		if (ticks < least)
			least = ticks;
	}
	close(fd);
	snprintf(measure, sizeof(measure), "an ioctl on %s", path);
	bench_add(bench, &(struct bench_line) {
		.measure = measure, .value = (double)least, .unit = "instructions",
	});
	return (double)least;
}

static void report(struct bench *bench, size_t bytes, double empty)
{
	enum call call;

	for (call = 0; call < CALLS; call++)
		bench_add(bench, &(struct bench_line) {
			.measure = calls[call].name,
			.parameters = bench_bytes(bytes),
			.value = cost[call],
			.unit = "instructions",
			.peer = empty,
			.against = "an empty ioctl on /dev/memcast",
			.at_most = calls[call].bar ? EMPTY_BAR : 0,
		});
}

static void run_size(struct bench *bench, size_t bytes, unsigned int rounds,
		     double empty)
{
	unsigned int round;

	memset(cost, 0, sizeof(cost));
	for (round = 0; round < rounds; round++) {
		round_of_calls(bytes);
		bench_progress(bench, "%s, round %u of %u", bench_bytes(bytes),
			       round + 1, rounds);
	}
	report(bench, bytes, empty);
}

static void run(struct bench *bench)
{
	CUcontext context;
	double empty;

	bench_count_alone(bench);
	CU(cuInit(0));
	CU(cuDevicePrimaryCtxRetain(&context, 0));
	CU(cuCtxSetCurrent(context));
	empty_ioctl(bench, "/dev/null");
	empty = empty_ioctl(bench, "/dev/memcast");
	run_size(bench, SMALL, ROUNDS, empty);
	run_size(bench, LARGE, ROUNDS_LARGE, empty);
}

const char *bench_control_obstacle(void)
{
	if (access("/dev/memcast", R_OK | W_OK))
		return "no /dev/memcast that can be opened (insmod memcast.ko)";
	if (!bench_counts_instructions())
		return "the clock does not count instructions here";
	return NULL;
}

const struct bench_suite bench_control = {
	.name = "control",
	.about = "calls, mappings and faults in instructions, against an ioctl that does nothing",
	.obstacle = bench_control_obstacle,
	.machine = BENCH_CONTROL_MACHINE,
	.counted = true,
	.run = run,
};
