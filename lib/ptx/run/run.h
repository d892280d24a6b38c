/* SPDX-License-Identifier: MIT */
/*
 * What translated PTX runs on: grids, blocks, warps and threads.
 *
 * Each thread of a block that may wait has a stack of its own and takes turns with the others
 * in one thread of the process (a *runner*); blocks of a grid are divided among runners. Two
 * sides use this header: generated code calls the functions by name, and
 * reads struct ptx_thread; a launch calls ptx_run().
 *
 *   launch.c	a launch: its blocks, the runners that work on it, how it ends
 *   runner.c	runners: turns of threads, starts of blocks, idle waiting
 *   block.c	memory of blocks: shared memory, stacks, threads
 *   waits.c	where threads wait, for those who ask why a kernel does not end
 *   barrier.c	barriers of blocks and clusters
 *   warp.c	operations of a warp's lanes
 *   cuts.c	blocks of kernels that are cut into loops over threads: which loop runs next
 *   system.c	printf, assert, traps
 *   heap.c	malloc
 *   reach.c	MEMCAST_PTX_CHECK: may a thread access what it accesses?
 *   race.c	and does another thread of the block access it at the same time?
 */
#ifndef MEMCAST_PTX_RUN_H
#define MEMCAST_PTX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "translate/ptx_object.h"

struct ptx_block;

#define PTX_WARP		32
#define PTX_BLOCK_THREADS	1024
#define PTX_BARRIERS		16

/*
 * Shared memory of a block: a window of 16 MiB, aligned to that. Variables begin at 1024, as on
 * an H100; dynamic shared memory follows them. Windows of a cluster's blocks lie one after the
 * other, so that (rank << 24) + offset is an address relative to cluster_shared.
 */
#define PTX_SHARED_WINDOW	(16UL << 20)
#define PTX_SHARED_FIRST	1024		/* the bytes in front are an H100's own */
#define PTX_SHARED_RESERVED	0x120		/* of those, what kernels may use */

/* A turn's length: generated code subtracts from poll_budget at back edges */
#define PTX_POLL_BUDGET		8192
#define PTX_POLL_STEP		1	/* of a loop that cannot wait for others */
#define PTX_POLL_WAIT		256	/* of one that may: it reads memory that others write */

/* A thread, as generated code sees it. Special registers have their PTX names. */
struct ptx_thread {
	uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
	uint32_t named;			/* tid is a thread's, also in a loop over threads */
	uint32_t blocks;		/* side by side that a loop over threads runs as one */
	uint32_t laneid, warpid, nwarpid;
	uint32_t dynamic_shared;	/* %dynamic_smem_size */
	uint32_t dynamic_first;		/* where dynamic shared memory begins in the window */
	uint32_t total_shared;		/* %total_smem_size; bytes behind PTX_SHARED_FIRST */
	/* once below 0, the thread calls ptx_run_poll(), which sets it anew */
	int32_t poll_budget;
	char *shared;			/* the block's window */
	char *cluster_shared;		/* of the cluster's block of rank 0 */
	uint32_t clusterid[3], nclusterid[3], cluster_ctaid[3], cluster_nctaid[3];
	uint32_t cluster_ctarank, cluster_nctarank;
	uint32_t is_cluster;		/* %is_explicit_cluster */
	uint32_t smid, nsmid;
	uint32_t envreg[3];
	uint64_t gridid;
	/*
	 * Always 0, which generated code does not know: LLVM understands addresses as sums of a
	 * pointer and a number
	 */
	char *origin;
	char *stack_end, *stack_top;	/* the lowest address of this thread's stack, and behind it */
	/* of the window (struct ptx_window) that the thread has used last; see ptx_run_view() */
	const struct memcast_view *view;
	uint64_t *operations;		/* counts the multimem operations at that window */
	struct ptx_block *block;
	uint64_t looked_at;		/* the last word that it may have to wait for, with its size */
	uint32_t deeds;			/* counts what others may wait for: strong stores, red */
	uint32_t halves;		/* the processor makes two accesses of one of 128 bits */
	const struct memcast_view *given;	/* of the launch's window, for plain stores */
};

