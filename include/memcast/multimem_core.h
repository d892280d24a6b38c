/* SPDX-License-Identifier: MIT */
/*
 * The parts of multimem.h: loads, stores and atomic updates of one register,
 * and operators on two registers. Nothing here is for programs to call.
 *
 * A register type is what PTX calls .type; T stands for one of them:
 *
 *	u32 s32 b32 u64 s64 b64 f32 f64
 *	f16 f16x2 bf16 bf16x2 e4m3 e4m3x2 e4m3x4 e5m2 e5m2x2 e5m2x4
 */
#ifndef MEMCAST_MULTIMEM_CORE_H
#define MEMCAST_MULTIMEM_CORE_H

#include <stddef.h>
#include <stdint.h>
#include <memcast/float.h>
#include <memcast/view.h>

#define MULTIMEM_INLINE	static inline __attribute__((__always_inline__))

/* Replicas hold no declared type: each access may use its own. */
#define MULTIMEM_REGISTER(T, type)					\
	typedef type multimem_##T __attribute__((__may_alias__));	\
	typedef type multimem_value_##T;

#define MULTIMEM_AT(T, view, i, offset) \
	((multimem_##T *)(void *)((view)->replica[i] + (offset)))

/*
 * An access to one replica. The order is a constant, by which the compiler drops the other
 * cases; without optimization it compiles them, so the order in each is valid for its access.
 */
#define MULTIMEM_WEAK		(-1)

#define MULTIMEM_ACCESS(T, type)					\
MULTIMEM_REGISTER(T, type)						\
									\
MULTIMEM_INLINE type multimem_load_##T(const multimem_##T *at, int order) \
{									\
	type value;							\
									\
	if (order == MULTIMEM_WEAK)					\
		return *at;						\
	if (order == __ATOMIC_ACQUIRE)					\
		__atomic_load(at, &value, __ATOMIC_ACQUIRE);		\
	else								\
		__atomic_load(at, &value, __ATOMIC_RELAXED);		\
	return value;							\
}									\
									\
MULTIMEM_INLINE void multimem_store_##T(multimem_##T *at, type value,	\
					int order)			\
{									\
	if (order == MULTIMEM_WEAK)					\
		*at = value;						\
	else if (order == __ATOMIC_RELEASE)				\
		__atomic_store(at, &value, __ATOMIC_RELEASE);		\
	else								\
		__atomic_store(at, &value, __ATOMIC_RELAXED);		\
}

MULTIMEM_ACCESS(u32, uint32_t)
MULTIMEM_ACCESS(s32, int32_t)
MULTIMEM_ACCESS(b32, uint32_t)
MULTIMEM_ACCESS(u64, uint64_t)
MULTIMEM_ACCESS(s64, int64_t)
MULTIMEM_ACCESS(b64, uint64_t)
MULTIMEM_ACCESS(f32, float)
MULTIMEM_ACCESS(f64, double)
MULTIMEM_ACCESS(f16, uint16_t)
MULTIMEM_ACCESS(f16x2, uint32_t)
MULTIMEM_ACCESS(bf16, uint16_t)
MULTIMEM_ACCESS(bf16x2, uint32_t)
MULTIMEM_ACCESS(e4m3, uint8_t)
MULTIMEM_ACCESS(e4m3x2, uint16_t)
MULTIMEM_ACCESS(e4m3x4, uint32_t)
MULTIMEM_ACCESS(e5m2, uint8_t)
MULTIMEM_ACCESS(e5m2x2, uint16_t)
MULTIMEM_ACCESS(e5m2x4, uint32_t)

/* ---- operators: multimem_OP_T(a, b) ---- */

#define MULTIMEM_OPERATOR(op, T, expression)				\
MULTIMEM_INLINE multimem_value_##T					\
multimem_##op##_##T(multimem_value_##T a, multimem_value_##T b)		\
{									\
	return expression;						\
}

#define MULTIMEM_MIN_MAX(T)						\
	MULTIMEM_OPERATOR(min, T, b < a ? b : a)			\
	MULTIMEM_OPERATOR(max, T, b > a ? b : a)

#define MULTIMEM_BITWISE(T)						\
	MULTIMEM_OPERATOR(and, T, a & b)				\
	MULTIMEM_OPERATOR(or, T, a | b)					\
	MULTIMEM_OPERATOR(xor, T, a ^ b)

MULTIMEM_OPERATOR(add, u32, a + b)
MULTIMEM_OPERATOR(add, s32, (int32_t)((uint32_t)a + (uint32_t)b))
MULTIMEM_OPERATOR(add, u64, a + b)
MULTIMEM_OPERATOR(add, f32, a + b)
MULTIMEM_OPERATOR(add, f64, a + b)
MULTIMEM_MIN_MAX(u32)
MULTIMEM_MIN_MAX(s32)
MULTIMEM_MIN_MAX(u64)
MULTIMEM_MIN_MAX(s64)
MULTIMEM_BITWISE(b32)
MULTIMEM_BITWISE(b64)

/*
 * Narrow formats, of @bits: numbers are ordered as their bits are, once the bits of negative
 * numbers are inverted; zeros, too. A NaN is above @last and loses against any number; of two
 * NaNs the result is @nan.
 */
MULTIMEM_INLINE uint32_t multimem_rank(uint32_t lane, unsigned int bits)
{
	uint32_t sign = 1U << (bits - 1);

	return lane & sign ? ~lane & (sign - 1) : lane | sign;
}

MULTIMEM_INLINE uint32_t multimem_extreme(uint32_t a, uint32_t b, int max,
					  unsigned int bits, uint32_t last,
					  uint32_t nan)
{
	uint32_t magnitude = (1U << (bits - 1)) - 1;
	int a_above = multimem_rank(a, bits) > multimem_rank(b, bits);

	if ((a & magnitude) > last)
		return (b & magnitude) > last ? nan : b;
	if ((b & magnitude) > last)
		return a;
	return a_above == max ? a : b;
}

/* A sum of two numbers in f32, rounded to the narrow format, is the exact sum rounded once. */
#define MULTIMEM_NARROW(F, type, bits, last, nan)			\
MULTIMEM_INLINE uint32_t multimem_lane_add_##F(uint32_t a, uint32_t b)	\
{									\
	return memcast_##F##_of_f32(memcast_f32_of_##F((type)a) +	\
				    memcast_f32_of_##F((type)b));	\
}									\
									\
MULTIMEM_INLINE uint32_t multimem_lane_min_##F(uint32_t a, uint32_t b)	\
{									\
	return multimem_extreme(a, b, 0, bits, last, nan);		\
}									\
									\
MULTIMEM_INLINE uint32_t multimem_lane_max_##F(uint32_t a, uint32_t b)	\
{									\
	return multimem_extreme(a, b, 1, bits, last, nan);		\
}

MULTIMEM_NARROW(f16, uint16_t, 16, 0x7c00, 0x7fff)
MULTIMEM_NARROW(bf16, uint16_t, 16, 0x7f80, 0x7fff)
MULTIMEM_NARROW(e4m3, uint8_t, 8, 0x7e, 0x7f)
MULTIMEM_NARROW(e5m2, uint8_t, 8, 0x7c, 0x7f)

/* Works lane by lane, each of @bits. */
#define MULTIMEM_LANES(op, T, F, lanes, bits)				\
MULTIMEM_INLINE multimem_value_##T					\
multimem_##op##_##T(multimem_value_##T a, multimem_value_##T b)		\
{									\
	const uint32_t mask = (1U << bits) - 1;				\
	uint32_t result = 0;						\
	unsigned int k;							\
									\
	for (k = 0; k < lanes * bits; k += bits)			\
		result |= multimem_lane_##op##_##F(a >> k & mask,	\
						   b >> k & mask) << k;	\
	return (multimem_value_##T)result;				\
}

#define MULTIMEM_PACKED(T, F, lanes, bits)				\
	MULTIMEM_LANES(add, T, F, lanes, bits)				\
	MULTIMEM_LANES(min, T, F, lanes, bits)				\
	MULTIMEM_LANES(max, T, F, lanes, bits)

MULTIMEM_PACKED(f16, f16, 1, 16)
MULTIMEM_PACKED(f16x2, f16, 2, 16)
MULTIMEM_PACKED(bf16, bf16, 1, 16)
MULTIMEM_PACKED(bf16x2, bf16, 2, 16)
MULTIMEM_PACKED(e4m3, e4m3, 1, 8)
MULTIMEM_PACKED(e4m3x2, e4m3, 2, 8)
MULTIMEM_PACKED(e4m3x4, e4m3, 4, 8)
MULTIMEM_PACKED(e5m2, e5m2, 1, 8)
MULTIMEM_PACKED(e5m2x2, e5m2, 2, 8)
MULTIMEM_PACKED(e5m2x4, e5m2, 4, 8)

/* ---- multimem_reduce_OP_T(): one register of every replica ---- */

#define MULTIMEM_REDUCE(op, T)						\
MULTIMEM_INLINE multimem_value_##T					\
multimem_reduce_##op##_##T(const struct memcast_view *view,		\
			   size_t offset, int order)			\
{									\
	multimem_value_##T all;						\
	unsigned int i;							\
									\
	all = multimem_load_##T(MULTIMEM_AT(T, view, 0, offset), order); \
	for (i = 1; i < view->replicas; i++)				\
		all = multimem_##op##_##T(all, multimem_load_##T(	\
			MULTIMEM_AT(T, view, i, offset), order));	\
	return all;							\
}

