// SPDX-License-Identifier: MIT
/*
 * Constant expressions of PTX text: initial values and immediate operands, as 7, -1.5,
 * (1 << 4) | 3, generic(name)+8 and 0xff00(name+4). memcast-ptx.so has this code, too.
 */
#include <string.h>

#include "ptx.h"

#define DEEPEST	64	/* parentheses and signs within each other: the reader's stack is finite */

static CUresult expression(struct reader *reader, struct constant *value, int level, int depth);

static void set_integer(struct constant *value, uint64_t integer, bool is_unsigned)
{
	*value = (struct constant) { .kind = CONSTANT_INTEGER, .integer = integer,
				     .is_unsigned = is_unsigned };
}

static void set_real(struct constant *value, double real)
{
	*value = (struct constant) { .kind = CONSTANT_FLOAT, .real = real };
}

static double real_of(const struct constant *value)
{
	return value->kind == CONSTANT_FLOAT ? value->real :
	       value->is_unsigned ? (double)value->integer : (double)(int64_t)value->integer;
}

/* Takes out what a mask has of an integer, or notes it with an address: 0xff00(name+4), 0xff(1000) */
static CUresult masked(struct reader *reader, struct constant *value, int depth)
{
	uint64_t mask = value->integer;
	CUresult result;

	if (!mask)
		return ptx_wrong(reader, "a mask is 0 before");
	ptx_next(reader);
	result = expression(reader, value, 0, depth + 1);
	if (result != CUDA_SUCCESS)
		return result;
	if (value->kind == CONSTANT_FLOAT || value->mask)
		return ptx_wrong(reader, "this is masked, and neither an integer nor an address, before");
	if (value->kind == CONSTANT_ADDRESS)
		value->mask = mask;
	else
		set_integer(value, (value->integer & mask) >> __builtin_ctzll(mask), true);
	return ptx_need(reader, ")");
}

static CUresult value_number(struct reader *reader, struct constant *value, int depth)
{
	const struct word *word = &reader->word;

	if (word->number == NUMBER_INTEGER)
		set_integer(value, word->value, word->value > INT64_MAX ||
			    (word->at[word->length - 1] | 0x20) == 'u');
	else
		set_real(value, ptx_number_double(word->number, word->value));
	if (word->number == NUMBER_BITS32) {
		value->bits32 = true;
		value->real_bits = word->value;
	}
	ptx_next(reader);
	if (value->kind == CONSTANT_INTEGER && ptx_is(reader, "("))
		return masked(reader, value, depth);
	return CUDA_SUCCESS;
}

/* A type in parentheses only changes how an integer is read: (.s64) 5 */
static CUresult in_parentheses(struct reader *reader, struct constant *value, int depth)
{
	bool is_unsigned;
	CUresult result;

	ptx_next(reader);
	is_unsigned = ptx_is(reader, ".u64");
	if (ptx_take(reader, ".s64") || ptx_take(reader, ".u64")) {
		result = ptx_need(reader, ")");
		if (result == CUDA_SUCCESS)
			result = expression(reader, value, 99, depth + 1);
		if (result == CUDA_SUCCESS)
			value->is_unsigned = is_unsigned;
		return result;
	}
	result = expression(reader, value, 0, depth + 1);
	return result == CUDA_SUCCESS ? ptx_need(reader, ")") : result;
}

static CUresult name(struct reader *reader, struct constant *value)
{
	bool generic = ptx_take(reader, "generic");
	CUresult result = generic ? ptx_need(reader, "(") : CUDA_SUCCESS;

	if (result != CUDA_SUCCESS)
		return result;
	if (reader->word.kind != WORD_NAME)
		return ptx_wrong(reader, "no name is");
	if (!generic && ptx_take(reader, "WARP_SZ")) {
		set_integer(value, 32, false);
		return CUDA_SUCCESS;
	}
	*value = (struct constant) { .kind = CONSTANT_ADDRESS, .generic = generic,
				     .name = reader->word };
	ptx_next(reader);
	result = generic ? ptx_need(reader, ")") : CUDA_SUCCESS;
	if (result == CUDA_SUCCESS && ptx_is(reader, "-"))
		return ptx_wrong(reader, "behind an address stands +, not");
	return result;
}

