// SPDX-License-Identifier: MIT
/* Managed memory. Calls with a stream are in prefetch.c. */
#include "runtime.h"

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
	return DRIVER(cuMemAllocManaged((CUdeviceptr *)pointer, bytes, flags));
}

static CUmemLocation location_of(struct cudaMemLocation location)
{
	return (CUmemLocation) { (CUmemLocationType)location.type, location.id };
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
			  struct cudaMemLocation location)
{
	return DRIVER(cuMemAdvise(address(pointer), bytes, (CUmem_advise)advice,
				  location_of(location)));
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes,
				     enum cudaMemRangeAttribute attribute, const void *pointer,
				     size_t bytes)
{
	return DRIVER(cuMemRangeGetAttribute(data, data_bytes, (CUmem_range_attribute)attribute,
					     address(pointer), bytes));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *data_bytes,
				      enum cudaMemRangeAttribute *attributes, size_t count,
				      const void *pointer, size_t bytes)
{
	return DRIVER(cuMemRangeGetAttributes(data, data_bytes,
					      (CUmem_range_attribute *)attributes, count,
					      address(pointer), bytes));
}
