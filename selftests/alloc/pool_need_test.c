// SPDX-License-Identifier: MIT
/*
 * Pools that hold all memory of a device without using it: every way of allocating takes it back.
 * And when a pool gives memory back that nobody else needs.
 */
#include <stdio.h>
#include "memcast_test.h"
#include "pool_fixture.h"
#include "reason.h"

#define DEVICE	1	/* a small one */

/* ---- who holds the memory: all of these leave nothing of the device free ---- */

static CUmemPoolProps props_of(CUmemAllocationHandleType types)
{
	return (CUmemPoolProps) {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = types,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, DEVICE },
	};
}

/* @wait: give the pool the time to give the memory back, which its threshold forbids */
static CUresult hold(CUmemoryPool pool, size_t bytes, bool wait)
{
	cuuint64_t threshold = wait ? UINT64_MAX : 0;
	CUdeviceptr block;
	CUresult result;

	result = cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
	if (result == CUDA_SUCCESS)
		result = cuMemAllocFromPoolAsync(&block, bytes, pool, NULL);
	if (result == CUDA_SUCCESS)
		result = cuMemFreeAsync(block, NULL);
	if (result == CUDA_SUCCESS && wait)
		result = cuCtxSynchronize();
	return result;
}

static CUresult hold_default(size_t bytes)
{
	CUmemoryPool pool;
	CUresult result = cuDeviceGetDefaultMemPool(&pool, DEVICE);

	return result == CUDA_SUCCESS ? hold(pool, bytes, true) : result;
}

static CUresult hold_freed(size_t bytes)
{
	CUmemoryPool pool;
	CUresult result = cuDeviceGetDefaultMemPool(&pool, DEVICE);

	return result == CUDA_SUCCESS ? hold(pool, bytes, false) : result;
}

static CUresult hold_own(size_t bytes)
{
	CUmemPoolProps props = props_of(CU_MEM_HANDLE_TYPE_NONE);
	static CUmemoryPool pool;
	CUresult result = pool ? CUDA_SUCCESS : cuMemPoolCreate(&pool, &props);

	return result == CUDA_SUCCESS ? hold(pool, bytes, true) : result;
}

static CUresult hold_shared(size_t bytes)
{
	CUmemPoolProps props = props_of(SHAREABLE);
	static CUmemoryPool pool;
	CUresult result = pool ? CUDA_SUCCESS : cuMemPoolCreate(&pool, &props);

	return result == CUDA_SUCCESS ? hold(pool, bytes, true) : result;
}

/* Small blocks that share chunks: half of the memory is held by one pool, half by another. */
static CUresult hold_halves(size_t bytes)
{
	CUresult result = hold_own(bytes / 2);

	return result == CUDA_SUCCESS ? hold_shared(bytes - bytes / 2) : result;
}

static const struct holder {
	const char *name;
	CUresult (*hold)(size_t bytes);
} holders[] = {
	{ "the default pool", hold_default }, { "a pool with freed memory", hold_freed },
	{ "a pool", hold_own }, { "a pool that can be shared", hold_shared },
	{ "two pools", hold_halves },
};

/* ---- who takes it: each allocates all memory of the device, and frees it ---- */

static CUresult take_plain(size_t bytes)
{
	CUdeviceptr block;
	CUresult result = cuMemAlloc(&block, bytes);

	return result == CUDA_SUCCESS ? cuMemFree(block) : result;
}

static CUresult take_pitch(size_t bytes)
{
	CUdeviceptr block;
	size_t pitch;
	CUresult result = cuMemAllocPitch(&block, &pitch, 4096, bytes / 4096, 4);

	return result == CUDA_SUCCESS ? cuMemFree(block) : result;
}

static CUresult create(size_t bytes, int types)
{
	CUmemAllocationProp prop = memory_on(DEVICE);
	CUmemGenericAllocationHandle handle;
	CUresult result;

	prop.requestedHandleTypes = types;
	result = cuMemCreate(&handle, bytes, &prop, 0);
	return result == CUDA_SUCCESS ? cuMemRelease(handle) : result;
}

