// SPDX-License-Identifier: MIT
/* Which types an instruction has, and what its operands may be, as ptxas takes them. */
#include "code.h"
#include "ptx/ir/instructions.h"

#define T(name)		(1ULL << TYPE_##name)
#define SIGNED		(T(S16) | T(S32) | T(S64))
#define INTEGERS	(SIGNED | T(U16) | T(U32) | T(U64))
#define WORDS		(T(U32) | T(S32))
#define BITS		(T(B16) | T(B32) | T(B64))
#define FLOATS		(T(F32) | T(F64))
#define HALVES		(T(F16) | T(F16X2) | T(BF16) | T(BF16X2))
#define IN_MEMORY	(INTEGERS | BITS | FLOATS | T(B8) | T(U8) | T(S8) | T(B128))

_Static_assert(TYPES <= 64, "types are bits of a number");

/*
 * @operands: t is of the first type, s of the last one, m likewise but in add.f32.f16, w is twice as wide
 * with .wide, v is of the first type or a list of such, i has 32 bits, p is a predicate, a an address, ? anything.
 * A capital is of the register that gets the result; d and q stand for T and P that may have |p behind them,
 * or be _. What has no letter is not looked at. @modifier: NULL: any
 */
static const struct shape {
	const char *name, *modifier, *operands;
	uint64_t types;			/* the first type is one of them */
} shapes[] = {
	{ "abs", NULL, "Tt", SIGNED | HALVES | FLOATS },
	{ "activemask", NULL, "T", T(B32) },
	{ "add", NULL, "Tmt", INTEGERS | HALVES | FLOATS | T(U16X2) | T(S16X2) | T(F32X2) },
	{ "addc", NULL, "Ttt", INTEGERS },
	{ "and", NULL, "Ttt", BITS | T(PRED) },
	{ "atom", ".add", "dav", WORDS | T(U64) | T(S64) | FLOATS | HALVES },
	{ "atom", ".and", "dat", T(B32) | T(B64) },
	{ "atom", ".cas", "datt", BITS | T(B128) },
	{ "atom", ".dec", "dat", T(U32) },
	{ "atom", ".exch", "dat", T(B32) | T(B64) | T(B128) },
	{ "atom", ".inc", "dat", T(U32) },
	{ "atom", ".max", "dav", WORDS | T(U64) | T(S64) | HALVES },
	{ "atom", ".min", "dav", WORDS | T(U64) | T(S64) | HALVES },
	{ "atom", ".or", "dat", T(B32) | T(B64) },
	{ "atom", ".xor", "dat", T(B32) | T(B64) },
	{ "bfe", NULL, "Ttii", WORDS | T(U64) | T(S64) },
	{ "bfi", NULL, "Tttii", T(B32) | T(B64) },
	{ "bfind", NULL, "It", WORDS | T(U64) | T(S64) },
	{ "bmsk", NULL, "Iii", T(B32) },
	{ "brev", NULL, "Tt", T(B32) | T(B64) },
	{ "clz", NULL, "It", T(B32) | T(B64) },
	{ "cnot", NULL, "Tt", BITS },
	{ "copysign", NULL, "Ttt", FLOATS },
	{ "cos", NULL, "Tt", T(F32) },
	{ "div", NULL, "Ttt", INTEGERS | FLOATS },
	{ "dp2a", NULL, "Iiii", WORDS },
	{ "dp4a", NULL, "Iiii", WORDS },
	{ "ex2", NULL, "Tt", T(F32) | HALVES },
	{ "fma", NULL, "Tmmt", HALVES | FLOATS | T(F32X2) },
	{ "fns", NULL, "Tttt", T(B32) },
	{ "getctarank", NULL, "I?", WORDS | T(U64) | T(S64) },
	{ "ld", NULL, "?a", IN_MEMORY },
	{ "ldu", NULL, "?a", IN_MEMORY },
	{ "lg2", NULL, "Tt", T(F32) },
	{ "lop3", NULL, "dttt", T(B32) },
	{ "mad", NULL, "Wttw", INTEGERS | FLOATS },
	{ "mad24", NULL, "Tttt", WORDS },
	{ "madc", NULL, "Tttt", INTEGERS },
	{ "mapa", NULL, "T?i", WORDS | T(U64) | T(S64) },
	{ "match", NULL, "?ti", T(B32) | T(B64) },
	{ "max", NULL, "Tttt", INTEGERS | HALVES | FLOATS | T(U16X2) | T(S16X2) },
	{ "min", NULL, "Tttt", INTEGERS | HALVES | FLOATS | T(U16X2) | T(S16X2) },
	{ "mov", NULL, "", INTEGERS | BITS | FLOATS | T(B128) | T(PRED) },
	{ "mul", NULL, "Wtt", INTEGERS | HALVES | FLOATS | T(F32X2) },
	{ "mul24", NULL, "Ttt", WORDS },
	{ "nanosleep", NULL, "i", T(U32) },
	{ "neg", NULL, "Tt", SIGNED | HALVES | FLOATS },
	{ "not", NULL, "Tt", BITS | T(PRED) },
	{ "or", NULL, "Ttt", BITS | T(PRED) },
	{ "popc", NULL, "It", T(B32) | T(B64) },
	{ "prmt", NULL, "Tttt", T(B32) },
	{ "rcp", NULL, "Tt", FLOATS },
	{ "red", ".add", "av", WORDS | T(U64) | T(S64) | FLOATS | HALVES },
	{ "red", ".and", "at", T(B32) | T(B64) },
	{ "red", ".dec", "at", T(U32) },
	{ "red", ".inc", "at", T(U32) },
	{ "red", ".max", "av", WORDS | T(U64) | T(S64) | HALVES },
	{ "red", ".min", "av", WORDS | T(U64) | T(S64) | HALVES },
	{ "red", ".or", "at", T(B32) | T(B64) },
	{ "red", ".xor", "at", T(B32) | T(B64) },
	{ "rem", NULL, "Ttt", INTEGERS },
	{ "rsqrt", NULL, "Tt", FLOATS },
	{ "sad", NULL, "Tttt", INTEGERS },
	{ "selp", NULL, "Tttp", INTEGERS | BITS | FLOATS },
	{ "set", NULL, "Tssp", WORDS | T(U16) | T(S16) | T(F32) | HALVES },
	{ "setp", NULL, "qttp", INTEGERS | BITS | FLOATS | HALVES },
	{ "shf", NULL, "Ttti", T(B32) },
	{ "shfl", NULL, "dttti", T(B32) },
	{ "shl", NULL, "Tti", BITS },
	{ "shr", NULL, "Tti", INTEGERS | BITS },
	{ "sin", NULL, "Tt", T(F32) },
	{ "slct", NULL, "Ttts", INTEGERS | BITS | FLOATS },
	{ "sqrt", NULL, "Tt", FLOATS },
	{ "st", NULL, "a", IN_MEMORY },
	{ "sub", NULL, "Tmt", INTEGERS | HALVES | FLOATS | T(F32X2) },
	{ "subc", NULL, "Ttt", INTEGERS },
	{ "szext", NULL, "Tti", WORDS },
	{ "tanh", NULL, "Tt", T(F32) | HALVES },
	{ "testp", NULL, "Pt", FLOATS },
	{ "vote", NULL, "?pi", T(PRED) | T(B32) },
	{ "xor", NULL, "Ttt", BITS | T(PRED) },
};

