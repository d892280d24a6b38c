// SPDX-License-Identifier: MIT
/*
 * Features that hardware may have and memcast lacks: events, instances of devices (MIG),
 * confidential computing, units, host cards, excluded devices, remapped rows, addressing modes,
 * racks, graphics, and servers that share a device.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library.h"

static nvmlReturn_t none(unsigned int *count)
{
	if (!count)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	*count = 0;
	return NVML_SUCCESS;
}

FORWARD(nvmlUnitGetCount, (unsigned int *count), none(count))

nvmlReturn_t nvmlSystemGetHicVersion(unsigned int *count, nvmlHwbcEntry_t *entries)
{
	(void)entries;
	return CALL(none(count));
}

/* This function, too, needs no nvmlInit() in NVIDIA's library. */
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int *count)
{
	return LOGGED(none(count));
}

/* ---- confidential computing: off, which a structure of zeros means */

static nvmlReturn_t zeros(void *output, size_t size)
{
	if (!output)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	memset(output, 0, size);
	return NVML_SUCCESS;
}

FORWARD(nvmlSystemGetConfComputeCapabilities, (nvmlConfComputeSystemCaps_t *capabilities),
	zeros(capabilities, sizeof(*capabilities)))
FORWARD(nvmlSystemGetConfComputeState, (nvmlConfComputeSystemState_t *state),
	zeros(state, sizeof(*state)))

DEFINE_CALL(nvmlSystemGetConfComputeSettings, (nvmlSystemConfComputeSettings_t *settings), settings)
{
	nvmlReturn_t result = check_version(settings, nvmlSystemConfComputeSettings_v1);

	if (result == NVML_SUCCESS)
		*settings = (nvmlSystemConfComputeSettings_t) { .version = settings->version };
	return result;
}

/* ---- instances of devices */

static nvmlReturn_t zero_of(nvmlDevice_t device, unsigned int *output)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	return result == NVML_SUCCESS ? none(output) : result;
}

DEFINE_CALL(nvmlDeviceGetMigMode, (nvmlDevice_t device, unsigned int *current,
				   unsigned int *pending),
	    device, current, pending)
{
	nvmlReturn_t result;

	if (!pending)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	result = zero_of(device, current);
	if (result == NVML_SUCCESS)
		*pending = NVML_DEVICE_MIG_DISABLE;
	return result;
}

FORWARD(nvmlDeviceGetMaxMigDeviceCount, (nvmlDevice_t device, unsigned int *count),
	zero_of(device, count))
FORWARD(nvmlDeviceIsMigDeviceHandle, (nvmlDevice_t device, unsigned int *is_one),
	zero_of(device, is_one))

/* ---- memory: no row is remapped, and devices use no page table of the CPU's */

DEFINE_CALL(nvmlDeviceGetRemappedRows, (nvmlDevice_t device, unsigned int *correctable,
					unsigned int *uncorrectable, unsigned int *pending,
					unsigned int *failure),
	    device, correctable, uncorrectable, pending, failure)
{
	nvmlReturn_t result;

	if (!uncorrectable || !pending || !failure)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	result = zero_of(device, correctable);
	if (result == NVML_SUCCESS)
		*uncorrectable = *pending = *failure = 0;
	return result;
}

DEFINE_CALL(nvmlDeviceGetAddressingMode, (nvmlDevice_t device, nvmlDeviceAddressingMode_t *mode),
	    device, mode)
{
	/* zero is NVML_DEVICE_ADDRESSING_MODE_NONE */
	return check_version(mode, nvmlDeviceAddressingMode_v1) ?: zero_of(device, &mode->value);
}

/* ---- no rack */

DEFINE_CALL(nvmlDeviceGetPlatformInfo, (nvmlDevice_t device, nvmlPlatformInfo_t *info),
	    device, info)
{
	unsigned int nothing;
	nvmlReturn_t result = check_version(info, nvmlPlatformInfo_v2) ?: zero_of(device, &nothing);

	if (result == NVML_SUCCESS)
		*info = (nvmlPlatformInfo_t) { .version = info->version, .hostId = 1 };
	return result;
}

/* ---- devices draw nothing, and no server shares them: these lists are empty */

#define NOBODY(symbol, info)							\
nvmlReturn_t symbol(nvmlDevice_t device, unsigned int *count, info *infos)	\
{										\
	(void)infos;								\
	return CALL(zero_of(device, count));					\
}

NOBODY(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t)
NOBODY(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t)
NOBODY(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t)
NOBODY(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t)
NOBODY(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t)
NOBODY(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t)

/* ---- no instances of devices */

static nvmlReturn_t no_instance(nvmlDevice_t device, nvmlReturn_t result)
{
	unsigned int number;

	return device_number(device, &number) ?: fail(result, "devices have no instances");
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index,
						 nvmlDevice_t *instance)
{
	(void)index;
	(void)instance;
	return CALL(no_instance(device, NVML_ERROR_NOT_FOUND));
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance,
							  nvmlDevice_t *device)
{
	(void)device;
	return CALL(no_instance(instance, NVML_ERROR_INVALID_ARGUMENT));
}

/* ---- events: sets can be created and waited for, but no event ever happens */

struct nvmlEventSet_st {
	struct nvmlEventSet_st *self;	/* its own address, as long as the set exists */
};

static nvmlReturn_t check_set(nvmlEventSet_t set)
{
	if (!set || set->self != set)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "not a set of events");
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlEventSetCreate, (nvmlEventSet_t *set), set)
{
	nvmlEventSet_t created;

	if (!set)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	created = malloc(sizeof(*created));
	if (!created)
		return fail(NVML_ERROR_MEMORY, "no memory");
	created->self = created;
	*set = created;
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlEventSetFree, (nvmlEventSet_t set), set)
{
	nvmlReturn_t result = check_set(set);

	if (result != NVML_SUCCESS)
		return result;
	set->self = NULL;
	free(set);
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlEventSetWait_v2, (nvmlEventSet_t set, nvmlEventData_t *data,
				  unsigned int milliseconds),
	    set, data, milliseconds)
{
	struct timespec left = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
	nvmlReturn_t result = check_set(set);

	if (result != NVML_SUCCESS)
		return result;
	if (!data)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left))
		;
	return fail(NVML_ERROR_TIMEOUT, "nothing has happened in %u ms", milliseconds);
}

OLDER_NAME(nvmlEventSetWait,
	   (nvmlEventSet_t set, nvmlEventData_t *data, unsigned int milliseconds),
	   nvmlEventSetWait_v2(set, data, milliseconds))

DEFINE_CALL(nvmlDeviceGetSupportedEventTypes, (nvmlDevice_t device, unsigned long long *types),
	    device, types)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	return result == NVML_SUCCESS ? zeros(types, sizeof(*types)) : result;
}

DEFINE_CALL(nvmlDeviceRegisterEvents, (nvmlDevice_t device, unsigned long long types,
				       nvmlEventSet_t set),
	    device, types, set)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number) ?: check_set(set);

	if (result == NVML_SUCCESS && types)
		result = fail(NVML_ERROR_NOT_SUPPORTED, "memcast has no events");
	return result;
}
