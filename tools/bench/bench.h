/* SPDX-License-Identifier: MIT */
/*
 * memcast-bench: suites measure, each result is a line that says what it is
 * held against. A suite is a function in a file NAME.c, and a line in the
 * table of memcast-bench.c.
 */
#ifndef MEMCAST_TOOLS_BENCH_H
#define MEMCAST_TOOLS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;
struct json_object;

struct bench_suite {
	const char *name, *about;
	/* NULL, or why it cannot run on this machine */
	const char *(*obstacle)(void);
	/* memcast-vm's options for a machine where it can; NULL: none */
	const char *machine;
	bool counted;	/* its values are exact: they are recorded, and checked */
	void (*run)(struct bench *bench);
};

extern const struct bench_suite bench_bulk, bench_group, bench_team, bench_map, bench_control,
				bench_growth, bench_rack, bench_launch;

/*
 * One result. The ratio is value / peer; of times where less is better and the
 * bar says "times faster", set @faster: peer / value. 0 in at_least and at_most
 * is no bar; no @against: the line stands for itself.
 */
struct bench_line {
	const char *measure;	/* "broadcast": what the plot groups by */
	const char *parameters;	/* "N=4, 64 MiB, 2 threads" */
	double value;
	const char *unit;
	double peer;		/* in the same unit */
	const char *against;	/* "STREAM-like limit of this run" */
	bool faster;
	double ratio;		/* 0: as above; else a median of paired ratios */
	double low, high;	/* where the ratio is in spite of noise; 0: not known */
	double at_least, at_most;
};

/* Copies what @line points to. */
void bench_add(struct bench *bench, const struct bench_line *line);

/* What cannot be measured here, and why. */
void bench_skip(struct bench *bench, const char *measure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* On stderr, every 2 s at most. */
void bench_progress(struct bench *bench, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Less accuracy for less time */
bool bench_quick(const struct bench *bench);

/* "64 MiB": into a buffer of its own, good until the eighth call from now */
const char *bench_bytes(uint64_t bytes);

/* ---- time.c */

double bench_now(void);
double bench_median(double *values, unsigned int count);

/* A median, and where that of many more values is: in 19 of 20 cases, if there are 6 or more */
struct bench_median {
	double value, low, high;
};

struct bench_median bench_median_of(double *values, unsigned int count);

/*
 * Runs all in turn, at least @least times, after one round that does not count, so that a
 * machine which gets slower gets slower for all. Rounds in which the scheduler took a CPU
 * away are repeated, and there are more of them as long as leads differ much.
 */
struct bench_racer {
	double (*run)(void *arg);	/* returns its seconds */
	void *arg;
	double seconds;			/* the median */
	struct bench_median lead;	/* of its time / that of the first */
};

void bench_race(struct bench_racer *racers, unsigned int count, unsigned int least);

/* ---- what the parts of memcast-bench have for each other */

struct bench_result {
	char *suite, *measure, *parameters, *unit, *against;	/* parameters may be "" */
	double value, peer, ratio, low, high, at_least, at_most;
	bool holds;
	bool noisy;		/* it may hold: the bar is between low and high */
	char *skipped;		/* why; then all numbers are 0 */
};

struct bench {
	const struct bench_suite *suite;	/* the one that runs */
	bool quick;
	double shown;				/* when progress was shown */
	bool line_open;				/* a terminal's line is not ended */
	char *counted_on;			/* what the counts depend on, or NULL */
	struct bench_result *result;
	size_t count;
};

/* A line of another process's, as bench_json() wrote it */
bool bench_add_json(struct bench *bench, struct json_object *results);
struct json_object *bench_json(const struct bench *bench);
void bench_table(const struct bench *bench);
void bench_progress_end(struct bench *bench);

/* machine.c: in a virtual machine. NULL, or why that is not possible. */
const char *bench_machine_obstacle(void);
bool bench_machine_run(struct bench *bench, const char *machine,
		       const char *const *suites, unsigned int count);

/* costs.c */
bool bench_costs_record(const struct bench *bench, const char *path);
int bench_costs_check(const struct bench *bench, const char *path);

/* plot.c */
bool bench_plot(const struct bench *bench, const char *path);

#endif /* MEMCAST_TOOLS_BENCH_H */
