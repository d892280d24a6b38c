// SPDX-License-Identifier: MIT
/*
 * Batches of copies. The description of the batch is checked before the first copy starts; when
 * a copy fails, the copies before it are done (as on hardware).
 */
#include "copy.h"

#define NO_COPY_FAILED	SIZE_MAX

struct batch {
	const CUdeviceptr *to, *from;
	const size_t *bytes;
	size_t count;
	const CUmemcpyAttributes *attributes;
	const size_t *starts;		/* number of the first copy of each attribute */
	size_t attributes_count;
	size_t *failed;			/* output, or NULL */
};

static CUresult check_hint(const CUmemLocation *hint)
{
	switch (hint->type) {
	case CU_MEM_LOCATION_TYPE_NONE:
	case CU_MEM_LOCATION_TYPE_HOST:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_DEVICE:
		if (context_check_device(hint->id) == CUDA_SUCCESS)
			return CUDA_SUCCESS;
		return fail(CUDA_ERROR_INVALID_VALUE, "the hint names device %d", hint->id);
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such location: %d", hint->type);
	}
}

static CUresult check_manner(CUmemcpySrcAccessOrder order, unsigned int flags)
{
	if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM || order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such order of access: %d", order);
	if (flags & ~CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags %#x", flags);
	return CUDA_SUCCESS;
}

static CUresult check_attributes(const struct batch *batch)
{
	CUresult result = CUDA_SUCCESS;

	if (!batch->attributes_count || batch->attributes_count > batch->count)
		return fail(CUDA_ERROR_INVALID_VALUE, "%zu attributes for %zu copies",
			    batch->attributes_count, batch->count);
	if (batch->starts[0])
		return fail(CUDA_ERROR_INVALID_VALUE, "the first attribute is not for copy 0");
	for (size_t i = 0; i < batch->attributes_count && result == CUDA_SUCCESS; i++) {
		const CUmemcpyAttributes *attribute = &batch->attributes[i];

		if (batch->starts[i] >= batch->count ||
		    (i && batch->starts[i] <= batch->starts[i - 1]))
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "attribute %zu starts at copy %zu, not after the one before",
				    i, batch->starts[i]);
		result = check_manner(attribute->srcAccessOrder, attribute->flags);
		if (result == CUDA_SUCCESS)
			result = check_hint(&attribute->srcLocHint);
		if (result == CUDA_SUCCESS)
			result = check_hint(&attribute->dstLocHint);
	}
	return result;
}

static CUresult copies_check_stream(CUstream stream)
{
	if (!stream || stream == CU_STREAM_LEGACY)
		return fail(CUDA_ERROR_INVALID_VALUE, "batches are not for the legacy stream");
	return CUDA_SUCCESS;
}

static enum transfer_when when_of(CUmemcpySrcAccessOrder order)
{
	return order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? TRANSFER_READ_NOW :
								     TRANSFER_IN_ORDER;
}

static CUresult copies_do(CUstream stream, const struct batch *batch, size_t *failed)
{
	CUresult result = CUDA_SUCCESS;
	size_t attribute = 0;

	for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
		struct layers layers = {
			.copy = {
				.to = batch->to[i],
				.from = batch->from[i],
				.bytes = batch->bytes[i],
				.rows = 1,
			},
			.count = 1,
		};

		if (attribute + 1 < batch->attributes_count && batch->starts[attribute + 1] == i)
			attribute++;
		*failed = i;
		if (!batch->bytes[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "copy %zu has no bytes", i);
		result = transfer_layers(stream, &layers,
					 when_of(batch->attributes[attribute].srcAccessOrder));
	}
	return result;
}

