/* SPDX-License-Identifier: MIT */
/*
 * memcast-bench: suites measure; each result is a line with a value and the peer
 * that it is compared with. A suite is a function in a file NAME.c, and a line in
 * the table of memcast-bench.c.
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
	/* NULL, or why the suite cannot run on this machine */
	const char *(*obstacle)(void);
	/* memcast-vm's options for a machine where the suite can run; NULL: none */
	const char *machine;
	bool counted;	/* the values are exact, so they are recorded and checked */
	void (*run)(struct bench *bench);
};

extern const struct bench_suite bench_bulk, bench_group, bench_team, bench_map, bench_control,
				bench_growth, bench_rack, bench_launch, bench_translated,
				bench_many, bench_ptx;

/*
 * One result. The ratio is value / peer; with @faster, for times under a bar that
 * says "times faster", peer / value. 0 in at_least or at_most is no bar. A line
 * without @against has no peer.
 */
struct bench_line {
	const char *measure;	/* "broadcast": what is measured */
	const char *parameters;	/* "N=4, 64 MiB, 2 threads" */
	double value;
	const char *unit;
	double peer;		/* in the same unit */
	const char *against;	/* "STREAM-like limit of this run" */
	bool faster;
	double ratio;		/* 0: as above; else a median of paired ratios */
	double low, high;	/* the ratio's confidence interval; 0: not known */
	double at_least, at_most;
};

/* Copies what @line points to. */
void bench_add(struct bench *bench, const struct bench_line *line);

/* Adds a line that says which measurement this machine cannot make, and why. */
void bench_skip(struct bench *bench, const char *measure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints progress to stderr, every 2 s at most. */
void bench_progress(struct bench *bench, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Are less accurate results wanted, in less time? */
bool bench_quick(const struct bench *bench);

/* "64 MiB": a static string, which the eighth call from now overwrites */
const char *bench_bytes(uint64_t bytes);

/* ---- time.c */

double bench_now(void);
double bench_median(double *values, unsigned int count);

/* A median, and the interval that has the true one in 19 of 20 cases, given 6 or more values */
struct bench_median {
	double value, low, high;
};

struct bench_median bench_median_of(double *values, unsigned int count);

/*
 * Runs all racers in turn, at least @least times, after one round that does not count, so that a
 * machine which gets slower gets slower for all. Rounds in which the scheduler took a CPU away are
 * repeated, and rounds are added as long as the intervals of the leads are wide.
 */
struct bench_racer {
	double (*run)(void *arg);	/* returns the seconds that the run took */
	void *arg;
	double seconds;			/* the median */
	struct bench_median lead;	/* this racer's time / the first racer's */
};

void bench_race(struct bench_racer *racers, unsigned int count, unsigned int least);

/* ---- shared by the parts of memcast-bench, not for suites */

struct bench_result {
	char *suite, *measure, *parameters, *unit, *against;	/* parameters may be "" */
	double value, peer, ratio, low, high, at_least, at_most;
	bool holds;
	bool noisy;		/* the bar may hold: it is between low and high */
	char *skipped;		/* why the line was skipped; then all numbers are 0 */
};

struct bench {
	const struct bench_suite *suite;	/* the suite that runs */
	bool quick;
	double shown;				/* the time of the last progress line */
	bool line_open;				/* that line has no newline on the terminal yet */
	char *counted_on;			/* bench_counting_machine()'s text, or NULL */
	struct bench_result *result;
	size_t count;
};

/* Adds the results of another process, as bench_json() wrote them. */
bool bench_add_json(struct bench *bench, struct json_object *results);
struct json_object *bench_json(const struct bench *bench);
void bench_table(const struct bench *bench);
void bench_progress_end(struct bench *bench);

/* machine.c: suites in a virtual machine. NULL, or why that is not possible. */
const char *bench_machine_obstacle(void);
/* Runs suites with the results in @bench, in a process here if @machine is NULL. */
bool bench_machine_run(struct bench *bench, const char *machine,
		       const char *const *suites, unsigned int count);

/* costs.c */
bool bench_costs_record(const struct bench *bench, const char *path);
int bench_costs_check(const struct bench *bench, const char *path);

#endif /* MEMCAST_TOOLS_BENCH_H */
