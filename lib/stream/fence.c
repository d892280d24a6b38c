// SPDX-License-Identifier: MIT
/* Fences: an event gets a new fence at each record. */
#include <stdlib.h>

#include "stream.h"

struct fence *fence_alloc(void)
{
	struct fence *fence = calloc(1, sizeof(*fence));

	if (!fence)
		return NULL;
	fence->references = 1;
	pthread_mutex_init(&fence->lock, NULL);
	pthread_cond_init(&fence->changed, NULL);
	return fence;
}

void fence_put(struct fence *fence)
{
	if (!fence || --fence->references)
		return;
	pthread_cond_destroy(&fence->changed);
	pthread_mutex_destroy(&fence->lock);
	free(fence);
}

struct fence *fence_reference(struct fence *fence)
{
	if (fence)
		fence->references++;
	return fence;
}

void fence_signal(struct fence *fence, CUresult error)
{
	pthread_mutex_lock(&fence->lock);
	clock_gettime(CLOCK_MONOTONIC, &fence->time);
	fence->error = error;
	fence->done = true;
	pthread_cond_broadcast(&fence->changed);
	pthread_mutex_unlock(&fence->lock);
}

bool fence_done(struct fence *fence, CUresult *error)
{
	bool done;

	pthread_mutex_lock(&fence->lock);
	done = fence->done;
	*error = fence->error;
	pthread_mutex_unlock(&fence->lock);
	return done;
}

CUresult fence_wait(struct fence *fence)
{
	CUresult error;

	sleep_at(&fence->changed);
	pthread_mutex_lock(&fence->lock);
	while (!fence->done) {
		stream_waits(stream_here());
		pthread_cond_wait(&fence->changed, &fence->lock);
	}
	error = fence->error;
	pthread_mutex_unlock(&fence->lock);
	sleep_at(NULL);
	return error;
}

struct fence_work {
	struct work work;
	struct fence *fence;
};

static CUresult run_signal(struct work *work, struct stream *stream, CUresult error)
{
	struct fence *fence = ((struct fence_work *)work)->fence;

	(void)stream;
	fence_signal(fence, error);
	fence_put(fence);
	return CUDA_SUCCESS;
}

/*
 * Waits until another stream's work is done; a failure of that work is no failure of this
 * stream.
 */
static CUresult fence_run_wait(struct work *work, struct stream *stream, CUresult error)
{
	struct fence *fence = ((struct fence_work *)work)->fence;

	(void)stream;
	(void)error;
	fence_wait(fence);
	fence_put(fence);
	return CUDA_SUCCESS;
}

/* Queues work that signals the fence, or waits for it. */
CUresult stream_submit_fence(struct stream *stream, struct fence *fence, bool wait)
{
	const struct fence_work work = {
		.work.run = wait ? fence_run_wait : run_signal, .fence = fence,
	};
	CUresult result;

	fence->references++;
	result = stream_submit_copy(stream, &work.work, sizeof(work));
	if (result != CUDA_SUCCESS)
		fence_put(fence);
	return result;
}
