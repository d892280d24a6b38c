// SPDX-License-Identifier: MIT
/*
 * MEMCAST_ATTR: attributes that this process sees changed, for programs that an attribute leads
 * astray. "MULTICAST_SUPPORTED=0,1:HOST_NUMA_ID=1" is for all devices and for device 1; of
 * several entries for an attribute, the last counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define VARIABLE	"MEMCAST_ATTR"
#define OVERRIDES	256
#define ALL_DEVICES	(-1)

static const struct {
	const char *name;
	CUdevice_attribute attribute;
} names[] = {
#include "attribute-names.h"	/* made from cuda.h */
};

struct override {
	int device;		/* the module's number, or ALL_DEVICES */
	CUdevice_attribute attribute;
	int value;
};

/* The lists that threads have read before cuInit(), and cuInit(); and the later one of these */
static struct overrides {
	struct override entry[OVERRIDES];
	unsigned int count;
} lists[2];

static _Atomic(const struct overrides *) overrides = &lists[0];

/* Reads a number that ends at @end. */
bool attribute_number(const char *text, const char *end, int *value)
{
	char *stop;
	long read;

	errno = 0;
	read = strtol(text, &stop, 0);
	*value = read;
	return stop == end && stop != text && !errno && *value == read;
}

/* Finds an attribute by its name or its number. */
bool attribute_named(const char *name, size_t length, CUdevice_attribute *attribute)
{
	int number;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i].name) == length && !memcmp(names[i].name, name, length)) {
			*attribute = names[i].attribute;
			return true;
		}
	}
	if (!attribute_number(name, name + length, &number) || number < 1 ||
	    number >= CU_DEVICE_ATTRIBUTE_MAX)
		return false;
	*attribute = number;
	return true;
}

static const char no_name[] = "no such attribute";

/* Return: what is wrong with an entry, or NULL. */
static const char *override_parse(const char *text, int devices, struct override *override)
{
	const char *colon = strchr(text, ':');
	const char *equals = strchr(text, '=');
	const char *name = colon ? colon + 1 : text;

	override->device = ALL_DEVICES;
	if (!equals || (colon && colon > equals))
		return "not of the form NAME=VALUE or DEVICE:NAME=VALUE";
	if (colon && (!attribute_number(text, colon, &override->device) || override->device < 0 ||
		      override->device >= devices))
		return "no such device";
	if (!attribute_named(name, equals - name, &override->attribute))
		return no_name;
	if (!attribute_number(equals + 1, text + strlen(text), &override->value))
		return "not a number";
	return NULL;
}

static void say_names(void)
{
	fputs("memcast: " VARIABLE ": the attributes are", stderr);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		fprintf(stderr, "%s %s", i ? "," : "", names[i].name);
	fputc('\n', stderr);
}

static char *list_given(void)
{
	const char *given = secure_getenv(VARIABLE);

	return given ? strdup(given) : NULL;
}

void attribute_overrides_read(const struct visible_list *visible, bool init)
{
	char *list = list_given(), *rest = list, *text;
	struct overrides *into = &lists[init];

	while ((text = strsep(&rest, ",")) && into->count < OVERRIDES) {
		struct override *entry = &into->entry[into->count];

		if (override_parse(text, (int)visible->seen, entry))
			continue;
		if (entry->device != ALL_DEVICES)
			entry->device = (int)visible->order[entry->device];
		into->count++;
	}
	free(list);
	overrides = into;
}

/*
 * Prints what is wrong in the list. Not done by attribute_overrides_read(): writing may take
 * for ever.
 */
void attribute_overrides_complain(int devices)
{
	char *list = list_given(), *rest = list, *text;
	unsigned int good = 0;
	bool misnamed = false;

	while ((text = strsep(&rest, ","))) {
		struct override unused;
		const char *wrong = good == OVERRIDES ? "too many" :
				    override_parse(text, devices, &unused);

		if (wrong)
			fprintf(stderr, "memcast: " VARIABLE ": '%s' is ignored: %s\n",
				text, wrong);
		else
			good++;
		misnamed |= wrong == no_name;
	}
	free(list);
	if (misnamed)
		say_names();
}

bool attribute_override(int *value, CUdevice_attribute attribute, CUdevice device)
{
	const struct overrides *list = overrides;

	for (unsigned int i = list->count; i--; ) {
		const struct override *override = &list->entry[i];

		if (override->attribute == attribute &&
		    (override->device == ALL_DEVICES || override->device == device)) {
			*value = override->value;
			return true;
		}
	}
	return false;
}
