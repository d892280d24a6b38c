// SPDX-License-Identifier: MIT
/* Arithmetic of integers, with carries. */
#include "instructions.h"
#include "ir.h"

static bool is_signed(enum type type)
{
	return type_is(type, KIND_SIGNED);
}

static LLVMValueRef less(struct translator *t, LLVMValueRef a, LLVMValueRef b, bool with_sign)
{
	return LLVMBuildICmp(t->builder, with_sign ? LLVMIntSLT : LLVMIntULT, a, b, "");
}

/* Two 16-bit halves, as a vector */
static LLVMValueRef halves(struct translator *t, LLVMValueRef value)
{
	return BUILD(BitCast, value, LLVMVectorType(t->i16, 2));
}

static LLVMValueRef overflow_part(struct translator *t, const char *name, LLVMValueRef a,
				  LLVMValueRef b, LLVMValueRef *sum)
{
	LLVMValueRef both = intrinsic(t, name, LLVMTypeOf(a), 2, a, b, NULL);

	*sum = LLVMBuildExtractValue(t->builder, both, 0, "");
	return LLVMBuildExtractValue(t->builder, both, 1, "");
}

/*
 * a + b, or a - b, with the carry in if @in. The carry out of a subtraction is that of
 * a + ~b + 1, so 1 means that nothing was borrowed.
 */
static LLVMValueRef add_with_carry(struct translator *t, LLVMValueRef a, LLVMValueRef b, bool sub,
				   bool in, bool out)
{
	LLVMTypeRef type = LLVMTypeOf(a);
	LLVMValueRef carry, sum, first, second;

	if (sub)
		b = BUILD(Not, b);
	carry = in ? BUILD(ZExt, BUILD(Load2, t->i1, t->carry), type) : LLVMConstInt(type, sub, 0);
	first = overflow_part(t, "llvm.uadd.with.overflow", a, b, &sum);
	second = overflow_part(t, "llvm.uadd.with.overflow", sum, carry, &sum);
	if (out)
		LLVMBuildStore(t->builder, BUILD(Or, first, second), t->carry);
	return sum;
}

static void add_or_sub(struct translator *t, bool sub, bool in)
{
	enum type type = type_at(t, 0);
	bool out = has(t, MOD_cc);
	LLVMValueRef a, b, result;

	if (is_float(type)) {
		translate_float_binary(t, sub ? '-' : '+');
		return;
	}
	a = get(t, operand(t, 1), type);
	b = get(t, operand(t, 2), type);
	if (in || out)
		result = add_with_carry(t, a, b, sub, in, out);
	else if (has(t, MOD_sat))
		result = intrinsic(t, sub ? "llvm.ssub.sat" : "llvm.sadd.sat", t->i32, 2, a, b,
				   NULL);
	else if (type_facts[type].packed == 2)
		result = BUILD(BitCast, sub ? BUILD(Sub, halves(t, a), halves(t, b)) :
			       BUILD(Add, halves(t, a), halves(t, b)), t->i32);
	else
		result = sub ? BUILD(Sub, a, b) : BUILD(Add, a, b);
	put(t, operand(t, 0), result, type);
}

TRANSLATE(add, add_or_sub(t, false, false))
TRANSLATE(sub, add_or_sub(t, true, false))
TRANSLATE(addc, add_or_sub(t, false, true))
TRANSLATE(subc, add_or_sub(t, true, true))

/* Return: the product, of twice the bits */
static LLVMValueRef wide_product(struct translator *t, LLVMValueRef a, LLVMValueRef b,
				 uint32_t bits, bool with_sign)
{
	return BUILD(Mul, resize(t, a, 2 * bits, with_sign), resize(t, b, 2 * bits, with_sign));
}

