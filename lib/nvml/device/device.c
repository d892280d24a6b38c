// SPDX-License-Identifier: MIT
/* Devices: handles, ways to find them, their names and numbers. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "library.h"

/* Empty: their addresses stand for numbers, in each process in the same way. */
static struct nvmlDevice_st {
	char unused;
} handles[DEVICES_MAX];

nvmlDevice_t device_handle(unsigned int number)
{
	return &handles[number];
}

nvmlReturn_t device_found(unsigned int number, nvmlDevice_t *device)
{
	nvmlReturn_t result = state_here(number);

	if (result == NVML_SUCCESS)
		*device = device_handle(number);
	return result;
}

nvmlReturn_t device_number(nvmlDevice_t device, unsigned int *number)
{
	uintptr_t offset = (uintptr_t)device - (uintptr_t)handles;

	*number = offset / sizeof(*handles);
	if (!device || offset >= sizeof(handles) || *number >= library_devices())
		return fail(NVML_ERROR_INVALID_ARGUMENT, "not a device: %p", (void *)device);
	return state_here(*number);
}

nvmlReturn_t device_facts(nvmlDevice_t device, const struct facts **facts)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	return result == NVML_SUCCESS ? facts_of(number, facts) : result;
}

static nvmlReturn_t null_output(void)
{
	return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
}

/* ---- the devices, and ways to find them */

DEFINE_CALL(nvmlDeviceGetCount_v2, (unsigned int *devices), devices)
{
	if (!devices)
		return null_output();
	*devices = library_devices();
	return NVML_SUCCESS;
}

OLDER_NAME(nvmlDeviceGetCount, (unsigned int *devices), nvmlDeviceGetCount_v2(devices))

DEFINE_CALL(nvmlDeviceGetHandleByIndex_v2, (unsigned int index, nvmlDevice_t *device),
	    index, device)
{
	if (!device)
		return null_output();
	if (index >= DEVICES_MAX || index >= library_devices())
		return fail(NVML_ERROR_INVALID_ARGUMENT, "there is no device %u", index);
	return device_found(index, device);
}

OLDER_NAME(nvmlDeviceGetHandleByIndex, (unsigned int index, nvmlDevice_t *device),
	   nvmlDeviceGetHandleByIndex_v2(index, device))

/* Finds a device by "GPU-" and the UUID that the module gave it. */
static nvmlReturn_t by_uuid(const char *wanted, nvmlDevice_t *device)
{
	unsigned int devices = library_devices();
	nvmlReturn_t result;
	char uuid[40];

	if (!wanted || !device)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL pointer");
	for (unsigned int i = 0; i < devices && !strncmp(wanted, "GPU-", 4); i++) {
		result = state_uuid(i, uuid);
		if (result != NVML_SUCCESS)
			return result;
		if (!strcasecmp(wanted + 4, uuid))
			return device_found(i, device);
	}
	return fail(NVML_ERROR_NOT_FOUND, "no device is %s", wanted);
}

FORWARD(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device), by_uuid(uuid, device))

DEFINE_CALL(nvmlDeviceGetHandleByUUIDV, (const nvmlUUID_t *uuid, nvmlDevice_t *device),
	    uuid, device)
{
	const unsigned char *b;
	char text[48];

	if (!uuid || !device)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL pointer");
	if (uuid->version != nvmlUUID_v1)
		return fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "version %#x", uuid->version);
	b = uuid->value.bytes;
	switch (uuid->type) {
	case NVML_UUID_TYPE_ASCII:
		snprintf(text, sizeof(text), "%.*s", NVML_DEVICE_UUID_ASCII_LEN, uuid->value.str);
		return by_uuid(text, device);
	case NVML_UUID_TYPE_BINARY:
		snprintf(text, sizeof(text), "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7],
			 b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
		return by_uuid(text, device);
	default:
		return fail(NVML_ERROR_INVALID_ARGUMENT, "type %u", uuid->type);
	}
}

/* ---- names and numbers */

DEFINE_CALL(nvmlDeviceGetName, (nvmlDevice_t device, char *name, unsigned int length),
	    device, name, length)
{
	const struct facts *facts;
	nvmlReturn_t result = device_facts(device, &facts);

	return result == NVML_SUCCESS ? copy_text(name, length, facts->name) : result;
}

DEFINE_CALL(nvmlDeviceGetUUID, (nvmlDevice_t device, char *uuid, unsigned int length),
	    device, uuid, length)
{
	char text[48] = "GPU-";
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number) ?: state_uuid(number, text + 4);

	return result == NVML_SUCCESS ? copy_text(uuid, length, text) : result;
}

static nvmlReturn_t index_of(nvmlDevice_t device, unsigned int *index)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	if (result != NVML_SUCCESS)
		return result;
	if (!index)
		return null_output();
	*index = number;
	return NVML_SUCCESS;
}

FORWARD(nvmlDeviceGetIndex, (nvmlDevice_t device, unsigned int *index), index_of(device, index))
FORWARD(nvmlDeviceGetMinorNumber, (nvmlDevice_t device, unsigned int *minor),
	index_of(device, minor))

