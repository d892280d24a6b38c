/* SPDX-License-Identifier: MIT */
/*
 * Where a program wants to be profiled. Nothing profiles it here: both functions succeed, as
 * they do on hardware without a profiler.
 */
/* The guard of NVIDIA's header of this name: whichever comes first serves both. */
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