/* Return: a * b as .lo, .hi or .wide say */
static LLVMValueRef product(struct translator *t, enum type type, LLVMValueRef a, LLVMValueRef b)
{
	uint32_t bits = type_bits(type);

	if (has(t, MOD_lo))
		return BUILD(Mul, a, b);
	a = wide_product(t, a, b, bits, is_signed(type));
	if (has(t, MOD_wide))
		return a;
	if (!has(t, MOD_hi))
		unsupported(t);
	return resize(t, BUILD(LShr, a, constant(t, 2 * bits, bits)), bits, false);
}

static enum type wide_type(enum type type)
{
	switch (type) {
	case TYPE_U16: return TYPE_U32;
	case TYPE_S16: return TYPE_S32;
	case TYPE_U32: return TYPE_U64;
	case TYPE_S32: return TYPE_S64;
	default: return type;
	}
}

void translate_mul(struct translator *t)
{
	enum type type = type_at(t, 0);

	if (is_float(type)) {
		translate_float_binary(t, '*');
		return;
	}
	put(t, operand(t, 0), product(t, type, get(t, operand(t, 1), type),
				      get(t, operand(t, 2), type)), type);
}

static void multiply_add(struct translator *t, bool in)
{
	enum type type = type_at(t, 0), sum_type = type;
	bool out = has(t, MOD_cc), sat = has(t, MOD_sat);
	LLVMValueRef a, c;

	if (is_float(type)) {
		translate_fma(t);
		return;
	}
	if (has(t, MOD_wide))
		sum_type = wide_type(type);
	a = product(t, type, get(t, operand(t, 1), type), get(t, operand(t, 2), type));
	c = get(t, operand(t, 3), sum_type);
	if (in || out)
		c = add_with_carry(t, a, c, false, in, out);
	else if (sat)
		c = intrinsic(t, "llvm.sadd.sat", t->i32, 2, a, c, NULL);
	else
		c = BUILD(Add, a, c);
	put(t, operand(t, 0), c, sum_type);
}

TRANSLATE(mad, multiply_add(t, false))
TRANSLATE(madc, multiply_add(t, true))

/* The product of the lower 24 bits, as 48 bits */
static LLVMValueRef product24(struct translator *t, enum type type)
{
	LLVMValueRef values[2], all;

	for (int i = 0; i < 2; i++) {
		values[i] = BUILD(Shl, get(t, operand(t, 1 + i), type), constant(t, 32, 8));
		values[i] = is_signed(type) ? BUILD(AShr, values[i], constant(t, 32, 8)) :
					      BUILD(LShr, values[i], constant(t, 32, 8));
	}
	all = wide_product(t, values[0], values[1], 32, is_signed(type));
	if (has(t, MOD_hi))
		all = BUILD(LShr, all, constant(t, 64, 16));
	else if (!has(t, MOD_lo))
		unsupported(t);
	return resize(t, all, 32, false);
}

TRANSLATE(mul24, put(t, operand(t, 0), product24(t, type_at(t, 0)), type_at(t, 0)))

void translate_mad24(struct translator *t)
{
	LLVMValueRef a = product24(t, type_at(t, 0)), c = get(t, operand(t, 3), type_at(t, 0));

	put(t, operand(t, 0), has(t, MOD_sat) ? intrinsic(t, "llvm.sadd.sat", t->i32, 2, a, c,
							  NULL) :
	    BUILD(Add, a, c), type_at(t, 0));
}

/* c + |a - b| */
void translate_sad(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get(t, operand(t, 1), type), b = get(t, operand(t, 2), type);
	LLVMValueRef distance = choose(t, less(t, a, b, is_signed(type)), BUILD(Sub, b, a),
				       BUILD(Sub, a, b));

	put(t, operand(t, 0), BUILD(Add, distance, get(t, operand(t, 3), type)), type);
}

/*
 * Division by zero, and of the least number by -1, would end the program on this processor: such
 * divisors become 1, and what an H100 gives is chosen afterwards.
 */
