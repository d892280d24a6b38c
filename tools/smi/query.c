// SPDX-License-Identifier: MIT
/* Prints chosen fields of devices, as CSV or one below the other, with nvidia-smi's names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/name.h"
#include "smi.h"

enum unit { WORD, COUNT, BYTES };

struct query_field {
	const char *name, *what;
	enum unit unit;
	/* the field's name in a device's JSON, or a function that computes the field */
	const char *member;
	int64_t (*number)(struct json_object *all, struct json_object *device);
};

static int64_t count_all(struct json_object *all, struct json_object *device)
{
	(void)device;
	return get(all, "count");
}

static int64_t used(struct json_object *all, struct json_object *device)
{
	(void)all;
	return get(device, "total") - get(device, "free");
}

static int64_t processes_of(struct json_object *all, struct json_object *device)
{
	struct json_object *processes = part(all, "processes");
	const char *id = json_object_get_string(part(device, "device"));
	int64_t count = 0;

	for (size_t i = 0; i < json_object_array_length(processes); i++)
		count += json_object_object_get_ex(part(json_object_array_get_idx(processes, i),
							"memory"), id, NULL);
	return count;
}

/* Return: the number of teams that a device is in, or the bytes that it has bound in teams */
static int64_t in_teams(struct json_object *all, struct json_object *device, bool bytes)
{
	struct json_object *teams = part(all, "teams");
	int64_t sum = 0;

	for (size_t i = 0; i < json_object_array_length(teams); i++) {
		struct json_object *members = part(json_object_array_get_idx(teams, i), "members");

		for (size_t m = 0; m < json_object_array_length(members); m++) {
			struct json_object *member = json_object_array_get_idx(members, m);

			if (get(member, "device") == get(device, "device"))
				sum += bytes ? get(member, "bound") : 1;
		}
	}
	return sum;
}

static int64_t teams_of(struct json_object *all, struct json_object *device)
{
	return in_teams(all, device, false);
}

static int64_t bound_of(struct json_object *all, struct json_object *device)
{
	return in_teams(all, device, true);
}

static const struct query_field fields[] = {
	{ "timestamp", "when it was looked at", WORD, "time", NULL },
	{ "driver_version", "the driver's version, as NVML has it", WORD, "driver", NULL },
	{ "count", "how many devices there are", COUNT, NULL, count_all },
	{ "index", "the device's number", COUNT, "device", NULL },
	{ "name", "what the device is called", WORD, "name", NULL },
	{ "uuid", "its UUID", WORD, "uuid", NULL },
	{ "pci.bus_id", "its address on the bus", WORD, "address", NULL },
	{ "host", "the emulated host that it is on", COUNT, "host", NULL },
	{ "state", "ready, or in_progress or failed: its links; or lost, with its host", WORD,
	  "state", NULL },
	{ "numa_node", "the NUMA node of its memory", COUNT, "node", NULL },
	{ "memory.total", "bytes of its pool", BYTES, "total", NULL },
	{ "memory.used", "bytes of it in use", BYTES, NULL, used },
	{ "memory.free", "bytes of it that are free", BYTES, "free", NULL },
	{ "memory.taken", "bytes that it has of the machine: all, or what was touched", BYTES,
	  "taken", NULL },
	{ "memory.seen", "bytes that the processes have which one may look into", BYTES, "seen",
	  NULL },
	{ "processes", "how many processes have memory of it", COUNT, NULL, processes_of },
	{ "teams", "how many teams it has joined", COUNT, NULL, teams_of },
	{ "memory.bound", "bytes that are bound to teams", BYTES, NULL, bound_of },
};

static const struct query_field *field_of(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == length && !strncmp(fields[i].name, name, length))
			return &fields[i];
	return NULL;
}

bool smi_query_parse(struct smi_query *query, const char *names)
{
	const char *name = names, *end;

	query->count = 0;
	for (;; name = end + 1) {
		name += strspn(name, " ");
		end = name + strcspn(name, ",");
		if (query->count == SMI_FIELDS)
			return false;
		query->field[query->count] = field_of(name, (size_t)(end - name));
		if (!query->field[query->count++])
			return false;
		if (!*end)
			return true;
	}
}

