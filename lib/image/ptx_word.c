// SPDX-License-Identifier: MIT
/*
 * Splits PTX text into words, without comments and white space, and tells of a wrong one.
 * memcast-ptx.so has this code, too.
 */
#include <stdio.h>
#include <string.h>

#include "ptx.h"

/* PTX is ASCII: ctype.h would ask the program's locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool in_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$' || c == '%';
}

/* Does a name begin here? An operator %, as in 7 % 3, has no name behind it. */
static bool is_name(const struct reader *reader)
{
	const char *at = reader->at;

	return in_name(*at) && (*at != '%' || (at + 1 < reader->end && in_name(at[1])));
}

static void skip_between(struct reader *reader)
{
	while (reader->at < reader->end) {
		const char *at = reader->at;

		if (is_space(*at)) {
			reader->line += *at == '\n';
			reader->at++;
		} else if (at + 1 < reader->end && at[0] == '/' && at[1] == '/') {
			while (reader->at < reader->end && *reader->at != '\n' && *reader->at >= 0)
				reader->at++;
		} else if (at + 1 < reader->end && at[0] == '/' && at[1] == '*') {
			for (reader->at += 2; reader->at < reader->end; reader->at++) {
				reader->line += *reader->at == '\n';
				if (reader->at[-1] == '*' && *reader->at == '/' &&
				    reader->at > at + 2)
					break;
			}
			if (reader->at == reader->end) {
				reader->at = at;	/* a comment without an end is no comment */
				return;
			}
			reader->at++;
		} else {
			return;
		}
	}
}

/* A digit, or a point and a digit: but tex.2d has a part .2d */
static bool is_number(const struct reader *reader)
{
	const char *at = reader->at;

	if (is_digit(*at))
		return true;
	return *at == '.' && at + 1 < reader->end && is_digit(at[1]) &&
	       (at == reader->begin || !in_name(at[-1]));
}

/* Reads the next word into reader->word. */
void ptx_next(struct reader *reader)
{
	struct word *word = &reader->word;

	skip_between(reader);
	*word = (struct word) { .at = reader->at };
	if (reader->at == reader->end)
		return;
	if (*reader->at == '"') {
		word->kind = WORD_STRING;
		for (reader->at++; reader->at < reader->end && *reader->at != '"'; reader->at++)
			;
		if (reader->at < reader->end)
			reader->at++;
	} else if (is_number(reader)) {
		size_t length = ptx_number(reader->at, reader->end, &word->number, &word->value);

		word->kind = length ? WORD_NUMBER : WORD_BAD;
		reader->at += length ? length : 1;
		while (!length && reader->at < reader->end && in_name(*reader->at))
			reader->at++;
	} else if (is_name(reader) || *reader->at == '.') {
		word->kind = *reader->at == '.' ? WORD_DIRECTIVE : WORD_NAME;
		reader->at++;
		/* a type as in ".b8" or a space as in ".shared::cta" */
		while (reader->at < reader->end && (in_name(*reader->at) || *reader->at == ':') &&
		       !(*reader->at == ':' && (reader->at + 1 == reader->end ||
						(reader->at[1] != ':' && reader->at[-1] != ':'))))
			reader->at++;
	} else {
		word->kind = *reader->at > 0 ? WORD_MARK : WORD_BAD;
		reader->at++;
	}
	word->length = reader->at - word->at;
}

/* Skips the rest of the line, which is for debuggers. */
void ptx_skip_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at++;
	ptx_next(reader);
}

bool ptx_is(const struct reader *reader, const char *word)
{
	return reader->word.length == strlen(word) &&
	       !memcmp(reader->word.at, word, reader->word.length);
}

bool ptx_take(struct reader *reader, const char *word)
{
	bool is = ptx_is(reader, word);

	if (is)
		ptx_next(reader);
	return is;
}

/* Goes from .attribute(…) to its last parenthesis. Return: does it have the word? */
bool ptx_skip_attribute(struct reader *reader, const char *word)
{
	uint32_t open = 0;
	bool has = false;

	for (ptx_next(reader); reader->word.kind != WORD_END; ptx_next(reader)) {
		has |= ptx_is(reader, word);
		open += ptx_is(reader, "(");
		if (ptx_is(reader, ")") && open-- <= 1)
			break;
	}
	return has;
}

/* Reads up to three numbers; those that are missing are 1. */
void ptx_numbers(struct reader *reader, uint32_t to[3])
{
	to[0] = to[1] = to[2] = 1;
	for (int i = 0; i < 3 && reader->word.kind == WORD_NUMBER; i++) {
		to[i] = reader->word.value > UINT32_MAX ? UINT32_MAX : reader->word.value;
		ptx_next(reader);
		if (!ptx_take(reader, ","))
			break;
	}
}

CUresult ptx_need(struct reader *reader, const char *word)
{
	char what[64];

	if (ptx_take(reader, word))
		return CUDA_SUCCESS;
	snprintf(what, sizeof(what), "%s is missing before", word);
	return ptx_wrong(reader, what);
}

/* The first error of a text is told, with its line. @what: the error, in front of the current word */
CUresult ptx_wrong(struct reader *reader, const char *what)
{
	int length = reader->word.length < 60 ? reader->word.length : 60;

	if (!length)
		snprintf(reader->complaint->text, sizeof(reader->complaint->text),
			 "ptxas: line %u: %s the end of the text", reader->line, what);
	else
		snprintf(reader->complaint->text, sizeof(reader->complaint->text),
			 "ptxas: line %u: %s '%.*s'", reader->line, what, length,
			 reader->word.at);
	return CUDA_ERROR_INVALID_PTX;
}
