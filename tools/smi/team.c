// SPDX-License-Identifier: MIT
/* Teams, as /proc has them: the lines are described in include/uapi/memcast.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smi.h"

#define add(object, name, value)	json_object_object_add(object, name, value)
#define number(value)			json_object_new_int64(value)
#define string(value)			json_object_new_string(value)

/* Return: the number behind a word of the line; 0 without the word, as with an older module */
static int64_t after(const char *line, const char *word)
{
	const char *found = strstr(line, word);

	return found ? atoll(found + strlen(word)) : 0;
}

static struct json_object *member_of(struct json_object *all, int64_t device)
{
	for (size_t i = 0; i < json_object_array_length(all); i++)
		if (get(json_object_array_get_idx(all, i), "device") == device)
			return json_object_array_get_idx(all, i);
	return NULL;
}

/* Marks members whose process, the one that added the device, has ended. */
static void see_ended(struct json_object *all, const char *text, const struct smi_count *count)
{
	struct json_object *member;
	int device, length;

	if (strncmp(text, " ended", 6))
		return;
	for (text += 6; sscanf(text, " %d%n", &device, &length) == 1; text += length) {
		member = member_of(all, smi_number(count, device));
		if (member)
			add(member, "ended", json_object_new_boolean(true));
	}
}

static struct json_object *members(const char *text, const struct smi_count *count)
{
	struct json_object *all = json_object_new_array(), *member;
	int64_t bound;
	int device, length;

	while (sscanf(text, " %d:%" SCNd64 "%n", &device, &bound, &length) == 2) {
		member = json_object_new_object();
		add(member, "device", number(smi_number(count, device)));
		add(member, "bound", number(bound));
		json_object_array_add(all, member);
		text += length;
	}
	if (strncmp(text, " joined", 7))
		return all;
	text += 7;
	for (size_t i = 0; i < json_object_array_length(all); i++, text += length) {
		if (sscanf(text, " %" SCNd64 "%n", &bound, &length) != 1)
			break;
		add(json_object_array_get_idx(all, i), "pid", number(bound));
	}
	see_ended(all, text, count);
	return all;
}

/* Every member gets an array, as /proc has no line of bindings for a member without bindings. */
static void add_bindings(struct json_object *members)
{
	for (size_t i = 0; i < json_object_array_length(members); i++)
		add(json_object_array_get_idx(members, i), "bindings", json_object_new_array());
}

/* Adds the bindings of one member, once: each process that has the team has the same line. */
void smi_team_bindings(struct json_object *team, int64_t device, const char *text)
{
	struct json_object *member, *bindings, *binding;
	int64_t at, memory, from, bytes;
	int length;

	member = team ? member_of(json_object_object_get(team, "members"), device) : NULL;
	bindings = json_object_object_get(member, "bindings");
	if (!bindings || json_object_array_length(bindings))
		return;
	while (sscanf(text, " %" SCNd64 ":%" SCNd64 ":%" SCNd64 ":%" SCNd64 "%n", &at, &memory,
		      &from, &bytes, &length) == 4) {
		binding = json_object_new_object();
		add(binding, "at", number(at));
		add(binding, "memory", number(memory));
		add(binding, "from", number(from));
		add(binding, "bytes", number(bytes));
		json_object_array_add(bindings, binding);
		text += length;
	}
	if (sscanf(text, " more %" SCNd64, &bytes) == 1)
		add(member, "untold", number(bytes));
}

/* Adds the devices that have not joined, and how many members are missing. */
static void see_missing(struct json_object *team, size_t devices)
{
	struct json_object *members = json_object_object_get(team, "members");
	struct json_object *others = json_object_new_array();
	size_t joined = json_object_array_length(members);

	add(team, "missing", number(get(team, "devices") - joined));
	for (size_t device = 0; device < devices; device++)
		if (!member_of(members, (int64_t)device))
			json_object_array_add(others, number(device));
	add(team, "others", others);
}

/* The driver API's name of a command that waits */
static const char *call_of(const char *command)
{
	return !strcmp(command, "BIND_MEMORY") ? "cuMulticastBindMem" :
	       !strcmp(command, "BIND_ADDRESS") ? "cuMulticastBindAddr" : "cuMemMap";
}

/* Adds a call that waits for the team, if the line has one. */
void smi_team_wait(struct json_object *team, const char *rest)
{
	const char *waits = strstr(rest, " waits ");
	struct json_object *wait;
	int64_t pid, ms;
	char command[16];

	if (!waits || sscanf(waits, " waits %" SCNd64 " %15s %" SCNd64, &pid, command, &ms) != 3)
		return;
	wait = json_object_new_object();
	add(wait, "pid", number(pid));
	add(wait, "call", string(call_of(command)));
	add(wait, "ms", number(ms));
	json_object_array_add(json_object_object_get(team, "waits"), wait);
}

/*
 * @rest: the rest of a team's line; @count: the numbering in its file; @all: how many devices there
 * are. Return: NULL if the line is not a team's
 */
struct json_object *smi_team(const char *id, int64_t bytes, const char *rest,
			     const struct smi_count *count, size_t all)
{
	struct json_object *team;
	int devices, length = 0;

	if (sscanf(rest, "devices %d members%n", &devices, &length) != 1 || !length)
		return NULL;
	team = json_object_new_object();
	add(team, "team", number(atoll(id)));
	add(team, "size", number(bytes));
	add(team, "devices", number(devices));
	add(team, "members", members(rest + length, count));
	add_bindings(json_object_object_get(team, "members"));
	add(team, "writes", number(after(rest + length, " writes ")));
	add(team, "multimem", number(after(rest + length, " multimem ")));
	see_missing(team, all);
	add(team, "waits", json_object_new_array());
	add(team, "pids", json_object_new_array());
	return team;
}
