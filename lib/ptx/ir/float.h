/* SPDX-License-Identifier: MIT */
/* What float.c and quotient.c share: operands and results of operations on f32 and f64. */
#ifndef MEMCAST_PTX_FLOAT_H
#define MEMCAST_PTX_FLOAT_H

#include "ir.h"

/* Modifiers of an operation on f32 or f64, and its operands */
struct operation {
	enum type type;
	uint32_t mode, count;
	bool ftz, sat, divides;
	LLVMValueRef values[3];
	/* with .ftz, of what can be inexact below normal numbers: twice the result; else NULL */
	LLVMValueRef twice;
};

void float_operands(struct translator *t, struct operation *operation, uint32_t count);
void float_result(struct translator *t, struct operation *operation, LLVMValueRef value);

static inline bool is_half(enum type type)
{
	return type != TYPE_F32 && type != TYPE_F64;
}

static inline const char *name_of(const char *f32, const char *f64, enum type type)
{
	return type == TYPE_F64 ? f64 : f32;
}

#endif /* MEMCAST_PTX_FLOAT_H */
