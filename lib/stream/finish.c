// SPDX-License-Identifier: MIT
/*
 * The end of a context lets the work of its streams end before, so that what a kernel prints comes
 * out and no memory goes while a kernel uses it. But it waits for no work that waits for what may
 * never come: a word that nobody writes, an event of another context. So a thread that does work
 * notes each of its looks in vain at what it waits for, with the set's progress at that time: how
 * many pieces of work have ended. Where all that is left has looked in vain since the last
 * progress, no work of the context can let other work of it go on. Others may, so the end leaves
 * them a second.
 */
#include <sched.h>
#include <stdio.h>

#include "base/activity.h"
#include "stream.h"

#define IN_VAIN		1000000000UL	/* nanoseconds: so long work looks in vain before it is discarded */
#define STEP		10000000UL	/* what takes a kernel longer, between two looks, is no look */
#define YIELD_FIRST	15000L
#define YIELD_LAST	1000000UL
#define NOTICE_AFTER	5000000000L

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

/* A piece of work of this stream has got on, and others may now, too. */
void stream_got_on(const struct stream *stream)
{
	stream->set->worked++;
	stream->set->progress++;
}

/*
 * A kernel in C gives its turn away: it may wait for something, or only be kind to others. It has
 * looked in vain if it has done next to nothing else for a second while its context is ending. Until
 * then it sleeps for a 64th of that time, so that others run, and so that few interruptions of the
 * thread look as if it got on.
 */
void stream_yields(void)
{
	struct stream *stream = stream_here();
	struct timespec nap = {};
	uint64_t now, then;

	if (!stream || !stream->set->ending) {
		sched_yield();
		return;
	}
	now = activity_now();
	if (now - stream->yielded > STEP)
		stream_goes_on();
	if (stream->yields_for > IN_VAIN)
		stream->in_vain = stream->set->progress;
	nap.tv_nsec = stream->yields_for / 64 < YIELD_LAST ? stream->yields_for / 64 : YIELD_LAST;
	if (nap.tv_nsec < YIELD_FIRST)
		sched_yield();
	else
		nanosleep(&nap, NULL);
	then = activity_now();
	/* where many threads want to run, time passes without looks */
	stream->yields_for += then - now < STEP ? then - now : STEP;
	stream->yielded = then;
}

/* A kernel does something else than to wait, or has ended. */
void stream_goes_on(void)
{
	struct stream *stream = stream_here();

	if (!stream || !stream->yielded)
		return;
	stream->in_vain = 0;
	stream->yielded = 0;
	stream->yields_for = 0;
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

/* A loop that may have no end goes on for a second while its context is ending. */
void loop_look(void)
{
	struct stream *stream = stream_here();
	struct pause pause = {};

	while (stream->set->ending && activity_now() - stream->set->ending_since > IN_VAIN &&
	       stream->set->error == CUDA_SUCCESS && library_ready() == CUDA_SUCCESS) {
		pause_begin(&pause);
		stream_waits(stream);
		pause_sleep(&pause);
	}
	stream->in_vain = 0;
}

/*
 * Has the stream done the work up to a point, or looked in vain since the set's last progress? A
 * kernel that has not come back from its last look may have got on since.
 * @long_since: the last progress was so long ago that looks in vain count
 */
static bool has_settled(const struct point *point, uint64_t progress, bool long_since)
{
	struct stream *stream = point->stream;
	uint64_t yielded = stream->yielded;
	bool settled, vain;

	pthread_mutex_lock(&stream->lock);
	vain = stream->in_vain == progress;
	settled = stream->done >= point->number ||
		  (vain && long_since && (!yielded || activity_now() - yielded < STEP));
	/* so that it looks again */
	if (!settled && !vain && stream->sleeps_at)
		pthread_cond_broadcast(stream->sleeps_at);
	pthread_mutex_unlock(&stream->lock);
	return settled;
}

static bool have_settled(const struct points *points, const struct stream_set *set,
			 bool long_since)
{
	uint64_t progress = set->progress;
	bool settled = true;

	for (unsigned int i = 0; i < points->count; i++)
		settled &= has_settled(&points->at[i], progress, long_since);
	return settled && set->progress == progress;
}

/* Says once which stream has work left: a host function in it may wait for the calling thread. */
static void notice_stream(const struct points *points, struct pause *pause)
{
	static atomic_bool aloud;
	char text[128];

	if (pause->said || pause->start - pause->begun < NOTICE_AFTER)
		return;
	for (unsigned int i = 0; i < points->count && !pause->said; i++) {
		struct stream *stream = points->at[i].stream;

		pthread_mutex_lock(&stream->lock);
		pause->said = stream->done < points->at[i].number;
		pthread_mutex_unlock(&stream->lock);
		if (pause->said)
			snprintf(text, sizeof(text),
				 "the end of a context has waited %.1f s for the work of stream %p",
				 (pause->start - pause->begun) * 1e-9, (void *)stream->handle);
	}
	if (pause->said)
		log_notice(text, !atomic_exchange(&aloud, true));
}

/*
 * Twice without progress: a kernel may have looked in vain once, and have gone on. Ends early after
 * a failure in the context, at the end of the process, and where other threads queue work all the
 * time.
 */
static void wait_until_settled(const struct points *points, struct stream_set *set)
{
	uint64_t worked = set->worked, since = activity_now();
	uint64_t most = worked + (points->count + 1ULL) * QUEUE_MOST * STEPS_MOST;
	struct pause pause = {};
	int times = 0;

	while (set->error == CUDA_SUCCESS && library_ready() == CUDA_SUCCESS && worked < most) {
		pause_begin(&pause);
		if (worked != set->worked) {
			worked = set->worked;
			since = pause.start;
			times = 0;
		}
		if (have_settled(points, set, pause.start - since > IN_VAIN)) {
			set->progress++;
			if (++times == 2)
				return;
		}
		notice_stream(points, &pause);
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
		if (!set->ending)
			set->ending_since = activity_now();
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
