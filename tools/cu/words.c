// SPDX-License-Identifier: MIT
/* Splits a preprocessed file of C++ into words, each with the blanks before it. */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cu.h"

struct reader {
	const char *start, *at;
	struct words *words;
	size_t room;
	size_t *open;			/* brackets that are not closed */
	size_t open_count, open_room;
	bool of_tool;
};

static void *more(void *list, size_t *room, size_t size)
{
	*room = *room ? 2 * *room : 1024;
	list = reallocarray(list, *room, size);
	if (!list)
		err(1, NULL);
	return list;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* # 12 "/usr/include/memcast/cu.h": names the file of the following lines */
static void read_marker(struct reader *reader, const char *line, size_t length)
{
	static const char *const own[] = {
		"/memcast/cu.h\"", "/memcast/cu/functions.h\"", "/memcast/cu/math.h\"",
		"/memcast/cu/symbol.h\""
	};
	const char *start = memchr(line, '"', length), *end;

	if (!start)
		return;
	end = memchr(start + 1, '"', line + length - start - 1);
	reader->of_tool = false;
	for (size_t i = 0; end && i < sizeof(own) / sizeof(own[0]); i++)
		reader->of_tool |= memmem(start, end + 1 - start, own[i], strlen(own[i])) != NULL;
}

/* Blanks, and lines of the preprocessor, which begin with # */
static void skip_space(struct reader *reader)
{
	for (;;) {
		const char *at = reader->at;
		bool line = at == reader->start || at[-1] == '\n';
		size_t length;

		while (isspace((unsigned char)*at))
			line |= *at++ == '\n';
		reader->at = at;
		if (*at != '#' || !line)
			return;
		length = strcspn(at, "\n");
		read_marker(reader, at, length);
		reader->at += length;
	}
}

/* R"mark(...)mark" */
static const char *raw_end(const char *at)
{
	size_t mark = strcspn(at + 1, "(");
	char *close;
	const char *end;

	if (asprintf(&close, ")%.*s\"", (int)mark, at + 1) < 0)
		err(1, NULL);
	end = strstr(at, close);
	if (end)
		end += strlen(close);
	free(close);
	return end;
}

static const char *quoted_end(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote && *at != '\n')
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at == quote ? at + 1 : NULL;
}

/* Return: the end of a number (1'000.5e-3f), a name, or a string with its prefix */
static const char *run_end(const char *at, bool number)
{
	const char *start = at;

	while (is_name(*at) || (number && *at == '.') ||
	       (number && *at == '\'' && is_name(at[1])) ||
	       (number && (*at == '+' || *at == '-') && at > start && strchr("eEpP", at[-1]) &&
		(at[-1] == 'p' || at[-1] == 'P' || strncasecmp(start, "0x", 2))))
		at++;
	if (!number && *at == '"')
		return at[-1] == 'R' ? raw_end(at) : quoted_end(at);
	if (!number && *at == '\'')
		return quoted_end(at);
	return at;
}

static void bracket(struct reader *reader, char c)
{
	struct words *words = reader->words;
	size_t other;

	if (strchr("([{", c)) {
		if (reader->open_count == reader->open_room)
			reader->open = more(reader->open, &reader->open_room, sizeof(size_t));
		reader->open[reader->open_count++] = words->count;
	} else if (strchr(")]}", c)) {
		if (!reader->open_count)
			return;		/* the compiler's message is better */
		other = reader->open[--reader->open_count];
		words->list[other].partner = words->count;
		words->list[words->count].partner = other;
	}
}

struct words words_read(const char *text, const char *file)
{
	struct words words = { .count = 1, .rest = text };
	struct reader reader = { .start = text, .at = text, .words = &words };

	words.list = more(NULL, &reader.room, sizeof(*words.list));
	words.list[0] = (struct word) { .space = text, .text = text };
	for (;;) {
		const char *space = reader.at, *end;
		struct word *word;

		skip_space(&reader);
		if (!*reader.at) {
			words.rest = space;
			free(reader.open);
			return words;
		}
		if (words.count == reader.room)
			words.list = more(words.list, &reader.room, sizeof(*words.list));
		word = &words.list[words.count];
		*word = (struct word) {
			.space = space, .space_length = reader.at - space, .text = reader.at,
			.of_tool = reader.of_tool,
		};
		if (isdigit((unsigned char)*reader.at) ||
		    (*reader.at == '.' && isdigit((unsigned char)reader.at[1])))
			end = run_end(reader.at, true);
		else if (is_name(*reader.at))
			end = run_end(reader.at, false);
		else if (*reader.at == '"' || *reader.at == '\'')
			end = quoted_end(reader.at);
		else
			end = reader.at + (!strncmp(reader.at, "::", 2) ||
					   !strncmp(reader.at, "->", 2) ? 2 : 1);
		if (!end)
			errx(1, "%s: a string without an end: %.20s", file, reader.at);
		word->length = end - reader.at;
		word->name = is_name(*reader.at) && !isdigit((unsigned char)*reader.at) &&
			     is_name(end[-1]);
		bracket(&reader, *reader.at);
		reader.at = end;
		words.count++;
	}
}

void words_write(const struct words *words, FILE *out)
{
	for (size_t i = 1; i < words->count; i++) {
		const struct word *word = &words->list[i];

		fwrite(word->space, 1, word->space_length, out);
		if (word->before)
			fputs(word->before, out);
		fwrite(word->text, 1, word->length, out);
		if (word->after)
			fputs(word->after, out);
	}
	fputs(words->rest, out);
}

bool word_is(const struct words *words, size_t number, const char *text)
{
	const struct word *word = &words->list[number];

	return number < words->count && word->length == strlen(text) &&
	       !memcmp(word->text, text, word->length);
}

void word_replace(struct words *words, size_t number, const char *text)
{
	words->list[number].text = text;
	words->list[number].length = strlen(text);
}

void word_before(struct words *words, size_t number, const char *format, ...)
{
	struct word *word = &words->list[number];
	char *old = word->before, *text;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0 ||
	    asprintf(&word->before, "%s%s", text, old ? old : "") < 0)
		err(1, NULL);
	va_end(list);
	free(text);
	free(old);
}

void word_after(struct words *words, size_t number, const char *format, ...)
{
	struct word *word = &words->list[number];
	char *old = word->after, *text;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0 ||
	    asprintf(&word->after, "%s%s", old ? old : "", text) < 0)
		err(1, NULL);
	va_end(list);
	free(text);
	free(old);
}
