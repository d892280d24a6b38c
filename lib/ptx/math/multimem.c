// SPDX-License-Identifier: MIT
/*
 * The functions of memcast/multimem.h, each with the one signature that translated code calls.
 * The rows are the header's: selftests/ptx compares the two.
 */
#include <memcast/multimem.h>

#include "multimem.h"

/* F(name, type) for each function, with the type of the value that it loads or takes */
#define LOAD(F, op, T, type)								\
	F(ld_reduce_weak_##op##_##T, type) F(ld_reduce_relaxed_##op##_##T, type)	\
	F(ld_reduce_acquire_##op##_##T, type)
#define STORE(F, T, type)	F(st_weak_##T, type) F(st_relaxed_##T, type) F(st_release_##T, type)
#define RED(F, op, T, type)	F(red_relaxed_##op##_##T, type) F(red_release_##op##_##T, type)

/* Operations on a type: f16 is summed up in f32, too, 8 bits in f16; wide ones are only added. */
#define LOAD_ANY(F, acc, T, type)							\
	LOAD(F, add, T, type) LOAD(F, add_acc_##acc, T, type) LOAD(F, min, T, type)	\
	LOAD(F, max, T, type)
#define LOAD_HALF(F, T, type)	LOAD_ANY(F, f32, T, type)
#define LOAD_BYTE(F, T, type)	LOAD_ANY(F, f16, T, type)
#define LOAD_ADD(F, T, type)	LOAD(F, add, T, type)
#define STORE_ADD(F, T, type)	STORE(F, T, type) RED(F, add, T, type)

#define ONE(F, M, T)	M(F, T, multimem_value_##T)
#define V(F, M, n, T)	M(F, v##n##_##T, struct multimem_v##n##_##T)
#define HALF(F, M, T) \
	V(F, M, 2, T) V(F, M, 4, T) V(F, M, 8, T) ONE(F, M, T##x2) V(F, M, 2, T##x2) V(F, M, 4, T##x2)
#define BYTE(F, M, T) \
	V(F, M, 4, T) V(F, M, 8, T) V(F, M, 2, T##x2) V(F, M, 4, T##x2) V(F, M, 8, T##x2) \
	ONE(F, M, T##x4) V(F, M, 2, T##x4) V(F, M, 4, T##x4)
#define FLOATS(F, WIDE, MHALF, MBYTE) \
	ONE(F, WIDE, f64) ONE(F, WIDE, f32) V(F, WIDE, 2, f32) V(F, WIDE, 4, f32) \
	HALF(F, MHALF, f16) HALF(F, MHALF, bf16) BYTE(F, MBYTE, e4m3) BYTE(F, MBYTE, e5m2)

#define OP(F, M, op, T)	M(F, op, T, multimem_value_##T)
#define INTEGERS(F, M) \
	OP(F, M, add, u32) OP(F, M, add, s32) OP(F, M, add, u64) OP(F, M, min, u32) OP(F, M, min, s32) \
	OP(F, M, min, u64) OP(F, M, min, s64) OP(F, M, max, u32) OP(F, M, max, s32) OP(F, M, max, u64) \
	OP(F, M, max, s64) OP(F, M, and, b32) OP(F, M, and, b64) OP(F, M, or, b32) OP(F, M, or, b64) \
	OP(F, M, xor, b32) OP(F, M, xor, b64)

#define LOADS(F)	INTEGERS(F, LOAD) FLOATS(F, LOAD_ADD, LOAD_HALF, LOAD_BYTE)
#define STORES(F) \
	ONE(F, STORE, u32) ONE(F, STORE, s32) ONE(F, STORE, b32) ONE(F, STORE, u64) ONE(F, STORE, s64) \
	ONE(F, STORE, b64) INTEGERS(F, RED) FLOATS(F, STORE_ADD, STORE_ADD, STORE)

#define LOAD_FUNCTION(name, type)							\
static void load_##name(const struct memcast_view *view, size_t offset, const void *in, void *out) \
{											\
	type value = multimem_##name(view, offset);					\
											\
	(void)in;									\
	__builtin_memcpy(out, &value, sizeof(value));					\
}

#define STORE_FUNCTION(name, type)							\
static void store_##name(const struct memcast_view *view, size_t offset, const void *in, void *out) \
{											\
	type value;									\
											\
	(void)out;									\
	__builtin_memcpy(&value, in, sizeof(value));					\
	multimem_##name(view, offset, value);						\
}

LOADS(LOAD_FUNCTION)
STORES(STORE_FUNCTION)

#define LOAD_ROW(name, type)	{ "multimem_" #name, load_##name },
#define STORE_ROW(name, type)	{ "multimem_" #name, store_##name },

const struct multimem_name multimem_names[] = {
	LOADS(LOAD_ROW)
	STORES(STORE_ROW)
	{},
};
