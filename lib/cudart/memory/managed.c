// SPDX-License-Identifier: MIT
/* Managed memory. Calls with a stream are in prefetch.c. */
#include "runtime.h"

FORWARD(cudaMallocManaged, (void **pointer, size_t bytes, unsigned int flags),
	cuMemAllocManaged((CUdeviceptr *)pointer, bytes, flags))

static CUmemLocation location_of(struct cudaMemLocation location)
{
	return (CUmemLocation) { (CUmemLocationType)location.type, location.id };
}

FORWARD(cudaMemAdvise, (const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
			struct cudaMemLocation location),
	cuMemAdvise(address(pointer), bytes, (CUmem_advise)advice, location_of(location)))
FORWARD(cudaMemRangeGetAttribute, (void *data, size_t data_bytes,
				   enum cudaMemRangeAttribute attribute, const void *pointer,
				   size_t bytes),
	cuMemRangeGetAttribute(data, data_bytes, (CUmem_range_attribute)attribute, address(pointer),
			       bytes))
FORWARD(cudaMemRangeGetAttributes, (void **data, size_t *data_bytes,
				    enum cudaMemRangeAttribute *attributes, size_t count,
				    const void *pointer, size_t bytes),
	cuMemRangeGetAttributes(data, data_bytes, (CUmem_range_attribute *)attributes, count,
				address(pointer), bytes))
