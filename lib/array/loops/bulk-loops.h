/* SPDX-License-Identifier: MIT */
/*
 * The inner loops of the bulk functions on vectors of WIDTH bytes; defines the
 * struct LOOPS.
 */
#include <string.h>

#include "array.h"
#include "bulk-values.h"

INLINE void store(unsigned char *to, u8_v value, bool stream)
{
	if (!stream)
		*(loose_v *)to = value;
	else
		store_past(to, value);
}

static void stream(unsigned char *to, const unsigned char *from, size_t bytes)
{
	for (; bytes; bytes -= BULK_LINE, to += BULK_LINE, from += BULK_LINE)
		for (int k = 0; k < BULK_LINE; k += WIDTH)
			store(to + k, load(from + k), true);
}

/* Unrolled by hand: in a loop the compiler sometimes keeps "all" in memory. */
#define ONE(n, ...)	do { enum { k = n }; if (k < count) __VA_ARGS__; } while (0)
#define EVERY(...)								\
	ONE(0, __VA_ARGS__); ONE(1, __VA_ARGS__); ONE(2, __VA_ARGS__); ONE(3, __VA_ARGS__); \
	ONE(4, __VA_ARGS__); ONE(5, __VA_ARGS__); ONE(6, __VA_ARGS__); ONE(7, __VA_ARGS__)

#include "bulk-copy.h"

/*
 * How many vectors of a replica are read before the next replica is: enough to keep loads under
 * way, and under QEMU, whose table of translations has one place for equal offsets of replicas,
 * they displace each other less often.
 */
#define UNROLL		(WIDTH == 64 ? 4 : 8)
#define UNROLL_WIDE	4

/*
 * With more than four replicas, processors without AVX-512 were measured to read faster if a loop
 * takes half as many vectors (an AMD EPYC, 8 replicas: 12.8 to 13.9 GB/s, not 11.3 to 11.9).
 */
#define READS_FEW	4
#define UNROLL_MANY	(WIDTH == 32 ? 4 : UNROLL)

/*
 * Fetches bytes that the loop needs soon, while it sums earlier ones: also over the end of a
 * page, where processors stop fetching by themselves. Behind the end of an array this fetches
 * unneeded bytes, but never faults.
 */
#define AHEAD_BYTES	2048
INLINE void fetch_ahead(unsigned char *const *from, size_t from_at, unsigned int reads,
			const size_t bytes)
{
	for (unsigned int i = 0; i < reads; i++)
		for (size_t at = 0; at < bytes; at += BULK_LINE)
			__builtin_prefetch(from[i] + from_at + AHEAD_BYTES + at, 0, 3);
}

/*
 * The loop reads the places in their order, which is also the order in which floating-point
 * sums are rounded; it writes them in the reverse order, the one read last first.
 *
 * _nans repeats vectors that have NaNs, before any of them is stored: to go on from the
 * registers would make the compiler spill them each time, for a rare case. _rest does the
 * elements that do not fill a vector.
 */
#define LOOP(name, accumulator, LOAD, COMBINE, kind, unroll)			\
static __attribute__((__noinline__)) void					\
name##_rest(unsigned char *const *to, size_t to_at, unsigned int writes,	\
	    unsigned char *const *from, size_t from_at, unsigned int reads,	\
	    size_t bytes)							\
{										\
	unsigned char padded[WIDTH] = {};					\
	accumulator all;							\
	u8_v result;								\
	unsigned int i;								\
										\
	memcpy(padded, from[0] + from_at, bytes);				\
	all = LOAD(padded);							\
	for (i = 1; i < reads; i++) {						\
		memcpy(padded, from[i] + from_at, bytes);			\
		all = COMBINE(all, LOAD(padded));				\
	}									\
	result = finish_##kind(all);						\
	for (i = 0; i < writes; i++)						\
		memcpy(to[i] + to_at, &result, bytes);				\
}										\
										\
INLINE bool name##_some(unsigned char *const *to, size_t to_at,			\
			unsigned int writes, unsigned char *const *from,	\
			size_t from_at, unsigned int reads, const int count,	\
			bool stream, const bool may_be_nans)			\
{										\
	const unsigned char *source = from[0] + from_at;			\
	accumulator all[8];							\
	u8_v nans = {};								\
	unsigned int i;								\
										\
	EVERY(all[k] = LOAD(source + k * WIDTH));				\
	for (i = 1; i < reads; i++) {						\
		source = from[i] + from_at;					\
		EVERY(all[k] = COMBINE(all[k], LOAD(source + k * WIDTH)));	\
	}									\
	if (!may_be_nans) {							\
		EVERY(nans |= nans_##kind(all[k]));				\
		if (__builtin_expect(any(nans), false))				\
			return false;						\
	}									\
	for (i = writes; i--;) {						\
		unsigned char *place = to[i] + to_at;				\
										\
		EVERY(store(place + k * WIDTH, may_be_nans ? finish_##kind(all[k]) : \
			    round_##kind(all[k]), stream));			\
	}									\
	return true;								\
}										\
										\
static __attribute__((__noinline__)) void					\
name##_nans(unsigned char *const *to, size_t to_at, unsigned int writes,	\
	    unsigned char *const *from, size_t from_at, unsigned int reads,	\
	    const int count, bool stream)					\
{										\
	for (size_t at = 0; at < (size_t)count * WIDTH; at += WIDTH)		\
		if (stream)							\
			name##_some(to, to_at + at, writes, from, from_at + at, reads, 1, \
				    true, true);				\
		else								\
			name##_some(to, to_at + at, writes, from, from_at + at, reads, 1, \
				    false, true);				\
}										\
										\
