// SPDX-License-Identifier: MIT
/* memcast-vm ps: lists the machines that run, and the programs in them */
#include <dirent.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "door.h"
#include "shared/name.h"
#include "vm/wire/wire.h"

static const char *text_of(struct json_object *object, const char *name)
{
	return json_object_get_string(json_object_object_get(object, name));
}

/* Asks a machine for its list. Return: NULL if there is no such machine, or it has gone */
static struct json_object *ask(const char *name)
{
	struct bytes text = { 0 };
	struct json_object *machine;
	int fd = names_connect(name);
	struct frame frame;
	struct wire wire;
	const char *data;

	if (fd < 0)
		return NULL;
	wire = wire_new(fd, fd);
	wire_put(&wire, 0, FRAME_LIST, NULL, 0);
	wire_write(&wire);
	for (bool goes_on = true; goes_on; ) {
		struct pollfd wait = { fd, POLLIN, 0 };

		poll(&wait, 1, -1);
		goes_on = wire_read(&wire);
		while (wire_next(&wire, &frame, &data))
			bytes_add(&text, data, frame.length);
	}
	wire_end(&wire);
	bytes_add(&text, "", 1);
	machine = json_tokener_parse(text.data);
	free(text.data);
	return machine;
}

bool machine_is_reused(const char *name)
{
	struct json_object *machine = ask(name);
	bool reused = json_object_get_boolean(json_object_object_get(machine, "reused"));

	json_object_put(machine);
	return reused;
}

/* "ps aux" */
static void print_command(struct json_object *command)
{
	for (size_t i = 0; i < json_object_array_length(command); i++) {
		fputs(i ? " " : "", stdout);
		name_print(json_object_get_string(json_object_array_get_idx(command, i)));
	}
	putchar('\n');
}

static void print_since(struct json_object *object)
{
	time_t since = json_object_get_int64(json_object_object_get(object, "since"));
	char text[32];

	strftime(text, sizeof(text), "%F %T", localtime(&since));
	printf("%-19s  ", text);
}

static void print_machine(struct json_object *machine)
{
	struct json_object *command = json_object_object_get(machine, "command");
	struct json_object *programs = json_object_object_get(machine, "programs");
	bool starting = json_object_get_boolean(json_object_object_get(machine, "starting"));
	size_t count = json_object_array_length(programs);

	printf("%-16s  ", text_of(machine, "name"));
	print_since(machine);
	printf("%-24s  ", text_of(machine, "kernel"));
	if (starting)
		fputs("starting: ", stdout);
	if (json_object_array_length(command))
		print_command(command);
	else
		puts(count || starting ? "(--reuse)" : "(--reuse, idle)");
	for (size_t i = 0; i < count; i++) {
		struct json_object *program = json_object_array_get_idx(programs, i);

		printf("%-16s  ", "");
		print_since(program);
		printf("%-24s  ", "");
		print_command(json_object_object_get(program, "command"));
	}
}

static int is_name(const struct dirent *entry)
{
	return entry->d_type == DT_SOCK && names_valid(entry->d_name);
}

int machines_list(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json"), names = argc > 1 && !json;
	struct json_object *all = json_object_new_array(), *machine;
	struct dirent **entries;
	int count = scandir(names_folder(), &entries, is_name, alphasort);

	for (int i = 0; i < count; i++) {
		machine = ask(entries[i]->d_name);
		if (machine)
			json_object_array_add(all, machine);
	}
	if (json) {
		puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
		return 0;
	}
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		machine = json_object_array_get_idx(all, i);
		if (names)
			puts(text_of(machine, "name"));
		if (!names && !i)
			printf("%-16s  %-19s  %-24s  %s\n", "NAME", "SINCE", "KERNEL", "RUNS");
		if (!names)
			print_machine(machine);
	}
	if (!names && !json_object_array_length(all))
		puts("no machine with a name runs");
	return 0;
}
