/* SPDX-License-Identifier: MIT */
/*
 * Functions that device code calls, for kernels that are compiled as C++ (memcast/cu.h):
 * barriers, fences, warps, atomics, bits, and a little arithmetic. Names and results are
 * those of CUDA C++; functions whose results are not exact there (__expf()) are exact here.
 */
#ifndef MEMCAST_CU_FUNCTIONS_H
#define MEMCAST_CU_FUNCTIONS_H

#include <memcast/cu.h>

#include <cmath>
#include <ctime>

/* ---- barriers and fences */

inline void __syncthreads()
{
	const memcast_launch *at = memcast::cu::here;

	memcastSyncThreads(at);
	memcast::cu::enter(at);
}

/* Barriers that tell all threads of the block for how many of them @predicate is true */
inline int __syncthreads_count(int predicate)
{
	static thread_local int count;
	int result;

	if (!memcast_thread_in_block(memcast::cu::here))
		count = 0;
	__syncthreads();
	count += predicate != 0;
	__syncthreads();
	result = count;
	__syncthreads();
	return result;
}

inline int __syncthreads_or(int predicate)
{
	return __syncthreads_count(predicate) != 0;
}

inline int __syncthreads_and(int predicate)
{
	return !__syncthreads_count(!predicate);
}

inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/*
 * Called in a loop that waits for a word. Threads take turns: the block's other threads get
 * theirs, or another thread of the machine. The time is ignored.
 */
inline void __nanosleep(unsigned int) { memcast::cu::yield(); }

/* Ends the launch with cudaErrorLaunchFailure, and the context with it. */
[[noreturn]] inline void __trap()
{
	memcastKernelFail(memcast::cu::here, CUDA_ERROR_LAUNCH_FAILED, "__trap()");
}

namespace memcast {
namespace cu {

/* assert() in a kernel ends the launch with cudaErrorAssert; elsewhere it is the C library's. */
[[noreturn]] inline void assertion_failed(const char *what, const char *file, unsigned int line,
					  const char *function)
{
	if (!here) {
		fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);
		abort();
	}
	fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
		file, line, function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
		threadIdx.y, threadIdx.z, what);
	memcastKernelFail(here, CUDA_ERROR_ASSERT, "assert()");
}

} /* namespace cu */
} /* namespace memcast */

/* Ticks of a clock that always runs */
inline long long clock64()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* ---- warps: 32 threads with adjacent numbers; @mask: a bit for each thread that takes part */

inline void __syncwarp(unsigned int mask = ~0U)
{
	memcast::cu::warp &warp = memcast::cu::my_warp();
	uint32_t me = 1U << memcast::cu::lane();

	warp.arrived |= me;
	for (;;) {
		uint32_t wanted = (mask & warp.there) | me;

		if (warp.released & me) {
			warp.released &= ~me;
			return;
		}
		if ((warp.arrived & wanted) == wanted) {
			warp.arrived &= ~wanted;
			warp.released |= wanted & ~me;
			return;
		}
		memcast::cu::yield();
	}
}

namespace memcast {
namespace cu {

/*
 * Return: the value of lane @from of this warp; the caller's own value if that lane does not
 * take part.
 */
template <class T> T exchange(unsigned int mask, T value, unsigned int from)
{
	static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable<T>::value,
		      "shuffles are of values of at most 8 bytes");
	warp &mine = my_warp();
	T result = value;

	memcpy(&mine.values[lane()], &value, sizeof(value));
	__syncwarp(mask);
	if (mask >> from & 1)
		memcpy(&result, &mine.values[from], sizeof(result));
	__syncwarp(mask);
	return result;
}

/* Return: a bit for each lane whose @predicate is true. */
inline unsigned int vote(unsigned int mask, int predicate)
{
	warp &mine = my_warp();
	unsigned int result = 0;

	mine.values[lane()] = predicate != 0;
	__syncwarp(mask);
	for (unsigned int i = 0; i < 32; i++)
		if ((mask & mine.there) >> i & 1 && mine.values[i])
			result |= 1U << i;
	__syncwarp(mask);
	return result;
}

template <class T, class F> T reduce(unsigned int mask, T value, F combine)
{
	warp &mine = my_warp();
	T result = value, other;

	memcpy(&mine.values[lane()], &value, sizeof(value));
	__syncwarp(mask);
	for (unsigned int i = 0; i < 32; i++) {
		if (i == lane() || !((mask & mine.there) >> i & 1))
			continue;
		memcpy(&other, &mine.values[i], sizeof(other));
		result = combine(result, other);
	}
	__syncwarp(mask);
	return result;
}

} /* namespace cu */
} /* namespace memcast */

template <class T> T __shfl_sync(unsigned int mask, T value, int from, int width = warpSize)
{
	unsigned int lane = memcast::cu::lane(), group = lane & ~(width - 1U);

	return memcast::cu::exchange(mask, value, group + (from & (width - 1)));
}

template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
	unsigned int lane = memcast::cu::lane(), first = lane & ~(width - 1U);

	return memcast::cu::exchange(mask, value, lane - first >= delta ? lane - delta : lane);
}

