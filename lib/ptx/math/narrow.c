// SPDX-License-Identifier: MIT
/*
 * Formats of few bits. A value on its way to one is a double that has all of its bits or, where it
 * cannot, an odd last bit for those that are lost: rounding once more then gives what rounding
 * once would have.
 */
#include <math.h>

#include "ptx_math.h"

const struct narrow_format narrow_f16 = { 5, 10, false }, narrow_bf16 = { 8, 7, false };
static const struct narrow_format narrow_e4m3 = { 4, 3, true }, narrow_e5m2 = { 5, 2, false };

static bool rounds_up(uint64_t kept, uint64_t lost, uint64_t half, bool negative, uint32_t mode)
{
	switch (mode) {
	case ROUND_RN:
		return lost > half || (lost == half && kept & 1);
	case ROUND_RNA:
		return lost >= half;
	case ROUND_RM:
		return lost && negative;
	case ROUND_RP:
		return lost && !negative;
	default:
		return false;
	}
}

static uint32_t largest(const struct narrow_format *format)
{
	uint32_t infinity = ((1U << format->exponent_bits) - 1) << format->mantissa_bits;

	return format->finite ? infinity + (1U << format->mantissa_bits) - 2 : infinity - 1;
}

/* Return: the bits of the number that @value rounds to; of a NaN, the bits that are all ones */
uint32_t narrow_double(double value, const struct narrow_format *format, uint32_t mode,
		       bool saturate)
{
	int total = format->exponent_bits + format->mantissa_bits, drop, exponent;
	int bias = (1 << (format->exponent_bits - 1)) - 1;
	uint64_t bits = bits_of_double(value), mantissa, kept, lost;
	bool negative = bits >> 63;
	uint32_t sign = (uint32_t)negative << total, result;

	if (isnan(value))
		return (1U << total) - 1;
	if (value == 0)
		return sign;
	exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	mantissa = (bits & ((1ULL << 52) - 1)) | (exponent > -1023 ? 1ULL << 52 : 0);
	if (isinf(value))
		return sign | (saturate || format->finite ? largest(format) : largest(format) + 1);
	/* subnormals lose more bits */
	drop = 52 - format->mantissa_bits;
	if (exponent < 1 - bias)
		drop += 1 - bias - exponent;
	if (drop > 60)
		drop = 60;
	kept = mantissa >> drop;
	lost = mantissa & ((1ULL << drop) - 1);
	kept += rounds_up(kept, lost, 1ULL << (drop - 1), negative, mode);
	if (exponent >= 1 - bias) {
		if (exponent + bias - 1 > 1 << format->exponent_bits)
			kept = UINT32_MAX;	/* far too large */
		else
			kept += (uint64_t)(exponent + bias - 1) << format->mantissa_bits;
	}
	result = kept;
	if (result > largest(format)) {
		bool toward = mode == ROUND_RZ || (mode == ROUND_RM && !negative) ||
			      (mode == ROUND_RP && negative);

		result = saturate || toward ? largest(format) : largest(format) + 1;
	}
	return sign | result;
}

double widen_bits(uint32_t bits, const struct narrow_format *format)
{
	int total = format->exponent_bits + format->mantissa_bits;
	int bias = (1 << (format->exponent_bits - 1)) - 1;
	uint32_t magnitude = bits & ((1U << total) - 1);
	int exponent = magnitude >> format->mantissa_bits;
	double mantissa = magnitude & ((1U << format->mantissa_bits) - 1), value;

	if (magnitude > largest(format))
		value = format->finite || magnitude > largest(format) + 1 ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(mantissa + (1 << format->mantissa_bits),
			      exponent - bias - format->mantissa_bits);
	else
		value = ldexp(mantissa, 1 - bias - format->mantissa_bits);
	return bits >> total & 1 ? -value : value;
}

uint16_t ptx_math_f16_of_f32(float a)
{
	return narrow_double(a, &narrow_f16, ROUND_RN, false);
}

/* A NaN keeps its bits. */
float ptx_math_f32_of_f16(uint16_t a)
{
	if ((a & 0x7fff) > 0x7c00)
		return float_of_bits((a & 0x8000U) << 16 | 0x7fc00000 | (a & 0x3ffU) << 13);
	return widen_bits(a, &narrow_f16);
}

