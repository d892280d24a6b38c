// SPDX-License-Identifier: MIT
/* --query-gpu, --query-compute-apps and so on: chosen fields, as CSV. */
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

/* ---- processes, rows, pages and clocks */

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

enum what { OF_DEVICE, PID, NAME, MEMORY, ABSENT };

/* Fields of all these queries */
static const struct other_field {
	const char *name, *other, *unit;
	enum what what;
	const char *field;	/* of the device */
} common_fields[] = {
	{ "timestamp", NULL, NULL, OF_DEVICE, "timestamp" },
	{ "gpu_name", NULL, NULL, OF_DEVICE, "name" },
	{ "gpu_bus_id", NULL, NULL, OF_DEVICE, "pci.bus_id" },
	{ "gpu_serial", NULL, NULL, OF_DEVICE, "serial" },
	{ "gpu_uuid", NULL, NULL, OF_DEVICE, "uuid" },
}, app_fields[] = {
	{ "pid", NULL, NULL, PID, NULL },
	{ "process_name", "name", NULL, NAME, NULL },
	{ "used_gpu_memory", "used_memory", "MiB", MEMORY, NULL },
	/* Only processes that have ended have these; memcast keeps no accounts of those. */
	{ "vgpu_instance", NULL, NULL, ABSENT, NULL },
	{ "gpu_utilization", "gpu_util", "%", ABSENT, NULL },
	{ "mem_utilization", "mem_util", "%", ABSENT, NULL },
	{ "max_memory_usage", "max_memory", "MiB", ABSENT, NULL },
	{ "time", NULL, "ms", ABSENT, NULL },
}, row_fields[] = {
#define ROWS(name)	{ "remapped_rows." name, NULL, NULL, OF_DEVICE, "remapped_rows." name }
	ROWS("correctable"), ROWS("uncorrectable"), ROWS("pending"), ROWS("failure"),
	ROWS("histogram.max"), ROWS("histogram.high"), ROWS("histogram.partial"),
	ROWS("histogram.low"), ROWS("histogram.none"),
}, page_fields[] = {
	{ "retired_pages.address", NULL, NULL, ABSENT, NULL },
	{ "retired_pages.cause", NULL, NULL, ABSENT, NULL },
}, clock_fields[] = {
	{ "memory", "mem", "MHz", ABSENT, NULL },
	{ "graphics", "gr", "MHz", ABSENT, NULL },
};

/* No page is retired, and NVML has no list of clocks, so these have no lines. */
static const struct other_query {
	const char *what;
	const struct other_field *fields;
	size_t count;
	enum { NO_LINES, LINES_OF_DEVICES, LINES_OF_PROCESSES } lines;
} other_queries[] = {
	{ "compute-apps", app_fields, 3, LINES_OF_PROCESSES },
	{ "accounted-apps", app_fields, COUNT(app_fields), NO_LINES },
	{ "remapped-rows", row_fields, COUNT(row_fields), LINES_OF_DEVICES },
	{ "retired-pages", page_fields, COUNT(page_fields), NO_LINES },
	{ "supported-clocks", clock_fields, COUNT(clock_fields), NO_LINES },
};

static const struct other_query *other_query(const char *what)
{
	const struct other_query *query = other_queries;

	while (strcmp(query->what, what))
		query++;
	return query;
}

/* Return: field @i of those that a query has; NULL: there are no more */
static const struct other_field *field_at(const struct other_query *query, size_t i)
{
	if (i < COUNT(common_fields))
		return &common_fields[i];
	i -= COUNT(common_fields);
	return i < query->count ? &query->fields[i] : NULL;
}

static const struct other_field *other_field(const struct other_query *query, const char *word,
					     size_t length)
{
	const struct other_field *field;

	for (size_t i = 0; (field = field_at(query, i)); i++)
		if (nvidia_same(field->name, word, length) ||
		    nvidia_same(field->other, word, length))
			break;
	return field;
}

static void print_other(const struct other_field *field, const struct nvidia_device *device,
			const nvmlProcessInfo_t *process, const struct nvidia_format *format)
{
	char value[NVIDIA_VALUE];

	switch (field->what) {
	case PID:
		printf("%u", process->pid);
		return;
	case NAME:
		fputs(nvidia_process_name(process), stdout);
		return;
	case MEMORY:
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

int nvidia_query_others(const struct nvidia_devices *devices, const char *what, const char *names,
			const struct nvidia_format *format, bool first)
{
	const struct other_query *query = other_query(what);
	const char *word, *end;

	names += strspn(names, " ");
	for (word = names; (end = next(&word)); word = behind(end))
		if (!other_field(query, word, trimmed(word, end)))
			return not_a_field(word, end);
	for (word = names; first && !format->no_header && (end = next(&word)); word = behind(end)) {
		const struct other_field *field = other_field(query, word, trimmed(word, end));

		print_header(field->name, field->unit, word == names);
	}
	if (first && !format->no_header)
		putchar('\n');
	for (unsigned int i = 0; i < devices->count && query->lines; i++) {
		const nvmlProcessInfo_t *list = NULL;
		size_t count = query->lines == LINES_OF_DEVICES ? 1 :
			nvidia_processes(&devices->at[i], &list);

		for (size_t p = 0; p < count; p++) {
			for (word = names; (end = next(&word)); word = behind(end)) {
				fputs(word == names ? "" : ", ", stdout);
				print_other(other_field(query, word, trimmed(word, end)),
					    &devices->at[i], list ? &list[p] : NULL, format);
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
	const struct other_query *query = strcmp(what, "gpu") ? other_query(what) : NULL;
	const struct other_field *field;

	printf("The fields, which --query-%s takes with commas between:\n\n", what);
	for (size_t i = 0; query && (field = field_at(query, i)); i++)
		print_names(field->name, field->other, true);
	for (size_t i = 0; !query && i < nvidia_fields_count; i++)
		print_names(nvidia_fields[i].name, nvidia_fields[i].other, nvidia_fields[i].get);
}
