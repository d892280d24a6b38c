// SPDX-License-Identifier: MIT
/*
 * Programs bracket what a profiler is to look at. No profiler looks here: the calls succeed,
 * as they do on hardware where none does.
 */
#include "context.h"

static CUresult nobody_looks(void)
{
	uint32_t device;

	return context_device(&device);
}

CUresult cuProfilerStart(void)
{
	return CALL(nobody_looks(), "%s", "");
}

CUresult cuProfilerStop(void)
{
	return CALL(nobody_looks(), "%s", "");
}
