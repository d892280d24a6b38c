// SPDX-License-Identifier: MIT
/* Created contexts, and the stack of current ones that each thread has. */
#include "context.h"
#include "capture.h"

#define STACK_DEPTH	256
#define API_VERSION	3020

struct slot slots[SLOTS];
pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread CUcontext stack[STACK_DEPTH];
static __thread unsigned int depth;

static struct slot *slot_of(CUcontext context)
{
	struct slot *slot = &slots[(uintptr_t)context % SLOTS];

	return context && slot->live == (uintptr_t)context ? slot : NULL;
}

/* Was it a context once? Destroyed ones can still be made current, as on hardware. */
static bool was_given(CUcontext context)
{
	uintptr_t uses = (uintptr_t)context >> SLOT_BITS;

	return uses && uses <= slots[(uintptr_t)context % SLOTS].uses;
}

static CUresult fail_not_live(CUcontext context)
{
	if (was_given(context))
		return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed");
	return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
}

static CUresult fail_none_current(void)
{
	if (stream_in_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	return fail(CUDA_ERROR_INVALID_CONTEXT,
		    "no context is current: cuCtxSetCurrent() makes one");
}

CUcontext context_value(struct slot *slot)
{
	return (CUcontext)(slot->uses << SLOT_BITS | (slot - slots));
}

/* The slot of an argument; NULL stands for the current context. */
CUresult context_find(CUcontext context, struct slot **slot)
{
	bool current = !context;

	if (current && !depth)
		return fail_none_current();
	*slot = slot_of(current ? stack[depth - 1] : context);
	if (*slot)
		return CUDA_SUCCESS;
	if (current)
		return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED,
			    "the current context was destroyed");
	return fail_not_live(context);
}

CUresult context_device(uint32_t *device)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result == CUDA_SUCCESS)
		*device = slot->device;
	return result;
}

CUresult context_check_flags(unsigned int flags)
{
	unsigned int scheduling = flags & CU_CTX_SCHED_MASK;

	if (flags & ~CU_CTX_FLAGS_MASK)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if (scheduling & (scheduling - 1))
		return fail(CUDA_ERROR_INVALID_VALUE, "several scheduling flags");
	return CUDA_SUCCESS;
}

