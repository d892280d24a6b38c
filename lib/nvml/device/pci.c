// SPDX-License-Identifier: MIT
/*
 * Bus addresses. The devices are on no bus: the addresses are those of the driver API, and
 * /sys/bus/pci does not have them.
 */
#include <stdio.h>
#include <string.h>

#include "library.h"

/* A display controller without a display */
#define BASE_CLASS	3
#define SUB_CLASS	2

static nvmlReturn_t info_of(nvmlDevice_t device, const void *output, nvmlPciInfo_t *info)
{
	const struct facts *facts;
	nvmlReturn_t result = device_facts(device, &facts);

	if (result != NVML_SUCCESS)
		return result;
	if (!output)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	*info = (nvmlPciInfo_t) {
		.domain = facts->domain,
		.bus = facts->bus,
		.device = facts->slot,
		.pciDeviceId = kind_of(facts)->pci_device,
		.pciSubSystemId = kind_of(facts)->pci_subsystem,
	};
	snprintf(info->busIdLegacy, sizeof(info->busIdLegacy), NVML_DEVICE_PCI_BUS_ID_LEGACY_FMT,
		 NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(info));
	snprintf(info->busId, sizeof(info->busId), NVML_DEVICE_PCI_BUS_ID_FMT,
		 NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(info));
	return NVML_SUCCESS;
}

/*
 * Outputs the info up to @size: the oldest structure ends before pciSubSystemId, the second
 * before busId.
 */
static nvmlReturn_t info_up_to(nvmlDevice_t device, nvmlPciInfo_t *output, size_t size)
{
	nvmlPciInfo_t info;
	nvmlReturn_t result = info_of(device, output, &info);

	if (result == NVML_SUCCESS)
		memcpy(output, &info, size);
	return result;
}

FORWARD(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t *info),
	info_up_to(device, info, sizeof(*info)))
FORWARD(nvmlDeviceGetPciInfo_v2, (nvmlDevice_t device, nvmlPciInfo_t *info),
	info_up_to(device, info, offsetof(nvmlPciInfo_t, busId)))
FORWARD(nvmlDeviceGetPciInfo, (nvmlDevice_t device, nvmlPciInfo_t *info),
	info_up_to(device, info, offsetof(nvmlPciInfo_t, pciSubSystemId)))

DEFINE_CALL(nvmlDeviceGetPciInfoExt, (nvmlDevice_t device, nvmlPciInfoExt_t *info), device, info)
{
	nvmlPciInfo_t found;
	nvmlReturn_t result = info_of(device, info, &found);

	if (result == NVML_SUCCESS)
		result = check_version(info, nvmlPciInfoExt_v1);
	if (result != NVML_SUCCESS)
		return result;
	*info = (nvmlPciInfoExt_t) {
		.version = info->version,
		.domain = found.domain,
		.bus = found.bus,
		.device = found.device,
		.pciDeviceId = found.pciDeviceId,
		.pciSubSystemId = found.pciSubSystemId,
		.baseClass = BASE_CLASS,
		.subClass = SUB_CLASS,
	};
	memcpy(info->busId, found.busId, sizeof(info->busId));
	return NVML_SUCCESS;
}

/* Reads domain:bus:device.function; domain and function may be missing. */
static bool scan(const char *text, unsigned int address[4])
{
	static const struct {
		const char *format;
		int first, numbers;
	} forms[] = {
		{ "%x:%x:%x.%x%n", 0, 4 },
		{ "%x:%x:%x%n", 0, 3 },
		{ "%x:%x.%x%n", 1, 3 },
		{ "%x:%x%n", 1, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		unsigned int n[4] = {};
		int end = 0, wanted = forms[i].numbers;

		memset(address, 0, 4 * sizeof(*address));
		/* %n takes the next argument after the numbers of the form */
		if (wanted == 4 ? sscanf(text, forms[i].format, n, n + 1, n + 2, n + 3, &end) != 4 :
		    wanted == 3 ? sscanf(text, forms[i].format, n, n + 1, n + 2, &end) != 3 :
				  sscanf(text, forms[i].format, n, n + 1, &end) != 2)
			continue;
		if (!end || text[end])
			continue;
		memcpy(address + forms[i].first, n, wanted * sizeof(*n));
		return true;
	}
	return false;
}

DEFINE_CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char *text, nvmlDevice_t *device),
	    text, device)
{
	unsigned int wanted[4], devices = library_devices();
	const struct facts *facts;

	if (!text || !device)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL pointer");
	if (!scan(text, wanted))
		return fail(NVML_ERROR_INVALID_ARGUMENT, "not a PCI bus id: '%s'", text);
	for (unsigned int i = 0; i < devices; i++) {
		nvmlReturn_t result = facts_of(i, &facts);

		if (result != NVML_SUCCESS)
			return result;
		if (wanted[0] == (unsigned int)facts->domain &&
		    wanted[1] == (unsigned int)facts->bus &&
		    wanted[2] == (unsigned int)facts->slot && !wanted[3])
			return device_found(i, device);
	}
	return fail(NVML_ERROR_NOT_FOUND, "no device is at %s", text);
}

OLDER_NAME(nvmlDeviceGetHandleByPciBusId, (const char *text, nvmlDevice_t *device),
	   nvmlDeviceGetHandleByPciBusId_v2(text, device))
