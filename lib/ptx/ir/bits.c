// SPDX-License-Identifier: MIT
/* Bits: logic, shifts, fields, counts, permutations. */
#include "instructions.h"
#include "ir.h"

static void logic(struct translator *t, char operation)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get(t, operand(t, 1), type), b = get(t, operand(t, 2), type);

	put(t, operand(t, 0), operation == '&' ? BUILD(And, a, b) : operation == '|' ?
	    BUILD(Or, a, b) : BUILD(Xor, a, b), type);
}

TRANSLATE(and, logic(t, '&'))
TRANSLATE(or, logic(t, '|'))
TRANSLATE(xor, logic(t, '^'))

void translate_not(struct translator *t)
{
	enum type type = type_at(t, 0);

	put(t, operand(t, 0), BUILD(Not, get(t, operand(t, 1), type)), type);
}

void translate_cnot(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get(t, operand(t, 1), type);
	LLVMValueRef zero = LLVMBuildICmp(t->builder, LLVMIntEQ, a, LLVMConstNull(LLVMTypeOf(a)),
					  "");

	put(t, operand(t, 0), resize(t, zero, type_bits(type), false), type);
}

/* A shift by as many bits as there are, or more, leaves zeros, or the sign. */
LLVMValueRef shift(struct translator *t, LLVMValueRef a, LLVMValueRef count, bool left,
		   bool arithmetic)
{
	LLVMTypeRef type = LLVMTypeOf(a);
	uint32_t bits = LLVMGetIntTypeWidth(type);
	LLVMValueRef most = constant(t, 32, bits - 1), large, fitting, result;

	large = LLVMBuildICmp(t->builder, LLVMIntUGT, count, most, "");
	fitting = resize(t, choose(t, large, arithmetic ? most : constant(t, 32, 0), count), bits,
			 false);
	if (arithmetic)
		return BUILD(AShr, a, fitting);
	result = left ? BUILD(Shl, a, fitting) : BUILD(LShr, a, fitting);
	return choose(t, large, LLVMConstNull(type), result);
}

/* NVIDIA's compiler takes 16 bits of a number by which 16 bits are shifted: 0x10000 is 0. */
static LLVMValueRef shift_count(struct translator *t)
{
	LLVMValueRef count = get(t, operand(t, 2), TYPE_U32);

	if (operand(t, 2)->kind == OPERAND_NUMBER && type_bits(type_at(t, 0)) == 16)
		count = BUILD(And, count, constant(t, 32, 0xffff));
	return count;
}

void translate_shl(struct translator *t)
{
	enum type type = type_at(t, 0);

	put(t, operand(t, 0), shift(t, get(t, operand(t, 1), type), shift_count(t), true, false),
	    type);
}

void translate_shr(struct translator *t)
{
	enum type type = type_at(t, 0);

	put(t, operand(t, 0), shift(t, get(t, operand(t, 1), type), shift_count(t), false,
				    type_is(type, KIND_SIGNED)), type);
}

/* shf: 32 bits of the 64 of b and a, after a shift by c modulo 32 or up to 32 */
void translate_shf(struct translator *t)
{
	bool left = has(t, MOD_l);
	LLVMValueRef a = resize(t, get(t, operand(t, 1), TYPE_B32), 64, false);
	LLVMValueRef b = resize(t, get(t, operand(t, 2), TYPE_B32), 64, false);
	LLVMValueRef count = get(t, operand(t, 3), TYPE_U32), both, limit = constant(t, 32, 32);

	has(t, MOD_r);
	if (has(t, MOD_wrap))
		count = BUILD(And, count, constant(t, 32, 31));
	else if (has(t, MOD_clamp))
		count = intrinsic(t, "llvm.umin", t->i32, 2, count, limit, NULL);
	else
		unsupported(t);
	count = resize(t, count, 64, false);
	both = BUILD(Or, BUILD(Shl, b, constant(t, 64, 32)), a);
	both = left ? BUILD(LShr, BUILD(Shl, both, count), constant(t, 64, 32)) :
		      BUILD(LShr, both, count);
	put(t, operand(t, 0), resize(t, both, 32, false), TYPE_B32);
}

