// SPDX-License-Identifier: MIT
/*
 * The language of the tables of facts; facts/README.md explains it. Expressions are those
 * of C on 64-bit integers.
 */
#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda.h>

#include "facts.h"

#define NAME		96
#define UNTOUCHED	0xa5a5a5a5a5a5a5a5ULL

static struct variable {
	char name[NAME];
	uint64_t value;
} variables[256];

static const char *at;		/* the text that is parsed next */
static bool called_driver;	/* the last call was one of the driver's */
static jmp_buf stop;
static char *why;
static size_t why_size;

static int64_t expression(int level);

void fact_nonsense(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, why_size, format, arguments);
	va_end(arguments);
	longjmp(stop, 1);
}

static void blanks(void)
{
	while (*at == ' ')
		at++;
}

static bool take(const char *word)
{
	blanks();
	if (strncmp(at, word, strlen(word)))
		return false;
	at += strlen(word);
	return true;
}

static void need(const char *word)
{
	if (!take(word))
		fact_nonsense("'%s' was expected at '%s'", word, at);
}

/* Parses a name of letters, digits, underscores, and characters in @others. */
static void name_into(char *name, const char *others)
{
	size_t n = 0;

	blanks();
	while (isalnum((unsigned char)*at) || *at == '_' || (*at && strchr(others, *at))) {
		if (n == NAME - 1)
			fact_nonsense("a name is too long");
		name[n++] = *at++;
	}
	name[n] = '\0';
	if (!n)
		fact_nonsense("a name was expected at '%s'", at);
}

static struct variable *variable(const char *name, bool make)
{
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]) && *variables[i].name; i++)
		if (!strcmp(variables[i].name, name))
			return &variables[i];
	if (!make)
		return NULL;
	if (i == sizeof(variables) / sizeof(variables[0]))
		fact_nonsense("there are too many variables");
	strcpy(variables[i].name, name);
	return &variables[i];
}

/* A call that writes one byte or four leaves the rest of the variable untouched. */
static int64_t value_of(const struct variable *variable)
{
	uint64_t changed = variable->value ^ UNTOUCHED;

	if (changed && !(changed >> 8))
		return (uint8_t)variable->value;
	if (changed && !(changed >> 32))
		return (int32_t)variable->value;
	return variable->value;
}

/* Type{member=value, …}: a pointer to it; more braces make an array. */
static int64_t structure(const char *type)
{
	const struct fact_field *field = fact_field(type, "");
	char member[NAME], *base;
	size_t count = 0;

	if (!field)
		fact_nonsense("no members of '%s' are listed in facts_names.c", type);
	base = fact_zeroed(field->all * 8);
	while (take("{")) {
		if (++count > 8)
			fact_nonsense("an array has at most 8 elements");
		while (!take("}")) {
			int64_t value;

			name_into(member, ".");
			field = fact_field(type, member);
			if (!field)
				fact_nonsense("no member '%s' of '%s' is listed in facts_names.c",
					 member, type);
			need("=");
			value = expression(0);
			memcpy(base + (count - 1) * field->all + field->offset, &value,
			       field->size < 8 ? field->size : 8);
			take(",");
		}
	}
	return (intptr_t)base;
}

/* [a, b, …]: an array of 64-bit numbers, int[…] of 32-bit ones */
static int64_t array(size_t size)
{
	char *base = fact_zeroed(32 * size);
	size_t count = 0;

	while (!take("]")) {
		int64_t value = expression(0);

		if (count == 32)
			fact_nonsense("an array has at most 32 elements");
		memcpy(base + size * count++, &value, size);
		take(",");
	}
	return (intptr_t)base;
}

static int64_t text(void)
{
	const char *end = strchr(at, '"');
	char *copy;

	if (!end)
		fact_nonsense("a text has no end");
	copy = fact_zeroed(end - at + 1);
	memcpy(copy, at, end - at);
	at = end + 1;
	return (intptr_t)copy;
}

static int64_t application(const char *name)
{
	const int64_t *by_value = NULL;
	int64_t a[8] = {}, value;
	size_t count = 0;

	while (!take(")")) {
		if (count == 8)
			fact_nonsense("a call has too many arguments");
		if (take("*"))
			by_value = (const int64_t *)expression(0);
		else
			a[count++] = expression(0);
		take(",");
	}
	if (fact_own_function(name, a, count, &value))
		return value;
	value = fact_call(name, a, count, by_value);
	called_driver = !strncmp(name, "cu", 2) && isupper((unsigned char)name[2]);
	/* all other functions return an int */
	if (called_driver || (strcmp(name, "mmap") && strcmp(name, "aligned_alloc")))
		value = (int32_t)value;
	return value;
}

static int64_t number(void)
{
	static const char units[] = "KMGTP";
	const char *unit;
	char *end;
	uint64_t value = strtoull(at, &end, 0);

	at = end;
	unit = *at ? strchr(units, *at) : NULL;
	if (unit) {
		at++;
		value <<= 10 * (unit - units + 1);
	}
	return value;
}

