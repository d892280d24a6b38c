/* SPDX-License-Identifier: MIT */
/* Shared by the tests of memcast-smi: they run it, and read the JSON that it writes. */
#ifndef MEMCAST_SMI_FIXTURE_H
#define MEMCAST_SMI_FIXTURE_H

#include <iconv.h>
#include <json-c/json.h>
#include <stdio.h>
#include <unistd.h>
#include "memcast_test.h"

FIXTURE(smi) { char unused; };
FIXTURE_SETUP(smi)
{
	if (geteuid())
		SKIP(return, "needs root, to look into other processes");
}
NOTHING_LEFT(smi)

static inline FILE *start_smi(void)
{
	return popen("./memcast-smi --json", "re");
}

/* UCS-2 has no character above U+FFFF; no test makes memcast-smi print one. */
static inline bool is_utf8(char *text, size_t length)
{
	static char wide[2 << 18];
	size_t room = sizeof(wide);
	iconv_t as = iconv_open("UCS-2", "UTF-8");
	char *to = wide;
	bool is = iconv(as, &text, &length, &to, &room) != (size_t)-1;

	iconv_close(as);
	return is;
}

static inline struct json_object *parse(const char *text, size_t length, int flags)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *all;

	json_tokener_set_flags(tokener, flags);
	all = json_tokener_parse_ex(tokener, text, length + 1);
	json_tokener_free(tokener);
	return all;
}

/*
 * Parses the output of memcast-smi. Return: NULL if it is not strict JSON in UTF-8. json-c 0.18
 * (Debian 13) accepts nothing but ASCII when it is strict, so it gets a copy with a "?" for each
 * other byte.
 */
static inline struct json_object *end_smi(FILE *smi)
{
	static char text[1 << 18], ascii[1 << 18];
	size_t length = fread(text, 1, sizeof(text) - 1, smi);
	struct json_object *strict;

	text[length] = '\0';
	for (size_t i = 0; i <= length; i++)
		ascii[i] = text[i] & 0x80 ? '?' : text[i];
	strict = parse(ascii, length, JSON_TOKENER_STRICT);
	json_object_put(strict);
	return pclose(smi) || !strict || !is_utf8(text, length) ? NULL : parse(text, length, 0);
}

static inline struct json_object *part(struct json_object *all, const char *name)
{
	return json_object_object_get(all, name);
}

static inline int64_t number(struct json_object *of, const char *name)
{
	return json_object_get_int64(part(of, name));
}

/* Return: the element of an array whose number @name is @value, or NULL */
static inline struct json_object *find(struct json_object *array, const char *name, int64_t value)
{
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *one = json_object_array_get_idx(array, i);

		if (number(one, name) == value)
			return one;
	}
	return NULL;
}

static inline const char *text_of(struct json_object *object)
{
	return json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
}

#endif /* MEMCAST_SMI_FIXTURE_H */
