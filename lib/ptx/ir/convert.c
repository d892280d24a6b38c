// SPDX-License-Identifier: MIT
/* Conversions. */
#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

struct conversion {
	enum type to, from;
	uint32_t mode;			/* of the result: rn, rz, rm, rp, rna */
	uint32_t whole;			/* rounds to an integer: 1 + mode; 0: does not */
	bool ftz, sat, relu, satfinite;
};

/* Return: the source as an f64 or, of all other formats, an f32 */
static LLVMValueRef source(struct translator *t, struct conversion *c, uint32_t index)
{
	LLVMValueRef value;

	if (c->from == TYPE_F32 || c->from == TYPE_F64) {
		value = get_float(t, operand(t, index), c->from);
		/* results of 16 bits are made of subnormals, too */
		return c->ftz && c->to != TYPE_F16 ? flush(t, value, c->from) : value;
	}
	return widen(t, get(t, operand(t, index), c->from), c->from);
}

static LLVMValueRef as_double(struct translator *t, LLVMValueRef value)
{
	return LLVMTypeOf(value) == t->f64 ? value : BUILD(FPExt, value, t->f64);
}

static LLVMValueRef whole_number(struct translator *t, LLVMValueRef value, uint32_t mode)
{
	static const char *const names[] = { "llvm.rint", "llvm.trunc", "llvm.floor", "llvm.ceil" };

	return intrinsic(t, names[mode & 3], LLVMTypeOf(value), 1, value, NULL, NULL);
}

static uint32_t flags_of(const struct conversion *c)
{
	return (c->satfinite ? NARROW_SATFINITE : 0) | (c->relu ? NARROW_RELU : 0) |
	       (c->from == TYPE_F64 ? NARROW_KEEP_NAN : 0);
}

/* Return: the bits of a result of 16 bits */
static LLVMValueRef to_half(struct translator *t, struct conversion *c, LLVMValueRef value)
{
	if (c->mode == ROUND_RN && !flags_of(c) && LLVMTypeOf(value) == t->f32)
		return narrow(t, value, c->to);
	return call_math(t, is_bf16(c->to) ? "bf16_of_f64" : "f16_of_f64", as_double(t, value),
			 constant(t, 32, c->mode), constant(t, 32, flags_of(c)));
}

static LLVMValueRef round_double(struct translator *t, struct conversion *c, LLVMValueRef value)
{
	return c->mode == ROUND_RN ? BUILD(FPTrunc, value, t->f32) :
	       call_math(t, "f32_of_f64", value, constant(t, 32, c->mode));
}

/* A NaN keeps its bits if nothing is asked for but another format. */
static LLVMValueRef to_float(struct translator *t, struct conversion *c, LLVMValueRef value)
{
	bool plain = !c->ftz && !c->sat && !c->whole;

	if (c->to == TYPE_F64) {
		if (c->from == TYPE_F32 && c->ftz)
			value = canonical(t, value, TYPE_F32);
		return as_double(t, value);
	}
	if (LLVMTypeOf(value) == t->f64) {
		LLVMValueRef result = round_double(t, c, value);

		if (c->ftz)
			result = flush_rounded(t, result,
					       round_double(t, c, BUILD(FAdd, value, value)));
		return result;
	}
	if (plain && (c->from == TYPE_F32 || c->from == TYPE_BF16))
		return value;
	value = canonical(t, value, TYPE_F32);
	return c->ftz ? flush(t, value, TYPE_F32) : value;
}

static void float_to_float(struct translator *t, struct conversion *c)
{
	LLVMValueRef value = source(t, c, 1);

	if (c->whole)
		value = whole_number(t, value, c->whole - 1);
	if (c->sat)
		value = saturate(t, value, LLVMTypeOf(value) == t->f64 ? TYPE_F64 : TYPE_F32);
	if (c->to == TYPE_F32 || c->to == TYPE_F64)
		value = to_float(t, c, value);
	else
		value = to_half(t, c, value);
	put(t, operand(t, 0), value, c->to);
}

