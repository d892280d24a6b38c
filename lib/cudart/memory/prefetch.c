// SPDX-License-Identifier: MIT
/* Calls with a stream for managed memory. Compiled twice: per_thread.c. */
#include "runtime.h"

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
				 struct cudaMemLocation location, unsigned int flags,
				 cudaStream_t stream)
{
	CUmemLocation to = { (CUmemLocationType)location.type, location.id };

	return DRIVER(cuMemPrefetchAsync(address(pointer), bytes, to, flags, stream));
}

FORWARD(cudaMemPrefetchBatchAsync, (void **pointers, size_t *sizes, size_t count,
				    struct cudaMemLocation *locations, size_t *starts,
				    size_t locations_count, unsigned long long flags,
				    cudaStream_t stream),
	cuMemPrefetchBatchAsync((CUdeviceptr *)pointers, sizes, count, (CUmemLocation *)locations,
				starts, locations_count, flags, stream))
FORWARD(cudaMemDiscardBatchAsync, (void **pointers, size_t *sizes, size_t count,
				   unsigned long long flags, cudaStream_t stream),
	cuMemDiscardBatchAsync((CUdeviceptr *)pointers, sizes, count, flags, stream))
FORWARD(cudaMemDiscardAndPrefetchBatchAsync, (void **pointers, size_t *sizes, size_t count,
					      struct cudaMemLocation *locations, size_t *starts,
					      size_t locations_count, unsigned long long flags,
					      cudaStream_t stream),
	cuMemDiscardAndPrefetchBatchAsync((CUdeviceptr *)pointers, sizes, count,
					  (CUmemLocation *)locations, starts, locations_count,
					  flags, stream))
