/* SPDX-License-Identifier: MIT */
/*
 * Jobs that the suite "bulk" times: work on the arrays of a view, by one thread or two, and the
 * limits that the machine sets to such work.
 */
#ifndef MEMCAST_TOOLS_BENCH_JOBS_H
#define MEMCAST_TOOLS_BENCH_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <memcast/view.h>

#define JOB_THREADS	2

/* The part of one thread: its share of a view and of a buffer */
struct part {
	struct memcast_view view;
	unsigned char *buffer;
	size_t bytes;
	size_t piece;
	unsigned int times;
};

struct job {
	void (*run)(struct part *part);
	struct part part[JOB_THREADS];
	unsigned int threads;
	bool again;	/* run each part once before the clock starts, to fill the caches */
	unsigned int turn;
	double seconds[JOB_THREADS];
};

/*
 * Runs a job's parts and returns the time of the slowest: CPU time of its thread, in which
 * other programs on that CPU do not count. @arg: the job.
 */
double job_run(void *arg);

/* The thread for second parts; it waits busily from its start until its end. */
void job_helper_start(void);
void job_helper_stop(void);

/* ---- limits.c: the same memory traffic, and no other work */

/* Lines of all replicas are written past the caches. */
void limit_write(struct part *part);
/* A line of the buffer is read, and written past the caches to all replicas. */
void limit_read_write_all(struct part *part);
/* Lines of all replicas are read. */
void limit_read(struct part *part);
/* A line of each replica is read, and one made of them is written past the caches. */
void limit_read_all_write(struct part *part);

#endif /* MEMCAST_TOOLS_BENCH_JOBS_H */