static uint16_t narrow_flags(double a, const struct narrow_format *format, uint32_t mode,
			     uint32_t flags)
{
	uint16_t bits = narrow_double(a, format, mode, flags & NARROW_SATFINITE);

	if (isnan(a) && flags & NARROW_KEEP_NAN) {
		int drop = 52 - format->mantissa_bits;
		uint64_t quiet = bits_of_double(a) | 1ULL << 51;

		return (quiet >> 63) << 15 | (largest(format) + 1) |
		       ((quiet & ((1ULL << 52) - 1)) >> drop);
	}
	return flags & NARROW_RELU && bits >> 15 ? 0 : bits;
}

/* Return: a double with an odd last bit if bits of the number are lost */
static double odd_of_u64(uint64_t a)
{
	double value = ptx_math_f64_of_u64(a, ROUND_RZ);

	if (a != (uint64_t)value)
		value = double_of_bits(bits_of_double(value) | 1);
	return value;
}

static double odd_of_s64(int64_t a)
{
	return a < 0 ? -odd_of_u64(-(uint64_t)a) : odd_of_u64(a);
}

#define NARROW(format)										\
uint16_t ptx_math_##format##_of_f64(double a, uint32_t mode, uint32_t flags)			\
{												\
	return narrow_flags(a, &narrow_##format, mode, flags);					\
}												\
uint16_t ptx_math_##format##_of_s64(int64_t a, uint32_t mode)					\
{												\
	return narrow_double(odd_of_s64(a), &narrow_##format, mode, false);			\
}												\
uint16_t ptx_math_##format##_of_u64(uint64_t a, uint32_t mode)					\
{												\
	return narrow_double(odd_of_u64(a), &narrow_##format, mode, false);			\
}

NARROW(f16)
NARROW(bf16)

/* a * b + c, where a * b fits a double; an odd last bit stands for what the sum loses. */
static double odd_fma(double a, double b, double c)
{
	double product = a * b, sum = ptx_math_add_f64(product, c, ROUND_RZ);
	double upper = ptx_math_add_f64(product, c, ROUND_RP);
	double lower = ptx_math_add_f64(product, c, ROUND_RM);

	if (upper != lower)
		sum = double_of_bits(bits_of_double(sum) | 1);
	else if (sum == 0)
		sum = product + c;	/* the sign of a zero is that of rounding to nearest */
	return sum;
}

uint16_t ptx_math_fma_f16(uint16_t a, uint16_t b, uint16_t c, uint32_t ftz)
{
	double sum = odd_fma(widen_bits(a, &narrow_f16), widen_bits(b, &narrow_f16),
			     widen_bits(c, &narrow_f16));

	if (ftz && fabs(sum) < HALF_FLUSHED)
		sum = copysign(0, sum);
	return narrow_double(sum, &narrow_f16, ROUND_RN, false);
}

uint16_t ptx_math_fma_bf16(uint16_t a, uint16_t b, uint16_t c)
{
	return narrow_double(odd_fma(widen_bits(a, &narrow_bf16), widen_bits(b, &narrow_bf16),
				     widen_bits(c, &narrow_bf16)), &narrow_bf16, ROUND_RN, false);
}

/* tf32 has the exponent of f32 and the upper 10 bits of its mantissa. */
uint32_t ptx_math_tf32_of_f32(float a, uint32_t mode, uint32_t flags)
{
	uint32_t bits = bits_of_float(a), kept = bits >> 13, sign = bits & 1U << 31;

	if (isnan(a) && mode != ROUND_RNA)
		return 0x7fffe000;
	if (!isinf(a) && !isnan(a))
		kept += rounds_up(kept, bits & 0x1fff, 0x1000, sign, mode);
	bits = kept << 13;
	if (flags & NARROW_SATFINITE && (bits & 0x7fffffff) >= 0x7f800000)
		bits -= 1U << 13;	/* also of a NaN, on an H100 */
	return flags & NARROW_RELU && sign ? 0 : bits;
}

/* @kind: 0: e4m3, 1: e5m2 */
uint32_t ptx_math_fp8_of_f32(float a, uint32_t kind, uint32_t flags)
{
	uint32_t bits = narrow_double(a, kind ? &narrow_e5m2 : &narrow_e4m3, ROUND_RN, true);

	return flags & NARROW_RELU && bits & 0x80 && !isnan(a) ? 0 : bits;
}

uint32_t ptx_math_f16_of_fp8(uint32_t a, uint32_t kind, uint32_t flags)
{
	return narrow_flags(widen_bits(a & 0xff, kind ? &narrow_e5m2 : &narrow_e4m3), &narrow_f16,
			    ROUND_RN, flags);
}
