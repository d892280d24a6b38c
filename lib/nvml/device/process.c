// SPDX-License-Identifier: MIT
/*
 * The processes that hold memory of a device, from /proc/PID/fdinfo/ of each open /dev/memcast or
 * host's file, and the module's list of what it holds; uapi/memcast.h describes the lines. A memory
 * counts once for a process, however many handles and mappings it has there. An inherited file is
 * open in several processes, and counts only for the first one found. A user finds his own
 * processes, root all.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "library.h"

/* Folder of the hosts' files. One that is in the place of /dev/memcast has that name. */
#define HOST_PATH	"/dev/memcast-host/"

/* Numbers of the memories, or of the clients, that have been counted: a hash table */
struct seen {
	unsigned long long *numbers;	/* each plus 1; 0: a free place */
	size_t count, room;		/* @room is 0 or a power of two, at least twice @count */
};

/* Return: the place of a number, or the free one where it is to be. */
static unsigned long long *place_of(const struct seen *seen, unsigned long long number)
{
	/* numbers that follow each other get places far from each other */
	size_t at = (number * 0x9e3779b97f4a7c15) >> 32;

	while (seen->numbers[at % seen->room] && seen->numbers[at % seen->room] != number + 1)
		at++;
	return &seen->numbers[at % seen->room];
}

static bool make_room(struct seen *seen)
{
	struct seen larger = { .count = seen->count, .room = seen->room ? 2 * seen->room : 64 };

	larger.numbers = calloc(larger.room, sizeof(*larger.numbers));
	if (!larger.numbers)
		return false;
	for (size_t i = 0; i < seen->room; i++)
		if (seen->numbers[i])
			*place_of(&larger, seen->numbers[i] - 1) = seen->numbers[i];
	free(seen->numbers);
	*seen = larger;
	return true;
}

/* *@failed: set if there is no memory for the table */
static bool seen_before(struct seen *seen, unsigned long long number, bool *failed)
{
	unsigned long long *place;

	if (2 * (seen->count + 1) > seen->room && !make_room(seen)) {
		*failed = true;
		return true;
	}
	place = place_of(seen, number);
	if (*place)
		return true;
	*place = number + 1;
	seen->count++;
	return false;
}

static void seen_clear(struct seen *seen)
{
	if (seen->count)
		memset(seen->numbers, 0, seen->room * sizeof(*seen->numbers));
	seen->count = 0;
}

/* State of a search through all processes */
struct look {
	unsigned int device;	/* number in the machine */
	struct seen memories;	/* counted for this process */
	struct seen clients;	/* counted for any process */
	int client;		/* own file, to ask for lists; -1: not opened yet */
	bool failed;		/* memory or file descriptors are lacking */
};

/* Whatever else is wrong with a file: its process has ended, or is another user's. */
static void note_failure(struct look *look)
{
	look->failed |= state_lacks_room(errno);
}

/* A client's numbers of devices, and its key; 0: it is counted already, or may not be looked at */
struct client {
	unsigned int first, all;
	uint64_t key;
};

static struct client read_client(const char *path, struct look *look)
{
	struct client client = { .all = DEVICES_MAX };
	unsigned long long number;
	FILE *file = fopen(path, "re");
	char line[128];

	if (!file)
		note_failure(look);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "memcast-client: %llu", &number) == 1 &&
		    seen_before(&look->clients, number, &look->failed))
			break;
		sscanf(line, "memcast-host: %*u first %u of %u", &client.first, &client.all);
		sscanf(line, "memcast-key: %" SCNu64, &client.key);
	}
	if (file)
		fclose(file);
	return client;
}

/* Return: the list of what a client holds, or NULL. @path: its file, as its process has it */
static FILE *open_list(const char *path, uint64_t key, struct look *look)
{
	struct memcast_client_list list = { .header.size = sizeof(list), .key = key };
	FILE *file;

	if (!key)
		return NULL;
	if (look->client < 0)
		look->client = open(path, O_RDWR | O_CLOEXEC);
	if (look->client < 0)
		look->client = open(DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (look->client < 0 || ioctl(look->client, MEMCAST_CLIENT_LIST, &list)) {
		note_failure(look);
		return NULL;
	}
	file = fdopen(list.out_fd, "r");
	if (!file) {
		note_failure(look);
		close(list.out_fd);
	}
	return file;
}

/* Return: how many bytes of the device's memory a client holds that were not counted yet. */
static unsigned long long read_list(FILE *file, const struct client *client, struct look *look)
{
	unsigned long long bytes = 0, number, size;
	unsigned int on;
	size_t room = 0;
	char *line = NULL;

	if (!file)
		return 0;
	while (getline(&line, &room, file) > 0) {
		const char *words = strchr(line, '\t');

		if (!words || (strncmp(line, "memcast-handle:", 15) &&
			       strncmp(line, "memcast-mapping:", 16)))
			continue;
		if (sscanf(words, " memory %llu bytes %llu device %u", &number, &size, &on) == 3 &&
		    (on + client->first) % client->all == look->device &&
		    !seen_before(&look->memories, number, &look->failed))
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
	struct client client;
	ssize_t length;
	DIR *dir;

	seen_clear(&look->memories);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir) {
		note_failure(look);
		return 0;
	}
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
		if (atoi(pid) == getpid() && atoi(entry->d_name) == look->client)
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%s", pid, entry->d_name);
		client = read_client(path, look);
		bytes += read_list(open_list(target, client.key, look), &client, look);
	}
	closedir(dir);
	return bytes;
}

bool processes_of(unsigned int device, struct process **found, unsigned int *count)
{
	struct look look = { .device = state_first() + device, .client = -1 };
	size_t room = 16;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	*count = 0;
	if (!dir)
		note_failure(&look);
	*found = calloc(room, sizeof(**found));
	while (dir && *found && !look.failed && (entry = readdir(dir))) {
		unsigned long long bytes = isdigit(*entry->d_name) ?
					   look_process(entry->d_name, &look) : 0;

		if (!bytes)
			continue;
		if (*count == room) {
			void *more = reallocarray(*found, room *= 2, sizeof(**found));

			look.failed = !more;
			if (!more)
				break;
			*found = more;
		}
		(*found)[(*count)++] = (struct process) { atoi(entry->d_name), bytes };
	}
	if (dir)
		closedir(dir);
	if (look.client >= 0)
		close(look.client);
	free(look.memories.numbers);
	free(look.clients.numbers);
	if (*found && !look.failed)
		return true;
	free(*found);
	return false;
}
