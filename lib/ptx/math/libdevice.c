// SPDX-License-Identifier: MIT
/*
 * The functions of NVIDIA's library of device functions, libdevice, that are the C library's:
 * __nv_sinf() is sinf(). Code of nvcc has them inside; code of clang calls them, if clang compiled
 * it with the headers in include/cuda/clang. These headers have the others of libdevice.
 */
#include <math.h>

#include "ptx_math.h"

#define FUNCTION(name, signature)	{ "nv_" #name, signature, (void *)(uintptr_t)name },
#define ONE(name)	FUNCTION(name, "d:d") FUNCTION(name##f, "f:f")
#define TWO(name)	FUNCTION(name, "d:dd") FUNCTION(name##f, "f:ff")

/* clang makes pow() of an integer's power of these. */
static double powi(double a, uint32_t b)
{
	return pow(a, (int32_t)b);
}

static float powif(float a, uint32_t b)
{
	return powf(a, (int32_t)b);
}

const struct math_name libdevice_names[] = {
	ONE(acos) ONE(acosh) ONE(asin) ONE(asinh) ONE(atan) ONE(atanh) ONE(cbrt) ONE(cos) ONE(cosh)
	ONE(erf) ONE(erfc) ONE(exp) ONE(exp10) ONE(exp2) ONE(expm1) ONE(lgamma) ONE(log) ONE(log10)
	ONE(log1p) ONE(log2) ONE(logb) ONE(round) ONE(sin) ONE(sinh) ONE(tan) ONE(tanh) ONE(tgamma)
	TWO(atan2) TWO(fdim) TWO(fmod) TWO(hypot) TWO(nextafter) TWO(pow) TWO(remainder)
	FUNCTION(frexp, "d:dp") FUNCTION(frexpf, "f:fp") FUNCTION(ilogb, "i:d")
	FUNCTION(ilogbf, "i:f") FUNCTION(ldexp, "d:di") FUNCTION(ldexpf, "f:fi")
	FUNCTION(llrint, "l:d") FUNCTION(llrintf, "l:f") FUNCTION(llround, "l:d")
	FUNCTION(llroundf, "l:f") FUNCTION(modf, "d:dp") FUNCTION(modff, "f:fp")
	FUNCTION(powi, "d:di") FUNCTION(powif, "f:fi") FUNCTION(remquo, "d:ddp")
	FUNCTION(remquof, "f:ffp") FUNCTION(scalbn, "d:di") FUNCTION(scalbnf, "f:fi")
	{},
};
