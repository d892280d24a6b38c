// SPDX-License-Identifier: MIT
/*
 * Contexts are the library's own: a device number and flags. A CUcontext is not
 * a pointer but a slot's number and how often the slot was used, so that a stale
 * one is always told from a live one. The first slots are the primary contexts,
 * one per device, which keep their value for ever.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "library.h"

#define SLOT_BITS	12
#define SLOTS		(1U << SLOT_BITS)
#define PRIMARIES	MEMCAST_MAX_DEVICES
#define STACK_DEPTH	256
#define API_VERSION	3020

static struct slot {
	atomic_uintptr_t live;	/* the CUcontext, 0 if there is none */
	uintptr_t uses;
	uint32_t device;
	atomic_uint flags;
	unsigned int retained;	/* primary contexts: references owed */
} slots[SLOTS];

/* Protects the slots, but for live and flags, which are read without. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread CUcontext stack[STACK_DEPTH];
static __thread unsigned int depth;

static struct slot *slot_of(CUcontext context)
{
	struct slot *slot = &slots[(uintptr_t)context % SLOTS];

	return context && slot->live == (uintptr_t)context ? slot : NULL;
}

/* Uses count from 1, so that no context is NULL. */
static CUcontext context_value(struct slot *slot)
{
	return (CUcontext)(slot->uses << SLOT_BITS | (slot - slots));
}

/* The slot of an argument; NULL stands for the current context. */
static CUresult context_find(CUcontext context, struct slot **slot)
{
	bool current = !context;

	if (current && !depth)
		return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
	*slot = slot_of(current ? stack[depth - 1] : context);
	if (*slot)
		return CUDA_SUCCESS;
	if (current)
		return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
			    "the current context was destroyed");
	return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context, or destroyed");
}

CUresult context_device(uint32_t *device)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result == CUDA_SUCCESS)
		*device = slot->device;
	return result;
}

static CUresult check_flags(unsigned int flags)
{
	unsigned int scheduling = flags & CU_CTX_SCHED_MASK;

	if (flags & ~CU_CTX_FLAGS_MASK)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if (scheduling & (scheduling - 1))
		return fail(CUDA_ERROR_INVALID_VALUE, "several scheduling flags");
	return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device)
{
	struct memcast_device_info info = {};

	return device_info(device, &info);
}

static CUresult primary_retain(CUcontext *context, CUdevice device)
{
	struct slot *slot;
	CUresult result;

	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_device(device);
	if (result != CUDA_SUCCESS)
		return result;

	slot = &slots[device];
	pthread_mutex_lock(&lock);
	slot->uses = 1;
	slot->device = device;
	slot->retained++;
	*context = context_value(slot);
	slot->live = (uintptr_t)*context;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	return CALL(primary_retain(context, device), "context=%p, device=%d",
		    (void *)context, device);
}

static CUresult primary_release(CUdevice device)
{
	CUresult result = check_device(device);
	struct slot *slot;

	if (result != CUDA_SUCCESS)
		return result;
	slot = &slots[device];
	pthread_mutex_lock(&lock);
	if (!slot->retained)
		result = fail(CUDA_ERROR_INVALID_CONTEXT, "the context is not retained");
	else if (!--slot->retained)
		slot->live = 0;
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	return CALL(primary_release(device), "device=%d", device);
}

static CUresult primary_reset(CUdevice device)
{
	CUresult result = check_device(device);

	if (result == CUDA_SUCCESS)
		slots[device].live = 0;
	return result;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	return CALL(primary_reset(device), "device=%d", device);
}

static CUresult primary_set_flags(CUdevice device, unsigned int flags)
{
	CUresult result = check_flags(flags);

	if (result == CUDA_SUCCESS)
		result = check_device(device);
	if (result == CUDA_SUCCESS)
		slots[device].flags = flags;
	return result;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
	return CALL(primary_set_flags(device, flags), "device=%d, flags=%#x",
		    device, flags);
}

static CUresult primary_state(CUdevice device, unsigned int *flags, int *active)
{
	CUresult result;

	if (!flags || !active)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_device(device);
	if (result == CUDA_SUCCESS) {
		*flags = slots[device].flags;
		*active = slots[device].live != 0;
	}
	return result;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	return CALL(primary_state(device, flags, active),
		    "device=%d, flags=%p, active=%p", device, (void *)flags,
		    (void *)active);
}

