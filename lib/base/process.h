/* SPDX-License-Identifier: MIT */
/*
 * The state of the file of /dev/memcast that a process has open. For the files that open it,
 * lib/device/open.c and lib/entry/init.c, and for ioctl.c, which learns that the host was lost.
 * All other files ask library_ready() and library_fd().
 */
#ifndef MEMCAST_PROCESS_H
#define MEMCAST_PROCESS_H

#include "base.h"

/*
 * Is there a state, in a page that fork() clears? Without it no other function here may be
 * called.
 */
bool process_has_state(void);
bool process_ended(void);
/* Was the file opened in this process, or in one that it was forked from? */
bool process_was_opened(void);

/* held while the file is opened; a child of fork() finds it unlocked */
void process_lock(void);
void process_unlock(void);
void process_opened(int fd);

/*
 * gives an fd to the calling thread alone, which only looks at devices; process_take_back()
 * returns it
 */
void process_lend(int fd);
int process_take_back(void);

/* Notes the result of cuInit(): the reason of later calls repeats a failure. */
void process_note_failure(CUresult result);

/* The kernel has said that the process's host was lost: all calls fail from now on. */
void library_lose(void);

#endif /* MEMCAST_PROCESS_H */
