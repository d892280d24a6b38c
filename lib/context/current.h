/* SPDX-License-Identifier: MIT */
/* What libcudart.so.13 asks before each of its calls. */
#ifndef MEMCAST_CURRENT_H
#define MEMCAST_CURRENT_H

#include <cuda.h>

/*
 * memcastContextAsk() - is a context current? The answer is logged nowhere, as the program has not
 * asked. Works before cuInit().
 * @device: output, the device of the current context, also of a primary one that has ended; -1: none
 *
 * Return: CUDA_SUCCESS also if the device has failed; CUDA_ERROR_INVALID_CONTEXT: none is current;
 * CUDA_ERROR_CONTEXT_IS_DESTROYED; CUDA_ERROR_NOT_PERMITTED: a host function has none; or why
 * no call can be made
 */
__attribute__((visibility("default")))
CUresult memcastContextAsk(CUdevice *device);

#endif /* MEMCAST_CURRENT_H */