#define PTX_LOOKED_SHIFT	56
#define PTX_LOOKED_ADDRESS	((1UL << PTX_LOOKED_SHIFT) - 1)
#define PTX_LOOKED_BEFORE	(1UL << 63)	/* a nanosleep has come since */
#define PTX_LOOKED_POLLED	(1UL << 62)	/* a poll of a loop that looks at none itself has */

/* Orders in which lanes go on after an operation of a warp, by what they do until the next */
#define PTX_LANES_UP	0
#define PTX_LANES_DOWN	1		/* they only load: data behind its flag (NCCL's LL128) */
#define PTX_LANES_DOWN_IF_TRUE	2	/* if that is what they have voted */
#define PTX_LANES_DOWN_IF_FALSE	3

#define PTX_NO_VIEW	"no multicast object is mapped there"

/* Operations, as generated code passes them */
enum ptx_vote { PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };
enum ptx_barrier_red { PTX_RED_POPC, PTX_RED_AND, PTX_RED_OR };
enum ptx_shfl { PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX };
enum ptx_redux {
	PTX_REDUX_ADD, PTX_REDUX_MIN_U, PTX_REDUX_MAX_U, PTX_REDUX_MIN_S, PTX_REDUX_MAX_S,
	PTX_REDUX_AND, PTX_REDUX_OR, PTX_REDUX_XOR,
};

/* The functions that generated code calls; system.c has the table of them. */

/* Back edges: gives the turn away */
void ptx_run_poll(struct ptx_thread *thread);
void ptx_run_poll_blind(struct ptx_thread *thread);
void ptx_run_nanosleep(struct ptx_thread *thread, uint32_t nanoseconds);

/*
 * Ends of a thread, and of the launch. @result: a CUresult; @what: stays valid, or NULL; @line:
 * 0, or of the text
 */
void ptx_run_exit(struct ptx_thread *thread);
void ptx_run_trap(struct ptx_thread *thread);
void ptx_run_brkpt(struct ptx_thread *thread);
void ptx_run_fault(struct ptx_thread *thread, uint32_t result, uint32_t line, const char *what);
void ptx_run_misaligned(struct ptx_thread *thread, uint64_t address);
void ptx_run_stack_overflow(struct ptx_thread *thread);

/* Barriers of a block, for @count threads, 0: all; and of a cluster */
void ptx_run_bar_sync(struct ptx_thread *thread, uint32_t id, uint32_t count);
void ptx_run_bar_arrive(struct ptx_thread *thread, uint32_t id, uint32_t count);
uint32_t ptx_run_bar_red(struct ptx_thread *thread, uint32_t id, uint32_t count,
			 uint32_t operation, uint32_t predicate);
void ptx_run_cluster_arrive(struct ptx_thread *thread);
void ptx_run_cluster_wait(struct ptx_thread *thread);

/* Operations of the lanes in @mask; @order: of the lanes afterwards */
void ptx_run_bar_warp_sync(struct ptx_thread *thread, uint32_t mask, uint32_t order);
uint32_t ptx_run_vote(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		      uint32_t predicate, uint32_t order);
uint32_t ptx_run_shfl(struct ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t value,
		      uint32_t b, uint32_t c, uint32_t *predicate);
uint32_t ptx_run_match_any(struct ptx_thread *thread, uint32_t mask, uint64_t value);
uint32_t ptx_run_match_all(struct ptx_thread *thread, uint32_t mask, uint64_t value,
			   uint32_t *predicate);
uint32_t ptx_run_redux(struct ptx_thread *thread, uint32_t mask, uint32_t operation,
		       uint32_t value);
uint32_t ptx_run_elect(struct ptx_thread *thread, uint32_t mask, uint32_t *predicate);
/* The lanes that reach the same @site, a number of the instruction, together */
uint32_t ptx_run_activemask(struct ptx_thread *thread, uint64_t site);
/* Copies @bytes of each lane in @mask to @all[lane * bytes], zeros for the others. */
void ptx_run_gather(struct ptx_thread *thread, uint32_t mask, const void *own, void *all,
		    uint32_t bytes);

/*
 * Calls a function once for the lanes in @mask: it gets the @own of each, NULL for those that are
 * not there.
 */
void ptx_run_together(struct ptx_thread *thread, uint32_t mask, void *own,
		      void (*function)(void *const *lanes));

