// SPDX-License-Identifier: MIT
/* memcast-smi pool: draws, in characters, which processes hold the memory of each pool */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uapi/memcast.h>

#include "shared/name.h"
#include "smi.h"

#define WIDTH	64	/* characters of a line; a lazy pool has one line */
#define LINES	8	/* at most, of an eager pool: a character shows one chunk or several */
#define CHUNK	((int64_t)MEMCAST_GRANULARITY)

/* Each process has a letter; the 53rd has the first one again. Several holders have '+'. */
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

/* ---- places, of eager pools */

void smi_pool_places(struct json_object *memory, const char *text)
{
	struct json_object *places, *place;
	int64_t first, last;
	int length;

	if (!memory || json_object_object_get_ex(memory, "places", NULL))
		return;
	places = json_object_new_array();
	while (sscanf(text, " %" SCNd64 "-%" SCNd64 "%n", &first, &last, &length) == 2) {
		place = json_object_new_object();
		json_object_object_add(place, "at", json_object_new_int64(first * CHUNK));
		json_object_object_add(place, "bytes",
				       json_object_new_int64((last - first + 1) * CHUNK));
		json_object_array_add(places, place);
		text += length;
	}
	json_object_object_add(memory, "places", places);
	if (sscanf(text, " more %" SCNd64, &first) == 1)
		json_object_object_add(memory, "untold", json_object_new_int64(first * CHUNK));
}

bool smi_pool_has_places(struct json_object *all)
{
	return !strcmp(json_object_get_string(part(all, "backing")), "eager");
}

/* Return: the places of a memory, or NULL if it is on another device or has no places */
static struct json_object *places_on(struct json_object *memory, struct json_object *device)
{
	return strcmp(json_object_get_string(part(memory, "where")),
		      json_object_get_string(part(device, "device"))) ?
	       NULL : part(memory, "places");
}

int64_t smi_pool_unplaced(struct json_object *all, struct json_object *device)
{
	int64_t unplaced = get(device, "total") - get(device, "free");
	struct json_object *memories = part(all, "memories");

	for (size_t i = 0; i < json_object_array_length(memories); i++) {
		struct json_object *places = places_on(json_object_array_get_idx(memories, i),
						       device);

		for (size_t k = 0; places && k < json_object_array_length(places); k++)
			unplaced -= get(json_object_array_get_idx(places, k), "bytes");
	}
	/* Memories may have come or gone between the readings of NVML and of /proc. */
	return unplaced > 0 ? unplaced : 0;
}

/* Return: chunks per character, a power of two: no pool has more than LINES lines then */
static int64_t scale_of(struct json_object *devices)
{
	int64_t scale = 1, most = 0;

	for (size_t i = 0; i < json_object_array_length(devices); i++) {
		int64_t chunks = get(json_object_array_get_idx(devices, i), "total") / CHUNK;

		most = chunks > most ? chunks : most;
	}
	while (most > scale * WIDTH * LINES)
		scale *= 2;
	return scale;
}

static void draw_place(char *picture, size_t size, int64_t scale, char letter,
		       struct json_object *place)
{
	int64_t first = get(place, "at") / CHUNK;
	int64_t last = first + get(place, "bytes") / CHUNK - 1;

	for (int64_t at = first / scale; at <= last / scale && at < (int64_t)size; at++)
		picture[at] = picture[at] == '.' || picture[at] == letter ? letter : '+';
}

/* Marks places of no shown process: '?' for used, if the pool is full, ':' for free or used */
static void draw_rest(char *picture, struct json_object *device, int64_t unplaced)
{
	char rest = get(device, "free") ? ':' : '?';

	for (; unplaced && *picture; picture++)
		if (*picture == '.')
			*picture = rest;
}

static void print_places(struct json_object *all, struct json_object *device, int64_t scale)
{
	struct json_object *memories = part(all, "memories");
	int64_t total = get(device, "total"), chunks = total / CHUNK;
	char picture[WIDTH * LINES + 1] = "";
	size_t size = (size_t)((chunks + scale - 1) / scale);

	memset(picture, '.', size);
	for (size_t i = 0; i < json_object_array_length(memories); i++) {
		struct json_object *memory = json_object_array_get_idx(memories, i);
		struct json_object *places = places_on(memory, device);

		for (size_t k = 0; places && k < json_object_array_length(places); k++)
			draw_place(picture, size, scale,
				   letter_of(part(all, "processes"), part(memory, "pids")),
				   json_object_array_get_idx(places, k));
	}
	draw_rest(picture, device, smi_pool_unplaced(all, device));
	printf("%6" PRId64 "  %.*s  %" PRId64 " of %" PRId64 " MiB\n", get(device, "device"), WIDTH,
	       picture, (total - get(device, "free")) >> 20, total >> 20);
	for (size_t at = WIDTH; at < size; at += WIDTH)
		printf("        %.*s\n", WIDTH, picture + at);
}

/* ---- amounts, of lazy pools */

/* Draws an amount as at least one character, as long as there is room */
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

static void print_amounts(struct json_object *all, struct json_object *device)
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
			at = draw(picture, at,
				  letter_of(part(all, "processes"), part(memory, "pids")),
				  get(memory, "bytes"), total);
	}
	if (total && used > get(device, "seen"))
		draw(picture, at, '?', used - get(device, "seen"), total);
	printf("%6" PRId64 "  %s  %" PRId64 " of %" PRId64 " MiB\n", get(device, "device"), picture,
	       used >> 20, total >> 20);
}

void smi_pool_print(struct json_object *all)
{
	struct json_object *devices = part(all, "devices"), *processes = part(all, "processes");
	bool places = smi_pool_has_places(all);
	int64_t scale = scale_of(devices);

	puts("DEVICE");
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		if (places)
			print_places(all, json_object_array_get_idx(devices, i), scale);
		else
			print_amounts(all, json_object_array_get_idx(devices, i));
	puts("\n+ several processes  ? processes that are not shown  . free");
	if (places)
		printf(": free, or processes that are not shown\n"
		       "a character is %" PRId64 " MiB at its place in the pool\n",
		       scale * CHUNK >> 20);
	else
		printf("lazy pools have no places: in the order of processes, a character is "
		       "1/%d\n", WIDTH);
	for (size_t i = 0; i < json_object_array_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		struct json_object *pids = json_object_new_array();

		json_object_array_add(pids, json_object_get(part(process, "pid")));
		printf("%c %" PRId64 " ", letter_of(processes, pids), get(process, "pid"));
		name_print(json_object_get_string(part(process, "name")));
		putchar('\n');
		json_object_put(pids);
	}
}