static CUresult take_created(size_t bytes)
{
	return create(bytes, 0);
}

static CUresult take_shareable(size_t bytes)
{
	return create(bytes, SHAREABLE);
}

static CUresult free_and_wait(CUdeviceptr block)
{
	CUresult result = cuMemFreeAsync(block, NULL);

	return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

static CUresult take_async(size_t bytes)
{
	CUdeviceptr block;
	CUresult result = cuMemAllocAsync(&block, bytes, NULL);

	return result == CUDA_SUCCESS ? free_and_wait(block) : result;
}

static CUresult take_from_pool(size_t bytes)
{
	CUmemPoolProps props = props_of(CU_MEM_HANDLE_TYPE_NONE);
	CUdeviceptr block;
	CUmemoryPool pool;
	CUresult result = cuMemPoolCreate(&pool, &props), last;

	if (result != CUDA_SUCCESS)
		return result;
	result = cuMemAllocFromPoolAsync(&block, bytes, pool, NULL);
	if (result == CUDA_SUCCESS)
		result = free_and_wait(block);
	last = cuMemPoolDestroy(pool);
	return result == CUDA_SUCCESS ? last : result;
}

static CUresult take_by_graph(size_t bytes)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = {
		.poolProps = props_of(CU_MEM_HANDLE_TYPE_NONE), .bytesize = bytes,
	};
	CUgraphNode node;
	CUgraph graph;
	CUresult result = cuGraphCreate(&graph, 0), last;

	if (result != CUDA_SUCCESS)
		return result;
	result = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
	last = cuGraphDestroy(graph);
	return result == CUDA_SUCCESS ? last : result;
}

static CUresult take_by_module(size_t bytes)
{
	CUdeviceptr at;
	CUmodule module;
	char text[256];
	CUresult result, last;
	size_t size;

	snprintf(text, sizeof(text),
		 ".version 8.0\n.target sm_90\n.address_size 64\n"
		 ".visible .global .align 4 .b8 all[%zu];\n", bytes);
	result = cuModuleLoadData(&module, text);
	if (result != CUDA_SUCCESS)
		return result;
	result = cuModuleGetGlobal(&at, &size, module, "all");
	last = cuModuleUnload(module);
	return result == CUDA_SUCCESS ? last : result;
}

static const struct taker {
	const char *name;
	CUresult (*take)(size_t bytes);
} takers[] = {
	{ "cuMemAlloc", take_plain }, { "cuMemAllocPitch", take_pitch },
	{ "cuMemCreate", take_created }, { "cuMemCreate to be shared", take_shareable },
	{ "cuMemAllocAsync", take_async }, { "cuMemAllocFromPoolAsync", take_from_pool },
	{ "an alloc node", take_by_graph }, { "a module's variable", take_by_module },
};

/* ---- the tests ---- */

FIXTURE(need) { size_t bytes; };
FIXTURE_SETUP(need)
{
	cuda_start(DEVICE);
	self->bytes = device_bytes(DEVICE, "pool_bytes");
	ASSERT_EQ(self->bytes, device_bytes(DEVICE, "free_bytes"));
}
NOTHING_LEFT(need)

TEST_F(need, all_pairs)
{
	for (size_t i = 0; i < ARRAY_SIZE(holders) * ARRAY_SIZE(takers); i++) {
		const struct holder *holder = &holders[i / ARRAY_SIZE(takers)];
		const struct taker *taker = &takers[i % ARRAY_SIZE(takers)];

		ASSERT_OK(holder->hold(self->bytes))
			TH_LOG("%s, before %s", holder->name, taker->name);
		ASSERT_EQ(0, device_bytes(DEVICE, "free_bytes"))
			TH_LOG("%s", holder->name);
		EXPECT_OK(taker->take(self->bytes))
			TH_LOG("%s takes from %s", taker->name, holder->name);
	}
}

