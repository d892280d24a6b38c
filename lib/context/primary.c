// SPDX-License-Identifier: MIT
/* Primary contexts: one per device, shared by all callers that retain it. */
#include "context.h"

DEFINE_WHOLE_CALL(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device), context, device)
{
	struct slot *slot;
	CUresult result;

	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_check_device(device);
	if (result != CUDA_SUCCESS)
		return result;

	slot = &slots[device];
	pthread_mutex_lock(&slots_lock);
	if (!slot->uses) {
		slot->uses = 1;
		slot->device = device;
	}
	/* a live primary context can be retained even if its device has failed */
	if (!slot->live)
		result = device_working(device);
	if (result == CUDA_SUCCESS && !slot->live) {
		context_limits_reset(slot);
		slot->live = (uintptr_t)context_value(slot);
	}
	if (result == CUDA_SUCCESS) {
		slot->retained++;
		*context = context_value(slot);
	}
	pthread_mutex_unlock(&slots_lock);
	return result;
}

/*
 * Ends a primary context, with slots_lock held. Its value stays; when it is retained again, it
 * has neither peers nor flags. The caller ends @heaps after unlocking.
 */
static void primary_end(struct slot *slot, uint32_t *heaps)
{
	slot->live = 0;
	slot->ends++;
	slot->flags = 0;
	context_operations.end_streams(context_value(slot));
	context_operations.take_heaps(slot, heaps);
	slot_drop_peers(slot);
}

DEFINE_WHOLE_CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice device), device)
{
	CUresult result = context_check_device(device);
	uint32_t heaps[CONTEXT_HEAPS] = {};
	struct slot *slot;

	if (result != CUDA_SUCCESS)
		return result;
	slot = &slots[device];
	pthread_mutex_lock(&slots_lock);
	if (slot->retained == 1) {
		pthread_mutex_unlock(&slots_lock);
		context_operations.finish_streams(context_value(slot));
		pthread_mutex_lock(&slots_lock);
	}
	if (!slot->retained)
		result = fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not retained");
	else if (!--slot->retained)
		primary_end(slot, heaps);
	pthread_mutex_unlock(&slots_lock);
	context_operations.end_heaps(heaps);
	return result;
}

DEFINE_WHOLE_CALL(cuDevicePrimaryCtxReset_v2, (CUdevice device), device)
{
	CUresult result = context_check_device(device);
	uint32_t heaps[CONTEXT_HEAPS];

	if (result != CUDA_SUCCESS)
		return result;
	context_operations.finish_streams(context_value(&slots[device]));
	pthread_mutex_lock(&slots_lock);
	primary_end(&slots[device], heaps);
	pthread_mutex_unlock(&slots_lock);
	context_operations.end_heaps(heaps);
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags), device, flags)
{
	CUresult result = context_check_flags(flags);

	if (flags & CU_CTX_MAP_HOST)
		return fail(CUDA_ERROR_INVALID_VALUE, "primary contexts always have MAP_HOST");
	if (result == CUDA_SUCCESS)
		result = context_check_device(device);
	if (result == CUDA_SUCCESS)
		slots[device].flags = flags;
	return result;
}

DEFINE_CALL(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active),
	    device, flags, active)
{
	CUresult result = CUDA_SUCCESS;

	if (!flags || !active)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	/* a device whose context was made once is there; the runtime asks often */
	if ((unsigned int)device >= PRIMARIES || !slots[device].uses)
		result = context_check_device(device);
	if (result == CUDA_SUCCESS) {
		*flags = slots[device].flags;
		*active = slots[device].live != 0;
	}
	return result;
}

/* The changes of these names' second versions do not concern memcast. */
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
OLDER_NAME(cuDevicePrimaryCtxRelease, (CUdevice dev), cuDevicePrimaryCtxRelease_v2(dev))
OLDER_NAME(cuDevicePrimaryCtxReset, (CUdevice dev), cuDevicePrimaryCtxReset_v2(dev))
OLDER_NAME(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned int flags),
	   cuDevicePrimaryCtxSetFlags_v2(dev, flags))
