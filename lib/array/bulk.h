/* SPDX-License-Identifier: MIT */
/*
 * The inner loops of the bulk functions, once per instruction set: bulk-loops.h
 * is compiled three times, bulk-choose.c takes one at the first use.
 */
#ifndef MEMCAST_LIB_BULK_H
#define MEMCAST_LIB_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xmmintrin.h>
#include <memcast/bulk.h>

#pragma GCC visibility push(hidden)

#define BULK_TYPES	(MEMCAST_BF16 + 1)
#define BULK_OPS	(MEMCAST_XOR + 1)
#define BULK_LINE	64	/* bytes that a memory transfer has */

/*
 * Combines @bytes at @from_at of @reads places and stores the result at @to_at
 * of @writes places: each line of each place is read once and written once.
 * The two may be the same lines. @bytes is a multiple of the type's size.
 * @stream: past the caches; all of @to are aligned to a line then, and nothing
 * is fenced.
 */
typedef void bulk_combine(unsigned char *const *to, size_t to_at, unsigned int writes,
			  unsigned char *const *from, size_t from_at, unsigned int reads,
			  size_t bytes, bool stream);

struct bulk_loops {
	/* Copies past the caches: @to and @bytes are whole lines. */
	void (*stream)(unsigned char *to, const unsigned char *from, size_t bytes);
	/* Copies 64 bytes and more to @to_at of @writes places; @from may be one of them. */
	void (*copy)(unsigned char *const *to, size_t to_at, unsigned int writes,
		     const unsigned char *from, size_t bytes);
	bulk_combine *combine[BULK_TYPES][BULK_OPS];	/* NULL: no such thing */
};

extern const struct bulk_loops bulk_sse2, bulk_avx2, bulk_avx512;

/*
 * Sums round to nearest, keep subnormals and raise no signal, whatever the program
 * has set for its own: that comes back afterwards. Ranks get the same bits then.
 */
#define BULK_CONTROL	_MM_MASK_MASK	/* of MXCSR; with flags of exceptions not cared for */

static inline unsigned int bulk_arithmetic_begin(void)
{
	unsigned int program = _mm_getcsr();

	if (__builtin_expect((program & ~_MM_EXCEPT_MASK) != BULK_CONTROL, 0))
		_mm_setcsr(BULK_CONTROL);
	return program;
}

static inline void bulk_arithmetic_end(unsigned int program)
{
	if (__builtin_expect((program & ~_MM_EXCEPT_MASK) != BULK_CONTROL, 0))
		_mm_setcsr(program);
}

/* bulk-choose.c: whoever comes first chooses; several at once choose the same. */
extern const struct bulk_loops *bulk_loops_chosen;
extern size_t bulk_stream_chosen;
const struct bulk_loops *bulk_loops_choose(void);
size_t bulk_stream_choose(void);

static inline const struct bulk_loops *bulk_loops(void)
{
	const struct bulk_loops *loops = __atomic_load_n(&bulk_loops_chosen, __ATOMIC_RELAXED);

	return __builtin_expect(!!loops, 1) ? loops : bulk_loops_choose();
}

/* From how many bytes on stores go past the caches */
static inline size_t bulk_stream_bytes(void)
{
	size_t bytes = __atomic_load_n(&bulk_stream_chosen, __ATOMIC_RELAXED);

	return __builtin_expect(!!bytes, 1) ? bytes : bulk_stream_choose();
}

/* How many bytes are left to the start of a line */
static inline size_t bulk_to_line(const unsigned char *at)
{
	return -(uintptr_t)at % BULK_LINE;
}

/* bulk.c */
CUresult bulk_check(const struct memcast_view *view, size_t offset, size_t count,
		    enum memcast_element type, enum memcast_op op, size_t *bytes);
/* As bulk_check(), of elements of any kind, and of bytes */
CUresult bulk_check_elements(const struct memcast_view *view, size_t offset, size_t count,
			     size_t width, size_t *bytes);
CUresult bulk_check_range(const struct memcast_view *view, size_t offset, size_t bytes);
CUresult bulk_check_buffer(const void *buffer, size_t bytes);
void bulk_reduce_in_place(const struct memcast_view *view, size_t at, size_t bytes,
			  enum memcast_element type, enum memcast_op op);

/* bulk-broadcast.c; @from may be the range of a replica itself. */
void bulk_broadcast(const struct memcast_view *view, size_t offset, const unsigned char *from,
		    size_t bytes);

#pragma GCC visibility pop

#endif /* MEMCAST_LIB_BULK_H */
