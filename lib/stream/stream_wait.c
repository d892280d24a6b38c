// SPDX-License-Identifier: MIT
/* Waits for points in streams, and what follows a wait of the program. */
#include <stdlib.h>

#include "base/ioctl.h"
#include "capture.h"

/* Does new work in the legacy stream wait for the work queued in the other? */
static bool legacy_waits_for(const struct stream *legacy, const struct stream *other)
{
	return other != legacy && !(other->flags & CU_STREAM_NON_BLOCKING);
}

static CUresult point_add(struct points *points, struct stream *stream)
{
	struct point *at;
	uint64_t number;
	bool done;

	pthread_mutex_lock(&stream->lock);
	number = stream->queued;
	done = stream->done == number;
	pthread_mutex_unlock(&stream->lock);
	if (done)
		return CUDA_SUCCESS;
	at = realloc(points->at, (points->count + 1) * sizeof(*at));
	if (!at)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a wait");
	stream_reference(stream);
	at[points->count++] = (struct point) { stream, number };
	points->at = at;
	return CUDA_SUCCESS;
}

/*
 * Calls point_add() for the busy streams of a set: @all, or those that new work in the legacy stream
 * waits for. Inline, as cuStreamQuery() of the legacy stream is little else.
 */
static inline __attribute__((always_inline))
CUresult add_busy(struct points *points, struct stream_set *set, const struct stream *legacy,
		  bool all)
{
	CUresult result = CUDA_SUCCESS;
	struct stream *other, *next;

	set_lock();
	for (other = set->busy; other && result == CUDA_SUCCESS; other = next) {
		next = other->next_busy;
		if (!busy_drop_idle(other) && (all || legacy_waits_for(legacy, other)))
			result = point_add(points, other);
	}
	set_unlock();
	return result;
}

static CUresult add_legacy(struct points *points, struct stream_set *set)
{
	CUresult result;

	set_lock();
	result = set->legacy ? point_add(points, set->legacy) : CUDA_SUCCESS;
	set_unlock();
	return result;
}

/**
 * points_collect() - the points of streams that are not idle
 * @points: output, to be freed
 * @set: collect streams of this set
 * @stream: the stream that is to wait; NULL: collect all streams
 * @what: the work that it waits for, a mask of WAIT_…
 */
CUresult points_collect(struct points *points, struct stream_set *set,
			struct stream *stream, unsigned int what)
{
	CUresult result = CUDA_SUCCESS;

	*points = (struct points) {};
	if (stream && what & WAIT_OWN)
		result = point_add(points, stream);
	if (result == CUDA_SUCCESS && (!stream || (what & WAIT_BEFORE && stream->is_legacy)))
		result = add_busy(points, set, stream, !stream);
	else if (result == CUDA_SUCCESS && what & WAIT_BEFORE &&
		 !(stream->flags & CU_STREAM_NON_BLOCKING))
		result = add_legacy(points, set);
	if (result != CUDA_SUCCESS)
		points_free(points);
	return result;
}

void points_free(struct points *points)
{
	while (points->count)
		stream_put(points->at[--points->count].stream);
	free(points->at);
	points->at = NULL;
}

void points_wait(struct points *points)
{
	for (unsigned int i = 0; i < points->count; i++) {
		struct stream *stream = points->at[i].stream;

		sleep_at(&stream->changed);
		pthread_mutex_lock(&stream->lock);
		while (stream->done < points->at[i].number) {
			stream_waits(stream_here());
			pthread_cond_wait(&stream->changed, &stream->lock);
		}
		pthread_mutex_unlock(&stream->lock);
	}
	sleep_at(NULL);
}

static CUresult wait_and_free(struct stream_set *set, struct points *points)
{
	CUresult result;

	points_wait(points);
	points_free(points);
	prints_flush();
	result = set->error;
	return result == CUDA_SUCCESS ? result : fail(result, "work in a stream has failed");
}

static CUresult collect_and_wait(struct stream_set *set, struct stream *stream,
				 unsigned int what)
{
	struct points points;
	CUresult result = points_collect(&points, set, stream, what);

	return result == CUDA_SUCCESS ? wait_and_free(set, &points) : result;
}

/* Waits for the blocking streams of a set, the legacy stream included. */
CUresult blocking_streams_wait(struct stream_set *set)
{
	struct points points = {};
	CUresult result = add_busy(&points, set, NULL, false);

	if (result == CUDA_SUCCESS)
		return wait_and_free(set, &points);
	points_free(&points);
	return result;
}