/*
 * Sums in another precision, to which each step is rounded; the result is rounded to F. With a
 * single replica, its value is the result.
 */
#define MULTIMEM_STEP_f32(sum)	(sum)
#define MULTIMEM_STEP_f16(sum)	memcast_f32_of_f16(memcast_f16_of_f32(sum))

#define MULTIMEM_REDUCE_ACC(acc, T, F, lane_type, lanes, bits)		\
MULTIMEM_INLINE multimem_value_##T					\
multimem_reduce_add_acc_##acc##_##T(const struct memcast_view *view,	\
				    size_t offset, int order)		\
{									\
	multimem_value_##T one;						\
	float sum[lanes];						\
	uint32_t all = 0;						\
	unsigned int i, k;						\
									\
	one = multimem_load_##T(MULTIMEM_AT(T, view, 0, offset), order); \
	for (k = 0; k < lanes; k++)					\
		sum[k] = memcast_f32_of_##F((lane_type)(one >> k * bits)); \
	for (i = 1; i < view->replicas; i++) {				\
		one = multimem_load_##T(MULTIMEM_AT(T, view, i, offset), \
					order);				\
		for (k = 0; k < lanes; k++)				\
			sum[k] = MULTIMEM_STEP_##acc(sum[k] +		\
				memcast_f32_of_##F((lane_type)(one >> k * bits))); \
	}								\
	for (k = 0; k < lanes; k++)					\
		all |= (uint32_t)memcast_##F##_of_f32(sum[k]) << k * bits; \
	return (multimem_value_##T)all;					\
}