static CUresult unary(struct reader *reader, struct constant *value, int depth)
{
	char sign = reader->word.length == 1 ? *reader->word.at : 0;
	CUresult result;

	if (depth > DEEPEST)
		return ptx_wrong(reader, "an expression is too deep at");
	if (sign == '(')
		return in_parentheses(reader, value, depth);
	if (reader->word.kind == WORD_NUMBER)
		return value_number(reader, value, depth);
	if (reader->word.kind == WORD_NAME)
		return name(reader, value);
	if (!sign || !strchr("-+!~", sign))
		return ptx_wrong(reader, "no value is");
	ptx_next(reader);
	result = unary(reader, value, depth + 1);
	if (result != CUDA_SUCCESS)
		return result;
	if (value->kind == CONSTANT_ADDRESS)
		return ptx_wrong(reader, "an address has no sign before");
	if (value->kind == CONSTANT_FLOAT && sign == '-') {
		value->real = -value->real;
		value->real_bits ^= 1U << 31;
	} else if (value->kind == CONSTANT_INTEGER) {
		value->integer = sign == '-' ? -value->integer : sign == '~' ? ~value->integer :
				 sign == '!' ? !value->integer : value->integer;
		value->is_unsigned = sign == '~' || (sign != '!' && value->is_unsigned);
	} else if (sign != '+' && sign != '-') {
		return ptx_wrong(reader, "this number is not an integer before");
	}
	return CUDA_SUCCESS;
}

/* From the weakest; all are left-associative. Levels are those of C. */
static const struct operator {
	const char *text;
	int level;
} operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "|", 3 }, { "^", 4 }, { "&", 5 }, { "==", 6 }, { "!=", 6 },
	{ "<=", 7 }, { ">=", 7 }, { "<<", 8 }, { ">>", 8 }, { "<", 7 }, { ">", 7 }, { "+", 9 },
	{ "-", 9 }, { "*", 10 }, { "/", 10 }, { "%", 10 },
};

/* Words have one character of an operator each. Return: the operator that stands here, or NULL */
static const struct operator *operator_here(const struct reader *reader)
{
	const char *at = reader->word.at;

	if (reader->word.kind != WORD_MARK)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		size_t length = strlen(operators[i].text);

		if ((size_t)(reader->end - at) >= length && !memcmp(at, operators[i].text, length))
			return &operators[i];
	}
	return NULL;
}

/*
 * Two integers are .u64 if one of them is. PTX takes those of % and of operations on bits for .u64 in
 * any case; of the former, the result is .s64 again. A shift is one of its left operand.
 */
static CUresult of_integers(struct reader *reader, const char *text, struct constant *left,
			    const struct constant *right)
{
	bool is_unsigned = left->is_unsigned || right->is_unsigned, twice = text[1] == *text;
	uint64_t a = left->integer, b = right->integer, result = 0;
	int64_t s = a, t = b;
	bool less = is_unsigned ? a < b : s < t;

	if ((*text == '/' || *text == '%') && !b)
		return ptx_wrong(reader, "a division by zero ends before");
	switch (*text) {
	case '|': result = twice ? a || b : (a | b); break;
	case '&': result = twice ? a && b : (a & b); break;
	case '^': result = a ^ b; break;
	case '=': result = a == b; break;
	case '!': result = a != b; break;
	case '<': result = twice ? b < 64 ? a << b : 0 : less || (text[1] && a == b); break;
	case '>':
		if (!twice)
			result = !less && (text[1] || a != b);
		else if (left->is_unsigned)
			result = b < 64 ? a >> b : 0;
		else
			result = s >> (b < 64 ? b : 63);
		break;
	case '+': result = a + b; break;
	case '-': result = a - b; break;
	case '*': result = a * b; break;
	case '/': result = is_unsigned ? a / b : t == -1 ? -a : (uint64_t)(s / t); break;
	case '%': result = a % b; break;
	}
	set_integer(left, result, strchr("+-*/", *text) ? is_unsigned :
		    strchr("<>", *text) ? twice && left->is_unsigned :
		    !twice && strchr("|&^", *text));
	return CUDA_SUCCESS;
}

