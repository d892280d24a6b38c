// SPDX-License-Identifier: MIT
/*
 * The processes that hold memory of a device, from /proc/PID/fdinfo/ of each open /dev/memcast or
 * host's file; uapi/memcast.h describes the lines. A memory counts once for a process, however
 * many handles and mappings it has there. An inherited file is open in several processes, and
 * counts only for the first one found. A user finds his own processes, root all.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

/* Folder of the hosts' files. One that is in the place of /dev/memcast has that name. */
#define HOST_PATH	"/dev/memcast-host/"

/* Numbers of the memories, or of the clients, that have been counted */
struct seen {
	unsigned long long *numbers;
	size_t count, room;
	bool failed;
};

static bool seen_before(struct seen *seen, unsigned long long number)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->numbers[i] == number)
			return true;
	if (seen->count == seen->room) {
		size_t room = seen->room ? 2 * seen->room : 64;
		void *more = reallocarray(seen->numbers, room, sizeof(*seen->numbers));

		if (!more) {
			seen->failed = true;
			return true;
		}
		seen->numbers = more;
		seen->room = room;
	}
	seen->numbers[seen->count++] = number;
	return false;
}

/* State of a search through all processes */
struct look {
	unsigned int device;	/* number in the machine */
	struct seen memories;	/* counted for this process */
	struct seen clients;	/* counted for any process */
};

static unsigned long long read_file(const char *path, struct look *look)
{
	unsigned long long bytes = 0, number, size;
	unsigned int on, first = 0, all = DEVICES_MAX;
	size_t room = 0;
	char *line = NULL;
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	while (getline(&line, &room, file) > 0) {
		const char *words = strchr(line, '\t');

		if (sscanf(line, "memcast-client: %llu", &number) == 1 &&
		    seen_before(&look->clients, number))
			break;
		/* the next lines have device numbers of this file */
		sscanf(line, "memcast-host: %*u first %u of %u", &first, &all);
		if (!words || (strncmp(line, "memcast-handle:", 15) &&
			       strncmp(line, "memcast-mapping:", 16)))
			continue;
		if (sscanf(words, " memory %llu bytes %llu device %u", &number, &size, &on) == 3 &&
		    (on + first) % all == look->device && !seen_before(&look->memories, number))
			bytes += size;
	}
	free(line);
	fclose(file);
	return bytes;
}

/* Return: how many bytes of the device's memory a process holds. */
static unsigned long long look_process(const char *pid, struct look *look)
{
	unsigned long long bytes = 0;
	char path[64 + NAME_MAX], target[64];
	struct dirent *entry;
	ssize_t length;
	DIR *dir;

	look->memories.count = 0;
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (!isdigit(*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fd/%s", pid, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		if (strcmp(target, DEVICE_PATH) && strncmp(target, HOST_PATH, strlen(HOST_PATH)))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%s", pid, entry->d_name);
		bytes += read_file(path, look);
	}
	closedir(dir);
	return bytes;
}

static bool failed(const struct look *look)
{
	return look->memories.failed || look->clients.failed;
}

bool processes_of(unsigned int device, struct process **found, unsigned int *count)
{
	struct look look = { .device = state_first() + device };
	size_t room = 16;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	*count = 0;
	*found = calloc(room, sizeof(**found));
	while (dir && *found && !failed(&look) && (entry = readdir(dir))) {
		unsigned long long bytes = isdigit(*entry->d_name) ?
					   look_process(entry->d_name, &look) : 0;

		if (!bytes)
			continue;
		if (*count == room) {
			void *more = reallocarray(*found, room *= 2, sizeof(**found));

			look.clients.failed = !more;
			if (!more)
				break;
			*found = more;
		}
		(*found)[(*count)++] = (struct process) { atoi(entry->d_name), bytes };
	}
	if (dir)
		closedir(dir);
	free(look.memories.numbers);
	free(look.clients.numbers);
	if (*found && !failed(&look))
		return true;
	free(*found);
	return false;
}