template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize)
{
	unsigned int lane = memcast::cu::lane(), last = lane | (width - 1U);

	return memcast::cu::exchange(mask, value, last - lane >= delta ? lane + delta : lane);
}

template <class T> T __shfl_xor_sync(unsigned int mask, T value, int bits, int width = warpSize)
{
	unsigned int lane = memcast::cu::lane(), from = lane ^ bits;

	/* no lane beyond the group; lanes of earlier groups can be read, as on a device */
	return memcast::cu::exchange(mask, value, from <= (lane | (width - 1U)) ? from : lane);
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate)
{
	return memcast::cu::vote(mask, predicate);
}

inline int __any_sync(unsigned int mask, int predicate)
{
	return memcast::cu::vote(mask, predicate) != 0;
}

inline int __all_sync(unsigned int mask, int predicate)
{
	return !memcast::cu::vote(mask, !predicate);
}

template <class T> T __reduce_add_sync(unsigned int mask, T value)
{
	return memcast::cu::reduce(mask, value, [](T a, T b) { return T(a + b); });
}

template <class T> T __reduce_min_sync(unsigned int mask, T value)
{
	return memcast::cu::reduce(mask, value, [](T a, T b) { return a < b ? a : b; });
}

template <class T> T __reduce_max_sync(unsigned int mask, T value)
{
	return memcast::cu::reduce(mask, value, [](T a, T b) { return a > b ? a : b; });
}

/* ---- atomics: relaxed, on one word; each returns the word's value before */

namespace memcast {
namespace cu {

/* Replaces a word of any type by the result of @change. */
template <class T, class F> T change(T *word, F change)
{
	T old, wanted;

	__atomic_load(word, &old, __ATOMIC_RELAXED);
	do
		wanted = change(old);
	while (!__atomic_compare_exchange(word, &old, &wanted, false, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED));
	return old;
}

template <class T> T add(T *word, T value, std::true_type)
{
	return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

template <class T> T add(T *word, T value, std::false_type)
{
	return change(word, [value](T old) { return old + value; });
}

/* Makes a value convert to the word's type, as in a call of an ordinary function. */
template <class T> struct same {
	typedef T type;
};

} /* namespace cu */
} /* namespace memcast */

/* For all threads of the device; _block and _system name other sets of threads. */
#define MEMCAST_ATOMIC(name, statement)								\
template <class T> T name(T *word, typename memcast::cu::same<T>::type value) { statement }		\
template <class T> T name##_block(T *word, typename memcast::cu::same<T>::type value)			\
{													\
	return name(word, value);									\
}													\
template <class T> T name##_system(T *word, typename memcast::cu::same<T>::type value)		\
{													\
	return name(word, value);									\
}

MEMCAST_ATOMIC(atomicAdd, return memcast::cu::add(word, value, std::is_integral<T>());)
MEMCAST_ATOMIC(atomicSub, return memcast::cu::add(word, T(-value), std::is_integral<T>());)
MEMCAST_ATOMIC(atomicExch, T old; __atomic_exchange(word, &value, &old, __ATOMIC_RELAXED);
	       return old;)
MEMCAST_ATOMIC(atomicAnd, return __atomic_fetch_and(word, value, __ATOMIC_RELAXED);)
MEMCAST_ATOMIC(atomicOr, return __atomic_fetch_or(word, value, __ATOMIC_RELAXED);)
MEMCAST_ATOMIC(atomicXor, return __atomic_fetch_xor(word, value, __ATOMIC_RELAXED);)
MEMCAST_ATOMIC(atomicMin, return memcast::cu::change(word, [value](T old) {
	       return old < value ? old : value; });)
MEMCAST_ATOMIC(atomicMax, return memcast::cu::change(word, [value](T old) {
	       return old > value ? old : value; });)
MEMCAST_ATOMIC(atomicInc, return memcast::cu::change(word, [value](T old) {
	       return old >= value ? T(0) : T(old + 1); });)
MEMCAST_ATOMIC(atomicDec, return memcast::cu::change(word, [value](T old) {
	       return !old || old > value ? value : T(old - 1); });)
#undef MEMCAST_ATOMIC

template <class T>
T atomicCAS(T *word, typename memcast::cu::same<T>::type expected,
	    typename memcast::cu::same<T>::type value)
{
	__atomic_compare_exchange(word, &expected, &value, false, __ATOMIC_RELAXED,
				  __ATOMIC_RELAXED);
	return expected;
}

template <class T>
T atomicCAS_block(T *word, typename memcast::cu::same<T>::type expected,
		  typename memcast::cu::same<T>::type value)
{
	return atomicCAS(word, expected, value);
}

template <class T>
T atomicCAS_system(T *word, typename memcast::cu::same<T>::type expected,
		   typename memcast::cu::same<T>::type value)
{
	return atomicCAS(word, expected, value);
}

#include <memcast/cu/math.h>

#endif /* MEMCAST_CU_FUNCTIONS_H */
