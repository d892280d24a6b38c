// SPDX-License-Identifier: MIT
/* The module's lists of what clients hold: include/uapi/memcast.h describes their lines. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "smi.h"

/* A client of memcast-smi's own, by which it asks for the others' lists; -1: none yet */
static int device = -1;

/*
 * @path: the client's file as its process has it; @key: the client's. Return: NULL if there is no
 * list, as the client has gone
 */
FILE *smi_list(const char *path, uint64_t key)
{
	struct memcast_client_list list = { .header.size = sizeof(list), .key = key };
	FILE *file;

	if (device < 0)
		device = open(path, O_RDWR | O_CLOEXEC);
	if (device < 0)
		device = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, MEMCAST_CLIENT_LIST, &list))
		return NULL;
	file = fdopen(list.out_fd, "r");
	if (!file)
		close(list.out_fd);
	return file;
}

bool smi_list_is_own(const char *pid, const char *fd)
{
	return device >= 0 && atoi(pid) == getpid() && atoi(fd) == device;
}

void smi_list_end(void)
{
	if (device >= 0)
		close(device);
	device = -1;
}
