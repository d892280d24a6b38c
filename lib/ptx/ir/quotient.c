// SPDX-License-Identifier: MIT
/* Of floats: quotients, roots, and the functions that PTX has as approximations. */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

static LLVMValueRef one(struct translator *t, enum type type)
{
	return LLVMConstReal(type == TYPE_F64 ? t->f64 : t->f32, 1);
}

static LLVMValueRef rounded(struct translator *t, const struct operation *operation, LLVMValueRef a,
			    LLVMValueRef b)
{
	if (operation->mode == ROUND_RN)
		return BUILD(FDiv, a, b);
	return call_math(t, name_of("div_f32", "div_f64", operation->type), a, b,
			 constant(t, 32, operation->mode));
}

static LLVMValueRef quotient(struct translator *t, struct operation *operation, LLVMValueRef a,
			     LLVMValueRef b)
{
	if (operation->ftz && operation->type == TYPE_F32)
		operation->twice = rounded(t, operation, BUILD(FAdd, a, a), b);
	return rounded(t, operation, a, b);
}

/* div.approx is a * (1 / b): from 2^126 on, 1 / b is 0. */
void translate_float_division(struct translator *t)
{
	bool approx = has(t, MOD_approx), full = has(t, MOD_full);
	struct operation operation;
	LLVMValueRef value, large, zero;

	if (is_half(type_at(t, 0))) {
		unsupported(t);
		return;
	}
	float_operands(t, &operation, 2);
	operation.divides = true;
	value = quotient(t, &operation, operation.values[0], operation.values[1]);
	if (approx && !full) {
		LLVMValueRef magnitude = intrinsic(t, "llvm.fabs", t->f32, 1, operation.values[1],
						   NULL,
						   NULL);

		large = LLVMBuildFCmp(t->builder, LLVMRealOGT, magnitude,
				      LLVMConstReal(t->f32, 0x1p126), "");
		zero = BUILD(FMul, operation.values[0], LLVMConstReal(t->f32, 0));
		zero = intrinsic(t, "llvm.copysign", t->f32, 2, zero, value, NULL);
		value = choose(t, large, zero, value);
	}
	float_result(t, &operation, value);
}

void translate_rcp(struct translator *t)
{
	bool approx = has(t, MOD_approx);
	struct operation operation;

	float_operands(t, &operation, 1);
	if (approx && operation.type == TYPE_F64) {
		put(t, operand(t, 0), call_math(t, "rcp_f64", operation.values[0]), TYPE_F64);
		return;
	}
	float_result(t, &operation, quotient(t, &operation, one(t, operation.type),
					     operation.values[0]));
}

void translate_sqrt(struct translator *t)
{
	struct operation operation;
	LLVMValueRef value;

	has(t, MOD_approx);
	float_operands(t, &operation, 1);
	value = operation.values[0];
	if (operation.mode == ROUND_RN)
		value = intrinsic(t, "llvm.sqrt", LLVMTypeOf(value), 1, value, NULL, NULL);
	else
		value = call_math(t, name_of("sqrt_f32", "sqrt_f64", operation.type), value,
				  constant(t, 32, operation.mode));
	float_result(t, &operation, value);
}

void translate_rsqrt(struct translator *t)
{
	struct operation operation;

	has(t, MOD_approx);
	float_operands(t, &operation, 1);
	if (operation.type == TYPE_F64)
		float_result(t, &operation,
			     call_math(t, "rsqrt_f64", operation.values[0],
				       constant(t, 32, operation.ftz)));
	else
		float_result(t, &operation, call_math(t, "rsqrt_f32", operation.values[0]));
}

/* Functions of f32; of f16 and bf16 they are those of f32, rounded once more. */
static void approximate(struct translator *t, const char *name)
{
	enum type type = type_at(t, 0);
	struct operation operation;
	LLVMValueRef bits, result;
	uint32_t count = type_facts[type].packed;

	has(t, MOD_approx);
	if (type == TYPE_F64) {
		unsupported(t);
		return;
	}
	if (type == TYPE_F32) {
		float_operands(t, &operation, 1);
		float_result(t, &operation, call_math(t, name, operation.values[0]));
		return;
	}
	has(t, MOD_ftz);	/* of bf16: its subnormals are those of f32, and 2^x of them is 1 */
	bits = get(t, operand(t, 1), type);
	result = constant(t, 16 * count, 0);
	for (uint32_t i = 0; i < count; i++) {
		LLVMValueRef part = BUILD(LShr, bits, constant(t, 16 * count, 16 * i));

		part = widen(t, resize(t, part, 16, false), type);
		part = resize(t, narrow(t, call_math(t, name, part), type), 16 * count, false);
		result = BUILD(Or, result, BUILD(Shl, part, constant(t, 16 * count, 16 * i)));
	}
	put(t, operand(t, 0), result, type);
}

TRANSLATE(sin, approximate(t, "sin_f32"))
TRANSLATE(cos, approximate(t, "cos_f32"))
TRANSLATE(lg2, approximate(t, "lg2_f32"))
TRANSLATE(ex2, approximate(t, "ex2_f32"))
TRANSLATE(tanh, approximate(t, "tanh_f32"))
