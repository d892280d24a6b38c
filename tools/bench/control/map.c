// SPDX-License-Identifier: MIT
/*
 * Suite "map": the cost of memory before its use: to create it, to map it, and to
 * touch every page once; compared with other ways to share memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/count.h"
#include "shared/team.h"

#define ROUNDS		3
#define PAGE_BYTES	4096
#define HUGE_BYTES	(2UL << 20)

#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"
#define UDMABUF_LIMIT	"/sys/module/udmabuf/parameters/size_limit_mb"

struct costs {
	double create, map, touch;
};

static double all(const struct costs *costs)
{
	return costs->create + costs->map + costs->touch;
}

static const char *obstacle(void)
{
	if (access("/dev/memcast", R_OK | W_OK))
		return "no /dev/memcast that can be opened (insmod memcast.ko)";
	return NULL;
}

/* Return: seconds since *last, which becomes the present time */
static double lap(double *last)
{
	double now = bench_now(), passed = now - *last;

	*last = now;
	return passed;
}

static void touch(unsigned char *at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE_BYTES)
		*(volatile unsigned char *)(at + i) = 1;
}

static void use_memcast(size_t bytes, struct costs *costs)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	};
	CUmemAccessDesc access = {
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle memory;
	double last = bench_now();
	CUdeviceptr at;

	CU(cuMemCreate(&memory, bytes, &prop, 0));
	costs->create = lap(&last);
	CU(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CU(cuMemMap(at, bytes, 0, memory, 0));
	CU(cuMemSetAccess(at, bytes, &access, 1));
	costs->map = lap(&last);
	touch((unsigned char *)(uintptr_t)at, bytes);
	costs->touch = lap(&last);
	CU(cuMemUnmap(at, bytes));
	CU(cuMemAddressFree(at, bytes));
	CU(cuMemRelease(memory));
}

/* Waits for the zeroing of freed memory in the background, so that no measurement includes it. */
static void wait_for_zeroing(void)
{
	usleep(300000);
}

static unsigned char *map_fd(int fd, size_t bytes)
{
	unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				 fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Return: NULL, or what does not work */
static const char *use_memfd(size_t bytes, unsigned int flags, struct costs *costs)
{
	double last = bench_now();
	const char *why = NULL;
	unsigned char *at;
	int fd;

	fd = memfd_create("bench", MFD_CLOEXEC | flags);
	if (fd < 0)
		return "memfd_create";
	if (ftruncate(fd, (off_t)bytes))
		why = "ftruncate";
	costs->create = lap(&last);
	at = why ? NULL : map_fd(fd, bytes);
	costs->map = lap(&last);
	if (at) {
		touch(at, bytes);
		costs->touch = lap(&last);
		munmap(at, bytes);
	} else if (!why) {
		why = "mmap";
	}
	close(fd);
	return why;
}

static const char *use_udmabuf(size_t bytes, struct costs *costs)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), buffer;
	const char *why = NULL;
	unsigned char *at;
	double last;

	if (device < 0)
		return "opening /dev/udmabuf";
	create.memfd = (uint32_t)memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate((int)create.memfd, (off_t)bytes) ||
	    fcntl((int)create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		why = "a sealed memfd";
	last = bench_now();
	buffer = why ? -1 : ioctl(device, UDMABUF_CREATE, &create);
	costs->create = lap(&last);
	at = buffer < 0 ? NULL : map_fd(buffer, bytes);
	costs->map = lap(&last);
	if (at) {
		touch(at, bytes);
		costs->touch = lap(&last);
		munmap(at, bytes);
	} else if (!why) {
		why = buffer < 0 ? "UDMABUF_CREATE" : "mmap of a udmabuf";
	}
	if (buffer >= 0)
		close(buffer);
	close((int)create.memfd);
	close(device);
	return why;
}

/* Best effort: if this process may not write the file, the use that needs the value says so. */
static void set(const char *path, size_t value)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return;
	fprintf(file, "%zu\n", value);
	fclose(file);
}

