// SPDX-License-Identifier: MIT
/* The attributes of a launch, and their valid values. Source: hardware. */
#include "stream/event/event.h"
#include "launch.h"

static CUresult invalid(const char *what, int value)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "launch attribute: %s %d", what, value);
}

/* Reads an event that is to be recorded after the launch. */
static CUresult read_event(CUevent event, bool timing_matters, CUevent *to)
{
	struct event *found;
	CUresult result;

	if (!event)
		return fail(CUDA_ERROR_INVALID_HANDLE, "NULL event");
	result = event_get(event, &found);
	if (result != CUDA_SUCCESS)
		return result;
	if (timing_matters && !(found->flags & CU_EVENT_DISABLE_TIMING))
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "an event of a launch has no timing");
	event_put(found);
	*to = event;
	return result;
}

static CUresult read_one(const CUlaunchAttribute *attribute, struct request *request)
{
	const CUlaunchAttributeValue *value = &attribute->value;

	switch ((int)attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_IGNORE:
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
	case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		request->has_priority = true;
		request->priority = value->priority;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		request->cooperative = value->cooperative;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		request->cluster[0] = value->clusterDim.x;
		request->cluster[1] = value->clusterDim.y;
		request->cluster[2] = value->clusterDim.z;
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return (unsigned int)value->clusterSchedulingPolicyPreference <=
		       CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING ? CUDA_SUCCESS :
			invalid("no policy", value->clusterSchedulingPolicyPreference);
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		return read_event(value->programmaticEvent.event, false, &request->events[0]);
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		return (unsigned int)value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE ?
			CUDA_SUCCESS : invalid("no domain", value->memSyncDomain);
	case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		return read_event(value->launchCompletionEvent.event, true, &request->events[1]);
	case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
		return fail(CUDA_ERROR_NOT_SUPPORTED, "nodes that a device updates");
	case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return value->sharedMemCarveout <= 100 ? CUDA_SUCCESS :
			invalid("no share", value->sharedMemCarveout);
	default:
		return invalid("no number", attribute->id);
	}
}

/* Of two attributes of the same kind, the later one counts. */
CUresult attributes_read(const CUlaunchConfig *config, struct request *request)
{
	CUresult result = CUDA_SUCCESS;

	if (config->numAttrs && !config->attrs)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL attributes");
	for (unsigned int i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
		result = read_one(&config->attrs[i], request);
	return result;
}
