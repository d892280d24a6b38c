// SPDX-License-Identifier: MIT
/* -i: leaves in the JSON what concerns the chosen devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "smi.h"

/* Is @word the device's number, its UUID with or without "GPU-", or its address on the bus? */
static bool is_called(struct json_object *device, const char *word)
{
	const char *uuid = json_object_get_string(part(device, "uuid"));

	return !strcmp(word, json_object_get_string(part(device, "device"))) ||
	       !strcasecmp(word, uuid) ||
	       (!strncasecmp(word, "GPU-", 4) && !strcasecmp(word + 4, uuid)) ||
	       !strcasecmp(word, json_object_get_string(part(device, "address")));
}

/* Has an array an object with the same value of that name as @one? */
static bool contains(struct json_object *array, const char *name, struct json_object *one)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		if (json_object_equal(part(json_object_array_get_idx(array, i), name),
				      part(one, name)))
			return true;
	return false;
}

/* Does a process, memory or team concern that device? */
typedef bool (*touches)(struct json_object *one, struct json_object *device);

static bool process_touches(struct json_object *process, struct json_object *device)
{
	return json_object_object_get_ex(part(process, "memory"),
					 json_object_get_string(part(device, "device")), NULL);
}

static bool memory_touches(struct json_object *memory, struct json_object *device)
{
	return !strcmp(json_object_get_string(part(memory, "where")),
		       json_object_get_string(part(device, "device")));
}

static bool team_touches(struct json_object *team, struct json_object *device)
{
	return contains(part(team, "members"), "device", device);
}

static void keep(struct json_object *all, const char *name, touches touches)
{
	struct json_object *from = part(all, name), *devices = part(all, "devices");
	struct json_object *kept = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(from); i++) {
		struct json_object *one = json_object_array_get_idx(from, i);
		bool any = false;

		for (size_t d = 0; d < json_object_array_length(devices); d++)
			any |= touches(one, json_object_array_get_idx(devices, d));
		if (any)
			json_object_array_add(kept, json_object_get(one));
	}
	json_object_object_add(all, name, kept);
}

/* Leaves the activities of the processes that are left. */
static void keep_activities(struct json_object *all)
{
	struct json_object *from = part(all, "activities"), *kept = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(from); i++) {
		struct json_object *one = json_object_array_get_idx(from, i);

		if (contains(part(all, "processes"), "pid", one))
			json_object_array_add(kept, json_object_get(one));
	}
	json_object_object_add(all, "activities", kept);
}

bool smi_choose(struct json_object *all, const char *words)
{
	struct json_object *devices = part(all, "devices"), *chosen = json_object_new_array();
	char *copy = strdup(words), *rest = copy, *word;
	bool found = copy;

	while (found && (word = strsep(&rest, ","))) {
		found = false;
		for (size_t d = 0; d < json_object_array_length(devices); d++) {
			struct json_object *device = json_object_array_get_idx(devices, d);

			if (!is_called(device, word))
				continue;
			found = true;
			if (contains(chosen, "device", device))
				continue;
			json_object_array_add(chosen, json_object_get(device));
		}
		if (!found)
			fprintf(stderr, "memcast-smi: no device %s\n", word);
	}
	free(copy);
	json_object_object_add(all, "devices", chosen);
	keep(all, "processes", process_touches);
	keep(all, "memories", memory_touches);
	keep(all, "teams", team_touches);
	keep_activities(all);
	return found;
}
