/* SPDX-License-Identifier: MIT */
/*
 * Data for all-reduces: floats whose sums are not exact, as in most programs, and
 * that can be summed in place many times before they are infinite. QEMU is several
 * times slower when it adds floats whose sum is exact, such as zeros.
 */
#ifndef MEMCAST_TOOLS_BENCH_DATA_H
#define MEMCAST_TOOLS_BENCH_DATA_H

#include <stddef.h>
#include <stdint.h>

static inline void bench_data(void *to, size_t bytes, unsigned int rank)
{
	uint32_t word = rank + 1;
	float *f32 = to;
	size_t i;

	for (i = 0; i < bytes / sizeof(*f32); i++) {
		word = word * 1664525 + 1013904223;
		f32[i] = (float)(word >> 8 | 1) * 0x1p-124f;
	}
}

#endif /* MEMCAST_TOOLS_BENCH_DATA_H */