/* Return: the view of a window, and the offset in it; ends the launch if there is none */
const struct memcast_view *ptx_run_view(struct ptx_thread *thread, uint64_t address,
					size_t *offset);

/* Ends the launch if a bulk copy's addresses or size are no multiples of 16. */
void ptx_run_bulk_check(struct ptx_thread *thread, const void *to, const void *from,
			uint32_t bytes);
/* Ends the launch if a view lacks so many bytes behind @offset. @address: of the window there */
void ptx_run_view_holds(struct ptx_thread *thread, const struct memcast_view *view,
			uint64_t offset, uint64_t address, uint32_t bytes);

/* Return: the kernel whose thread it is */
const struct ptx_kernel *ptx_run_kernel(const struct ptx_thread *thread);

/* Runs a function on a stack of the process: it may need much of it. */
void ptx_run_host(struct ptx_thread *thread, void (*function)(void *data), void *data);

/*
 * Kernels that are cut (lib/ptx/jit/cut.c) have a function that runs some threads, each from a cut
 * to its next one. What these threads have meanwhile is in struct ptx_state; behind it are the
 * registers that they keep.
 */
enum ptx_cut_kind {
	PTX_CUT_TURN,			/* of a loop: there is nothing to wait for */
	PTX_CUT_BARRIER,		/* of the block; the next ones are of it, too */
	PTX_CUT_BARRIER_RED,
	PTX_CUT_SYNC,			/* this and all that follow: of a warp */
	PTX_CUT_VOTE, PTX_CUT_SHFL, PTX_CUT_MATCH_ANY, PTX_CUT_MATCH_ALL, PTX_CUT_REDUX,
	PTX_CUT_ELECT, PTX_CUT_SITE,
};

#define PTX_FIXED_MASK	1U		/* the text has a number: threads bring none */
#define PTX_FIXED_B	2U
#define PTX_FIXED_C	4U
#define PTX_FIXED_BC	(PTX_FIXED_B | PTX_FIXED_C)
#define PTX_AGREES	8U		/* threads look at what is in struct ptx_state, agreed */

/* A cut, as generated code has it: 32-bit words */
struct ptx_cut {
	uint32_t kind, operation;
	uint32_t fixed, mask, b, c;	/* fixed: which of the others are known */
	uint32_t line;			/* of the text */
	/* of shfl, if b and c are fixed: the lane that each gets a value of, if it is there */
	uint32_t inside;
	uint8_t source[PTX_WARP];
};

/* Lines of a cache beyond a power of 2, so that the same thread's words are not in one set */
#define PTX_STATE_WORDS		(PTX_BLOCK_THREADS + 16)
#define PTX_STATE_REGISTER	(8UL * PTX_BLOCK_THREADS + 64)

struct ptx_state {
	uint32_t next[PTX_STATE_WORDS];	/* the cut that a thread is at; 0: it has ended */
	/* what threads bring to a cut, and what they get there */
	uint32_t value[PTX_STATE_WORDS], high[PTX_STATE_WORDS];
	uint32_t mask[PTX_STATE_WORDS], b[PTX_STATE_WORDS], c[PTX_STATE_WORDS];
	uint32_t outcome[PTX_STATE_WORDS], agreed[PTX_STATE_WORDS];
	uint32_t wrong;			/* low bits of addresses that were not aligned */
	uint32_t rest[15];
};

/* The cut that each thread is at: they go on to the next barrier or operation of a warp. */
#define PTX_CUT_ANY	UINT32_MAX

/*
 * Runs threads @first to @end, which are at cut @from; 0: at the beginning. Return: the bits that
 * all numbers of the cuts have that they come to, and in the upper half those that any has: both
 * are the same if all threads come to one
 */
typedef uint64_t ptx_part(struct ptx_thread *thread, const void *parameters,
			  struct ptx_state *state, uint32_t from, uint32_t first, uint32_t end);

/* Runs all threads of a block to their ends. @cuts: by number, from 1 on. Return: state->wrong */
uint32_t ptx_run_cuts(struct ptx_thread *thread, const void *parameters, ptx_part *part,
		      struct ptx_state *state, const struct ptx_cut *cuts);

