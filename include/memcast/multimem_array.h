/* SPDX-License-Identifier: MIT */
/*
 * multimem operations on arrays, for u32, u64 and f32, inline. (bulk.h has them
 * for more types, as functions of libmemcast.so for long ones.) Views and offsets are as in
 * multimem.h.
 */
#ifndef MEMCAST_MULTIMEM_ARRAY_H
#define MEMCAST_MULTIMEM_ARRAY_H

#include <memcast/multimem_core.h>

/*
 * Array functions work on one block of a replica, then on that block of the next one, so that
 * each line of a replica is touched once and the block of the caller's buffer stays in the
 * first-level cache meanwhile.
 */
#define MULTIMEM_BLOCK		4096

/* Full blocks get a constant count, which lets compilers vectorize at -O2. */
#define MULTIMEM_ARRAY(name, type)					\
static inline void name##_n(const struct memcast_view *view,		\
			    size_t offset, type *buffer, size_t count)	\
{									\
	const size_t full = MULTIMEM_BLOCK / sizeof(type);		\
									\
	for (; count >= full; count -= full) {				\
		name##_block(view, offset, buffer, full);		\
		buffer += full;						\
		offset += MULTIMEM_BLOCK;				\
	}								\
	if (count)							\
		name##_block(view, offset, buffer, count);		\
}

/**
 * multimem_st_T_n() - store an array to every replica
 * @view, @offset: of the first element
 * @buffer: elements to store; not part of the view
 * @count: how many
 *
 * multimem.st.weak on each element: order it with a release operation or a
 * barrier before others read.
 */
#define MULTIMEM_ST_N(T, type)						\
MULTIMEM_INLINE void							\
multimem_st_##T##_block(const struct memcast_view *view, size_t offset,	\
			const type *from, size_t count)			\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		__builtin_memcpy(view->replica[i] + offset, from,	\
				 count * sizeof(type));			\
}									\
									\
MULTIMEM_ARRAY(multimem_st_##T, const type)

/**
 * multimem_ld_reduce_OP_T_n() - load a range of every replica and combine
 * @view, @offset: of the first element
 * @buffer: receives the combined elements; not part of the view
 * @count: how many
 *
 * multimem.ld_reduce.weak on each element, in the order of multimem.h: order it
 * with an acquire operation or a barrier after others wrote.
 */
#define MULTIMEM_LD_REDUCE_N(op, T, type)				\
MULTIMEM_INLINE void							\
multimem_combine_##op##_##T##_block(type *__restrict__ to,		\
				    const multimem_##T *__restrict__ from, \
				    size_t count)			\
{									\
	size_t i;							\
									\
	for (i = 0; i < count; i++)					\
		to[i] = multimem_##op##_##T(to[i], from[i]);		\
}									\
									\
MULTIMEM_INLINE void							\
multimem_ld_reduce_##op##_##T##_block(const struct memcast_view *view,	\
				      size_t offset, type *to,		\
				      size_t count)			\
{									\
	unsigned int i;							\
									\
	__builtin_memcpy(to, view->replica[0] + offset,			\
			 count * sizeof(type));				\
	for (i = 1; i < view->replicas; i++)				\
		multimem_combine_##op##_##T##_block(to,			\
			MULTIMEM_AT(T, view, i, offset), count);	\
}									\
									\
MULTIMEM_ARRAY(multimem_ld_reduce_##op##_##T, type)

/**
 * multimem_red_OP_T_n() - combine an array into every replica
 * @view, @offset: of the first element
 * @buffer: elements to combine; not part of the view
 * @count: how many
 *
 * multimem.red.relaxed on each element.
 */
#define MULTIMEM_RED_N(op, T, type)					\
MULTIMEM_INLINE void							\
multimem_red_##op##_##T##_block(const struct memcast_view *view,	\
				size_t offset, const type *from,	\
				size_t count)				\
{									\
	unsigned int i;							\
	size_t k;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		for (k = 0; k < count; k++)				\
			multimem_update_##op##_##T(			\
				MULTIMEM_AT(T, view, i, offset) + k,	\
				from[k], __ATOMIC_RELAXED);		\
}									\
									\
MULTIMEM_ARRAY(multimem_red_##op##_##T, const type)

MULTIMEM_ST_N(u32, uint32_t)
MULTIMEM_LD_REDUCE_N(add, u32, uint32_t)
MULTIMEM_RED_N(add, u32, uint32_t)
MULTIMEM_ST_N(u64, uint64_t)
MULTIMEM_LD_REDUCE_N(add, u64, uint64_t)
MULTIMEM_RED_N(add, u64, uint64_t)
MULTIMEM_ST_N(f32, float)
MULTIMEM_LD_REDUCE_N(add, f32, float)
MULTIMEM_RED_N(add, f32, float)

#endif /* MEMCAST_MULTIMEM_ARRAY_H */
