/* SPDX-License-Identifier: MIT */
/*
 * multimem operations: PTX's multimem.{ld_reduce,st,red}, which work on all replicas
 * of a team, done with plain loads, stores and atomics.
 *
 * Source: PTX ISA 8.8, "multimem.ld_reduce, multimem.st, multimem.red", "min" and
 * "max", and "Memory Consistency Model". Everything that PTX has is here, and nothing
 * else, except for arrays (multimem_array.h); docs/multimem.md is the table. A name is
 * PTX's with '_' for '.', without state space and scope (every operation has .sys):
 *
 *	multimem.ld_reduce.acquire.sys.global.add.acc::f32.v4.bf16x2 {…}, [p];
 *	… = multimem_ld_reduce_acquire_add_acc_f32_v4_bf16x2_at(p);
 *
 *	multimem.red.relaxed.sys.global.add.f32 [p], x;
 *	multimem_red_relaxed_add_f32_at(p, x);
 *
 * The two forms of each operation:
 *	name(view, offset, …)	takes a view from memcastViewCreate() and bytes into it
 *	name_at(address, …)	takes an address in a mapping of a team, as cuMemMap()
 *				was given it: a CUdeviceptr or a pointer. The view is
 *				found without a system call, except for the first time;
 *				without a view the program ends by SIGILL
 *				(stderr says why there is none)
 * Both are multiples of the size of the access, vectors included; otherwise the result is
 * undefined, as in PTX. If a replica is not bound, the access raises SIGBUS;
 * if the mapping does not allow it, SIGSEGV.
 *
 * Types: uint32_t for u32 and b32, int32_t for s32, likewise for 64 bits; float
 * and double; bits in a uint8_t, uint16_t or uint32_t for all others, as large as
 * these are, the element of the lowest address in the lowest bits; see float.h. A
 * vector is a struct multimem_vN_T with an array v[N].
 *
 * Orders. _weak_: as plain C accesses; compilers may merge and move them. _relaxed_:
 * each register is read or written whole. _acquire_, _release_: likewise, and the
 * accesses to each replica order as the C11 ones of these names do: a program's own
 * non-temporal stores need a fence before. Without an order in the name it is
 * _relaxed_ (PTX: weak for st and ld_reduce, which relaxed is too).
 * To PTX, a vector or packed access is as many scalar ones, in no order: so it
 * is here, register by register. No operation is atomic over the replicas:
 * another thread may see it done on some of them and not yet on others.
 *
 * Arithmetic. Replicas are visited one after the other in the order in which their
 * devices joined. PTX leaves the order of a floating-point sum open; here it is
 * fixed, ((r0 + r1) + r2) + …, so that every rank gets the same bits. Each step is
 * rounded to nearest even in the type, or in f32 or f16 with _acc_f32 or _acc_f16
 * and in the end to the type; subnormals are kept. f16 and bf16 overflow to infinity,
 * e4m3 and e5m2 saturate. min and max take the number of a number and a NaN, and -0 is
 * less than +0. NaNs of narrow types are those of float.h; which NaN an f32 or f64 sum
 * gives is open, as in PTX. Integers wrap.
 *
 * All of that holds with the rounding mode and the treatment of subnormals that C programs
 * start with, and with floats as C has them. -ffast-math gives away subnormals of f32, f64
 * and bf16, and the order of a sum. (Bulk functions have the same results whatever is set.)
 */
#ifndef MEMCAST_MULTIMEM_H
#define MEMCAST_MULTIMEM_H

#include <memcast/multimem_core.h>

/* A CUdeviceptr or any pointer: an argument of either type becomes one of these. */
#ifdef __cplusplus
struct multimem_address {
	CUdeviceptr address;

	multimem_address(CUdeviceptr at) : address(at) {}
	multimem_address(const volatile void *at)
		: address((CUdeviceptr)(uintptr_t)at) {}
};
#define MULTIMEM_ADDRESS(at)	((at).address)
#else
typedef union {
	CUdeviceptr address;
	const volatile void *pointer;
} multimem_address __attribute__((__transparent_union__));
#define MULTIMEM_ADDRESS(at)	((at).address)
#endif

MULTIMEM_INLINE const struct memcast_view *multimem_view(multimem_address at,
							 size_t *offset)
{
	const struct memcast_view *view = memcastViewAt(MULTIMEM_ADDRESS(at), offset);

	if (__builtin_expect(!view, 0)) {
		memcastNoView(MULTIMEM_ADDRESS(at));
#ifdef __aarch64__
		__asm__ volatile(".inst 0");	/* SIGILL; a trap is SIGTRAP there */
#endif
		__builtin_trap();
	}
	return view;
}

