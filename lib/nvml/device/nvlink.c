// SPDX-License-Identifier: MIT
/*
 * NVLink. Each link leads to a switch that the machine does not see, as in a virtual machine
 * with NVSwitch; results and the order of checks are as recorded.
 */
#include <stdio.h>
#include <string.h>

#include "library.h"

static nvmlReturn_t no_links(void)
{
	return fail(NVML_ERROR_NOT_SUPPORTED,
		    "devices that cannot multicast have no links (module parameter multicast)");
}

static nvmlReturn_t no_such_link(unsigned int link)
{
	return fail(NVML_ERROR_INVALID_ARGUMENT, "there is no link %u", link);
}

/* Checks whether there are links at all, then whether there is this one. */
static nvmlReturn_t link_of(nvmlDevice_t device, unsigned int link, const void *output,
			    const struct kind **kind)
{
	bool linked;
	nvmlReturn_t result = device_nvlink(device, kind, &linked);

	if (result != NVML_SUCCESS)
		return result;
	if (!output)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (!linked)
		return no_links();
	return link < (*kind)->links ? NVML_SUCCESS : no_such_link(link);
}

#define LINK_CALL(symbol, type, value)							\
static nvmlReturn_t read_##symbol(nvmlDevice_t device, unsigned int link, type *output)	\
{											\
	const struct kind *kind;							\
	nvmlReturn_t result = link_of(device, link, output, &kind);			\
											\
	if (result == NVML_SUCCESS)							\
		*output = (value);							\
	return result;									\
}											\
											\
nvmlReturn_t symbol(nvmlDevice_t device, unsigned int link, type *output)		\
{											\
	return CALL(read_##symbol(device, link, output));				\
}

LINK_CALL(nvmlDeviceGetNvLinkState, nvmlEnableState_t, NVML_FEATURE_ENABLED)
LINK_CALL(nvmlDeviceGetNvLinkVersion, unsigned int, kind->link_version)
LINK_CALL(nvmlDeviceGetNvLinkRemoteDeviceType, nvmlIntNvLinkDeviceType_t,
	  NVML_NVLINK_DEVICE_TYPE_SWITCH)

/* This call checks the link's number first, as recorded. */
static nvmlReturn_t capability(nvmlDevice_t device, unsigned int link,
			       nvmlNvLinkCapability_t capability, unsigned int *output)
{
	const struct kind *kind;
	bool linked;
	nvmlReturn_t result = device_nvlink(device, &kind, &linked);

	if (result != NVML_SUCCESS)
		return result;
	if (!output)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (link >= NVML_NVLINK_MAX_LINKS || (linked && link >= kind->links))
		return no_such_link(link);
	if (!linked)
		return no_links();
	if ((unsigned int)capability >= NVML_NVLINK_CAP_COUNT)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "capability %d", (int)capability);
	*output = 1;
	return NVML_SUCCESS;
}

FORWARD(nvmlDeviceGetNvLinkCapability, (nvmlDevice_t device, unsigned int link,
					nvmlNvLinkCapability_t which, unsigned int *output),
	capability(device, link, which, output))

/* The oldest structure has no busId: see pci.c. */
static nvmlReturn_t remote_pci(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *output,
			       size_t size)
{
	nvmlPciInfo_t info = {
		.domain = ~0U,
		.bus = 0xff,
		.device = 0xff,
		.pciDeviceId = ~0U,
		.pciSubSystemId = ~0U,
	};
	const struct kind *kind;
	nvmlReturn_t result = link_of(device, link, output, &kind);

	if (result != NVML_SUCCESS)
		return result;
	/* busIdLegacy is too short for a domain of eight digits */
	memcpy(info.busIdLegacy, "FFFFFFFF:FF:FF.", sizeof(info.busIdLegacy));
	snprintf(info.busId, sizeof(info.busId), NVML_DEVICE_PCI_BUS_ID_FMT,
		 NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(&info));
	memcpy(output, &info, size);
	return NVML_SUCCESS;
}

FORWARD(nvmlDeviceGetNvLinkRemotePciInfo_v2, (nvmlDevice_t device, unsigned int link,
					      nvmlPciInfo_t *info),
	remote_pci(device, link, info, sizeof(*info)))
FORWARD(nvmlDeviceGetNvLinkRemotePciInfo, (nvmlDevice_t device, unsigned int link,
					   nvmlPciInfo_t *info),
	remote_pci(device, link, info, offsetof(nvmlPciInfo_t, busId)))

/* Links carry nothing, so they have no errors. */
DEFINE_CALL(nvmlDeviceGetNvLinkErrorCounter, (nvmlDevice_t device, unsigned int link,
					      nvmlNvLinkErrorCounter_t counter,
					      unsigned long long *output),
	    device, link, counter, output)
{
	const struct kind *kind;
	nvmlReturn_t result = link_of(device, link, output, &kind);

	if (result != NVML_SUCCESS)
		return result;
	if ((unsigned int)counter >= NVML_NVLINK_ERROR_COUNT)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "counter %d", (int)counter);
	*output = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned int link)
{
	const struct kind *kind;

	return CALL(link_of(device, link, device, &kind));
}