CUresult stream_wait(struct stream *stream, unsigned int what)
{
	return stream_captured(stream) ? capture_refuse(stream) :
		collect_and_wait(stream->set, stream, what);
}

/* Waits for all streams of a context. */
CUresult streams_wait(CUcontext context)
{
	struct stream_set *set;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	result = set_find(context, &set);
	if (result != CUDA_SUCCESS)
		return result;
	result = collect_and_wait(set, NULL, 0);
	set_put(set);
	return result;
}

/* *@idle: output, is there no unfinished work of the kinds in @what that a wait would wait for? */
CUresult stream_idle(struct stream *stream, unsigned int what, bool *idle)
{
	struct points points;
	CUresult result = stream_working(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (stream_captured(stream))
		return capture_refuse(stream);
	result = points_collect(&points, stream->set, stream, what);
	if (result != CUDA_SUCCESS)
		return result;
	*idle = !points.count;
	points_free(&points);
	return CUDA_SUCCESS;
}

/* With sets_lock held: is no work left, in other streams, that new work here waits for? */
static bool none_before(struct stream *stream)
{
	struct stream *legacy = stream->set->legacy, *other, *next;
	bool idle = true;

	if (stream->is_legacy) {
		for (other = stream->set->busy; other && idle; other = next) {
			next = other->next_busy;
			idle = other == stream || busy_drop_idle(other) ||
			       !legacy_waits_for(stream, other);
		}
	} else if (legacy && !(stream->flags & CU_STREAM_NON_BLOCKING)) {
		pthread_mutex_lock(&legacy->lock);
		idle = legacy->done == legacy->queued;
		pthread_mutex_unlock(&legacy->lock);
	}
	return idle;
}

/*
 * Takes a stream in which, and before which, no work is left, for work that the calling thread does
 * itself: until stream_give() that counts as work of the stream, which others come after. *@taken:
 * output; false: work is left
 */
CUresult stream_take(struct stream *stream, bool *taken)
{
	CUresult result = stream_working(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (stream_captured(stream))
		return capture_refuse(stream);
	for (;;) {
		set_lock();
		*taken = none_before(stream);
		pthread_mutex_lock(&stream->lock);
		if (!stream->taken)
			break;
		/* another thread's work, that is done soon: this need not be queued behind it */
		set_unlock();
		while (stream->taken)
			pthread_cond_wait(&stream->changed, &stream->lock);
		pthread_mutex_unlock(&stream->lock);
	}
	*taken &= stream->done == stream->queued && !stream->ended;
	if (*taken) {
		stream->queued++;
		stream->taken = true;
		if (!stream->busy)
			busy_add(stream);
	}
	pthread_mutex_unlock(&stream->lock);
	set_unlock();
	return CUDA_SUCCESS;
}

void stream_give(struct stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	stream_got_on(stream);
	stream->done++;
	stream->taken = false;
	pthread_cond_broadcast(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
}

/*
 * When pools give memory back. As on hardware, memory that a stream has freed stays with its pool
 * until the program waits for a stream, an event or a context: then each pool keeps what its
 * threshold says. Where memory is short, pools give back all that is unused before that: the
 * kernel sees to it for blocks, cuMemCreate() for memories.
 */
static atomic_bool freed;	/* since the last synchronization */

/* Notes that a stream has freed memory of a pool. */
void give_back_later(void)
{
	atomic_store_explicit(&freed, true, memory_order_release);
}

/* Takes the result of a synchronization, and returns it. What kernels have printed comes out. */
CUresult synchronized(CUresult result)
{
	struct memcast_heap_trim trim = { .flags = MEMCAST_TRIM_FREED };

	prints_flush();
	if (__builtin_expect(atomic_load_explicit(&freed, memory_order_relaxed), 0) &&
	    result == CUDA_SUCCESS && atomic_exchange(&freed, false))
		device_ask(MEMCAST_HEAP_TRIM, &trim);
	return result;
}

static CUresult context_synchronize(CUcontext context)
{
	CUresult result = capture_context(context);

	return result == CUDA_SUCCESS ? synchronized(streams_wait(context)) : result;
}

FORWARD(cuCtxSynchronize, (void), context_synchronize(NULL))
FORWARD(cuCtxSynchronize_v2, (CUcontext context), context_synchronize(context), context)
