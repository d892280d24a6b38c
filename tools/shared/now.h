/* SPDX-License-Identifier: MIT */
#ifndef MEMCAST_TOOLS_NOW_H
#define MEMCAST_TOOLS_NOW_H

#include <time.h>

/* Return: seconds of the monotonic clock */
static inline double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif /* MEMCAST_TOOLS_NOW_H */
