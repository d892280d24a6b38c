// SPDX-License-Identifier: MIT
/* Creates streams and events; calls with an event alone. */
#include "runtime.h"

FORWARD(cudaStreamCreate, (cudaStream_t *stream), cuStreamCreate(stream, cudaStreamDefault))
FORWARD(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned int flags),
	cuStreamCreate(stream, flags))
FORWARD(cudaStreamCreateWithPriority, (cudaStream_t *stream, unsigned int flags, int priority),
	cuStreamCreateWithPriority(stream, flags, priority))
FORWARD(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy(stream))
FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode *mode),
	cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode))
FORWARD(cudaEventCreate, (cudaEvent_t *event), cuEventCreate(event, cudaEventDefault))
FORWARD(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned int flags),
	cuEventCreate(event, flags))
FORWARD(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy(event))
FORWARD(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event))
FORWARD(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize(event))
FORWARD(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end),
	cuEventElapsedTime(milliseconds, start, end))