#define MULTIMEM_REDUCE_NARROW(acc, T, F, lane_type, lanes, bits)	\
	MULTIMEM_REDUCE(add, T)						\
	MULTIMEM_REDUCE(min, T)						\
	MULTIMEM_REDUCE(max, T)						\
	MULTIMEM_REDUCE_ACC(acc, T, F, lane_type, lanes, bits)

MULTIMEM_REDUCE(add, u32)
MULTIMEM_REDUCE(add, s32)
MULTIMEM_REDUCE(add, u64)
MULTIMEM_REDUCE(add, f32)
MULTIMEM_REDUCE(add, f64)
MULTIMEM_REDUCE(min, u32)
MULTIMEM_REDUCE(min, s32)
MULTIMEM_REDUCE(min, u64)
MULTIMEM_REDUCE(min, s64)
MULTIMEM_REDUCE(max, u32)
MULTIMEM_REDUCE(max, s32)
MULTIMEM_REDUCE(max, u64)
MULTIMEM_REDUCE(max, s64)
MULTIMEM_REDUCE(and, b32)
MULTIMEM_REDUCE(and, b64)
MULTIMEM_REDUCE(or, b32)
MULTIMEM_REDUCE(or, b64)
MULTIMEM_REDUCE(xor, b32)
MULTIMEM_REDUCE(xor, b64)
MULTIMEM_REDUCE_NARROW(f32, f16, f16, uint16_t, 1, 16)
MULTIMEM_REDUCE_NARROW(f32, f16x2, f16, uint16_t, 2, 16)
MULTIMEM_REDUCE_NARROW(f32, bf16, bf16, uint16_t, 1, 16)
MULTIMEM_REDUCE_NARROW(f32, bf16x2, bf16, uint16_t, 2, 16)
MULTIMEM_REDUCE_NARROW(f16, e4m3, e4m3, uint8_t, 1, 8)
MULTIMEM_REDUCE_NARROW(f16, e4m3x2, e4m3, uint8_t, 2, 8)
MULTIMEM_REDUCE_NARROW(f16, e4m3x4, e4m3, uint8_t, 4, 8)
MULTIMEM_REDUCE_NARROW(f16, e5m2, e5m2, uint8_t, 1, 8)
MULTIMEM_REDUCE_NARROW(f16, e5m2x2, e5m2, uint8_t, 2, 8)
MULTIMEM_REDUCE_NARROW(f16, e5m2x4, e5m2, uint8_t, 4, 8)

