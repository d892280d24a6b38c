// SPDX-License-Identifier: MIT
/*
 * Memory that was released is out of every page table before its pages go back, also while another
 * thread unbinds or unmaps it together with thousands of other bindings or mappings.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <memcast/view.h>
#include "memcast_test.h"

/* So many further bindings or mappings: the call that undoes them all takes long. */
#define FURTHER	20000
#define ROUNDS	12

FIXTURE(freed)
{
	CUmemGenericAllocationHandle team, further;
	CUdeviceptr own_at, further_at;		/* what shows the team's first chunk */
	size_t bytes;
};

FIXTURE_VARIANT(freed)
{
	bool unmap;		/* or unbind */
	bool window;		/* a window shows the memory, or a replica */
};

FIXTURE_VARIANT_ADD(freed, replica_unbound) { };
FIXTURE_VARIANT_ADD(freed, window_unbound) { .window = true, };
FIXTURE_VARIANT_ADD(freed, window_unmapped) { .unmap = true, .window = true, };

FIXTURE_SETUP(freed)
{
	unsigned int i, n = loops(FURTHER);
	struct memcast_view view;

	cuda_start(0);
	self->bytes = n * CHUNK;
	self->further = new_memory(0, CHUNK);
	self->further_at = reserve(CHUNK + self->bytes);
	self->own_at = self->further_at;
	self->further_at += CHUNK;
	self->team = complete_team(2, variant->unmap ? CHUNK : CHUNK + self->bytes);
	if (variant->unmap)
		return;
	for (i = 0; i < n; i++)
		ASSERT_OK(cuMemMap(self->further_at + i * CHUNK, CHUNK, 0, self->further, 0));
	if (variant->window) {
		self->own_at = ADDRESS(mapped(self->team, CHUNK + self->bytes, 0));
	} else {
		ASSERT_OK(memcastViewCreate(&view, self->team, 0, CHUNK));
		self->own_at = ADDRESS(view.replica[0]);
	}
}
NOTHING_LEFT(freed)

/* Host memory, whose pages go back to Linux at once, bound as the first chunk of device 0 */
static CUmemGenericAllocationHandle bound_memory(struct __test_metadata *_metadata,
						 CUmemGenericAllocationHandle team)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle own;

	prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	ASSERT_OK(cuDeviceGetAttribute(&prop.location.id, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0));
	ASSERT_OK(cuMemCreate(&own, CHUNK, &prop, 0));
	ASSERT_OK(cuMulticastBindMem_v2(team, 0, 0, own, 0, CHUNK, 0));
	return own;
}

struct undo {
	CUdeviceptr at;			/* 0: unbind */
	CUmemGenericAllocationHandle team;
	size_t bytes;
	CUcontext context;
	CUresult result;
	bool begins, ended;
};

/* Undoes the binding, or mapping, that shows the memory, and then all others. */
static void *undo(void *arg)
{
	struct undo *undo = arg;

	cuCtxSetCurrent(undo->context);
	__atomic_store_n(&undo->begins, true, __ATOMIC_SEQ_CST);
	undo->result = undo->at ? cuMemUnmap(undo->at, undo->bytes) :
				  cuMulticastUnbind(undo->team, 0, 0, undo->bytes);
	__atomic_store_n(&undo->ended, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Yields until the call has begun, and then @part of @ROUNDS of the time that the call took in
 * round 0, counted in yields: so the release comes in another place of the call each round.
 */
static void wait_for_part(struct undo *call, unsigned int part, unsigned long *whole)
{
	unsigned long yields = 0;

	while (!__atomic_load_n(&call->begins, __ATOMIC_SEQ_CST))
		sched_yield();
	if (!part)
		*whole = ULONG_MAX;
	for (; yields < *whole / ROUNDS * (part ?: ROUNDS); yields++) {
		if (__atomic_load_n(&call->ended, __ATOMIC_SEQ_CST))
			break;
		sched_yield();
	}
	if (!part)
		*whole = yields;
}

TEST_F(freed, is_shown_by_no_page_table)
{
	struct undo call = { .team = self->team, .bytes = CHUNK + self->bytes };
	unsigned int round, i, n = self->bytes / CHUNK;
	unsigned long whole;

	ASSERT_OK(cuCtxGetCurrent(&call.context));
	for (round = 0; round < ROUNDS; round++) {
		CUmemGenericAllocationHandle own = bound_memory(_metadata, self->team);
		volatile uint32_t *at = (volatile uint32_t *)self->own_at;
		pthread_t thread;
		uint32_t value;

		if (variant->unmap) {
			ASSERT_OK(cuMemMap(self->own_at, CHUNK, 0, self->team, 0));
			for (i = 0; i < n; i++)
				ASSERT_OK(cuMemMap(self->further_at + i * CHUNK, CHUNK, 0,
						   self->further, 0));
			ASSERT_OK(allow(self->own_at, CHUNK, 0, READWRITE));
			call.at = self->own_at;
		} else {
			ASSERT_OK(cuMulticastBindAddr(self->team, CHUNK, self->further_at,
						      self->bytes, 0));
		}
		ASSERT_EQ(0, try_load(at, &value));
		call.begins = call.ended = false;
		ASSERT_EQ(0, pthread_create(&thread, NULL, undo, &call));
		wait_for_part(&call, round, &whole);
		ASSERT_OK(cuMemRelease(own));
		EXPECT_NE(0, try_load(at, &value))
			TH_LOG("round %u: released memory is still mapped", round);
		ASSERT_EQ(0, pthread_join(thread, NULL));
		/* the memory's end came first, and took the first binding away */
		if (call.result != CUDA_SUCCESS && !variant->unmap) {
			ASSERT_OK(cuMulticastUnbind(self->team, 0, CHUNK, self->bytes));
		} else {
			ASSERT_OK(call.result);
		}
	}
}

TEST_HARNESS_MAIN
