/* SPDX-License-Identifier: MIT */
/*
 * Functions that clang's headers of device code call, as far as they are one or two instructions.
 * Names are those of NVIDIA's library of device functions, libdevice. The functions of C's
 * mathematical library are only declared: memcast-ptx.so has them (lib/ptx/math/libdevice.c). A
 * launch of a kernel that calls another function fails, and names it.
 */
#ifndef MEMCAST_CLANG_LIBDEVICE_H
#define MEMCAST_CLANG_LIBDEVICE_H

#include <__clang_cuda_libdevice_declares.h>

extern "C" {
#define MEMCAST_ONE(name, result, type, value)						\
inline __device__ result __nv_##name(type a) { return value; }
#define MEMCAST_TWO(name, type, value)							\
inline __device__ type __nv_##name(type a, type b) { return value; }

/* ---- bits and integers */
MEMCAST_ONE(abs, int, int, a < 0 ? -a : a)
MEMCAST_ONE(llabs, long long, long long, a < 0 ? -a : a)
MEMCAST_ONE(brev, int, int, __builtin_bitreverse32(a))
MEMCAST_ONE(brevll, long long, long long, __builtin_bitreverse64(a))
MEMCAST_ONE(clz, int, int, a ? __builtin_clz(a) : 32)
MEMCAST_ONE(clzll, int, long long, a ? __builtin_clzll(a) : 64)
MEMCAST_ONE(ffs, int, int, __builtin_ffs(a))
MEMCAST_ONE(ffsll, int, long long, __builtin_ffsll(a))
MEMCAST_ONE(popc, int, int, __builtin_popcount(a))
MEMCAST_ONE(popcll, int, long long, __builtin_popcountll(a))
MEMCAST_TWO(min, int, a < b ? a : b)
MEMCAST_TWO(max, int, a > b ? a : b)
MEMCAST_TWO(umin, unsigned int, a < b ? a : b)
MEMCAST_TWO(umax, unsigned int, a > b ? a : b)
MEMCAST_TWO(llmin, long long, a < b ? a : b)
MEMCAST_TWO(llmax, long long, a > b ? a : b)
MEMCAST_TWO(ullmin, unsigned long long, a < b ? a : b)
MEMCAST_TWO(ullmax, unsigned long long, a > b ? a : b)
MEMCAST_TWO(mulhi, int, (long long)a * b >> 32)
MEMCAST_TWO(umulhi, unsigned int, (unsigned long long)a * b >> 32)
MEMCAST_TWO(mul64hi, long long, (__int128)a * b >> 64)
MEMCAST_TWO(umul64hi, unsigned long long, (unsigned __int128)a * b >> 64)
MEMCAST_TWO(umul24, unsigned int, (a & 0xffffff) * (b & 0xffffff))
MEMCAST_TWO(mul24, int, (int)((unsigned int)(a << 8 >> 8) * (unsigned int)(b << 8 >> 8)))
MEMCAST_TWO(hadd, int, (int)(((long long)a + b) >> 1))
MEMCAST_TWO(rhadd, int, (int)(((long long)a + b + 1) >> 1))

/* Four of eight bytes; each 4 bits of @c name one. */
inline __device__ int __nv_byte_perm(int a, int b, int c)
{
	asm("prmt.b32 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
	return a;
}

/* ---- the same bits as another type */
MEMCAST_ONE(float_as_int, int, float, __builtin_bit_cast(int, a))
MEMCAST_ONE(float_as_uint, unsigned int, float, __builtin_bit_cast(unsigned int, a))
MEMCAST_ONE(int_as_float, float, int, __builtin_bit_cast(float, a))
MEMCAST_ONE(uint_as_float, float, unsigned int, __builtin_bit_cast(float, a))
MEMCAST_ONE(double_as_longlong, unsigned long long, double,
	    __builtin_bit_cast(unsigned long long, a))
MEMCAST_ONE(longlong_as_double, double, long long, __builtin_bit_cast(double, a))
MEMCAST_ONE(double2hiint, int, double, __builtin_bit_cast(long long, a) >> 32)
MEMCAST_ONE(double2loint, int, double, __builtin_bit_cast(long long, a))
inline __device__ double __nv_hiloint2double(int a, int b)
{
	return __builtin_bit_cast(double, (unsigned long long)a << 32 | (unsigned int)b);
}

/* ---- numbers that are near, signs, and kinds of numbers */
#define MEMCAST_BOTH(name)								\
MEMCAST_ONE(name, double, double, __builtin_##name(a))					\
MEMCAST_ONE(name##f, float, float, __builtin_##name##f(a))

MEMCAST_BOTH(fabs)
MEMCAST_BOTH(floor)
MEMCAST_BOTH(ceil)
MEMCAST_BOTH(trunc)
MEMCAST_BOTH(rint)
MEMCAST_BOTH(nearbyint)
#undef MEMCAST_BOTH
MEMCAST_TWO(fmin, double, __builtin_fmin(a, b))
MEMCAST_TWO(fminf, float, __builtin_fminf(a, b))
MEMCAST_TWO(fmax, double, __builtin_fmax(a, b))
MEMCAST_TWO(fmaxf, float, __builtin_fmaxf(a, b))
MEMCAST_TWO(copysign, double, __builtin_copysign(a, b))
MEMCAST_TWO(copysignf, float, __builtin_copysignf(a, b))
MEMCAST_ONE(isinfd, int, double, __builtin_isinf(a))
MEMCAST_ONE(isinff, int, float, __builtin_isinf(a))
MEMCAST_ONE(isnand, int, double, __builtin_isnan(a))
MEMCAST_ONE(isnanf, int, float, __builtin_isnan(a))
MEMCAST_ONE(isfinited, int, double, __builtin_isfinite(a))
MEMCAST_ONE(finitef, int, float, __builtin_isfinite(a))
MEMCAST_ONE(signbitd, int, double, __builtin_signbit(a))
MEMCAST_ONE(signbitf, int, float, __builtin_signbit(a))
MEMCAST_ONE(saturatef, float, float, a > 0 ? (a < 1 ? a : 1) : 0)

/* ---- arithmetic that rounds to nearest, to zero, down and up */
#define MEMCAST_ROUND1(name, type, letter, instruction, suffix)				\
inline __device__ type __nv_##name(type a)						\
{											\
	asm(instruction suffix " %0, %0;" : "+" letter(a));				\
	return a;									\
}
#define MEMCAST_ROUND2(name, type, letter, instruction, suffix)				\
inline __device__ type __nv_##name(type a, type b)					\
{											\
	asm(instruction suffix " %0, %0, %1;" : "+" letter(a) : letter(b));		\
	return a;									\
}
#define MEMCAST_ROUND3(name, type, letter, instruction, suffix)				\
inline __device__ type __nv_##name(type a, type b, type c)				\
{											\
	asm(instruction suffix " %0, %0, %1, %2;" : "+" letter(a) : letter(b), letter(c));	\
	return a;									\
}
#define MEMCAST_MODES(count, name, type, letter, instruction, suffix)			\
MEMCAST_ROUND##count(name##_rn, type, letter, instruction ".rn", suffix)		\
MEMCAST_ROUND##count(name##_rz, type, letter, instruction ".rz", suffix)		\
MEMCAST_ROUND##count(name##_rd, type, letter, instruction ".rm", suffix)		\
MEMCAST_ROUND##count(name##_ru, type, letter, instruction ".rp", suffix)
#define MEMCAST_FLOAT(count, name, instruction)						\
MEMCAST_MODES(count, f##name, float, "f", instruction, ".f32")
#define MEMCAST_DOUBLE(count, name, instruction)					\
MEMCAST_MODES(count, d##name, double, "d", instruction, ".f64")

MEMCAST_FLOAT(2, add, "add")
MEMCAST_FLOAT(2, sub, "sub")
MEMCAST_FLOAT(2, mul, "mul")
MEMCAST_FLOAT(2, div, "div")
MEMCAST_FLOAT(1, rcp, "rcp")
MEMCAST_FLOAT(1, sqrt, "sqrt")
MEMCAST_FLOAT(3, maf, "fma")
MEMCAST_DOUBLE(2, add, "add")
MEMCAST_DOUBLE(2, sub, "sub")
MEMCAST_DOUBLE(2, mul, "mul")
MEMCAST_DOUBLE(2, div, "div")
MEMCAST_DOUBLE(1, rcp, "rcp")
MEMCAST_DOUBLE(1, sqrt, "sqrt")
MEMCAST_MODES(3, fma, double, "d", "fma", ".f64")
MEMCAST_ROUND3(fma, double, "d", "fma.rn", ".f64")
MEMCAST_ROUND3(fmaf, float, "f", "fma.rn", ".f32")
MEMCAST_ROUND1(sqrt, double, "d", "sqrt.rn", ".f64")
MEMCAST_ROUND1(sqrtf, float, "f", "sqrt.rn", ".f32")
MEMCAST_ONE(rsqrt, double, double, 1 / __nv_sqrt(a))
MEMCAST_ONE(rsqrtf, float, float, 1 / __nv_sqrtf(a))

/* ---- conversions, rounded likewise */
#define MEMCAST_CONVERT(name, to, to_letter, from, from_letter, instruction, types)	\
inline __device__ to __nv_##name(from a)						\
{											\
	to result;									\
											\
	asm("cvt" instruction types " %0, %1;" : "=" to_letter(result) : from_letter(a));	\
	return result;									\
}
/* @i: "i" where an integer is made; it is a part of the mode's name then */
#define MEMCAST_CONVERTS(name, to, to_letter, from, from_letter, i, types)		\
MEMCAST_CONVERT(name##_rn, to, to_letter, from, from_letter, ".rn" i, types)		\
MEMCAST_CONVERT(name##_rz, to, to_letter, from, from_letter, ".rz" i, types)		\
MEMCAST_CONVERT(name##_rd, to, to_letter, from, from_letter, ".rm" i, types)		\
MEMCAST_CONVERT(name##_ru, to, to_letter, from, from_letter, ".rp" i, types)

MEMCAST_CONVERTS(float2int, int, "r", float, "f", "i", ".s32.f32")
MEMCAST_CONVERTS(float2uint, unsigned int, "r", float, "f", "i", ".u32.f32")
MEMCAST_CONVERTS(float2ll, long long, "l", float, "f", "i", ".s64.f32")
MEMCAST_CONVERTS(float2ull, unsigned long long, "l", float, "f", "i", ".u64.f32")
MEMCAST_CONVERTS(double2int, int, "r", double, "d", "i", ".s32.f64")
MEMCAST_CONVERTS(double2uint, unsigned int, "r", double, "d", "i", ".u32.f64")
MEMCAST_CONVERTS(double2ll, long long, "l", double, "d", "i", ".s64.f64")
MEMCAST_CONVERTS(double2ull, unsigned long long, "l", double, "d", "i", ".u64.f64")
MEMCAST_CONVERTS(double2float, float, "f", double, "d", "", ".f32.f64")
MEMCAST_CONVERTS(int2float, float, "f", int, "r", "", ".f32.s32")
MEMCAST_CONVERTS(uint2float, float, "f", unsigned int, "r", "", ".f32.u32")
MEMCAST_CONVERTS(ll2float, float, "f", long long, "l", "", ".f32.s64")
MEMCAST_CONVERTS(ull2float, float, "f", unsigned long long, "l", "", ".f32.u64")
MEMCAST_CONVERTS(ll2double, double, "d", long long, "l", "", ".f64.s64")
MEMCAST_CONVERTS(ull2double, double, "d", unsigned long long, "l", "", ".f64.u64")
MEMCAST_ONE(int2double_rn, double, int, a)
MEMCAST_ONE(uint2double_rn, double, unsigned int, a)

/* ---- approximations */
MEMCAST_ROUND1(fast_sinf, float, "f", "sin.approx", ".f32")
MEMCAST_ROUND1(fast_cosf, float, "f", "cos.approx", ".f32")
MEMCAST_ROUND1(fast_log2f, float, "f", "lg2.approx", ".f32")
MEMCAST_ROUND2(fast_fdividef, float, "f", "div.approx", ".f32")
MEMCAST_ONE(fast_tanf, float, float, __nv_fast_sinf(a) / __nv_fast_cosf(a))
MEMCAST_ONE(fast_expf, float, float, __nv_expf(a))
MEMCAST_ONE(fast_exp10f, float, float, __nv_exp10f(a))
MEMCAST_ONE(fast_logf, float, float, __nv_logf(a))
MEMCAST_ONE(fast_log10f, float, float, __nv_log10f(a))
MEMCAST_TWO(fast_powf, float, __nv_powf(a, b))

/* ---- two results */
#define MEMCAST_SINCOS(name, type, sin, cos)						\
inline __device__ void __nv_##name(type a, type *s, type *c)				\
{											\
	*s = __nv_##sin(a);								\
	*c = __nv_##cos(a);								\
}

MEMCAST_SINCOS(sincos, double, sin, cos)
MEMCAST_SINCOS(sincosf, float, sinf, cosf)
MEMCAST_SINCOS(fast_sincosf, float, fast_sinf, fast_cosf)

#undef MEMCAST_SINCOS
#undef MEMCAST_CONVERTS
#undef MEMCAST_CONVERT
#undef MEMCAST_DOUBLE
#undef MEMCAST_FLOAT
#undef MEMCAST_MODES
#undef MEMCAST_ROUND3
#undef MEMCAST_ROUND2
#undef MEMCAST_ROUND1
#undef MEMCAST_TWO
#undef MEMCAST_ONE
}

#endif /* MEMCAST_CLANG_LIBDEVICE_H */
