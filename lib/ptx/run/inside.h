/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share.
 *
 * A cluster of blocks belongs to one runner from its start to its end, so that what happens
 * inside of it needs no locks. Runners share their grid's counters, which are atomic, and the
 * launches that wait for help, under the lock of launch.c.
 */
#ifndef MEMCAST_PTX_INSIDE_H
#define MEMCAST_PTX_INSIDE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "fiber/fiber.h"
#include "run.h"

/* Results, as in cuda.h */
enum {
	RESULT_OUT_OF_MEMORY = 2,
	RESULT_ILLEGAL_ADDRESS = 700,
	RESULT_ASSERT = 710,
	RESULT_ILLEGAL_INSTRUCTION = 715,
	RESULT_MISALIGNED_ADDRESS = 716,
	RESULT_LAUNCH_FAILED = 719,
};

enum fiber_state {
	FIBER_READY,			/* in the block's queue, or running */
	FIBER_WAITS,			/* for others of its block, warp or cluster */
	FIBER_DONE,
};

/* Operations for which only lanes with stacks meet; the others are in enum ptx_cut_kind */
enum meeting { MEET_GATHER = PTX_CUT_SITE + 1, MEET_TOGETHER };

/* A thread that may wait. What generated code sees of it comes first. */
struct fiber {
	struct ptx_thread at;
	void *stack;			/* where it goes on */
	struct fiber *next;		/* in the queue, or in a list of those who wait */
	uint8_t state;
	bool polled;			/* has given its turn away, and waits for nothing we know */
	uint8_t meeting;
	uint8_t order;			/* of lanes after the meeting */
	uint32_t mask;			/* lanes that meet */
	uint32_t operation;		/* of enum ptx_vote, ptx_shfl, ptx_redux or ptx_barrier_red */
	uint32_t b, c;			/* of shfl */
	uint64_t value;			/* what this lane brings */
	uint32_t bytes;			/* MEET_GATHER: of it */
	void *all;			/* MEET_GATHER: where all lanes' values go */
	void (*function)(void *const *lanes);	/* MEET_TOGETHER */
	uint32_t outcome;		/* of the operation */
	uint32_t agreed;		/* its predicate */
	uint32_t cluster_phase;		/* of the cluster's barrier, at this thread's arrival */
	bool arrived;			/* there, and has not waited yet */
	/* at its last poll: what it had looked at and seen there, and done */
	uint64_t last_looked, last_word;
	uint32_t last_deeds;
	uint32_t blind_polls;		/* since it last looked at a word, at most BLIND_POLLS */
	uint32_t sleeps;		/* nanosleeps since it last looked at a word, at most SLEEPS */
	uint64_t only_sleeps;		/* the time at which there were SLEEPS */
	/* for MEMCAST_PTX_CHECK: its local variables, and what it got from the stack otherwise */
	struct ptx_local *locals;
	uint64_t taken_start, taken_end;
};

struct queue {
	struct fiber *first, *last;
};

struct warp {
	uint32_t live;			/* lanes that have not ended */
	uint32_t waiting;		/* lanes at a meeting */
	uint32_t strangers;		/* of these, those that do not name themselves */
	uint32_t parted;		/* how often lanes have gone on while others were at sites */
};

struct barrier {
	uint32_t arrived;		/* threads */
	uint32_t sum;			/* with lanes that a complete warp does not have */
	uint32_t expected;		/* 0: all threads of the block */
	uint32_t full;			/* warps of which all live lanes have arrived */
	uint32_t yes;			/* of the predicates of bar.red */
	uint32_t asked;			/* how many predicates there were */
	struct queue waiting;
	uint32_t lanes[PTX_BLOCK_THREADS / PTX_WARP];
};

struct ptx_block {
	struct runner *runner;
	struct cluster *cluster;
	struct fiber *fibers;		/* of all threads; of one, if the kernel never waits */
	uint32_t threads, live;
	uint32_t turns;			/* of this round that are left */
	uint32_t queued;
	bool happened;			/* a thread did something in this round */
	bool serial;			/* the threads run one after the other */
	struct races *races;		/* for MEMCAST_PTX_CHECK; or NULL */
	uint32_t met;			/* warps of which lanes go on at the end of the round */
	uint32_t at_sites;		/* warps of which lanes wait at a site, or name only others */
	uint32_t barriers;		/* that have threads */
	struct queue ready;
	struct warp warps[PTX_BLOCK_THREADS / PTX_WARP];
	struct barrier barrier[PTX_BARRIERS];
};

/* Blocks that run together: one, or a cluster's. Its memory serves clusters that follow. */
struct cluster {
	struct cluster *next;
	struct runner *runner;
	struct ptx_block *blocks;
	uint32_t count;
	uint32_t live_blocks;
	uint32_t arrived, phase;	/* at the cluster's barrier */
	uint32_t live;			/* threads */
	struct queue waiting;		/* for it */
	char *shared, *reserved;	/* windows, and the reservation around them */
	size_t reserved_bytes;
	size_t mapped;			/* bytes of each window that are there */
	struct fiber *fibers;
	struct stacks stacks;
	uint32_t threads;		/* of a block that there is memory for */
	uint32_t stack_each;
	bool serial, checked;
};

