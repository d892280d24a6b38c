// SPDX-License-Identifier: MIT
/* Permutations of bytes, the n-th set bit, clocks. */
#include <time.h>

#include "processor.h"
#include "ptx_math.h"

static uint32_t byte_at(uint64_t both, uint32_t digit)
{
	uint32_t byte = both >> 8 * (digit & 7) & 0xff;

	return digit & 8 ? byte & 0x80 ? 0xff : 0 : byte;
}

/* @mode: 0: the usual one; f4e, b4e, rc8, ecl, ecr, rc16 */
uint32_t ptx_math_prmt(uint32_t a, uint32_t b, uint32_t selector, uint32_t mode)
{
	uint64_t both = (uint64_t)b << 32 | a;
	uint32_t s = selector & 3, result = 0;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t digits[] = {
			selector >> 4 * i & 15, s + i, (s - i) & 7, s, i > s ? i : s, i < s ? i : s,
			2 * (s & 1) + (i & 1),
		};

		result |= byte_at(both, digits[mode]) << 8 * i;
	}
	return result;
}

/* The @offset-th bit that is set, counted from @base upwards, or downwards if it is negative */
uint32_t ptx_math_fns(uint32_t mask, uint32_t base, uint32_t offset)
{
	int step = (int32_t)offset < 0 ? -1 : 1;
	uint32_t count = step < 0 ? -offset : offset;

	if (!count)
		return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
	for (int64_t at = base; at >= 0 && at < 32; at += step)
		if (mask >> at & 1 && !--count)
			return at;
	return UINT32_MAX;
}

uint64_t ptx_math_clock(void *unused)
{
	(void)unused;
	return processor_clock();
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t start;

__attribute__((constructor)) static void find_start(void)
{
	start = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC);
}

/* The time of day, but it goes on evenly where somebody sets the clock. */
uint64_t ptx_math_globaltimer(void *unused)
{
	(void)unused;
	return start + nanoseconds(CLOCK_MONOTONIC);
}
