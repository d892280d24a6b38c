// SPDX-License-Identifier: MIT
/*
 * f16 and bf16, alone and in pairs. Sums and products of them are exact enough in f32 that
 * rounding twice gives what rounding once does; fma is a function of lib/ptx/math.
 */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

/* Return: 16 bits as an f32; a NaN keeps its bits, made quiet */
LLVMValueRef widen(struct translator *t, LLVMValueRef bits, enum type type)
{
	if (!is_bf16(type))
		return !jit_has_halves(t->code->jit) ? call_math(t, "f32_of_f16", bits) :
		       BUILD(FPExt, BUILD(BitCast, bits, LLVMHalfTypeInContext(t->context)),
			     t->f32);
	bits = BUILD(Shl, resize(t, bits, 32, false), constant(t, 32, 16));
	return BUILD(BitCast, bits, t->f32);
}

/* Return: an f32 rounded to nearest, as 16 bits; a NaN is 0x7fff */
LLVMValueRef narrow(struct translator *t, LLVMValueRef value, enum type type)
{
	LLVMValueRef bits, odd, rounded;

	if (!is_bf16(type)) {
		if (!jit_has_halves(t->code->jit))
			return call_math(t, "f16_of_f32", value);
		bits = BUILD(FPTrunc, value, LLVMHalfTypeInContext(t->context));
		return choose(t, is_nan(t, value), constant(t, 16, 0x7fff),
			      BUILD(BitCast, bits, t->i16));
	}
	bits = as_int(t, value);
	odd = BUILD(And, BUILD(LShr, bits, constant(t, 32, 16)), constant(t, 32, 1));
	rounded = BUILD(Add, BUILD(Add, bits, constant(t, 32, 0x7fff)), odd);
	rounded = BUILD(LShr, rounded, constant(t, 32, 16));
	return resize(t, choose(t, is_nan(t, value), constant(t, 32, 0x7fff), rounded), 16, false);
}

/* .ftz of f16 */
static LLVMValueRef flush_half(struct translator *t, LLVMValueRef bits)
{
	LLVMValueRef exponent = BUILD(And, bits, constant(t, 16, 0x7c00));

	return choose(t, LLVMBuildICmp(t->builder, LLVMIntEQ, exponent, constant(t, 16, 0), ""),
		      BUILD(And, bits, constant(t, 16, 0x8000)), bits);
}

static LLVMValueRef is_half_nan(struct translator *t, LLVMValueRef bits, enum type type)
{
	LLVMValueRef size = BUILD(And, bits, constant(t, 16, 0x7fff));

	return LLVMBuildICmp(t->builder, LLVMIntUGT, size,
			     constant(t, 16, is_bf16(type) ? 0x7f80 : 0x7c00), "");
}

/* .sat, to 0 … 1; .relu, to 0 or more, where a NaN stays */
static LLVMValueRef limit(struct translator *t, LLVMValueRef bits, enum type type, bool sat,
			  bool relu)
{
	LLVMValueRef nan = is_half_nan(t, bits, type), zero = constant(t, 16, 0), negative, one;

	negative = LLVMBuildICmp(t->builder, LLVMIntSLT, bits, zero, "");
	if (relu)
		return choose(t, BUILD(And, negative, BUILD(Not, nan)), zero, bits);
	if (!sat)
		return bits;
	one = constant(t, 16, is_bf16(type) ? 0x3f80 : 0x3c00);
	bits = choose(t, LLVMBuildICmp(t->builder, LLVMIntSGT, bits, one, ""), one, bits);
	return choose(t, BUILD(Or, negative, nan), zero, bits);
}

/* Runs @each on each 16-bit part of the operands, and puts the parts of its results together. */
struct parts {
	enum type type;
	bool ftz, sat, relu, max, nan, sign, negate;
	char kind;
	LLVMValueRef v[3];
};

static void each_part(struct translator *t, struct parts *parts, uint32_t operands,
		      LLVMValueRef (*each)(struct translator *t, struct parts *parts))
{
	uint32_t count = type_facts[parts->type].packed, bits = 16 * count;
	LLVMValueRef all[3], result = constant(t, bits, 0);

	for (uint32_t i = 0; i < operands; i++)
		all[i] = get(t, operand(t, 1 + i), parts->type);
	for (uint32_t part = 0; part < count; part++) {
		LLVMValueRef one;

		for (uint32_t i = 0; i < operands; i++) {
			one = BUILD(LShr, all[i], constant(t, bits, 16 * part));
			parts->v[i] = resize(t, one, 16, false);
			if (parts->ftz && !is_bf16(parts->type))
				parts->v[i] = flush_half(t, parts->v[i]);
		}
		one = resize(t, each(t, parts), bits, false);
		result = BUILD(Or, result, BUILD(Shl, one, constant(t, bits, 16 * part)));
	}
	put(t, operand(t, 0), result, parts->type);
}

