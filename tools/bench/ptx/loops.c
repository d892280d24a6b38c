// SPDX-License-Identifier: MIT
/*
 * What the kernels do, as C programs do it. The compiler makes versions for several processors, and
 * optimises this file with -O3.
 */
#include <stdatomic.h>

#include "ptx.h"

#define CLONES	__attribute__((__target_clones__("default", "avx2", "arch=x86-64-v4")))

CLONES void loop_vector_add(const struct arrays *arrays, size_t first, size_t end)
{
	const float *a = arrays->a, *b = arrays->b;
	float *c = arrays->c;

	for (size_t i = first; i < end; i++)
		c[i] = a[i] + b[i];
}

/* F16C is what converts f16 on processors without arithmetic of it. */
__attribute__((__target__("avx2,f16c,fma")))
void loop_saxpy(const struct arrays *arrays, size_t first, size_t end)
{
	const _Float16 *a = arrays->a, *b = arrays->b;
	_Float16 *c = arrays->c;

	for (size_t i = first; i < end; i++)
		c[i] = (_Float16)2.0f * a[i] + b[i];
}

CLONES static uint32_t sum_of(const uint32_t *a, size_t first, size_t end)
{
	uint32_t sum = 0;

	for (size_t i = first; i < end; i++)
		sum += a[i];
	return sum;
}

void loop_sum(const struct arrays *arrays, size_t first, size_t end)
{
	atomic_fetch_add((_Atomic(uint32_t) *)arrays->c,
			 sum_of(arrays->a, first, end));
}

void loop_histogram(const struct arrays *arrays, size_t first, size_t end)
{
	uint32_t counts[HISTOGRAM_BINS] = { 0 };
	const unsigned char *a = arrays->a;

	for (size_t i = first; i < end; i++)
		counts[a[i]]++;
	for (unsigned int bin = 0; bin < HISTOGRAM_BINS; bin++)
		atomic_fetch_add((_Atomic(uint32_t) *)arrays->c + bin, counts[bin]);
}

/* Rows first to end of a product of two square matrices */
CLONES void loop_product(const struct arrays *arrays, size_t first, size_t end)
{
	const float *a = arrays->a, *b = arrays->b;
	float *c = arrays->c;
	size_t n = arrays->n;

	for (size_t row = first; row < end; row++) {
		for (size_t column = 0; column < n; column++)
			c[row * n + column] = 0;
		for (size_t k = 0; k < n; k++)
			for (size_t column = 0; column < n; column++)
				c[row * n + column] = __builtin_fmaf(a[row * n + k],
								     b[k * n + column],
								     c[row * n + column]);
	}
}

CLONES void loop_transpose(const struct arrays *arrays, size_t first, size_t end)
{
	const float *a = arrays->a;
	float *c = arrays->c;
	size_t n = arrays->n;

	for (size_t row = first; row < end; row++)
		for (size_t column = 0; column < n; column++)
			c[row * n + column] = a[column * n + row];
}

CLONES void loop_stencil(const struct arrays *arrays, size_t first, size_t end)
{
	const float *a = arrays->a;
	float *c = arrays->c;
	size_t n = arrays->n;

	for (size_t row = first ? first : 1; row < (end < n ? end : n - 1); row++)
		for (size_t i = row * n + 1; i < row * n + n - 1; i++)
			c[i] = a[i] + 0.25f * (((a[i - 1] + a[i + 1]) + a[i - n]) + a[i + n]);
}
