/* SPDX-License-Identifier: MIT */
/*
 * takes.c: commands that make the module take memory of the machine, straight from the ioctls. Each
 * needs a process of its own, as it keeps what it takes.
 */
#ifndef MEMCAST_TAKES_H
#define MEMCAST_TAKES_H

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "raw.h"

#define TAKE_PAGE	((unsigned long)getpagesize())
#define TAKE_CHUNK	(2UL << 20)

struct take {
	const char *name;
	/* calls of @once that together take some MiB */
	unsigned int count;
	/* bytes per call that the kernel itself, not the module, charges to nobody */
	unsigned int core;
	/* Return: 0, or the errno of the failed call; ENOTSUP: this machine cannot do it */
	int (*prepare)(void);
	int (*once)(unsigned int i);
};

/* Return: NULL after the last */
const struct take *take_at(unsigned int number);
int take_open(int *device);

#define HEAP_TAKES	9
extern const struct take heap_takes[HEAP_TAKES];

#define UNUSED	__attribute__((unused))

#endif /* MEMCAST_TAKES_H */
