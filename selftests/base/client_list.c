// SPDX-License-Identifier: MIT
/* Lists of what clients hold, by the key in a client's fdinfo. */
#include <fcntl.h>
#include <inttypes.h>

#include "helpers.h"
#include "raw.h"

uint64_t client_key(pid_t pid, int fd)
{
	char path[64], line[128];
	uint64_t key = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "memcast-key: %" SCNu64, &key);
	if (file)
		fclose(file);
	return key;
}

int client_list(int device, uint64_t key)
{
	struct memcast_client_list list = { .key = key };
	int error = RAW(device, CLIENT_LIST, list);

	return error ? -error : list.out_fd;
}
