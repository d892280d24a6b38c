/* SPDX-License-Identifier: MIT */
/*
 * What this process does that may take for ever: kernels that run, streams that wait for a word.
 * memcast-smi shows it, from outside (tools/smi/activity.c): the memory has the name that
 * /proc/PID/maps shows, and is an array of records as below.
 */
#ifndef LIBRARY_ACTIVITY_H
#define LIBRARY_ACTIVITY_H

#include <stdint.h>

#define ACTIVITY_MEMORY		"memcast-activity"
#define ACTIVITY_RECORDS	64
/* behind the records: a count of 64 bits, of what activity_done() was told */
#define ACTIVITY_DONE_AT	(ACTIVITY_RECORDS * sizeof(struct activity))

struct activity {
	uint64_t begun;			/* nanoseconds of CLOCK_MONOTONIC; 0: no record */
	char what[248];			/* "kernel sum"; texts end with a 0 */
	char where[768];		/* at what it waits, or "" */
};

/* Return: a record; NULL: there is none, which the other functions accept */
struct activity *activity_begin(uint64_t begun, const char *what, const char *name);
void activity_where(struct activity *activity, const char *text);
void activity_end(struct activity *activity);
uint64_t activity_now(void);
/* A command of the module, or a piece of a stream's work, has ended: the program does not spin. */
void activity_done(void);

#endif /* LIBRARY_ACTIVITY_H */
