// SPDX-License-Identifier: MIT
/* Bulk functions: checks of arguments, and reductions. The inner loops are in bulk-loops.h. */
#include <string.h>

#include "array.h"

static const char *const type_names[BULK_TYPES] = {
	[MEMCAST_U32] = "u32", [MEMCAST_S32] = "s32", [MEMCAST_U64] = "u64",
	[MEMCAST_S64] = "s64", [MEMCAST_F32] = "f32", [MEMCAST_F64] = "f64",
	[MEMCAST_F16] = "f16", [MEMCAST_BF16] = "bf16",
};

static const char *const op_names[BULK_OPS] = {
	[MEMCAST_ADD] = "add", [MEMCAST_MIN] = "min", [MEMCAST_MAX] = "max",
	[MEMCAST_AND] = "and", [MEMCAST_OR] = "or", [MEMCAST_XOR] = "xor",
};

CUresult bulk_check_elements(const struct memcast_view *view, size_t offset, size_t count,
			     size_t width, size_t *bytes)
{
	if (!view)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL view");
	if (!view->replicas || view->replicas > MEMCAST_VIEW_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "a view of %u replicas", view->replicas);
	if (__builtin_mul_overflow(count, width, bytes) || offset > view->bytes ||
	    *bytes > view->bytes - offset)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "%zu elements of %zu bytes at %zu are not inside the view's %zu bytes",
			    count, width, offset, view->bytes);
	return CUDA_SUCCESS;
}

CUresult bulk_check_range(const struct memcast_view *view, size_t offset, size_t bytes)
{
	return bulk_check_elements(view, offset, bytes, 1, &bytes);
}

static size_t width_of(enum memcast_element type)
{
	static const unsigned char width[BULK_TYPES] = {
		[MEMCAST_U32] = 4, [MEMCAST_S32] = 4, [MEMCAST_U64] = 8, [MEMCAST_S64] = 8,
		[MEMCAST_F32] = 4, [MEMCAST_F64] = 8, [MEMCAST_F16] = 2, [MEMCAST_BF16] = 2,
	};

	return type < BULK_TYPES ? width[type] : 0;
}

CUresult bulk_check(const struct memcast_view *view, size_t offset, size_t count,
		    enum memcast_element type, enum memcast_op op, size_t *bytes)
{
	size_t width = width_of(type);

	if (!width)
		return fail(CUDA_ERROR_INVALID_VALUE, "no type has the number %u", type);
	if (op >= BULK_OPS)
		return fail(CUDA_ERROR_INVALID_VALUE, "no operator has the number %u", op);
	if (!BULK_LEAST.combine[type][op])
		return fail(CUDA_ERROR_INVALID_VALUE, "%s has no operator '%s'",
			    type_names[type], op_names[op]);
	if (offset % width)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "offset %zu is not a multiple of the type's %zu bytes", offset, width);
	return bulk_check_elements(view, offset, count, width, bytes);
}

CUresult bulk_check_buffer(const void *buffer, size_t bytes)
{
	if (bytes && !buffer)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL buffer");
	return CUDA_SUCCESS;
}

/* Stores the result to the replicas that it reads; their lines are in the caches by then. */
void bulk_reduce_in_place(const struct memcast_view *view, size_t at, size_t bytes,
			  enum memcast_element type, enum memcast_op op)
{
	unsigned int program = bulk_arithmetic_begin();
	struct bulk_trial trial;
	enum bulk_way way;

	way = bulk_way(width_of(type) == 2 ? BULK_SUM_NARROW_IN_PLACE : BULK_SUM_IN_PLACE,
		       view->replicas, bytes * view->replicas, bytes * view->replicas, &trial);
	bulk_loops()->combine[type][op](view->replica, at, view->replicas, view->replica, at,
					view->replicas, bytes, way);
	bulk_way_done(&trial);
	bulk_arithmetic_end(program);
}

/* Stores the result to a buffer. Whole lines of the buffer may go past the caches. */
static void reduce_to_buffer(const struct memcast_view *view, size_t at, unsigned char *to,
			     size_t bytes, enum memcast_element type, enum memcast_op op)
{
	bulk_combine *combine = bulk_loops()->combine[type][op];
	size_t head = bulk_to_line(to), total = bytes * (view->replicas + 1);
	unsigned int program = bulk_arithmetic_begin();
	struct bulk_trial trial;
	enum bulk_way way;

	way = bulk_way(width_of(type) == 2 ? BULK_SUM_NARROW : BULK_SUM, view->replicas, total,
		       bytes, &trial);
	if (bulk_goes_past(way) && (head > bytes || head % width_of(type))) {
		way = way == BULK_PAST ? BULK_LOOP : BULK_AHEAD;
		trial.times = NULL;	/* this call does not go the way that was to be timed */
	}
	if (bulk_goes_past(way) && head) {
		combine(&to, 0, 1, view->replica, at, view->replicas, head, BULK_LOOP);
		to += head;
		at += head;
		bytes -= head;
	}
	combine(&to, 0, 1, view->replica, at, view->replicas, bytes, way);
	if (bulk_goes_past(way))
		processor_fence();
	bulk_way_done(&trial);
	bulk_arithmetic_end(program);
}

