/* SPDX-License-Identifier: MIT */
/* Calls of the module without the library, for tests that include memcast_test.h. */
#ifndef MEMCAST_RAW_H
#define MEMCAST_RAW_H

#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include <uapi/memcast.h>

/* Return: 0 or errno */
static inline int raw(int fd, unsigned long request, void *argument, size_t size)
{
	((struct memcast_header *)argument)->size = size;
	return ioctl(fd, request, argument) ? errno : 0;
}

#define RAW(fd, NAME, arg)	raw(fd, MEMCAST_##NAME, &(arg), sizeof(arg))

#endif /* MEMCAST_RAW_H */
