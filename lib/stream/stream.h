/* SPDX-License-Identifier: MIT */
/*
 * Streams: queues of work, each with a thread that does it one after the other.
 *
 * Work is numbered as it is queued; a point is "that stream, up to that
 * number". All that is ever waited for, by a stream or by a caller, was queued
 * before the wait was, so waits cannot go in a circle.
 *
 * Locks, outermost first:
 *
 *   slots_lock	context.h
 *   sets_lock (set.c)	which contexts have streams, and which streams they have
 *   stream.lock	a stream's queue and its numbers
 *   event.lock, fence.lock, table.lock	innermost, one at a time
 *
 * None is held while work is done. After fork() the child takes none of them:
 * library_ready() comes before.
 */
#ifndef MEMCAST_STREAM_H
#define MEMCAST_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "library.h"

/* Older names that binaries import; cuda.h has them under new ones. */
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuStreamDestroy

#pragma GCC visibility push(default)
CUresult cuEventDestroy(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuStreamDestroy(CUstream stream);
#pragma GCC visibility pop

struct stream;

/* The streams of one context. */
struct stream_set {
	struct stream_set *next;
	CUcontext context;
	uint32_t device;
	atomic_uint references;
	/* The first failure of work; all that comes later answers it. */
	_Atomic CUresult error;
	struct stream *streams;		/* those with work left, destroyed or not */
	struct stream *legacy;		/* one of these, or NULL; sets_lock */
};

struct work {
	struct work *next;
	/* @error: what failed before it, work that has no need then is left out */
	CUresult (*run)(struct work *work, struct stream *stream, CUresult error);
};

struct stream {
	struct stream *next;		/* in its set */
	struct stream_set *set;
	CUstream handle;		/* 0 for default streams */
	unsigned long long id;
	bool is_legacy;
	unsigned int flags;
	int priority;			/* 0: all are alike */
	atomic_uint references;
	pthread_mutex_t lock;		/* protects what follows */
	pthread_cond_t changed;
	struct work *first, **last;
	uint64_t queued, done;		/* how much work ever was */
	bool has_worker;
	bool ended;			/* takes no more work */
};

/* Which work a call waits for: a mask. */
#define WAIT_OWN	1U	/* the stream's */
#define WAIT_BEFORE	2U	/* what new work in the stream comes after, elsewhere */

/* worker.c */
struct stream *stream_alloc(struct stream_set *set, unsigned int flags);
void stream_reference(void *stream);
void stream_put(struct stream *stream);
void stream_end(struct stream *stream);
CUresult stream_submit(struct stream *stream, struct work *work);
bool stream_in_worker(void);

/* set.c */
CUresult set_find(CUcontext context, struct stream_set **set);
void set_lock(void);
void set_unlock(void);
void set_put(struct stream_set *set);
void set_remove(struct stream *stream);
CUresult set_fail(struct stream_set *set, CUresult error);
CUresult stream_get(CUstream handle, struct stream **stream);
CUresult stream_publish(struct stream *stream);
struct stream *stream_withdraw(CUstream handle);
void streams_end(CUcontext context);
CUresult streams_wait(CUcontext context);
CUresult legacy_wait(CUcontext context);

/* point.c */
struct points {
	unsigned int count;
	struct point {
		struct stream *stream;
		uint64_t number;
	} *at;
};

CUresult points_collect(struct points *points, struct stream_set *set,
			struct stream *stream, unsigned int what);
void points_wait(struct points *points);
void points_free(struct points *points);
CUresult stream_wait(struct stream *stream, unsigned int what);
CUresult stream_idle(struct stream *stream, unsigned int what, bool *idle);

/* fence.c: something that happens once */
struct fence {
	atomic_uint references;
	pthread_mutex_t lock;		/* protects what follows */
	pthread_cond_t changed;
	bool done;
	CUresult error;
	struct timespec time;
};

struct fence *fence_alloc(void);
void fence_put(struct fence *fence);
void fence_signal(struct fence *fence, CUresult error);
bool fence_done(struct fence *fence, CUresult *error);
CUresult fence_wait(struct fence *fence);
CUresult stream_submit_fence(struct stream *stream, struct fence *fence, bool wait);

/* transfer.c: copies and fills, at once or in a stream */
CUresult transfer_copy(CUstream handle, const struct memcast_copy *arg, bool async);
CUresult transfer_fill(CUstream handle, const struct memcast_fill *arg, bool async);

/* copy.c, copy2d.c, fill.c: for per_thread.c */
CUresult copy_linear(CUstream stream, bool async, uintptr_t to, uintptr_t from,
		     size_t bytes, uint32_t flags);
CUresult copy_peer(CUstream stream, bool async, CUdeviceptr to, CUcontext to_context,
		   CUdeviceptr from, CUcontext from_context, size_t bytes);
CUresult copy_rows(CUstream stream, bool async, const CUDA_MEMCPY2D *copy, bool any_pitch);
CUresult fill_rows(CUstream stream, bool async, CUdeviceptr to, size_t pitch,
		   uint32_t value, uint32_t width, size_t count, size_t rows);

/* As CALL(), but "not ready" is an answer and no failure. */
#define POLL(expression, ...)						\
({									\
	CUresult answer_ = CUDA_SUCCESS;				\
	CUresult called_ = WHOLE_CALL((answer_ = (expression)) == CUDA_ERROR_NOT_READY ? \
				CUDA_SUCCESS : answer_, __VA_ARGS__);	\
									\
	called_ == CUDA_SUCCESS ? answer_ : called_;			\
})

#endif /* MEMCAST_STREAM_H */
