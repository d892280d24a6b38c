/* SPDX-License-Identifier: MIT */
/* Commands to the module without the library, for tests that include memcast_test.h */
#ifndef MEMCAST_RAW_H
#define MEMCAST_RAW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <uapi/memcast.h>

/* Return: 0 or errno */
static inline int raw(int fd, unsigned long request, void *argument, size_t size)
{
	((struct memcast_header *)argument)->size = size;
	return ioctl(fd, request, argument) < 0 ? errno : 0;
}

/* Return: the number of a process's first fd of /dev/memcast, or -1 */
static inline int raw_fd_of(pid_t pid)
{
	char link[32], name[32];

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
		length = readlink(link, name, sizeof(name) - 1);
		if (length > 0 && !strcmp((name[length] = 0, name), "/dev/memcast"))
			return fd;
	}
	return -1;
}

/*
 * Return: the library's own fd, for commands that the module takes although the library, like
 * NVIDIA's driver, refuses the call
 */
static inline int raw_library_fd(void)
{
	return raw_fd_of(getpid());
}

#define RAW(fd, NAME, arg)	raw(fd, MEMCAST_##NAME, &(arg), sizeof(arg))

#endif /* MEMCAST_RAW_H */
