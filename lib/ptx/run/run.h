/* SPDX-License-Identifier: MIT */
/*
 * What translated PTX runs on: grids, blocks, warps and threads.
 *
 * Each thread of a block that may wait has a stack of its own and takes turns with the others
 * in one thread of the process (a *runner*); blocks of a grid are divided among runners. Two
 * sides use this header: generated code calls the functions of RUN_FUNCTIONS, by name, and
 * reads struct ptx_thread; a launch calls ptx_run().
 *
 *   launch.c	a launch: its blocks, the runners that work on it, how it ends
 *   runner.c	runners: turns of threads, starts of blocks, idle waiting
 *   block.c	memory of blocks: shared memory, stacks, threads
 *   barrier.c	barriers of blocks and clusters
 *   warp.c	operations of a warp's lanes
 *   system.c	printf, malloc, assert, traps
 */
#ifndef MEMCAST_PTX_RUN_H
#define MEMCAST_PTX_RUN_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memcast_view;
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
#define PTX_SHARED_FIRST	1024

/* A turn's length: generated code subtracts from poll_budget at back edges */
#define PTX_POLL_BUDGET		8192
#define PTX_POLL_STEP		1	/* of a loop that cannot wait for others */
#define PTX_POLL_WAIT		256	/* of one that may: it reads memory that others write */

/* A thread, as generated code sees it. Special registers have their PTX names. */
struct ptx_thread {
	uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
	uint32_t laneid, warpid, nwarpid;
	uint32_t dynamic_shared;	/* %dynamic_smem_size */
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
	char *stack_end;		/* the lowest address of this thread's stack */
	/* the window of a multicast object that the thread has used last; see ptx_run_view() */
	uint64_t window;
	size_t window_bytes;
	const struct memcast_view *view;
	struct ptx_block *block;
};

/* Orders in which lanes go on after an operation of a warp, by what they do until the next */
#define PTX_LANES_UP	0
#define PTX_LANES_DOWN	1		/* they only load: data behind its flag (NCCL's LL128) */

#define PTX_NO_VIEW	"no multicast object is mapped there"

/* Operations, as generated code passes them */
enum ptx_vote { PTX_VOTE_ALL, PTX_VOTE_ANY, PTX_VOTE_UNI, PTX_VOTE_BALLOT };
enum ptx_barrier_red { PTX_RED_POPC, PTX_RED_AND, PTX_RED_OR };
enum ptx_shfl { PTX_SHFL_UP, PTX_SHFL_DOWN, PTX_SHFL_BFLY, PTX_SHFL_IDX };
enum ptx_redux {
	PTX_REDUX_ADD, PTX_REDUX_MIN_U, PTX_REDUX_MAX_U, PTX_REDUX_MIN_S, PTX_REDUX_MAX_S,
	PTX_REDUX_AND, PTX_REDUX_OR, PTX_REDUX_XOR,
};

/*
 * The functions that generated code calls: result, name, arguments behind the thread. The
 * header's user makes declarations of the rows, or a table of names and addresses.
 */
