// SPDX-License-Identifier: MIT
/* The launch calls from before CUDA 4.0: the function keeps shape and parameters. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"

#define BYTES_MOST	32764U	/* of parameters */

struct old_launch {
	unsigned int block[3], shared;
	unsigned int bytes;
	char values[BYTES_MOST];
};

/* With modules_lock held: finds or makes a function's settings for these calls; NULL: no memory */
static struct old_launch *old_of(struct function *function)
{
	if (!function->old) {
		function->old = calloc(1, sizeof(*function->old));
		if (function->old)
			function->old->block[0] = function->old->block[1] =
				function->old->block[2] = 1;
	}
	return function->old;
}

/* Evaluates an expression with a function and its settings. */
#define WITH_OLD(found, old, handle, expression)				\
	WITH(struct function *found,						\
	     function_get(handle, CUDA_ERROR_INVALID_HANDLE, &found), LOCKED(({	\
		struct old_launch *old = old_of(found);				\
										\
		old ? (expression) : image_no_memory();				\
	     })), handle_put(found))

static CUresult set_block(struct old_launch *old, const struct figures *figures, int x, int y,
			  int z)
{
	const int block[3] = { x, y, z };
	long long threads = 1;

	for (int i = 0; i < 3; i++) {
		if (block[i] < 1 || block[i] > figures->max_block[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "a block of %d, %d, %d", x, y, z);
		threads *= block[i];
	}
	if (threads > figures->max_threads)
		return fail(CUDA_ERROR_INVALID_VALUE, "%lld threads", threads);
	for (int i = 0; i < 3; i++)
		old->block[i] = block[i];
	return CUDA_SUCCESS;
}

FORWARD(cuFuncSetBlockShape, (CUfunction function, int x, int y, int z),
	WITH_OLD(found, old, function, set_block(old, found->module->figures, x, y, z)),
	function, x, y, z)

static CUresult set_shared(struct old_launch *old, const struct function *function,
			   unsigned int bytes)
{
	if (bytes > (unsigned int)function->settings.dynamic)
		return fail(CUDA_ERROR_INVALID_VALUE, "%u bytes, there are %d", bytes,
			    function->settings.dynamic);
	old->shared = bytes;
	return CUDA_SUCCESS;
}

FORWARD(cuFuncSetSharedSize, (CUfunction function, unsigned int bytes),
	WITH_OLD(found, old, function, set_shared(old, found, bytes)), function, bytes)

static CUresult set_bytes(struct old_launch *old, unsigned int bytes)
{
	if (bytes > BYTES_MOST)
		return fail(CUDA_ERROR_INVALID_VALUE, "parameters have %u bytes at most",
			    BYTES_MOST);
	old->bytes = bytes;
	return CUDA_SUCCESS;
}

FORWARD(cuParamSetSize, (CUfunction function, unsigned int bytes),
	WITH_OLD(found, old, function, set_bytes(old, bytes)), function, bytes)

static CUresult set_value(struct old_launch *old, int offset, const void *value, size_t bytes)
{
	if (!value || offset < 0 || bytes > BYTES_MOST || offset > (int)(BYTES_MOST - bytes))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL value, or no such offset");
	memcpy(old->values + offset, value, bytes);
	return CUDA_SUCCESS;
}

FORWARD(cuParamSeti, (CUfunction function, int offset, unsigned int value),
	WITH_OLD(found, old, function, set_value(old, offset, &value, sizeof(value))),
	function, offset, value)
FORWARD(cuParamSetf, (CUfunction function, int offset, float value),
	WITH_OLD(found, old, function, set_value(old, offset, &value, sizeof(value))),
	function, offset, value)
FORWARD(cuParamSetv, (CUfunction function, int offset, void *value, unsigned int bytes),
	WITH_OLD(found, old, function, set_value(old, offset, value, bytes)),
	function, offset, value, bytes)

static CUresult old_launch(CUfunction handle, int width, int height, CUstream stream)
{
	struct request request = { .grid = { width, height, 1 } };
	char values[BYTES_MOST];
	size_t bytes = 0;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, values, CU_LAUNCH_PARAM_BUFFER_SIZE,
			  &bytes, CU_LAUNCH_PARAM_END };
	CUresult result = WITH_OLD(found, old, handle, ({
		memcpy(request.block, old->block, sizeof(request.block));
		request.shared = old->shared;
		bytes = old->bytes;
		memcpy(values, old->values, bytes);
		CUDA_SUCCESS;
	}));

	if (result != CUDA_SUCCESS)
		return result;
	if (width < 1 || height < 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "a grid of %d, %d", width, height);
	request.extra = extra;
	return launch(handle, &request, stream);
}

FORWARD(cuLaunch, (CUfunction function), old_launch(function, 1, 1, NULL), function)
FORWARD(cuLaunchGrid, (CUfunction function, int width, int height),
	old_launch(function, width, height, NULL), function, width, height)
FORWARD(cuLaunchGridAsync, (CUfunction function, int width, int height, CUstream stream),
	old_launch(function, width, height, stream), function, width, height, stream)
