/* SPDX-License-Identifier: MIT */
/*
 * Functions that translated code calls for what is rare, or hard to do exactly in a few
 * instructions.
 *
 *   round.c	arithmetic of f32 and f64 with a rounding mode
 *   narrow.c	f16, bf16, tf32 and 8-bit formats
 *   approximate.c	sin, ex2, …: more exact than PTX asks for
 *   video.c	video instructions
 *   bits.c	prmt, fns, clocks
 *   atomic.c	atomic operations that processors lack
 *
 * A table has the functions' names and signatures: f float, d double, h 16 bits, i 32, l 64,
 * p pointer, v nothing; the result first.
 */
#ifndef MEMCAST_PTX_MATH_H
#define MEMCAST_PTX_MATH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum round_mode { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNA };

struct math_name {
	const char *name, *signature;
	void *address;
};

extern const struct math_name math_names[];

/* A format of few bits; finite: its largest numbers stand where others have infinity */
struct narrow_format {
	int exponent_bits, mantissa_bits;
	bool finite;
};

uint32_t narrow_double(double value, const struct narrow_format *format, uint32_t mode,
		       bool saturate);
double widen_bits(uint32_t bits, const struct narrow_format *format);

extern const struct narrow_format narrow_f16, narrow_bf16, narrow_e4m3, narrow_e5m2;

/* flags of conversions */
#define NARROW_SATFINITE	1
#define NARROW_RELU		2
#define NARROW_KEEP_NAN		4	/* of an f64: the upper bits of a NaN stay */

static inline uint32_t bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t bits_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double double_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#define MATH_DECLARE(result, name, arguments, signature) result ptx_math_##name arguments;

#define MATH_ROUND(F)									\
	F(float, add_f32, (float, float, uint32_t), "f:ffi")				\
	F(float, sub_f32, (float, float, uint32_t), "f:ffi")				\
	F(float, mul_f32, (float, float, uint32_t), "f:ffi")				\
	F(float, div_f32, (float, float, uint32_t), "f:ffi")				\
	F(float, sqrt_f32, (float, uint32_t), "f:fi")					\
	F(float, fma_f32, (float, float, float, uint32_t), "f:fffi")			\
	F(double, add_f64, (double, double, uint32_t), "d:ddi")			\
	F(double, sub_f64, (double, double, uint32_t), "d:ddi")			\
	F(double, mul_f64, (double, double, uint32_t), "d:ddi")			\
	F(double, div_f64, (double, double, uint32_t), "d:ddi")			\
	F(double, sqrt_f64, (double, uint32_t), "d:di")				\
	F(double, fma_f64, (double, double, double, uint32_t), "d:dddi")		\
	F(float, f32_of_f64, (double, uint32_t), "f:di")				\
	F(float, f32_of_s64, (int64_t, uint32_t), "f:li")				\
	F(float, f32_of_u64, (uint64_t, uint32_t), "f:li")				\
	F(double, f64_of_s64, (int64_t, uint32_t), "d:li")				\
	F(double, f64_of_u64, (uint64_t, uint32_t), "d:li")

#define MATH_NARROW(F)									\
	F(uint16_t, f16_of_f32, (float), "h:f")					\
	F(float, f32_of_f16, (uint16_t), "f:h")					\
	F(uint16_t, f16_of_f64, (double, uint32_t, uint32_t), "h:dii")		\
	F(uint16_t, bf16_of_f64, (double, uint32_t, uint32_t), "h:dii")		\
	F(uint16_t, f16_of_s64, (int64_t, uint32_t), "h:li")				\
	F(uint16_t, f16_of_u64, (uint64_t, uint32_t), "h:li")				\
	F(uint16_t, bf16_of_s64, (int64_t, uint32_t), "h:li")				\
	F(uint16_t, bf16_of_u64, (uint64_t, uint32_t), "h:li")			\
	F(uint16_t, fma_f16, (uint16_t, uint16_t, uint16_t), "h:hhh")			\
	F(uint16_t, fma_bf16, (uint16_t, uint16_t, uint16_t), "h:hhh")		\
	F(uint32_t, tf32_of_f32, (float, uint32_t, uint32_t), "i:fii")		\
	F(uint32_t, fp8_of_f32, (float, uint32_t, uint32_t), "i:fii")			\
	F(uint32_t, f16_of_fp8, (uint32_t, uint32_t, uint32_t), "i:iii")

