// SPDX-License-Identifier: MIT
/* The parameters of a node: checked, copied, compared. */
#include <stdlib.h>
#include <string.h>

#include "alloc/alloc.h"
#include "context/context.h"
#include "graph/graph.h"
#include "launch/node.h"

/* Finds a context's device; NULL becomes the current context, for good. */
static CUresult check_context(CUcontext *context, uint32_t *device)
{
	struct slot *slot;
	CUresult result = context_find(*context, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	*context = context_value(slot);
	*device = slot->device;
	return CUDA_SUCCESS;
}

/* Finds the device of a context that params_check() has seen; fails if the context has ended. */
CUresult params_device(CUcontext context, uint32_t *device)
{
	return check_context(&context, device);
}

/*
 * Is it an address that stands in for one that cuGraphExecMemcpyNodeSetParams() brings? Clients
 * take 1, for both sides: in the first page nothing ever is.
 */
static bool is_placeholder(CUmemorytype type, CUdeviceptr address)
{
	return type == CU_MEMORYTYPE_UNIFIED && address && address < 4096;
}

static CUresult check_memcpy(CUDA_MEMCPY_NODE_PARAMS *params)
{
	const CUDA_MEMCPY3D *copy = &params->copyParams;
	struct layers layers;
	CUresult result;

	if (params->flags || params->reserved)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags and the reserved field must be 0");
	result = layers_of(&layers, &params->copyParams);
	if (result != CUDA_SUCCESS)
		return result;
	if (!layers.count)
		return fail(CUDA_ERROR_INVALID_VALUE, "width, height or depth is 0");
	result = check_context(&params->copyCtx, &layers.copy.device);
	if (result == CUDA_SUCCESS && is_placeholder(copy->dstMemoryType, copy->dstDevice) &&
	    is_placeholder(copy->srcMemoryType, copy->srcDevice))
		return CUDA_SUCCESS;
	return result == CUDA_SUCCESS ? layers_check(&layers) : result;
}

/* The caller has checked that the element size is 1, 2 or 4. */
struct memcast_fill fill_of(const CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
	return (struct memcast_fill) {
		.to = params->dst,
		.count = params->width,
		.width = params->elementSize,
		.value = params->value & (UINT32_MAX >> (32 - 8 * params->elementSize)),
		.rows = params->height,
		.pitch = params->height > 1 ? params->pitch : 0,
	};
}

static CUresult check_memset(CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
	struct memcast_fill fill;
	CUresult result;

	if (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4)
		return fail(CUDA_ERROR_INVALID_VALUE, "elements are of 1, 2 or 4 bytes");
	if (!params->width || !params->height)
		return fail(CUDA_ERROR_INVALID_VALUE, "width or height is 0");
	fill = fill_of(params);
	result = check_context(&params->ctx, &fill.device);
	if (result == CUDA_SUCCESS)
		result = fill_check(&fill);
	return result == CUDA_SUCCESS ? fill_check_access(params->ctx, &fill) : result;
}

static CUresult check_event(CUevent handle)
{
	struct event *event;
	CUresult result;

	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL event");
	result = event_get(handle, &event);
	if (result != CUDA_SUCCESS)
		return result;
	if (event_is_shared(event))
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "an event of several processes");
	event_put(event);
	return result;
}

