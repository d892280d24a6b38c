// SPDX-License-Identifier: MIT
/* Approximations: the C library's functions of double, rounded once. */
#include <math.h>

#include "ptx_math.h"

float ptx_math_sin_f32(float a)
{
	return sin((double)a);
}

float ptx_math_cos_f32(float a)
{
	return cos((double)a);
}

float ptx_math_lg2_f32(float a)
{
	return log2((double)a);
}

float ptx_math_ex2_f32(float a)
{
	return exp2((double)a);
}

float ptx_math_tanh_f32(float a)
{
	return tanh((double)a);
}

float ptx_math_rsqrt_f32(float a)
{
	return 1 / sqrt((double)a);
}

#define LEAST_NORMAL	0x1p-1022

/* Of .ftz forms of f64, an H100 sees and makes the upper 32 bits alone. */
static double upper(double a)
{
	if (isnan(a))
		return double_of_bits(0x7fffffff00000000ULL);
	if (fabs(a) < LEAST_NORMAL)
		return copysign(0, a);
	return double_of_bits(bits_of_double(a) & ~(uint64_t)UINT32_MAX);
}

double ptx_math_rcp_f64(double a)
{
	return upper(1 / upper(a));
}

double ptx_math_rsqrt_f64(double a, uint32_t ftz)
{
	return ftz ? upper(1 / sqrt(upper(a))) : 1 / sqrt(a);
}