/* lop3.b32 d, a, b, c, table; with .or or .and: d|p, …, table, q */
void translate_lop3(struct translator *t)
{
	bool or = has(t, MOD_or), and = has(t, MOD_and);
	struct operand *to = operand(t, 0), *predicate = to->second;
	LLVMValueRef in[3], result = constant(t, 32, 0), set, q;
	uint64_t table = operand(t, 4)->number.integer;

	for (int i = 0; i < 3; i++)
		in[i] = get(t, operand(t, 1 + i), TYPE_B32);
	for (int row = 0; row < 8; row++) {
		LLVMValueRef all = constant(t, 32, UINT32_MAX);

		if (!(table >> row & 1))
			continue;
		for (int i = 0; i < 3; i++)
			all = BUILD(And, all, row >> (2 - i) & 1 ? in[i] : BUILD(Not, in[i]));
		result = BUILD(Or, result, all);
	}
	put(t, to, result, TYPE_B32);
	if (!or && !and)
		return;
	if (!predicate) {
		unsupported(t);
		return;
	}
	set = LLVMBuildICmp(t->builder, LLVMIntNE, result, constant(t, 32, 0), "");
	q = get_predicate(t, operand(t, 5));
	put_predicate(t, predicate, or ? BUILD(Or, set, q) : BUILD(And, set, q));
}

void translate_popc(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get(t, operand(t, 1), type);

	put(t, operand(t, 0), resize(t, intrinsic(t, "llvm.ctpop", LLVMTypeOf(a), 1, a, NULL, NULL),
				     32, false), TYPE_U32);
}

static LLVMValueRef leading_zeros(struct translator *t, LLVMValueRef a)
{
	LLVMTypeRef types[] = { LLVMTypeOf(a) };
	unsigned int id = LLVMLookupIntrinsicID("llvm.ctlz", 9);
	LLVMValueRef values[] = { a, constant(t, 1, 0) };

	return LLVMBuildCall2(t->builder, LLVMIntrinsicGetType(t->context, id, types, 1),
			      LLVMGetIntrinsicDeclaration(t->module, id, types, 1), values, 2, "");
}

void translate_clz(struct translator *t)
{
	enum type type = type_at(t, 0);

	put(t, operand(t, 0), resize(t, leading_zeros(t, get(t, operand(t, 1), type)), 32, false),
	    TYPE_U32);
}

/* The place of the highest bit that is unlike the sign, or its distance from the top; -1: none */
void translate_bfind(struct translator *t)
{
	enum type type = type_at(t, 0);
	uint32_t bits = type_bits(type);
	LLVMValueRef a = get(t, operand(t, 1), type), count, none;

	if (type_is(type, KIND_SIGNED))
		a = BUILD(Xor, a, BUILD(AShr, a, constant(t, bits, bits - 1)));
	count = resize(t, leading_zeros(t, a), 32, false);
	none = LLVMBuildICmp(t->builder, LLVMIntEQ, a, constant(t, bits, 0), "");
	if (!has(t, MOD_shiftamt))
		count = BUILD(Sub, constant(t, 32, bits - 1), count);
	put(t, operand(t, 0), choose(t, none, constant(t, 32, UINT32_MAX), count), TYPE_U32);
}

void translate_brev(struct translator *t)
{
	enum type type = type_at(t, 0);
	LLVMValueRef a = get(t, operand(t, 1), type);

	put(t, operand(t, 0), intrinsic(t, "llvm.bitreverse", LLVMTypeOf(a), 1, a, NULL, NULL),
	    type);
}

/* A position or a length: of fields in 32 bits, its lowest byte */
static LLVMValueRef place_at(struct translator *t, uint32_t index, uint32_t bits)
{
	LLVMValueRef value = get(t, operand(t, index), TYPE_U32);

	return bits == 32 ? BUILD(And, value, constant(t, 32, 255)) : value;
}

/* Bits pos … pos + len - 1 of a; above the top of a, and of signed fields, the sign */
void translate_bfe(struct translator *t)
{
	enum type type = type_at(t, 0);
	uint32_t bits = type_bits(type);
	bool with_sign = type_is(type, KIND_SIGNED);
	LLVMValueRef a = get(t, operand(t, 1), type);
	LLVMValueRef pos = place_at(t, 2, bits);
	LLVMValueRef len = place_at(t, 3, bits), unused, field, none;

	/* the field's top goes to the top of the value, and back down */
	field = shift(t, a, pos, false, with_sign);
	len = intrinsic(t, "llvm.umin", t->i32, 2, len, constant(t, 32, bits), NULL);
	none = LLVMBuildICmp(t->builder, LLVMIntEQ, len, constant(t, 32, 0), "");
	unused = BUILD(Sub, constant(t, 32, bits), len);
	field = shift(t, shift(t, field, unused, true, false), unused, false, with_sign);
	put(t, operand(t, 0), choose(t, none, constant(t, bits, 0), field), type);
}

