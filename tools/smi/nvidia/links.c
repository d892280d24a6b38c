// SPDX-License-Identifier: MIT
/* nvlink: the links of each device, their speed (-s), abilities (-c) and far ends (-p). */
#include <stdio.h>
#include <string.h>

#include "nvidia.h"

static void print_speed(nvmlDevice_t device, unsigned int link, nvmlEnableState_t active)
{
	nvmlFieldValue_t speed = { .fieldId = NVML_FI_DEV_NVLINK_GET_SPEED, .scopeId = link };

	if (!active)
		printf("\t Link %u: <inactive>\n", link);
	else if (!nvmlDeviceGetFieldValues(device, 1, &speed) && !speed.nvmlReturn)
		printf("\t Link %u: %.3f GB/s\n", link, speed.value.uiVal / 1000.0);
}

static void print_abilities(nvmlDevice_t device, unsigned int link, nvmlEnableState_t active)
{
	static const char *const names[] = {
		[NVML_NVLINK_CAP_P2P_SUPPORTED] = "P2P is supported",
		[NVML_NVLINK_CAP_SYSMEM_ACCESS] = "Access to system memory supported",
		[NVML_NVLINK_CAP_P2P_ATOMICS] = "P2P atomics supported",
		[NVML_NVLINK_CAP_SYSMEM_ATOMICS] = "System memory atomics supported",
		[NVML_NVLINK_CAP_SLI_BRIDGE] = "SLI is supported",
		[NVML_NVLINK_CAP_VALID] = "Link is supported",
	};
	unsigned int yes;

	(void)active;
	for (int i = 0; i < NVML_NVLINK_CAP_COUNT; i++)
		if (!nvmlDeviceGetNvLinkCapability(device, link, (nvmlNvLinkCapability_t)i, &yes))
			printf("\t Link %u, %s: %s\n", link, names[i], yes ? "true" : "false");
}

static void print_far_end(nvmlDevice_t device, unsigned int link, nvmlEnableState_t active)
{
	nvmlPciInfo_t info;

	if (active && !nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, &info))
		printf("\t Link %u: %s\n", link, info.busId);
}

static const struct {
	const char *option, *name;
	void (*print)(nvmlDevice_t device, unsigned int link, nvmlEnableState_t active);
} options[] = {
	{ "-s", "--status", print_speed },
	{ "-c", "--capabilities", print_abilities },
	{ "-p", "--pcibusid", print_far_end },
};

int nvidia_nvlink(const struct nvidia_devices *devices, int count, char **words)
{
	nvmlEnableState_t active;
	size_t i;

	for (i = 0; count && i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(words[0], options[i].option) || !strcmp(words[0], options[i].name))
			break;
	if (!count) {
		puts("nvlink takes -s (speeds), -c (abilities) or -p (the far ends' addresses).\n");
		return NVIDIA_USAGE;
	}
	if (i == sizeof(options) / sizeof(*options))
		return nvidia_unknown_option(words[0]);
	if (count > 1)
		return nvidia_unknown_option(words[1]);
	for (unsigned int d = 0; d < devices->count; d++) {
		const struct nvidia_device *device = &devices->at[d];

		nvidia_print_name(device);
		for (unsigned int link = 0; link < NVML_NVLINK_MAX_LINKS; link++)
			if (device->handle &&
			    !nvmlDeviceGetNvLinkState(device->handle, link, &active))
				options[i].print(device->handle, link, active);
	}
	return NVIDIA_GOOD;
}
