// SPDX-License-Identifier: MIT
/* What public programs ask NVML for, in their order. */
#include <unistd.h>
#include "nvml_fixture.h"

/* A device plugin of Kubernetes: by NVML; it watches for errors until it is stopped. */
TEST_F(nvml, asked_by_a_device_plugin)
{
	unsigned long long types = 0;
	unsigned int minor, mig, pending;
	nvmlEventSet_t set;
	nvmlEventData_t data;
	nvmlPciInfo_t pci;
	nvmlDevice_t device;
	char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];

	ASSERT_GOOD(nvmlEventSetCreate(&set));
	for (unsigned int i = 0; i < self->devices; i++) {
		ASSERT_GOOD(nvmlDeviceGetHandleByIndex(i, &device));
		EXPECT_GOOD(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)));
		EXPECT_GOOD(nvmlDeviceGetMinorNumber(device, &minor));
		EXPECT_EQ(i, minor);
		EXPECT_GOOD(nvmlDeviceGetPciInfo(device, &pci));
		EXPECT_GOOD(nvmlDeviceGetMigMode(device, &mig, &pending));
		EXPECT_EQ(NVML_DEVICE_MIG_DISABLE, mig);
		EXPECT_GOOD(nvmlDeviceGetHandleByUUID(uuid, &device));
		ASSERT_GOOD(nvmlDeviceGetSupportedEventTypes(device, &types));
		EXPECT_GOOD(nvmlDeviceRegisterEvents(device, types, set));
	}
	EXPECT_NVML(NVML_ERROR_TIMEOUT, nvmlEventSetWait(set, &data, 1));
	EXPECT_GOOD(nvmlEventSetFree(set));
}

/* gpustat and nvitop take "not supported" for a figure that is not shown, and nothing else. */
TEST_F(nvml, asked_by_gpustat)
{
	char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	nvmlProcessInfo_t processes[64];
	unsigned int number, found = ARRAY_SIZE(processes);
	nvmlUtilization_t load;
	nvmlDevice_t device;
	nvmlMemory_t memory;

	cuda_start(0);
	ASSERT_NE(0, new_memory(1, CHUNK));
	ASSERT_GOOD(nvmlDeviceGetHandleByIndex(1, &device));
	EXPECT_GOOD(nvmlDeviceGetName(device, name, sizeof(name)));
	EXPECT_GOOD(nvmlDeviceGetMemoryInfo(device, &memory));
	EXPECT_EQ(CHUNK, memory.used);
	EXPECT_GOOD(nvmlDeviceGetComputeRunningProcesses_v3(device, &found, processes));
	EXPECT_EQ(1, found);
	EXPECT_EQ((unsigned int)getpid(), processes[0].pid);
	EXPECT_EQ(CHUNK, processes[0].usedGpuMemory);
	found = ARRAY_SIZE(processes);
	EXPECT_GOOD(nvmlDeviceGetGraphicsRunningProcesses_v3(device, &found, processes));
	EXPECT_EQ(0, found);
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetFanSpeed(device, &number));
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED,
		  nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &number));
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetPowerUsage(device, &number));
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetEnforcedPowerLimit(device, &number));
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetUtilizationRates(device, &load));
}

TEST_HARNESS_MAIN
