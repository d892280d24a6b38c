/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of libmemcast.so: bulk functions and groups. The library uses views, and of
 * libcuda.so.1 only the functions that include/ declares.
 *
 *   bulk.c		checks of bulk functions' arguments, and reductions
 *   bulk-broadcast.c	copies and fills
 *   bulk-choose.c	chooses the instruction set, and finds the sizes of the caches
 *   bulk-way.c		finds the fastest way for long arrays
 *   loops/		the inner loops: bulk-loops.h is compiled once per instruction set,
 *			and bulk-choose.c chooses one at the first use
 *   x86/, arm64/	what differs between processors: their sets of instructions, and
 *			what C cannot say
 *   group.c		groups of ranks: barrier, all-reduce, broadcast
 *   log.c		logs failed calls
 */
#ifndef MEMCAST_ARRAY_H
#define MEMCAST_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processor.h"

/* The functions that these headers declare are exported, all others are hidden. */
#pragma GCC visibility push(default)
#include <memcast/bulk.h>
#include <memcast/group.h>
#pragma GCC visibility pop

#pragma GCC visibility push(hidden)

#define BULK_TYPES	(MEMCAST_BF16 + 1)
#define BULK_OPS	(MEMCAST_XOR + 1)
#define BULK_LINE	64	/* bytes of a cache line */

/* The ways to copy and combine arrays that do not fit the first-level cache */
enum bulk_way {
	BULK_LOOP,	/* by the loops of this library */
	BULK_AHEAD,	/* by loops that also fetch later bytes from memory; sums only */
	BULK_LIBC,	/* by the C library's copy, in blocks; copies only, as the next one */
	BULK_WHOLE,	/* by the C library's copy, one replica after the other */
	BULK_PAST,	/* by the loops, whose stores go past the caches */
	BULK_PAST_AHEAD,	/* by such loops that also fetch later bytes; sums only */
	BULK_WAYS
};

static inline bool bulk_goes_past(enum bulk_way way)
{
	return way == BULK_PAST || way == BULK_PAST_AHEAD;
}

/*
 * Combines @bytes at @from_at of @reads places and stores the result at @to_at of @writes places:
 * each line of each place is read once and written once. Places may be read and written.
 * @bytes is a multiple of the type's size. If @way goes past the caches, all of @to are aligned to
 * a line, and the caller does the fence.
 */
typedef void bulk_combine(unsigned char *const *to, size_t to_at, unsigned int writes,
			  unsigned char *const *from, size_t from_at, unsigned int reads,
			  size_t bytes, enum bulk_way way);

struct bulk_loops {
	/* Copies past the caches: @to and @bytes are whole lines. */
	void (*stream)(unsigned char *to, const unsigned char *from, size_t bytes);
	/*
	 * Copies a byte or more to @to_at of @writes places; @from may be one of them. The
	 * result is CUDA_SUCCESS: memcastBroadcast() ends in this call.
	 */
	CUresult (*copy)(unsigned char *const *to, size_t to_at, unsigned int writes,
			 const unsigned char *from, size_t bytes);
	/* The same by pieces, for two places and more than 8 vectors */
	CUresult (*copy_to_2)(unsigned char *const *to, size_t to_at, const unsigned char *from,
			      size_t bytes);
	/* The same for a block of an array that does not fit the first-level cache */
	void (*copy_block)(unsigned char *const *to, size_t to_at, unsigned int writes,
			   const unsigned char *from, size_t bytes);
	bulk_combine *combine[BULK_TYPES][BULK_OPS];	/* NULL: no such operation */
};

/* A set of instructions that loops are built for. x86/sets.c, arm64/sets.c */
struct bulk_set {
	const char *name;
	const struct bulk_loops *loops;
	bool (*there)(void);		/* does this processor have it? */
};

extern const struct bulk_set bulk_sets[];	/* the best last, then one without a name */

/* Return: the best loops for copies, where @loops are the best for sums. */
const struct bulk_loops *bulk_copies_of(const struct bulk_loops *loops);

/*
 * Sums round to nearest, keep subnormals and raise no signal, whatever the program has set; its
 * setting comes back afterwards. So all ranks get the same bits. BULK_CONTROL of processor.h
 */
static inline unsigned int bulk_arithmetic_begin(void)
{
	unsigned int program = processor_control();

	if (__builtin_expect((program & ~BULK_FLAGS) != BULK_CONTROL, 0))
		processor_set_control(BULK_CONTROL);
	return program;
}