/**
 * multimem_ld_reduce_[ORDER_]OP_T() - load from every replica and combine
 * @view, @offset; or @address: see above
 *
 * Each replica is read once, with acquire if asked for.
 *
 * Returns the combined value.
 */
#define MULTIMEM_LD_REDUCE_NAME(name, op, T, order)			\
static inline multimem_value_##T name(const struct memcast_view *view,	\
				      size_t offset)			\
{									\
	return multimem_reduce_##op##_##T(view, offset, order);		\
}									\
									\
static inline multimem_value_##T name##_at(multimem_address address)	\
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	return name(view, offset);					\
}

#define MULTIMEM_LD_REDUCE_VECTOR(name, op, n, T, order)		\
static inline struct multimem_v##n##_##T				\
name(const struct memcast_view *view, size_t offset)			\
{									\
	struct multimem_v##n##_##T all;					\
	unsigned int k;							\
									\
	for (k = 0; k < n; k++)						\
		all.v[k] = multimem_reduce_##op##_##T(view,		\
				offset + k * sizeof(multimem_##T), order); \
	return all;							\
}									\
									\
static inline struct multimem_v##n##_##T name##_at(multimem_address address) \
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	return name(view, offset);					\
}

/**
 * multimem_st_[ORDER_]T() - store a value to every replica
 * @view, @offset; or @address: see above
 * @value: what to store
 *
 * With release, a thread that reads the value with acquire from any replica sees all
 * earlier stores of this thread.
 */
#define MULTIMEM_ST_NAME(name, T, order)				\
static inline void name(const struct memcast_view *view, size_t offset,	\
			multimem_value_##T value)			\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		multimem_store_##T(MULTIMEM_AT(T, view, i, offset), value, \
				   order);				\
}									\
									\
static inline void name##_at(multimem_address address,			\
			     multimem_value_##T value)			\
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	name(view, offset, value);					\
}

#define MULTIMEM_ST_VECTOR(name, n, T, order)				\
static inline void name(const struct memcast_view *view, size_t offset,	\
			struct multimem_v##n##_##T value)		\
{									\
	unsigned int i, k;						\
									\
	for (i = 0; i < view->replicas; i++)				\
		for (k = 0; k < n; k++)					\
			multimem_store_##T(MULTIMEM_AT(T, view, i, offset) + k, \
					   value.v[k], order);		\
}									\
									\
static inline void name##_at(multimem_address address,			\
			     struct multimem_v##n##_##T value)		\
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	name(view, offset, value);					\
}

/**
 * multimem_red_[ORDER_]OP_T() - combine a value into every replica
 * @view, @offset; or @address: see above
 * @value: what to combine
 *
 * Atomic per register and replica: no update is lost.
 */
#define MULTIMEM_RED_NAME(name, op, T, order)				\
static inline void name(const struct memcast_view *view, size_t offset,	\
			multimem_value_##T value)			\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		multimem_update_##op##_##T(MULTIMEM_AT(T, view, i, offset), \
					   value, order);		\
}									\
									\
static inline void name##_at(multimem_address address,			\
			     multimem_value_##T value)			\
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	name(view, offset, value);					\
}

#define MULTIMEM_RED_VECTOR(name, op, n, T, order)			\
static inline void name(const struct memcast_view *view, size_t offset,	\
			struct multimem_v##n##_##T value)		\
{									\
	unsigned int i, k;						\
									\
	for (i = 0; i < view->replicas; i++)				\
		for (k = 0; k < n; k++)					\
			multimem_update_##op##_##T(			\
				MULTIMEM_AT(T, view, i, offset) + k,	\
				value.v[k], order);			\
}									\
									\
static inline void name##_at(multimem_address address,			\
			     struct multimem_v##n##_##T value)		\
{									\
	size_t offset;							\
	const struct memcast_view *view = multimem_view(address, &offset); \
									\
	name(view, offset, value);					\
}

/* ---- each in all orders that PTX has ---- */

