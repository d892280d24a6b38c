// SPDX-License-Identifier: MIT
/* --query-gpu and --query-compute-apps: chosen fields, as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nvidia.h"

/* Return: the end of the next word of a list with commas, which begins at *@word then; or NULL */
static const char *next(const char **word)
{
	if (!*word)
		return NULL;
	*word += strspn(*word, " ");
	return *word + strcspn(*word, ",");
}

static const char *behind(const char *end)
{
	return *end ? end + 1 : NULL;
}

static size_t trimmed(const char *word, const char *end)
{
	while (end > word && end[-1] == ' ')
		end--;
	return end - word;
}

bool nvidia_format_parse(struct nvidia_format *format, const char *text)
{
	bool csv = false;
	const char *end;

	for (const char *word = text; (end = next(&word)); word = behind(end)) {
		size_t length = trimmed(word, end);

		if (nvidia_same("csv", word, length))
			csv = true;
		else if (nvidia_same("noheader", word, length))
			format->no_header = true;
		else if (nvidia_same("nounits", word, length))
			format->no_units = true;
		else
			return false;
	}
	return csv;
}

/* Prints a value, without its unit if the format says so. */
static void print_value(char *value, const char *unit, const struct nvidia_format *format)
{
	size_t length = strlen(value), tail = unit ? strlen(unit) + 1 : 0;

	if (format->no_units && tail && length > tail && !strcmp(value + length - tail + 1, unit))
		value[length - tail] = '\0';
	fputs(value, stdout);
}

static int not_a_field(const char *word, const char *end)
{
	printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)trimmed(word, end), word);
	return NVIDIA_USAGE;
}

bool nvidia_fields_known(const char *names)
{
	const char *end;

	for (const char *word = names; (end = next(&word)); word = behind(end))
		if (!nvidia_field(word, trimmed(word, end)))
			return false;
	return true;
}

static void print_header(const char *name, const char *unit, bool first)
{
	printf("%s%s", first ? "" : ", ", name);
	if (unit)
		printf(" [%s]", unit);
}

int nvidia_query(const struct nvidia_devices *devices, const char *names,
		 const struct nvidia_format *format, bool first)
{
	char value[NVIDIA_VALUE];
	const char *word, *end;

	names += strspn(names, " ");
	for (word = names; (end = next(&word)); word = behind(end))
		if (!nvidia_field(word, trimmed(word, end)))
			return not_a_field(word, end);
	for (word = names; first && !format->no_header && (end = next(&word)); word = behind(end)) {
		const struct nvidia_field *field = nvidia_field(word, trimmed(word, end));

		print_header(field->name, field->unit, word == names);
	}
	if (first && !format->no_header)
		putchar('\n');
	for (unsigned int i = 0; i < devices->count; i++) {
		for (word = names; (end = next(&word)); word = behind(end)) {
			const struct nvidia_field *field = nvidia_field(word, trimmed(word, end));
			bool good = nvidia_value(field, &devices->at[i], value);

			fputs(word == names ? "" : ", ", stdout);
			if (good)
				print_value(value, field->unit, format);
			else
				printf("[%s]", value);
		}
		putchar('\n');
	}
	return NVIDIA_GOOD;
}

/* ---- processes */

enum app { APP_DEVICE, APP_PID, APP_NAME, APP_MEMORY, APP_ABSENT };

static const struct app_field {
	const char *name, *other, *unit;
	enum app what;
	const char *field;	/* of the device */
} app_fields[] = {
	{ "timestamp", NULL, NULL, APP_DEVICE, "timestamp" },
	{ "gpu_name", NULL, NULL, APP_DEVICE, "name" },
	{ "gpu_bus_id", NULL, NULL, APP_DEVICE, "pci.bus_id" },
	{ "gpu_serial", NULL, NULL, APP_DEVICE, "serial" },
	{ "gpu_uuid", NULL, NULL, APP_DEVICE, "uuid" },
	{ "pid", NULL, NULL, APP_PID, NULL },
	{ "process_name", "name", NULL, APP_NAME, NULL },
	{ "used_gpu_memory", "used_memory", "MiB", APP_MEMORY, NULL },
};

