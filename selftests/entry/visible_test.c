// SPDX-License-Identifier: MIT
/* CUDA_VISIBLE_DEVICES: which devices a process sees, in which order, and whose they are. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <memcast/device.h>
#include <memcast/view.h>

#include "memcast_test.h"
#include "reason.h"

#define DEVICES		8
#define UUID		64

/* UUIDs and PCI buses of all the module's devices, seen without CUDA_VISIBLE_DEVICES */
FIXTURE(visible) {
	char uuid[DEVICES][UUID];
	int bus[DEVICES];
	int count;
};

static void uuid_of(CUdevice device, char *text)
{
	CUuuid uuid = {};
	const unsigned char *u = (const unsigned char *)uuid.bytes;

	cuDeviceGetUuid(&uuid, device);
	snprintf(text, UUID,
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
}

static void look(FIXTURE_DATA(visible) *self)
{
	cuInit(0);
	cuDeviceGetCount(&self->count);
	for (int i = 0; i < self->count && i < DEVICES; i++) {
		uuid_of(i, self->uuid[i]);
		cuDeviceGetAttribute(&self->bus[i], CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i);
	}
}

FIXTURE_SETUP(visible)
{
	FIXTURE_DATA(visible) *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, seen);
	ASSERT_EQ(0, unsetenv("CUDA_VISIBLE_DEVICES"));
	pid = fork();
	if (!pid) {
		look(seen);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	*self = *seen;
	ASSERT_LE(4, self->count);
}

NOTHING_LEFT(visible)

/* @order: output, the PCI buses of the devices with that list, as "2 0"; or cuInit()'s error */
static void order_with(const char *list, char *order)
{
	char *told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, count = 0, bus = 0;
	pid_t pid = fork();

	if (!pid) {
		setenv("CUDA_VISIBLE_DEVICES", list, 1);
		CUresult result = cuInit(0);

		if (result != CUDA_SUCCESS)
			sprintf(told, "error %d", result);
		else
			cuDeviceGetCount(&count);
		for (int i = 0; i < count; i++) {
			cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i);
			sprintf(told + strlen(told), "%s%d", i ? " " : "", bus);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	strcpy(order, told);
	munmap(told, 4096);
}

TEST_F(visible, lists)
{
	static const struct {
		const char *list, *order;
	} cases[] = {
		{ "0", "0" },
		{ "2", "2" },
		{ "2,0", "2 0" },
		{ "3,1,2,0", "3 1 2 0" },
		{ " 1, 0", "1 0" },
		{ "1gpu,2x", "1 2" },
		/* the list ends at the first entry that is no device */
		{ "1,-1,0", "1" },
		{ "1,99,0", "1" },
		{ "1,,0", "1" },
		{ "1,x,0", "1" },
		{ "0,GPU-", "0" },
		{ "+1;2", "1" },
		{ "0x1", "0" },
		/* these lists make no device visible */
		{ "", "error 100" },
		{ "-1", "error 100" },
		{ "x", "error 100" },
		{ "99", "error 100" },
		{ "NoDevFiles", "error 100" },
		{ ",0", "error 100" },
		/* so does one that names a device twice, with another error */
		{ "0,0", "error 101" },
		{ "0,1,0", "error 101" },
		{ "GPU-", "error 100" },
		{ "GPU-no", "error 100" },
		{ "MIG-0", "error 100" },
	};
	char order[4096];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		order_with(cases[i].list, order);
		EXPECT_STREQ(cases[i].order, order)
			TH_LOG("'%s'", cases[i].list);
	}
}

TEST_F(visible, uuids)
{
	char list[4 * UUID], order[4096], expected[UUID];

	snprintf(list, sizeof(list), "%s,%s", self->uuid[2], self->uuid[1]);
	snprintf(expected, sizeof(expected), "%d %d", self->bus[2], self->bus[1]);
	order_with(list, order);
	EXPECT_STREQ(expected, order);
	snprintf(list, sizeof(list), "%s,1,%s", self->uuid[2], self->uuid[1]);
	snprintf(expected, sizeof(expected), "%d", self->bus[2]);
	order_with(list, order);
	EXPECT_STREQ(expected, order);
	snprintf(list, sizeof(list), "%s,%s", self->uuid[2], self->uuid[2]);
	order_with(list, order);
	EXPECT_STREQ("error 101", order);

	/* a prefix of a UUID names a device if no other UUID begins with it */
	for (size_t length = strlen("GPU-"); length <= strlen(self->uuid[3]); length++) {
		int alike = 0;

		for (int i = 0; i < self->count; i++)
			alike += !strncmp(self->uuid[i], self->uuid[3], length);
		snprintf(expected, sizeof(expected), "%d", self->bus[3]);
		snprintf(list, sizeof(list), "%.*s", (int)length, self->uuid[3]);
		order_with(list, order);
		EXPECT_STREQ(alike > 1 ? "error 100" : expected, order)
			TH_LOG("'%s'", list);
	}
}

/* A visible device's memory, pools and attributes are those of the module's device behind it. */
TEST_F(visible, numbers)
{
	CUmemAllocationProp hidden = memory_on(2);
	CUmemGenericAllocationHandle handle;
	unsigned long long access;
	CUmemAllocationProp prop;
	CUmemoryPool pool, same;
	char uuid[UUID], text[32];
	CUdeviceptr plain, from_pool;
	volatile uint32_t *at;
	CUcontext context;
	CUdevice device;
	long before;
	int value;

	setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
	cuda_start(0);
	uuid_of(0, uuid);
	EXPECT_STREQ(self->uuid[3], uuid);
	ASSERT_OK(cuDeviceGetPCIBusId(text, sizeof(text), 1));
	ASSERT_OK(cuDeviceGetByPCIBusId(&device, text));
	EXPECT_EQ(1, device);
	ASSERT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1));
	EXPECT_EQ(self->bus[1], value);

	before = device_bytes(3, "free_bytes");
	handle = new_memory(0, CHUNK);
	EXPECT_EQ(before - (long)CHUNK, device_bytes(3, "free_bytes"));
	ASSERT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
	EXPECT_EQ(0, prop.location.id);
	at = mapped(handle, CHUNK, 1);
	ASSERT_OK(cuMemGetAccess(&access, &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 1 },
				 ADDRESS(at)));
	EXPECT_EQ(READWRITE, access);
	ASSERT_OK(cuMemGetAccess(&access, &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
				 ADDRESS(at)));
	EXPECT_EQ(NONE, access);
	ASSERT_OK(cuMemGetAccess(&access, &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
				 ADDRESS(mapped(handle, CHUNK, 0))));
	EXPECT_EQ(READWRITE, access);
	EXPECT_OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ADDRESS(at)));
	EXPECT_EQ(0, value);

	/* a default pool's handle contains the number of the module's device, and still matches */
	ASSERT_OK(cuDeviceGetDefaultMemPool(&pool, 0));
	ASSERT_OK(cuMemAllocAsync(&from_pool, 64, NULL));
	EXPECT_OK(cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, from_pool));
	EXPECT_EQ(pool, same);
	EXPECT_OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, from_pool));
	EXPECT_EQ(0, value);
	ASSERT_OK(cuMemFreeAsync(from_pool, NULL));
	ASSERT_OK(cuMemAlloc(&plain, 64));
	EXPECT_OK(cuMemsetD8(plain, 1, 64));
	EXPECT_OK(cuMemFree(plain));

	/* calls refuse the numbers of devices that are not visible */
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, 1, 2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&handle, CHUNK, &hidden, 0));
	EXPECT_REASON(allow(ADDRESS(at), CHUNK, 2, READ), "no device #: there are # (devices");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&value, 0, 2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool(&pool, 2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&context, NULL, 0, 2));

	/* reasons that the module gives have the module's numbers of devices, and say so */
	prop = memory_on(0);
	EXPECT_CU_REASON(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, 1UL << 40, &prop, 0),
			 "# bytes are more than the # free on device 3 "
			 "(devices numbered as without CUDA_VISIBLE_DEVICES)");

	/* memcastDeviceDescribe() sees all devices, by the module's numbers */
	EXPECT_OK(memcastDeviceDescribe(2, NULL, 0, &value,
					(CUdevice_attribute[]) {
						CU_DEVICE_ATTRIBUTE_PCI_BUS_ID }, 1));
	EXPECT_EQ(self->bus[2], value);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&value, 1, 2));
}