enum way { OURS, SMALL_PAGES, HUGE_PAGES_WAY, UDMABUF, WAYS };

static const char *const name[WAYS] = {
	"memcast", "memfd, pages of 4 KiB", "memfd, hugetlb pages of 2 MiB",
	"udmabuf of a memfd, pages of 4 KiB",
};

static const char *use(enum way way, size_t bytes, struct costs *costs)
{
	if (way == SMALL_PAGES)
		return use_memfd(bytes, 0, costs);
	if (way == HUGE_PAGES_WAY)
		return use_memfd(bytes, MFD_HUGETLB | MFD_HUGE_2MB, costs);
	if (way == UDMABUF)
		return use_udmabuf(bytes, costs);
	wait_for_zeroing();
	use_memcast(bytes, costs);
	return NULL;
}

/* Measures all ways in turn, so that all see the same machine, and takes medians. */
static void run_rounds(struct bench *bench, size_t bytes, unsigned int rounds,
		       struct costs *median, bool *works)
{
	double part[WAYS][3][ROUNDS];
	unsigned int round, i;
	enum way way;

	for (round = 0; round < rounds; round++) {
		for (way = 0; way < WAYS; way++) {
			struct costs costs = { 0 };
			const char *why = NULL;

			if (works[way])
				why = use(way, bytes, &costs);
			if (why) {
				bench_skip(bench, name[way], "%s: %s", why,
					   strerror(errno));
				works[way] = false;
			}
			part[way][0][round] = costs.create;
			part[way][1][round] = costs.map;
			part[way][2][round] = costs.touch;
			bench_progress(bench, "round %u of %u, %s", round + 1,
				       rounds, name[way]);
		}
	}
	for (way = 0; way < WAYS; way++)
		for (i = 0; i < 3; i++)
			((double *)&median[way])[i] =
				bench_median(part[way][i], rounds);
}

static void run(struct bench *bench)
{
	size_t bytes = bench_quick(bench) ? 128UL << 20 : 1UL << 30;
	bool works[WAYS] = { true, true, true, true };
	bool counts = bench_counts_instructions();
	struct costs median[WAYS];
	struct bench_line line = {
		.measure = "create, map, touch",
		.parameters = bench_bytes(bytes),
		.unit = counts ? "M instructions" : "ms",
	};
	double ours;

	set(HUGE_PAGES, bytes / HUGE_BYTES);
	set(UDMABUF_LIMIT, bytes >> 20);
	CU(cuInit(0));
	run_rounds(bench, bytes, counts ? 1 : ROUNDS, median, works);
	set(HUGE_PAGES, 0);

	ours = all(&median[OURS]);
	line.value = ours * 1e3;
	if (works[SMALL_PAGES]) {
		line.against = name[SMALL_PAGES];
		line.peer = all(&median[SMALL_PAGES]) * 1e3;
		line.faster = true;
		line.at_least = 100;
		bench_add(bench, &line);
	}
	line.faster = false;
	line.at_least = 0;
	if (works[HUGE_PAGES_WAY]) {
		line.against = name[HUGE_PAGES_WAY];
		line.peer = all(&median[HUGE_PAGES_WAY]) * 1e3;
		line.at_most = 0.5;
		bench_add(bench, &line);
	}
	if (works[UDMABUF]) {
		line.measure = "touch";
		line.value = median[OURS].touch * 1e3;
		line.against = name[UDMABUF];
		line.peer = median[UDMABUF].touch * 1e3;
		line.at_most = 0.01;
		bench_add(bench, &line);
	}
}

const struct bench_suite bench_map = {
	.name = "map",
	.about = "create, map and first touch of memory, against memfd, hugetlb, udmabuf",
	.obstacle = obstacle,
	/* An emulator's own tables have 4 KiB pages, so its times are unfair; counts are not. */
	.machine = "--root --icount --cpus 1 --devices 2 --pool-mib 1024,64 --memory 4608",
	.run = run,
};
