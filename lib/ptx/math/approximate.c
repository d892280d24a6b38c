// SPDX-License-Identifier: MIT
/* Approximations: the C library's functions of double, rounded once. */
#include <math.h>

#include "ptx_math.h"

#define OF_F32(name, value)	float ptx_math_##name##_f32(float a) { return value; }
OF_F32(sin, sin((double)a))
OF_F32(cos, cos((double)a))
OF_F32(lg2, log2((double)a))
OF_F32(ex2, exp2((double)a))
OF_F32(tanh, tanh((double)a))
OF_F32(rsqrt, 1 / sqrt((double)a))

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
