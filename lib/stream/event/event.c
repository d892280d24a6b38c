// SPDX-License-Identifier: MIT
/* Events: each refers to the fence of its last record. */
#include <stdlib.h>

#include "stream/capture.h"
#include "event.h"
#include "table/table.h"

struct event *event_reference(struct event *event)
{
	event->references++;
	return event;
}

static void event_find(void *event)
{
	event_reference(event);
}

static struct table events_table = TABLE(event_find);

void event_put(struct event *event)
{
	if (--event->references)
		return;
	fence_put(event->fence);
	mark_put(event->mark);
	shared_put(event->shared);
	pthread_mutex_destroy(&event->lock);
	free(event);
}

bool event_is_shared(const struct event *event)
{
	return event->shared;
}

static bool is_of(const void *event, const void *context)
{
	return ((const struct event *)event)->context == context;
}

static void put(void *event)
{
	event_put(event);
}

/* A context ends, with slots_lock held, and with it its events. */
void events_end(CUcontext context)
{
	table_end(&events_table, is_of, context, put);
}

static CUresult fail_no_event(CUevent handle)
{
	return table_ended(&events_table, handle) ?
		fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the event's context has ended") :
		fail(CUDA_ERROR_INVALID_HANDLE, "not an event, or destroyed");
}

/* Finds an event by its handle. */
CUresult event_get(CUevent handle, struct event **event)
{
	struct slot *slot;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	*event = table_find(&events_table, handle);
	if (!*event)
		return fail_no_event(handle);
	result = context_find((*event)->context, &slot);
	if (result != CUDA_SUCCESS)
		event_put(*event);
	return result;
}

/*
 * Return: the last record's fence; @mark: output, its mark if a capture made it. The caller
 * puts both.
 */
static struct fence *event_last(struct event *event, struct mark **mark)
{
	struct fence *fence;

	pthread_mutex_lock(&event->lock);
	fence = fence_reference(event->fence);
	*mark = mark_get(event->mark);
	pthread_mutex_unlock(&event->lock);
	return fence;
}

struct fence *event_fence(struct event *event)
{
	struct mark *mark;
	struct fence *fence = event_last(event, &mark);

	mark_put(mark);
	return fence;
}

/* Replaces the event's last record. The caller's references become the event's. */
static void event_replace(struct event *event, struct fence *fence, struct mark *mark)
{
	struct fence *fence_before;
	struct mark *mark_before;

	pthread_mutex_lock(&event->lock);
	fence_before = event->fence;
	mark_before = event->mark;
	event->fence = fence;
	event->mark = mark;
	pthread_mutex_unlock(&event->lock);
	fence_put(fence_before);
	mark_put(mark_before);
}

void event_set(struct event *event, struct fence *fence)
{
	event_replace(event, fence, NULL);
}

/*
 * For a call that asks whether an event has happened, or waits for it. @fence: output, the last
 * record's, or NULL if the event was never recorded; @shared: output, its shared state, or
 * NULL. The caller puts both.
 */
static CUresult fence_to_ask(CUevent handle, struct fence **fence, struct shared **shared)
{
	struct event *event;
	struct mark *mark;
	CUresult result = event_get(handle, &event);

	if (result != CUDA_SUCCESS)
		return result;
	*fence = event_last(event, &mark);
	*shared = shared_reference(event->shared);
	event_put(event);
	result = mark ? capture_operations->ask_event(mark) : capture_unsafe();
	mark_put(mark);
	if (result != CUDA_SUCCESS) {
		fence_put(*fence);
		shared_put(*shared);
	}
	return result;
}

/* @shared: NULL, or shared state whose reference this takes, also on failure */
CUresult event_new(CUevent *handle, CUcontext context, unsigned int flags,
		   struct shared *shared)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event) {
		shared_put(shared);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an event");
	}
	event->references = 1;
	event->context = context;
	event->flags = flags;
	event->shared = shared;
	pthread_mutex_init(&event->lock, NULL);
	*handle = (CUevent)table_add(&events_table, event);
	if (*handle)
		return CUDA_SUCCESS;
	event_put(event);
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many events");
}

DEFINE_WHOLE_CALL(cuEventCreate, (CUevent *event, unsigned int flags), event, flags)
{
	const unsigned int known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
				   CU_EVENT_INTERPROCESS;
	struct shared *shared = NULL;
	struct slot *slot;
	CUresult result;

	result = context_find(NULL, &slot);
	if (result != CUDA_SUCCESS)
		return result;
	if (!event)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags & ~known)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
		return fail(CUDA_ERROR_INVALID_VALUE, "INTERPROCESS needs DISABLE_TIMING");
	if (flags & CU_EVENT_INTERPROCESS)
		result = shared_create(&shared);
	return result == CUDA_SUCCESS ?
		event_new(event, context_value(slot), flags, shared) : result;
}

static CUresult event_destroy(CUevent handle)
{
	struct event *event;
	struct slot *slot;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	event = table_remove(&events_table, handle);
	if (!event)
		return fail_no_event(handle);
	/* the event is destroyed even if its device has failed */
	result = context_find(event->context, &slot);
	event_put(event);
	return result;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	return WHOLE_CALL_ON(event, CUDA_ERROR_INVALID_HANDLE, event_destroy(event), event);
}

