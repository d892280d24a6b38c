/* SPDX-License-Identifier: MIT */
/*
 * Ranks: one process each, tied by a socket between rank 0 and every other rank. Our own are
 * forked before anyone calls cuInit() (a driver does not survive fork); or a launcher starts
 * them, on any host, and says in the environment which they are and where they meet.
 */
#ifndef MEMCAST_TOOLS_RANKS_H
#define MEMCAST_TOOLS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <uapi/memcast.h>

#define RANKS_MAX	MEMCAST_MAX_DEVICES

struct rank {
	unsigned int index;
	unsigned int count;
	unsigned int device;	/* which of its host's */
	bool launched;		/* by others: ranks may be on several hosts */
	int link[RANKS_MAX];	/* rank 0: by rank; others: [0] leads to rank 0 */
};

/*
 * Runs body(rank, arg) in @count new processes and waits for them. If one fails
 * or dies, says so and ends the others: nobody is left waiting for it. Returns
 * 0 if every body returned 0, else 1.
 */
int ranks_run(unsigned int count, int (*body)(struct rank *rank, void *arg),
	      void *arg);

/*
 * How many ranks a launcher has started, of which this process is one: WORLD_SIZE, with RANK,
 * MASTER_ADDR and MASTER_PORT, as torchrun and memcast-hosts set them, or mpirun's variables with
 * these two. 0: none has; ranks are to be processes of our own.
 */
unsigned int ranks_launched(void);

/* Runs body(rank, arg) as that one, when all have met. Returns what it returns. */
int ranks_join(int (*body)(struct rank *rank, void *arg), void *arg);

/* Gives @bytes of rank 0 to all */
void rank_share(struct rank *rank, void *data, size_t bytes);

/* Gives an fd of rank 0 to all: @fd as rank 0 sees it; returns the own one. */
int rank_share_fd(struct rank *rank, int fd);

/*
 * Collects @bytes from every rank at rank 0, in @all by rank (others: unused).
 * Nobody returns before all have come, so this is a barrier as well.
 */
void rank_gather(struct rank *rank, const void *mine, size_t bytes, void *all);

/* What is between these two calls, ranks do one after the other: 0, 1 and so on. */
void rank_turn_begin(struct rank *rank);
void rank_turn_end(struct rank *rank);

/* On a CPU of its own, of those that this process may use: who waits may spin. */
void rank_pin(unsigned int index);

/* This process is that rank from now on, for messages. */
void rank_name(unsigned int index);

/* Ends the process with a message that names program and rank. */
void rank_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* MEMCAST_TOOLS_RANKS_H */
