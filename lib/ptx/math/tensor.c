// SPDX-License-Identifier: MIT
/*
 * A sum of products as the tensor cores of an H100 make it: all products and what they are added to
 * are shifted to the largest exponent, cut off behind 25 bits, and added exactly. The sum is cut
 * off to an f32, or rounded to the nearest f16. Subnormal numbers have the smallest exponent.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "matrix.h"

#define KEPT	25		/* bits behind the point, at the largest exponent */
#define NONE	INT32_MIN

static const struct { uint8_t exponent, mantissa; } formats[MATRIX_TYPES] = {
	[MATRIX_F16] = { 5, 10 }, [MATRIX_BF16] = { 8, 7 }, [MATRIX_TF32] = { 8, 10 },
	[MATRIX_E4M3] = { 4, 3 }, [MATRIX_E5M2] = { 5, 2 }, [MATRIX_F32] = { 8, 23 },
};

/* Numbers of 8 bits become f16, for which the hardware has adders. */
uint32_t tensor_fraction(enum matrix_type type)
{
	return type == MATRIX_E4M3 || type == MATRIX_E5M2 ? 10 : formats[type].mantissa;
}

struct tensor_number tensor_number(uint32_t bits, enum matrix_type type)
{
	int exponent_bits = formats[type].exponent, mantissa_bits = formats[type].mantissa;
	int bias = (1 << (exponent_bits - 1)) - 1, most = (1 << exponent_bits) - 1, exponent;
	struct tensor_number number = {};
	int32_t mantissa;
	bool negative;

	if (type == MATRIX_TF32)
		bits >>= 13;
	exponent = bits >> mantissa_bits & most;
	mantissa = bits & ((1 << mantissa_bits) - 1);
	negative = bits >> (exponent_bits + mantissa_bits) & 1;
	if (exponent == most && (type != MATRIX_E4M3 || mantissa == 7)) {
		number.nan = mantissa != 0;
		number.infinity = mantissa ? 0 : negative ? -1 : 1;
		return number;
	}
	if (exponent)
		mantissa |= 1 << mantissa_bits;
	else
		exponent = 1;
	/* e4m3 has no subnormal number that is one of f16 */
	for (; type == MATRIX_E4M3 && mantissa && !(mantissa >> 3); exponent--)
		mantissa <<= 1;
	mantissa <<= tensor_fraction(type) - mantissa_bits;
	number.significand = negative ? -mantissa : mantissa;
	number.exponent = exponent - bias;
	return number;
}

/* Towards zero */
static int64_t shifted(int64_t value, int left)
{
	if (left >= 0)
		return value << left;
	if (left < -62)
		return 0;
	return value < 0 ? -(-value >> -left) : value >> -left;
}

/* Return: sum * 2^(exponent - KEPT) in a format, rounded to the nearest number or cut off */
static uint32_t pack(int64_t sum, int exponent, enum matrix_type type, bool nearest)
{
	int exponent_bits = formats[type].exponent, mantissa_bits = formats[type].mantissa;
	int least = 2 - (1 << (exponent_bits - 1)), top, drop;
	uint64_t magnitude = llabs(sum), kept, lost;
	uint32_t sign = sum < 0 ? 1U << (exponent_bits + mantissa_bits) : 0;

	if (!sum)
		return 0;
	top = 63 - __builtin_clzll(magnitude);
	exponent += top - KEPT;
	drop = top - mantissa_bits;
	if (exponent < least) {
		drop += least - exponent;
		exponent = least;
	}
	if (drop > 62)
		drop = 62;
	if (drop > 0) {
		kept = magnitude >> drop;
		lost = magnitude & ((1ULL << drop) - 1);
		if (nearest && (lost > 1ULL << (drop - 1) ||
				(lost == 1ULL << (drop - 1) && kept & 1)))
			kept++;
	} else {
		kept = magnitude << -drop;
	}
	/* the first bit of a normal number counts for the exponent */
	kept += (uint64_t)(exponent - least) << mantissa_bits;
	if (kept >> mantissa_bits >= (1U << exponent_bits) - 1)
		kept = ((1ULL << exponent_bits) - 1) << mantissa_bits;
	return sign | kept;
}

static bool is_zero(const struct tensor_number *number)
{
	return !number->significand && !number->infinity && !number->nan;
}

/* NaNs and infinities. Return: is the sum one of them? */
static bool special(const struct tensor_number *c, const struct tensor_number *a,
		    const struct tensor_number *b, uint32_t count, enum matrix_type type,
		    uint32_t *bits)
{
	bool nan = c->nan, above = c->infinity > 0, below = c->infinity < 0;
	uint32_t infinity = type == MATRIX_F16 ? 0x7c00 : 0x7f800000;
	uint32_t sign = type == MATRIX_F16 ? 0x8000 : 0x80000000;

	for (uint32_t i = 0; i < count; i++) {
		bool negative = (a[i].significand < 0 || a[i].infinity < 0) !=
				(b[i].significand < 0 || b[i].infinity < 0);

		if (a[i].nan || b[i].nan || (a[i].infinity && is_zero(&b[i])) ||
		    (b[i].infinity && is_zero(&a[i]))) {
			nan = true;
		} else if (a[i].infinity || b[i].infinity) {
			above |= !negative;
			below |= negative;
		}
	}
	*bits = below ? infinity | sign : infinity;
	if (nan || (above && below))
		*bits = sign - 1;
	return nan || above || below;
}

uint32_t tensor_sum(struct tensor_number c, enum matrix_type c_type,
		    const struct tensor_number *a, const struct tensor_number *b, uint32_t count,
		    uint32_t fraction, enum matrix_type d_type)
{
	int largest = c.significand ? c.exponent : NONE;
	int64_t sum = 0;
	uint32_t bits;

	if (special(&c, a, b, count, d_type, &bits))
		return bits;
	for (uint32_t i = 0; i < count; i++)
		if (a[i].significand && b[i].significand && a[i].exponent + b[i].exponent > largest)
			largest = a[i].exponent + b[i].exponent;
	if (largest == NONE)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (a[i].significand && b[i].significand)
			sum += shifted((int64_t)a[i].significand * b[i].significand,
				       KEPT - (int)fraction + a[i].exponent + b[i].exponent -
				       largest);
	if (c.significand)
		sum += shifted(c.significand, KEPT - (int)formats[c_type].mantissa + c.exponent -
			       largest);
	return pack(sum, largest, d_type, d_type == MATRIX_F16);
}
