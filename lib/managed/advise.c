// SPDX-License-Identifier: MIT
/* Advice of managed memory: takes it, and tells it again. */
#include <string.h>

#include "managed.h"

struct statement {
	CUmem_advise advice;
	CUmemLocation place;
};

static void advise_apply(struct advice *advice, const void *how)
{
	const struct statement *said = how;
	unsigned int who = said->place.type == CU_MEM_LOCATION_TYPE_HOST ? ACCESSOR_CPU :
									  (unsigned int)said->place.id;

	switch (said->advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		advice->read_mostly = said->advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
		break;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		advice->preferred = said->place;
		break;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		advice->preferred = (CUmemLocation) { CU_MEM_LOCATION_TYPE_INVALID, 0 };
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		advice->accessors[who / 64] |= 1ULL << who % 64;
		break;
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		advice->accessors[who / 64] &= ~(1ULL << who % 64);
		break;
	}
}

static CUresult advise_check_place(struct statement *said)
{
	switch (said->advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		return place_check(&said->place, true);
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		return place_check(&said->place, false);
	}
	return fail(CUDA_ERROR_INVALID_VALUE, "no advice %d", (int)said->advice);
}

static CUresult advise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
		       CUmemLocation place)
{
	struct statement said = { advice, place };
	struct range range;
	CUresult result = range_of(&range, address, bytes);

	if (result == CUDA_SUCCESS)
		result = advise_check_place(&said);
	if (result != CUDA_SUCCESS)
		return result;
	advice_lock();
	result = advice_prepare(&range);
	if (result == CUDA_SUCCESS)
		advice_change(&range, advise_apply, &said);
	advice_settle(&range);
	advice_unlock();
	return result;
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
			CUmemLocation place)
{
	return WHOLE_CALL(advise(address, bytes, advice, place),
			  address, bytes, advice, place.type, place.id);
}

#undef cuMemAdvise
EXPORTED CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
			      CUdevice device)
{
	return WHOLE_CALL(advise(address, bytes, advice, place_of_device(device)),
			  address, bytes, advice, device);
}

/* Return: a location as the older functions have it, which know only devices and the CPU. */
static int advise_device(const CUmemLocation *place)
{
	switch (place->type) {
	case CU_MEM_LOCATION_TYPE_INVALID:
		return CU_DEVICE_INVALID;
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return place->id;
	default:
		return CU_DEVICE_CPU;
	}
}

/* Outputs devices first; numbers left over become CU_DEVICE_INVALID. */
static void give_accessors(int *data, size_t count, const struct advice *advice)
{
	size_t given = 0;

	for (unsigned int who = 0; who <= ACCESSOR_CPU && given < count; who++)
		if (accessor_get(advice, who))
			data[given++] = who == ACCESSOR_CPU ? CU_DEVICE_CPU : (int)who;
	while (given < count)
		data[given++] = CU_DEVICE_INVALID;
}

static void advise_give(void *data, size_t bytes, CUmem_range_attribute attribute,
			const struct advice *advice)
{
	int value = 0;

	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		value = advice->read_mostly;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		value = advise_device(&advice->preferred);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		value = advise_device(&advice->prefetched);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		value = advice->preferred.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		value = advice->preferred.id;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		value = advice->prefetched.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		value = advice->prefetched.id;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		give_accessors(data, bytes / sizeof(value), advice);
		return;
	}
	memcpy(data, &value, sizeof(value));
}

static CUresult check_output(const void *data, size_t bytes, CUmem_range_attribute attribute)
{
	if (attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
	    attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
		return fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d", (int)attribute);
	if (!data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ?
	    !bytes || bytes % sizeof(int) : bytes != sizeof(int))
		return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not of %zu bytes",
			    (int)attribute, bytes);
	return CUDA_SUCCESS;
}

static CUresult advise_get_attributes(void **data, const size_t *bytes,
				      const CUmem_range_attribute *attributes, size_t count,
				      CUdeviceptr address, size_t size)
{
	CUresult result = CUDA_SUCCESS;
	struct advice advice;
	struct range range;

	if (!data || !bytes || !attributes || !count)
		return fail(CUDA_ERROR_INVALID_VALUE, "no attributes, or a NULL pointer");
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = check_output(data[i], bytes[i], attributes[i]);
	if (result == CUDA_SUCCESS)
		result = range_of(&range, address, size);
	if (result != CUDA_SUCCESS)
		return result;
	advice_get(&range, &advice);
	for (size_t i = 0; i < count; i++)
		advise_give(data[i], bytes[i], attributes[i], &advice);
	return CUDA_SUCCESS;
}

FORWARD(cuMemRangeGetAttribute, (void *data, size_t bytes, CUmem_range_attribute attribute,
				 CUdeviceptr address, size_t size),
	advise_get_attributes(&data, &bytes, &attribute, 1, address, size),
	data, bytes, attribute, address, size)
FORWARD(cuMemRangeGetAttributes, (void **data, size_t *bytes, CUmem_range_attribute *attributes,
				  size_t count, CUdeviceptr address, size_t size),
	advise_get_attributes(data, bytes, attributes, count, address, size),
	data, bytes, attributes, count, address, size)
