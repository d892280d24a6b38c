// SPDX-License-Identifier: MIT
/* Comparisons and choices: setp, set, selp, slct. */
#include "instructions.h"
#include "ir.h"

static const struct comparison {
	enum modifier modifier;
	LLVMRealPredicate real;
	LLVMIntPredicate is_signed, is_unsigned;
} comparisons[] = {
	{ MOD_eq, LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ }, { MOD_ne, LLVMRealONE, LLVMIntNE,
							 LLVMIntNE },
	{ MOD_lt, LLVMRealOLT, LLVMIntSLT, LLVMIntULT }, { MOD_le, LLVMRealOLE, LLVMIntSLE,
							   LLVMIntULE },
	{ MOD_gt, LLVMRealOGT, LLVMIntSGT, LLVMIntUGT }, { MOD_ge, LLVMRealOGE, LLVMIntSGE,
							   LLVMIntUGE },
	{ MOD_lo, 0, LLVMIntULT, LLVMIntULT }, { MOD_ls, 0, LLVMIntULE, LLVMIntULE },
	{ MOD_hi, 0, LLVMIntUGT, LLVMIntUGT }, { MOD_hs, 0, LLVMIntUGE, LLVMIntUGE },
	{ MOD_equ, LLVMRealUEQ, 0, 0 }, { MOD_neu, LLVMRealUNE, 0, 0 }, { MOD_ltu, LLVMRealULT, 0,
									  0 },
	{ MOD_leu, LLVMRealULE, 0, 0 }, { MOD_gtu, LLVMRealUGT, 0, 0 }, { MOD_geu, LLVMRealUGE, 0,
									  0 },
	{ MOD_num, LLVMRealORD, 0, 0 }, { MOD_nan, LLVMRealUNO, 0, 0 },
};

static const struct comparison *comparison(struct translator *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++)
		if (has(t, comparisons[i].modifier))
			return &comparisons[i];
	unsupported(t);
	return comparisons;
}

struct comparing {
	const struct comparison *how;
	enum type type;
	bool ftz, and, or, xor;
};

static void take(struct translator *t, struct comparing *comparing, uint32_t type_index)
{
	*comparing = (struct comparing) {
		.how = comparison(t), .type = type_at(t, type_index), .ftz = has(t, MOD_ftz),
		.and = has(t, MOD_and), .or = has(t, MOD_or), .xor = has(t, MOD_xor),
	};
}

static LLVMValueRef half_value(struct translator *t, struct comparing *comparing, LLVMValueRef bits,
			       uint32_t part)
{
	LLVMValueRef value;

	bits = BUILD(LShr, bits, LLVMConstInt(LLVMTypeOf(bits), 16 * part, false));
	value = widen(t, resize(t, bits, 16, false), comparing->type);
	if (comparing->ftz && !is_bf16(comparing->type)) {
		LLVMValueRef size = intrinsic(t, "llvm.fabs", t->f32, 1, value, NULL, NULL);
		LLVMValueRef small = LLVMBuildFCmp(t->builder, LLVMRealOLT, size,
						   LLVMConstReal(t->f32, 0x1p-14), "");

		value = choose(t, small, LLVMConstReal(t->f32, 0), value);
	}
	return value;
}

/* Compares operands 1 and 2, or of pairs a part of them. */
static LLVMValueRef compare_part(struct translator *t, struct comparing *comparing, uint32_t part)
{
	const struct comparison *how = comparing->how;
	enum type type = comparing->type;
	LLVMValueRef a, b;

	if (!(is_float(type) ? how->real : how->is_signed)) {
		unsupported(t);
		return constant(t, 1, 0);
	}
	if (!is_float(type)) {
		a = get(t, operand(t, 1), type);
		b = get(t, operand(t, 2), type);
		return LLVMBuildICmp(t->builder, type_is(type, KIND_SIGNED) ? how->is_signed :
				     how->is_unsigned, a, b, "");
	}
	if (type == TYPE_F32 || type == TYPE_F64) {
		a = get_float(t, operand(t, 1), type);
		b = get_float(t, operand(t, 2), type);
		if (comparing->ftz) {
			a = flush(t, a, type);
			b = flush(t, b, type);
		}
	} else {
		a = half_value(t, comparing, get(t, operand(t, 1), type), part);
		b = half_value(t, comparing, get(t, operand(t, 2), type), part);
	}
	return LLVMBuildFCmp(t->builder, how->real, a, b, "");
}

