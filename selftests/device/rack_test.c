// SPDX-License-Identifier: MIT
/*
 * All devices of the machine, up to the 576 of a rack: each can be told from all others, and a
 * team of all reaches all. host-rack.sh runs this on a machine with 576.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <memcast/multimem.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

FIXTURE(rack)
{
	int devices;
	CUdevice last;
	CUdevice other;		/* the device that a set of 64 bits confuses with the last, or 0 */
	CUmemGenericAllocationHandle handle, *memory;
	CUdeviceptr window;
};

FIXTURE_SETUP(rack)
{
	cuda_start(0);
	ASSERT_OK(cuDeviceGetCount(&self->devices));
	if (self->devices < 2)
		SKIP(return, "it takes 2 devices: memcast-vm --devices 2");
	self->last = self->devices - 1;
	self->other = self->last % 64 == self->last ? 0 : self->last % 64;
}
NOTHING_LEFT(rack)

struct identity {
	char bus[32];
	CUuuid uuid;
	CUdevice device;
};

static int by_bus(const void *one, const void *other)
{
	return strcmp(((struct identity *)one)->bus, ((struct identity *)other)->bus);
}

static int by_uuid(const void *one, const void *other)
{
	return memcmp(&((struct identity *)one)->uuid, &((struct identity *)other)->uuid,
		      sizeof(CUuuid));
}

TEST_F(rack, each_has_its_own_name)
{
	struct identity *all = calloc(self->devices, sizeof(*all));
	CUdevice found;
	int i;

	ASSERT_NE(NULL, all);
	for (i = 0; i < self->devices; i++) {
		ASSERT_OK(cuDeviceGetPCIBusId(all[i].bus, sizeof(all[i].bus), i));
		ASSERT_OK(cuDeviceGetUuid(&all[i].uuid, i));
		/* dddd:bb:dd.f: a program may have no room for more */
		EXPECT_EQ(12, strlen(all[i].bus));
	}
	ASSERT_OK(cuDeviceGetByPCIBusId(&found, all[self->last].bus));
	EXPECT_EQ(self->last, found);
	qsort(all, self->devices, sizeof(*all), by_bus);
	for (i = 1; i < self->devices; i++)
		EXPECT_NE(0, by_bus(&all[i - 1], &all[i]));
	qsort(all, self->devices, sizeof(*all), by_uuid);
	for (i = 1; i < self->devices; i++)
		EXPECT_NE(0, by_uuid(&all[i - 1], &all[i]));
	free(all);
}

/* Makes a team of all devices in reverse order, binds a chunk of each and maps the window. */
static void make_team(struct __test_metadata *_metadata, FIXTURE_DATA(rack) *self)
{
	int i;

	self->handle = new_team(self->devices, CHUNK);
	for (i = self->last; i >= 0; i--)
		ASSERT_OK(cuMulticastAddDevice(self->handle, i));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastAddDevice(self->handle, self->devices));
	self->memory = calloc(self->devices, sizeof(*self->memory));
	ASSERT_NE(NULL, self->memory);
	for (i = 0; i < self->devices; i++)
		self->memory[i] = new_bound(self->handle, i, CHUNK);
	self->window = ADDRESS(mapped(self->handle, CHUNK, self->last));
}

TEST_F(rack, team_of_all)
{
	struct memcast_team_member *member = calloc(self->devices, sizeof(*member));
	struct memcast_team_members all = {
		.count = self->devices, .members = (uintptr_t)member,
	};
	struct memcast_view view;
	int i, wrong = 0;
	uint32_t word;

	ASSERT_NE(NULL, member);
	make_team(_metadata, self);
	all.team = self->handle;
	ASSERT_EQ(0, RAW(raw_library_fd(), TEAM_MEMBERS, all));
	EXPECT_EQ(self->devices, all.count);
	EXPECT_EQ(self->devices, all.out_joined);
	all.count = MEMCAST_MAX_DEVICES + 1;
	EXPECT_EQ(EINVAL, RAW(raw_library_fd(), TEAM_MEMBERS, all));
	for (i = 0; i < self->devices; i++)
		wrong += member[i].device != (uint32_t)(self->last - i);
	EXPECT_EQ(0, wrong);

	/* a copy, a store of the CPU, and one over the view */
	ASSERT_OK(cuCtxSetCurrent(NULL));
	cuda_start(self->last);
	ASSERT_OK(cuMemsetD32(self->window, 3, 1));
	*(volatile uint32_t *)(self->window + 4) = 5;
	ASSERT_OK(memcastViewCreate(&view, self->handle, 0, CHUNK));
	EXPECT_EQ(self->devices, view.replicas);
	multimem_st_u32(&view, 8, 7);
	for (i = 0; i < self->devices; i++) {
		wrong += *(uint32_t *)view.replica[i] != 3;
		wrong += *(uint32_t *)(view.replica[i] + 4) != 5;
		wrong += *(uint32_t *)(view.replica[i] + 8) != 7;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(7 * self->devices, multimem_ld_reduce_add_u32(&view, 8));
	ASSERT_OK(cuMemcpyDtoH(&word, self->window + 4, sizeof(word)));
	EXPECT_EQ(5, word);
	EXPECT_OK(memcastViewDestroy(&view));

	/* once the first member is unbound, a load sees the second member's replica */
	multimem_st_u32_at((uint32_t *)self->window, 1);
	ASSERT_OK(cuMulticastUnbind(self->handle, self->last, 0, CHUNK));
	EXPECT_EQ(1, *(volatile uint32_t *)self->window);
	for (i = 0; i < self->devices; i++)
		ASSERT_OK(cuMemRelease(self->memory[i]));
	EXPECT_EQ(SIGBUS, try_load((void *)self->window, &word));
	free(self->memory);
	free(member);
}

static CUmemAccess_flags access_of(CUdeviceptr at, CUdevice device)
{
	CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, device };
	unsigned long long flags = 77;

	cuMemGetAccess(&flags, &location, at);
	return (CUmemAccess_flags)flags;
}