/* Memory that is in use stays, and what cannot be had is still refused. */
TEST_F(need, what_is_used_stays)
{
	CUmemAllocationProp prop = memory_on(DEVICE);
	CUmemGenericAllocationHandle handle = 77;
	CUdeviceptr block;

	ASSERT_OK(hold_default(self->bytes));
	ASSERT_OK(cuMemAllocAsync(&block, CHUNK, NULL));
	EXPECT_CU_REASON(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, self->bytes, &prop, 0),
			 "# bytes are more than the # free on device #");
	EXPECT_EQ(77, handle);
	EXPECT_OK(cuMemsetD8(block, 1, CHUNK));
	EXPECT_OK(cuMemFree(block));
}

/* As on hardware: freed memory stays with a pool, whatever its threshold, until the program waits. */
enum way { BY_STREAM, BY_EVENT, BY_CONTEXT, BY_FREE };

FIXTURE(kept) { CUstream stream; CUevent event; CUmemoryPool pool; };
FIXTURE_VARIANT(kept) { enum way way; };
FIXTURE_VARIANT_ADD(kept, until_a_stream_was_waited_for) { BY_STREAM };
FIXTURE_VARIANT_ADD(kept, until_an_event_was_waited_for) { BY_EVENT };
FIXTURE_VARIANT_ADD(kept, until_the_context_was_waited_for) { BY_CONTEXT };
FIXTURE_VARIANT_ADD(kept, until_a_plain_free) { BY_FREE };
FIXTURE_SETUP(kept)
{
	cuda_start(DEVICE);
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&self->event, 0));
	ASSERT_OK(cuDeviceGetDefaultMemPool(&self->pool, DEVICE));
}
NOTHING_LEFT(kept)

static CUresult synchronize(const FIXTURE_DATA(kept) *self, enum way way, CUdeviceptr other)
{
	switch (way) {
	case BY_STREAM:
		return cuStreamSynchronize(self->stream);
	case BY_EVENT:
		return cuEventSynchronize(self->event);
	case BY_CONTEXT:
		return cuCtxSynchronize();
	default:
		return cuMemFree(other);
	}
}

TEST_F(kept, for_a_while)
{
	CUdeviceptr block, other;
	cuuint64_t threshold = STEP;
	int queued;

	for (queued = 0; queued < 2; queued++) {
		volatile uint32_t *gate = mapped(new_memory(DEVICE, CHUNK), CHUNK, DEVICE);

		ASSERT_OK(cuMemAllocAsync(&other, 4, self->stream));
		ASSERT_OK(cuMemAllocAsync(&block, STEP - CHUNK, self->stream));
		if (queued)
			ASSERT_OK(cuStreamWaitValue32(self->stream, ADDRESS(gate), 1, 0));
		ASSERT_OK(cuMemFreeAsync(block, self->stream));
		ASSERT_OK(cuEventRecord(self->event, self->stream));
		*gate = 1;
		while (cuStreamQuery(self->stream) == CUDA_ERROR_NOT_READY)
			usleep(1000);
		EXPECT_EQ(STEP, TAKEN(self->pool));
		EXPECT_EQ(CUDA_SUCCESS, cuEventQuery(self->event));
		EXPECT_EQ(STEP, TAKEN(self->pool));
		EXPECT_OK(synchronize(self, variant->way, other));
		if (variant->way != BY_FREE)
			EXPECT_OK(cuMemFree(other));
		EXPECT_EQ(0, TAKEN(self->pool));
	}

	/* a pool keeps what its threshold says */
	ASSERT_OK(cuMemPoolSetAttribute(self->pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	ASSERT_OK(cuMemAllocAsync(&block, STEP, self->stream));
	ASSERT_OK(cuMemAllocAsync(&other, 4, self->stream));
	ASSERT_OK(cuMemFreeAsync(other, self->stream));
	ASSERT_OK(cuMemFreeAsync(block, self->stream));
	EXPECT_EQ(2 * STEP, TAKEN(self->pool));
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(STEP, TAKEN(self->pool));
}

TEST_HARNESS_MAIN
