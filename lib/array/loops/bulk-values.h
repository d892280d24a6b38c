/* SPDX-License-Identifier: MIT */
/*
 * The operations of bulk-loops.h on values, in vectors of WIDTH bytes. Whatever the width, the
 * bits of a result are the same.
 *
 * Values are combined in an accumulator, "all": a vector as it is in memory, or for sums of 16-bit
 * floats two vectors of f32. load_ makes an accumulator of memory, round_ makes of it the vector
 * for memory, and finish_ does the same if it may have NaNs, which nans_ finds: they become the
 * canonical one.
 */
#include <stdint.h>

#define INLINE		static inline __attribute__((__always_inline__))
#define VECTOR(type)	__attribute__((vector_size(WIDTH), may_alias)) type

typedef VECTOR(uint8_t) u8_v;
typedef VECTOR(int16_t) s16_v;
typedef VECTOR(uint32_t) u32_v;
typedef VECTOR(int32_t) s32_v;
typedef VECTOR(uint64_t) u64_v;
typedef VECTOR(int64_t) s64_v;
typedef VECTOR(float) f32_v;
typedef VECTOR(double) f64_v;
typedef __attribute__((vector_size(WIDTH), may_alias, aligned(1))) uint8_t loose_v;
typedef struct { f32_v a, b; } wide_v;

INLINE u8_v load(const unsigned char *from)
{
	return *(const loose_v *)from;
}

#include "vectors.h"

#define EACH(T, value)			((T){} + (value))
#define SELECT(T, mask, yes, no)	(((T)(mask) & (yes)) | (~(T)(mask) & (no)))

INLINE u8_v round_none(u8_v all)
{
	return all;
}

INLINE u8_v nans_none(u8_v all)
{
	return all ^ all;
}

#define finish_none	round_none

#define OPERATOR(name, T, operator)					\
INLINE u8_v name(u8_v all, u8_v one)					\
{									\
	return (u8_v)((T)all operator (T)one);				\
}

OPERATOR(and, u64_v, &)
OPERATOR(or, u64_v, |)
OPERATOR(xor, u64_v, ^)
OPERATOR(add_u32, u32_v, +)
OPERATOR(add_u64, u64_v, +)
OPERATOR(add_f32, f32_v, +)
OPERATOR(add_f64, f64_v, +)

#define CHOICE(name, T, compare)					\
INLINE u8_v name(u8_v all, u8_v one)					\
{									\
	return (u8_v)SELECT(T, (T)all compare (T)one, (T)all, (T)one);	\
}

