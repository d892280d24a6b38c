/* SPDX-License-Identifier: MIT */
/*
 * Functions that translated code calls for what is rare, or hard to do exactly in a few
 * instructions.
 *
 *   narrow.c	f16, bf16, tf32 and 8-bit formats
 *   approximate.c	sin, ex2, …: more exact than PTX asks for
 *   libdevice.c	functions of the C library that code of clang calls
 *   video.c	video instructions
 *   bits.c	prmt, fns, clocks
 *   atomic.c	atomic operations that processors lack
 *   bulk.c	bulk copies
 *   matrix.c	products of matrices; tensor.c: sums as tensor cores make them
 *   ../x86/, ../arm64/round.c	arithmetic of f32 and f64 with a rounding mode
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

extern const struct math_name math_names[], libdevice_names[];
const struct math_name *math_find(const char *name, size_t length);

/* A format of few bits; finite: its largest numbers stand where others have infinity */
struct narrow_format {
	int exponent_bits, mantissa_bits;
	bool finite;
};

uint32_t narrow_double(double value, const struct narrow_format *format, uint32_t mode,
		       bool saturate);
double widen_bits(uint32_t bits, const struct narrow_format *format);

extern const struct narrow_format narrow_f16, narrow_bf16;

/* What is below this is subnormal also when it has been rounded to the 11 bits of an f16 */
#define HALF_FLUSHED		(0x1p-14 - 0x1p-26)

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

/* ---- round.c ---- */
float ptx_math_add_f32(float, float, uint32_t);
float ptx_math_sub_f32(float, float, uint32_t);
float ptx_math_mul_f32(float, float, uint32_t);
float ptx_math_div_f32(float, float, uint32_t);
float ptx_math_sqrt_f32(float, uint32_t);
float ptx_math_fma_f32(float, float, float, uint32_t);
double ptx_math_add_f64(double, double, uint32_t);
double ptx_math_sub_f64(double, double, uint32_t);
double ptx_math_mul_f64(double, double, uint32_t);
double ptx_math_div_f64(double, double, uint32_t);
double ptx_math_sqrt_f64(double, uint32_t);
double ptx_math_fma_f64(double, double, double, uint32_t);
float ptx_math_f32_of_f64(double, uint32_t);
float ptx_math_f32_of_s64(int64_t, uint32_t);
float ptx_math_f32_of_u64(uint64_t, uint32_t);
double ptx_math_f64_of_s64(int64_t, uint32_t);
double ptx_math_f64_of_u64(uint64_t, uint32_t);

/* ---- narrow.c ---- */
uint16_t ptx_math_f16_of_f32(float);
float ptx_math_f32_of_f16(uint16_t);
uint16_t ptx_math_f16_of_f64(double, uint32_t, uint32_t);
uint16_t ptx_math_bf16_of_f64(double, uint32_t, uint32_t);
uint16_t ptx_math_f16_of_s64(int64_t, uint32_t);
uint16_t ptx_math_f16_of_u64(uint64_t, uint32_t);
uint16_t ptx_math_bf16_of_s64(int64_t, uint32_t);
uint16_t ptx_math_bf16_of_u64(uint64_t, uint32_t);
uint16_t ptx_math_fma_f16(uint16_t, uint16_t, uint16_t, uint32_t);
uint16_t ptx_math_fma_bf16(uint16_t, uint16_t, uint16_t);
uint32_t ptx_math_tf32_of_f32(float, uint32_t, uint32_t);
uint32_t ptx_math_fp8_of_f32(float, uint32_t, uint32_t);
uint32_t ptx_math_f16_of_fp8(uint32_t, uint32_t, uint32_t);

/* ---- approximate.c ---- */
float ptx_math_sin_f32(float);
float ptx_math_cos_f32(float);
float ptx_math_lg2_f32(float);
float ptx_math_ex2_f32(float);
float ptx_math_tanh_f32(float);
float ptx_math_rsqrt_f32(float);
double ptx_math_rcp_f64(double);
double ptx_math_rsqrt_f64(double, uint32_t);

/* ---- video.c ---- */
uint32_t ptx_math_video(uint32_t, uint32_t, uint32_t, uint64_t);
uint32_t ptx_math_video_simd(uint32_t, uint32_t, uint32_t, uint64_t);

/* ---- bits.c ---- */
uint32_t ptx_math_prmt(uint32_t, uint32_t, uint32_t, uint32_t);
uint32_t ptx_math_fns(uint32_t, uint32_t, uint32_t);
uint64_t ptx_math_clock(void *);
uint64_t ptx_math_globaltimer(void *);

/* ---- atomic.c ---- */
uint32_t ptx_math_atomic_inc(void *, uint32_t);
uint32_t ptx_math_atomic_dec(void *, uint32_t);
float ptx_math_atomic_add_f32(void *, float, uint32_t);
double ptx_math_atomic_add_f64(void *, double, uint32_t);
uint32_t ptx_math_atomic_half(void *, uint32_t, uint32_t);
void ptx_math_exchange_128(void *, void *, void *);
void ptx_math_compare_128(void *, void *, void *, void *);
void ptx_math_load_128(void *, void *);
void ptx_math_store_128(void *, void *);

