// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/activity.h"
#include "shared/activity.h"

#define MEMORY	"/memfd:" ACTIVITY_MEMORY

uintptr_t activity_find(pid_t pid)
{
	unsigned long start, found = 0;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0)
		if (strstr(line, MEMORY) && sscanf(line, "%lx", &start) == 1)
			found = start;
	free(line);
	if (file)
		fclose(file);
	return found;
}
