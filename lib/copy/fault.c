// SPDX-License-Identifier: MIT
/*
 * Results of queued copies and fills that were good when they were queued, and whose memory has
 * gone since. As recorded on hardware, the result depends on which engine would have done the
 * work: the processors of the device find an illegal address, the copy engine fails.
 */
#include "copy.h"
#include "alloc/alloc.h"

/* A linear fill of fewer bytes is the copy engine's. */
#define FILL_OF_PROCESSORS	(16 << 10)

/*
 * Is, or was, memory of a device at an address? What is mapped no more counts as a device's if
 * the call named the side so, or if a reservation is still there.
 */
static bool on_device(uint64_t address, bool named)
{
	struct memcast_address_info info = { .address = address };

	switch (memory_ask(&info)) {
	case MEMORY_MISSING:
	case MEMORY_OF_DEVICE:
	case MEMORY_ELSEWHERE:
		return true;
	case MEMORY_UNKNOWN:
		return named;
	default:
		return false;
	}
}

CUresult layers_result(const struct layers *layers, CUresult result)
{
	const struct memcast_copy *copy = &layers->copy;

	if (__builtin_expect(result != CUDA_ERROR_INVALID_VALUE, 1))
		return result;
	return on_device(copy->to, copy->flags & MEMCAST_COPY_TO_DEVICE) &&
	       on_device(copy->from, copy->flags & MEMCAST_COPY_FROM_DEVICE) ?
	       CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED;
}

CUresult fill_result(const struct memcast_fill *fill, CUresult result)
{
	if (__builtin_expect(result != CUDA_ERROR_INVALID_VALUE, 1))
		return result;
	return fill->rows > 1 || fill->count >= FILL_OF_PROCESSORS / fill->width ?
	       CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_LAUNCH_FAILED;
}
