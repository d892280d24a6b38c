// SPDX-License-Identifier: MIT
/*
 * x86-64: arithmetic with a rounding mode. The mode is set for one instruction and taken back within
 * the same piece of assembly, so that nothing else runs with it: threads of a block share the
 * processor's state.
 */
#include <fenv.h>
#include <math.h>

#include "ptx/math/ptx_math.h"

/* All exceptions masked; bits 13 and 14 have the mode: nearest, down, up, to zero */
static const uint32_t states[] = {
	[ROUND_RN] = 0x1f80, [ROUND_RZ] = 0x7f80, [ROUND_RM] = 0x3f80, [ROUND_RP] = 0x5f80,
};

static const uint32_t usual = 0x1f80;

#define ROUNDED(result, source, instruction, mode)					\
	asm volatile("ldmxcsr %2\n\t" instruction " %1, %0\n\tldmxcsr %3"		\
		     : "+x" (result) : "x" (source), "m" (states[(mode) & 3]), "m" (usual))

#define BINARY(type, name, instruction)							\
type ptx_math_##name(type a, type b, uint32_t mode)					\
{											\
	ROUNDED(a, b, instruction, mode);						\
	return a;									\
}

BINARY(float, add_f32, "addss")
BINARY(float, sub_f32, "subss")
BINARY(float, mul_f32, "mulss")
BINARY(float, div_f32, "divss")
BINARY(double, add_f64, "addsd")
BINARY(double, sub_f64, "subsd")
BINARY(double, mul_f64, "mulsd")
BINARY(double, div_f64, "divsd")

float ptx_math_sqrt_f32(float a, uint32_t mode)
{
	float result = 0;

	ROUNDED(result, a, "sqrtss", mode);
	return result;
}

double ptx_math_sqrt_f64(double a, uint32_t mode)
{
	double result = 0;

	ROUNDED(result, a, "sqrtsd", mode);
	return result;
}

static const int fenv_modes[] = {
	[ROUND_RN] = FE_TONEAREST, [ROUND_RZ] = FE_TOWARDZERO, [ROUND_RM] = FE_DOWNWARD,
	[ROUND_RP] = FE_UPWARD,
};

/* Processors without FMA: the C library does it in software, and looks at the mode. */
__attribute__((noinline)) static float soft_fmaf(float a, float b, float c, uint32_t mode)
{
	volatile float x = a, y = b, z = c, result;

	fesetround(fenv_modes[mode & 3]);
	result = fmaf(x, y, z);
	fesetround(FE_TONEAREST);
	return result;
}

__attribute__((noinline)) static double soft_fma(double a, double b, double c, uint32_t mode)
{
	volatile double x = a, y = b, z = c, result;

	fesetround(fenv_modes[mode & 3]);
	result = fma(x, y, z);
	fesetround(FE_TONEAREST);
	return result;
}

float ptx_math_fma_f32(float a, float b, float c, uint32_t mode)
{
	if (!__builtin_cpu_supports("fma"))
		return soft_fmaf(a, b, c, mode);
	asm volatile("vldmxcsr %3\n\tvfmadd231ss %1, %2, %0\n\tvldmxcsr %4"
		     : "+x" (c) : "x" (a), "x" (b), "m" (states[mode & 3]), "m" (usual));
	return c;
}

double ptx_math_fma_f64(double a, double b, double c, uint32_t mode)
{
	if (!__builtin_cpu_supports("fma"))
		return soft_fma(a, b, c, mode);
	asm volatile("vldmxcsr %3\n\tvfmadd231sd %1, %2, %0\n\tvldmxcsr %4"
		     : "+x" (c) : "x" (a), "x" (b), "m" (states[mode & 3]), "m" (usual));
	return c;
}

float ptx_math_f32_of_f64(double a, uint32_t mode)
{
	float result = 0;

	ROUNDED(result, a, "cvtsd2ss", mode);
	return result;
}

#define OF_SIGNED(type, name, instruction)						\
type ptx_math_##name(int64_t a, uint32_t mode)						\
{											\
	type result = 0;								\
											\
	asm volatile("ldmxcsr %2\n\t" instruction " %1, %0\n\tldmxcsr %3"		\
		     : "+x" (result) : "r" (a), "m" (states[mode & 3]), "m" (usual));	\
	return result;									\
}

OF_SIGNED(float, f32_of_s64, "cvtsi2ssq")
OF_SIGNED(double, f64_of_s64, "cvtsi2sdq")

/* From 2^63 on: half of it, the lost bit kept for the rounding, and then twice the result */
float ptx_math_f32_of_u64(uint64_t a, uint32_t mode)
{
	if ((int64_t)a >= 0)
		return ptx_math_f32_of_s64(a, mode);
	return 2 * ptx_math_f32_of_s64(a >> 1 | (a & 1), mode);
}

double ptx_math_f64_of_u64(uint64_t a, uint32_t mode)
{
	if ((int64_t)a >= 0)
		return ptx_math_f64_of_s64(a, mode);
	return 2 * ptx_math_f64_of_s64(a >> 1 | (a & 1), mode);
}
