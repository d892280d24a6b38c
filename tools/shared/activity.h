/* SPDX-License-Identifier: MIT */
/* What libcuda.so.1 keeps of its activity in memory of a process (lib/base/activity.h) */
#ifndef TOOLS_ACTIVITY_H
#define TOOLS_ACTIVITY_H

#include <stdint.h>
#include <sys/types.h>

/* Return: the address of a process's records; 0: it has none */
uintptr_t activity_find(pid_t pid);

#endif /* TOOLS_ACTIVITY_H */