static LLVMValueRef finish(struct translator *t, struct parts *parts, LLVMValueRef bits)
{
	bits = choose(t, is_half_nan(t, bits, parts->type), constant(t, 16, 0x7fff), bits);
	return limit(t, bits, parts->type, parts->sat, parts->relu);
}

static LLVMValueRef binary(struct translator *t, struct parts *parts)
{
	LLVMValueRef a = widen(t, parts->v[0], parts->type), b = widen(t, parts->v[1], parts->type);

	a = parts->kind == '+' ? BUILD(FAdd, a, b) : parts->kind == '-' ? BUILD(FSub, a, b) :
	    BUILD(FMul, a, b);
	/* .ftz: 0 where 11 bits, as if exponents had no end, would be of a subnormal */
	if (parts->ftz && !is_bf16(parts->type)) {
		b = intrinsic(t, "llvm.fabs", t->f32, 1, a, NULL, NULL);
		b = LLVMBuildFCmp(t->builder, LLVMRealOLT, b,
				  LLVMConstReal(t->f32, HALF_FLUSHED), "");
		a = choose(t, b, intrinsic(t, "llvm.copysign", t->f32, 2, LLVMConstNull(t->f32), a,
					   NULL), a);
	}
	return finish(t, parts, narrow(t, a, parts->type));
}

void half_binary(struct translator *t, char kind)
{
	struct parts parts = { .type = type_at(t, 0), .kind = kind };

	has(t, MOD_rn);
	parts.ftz = has(t, MOD_ftz);
	parts.sat = has(t, MOD_sat);
	each_part(t, &parts, 2, binary);
}

static LLVMValueRef multiply_add(struct translator *t, struct parts *parts)
{
	LLVMValueRef *v = parts->v;

	if (is_bf16(parts->type))
		return finish(t, parts, call_math(t, "fma_bf16", v[0], v[1], v[2]));
	return finish(t, parts, call_math(t, "fma_f16", v[0], v[1], v[2],
					  constant(t, 32, parts->ftz)));
}

/* .oob is about a NaN that only loads of tensors give, which memcast has not. */
void half_fma(struct translator *t)
{
	struct parts parts = { .type = type_at(t, 0) };

	has(t, MOD_rn);
	parts.ftz = has(t, MOD_ftz);
	parts.sat = has(t, MOD_sat);
	parts.relu = has(t, MOD_relu);
	has(t, MOD_oob);
	each_part(t, &parts, 3, multiply_add);
}

static LLVMValueRef sign(struct translator *t, struct parts *parts)
{
	LLVMValueRef bits = parts->v[0];

	bits = parts->negate ? BUILD(Xor, bits, constant(t, 16, 0x8000)) :
			       BUILD(And, bits, constant(t, 16, 0x7fff));
	return finish(t, parts, bits);
}

void half_sign(struct translator *t, bool negate)
{
	struct parts parts = { .type = type_at(t, 0), .negate = negate };

	parts.ftz = has(t, MOD_ftz);
	each_part(t, &parts, 1, sign);
}

static LLVMValueRef lesser(struct translator *t, struct parts *parts)
{
	LLVMValueRef a = parts->v[0], b = parts->v[1], x, y, bits, size;

	if (parts->sign) {
		size = constant(t, 16, 0x7fff);
		x = widen(t, BUILD(And, a, size), parts->type);
		y = widen(t, BUILD(And, b, size), parts->type);
	} else {
		x = widen(t, a, parts->type);
		y = widen(t, b, parts->type);
	}
	bits = narrow(t, minimum(t, x, y, TYPE_F32, parts->max, parts->nan), parts->type);
	if (parts->sign)
		bits = BUILD(Or, bits, BUILD(And, BUILD(Xor, a, b), constant(t, 16, 0x8000)));
	return finish(t, parts, bits);
}

/* Of one value and itself, NVIDIA's compiler makes a copy, in which a NaN keeps its bits. */
void half_minimum(struct translator *t, bool max, bool ftz, bool nan, bool sign)
{
	struct parts parts = { .type = type_at(t, 0), .max = max, .ftz = ftz, .nan = nan,
			       .sign = sign };
	const struct operand *a = operand(t, 1), *b = operand(t, 2);

	if (a->kind == OPERAND_REGISTER && b->kind == OPERAND_REGISTER && a->symbol == b->symbol &&
	    vector_element(&a->part) == vector_element(&b->part) && !ftz && !sign && !nan &&
	    type_facts[parts.type].packed == 1) {
		put(t, operand(t, 0), get(t, a, parts.type), parts.type);
		return;
	}
	each_part(t, &parts, 2, lesser);
}