/* Modifiers that the instructions above have for some types only */
static const struct limit {
	const char *modifier;
	uint64_t types;
} limits[] = {
	{ ".approx", FLOATS | HALVES }, { ".cc", WORDS | T(U64) | T(S64) },
	{ ".ftz", T(F32) | T(F32X2) | T(F16) | T(F16X2) }, { ".NaN", T(F32) | HALVES },
	{ ".noftz", HALVES }, { ".relu", T(S32) | T(S16X2) | HALVES },
	{ ".rm", FLOATS | T(F32X2) | T(BF16) | T(BF16X2) }, { ".rn", FLOATS | T(F32X2) | HALVES },
	{ ".rp", FLOATS | T(F32X2) | T(BF16) | T(BF16X2) },
	{ ".rz", FLOATS | T(F32X2) | T(BF16) | T(BF16X2) },
	{ ".sat", T(S32) | T(F32) | T(F16) | T(F16X2) },
};

static bool is_limited(const struct statement *at, uint64_t types)
{
	/* they have .ftz of one more type */
	bool own_ftz = word_is(&at->name, "ex2") || word_is(&at->name, "rcp") ||
		       word_is(&at->name, "rsqrt");

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (!(limits[i].types & types) && statement_has(at, limits[i].modifier) &&
		    !(own_ftz && !strcmp(limits[i].modifier, ".ftz")))
			return true;
	return false;
}

