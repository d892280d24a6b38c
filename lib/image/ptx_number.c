// SPDX-License-Identifier: MIT
/*
 * Numbers of PTX text. This is the one place where text becomes a number, for declarations as for
 * instructions; what a program's locale says of decimal points does not matter here.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int digit_of(char c, int base)
{
	int digit = is_digit(c) ? c - '0' :
		    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		    c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

	return digit < base ? digit : -1;
}

/* Return: behind the digits from @at, or NULL if there are none or they need over 64 bits. */
static const char *digits(const char *at, const char *end, int base, uint64_t *value)
{
	const char *first = at;

	for (*value = 0; at < end && digit_of(*at, base) >= 0; at++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit_of(*at, base), value))
			return NULL;
	return at > first ? at : NULL;
}

/* Reads exactly @count hexadecimal digits: the bits of a floating-point number. */
static const char *exact_bits(const char *at, const char *end, int count, uint64_t *value)
{
	const char *last = digits(at, end, 16, value);

	return last == at + count ? last : NULL;
}

/* Return: behind a decimal number with a point, an exponent or both; NULL if there is neither */
static const char *decimal_end(const char *at, const char *end)
{
	const char *first = at, *exponent;
	bool point = false;

	while (at < end && is_digit(*at))
		at++;
	if (at < end && *at == '.') {
		point = true;
		for (at++; at < end && is_digit(*at); at++)
			;
		if (at == first + 1)
			return NULL;	/* a point alone */
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		exponent = at + 1;
		if (exponent < end && (*exponent == '+' || *exponent == '-'))
			exponent++;
		if (exponent == end || !is_digit(*exponent))
			return NULL;
		for (at = exponent; at < end && is_digit(*at); at++)
			;
		return at;
	}
	return point ? at : NULL;
}

static bool decimal(const char *at, const char *end, uint64_t *bits)
{
	char small[64], *text = small;
	size_t length = end - at;
	double value;

	if (length >= sizeof(small)) {
		text = malloc(length + 1);
		if (!text)
			return false;
	}
	memcpy(text, at, length);
	text[length] = '\0';
	/* glibc has the C locale ready: newlocale() neither allocates nor fails for it */
	value = strtod_l(text, NULL, newlocale(LC_ALL_MASK, "C", (locale_t)0));
	memcpy(bits, &value, sizeof(value));
	if (text != small)
		free(text);
	return true;
}

/*
 * Reads 12, 0x1f, 017, 0b11 (each with a U behind it, if the text likes), 1.5e-3, 2e3, .5, and
 * 0f40400000 or 0d4008000000000000. A sign is not part of a number.
 *
 * Return: the characters of the number, 0 if it is none
 */
size_t ptx_number(const char *at, const char *end, enum number_kind *kind, uint64_t *value)
{
	char second = at + 1 < end && *at == '0' ? at[1] | 0x20 : 0;
	const char *last = NULL;

	*kind = NUMBER_INTEGER;
	if (second == 'f') {
		*kind = NUMBER_BITS32;
		last = exact_bits(at + 2, end, 8, value);
	} else if (second == 'd') {
		*kind = NUMBER_BITS64;
		last = exact_bits(at + 2, end, 16, value);
	} else if (second == 'x') {
		last = digits(at + 2, end, 16, value);
	} else if (second == 'b') {
		last = digits(at + 2, end, 2, value);
	} else if (decimal_end(at, end)) {
		*kind = NUMBER_DECIMAL;
		last = decimal_end(at, end);
		if (!decimal(at, last, value))
			return 0;
	} else {
		last = digits(at, end, *at == '0' ? 8 : 10, value);
	}
	if (last && *kind == NUMBER_INTEGER && last < end && (*last == 'U' || *last == 'u'))
		last++;
	if (!last || (last < end && in_word(*last)))
		return 0;
	return last - at;
}

/* Return: the number as a double, whatever the text has written it as */
double ptx_number_double(enum number_kind kind, uint64_t value)
{
	uint32_t narrow_bits = value;
	double wide;
	float narrow;

	if (kind == NUMBER_INTEGER)
		return value;
	memcpy(&narrow, &narrow_bits, sizeof(narrow));
	memcpy(&wide, &value, sizeof(wide));
	return kind == NUMBER_BITS32 ? narrow : wide;
}
