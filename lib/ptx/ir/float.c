// SPDX-License-Identifier: MIT
/*
 * f32 and f64. Results that are NaN have the bits that an H100 gives: all ones but the sign for
 * f32; for f64 the second operand's NaN, else the first one's, made quiet.
 */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

uint32_t rounding(struct translator *t)
{
	if (has(t, MOD_rz))
		return ROUND_RZ;
	if (has(t, MOD_rm))
		return ROUND_RM;
	if (has(t, MOD_rp))
		return ROUND_RP;
	has(t, MOD_rn);
	return ROUND_RN;
}

LLVMValueRef is_nan(struct translator *t, LLVMValueRef value)
{
	return LLVMBuildFCmp(t->builder, LLVMRealUNO, value, value, "");
}

static LLVMValueRef float_bits(struct translator *t, uint32_t bits)
{
	return LLVMConstBitCast(constant(t, 32, bits), t->f32);
}

static LLVMValueRef double_bits(struct translator *t, uint64_t bits)
{
	return LLVMConstBitCast(constant(t, 64, bits), t->f64);
}

/* An f32 NaN, if the value is any */
LLVMValueRef canonical(struct translator *t, LLVMValueRef value, enum type type)
{
	if (type != TYPE_F32)
		return value;
	return choose(t, is_nan(t, value), float_bits(t, 0x7fffffff), value);
}

/* Which NaN an f64 operation gives. @list: the operands, the one that counts most first */
static LLVMValueRef canonical64(struct translator *t, LLVMValueRef value, LLVMValueRef *list,
				uint32_t count)
{
	LLVMValueRef nan = double_bits(t, 0xfff8000000000000ULL);

	for (uint32_t i = count; i--; ) {
		LLVMValueRef quiet = BUILD(Or, as_int(t, list[i]), constant(t, 64, 1ULL << 51));

		nan = choose(t, is_nan(t, list[i]), BUILD(BitCast, quiet, t->f64), nan);
	}
	return choose(t, is_nan(t, value), nan, value);
}

/* .ftz: subnormals become zeros of their sign */
LLVMValueRef flush(struct translator *t, LLVMValueRef value, enum type type)
{
	LLVMValueRef bits, exponent, sign;

	if (type != TYPE_F32)
		return value;
	bits = as_int(t, value);
	exponent = BUILD(And, bits, constant(t, 32, 0x7f800000));
	sign = BUILD(BitCast, BUILD(And, bits, constant(t, 32, 0x80000000)), t->f32);
	return choose(t, LLVMBuildICmp(t->builder, LLVMIntEQ, exponent, constant(t, 32, 0), ""),
		      sign,
		      value);
}

/*
 * .ftz of a result: 0 if it, rounded to 24 bits as if exponents had no end, is below normal
 * numbers. @twice: twice the result, rounded alike: below 2^-125 then. Only large ones overflow.
 */
LLVMValueRef flush_rounded(struct translator *t, LLVMValueRef value, LLVMValueRef twice)
{
	LLVMValueRef size = intrinsic(t, "llvm.fabs", t->f32, 1, twice, NULL, NULL), small, zero;

	small = LLVMBuildFCmp(t->builder, LLVMRealOLT, size, LLVMConstReal(t->f32, 0x1p-125), "");
	zero = intrinsic(t, "llvm.copysign", t->f32, 2, LLVMConstNull(t->f32), value, NULL);
	return choose(t, small, zero, value);
}

/* .sat: into 0 to 1, a NaN to +0 */
LLVMValueRef saturate(struct translator *t, LLVMValueRef value, enum type type)
{
	LLVMTypeRef kind = type == TYPE_F64 ? t->f64 : t->f32;
	LLVMValueRef zero = LLVMConstReal(kind, 0), one = LLVMConstReal(kind, 1), above;

	above = LLVMBuildFCmp(t->builder, LLVMRealOGT, value, zero, "");
	value = choose(t, above, value, zero);
	return choose(t, LLVMBuildFCmp(t->builder, LLVMRealOGT, value, one, ""), one, value);
}

