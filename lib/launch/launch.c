// SPDX-License-Identifier: MIT
/* The calls that launch a kernel in a stream. */
#include <stdlib.h>

#include "launch.h"
#include "node.h"

static CUresult launch_run_work(struct work *work, struct stream *stream, CUresult error)
{
	struct invocation *invocation = (struct invocation *)work;
	CUresult result = CUDA_SUCCESS;

	(void)stream;
	if (error == CUDA_SUCCESS)
		result = invocation_run(invocation);
	/* the stream frees the invocation's memory */
	module_put(invocation->module);
	return result;
}

static bool is_default(CUstream stream)
{
	return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/*
 * Finds the stream of a launch. Without a current context, a default stream is that of the
 * function's context, as on hardware.
 */
static CUresult find_stream(CUfunction handle, CUstream wanted, struct stream **stream)
{
	struct function *function;
	CUcontext context;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_ERROR_INVALID_CONTEXT || !is_default(wanted))
		return result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_CONTEXT ?
			stream_get(wanted, stream) : result;
	function = handle_find(handle, HANDLE_FUNCTION);
	if (!function)
		return result;
	context = function->module->context;
	handle_put(function);
	result = context_make_current(context);
	if (result != CUDA_SUCCESS)
		return result;
	result = stream_get(wanted, stream);
	context_drop_current(context);
	return result;
}

static CUresult launch_find_function(CUfunction handle, const struct stream *stream,
				     struct function **function)
{
	CUresult result = function_get_any(handle, stream->set->context, function);

	if (result != CUDA_SUCCESS || (*function)->module->context == stream->set->context)
		return result;
	handle_put(*function);
	return fail(CUDA_ERROR_INVALID_HANDLE, "the stream is of another context than the function");
}

static CUresult launch_submit(struct stream *stream, struct invocation *invocation, CUstream handle)
{
	CUresult result;

	invocation->work.run = launch_run_work;
	invocation->stream = handle;
	result = stream_submit(stream, &invocation->work);
	if (result != CUDA_SUCCESS)
		invocation_free(invocation);
	return result;
}

/* Adds a launch to a capture. A launch that is refused makes the capture fail. */
static CUresult launch_captured(struct stream *stream, struct function *function,
				const struct request *request)
{
	const CUlaunchAttributeValue value = {
		.priority = request->has_priority ? request->priority : stream->priority,
	};
	struct invocation *invocation;
	CUgraphNodeParams params;
	CUresult result = capture_operations->check_failed(stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = invocation_new(function, request, &invocation);
	if (result != CUDA_SUCCESS) {
		capture_operations->fail_of(stream);
		return result;
	}
	node_params_of(&params, invocation, function);
	if (value.priority)
		result = node_attribute_set(&params, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
	if (result == CUDA_SUCCESS)
		result = capture_node(stream, &params);
	invocation_free(invocation);
	return result;
}

/* Finds the events that are recorded after a launch, and checks that they can be. */
static CUresult find_events(const struct request *request, const struct stream *stream,
			    struct event **events)
{
	CUresult result = CUDA_SUCCESS;

	for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++) {
		if (!request->events[i])
			continue;
		result = event_get(request->events[i], &events[i]);
		if (result == CUDA_SUCCESS)
			result = event_check(events[i], stream);
		else
			events[i] = NULL;
	}
	return result;
}

/* Records the events if the launch has succeeded. Return: likewise, or why one was not recorded */
static CUresult record_events(const struct request *request, struct stream *stream,
			      struct event *const *events, CUresult result)
{
	for (int i = 0; i < 2; i++) {
		if (!events[i])
			continue;
		if (result == CUDA_SUCCESS)
			result = event_record_in(events[i], request->events[i], stream, false);
		event_put(events[i]);
	}
	return result;
}

CUresult launch(CUfunction handle, const struct request *request, CUstream wanted)
{
	struct event *events[2] = {};
	struct invocation *invocation;
	struct function *function;
	struct stream *stream;
	CUresult result = find_stream(handle, wanted, &stream);

	prints_flush();
	if (result != CUDA_SUCCESS)
		return result;
	if (handle)
		result = launch_find_function(handle, stream, &function);
	else
		result = fail(CUDA_ERROR_INVALID_HANDLE, "NULL function");
	if (result != CUDA_SUCCESS) {
		stream_put(stream);
		return result;
	}
	result = find_events(request, stream, events);
	if (result == CUDA_SUCCESS && stream_captured(stream)) {
		result = launch_captured(stream, function, request);
	} else if (result == CUDA_SUCCESS) {
		result = invocation_new(function, request, &invocation);
		if (result == CUDA_SUCCESS)
			result = launch_submit(stream, invocation, wanted);
	}
	result = record_events(request, stream, events, result);
	handle_put(function);
	stream_put(stream);
	return result;
}

#define SHAPE	{ grid_x, grid_y, grid_z }, { block_x, block_y, block_z }, shared
#define VALUES	function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared, CUstream stream,
			void **parameters, void **extra)
{
	struct request request = { SHAPE, .parameters = parameters, .extra = extra };

	return WHOLE_CALL(launch(function, &request, stream), VALUES);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
				   unsigned int grid_y, unsigned int grid_z,
				   unsigned int block_x, unsigned int block_y,
				   unsigned int block_z, unsigned int shared, CUstream stream,
				   void **parameters)
{
	struct request request = { SHAPE, .parameters = parameters, .cooperative = true };

	return WHOLE_CALL(launch(function, &request, stream), VALUES);
}

static CUresult launch_with(const CUlaunchConfig *config, CUfunction function,
			    CUstream stream, void **parameters, void **extra)
{
	struct request request = { .parameters = parameters, .extra = extra };
	CUresult result = context_not_failed();

	if (result != CUDA_SUCCESS)
		return result;
	if (!config)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL configuration");
	if (!function)
		return fail(CUDA_ERROR_INVALID_HANDLE, "NULL function");
	request.grid[0] = config->gridDimX;
	request.grid[1] = config->gridDimY;
	request.grid[2] = config->gridDimZ;
	request.block[0] = config->blockDimX;
	request.block[1] = config->blockDimY;
	request.block[2] = config->blockDimZ;
	request.shared = config->sharedMemBytes;
	result = attributes_read(config, &request);
	return result == CUDA_SUCCESS ? launch(function, &request, stream) : result;
}

FORWARD(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **parameters,
			   void **extra),
	launch_with(config, function, config ? config->hStream : NULL, parameters, extra),
	config, function)

/* Symbols that programs built for the per-thread default stream import */
#pragma GCC visibility push(default)

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			     unsigned int block_z, unsigned int shared, CUstream stream,
			     void **parameters, void **extra)
{
	return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
			      shared, OR_OWN(stream), parameters, extra);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x,
					unsigned int grid_y, unsigned int grid_z,
					unsigned int block_x, unsigned int block_y,
					unsigned int block_z, unsigned int shared,
					CUstream stream, void **parameters)
{
	return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
					 block_z, shared, OR_OWN(stream), parameters);
}

FORWARD(cuLaunchKernelEx_ptsz, (const CUlaunchConfig *config, CUfunction function,
				void **parameters, void **extra),
	launch_with(config, function, config ? OR_OWN(config->hStream) : NULL, parameters, extra),
	config, function)
