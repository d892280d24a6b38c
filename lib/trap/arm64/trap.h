/* SPDX-License-Identifier: MIT */
/*
 * Plain stores to windows on arm64: memcast-trap.so, which libcuda.so.1 loads when a team is first
 * mapped (lib/fault/load.c).
 *
 *   object.c		the interface to libcuda.so.1; writes what is stored to every replica
 *   decode.c		finds what an instruction stores, and where
 *
 * Instructions that store do little else, so that they are emulated: all but atomic operations, pairs
 * of exclusive loads and stores, and rare ones of scalable vectors.
 *
 * All of it runs in a signal handler: no malloc, no locks, no stdio.
 */
#ifndef LIBRARY_TRAP_H
#define LIBRARY_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define TRAP_LARGEST	256	/* bytes of one instruction: the longest scalable vector */
#define TRAP_STACK	31	/* the stack pointer, as the number of a base register */

struct trap_store {
	uintptr_t address;
	size_t bytes;
	unsigned int width;		/* of each access that the processor makes as one */
	bool release;
	bool zeros;			/* dc zva: there is no data */
	bool moves;			/* the base register, to: */
	unsigned int base;
	uint64_t moved;
	unsigned char data[TRAP_LARGEST];
	bool left_out[TRAP_LARGEST];	/* accesses that a predicate leaves out */
};

/* Return: NULL, or why it cannot be done */
const char *trap_decode(struct trap_store *store, const ucontext_t *context, uint32_t word);

#endif /* LIBRARY_TRAP_H */
