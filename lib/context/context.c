// SPDX-License-Identifier: MIT
/* Contexts, and the stack of current ones that each thread has. */
#include <signal.h>

#include "context.h"
#include "current.h"
#include "device/device.h"

#define STACK_DEPTH	256
#define API_VERSION	3020

struct slot slots[SLOTS];
pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread CUcontext stack[STACK_DEPTH];
static __thread unsigned int depth;
static __thread bool in_worker;

struct context_operations context_operations;

/*
 * Is this a stream's thread? A host function may not make a call that could wait for its own
 * stream.
 */
bool thread_is_worker(void)
{
	return in_worker;
}

void thread_becomes_worker(void)
{
	in_worker = true;
}

/*
 * Starts a detached thread, for functions of the program too. Signals that other processes send
 * are for the program's own threads. Those that an instruction raises are for the program's
 * handlers and for lib/fault/: blocked, they would end the process.
 *
 * Return: 0, or an error number
 */
int thread_start(void *(*run)(void *), void *argument)
{
	static const int raised[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	sigset_t blocked, before;
	pthread_t thread;
	int error;

	sigfillset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(raised); i++)
		sigdelset(&blocked, raised[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	error = pthread_create(&thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_detach(thread);
	return error;
}

/* Was this value ever a context's? Destroyed contexts can still be made current, as on hardware. */
static bool was_given(CUcontext context)
{
	uintptr_t uses = (uintptr_t)context >> SLOT_BITS;

	return uses && uses <= context_slot(context)->uses;
}

static CUresult fail_not_live(CUcontext context)
{
	const struct slot *slot = context_slot(context);

	if (slot_is_of(slot, context))
		return device_working(slot->device);
	if (was_given(context))
		return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed");
	return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
}

static CUresult fail_none_current(void)
{
	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	return fail(CUDA_ERROR_INVALID_CONTEXT,
		    "no context is current: cuCtxSetCurrent() makes one");
}

CUcontext context_value(const struct slot *slot)
{
	return (CUcontext)(slot->uses << SLOT_BITS | (slot - slots));
}

/*
 * Finds the slot of a call's argument; NULL stands for the current context. A host function has
 * none, even if it or one before it has made a context current.
 */
CUresult context_find(CUcontext context, struct slot **slot)
{
	if (!context && (!depth || thread_is_worker()))
		return fail_none_current();
	if (!context)
		context = stack[depth - 1];
	*slot = context_slot(context);
	return (*slot)->live == (uintptr_t)context ? CUDA_SUCCESS : fail_not_live(context);
}

/* As context_find(), for properties that can be read although the device has failed */
static CUresult find_to_ask(CUcontext context, struct slot **slot)
{
	CUresult result;

	if (!context && depth)
		context = stack[depth - 1];
	result = context_find(context, slot);
	return context && slot_is_of(*slot, context) ? CUDA_SUCCESS : result;
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

CUresult context_make_current(CUcontext context)
{
	if (depth == STACK_DEPTH)
		return fail(CUDA_ERROR_OUT_OF_MEMORY,
			    "%u contexts are on this thread's stack", depth);
	stack[depth++] = context;
	return CUDA_SUCCESS;
}

/* Pops a context that has ended, if it is at the top of this thread's stack. */
void context_drop_current(CUcontext context)
{
	if (depth && stack[depth - 1] == context)
		depth--;
}

DEFINE_CALL(cuCtxPushCurrent_v2, (CUcontext context), context)
{
	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL context");
	if (!was_given(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
	return context_make_current(context);
}

DEFINE_CALL(cuCtxPopCurrent_v2, (CUcontext *context), context)
{
	if (!depth)
		return fail_none_current();
	depth--;
	if (context)
		*context = stack[depth];
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxSetCurrent, (CUcontext context), context)
{
	if (context && !was_given(context))
		return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
	if (depth)
		depth--;
	return context ? context_make_current(context) : CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxGetCurrent, (CUcontext *context), context)
{
	if (!context)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*context = depth ? stack[depth - 1] : NULL;
	return CUDA_SUCCESS;
}

CUresult memcastContextAsk(CUdevice *device)
{
	CUresult result = library_ready();
	struct slot *slot = NULL;

	*device = -1;
	if (result != CUDA_SUCCESS)
		return result;
	result = find_to_ask(NULL, &slot);
	if (slot && (result == CUDA_SUCCESS || slot < &slots[PRIMARIES]))
		*device = slot->device;
	return thread_is_worker() ? CUDA_ERROR_NOT_PERMITTED : result;
}

/* A primary context has a device also while no reference to it is held. */
static CUresult context_get_device(CUdevice *device, CUcontext context)
{
	struct slot *slot = NULL;
	CUresult result;

	if (!device)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = find_to_ask(context, &slot);
	if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED && slot < &slots[PRIMARIES])
		result = CUDA_SUCCESS;
	if (result == CUDA_SUCCESS)
		*device = slot->device;
	return result;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	return CALL(context_get_device(device, NULL), device);
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
	return CALL(context_get_device(device, context), device, context);
}

DEFINE_CALL(cuCtxGetFlags, (unsigned int *flags), flags)
{
	struct slot *slot;
	CUresult result;

	if (!flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = find_to_ask(NULL, &slot);
	if (result == CUDA_SUCCESS)
		*flags = slot->flags | (slot < &slots[PRIMARIES] ? CU_CTX_MAP_HOST : 0);
	return result;
}

/* MAP_HOST stays as it was when the context was made. */
DEFINE_CALL(cuCtxSetFlags, (unsigned int flags), flags)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result == CUDA_SUCCESS)
		result = context_check_flags(flags);
	if (result == CUDA_SUCCESS)
		slot->flags = (flags & ~CU_CTX_MAP_HOST) | (slot->flags & CU_CTX_MAP_HOST);
	return result;
}

DEFINE_CALL(cuCtxGetId, (CUcontext context, unsigned long long *id), context, id)
{
	struct slot *slot;
	CUresult result;

	if (!id)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = find_to_ask(context, &slot);
	if (result == CUDA_SUCCESS)
		*id = (uintptr_t)context_value(slot);
	return result;
}

DEFINE_CALL(cuCtxGetApiVersion, (CUcontext context, unsigned int *version), context, version)
{
	struct slot *slot;
	CUresult result;

	if (!version)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = find_to_ask(context, &slot);
	/* only this call returns the same error for a destroyed context as for an unknown one */
	if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED && context)
		result = CUDA_ERROR_INVALID_CONTEXT;
	if (result == CUDA_SUCCESS)
		*version = API_VERSION;
	return result;
}

/* These names' first versions differ only in effects on hardware. */
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
OLDER_NAME(cuCtxPopCurrent, (CUcontext *pctx), cuCtxPopCurrent_v2(pctx))
OLDER_NAME(cuCtxPushCurrent, (CUcontext ctx), cuCtxPushCurrent_v2(ctx))