static LLVMValueRef combine(struct translator *t, struct comparing *comparing, LLVMValueRef value)
{
	LLVMValueRef other;

	if (!comparing->and && !comparing->or && !comparing->xor)
		return value;
	other = get_predicate(t, operand(t, 3));
	return comparing->and ? BUILD(And, value, other) : comparing->or ? BUILD(Or, value, other) :
	       BUILD(Xor, value, other);
}

/* p|q: q is the contrary, before it is combined; of pairs, it is the upper half's. */
void translate_setp(struct translator *t)
{
	struct operand *to = operand(t, 0);
	struct comparing comparing;
	LLVMValueRef first, second;

	take(t, &comparing, 0);
	first = compare_part(t, &comparing, 0);
	second = type_facts[comparing.type].packed == 2 ? compare_part(t, &comparing, 1) :
		 BUILD(Not, first);
	first = combine(t, &comparing, first);
	second = combine(t, &comparing, second);
	put_predicate(t, to, first);
	if (to->second)
		put_predicate(t, to->second, second);
}

/* All ones for true, or 1.0 */
static LLVMValueRef truth(struct translator *t, enum type type, LLVMValueRef condition)
{
	uint64_t one = UINT64_MAX;

	if (type == TYPE_F32)
		one = 0x3f800000;
	else if (type == TYPE_F16 || type == TYPE_F16X2)
		one = 0x3c00;
	else if (is_bf16(type))
		one = 0x3f80;
	return choose(t, condition, constant(t, type_bits(type), one),
		      constant(t, type_bits(type), 0));
}

void translate_set(struct translator *t)
{
	enum type type = type_at(t, 0);
	struct comparing comparing;
	LLVMValueRef result, upper;

	take(t, &comparing, 1);
	result = combine(t, &comparing, compare_part(t, &comparing, 0));
	result = truth(t, type, result);
	if (type_facts[comparing.type].packed == 2) {
		upper = truth(t, type, combine(t, &comparing, compare_part(t, &comparing, 1)));
		result = BUILD(Or, BUILD(And, result, constant(t, 32, 0xffff)),
			       BUILD(Shl, upper, constant(t, 32, 16)));
	}
	put(t, operand(t, 0), result, type);
}

void translate_selp(struct translator *t)
{
	enum type type = type_at(t, 0);

	put(t, operand(t, 0), choose(t, get_predicate(t, operand(t, 3)), get(t, operand(t, 1),
									     type),
				     get(t, operand(t, 2), type)), type);
}

/* slct: a where c >= 0, else b; a NaN takes b. */
void translate_slct(struct translator *t)
{
	enum type type = type_at(t, 0), by = type_at(t, 1);
	LLVMValueRef c, condition;
	bool ftz = has(t, MOD_ftz);

	if (by == TYPE_F32) {
		c = get_float(t, operand(t, 3), by);
		if (ftz)
			c = flush(t, c, by);
		condition = LLVMBuildFCmp(t->builder, LLVMRealOGE, c, LLVMConstReal(t->f32, 0), "");
	} else {
		c = get(t, operand(t, 3), TYPE_S32);
		condition = LLVMBuildICmp(t->builder, LLVMIntSGE, c, constant(t, 32, 0), "");
	}
	put(t, operand(t, 0), choose(t, condition, get(t, operand(t, 1), type),
				     get(t, operand(t, 2), type)), type);
}

/* mov, also of vectors, addresses and packed values */
void translate_mov(struct translator *t)
{
	struct operand *to = operand(t, 0), *from = operand(t, 1), part;
	uint32_t count = has(t, MOD_v4) ? 4 : has(t, MOD_v2) ? 2 : 1;
	enum type type = type_at(t, 0);
	LLVMValueRef values[4];

	if (count == 1) {
		put(t, to, get(t, from, type), type);
		return;
	}
	/* a register of one list may be in the other */
	for (uint32_t i = 0; i < count; i++) {
		part = vector_part(t, from, i);
		values[i] = get(t, &part, type);
	}
	for (uint32_t i = 0; i < count; i++) {
		part = vector_part(t, to, i);
		put(t, &part, values[i], type);
	}
}
