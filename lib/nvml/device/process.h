/* SPDX-License-Identifier: MIT */
/* Processes that hold memory of a device. */
#ifndef MEMCAST_NVML_PROCESS_H
#define MEMCAST_NVML_PROCESS_H

#include <stdlib.h>

#include "library.h"

struct process {
	unsigned int pid;
	unsigned long long bytes;
};

/*
 * Return: false: there is no memory, or no file descriptor; else the caller frees *@found, even if
 * *@count is 0.
 */
bool processes_of(unsigned int device, struct process **found, unsigned int *count);

#endif /* MEMCAST_NVML_PROCESS_H */