/* Out of range gives the nearest integer; a NaN 0, or from or to 64 bits the sign bit alone. */
static void float_to_int(struct translator *t, struct conversion *c)
{
	bool with_sign = type_is(c->to, KIND_SIGNED);
	LLVMValueRef value = source(t, c, 1), result, nan = is_nan(t, value);
	const char *name = with_sign ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
	uint32_t bits = type_bits(c->to);
	LLVMTypeRef types[] = { int_type(t, bits), LLVMTypeOf(value) };
	unsigned int id = LLVMLookupIntrinsicID(name, 15);

	value = whole_number(t, value, c->whole ? c->whole - 1 : ROUND_RZ);
	result = LLVMBuildCall2(t->builder, LLVMIntrinsicGetType(t->context, id, types, 2),
				LLVMGetIntrinsicDeclaration(t->module, id, types,
							    2), &value, 1, "");
	if (c->from == TYPE_F64 || bits == 64)
		result = choose(t, nan, constant(t, bits, 1ULL << (bits - 1)), result);
	put(t, operand(t, 0), result, c->to);
}

static void int_to_float(struct translator *t, struct conversion *c)
{
	bool with_sign = type_is(c->from, KIND_SIGNED);
	LLVMValueRef value = get(t, operand(t, 1), c->from), mode = constant(t, 32, c->mode);
	LLVMValueRef wide = resize(t, value, 64, with_sign);
	LLVMTypeRef type = c->to == TYPE_F64 ? t->f64 : t->f32;

	if (c->to == TYPE_F16) {
		value = call_math(t, with_sign ? "f16_of_s64" : "f16_of_u64", wide, mode);
	} else if (c->to == TYPE_BF16) {
		value = call_math(t, with_sign ? "bf16_of_s64" : "bf16_of_u64", wide, mode);
	} else if (c->mode == ROUND_RN || (c->to == TYPE_F64 && type_bits(c->from) < 64)) {
		value = with_sign ? BUILD(SIToFP, value, type) : BUILD(UIToFP, value, type);
	} else if (c->to == TYPE_F64) {
		value = call_math(t, with_sign ? "f64_of_s64" : "f64_of_u64", wide, mode);
	} else {
		value = call_math(t, with_sign ? "f32_of_s64" : "f32_of_u64", wide, mode);
	}
	if (c->sat && c->to == TYPE_F16)
		value = narrow(t, saturate(t, widen(t, value, TYPE_F16), TYPE_F32), TYPE_F16);
	else if (c->sat)
		value = saturate(t, value, c->to);
	put(t, operand(t, 0), value, c->to);
}

static LLVMValueRef clamp(struct translator *t, LLVMValueRef value, enum type to, bool from_signed)
{
	uint32_t bits = type_bits(to), wide = LLVMGetIntTypeWidth(LLVMTypeOf(value));
	uint64_t most = type_is(to, KIND_SIGNED) ? (1ULL << (bits - 1)) - 1 :
			bits == 64 ? UINT64_MAX : (1ULL << bits) - 1;

	if (!from_signed) {
		if (bits < wide || type_is(to, KIND_SIGNED))
			value = intrinsic(t, "llvm.umin", LLVMTypeOf(value), 2, value,
					  constant(t, wide, most), NULL);
		return value;
	}
	if (!type_is(to, KIND_SIGNED))
		value = intrinsic(t, "llvm.smax", LLVMTypeOf(value), 2, value, constant(t, wide, 0),
				  NULL);
	else if (bits < wide)
		value = intrinsic(t, "llvm.smax", LLVMTypeOf(value), 2, value,
				  constant(t, wide, -(1ULL << (bits - 1))), NULL);
	if (bits < wide)
		value = intrinsic(t, "llvm.smin", LLVMTypeOf(value), 2, value,
				  constant(t, wide, most), NULL);
	return value;
}

static void int_to_int(struct translator *t, struct conversion *c)
{
	bool with_sign = type_is(c->from, KIND_SIGNED);
	LLVMValueRef value = get(t, operand(t, 1), c->from);

	if (c->sat)
		value = clamp(t, value, c->to, with_sign);
	put(t, operand(t, 0), resize(t, value, type_bits(c->to), with_sign), c->to);
}

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: c moves up, and makes room for b and, above it, a. */
static void pack(struct translator *t)
{
	enum type to = type_at(t, 0), from = type_at(t, 1);
	uint32_t bits = type_bits(to);
	LLVMValueRef a, b, result;

	has(t, MOD_sat);
	a = clamp(t, get(t, operand(t, 1), from), to, true);
	b = clamp(t, get(t, operand(t, 2), from), to, true);
	a = BUILD(And, a, constant(t, 32, (1ULL << bits) - 1));
	b = BUILD(And, b, constant(t, 32, (1ULL << bits) - 1));
	result = BUILD(Or, BUILD(Shl, a, constant(t, 32, bits)), b);
	if (bits < 16)
		result = BUILD(Or, BUILD(Shl, get(t, operand(t, 3), TYPE_B32),
					 constant(t, 32, 2 * bits)), result);
	put(t, operand(t, 0), result, TYPE_B32);
}