static inline void bulk_arithmetic_end(unsigned int program)
{
	if (__builtin_expect((program & ~BULK_FLAGS) != BULK_CONTROL, 0))
		processor_set_control(program);
}

/* bulk-choose.c: properties of the machine, which the first call of any thread finds. */
struct bulk_machine {
	/* Broadcasts of up to so many bytes are one call of copy(). 0: nothing is known yet */
	size_t short_bytes;
	const struct bulk_loops *loops;	/* for sums */
	const struct bulk_loops *copies;
	CUresult (*copy)(unsigned char *const *to, size_t to_at, unsigned int writes,
			 const unsigned char *from, size_t bytes);
	/* Up to so many bytes, read and written, copying by pieces beats the C library */
	size_t pieces;
	/* From so many bytes on, stores always go past the caches */
	size_t stream;
	bool stream_set;		/* by MEMCAST_STREAM; then stores of fewer bytes never do */
	size_t cache1, cache2;		/* bytes of a processor's own caches */
};

extern struct bulk_machine bulk_machine_known;
void bulk_choose(void);

static inline const struct bulk_machine *bulk_machine(void)
{
	if (__builtin_expect(!__atomic_load_n(&bulk_machine_known.short_bytes, __ATOMIC_ACQUIRE),
			     0))
		bulk_choose();
	return &bulk_machine_known;
}

static inline const struct bulk_loops *bulk_loops(void)
{
	return bulk_machine()->loops;
}

/* bulk-way.c */
enum bulk_kind {
	BULK_COPY,
	BULK_SUM,		/* into a buffer */
	BULK_SUM_NARROW,	/* of values of 2 bytes, which take more work per byte */
	BULK_SUM_IN_PLACE,	/* to places that it reads, so not past the caches */
	BULK_SUM_NARROW_IN_PLACE,
	BULK_SUM_PAST,		/* from bulk_machine.stream bytes on; bulk-way.c only */
	BULK_SUM_NARROW_PAST,
	BULK_KINDS
};

struct bulk_trial {
	struct bulk_times *times;	/* NULL: this call is not timed */
	unsigned char *decide;		/* where to note the fastest way after this call, or NULL */
	enum bulk_way way;
	uint64_t bytes, written, start;
};

/*
 * Return: the way for a call, which calls bulk_way_done() at its end. @bytes: bytes of all
 * replicas that are read and written; @written: bytes that are written.
 */
enum bulk_way bulk_way(enum bulk_kind kind, unsigned int replicas, size_t bytes, size_t written,
		       struct bulk_trial *trial);
void bulk_way_measured(const struct bulk_trial *trial);

static inline void bulk_way_done(const struct bulk_trial *trial)
{
	if (trial->times)
		bulk_way_measured(trial);
}

/* Return: the number of bytes to the start of the next line. */
static inline size_t bulk_to_line(const unsigned char *at)
{
	return -(uintptr_t)at % BULK_LINE;
}

/* log.c: the reason of a refusal, and the log's line with it */
__attribute__((format(printf, 2, 3)))
CUresult fail(CUresult result, const char *reason, ...);
__attribute__((format(printf, 3, 4)))
void log_failure(const char *call, CUresult result, const char *arguments, ...);

/* The arguments are formatted only if the call failed. */
#define LOGGED(expression, ...)	LOGGED_AS(__func__, expression, __VA_ARGS__)

#define LOGGED_AS(name, expression, ...)						\
({										\
	CUresult result_ = (expression);					\
										\
	if (__builtin_expect(result_ != CUDA_SUCCESS, 0))			\
		log_failure(name, result_, __VA_ARGS__);			\
	result_;								\
})

/* bulk.c */
CUresult bulk_check(const struct memcast_view *view, size_t offset, size_t count,
		    enum memcast_element type, enum memcast_op op, size_t *bytes);
/* As bulk_check(), for elements of any kind, and for bytes */
CUresult bulk_check_elements(const struct memcast_view *view, size_t offset, size_t count,
			     size_t width, size_t *bytes);
CUresult bulk_check_range(const struct memcast_view *view, size_t offset, size_t bytes);
CUresult bulk_check_buffer(const void *buffer, size_t bytes);
void bulk_reduce_in_place(const struct memcast_view *view, size_t at, size_t bytes,
			  enum memcast_element type, enum memcast_op op);

/* bulk-broadcast.c; @from may be in a replica. */
void bulk_broadcast(const struct memcast_view *view, size_t offset, const unsigned char *from,
		    size_t bytes);

#pragma GCC visibility pop

#endif /* MEMCAST_ARRAY_H */
