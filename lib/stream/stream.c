// SPDX-License-Identifier: MIT
/* Streams: create, destroy, query and wait; host functions in them. */
#include <stdlib.h>

#include "capture.h"

/* Return: the priority that a stream gets when a program wants this one */
int stream_priority(int wanted)
{
	if (wanted > STREAM_PRIORITY_LEAST)
		return STREAM_PRIORITY_LEAST;
	return wanted < STREAM_PRIORITY_GREATEST ? STREAM_PRIORITY_GREATEST : wanted;
}

static CUresult stream_create(CUstream *handle, unsigned int flags, int priority)
{
	struct stream_set *set;
	struct stream *stream;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	result = set_find(NULL, &set);
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || (flags & ~CU_STREAM_NON_BLOCKING)) {
		set_put(set);
		return fail(CUDA_ERROR_INVALID_VALUE, handle ? "unknown flags" : "NULL output");
	}
	stream = stream_alloc(set, flags);
	set_put(set);
	if (!stream)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a stream");
	stream->priority = stream_priority(priority);
	result = stream_publish(stream);
	if (result == CUDA_SUCCESS)
		*handle = stream->handle;
	else
		stream_put(stream);
	return result;
}

FORWARD(cuStreamCreate, (CUstream *stream, unsigned int flags),
	stream_create(stream, flags, 0), stream, flags)
FORWARD(cuStreamCreateWithPriority, (CUstream *stream, unsigned int flags, int priority),
	stream_create(stream, flags, priority), stream, flags, priority)

static CUresult stream_destroy(CUstream handle)
{
	struct stream *stream;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	stream = stream_withdraw(handle);
	if (!stream)
		return fail(CUDA_ERROR_INVALID_HANDLE,
			    "not a stream that was created, or destroyed");
	/* the stream is destroyed even if its work has failed */
	stream_end(stream);
	result = stream_working(stream);
	stream_put(stream);
	return result;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	return WHOLE_CALL_ON(stream, CUDA_ERROR_INVALID_HANDLE, stream_destroy(stream), stream);
}

DEFINE_BY(POLL, cuStreamQuery, (CUstream stream), stream)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);
	unsigned int what = WAIT_OWN;
	bool idle;

	if (result != CUDA_SUCCESS)
		return result;
	if (found->is_legacy)
		what |= WAIT_BEFORE;
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = stream_idle(found, what, &idle);
	if (result == CUDA_SUCCESS && !idle)
		result = CUDA_ERROR_NOT_READY;
	stream_put(found);
	return result;
}

/* The legacy stream is done when the streams that it waits for are done. */
static CUresult stream_synchronize(CUstream handle)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = stream_wait(stream, stream->is_legacy ?
				     WAIT_OWN | WAIT_BEFORE : WAIT_OWN);
	stream_put(stream);
	return result;
}

FORWARD(cuStreamSynchronize, (CUstream stream), synchronized(stream_synchronize(stream)), stream)

/* Reads a property of a stream that never changes, or is atomic. */
#define STREAM_GET(handle, output, expression)				\
({									\
	struct stream *stream_;						\
	CUresult got_ = stream_get(handle, &stream_);			\
									\
	if (got_ == CUDA_SUCCESS) {					\
		if (output)						\
			*(output) = stream_->expression;		\
		else							\
			got_ = fail(CUDA_ERROR_INVALID_VALUE, "NULL output"); \
		stream_put(stream_);					\
	}								\
	got_;								\
})

FORWARD(cuStreamGetPriority, (CUstream stream, int *priority),
	STREAM_GET(stream, priority, priority), stream, priority)

/* Hardware refuses to tell the flags of a stream that is being captured. */
DEFINE_WHOLE_CALL(cuStreamGetFlags, (CUstream stream, unsigned int *flags), stream, flags)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);

	if (result != CUDA_SUCCESS)
		return result;
	if (!flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	else if (stream_captured(found))
		result = capture_refuse(found);
	else
		*flags = found->flags;
	stream_put(found);
	return result;
}

FORWARD(cuStreamGetId, (CUstream stream, unsigned long long *id),
	STREAM_GET(stream, id, id), stream, id)
FORWARD(cuStreamGetDevice, (CUstream stream, CUdevice *device),
	STREAM_GET(stream, device, set->device), stream, device)
FORWARD(cuStreamGetCtx, (CUstream stream, CUcontext *context),
	STREAM_GET(stream, context, set->context), stream, context)

/* One of the two outputs may be NULL. */
DEFINE_WHOLE_CALL(cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green),
		  stream, context, green)
{
	CUcontext unasked;
	CUresult result;

	if (!context && green)
		context = &unasked;
	result = STREAM_GET(stream, context, set->context);
	if (result == CUDA_SUCCESS && green)
		*green = NULL;
	return result;
}

struct host_work {
	struct work work;
	CUhostFn function;
	CUstreamCallback callback;
	CUstream handle;
	void *data;
};

/* A callback is called after a failure and gets its error; a host function is not called then. */
static CUresult run_host(struct work *work, struct stream *stream, CUresult error)
{
	struct host_work *host = (struct host_work *)work;

	(void)stream;
	if (host->callback) {
		prints_flush();
		host->callback(host->handle, error, host->data);
	} else if (error == CUDA_SUCCESS) {
		host->function(host->data);
	}
	return CUDA_SUCCESS;
}

static CUresult stream_host(CUstream handle, CUhostFn function, CUstreamCallback callback,
			    void *data, unsigned int flags)
{
	struct host_work work;
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if ((!function && !callback) || flags) {
		stream_put(stream);
		return fail(CUDA_ERROR_INVALID_VALUE, flags ? "flags must be 0" : "NULL function");
	}
	if (stream_captured(stream)) {
		result = callback ? capture_refuse(stream) :
			capture_node(stream, &(CUgraphNodeParams) {
				.type = CU_GRAPH_NODE_TYPE_HOST,
				.host = { function, data },
			});
		stream_put(stream);
		return result;
	}
	work = (struct host_work) { .work.run = run_host, .function = function,
		.callback = callback, .handle = handle, .data = data };
	result = stream_submit_copy(stream, &work.work, sizeof(work));
	stream_put(stream);
	return result;
}

FORWARD(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
	stream_host(stream, function, NULL, data, 0), stream, function, data)
FORWARD(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *data,
			      unsigned int flags),
	stream_host(stream, NULL, callback, data, flags), stream, callback, data, flags)

/* The name from before CUDA 4.0 has the same meaning. */
#undef cuStreamDestroy
OLDER_NAME(cuStreamDestroy, (CUstream stream), cuStreamDestroy_v2(stream))
