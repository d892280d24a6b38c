// SPDX-License-Identifier: MIT
/* The time between two events. */
#include "event.h"

/* Finds the time at which an event happened. */
static CUresult event_time(CUevent handle, CUcontext *context, struct timespec *time)
{
	struct fence *fence = NULL;
	struct event *event;
	CUresult result = event_get(handle, &event);

	if (result != CUDA_SUCCESS)
		return result;
	*context = event->context;
	if (event->flags & CU_EVENT_DISABLE_TIMING)
		result = fail(CUDA_ERROR_INVALID_HANDLE, "an event without timing");
	else
		fence = event_fence(event);
	event_put(event);
	if (result != CUDA_SUCCESS)
		return result;
	if (!fence)
		return fail(CUDA_ERROR_INVALID_HANDLE, "an event that was never recorded");
	if (!fence_done(fence, &result))
		result = CUDA_ERROR_NOT_READY;
	else if (result == CUDA_SUCCESS)
		*time = fence->time;
	else
		fail(result, "work before the event has failed");
	fence_put(fence);
	return result;
}

static CUresult event_elapsed(float *milliseconds, CUevent start, CUevent end)
{
	struct timespec from, to;
	CUcontext context, other;
	CUresult result = event_time(start, &context, &from);

	if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) {
		CUresult second = event_time(end, &other, &to);

		if (second != CUDA_SUCCESS)
			result = second;
	}
	if (result != CUDA_SUCCESS)
		return result;
	if (context != other)
		return fail(CUDA_ERROR_INVALID_HANDLE, "the events are of two contexts");
	*milliseconds = (to.tv_sec - from.tv_sec) * 1e3 + (to.tv_nsec - from.tv_nsec) * 1e-6;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
	return POLL_ON(milliseconds && start && end, event_elapsed(milliseconds, start, end),
		       milliseconds, start, end);
}

/* The older name has the same meaning. */
#undef cuEventElapsedTime
OLDER_NAME(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end),
	   cuEventElapsedTime_v2(milliseconds, start, end))
