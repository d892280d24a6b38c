/* SPDX-License-Identifier: MIT */
/*
 * The results that multimem operations should give, from the definitions of the formats and of
 * rounding: numbers are scaled and compared as doubles, which have enough bits to decide. Slow, and
 * without any code of memcast/float.h.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct format {
	const char *name;
	int bits, exponent_bits, mantissa_bits;
	bool has_infinity;
	bool saturates;
	uint32_t nan;		/* the NaN that operations return */
};

static const struct format f16_format = { "f16", 16, 5, 10, true, false, 0x7fff };
static const struct format bf16_format = { "bf16", 16, 8, 7, true, false, 0x7fff };
static const struct format e5m2_format = { "e5m2", 8, 5, 2, true, true, 0x7f };
static const struct format e4m3_format = { "e4m3", 8, 4, 3, false, true, 0x7f };
static const struct format f32_format = { "f32", 32, 8, 23, true, false, 0x7fffffff };

static inline int format_bias(const struct format *f)
{
	return (1 << (f->exponent_bits - 1)) - 1;
}

static inline double power_of_two(int exponent)
{
	uint64_t bits = (uint64_t)(exponent + 1023) << 52;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Return: the largest e with 2^e <= x, for normal x > 0 */
static inline int exponent_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return (int)(bits >> 52) - 1023;
}

static inline double value_of(const struct format *f, uint32_t bits)
{
	uint32_t mantissa = bits & ((1U << f->mantissa_bits) - 1);
	int exponent = bits >> f->mantissa_bits & ((1 << f->exponent_bits) - 1);
	int special = (1 << f->exponent_bits) - 1;
	double value;

	if (f->has_infinity && exponent == special)
		value = mantissa ? (double)NAN : (double)INFINITY;
	else if (!f->has_infinity && exponent == special &&
		 mantissa == (1U << f->mantissa_bits) - 1)
		value = (double)NAN;
	else if (exponent == 0)
		value = mantissa * power_of_two(1 - format_bias(f) - f->mantissa_bits);
	else
		value = (mantissa + power_of_two(f->mantissa_bits)) *
			power_of_two(exponent - format_bias(f) - f->mantissa_bits);
	return bits >> (f->bits - 1) & 1 ? -value : value;
}

static inline uint32_t largest_of(const struct format *f)
{
	uint32_t special = ((1U << f->exponent_bits) - 1) << f->mantissa_bits;

	return f->has_infinity ? special - 1 :
				 special + (1U << f->mantissa_bits) - 2;
}

/* Rounds to nearest, ties to even. @x: exact, or rounded to odd in a double */
static inline uint32_t bits_of(const struct format *f, double x)
{
	uint32_t sign = signbit(x) ? 1U << (f->bits - 1) : 0, bits;
	int least = 1 - format_bias(f), exponent;
	double scaled, rest;
	int64_t n;

	if (isnan(x))
		return f->nan;
	x = fabs(x);
	if (x < power_of_two(-1000))
		return sign;
	bits = largest_of(f) + 1;
	if (!isinf(x)) {
		exponent = exponent_of(x);
		if (exponent < least)
			exponent = least;
		scaled = x * power_of_two(f->mantissa_bits - exponent);
		if (exponent - least < 1 << f->exponent_bits) {
			n = (int64_t)scaled;
			rest = scaled - (double)n;
			if (rest > 0.5 || (rest == 0.5 && n & 1))
				n++;
			/* n counts from the start of its binade, which has a hidden 1 */
			bits = (uint32_t)(n + ((int64_t)(exponent - least) << f->mantissa_bits));
		}
	}
	if (bits > largest_of(f))
		bits = f->saturates ? largest_of(f) : largest_of(f) + 1;
	return sign | bits;
}

/* The sum rounded to odd: a lost part sets the last bit, which is too low to matter later. */
static inline double exact_sum(double a, double b)
{
	volatile double sum = a + b;
	volatile double b_part = sum - a, a_part = sum - b_part;
	volatile double a_lost = a - a_part, b_lost = b - b_part;
	double lost = a_lost + b_lost, result = sum;
	uint64_t bits;

	if (isnan(result) || isinf(result) || lost == 0)
		return result;
	memcpy(&bits, &result, sizeof(bits));
	if (!(bits & 1))
		result = nextafter(result, lost > 0 ? (double)INFINITY : -(double)INFINITY);
	return result;
}

/* One addition in format @f: both operands and the result are values that @f has. */
static inline double rounded_sum(const struct format *f, double a, double b)
{
	return value_of(f, bits_of(f, exact_sum(a, b)));
}

/* PTX's min and max */
static inline uint32_t extreme_of(const struct format *f, bool max, uint32_t a, uint32_t b)
{
	double x = value_of(f, a), y = value_of(f, b);

	if (isnan(x))
		return isnan(y) ? f->nan : b;
	if (isnan(y))
		return a;
	if (x == 0 && y == 0)
		return signbit(x) == max ? b : a;
	return (x > y) == max ? a : b;
}

/* ---- numbers near the limits of a format ---- */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static inline uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1d >> 8 ^ random_state << 40;
}

static inline bool try_all(void)
{
	return getenv("MEMCAST_TEST_ALL") != NULL;
}

/* ---- TAP ---- */

static int results, failures;
static unsigned long complaints;

static inline __attribute__((format(printf, 1, 2))) void complain(const char *format, ...)
{
	va_list arguments;

	if (complaints++ >= 10)
		return;
	printf("# ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
}

static inline void result(const char *build, const char *name)
{
	printf("%sok %d multimem.%s.%s\n", complaints ? "not " : "", ++results, build, name);
	fflush(stdout);
	failures += !!complaints;
	complaints = 0;
}

#endif /* REFERENCE_H */
