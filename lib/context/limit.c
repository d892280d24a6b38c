// SPDX-License-Identifier: MIT
/*
 * Settings of a context for code and streams. Kernels from PTX go by those of stacks, of malloc()
 * and of printf() (launch/translated.c); the others have no effect, but programs read them, set
 * them and check that they were set. No profiler records what a program brackets for one: the
 * calls succeed, as they do on hardware where no profiler runs.
 */
#include "context.h"

/* As recorded on hardware: the initial value of each limit, and the effect of setting it. */
static const struct {
	bool known;
	bool fixed;		/* cannot be set */
	size_t initial;
	size_t least;		/* a smaller value becomes this one */
	size_t step;		/* values are rounded up to a multiple; 0: not */
	size_t most;		/* larger values are refused; 0: none are */
} limits[CU_LIMIT_MAX] = {
	[CU_LIMIT_STACK_SIZE] = { true, .initial = 1024, .step = 16, .most = 512 << 10 },
	[CU_LIMIT_PRINTF_FIFO_SIZE] = { true, .initial = 8448 << 10, .least = 512 << 10 },
	[CU_LIMIT_MALLOC_HEAP_SIZE] = { true, .initial = 8 << 20, .least = 4 << 20 },
	[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = { true, .initial = 2048, .least = 32 },
	[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = { true, .initial = 64 },
	[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = { true, .initial = 9600 << 10 },
	[CU_LIMIT_SHMEM_SIZE] = { true, .fixed = true, .initial = 227 << 10 },
	[CU_LIMIT_CIG_ENABLED] = { true, .fixed = true, .initial = 0 },
};

/* Sets the limits and preferences of a new context. */
void context_limits_reset(struct slot *slot)
{
	for (int i = 0; i < CU_LIMIT_MAX; i++)
		slot->limits[i] = limits[i].initial;
	slot->cache = CU_FUNC_CACHE_PREFER_NONE;
}

static CUresult check_current(void)
{
	struct slot *slot;

	return context_find(NULL, &slot);
}

/* Finds the current context's slot, and checks that the limit is known. */
static CUresult find_limit(CUlimit which, struct slot **slot)
{
	CUresult result = context_find(NULL, slot);

	if (result != CUDA_SUCCESS)
		return result;
	if ((int)which < 0 || which >= CU_LIMIT_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such limit");
	return limits[which].known ? CUDA_SUCCESS :
		fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "the device has no such limit");
}

DEFINE_CALL(cuCtxGetLimit, (size_t *value, CUlimit which), value, which)
{
	struct slot *slot;
	CUresult result = find_limit(which, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*value = slot->limits[which];
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxSetLimit, (CUlimit which, size_t value), which, value)
{
	struct slot *slot;
	CUresult result = find_limit(which, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (limits[which].fixed)
		return fail(CUDA_ERROR_NOT_PERMITTED, "this limit can only be asked for");
	if (limits[which].most && value > limits[which].most)
		return fail(CUDA_ERROR_INVALID_VALUE, "more than %zu", limits[which].most);
	if (value < limits[which].least)
		value = limits[which].least;
	if (limits[which].step)
		value = (value + limits[which].step - 1) / limits[which].step * limits[which].step;
	slot->limits[which] = value;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxGetCacheConfig, (CUfunc_cache *config), config)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!config)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*config = slot->cache;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxSetCacheConfig, (CUfunc_cache config), config)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if ((int)config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such preference");
	slot->cache = config;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuCtxGetSharedMemConfig, (CUsharedconfig *banks), banks)
{
	CUresult result = check_current();

	if (result != CUDA_SUCCESS)
		return result;
	if (!banks)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*banks = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	return CUDA_SUCCESS;
}

CUresult banks_check(CUsharedconfig banks)
{
	return (unsigned int)banks <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "no such size of banks");
}

DEFINE_CALL(cuCtxSetSharedMemConfig, (CUsharedconfig banks), banks)
{
	CUresult result = check_current();

	return result == CUDA_SUCCESS ? banks_check(banks) : result;
}

/* Copies and fills leave nothing in a device's cache. */
CUresult cuCtxResetPersistingL2Cache(void)
{
	return CALL(check_current());
}

CUresult cuProfilerStart(void)
{
	return CALL(check_current());
}

CUresult cuProfilerStop(void)
{
	return CALL(check_current());
}

DEFINE_CALL(cuCtxGetStreamPriorityRange, (int *least, int *greatest), least, greatest)
{
	CUresult result = check_current();

	if (result != CUDA_SUCCESS)
		return result;
	if (least)
		*least = STREAM_PRIORITY_LEAST;
	if (greatest)
		*greatest = STREAM_PRIORITY_GREATEST;
	return CUDA_SUCCESS;
}
