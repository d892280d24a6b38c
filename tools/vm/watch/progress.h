/* SPDX-License-Identifier: MIT */
/*
 * Whether a program still gets on, for limits that hold on a busy machine as well.
 *
 * A program gives a sign of life when it writes something or uses a processor. Time
 * in which it wanted a processor and other work of the machine had it does not count.
 */
#ifndef VM_PROGRESS_H
#define VM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where memcast-vm's first process keeps the host's clock for those in the machine */
#define PROGRESS_CLOCK	"/run/memcast-vm.clock"

enum verdict { GOES_ON, STUCK, SILENT, TOO_LONG };

struct process {
	pid_t pid, parent;
	double processor;	/* seconds that it and its ended children have used */
	bool ours;		/* the calling process descends to it */
};

/* A thread's seconds on a processor, and of waiting for one */
struct thread_time {
	pid_t tid;
	double ran, waited;
	bool wants;		/* a processor, at the moment of the look */
	double counted;		/* of waiting that the kernel adds when it is over */
};

struct progress {
	/* Seconds: without a sign of life, without output (0: for ever), and in all (likewise) */
	double timeout, silence, limit;
	pid_t others;		/* a process that does not count, nor what descends from it; or 0 */
	bool output_only;	/* use of a processor is no sign of life */

	bool output;		/* since the last look */
	double looked;		/* by the wall's clock */
	double clock;		/* by the host's, where there is one */
	double now, sign, wrote;	/* seconds that count: so far, at the last sign, at the last output */
	double processor;
	struct thread_time *threads;
	size_t thread_count;
};

/* Look every now and then: more often than every two seconds costs nothing. */
void progress_start(struct progress *progress);
enum verdict progress_look(struct progress *progress);

/* What the verdict means, in words that follow the name of a program */
void progress_words(const struct progress *progress, enum verdict verdict,
		    char *words, size_t size);

/* All processes of the machine; the caller frees them. */
struct process *processes(size_t *count);

/* Kill all that descend from the calling process, and reap them. Return: whether all went */
bool progress_kill(void);

/* The same, after two seconds for those that tidy up when they are asked to end */
bool progress_end(void);

/* Where each process waits, and what memcast-smi shows; each line begins with @prefix. */
void explain(int to, const char *prefix, const char *smi);

#endif /* VM_PROGRESS_H */
