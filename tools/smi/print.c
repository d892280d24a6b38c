// SPDX-License-Identifier: MIT
/* Shows memcast-smi's JSON as tables. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/name.h"
#include "smi.h"

#define MIB(bytes)	((bytes) >> 20)

static void __attribute__((noreturn)) no_memory(void)
{
	fputs("memcast-smi: no memory for a table\n", stderr);
	exit(1);
}

/* Makes a table with a column for each word, aligned to the right if the word begins with '>'. */
static struct libscols_table *table_new(const char *const *columns)
{
	struct libscols_table *table = scols_new_table();

	for (; table && *columns; columns++)
		if (!scols_table_new_column(table, *columns + (**columns == '>'), 0,
					    **columns == '>' ? SCOLS_FL_RIGHT : 0))
			no_memory();
	if (!table)
		no_memory();
	return table;
}

static void __attribute__((format(printf, 3, 4)))
cell(struct libscols_line *line, size_t column, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0 || scols_line_refer_data(line, column, text))
		no_memory();
	va_end(args);
}

static struct libscols_line *line_new(struct libscols_table *table)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		no_memory();
	return line;
}

static void table_end(struct libscols_table *table)
{
	scols_print_table(table);
	scols_unref_table(table);
}

static const char *state_of(struct json_object *device)
{
	return json_object_get_string(json_object_object_get(device, "state"));
}

/* If all devices are ready, the table needs no column for their states. */
static bool all_ready(struct json_object *devices)
{
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		if (strcmp(state_of(json_object_array_get_idx(devices, i)), "ready"))
			return false;
	return true;
}

static void print_devices(struct json_object *devices)
{
	const char *columns[] = {
		"DEVICE", ">NODE", ">TOTAL", ">USED", ">SEEN", "UUID", NULL, NULL, NULL
	};
	bool hosts = smi_has_hosts(devices), states = !all_ready(devices);
	struct libscols_table *table;

	if (hosts)
		columns[6] = ">HOST";
	if (states)
		columns[6 + hosts] = "STATE";
	table = table_new(columns);

	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		struct json_object *device = json_object_array_get_idx(devices, i);
		struct libscols_line *line = line_new(table);

		cell(line, 0, "%" PRId64, get(device, "device"));
		cell(line, 1, "%" PRId64, get(device, "node"));
		cell(line, 2, "%" PRId64 " MiB", MIB(get(device, "total")));
		cell(line, 3, "%" PRId64 " MiB", MIB(get(device, "total") - get(device, "free")));
		cell(line, 4, "%" PRId64 " MiB", MIB(get(device, "seen")));
		cell(line, 5, "%s", json_object_get_string(json_object_object_get(device, "uuid")));
		if (hosts)
			cell(line, 6, "%" PRId64, get(device, "host"));
		if (states)
			cell(line, 6 + hosts, "%s", state_of(device));
	}
	table_end(table);
}

/* Opens a text for writing; text_end() completes it. */
static FILE *text_start(char **text)
{
	static size_t size;
	FILE *out = open_memstream(text, &size);

	if (!out)
		no_memory();
	return out;
}

static void text_end(FILE *out)
{
	if (fclose(out))
		no_memory();
}

/* "a, b": the elements of an array, or the names and sizes in an object */
static char *list(struct json_object *of)
{
	char *text;
	FILE *out = text_start(&text);
	const char *comma = "";

	if (json_object_is_type(of, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(of); i++, comma = ", ")
			fprintf(out, "%s%" PRId64, comma,
				json_object_get_int64(json_object_array_get_idx(of, i)));
	} else {
		json_object_object_foreach(of, where, bytes) {
			fprintf(out, "%s%s: %" PRId64 " MiB", comma, where,
				MIB(json_object_get_int64(bytes)));
			comma = ", ";
		}
	}
	text_end(out);
	return text;
}

/* Sets a cell to a text, or "-" if it is empty, and frees the text. */
static void cell_text(struct libscols_line *line, size_t column, char *text)
{
	cell(line, column, "%s", *text ? text : "-");
	free(text);
}

static void cell_list(struct libscols_line *line, size_t column, struct json_object *of)
{
	cell_text(line, column, list(of));
}

static void print_processes(struct json_object *processes)
{
	static const char *const columns[] = {
		">PID", "NAME", "MEMORY BY DEVICE", "TEAMS", ">FDS", NULL
	};
	struct libscols_table *table = table_new(columns);

	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		struct libscols_line *line = line_new(table);

		cell(line, 0, "%" PRId64, get(process, "pid"));
		cell(line, 1, "%s",
		     json_object_get_string(json_object_object_get(process, "name")));
		cell_list(line, 2, json_object_object_get(process, "memory"));
		cell_list(line, 3, json_object_object_get(process, "teams"));
		cell(line, 4, "%" PRId64, get(process, "fds"));
	}
	table_end(table);
}

/* "1 of 2, 3": how many members are missing, of which devices; "2, 3" if all these are missing */
static void cell_missing(struct libscols_line *line, size_t column, struct json_object *team)
{
	struct json_object *could = json_object_object_get(team, "others");
	char *others = list(could);

	if (get(team, "missing") &&
	    get(team, "missing") == (int64_t)json_object_array_length(could))
		cell(line, column, "%s", others);
	else if (get(team, "missing"))
		cell(line, column, "%" PRId64 " of %s", get(team, "missing"), others);
	else
		cell(line, column, "-");
	free(others);
}

