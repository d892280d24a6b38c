// SPDX-License-Identifier: MIT
/*
 * The functions of memcast/multimem.h, each with the one signature that translated code calls.
 * The rows are the header's: selftests/ptx compares the two.
 */
#include <memcast/multimem.h>

#include "multimem.h"

/* F(name, in, out): types of the value that it takes and of the one that it gives, or NOTHING */
#define LOAD(F, op, T)									\
	F(ld_reduce_weak_##op##_##T, T) F(ld_reduce_relaxed_##op##_##T, T)		\
	F(ld_reduce_acquire_##op##_##T, T)
#define LOAD_V(F, op, n, T)								\
	F(ld_reduce_weak_##op##_v##n##_##T, v##n##_##T)					\
	F(ld_reduce_relaxed_##op##_v##n##_##T, v##n##_##T)				\
	F(ld_reduce_acquire_##op##_v##n##_##T, v##n##_##T)
#define STORE(F, T)	F(st_weak_##T, T) F(st_relaxed_##T, T) F(st_release_##T, T)
#define STORE_V(F, n, T)								\
	F(st_weak_v##n##_##T, v##n##_##T) F(st_relaxed_v##n##_##T, v##n##_##T)		\
	F(st_release_v##n##_##T, v##n##_##T)
#define RED(F, op, T)	F(red_relaxed_##op##_##T, T) F(red_release_##op##_##T, T)
#define RED_V(F, op, n, T)								\
	F(red_relaxed_##op##_v##n##_##T, v##n##_##T) F(red_release_##op##_v##n##_##T, v##n##_##T)

#define LOADS(F) \
	LOAD(F, add, u32) LOAD(F, add, s32) LOAD(F, add, u64) LOAD(F, min, u32) \
	LOAD(F, min, s32) LOAD(F, min, u64) LOAD(F, min, s64) LOAD(F, max, u32) \
	LOAD(F, max, s32) LOAD(F, max, u64) LOAD(F, max, s64) LOAD(F, and, b32) \
	LOAD(F, and, b64) LOAD(F, or, b32) LOAD(F, or, b64) LOAD(F, xor, b32) \
	LOAD(F, xor, b64) LOAD(F, add, f64) LOAD(F, add, f32) LOAD_V(F, add, 2, f32) \
	LOAD_V(F, add, 4, f32) LOAD_V(F, add, 2, f16) LOAD_V(F, add_acc_f32, 2, f16) \
	LOAD_V(F, min, 2, f16) LOAD_V(F, max, 2, f16) LOAD_V(F, add, 4, f16) \
	LOAD_V(F, add_acc_f32, 4, f16) LOAD_V(F, min, 4, f16) LOAD_V(F, max, 4, f16) \
	LOAD_V(F, add, 8, f16) LOAD_V(F, add_acc_f32, 8, f16) LOAD_V(F, min, 8, f16) \
	LOAD_V(F, max, 8, f16) LOAD(F, add, f16x2) LOAD(F, add_acc_f32, f16x2) \
	LOAD(F, min, f16x2) LOAD(F, max, f16x2) LOAD_V(F, add, 2, f16x2) \
	LOAD_V(F, add_acc_f32, 2, f16x2) LOAD_V(F, min, 2, f16x2) \
	LOAD_V(F, max, 2, f16x2) LOAD_V(F, add, 4, f16x2) \
	LOAD_V(F, add_acc_f32, 4, f16x2) LOAD_V(F, min, 4, f16x2) \
	LOAD_V(F, max, 4, f16x2) LOAD_V(F, add, 2, bf16) \
	LOAD_V(F, add_acc_f32, 2, bf16) LOAD_V(F, min, 2, bf16) LOAD_V(F, max, 2, bf16) \
	LOAD_V(F, add, 4, bf16) LOAD_V(F, add_acc_f32, 4, bf16) LOAD_V(F, min, 4, bf16) \
	LOAD_V(F, max, 4, bf16) LOAD_V(F, add, 8, bf16) LOAD_V(F, add_acc_f32, 8, bf16) \
	LOAD_V(F, min, 8, bf16) LOAD_V(F, max, 8, bf16) LOAD(F, add, bf16x2) \
	LOAD(F, add_acc_f32, bf16x2) LOAD(F, min, bf16x2) LOAD(F, max, bf16x2) \
	LOAD_V(F, add, 2, bf16x2) LOAD_V(F, add_acc_f32, 2, bf16x2) \
	LOAD_V(F, min, 2, bf16x2) LOAD_V(F, max, 2, bf16x2) LOAD_V(F, add, 4, bf16x2) \
	LOAD_V(F, add_acc_f32, 4, bf16x2) LOAD_V(F, min, 4, bf16x2) \
	LOAD_V(F, max, 4, bf16x2) LOAD_V(F, add, 4, e4m3) \
	LOAD_V(F, add_acc_f16, 4, e4m3) LOAD_V(F, min, 4, e4m3) LOAD_V(F, max, 4, e4m3) \
	LOAD_V(F, add, 8, e4m3) LOAD_V(F, add_acc_f16, 8, e4m3) LOAD_V(F, min, 8, e4m3) \
	LOAD_V(F, max, 8, e4m3) LOAD_V(F, add, 2, e4m3x2) \
	LOAD_V(F, add_acc_f16, 2, e4m3x2) LOAD_V(F, min, 2, e4m3x2) \
	LOAD_V(F, max, 2, e4m3x2) LOAD_V(F, add, 4, e4m3x2) \
	LOAD_V(F, add_acc_f16, 4, e4m3x2) LOAD_V(F, min, 4, e4m3x2) \
	LOAD_V(F, max, 4, e4m3x2) LOAD_V(F, add, 8, e4m3x2) \
	LOAD_V(F, add_acc_f16, 8, e4m3x2) LOAD_V(F, min, 8, e4m3x2) \
	LOAD_V(F, max, 8, e4m3x2) LOAD(F, add, e4m3x4) LOAD(F, add_acc_f16, e4m3x4) \
	LOAD(F, min, e4m3x4) LOAD(F, max, e4m3x4) LOAD_V(F, add, 2, e4m3x4) \
	LOAD_V(F, add_acc_f16, 2, e4m3x4) LOAD_V(F, min, 2, e4m3x4) \
	LOAD_V(F, max, 2, e4m3x4) LOAD_V(F, add, 4, e4m3x4) \
	LOAD_V(F, add_acc_f16, 4, e4m3x4) LOAD_V(F, min, 4, e4m3x4) \
	LOAD_V(F, max, 4, e4m3x4) LOAD_V(F, add, 4, e5m2) \
	LOAD_V(F, add_acc_f16, 4, e5m2) LOAD_V(F, min, 4, e5m2) LOAD_V(F, max, 4, e5m2) \
	LOAD_V(F, add, 8, e5m2) LOAD_V(F, add_acc_f16, 8, e5m2) LOAD_V(F, min, 8, e5m2) \
	LOAD_V(F, max, 8, e5m2) LOAD_V(F, add, 2, e5m2x2) \
	LOAD_V(F, add_acc_f16, 2, e5m2x2) LOAD_V(F, min, 2, e5m2x2) \
	LOAD_V(F, max, 2, e5m2x2) LOAD_V(F, add, 4, e5m2x2) \
	LOAD_V(F, add_acc_f16, 4, e5m2x2) LOAD_V(F, min, 4, e5m2x2) \
	LOAD_V(F, max, 4, e5m2x2) LOAD_V(F, add, 8, e5m2x2) \
	LOAD_V(F, add_acc_f16, 8, e5m2x2) LOAD_V(F, min, 8, e5m2x2) \
	LOAD_V(F, max, 8, e5m2x2) LOAD(F, add, e5m2x4) LOAD(F, add_acc_f16, e5m2x4) \
	LOAD(F, min, e5m2x4) LOAD(F, max, e5m2x4) LOAD_V(F, add, 2, e5m2x4) \
	LOAD_V(F, add_acc_f16, 2, e5m2x4) LOAD_V(F, min, 2, e5m2x4) \
	LOAD_V(F, max, 2, e5m2x4) LOAD_V(F, add, 4, e5m2x4) \
	LOAD_V(F, add_acc_f16, 4, e5m2x4) LOAD_V(F, min, 4, e5m2x4) \
	LOAD_V(F, max, 4, e5m2x4)

#define STORES(F) \
	STORE(F, u32) STORE(F, s32) STORE(F, b32) STORE(F, u64) STORE(F, s64) \
	STORE(F, b64) RED(F, add, u32) RED(F, add, s32) RED(F, add, u64) \
	RED(F, min, u32) RED(F, min, s32) RED(F, min, u64) RED(F, min, s64) \
	RED(F, max, u32) RED(F, max, s32) RED(F, max, u64) RED(F, max, s64) \
	RED(F, and, b32) RED(F, and, b64) RED(F, or, b32) RED(F, or, b64) \
	RED(F, xor, b32) RED(F, xor, b64) STORE(F, f64) RED(F, add, f64) STORE(F, f32) \
	RED(F, add, f32) STORE_V(F, 2, f32) RED_V(F, add, 2, f32) STORE_V(F, 4, f32) \
	RED_V(F, add, 4, f32) STORE_V(F, 2, f16) RED_V(F, add, 2, f16) \
	STORE_V(F, 4, f16) RED_V(F, add, 4, f16) STORE_V(F, 8, f16) \
	RED_V(F, add, 8, f16) STORE(F, f16x2) RED(F, add, f16x2) STORE_V(F, 2, f16x2) \
	RED_V(F, add, 2, f16x2) STORE_V(F, 4, f16x2) RED_V(F, add, 4, f16x2) \
	STORE_V(F, 2, bf16) RED_V(F, add, 2, bf16) STORE_V(F, 4, bf16) \
	RED_V(F, add, 4, bf16) STORE_V(F, 8, bf16) RED_V(F, add, 8, bf16) \
	STORE(F, bf16x2) RED(F, add, bf16x2) STORE_V(F, 2, bf16x2) \
	RED_V(F, add, 2, bf16x2) STORE_V(F, 4, bf16x2) RED_V(F, add, 4, bf16x2) \
	STORE_V(F, 4, e4m3) STORE_V(F, 8, e4m3) STORE_V(F, 2, e4m3x2) \
	STORE_V(F, 4, e4m3x2) STORE_V(F, 8, e4m3x2) STORE(F, e4m3x4) \
	STORE_V(F, 2, e4m3x4) STORE_V(F, 4, e4m3x4) STORE_V(F, 4, e5m2) \
	STORE_V(F, 8, e5m2) STORE_V(F, 2, e5m2x2) STORE_V(F, 4, e5m2x2) \
	STORE_V(F, 8, e5m2x2) STORE(F, e5m2x4) STORE_V(F, 2, e5m2x4) \
	STORE_V(F, 4, e5m2x4)

#define LOAD_FUNCTION(name, T)								\
static void load_##name(const struct memcast_view *view, size_t offset, const void *in, void *out) \
{											\
	__typeof__(multimem_##name(view, offset)) value = multimem_##name(view, offset);	\
											\
	(void)in;									\
	__builtin_memcpy(out, &value, sizeof(value));					\
}

#define STORE_FUNCTION(name, T)								\
static void store_##name(const struct memcast_view *view, size_t offset, const void *in, void *out) \
{											\
	type_##T value;									\
											\
	(void)out;									\
	__builtin_memcpy(&value, in, sizeof(value));					\
	multimem_##name(view, offset, value);						\
}

typedef multimem_value_b32 type_b32;
typedef multimem_value_b64 type_b64;
typedef multimem_value_bf16x2 type_bf16x2;
typedef multimem_value_e4m3x4 type_e4m3x4;
typedef multimem_value_e5m2x4 type_e5m2x4;
typedef multimem_value_f16x2 type_f16x2;
typedef multimem_value_f32 type_f32;
typedef multimem_value_f64 type_f64;
typedef multimem_value_s32 type_s32;
typedef multimem_value_s64 type_s64;
typedef multimem_value_u32 type_u32;
typedef multimem_value_u64 type_u64;
typedef struct multimem_v2_bf16 type_v2_bf16;
typedef struct multimem_v2_bf16x2 type_v2_bf16x2;
typedef struct multimem_v2_e4m3x2 type_v2_e4m3x2;
typedef struct multimem_v2_e4m3x4 type_v2_e4m3x4;
typedef struct multimem_v2_e5m2x2 type_v2_e5m2x2;
typedef struct multimem_v2_e5m2x4 type_v2_e5m2x4;
typedef struct multimem_v2_f16 type_v2_f16;
typedef struct multimem_v2_f16x2 type_v2_f16x2;
typedef struct multimem_v2_f32 type_v2_f32;
typedef struct multimem_v4_bf16 type_v4_bf16;
typedef struct multimem_v4_bf16x2 type_v4_bf16x2;
typedef struct multimem_v4_e4m3 type_v4_e4m3;
typedef struct multimem_v4_e4m3x2 type_v4_e4m3x2;
typedef struct multimem_v4_e4m3x4 type_v4_e4m3x4;
typedef struct multimem_v4_e5m2 type_v4_e5m2;
typedef struct multimem_v4_e5m2x2 type_v4_e5m2x2;
typedef struct multimem_v4_e5m2x4 type_v4_e5m2x4;
typedef struct multimem_v4_f16 type_v4_f16;
typedef struct multimem_v4_f16x2 type_v4_f16x2;
typedef struct multimem_v4_f32 type_v4_f32;
typedef struct multimem_v8_bf16 type_v8_bf16;
typedef struct multimem_v8_e4m3 type_v8_e4m3;
typedef struct multimem_v8_e4m3x2 type_v8_e4m3x2;
typedef struct multimem_v8_e5m2 type_v8_e5m2;
typedef struct multimem_v8_e5m2x2 type_v8_e5m2x2;
typedef struct multimem_v8_f16 type_v8_f16;

LOADS(LOAD_FUNCTION)
STORES(STORE_FUNCTION)

#define LOAD_ROW(name, T)	{ "multimem_" #name, load_##name },
#define STORE_ROW(name, T)	{ "multimem_" #name, store_##name },

const struct multimem_name multimem_names[] = {
	LOADS(LOAD_ROW)
	STORES(STORE_ROW)
	{},
};