static CUresult batch_copy(CUstream stream, const struct batch *batch)
{
	size_t failed = NO_COPY_FAILED;
	CUresult result;

	if (!batch->to || !batch->from || !batch->bytes || !batch->attributes || !batch->starts)
		result = fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	else
		result = copies_check_stream(stream);
	if (result == CUDA_SUCCESS)
		result = check_attributes(batch);
	if (result == CUDA_SUCCESS)
		result = copies_do(stream, batch, &failed);
	if (result != CUDA_SUCCESS && batch->failed)
		*batch->failed = failed;
	return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
			       CUmemcpyAttributes *attributes, size_t *starts,
			       size_t attributes_count, CUstream stream)
{
	struct batch batch = { to, from, bytes, count, attributes, starts, attributes_count, NULL };

	return WHOLE_CALL(batch_copy(stream, &batch),
			  to, from, bytes, count, attributes, starts, attributes_count, stream);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
			    CUmemcpyAttributes *attributes, size_t *starts,
			    size_t attributes_count, size_t *failed, CUstream stream)
{
	struct batch batch = { to, from, bytes, count, attributes, starts, attributes_count,
			       failed };

	return WHOLE_CALL(batch_copy(stream, &batch), to, from, bytes, count, attributes, starts,
			  attributes_count, failed, stream);
}

/* Checks an operand. It counts in elements, which are bytes, as neither side is an array. */
static CUresult check_operand(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
	if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return operand->op.array.array ?
			fail(CUDA_ERROR_NOT_SUPPORTED, "there are no arrays") :
			fail(CUDA_ERROR_INVALID_VALUE, "the array is NULL");
	if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such operand: %d", operand->type);
	if (operand->op.ptr.rowLength && operand->op.ptr.rowLength < extent->width)
		return fail(CUDA_ERROR_INVALID_VALUE, "rows of %zu are less than the width %zu",
			    operand->op.ptr.rowLength, extent->width);
	if (operand->op.ptr.layerHeight && operand->op.ptr.layerHeight < extent->height)
		return fail(CUDA_ERROR_INVALID_VALUE, "layers of %zu are less than the height %zu",
			    operand->op.ptr.layerHeight, extent->height);
	return check_hint(&operand->op.ptr.locHint);
}

static CUresult check_copy(const CUDA_MEMCPY3D_BATCH_OP *copy)
{
	const CUextent3D *extent = &copy->extent;
	CUresult result;

	if (!extent->width || !extent->height || !extent->depth)
		return fail(CUDA_ERROR_INVALID_VALUE, "the extent is empty");
	result = check_manner(copy->srcAccessOrder, copy->flags);
	if (result == CUDA_SUCCESS)
		result = check_operand(&copy->src, extent);
	return result == CUDA_SUCCESS ? check_operand(&copy->dst, extent) : result;
}

static CUresult do_copy(CUstream stream, const CUDA_MEMCPY3D_BATCH_OP *copy)
{
	const CUDA_MEMCPY3D whole = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = copy->src.op.ptr.ptr,
		.srcPitch = copy->src.op.ptr.rowLength,
		.srcHeight = copy->src.op.ptr.layerHeight,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = copy->dst.op.ptr.ptr,
		.dstPitch = copy->dst.op.ptr.rowLength,
		.dstHeight = copy->dst.op.ptr.layerHeight,
		.WidthInBytes = copy->extent.width,
		.Height = copy->extent.height,
		.Depth = copy->extent.depth,
	};
	struct layers layers;
	CUresult result = layers_of(&layers, &whole);

	return result == CUDA_SUCCESS ?
		transfer_layers(stream, &layers, when_of(copy->srcAccessOrder)) : result;
}

static CUresult batch_copy_layers(CUstream stream, const CUDA_MEMCPY3D_BATCH_OP *copies,
				  size_t count, unsigned long long flags, size_t *failed)
{
	CUresult result = CUDA_SUCCESS;
	size_t at = NO_COPY_FAILED;

	if (!count || !copies)
		result = fail(CUDA_ERROR_INVALID_VALUE, "no copies");
	else if (flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	else
		result = copies_check_stream(stream);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		at = i;
		result = check_copy(&copies[i]);
	}
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		at = i;
		result = do_copy(stream, &copies[i]);
	}
	if (result != CUDA_SUCCESS && failed)
		*failed = at;
	return result;
}

FORWARD(cuMemcpy3DBatchAsync_v2, (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
				  unsigned long long flags, CUstream stream),
	batch_copy_layers(stream, copies, count, flags, NULL), count, copies, flags, stream)
FORWARD(cuMemcpy3DBatchAsync, (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
			       unsigned long long flags, CUstream stream),
	batch_copy_layers(stream, copies, count, flags, failed),
	count, copies, failed, flags, stream)
