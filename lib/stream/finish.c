// SPDX-License-Identifier: MIT
/*
 * The end of a context lets the work of its streams end before, so that what a kernel prints comes
 * out and no memory goes while a kernel uses it. But it waits for no work that waits for what may
 * never come: a word that nobody writes, an event of another context. So a thread that does work
 * notes each of its looks in vain at what it waits for, with the set's progress at that time: how
 * many pieces of work have ended. Where all that is left has looked in vain since the last
 * progress, no work of the context can let other work of it go on.
 */
#include "base/prints.h"
#include "stream.h"

/*
 * A piece of work looks whether it can go on. Until look_in_vain() it counts as one that does. The
 * calls of this file do nothing in a thread that is no stream's.
 */
uint64_t look_begin(void)
{
	struct stream *stream = stream_here();

	if (!stream)
		return 0;
	stream->in_vain = 0;
	return stream->set->progress;
}

/* @progress: what look_begin() has returned */
void look_in_vain(uint64_t progress)
{
	struct stream *stream = stream_here();

	if (stream)
		stream->in_vain = progress;
}

/* As look_in_vain(), for a thread that goes on as it is: it has just looked. */
void stream_waits(struct stream *stream)
{
	if (stream)
		stream->in_vain = stream->set->progress;
}

/*
 * This thread is going to sleep until @changed is signalled, and to call stream_waits() after each
 * look; NULL: the sleep is over.
 */
void sleep_at(pthread_cond_t *changed)
{
	struct stream *stream = stream_here();

	if (!stream)
		return;
	pthread_mutex_lock(&stream->lock);
	stream->sleeps_at = changed;
	pthread_mutex_unlock(&stream->lock);
	if (!changed)
		stream->in_vain = 0;
}

/* A loop that may have no end goes no further while its context is ending. */
void loop_look(void)
{
	struct stream *stream = stream_here();
	struct pause pause = {};

	while (stream->set->ending && stream->set->error == CUDA_SUCCESS &&
	       library_ready() == CUDA_SUCCESS) {
		pause_begin(&pause);
		stream_waits(stream);
		pause_sleep(&pause);
	}
	stream->in_vain = 0;
}

/* Has the stream done the work up to a point, or looked in vain since the set's last progress? */
static bool has_settled(const struct point *point, uint64_t progress)
{
	struct stream *stream = point->stream;
	bool settled;

	pthread_mutex_lock(&stream->lock);
	settled = stream->done >= point->number || stream->in_vain == progress;
	/* so that it looks again */
	if (!settled && stream->sleeps_at)
		pthread_cond_broadcast(stream->sleeps_at);
	pthread_mutex_unlock(&stream->lock);
	return settled;
}

static bool have_settled(const struct points *points, const struct stream_set *set)
{
	uint64_t progress = set->progress;
	bool settled = true;

	for (unsigned int i = 0; i < points->count; i++)
		settled &= has_settled(&points->at[i], progress);
	return settled && set->progress == progress;
}

/*
 * Twice: a kernel may have looked in vain once, and have gone on. Ends early after a failure in the
 * context, at the end of the process, and where other threads queue work all the time.
 */
static void wait_until_settled(const struct points *points, struct stream_set *set)
{
	uint64_t most = set->progress + (points->count + 1ULL) * QUEUE_MOST;
	struct pause pause = {};
	int times = 0;

	while (set->error == CUDA_SUCCESS && library_ready() == CUDA_SUCCESS &&
	       set->progress < most) {
		pause_begin(&pause);
		if (have_settled(points, set)) {
			set->progress++;
			if (++times == 2)
				return;
		}
		pause_sleep(&pause);
	}
}

/*
 * Before a context ends, without a lock: waits for the work that has been queued in its streams, as
 * far as it can end by itself. A host function does not wait, as it may be part of that work.
 */
static void streams_finish(CUcontext context)
{
	struct stream_set *set = thread_is_worker() ? NULL : set_existing(context);
	struct points points;

	if (set) {
		set->ending++;
		if (points_collect(&points, set, NULL, 0) == CUDA_SUCCESS) {
			wait_until_settled(&points, set);
			points_free(&points);
		}
		set->ending--;
		set_put(set);
	}
	prints_flush();
}

__attribute__((constructor))
static void finish_load(void)
{
	context_operations.finish_streams = streams_finish;
}
