/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer of all that a program can do to memcast below the library. fuzz_test.c
 * runs it and checks what must hold afterwards; fuzz_calls.c has the ioctls,
 * fuzz_acts.c and fuzz_mm.c the rest of the kernel. Objects that calls give are kept by
 * kind, as arguments of other calls; stale ones are good arguments too.
 */
#ifndef MEMCAST_FUZZ_H
#define MEMCAST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uapi/memcast.h>
#include "helpers.h"

#define CHUNK		(2UL << 20)
#define ROOM		4096UL	/* bytes of buffers of a thread's own */

enum fuzz_kind {
	MEMORY, TEAM,			/* handles; extra: bytes */
	HEAP, IMPORTED,			/* heaps of this process, and of others */
	RESERVATION, MAPPING, BLOCK,	/* addresses; extra: bytes */
	PLAIN, BUFFER,			/* ... of the arena's anonymous memory, of dma-bufs */
	CLIENT, DMABUF, HEAP_FD, OTHER_FD,	/* fds; extra: a dma-buf's bytes */
	RECORD,				/* an exported block: object; offset << 32 | bytes */
	KINDS
};

#define FUZZ_PLACES	12
#define FUZZ_COMMANDS	(MEMCAST_NR_TEAM_COUNT - MEMCAST_NR_BASE + 1)
#define FUZZ_MOST_ACTS	64

struct fuzz_thing {
	uint64_t value, extra;
};

/* The threads of a process share these things. Races in here are more fuzz. */
struct fuzz_things {
	struct fuzz_thing at[KINDS][FUZZ_PLACES];
	unsigned int newest[KINDS];
	uint8_t fabric[MEMCAST_FABRIC_HANDLE_SIZE];
	uintptr_t arena;		/* FUZZ_ARENA bytes to do anything with */
	int client;			/* this process's own fd of /dev/memcast; seldom closed */
	int socket[2];			/* for fds; shared with children */
	int pipe[2];
	int vgem, importer, exporter, channel;	/* -1: there is none */
	bool nobody_waits;		/* for a child: only one-thread rounds wait, to repeat */
};

#define FUZZ_ARENA	(96 * CHUNK)

/* Counts of all processes' calls and acts */
struct fuzz_counts {
	uint64_t steps, calls[FUZZ_COMMANDS], good[FUZZ_COMMANDS];
	uint64_t acts[FUZZ_MOST_ACTS], good_acts[FUZZ_MOST_ACTS];
};

struct fuzz {
	uint64_t random;
	struct fuzz_things *things;
	struct fuzz_counts *counts;
	unsigned int depth;		/* 1 in a child of fork() */
	int faults;			/* the thread's fail-nth; -1: there is none */
	bool trace;
};

uint32_t fuzz_any(struct fuzz *f, uint32_t below);
bool fuzz_percent(struct fuzz *f, uint32_t chance);
/* Return: a number up to 2^64 - 1 at or near a border, such as of a page, a chunk or a type */
uint64_t fuzz_odd(struct fuzz *f);
struct fuzz_thing fuzz_pick(struct fuzz *f, enum fuzz_kind kind);
void fuzz_keep(struct fuzz *f, enum fuzz_kind kind, uint64_t value, uint64_t extra);
/* Return: an address that calls may or may not be able to read or write */
void *fuzz_somewhere(struct fuzz *f);
/* memcpy() that survives faults. Return: whether all was copied */
bool fuzz_copy(void *to, const void *from, size_t bytes);
void fuzz_catch_faults(void);
/*
 * Lets one of the thread's next allocations or user copies fail, on kernels with fault
 * injection. Only around system calls, as the delivery of signals can fail as well.
 * Return: is it on?
 */
bool fuzz_fail_some(struct fuzz *f);
void fuzz_fail_none(struct fuzz *f);

#define ANY_OF(f, first, ...)						\
({									\
	const typeof((first) + 0) set_[] = { first, __VA_ARGS__ };	\
									\
	set_[fuzz_any(f, sizeof(set_) / sizeof(set_[0]))];		\
})

int fuzz_client(struct fuzz *f);
void fuzz_open_client(struct fuzz *f);
void fuzz_call(struct fuzz *f);
void fuzz_warm_up(struct fuzz *f);
const char *fuzz_command_name(unsigned int command);

/* An act is one thing to do. @act returns like a system call. */
struct fuzz_act {
	const char *name;
	long (*act)(struct fuzz *f);
	unsigned int weight;
	bool faults;			/* it does more than system calls: no failures injected */
};

#define FUZZ_ACT(what, often, ...)	\
	{ .name = #what, .act = act_##what, .weight = often, __VA_ARGS__ }

extern const struct fuzz_act fuzz_mm_acts[];	/* the last has no name */
int fuzz_fd(struct fuzz *f);
int fuzz_keep_fd(struct fuzz *f, enum fuzz_kind kind, int fd, uint64_t bytes);
void fuzz_act(struct fuzz *f);
const char *fuzz_act_name(unsigned int act);	/* NULL after the last */

void fuzz_start(struct fuzz *f);
void fuzz_steps(struct fuzz *f, unsigned int steps);

/*
 * fuzz_keeper.c: at each number that comes through @link, until it is closed: checks that the
 * keeper's memory still holds its values, frees it, and takes new memory of each device. The
 * answer is 0, or the address of a text, which parent and child share, that says what is wrong.
 */
#define FUZZ_DEVICES	4
void fuzz_keep_memory(int link);

#endif /* MEMCAST_FUZZ_H */
