// SPDX-License-Identifier: MIT
#include <math.h>

#include "pattern.h"

static uint32_t mix(size_t index, unsigned int rank, uint32_t seed)
{
	uint32_t word = (uint32_t)index * 0x9e3779b1u +
			(rank + 1) * 0x85ebca6bu + seed * 0xc2b2ae35u;

	word = (word ^ word >> 16) * 0x7feb352du;
	word = (word ^ word >> 15) * 0x846ca68bu;
	return word ^ word >> 16;
}

static uint64_t mix_u64(size_t index, unsigned int rank, uint32_t seed)
{
	return (uint64_t)mix(index, rank, ~seed) << 32 | mix(index, rank, seed);
}

/* 25 bits, so that the value is exact in f32 and in double. */
static float mix_f32(size_t index, unsigned int rank, uint32_t seed)
{
	return ((int32_t)(mix(index, rank, seed) >> 7) - (1 << 24)) * 0x1p-24f;
}

void pattern_fill(const struct element *element, void *to, size_t count,
		  unsigned int rank, uint32_t seed)
{
	uint32_t *u32 = to;
	uint64_t *u64 = to;
	float *f32 = to;
	size_t i;

	if (element == &element_u32)
		for (i = 0; i < count; i++)
			u32[i] = mix(i, rank, seed);
	else if (element == &element_u64)
		for (i = 0; i < count; i++)
			u64[i] = mix_u64(i, rank, seed);
	else
		for (i = 0; i < count; i++)
			f32[i] = mix_f32(i, rank, seed);
}

static int f32_is_sum(float value, size_t index, unsigned int first,
		      unsigned int ranks, uint32_t seed)
{
	double sum = 0, size = 0;
	unsigned int rank;

	for (rank = first; rank < first + ranks; rank++) {
		double part = mix_f32(index, rank, seed);

		sum += part;
		size += fabs(part);
	}
	return fabs(value - sum) <= (ranks - 1) * 0x1p-24 * size;
}

uint64_t pattern_check(const struct element *element, const void *from, size_t start,
		       size_t count, unsigned int first, unsigned int ranks, uint32_t seed)
{
	const uint32_t *u32 = from;
	const uint64_t *u64 = from;
	const float *f32 = from;
	uint64_t wrong = 0;
	unsigned int rank;
	size_t i;

	for (i = start; i < start + count; i++) {
		uint64_t sum = 0;

		if (element == &element_f32) {
			wrong += !f32_is_sum(f32[i], i, first, ranks, seed);
			continue;
		}
		for (rank = first; rank < first + ranks; rank++)
			sum += mix_u64(i, rank, seed);
		if (element == &element_u32)
			wrong += u32[i] != (uint32_t)sum;
		else
			wrong += u64[i] != sum;
	}
	return wrong;
}
