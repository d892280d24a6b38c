/* SPDX-License-Identifier: MIT */
/*
 * CUDA C++ by clang without NVIDIA's toolkit: what nvcc includes by itself. cuda_runtime.h
 * includes this header when clang compiles CUDA C++; docs/stack/ptx.md has the command.
 *
 * clang has headers of most functions of device code, and of <cmath>. They call functions named
 * __nv_…: libdevice.h has those that are one or two instructions, memcast-ptx.so the others.
 */
#ifndef MEMCAST_CLANG_CUDA_H
#define MEMCAST_CLANG_CUDA_H

#if !defined(__clang__) || !defined(__CUDA__)
#error "clang/cuda.h is for clang, and for CUDA C++"
#endif

/* Before <cmath>, whose functions would be device code as well otherwise */
#include <__clang_cuda_math_forward_declares.h>
#define __CUDACC__		1	/* tells the C++ library that there is no __float128 */
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

#define __host__		__attribute__((host))
#define __device__		__attribute__((device))
#define __global__		__attribute__((global))
#define __shared__		__attribute__((shared))
#define __constant__		__attribute__((constant))
#define __launch_bounds__(...)	__attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define __align__(bytes)	__attribute__((aligned(bytes)))
#define __forceinline__		__inline__ __attribute__((always_inline))
/* A keyword since clang 16. <memory>, above, uses the word itself. */
#if __clang_major__ < 16
#define __noinline__		__attribute__((noinline))
#endif

/* clang's headers ask; cuda.h says the same. */
#ifndef CUDA_VERSION
#define CUDA_VERSION		13000
#endif

#include <vector_types.h>
#include <__clang_cuda_builtin_vars.h>

/* clang's variables as values of the types that CUDA C++ gives them */
#define MEMCAST_PLACE(type)								\
inline __device__ type::operator uint3() const { return { x, y, z }; }			\
inline __device__ type::operator dim3() const { return { x, y, z }; }

MEMCAST_PLACE(__cuda_builtin_threadIdx_t)
MEMCAST_PLACE(__cuda_builtin_blockIdx_t)
MEMCAST_PLACE(__cuda_builtin_blockDim_t)
MEMCAST_PLACE(__cuda_builtin_gridDim_t)
#undef MEMCAST_PLACE

extern "C" {
/* clang calls this for kernel<<<grid, block, shared_bytes, stream>>>(). */
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
					 void *stream = nullptr);

/* System calls: clang makes vprintf() of printf(), and <assert.h> calls __assert_fail(). */
__device__ int vprintf(const char *format, const char *values);
__device__ int printf(const char *format, ...);
__device__ void *malloc(size_t bytes) noexcept;
__device__ void free(void *memory) noexcept;
__device__ void __assertfail(const char *what, const char *file, unsigned int line,
			     const char *function, size_t character_bytes);

inline __device__ void __assert_fail(const char *what, const char *file, unsigned int line,
				     const char *function)
{
	__assertfail(what, file, line, function, 1);
}
}

#include <clang/libdevice.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#include <__clang_cuda_cmath.h>
#include <clang/atomic.h>
#include <clang/cmath.h>
#include <clang/memory.h>
#include <clang/warp.h>

#endif /* MEMCAST_CLANG_CUDA_H */
