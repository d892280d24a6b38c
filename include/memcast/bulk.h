/* SPDX-License-Identifier: MIT */
/*
 * Bulk functions: multimem operations on arrays in a view, at the speed of the
 * memory. They use the CPU's vector instructions (see MEMCAST_CPU in
 * docs/environment.md), read and write each line of each replica once, and store
 * past the caches if the replicas together do not fit them. The first calls for
 * long arrays find out which way is the fastest (MEMCAST_STREAM there).
 *
 * Source: PTX's cp.async.bulk and cp.reduce.async.bulk with a multimem address, and
 * multimem.ld_reduce and multimem.st on each element of an array; the names are
 * memcast's.
 *
 * Library: libmemcast.so (link with -lmemcast -lcuda, or pkg-config libmemcast).
 *
 * Common to all:
 * @view: from memcastViewCreate(), or any places of the same size that a
 *	program has mapped: neither devices nor cuInit() are needed
 * @offset: bytes into the view; of reductions, a multiple of the type's size
 * @count: elements
 *
 * Accesses are weak, as PTX says: order them by a barrier (memcast/group.h),
 * or by release and acquire operations of multimem.h. Stores past the caches
 * are fenced before a call returns. Buffers need no alignment. A buffer that
 * shares bytes with the range of a replica gets undefined contents, unless said
 * otherwise. If a replica is not bound, the access raises SIGBUS, and earlier
 * accesses of the call may have been done.
 *
 * Floats are rounded to nearest, ties to even, subnormals are kept and no exception
 * is a signal, whatever the calling thread has set (-ffast-math does, for a whole
 * program). The thread's settings stay, except for flags of exceptions.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE for a NULL pointer, a view without replicas,
 * a range that is not inside the view, a misaligned offset, an unknown type or
 * an operator that the type does not have; nothing is accessed then. A call for 0
 * elements accesses nothing and needs no buffer, either.
 */
#ifndef MEMCAST_BULK_H
#define MEMCAST_BULK_H

#include <stddef.h>
#include <memcast/view.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum memcast_element - the type of the elements
 *
 * Results are bit for bit those of multimem_ld_reduce_OP_T() and
 * multimem_red_OP_T() in multimem.h, where F32 and F64 leave open which NaN a sum
 * gives, and one replica alone keeps its NaNs as they are. F16 and BF16 are summed
 * in f32 and rounded once, at the end: .acc::f32.
 */
enum memcast_element {
	MEMCAST_U32,
	MEMCAST_S32,
	MEMCAST_U64,
	MEMCAST_S64,
	MEMCAST_F32,
	MEMCAST_F64,
	MEMCAST_F16,
	MEMCAST_BF16,
};

/**
 * enum memcast_op - the operator that combines two elements
 *
 * Of integers, ADD wraps. AND, OR and XOR are for integers only. MIN and MAX of
 * floats take a number rather than a NaN, and -0 for less than 0; PTX has them
 * for the 16-bit ones, memcast for all. A result that is no number is the
 * canonical NaN, all bits of its magnitude set.
 */
enum memcast_op {
	MEMCAST_ADD,
	MEMCAST_MIN,
	MEMCAST_MAX,
	MEMCAST_AND,
	MEMCAST_OR,
	MEMCAST_XOR,
};

/**
 * memcastBroadcast() - copy a buffer to all replicas
 * @view: see above
 * @offset: see above; any
 * @from: the buffer; may be the same range of one of the replicas
 * @bytes: how many; any
 *
 * cp.async.bulk.global.shared::cta to a multimem address.
 */
CUresult memcastBroadcast(const struct memcast_view *view, size_t offset,
			  const void *from, size_t bytes);

/**
 * memcastFill() - store one element everywhere in a range of all replicas
 * @view: see above
 * @offset: see above; any
 * @element: what to store
 * @width: its bytes, 1, 2, 4, 8 or 16
 * @count: see above
 */
CUresult memcastFill(const struct memcast_view *view, size_t offset,
		     const void *element, size_t width, size_t count);

/**
 * memcastReduceLoad() - combine the replicas into a buffer
 * @view: see above
 * @offset: see above
 * @to: receives @count elements; may be the same range of one of the replicas
 * @count: see above
 * @type: of the elements
 * @op: how to combine them
 *
 * multimem.ld_reduce.weak on each element.
 */
CUresult memcastReduceLoad(const struct memcast_view *view, size_t offset, void *to,
			   size_t count, enum memcast_element type, enum memcast_op op);

/**
 * memcastReduceStore() - combine a buffer into every replica
 * @view: see above
 * @offset: see above
 * @from: @count elements
 * @count: see above
 * @type: of the elements
 * @op: how to combine them
 *
 * cp.reduce.async.bulk to a multimem address: multimem.red.relaxed on each
 * element, atomic per element and replica.
 */
CUresult memcastReduceStore(const struct memcast_view *view, size_t offset, const void *from,
			    size_t count, enum memcast_element type, enum memcast_op op);

/**
 * memcastReduceBroadcast() - combine the replicas, and store the result to all
 * @view: see above
 * @offset: see above
 * @count: see above
 * @type: of the elements
 * @op: how to combine them
 *
 * A rank calls this for its slice in a two-shot all-reduce: like memcastReduceLoad()
 * into a buffer and memcastBroadcast() of it, without the buffer. No other thread may
 * access the range meanwhile.
 */
CUresult memcastReduceBroadcast(const struct memcast_view *view, size_t offset,
				size_t count, enum memcast_element type, enum memcast_op op);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_BULK_H */
