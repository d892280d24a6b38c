// SPDX-License-Identifier: MIT
/* Splits PTX text into words, without comments and white space. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_between(struct reader *reader)
{
	while (reader->at < reader->end) {
		const char *at = reader->at;

		if (isspace((unsigned char)*at)) {
			reader->line += *at == '\n';
			reader->at++;
		} else if (at + 1 < reader->end && at[0] == '/' && at[1] == '/') {
			while (reader->at < reader->end && *reader->at != '\n')
				reader->at++;
		} else if (at + 1 < reader->end && at[0] == '/' && at[1] == '*') {
			for (reader->at += 2; reader->at < reader->end; reader->at++) {
				reader->line += *reader->at == '\n';
				if (reader->at[-1] == '*' && *reader->at == '/' &&
				    reader->at > at + 2)
					break;
			}
			if (reader->at < reader->end)
				reader->at++;
		} else {
			return;
		}
	}
}

/* Reads 12, 0x1f, 0b11, 1.5e3, and 0f or 0d with the bits of a floating-point number. */
static void take_number(struct word *word)
{
	char text[40], *end;
	size_t length = word->length < sizeof(text) ? word->length : sizeof(text) - 1;
	double value;

	memcpy(text, word->at, length);
	text[length] = '\0';
	if (text[0] == '0' && strchr("fFdD", text[1]) && text[1]) {
		word->value = strtoull(text + 2, NULL, 16);
	} else if (text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
		word->value = strtoull(text + 2, NULL, 2);
	} else if (strpbrk(text, ".") && !strpbrk(text, "xX")) {
		value = strtod(text, NULL);
		memcpy(&word->value, &value, sizeof(value));
	} else {
		word->value = strtoull(text, &end, 0);
	}
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
	} else if (isdigit((unsigned char)*reader->at)) {
		word->kind = WORD_NUMBER;
		while (reader->at < reader->end && (in_name(*reader->at) || *reader->at == '.'))
			reader->at++;
	} else if (in_name(*reader->at) || *reader->at == '.') {
		word->kind = *reader->at == '.' ? WORD_DIRECTIVE : WORD_NAME;
		reader->at++;
		/* a type as in ".b8" or a space as in ".shared::cta" */
		while (reader->at < reader->end && (in_name(*reader->at) || *reader->at == ':') &&
		       !(*reader->at == ':' && (reader->at + 1 == reader->end ||
						(reader->at[1] != ':' && reader->at[-1] != ':'))))
			reader->at++;
	} else {
		word->kind = WORD_MARK;
		reader->at++;
	}
	word->length = reader->at - word->at;
	if (word->kind == WORD_NUMBER)
		take_number(word);
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

CUresult ptx_need(struct reader *reader, const char *word)
{
	char what[64];

	if (ptx_take(reader, word))
		return CUDA_SUCCESS;
	snprintf(what, sizeof(what), "%s is missing before", word);
	return ptx_wrong(reader, what);
}

/* Fails because of the current word. @what: the error, in front of the word */
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
	return fail(CUDA_ERROR_INVALID_PTX, "%s", reader->complaint->text);
}