static CUresult check_memops(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params)
{
	struct memops *memops;
	uint32_t device;
	CUresult result = check_context(&params->ctx, &device);

	if (result != CUDA_SUCCESS)
		return result;
	if (params->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = memops_check_array(params->count, params->paramArray);
	if (result != CUDA_SUCCESS)
		return result;
	memops = malloc(memops_bytes(params->count));
	if (!memops)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for operations");
	result = memops_translate(memops, params->count, params->paramArray);
	if (result == CUDA_SUCCESS)
		result = memops_check(memops, device);
	free(memops);
	return result;
}

/*
 * Checks parameters. Contexts that are NULL become the current one. Not with graphs_lock held:
 * the kernel checks the whole memory.
 */
CUresult params_check(CUgraphNodeParams *params)
{
	if (params->reserved0[0] || params->reserved0[1] || params->reserved0[2] ||
	    params->reserved2)
		return fail(CUDA_ERROR_INVALID_VALUE, "reserved fields must be 0");
	switch (params->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return check_memcpy(&params->memcpy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return check_memset(&params->memset);
	case CU_GRAPH_NODE_TYPE_HOST:
		return params->host.fn ? CUDA_SUCCESS :
			fail(CUDA_ERROR_INVALID_VALUE, "NULL function");
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return params->graph.ownership <= CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE ?
			CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no such ownership");
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return check_event(params->eventWait.event);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return check_event(params->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return memory_check(params);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return check_memops(&params->memOp);
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return kernel_node_check(params);
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return condition_check(&params->conditional);
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		return fail(CUDA_ERROR_NOT_SUPPORTED,
			    "type %d: external semaphores are not supported", params->type);
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no type %d", params->type);
	}
}

static CUresult copy_array(void *pointer, size_t count, size_t size)
{
	void **array = pointer, *copy = NULL;

	if (count) {
		copy = malloc(count * size);
		if (!copy)
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for parameters");
		memcpy(copy, *array, count * size);
	}
	*array = copy;
	return CUDA_SUCCESS;
}

/*
 * Copies parameters and the arrays that they point to, but not the program's own memory. A
 * conditional node makes its own graphs.
 */
CUresult params_copy(CUgraphNodeParams *to, const CUgraphNodeParams *from)
{
	CUresult result = CUDA_SUCCESS;

	*to = *from;
	if (from->type == CU_GRAPH_NODE_TYPE_KERNEL)
		result = kernel_node_copy(to, from);
	if (from->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
		result = copy_array(&to->memOp.paramArray, to->memOp.count,
				    sizeof(*to->memOp.paramArray));
	if (from->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		result = copy_array(&to->alloc.accessDescs, to->alloc.accessDescCount,
				    sizeof(*to->alloc.accessDescs));
	if (from->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		to->conditional.phGraph_out = NULL;
	if (result != CUDA_SUCCESS)
		to->type = CU_GRAPH_NODE_TYPE_EMPTY;	/* nothing to free */
	return result;
}

void params_free(CUgraphNodeParams *params)
{
	if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
		kernel_node_free(params);
	if (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
		free(params->memOp.paramArray);
	if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		free((void *)params->alloc.accessDescs);
	if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		free(params->conditional.phGraph_out);
}

static CUresult changes(const char *what)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "%s cannot change in what was instantiated", what);
}

static CUresult may_replace_memops(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *now,
				   const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *new)
{
	if (now->ctx != new->ctx)
		return changes("the context");
	if (now->count != new->count)
		return changes("the number of operations");
	for (unsigned int i = 0; i < now->count; i++)
		if (now->paramArray[i].operation != new->paramArray[i].operation)
			return changes("an operation's type");
	return CUDA_SUCCESS;
}

/* What the address says of a side of a copy that leaves its type to it */
static CUmemorytype type_at(CUmemorytype type, CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };

	if (type != CU_MEMORYTYPE_UNIFIED || is_placeholder(type, address))
		return type;
	switch (memory_ask(&info)) {
	case MEMORY_MISSING:
	case MEMORY_MANAGED:
		return type;
	case MEMORY_OF_DEVICE:
	case MEMORY_ELSEWHERE:
		return CU_MEMORYTYPE_DEVICE;
	default:
		return CU_MEMORYTYPE_HOST;
	}
}

/*
 * Finds the types of a copy's sides; managed memory may be of either. Instances compare them, as
 * a capture leaves a type to the address where the next call names it.
 */
void params_types(CUDA_MEMCPY3D *copy)
{
	copy->dstMemoryType = type_at(copy->dstMemoryType, copy->dstDevice);
	copy->srcMemoryType = type_at(copy->srcMemoryType, copy->srcDevice);
}

static bool may_be_alike(CUmemorytype one, CUmemorytype other)
{
	return one == other || one == CU_MEMORYTYPE_UNIFIED || other == CU_MEMORYTYPE_UNIFIED;
}

/* @now: after params_types() */
static CUresult may_replace_copy(const CUDA_MEMCPY_NODE_PARAMS *now,
				 const CUDA_MEMCPY_NODE_PARAMS *new)
{
	CUDA_MEMCPY3D copy = new->copyParams;

	if (now->copyCtx != new->copyCtx)
		return changes("the context");
	params_types(&copy);
	return may_be_alike(now->copyParams.srcMemoryType, copy.srcMemoryType) &&
	       may_be_alike(now->copyParams.dstMemoryType, copy.dstMemoryType) ?
	       CUDA_SUCCESS : changes("a memory type");
}

/* A fill of one row may get another width and element size. */
static CUresult may_replace_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *now,
				 const CUDA_MEMSET_NODE_PARAMS_v2 *new)
{
	if (now->ctx != new->ctx)
		return changes("the context");
	if (now->height != new->height)
		return changes("the number of rows");
	if (now->height > 1 && (now->width != new->width || now->pitch != new->pitch ||
				now->elementSize != new->elementSize))
		return changes("the shape of rows");
	return CUDA_SUCCESS;
}

/* May a node of an instance get these parameters in place of its own? */
CUresult params_may_replace(const CUgraphNodeParams *now, const CUgraphNodeParams *new)
{
	if (now->type != new->type)
		return fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d", now->type,
			    new->type);
	switch (now->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return may_replace_copy(&now->memcpy, &new->memcpy);
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return now->kernel.ctx == new->kernel.ctx ? CUDA_SUCCESS :
			changes("the function's context");
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return may_replace_fill(&now->memset, &new->memset);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return may_replace_memops(&now->memOp, &new->memOp);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return now->alloc.dptr == new->alloc.dptr ? CUDA_SUCCESS : changes("the memory");
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return now->free.dptr == new->free.dptr ? CUDA_SUCCESS : changes("the memory");
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return now->conditional.type == new->conditional.type &&
		       now->conditional.size == new->conditional.size &&
		       now->conditional.ctx == new->conditional.ctx ? CUDA_SUCCESS :
			changes("a condition's type, size or context");
	default:
		return CUDA_SUCCESS;
	}
}

static bool has_rows(const CUDA_MEMCPY3D *copy)
{
	return copy->Height > 1 || copy->Depth > 1;
}

/* Likewise, by a call that names the node: only an update replaces copies of rows. */
CUresult params_may_set(const CUgraphNodeParams *now, const CUgraphNodeParams *new)
{
	CUresult result = params_may_replace(now, new);

	return result == CUDA_SUCCESS && now->type == CU_GRAPH_NODE_TYPE_MEMCPY &&
	       (has_rows(&now->memcpy.copyParams) || has_rows(&new->memcpy.copyParams)) ?
	       changes("a copy of several rows") : result;
}
