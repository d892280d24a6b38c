/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of pools: a pool on device 0, and a stream. */
#ifndef POOL_FIXTURE_H
#define POOL_FIXTURE_H

#include "memcast_test.h"

FIXTURE(pool)
{
	CUmemoryPool pool;
	CUstream stream;
};

FIXTURE_SETUP(pool)
{
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};

	cuda_start(0);
	ASSERT_OK(cuMemPoolCreate(&self->pool, &props));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
}
NOTHING_LEFT(pool)

static inline cuuint64_t pool_value(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = -1;

	cuMemPoolGetAttribute(pool, attribute, &value);
	return value;
}

/* A pool takes single chunks of its device, but reports its size in whole steps. */
#define STEP		(16 * CHUNK)
#define TAKEN(pool)	pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
#define USED(pool)	pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)

#endif /* POOL_FIXTURE_H */