static bool register_fits(const struct operand *operand, enum type type, bool wider)
{
	enum type own = operand->symbol->type;

	/* .b0 of a video instruction */
	if (operand->second || (operand->part.length && operand->symbol->vector == 1))
		return false;
	if (wider ? type_bits(own) < type_bits(type) : type_bits(own) != type_bits(type))
		return false;
	if (type_is(own, KIND_PREDICATE) || type_is(type, KIND_PREDICATE))
		return own == type;
	/* ptxas takes a register of f16x2 for one of b32 */
	if (type_is(own, KIND_BITS) || type_is(type, KIND_BITS) || type_facts[own].packed > 1)
		return true;
	return is_float(own) == is_float(type) && (!is_float(own) || type_bits(own) == type_bits(type));
}

/* May the operand be one of the type? @wider: it may be a register that is wider */
bool operand_fits(const struct operand *operand, enum type type, bool wider)
{
	uint32_t bits = type_bits(type);

	switch (operand->kind) {
	case OPERAND_REGISTER:
		return register_fits(operand, type, wider);
	case OPERAND_NUMBER:
		if (operand->number.kind != CONSTANT_FLOAT)
			return !is_float(type) && type_facts[type].packed == 1;
		return type == TYPE_F32 || type == TYPE_F64 ||
		       (type_is(type, KIND_BITS) && bits == (operand->number.bits32 ? 32 : 64));
	case OPERAND_SYMBOL:		/* only mov takes one to which nothing is added */
		return operand->number.integer;
	default:
		return false;
	}
}

/* Is it a register that gets a result of the type, with |p behind it, or _? */
static bool result_fits(const struct operand *operand, enum type type)
{
	struct operand first = *operand;

	first.second = NULL;
	return operand->kind == OPERAND_SINK ||
	       (operand->kind == OPERAND_REGISTER && operand_fits(&first, type, false));
}

static bool list_fits(const struct operand *list, enum type type)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (!operand_fits(&list->items[i], type, false))
			return false;
	return true;
}

static enum type wide_type(const struct statement *at, enum type type)
{
	if (!statement_has(at, ".wide"))
		return type;
	return type_bits(type) == 16 ? TYPE_B32 : TYPE_B64;
}

static bool letter_fits(const struct statement *at, char letter, const struct operand *operand,
			const enum type *types, uint32_t count)
{
	if (letter >= 'A' && letter <= 'Z') {
		if (operand->kind != OPERAND_REGISTER)
			return false;
		letter |= 0x20;
	}
	if (letter == 'v' && operand->kind == OPERAND_VECTOR)
		return list_fits(operand, types[0]);
	switch (letter) {
	case 't':
	case 'v':
		return operand_fits(operand, types[0], false);
	case 's':
	case 'm':
		return operand_fits(operand, types[count - 1], false);
	case 'w':
		return operand_fits(operand, wide_type(at, types[0]), false);
	case 'i':
		return operand_fits(operand, TYPE_U32, false);
	case 'p':
		return operand_fits(operand, TYPE_PRED, false);
	case 'd':			/* check_lists() looks at lists */
		return operand->kind == OPERAND_VECTOR || result_fits(operand, types[0]);
	case 'q':
		return result_fits(operand, TYPE_PRED);
	case 'a':
		return operand->kind == OPERAND_ADDRESS;
	default:
		return true;
	}
}

/* @types: of the instruction, @count of them. Return: what is wrong with it, or NULL */
const char *shape_wrong(const struct statement *at, const enum type *types, uint32_t count)
{
	const struct shape *shape = shapes;

	while (shape < shapes + ARRAY_SIZE(shapes) &&
	       (*at->name.at != *shape->name || !word_is(&at->name, shape->name) ||
		(shape->modifier && !statement_has(at, shape->modifier))))
		shape++;
	if (shape == shapes + ARRAY_SIZE(shapes) || !count)
		return NULL;
	if (!(shape->types >> types[0] & 1))
		return "there is no such type of";
	if (is_limited(at, 1ULL << types[0] | 1ULL << types[count - 1]))
		return "its type has not all modifiers of";
	for (uint32_t i = 0; i < at->operands_count && shape->operands[i]; i++)
		if (!letter_fits(at, shape->operands[i], &at->operands[i], types, count))
			return "wrong is the type of an operand of";
	return NULL;
}
