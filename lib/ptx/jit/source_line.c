// SPDX-License-Identifier: MIT
/*
 * From a line of PTX to the line of the source: the last .loc before it in its function, and the
 * .file that this names. The text is read again, as faults are rare.
 */
#include <stdio.h>
#include <string.h>

#include "code.h"

/* Copies the line that begins at @at, without what comes first of spaces. Return: the next one */
static const char *take_line(const char *at, const char *end, char *line, size_t size)
{
	const char *stop = memchr(at, '\n', end - at), *next = stop ? stop + 1 : end;
	size_t length;

	if (!stop)
		stop = end;
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	length = (size_t)(stop - at) < size - 1 ? (size_t)(stop - at) : size - 1;
	memcpy(line, at, length);
	line[length] = '\0';
	return next;
}

/* Finds .file NUMBER "PATH", which stands anywhere. */
void source_file(const char *at, const char *end, unsigned int number, char *path, size_t size)
{
	char line[600], found_path[512];
	unsigned int found;

	*path = '\0';
	while (at < end && !*path) {
		at = take_line(at, end, line, sizeof(line));
		if (sscanf(line, ".file %u \"%511[^\"]\"", &found, found_path) == 2 &&
		    found == number)
			snprintf(path, size, "%s", found_path);
	}
}

/*
 * Appends "a.cu:7". A line of a function that was inlined comes with the one that called it, which
 * is the one that people wrote: it stands first.
 */
static void append(const char *text, const char *end, unsigned int file, unsigned int number,
		   char *source, size_t size)
{
	size_t used = strlen(source);
	const char *last;
	char path[512];

	source_file(text, end, file, path, sizeof(path));
	last = strrchr(path, '/');
	if (*path)
		snprintf(source + used, size - used, "%s%.79s:%u", used ? ", " : "",
			 last ? last + 1 : path, number);
}

void source_line(const char *text, const char *end, uint32_t line, char *source, size_t size)
{
	unsigned int file = 0, number = 0, new_file, new_number, by_file = 0, by_number = 0;
	const char *at = text, *inlined;
	char words[400];

	*source = '\0';
	for (uint32_t i = 1; i <= line && at < end; i++) {
		at = take_line(at, end, words, sizeof(words));
		if (sscanf(words, ".loc %u %u", &new_file, &new_number) == 2) {
			file = new_file;
			number = new_number;
			inlined = strstr(words, "inlined_at ");
			if (!inlined || sscanf(inlined, "inlined_at %u %u", &by_file, &by_number) != 2)
				by_number = 0;
		} else if (i < line && (strstr(words, ".entry ") || strstr(words, ".func "))) {
			number = 0;
		}
	}
	if (number && by_number)
		append(text, end, by_file, by_number, source, size);
	if (number)
		append(text, end, file, number, source, size);
}

bool source_says(const char *text, const char *end, uint32_t line, const char *word)
{
	char words[400] = "";

	for (uint32_t i = 1; i <= line && text < end; i++)
		text = take_line(text, end, words, sizeof(words));
	return strstr(words, word);
}
