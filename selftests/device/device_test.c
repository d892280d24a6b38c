// SPDX-License-Identifier: MIT
/* Devices and contexts. */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(device)
{
	int count;
};

FIXTURE_SETUP(device)
{
	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDeviceGetCount(&self->count));
}
NOTHING_LEFT(device)

TEST_F(device, get)
{
	CUdevice device = -1;

	EXPECT_OK(cuDeviceGet(&device, self->count - 1));
	EXPECT_EQ(self->count - 1, device);
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, self->count));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
	EXPECT_EQ(self->count - 1, device);
	EXPECT_REASON(cuDeviceGet(NULL, 0), "NULL output");
	EXPECT_REASON(cuDeviceGetCount(NULL), "NULL output");
}

TEST_F(device, name)
{
	char name[64] = "";
	char small[4] = "xxx";

	EXPECT_OK(cuDeviceGetName(name, sizeof(name), 0));
	EXPECT_LT(3, strlen(name));
	EXPECT_OK(cuDeviceGetName(small, sizeof(small), 0));
	EXPECT_EQ(3, strlen(small));
	EXPECT_EQ(0, strncmp(name, small, 3));
	EXPECT_REASON(cuDeviceGetName(NULL, 10, 0), "no room for the name");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetName(name, 10, self->count));
}

static void uuid_text(char *text, const CUuuid *uuid)
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;

	sprintf(text, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n",
		b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
		b[11], b[12], b[13], b[14], b[15]);
}

/* Each device has a UUID of its own, which sysfs shows as well. */
TEST_F(device, uuid)
{
	char path[64], text[40], shown[40] = "";
	CUuuid uuid, other;
	FILE *file;
	int i;

	for (i = 0; i < self->count; i++) {
		ASSERT_OK(cuDeviceGetUuid(&uuid, i));
		uuid_text(text, &uuid);
		snprintf(path, sizeof(path), "/sys/class/memcast/memcast%d/uuid", i);
		file = fopen(path, "r");
		ASSERT_NE(NULL, file);
		ASSERT_NE(NULL, fgets(shown, sizeof(shown), file));
		fclose(file);
		EXPECT_STREQ(text, shown);
		ASSERT_OK(cuDeviceGetUuid(&other, (i + 1) % self->count));
		EXPECT_NE(0, memcmp(&uuid, &other, sizeof(uuid)));
	}
	EXPECT_REASON(cuDeviceGetUuid(NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid(&uuid, self->count));
}

TEST_F(device, total_memory)
{
	size_t bytes = 0;

	EXPECT_OK(cuDeviceTotalMem(&bytes, 0));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), bytes);
	EXPECT_REASON(cuDeviceTotalMem(NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceTotalMem(&bytes, -1));
}

TEST_F(device, attributes)
{
	const struct {
		CUdevice_attribute attribute;
		int value;
	} known[] = {
		{ CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
		{ CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0 },
		{ CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device_bytes(0, "numa_node") },
	};
	unsigned int i;
	int value;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		value = -7;
		EXPECT_OK(cuDeviceGetAttribute(&value, known[i].attribute, 0));
		EXPECT_EQ(known[i].value, value);
	}
	EXPECT_REASON(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), "NULL output");
	EXPECT_REASON(cuDeviceGetAttribute(&value, 0, 0), "no such attribute");
	EXPECT_REASON(cuDeviceGetAttribute(&value, 100000, 0), "no such attribute");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, self->count));
}

TEST_F(device, memory_info)
{
	size_t available = 0, total = 0;

	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuMemGetInfo(&available, &total));
	cuda_start(1);
	ASSERT_OK(cuMemGetInfo(&available, &total));
	EXPECT_EQ(device_bytes(1, "pool_bytes"), total);
	EXPECT_EQ(total, available);
	new_memory(1, 2 * CHUNK);
	ASSERT_OK(cuMemGetInfo(&available, &total));
	EXPECT_EQ(total - 2 * CHUNK, available);
	EXPECT_EQ(device_bytes(1, "free_bytes"), available);
	/* as recorded on hardware, either output may be NULL */
	total = available = 0;
	EXPECT_OK(cuMemGetInfo(NULL, &total));
	EXPECT_EQ(device_bytes(1, "pool_bytes"), total);
	EXPECT_OK(cuMemGetInfo(&available, NULL));
	EXPECT_EQ(device_bytes(1, "free_bytes"), available);
}

/* Each thread has a stack of contexts, and each device one primary context. */
TEST_F(device, contexts)
{
	CUcontext primary, again, created, current;
	CUdevice device = -1;

	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetDevice(&device));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&primary, 1));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&again, 1));
	EXPECT_EQ(primary, again);
	ASSERT_OK(cuCtxSetCurrent(primary));
	ASSERT_OK(cuCtxCreate(&created, NULL, 0, 2));
	ASSERT_OK(cuCtxGetDevice(&device));
	EXPECT_EQ(2, device);
	ASSERT_OK(cuCtxPopCurrent(&current));
	EXPECT_EQ(created, current);
	ASSERT_OK(cuCtxGetDevice(&device));
	EXPECT_EQ(1, device);
	ASSERT_OK(cuCtxPushCurrent(created));
	ASSERT_OK(cuCtxDestroy(created));
	ASSERT_OK(cuCtxGetCurrent(&current));
	EXPECT_EQ(primary, current);
	EXPECT_OK(cuCtxPushCurrent(created));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	ASSERT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuCtxSynchronize());
	ASSERT_OK(cuCtxSetCurrent(NULL));
	ASSERT_OK(cuCtxGetCurrent(&current));
	EXPECT_EQ(NULL, current);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&current));
	EXPECT_OK(cuDevicePrimaryCtxRelease(1));
	EXPECT_OK(cuDevicePrimaryCtxRelease(1));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuDevicePrimaryCtxRetain(&primary, self->count));
}

TEST_HARNESS_MAIN