/* bfi d, a, b, pos, len: a's lowest bits replace a field of b */
void translate_bfi(struct translator *t)
{
	enum type type = type_at(t, 0);
	uint32_t bits = type_bits(type);
	LLVMValueRef a = get(t, operand(t, 1), type), b = get(t, operand(t, 2), type), mask;
	LLVMValueRef pos = place_at(t, 3, bits);
	LLVMValueRef len = place_at(t, 4, bits);

	mask = BUILD(Not, shift(t, constant(t, bits, UINT64_MAX), len, true, false));
	mask = shift(t, mask, pos, true, false);
	a = BUILD(And, shift(t, a, pos, true, false), mask);
	put(t, operand(t, 0), BUILD(Or, a, BUILD(And, b, BUILD(Not, mask))), type);
}

static bool wraps(struct translator *t)
{
	bool wrap = has(t, MOD_wrap);

	if (!wrap && !has(t, MOD_clamp))
		unsupported(t);
	return wrap;
}

/* bmsk d, pos, len: len ones from pos */
void translate_bmsk(struct translator *t)
{
	LLVMValueRef pos = get(t, operand(t, 1), TYPE_U32), len = get(t, operand(t, 2), TYPE_U32);
	LLVMValueRef mask, limit = constant(t, 32, 31);

	if (wraps(t)) {
		pos = BUILD(And, pos, limit);
		len = BUILD(And, len, limit);
	}
	mask = BUILD(Not, shift(t, constant(t, 32, UINT32_MAX), len, true, false));
	put(t, operand(t, 0), shift(t, mask, pos, true, false), TYPE_B32);
}

/* szext d, a, n: a's lowest n bits, with sign or zeros above */
void translate_szext(struct translator *t)
{
	bool with_sign = type_is(type_at(t, 0), KIND_SIGNED);
	LLVMValueRef a = get(t, operand(t, 1), TYPE_B32), n = get(t, operand(t, 2),
								  TYPE_U32), unused;
	LLVMValueRef none;

	if (wraps(t))
		n = BUILD(And, n, constant(t, 32, 31));
	n = intrinsic(t, "llvm.umin", t->i32, 2, n, constant(t, 32, 32), NULL);
	none = LLVMBuildICmp(t->builder, LLVMIntEQ, n, constant(t, 32, 0), "");
	unused = BUILD(Sub, constant(t, 32, 32), n);
	a = shift(t, shift(t, a, unused, true, false), unused, false, with_sign);
	put(t, operand(t, 0), choose(t, none, constant(t, 32, 0), a), TYPE_B32);
}

void translate_fns(struct translator *t)
{
	put(t, operand(t, 0), call_math(t, "fns", get(t, operand(t, 1), TYPE_B32),
					get(t, operand(t, 2), TYPE_B32),
					get(t, operand(t, 3), TYPE_B32)), TYPE_B32);
}

void translate_prmt(struct translator *t)
{
	static const enum modifier modes[] = { MOD_f4e, MOD_b4e, MOD_rc8, MOD_ecl, MOD_ecr,
					       MOD_rc16 };
	LLVMValueRef a = get(t, operand(t, 1), TYPE_B32), b = get(t, operand(t, 2), TYPE_B32);
	LLVMValueRef selector = get(t, operand(t, 3), TYPE_B32), both, result;
	uint32_t mode = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (has(t, modes[i]))
			mode = i + 1;
	if (mode || !LLVMIsAConstantInt(selector)) {
		put(t, operand(t, 0), call_math(t, "prmt", a, b, selector, constant(t, 32, mode)),
		    TYPE_B32);
		return;
	}
	/* the usual form: each digit of the selector is the number of a byte, 8: its sign */
	both = BUILD(Or, BUILD(Shl, resize(t, b, 64, false), constant(t, 64, 32)),
		     resize(t, a, 64, false));
	result = constant(t, 32, 0);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t digit = LLVMConstIntGetZExtValue(selector) >> 4 * i & 15;
		LLVMValueRef byte = BUILD(LShr, both, constant(t, 64, 8 * (digit & 7)));

		byte = resize(t, byte, 8, false);
		if (digit & 8)
			byte = BUILD(AShr, byte, constant(t, 8, 7));
		byte = BUILD(Shl, resize(t, byte, 32, false), constant(t, 32, 8 * i));
		result = BUILD(Or, result, byte);
	}
	put(t, operand(t, 0), result, TYPE_B32);
}
