/* SPDX-License-Identifier: MIT */
/* Device code of clang: loads and stores with hints for caches, and what clang's headers lack */
#ifndef MEMCAST_CLANG_MEMORY_H
#define MEMCAST_CLANG_MEMORY_H

/* The hints mean nothing to a processor. Each load is done where it stands: loops wait by it. */
#define MEMCAST_LOAD(name)								\
template <class T> inline __device__ T name(const T *from)				\
{											\
	asm volatile("" ::: "memory");							\
	return *from;									\
}
#define MEMCAST_STORE(name)								\
template <class T> inline __device__ void name(T *to, T value)				\
{											\
	*to = value;									\
	asm volatile("" ::: "memory");							\
}

MEMCAST_LOAD(__ldg)
MEMCAST_LOAD(__ldca)
MEMCAST_LOAD(__ldcg)
MEMCAST_LOAD(__ldcs)
MEMCAST_LOAD(__ldlu)
MEMCAST_LOAD(__ldcv)
MEMCAST_STORE(__stwb)
MEMCAST_STORE(__stcg)
MEMCAST_STORE(__stcs)
MEMCAST_STORE(__stwt)
#undef MEMCAST_LOAD
#undef MEMCAST_STORE

inline __device__ void __nanosleep(unsigned int ns)
{
	asm volatile("nanosleep.u32 %0;" :: "r"(ns) : "memory");
}

/* The upper word of 8 bytes that are shifted to the left by 0 to 31, the lower one to the right */
#define MEMCAST_SHIFT(name, instruction)						\
inline __device__ unsigned int name(unsigned int low, unsigned int high, unsigned int by)	\
{											\
	asm(instruction " %0, %0, %1, %2;" : "+r"(low) : "r"(high), "r"(by));		\
	return low;									\
}

MEMCAST_SHIFT(__funnelshift_l, "shf.l.wrap.b32")
MEMCAST_SHIFT(__funnelshift_r, "shf.r.wrap.b32")
#undef MEMCAST_SHIFT

#endif /* MEMCAST_CLANG_MEMORY_H */