void float_operands(struct translator *t, struct operation *operation, uint32_t count)
{
	enum type narrow = type_at(t, 1);

	operation->type = type_at(t, 0);
	operation->mode = rounding(t);
	operation->ftz = has(t, MOD_ftz);
	operation->sat = has(t, MOD_sat);
	operation->count = count;
	operation->divides = false;
	operation->twice = NULL;
	for (uint32_t i = 0; i < count; i++) {
		/* of add.f32.f16 all but the last */
		operation->values[i] = i + 1 < count && narrow ?
			widen(t, get(t, operand(t, 1 + i), narrow), narrow) :
			get_float(t, operand(t, 1 + i), operation->type);
		if (operation->ftz)
			operation->values[i] = flush(t, operation->values[i], operation->type);
	}
}

/* Return: the result as it is put */
static LLVMValueRef finish(struct translator *t, struct operation *operation, LLVMValueRef value)
{
	uint32_t count = operation->count;
	LLVMValueRef order[3];

	if (operation->type == TYPE_F64 && !operation->ftz) {
		/* of fma: the addend, then b, then a; of a division, a comes first */
		for (uint32_t i = 0; i < count; i++)
			order[i] = operation->values[operation->divides ? i : count - 1 - i];
		value = canonical64(t, value, order, operation->count);
	} else {
		value = canonical(t, value, operation->type);
	}
	if (operation->twice)
		value = flush_rounded(t, value, operation->twice);
	else if (operation->ftz)
		value = flush(t, value, operation->type);
	if (operation->sat)
		value = saturate(t, value, operation->type);
	return value;
}

void float_result(struct translator *t, struct operation *operation, LLVMValueRef value)
{
	put(t, operand(t, 0), finish(t, operation, value), operation->type);
}

static struct symbol *product_in(struct translator *t, const struct operand *operand)
{
	struct symbol *symbol = operand->kind == OPERAND_REGISTER ? operand->symbol : NULL;

	return symbol && symbol->factors_epoch == t->epoch &&
	       symbol->factors_element == vector_element(&operand->part) ? symbol : NULL;
}

/*
 * Without a rounding mode, a product and the sum that uses it become one fma, as NVIDIA's compiler
 * does it. Return: false: there is no product
 */
static bool fused(struct translator *t, struct operation *operation, char kind)
{
	struct symbol *first = product_in(t, operand(t, 1)), *second = product_in(t, operand(t, 2));
	struct symbol *product = first ? first : second;
	LLVMValueRef *v = operation->values, added, factor;

	/* p - p is 0, not what p lost when it was rounded */
	if (!product || first == second || kind == '*' || operation->ftz)
		return false;
	factor = product->factors[0];
	added = first ? v[1] : v[0];
	if (kind == '-' && first)
		added = BUILD(FNeg, added);
	else if (kind == '-')
		factor = BUILD(FNeg, factor);
	float_result(t, operation, intrinsic(t, "llvm.fma", LLVMTypeOf(added), 3, factor,
				     product->factors[1], added));
	return true;
}

/* Notes that a register has a product. */
static void note_product(struct translator *t, const struct operation *operation)
{
	const struct operand *to = operand(t, 0);

	if (to->kind != OPERAND_REGISTER || operation->ftz || operation->sat)
		return;
	to->symbol->factors[0] = operation->values[0];
	to->symbol->factors[1] = operation->values[1];
	to->symbol->factors_element = vector_element(&to->part);
	to->symbol->factors_epoch = t->epoch;
}

static LLVMValueRef binary(struct translator *t, const struct operation *operation, char kind,
			   LLVMValueRef a, LLVMValueRef b)
{
	enum type type = operation->type;

	if (operation->mode == ROUND_RN)
		return kind == '+' ? BUILD(FAdd, a, b) : kind == '-' ? BUILD(FSub, a, b) :
		       BUILD(FMul, a, b);
	return call_math(t, kind == '+' ? name_of("add_f32", "add_f64", type) :
			 kind == '-' ? name_of("sub_f32", "sub_f64", type) :
			 name_of("mul_f32", "mul_f64", type), a, b,
			 constant(t, 32, operation->mode));
}

static LLVMValueRef multiply_add(struct translator *t, const struct operation *operation,
				 LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	if (operation->mode == ROUND_RN)
		return intrinsic(t, "llvm.fma", LLVMTypeOf(a), 3, a, b, c);
	return call_math(t, name_of("fma_f32", "fma_f64", operation->type), a, b, c,
			 constant(t, 32, operation->mode));
}

