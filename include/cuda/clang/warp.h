/* SPDX-License-Identifier: MIT */
/*
 * Device code of clang: operations of a warp, 32 threads with adjacent numbers. @mask has a bit
 * for each thread that takes part.
 */
#ifndef MEMCAST_CLANG_WARP_H
#define MEMCAST_CLANG_WARP_H

inline __device__ void __syncwarp(unsigned int mask = ~0U)
{
	asm volatile("bar.warp.sync %0;" :: "r"(mask) : "memory");
}

inline __device__ unsigned int __activemask()
{
	unsigned int mask;

	asm volatile("activemask.b32 %0;" : "=r"(mask));
	return mask;
}

inline __device__ unsigned int __ballot_sync(unsigned int mask, int predicate)
{
	unsigned int lanes;

	asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
		     : "=r"(lanes) : "r"(predicate), "r"(mask));
	return lanes;
}

inline __device__ int __any_sync(unsigned int mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}

inline __device__ int __all_sync(unsigned int mask, int predicate)
{
	return __ballot_sync(mask, !predicate) == 0;
}

/*
 * Shuffles of values of any type, 4 bytes at a time. @end: the lane of a group that bounds the
 * exchange, as the instruction wants it
 */
#define MEMCAST_SHUFFLE(name, mode, type, end)						\
template <class T> inline __device__ T name(unsigned int mask, T value, type lane,	\
					    int width = 32)				\
{											\
	unsigned int words[(sizeof(T) + 3) / 4] = {};					\
											\
	__builtin_memcpy(words, &value, sizeof(T));					\
	for (unsigned int &word : words)						\
		asm volatile("shfl.sync." mode ".b32 %0, %0, %1, %2, %3;" : "+r"(word)	\
			     : "r"(lane), "r"((32 - width) << 8 | end), "r"(mask));	\
	__builtin_memcpy(&value, words, sizeof(T));					\
	return value;									\
}

MEMCAST_SHUFFLE(__shfl_sync, "idx", int, 31)
MEMCAST_SHUFFLE(__shfl_up_sync, "up", unsigned int, 0)
MEMCAST_SHUFFLE(__shfl_down_sync, "down", unsigned int, 31)
MEMCAST_SHUFFLE(__shfl_xor_sync, "bfly", int, 31)
#undef MEMCAST_SHUFFLE

#define MEMCAST_REDUCE(name, type, operation)						\
inline __device__ type name(unsigned int mask, type value)				\
{											\
	asm volatile("redux.sync." operation " %0, %0, %1;" : "+r"(value) : "r"(mask));	\
	return value;									\
}

MEMCAST_REDUCE(__reduce_add_sync, int, "add.s32")
MEMCAST_REDUCE(__reduce_add_sync, unsigned int, "add.u32")
MEMCAST_REDUCE(__reduce_min_sync, int, "min.s32")
MEMCAST_REDUCE(__reduce_min_sync, unsigned int, "min.u32")
MEMCAST_REDUCE(__reduce_max_sync, int, "max.s32")
MEMCAST_REDUCE(__reduce_max_sync, unsigned int, "max.u32")
MEMCAST_REDUCE(__reduce_and_sync, unsigned int, "and.b32")
MEMCAST_REDUCE(__reduce_or_sync, unsigned int, "or.b32")
MEMCAST_REDUCE(__reduce_xor_sync, unsigned int, "xor.b32")
#undef MEMCAST_REDUCE

/* Lanes whose value has the same bits, of a type of 4 or 8 bytes */
template <class T> inline __device__ unsigned int __match_any_sync(unsigned int mask, T value)
{
	unsigned long long bits = 0;
	unsigned int lanes;

	static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a value of 4 or 8 bytes");
	__builtin_memcpy(&bits, &value, sizeof(T));
	asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(lanes) : "l"(bits), "r"(mask));
	return lanes;
}

/* All lanes of the mask if all have the same bits, else 0; *@same: output, 1 or 0 */
template <class T> inline __device__ unsigned int __match_all_sync(unsigned int mask, T value,
								   int *same)
{
	unsigned long long bits = 0;
	unsigned int lanes;

	static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a value of 4 or 8 bytes");
	__builtin_memcpy(&bits, &value, sizeof(T));
	asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"
		     : "=r"(lanes), "=r"(*same) : "l"(bits), "r"(mask));
	return lanes;
}

#endif /* MEMCAST_CLANG_WARP_H */
