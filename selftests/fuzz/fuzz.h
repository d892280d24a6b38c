/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer of all that a program can do to memcast below the library. fuzz_test.c
 * runs it and says what must hold whatever it did; fuzz_calls.c has the ioctls,
 * fuzz_acts.c and fuzz_mm.c the rest of the kernel. What calls give is kept by kind,
 * for others to take; a stale one is as good.
 */
#ifndef MEMCAST_FUZZ_H
#define MEMCAST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uapi/memcast.h>

#define CHUNK		(2UL << 20)
#define PAGE		4096UL

enum fuzz_kind {
	MEMORY, TEAM,			/* handles; their bytes */
	HEAP, IMPORTED,			/* heaps, ours and others' */
	RESERVATION, MAPPING, BLOCK,	/* addresses; how many bytes */
	PLAIN, BUFFER,			/* ... of our own memory, of dma-bufs */
	CLIENT, DMABUF, HEAP_FD, OTHER_FD,	/* fds; dma-bufs' bytes */
	RECORD,				/* of a block: object; offset << 32 | bytes */
	KINDS
};

#define FUZZ_PLACES	12
#define FUZZ_COMMANDS	(MEMCAST_NR_IPC_OPEN - MEMCAST_NR_BASE + 1)
#define FUZZ_MOST_ACTS	64

struct fuzz_thing {
	uint64_t value, extra;
};

/* What the threads of a process have. Races in it are more of the same. */
struct fuzz_things {
	struct fuzz_thing at[KINDS][FUZZ_PLACES];
	unsigned int newest[KINDS];
	uint8_t fabric[MEMCAST_FABRIC_HANDLE_SIZE];
	uintptr_t arena;		/* FUZZ_ARENA bytes to do anything with */
	int client;			/* of this process; mostly not closed */
	int socket[2];			/* for fds; shared with children */
	int pipe[2];
	int vgem, importer, exporter, channel;	/* -1: there is none */
	bool nobody_waits;		/* for a child, so that runs repeat */
};

#define FUZZ_ARENA	(96 * CHUNK)

/* Of all processes */
struct fuzz_counts {
	uint64_t steps, calls[FUZZ_COMMANDS], good[FUZZ_COMMANDS];
	uint64_t acts[FUZZ_MOST_ACTS], good_acts[FUZZ_MOST_ACTS];
};

struct fuzz {
	uint64_t random;
	struct fuzz_things *things;
	struct fuzz_counts *counts;
	unsigned int depth;		/* of fork() */
	int faults;			/* the thread's fail-nth; -1: there is none */
	bool trace;
};

uint32_t fuzz_any(struct fuzz *f, uint32_t below);
bool fuzz_percent(struct fuzz *f, uint32_t chance);
/* Something between 0 and 2^64 - 1 that borders on something */
uint64_t fuzz_odd(struct fuzz *f);
struct fuzz_thing fuzz_pick(struct fuzz *f, enum fuzz_kind kind);
void fuzz_keep(struct fuzz *f, enum fuzz_kind kind, uint64_t value, uint64_t extra);
/* Somewhere that calls may read or write, or not */
void *fuzz_somewhere(struct fuzz *f);
/* memcpy(), but for what cannot be accessed. Return: whether that was so. */
bool fuzz_copy(void *to, const void *from, size_t bytes);
void fuzz_catch_faults(void);
/*
 * On kernels that can be told to, let an allocation or a user copy fail: for system
 * calls only, as signals fail as well. Return: whether it is on.
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

/* One thing to do. Return: what a system call does. */
struct fuzz_act {
	const char *name;
	long (*act)(struct fuzz *f);
	unsigned int weight;
	bool faults;			/* it does not live on system calls alone */
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
 * fuzz_keeper.c: take memory of each device, look whether it still holds what was written, give
 * it back: at each word that comes through @link, until that is closed. The answer is what is
 * wrong, the address of a text that parent and child share, or 0.
 */
#define FUZZ_DEVICES	4
void fuzz_keep_memory(int link);

#endif /* MEMCAST_FUZZ_H */
