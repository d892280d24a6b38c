// SPDX-License-Identifier: MIT
/* Copies of rows: the kernel checks all rows before it copies the first. */
#include "copy.h"

#define PITCH_MAX	INT_MAX		/* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

struct rows {
	uint64_t address, pitch;
	bool device;
};

/* Finds a side's rows: its type says which of the two bases counts. */
static CUresult rows_of(struct rows *rows, CUmemorytype type, const void *host,
			CUdeviceptr device, CUarray array, size_t pitch, size_t x, size_t y,
			size_t width)
{
	size_t end;

	switch (type) {
	case CU_MEMORYTYPE_HOST:
		rows->address = (uintptr_t)host;
		break;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		rows->address = device;
		break;
	case CU_MEMORYTYPE_ARRAY:
		return array ? fail(CUDA_ERROR_NOT_SUPPORTED, "there are no arrays") :
			       fail(CUDA_ERROR_INVALID_VALUE, "the array is NULL");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such memory type");
	}
	rows->device = type == CU_MEMORYTYPE_DEVICE;
	if (__builtin_add_overflow(x, width, &end))
		return fail(CUDA_ERROR_INVALID_VALUE, "the row's end overflows");
	rows->pitch = pitch ? pitch : end;
	if (rows->pitch < end)
		return fail(CUDA_ERROR_INVALID_VALUE, "pitch %zu is less than x %zu and width %zu",
			    pitch, x, width);
	if (__builtin_mul_overflow(rows->pitch, y, &y) ||
	    __builtin_add_overflow(rows->address, y, &rows->address) ||
	    __builtin_add_overflow(rows->address, x, &rows->address))
		return fail(CUDA_ERROR_INVALID_VALUE, "the first row's address overflows");
	return CUDA_SUCCESS;
}

CUresult copy_rows(CUstream stream, bool async, const CUDA_MEMCPY2D *copy, bool any_pitch)
{
	struct memcast_copy arg = { .rows = 1 };
	struct rows to, from;
	CUresult result;

	if (!copy)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	/* an empty copy ignores all other arguments */
	if (!copy->WidthInBytes || !copy->Height)
		return transfer_copy(stream, &arg, async);
	/* a pitch matters only if there is a second row */
	if (!any_pitch && copy->Height > 1 &&
	    (copy->srcPitch > PITCH_MAX || copy->dstPitch > PITCH_MAX))
		return fail(CUDA_ERROR_INVALID_VALUE, "a pitch is more than %d", PITCH_MAX);
	result = rows_of(&to, copy->dstMemoryType, copy->dstHost, copy->dstDevice,
			 copy->dstArray, copy->dstPitch, copy->dstXInBytes, copy->dstY,
			 copy->WidthInBytes);
	if (result == CUDA_SUCCESS)
		result = rows_of(&from, copy->srcMemoryType, copy->srcHost, copy->srcDevice,
				 copy->srcArray, copy->srcPitch, copy->srcXInBytes,
				 copy->srcY, copy->WidthInBytes);
	if (result != CUDA_SUCCESS)
		return result;
	arg.to = to.address;
	arg.to_pitch = to.pitch;
	arg.from = from.address;
	arg.from_pitch = from.pitch;
	arg.bytes = copy->WidthInBytes;
	arg.rows = copy->Height;
	arg.flags = (to.device ? MEMCAST_COPY_TO_DEVICE : 0) |
		    (from.device ? MEMCAST_COPY_FROM_DEVICE : 0);
	return transfer_copy(stream, &arg, async);
}
