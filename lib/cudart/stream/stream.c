// SPDX-License-Identifier: MIT
/* Creates streams and events; calls with an event alone. */
#include "runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return DRIVER(cuStreamCreate(stream, cudaStreamDefault));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	return DRIVER(cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
	return DRIVER(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	return DRIVER(cuStreamDestroy(stream));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	return DRIVER(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return DRIVER(cuEventCreate(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	return DRIVER(cuEventCreate(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	return DRIVER(cuEventDestroy(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	return DRIVER(cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	return DRIVER(cuEventSynchronize(event));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	return DRIVER(cuEventElapsedTime(milliseconds, start, end));
}