static const char *name_of(struct json_object *processes, int64_t pid)
{
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);

		if (get(process, "pid") == pid)
			return json_object_get_string(json_object_object_get(process, "name"));
	}
	return "?";
}

/* "712 rank0: 5.1 s in cuMulticastBindMem" */
static void cell_waits(struct libscols_line *line, size_t column, struct json_object *waits,
		       struct json_object *processes)
{
	char *text;
	FILE *out = text_start(&text);

	for (size_t i = 0; i < json_object_array_length(waits); i++) {
		struct json_object *wait = json_object_array_get_idx(waits, i);

		fprintf(out, "%s%" PRId64 " %s: %.1f s in %s", i ? ", " : "", get(wait, "pid"),
			name_of(processes, get(wait, "pid")), get(wait, "ms") / 1e3,
			json_object_get_string(json_object_object_get(wait, "call")));
	}
	text_end(out);
	cell_text(line, column, text);
}

/* "0: 2 MiB, 1: 0 MiB (712 has ended)" */
static void cell_bound(struct libscols_line *line, size_t column, struct json_object *members)
{
	char *text;
	FILE *out = text_start(&text);

	for (size_t i = 0; i < json_object_array_length(members); i++) {
		struct json_object *member = json_object_array_get_idx(members, i);

		fprintf(out, "%s%" PRId64 ": %" PRId64 " MiB", i ? ", " : "", get(member, "device"),
			MIB(get(member, "bound")));
		if (get(member, "ended") && get(member, "pid"))
			fprintf(out, " (%" PRId64 " has ended)", get(member, "pid"));
		else if (get(member, "ended"))
			fputs(" (its process has ended)", out);
	}
	text_end(out);
	cell_text(line, column, text);
}

static void print_teams(struct json_object *teams, struct json_object *processes)
{
	static const char *const columns[] = {
		">TEAM", ">SIZE", "JOINED", "MISSING", "WAITING SINCE", "BOUND BY DEVICE",
		">WRITES", ">MULTIMEM", "PIDS",
		NULL
	};
	struct libscols_table *table = table_new(columns);

	for (size_t i = 0; i < json_object_array_length(teams); i++) {
		struct json_object *team = json_object_array_get_idx(teams, i);
		struct json_object *members = json_object_object_get(team, "members");
		struct libscols_line *line = line_new(table);

		cell(line, 0, "%" PRId64, get(team, "team"));
		cell(line, 1, "%" PRId64 " MiB", MIB(get(team, "size")));
		cell(line, 2, "%zu of %" PRId64, json_object_array_length(members),
		     get(team, "devices"));
		cell_missing(line, 3, team);
		cell_waits(line, 4, json_object_object_get(team, "waits"), processes);
		cell_bound(line, 5, members);
		cell(line, 6, "%" PRId64, get(team, "writes"));
		cell(line, 7, "%" PRId64, get(team, "multimem"));
		cell_list(line, 8, json_object_object_get(team, "pids"));
	}
	table_end(table);
}

/* Kernels that end at once would only flicker. */
static void print_activities(struct json_object *activities, struct json_object *processes)
{
	bool any = false;

	for (size_t i = 0; i < json_object_array_length(activities); i++) {
		struct json_object *activity = json_object_array_get_idx(activities, i);
		const char *where = json_object_get_string(json_object_object_get(activity, "where"));

		if (get(activity, "ms") < 1000)
			continue;
		printf("%s%" PRId64 " ", any ? "" : "\n", get(activity, "pid"));
		name_print(name_of(processes, get(activity, "pid")));
		printf(": %s, for %.1f s%s%s\n",
		       json_object_get_string(json_object_object_get(activity, "what")),
		       get(activity, "ms") / 1e3, *where ? ": " : "", where);
		any = true;
	}
}

static void print_header(struct json_object *all)
{
	struct json_object *version = json_object_object_get(all, "version");
	const char *const names[] = { "tool", "module", "linux" };

	printf("%s  ", json_object_get_string(json_object_object_get(all, "time")));
	for (size_t i = 0; i < 3; i++)
		printf("%s %s  ", i ? names[i] : "memcast-smi",
		       json_object_get_string(json_object_object_get(version, names[i])));
	printf("driver %s  CUDA %s\n\n",
	       json_object_get_string(json_object_object_get(all, "driver")),
	       json_object_get_string(json_object_object_get(all, "cuda")));
}

void smi_print(struct json_object *all)
{
	struct json_object *processes = json_object_object_get(all, "processes");
	struct json_object *teams = json_object_object_get(all, "teams");
	int64_t unseen = get(all, "unseen");

	print_header(all);
	print_devices(json_object_object_get(all, "devices"));
	putchar('\n');
	if (json_object_array_length(processes))
		print_processes(processes);
	else
		puts("no process uses them");
	if (json_object_array_length(teams)) {
		putchar('\n');
		print_teams(teams, processes);
	}
	print_activities(json_object_object_get(all, "activities"), processes);
	if (unseen)
		printf("\nprocesses that you may not look into: %" PRId64 "; root may\n", unseen);
}