#define CHOICES(type)							\
CHOICE(min_##type, type##_v, <)						\
CHOICE(max_##type, type##_v, >)

CHOICES(u32)
CHOICES(s32)
CHOICES(u64)
CHOICES(s64)

/*
 * Compares floats as integers of their size: a value above infinity is a NaN, and with the
 * magnitude of negative values inverted, -0 is below 0 as it should be. A number is chosen
 * before a NaN.
 */
#define FLOAT_CHOICE(name, T, bits, magnitude, infinity, compare)	\
INLINE u8_v name(u8_v all, u8_v one)					\
{									\
	T a = (T)all, b = (T)one;					\
	T order_a = a ^ ((a >> (bits - 1)) & magnitude);		\
	T order_b = b ^ ((b >> (bits - 1)) & magnitude);		\
	T nan_a = (a & magnitude) > infinity;				\
	T nan_b = (b & magnitude) > infinity;				\
	T first = order_a compare order_b;				\
									\
	return (u8_v)SELECT(T, nan_b | (first & ~nan_a), a, b);		\
}

#define FLOAT(type, T, bits, magnitude, infinity)			\
FLOAT_CHOICE(min_##type, T, bits, magnitude, infinity, <)		\
FLOAT_CHOICE(max_##type, T, bits, magnitude, infinity, >)		\
									\
INLINE u8_v round_##type(u8_v all)					\
{									\
	return all;							\
}									\
									\
INLINE u8_v nans_##type(u8_v all)					\
{									\
	return (u8_v)(((T)all & magnitude) > infinity);			\
}									\
									\
INLINE u8_v finish_##type(u8_v all)					\
{									\
	return (u8_v)SELECT(T, nans_##type(all), EACH(T, magnitude), (T)all); \
}

FLOAT(f16, s16_v, 16, INT16_MAX, 0x7c00)
FLOAT(bf16, s16_v, 16, INT16_MAX, 0x7f80)
FLOAT(f32, s32_v, 32, INT32_MAX, 0x7f800000)
FLOAT(f64, s64_v, 64, INT64_MAX, 0x7ff0000000000000)

/* ---- sums of 16-bit floats, in f32 */

INLINE wide_v add_wide(wide_v all, wide_v one)
{
	return (wide_v){ all.a + one.a, all.b + one.b };
}

/* A bf16 is the upper half of an f32: the odd elements are in place already. */
INLINE wide_v load_bf16(const unsigned char *from)
{
	u32_v both = (u32_v)load(from);

	return (wide_v){ (f32_v)(both << 16), (f32_v)(both & 0xffff0000) };
}

#define nans_wide_f16	nans_wide_bf16

/*
 * Rounds to nearest even: the sum carries into the upper half exactly when it has to be rounded
 * up.
 */
INLINE u32_v to_bf16(f32_v value)
{
	u32_v bits = (u32_v)value;

	return bits + (0x7fff + ((bits >> 16) & 1));
}

INLINE u8_v round_wide_bf16(wide_v all)
{
	return (u8_v)((to_bf16(all.a) >> 16) | (to_bf16(all.b) & 0xffff0000));
}

INLINE u8_v finish_wide_bf16(wide_v all)
{
	u32_v nan_a = (u32_v)nans_f32((u8_v)all.a) & 0xffff;
	u32_v nan_b = (u32_v)nans_f32((u8_v)all.b) & 0xffff0000;

	return SELECT(u8_v, nan_a | nan_b, (u8_v)EACH(u32_v, 0x7fff7fff), round_wide_bf16(all));
}

#ifndef PROCESSOR_HALF
/*
 * Converts an f16 to f32. Its bits, moved to the place of an f32's, are a number 2^112 times
 * too small. Infinity and NaN then lack some bits of the exponent.
 */
INLINE f32_v extend_f16(u32_v half)
{
	u32_v magnitude = half & 0x7fff;
	u32_v beyond = (u32_v)(magnitude > 0x7bff) & 0x7f800000;
	u32_v bits = (u32_v)((f32_v)(magnitude << 13) * 0x1p112f);

	return (f32_v)(bits | beyond | ((half & 0x8000) << 16));
}

INLINE wide_v load_f16(const unsigned char *from)
{
	u32_v both = (u32_v)load(from);

	return (wide_v){ extend_f16(both & 0xffff), extend_f16(both >> 16) };
}

/*
 * Converts an f32 to f16. Beside 0.5, an f32 has the last place of f16's subnormals, so that
 * the addition rounds. For other values the exponent's bias changes, and infinity is the limit.
 */
INLINE u32_v to_f16(f32_v value)
{
	u32_v sign = (u32_v)value & 0x80000000;
	u32_v bits = (u32_v)value ^ sign;
	u32_v small = (u32_v)((f32_v)bits + 0.5f) - 0x3f000000;
	u32_v normal = (bits - (112 << 23) + 0xfff + ((bits >> 13) & 1)) >> 13;
	u32_v half = SELECT(u32_v, bits < 0x38800000, small, normal);

	half = SELECT(u32_v, bits > 0x477fffff, EACH(u32_v, 0x7c00), half);
	half = SELECT(u32_v, bits > 0x7f800000, EACH(u32_v, 0x7fff), half);
	return half | (sign >> 16);
}

INLINE u8_v round_wide_f16(wide_v all)
{
	return (u8_v)(to_f16(all.a) | (to_f16(all.b) << 16));
}
#endif

INLINE u8_v finish_wide_f16(wide_v all)
{
	return finish_f16(round_wide_f16(all));
}
