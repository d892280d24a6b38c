// SPDX-License-Identifier: MIT
/* Exports events to other processes, as handles of 64 bytes, and opens them. */
#include "event.h"

static CUresult event_ipc_get_handle(CUipcEventHandle *handle, CUevent event_handle)
{
	struct event *event;
	CUresult result = event_get(event_handle, &event);

	if (result != CUDA_SUCCESS)
		return result;
	result = shared_handle(event->shared, handle);
	event_put(event);
	return result;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
	return WHOLE_CALL_ON(handle && event, CUDA_ERROR_INVALID_VALUE,
			     event_ipc_get_handle(handle, event), handle, event);
}

static CUresult event_ipc_open_handle(CUevent *event, const CUipcEventHandle *handle)
{
	struct shared *shared;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!event)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = shared_open(&shared, handle);
	return result == CUDA_SUCCESS ?
		event_new(event, context_value(slot),
			  CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, shared) : result;
}

FORWARD(cuIpcOpenEventHandle, (CUevent *event, CUipcEventHandle handle),
	event_ipc_open_handle(event, &handle), event)