static CUresult of_reals(struct reader *reader, const char *text, struct constant *left,
			 const struct constant *right)
{
	double a = real_of(left), b = real_of(right);

	switch (*text) {
	case '+': set_real(left, a + b); break;
	case '-': set_real(left, a - b); break;
	case '*': set_real(left, a * b); break;
	case '/': set_real(left, a / b); break;
	case '=': set_integer(left, a == b, false); break;
	case '!': set_integer(left, a != b, false); break;
	default:
		if ((*text != '<' && *text != '>') || text[1] == *text)
			return ptx_wrong(reader, "these numbers are not integers before");
		set_integer(left, *text == '<' ? text[1] ? a <= b : a < b :
						 text[1] ? a >= b : a > b, false);
	}
	return CUDA_SUCCESS;
}

static CUresult value_apply(struct reader *reader, const char *text, struct constant *left,
			    const struct constant *right)
{
	if (left->kind == CONSTANT_ADDRESS || right->kind == CONSTANT_ADDRESS) {
		bool turned = right->kind == CONSTANT_ADDRESS;
		struct constant address = turned ? *right : *left;
		const struct constant *added = turned ? left : right;

		if (added->kind != CONSTANT_INTEGER || address.mask ||
		    (*text != '+' && (*text != '-' || turned)))
			return ptx_wrong(reader, "an address takes only + and - before");
		address.integer += *text == '+' ? added->integer : -added->integer;
		*left = address;
		return CUDA_SUCCESS;
	}
	if (left->kind == CONSTANT_FLOAT || right->kind == CONSTANT_FLOAT)
		return of_reals(reader, text, left, right);
	return of_integers(reader, text, left, right);
}

/* condition ? one : other */
static CUresult choice(struct reader *reader, struct constant *value, int depth)
{
	struct constant one, other;
	CUresult result;

	ptx_next(reader);
	result = expression(reader, &one, 0, depth + 1);
	if (result == CUDA_SUCCESS)
		result = ptx_need(reader, ":");
	if (result == CUDA_SUCCESS)
		result = expression(reader, &other, 0, depth + 1);
	if (result != CUDA_SUCCESS)
		return result;
	one.is_unsigned = other.is_unsigned = one.is_unsigned || other.is_unsigned;
	*value = (value->kind == CONSTANT_INTEGER ? value->integer != 0 : value->real != 0) ? one :
		 other;
	return result;
}

/* Reads what binds as strongly as @level, or more so. */
static CUresult expression(struct reader *reader, struct constant *value, int level, int depth)
{
	const struct operator *operator;
	CUresult result = unary(reader, value, depth);

	while (result == CUDA_SUCCESS && (operator = operator_here(reader)) &&
	       operator->level >= level) {
		struct constant right;

		for (size_t i = strlen(operator->text); i; i--)
			ptx_next(reader);
		result = expression(reader, &right, operator->level + 1, depth + 1);
		if (result == CUDA_SUCCESS)
			result = value_apply(reader, operator->text, value, &right);
	}
	if (result == CUDA_SUCCESS && !level && ptx_is(reader, "?"))
		result = choice(reader, value, depth);
	return result;
}

CUresult ptx_constant(struct reader *reader, struct constant *constant)
{
	return expression(reader, constant, 0, 0);
}

/* Writes a constant that is no address as an element of @bytes, of a type of floats or not. */
void ptx_constant_store(const struct constant *constant, bool is_float, void *to, uint32_t bytes)
{
	double wide = real_of(constant);
	uint64_t value = constant->integer;
	float narrow = wide;

	if (constant->kind == CONSTANT_FLOAT && bytes == sizeof(narrow) && constant->bits32)
		value = constant->real_bits;
	else if ((is_float || constant->kind == CONSTANT_FLOAT) && bytes == sizeof(narrow))
		memcpy(&value, &narrow, sizeof(narrow));
	else if ((is_float || constant->kind == CONSTANT_FLOAT) && bytes == sizeof(wide))
		memcpy(&value, &wide, sizeof(wide));
	memset(to, 0, bytes);
	memcpy(to, &value, bytes < sizeof(value) ? bytes : sizeof(value));
}
