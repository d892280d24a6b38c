/* SPDX-License-Identifier: MIT */
/*
 * Whether a program makes progress, for limits that hold on a busy machine as well.
 *
 * A program gives a sign of life when it writes output or uses a processor. Time in
 * which it waited for a processor that other programs had does not count.
 */
#ifndef VM_PROGRESS_H
#define VM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* memcast-vm's first process writes the host's time to this file, for processes in the machine. */
#define PROGRESS_CLOCK	"/run/memcast-vm.clock"

/* SPINS: said once, of a program that goes on */
enum verdict { GOES_ON, SPINS, STUCK, SILENT, TOO_LONG };

struct process {
	pid_t pid, parent;
	double processor;	/* seconds that it and its ended children have used */
	bool ours;		/* it descends from the calling process */
};

/* A thread's seconds on a processor, and of waiting for one */
struct thread_time {
	pid_t tid;
	double ran, waited;
	bool wants;		/* waits for a processor, or has one, at the moment of the check */
	double counted;		/* seconds of a wait that the kernel has not added yet */
};

struct progress {
	/* Limits in seconds: without a sign of life, without output (0: none), in all (0: none) */
	double timeout, silence, limit;
	pid_t others;		/* a process that does not count, nor do its descendants; or 0 */
	bool output_only;	/* use of a processor is no sign of life */

	bool output;		/* there was output since the last check */
	double checked;		/* the time of the last check, by the monotonic clock */
	double clock;		/* the same by the host's clock, or -1 */
	/* seconds that count: so far, at the last sign of life, at the last output */
	double now, sign, wrote;
	double processor;
	/*
	 * A program that uses a processor, and has done nothing with memcast since @active: what it
	 * had done is looked at from half the timeout on
	 */
	double active;
	uint64_t activity;
	bool looks, spins;	/* @activity is known; it was said */
	struct thread_time *threads;
	size_t thread_count;
};

/* Call progress_check() often: calls within two seconds of a check return at once. */
void progress_start(struct progress *progress);
enum verdict progress_check(struct progress *progress);

/* Explains the verdict, in words that follow the name of a program. */
void progress_words(const struct progress *progress, enum verdict verdict,
		    char *words, size_t size);

/* All processes of the machine; the caller frees them. */
struct process *processes(size_t *count);

/*
 * Sums up what libcuda.so.1 has done for processes of ours: commands of the module, work of
 * streams. Return: has any process the library?
 */
bool activity_sum(const struct process *list, size_t count, uint64_t *sum);

/* Kill all descendants of the calling process, and reap them. Return: whether all went */
bool progress_kill(void);

/* The same, two seconds after SIGTERM, for processes that tidy up on that */
bool progress_end(void);

/* Prints where each process waits, and the output of @smi; each line begins with @prefix. */
void explain(int to, const char *prefix, const char *smi);

#endif /* VM_PROGRESS_H */
