// SPDX-License-Identifier: MIT
/*
 * Properties of a kind of device that only NVML tells, not the driver API. The first kind has
 * recorded values, the others published ones; the last one is for all other devices.
 */
#include "library.h"

static const struct kind kinds[] = {
	{
		.major = 9, .minor = 0, .architecture = NVML_DEVICE_ARCH_HOPPER,
		.brand = NVML_BRAND_NVIDIA, .cores = 128,
		.pci_device = 0x233010de, .pci_subsystem = 0x16c110de,
		.pcie_generation = 5, .pcie_width = 16,
		.links = 18, .link_version = NVML_NVLINK_VERSION_4_0, .link_mbps = 26562,
	},
	{
		.major = 8, .minor = 0, .architecture = NVML_DEVICE_ARCH_AMPERE,
		.brand = NVML_BRAND_NVIDIA, .cores = 64,
		.pci_device = 0x20b210de,
		.pcie_generation = 4, .pcie_width = 16,
		.links = 12, .link_version = NVML_NVLINK_VERSION_3_0, .link_mbps = 25000,
	},
	{
		.major = 10, .minor = -1, .architecture = NVML_DEVICE_ARCH_BLACKWELL,
		.brand = NVML_BRAND_NVIDIA, .cores = 128,
		.pci_device = 0x290110de,
		.pcie_generation = 5, .pcie_width = 16,
		.links = 18, .link_version = NVML_NVLINK_VERSION_5_0, .link_mbps = 50000,
	},
	{
		.major = -1, .minor = -1, .architecture = NVML_DEVICE_ARCH_UNKNOWN,
		.brand = NVML_BRAND_NVIDIA, .cores = 128,
		.pci_device = 0x000010de,
		.pcie_generation = 4, .pcie_width = 16,
		.links = 18, .link_version = NVML_NVLINK_VERSION_4_0, .link_mbps = 26562,
	},
};

const struct kind *kind_of(const struct facts *facts)
{
	const struct kind *kind = kinds;

	while ((kind->major >= 0 && kind->major != facts->capability_major) ||
	       (kind->minor >= 0 && kind->minor != facts->capability_minor))
		kind++;
	return kind;
}