bool smi_format_parse(struct smi_query *query, const char *format)
{
	char *copy = strdup(format), *rest = copy, *word;
	bool csv = false, known = copy;

	while (known && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "csv"))
			csv = true;
		else if (!strcmp(word, "noheader"))
			query->no_header = true;
		else if (!strcmp(word, "nounits"))
			query->no_units = true;
		else
			known = false;
	}
	free(copy);
	return known && csv;
}

void smi_query_help(void)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		printf("%-16s %s\n", fields[i].name, fields[i].what);
}

static void print_field(const struct query_field *field, struct json_object *all,
			struct json_object *device, bool units)
{
	struct json_object *value = field->member ? part(device, field->member) : NULL;
	int64_t number;

	if (field->unit == WORD) {
		/* A field that is not in a device's JSON is one of the whole machine. */
		if (!value)
			value = part(all, field->member);
		fputs(!strcmp(field->name, "uuid") ? "GPU-" : "", stdout);
		name_print(json_object_get_string(value));
		return;
	}
	number = field->number ? field->number(all, device) : json_object_get_int64(value);
	if (field->unit == BYTES)
		printf("%" PRId64 "%s", number >> 20, units ? " MiB" : "");
	else
		printf("%" PRId64, number);
}

void smi_query_print(const struct smi_query *query, struct json_object *all, bool header)
{
	struct json_object *devices = part(all, "devices");

	for (size_t i = 0; header && !query->no_header && i < query->count; i++)
		printf("%s%s%s", i ? ", " : "", query->field[i]->name,
		       query->field[i]->unit == BYTES && !query->no_units ? " [MiB]" : "");
	if (header && !query->no_header)
		putchar('\n');
	for (size_t d = 0; d < json_object_array_length(devices); d++) {
		for (size_t i = 0; i < query->count; i++) {
			fputs(i ? ", " : "", stdout);
			print_field(query->field[i], all, json_object_array_get_idx(devices, d),
				    !query->no_units);
		}
		putchar('\n');
	}
}

/* "Team 12 ... 2 of 3 joined, waits" below its device */
static void print_teams_of(struct json_object *all, struct json_object *device)
{
	struct json_object *teams = part(all, "teams");

	for (size_t i = 0; i < json_object_array_length(teams); i++) {
		struct json_object *team = json_object_array_get_idx(teams, i);
		struct json_object *members = part(team, "members");

		for (size_t m = 0; m < json_object_array_length(members); m++) {
			struct json_object *member = json_object_array_get_idx(members, m);

			if (get(member, "device") != get(device, "device"))
				continue;
			printf("    Team %-27" PRId64 ": joined by process %" PRId64 "%s, %" PRId64
			       " of %" PRId64 " MiB bound, %" PRId64 " of %" PRId64
			       " members missing, %zu calls wait\n", get(team, "team"),
			       get(member, "pid"),
			       get(member, "ended") ? " which has ended" : "",
			       get(member, "bound") >> 20,
			       get(team, "size") >> 20, get(team, "missing"), get(team, "devices"),
			       json_object_array_length(part(team, "waits")));
		}
	}
}

static void print_processes_of(struct json_object *all, struct json_object *device)
{
	struct json_object *processes = part(all, "processes"), *bytes;
	const char *id = json_object_get_string(part(device, "device"));

	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);

		if (!json_object_object_get_ex(part(process, "memory"), id, &bytes))
			continue;
		printf("    Process %-24" PRId64 ": ", get(process, "pid"));
		name_print(json_object_get_string(part(process, "name")));
		printf(", %" PRId64 " MiB\n", json_object_get_int64(bytes) >> 20);
	}
}

void smi_query_print_all(struct json_object *all)
{
	struct json_object *devices = part(all, "devices");

	for (size_t d = 0; d < json_object_array_length(devices); d++) {
		struct json_object *device = json_object_array_get_idx(devices, d);

		printf("\nDevice %s\n", json_object_get_string(part(device, "address")));
		for (size_t i = 3; i < sizeof(fields) / sizeof(*fields); i++) {
			printf("    %-32s: ", fields[i].name);
			print_field(&fields[i], all, device, true);
			putchar('\n');
		}
		print_teams_of(all, device);
		print_processes_of(all, device);
	}
}