/* Return: two 16-bit results in 32 bits */
static LLVMValueRef join(struct translator *t, LLVMValueRef low, LLVMValueRef high)
{
	return BUILD(Or, resize(t, low, 32, false),
		     BUILD(Shl, resize(t, high, 32, false), constant(t, 32, 16)));
}

/* cvt.rn.f16x2.f32 d, a, b: a is the upper half */
static void pair_of_floats(struct translator *t, struct conversion *c)
{
	LLVMValueRef high = to_half(t, c, source(t, c, 1)), low = to_half(t, c, source(t, c, 2));

	put(t, operand(t, 0), join(t, low, high), TYPE_B32);
}

static bool is_fp8(enum type type)
{
	return type == TYPE_E4M3X2 || type == TYPE_E5M2X2;
}

static void to_fp8(struct translator *t, struct conversion *c)
{
	LLVMValueRef kind = constant(t, 32, c->to == TYPE_E5M2X2), high, low, both;
	LLVMValueRef flags = constant(t, 32, flags_of(c));

	if (c->from == TYPE_F32) {
		high = source(t, c, 1);
		low = source(t, c, 2);
	} else {
		both = get(t, operand(t, 1), c->from);
		low = widen(t, resize(t, both, 16, false), c->from);
		both = BUILD(LShr, both, constant(t, 32, 16));
		high = widen(t, resize(t, both, 16, false), c->from);
	}
	high = call_math(t, "fp8_of_f32", high, kind, flags);
	low = call_math(t, "fp8_of_f32", low, kind, flags);
	both = BUILD(Or, BUILD(Shl, high, constant(t, 32, 8)), low);
	put(t, operand(t, 0), resize(t, both, 16, false), TYPE_B16);
}

static void of_fp8(struct translator *t, struct conversion *c)
{
	LLVMValueRef kind = constant(t, 32, c->from == TYPE_E5M2X2), both, high;
	LLVMValueRef flags = constant(t, 32, flags_of(c));

	both = resize(t, get(t, operand(t, 1), TYPE_B16), 32, false);
	high = BUILD(LShr, both, constant(t, 32, 8));
	put(t, operand(t, 0), join(t, call_math(t, "f16_of_fp8", both, kind, flags),
				   call_math(t, "f16_of_fp8", high, kind, flags)), TYPE_B32);
}

static void take(struct translator *t, struct conversion *c)
{
	static const enum modifier whole[] = { MOD_rni, MOD_rzi, MOD_rmi, MOD_rpi };

	*c = (struct conversion) { .to = type_at(t, 0), .from = type_at(t, 1) };
	c->mode = has(t, MOD_rna) ? ROUND_RNA : rounding(t);
	for (uint32_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (has(t, whole[i]))
			c->whole = 1 + i;
	c->ftz = has(t, MOD_ftz);
	c->sat = has(t, MOD_sat);
	c->relu = has(t, MOD_relu);
	c->satfinite = has(t, MOD_satfinite);
}

void translate_cvt(struct translator *t)
{
	struct conversion c;

	if (has(t, MOD_pack)) {
		pack(t);
		return;
	}
	take(t, &c);
	if (c.to == TYPE_TF32)
		put(t, operand(t, 0), call_math(t, "tf32_of_f32", source(t, &c, 1),
						constant(t, 32, c.mode),
						constant(t, 32, flags_of(&c))), TYPE_B32);
	else if (is_fp8(c.to) && (c.from == TYPE_F32 || c.from == TYPE_F16X2))
		to_fp8(t, &c);
	else if (is_fp8(c.from) && c.to == TYPE_F16X2)
		of_fp8(t, &c);
	else if (type_facts[c.to].packed == 2 && type_bits(c.to) == 32 && c.from == TYPE_F32)
		pair_of_floats(t, &c);
	else if (type_facts[c.to].packed > 1 || type_facts[c.from].packed > 1 || !c.from)
		unsupported(t);
	else if (is_float(c.to) && is_float(c.from))
		float_to_float(t, &c);
	else if (is_float(c.from))
		float_to_int(t, &c);
	else if (is_float(c.to))
		int_to_float(t, &c);
	else
		int_to_int(t, &c);
}
