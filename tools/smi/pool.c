// SPDX-License-Identifier: MIT
/* memcast-smi pool: who holds how much of each pool, as pictures in characters */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "smi.h"

#define WIDTH	64	/* characters of a whole pool */

static struct json_object *part(struct json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

static int64_t get(struct json_object *object, const char *name)
{
	return json_object_get_int64(part(object, name));
}

/* A letter for each process: after the 52nd they begin anew. Several have '+'. */
static char letter_of(struct json_object *processes, struct json_object *pids)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (json_object_array_length(pids) > 1)
		return '+';
	for (size_t i = 0; i < json_object_array_length(processes); i++)
		if (json_object_equal(part(json_object_array_get_idx(processes, i), "pid"),
				      json_object_array_get_idx(pids, 0)))
			return letters[i % (sizeof(letters) - 1)];
	return '?';
}

/* At least one character for whatever there is, as long as there is room */
static size_t draw(char *picture, size_t at, char letter, int64_t bytes, int64_t total)
{
	size_t length = (size_t)((bytes * WIDTH + total / 2) / total);

	if (!length && bytes)
		length = 1;
	if (length > WIDTH - at)
		length = WIDTH - at;
	memset(picture + at, letter, length);
	return at + length;
}

static void print_pool(struct json_object *all, struct json_object *device)
{
	struct json_object *memories = part(all, "memories");
	int64_t total = get(device, "total"), used = total - get(device, "free");
	char picture[WIDTH + 1] = "";
	size_t at = 0;

	memset(picture, '.', WIDTH);
	for (size_t i = 0; total && i < json_object_array_length(memories); i++) {
		struct json_object *memory = json_object_array_get_idx(memories, i);

		if (!strcmp(json_object_get_string(part(memory, "where")),
			    json_object_get_string(part(device, "device"))))
			at = draw(picture, at, letter_of(part(all, "processes"), part(memory, "pids")),
				  get(memory, "bytes"), total);
	}
	if (total && used > get(device, "seen"))
		draw(picture, at, '?', used - get(device, "seen"), total);
	printf("%6" PRId64 "  %s  %" PRId64 " of %" PRId64 " MiB\n", get(device, "device"), picture,
	       used >> 20, total >> 20);
}

/* A program may have chosen what does something to a terminal. */
static void print_name(const char *name)
{
	for (; *name; name++)
		putchar((*name > 0 && *name < ' ') || *name == 0x7f ? '?' : *name);
	putchar('\n');
}

void smi_pool_print(struct json_object *all)
{
	struct json_object *devices = part(all, "devices"), *processes = part(all, "processes");

	puts("DEVICE");
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		print_pool(all, json_object_array_get_idx(devices, i));
	puts("\n+ several processes  ? processes that are not shown  . free");
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		struct json_object *pids = json_object_new_array();

		json_object_array_add(pids, json_object_get(part(process, "pid")));
		printf("%c %" PRId64 " ", letter_of(processes, pids), get(process, "pid"));
		print_name(json_object_get_string(part(process, "name")));
		json_object_put(pids);
	}
}