#define RUN_FUNCTIONS(F)								\
	/* Back edges: gives the turn away */						\
	F(void, poll, (struct ptx_thread *))						\
	F(void, nanosleep, (struct ptx_thread *, uint32_t nanoseconds))		\
	/* Ends of a thread */								\
	F(void, exit, (struct ptx_thread *))						\
	F(void, trap, (struct ptx_thread *))						\
	F(void, brkpt, (struct ptx_thread *))						\
	/* ends the launch; @result: a CUresult; @what: stays valid, or NULL */	\
	F(void, fault, (struct ptx_thread *, uint32_t result, uint32_t line, const char *what)) \
	F(void, misaligned, (struct ptx_thread *, uint64_t address))			\
	F(void, stack_overflow, (struct ptx_thread *))					\
	/* Barriers of a block; @count: threads, 0: all */				\
	F(void, bar_sync, (struct ptx_thread *, uint32_t id, uint32_t count))		\
	F(void, bar_arrive, (struct ptx_thread *, uint32_t id, uint32_t count))	\
	F(uint32_t, bar_red, (struct ptx_thread *, uint32_t id, uint32_t count,	\
			      uint32_t operation, uint32_t predicate))			\
	F(void, cluster_arrive, (struct ptx_thread *))					\
	F(void, cluster_wait, (struct ptx_thread *))					\
	/* Operations of the lanes in @mask; @order: of the lanes afterwards */	\
	F(void, bar_warp_sync, (struct ptx_thread *, uint32_t mask, uint32_t order))	\
	F(uint32_t, vote, (struct ptx_thread *, uint32_t mask, uint32_t operation,	\
			   uint32_t predicate, uint32_t order))			\
	F(uint32_t, shfl, (struct ptx_thread *, uint32_t mask, uint32_t mode, uint32_t value, \
			   uint32_t b, uint32_t c, uint32_t *predicate))		\
	F(uint32_t, match_any, (struct ptx_thread *, uint32_t mask, uint64_t value))	\
	F(uint32_t, match_all, (struct ptx_thread *, uint32_t mask, uint64_t value,	\
				uint32_t *predicate))					\
	F(uint32_t, redux, (struct ptx_thread *, uint32_t mask, uint32_t operation,	\
			    uint32_t value))						\
	F(uint32_t, elect, (struct ptx_thread *, uint32_t mask, uint32_t *predicate))	\
	/* the lanes that reach the same @site, a number of the instruction, together */ \
	F(uint32_t, activemask, (struct ptx_thread *, uint64_t site))			\
	/* copies @bytes of each lane in @mask to @all[lane * bytes], zeros for others */ \
	F(void, gather, (struct ptx_thread *, uint32_t mask, const void *own, void *all, \
			 uint32_t bytes))						\
	/* A window's view; ends the launch if there is none */			\
	F(const struct memcast_view *, view, (struct ptx_thread *, uint64_t address,	\
					      size_t *offset))				\
	/* Runs a function on a stack of the process: it may need much of it */	\
	F(void, host, (struct ptx_thread *, void (*function)(void *), void *data))	\
	/* Device functions that CUDA programs call */					\
	F(uint32_t, vprintf, (struct ptx_thread *, const char *format, const char *values)) \
	F(void *, malloc, (struct ptx_thread *, uint64_t bytes))			\
	F(void, free, (struct ptx_thread *, void *memory))				\
	F(void, assertfail, (struct ptx_thread *, const char *message, const char *file, \
			     uint32_t line, const char *function, uint64_t character))

#define RUN_DECLARE(result, name, arguments)	result ptx_run_##name arguments;
RUN_FUNCTIONS(RUN_DECLARE)
#undef RUN_DECLARE

/* All of them, for a linker of generated code; the last name is NULL */
struct ptx_run_name {
	const char *name;		/* "ptx_run_poll" */
	void *address;
};

extern const struct ptx_run_name ptx_run_names[];

/* A kernel that was translated */
struct ptx_kernel {
	void (*thread)(struct ptx_thread *thread, const void *parameters);
	/*
	 * Loops over all threads of a block by itself, if the kernel never waits: the thread
	 * that it is given is the first one. NULL: there is no such function.
	 */
	void (*block)(struct ptx_thread *first, const void *parameters);
	const char *name;
	uint32_t static_shared;		/* bytes behind PTX_SHARED_FIRST */
	uint32_t frame;			/* the deepest stack that a thread has; 0: not known */
	bool waits;			/* has barriers, operations of warps, or loops that wait */
};

/* What a launch needs of the library that loads this object; all functions may be NULL */
struct ptx_run_host {
	/* Sets the function that gets this thread's faults, or NULL. It may jump away. */
	void (*catch)(void (*caught)(int number, uintptr_t address, uintptr_t rip, bool store));
	/* Finds the view of a window. Return: is there one? */
	bool (*view_at)(uint64_t address, uint64_t *window, size_t *bytes,
			const struct memcast_view **view);
	/* Writes why an access failed. Return: is it known? */
	bool (*reason)(uintptr_t address, bool store, char *text, size_t size);
};

/* Finds the source of an instruction of generated code: "line 12 (a.cu:7)"; "" if unknown */
typedef void ptx_line_at(uintptr_t rip, char *text, size_t size);

struct ptx_launch {
	const struct ptx_kernel *kernel;
	const void *parameters;		/* laid out as PTX does */
	uint32_t grid[3], block[3], cluster[3];	/* cluster: 1 or more */
	uint32_t dynamic_shared;
	uint32_t resident;		/* most blocks that run at the same time; 0: any */
	bool cooperative;
	bool is_cluster;
	uint32_t multiprocessors;
	uint32_t stack_limit;		/* for kernels whose frame is not known */
	uint64_t heap_limit;		/* of malloc() */
	const struct ptx_run_host *host;
	ptx_line_at *line_at;
};

/* How a launch ended */
struct ptx_outcome {
	int result;			/* a CUresult */
	char reason[512];
};

void ptx_run(const struct ptx_launch *launch, struct ptx_outcome *outcome);

#endif /* MEMCAST_PTX_RUN_H */