#define MULTIMEM_LD_REDUCE(op, T)					\
	MULTIMEM_LD_REDUCE_NAME(multimem_ld_reduce_##op##_##T, op, T,	\
				__ATOMIC_RELAXED)			\
	MULTIMEM_LD_REDUCE_NAME(multimem_ld_reduce_weak_##op##_##T, op, T, \
				MULTIMEM_WEAK)				\
	MULTIMEM_LD_REDUCE_NAME(multimem_ld_reduce_relaxed_##op##_##T, op, T, \
				__ATOMIC_RELAXED)			\
	MULTIMEM_LD_REDUCE_NAME(multimem_ld_reduce_acquire_##op##_##T, op, T, \
				__ATOMIC_ACQUIRE)

#define MULTIMEM_LD_REDUCE_V(op, n, T)					\
	MULTIMEM_LD_REDUCE_VECTOR(multimem_ld_reduce_##op##_v##n##_##T,	\
				  op, n, T, __ATOMIC_RELAXED)		\
	MULTIMEM_LD_REDUCE_VECTOR(multimem_ld_reduce_weak_##op##_v##n##_##T, \
				  op, n, T, MULTIMEM_WEAK)		\
	MULTIMEM_LD_REDUCE_VECTOR(multimem_ld_reduce_relaxed_##op##_v##n##_##T, \
				  op, n, T, __ATOMIC_RELAXED)		\
	MULTIMEM_LD_REDUCE_VECTOR(multimem_ld_reduce_acquire_##op##_v##n##_##T, \
				  op, n, T, __ATOMIC_ACQUIRE)