static CUresult reduce_load(const struct memcast_view *view, size_t offset, void *to,
			    size_t count, enum memcast_element type, enum memcast_op op)
{
	size_t bytes;
	CUresult result = bulk_check(view, offset, count, type, op, &bytes);

	if (result == CUDA_SUCCESS)
		result = bulk_check_buffer(to, bytes);
	if (result == CUDA_SUCCESS)
		reduce_to_buffer(view, offset, to, bytes, type, op);
	return result;
}

CUresult memcastReduceLoad(const struct memcast_view *view, size_t offset, void *to,
			   size_t count, enum memcast_element type, enum memcast_op op)
{
	return LOGGED(reduce_load(view, offset, to, count, type, op),
		      "view=%p, offset=%zu, to=%p, count=%zu, type=%d, op=%d",
		      (const void *)view, offset, to, count, type, op);
}

static CUresult reduce_broadcast(const struct memcast_view *view, size_t offset, size_t count,
				 enum memcast_element type, enum memcast_op op)
{
	size_t bytes;
	CUresult result = bulk_check(view, offset, count, type, op, &bytes);

	if (result == CUDA_SUCCESS)
		bulk_reduce_in_place(view, offset, bytes, type, op);
	return result;
}

CUresult memcastReduceBroadcast(const struct memcast_view *view, size_t offset, size_t count,
				enum memcast_element type, enum memcast_op op)
{
	return LOGGED(reduce_broadcast(view, offset, count, type, op),
		      "view=%p, offset=%zu, count=%zu, type=%d, op=%d", (const void *)view,
		      offset, count, type, op);
}

/*
 * Combines each element with the value seen in memory, and stores the result if memory still
 * has that value; if not, again. Elements are combined by blocks, those that had changed one by
 * one.
 */
#define RED(T)									\
static void red_##T(T *at, const T *from, size_t count, bulk_combine *combine)	\
{										\
	T seen[RED_BLOCK / sizeof(T)], wanted[RED_BLOCK / sizeof(T)];		\
	unsigned char *places[2] = { (void *)seen, (void *)from };		\
	unsigned char *results[1] = { (void *)wanted };				\
										\
	for (size_t k = 0; k < count; k++)					\
		seen[k] = __atomic_load_n(at + k, __ATOMIC_RELAXED);		\
	combine(results, 0, 1, places, 0, 2, count * sizeof(T), BULK_LOOP);		\
	for (size_t k = 0; k < count; k++)					\
		while (!__atomic_compare_exchange_n(at + k, seen + k, wanted[k], false, \
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
			places[0] = (void *)(seen + k);				\
			places[1] = (unsigned char *)from + k * sizeof(T);	\
			results[0] = (void *)(wanted + k);			\
			combine(results, 0, 1, places, 0, 2, sizeof(T), BULK_LOOP);	\
		}								\
}

#define RED_BLOCK	1024

typedef uint16_t red_u16 __attribute__((may_alias));
typedef uint32_t red_u32 __attribute__((may_alias));
typedef uint64_t red_u64 __attribute__((may_alias));

RED(red_u16)
RED(red_u32)
RED(red_u64)

static CUresult reduce_store(const struct memcast_view *view, size_t offset, const void *from,
			     size_t count, enum memcast_element type, enum memcast_op op)
{
	bulk_combine *combine;
	unsigned int program;
	size_t bytes;
	CUresult result = bulk_check(view, offset, count, type, op, &bytes);

	if (result == CUDA_SUCCESS)
		result = bulk_check_buffer(from, bytes);
	if (result != CUDA_SUCCESS)
		return result;

	combine = bulk_loops()->combine[type][op];
	program = bulk_arithmetic_begin();
	for (size_t at = 0; at < bytes; at += RED_BLOCK) {
		size_t part = bytes - at < RED_BLOCK ? bytes - at : RED_BLOCK;
		const void *source = (const unsigned char *)from + at;

		for (unsigned int i = 0; i < view->replicas; i++) {
			void *to = view->replica[i] + offset + at;

			switch (width_of(type)) {
			case 2:
				red_red_u16(to, source, part / 2, combine);
				break;
			case 4:
				red_red_u32(to, source, part / 4, combine);
				break;
			default:
				red_red_u64(to, source, part / 8, combine);
			}
		}
	}
	bulk_arithmetic_end(program);
	return CUDA_SUCCESS;
}

CUresult memcastReduceStore(const struct memcast_view *view, size_t offset, const void *from,
			    size_t count, enum memcast_element type, enum memcast_op op)
{
	return LOGGED(reduce_store(view, offset, from, count, type, op),
		      "view=%p, offset=%zu, from=%p, count=%zu, type=%d, op=%d",
		      (const void *)view, offset, from, count, type, op);
}
