/* SPDX-License-Identifier: MIT */
/*
 * multimem operations on a view: what PTX's multimem.{st,red,ld_reduce} do to
 * all replicas of a team, done with plain loads, stores and atomics.
 *
 * Source: PTX ISA, "multimem.ld_reduce, multimem.st, multimem.red" and "Memory
 * Consistency Model". A name here is PTX's with '_' for '.', and in place of
 * the multimem address stand a view and an offset into it. Scopes have no
 * counterpart: every operation has that of .sys.
 *
 * Common to all, for T one of u32, u64, f32:
 * @view: what memcastViewCreate() gave
 * @offset: bytes into the view, a multiple of sizeof(T); undefined otherwise,
 *	as PTX says for operands that are not aligned to their size. Where a
 *	replica is not bound, the access raises SIGBUS.
 *
 * Replicas are visited one after the other in the order in which their devices
 * joined. An operation is not atomic over the replicas: as in PTX, someone who
 * looks meanwhile may see some of them done and others not.
 */
#ifndef MEMCAST_MULTIMEM_H
#define MEMCAST_MULTIMEM_H

#include <stddef.h>
#include <stdint.h>
#include <memcast/view.h>

/* Replicas hold no declared type: whoever reads one may name its own. */
typedef uint32_t multimem_u32 __attribute__((__may_alias__));
typedef uint64_t multimem_u64 __attribute__((__may_alias__));
typedef float multimem_f32 __attribute__((__may_alias__));

/*
 * Array forms go through the replicas block by block, so that each line of a
 * replica is touched once and the block of the caller's buffer stays in the
 * first-level cache meanwhile.
 */
#define MULTIMEM_BLOCK		4096

#define MULTIMEM_INLINE	static inline __attribute__((__always_inline__))

#define MULTIMEM_AT(T, view, i, offset) \
	((multimem_##T *)(void *)((view)->replica[i] + (offset)))

/* Full blocks get a constant count, which lets compilers vectorise at -O2. */
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
 * multimem_st_T() - store a value to every replica
 * @view: see above
 * @offset: see above
 * @value: what to store
 *
 * multimem.st.relaxed: each replica's store is single-copy atomic and relaxed.
 * multimem_st_release_T() is multimem.st.release: whoever reads the value with
 * acquire from any replica sees all that came before.
 */
#define MULTIMEM_ST(T, type, name, order)				\
static inline void name(const struct memcast_view *view, size_t offset,	\
			type value)					\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		__atomic_store(MULTIMEM_AT(T, view, i, offset), &value,	\
			       order);					\
}

/**
 * multimem_st_T_n() - store an array to every replica
 * @view: see above
 * @offset: see above; of the first element
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
 * multimem_ld_reduce_OP_T() - load from every replica and combine
 * @view: see above
 * @offset: see above
 *
 * multimem.ld_reduce.relaxed: each replica is read once. Operations: add.
 * Integers wrap. PTX leaves the order of a floating-point reduction open; here
 * it is fixed, ((r0 + r1) + r2) + …, each step rounded to T (to nearest even),
 * so that every rank gets the same bits, and every run whose devices join in
 * the same order.
 * multimem_ld_reduce_acquire_OP_T() is multimem.ld_reduce.acquire: each
 * replica is read with acquire.
 *
 * Returns the combined value.
 */
#define MULTIMEM_LD_REDUCE(T, type, name, combine, order)		\
static inline type name(const struct memcast_view *view, size_t offset)	\
{									\
	type all, one;							\
	unsigned int i;							\
									\
	__atomic_load(MULTIMEM_AT(T, view, 0, offset), &all, order);	\
	for (i = 1; i < view->replicas; i++) {				\
		__atomic_load(MULTIMEM_AT(T, view, i, offset), &one,	\
			      order);					\
		all = combine(all, one);				\
	}								\
	return all;							\
}

/**
 * multimem_ld_reduce_OP_T_n() - load a range of every replica and combine
 * @view: see above
 * @offset: see above; of the first element
 * @buffer: receives the combined elements; not part of the view
 * @count: how many
 *
 * multimem.ld_reduce.weak on each element, in the order given above: order it
 * with an acquire operation or a barrier after others wrote.
 */
#define MULTIMEM_LD_REDUCE_N(op, T, type, combine)			\
MULTIMEM_INLINE void							\
multimem_combine_##op##_##T##_block(type *__restrict__ to,		\
				    const multimem_##T *__restrict__ from, \
				    size_t count)			\
{									\
	size_t i;							\
									\
	for (i = 0; i < count; i++)					\
		to[i] = combine(to[i], from[i]);			\
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
 * multimem_red_OP_T() - combine a value into every replica
 * @view: see above
 * @offset: see above
 * @value: what to combine
 *
 * multimem.red.relaxed: atomic per replica, no update is lost. Operations: add;
 * f32 rounds to nearest even. multimem_red_release_OP_T() is
 * multimem.red.release.
 */
#define MULTIMEM_RED(T, type, name, update, order)			\
static inline void name(const struct memcast_view *view, size_t offset,	\
			type value)					\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		update(MULTIMEM_AT(T, view, i, offset), value, order);	\
}

