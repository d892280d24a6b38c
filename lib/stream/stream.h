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
 *   instance.lock	graph/launch/plan.h: a graph that can be launched
 *   graphs_lock	graph/graph.h: graphs, their nodes, captures
 *   sets_lock (context_streams.c)	which contexts have streams, and which streams they have
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
#undef cuMemcpy3DBatchAsync
#undef cuMemcpyBatchAsync
#undef cuStreamDestroy

#pragma GCC visibility push(default)
CUresult cuEventDestroy(CUevent event);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
			      unsigned long long flags, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
			    CUmemcpyAttributes *attributes, size_t *starts,
			    size_t attributes_count, size_t *failed, CUstream stream);
CUresult cuStreamDestroy(CUstream stream);
#pragma GCC visibility pop

struct stream;
struct branch;

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

/* What was good when the work was queued, and is not any more: as hardware says it */
static inline CUresult work_result(CUresult result)
{
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_LAUNCH_FAILED : result;
}

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
	int priority;			/* between STREAM_PRIORITY_… */
	_Atomic(struct branch *) branch; /* of a capture (see capture.h), or NULL */
	atomic_uint references;
	pthread_mutex_t lock;		/* protects what follows */
	pthread_cond_t changed;
	struct work *first, **last;
	uint64_t queued, done;		/* how much work ever was */
	bool has_worker;
	bool ended;			/* takes no more work */
};

/* As hardware has them; here the work of all is done alike. */
#define STREAM_PRIORITY_LEAST		0
#define STREAM_PRIORITY_GREATEST	(-5)

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
void stream_enter_worker(void);

/* context_streams.c */
CUresult set_find(CUcontext context, struct stream_set **set);
void set_lock(void);
void set_unlock(void);
void set_put(struct stream_set *set);
void set_remove(struct stream *stream);
CUresult set_fail(struct stream_set *set, CUresult error);
void sets_fail(uint32_t device, CUresult error);
CUresult stream_get(CUstream handle, struct stream **stream);
CUresult stream_publish(struct stream *stream);
struct stream *stream_withdraw(CUstream handle);
void streams_end(CUcontext context);
CUresult streams_wait(CUcontext context);
CUresult legacy_wait(CUcontext context);

/* stream_wait.c */
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

struct event;

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
struct fence *fence_reference(struct fence *fence);
CUresult stream_submit_fence(struct stream *stream, struct fence *fence, bool wait);

/* event/event.c: for nodes of graphs */
CUresult event_get(CUevent handle, struct event **event);
struct event *event_reference(struct event *event);
void event_put(struct event *event);
/* the fence of the last record, with a reference, or NULL; the next record's */
struct fence *event_fence(struct event *event);
void event_set(struct event *event, struct fence *fence);

/* memop.c: operations on words, for streams and for nodes of graphs */
struct operation {
	uint64_t address, value;
	uint32_t size;		/* 4, 8; 0: nothing to do */
	bool wait;
	unsigned int how;	/* CU_STREAM_WAIT_VALUE_… without FLUSH */
};

struct memops {
	unsigned int count;
	struct operation at[];
};

size_t memops_bytes(unsigned int count);
CUresult memops_check_array(unsigned int count, const CUstreamBatchMemOpParams *params);
CUresult memops_translate(struct memops *memops, unsigned int count,
			  const CUstreamBatchMemOpParams *params);
CUresult memops_check(const struct memops *memops, uint32_t device);
bool memops_wait(const struct memops *memops);
CUresult memops_try(const struct memops *memops, uint32_t device, uint32_t *at, bool *done);

/* Looks at something that others change, more and more seldom */
struct pause {
	unsigned int looks;
	long start, next;	/* nanoseconds */
};

void pause_begin(struct pause *pause);
void pause_sleep(struct pause *pause);

