/* SPDX-License-Identifier: MIT */
/* Converts descriptions of copies to those of the driver; for lib/cudart/graph/, too. */
#ifndef MEMCAST_RUNTIME_COPY_H
#define MEMCAST_RUNTIME_COPY_H

#include "runtime.h"

cudaError_t copy_kind_check(const char *call, enum cudaMemcpyKind kind);
cudaError_t copy_1d_as_3d(const char *call, CUDA_MEMCPY3D *copy, void *to, const void *from,
			  size_t bytes, enum cudaMemcpyKind kind);
cudaError_t copy_2d(const char *call, CUDA_MEMCPY2D *copy, void *to, size_t to_pitch,
		    const void *from, size_t from_pitch, size_t width, size_t height,
		    enum cudaMemcpyKind kind);
cudaError_t copy_3d(const char *call, CUDA_MEMCPY3D *copy,
		    const struct cudaMemcpy3DParms *params);
cudaError_t copy_3d_peer(const char *call, CUDA_MEMCPY3D_PEER *copy,
			 const struct cudaMemcpy3DPeerParms *params);
void params_of_copy_3d(struct cudaMemcpy3DParms *params, const CUDA_MEMCPY3D *copy);

#endif /* MEMCAST_RUNTIME_COPY_H */
