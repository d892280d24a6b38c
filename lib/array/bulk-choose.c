// SPDX-License-Identifier: MIT
/*
 * What the bulk functions take from the CPU, or are told to.
 *
 * The instruction set: the widest, or MEMCAST_CPU=sse2|avx2|avx512. That holds for
 * QEMU without KVM as well (measured: AVX2 takes 0.55 to 1.0 of SSE2's time).
 *
 * From how many bytes on stores go past the caches: three quarters of what the last
 * of them holds (measured), or MEMCAST_STREAM=BYTES. As long as it holds all that is
 * written, it takes stores several times as fast as memory, and whoever reads next
 * finds it there.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "bulk.h"

#define VARIABLE	"MEMCAST_CPU"
#define STREAM_VARIABLE	"MEMCAST_STREAM"
#define CACHE_SIZE	"/sys/devices/system/cpu/cpu0/cache/index3/size"
#define CACHE_UNKNOWN	(8UL << 20)	/* emulated CPUs do not say */

const struct bulk_loops *bulk_loops_chosen;
size_t bulk_stream_chosen;

static bool has_sse2(void)
{
	return true;
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

static const struct {
	const char *name;
	const struct bulk_loops *loops;
	bool (*there)(void);
} sets[] = {	/* the best last */
	{ "sse2", &bulk_sse2, has_sse2 },
	{ "avx2", &bulk_avx2, has_avx2 },
	{ "avx512", &bulk_avx512, has_avx512 },
};

static const struct bulk_loops *choose(void)
{
	const char *wanted = secure_getenv(VARIABLE);
	const struct bulk_loops *loops = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		if (!sets[i].there())
			continue;
		if (wanted && !strcmp(wanted, sets[i].name))
			return sets[i].loops;
		loops = sets[i].loops;
	}
	if (wanted && *wanted)
		fprintf(stderr, "memcast: " VARIABLE "=%s: this CPU has no such thing; it is "
			"one of sse2, avx2, avx512\n", wanted);
	return loops;
}

const struct bulk_loops *bulk_loops_choose(void)
{
	const struct bulk_loops *loops = choose();

	__atomic_store_n(&bulk_loops_chosen, loops, __ATOMIC_RELAXED);
	return loops;
}

/* Not sysconf(): in virtual machines it has told ten times as much. */
static size_t cache_bytes(void)
{
	FILE *file = fopen(CACHE_SIZE, "re");
	size_t size = 0;
	char unit = 0;

	if (file) {
		if (fscanf(file, "%zu%c", &size, &unit) != 2)
			size = 0;
		fclose(file);
	}
	return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : 0;
}

static size_t choose_stream(void)
{
	const char *wanted = secure_getenv(STREAM_VARIABLE);
	char *end;

	if (wanted && *wanted) {
		size_t bytes = strtoull(wanted, &end, 0);

		if (!*end && bytes)
			return bytes;
		fprintf(stderr, "memcast: " STREAM_VARIABLE "=%s: not a number of bytes\n", wanted);
	}
	return cache_bytes() / 4 * 3 ?: CACHE_UNKNOWN;
}

size_t bulk_stream_choose(void)
{
	size_t bytes = choose_stream();

	__atomic_store_n(&bulk_stream_chosen, bytes, __ATOMIC_RELAXED);
	return bytes;
}