/* Layers of rows: what a copy consists of. One layer is what the kernel copies. */
struct layers {
	struct memcast_copy copy;		/* the first one */
	uint64_t count;				/* 0: nothing to copy */
	uint64_t to_pitch, from_pitch;		/* bytes from one to the next */
};

/* When the source is read, and whether the call may return before that */
enum transfer_when {
	TRANSFER_SYNC,		/* a call without a stream: all is done when it returns */
	TRANSFER_ASYNC,		/* as cuMemcpyAsync(): see transfer.c */
	TRANSFER_IN_ORDER,	/* when the stream comes there, and nobody waits */
	TRANSFER_READ_NOW,	/* the source is read before the call returns */
};

/* transfer.c: copies and fills, at once or in a stream */
CUresult transfer_copy(CUstream handle, const struct memcast_copy *arg, bool async);
CUresult transfer_fill(CUstream handle, const struct memcast_fill *arg, bool async);
CUresult transfer_layers(CUstream handle, const struct layers *layers,
			 enum transfer_when when);
CUresult layers_check(const struct layers *layers);
CUresult layers_copy(const struct layers *layers);
CUresult fill_check(const struct memcast_fill *fill);

/* alloc/heap.c: what a copy has to look at where contexts share a device */
extern atomic_uint contexts_with_memory, with_memory[], devices_shared;
CUresult fill_from_context(CUcontext context, uint64_t to);
CUresult copy_between_contexts(uint64_t to, uint64_t from);

/* copy3d.c */
CUresult layers_of(struct layers *layers, const CUDA_MEMCPY3D *copy);
void layers_join(struct layers *layers);
CUresult copy_layers(CUstream stream, bool async, const CUDA_MEMCPY3D *copy);
CUresult copy_peer_layers(CUstream stream, bool async, const CUDA_MEMCPY3D_PEER *copy);

/* batch.c: for per_thread.c */
struct batch {
	const CUdeviceptr *to, *from;
	const size_t *bytes;
	size_t count;
	const CUmemcpyAttributes *attributes;
	const size_t *starts;		/* the first copy of each attribute */
	size_t attributes_count;
	size_t *failed;			/* output, or NULL */
};

CUresult batch_copy(CUstream stream, const struct batch *batch);
CUresult batch_copy_layers(CUstream stream, const CUDA_MEMCPY3D_BATCH_OP *copies,
			   size_t count, unsigned long long flags, size_t *failed);

/* copy.c, copy2d.c, fill.c: for per_thread.c */
CUresult peer_devices(struct memcast_copy *arg, CUcontext to, CUcontext from, bool async);
CUresult copy_linear(CUstream stream, bool async, uintptr_t to, uintptr_t from,
		     size_t bytes, uint32_t flags);
CUresult copy_peer(CUstream stream, bool async, CUdeviceptr to, CUcontext to_context,
		   CUdeviceptr from, CUcontext from_context, size_t bytes);
CUresult copy_rows(CUstream stream, bool async, const CUDA_MEMCPY2D *copy, bool any_pitch);
CUresult fill_rows(CUstream stream, bool async, CUdeviceptr to, size_t pitch,
		   uint32_t value, uint32_t width, size_t count, size_t rows);

/* As CALL(), but "not ready" is an answer and no failure. */
#define POLL(expression, ...)	POLL_ON(true, expression, __VA_ARGS__)

/* As CALL_ON(): streams and events are handles. */
#define POLL_ON(handles, expression, ...)				\
({									\
	CUresult answer_ = CUDA_SUCCESS;				\
	CUresult called_ = WHOLE_CALL_ON(handles, CUDA_ERROR_INVALID_HANDLE,	\
		(answer_ = (expression)) == CUDA_ERROR_NOT_READY ?	\
			CUDA_SUCCESS : answer_, __VA_ARGS__);		\
									\
	called_ == CUDA_SUCCESS ? answer_ : called_;			\
})

#endif /* MEMCAST_STREAM_H */