/**
 * multimem_red_OP_T_n() - combine an array into every replica
 * @view: see above
 * @offset: see above; of the first element
 * @buffer: elements to combine; not part of the view
 * @count: how many
 *
 * multimem.red.relaxed on each element.
 */
#define MULTIMEM_RED_N(op, T, type, update)				\
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
			update(MULTIMEM_AT(T, view, i, offset) + k,	\
			       from[k], __ATOMIC_RELAXED);		\
}									\
									\
MULTIMEM_ARRAY(multimem_red_##op##_##T, const type)

/* What an operation does to two values, and atomically to one in memory */
#define MULTIMEM_ADD(a, b)			((a) + (b))
#define MULTIMEM_FETCH_ADD(at, value, order)	\
	__atomic_fetch_add(at, value, order)

MULTIMEM_INLINE void multimem_fetch_add_f32(multimem_f32 *at, float value,
					    int order)
{
	multimem_u32 *bits = (multimem_u32 *)at;
	uint32_t seen = __atomic_load_n(bits, __ATOMIC_RELAXED);
	uint32_t wanted;
	float sum;

	do {
		__builtin_memcpy(&sum, &seen, sizeof(sum));
		sum += value;
		__builtin_memcpy(&wanted, &sum, sizeof(sum));
	} while (!__atomic_compare_exchange_n(bits, &seen, wanted, 1, order,
					      __ATOMIC_RELAXED));
}

#define MULTIMEM_STORES(T, type)					\
	MULTIMEM_ST(T, type, multimem_st_##T, __ATOMIC_RELAXED)		\
	MULTIMEM_ST(T, type, multimem_st_release_##T, __ATOMIC_RELEASE)	\
	MULTIMEM_ST_N(T, type)

#define MULTIMEM_REDUCTIONS(op, T, type, combine, update)		\
	MULTIMEM_LD_REDUCE(T, type, multimem_ld_reduce_##op##_##T,	\
			   combine, __ATOMIC_RELAXED)			\
	MULTIMEM_LD_REDUCE(T, type, multimem_ld_reduce_acquire_##op##_##T, \
			   combine, __ATOMIC_ACQUIRE)			\
	MULTIMEM_LD_REDUCE_N(op, T, type, combine)			\
	MULTIMEM_RED(T, type, multimem_red_##op##_##T, update,		\
		     __ATOMIC_RELAXED)					\
	MULTIMEM_RED(T, type, multimem_red_release_##op##_##T, update,	\
		     __ATOMIC_RELEASE)					\
	MULTIMEM_RED_N(op, T, type, update)

MULTIMEM_STORES(u32, uint32_t)
MULTIMEM_STORES(u64, uint64_t)
MULTIMEM_STORES(f32, float)

MULTIMEM_REDUCTIONS(add, u32, uint32_t, MULTIMEM_ADD, MULTIMEM_FETCH_ADD)
MULTIMEM_REDUCTIONS(add, u64, uint64_t, MULTIMEM_ADD, MULTIMEM_FETCH_ADD)
MULTIMEM_REDUCTIONS(add, f32, float, MULTIMEM_ADD, multimem_fetch_add_f32)

#endif /* MEMCAST_MULTIMEM_H */
