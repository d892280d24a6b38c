// SPDX-License-Identifier: MIT
/*
 * Who holds what of a device, from /proc/PID/fdinfo/ of each open /dev/memcast; the lines
 * are described in uapi/memcast.h. A memory counts once for a process, however many
 * handles and mappings show it. One sees one's own processes, root sees all.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

#define DEVICE_PATH	"/dev/memcast"

/* Numbers of the memories that count already */
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

static unsigned long long read_file(const char *path, unsigned int device, struct seen *seen)
{
	unsigned long long bytes = 0, number, size;
	unsigned int on;
	size_t room = 0;
	char *line = NULL;
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	while (getline(&line, &room, file) > 0) {
		const char *words = strchr(line, '\t');

		if (!words || (strncmp(line, "memcast-handle:", 15) &&
			       strncmp(line, "memcast-mapping:", 16)))
			continue;
		if (sscanf(words, " memory %llu bytes %llu device %u", &number, &size, &on) == 3 &&
		    on == device && !seen_before(seen, number))
			bytes += size;
	}
	free(line);
	fclose(file);
	return bytes;
}

/* Return: whether the process has the device file open at all */
static bool look_process(const char *pid, unsigned int device, unsigned long long *bytes,
			 struct seen *seen)
{
	char path[64 + NAME_MAX], target[64];
	struct dirent *entry;
	bool opened = false;
	ssize_t length;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!isdigit(*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.16s/fd/%s", pid, entry->d_name);
		length = readlink(path, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		if (strcmp(target, DEVICE_PATH))
			continue;
		opened = true;
		snprintf(path, sizeof(path), "/proc/%.16s/fdinfo/%s", pid, entry->d_name);
		*bytes += read_file(path, device, seen);
	}
	closedir(dir);
	return opened;
}

bool processes_of(unsigned int device, struct process **found, unsigned int *count)
{
	struct seen seen = {};
	struct dirent *entry;
	size_t room = 16;
	DIR *dir = opendir("/proc");

	*count = 0;
	*found = calloc(room, sizeof(**found));
	while (dir && *found && !seen.failed && (entry = readdir(dir))) {
		unsigned long long bytes = 0;

		seen.count = 0;
		if (!isdigit(*entry->d_name) ||
		    !look_process(entry->d_name, device, &bytes, &seen) || !bytes)
			continue;
		if (*count == room) {
			void *more = reallocarray(*found, room *= 2, sizeof(**found));

			seen.failed = !more;
			if (!more)
				break;
			*found = more;
		}
		(*found)[(*count)++] = (struct process) { atoi(entry->d_name), bytes };
	}
	if (dir)
		closedir(dir);
	free(seen.numbers);
	if (*found && !seen.failed)
		return true;
	free(*found);
	return false;
}
