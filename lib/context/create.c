// SPDX-License-Identifier: MIT
/* Creates and destroys contexts. */
#include "context.h"

static CUresult slot_alloc(CUdevice device, unsigned int flags, struct slot **new)
{
	struct slot *slot, *found = NULL;
	uint32_t stale[CONTEXT_HEAPS] = {};
	CUresult result;

	pthread_mutex_lock(&slots_lock);
	result = device_working(device);
	for (slot = &slots[PRIMARIES]; result == CUDA_SUCCESS && slot < &slots[SLOTS]; slot++) {
		if (slot->live)
			continue;
		found = slot;
		/* a thread that made one while the context before ended was too late for its end */
		context_operations.take_heaps(found, stale);
		found->uses++;
		found->device = device;
		found->flags = flags;
		slot_drop_peers(found);
		found->attached = 0;
		context_limits_reset(found);
		found->live = (uintptr_t)context_value(found);
		break;
	}
	pthread_mutex_unlock(&slots_lock);
	context_operations.end_heaps(stale);
	*new = found;
	if (result == CUDA_SUCCESS && !found)
		result = fail(CUDA_ERROR_OUT_OF_MEMORY, "%u contexts are live", SLOTS - PRIMARIES);
	return result;
}

static CUresult context_create(CUcontext *context, const CUexecAffinityParam *limits,
			       int count, const CUctxCigParam *graphics,
			       unsigned int flags, CUdevice device)
{
	struct slot *slot;
	CUresult result;

	if (!context || (count > 0 && !limits))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = context_check_flags(flags);
	if (result == CUDA_SUCCESS)
		result = context_check_device(device);
	if (result != CUDA_SUCCESS)
		return result;
	if (count > 0)
		return fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			    "execution affinity is not supported");
	if (graphics)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "sharing with graphics is not supported");

	result = slot_alloc(device, flags, &slot);
	if (result != CUDA_SUCCESS)
		return result;
	result = context_make_current(context_value(slot));
	if (result == CUDA_SUCCESS)
		*context = context_value(slot);
	else
		slot->live = 0;
	return result;
}

EXPORTED CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	return WHOLE_CALL(context_create(context, NULL, 0, NULL, flags, device),
			  context, flags, device);
}

EXPORTED CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *limits, int count,
				 unsigned int flags, CUdevice device)
{
	return WHOLE_CALL(context_create(context, limits, count, NULL, flags, device),
			  context, limits, count, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params,
			unsigned int flags, CUdevice device)
{
	static CUctxCreateParams none;
	CUctxCreateParams *given = params ? params : &none;

	return WHOLE_CALL(context_create(context, given->execAffinityParams,
					 given->numExecAffinityParams, given->cigParams,
					 flags, device), context, params, flags, device);
}

static CUresult context_destroy(CUcontext context)
{
	uint32_t heaps[CONTEXT_HEAPS] = {};
	struct slot *slot = context_slot(context);
	bool ends;

	if (slot >= &slots[PRIMARIES])
		context_operations.finish_streams(context);
	/* no thread may take the slot before its streams and heaps are out of it */
	pthread_mutex_lock(&slots_lock);
	ends = slot_is_of(slot, context) && slot >= &slots[PRIMARIES];
	if (ends) {
		slot->live = 0;
		context_operations.end_streams(context);
		context_operations.take_heaps(slot, heaps);
	}
	pthread_mutex_unlock(&slots_lock);
	context_operations.end_heaps(heaps);
	if (!ends) {
		/* the reason why; a context that passes is a primary one */
		CUresult result = context_find(context, &slot);

		return result != CUDA_SUCCESS ? result :
			fail(CUDA_ERROR_INVALID_CONTEXT,
			     "a primary context is released, not destroyed");
	}
	context_drop_current(context);
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	return WHOLE_CALL_ON(context, CUDA_ERROR_INVALID_VALUE, context_destroy(context), context);
}

DEFINE_WHOLE_CALL(cuCtxAttach, (CUcontext *context, unsigned int flags), context, flags)
{
	struct slot *slot;
	CUresult result;

	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	pthread_mutex_lock(&slots_lock);
	result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS) {
		slot->attached++;
		*context = context_value(slot);
	}
	pthread_mutex_unlock(&slots_lock);
	return result;
}

/* The last call ends the context. */
static CUresult detach(CUcontext context)
{
	struct slot *slot;
	bool last = false;
	CUresult result;

	pthread_mutex_lock(&slots_lock);
	result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS && context_value(slot) != context)
		result = fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not the current one");
	if (result == CUDA_SUCCESS && slot->attached)
		slot->attached--;
	else
		last = result == CUDA_SUCCESS;
	pthread_mutex_unlock(&slots_lock);
	return last ? context_destroy(context) : result;
}

CUresult cuCtxDetach(CUcontext context)
{
	return WHOLE_CALL_ON(context, CUDA_ERROR_INVALID_VALUE, detach(context), context);
}

/* These names' first versions differ only in effects on hardware. */
#undef cuCtxCreate
#undef cuCtxDestroy
OLDER_NAME(cuCtxCreate, (CUcontext *pctx, unsigned int flags, CUdevice dev),
	   cuCtxCreate_v2(pctx, flags, dev))
OLDER_NAME(cuCtxDestroy, (CUcontext ctx), cuCtxDestroy_v2(ctx))
