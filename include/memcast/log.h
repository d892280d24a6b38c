/* SPDX-License-Identifier: MIT */
/*
 * The log of failed calls, for libraries that use libcuda.so.1 and have calls of their own.
 *
 * Library: memcast's libcuda.so.1 (link with -lcuda).
 */
#ifndef MEMCAST_LOG_H
#define MEMCAST_LOG_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * memcastLogFailure() - log a failed call of another library as one of the driver's own
 * @call: name of the function that failed
 * @arguments: of the call, as text: "name=value, name=value"; at most 383 bytes are kept
 * @result: that the call returns
 * @reason: why, in words; at most 255 bytes are kept
 *
 * The line goes to the file that CUDA_LOG_FILE names, to the output of cuLogsDumpToFile(), and
 * to the callbacks of cuLogsRegisterCallback(). Works before cuInit(), and in any process. errno
 * stays as it is, and a thread that is cancelled meanwhile ends afterwards.
 *
 * No argument may be NULL. Source: ours.
 */
void memcastLogFailure(const char *call, const char *arguments, CUresult result,
		       const char *reason);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_LOG_H */
