/* SPDX-License-Identifier: MIT */
/*
 * Ranks: one process each, with a socket between rank 0 and every other rank. A program forks
 * its ranks before any cuInit() (a driver does not survive fork); or a launcher starts them, on
 * any host, and sets variables with a rank's number and rank 0's address.
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
	unsigned int device;	/* its number on the rank's host */
	bool launched;		/* by a launcher: ranks may be on several hosts */
	int link[RANKS_MAX];	/* rank 0: by rank; others: [0] leads to rank 0 */
};

/*
 * Runs body(rank, arg) in @count new processes and waits for them. If one fails
 * or dies, prints a message and ends the others, which might wait for it.
 * Returns 0 if every body returned 0, else 1.
 */
int ranks_run(unsigned int count, int (*body)(struct rank *rank, void *arg),
	      void *arg);

/*
 * Return: how many ranks a launcher has started, of which this process is one: by WORLD_SIZE, RANK,
 * MASTER_ADDR and MASTER_PORT, as torchrun and memcast-hosts set them, or by mpirun's variables
 * with the last two. 0: there was no launcher, so the program has to fork its ranks.
 */
unsigned int ranks_launched(void);

/* Runs body(rank, arg) as that rank, when all are connected. Return: the result of body() */
int ranks_join(int (*body)(struct rank *rank, void *arg), void *arg);

/* Copies @bytes of rank 0 to all ranks. */
void rank_share(struct rank *rank, void *data, size_t bytes);

/* Gives rank 0's @fd to all ranks. Return: the fd of the calling rank */
int rank_share_fd(struct rank *rank, int fd);

/*
 * Collects @bytes from every rank at rank 0, in @all by rank (others: unused).
 * No rank returns before all ranks have called it, so this is a barrier as well.
 */
void rank_gather(struct rank *rank, const void *mine, size_t bytes, void *all);

/* Ranks run the code between these two calls one after the other: 0, 1 and so on. */
void rank_turn_begin(struct rank *rank);
void rank_turn_end(struct rank *rank);

/* Gives a rank one of the CPUs that this process may use, as ranks that wait may spin. */
void rank_pin(unsigned int index);

/* Names the rank of this process in messages from now on. */
void rank_name(unsigned int index);

/* Ends the process with a message that names program and rank. */
void rank_die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* MEMCAST_TOOLS_RANKS_H */
