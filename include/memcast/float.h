/* SPDX-License-Identifier: MIT */
/*
 * The narrow floating-point formats of devices, as bits, and conversions to and from float.
 *
 *	name	bits	exponent, mantissa	largest		infinity  the NaN made here
 *	f16	16	5, 10			65504		0x7c00	  0x7fff
 *	bf16	16	8, 7			3.39e38		0x7f80	  0x7fff
 *	e5m2	8	5, 2			57344		0x7c	  0x7f
 *	e4m3	8	4, 3			448		none	  0x7f
 *
 * memcast_f32_of_T() is exact. A NaN becomes a NaN.
 *
 * memcast_T_of_f32() rounds to nearest, ties to even, and keeps subnormals. A number
 * that is too large becomes infinity in f16 and bf16, and the largest number of its
 * sign, infinity too, in e5m2 and e4m3: PTX has conversions to those with
 * .satfinite only. Every NaN becomes the one above.
 *
 * Source: PTX ISA, "cvt" and "Alternate Floating-Point Data Formats". All is
 * integer arithmetic and exact products, so that neither the rounding mode nor the
 * treatment of subnormals that a program has set changes a bit; F16C's conversions,
 * where the compiler may use them, give the same. (AVX512-BF16's do not: they
 * flush subnormals.)
 */
#ifndef MEMCAST_FLOAT_H
#define MEMCAST_FLOAT_H

#include <stdint.h>

#define MEMCAST_FLOAT_INLINE	static inline __attribute__((__always_inline__))

MEMCAST_FLOAT_INLINE float memcast_f32_of_bits(uint32_t bits)
{
	float value;

	__builtin_memcpy(&value, &bits, sizeof(value));
	return value;
}

MEMCAST_FLOAT_INLINE uint32_t memcast_bits_of_f32(float value)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/*
 * Converts to a format with fewer exponent bits and @mantissa bits of mantissa. @last is its
 * largest number, which larger ones become, too.
 */
MEMCAST_FLOAT_INLINE uint32_t memcast_narrow(float value, unsigned int mantissa,
					     unsigned int bias, uint32_t last, uint32_t nan)
{
	const uint32_t smallest_normal = (128 - bias) << 23;
	uint32_t bits = memcast_bits_of_f32(value);
	uint32_t magnitude = bits & 0x7fffffff;
	unsigned int drop = 23 - mantissa;
	uint32_t result, odd;

	if (magnitude > 0x7f800000)
		return nan;
	if (magnitude >= smallest_normal) {
		/* A carry out of the mantissa is a carry into the exponent, as it should be. */
		odd = magnitude >> drop & 1;
		result = (magnitude + ((1U << (drop - 1)) - 1) + odd) >> drop;
		result -= (127 - bias) << mantissa;
		if (result > last)
			result = last;
	} else {
		/*
		 * A subnormal: all bits are mantissa, further right; below half of the least
		 * one, 0.
		 */
		drop += (smallest_normal - magnitude + 0x7fffff) >> 23;
		if (drop > 24) {
			result = 0;
		} else {
			magnitude = (magnitude & 0x7fffff) | 0x800000;
			odd = magnitude >> drop & 1;
			result = (magnitude + ((1U << (drop - 1)) - 1) + odd) >> drop;
		}
	}
	/*
	 * moves the sign from its place in 32 bits to that of a format with 5 and 10, 5 and 2,
	 * or 4 and 3
	 */
	return result | (bits & 0x80000000) >> (mantissa == 10 ? 16 : 24);
}

#ifdef __F16C__
typedef short memcast_v8hi __attribute__((__vector_size__(16)));
typedef float memcast_v4sf __attribute__((__vector_size__(16)));

MEMCAST_FLOAT_INLINE float memcast_f32_of_f16(uint16_t bits)
{
	memcast_v8hi narrow = { (short)bits, 0, 0, 0, 0, 0, 0, 0 };

	return __builtin_ia32_vcvtph2ps(narrow)[0];
}

MEMCAST_FLOAT_INLINE uint16_t memcast_f16_of_f32(float value)
{
	memcast_v4sf wide = { value, 0, 0, 0 };

	if ((memcast_bits_of_f32(value) & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (uint16_t)__builtin_ia32_vcvtps2ph(wide, 0)[0];
}
#else
MEMCAST_FLOAT_INLINE float memcast_f32_of_f16(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, mantissa = bits & 0x3ff;
	uint32_t exponent = bits >> 10 & 31;

	if (exponent == 31)	/* a NaN is made quiet, as F16C does */
		return memcast_f32_of_bits(sign | 0x7f800000 | mantissa << 13 |
					   (mantissa ? 0x400000 : 0));
	if (!exponent)
		return memcast_f32_of_bits(sign |
			memcast_bits_of_f32((float)(int)mantissa * (1.0f / (1 << 24))));
	return memcast_f32_of_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

MEMCAST_FLOAT_INLINE uint16_t memcast_f16_of_f32(float value)
{
	return (uint16_t)memcast_narrow(value, 10, 15, 0x7c00, 0x7fff);
}
#endif

MEMCAST_FLOAT_INLINE float memcast_f32_of_bf16(uint16_t bits)
{
	return memcast_f32_of_bits((uint32_t)bits << 16);
}

MEMCAST_FLOAT_INLINE uint16_t memcast_bf16_of_f32(float value)
{
	uint32_t bits = memcast_bits_of_f32(value);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* An e5m2 is the upper half of an f16. */
MEMCAST_FLOAT_INLINE float memcast_f32_of_e5m2(uint8_t bits)
{
	return memcast_f32_of_f16((uint16_t)(bits << 8));
}

MEMCAST_FLOAT_INLINE uint8_t memcast_e5m2_of_f32(float value)
{
	return (uint8_t)memcast_narrow(value, 2, 15, 0x7b, 0x7f);
}

MEMCAST_FLOAT_INLINE float memcast_f32_of_e4m3(uint8_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x80) << 24, magnitude = bits & 0x7f;

	if (magnitude == 0x7f)
		return memcast_f32_of_bits(sign | 0x7fc00000);
	if (magnitude < 8)
		return memcast_f32_of_bits(sign |
			memcast_bits_of_f32((float)(int)magnitude * (1.0f / (1 << 9))));
	return memcast_f32_of_bits(sign | ((magnitude << 20) + (120U << 23)));
}

MEMCAST_FLOAT_INLINE uint8_t memcast_e4m3_of_f32(float value)
{
	return (uint8_t)memcast_narrow(value, 3, 7, 0x7e, 0x7f);
}

#endif /* MEMCAST_FLOAT_H */
