/* SPDX-License-Identifier: MIT */
/* What memcast counts at the windows of a process's teams; memcast-smi shows it, too. */
#ifndef NCCL_COUNT_H
#define NCCL_COUNT_H

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <memcast.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Teams that were counted, each once, however many handles there are */
struct counted {
	uint64_t team[64], sum;
	unsigned int count;
};

/* Reads the list of what the client with a key holds: memcast.h describes its lines. */
static void count_client(uint64_t key, const char *what, struct counted *counted)
{
	struct memcast_client_list list = { .header.size = sizeof(list), .key = key };
	int device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	char line[4096], word[32];
	uint64_t team, value;
	unsigned int i;
	FILE *file;

	snprintf(word, sizeof(word), " %s ", what);
	file = ioctl(device, MEMCAST_CLIENT_LIST, &list) ? NULL : fdopen(list.out_fd, "r");
	while (file && fgets(line, sizeof(line), file)) {
		char *found = strstr(line, word);

		if (!found || sscanf(line, "memcast-%*[a-z]: team %" SCNu64, &team) != 1)
			continue;
		for (i = 0; i < counted->count && counted->team[i] != team; i++)
			;
		if (i < counted->count || counted->count == 64)
			continue;
		counted->team[counted->count++] = team;
		if (sscanf(found + strlen(word), "%" SCNu64, &value) == 1)
			counted->sum += value;
	}
	if (file)
		fclose(file);
	close(device);
}

/* @what: "writes" of copies and fills, or "multimem" operations of kernels that have ended */
static uint64_t windows_count(const char *what)
{
	struct counted counted = {};
	struct dirent *entry;
	char path[300], line[256];
	DIR *all = opendir("/proc/self/fdinfo");
	uint64_t key;
	FILE *file;

	while (all && (entry = readdir(all))) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "memcast-key: %" SCNu64, &key) == 1)
				count_client(key, what, &counted);
		if (file)
			fclose(file);
	}
	if (all)
		closedir(all);
	return counted.sum;
}

#endif /* NCCL_COUNT_H */