#define MULTIMEM_ST(T)							\
	MULTIMEM_ST_NAME(multimem_st_##T, T, __ATOMIC_RELAXED)		\
	MULTIMEM_ST_NAME(multimem_st_weak_##T, T, MULTIMEM_WEAK)	\
	MULTIMEM_ST_NAME(multimem_st_relaxed_##T, T, __ATOMIC_RELAXED)	\
	MULTIMEM_ST_NAME(multimem_st_release_##T, T, __ATOMIC_RELEASE)

#define MULTIMEM_ST_V(n, T)						\
	MULTIMEM_ST_VECTOR(multimem_st_v##n##_##T, n, T, __ATOMIC_RELAXED) \
	MULTIMEM_ST_VECTOR(multimem_st_weak_v##n##_##T, n, T, MULTIMEM_WEAK) \
	MULTIMEM_ST_VECTOR(multimem_st_relaxed_v##n##_##T, n, T, __ATOMIC_RELAXED) \
	MULTIMEM_ST_VECTOR(multimem_st_release_v##n##_##T, n, T, __ATOMIC_RELEASE)

#define MULTIMEM_RED(op, T)						\
	MULTIMEM_RED_NAME(multimem_red_##op##_##T, op, T, __ATOMIC_RELAXED) \
	MULTIMEM_RED_NAME(multimem_red_relaxed_##op##_##T, op, T,	\
			  __ATOMIC_RELAXED)				\
	MULTIMEM_RED_NAME(multimem_red_release_##op##_##T, op, T,	\
			  __ATOMIC_RELEASE)

#define MULTIMEM_RED_V(op, n, T)					\
	MULTIMEM_RED_VECTOR(multimem_red_##op##_v##n##_##T, op, n, T,	\
			    __ATOMIC_RELAXED)				\
	MULTIMEM_RED_VECTOR(multimem_red_relaxed_##op##_v##n##_##T, op, n, T, \
			    __ATOMIC_RELAXED)				\
	MULTIMEM_RED_VECTOR(multimem_red_release_##op##_v##n##_##T, op, n, T, \
			    __ATOMIC_RELEASE)

/* ---- PTX's table ---- */

/* Integers: an operator is for both ld_reduce and red, and there are no vectors. */
#define MULTIMEM_BOTH(op, T)						\
	MULTIMEM_LD_REDUCE(op, T)					\
	MULTIMEM_RED(op, T)

MULTIMEM_ST(u32)
MULTIMEM_ST(s32)
MULTIMEM_ST(b32)
MULTIMEM_ST(u64)
MULTIMEM_ST(s64)
MULTIMEM_ST(b64)
MULTIMEM_BOTH(add, u32)
MULTIMEM_BOTH(add, s32)
MULTIMEM_BOTH(add, u64)
MULTIMEM_BOTH(min, u32)
MULTIMEM_BOTH(min, s32)
MULTIMEM_BOTH(min, u64)
MULTIMEM_BOTH(min, s64)
MULTIMEM_BOTH(max, u32)
MULTIMEM_BOTH(max, s32)
MULTIMEM_BOTH(max, u64)
MULTIMEM_BOTH(max, s64)
MULTIMEM_BOTH(and, b32)
MULTIMEM_BOTH(and, b64)
MULTIMEM_BOTH(or, b32)
MULTIMEM_BOTH(or, b64)
MULTIMEM_BOTH(xor, b32)
MULTIMEM_BOTH(xor, b64)

/* Floating point, by itself and in vectors: 32, 64 or 128 bits */
#define MULTIMEM_VECTOR(n, T)						\
	struct multimem_v##n##_##T {					\
		multimem_value_##T v[n];				\
	};								\
	MULTIMEM_ST_V(n, T)

#define MULTIMEM_WIDE_V(n, T)						\
	MULTIMEM_VECTOR(n, T)						\
	MULTIMEM_LD_REDUCE_V(add, n, T)					\
	MULTIMEM_RED_V(add, n, T)

#define MULTIMEM_8BIT(T)						\
	MULTIMEM_ST(T)							\
	MULTIMEM_LD_REDUCE(add, T)					\
	MULTIMEM_LD_REDUCE(add_acc_f16, T)				\
	MULTIMEM_LD_REDUCE(min, T)					\
	MULTIMEM_LD_REDUCE(max, T)

#define MULTIMEM_8BIT_V(n, T)						\
	MULTIMEM_VECTOR(n, T)						\
	MULTIMEM_LD_REDUCE_V(add, n, T)					\
	MULTIMEM_LD_REDUCE_V(add_acc_f16, n, T)				\
	MULTIMEM_LD_REDUCE_V(min, n, T)					\
	MULTIMEM_LD_REDUCE_V(max, n, T)

#define MULTIMEM_16BIT(T)						\
	MULTIMEM_ST(T)							\
	MULTIMEM_LD_REDUCE(add, T)					\
	MULTIMEM_LD_REDUCE(add_acc_f32, T)				\
	MULTIMEM_LD_REDUCE(min, T)					\
	MULTIMEM_LD_REDUCE(max, T)					\
	MULTIMEM_RED(add, T)

#define MULTIMEM_16BIT_V(n, T)						\
	MULTIMEM_VECTOR(n, T)						\
	MULTIMEM_LD_REDUCE_V(add, n, T)					\
	MULTIMEM_LD_REDUCE_V(add_acc_f32, n, T)				\
	MULTIMEM_LD_REDUCE_V(min, n, T)					\
	MULTIMEM_LD_REDUCE_V(max, n, T)					\
	MULTIMEM_RED_V(add, n, T)

MULTIMEM_ST(f64)
MULTIMEM_BOTH(add, f64)
MULTIMEM_ST(f32)
MULTIMEM_BOTH(add, f32)
MULTIMEM_WIDE_V(2, f32)
MULTIMEM_WIDE_V(4, f32)

MULTIMEM_16BIT_V(2, f16)
MULTIMEM_16BIT_V(4, f16)
MULTIMEM_16BIT_V(8, f16)
MULTIMEM_16BIT(f16x2)
MULTIMEM_16BIT_V(2, f16x2)
MULTIMEM_16BIT_V(4, f16x2)
MULTIMEM_16BIT_V(2, bf16)
MULTIMEM_16BIT_V(4, bf16)
MULTIMEM_16BIT_V(8, bf16)
MULTIMEM_16BIT(bf16x2)
MULTIMEM_16BIT_V(2, bf16x2)
MULTIMEM_16BIT_V(4, bf16x2)

MULTIMEM_8BIT_V(4, e4m3)
MULTIMEM_8BIT_V(8, e4m3)
MULTIMEM_8BIT_V(2, e4m3x2)
MULTIMEM_8BIT_V(4, e4m3x2)
MULTIMEM_8BIT_V(8, e4m3x2)
MULTIMEM_8BIT(e4m3x4)
MULTIMEM_8BIT_V(2, e4m3x4)
MULTIMEM_8BIT_V(4, e4m3x4)
MULTIMEM_8BIT_V(4, e5m2)
MULTIMEM_8BIT_V(8, e5m2)
MULTIMEM_8BIT_V(2, e5m2x2)
MULTIMEM_8BIT_V(4, e5m2x2)
MULTIMEM_8BIT_V(8, e5m2x2)
MULTIMEM_8BIT(e5m2x4)
MULTIMEM_8BIT_V(2, e5m2x4)
MULTIMEM_8BIT_V(4, e5m2x4)

#include <memcast/multimem_array.h>

#endif /* MEMCAST_MULTIMEM_H */
