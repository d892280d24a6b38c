// SPDX-License-Identifier: MIT
/* Copies and fills in streams that are captured: nodes of graphs. */
#include "alloc/alloc.h"
#include "copy.h"

/*
 * Return: the memory type of a side of a captured copy. If only the other side has a flag, the call
 * has named this one HOST, as all calls with HtoD or DtoH do, or UNIFIED: the address tells.
 */
static CUmemorytype type_of(uint32_t flags, uint32_t own, uint32_t other, uint64_t at)
{
	struct memcast_address_info info = { .address = at };

	if (flags & own)
		return CU_MEMORYTYPE_DEVICE;
	return flags & other && memory_ask(&info) < MEMORY_MANAGED ? CU_MEMORYTYPE_HOST :
								     CU_MEMORYTYPE_UNIFIED;
}

CUresult capture_copy(struct stream *stream, const struct layers *layers)
{
	const struct memcast_copy *copy = &layers->copy;
	uint64_t to_pitch = copy->to_pitch ? copy->to_pitch : copy->bytes;
	uint64_t from_pitch = copy->from_pitch ? copy->from_pitch : copy->bytes;
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_MEMCPY,
		.memcpy.copyCtx = stream->set->context,
		.memcpy.copyParams = {
			.dstMemoryType = type_of(copy->flags, MEMCAST_COPY_TO_DEVICE,
						 MEMCAST_COPY_FROM_DEVICE, copy->to),
			.dstHost = (void *)(uintptr_t)copy->to,
			.dstDevice = copy->to,
			.dstPitch = to_pitch,
			.dstHeight = layers->count > 1 ? layers->to_pitch / to_pitch : copy->rows,
			.srcMemoryType = type_of(copy->flags, MEMCAST_COPY_FROM_DEVICE,
						 MEMCAST_COPY_TO_DEVICE, copy->from),
			.srcHost = (void *)(uintptr_t)copy->from,
			.srcDevice = copy->from,
			.srcPitch = from_pitch,
			.srcHeight = layers->count > 1 ? layers->from_pitch / from_pitch :
							 copy->rows,
			.WidthInBytes = copy->bytes,
			.Height = copy->rows,
			.Depth = layers->count,
		},
	};
	CUresult result;

	if (copy->flags & MEMCAST_COPY_PEER)
		return capture_refuse(stream);
	if (!copy->bytes || !layers->count)
		return CUDA_SUCCESS;
	result = layers_check(layers);
	return result == CUDA_SUCCESS ? capture_node(stream, &params) : result;
}

/*
 * A launch finds out whether the addresses are mapped: hardware does not check a captured fill
 * either.
 */
CUresult capture_fill(struct stream *stream, const struct memcast_fill *fill)
{
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_MEMSET,
		.memset = {
			.dst = fill->to,
			.pitch = fill->pitch,
			.value = fill->value,
			.elementSize = fill->width,
			.width = fill->count,
			.height = fill->rows,
			.ctx = stream->set->context,
		},
	};

	if (!fill->count)
		return CUDA_SUCCESS;
	if ((fill->to | fill->pitch) % fill->width)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "the address or the pitch is not a multiple of %u", fill->width);
	return capture_node(stream, &params);
}
