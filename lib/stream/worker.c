// SPDX-License-Identifier: MIT
/* A stream's queue, and the thread that does the work in it. */
#include <stdlib.h>
#include <string.h>

#include "base/activity.h"
#include "capture.h"
#include "context/context.h"

static __thread struct stream *here;

/* Return: the stream whose thread calls; NULL: it is no stream's */
struct stream *stream_here(void)
{
	return here;
}

struct stream *stream_alloc(struct stream_set *set, unsigned int flags)
{
	static atomic_ullong ids = 1;
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->set = set;
	stream->id = ids++;
	stream->flags = flags;
	stream->references = 1;
	stream->attributes = (struct stream_attributes) { .policy = CU_SYNC_POLICY_AUTO,
							  .map = { .remote = 1 } };
	stream->last = &stream->first;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->changed, NULL);
	set->references++;
	return stream;
}

void stream_reference(void *stream)
{
	((struct stream *)stream)->references++;
}

void stream_put(struct stream *stream)
{
	if (--stream->references)
		return;
	pthread_cond_destroy(&stream->changed);
	pthread_mutex_destroy(&stream->lock);
	set_put(stream->set);
	free(stream);
}

static void work_do(struct stream *stream, struct work *work)
{
	CUresult error = stream->set->error;
	CUresult result = work->run(work, stream, error);

	activity_done();
	if (error == CUDA_SUCCESS && result != CUDA_SUCCESS) {
		result = set_fail(stream->set, result);
		if (result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
			context_fault(stream->set->device, result);
		log_failure("work in a stream", result, ARGUMENTS(stream->handle));
	}
	free(work);
}

static void *worker(void *argument)
{
	struct stream *stream = argument;
	struct work *work;

	here = stream;
	thread_becomes_worker();
	pthread_setname_np(pthread_self(), "memcast-stream");
	pthread_mutex_lock(&stream->lock);
	for (;;) {
		while (stream->taken || (!stream->first && !stream->ended))
			pthread_cond_wait(&stream->changed, &stream->lock);
		work = stream->first;
		if (!work)
			break;
		stream->first = work->next;
		if (!stream->first)
			stream->last = &stream->first;
		pthread_mutex_unlock(&stream->lock);

		/*
		 * At exit no further work begins, and no thread waits for this one. After the
		 * loss of the host threads do wait: the work that is left runs with an error,
		 * so that it does nothing but end, and signals what others wait for. Another
		 * thread may note the loss at any time: whether calls fail is asked first, as
		 * "lost" is set before "ended".
		 */
		if (library_ready() != CUDA_SUCCESS) {
			if (!library_lost())
				return NULL;
			set_fail(stream->set, CUDA_ERROR_UNKNOWN);
		}
		work_do(stream, work);

		pthread_mutex_lock(&stream->lock);
		/* in this order: who sees that the work is done sees the progress, too */
		stream_got_on(stream);
		stream->done++;
		pthread_cond_broadcast(&stream->changed);
	}
	pthread_mutex_unlock(&stream->lock);
	set_remove(stream);
	stream_put(stream);
	return NULL;
}

/* Starts a stream's thread, with the stream's lock held. */
static CUresult worker_start(struct stream *stream)
{
	if (stream->has_worker)
		return CUDA_SUCCESS;
	stream->references++;
	if (thread_start(worker, stream)) {
		stream->references--;
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no thread for the stream");
	}
	stream->has_worker = true;
	return CUDA_SUCCESS;
}

struct wait_work {
	struct work work;
	struct points points;
};

static CUresult stream_run_wait(struct work *work, struct stream *stream, CUresult error)
{
	struct wait_work *wait = (struct wait_work *)work;

	(void)stream;
	(void)error;
	points_wait(&wait->points);
	points_free(&wait->points);
	return CUDA_SUCCESS;
}

/*
 * Makes work that waits for earlier work in other streams; *@wait: output, NULL if there is
 * none.
 */
static CUresult wait_before(struct stream *stream, struct wait_work **wait)
{
	struct points points;
	CUresult result = points_collect(&points, stream->set, stream, WAIT_BEFORE);

	*wait = NULL;
	if (result != CUDA_SUCCESS || !points.count)
		return result;
	*wait = malloc(sizeof(**wait));
	if (!*wait) {
		points_free(&points);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	}
	**wait = (struct wait_work) { .work.run = stream_run_wait, .points = points };
	return CUDA_SUCCESS;
}

static void queue(struct stream *stream, struct work *work)
{
	work->next = NULL;
	*stream->last = work;
	stream->last = &work->next;
	stream->queued++;
}

/* Queues work. The stream frees it; if this fails, the caller keeps it. */
CUresult stream_submit(struct stream *stream, struct work *work)
{
	struct wait_work *wait;
	CUresult result = stream_working(stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (stream_captured(stream))
		return capture_refuse(stream);
	result = wait_before(stream, &wait);
	if (result != CUDA_SUCCESS)
		return result;

	stream_lock_busy(stream);
	result = stream_working(stream);
	if (result == CUDA_SUCCESS)
		result = !stream->ended ? worker_start(stream) :
			fail(CUDA_ERROR_INVALID_HANDLE, "the stream was destroyed");
	if (result == CUDA_SUCCESS) {
		if (wait)
			queue(stream, &wait->work);
		queue(stream, work);
		pthread_cond_broadcast(&stream->changed);
		wait = NULL;
	}
	pthread_mutex_unlock(&stream->lock);
	if (wait) {
		points_free(&wait->points);
		free(wait);
	}
	return result;
}

/* Queues a copy of @bytes of work; if this fails, the copy is freed. */
CUresult stream_submit_copy(struct stream *stream, const struct work *work, size_t bytes)
{
	struct work *copy = malloc(bytes);
	CUresult result;

	if (!copy)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	memcpy(copy, work, bytes);
	result = stream_submit(stream, copy);
	if (result != CUDA_SUCCESS)
		free(copy);
	return result;
}

/* Ends a stream: it takes no more work, and its thread ends after the work in the queue. */
void stream_end(struct stream *stream)
{
	bool idle;

	pthread_mutex_lock(&stream->lock);
	idle = !stream->has_worker && !stream->ended;
	stream->ended = true;
	pthread_cond_broadcast(&stream->changed);
	pthread_mutex_unlock(&stream->lock);
	if (stream_captured(stream))
		capture_operations->end(stream);
	if (idle)
		set_remove(stream);
}