static CUresult push(CUcontext context)
{
	if (depth == STACK_DEPTH)
		return fail(CUDA_ERROR_OUT_OF_MEMORY,
			    "%u contexts are on this thread's stack", depth);
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

static struct slot *slot_alloc(CUdevice device, unsigned int flags)
{
	struct slot *slot, *found = NULL;

	pthread_mutex_lock(&lock);
	for (slot = &slots[PRIMARIES]; slot < &slots[SLOTS]; slot++) {
		if (slot->live)
			continue;
		found = slot;
		found->uses++;
		found->device = device;
		found->flags = flags;
		found->live = (uintptr_t)context_value(found);
		break;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static CUresult context_create(CUcontext *context, const CUexecAffinityParam *limits,
			       int count, const CUctxCigParam *graphics,
			       unsigned int flags, CUdevice device)
{
	struct slot *slot;
	CUresult result;

	if (!context || count < 0 || (count && !limits))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	for (int i = 0; i < count; i++)
		if (limits[i].type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
			return fail(CUDA_ERROR_INVALID_VALUE, "no such execution affinity");
	result = check_flags(flags);
	if (result == CUDA_SUCCESS)
		result = check_device(device);
	if (result != CUDA_SUCCESS)
		return result;
	if (count)
		return fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
			    "execution affinity is not supported");
	if (graphics)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "sharing with graphics is not supported");

	slot = slot_alloc(device, flags);
	if (!slot)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "%u contexts are live",
			    SLOTS - PRIMARIES);
	result = push((CUcontext)slot->live);
	if (result == CUDA_SUCCESS)
		*context = (CUcontext)slot->live;
	else
		slot->live = 0;
	return result;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	return CALL(context_create(context, NULL, 0, NULL, flags, device),
		    "context=%p, flags=%#x, device=%d", (void *)context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *limits, int count,
			unsigned int flags, CUdevice device)
{
	return CALL(context_create(context, limits, count, NULL, flags, device),
		    "context=%p, limits=%p, count=%d, flags=%#x, device=%d",
		    (void *)context, (void *)limits, count, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params,
			unsigned int flags, CUdevice device)
{
	static CUctxCreateParams none;
	CUctxCreateParams *given = params ? params : &none;

	return CALL(context_create(context, given->execAffinityParams,
				   given->numExecAffinityParams, given->cigParams,
				   flags, device),
		    "context=%p, params=%p, flags=%#x, device=%d",
		    (void *)context, (void *)params, flags, device);
}

static CUresult context_destroy(CUcontext context)
{
	struct slot *slot = slot_of(context);

	if (!slot || slot < &slots[PRIMARIES])
		return fail(CUDA_ERROR_INVALID_CONTEXT,
			    slot ? "a primary context is released, not destroyed" :
				   "not a context, or destroyed");
	slot->live = 0;
	if (depth && stack[depth - 1] == context)
		depth--;
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	return CALL(context_destroy(context), "context=%p", (void *)context);
}

static CUresult context_push(CUcontext context)
{
	if (!slot_of(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context, or destroyed");
	return push(context);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	return CALL(context_push(context), "context=%p", (void *)context);
}

static CUresult context_pop(CUcontext *context)
{
	if (!depth)
		return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
	depth--;
	if (context)
		*context = stack[depth];
	return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
	return CALL(context_pop(context), "context=%p", (void *)context);
}

static CUresult context_set(CUcontext context)
{
	if (context && !slot_of(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context, or destroyed");
	if (depth)
		depth--;
	return context ? push(context) : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	return CALL(context_set(context), "context=%p", (void *)context);
}

static CUresult context_get(CUcontext *context)
{
	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*context = depth ? stack[depth - 1] : NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
	return CALL(context_get(context), "context=%p", (void *)context);
}

static CUresult context_get_device(CUdevice *device, CUcontext context)
{
	struct slot *slot;
	CUresult result;

	if (!device)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(context, &slot);
	if (result == CUDA_SUCCESS)
		*device = slot->device;
	return result;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	return CALL(context_get_device(device, NULL), "device=%p", (void *)device);
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
	return CALL(context_get_device(device, context), "device=%p, context=%p",
		    (void *)device, (void *)context);
}

static CUresult context_get_flags(unsigned int *flags)
{
	struct slot *slot;
	CUresult result;

	if (!flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS)
		*flags = slot->flags;
	return result;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	return CALL(context_get_flags(flags), "flags=%p", (void *)flags);
}

static CUresult context_get_version(CUcontext context, unsigned int *version)
{
	struct slot *slot;
	CUresult result;

	if (!version)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(context, &slot);
	if (result == CUDA_SUCCESS)
		*version = API_VERSION;
	return result;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
	return CALL(context_get_version(context, version), "context=%p, version=%p",
		    (void *)context, (void *)version);
}

/* Every call has done its work when it returns. */
static CUresult context_synchronize(CUcontext context)
{
	struct slot *slot;

	return context_find(context, &slot);
}

CUresult cuCtxSynchronize(void)
{
	return CALL(context_synchronize(NULL), "%s", "");
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
	return CALL(context_synchronize(context), "context=%p", (void *)context);
}

/* What changed with these names' second version does not concern memcast. */
CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
	__attribute__((alias("cuDevicePrimaryCtxRelease_v2")));
CUresult cuDevicePrimaryCtxReset(CUdevice dev)
	__attribute__((alias("cuDevicePrimaryCtxReset_v2")));
CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
	__attribute__((alias("cuDevicePrimaryCtxSetFlags_v2")));
