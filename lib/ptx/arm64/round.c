// SPDX-License-Identifier: MIT
/*
 * arm64: arithmetic with a rounding mode. The mode is set for one instruction and taken back within
 * the same piece of assembly, so that nothing else runs with it: threads of a block share the
 * processor's state.
 */
#include "ptx/math/ptx_math.h"

/* FPCR, whose bits 22 and 23 have the mode: nearest, up, down, to zero; all exceptions masked */
static const uint64_t states[] = {
	[ROUND_RN] = 0, [ROUND_RP] = 1U << 22, [ROUND_RM] = 2U << 22, [ROUND_RZ] = 3U << 22,
};

/* %0: the result; %1: the state; from %2 on: the operands */
#define ROUNDED(instruction, result, mode, ...)						\
	asm volatile("msr fpcr, %1\n\t" instruction "\n\tmsr fpcr, xzr"			\
		     : "=w" (result) : "r" (states[(mode) & 3]), __VA_ARGS__)

#define BINARY(type, letter, name, instruction)						\
type ptx_math_##name(type a, type b, uint32_t mode)					\
{											\
	type result;									\
											\
	ROUNDED(instruction " %" letter "0, %" letter "2, %" letter "3", result, mode,	\
		"w" (a), "w" (b));							\
	return result;									\
}

BINARY(float, "s", add_f32, "fadd")
BINARY(float, "s", sub_f32, "fsub")
BINARY(float, "s", mul_f32, "fmul")
BINARY(float, "s", div_f32, "fdiv")
BINARY(double, "d", add_f64, "fadd")
BINARY(double, "d", sub_f64, "fsub")
BINARY(double, "d", mul_f64, "fmul")
BINARY(double, "d", div_f64, "fdiv")

/* @instruction: with its operands */
#define UNARY(type, name, of, constraint, instruction)					\
type ptx_math_##name(of a, uint32_t mode)						\
{											\
	type result;									\
											\
	ROUNDED(instruction, result, mode, constraint (a));				\
	return result;									\
}

UNARY(float, sqrt_f32, float, "w", "fsqrt %s0, %s2")
UNARY(double, sqrt_f64, double, "w", "fsqrt %d0, %d2")
UNARY(float, f32_of_f64, double, "w", "fcvt %s0, %d2")
UNARY(float, f32_of_s64, int64_t, "r", "scvtf %s0, %x2")
UNARY(double, f64_of_s64, int64_t, "r", "scvtf %d0, %x2")
UNARY(float, f32_of_u64, uint64_t, "r", "ucvtf %s0, %x2")
UNARY(double, f64_of_u64, uint64_t, "r", "ucvtf %d0, %x2")

float ptx_math_fma_f32(float a, float b, float c, uint32_t mode)
{
	float result;

	ROUNDED("fmadd %s0, %s2, %s3, %s4", result, mode, "w" (a), "w" (b), "w" (c));
	return result;
}

double ptx_math_fma_f64(double a, double b, double c, uint32_t mode)
{
	double result;

	ROUNDED("fmadd %d0, %d2, %d3, %d4", result, mode, "w" (a), "w" (b), "w" (c));
	return result;
}