/* A launch */
struct ptx_grid {
	const struct ptx_launch *launch;
	uint32_t threads;		/* of a block */
	uint32_t blocks_each;		/* of a cluster */
	uint64_t clusters, resident;
	uint64_t share;			/* clusters that a runner takes at once, if they never wait */
	uint64_t id;
	uint32_t stack_each;
	uint32_t nclusterid[3];
	bool serial;
	atomic_ullong started, running;	/* clusters */
	atomic_uint runners, waiters;	/* that have blocks; of them, that have told of a wait */
	atomic_bool failed;
	struct ptx_outcome *outcome;	/* written by the one that sets failed */
	uint32_t workspace[4];		/* of grid.sync(), by %envreg1 and %envreg2 */
	struct ptx_grid *next;		/* of those that take help; by the lock of launch.c */
	uint32_t helpers;		/* likewise */
	bool offered;
};

/* Memory that a launch may access, for MEMCAST_PTX_CHECK */
struct reached {
	uint64_t start, bytes;
	bool stores, window;
};

#define REACHED		8

/* How many multimem operations threads of a runner have made at a window, in one launch */
struct counted {
	struct counted *next;
	uint64_t window, operations;
};

/* One for each thread of the process that runs blocks, as long as the thread */
struct runner {
	struct ptx_grid *grid;
	void *stack;			/* of the process's thread, while a fiber runs */
	struct fiber *current;
	struct cluster *active, *spare;
	uint32_t active_count;
	bool polled;			/* a thread has, in this round */
	void (*call)(void *data);	/* what a fiber wants to run on that stack */
	void *call_data;
	sigjmp_buf back, peek_back;
	bool peeks;			/* at a word that may be gone: see waits.c */
	int signal;			/* what has ended the launch here */
	uintptr_t address, rip, rsp;
	bool store;
	void *alternate;		/* stack for signals, of helpers */
	struct reached reached[REACHED];	/* what this launch has accessed last */
	uint32_t reached_next;
	struct counted *counted, uncounted;	/* uncounted: where there was no memory */
};

/* runner.c */
struct runner *runner_get(void);
void runner_work(struct runner *runner, struct ptx_grid *grid);
void fiber_wake(struct fiber *fiber);
void fibers_wake(struct queue *queue);
void fiber_wait(struct fiber *fiber);
void queue_add(struct queue *queue, struct fiber *fiber);

/* waits.c */
struct waiting {
	uint32_t rounds;		/* without news */
	uint64_t since, told, ended;	/* nanoseconds: the first, the last words, the last round */
	bool said, known;		/* known: the words that threads wait for */
};

bool has_progressed(struct fiber *fiber);
bool only_computes(struct fiber *fiber);
bool only_delays(struct fiber *fiber, uint32_t nanoseconds);
void wait_outside(struct runner *runner, struct waiting *waiting);
void wait_over(const struct runner *runner, struct waiting *waiting);

/* fault.c */
void line_of_waiting(const struct fiber *fiber, char *line, size_t size);
void fault_explain(struct runner *runner, struct ptx_grid *grid);
void stuck_explain(struct runner *runner, const struct cluster *cluster);
__attribute__((noreturn)) void run_fail(struct fiber *fiber, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* @write makes the words, on a stack of the process; @rip: the instruction, or 0 */
__attribute__((noreturn)) void run_fail_at(struct fiber *fiber, uintptr_t rip, int result,
					   void (*write)(const void *data, char *text, size_t size),
					   const void *data);

static inline struct fiber *fiber_of(struct ptx_thread *thread)
{
	return (struct fiber *)thread;
}

/* reach.c */
struct access {
	uint64_t address, value;
	uint32_t bytes, kind;
	uintptr_t rip;
};

int access_words(const struct access *access, char *text, size_t size);

/* race.c */
struct races *races_new(void);
void races_free(struct races *races);
void races_start(struct races *races);
void races_meet(const struct fiber *fiber);
void races_meet_warp(const struct fiber *warp, uint32_t lanes);
void race_look(struct fiber *fiber, const struct access *access, uint64_t at);

/* system.c */
void counts_tell(struct runner *runner, const struct ptx_run_host *host);

/* heap.c */
bool heap_has(uint64_t address);
void heap_block(uint64_t address, uint64_t *start, uint64_t *bytes, bool *freed);

/* block.c; as much as a block can have: what lies behind its own can be read on hardware, too */
#define SHARED_MAPPED	(256UL << 10)

/* Return: how many bytes of shared memory a block has, without the first ones */
static inline uint32_t launch_shared(const struct ptx_launch *launch)
{
	if (!launch->dynamic_shared)
		return launch->kernel->static_shared;
	return launch->kernel->dynamic_first - PTX_SHARED_FIRST + launch->dynamic_shared;
}

struct cluster *cluster_start(struct runner *runner, struct ptx_grid *grid, uint64_t number);
void cluster_free(struct cluster *cluster);

/* barrier.c */
void barriers_left(struct fiber *fiber);

/* warp.c */
void warp_left(struct fiber *fiber);
void warps_meet(struct ptx_block *block);

/* launch.c */
void launch_more(struct ptx_grid *grid);
void launch_failed(struct ptx_grid *grid, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* MEMCAST_PTX_INSIDE_H */