static void divide(struct translator *t, bool remainder)
{
	enum type type = type_at(t, 0);
	uint32_t bits = type_bits(type);
	LLVMValueRef a, b, zero, all, one, by_zero, bad, result, instead;

	if (is_float(type)) {
		translate_float_division(t);
		return;
	}
	a = get(t, operand(t, 1), type);
	b = get(t, operand(t, 2), type);
	zero = constant(t, bits, 0);
	one = constant(t, bits, 1);
	all = constant(t, bits, UINT64_MAX);
	by_zero = LLVMBuildICmp(t->builder, LLVMIntEQ, b, zero, "");
	bad = by_zero;
	if (is_signed(type))
		bad = BUILD(Or, bad, LLVMBuildICmp(t->builder, LLVMIntEQ, b, all, ""));
	result = choose(t, bad, one, b);
	if (is_signed(type)) {
		result = remainder ? BUILD(SRem, a, result) : BUILD(SDiv, a, result);
		instead = remainder ? zero : BUILD(Neg, a);
		result = choose(t, bad, instead, result);
	} else {
		result = remainder ? BUILD(URem, a, result) : BUILD(UDiv, a, result);
	}
	put(t, operand(t, 0), choose(t, by_zero, all, result), type);
}

TRANSLATE(div, divide(t, false))
TRANSLATE(rem, divide(t, true))

static void min_or_max(struct translator *t, bool max)
{
	enum type type = type_at(t, 0);
	bool relu = has(t, MOD_relu), pair = type_facts[type].packed == 2;
	const char *name = is_signed(type) ? max ? "llvm.smax" : "llvm.smin" :
			   max ? "llvm.umax" : "llvm.umin";
	LLVMValueRef a, b;

	if (is_float(type)) {
		translate_float_minimum(t, max);
		return;
	}
	a = get(t, operand(t, 1), type);
	b = get(t, operand(t, 2), type);
	if (pair) {
		a = halves(t, a);
		b = halves(t, b);
	}
	a = intrinsic(t, name, LLVMTypeOf(a), 2, a, b, NULL);
	if (relu)
		a = intrinsic(t, "llvm.smax", LLVMTypeOf(a), 2, a, LLVMConstNull(LLVMTypeOf(a)),
			      NULL);
	put(t, operand(t, 0), pair ? BUILD(BitCast, a, t->i32) : a, type);
}

TRANSLATE(min, min_or_max(t, false))
TRANSLATE(max, min_or_max(t, true))

static void absolute_or_negative(struct translator *t, bool negate)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a, negative;

	if (is_float(type)) {
		translate_float_sign(t, negate);
		return;
	}
	a = get(t, operand(t, 1), type);
	negative = BUILD(Neg, a);
	put(t, operand(t, 0), negate ? negative :
	    choose(t, less(t, a, LLVMConstNull(LLVMTypeOf(a)), true), negative, a), type);
}

TRANSLATE(abs, absolute_or_negative(t, false))
TRANSLATE(neg, absolute_or_negative(t, true))

/* dp4a, dp2a: products of bytes, or of a's halves and b's bytes */
void translate_dp(struct translator *t)
{
	bool four = word_is(&t->at->name, "dp4a"), high = has(t, MOD_hi);
	enum type one = type_at(t, 0), other = type_at(t, 1);
	LLVMValueRef a = get(t, operand(t, 1), TYPE_B32), b = get(t, operand(t, 2), TYPE_B32);
	LLVMValueRef sum = get(t, operand(t, 3), TYPE_B32);
	uint32_t count = four ? 4 : 2, width = four ? 8 : 16;

	has(t, MOD_lo);
	for (uint32_t i = 0; i < count; i++) {
		LLVMValueRef x = BUILD(LShr, a, constant(t, 32, i * width));
		LLVMValueRef y = BUILD(LShr, b, constant(t, 32, 8 * (i + 2 * (!four && high))));

		x = resize(t, resize(t, x, width, false), 32, is_signed(one));
		y = resize(t, resize(t, y, 8, false), 32, is_signed(other));
		sum = BUILD(Add, sum, BUILD(Mul, x, y));
	}
	put(t, operand(t, 0), sum, TYPE_B32);
}