CUresult context_check_device(CUdevice device)
{
	struct memcast_device_info info = {};

	return device_info(device, &info);
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

	pthread_mutex_lock(&slots_lock);
	for (slot = &slots[PRIMARIES]; slot < &slots[SLOTS]; slot++) {
		if (slot->live)
			continue;
		found = slot;
		found->uses++;
		found->device = device;
		found->flags = flags;
		found->peers = 0;
		context_limits_reset(found);
		found->live = (uintptr_t)context_value(found);
		break;
	}
	pthread_mutex_unlock(&slots_lock);
	return found;
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
	return WHOLE_CALL(context_create(context, NULL, 0, NULL, flags, device),
			  "context=%p, flags=%#x, device=%d", (void *)context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *limits, int count,
			unsigned int flags, CUdevice device)
{
	return WHOLE_CALL(context_create(context, limits, count, NULL, flags, device),
			  "context=%p, limits=%p, count=%d, flags=%#x, device=%d",
			  (void *)context, (void *)limits, count, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params,
			unsigned int flags, CUdevice device)
{
	static CUctxCreateParams none;
	CUctxCreateParams *given = params ? params : &none;

	return WHOLE_CALL(context_create(context, given->execAffinityParams,
					 given->numExecAffinityParams, given->cigParams,
					 flags, device),
			  "context=%p, params=%p, flags=%#x, device=%d",
			  (void *)context, (void *)params, flags, device);
}

static CUresult context_destroy(CUcontext context)
{
	uint32_t heaps[CONTEXT_HEAPS] = {};
	struct slot *slot;

	/* nobody else gets the slot before all that is in it has been taken out */
	pthread_mutex_lock(&slots_lock);
	slot = slot_of(context);
	if (slot && slot >= &slots[PRIMARIES]) {
		slot->live = 0;
		streams_end(context);
		context_heaps_take(slot, heaps);
	}
	pthread_mutex_unlock(&slots_lock);
	context_heaps_end(heaps);
	if (!slot)
		return fail_not_live(context);
	if (slot < &slots[PRIMARIES])
		return fail(CUDA_ERROR_INVALID_CONTEXT,
			    "a primary context is released, not destroyed");
	if (depth && stack[depth - 1] == context)
		depth--;
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
	return WHOLE_CALL_ON(context, CUDA_ERROR_INVALID_VALUE, context_destroy(context),
			     "context=%p", (void *)context);
}

static CUresult context_push(CUcontext context)
{
	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL context");
	if (!was_given(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
	return push(context);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
	return CALL(context_push(context), "context=%p", (void *)context);
}

static CUresult context_pop(CUcontext *context)
{
	if (!depth)
		return fail_none_current();
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
	if (context && !was_given(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
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

/* A primary context has a device while nobody retains it, too. */
static CUresult context_get_device(CUdevice *device, CUcontext context)
{
	CUcontext meant = context || !depth ? context : stack[depth - 1];
	struct slot *slot = &slots[(uintptr_t)meant % SLOTS];
	CUresult result;

	if (!device)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (meant && slot < &slots[PRIMARIES] && context_value(slot) == meant) {
		*device = slot->device;
		return CUDA_SUCCESS;
	}
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
		*flags = slot->flags | (slot < &slots[PRIMARIES] ? CU_CTX_MAP_HOST : 0);
	return result;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	return CALL(context_get_flags(flags), "flags=%p", (void *)flags);
}

/* MAP_HOST is chosen when a context is made. */
static CUresult context_set_flags(unsigned int flags)
{
	struct slot *slot;
	CUresult result = context_check_flags(flags);

	if (result == CUDA_SUCCESS)
		result = context_find(NULL, &slot);
	if (result == CUDA_SUCCESS)
		slot->flags = (flags & ~CU_CTX_MAP_HOST) | (slot->flags & CU_CTX_MAP_HOST);
	return result;
}

CUresult cuCtxSetFlags(unsigned int flags)
{
	return CALL(context_set_flags(flags), "flags=%#x", flags);
}

static CUresult context_get_id(CUcontext context, unsigned long long *id)
{
	struct slot *slot;
	CUresult result;

	if (!id)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(context, &slot);
	if (result == CUDA_SUCCESS)
		*id = slot->live;
	return result;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
	return CALL(context_get_id(context, id), "context=%p, id=%p",
		    (void *)context, (void *)id);
}

static CUresult context_get_version(CUcontext context, unsigned int *version)
{
	struct slot *slot;
	CUresult result;

	if (!version)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = context_find(context, &slot);
	/* the one call that does not tell a destroyed context from none */
	if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED && context)
		result = CUDA_ERROR_INVALID_CONTEXT;
	if (result == CUDA_SUCCESS)
		*version = API_VERSION;
	return result;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
	return CALL(context_get_version(context, version), "context=%p, version=%p",
		    (void *)context, (void *)version);
}

static CUresult context_synchronize(CUcontext context)
{
	CUresult result = capture_context(context);

	return result == CUDA_SUCCESS ? streams_wait(context) : result;
}

CUresult cuCtxSynchronize(void)
{
	return WHOLE_CALL(context_synchronize(NULL), "%s", "");
}

CUresult cuCtxSynchronize_v2(CUcontext context)
{
	return WHOLE_CALL(context_synchronize(context), "context=%p", (void *)context);
}

/* The first versions differ only in what a real device does meanwhile. */
OLDER_NAME(cuCtxCreate, (CUcontext *pctx, unsigned int flags, CUdevice dev),
	   cuCtxCreate_v2(pctx, flags, dev))
OLDER_NAME(cuCtxDestroy, (CUcontext ctx), cuCtxDestroy_v2(ctx))
OLDER_NAME(cuCtxPopCurrent, (CUcontext *pctx), cuCtxPopCurrent_v2(pctx))
OLDER_NAME(cuCtxPushCurrent, (CUcontext ctx), cuCtxPushCurrent_v2(ctx))