/* Records an event; in an idle stream, the record has happened at once. */
static CUresult record(struct event *event, struct stream *stream)
{
	struct fence *fence;
	CUresult result;
	bool idle;

	if (event->shared)
		return shared_record(event->shared, stream);
	result = stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle);
	if (result != CUDA_SUCCESS)
		return result;
	fence = fence_alloc();
	if (!fence)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a record");
	if (idle)
		fence_signal(fence, CUDA_SUCCESS);
	else
		result = stream_submit_fence(stream, fence, false);
	if (result != CUDA_SUCCESS) {
		fence_put(fence);
		return result;
	}
	event_set(event, fence);
	return CUDA_SUCCESS;
}

/* @external: adds a node that records the event, instead of edges to the work that waits for it */
static CUresult record_captured(struct event *event, CUevent handle, struct stream *stream,
				bool external)
{
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
		.eventRecord.event = handle,
	};
	struct mark *mark;
	CUresult result;

	if (external)
		return capture_node(stream, &params);
	result = capture_operations->record(stream, &mark);
	if (result == CUDA_SUCCESS)
		event_replace(event, NULL, mark);
	return result;
}

/* This refusal does not make the capture fail. */
static CUresult refuse_captured(void)
{
	return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		    "events of several processes cannot be captured");
}

CUresult event_check(const struct event *event, const struct stream *stream)
{
	if (stream_captured(stream) && event->shared)
		return refuse_captured();
	if (event->context != stream->set->context)
		return fail(CUDA_ERROR_INVALID_HANDLE, "event and stream are of two contexts");
	return CUDA_SUCCESS;
}

CUresult event_record_in(struct event *event, CUevent handle, struct stream *stream, bool external)
{
	return stream_captured(stream) ? record_captured(event, handle, stream, external) :
					 record(event, stream);
}

static CUresult event_record(CUevent handle, CUstream stream_handle, unsigned int flags)
{
	struct stream *stream;
	struct event *event;
	CUresult result = stream_get(stream_handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = event_get(handle, &event);
	if (result == CUDA_SUCCESS) {
		if (flags & ~CU_EVENT_RECORD_EXTERNAL)
			result = fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		else if (flags && !stream_captured(stream))
			result = fail(CUDA_ERROR_ILLEGAL_STATE,
				      "EXTERNAL is for streams that are being captured");
		else
			result = event_check(event, stream);
		if (result == CUDA_SUCCESS)
			result = event_record_in(event, handle, stream, flags);
		event_put(event);
	}
	stream_put(stream);
	return result;
}

FORWARD(cuEventRecord, (CUevent event, CUstream stream),
	event_record(event, stream, 0), event, stream)
FORWARD(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags),
	event_record(event, stream, flags), event, stream, flags)

/* An event that was never recorded counts as happened. */
static CUresult event_query(CUevent handle)
{
	struct shared *shared;
	struct fence *fence;
	CUresult result = fence_to_ask(handle, &fence, &shared);

	if (result == CUDA_SUCCESS && shared) {
		result = shared_happened(shared) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
		shared_put(shared);
		/* it may never happen, if the host was lost */
		return result == CUDA_SUCCESS ? result : library_ready() ?: result;
	}
	if (result != CUDA_SUCCESS || !fence)
		return result;
	if (!fence_done(fence, &result))
		result = CUDA_ERROR_NOT_READY;
	else if (result != CUDA_SUCCESS)
		fail(result, "work before the event has failed");
	fence_put(fence);
	return result;
}

CUresult cuEventQuery(CUevent event)
{
	return POLL_ON(event, event_query(event), event);
}

static CUresult event_synchronize(CUevent handle)
{
	struct shared *shared;
	struct fence *fence;
	CUresult result = fence_to_ask(handle, &fence, &shared);

	if (result == CUDA_SUCCESS && shared) {
		shared_wait(shared);
		shared_put(shared);
		/* the wait ends, too, when the host is lost */
		result = library_ready();
	}
	if (result != CUDA_SUCCESS || !fence)
		return result;
	result = fence_wait(fence);
	fence_put(fence);
	return result == CUDA_SUCCESS ? result : fail(result, "work before the event has failed");
}

CUresult cuEventSynchronize(CUevent event)
{
	return WHOLE_CALL_ON(event, CUDA_ERROR_INVALID_HANDLE,
			     synchronized(event_synchronize(event)), event);
}

DEFINE_WHOLE_CALL(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
		  stream, event, flags)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found), unused;
	struct event *awaited;
	struct fence *fence;
	struct mark *mark;

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_working(found);
	if (result == CUDA_SUCCESS)
		result = event_get(event, &awaited);
	if (result == CUDA_SUCCESS) {
		struct shared *shared = shared_reference(awaited->shared);

		fence = event_last(awaited, &mark);
		event_put(awaited);
		if (flags & ~CU_EVENT_WAIT_EXTERNAL)
			result = fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		else if (shared)
			result = flags || stream_captured(found) ? refuse_captured() :
								   shared_wait_in(shared, found);
		else if (mark || flags || stream_captured(found))
			result = capture_operations->wait(found, event, mark, fence, flags);
		else if (fence && !fence_done(fence, &unused))
			result = stream_submit_fence(found, fence, true);
		shared_put(shared);
		fence_put(fence);
		mark_put(mark);
	}
	stream_put(found);
	return result;
}

/* The older name has the same meaning. */
#undef cuEventDestroy
OLDER_NAME(cuEventDestroy, (CUevent event), cuEventDestroy_v2(event))
