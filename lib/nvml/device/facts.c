// SPDX-License-Identifier: MIT
/*
 * Constant properties of a device, from libcuda.so.1. Each device is asked once in a process,
 * without cuInit(), after which the program must not fork.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <memcast/device.h>

#include "library.h"

/*
 * A weak symbol, as programs may be linked with the stub of a CUDA toolkit, which has the name
 * of libcuda.so.1 but lacks memcast's functions: the linker would refuse such a program.
 */
#pragma weak memcastDeviceDescribe

static _Atomic(struct facts *) known[DEVICES_MAX];

#define ATTRIBUTE(name)	CU_DEVICE_ATTRIBUTE_##name

static nvmlReturn_t ask(unsigned int device, struct facts *facts)
{
	static const struct {
		CUdevice_attribute attribute;
		size_t offset;
	} wanted[] = {
		{ ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR), offsetof(struct facts, capability_major) },
		{ ATTRIBUTE(COMPUTE_CAPABILITY_MINOR), offsetof(struct facts, capability_minor) },
		{ ATTRIBUTE(PCI_DOMAIN_ID), offsetof(struct facts, domain) },
		{ ATTRIBUTE(PCI_BUS_ID), offsetof(struct facts, bus) },
		{ ATTRIBUTE(PCI_DEVICE_ID), offsetof(struct facts, slot) },
		{ ATTRIBUTE(MULTIPROCESSOR_COUNT), offsetof(struct facts, multiprocessors) },
		{ ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH), offsetof(struct facts, bus_width) },
		{ ATTRIBUTE(COMPUTE_MODE), offsetof(struct facts, compute_mode) },
		{ ATTRIBUTE(CLOCK_RATE), offsetof(struct facts, clock_khz) },
		{ ATTRIBUTE(MEMORY_CLOCK_RATE), offsetof(struct facts, memory_clock_khz) },
	};
	CUdevice_attribute attributes[ARRAY_SIZE(wanted)];
	int values[ARRAY_SIZE(wanted)];
	CUresult result;

	if (!memcastDeviceDescribe)
		return fail(NVML_ERROR_LIB_RM_VERSION_MISMATCH,
			    "the libcuda.so.1 that this process has loaded is not memcast's (LD_LIBRARY_PATH?)");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		attributes[i] = wanted[i].attribute;
	result = memcastDeviceDescribe(device, facts->name, sizeof(facts->name), values,
				       attributes, ARRAY_SIZE(wanted));
	if (result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
		return fail(NVML_ERROR_LIB_RM_VERSION_MISMATCH,
			    "libcuda.so.1 and the module are not of one version");
	if (result != CUDA_SUCCESS)
		return fail(NVML_ERROR_UNKNOWN,
			    "libcuda.so.1 does not describe device %u: error %d", device, result);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		*(int *)((char *)facts + wanted[i].offset) = values[i];
	return NVML_SUCCESS;
}

nvmlReturn_t facts_of(unsigned int device, const struct facts **facts)
{
	struct facts *mine, *found = known[device];
	nvmlReturn_t result;

	*facts = found;
	if (found)
		return NVML_SUCCESS;
	mine = calloc(1, sizeof(*mine));
	if (!mine)
		return fail(NVML_ERROR_MEMORY, "no memory");
	result = ask(device, mine);
	if (result == NVML_SUCCESS && atomic_compare_exchange_strong(&known[device], &found, mine)) {
		*facts = mine;
		return NVML_SUCCESS;
	}
	/* another thread may have been faster */
	free(mine);
	*facts = found;
	return result;
}
