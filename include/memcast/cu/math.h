/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic and bits for kernels that are compiled as C++ (memcast/cu.h), with the names of
 * CUDA C++. Functions that <cmath> has are used from there.
 */
#ifndef MEMCAST_CU_MATH_H
#define MEMCAST_CU_MATH_H

#include <cmath>
#include <cstring>

#include <memcast/cu.h>

/* min() and max() without a namespace; for two types, of the type to which both convert */
#define MEMCAST_MIN_MAX(type, first, second)						\
inline type min(first a, second b) { return (type)a < (type)b ? (type)a : (type)b; }	\
inline type max(first a, second b) { return (type)a > (type)b ? (type)a : (type)b; }

MEMCAST_MIN_MAX(int, int, int)
MEMCAST_MIN_MAX(unsigned int, unsigned int, unsigned int)
MEMCAST_MIN_MAX(unsigned int, int, unsigned int)
MEMCAST_MIN_MAX(unsigned int, unsigned int, int)
MEMCAST_MIN_MAX(long, long, long)
MEMCAST_MIN_MAX(unsigned long, unsigned long, unsigned long)
MEMCAST_MIN_MAX(unsigned long, long, unsigned long)
MEMCAST_MIN_MAX(unsigned long, unsigned long, long)
MEMCAST_MIN_MAX(long long, long long, long long)
MEMCAST_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
#undef MEMCAST_MIN_MAX

/* The result of a number and a NaN is the number. */
#define MEMCAST_MIN_MAX(type, first, second)						\
inline type min(first a, second b) { return std::fmin((type)a, (type)b); }		\
inline type max(first a, second b) { return std::fmax((type)a, (type)b); }

MEMCAST_MIN_MAX(float, float, float)
MEMCAST_MIN_MAX(double, double, double)
MEMCAST_MIN_MAX(double, float, double)
MEMCAST_MIN_MAX(double, double, float)
#undef MEMCAST_MIN_MAX

/* Loads and stores that control a device's caches: here the processor controls its own. */
#define MEMCAST_LOAD(name)	template <class T> T name(const T *address) { return *address; }
MEMCAST_LOAD(__ldg) MEMCAST_LOAD(__ldca) MEMCAST_LOAD(__ldcg) MEMCAST_LOAD(__ldcs)
MEMCAST_LOAD(__ldlu)
template <class T> T __ldcv(const T *address) { return *(const volatile T *)address; }
#undef MEMCAST_LOAD
#define MEMCAST_STORE(name)	template <class T> void name(T *address, T value) { *address = value; }
MEMCAST_STORE(__stwb) MEMCAST_STORE(__stcg) MEMCAST_STORE(__stcs)
#undef MEMCAST_STORE
template <class T> void __stwt(T *address, T value) { *(volatile T *)address = value; }

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }

inline unsigned int __brev(unsigned int x)
{
	unsigned int turned = 0;

	for (int i = 0; i < 32; i++)
		turned |= (x >> i & 1) << (31 - i);
	return turned;
}

/* Multiply the lower 24 bits of each, with sign or without. */
inline int __mul24(int a, int b)
{
	return (int)((unsigned int)((int)((unsigned int)a << 8) >> 8) *
		     (unsigned int)((int)((unsigned int)b << 8) >> 8));
}

inline unsigned int __umul24(unsigned int a, unsigned int b)
{
	return (a & 0xffffff) * (b & 0xffffff);
}

/* Return: the upper half of a product. */
inline int __mulhi(int a, int b) { return (long long)a * b >> 32; }

inline unsigned int __umulhi(unsigned int a, unsigned int b)
{
	return (unsigned long long)a * b >> 32;
}

namespace memcast {
namespace cu {

/* Return: the same bits as another type. */
template <class To, class From> To bits(From from)
{
	static_assert(sizeof(To) == sizeof(From), "types of one size");
	To to;

	memcpy(&to, &from, sizeof(to));
	return to;
}

} /* namespace cu */
} /* namespace memcast */

inline int __float_as_int(float x) { return memcast::cu::bits<int>(x); }
inline unsigned int __float_as_uint(float x) { return memcast::cu::bits<unsigned int>(x); }
inline float __int_as_float(int x) { return memcast::cu::bits<float>(x); }
inline float __uint_as_float(unsigned int x) { return memcast::cu::bits<float>(x); }
inline long long __double_as_longlong(double x) { return memcast::cu::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return memcast::cu::bits<double>(x); }

inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __powf(float a, float b) { return std::pow(a, b); }

#endif /* MEMCAST_CU_MATH_H */