/* Joins and binds as one rank of a team; each rank sees one device, as device 0. */
static CUresult join(CUmemGenericAllocationHandle team)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle;
	CUresult result = cuMulticastAddDevice(team, 0);

	if (result == CUDA_SUCCESS)
		result = cuMemCreate(&handle, CHUNK, &prop, 0);
	return result == CUDA_SUCCESS ? cuMulticastBindMem(team, 0, handle, 0, CHUNK, 0) : result;
}

TEST_F(visible, teams)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = SHAREABLE };
	CUmemGenericAllocationHandle handle;
	struct memcast_view view = {};
	size_t bytes = 0;
	long number;
	int link, fd;

	if (!peer_fork(&link)) {
		setenv("CUDA_VISIBLE_DEVICES", "3", 1);
		cuda_start(0);
		ASSERT_EQ(0, peer_receive(link, &number, &fd));
		ASSERT_OK(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)fd,
							 SHAREABLE));
		ASSERT_OK(cuMulticastGetGranularity(&bytes, &prop,
						    CU_MULTICAST_GRANULARITY_MINIMUM));
		ASSERT_EQ(CHUNK, bytes);
		ASSERT_OK(join(handle));
		ASSERT_OK(memcastViewCreate(&view, handle, 0, CHUNK));
		ASSERT_EQ(0, peer_receive(link, &number, &fd));
		/* the view has both replicas, although one device is not visible here */
		number = *(uint32_t *)view.replica[0] + *(uint32_t *)view.replica[1];
		ASSERT_EQ(0, peer_send(link, number, -1));
		peer_close(link);
		_exit(0);
	}
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	cuda_start(0);
	handle = new_team(2, CHUNK);
	ASSERT_OK(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	ASSERT_EQ(0, peer_send(link, 0, fd));
	ASSERT_OK(join(handle));
	*mapped(handle, CHUNK, 0) = 0;
	ASSERT_OK(cuMemsetD32(ADDRESS(mapped(handle, CHUNK, 0)), 21, 1));
	ASSERT_OK(cuCtxSynchronize());
	ASSERT_EQ(0, peer_send(link, 0, -1));
	ASSERT_EQ(0, peer_receive(link, &number, &fd));
	EXPECT_EQ(42, number);
	peer_close(link);
}

TEST_HARNESS_MAIN
