/* SPDX-License-Identifier: MIT */
/* make_float4() and similar functions: vectors of numbers as values, for C and C++ */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include <vector_types.h>

#if defined(__clang__) && defined(__CUDA__)
#define MEMCAST_BOTH_SIDES	__attribute__((host, device)) static inline
#else
#define MEMCAST_BOTH_SIDES	static inline
#endif

#define MEMCAST_MAKE(name, type)							\
MEMCAST_BOTH_SIDES struct name##1 make_##name##1(type x)					\
{											\
	struct name##1 made = { x };							\
											\
	return made;									\
}											\
MEMCAST_BOTH_SIDES struct name##2 make_##name##2(type x, type y)				\
{											\
	struct name##2 made = { x, y };							\
											\
	return made;									\
}											\
MEMCAST_BOTH_SIDES struct name##3 make_##name##3(type x, type y, type z)			\
{											\
	struct name##3 made = { x, y, z };						\
											\
	return made;									\
}											\
MEMCAST_BOTH_SIDES struct name##4 make_##name##4(type x, type y, type z, type w)		\
{											\
	struct name##4 made = { x, y, z, w };						\
											\
	return made;									\
}

MEMCAST_MAKE(char, signed char)
MEMCAST_MAKE(uchar, unsigned char)
MEMCAST_MAKE(short, short)
MEMCAST_MAKE(ushort, unsigned short)
MEMCAST_MAKE(int, int)
MEMCAST_MAKE(uint, unsigned int)
MEMCAST_MAKE(long, long)
MEMCAST_MAKE(ulong, unsigned long)
MEMCAST_MAKE(longlong, long long)
MEMCAST_MAKE(ulonglong, unsigned long long)
MEMCAST_MAKE(float, float)
MEMCAST_MAKE(double, double)

#undef MEMCAST_MAKE

#endif /* __VECTOR_FUNCTIONS_H__ */
