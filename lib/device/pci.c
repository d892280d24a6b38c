// SPDX-License-Identifier: MIT
/*
 * Bus addresses. The devices are on no bus, but programs tell them apart by bus address. It is
 * made of the attributes, so that MEMCAST_ATTR can override it.
 */
#include <stdio.h>

#include "device.h"

struct address {
	unsigned int domain, bus, device, function;
};

static CUresult pci_address(struct address *address, CUdevice device)
{
	int domain, bus, slot;
	CUresult result;

	result = device_attribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device);
	if (result == CUDA_SUCCESS)
		result = device_attribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device);
	if (result == CUDA_SUCCESS)
		result = device_attribute(&slot, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, device);
	if (result == CUDA_SUCCESS)
		*address = (struct address) { domain, bus, slot, 0 };
	return result;
}

DEFINE_CALL(cuDeviceGetPCIBusId, (char *text, int length, CUdevice device), text, length, device)
{
	struct address address;
	char printed[40];
	CUresult result;
	int printed_length;

	if (!text)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = pci_address(&address, device);
	if (result != CUDA_SUCCESS)
		return result;
	printed_length = snprintf(printed, sizeof(printed), "%04x:%02x:%02x.%x",
				  address.domain, address.bus, address.device,
				  address.function);
	/* as many characters as fit, as on hardware */
	if (length > 0)
		snprintf(text, length, "%s", printed);
	if (length <= printed_length)
		return fail(CUDA_ERROR_INVALID_VALUE, "%d bytes are too few for %s",
			    length, printed);
	return CUDA_SUCCESS;
}

static bool scan(struct address *address, const char *text)
{
	struct address *a = address;
	int end = 0;

	*a = (struct address) {};
	if (sscanf(text, "%x:%x:%x.%x%n", &a->domain, &a->bus, &a->device, &a->function,
		   &end) == 4 && !text[end])
		return true;
	*a = (struct address) {};
	if (sscanf(text, "%x:%x:%x%n", &a->domain, &a->bus, &a->device, &end) == 3 &&
	    !text[end])
		return true;
	*a = (struct address) {};
	return sscanf(text, "%x:%x.%x%n", &a->bus, &a->device, &a->function, &end) == 3 &&
	       !text[end];
}

DEFINE_CALL(cuDeviceGetByPCIBusId, (CUdevice *device, const char *text), device, text)
{
	struct memcast_system_info info = {};
	struct address wanted, address;
	CUresult result;

	if (!device || !text)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (!scan(&wanted, text))
		return fail(CUDA_ERROR_INVALID_VALUE, "not a PCI bus id");
	result = system_info(&info);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < info.out_devices; i++) {
		result = pci_address(&address, i);
		if (result == CUDA_SUCCESS && address.domain == wanted.domain &&
		    address.bus == wanted.bus && address.device == wanted.device &&
		    address.function == wanted.function) {
			*device = i;
			return CUDA_SUCCESS;
		}
	}
	if (result != CUDA_SUCCESS)
		return result;
	return fail(CUDA_ERROR_INVALID_DEVICE, "no device is at %s", text);
}
