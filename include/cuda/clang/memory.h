/* SPDX-License-Identifier: MIT */
/* Device code of clang: loads and stores with hints for caches, and what clang's headers lack */
#ifndef MEMCAST_CLANG_MEMORY_H
#define MEMCAST_CLANG_MEMORY_H

/*
 * Loads past the L1 cache: loops wait by them for other threads, and memcast-ptx.so knows a loop
 * that waits by such an instruction.
 */
#define MEMCAST_LOAD_SHARED(name, instruction)						\
template <class T> inline __device__ T name(const T *from)				\
{											\
	unsigned long long words;							\
	unsigned int word;								\
	T value;									\
											\
	if (sizeof(T) == 4) {								\
		asm volatile(instruction ".b32 %0, [%1];"				\
			     : "=r"(word) : "l"(from) : "memory");			\
		__builtin_memcpy(&value, &word, sizeof(value));				\
	} else if (sizeof(T) == 8) {							\
		asm volatile(instruction ".b64 %0, [%1];"				\
			     : "=l"(words) : "l"(from) : "memory");			\
		__builtin_memcpy(&value, &words, sizeof(value));			\
	} else {									\
		asm volatile("" ::: "memory");						\
		value = *from;								\
		asm volatile("" ::: "memory");						\
	}										\
	return value;									\
}

/* The other hints mean nothing to a processor. */
#define MEMCAST_LOAD(name)								\
template <class T> inline __device__ T name(const T *from)				\
{											\
	asm volatile("" ::: "memory");							\
	return *from;									\
}
#define MEMCAST_STORE(name)								\
template <class T, class V> inline __device__ void name(T *to, V value)			\
{											\
	*to = value;									\
	asm volatile("" ::: "memory");							\
}

MEMCAST_LOAD(__ldg)
MEMCAST_LOAD(__ldca)
MEMCAST_LOAD(__ldcs)
MEMCAST_LOAD(__ldlu)
MEMCAST_LOAD_SHARED(__ldcg, "ld.cg")
MEMCAST_LOAD_SHARED(__ldcv, "ld.cv")
MEMCAST_STORE(__stwb)
MEMCAST_STORE(__stcg)
MEMCAST_STORE(__stcs)
MEMCAST_STORE(__stwt)
#undef MEMCAST_LOAD
#undef MEMCAST_LOAD_SHARED
#undef MEMCAST_STORE

inline __device__ size_t __cvta_generic_to_shared(const void *pointer)
{
	size_t address;

	asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
	return address;
}

inline __device__ void __nanosleep(unsigned int ns)
{
	asm volatile("nanosleep.u32 %0;" :: "r"(ns) : "memory");
}

/*
 * The upper word of 8 bytes that are shifted to the left, the lower one to the right: by 0 to 31 bits,
 * or by 32 and less (clamped)
 */
#define MEMCAST_SHIFT(name, instruction)						\
inline __device__ unsigned int name(unsigned int low, unsigned int high, unsigned int by)	\
{											\
	asm(instruction " %0, %0, %1, %2;" : "+r"(low) : "r"(high), "r"(by));		\
	return low;									\
}

MEMCAST_SHIFT(__funnelshift_l, "shf.l.wrap.b32")
MEMCAST_SHIFT(__funnelshift_r, "shf.r.wrap.b32")
MEMCAST_SHIFT(__funnelshift_lc, "shf.l.clamp.b32")
MEMCAST_SHIFT(__funnelshift_rc, "shf.r.clamp.b32")
#undef MEMCAST_SHIFT

/* Sums of products of a's bytes, or halves, and b's bytes: dp2a takes b's lower or upper two */
#define MEMCAST_DOT(name, type, instruction)					\
inline __device__ type name(type a, type b, type sum)					\
{											\
	asm(instruction " %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));		\
	return sum;									\
}

MEMCAST_DOT(__dp4a, int, "dp4a.s32.s32")
MEMCAST_DOT(__dp4a, unsigned int, "dp4a.u32.u32")
MEMCAST_DOT(__dp2a_lo, int, "dp2a.lo.s32.s32")
MEMCAST_DOT(__dp2a_lo, unsigned int, "dp2a.lo.u32.u32")
MEMCAST_DOT(__dp2a_hi, int, "dp2a.hi.s32.s32")
MEMCAST_DOT(__dp2a_hi, unsigned int, "dp2a.hi.u32.u32")
#undef MEMCAST_DOT

#endif /* MEMCAST_CLANG_MEMORY_H */