/* ---- multimem_update_OP_T(): one register of one replica, atomically ---- */

#define MULTIMEM_FETCH(op, T)						\
MULTIMEM_INLINE void multimem_update_##op##_##T(multimem_##T *at,	\
						multimem_value_##T value, \
						int order)		\
{									\
	if (order == __ATOMIC_RELEASE)					\
		__atomic_fetch_##op(at, value, __ATOMIC_RELEASE);	\
	else								\
		__atomic_fetch_##op(at, value, __ATOMIC_RELAXED);	\
}

/* Compared as @bits: a NaN must be equal to itself. */
#define MULTIMEM_EXCHANGE(op, T, bits)					\
MULTIMEM_INLINE void multimem_update_##op##_##T(multimem_##T *at,	\
						multimem_value_##T value, \
						int order)		\
{									\
	multimem_##bits *word = (multimem_##bits *)at;			\
	multimem_value_##bits seen, wanted;				\
	multimem_value_##T now;						\
	int done;							\
									\
	seen = multimem_load_##bits(word, __ATOMIC_RELAXED);		\
	do {								\
		__builtin_memcpy(&now, &seen, sizeof(now));		\
		now = multimem_##op##_##T(now, value);			\
		__builtin_memcpy(&wanted, &now, sizeof(now));		\
		if (order == __ATOMIC_RELEASE)				\
			done = __atomic_compare_exchange_n(word, &seen, wanted, 1, \
				__ATOMIC_RELEASE, __ATOMIC_RELAXED);	\
		else							\
			done = __atomic_compare_exchange_n(word, &seen, wanted, 1, \
				__ATOMIC_RELAXED, __ATOMIC_RELAXED);	\
	} while (!done);						\
}

MULTIMEM_FETCH(add, u32)
MULTIMEM_FETCH(add, s32)
MULTIMEM_FETCH(add, u64)
MULTIMEM_FETCH(and, b32)
MULTIMEM_FETCH(and, b64)
MULTIMEM_FETCH(or, b32)
MULTIMEM_FETCH(or, b64)
MULTIMEM_FETCH(xor, b32)
MULTIMEM_FETCH(xor, b64)
MULTIMEM_EXCHANGE(min, u32, b32)
MULTIMEM_EXCHANGE(min, s32, b32)
MULTIMEM_EXCHANGE(min, u64, b64)
MULTIMEM_EXCHANGE(min, s64, b64)
MULTIMEM_EXCHANGE(max, u32, b32)
MULTIMEM_EXCHANGE(max, s32, b32)
MULTIMEM_EXCHANGE(max, u64, b64)
MULTIMEM_EXCHANGE(max, s64, b64)
MULTIMEM_EXCHANGE(add, f32, b32)
MULTIMEM_EXCHANGE(add, f64, b64)
MULTIMEM_EXCHANGE(add, f16, f16)
MULTIMEM_EXCHANGE(add, f16x2, b32)
MULTIMEM_EXCHANGE(add, bf16, bf16)
MULTIMEM_EXCHANGE(add, bf16x2, b32)

#endif /* MEMCAST_MULTIMEM_CORE_H */