/* Sums below normal numbers are exact. @kind: + - *, or f of fma */
static LLVMValueRef computed(struct translator *t, struct operation *operation, char kind)
{
	LLVMValueRef *v = operation->values, value;

	if (operation->ftz && kind == '*')
		operation->twice = binary(t, operation, kind, BUILD(FAdd, v[0], v[0]), v[1]);
	else if (operation->ftz && kind == 'f')
		operation->twice = multiply_add(t, operation, BUILD(FAdd, v[0], v[0]), v[1],
						BUILD(FAdd, v[2], v[2]));
	value = kind == 'f' ? multiply_add(t, operation, v[0], v[1], v[2]) :
			      binary(t, operation, kind, v[0], v[1]);
	return finish(t, operation, value);
}

/* Of f32x2, each half by itself */
static void pair(struct translator *t, uint32_t count, char kind)
{
	struct operation operation = { .type = TYPE_F32, .mode = rounding(t),
				       .ftz = has(t, MOD_ftz), .count = count };
	LLVMValueRef result = constant(t, 64, 0), half;

	for (uint32_t shift = 0; shift < 64; shift += 32) {
		for (uint32_t i = 0; i < count; i++) {
			half = BUILD(LShr, get(t, operand(t, 1 + i), TYPE_F32X2),
				     constant(t, 64, shift));
			half = BUILD(BitCast, resize(t, half, 32, false), t->f32);
			operation.values[i] = operation.ftz ? flush(t, half, TYPE_F32) : half;
		}
		half = resize(t, as_int(t, computed(t, &operation, kind)), 64, false);
		result = BUILD(Or, result, BUILD(Shl, half, constant(t, 64, shift)));
	}
	put(t, operand(t, 0), result, TYPE_F32X2);
}

void translate_float_binary(struct translator *t, char kind)
{
	struct operation operation;
	bool free;

	if (type_at(t, 0) == TYPE_F32X2) {
		pair(t, 2, kind);
		return;
	}
	if (is_half(type_at(t, 0))) {
		half_binary(t, kind);
		return;
	}
	float_operands(t, &operation, 2);
	free = operation.mode == ROUND_RN && !has(t, MOD_rn);
	if (free && fused(t, &operation, kind))
		return;
	put(t, operand(t, 0), computed(t, &operation, kind), operation.type);
	if (free && kind == '*')
		note_product(t, &operation);
}

void translate_fma(struct translator *t)
{
	struct operation operation;

	if (type_at(t, 0) == TYPE_F32X2) {
		pair(t, 3, 'f');
		return;
	}
	if (is_half(type_at(t, 0))) {
		half_fma(t);
		return;
	}
	float_operands(t, &operation, 3);
	put(t, operand(t, 0), computed(t, &operation, 'f'), operation.type);
}

/* abs and neg of an f64 NaN leave its bits, made quiet; of an f32 NaN they give the one NaN. */
void translate_float_sign(struct translator *t, bool negate)
{
	enum type type = type_at(t, 0);
	bool ftz;
	LLVMValueRef a, value;

	if (is_half(type)) {
		half_sign(t, negate);
		return;
	}
	ftz = has(t, MOD_ftz);
	a = get_float(t, operand(t, 1), type);
	if (ftz)
		a = flush(t, a, type);
	value = negate ? BUILD(FNeg, a) : intrinsic(t, "llvm.fabs", LLVMTypeOf(a), 1, a, NULL,
						    NULL);
	if (type == TYPE_F64)
		value = canonical64(t, value, &a, 1);
	put(t, operand(t, 0), canonical(t, value, type), type);
}

