/* SPDX-License-Identifier: MIT */
/*
 * Streams: queues of work, each with a thread that does the work in order.
 *
 * Work is numbered as it is queued; a point is a stream and a number: the stream's work up to
 * that number. Streams and callers wait only for work that was queued before the wait, so waits
 * cannot go in a circle.
 *
 * Locks, outermost first:
 *
 *   slots_lock	context.h
 *   instance.lock	graph/launch/plan.h: a graph that can be launched
 *   graphs_lock	graph/graph.h: graphs, their nodes, captures
 *   sets_lock (context_streams.c)	which contexts have streams, and which streams they have
 *   stream.lock	a stream's queue and its numbers
 *   modules_lock	kernel/kernel.h, with the locks around it
 *   event.lock, fence.lock, table.lock, pages_lock (event/shared_page.c), opened_lock
 *   (alloc/ipc.c), pools_lock (alloc/pool/pool.h), the lock of alloc/advice.c
 *		innermost, one at a time (but references_lock of lib/graph/node/condition.c is
 *		around a table's)
 *
 * No lock is held while work is done. A child of fork() takes none of these locks:
 * library_ready() refuses its calls before.
 */
#ifndef MEMCAST_STREAM_H
#define MEMCAST_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "context/context.h"

struct stream;
struct branch;

/* The streams of one context. */
struct stream_set {
	struct stream_set *next;	/* of the same slot */
	CUcontext context;
	uint32_t device;
	atomic_uint references;
	/* The first failure of work, which all later calls return. */
	_Atomic CUresult error;
	/* finish.c: */
	atomic_ullong worked;		/* how often work has got on, or ended */
	atomic_ullong progress;		/* from 1: likewise, and how often work was asked to look again */
	atomic_uint ending;		/* calls that are about to end the context */
	atomic_ullong ending_since;	/* nanoseconds */
	/* under sets_lock: */
	struct stream *streams;		/* streams that take work or have work left */
	struct stream *busy;		/* those of them that may have work left */
	struct stream *legacy;		/* one of @streams, or NULL */
};

/* Result of work whose arguments were good when it was queued and are bad now: hardware's. */
static inline CUresult work_result(CUresult result)
{
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_LAUNCH_FAILED : result;
}

struct work {
	struct work *next;
	/* @error: failure of earlier work; work that is of no use then does nothing */
	CUresult (*run)(struct work *work, struct stream *stream, CUresult error);
};

/* attribute.c: kept and read back */
struct stream_attributes {
	CUaccessPolicyWindow window;
	CUsynchronizationPolicy policy;
	CUlaunchMemSyncDomainMap map;
	CUlaunchMemSyncDomain domain;
};

struct stream {
	struct stream *next, **link;	/* in its set */
	struct stream *next_busy, **link_busy;	/* in the set's list, if @busy */
	struct stream *next_ended;		/* of those that end with their context */
	struct stream_set *set;
	CUstream handle;		/* 0 for default streams */
	unsigned long long id;
	bool is_legacy;
	unsigned int flags;
	atomic_int priority;		/* between STREAM_PRIORITY_… */
	_Atomic(struct branch *) branch; /* in a capture (see capture.h), or NULL */
	atomic_uint references;
	/* finish.c: */
	atomic_ullong in_vain;		/* the set's progress at the last look in vain */
	atomic_ullong yielded;		/* nanoseconds: when its kernel last did; 0: it gets on */
	uint64_t yields_for;		/* nanoseconds, without getting on */
	pthread_mutex_t lock;		/* protects what follows */
	pthread_cond_t changed;
	pthread_cond_t *sleeps_at;	/* its thread does, in a piece of work; or NULL */
	struct work *first, **last;
	struct stream_attributes attributes;
	uint64_t queued, done;		/* numbers of the work queued and done so far */
	bool has_worker;
	bool taken;			/* stream_take(): its thread waits */
	bool ended;			/* takes no more work */
	bool busy;			/* changes with sets_lock held as well */
};

/* Return: the failure of work of the stream's device, which the calls for the stream return then */
static inline CUresult stream_working(const struct stream *stream)
{
	CUresult error = stream->set->error;

	return error == CUDA_SUCCESS ? error : fail(error, "work in a stream has failed");
}

