// SPDX-License-Identifier: MIT
/* Atomic operations that processors lack: loops of compare-and-exchange. */
#include <math.h>

#include "processor.h"
#include "ptx_math.h"

#define LOOP(type, memory, old, next)							\
	do {										\
		type *at = (memory);							\
											\
		old = __atomic_load_n(at, __ATOMIC_RELAXED);				\
		while (!__atomic_compare_exchange_n(at, &old, next, true,		\
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) \
			;								\
	} while (0)

uint32_t ptx_math_atomic_inc(void *memory, uint32_t most)
{
	uint32_t old;

	LOOP(uint32_t, memory, old, old >= most ? 0 : old + 1);
	return old;
}

uint32_t ptx_math_atomic_dec(void *memory, uint32_t most)
{
	uint32_t old;

	LOOP(uint32_t, memory, old, !old || old > most ? most : old - 1);
	return old;
}

static uint32_t flushed(uint32_t bits)
{
	return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

static uint32_t sum_bits(uint32_t old, float value, bool flush)
{
	float sum;

	if (flush)
		sum = float_of_bits(flushed(old)) + float_of_bits(flushed(bits_of_float(value)));
	else
		sum = float_of_bits(old) + value;
	return isnan(sum) ? 0x7fffffff : flush ? flushed(bits_of_float(sum)) : bits_of_float(sum);
}

/* Subnormals are zeros where the memory is not shared memory: @flush */
float ptx_math_atomic_add_f32(void *memory, float value, uint32_t flush)
{
	uint32_t old;

	LOOP(uint32_t, memory, old, sum_bits(old, value, flush));
	return float_of_bits(old);
}

static uint64_t sum_bits64(uint64_t old, double value, uint64_t quiet)
{
	double sum = double_of_bits(old);

	if (isnan(sum) && quiet)	/* in shared memory, the old NaN comes first */
		return old | quiet;
	if (isnan(value))
		return bits_of_double(value) | quiet;
	if (isnan(sum))
		return old;
	sum += value;
	/* processors differ in the NaN that infinities give */
	return isnan(sum) ? 0xfff8000000000000 : bits_of_double(sum);
}

/* Outside of shared memory, NaNs stay as they are: @raw */
double ptx_math_atomic_add_f64(void *memory, double value, uint32_t raw)
{
	uint64_t old;

	LOOP(uint64_t, memory, old, sum_bits64(old, value, raw ? 0 : 1ULL << 51));
	return double_of_bits(old);
}

/* @kind: bit 0: bf16; bit 1: two of them; from bit 2: 0 add, 1 min, 2 max */
static uint32_t half_combine(uint32_t a, uint32_t b, uint32_t kind)
{
	const struct narrow_format *format = kind & 1 ? &narrow_bf16 : &narrow_f16;
	double x = widen_bits(a & 0xffff, format), y = widen_bits(b & 0xffff,
								  format), result = x + y;

	if (kind >> 2) {
		bool first = isnan(y) || x < y || (x == y && signbit(x));

		if (kind >> 2 == 2)
			first = isnan(y) || x > y || (x == y && !signbit(x));
		if (isnan(x))
			first = false;
		result = first ? x : y;
	}
	return narrow_double(result, format, ROUND_RN, false);
}

static uint32_t halves_combine(uint32_t a, uint32_t b, uint32_t kind)
{
	return half_combine(a, b, kind) | half_combine(a >> 16, b >> 16, kind) << 16;
}

uint32_t ptx_math_atomic_half(void *memory, uint32_t value, uint32_t kind)
{
	uint32_t old;
	uint16_t old_half;

	if (kind & 2) {
		LOOP(uint32_t, memory, old, halves_combine(old, value, kind));
		return old;
	}
	LOOP(uint16_t, memory, old_half, (uint16_t)half_combine(old_half, value, kind));
	return old_half;
}

void ptx_math_exchange_128(void *memory, void *value, void *old)
{
	uint64_t expected[2] = {}, next[2];

	memcpy(next, value, 16);
	while (!exchange_128_if(memory, expected, next))
		;
	memcpy(old, expected, 16);
}

/*
 * Accesses in one where the processor makes two: stores exchange; loads, whose memory may be
 * read-only, look twice. What two looks have found was there at once, between them.
 */
void ptx_math_load_128(void *memory, void *value)
{
	const uint64_t *from = memory;
	uint64_t found[2];

	do {
		found[0] = __atomic_load_n(from, __ATOMIC_ACQUIRE);
		found[1] = __atomic_load_n(from + 1, __ATOMIC_ACQUIRE);
	} while (found[0] != __atomic_load_n(from, __ATOMIC_ACQUIRE) ||
		 found[1] != __atomic_load_n(from + 1, __ATOMIC_ACQUIRE));
	memcpy(value, found, 16);
}

void ptx_math_store_128(void *memory, void *value)
{
	uint64_t old[2];

	ptx_math_exchange_128(memory, value, old);
}

void ptx_math_compare_128(void *memory, void *compare, void *value, void *old)
{
	uint64_t expected[2], next[2];

	memcpy(expected, compare, 16);
	memcpy(next, value, 16);
	exchange_128_if(memory, expected, next);
	memcpy(old, expected, 16);
}
