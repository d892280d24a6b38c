/* SPDX-License-Identifier: MIT */
/*
 * Ranks: one process each, forked before anyone calls cuInit() (a driver does
 * not survive fork), tied by a socket between rank 0 and every other rank.
 */
#ifndef MEMCAST_TOOLS_RANKS_H
#define MEMCAST_TOOLS_RANKS_H

#include <stddef.h>

#define RANKS_MAX	576

struct rank {
	unsigned int index;
	unsigned int count;
	int link[RANKS_MAX];	/* rank 0: by rank; others: [0] leads to rank 0 */
};

/*
 * Runs body(rank, arg) in @count new processes and waits for them. If one fails
 * or dies, says so and ends the others: nobody is left waiting for it. Returns
 * 0 if every body returned 0, else 1.
 */
int ranks_run(unsigned int count, int (*body)(struct rank *rank, void *arg),
	      void *arg);

/* Gives an fd of rank 0 to all: @fd as rank 0 sees it; returns the own one. */
int rank_share_fd(struct rank *rank, int fd);

/*
 * Collects @bytes from every rank at rank 0, in @all by rank (others: unused).
 * Nobody returns before all have come, so this is a barrier as well.
 */
void rank_gather(struct rank *rank, const void *mine, size_t bytes, void *all);

/* On a CPU of its own, of those that this process may use: who waits may spin. */
void rank_pin(unsigned int index);

/* Ends the process with a message that names program and rank. */
void rank_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* MEMCAST_TOOLS_RANKS_H */
