// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "bulk_plain.h"
#include "kselftest.h"

const struct type types[] = {
	{ "u32", MEMCAST_U32, 4, false }, { "s32", MEMCAST_S32, 4, false },
	{ "u64", MEMCAST_U64, 8, false }, { "s64", MEMCAST_S64, 8, false },
	{ "f32", MEMCAST_F32, 4, true }, { "f64", MEMCAST_F64, 8, true },
	{ "f16", MEMCAST_F16, 2, true }, { "bf16", MEMCAST_BF16, 2, true },
};

const char *const op_names[] = { "add", "min", "max", "and", "or", "xor" };

static float f32_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint32_t bits_of_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? 0x7fffffff : bits;
}

uint64_t bits_of_f64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? INT64_MAX : bits;
}

static float f16[65536];	/* the value of each f16, by its bits */

void fill_f16(void)
{
	unsigned int bits;

	for (bits = 0; bits < 65536; bits++) {
		int exponent = bits >> 10 & 31, fraction = bits & 1023;
		float value;

		if (exponent == 31)
			value = fraction ? NAN : INFINITY;
		else if (exponent)
			value = ldexpf(1024 + fraction, exponent - 25);
		else
			value = ldexpf(fraction, -24);
		f16[bits] = bits & 0x8000 ? -value : value;
	}
}

double value_of(enum memcast_element element, uint64_t bits)
{
	double value;

	switch (element) {
	case MEMCAST_F64:
		memcpy(&value, &bits, sizeof(value));
		return value;
	case MEMCAST_F32:
		return f32_of_bits(bits);
	case MEMCAST_BF16:
		return f32_of_bits(bits << 16);
	case MEMCAST_F16:
		return f16[bits];
	default:	/* no caller asks for an integer's value */
		return 0;
	}
}

/* Return: the nearer of the two 16-bit floats around @value, or the even one if both are as near */
static uint16_t nearest(enum memcast_element element, double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0, low = 0, high, infinity;
	double magnitude = fabs(value), below, above;

	infinity = element == MEMCAST_F16 ? 0x7c00 : 0x7f80;
	if (isnan(value))
		return 0x7fff;
	if (isinf(value))
		return sign | infinity;
	high = infinity;
	while (high - low > 1) {
		uint16_t middle = (low + high) / 2;

		if (value_of(element, middle) <= magnitude)
			low = middle;
		else
			high = middle;
	}
	below = magnitude - value_of(element, low);
	/* behind the greatest float, the number that would follow it if infinity did not */
	above = (high < infinity ? value_of(element, high) :
		 ldexp(1, element == MEMCAST_F16 ? 16 : 128)) - magnitude;
	if (above < below || (above == below && !(high & 1)))
		low = high;
	return sign | low;
}

static uint64_t integer_step(enum memcast_element element, enum memcast_op op, uint64_t a,
			     uint64_t b)
{
	bool less;

	switch (element) {
	case MEMCAST_U32:
		less = (uint32_t)a < (uint32_t)b;
		break;
	case MEMCAST_S32:
		less = (int32_t)a < (int32_t)b;
		break;
	case MEMCAST_U64:
		less = a < b;
		break;
	default:
		less = (int64_t)a < (int64_t)b;
	}
	switch (op) {
	case MEMCAST_ADD:
		return a + b;
	case MEMCAST_MIN:
		return less ? a : b;
	case MEMCAST_MAX:
		return less ? b : a;
	case MEMCAST_AND:
		return a & b;
	case MEMCAST_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static double choose(enum memcast_op op, double a, double b)
{
	bool less = a < b || (a == b && signbit(a) && !signbit(b));

	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	return less == (op == MEMCAST_MIN) ? a : b;
}

uint64_t element_at(const struct type *type, const unsigned char *at)
{
	uint64_t bits = 0;

	memcpy(&bits, at, type->width);
	return bits;
}

uint64_t reduce(const struct type *type, enum memcast_op op,
		       unsigned char *const *places, unsigned int count, size_t at)
{
	uint64_t bits = element_at(type, places[0] + at);
	double value = value_of(type->element, bits), one;
	unsigned int i;

	for (i = 1; i < count; i++) {
		uint64_t next = element_at(type, places[i] + at);

		if (!type->is_float) {
			bits = integer_step(type->element, op, bits, next);
			continue;
		}
		one = value_of(type->element, next);
		if (op != MEMCAST_ADD)
			value = choose(op, value, one);
		else if (type->element == MEMCAST_F64)
			value += one;
		else
			value = (float)value + (float)one;
	}
	if (!type->is_float)
		return type->width == 4 ? (uint32_t)bits : bits;
	if (type->element == MEMCAST_F64)
		return bits_of_f64(value);
	if (type->element == MEMCAST_F32)
		return bits_of_f32((float)value);
	return nearest(type->element, value);
}

uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL;
}

static const uint16_t specials16[] = {
	0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00, 0xbc00,
	0x3f80, 0xbf80, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00,
	0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc0, 0x7fff, 0xffff,
};

void fill_element(const struct type *type, unsigned char *at, uint64_t *state, bool tame)
{
	uint64_t bits = random_bits(state);
	uint64_t kind = tame ? 2 : random_bits(state) % 8;
	unsigned int shift = 8 * type->width - 16;

	if (kind < 2)
		bits = (uint64_t)specials16[bits % ARRAY_SIZE(specials16)] << shift |
		       (kind && shift ? bits >> (64 - shift) : 0);
	else if (kind < 6 && type->is_float)	/* exponents of 1 to 8 or so */
		bits = (type->width == 8 ? 0x3ff0000000000000 : type->width == 4 ? 0x3f800000 :
			type->element == MEMCAST_F16 ? 0x3c00 : 0x3f80) +
		       (bits >> (66 - 8 * type->width + (type->element == MEMCAST_BF16 ? 4 :
			type->element == MEMCAST_F16 ? 1 : 6)));
	memcpy(at, &bits, type->width);
}
