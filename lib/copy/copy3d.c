// SPDX-License-Identifier: MIT
/*
 * Copies of layers of rows. The kernel copies one layer at a time; the library joins layers
 * that follow each other without a gap into one.
 */
#include "copy.h"

#define PITCH_MAX	INT_MAX		/* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

/* One side of a copy as the program describes it */
struct side {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t x, y, z, pitch, height;
};

/* One side's first byte, and the distances of its rows and layers */
struct place {
	uint64_t address, pitch, layer_pitch;
	bool device;
};

static CUresult base_of(struct place *place, const struct side *side)
{
	switch (side->type) {
	case CU_MEMORYTYPE_HOST:
		place->address = (uintptr_t)side->host;
		break;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		place->address = side->device;
		break;
	case CU_MEMORYTYPE_ARRAY:
		return side->array ? fail(CUDA_ERROR_NOT_SUPPORTED, "there are no arrays") :
				     fail(CUDA_ERROR_INVALID_VALUE, "the array is NULL");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such memory type: %d", side->type);
	}
	place->device = side->type == CU_MEMORYTYPE_DEVICE;
	return CUDA_SUCCESS;
}

/* @several: is there a second row? Else the pitch may be any, as on hardware. */
static CUresult place_of(struct place *place, const struct side *side, size_t width,
			 size_t height, bool several)
{
	size_t row_end, layer_end, rows, bytes;
	CUresult result = base_of(place, side);

	if (result != CUDA_SUCCESS)
		return result;
	if (__builtin_add_overflow(side->x, width, &row_end) ||
	    __builtin_add_overflow(side->y, height, &layer_end))
		return fail(CUDA_ERROR_INVALID_VALUE, "the end of a row or a layer overflows");
	place->pitch = side->pitch ? side->pitch : row_end;
	if (place->pitch < row_end || (several && place->pitch > PITCH_MAX))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "pitch %llu is less than x %zu and width %zu, or over %d",
			    (unsigned long long)place->pitch, side->x, width, PITCH_MAX);
	rows = side->height ? side->height : layer_end;
	if (rows < layer_end)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "layers of %zu rows are less than y %zu and height %zu",
			    rows, side->y, height);
	if (__builtin_mul_overflow(place->pitch, rows, &place->layer_pitch) ||
	    __builtin_mul_overflow(place->layer_pitch, side->z, &bytes) ||
	    __builtin_add_overflow(place->address, bytes, &place->address) ||
	    __builtin_mul_overflow(place->pitch, side->y, &bytes) ||
	    __builtin_add_overflow(place->address, bytes, &place->address) ||
	    __builtin_add_overflow(place->address, side->x, &place->address))
		return fail(CUDA_ERROR_INVALID_VALUE, "the first row's address overflows");
	return CUDA_SUCCESS;
}

static bool leaves_address_space(uint64_t address, uint64_t layer_pitch, uint64_t layers)
{
	uint64_t bytes;

	return __builtin_mul_overflow(layers - 1, layer_pitch, &bytes) ||
	       __builtin_add_overflow(address, bytes, &address);
}

/* Layers without a gap between them are one layer with more rows. */
static void layers_join(struct layers *layers)
{
	struct memcast_copy *copy = &layers->copy;
	uint64_t rows;

	if (layers->count > 1 && layers->to_pitch == copy->rows * copy->to_pitch &&
	    layers->from_pitch == copy->rows * copy->from_pitch &&
	    !__builtin_mul_overflow(copy->rows, layers->count, &rows)) {
		copy->rows = rows;
		layers->count = 1;
	}
}

static CUresult layers_between(struct layers *layers, const struct side *to_side,
			       const struct side *from_side, size_t width, size_t height,
			       size_t depth)
{
	bool several = height > 1 || depth > 1;
	struct place to, from;
	CUresult result = place_of(&to, to_side, width, height, several);

	if (result == CUDA_SUCCESS)
		result = place_of(&from, from_side, width, height, several);
	if (result != CUDA_SUCCESS)
		return result;
	*layers = (struct layers) {
		.copy = {
			.to = to.address,
			.from = from.address,
			.bytes = width,
			.rows = height,
			.to_pitch = to.pitch,
			.from_pitch = from.pitch,
			.flags = (to.device ? MEMCAST_COPY_TO_DEVICE : 0) |
				 (from.device ? MEMCAST_COPY_FROM_DEVICE : 0),
		},
		.count = depth,
		.to_pitch = to.layer_pitch,
		.from_pitch = from.layer_pitch,
	};
	if (!width || !height || !depth) {
		layers->copy.bytes = 0;
		layers->copy.rows = 1;
		layers->count = 0;
		return CUDA_SUCCESS;
	}
	if (leaves_address_space(to.address, to.layer_pitch, depth) ||
	    leaves_address_space(from.address, from.layer_pitch, depth))
		return fail(CUDA_ERROR_INVALID_VALUE, "the last layer's address overflows");
	layers_join(layers);
	return CUDA_SUCCESS;
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER have the same names for their common fields. */
#define TO_SIDE(copy)								\
	{ (copy)->dstMemoryType, (copy)->dstHost, (copy)->dstDevice,		\
	  (copy)->dstArray, (copy)->dstXInBytes, (copy)->dstY, (copy)->dstZ,	\
	  (copy)->dstPitch, (copy)->dstHeight }
#define FROM_SIDE(copy)								\
	{ (copy)->srcMemoryType, (copy)->srcHost, (copy)->srcDevice,		\
	  (copy)->srcArray, (copy)->srcXInBytes, (copy)->srcY, (copy)->srcZ,	\
	  (copy)->srcPitch, (copy)->srcHeight }

/* Converts a copy to layers; their count is 0 if there is nothing to copy. */
CUresult layers_of(struct layers *layers, const CUDA_MEMCPY3D *copy)
{
	struct side to = TO_SIDE(copy), from = FROM_SIDE(copy);

	return layers_between(layers, &to, &from, copy->WidthInBytes, copy->Height,
			      copy->Depth);
}

CUresult copy_layers(CUstream stream, bool async, const CUDA_MEMCPY3D *copy)
{
	struct layers layers;
	CUresult result;

	if (!copy)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = layers_of(&layers, copy);
	return result == CUDA_SUCCESS ?
		transfer_layers(stream, &layers, async ? TRANSFER_ASYNC : TRANSFER_SYNC) : result;
}

CUresult copy_peer_layers(CUstream stream, bool async, const CUDA_MEMCPY3D_PEER *copy)
{
	struct layers layers;
	CUresult result;

	if (!copy)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");

	struct side to = TO_SIDE(copy), from = FROM_SIDE(copy);

	result = layers_between(&layers, &to, &from, copy->WidthInBytes, copy->Height,
				copy->Depth);
	if (result == CUDA_SUCCESS)
		result = peer_devices(&layers.copy, copy->dstContext, copy->srcContext, async);
	return result == CUDA_SUCCESS ?
		transfer_layers(stream, &layers, async ? TRANSFER_ASYNC : TRANSFER_SYNC) : result;
}
