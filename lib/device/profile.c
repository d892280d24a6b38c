// SPDX-License-Identifier: MIT
/*
 * Profiles: the attributes of a kind of device, as a text. MEMCAST_PROFILE names a profile that
 * is built in, or a file. Lines are "KEY = VALUE"; a key is an attribute's name, as in
 * MEMCAST_ATTR, an attribute's number, or one of the keys in take_value(); # begins a comment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define VARIABLE	"MEMCAST_PROFILE"
#define NAME		256
#define LARGEST		(256 << 10)	/* bytes of a file */

/* Generated from profiles/; the first is the default. */
static const struct {
	const char *name, *text;
} built_in[] = {
#include "profiles.h"
};

struct profile {
	char name[NAME];
	size_t recommended;	/* granularity; 0: the module's */
	int attributes[CU_DEVICE_ATTRIBUTE_MAX];
};

/* The profiles that threads have read before cuInit(), and cuInit(); and the later one of these */
static struct profile profiles[2];
static _Atomic(const struct profile *) profile = &profiles[0];

/* Return: a text without the blanks around it. */
static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

static bool size_of(const char *text, size_t *size)
{
	char *end;

	*size = strtoull(text, &end, 0);
	return end != text && !*end;
}

static const char *text_built_in(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++)
		if (!strcmp(name, built_in[i].name))
			return built_in[i].text;
	return NULL;
}

static void take_text(struct profile *into, const char *text, const char *complain_of);

/* Takes a line of a profile. Return: what is wrong with it, or NULL. */
static const char *take_value(struct profile *into, const char *key, const char *value)
{
	CUdevice_attribute attribute;
	size_t size;
	int number;

	if (!strcmp(key, "BASE")) {
		if (!text_built_in(value))
			return "no such profile is built in";
		take_text(into, text_built_in(value), NULL);
	} else if (!strcmp(key, "NAME")) {
		if (strlen(value) >= NAME)
			return "the name is too long";
		strcpy(into->name, value);
	} else if (!strcmp(key, "TOTAL_MEMORY") || !strcmp(key, "GRANULARITY_MINIMUM")) {
		/*
		 * checked only: a device has its pool's memory, in the module's units
		 * (attribute.c)
		 */
		if (!size_of(value, &size))
			return "not a number";
	} else if (!strcmp(key, "GRANULARITY_RECOMMENDED")) {
		if (!size_of(value, &size) || size % MEMCAST_GRANULARITY || size > 1UL << 40)
			return "not a multiple of 2 MiB";
		into->recommended = size;
	} else if (!attribute_named(key, strlen(key), &attribute)) {
		return "no such attribute";
	} else if (!attribute_number(value, value + strlen(value), &number)) {
		return "not a number";
	} else if (attribute < ARRAY_SIZE(into->attributes)) {
		into->attributes[attribute] = number;
	}
	return NULL;
}

static const char *take_line(struct profile *into, char *line)
{
	char *equals = strchr(line, '=');

	line = trimmed(line);
	if (!*line || *line == '#')
		return NULL;
	if (!equals)
		return "not of the form KEY = VALUE";
	*equals = '\0';
	return take_value(into, trimmed(line), trimmed(equals + 1));
}

/* @complain_of: the profile's name, for messages about wrong lines; NULL: no messages */
static void take_text(struct profile *into, const char *text, const char *complain_of)
{
	char *copy = strdup(text), *rest = copy, *line;

	for (unsigned int number = 1; (line = strsep(&rest, "\n")); number++) {
		const char *wrong = take_line(into, line);

		if (wrong && complain_of)
			fprintf(stderr, "memcast: " VARIABLE ": line %u of %s is ignored: %s\n",
				number, complain_of, wrong);
	}
	free(copy);
}

/* Return: the text, which the caller frees; or NULL, and in *@wrong what is wrong. */
static char *text_of_file(const char *path, const char **wrong)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size;

	*wrong = "no profile of that name is built in, nor is it a file that can be read";
	if (!file)
		return NULL;
	text = malloc(LARGEST + 1);
	size = text ? fread(text, 1, LARGEST + 1, file) : 0;
	if (!size || size > LARGEST || memchr(text, 0, size)) {
		*wrong = "that is no text, or too long a one";
		free(text);
		text = NULL;
	} else {
		text[size] = '\0';
	}
	fclose(file);
	return text;
}

/*
 * Reads the profile named @given; an attribute that it leaves out is 0. Return: what is wrong,
 * or NULL.
 */
static const char *take_given(struct profile *into, const char *given, bool complain)
{
	const char *text = text_built_in(given), *wrong = NULL;
	char *file = text ? NULL : text_of_file(given, &wrong);

	if (!text && !file)
		return wrong;
	memset(into, 0, sizeof(*into));
	take_text(into, text ? text : file, complain ? given : NULL);
	free(file);
	return NULL;
}

void profile_read(bool init)
{
	const char *given = secure_getenv(VARIABLE);

	take_text(&profiles[init], built_in[0].text, NULL);
	if (given && *given)
		take_given(&profiles[init], given, false);
	profile = &profiles[init];
}

/* Prints what is wrong with the profile. Not done by profile_read(): writing may take for ever. */
void profile_complain(void)
{
	const char *given = secure_getenv(VARIABLE), *wrong;
	struct profile *unused;

	if (!given || !*given)
		return;
	unused = malloc(sizeof(*unused));
	wrong = unused ? take_given(unused, given, true) : "there is no memory";
	if (wrong)
		fprintf(stderr, "memcast: " VARIABLE ": '%s' is ignored: %s\n", given, wrong);
	free(unused);
}

int profile_attribute(CUdevice_attribute attribute)
{
	return attribute < CU_DEVICE_ATTRIBUTE_MAX ? profile->attributes[attribute] : 0;
}

const char *profile_name(void)
{
	const struct profile *now = profile;

	return *now->name ? now->name : "memcast emulated device";
}

size_t profile_recommended(size_t minimum)
{
	const struct profile *now = profile;

	return now->recommended > minimum ? now->recommended : minimum;
}
