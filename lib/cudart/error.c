// SPDX-License-Identifier: MIT
/* Errors: names and descriptions, and the last error of each thread. */
#include "runtime.h"

#define UNKNOWN		"unrecognized error code"

static __thread cudaError_t last_error;

struct description {
	const char *name;
	const char *sentence;
};

static const struct description *describe(cudaError_t error)
{
	static const struct description descriptions[] = {
#define BOTH(result, error, sentence)	ONLY_RUNTIME(error, sentence)
#define ONLY_DRIVER(result, sentence)
#define ONLY_RUNTIME(error, sentence)	[error] = { #error, sentence },
#include "../base/errors.def"
	};

	if ((size_t)error >= ARRAY_SIZE(descriptions) || !descriptions[error].name)
		return NULL;
	return &descriptions[error];
}

/*
 * Both interfaces have the same numbers for common errors; the driver has further numbers of
 * its own.
 */
cudaError_t error_of(CUresult result)
{
	return describe((cudaError_t)result) ? (cudaError_t)result : cudaErrorUnknown;
}

cudaError_t error_keep(cudaError_t error)
{
	if (error != cudaSuccess && error != cudaErrorNotReady)
		last_error = error;
	return error;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
	const struct description *found = describe(error);

	return found ? found->name : UNKNOWN;
}

const char *cudaGetErrorString(cudaError_t error)
{
	const struct description *found = describe(error);

	return found ? found->sentence : UNKNOWN;
}
