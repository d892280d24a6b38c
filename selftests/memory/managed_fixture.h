/* SPDX-License-Identifier: MIT */
/* Shared by the tests of managed memory. */
#ifndef MANAGED_FIXTURE_H
#define MANAGED_FIXTURE_H

#include "memcast_test.h"

FIXTURE(managed) { char unused; };
FIXTURE_SETUP(managed) { }
NOTHING_LEFT(managed)

static const CUmemLocation host = { CU_MEM_LOCATION_TYPE_HOST, 0 };
static const CUmemLocation nowhere = { CU_MEM_LOCATION_TYPE_INVALID, 0 };

TEST_HELPER CUmemLocation device(int id)
{
	return (CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, id };
}

TEST_HELPER int range_attribute(CUmem_range_attribute attribute, CUdeviceptr at, size_t bytes)
{
	int value = -77;

	if (cuMemRangeGetAttribute(&value, sizeof(value), attribute, at, bytes) != CUDA_SUCCESS)
		return -78;
	return value;
}

#define READ_MOSTLY(at, bytes)	range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, at, bytes)
#define PREFERRED(at, bytes) \
	range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, bytes)
#define PREFETCHED(at, bytes) \
	range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, bytes)

#endif /* MANAGED_FIXTURE_H */