static int64_t named(void)
{
	struct variable *known;
	char name[NAME];
	int64_t value;

	name_into(name, "");
	if (take("("))
		return application(name);
	if (*at == '{')
		return structure(name);
	if (!strcmp(name, "int") && take("["))
		return array(4);
	if (!strcmp(name, "untouched"))
		return UNTOUCHED;
	known = variable(name, false);
	if (known)
		return value_of(known);
	if (!fact_constant(name, &value))
		fact_nonsense("nothing is called '%s'", name);
	return value;
}

static int64_t operand(void)
{
	char name[NAME];
	int64_t value;

	if (take("&")) {	/* an output */
		name_into(name, "");
		variable(name, true)->value = UNTOUCHED;
		return (intptr_t)&variable(name, true)->value;
	}
	if (take("@")) {	/* an input and output */
		name_into(name, "");
		return (intptr_t)&variable(name, true)->value;
	}
	if (take("-"))
		return -operand();
	if (take("~"))
		return ~operand();
	if (take("\""))
		return text();
	if (take("["))
		return array(8);
	if (take("(")) {
		value = expression(0);
		need(")");
		return value;
	}
	blanks();
	return isdigit((unsigned char)*at) ? number() : named();
}

/* An operator stands before one that is its prefix. */
static const struct {
	const char *sign;
	int level;
} operators[] = {
	{ "==", 1 }, { "!=", 1 }, { "<<", 4 }, { ">>", 4 }, { "<=", 2 }, { ">=", 2 }, { "<", 2 },
	{ ">", 2 }, { "&", 3 }, { "|", 3 }, { "+", 5 }, { "-", 5 }, { "*", 6 }, { "/", 6 },
	{ "%", 6 },
};

static int64_t operation(const char *sign, uint64_t a, uint64_t b)
{
	if (strchr("/%", *sign) && !b)
		fact_nonsense("a division by 0");
	switch (sign[0] << 8 | sign[1]) {
	case '=' << 8 | '=': return a == b;
	case '!' << 8 | '=': return a != b;
	case '<' << 8 | '<': return a << b;
	case '>' << 8 | '>': return a >> b;
	case '<' << 8 | '=': return a <= b;
	case '>' << 8 | '=': return a >= b;
	case '<' << 8: return a < b;
	case '>' << 8: return a > b;
	case '&' << 8: return a & b;
	case '|' << 8: return a | b;
	case '+' << 8: return a + b;
	case '-' << 8: return a - b;
	case '*' << 8: return a * b;
	case '/' << 8: return a / b;
	default: return a % b;
	}
}

static int64_t expression(int level)
{
	int64_t value = operand();
	size_t i;

	do {
		for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
			if (operators[i].level > level && take(operators[i].sign)) {
				value = operation(operators[i].sign, value,
						  expression(operators[i].level));
				break;
			}
		}
	} while (i < sizeof(operators) / sizeof(operators[0]));
	return value;
}

bool fact_run(const char *text, struct fact_value *value, char *wrong, size_t size)
{
	const char *equals = text + strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789 ");
	char name[NAME];

	why = wrong;
	why_size = size;
	if (setjmp(stop))
		return false;
	at = text;
	called_driver = false;
	if (*equals == '=' && equals[1] != '=') {
		name_into(name, "");
		need("=");
		value->number = expression(0);
		variable(name, true)->value = value->number;
		called_driver = false;
	} else {
		value->number = expression(0);
	}
	value->is_result = called_driver;
	blanks();
	if (*at)
		fact_nonsense("'%s' is too much", at);
	return true;
}

/* Parses the expected result: its name without CUDA_ERROR_, or a number. */
static void check_result(const struct fact_value *value)
{
	char name[NAME] = "CUDA_ERROR_";
	int64_t expected;

	if (!value->is_result) {
		expected = expression(0);
		if (expected != value->number)
			fact_nonsense("%" PRId64 ", expected: %" PRId64, value->number, expected);
		return;
	}
	name_into(name + strlen("CUDA_ERROR_"), "");
	if (!strcmp(name, "CUDA_ERROR_SUCCESS"))
		expected = CUDA_SUCCESS;
	else if (!fact_constant(name, &expected))
		fact_nonsense("there is no result %s", name);
	if (expected != value->number) {
		const char *got = "?";

		cuGetErrorName(value->number, &got);
		fact_nonsense("%s, expected: %s", got, name);
	}
}

bool fact_check(const char *expected, const struct fact_value *value, char *wrong, size_t size)
{
	why = wrong;
	why_size = size;
	if (setjmp(stop))
		return false;
	at = expected;
	check_result(value);
	for (blanks(); *at; blanks()) {
		const char *check = at;
		int64_t left = expression(0), right;

		need("=");
		if (take("set")) {	/* any address or handle but 0 */
			if (!left || left == (int64_t)UNTOUCHED)
				fact_nonsense("%.30s: it is %s", check, left ? "untouched" : "0");
			continue;
		}
		if (take("\"")) {
			if (strcmp((const char *)left, (const char *)text()))
				fact_nonsense("%.60s: it is \"%s\"", check, (const char *)left);
			continue;
		}
		right = expression(0);
		if (left != right)
			fact_nonsense("%.60s: it is %" PRId64 " (%#" PRIx64 ")", check, left, left);
	}
	return true;
}