/* Combines @count vectors at a time. Return: how many bytes are combined */	\
INLINE size_t name##_steps(unsigned char *const *to, size_t to_at,		\
			   unsigned int writes, unsigned char *const *from,	\
			   size_t from_at, unsigned int reads, size_t bytes,	\
			   const int count, bool ahead, const bool stream)	\
{										\
	const size_t step = count * WIDTH;					\
	size_t at;								\
										\
	for (at = 0; bytes - at >= step; at += step) {				\
		if (ahead)							\
			fetch_ahead(from, from_at + at, reads, step);		\
		if (!name##_some(to, to_at + at, writes, from, from_at + at, reads, count, \
				 stream, false))				\
			name##_nans(to, to_at + at, writes, from, from_at + at, reads, \
				    count, stream);				\
	}									\
	return at;								\
}										\
										\
static void name(unsigned char *const *to, size_t to_at, unsigned int writes,	\
		 unsigned char *const *from, size_t from_at, unsigned int reads, \
		 size_t bytes, enum bulk_way way)				\
{										\
	const bool ahead = way == BULK_AHEAD || way == BULK_PAST_AHEAD;		\
	const bool many = UNROLL_MANY < unroll && reads > READS_FEW;		\
	size_t at;								\
										\
	if (bulk_goes_past(way))						\
		at = many ? name##_steps(to, to_at, writes, from, from_at, reads, bytes, \
					 UNROLL_MANY, ahead, true) :		\
			    name##_steps(to, to_at, writes, from, from_at, reads, bytes, \
					 unroll, ahead, true);			\
	else									\
		at = many ? name##_steps(to, to_at, writes, from, from_at, reads, bytes, \
					 UNROLL_MANY, ahead, false) :		\
			    name##_steps(to, to_at, writes, from, from_at, reads, bytes, \
					 unroll, ahead, false);			\
	for (; bytes - at >= WIDTH; at += WIDTH)				\
		name##_some(to, to_at + at, writes, from, from_at + at, reads, 1, false, true); \
	if (bytes > at)								\
		name##_rest(to, to_at + at, writes, from, from_at + at, reads, bytes - at); \
}

#define PLAIN(combine, kind) LOOP(do_##combine, u8_v, load, combine, kind, UNROLL)
#define WIDE(type) \
	LOOP(do_add_##type, wide_v, load_##type, add_wide, wide_##type, UNROLL_WIDE)

PLAIN(and, none)
PLAIN(or, none)
PLAIN(xor, none)
PLAIN(add_u32, none)
PLAIN(min_u32, none)
PLAIN(max_u32, none)
PLAIN(min_s32, none)
PLAIN(max_s32, none)
PLAIN(add_u64, none)
PLAIN(min_u64, none)
PLAIN(max_u64, none)
PLAIN(min_s64, none)
PLAIN(max_s64, none)
PLAIN(add_f32, f32)
PLAIN(min_f32, f32)
PLAIN(max_f32, f32)
PLAIN(add_f64, f64)
PLAIN(min_f64, f64)
PLAIN(max_f64, f64)
PLAIN(min_f16, f16)
PLAIN(max_f16, f16)
PLAIN(min_bf16, bf16)
PLAIN(max_bf16, bf16)
WIDE(f16)
WIDE(bf16)

#define BITWISE	[MEMCAST_AND] = do_and, [MEMCAST_OR] = do_or, [MEMCAST_XOR] = do_xor
#define NUMERIC(sum, type) \
	[MEMCAST_ADD] = do_add_##sum, [MEMCAST_MIN] = do_min_##type, [MEMCAST_MAX] = do_max_##type

const struct bulk_loops LOOPS = {
	.stream = stream,
	.copy = copy,
	.copy_to_2 = copy_to_2,
	.copy_block = copy_block,
	.combine = {
		[MEMCAST_U32] = { NUMERIC(u32, u32), BITWISE },
		[MEMCAST_S32] = { NUMERIC(u32, s32), BITWISE },
		[MEMCAST_U64] = { NUMERIC(u64, u64), BITWISE },
		[MEMCAST_S64] = { NUMERIC(u64, s64), BITWISE },
		[MEMCAST_F32] = { NUMERIC(f32, f32) },
		[MEMCAST_F64] = { NUMERIC(f64, f64) },
		[MEMCAST_F16] = { NUMERIC(f16, f16) },
		[MEMCAST_BF16] = { NUMERIC(bf16, bf16) },
	},
};
