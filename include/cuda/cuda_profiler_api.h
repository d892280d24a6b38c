/* SPDX-License-Identifier: MIT */
/*
 * Marks the part of a program that a profiler is to record. memcast has no profiler: both
 * functions succeed, as they do on hardware without one.
 */
/* The include guard of NVIDIA's header of this name: of the two headers, the first one counts. */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif /* __CUDA_PROFILER_API_H__ */
