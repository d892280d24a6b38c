/* SPDX-License-Identifier: MIT */
/*
 * The file of the device that a process has open, for who opens it: lib/device/open.c and
 * lib/entry/init.c; and for ioctl.c, which learns that the host was lost. Everyone else asks
 * library_ready() and library_fd().
 */
#ifndef MEMCAST_PROCESS_H
#define MEMCAST_PROCESS_H

#include "library.h"

/* A page that fork() clears. Without it there is nothing of what follows. */
bool process_has_state(void);
bool process_ended(void);
/* In this process, or in one that it was forked from */
bool process_was_opened(void);

/* While the file is opened; in a child of fork() nobody has the lock. */
void process_lock(void);
void process_unlock(void);
void process_opened(int fd);

/* For the calling thread alone, which only looks at devices. process_take_back(): that fd */
void process_lend(int fd);
int process_take_back(void);

/* What cuInit() answered: calls that come after a failure repeat it. */
void process_note_failure(CUresult result);

/* The kernel has said that the process's host was lost: no call does anything any more. */
void library_lose(void);

#endif /* MEMCAST_PROCESS_H */