#define MATH_APPROXIMATE(F)								\
	F(float, sin_f32, (float), "f:f")						\
	F(float, cos_f32, (float), "f:f")						\
	F(float, lg2_f32, (float), "f:f")						\
	F(float, ex2_f32, (float), "f:f")						\
	F(float, tanh_f32, (float), "f:f")						\
	F(float, rsqrt_f32, (float), "f:f")						\
	F(double, rcp_f64, (double), "d:d")						\
	F(double, rsqrt_f64, (double, uint32_t), "d:di")

#define MATH_VIDEO(F)									\
	F(uint32_t, video, (uint32_t, uint32_t, uint32_t, uint64_t), "i:iiil")	\
	F(uint32_t, video_simd, (uint32_t, uint32_t, uint32_t, uint64_t), "i:iiil")

#define MATH_BITS(F)									\
	F(uint32_t, prmt, (uint32_t, uint32_t, uint32_t, uint32_t), "i:iiii")		\
	F(uint32_t, fns, (uint32_t, uint32_t, uint32_t), "i:iii")			\
	F(uint64_t, clock, (void *), "l:p")						\
	F(uint64_t, globaltimer, (void *), "l:p")

#define MATH_ATOMIC(F)									\
	F(uint32_t, atomic_inc, (void *, uint32_t), "i:pi")				\
	F(uint32_t, atomic_dec, (void *, uint32_t), "i:pi")				\
	F(float, atomic_add_f32, (void *, float, uint32_t), "f:pfi")			\
	F(double, atomic_add_f64, (void *, double, uint32_t), "d:pdi")		\
	F(uint32_t, atomic_half, (void *, uint32_t, uint32_t), "i:pii")		\
	F(void, exchange_128, (void *, void *, void *), "v:ppp")			\
	F(void, compare_128, (void *, void *, void *, void *), "v:pppp")

#define MATH_MBARRIER(F)								\
	F(void, mbarrier_init, (void *, uint32_t), "v:pi")				\
	F(uint64_t, mbarrier_arrive, (void *, uint32_t, uint32_t), "l:pii")		\
	F(void, mbarrier_transactions, (void *, uint32_t, uint32_t), "v:pii")		\
	F(uint32_t, mbarrier_test, (void *, uint64_t, uint32_t), "i:pli")		\
	F(uint32_t, mbarrier_pending, (uint64_t), "i:l")

#define MATH_FUNCTIONS(F) MATH_ROUND(F) MATH_NARROW(F) MATH_APPROXIMATE(F) MATH_VIDEO(F) \
	MATH_BITS(F) MATH_ATOMIC(F) MATH_MBARRIER(F)

MATH_FUNCTIONS(MATH_DECLARE)

/* What a video instruction does: fields of the number that generated code passes */
enum video_operation {
	VIDEO_ADD, VIDEO_SUB, VIDEO_ABSDIFF, VIDEO_MIN, VIDEO_MAX, VIDEO_SHL, VIDEO_SHR, VIDEO_MAD,
	VIDEO_SET, VIDEO_AVRG,
};

enum video_second { VIDEO_ONLY, VIDEO_THEN_ADD, VIDEO_THEN_MIN, VIDEO_THEN_MAX };

struct video {
	uint64_t operation : 4, d_signed : 1, a_signed : 1, b_signed : 1, saturate : 1, second : 2,
		 a_part : 3,		/* 0: all; 1-4: b0-b3; 5, 6: h0, h1 */
		 b_part : 3, d_part : 3, wrap : 1, right : 4, plus_one : 1, negate_product : 1,
		 negate_c : 1,
		 compare : 3,		/* eq ne lt le gt ge */
		 lanes : 3,		/* 2 or 4 */
		 mask : 4,		/* of the result's lanes */
		 a_select : 12, b_select : 12;	/* three bits a lane */
};

#endif /* MEMCAST_PTX_MATH_H */