TEST_F(rack, access_is_of_one)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	CUdeviceptr at = ADDRESS(mapped(handle, CHUNK, self->last));
	CUmemAccess_flags flags = 77;
	int i, others = 0;

	for (i = 0; i < self->last; i++)
		others += access_of(at, i) != NONE;
	EXPECT_EQ(0, others);
	EXPECT_EQ(READWRITE, access_of(at, self->last));
	EXPECT_REASON(cuMemsetD8(at, 1, 1), "device # cannot write # bytes at #: unmapped,");
	cuda_start(self->last);
	EXPECT_OK(cuMemsetD8(at, 1, 1));
	EXPECT_OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
	EXPECT_EQ(READWRITE, flags);
	cuda_start(self->other);
	EXPECT_REASON(cuMemsetD8(at, 1, 1), "device # cannot write # bytes at #: unmapped,");
	EXPECT_OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
	EXPECT_EQ(NONE, flags);

	EXPECT_OK(allow(at, CHUNK, self->other, READ));
	EXPECT_OK(allow(at, CHUNK, self->last, NONE));
	EXPECT_EQ(READ, access_of(at, self->other));
	EXPECT_EQ(NONE, access_of(at, self->last));
	EXPECT_EQ(SIGSEGV, try_store((void *)at, 1));
	EXPECT_OK(cuMemRelease(handle));
}

/* cuMemSetAccess() takes up to twice as many descriptors as there can be devices, and no more. */
TEST_F(rack, access_of_all)
{
	unsigned int most = 2 * MEMCAST_MAX_DEVICES, i;
	CUmemAccessDesc *desc = calloc(most + 1, sizeof(*desc));
	CUmemGenericAllocationHandle handle = new_memory(self->last, CHUNK);
	CUdeviceptr at = reserve(CHUNK);

	ASSERT_NE(NULL, desc);
	for (i = 0; i <= most; i++)
		desc[i] = (CUmemAccessDesc) {
			{ CU_MEM_LOCATION_TYPE_DEVICE, i % self->devices }, READWRITE
		};
	ASSERT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
	EXPECT_REASON(cuMemSetAccess(at, CHUNK, desc, most + 1), "# to # descriptors");
	EXPECT_EQ(NONE, access_of(at, self->last));
	EXPECT_OK(cuMemSetAccess(at, CHUNK, desc, most));
	for (i = 0; i < (unsigned int)self->devices; i++)
		EXPECT_EQ(READWRITE, access_of(at, i));
	EXPECT_OK(cuMemRelease(handle));
	free(desc);
}

TEST_F(rack, pools_and_peers)
{
	CUmemLocation here = { CU_MEM_LOCATION_TYPE_DEVICE, self->last };
	CUmemLocation there = { CU_MEM_LOCATION_TYPE_DEVICE, self->other };
	CUmemAccess_flags flags = 77;
	CUcontext own, others;
	CUdeviceptr at;
	CUmemoryPool pool;

	ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, self->last));
	EXPECT_OK(cuMemPoolGetAccess(&flags, pool, &here));
	EXPECT_EQ(READWRITE, flags);
	EXPECT_OK(cuMemPoolGetAccess(&flags, pool, &there));
	EXPECT_EQ(NONE, flags);

	ASSERT_OK(cuDevicePrimaryCtxRetain(&own, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&others, self->last));
	ASSERT_OK(cuCtxSetCurrent(others));
	ASSERT_OK(cuMemAlloc(&at, 64));
	ASSERT_OK(cuCtxSetCurrent(own));
	EXPECT_REASON(cuMemsetD8(at, 1, 64), "# is of device #, which device #'s context has no");
	if (self->other) {
		CUcontext third;

		ASSERT_OK(cuDevicePrimaryCtxRetain(&third, self->other));
		EXPECT_OK(cuCtxEnablePeerAccess(third, 0));
		EXPECT_REASON(cuMemsetD8(at, 1, 64),
			      "# is of device #, which device #'s context has no");
	}
	EXPECT_OK(cuCtxEnablePeerAccess(others, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(others, 0));
	EXPECT_OK(cuMemsetD8(at, 1, 64));
	EXPECT_OK(cuCtxDisablePeerAccess(others));
	EXPECT_REASON(cuMemsetD8(at, 1, 64), "# is of device #, which device #'s context has no");
	EXPECT_OK(cuMemFree(at));
}

TEST_HARNESS_MAIN
