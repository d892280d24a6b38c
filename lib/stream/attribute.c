// SPDX-License-Identifier: MIT
/*
 * Attributes of streams. They are kept and read back; only the priority, which has a call of its
 * own, is seen elsewhere. Which of them a stream has, and which values are bad, is from CUDA's
 * documentation.
 */
#include "stream.h"

static CUresult bad(const char *what)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "%s", what);
}

static CUresult window_check(const CUaccessPolicyWindow *window, CUdevice device)
{
	int most;
	CUresult result;

	result = cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
				      device);
	if (result != CUDA_SUCCESS)
		return result;
	if (window->num_bytes > (size_t)most)
		return bad("num_bytes is more than MAX_ACCESS_POLICY_WINDOW_SIZE");
	if (!(window->hitRatio >= 0 && window->hitRatio <= 1))
		return bad("hitRatio is not from 0 to 1");
	if ((unsigned int)window->hitProp > CU_ACCESS_PROPERTY_PERSISTING)
		return bad("unknown hitProp");
	if ((unsigned int)window->missProp > CU_ACCESS_PROPERTY_STREAMING)
		return bad("missProp is neither NORMAL nor STREAMING");
	return CUDA_SUCCESS;
}

static CUresult check(int number, const CUlaunchAttributeValue *value, CUdevice device)
{
	switch (number) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		return window_check(&value->accessPolicyWindow, device);
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		return value->syncPolicy >= CU_SYNC_POLICY_AUTO &&
		       value->syncPolicy <= CU_SYNC_POLICY_BLOCKING_SYNC ? CUDA_SUCCESS :
			bad("no such policy");
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		return CUDA_SUCCESS;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		return (unsigned int)value->memSyncDomain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE ?
			CUDA_SUCCESS : bad("no such domain");
	default:
		return bad("streams have no attribute of this number");
	}
}

/* With the stream's lock held */
static void attribute_store(struct stream *stream, int number, const CUlaunchAttributeValue *value)
{
	struct stream_attributes *to = &stream->attributes;

	switch (number) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		to->window = value->accessPolicyWindow;
		break;
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		to->policy = value->syncPolicy;
		break;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		stream->priority = stream_priority(value->priority);
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		to->map = value->memSyncDomainMap;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		to->domain = value->memSyncDomain;
		break;
	}
}

DEFINE_WHOLE_CALL(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID attribute,
					 const CUstreamAttrValue *value),
		  stream, attribute, value)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);

	if (result != CUDA_SUCCESS)
		return result;
	result = value ? check(attribute, value, (CUdevice)found->set->device) : bad("NULL value");
	if (result == CUDA_SUCCESS) {
		pthread_mutex_lock(&found->lock);
		attribute_store(found, attribute, value);
		pthread_mutex_unlock(&found->lock);
	}
	stream_put(found);
	return result;
}

static CUresult attribute_load(const struct stream *stream, int number,
			       CUlaunchAttributeValue *value)
{
	const struct stream_attributes *from = &stream->attributes;
	CUlaunchAttributeValue found = {};

	switch (number) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		found.accessPolicyWindow = from->window;
		break;
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		found.syncPolicy = from->policy;
		break;
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
		found.priority = stream->priority;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		found.memSyncDomainMap = from->map;
		break;
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		found.memSyncDomain = from->domain;
		break;
	default:
		return bad("streams have no attribute of this number");
	}
	*value = found;
	return CUDA_SUCCESS;
}

DEFINE_WHOLE_CALL(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID attribute,
					 CUstreamAttrValue *value),
		  stream, attribute, value)
{
	struct stream *found;
	CUresult result = stream_get(stream, &found);

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&found->lock);
	result = value ? attribute_load(found, attribute, value) : bad("NULL output");
	pthread_mutex_unlock(&found->lock);
	stream_put(found);
	return result;
}

/* Locks one stream after the other: an attribute that changes meanwhile counts, or does not. */
static void copy_between(struct stream *to, struct stream *from)
{
	struct stream_attributes copy;

	pthread_mutex_lock(&from->lock);
	copy = from->attributes;
	pthread_mutex_unlock(&from->lock);
	pthread_mutex_lock(&to->lock);
	to->attributes = copy;
	to->priority = from->priority;
	pthread_mutex_unlock(&to->lock);
}

DEFINE_WHOLE_CALL(cuStreamCopyAttributes, (CUstream to, CUstream from), to, from)
{
	struct stream *target, *source;
	CUresult result = stream_get(to, &target);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_get(from, &source);
	if (result == CUDA_SUCCESS) {
		if (target->set->context == source->set->context)
			copy_between(target, source);
		else
			result = bad("the streams have two contexts");
		stream_put(source);
	}
	stream_put(target);
	return result;
}
