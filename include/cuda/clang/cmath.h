/* SPDX-License-Identifier: MIT */
/*
 * Device code of clang: functions of <cmath> of a float, which clang's headers declare and expect
 * NVIDIA's to define
 */
#ifndef MEMCAST_CLANG_CMATH_H
#define MEMCAST_CLANG_CMATH_H

#define MEMCAST_ONE(result, name)							\
static inline __device__ result name(float a) { return ::name##f(a); }
#define MEMCAST_TWO(name, type)								\
static inline __device__ float name(float a, type b) { return ::name##f(a, b); }

MEMCAST_ONE(float, acosh)
MEMCAST_ONE(float, asinh)
MEMCAST_ONE(float, atanh)
MEMCAST_ONE(float, cbrt)
MEMCAST_ONE(float, erf)
MEMCAST_ONE(float, erfc)
MEMCAST_ONE(float, exp2)
MEMCAST_ONE(float, expm1)
MEMCAST_ONE(float, lgamma)
MEMCAST_ONE(float, log1p)
MEMCAST_ONE(float, log2)
MEMCAST_ONE(float, logb)
MEMCAST_ONE(float, nearbyint)
MEMCAST_ONE(float, rint)
MEMCAST_ONE(float, round)
MEMCAST_ONE(float, tgamma)
MEMCAST_ONE(float, trunc)
MEMCAST_ONE(int, ilogb)
MEMCAST_ONE(long, lrint)
MEMCAST_ONE(long, lround)
MEMCAST_ONE(long long, llrint)
MEMCAST_ONE(long long, llround)
MEMCAST_TWO(copysign, float)
MEMCAST_TWO(fdim, float)
MEMCAST_TWO(fmax, float)
MEMCAST_TWO(fmin, float)
MEMCAST_TWO(hypot, float)
MEMCAST_TWO(nextafter, float)
MEMCAST_TWO(remainder, float)
MEMCAST_TWO(scalbn, int)
MEMCAST_TWO(scalbln, long)
#undef MEMCAST_ONE
#undef MEMCAST_TWO

static inline __device__ float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
static inline __device__ float remquo(float a, float b, int *quotient)
{
	return ::remquof(a, b, quotient);
}

/* For programs as well as for device code. Device code has those of two ints from clang. */
#define MEMCAST_MIN_MAX(where, type, first, second)					\
inline where type min(first a, second b) { return (type)a < (type)b ? (type)a : (type)b; }	\
inline where type max(first a, second b) { return (type)a > (type)b ? (type)a : (type)b; }

MEMCAST_MIN_MAX(__host__, int, int, int)
MEMCAST_MIN_MAX(__host__ __device__, unsigned int, unsigned int, unsigned int)
MEMCAST_MIN_MAX(__host__ __device__, unsigned int, int, unsigned int)
MEMCAST_MIN_MAX(__host__ __device__, unsigned int, unsigned int, int)
MEMCAST_MIN_MAX(__host__ __device__, long, long, long)
MEMCAST_MIN_MAX(__host__ __device__, unsigned long, unsigned long, unsigned long)
MEMCAST_MIN_MAX(__host__ __device__, long long, long long, long long)
MEMCAST_MIN_MAX(__host__ __device__, unsigned long long, unsigned long long, unsigned long long)
#undef MEMCAST_MIN_MAX

/* The result of a number and a NaN is the number. */
#define MEMCAST_MIN_MAX(type, first, second)						\
inline __host__ __device__ type min(first a, second b) { return fmin((type)a, (type)b); }	\
inline __host__ __device__ type max(first a, second b) { return fmax((type)a, (type)b); }

MEMCAST_MIN_MAX(float, float, float)
MEMCAST_MIN_MAX(double, double, double)
MEMCAST_MIN_MAX(double, float, double)
MEMCAST_MIN_MAX(double, double, float)
#undef MEMCAST_MIN_MAX

static inline __device__ float rsqrt(float a) { return ::rsqrtf(a); }
inline __host__ double rsqrt(double a) { return 1 / std::sqrt(a); }
inline __host__ float rsqrtf(float a) { return 1 / std::sqrt(a); }
inline __host__ float rsqrt(float a) { return rsqrtf(a); }

#endif /* MEMCAST_CLANG_CMATH_H */
