// SPDX-License-Identifier: MIT
/* Plain allocation of device memory. */
#include "stream/capture.h"
#include "alloc.h"

#define PITCH	512UL

static CUresult block_allocate(CUdeviceptr *address, size_t bytes)
{
	CUresult result;
	uint32_t heap, tag;

	if (!address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_heap(HEAP_OF_DEVICE, &heap, &tag);
	if (result != CUDA_SUCCESS)
		return result;
	/* a program that ignores the result finds NULL, as on hardware */
	*address = 0;
	if (!bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	result = capture_unsafe();
	return result == CUDA_SUCCESS ? heap_alloc(heap, bytes, tag, address) : result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	return CALL(block_allocate(address, bytes), address, bytes);
}

DEFINE_CALL(cuMemAllocPitch_v2, (CUdeviceptr *address, size_t *pitch, size_t width,
				 size_t height, unsigned int element),
	    address, pitch, width, height, element)
{
	uint32_t device;
	CUresult result;

	if (!address || !pitch)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_device(&device);
	if (result != CUDA_SUCCESS)
		return result;
	*address = 0;
	*pitch = 0;
	if (element != 4 && element != 8 && element != 16)
		return fail(CUDA_ERROR_INVALID_VALUE, "elements are of 4, 8 or 16 bytes");
	if (!width || !height)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	/* both may overflow: hardware goes on with the result, which is 0 or too large */
	*pitch = (width + PITCH - 1) & ~(PITCH - 1);
	return block_allocate(address, *pitch * height);
}

FORWARD(cuMemFree_v2, (CUdeviceptr address), context_free(address, 0), address)