/* The lesser or greater of two, -0 below +0; a NaN loses, or with .NaN wins. */
LLVMValueRef minimum(struct translator *t, LLVMValueRef a, LLVMValueRef b, enum type type,
		     bool max, bool nan)
{
	LLVMValueRef less = LLVMBuildFCmp(t->builder, max ? LLVMRealOGT : LLVMRealOLT, a, b, "");
	LLVMValueRef equal = LLVMBuildFCmp(t->builder, LLVMRealOEQ, a, b, ""), result, bits;

	result = choose(t, less, a, b);
	/* equal numbers differ in the sign of zero at most: min takes either's, max both's */
	bits = max ? BUILD(And, as_int(t, a), as_int(t, b)) : BUILD(Or, as_int(t, a), as_int(t, b));
	result = choose(t, equal, BUILD(BitCast, bits, LLVMTypeOf(a)), result);
	result = choose(t, is_nan(t, b), a, result);
	if (nan) {
		result = choose(t, is_nan(t, a), a, result);
		result = choose(t, is_nan(t, b), b, result);
	}
	if (type == TYPE_F64) {
		LLVMValueRef list[] = { b, a };

		return canonical64(t, result, list, 2);
	}
	return canonical(t, result, TYPE_F32);
}

/* .xorsign.abs: of the magnitudes, with the product's sign */
void translate_float_minimum(struct translator *t, bool max)
{
	enum type type = type_at(t, 0);
	bool ftz = has(t, MOD_ftz), nan = has(t, MOD_NaN), sign = has(t, MOD_xorsign);
	LLVMValueRef a, b, result;

	has(t, MOD_abs);
	if (t->at->operands_count != 3) {
		unsupported(t);
		return;
	}
	if (is_half(type)) {
		half_minimum(t, max, ftz, nan, sign);
		return;
	}
	a = get_float(t, operand(t, 1), type);
	b = get_float(t, operand(t, 2), type);
	if (ftz) {
		a = flush(t, a, type);
		b = flush(t, b, type);
	}
	if (sign) {
		LLVMValueRef both = BUILD(Xor, as_int(t, a), as_int(t, b)), x, y;

		x = intrinsic(t, "llvm.fabs", t->f32, 1, a, NULL, NULL);
		y = intrinsic(t, "llvm.fabs", t->f32, 1, b, NULL, NULL);
		result = as_int(t, minimum(t, x, y, type, max, nan));
		both = BUILD(And, both, constant(t, 32, 0x80000000));
		result = BUILD(BitCast, BUILD(Or, result, both), t->f32);
		result = canonical(t, result, type);
	} else {
		result = minimum(t, a, b, type, max, nan);
	}
	put(t, operand(t, 0), result, type);
}

/* copysign d, a, b: b with a's sign */
void translate_copysign(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get_float(t, operand(t, 1), type), b = get_float(t, operand(t, 2), type);

	put(t, operand(t, 0), intrinsic(t, "llvm.copysign", LLVMTypeOf(a), 2, b, a, NULL), type);
}

void translate_testp(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get_float(t, operand(t, 1), type), size, least, infinity, result;

	size = intrinsic(t, "llvm.fabs", LLVMTypeOf(a), 1, a, NULL, NULL);
	least = type == TYPE_F64 ? double_bits(t, 0x0010000000000000ULL) : float_bits(t,
										      0x00800000);
	infinity = type == TYPE_F64 ? double_bits(t, 0x7ff0000000000000ULL) :
				      float_bits(t, 0x7f800000);
	if (has(t, MOD_finite)) {
		result = LLVMBuildFCmp(t->builder, LLVMRealOLT, size, infinity, "");
	} else if (has(t, MOD_infinite)) {
		result = LLVMBuildFCmp(t->builder, LLVMRealOEQ, size, infinity, "");
	} else if (has(t, MOD_number)) {
		result = BUILD(Not, is_nan(t, a));
	} else if (has(t, MOD_notanumber)) {
		result = is_nan(t, a);
	} else if (has(t, MOD_normal)) {	/* zeros are normal */
		result = BUILD(Or, LLVMBuildFCmp(t->builder, LLVMRealOGE, size, least, ""),
			       LLVMBuildFCmp(t->builder, LLVMRealOEQ, size,
					     LLVMConstNull(LLVMTypeOf(size)), ""));
		result = BUILD(And, result,
			       LLVMBuildFCmp(t->builder, LLVMRealOLT, size, infinity, ""));
	} else {
		has(t, MOD_subnormal);
		result = BUILD(And, LLVMBuildFCmp(t->builder, LLVMRealOLT, size, least, ""),
			       LLVMBuildFCmp(t->builder, LLVMRealOGT, size,
					     LLVMConstNull(LLVMTypeOf(size)), ""));
	}
	put_predicate(t, operand(t, 0), result);
}