/* Fields that only processes which have ended have; memcast keeps no accounts of those. */
static const struct app_field accounted_fields[] = {
	{ "vgpu_instance", NULL, NULL, APP_ABSENT, NULL },
	{ "gpu_utilization", "gpu_util", "%", APP_ABSENT, NULL },
	{ "mem_utilization", "mem_util", "%", APP_ABSENT, NULL },
	{ "max_memory_usage", "max_memory", "MiB", APP_ABSENT, NULL },
	{ "time", NULL, "ms", APP_ABSENT, NULL },
};

static const struct app_field *app_field_in(const struct app_field *fields, size_t count,
					    const char *word, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (nvidia_same(fields[i].name, word, length) ||
		    nvidia_same(fields[i].other, word, length))
			return &fields[i];
	return NULL;
}

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static const struct app_field *app_field(const char *word, size_t length, bool accounted)
{
	const struct app_field *field = app_field_in(app_fields, COUNT(app_fields), word, length);

	if (!field && accounted)
		field = app_field_in(accounted_fields, COUNT(accounted_fields), word, length);
	return field;
}

static void print_app(const struct app_field *field, const struct nvidia_device *device,
		      const nvmlProcessInfo_t *process, const struct nvidia_format *format)
{
	char value[NVIDIA_VALUE];

	switch (field->what) {
	case APP_PID:
		printf("%u", process->pid);
		return;
	case APP_NAME:
		fputs(nvidia_process_name(process), stdout);
		return;
	case APP_MEMORY:
		snprintf(value, sizeof(value), "%llu MiB", process->usedGpuMemory >> 20);
		print_value(value, field->unit, format);
		return;
	default:
		if (nvidia_value(nvidia_field(field->field, strlen(field->field)), device, value))
			fputs(value, stdout);
		else
			printf("[%s]", value);
	}
}

int nvidia_query_apps(const struct nvidia_devices *devices, const char *names,
		      const struct nvidia_format *format, bool first, bool accounted)
{
	const char *word, *end;

	names += strspn(names, " ");
	for (word = names; (end = next(&word)); word = behind(end))
		if (!app_field(word, trimmed(word, end), accounted))
			return not_a_field(word, end);
	for (word = names; first && !format->no_header && (end = next(&word)); word = behind(end)) {
		const struct app_field *field = app_field(word, trimmed(word, end), accounted);

		print_header(field->name, field->unit, word == names);
	}
	if (first && !format->no_header)
		putchar('\n');
	for (unsigned int i = 0; i < devices->count && !accounted; i++) {
		const nvmlProcessInfo_t *list;
		size_t count = nvidia_processes(&devices->at[i], &list);

		for (size_t p = 0; p < count; p++) {
			for (word = names; (end = next(&word)); word = behind(end)) {
				fputs(word == names ? "" : ", ", stdout);
				print_app(app_field(word, trimmed(word, end), false),
					  &devices->at[i], &list[p], format);
			}
			putchar('\n');
		}
	}
	return NVIDIA_GOOD;
}

static void print_names(const char *name, const char *other, bool has)
{
	printf("\"%s\"", name);
	if (other)
		printf(" or \"%s\"", other);
	puts(has ? "" : "  ([N/A]: memcast has none)");
}

void nvidia_help_query(const char *what)
{
	bool apps = strcmp(what, "gpu"), accounted = !strcmp(what, "accounted-apps");

	printf("The fields, which --query-%s takes with commas between:\n\n", what);
	for (size_t i = 0; apps && i < COUNT(app_fields); i++)
		print_names(app_fields[i].name, app_fields[i].other, true);
	for (size_t i = 0; accounted && i < COUNT(accounted_fields); i++)
		print_names(accounted_fields[i].name, accounted_fields[i].other, true);
	for (size_t i = 0; !apps && i < nvidia_fields_count; i++)
		print_names(nvidia_fields[i].name, nvidia_fields[i].other, nvidia_fields[i].get);
}
