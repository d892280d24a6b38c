// SPDX-License-Identifier: MIT
/* What a context says about code and streams: there is little to choose. */
#include "context.h"

static CUresult check_current(void)
{
	struct slot *slot;

	return context_find(NULL, &slot);
}

static CUresult limit(CUlimit limit, bool output)
{
	CUresult result;

	if ((int)limit < 0 || limit >= CU_LIMIT_MAX || !output)
		return fail(CUDA_ERROR_INVALID_VALUE, output ? "no such limit" : "NULL output");
	result = check_current();
	if (result != CUDA_SUCCESS)
		return result;
	return fail(CUDA_ERROR_UNSUPPORTED_LIMIT,
		    "no code runs on the device that it could limit");
}

CUresult cuCtxGetLimit(size_t *value, CUlimit which)
{
	return CALL(limit(which, value), "value=%p, limit=%d", (void *)value, (int)which);
}

CUresult cuCtxSetLimit(CUlimit which, size_t value)
{
	return CALL(limit(which, true), "limit=%d, value=%zu", (int)which, value);
}

static CUresult get_cache_config(CUfunc_cache *config)
{
	CUresult result;

	if (!config)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_current();
	if (result == CUDA_SUCCESS)
		*config = CU_FUNC_CACHE_PREFER_NONE;
	return result;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
	return CALL(get_cache_config(config), "config=%p", (void *)config);
}

static CUresult set_cache_config(CUfunc_cache config)
{
	if ((int)config < 0 || config > CU_FUNC_CACHE_PREFER_EQUAL)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such preference");
	return check_current();
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	return CALL(set_cache_config(config), "config=%d", (int)config);
}

static CUresult priority_range(int *least, int *greatest)
{
	CUresult result = check_current();

	if (result != CUDA_SUCCESS)
		return result;
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	return CALL(priority_range(least, greatest), "least=%p, greatest=%p",
		    (void *)least, (void *)greatest);
}