/* Most calls below return one number of a device's facts, or of its kind. */
#define NUMBER_CALL(symbol, type, number)						\
static nvmlReturn_t read_##symbol(nvmlDevice_t device, type *output)			\
{											\
	const struct facts *facts = NULL;						\
	nvmlReturn_t result = device_facts(device, &facts);				\
											\
	if (result != NVML_SUCCESS)							\
		return result;								\
	if (!output)									\
		return null_output();							\
	*output = (number);								\
	return NVML_SUCCESS;								\
}											\
											\
nvmlReturn_t symbol(nvmlDevice_t device, type *output)					\
{											\
	return CALL(read_##symbol(device, output));					\
}

#define KIND(field)	(kind_of(facts)->field)

NUMBER_CALL(nvmlDeviceGetBrand, nvmlBrandType_t, KIND(brand))
NUMBER_CALL(nvmlDeviceGetArchitecture, nvmlDeviceArchitecture_t, KIND(architecture))
NUMBER_CALL(nvmlDeviceGetNumGpuCores, unsigned int, KIND(cores) * facts->multiprocessors)
NUMBER_CALL(nvmlDeviceGetMemoryBusWidth, unsigned int, facts->bus_width)
NUMBER_CALL(nvmlDeviceGetComputeMode, nvmlComputeMode_t, facts->compute_mode)
/*
 * The module keeps its state without users; there is no screen, and no board with several
 * devices.
 */
NUMBER_CALL(nvmlDeviceGetPersistenceMode, nvmlEnableState_t, NVML_FEATURE_ENABLED)
NUMBER_CALL(nvmlDeviceGetDisplayMode, nvmlEnableState_t, NVML_FEATURE_DISABLED)
NUMBER_CALL(nvmlDeviceGetDisplayActive, nvmlEnableState_t, NVML_FEATURE_DISABLED)
NUMBER_CALL(nvmlDeviceGetVirtualizationMode, nvmlGpuVirtualizationMode_t,
	    NVML_GPU_VIRTUALIZATION_MODE_NONE)
NUMBER_CALL(nvmlDeviceGetMultiGpuBoard, unsigned int, 0)
/* As recorded: a board's ID is its address. */
NUMBER_CALL(nvmlDeviceGetBoardId, unsigned int,
	    (unsigned int)facts->domain << 16 | facts->bus << 8 | facts->slot)
NUMBER_CALL(nvmlDeviceGetBusType, nvmlBusType_t, NVML_BUS_TYPE_PCIE)
NUMBER_CALL(nvmlDeviceGetMaxPcieLinkGeneration, unsigned int, KIND(pcie_generation))
NUMBER_CALL(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned int, KIND(pcie_generation))
NUMBER_CALL(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int, KIND(pcie_generation))
NUMBER_CALL(nvmlDeviceGetMaxPcieLinkWidth, unsigned int, KIND(pcie_width))
NUMBER_CALL(nvmlDeviceGetCurrPcieLinkWidth, unsigned int, KIND(pcie_width))
/* NVML_PCIE_LINK_MAX_SPEED_… have the numbers of generations; speed in Mbit/s */
NUMBER_CALL(nvmlDeviceGetPcieLinkMaxSpeed, unsigned int, KIND(pcie_generation))
NUMBER_CALL(nvmlDeviceGetPcieSpeed, unsigned int, 32000 >> (5 - KIND(pcie_generation)))

DEFINE_CALL(nvmlDeviceOnSameBoard, (nvmlDevice_t first, nvmlDevice_t second, int *same),
	    first, second, same)
{
	unsigned int a, b;
	nvmlReturn_t result = device_number(first, &a);

	if (result == NVML_SUCCESS)
		result = device_number(second, &b);
	if (result != NVML_SUCCESS)
		return result;
	if (!same)
		return null_output();
	*same = a == b;
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t device, int *major, int *minor),
	    device, major, minor)
{
	const struct facts *facts;
	nvmlReturn_t result = device_facts(device, &facts);

	if (result != NVML_SUCCESS)
		return result;
	if (!major || !minor)
		return null_output();
	*major = facts->capability_major;
	*minor = facts->capability_minor;
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, nvmlClockType_t type,
					unsigned int *mhz),
	    device, type, mhz)
{
	const struct facts *facts;
	nvmlReturn_t result = device_facts(device, &facts);

	if (result != NVML_SUCCESS)
		return result;
	if (!mhz || (unsigned int)type >= NVML_CLOCK_COUNT)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output, or no such clock");
	if (type == NVML_CLOCK_VIDEO)
		return fail(NVML_ERROR_NOT_SUPPORTED, "memcast has no video engines");
	*mhz = (type == NVML_CLOCK_MEM ? facts->memory_clock_khz : facts->clock_khz) / 1000;
	return NVML_SUCCESS;
}

/* A GPU's memory runs at its highest clock also when idle, so this says nothing about load. */
DEFINE_CALL(nvmlDeviceGetClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz),
	    device, type, mhz)
{
	unsigned int most;
	nvmlReturn_t result = nvmlDeviceGetMaxClockInfo_body(device, type, mhz ? &most : NULL);

	if (result != NVML_SUCCESS)
		return result;
	if (type != NVML_CLOCK_MEM)
		return fail(NVML_ERROR_NOT_SUPPORTED, "memcast has no clock that changes");
	*mhz = most;
	return NVML_SUCCESS;
}
