/* SPDX-License-Identifier: MIT */
/*
 * Vectors of one to four numbers, as device code and programs name them (float4, uint3), and
 * dim3. Sizes and alignment are those of CUDA 13.0. C and C++; vector_functions.h has
 * make_float4() and similar functions.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

/*
 * Types @name1 to @name4 of numbers of type @type. Those of two and of four are aligned to
 * their own size, at most 16 bytes, so that one access reads or writes all of it.
 */
#define MEMCAST_VECTORS(name, type, align2, align4)					\
struct name##1 { type x; };								\
struct __attribute__((aligned(align2))) name##2 { type x, y; };			\
struct name##3 { type x, y, z; };							\
struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };			\
typedef struct name##1 name##1;								\
typedef struct name##2 name##2;								\
typedef struct name##3 name##3;								\
typedef struct name##4 name##4;

MEMCAST_VECTORS(char, signed char, 2, 4)
MEMCAST_VECTORS(uchar, unsigned char, 2, 4)
MEMCAST_VECTORS(short, short, 4, 8)
MEMCAST_VECTORS(ushort, unsigned short, 4, 8)
MEMCAST_VECTORS(int, int, 8, 16)
MEMCAST_VECTORS(uint, unsigned int, 8, 16)
MEMCAST_VECTORS(long, long, 16, 16)
MEMCAST_VECTORS(ulong, unsigned long, 16, 16)
MEMCAST_VECTORS(longlong, long long, 16, 16)
MEMCAST_VECTORS(ulonglong, unsigned long long, 16, 16)
MEMCAST_VECTORS(float, float, 8, 16)
MEMCAST_VECTORS(double, double, 16, 16)

#undef MEMCAST_VECTORS

/* Numbers of threads or blocks in each direction; omitted ones are 1. */
struct dim3 {
	unsigned int x, y, z;
#ifdef __cplusplus
	constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
		: x(x_), y(y_), z(z_) { }
	constexpr dim3(uint3 from) : x(from.x), y(from.y), z(from.z) { }
	constexpr operator uint3() const { return { x, y, z }; }
#endif
};
typedef struct dim3 dim3;

#endif /* __VECTOR_TYPES_H__ */