/* ---- mbarrier.c ---- */
#define ARRIVE_EXPECTS	1	/* bytes, and arrives once; else the count is one of arrivals */
#define ARRIVE_DROPS	2	/* later phases expect fewer arrivals */
void ptx_math_mbarrier_init(void *, uint32_t);
uint64_t ptx_math_mbarrier_arrive(void *, uint32_t, uint32_t);
void ptx_math_mbarrier_transactions(void *, uint32_t, uint32_t);
uint32_t ptx_math_mbarrier_test(void *, uint64_t, uint32_t);
uint32_t ptx_math_mbarrier_pending(uint64_t);

/* ---- bulk.c ---- */
enum bulk_operation {
	BULK_ADD, BULK_MIN, BULK_MAX, BULK_INC, BULK_DEC, BULK_AND, BULK_OR, BULK_XOR,
};

enum bulk_element {
	BULK_U32, BULK_S32, BULK_U64, BULK_S64, BULK_F16, BULK_BF16, BULK_F32, BULK_F64,
	BULK_ELEMENTS,
};

void ptx_math_bulk_copy(void *, void *, uint32_t, uint32_t);
void ptx_math_bulk_reduce(void *, void *, uint32_t, uint32_t);
void ptx_math_bulk_multicast(void *, uint64_t, void *, uint32_t, uint64_t, uint32_t);
void ptx_math_bulk_multimem_copy(void *, uint64_t, void *, uint32_t, uint32_t);
void ptx_math_bulk_multimem_reduce(void *, uint64_t, void *, uint32_t, uint32_t);

/* ---- matrix.c ---- */
void ptx_math_matrix_multiply(void *const *);
void ptx_math_matrix_places(void *, uint32_t, uint32_t, uint64_t);
void ptx_math_matrix_load(void *const *);
void ptx_math_matrix_store(void *const *);

/* Names and signatures of all of them */
#define MATH_FUNCTIONS(F) \
	F(add_f32, "f:ffi") F(sub_f32, "f:ffi") F(mul_f32, "f:ffi") F(div_f32, "f:ffi") \
	F(sqrt_f32, "f:fi") F(fma_f32, "f:fffi") F(add_f64, "d:ddi") \
	F(sub_f64, "d:ddi") F(mul_f64, "d:ddi") F(div_f64, "d:ddi") F(sqrt_f64, "d:di") \
	F(fma_f64, "d:dddi") F(f32_of_f64, "f:di") F(f32_of_s64, "f:li") \
	F(f32_of_u64, "f:li") F(f64_of_s64, "d:li") F(f64_of_u64, "d:li") \
	F(f16_of_f32, "h:f") F(f32_of_f16, "f:h") F(f16_of_f64, "h:dii") \
	F(bf16_of_f64, "h:dii") F(f16_of_s64, "h:li") F(f16_of_u64, "h:li") \
	F(bf16_of_s64, "h:li") F(bf16_of_u64, "h:li") F(fma_f16, "h:hhhi") \
	F(fma_bf16, "h:hhh") F(tf32_of_f32, "i:fii") F(fp8_of_f32, "i:fii") \
	F(f16_of_fp8, "i:iii") F(sin_f32, "f:f") F(cos_f32, "f:f") F(lg2_f32, "f:f") \
	F(ex2_f32, "f:f") F(tanh_f32, "f:f") F(rsqrt_f32, "f:f") F(rcp_f64, "d:d") \
	F(rsqrt_f64, "d:di") F(video, "i:iiil") F(video_simd, "i:iiil") \
	F(prmt, "i:iiii") F(fns, "i:iii") F(clock, "l:p") F(globaltimer, "l:p") \
	F(atomic_inc, "i:pi") F(atomic_dec, "i:pi") F(atomic_add_f32, "f:pfi") \
	F(atomic_add_f64, "d:pdi") F(atomic_half, "i:pii") F(exchange_128, "v:ppp") \
	F(compare_128, "v:pppp") F(load_128, "v:pp") F(store_128, "v:pp") \
	F(mbarrier_init, "v:pi") F(mbarrier_arrive, "l:pii") \
	F(mbarrier_transactions, "v:pii") F(mbarrier_test, "i:pli") \
	F(mbarrier_pending, "i:l") F(bulk_copy, "v:ppii") F(bulk_reduce, "v:ppii") \
	F(bulk_multicast, "v:plpili") F(bulk_multimem_copy, "v:plpii") \
	F(bulk_multimem_reduce, "v:plpii") F(matrix_load, "v:p") \
	F(matrix_places, "v:piil") \
	F(matrix_store, "v:p") F(matrix_multiply, "v:p")

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