#define QUEUE_MOST	16384	/* pieces of work that a stream may have; cuda.h says so */

#define STEPS_MOST	256	/* in which one may get on: cuStreamBatchMemOp() has most */

/* The work that a call waits for: a mask. */
#define WAIT_OWN	1U	/* the stream's own */
#define WAIT_BEFORE	2U	/* other streams' work that new work here waits for */

/* stream.c */
int stream_priority(int wanted);

/* worker.c */
struct stream *stream_here(void);
struct stream *stream_alloc(struct stream_set *set, unsigned int flags);
void stream_reference(void *stream);
void stream_put(struct stream *stream);
void stream_end(struct stream *stream);
CUresult stream_submit(struct stream *stream, struct work *work);
CUresult stream_submit_copy(struct stream *stream, const struct work *work, size_t bytes);

/* context_streams.c */
CUresult set_find(CUcontext context, struct stream_set **set);
struct stream_set *set_existing(CUcontext context);
void set_lock(void);
void set_unlock(void);
void set_put(struct stream_set *set);
void set_remove(struct stream *stream);
void stream_lock_busy(struct stream *stream);
void stream_wait_room(struct stream *stream);
void busy_add(struct stream *stream);
bool busy_drop_idle(struct stream *stream);
CUresult set_fail(struct stream_set *set, CUresult error);
CUresult stream_get(CUstream handle, struct stream **stream);
CUresult stream_publish(struct stream *stream);
struct stream *stream_withdraw(CUstream handle);
CUresult streams_wait(CUcontext context);
CUresult legacy_wait(CUcontext context);
CUresult blocking_wait(CUcontext context, uint32_t device);
bool other_device_streams(uint32_t device);

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
CUresult blocking_streams_wait(struct stream_set *set);
CUresult stream_idle(struct stream *stream, unsigned int what, bool *idle);
CUresult stream_take(struct stream *stream, bool *taken);
void stream_give(struct stream *stream);
void give_back_later(void);
CUresult synchronized(CUresult result);

/* finish.c: what the thread of a stream waits for, for the end of its context */
uint64_t look_begin(void);
void look_in_vain(uint64_t progress);
void stream_waits(struct stream *stream);
void stream_got_on(const struct stream *stream);
void stream_yields(void);
void stream_goes_on(void);
void sleep_at(pthread_cond_t *changed);
void loop_look(void);

struct event;

/* fence.c: something that happens once, such as a record of an event */
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

/* event/event.c: for the end of a context, for nodes of graphs */
void events_end(CUcontext context);
CUresult event_get(CUevent handle, struct event **event);
struct event *event_reference(struct event *event);
void event_put(struct event *event);
bool event_is_shared(const struct event *event);	/* with other processes */
/* For launches: may the event be recorded in a stream? Then the record lacks at most memory. */
CUresult event_check(const struct event *event, const struct stream *stream);
CUresult event_record_in(struct event *event, CUevent handle, struct stream *stream, bool external);
/*
 * event_fence(): the last record's fence, with a reference, or NULL; event_set() sets the next
 * record's
 */
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
void memops_pools_used(bool (*in_pool)(CUdeviceptr address));
bool memops_wait(const struct memops *memops);
CUresult memops_try(const struct memops *memops, uint32_t device, uint32_t *at, bool *done);

/* pause.c: state of a thread that polls, with longer and longer pauses */
struct pause {
	unsigned int looks;
	bool said;
	long begun, start, next;	/* nanoseconds: of the first look, of the last, of a pause */
	struct activity *activity;	/* for memcast-smi, of a long wait; or NULL */
};

void pause_begin(struct pause *pause);
void pause_sleep(struct pause *pause);
void pause_end(struct pause *pause);
void memory_words(uint64_t address, char *text, size_t size);
void pause_notice(struct pause *pause, const struct operation *operation,
		  const struct stream *stream);

/* As CALL(), but CUDA_ERROR_NOT_READY is a result, not a failure to log. */
#define POLL(expression, ...)	POLL_ON(true, expression, __VA_ARGS__)

/* As CALL_ON(), for streams and events */
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
