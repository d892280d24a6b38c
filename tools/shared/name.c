// SPDX-License-Identifier: MIT
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"

/* Return: how many bytes the character at @text has, 0 if it is not UTF-8 */
static size_t utf8_length(const unsigned char *text)
{
	unsigned char first = *text, least = 0x80, most = 0xbf;
	size_t length = 2 + (first >= 0xe0) + (first >= 0xf0);

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	/* neither longer than necessary, nor a surrogate, nor above U+10FFFF */
	if (first == 0xe0 || first == 0xf0)
		least = first == 0xe0 ? 0xa0 : 0x90;
	if (first == 0xed || first == 0xf4)
		most = first == 0xed ? 0x9f : 0x8f;
	for (size_t i = 1; i < length; i++, least = 0x80, most = 0xbf)
		if (text[i] < least || text[i] > most)
			return 0;
	return length;
}

struct json_object *name_new(const char *name)
{
	char *text = malloc(3 * strlen(name) + 1), *end = text;
	struct json_object *string;

	if (!text)
		return NULL;
	while (*name) {
		size_t length = utf8_length((const unsigned char *)name);

		end = mempcpy(end, length ? name : "\xef\xbf\xbd", length ? length : 3);
		name += length ? length : 1;
	}
	string = json_object_new_string_len(text, end - text);
	free(text);
	return string;
}

void name_clean(char *name)
{
	unsigned char *at = (unsigned char *)name;
	size_t length;

	for (; *at; at += length ?: 1) {
		length = utf8_length(at);
		/* U+0080 to U+009F are for terminals, too. */
		if (!length || *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
			memset(at, '?', length ?: 1);
	}
}

void name_print(const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return;
	name_clean(copy);
	fputs(copy, stdout);
	free(copy);
}

void name_put_xml(FILE *to, const char *text)
{
	for (; *text; text++) {
		bool none = !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);

		if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else if (*text == '&')
			fputs("&amp;", to);
		else if (*text == '"')
			fputs("&quot;", to);
		else if (none || (*text > 0 && *text < ' '))
			fputs("\xef\xbf\xbd", to);
		else
			fputc(*text, to);
		if (none)
			text += 2;
	}
}

int name_fit(const char *name, int most)
{
	int length = (int)strnlen(name, (size_t)most + 1);

	if (length <= most)
		return length;
	for (length = most; length && (name[length] & 0xc0) == 0x80; length--)
		;
	return length;
}