/* Device functions that CUDA programs call */
uint32_t ptx_run_vprintf(struct ptx_thread *thread, const char *format, const char *values);
void *ptx_run_malloc(struct ptx_thread *thread, uint64_t bytes);
void ptx_run_free(struct ptx_thread *thread, void *memory);
void ptx_run_assertfail(struct ptx_thread *thread, const char *message, const char *file,
			uint32_t line, const char *function, uint64_t character);

void ptx_run_condition(struct ptx_thread *thread, uint64_t handle, uint32_t value);

/*
 * What code has for MEMCAST_PTX_CHECK: before an access of @bytes, 0: none; @kind: mask of
 * PTX_ACCESS_…; @value: what is stored, if the mask says so
 */
#define PTX_ACCESS_LOAD		1U
#define PTX_ACCESS_STORE	2U
#define PTX_ACCESS_STRONG	4U	/* two of them are no race */
#define PTX_ACCESS_ATOMIC	(PTX_ACCESS_LOAD | PTX_ACCESS_STORE | PTX_ACCESS_STRONG)
#define PTX_ACCESS_VALUE	8U
#define PTX_ACCESS_VALUE_AT	32U	/* @value is the address of what is stored */
#define PTX_ACCESS_SHARED	16U	/* the instruction names shared memory */
void ptx_run_access(struct ptx_thread *thread, uint64_t address, uint32_t bytes, uint32_t kind,
		    uint64_t value);

/* Fences, and what else orders a thread's accesses to shared memory with those of others */
#define PTX_ORDER_ACQUIRE	1U
#define PTX_ORDER_RELEASE	2U
void ptx_run_order(struct ptx_thread *thread, uint32_t kind);

/* Local variables, whose entries are in the stacks of the functions that have them */
struct ptx_local {
	struct ptx_local *next;
	uint64_t start;
	uint32_t bytes;
};

struct ptx_local *ptx_run_locals(struct ptx_thread *thread);
void ptx_run_local(struct ptx_thread *thread, struct ptx_local *local, void *start,
		   uint32_t bytes);
void ptx_run_locals_end(struct ptx_thread *thread, struct ptx_local *outer);
void ptx_run_stack_taken(struct ptx_thread *thread, void *start, uint32_t bytes);

/* All of them, for a linker of generated code; the last name is NULL */
struct ptx_run_name {
	const char *name;		/* "ptx_run_poll" */
	void *address;
};

extern const struct ptx_run_name ptx_run_names[];

/* A kernel that was translated */
struct ptx_kernel {
	/* One thread of a kernel that waits */
	void (*thread)(struct ptx_thread *thread, const void *parameters);
	/*
	 * Loops over all threads of a block by itself, if the kernel never waits: the thread
	 * that it is given is the first one.
	 */
	void (*block)(struct ptx_thread *first, const void *parameters);
	const char *name;
	uint32_t static_shared;		/* bytes behind PTX_SHARED_FIRST */
	uint32_t dynamic_first;		/* where dynamic memory begins in the window */
	uint32_t frame;			/* the deepest stack that a thread has; 0: not known */
	bool waits;			/* has barriers, operations of warps, or loops that wait */
	bool deep;			/* nobody knows how deep its stack gets */
	bool checked;			/* it was translated for MEMCAST_PTX_CHECK */
	bool windows;			/* its plain stores look for the launch's window */
	bool form_for_windows;		/* there is a form of it that does */
	/*
	 * Its threads know no more of their x than their place in the grid: @block can run blocks
	 * side by side as one that is so much wider. 0: it cannot; else how many threads at most
	 */
	uint32_t joins;
	uint32_t parameter_bytes;
};

/*
 * Finds the source of an instruction of generated code, such as "line 12 (a.cu:7)"; "" if it is
 * not known. The translator sets the function, before the first launch.
 */
extern void (*ptx_run_line_at)(uintptr_t rip, char *text, size_t size);
/* Has its line in the text a word? Set likewise */
extern bool (*ptx_run_line_says)(uintptr_t rip, const char *word);

void ptx_run(const struct ptx_launch *launch, struct ptx_outcome *outcome);

#endif /* MEMCAST_PTX_RUN_H */
