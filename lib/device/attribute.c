// SPDX-License-Identifier: MIT
/*
 * Attributes of a device. The first source that has an attribute counts: MEMCAST_ATTR, the
 * exceptions below, which are the same for every device, the profile.
 */
#include "device.h"
#include "base/visible.h"

#define ONE(attribute, value)	{ CU_DEVICE_ATTRIBUTE_##attribute, (value) }

/*
 * All attributes that do not come from the profile, except those of which the module tells
 * (device_attribute() has these): attributes of features that memcast lacks, which are 0, and
 * of the machine. A profile describes two more properties that are not so: the memory is the
 * pool's, and its granularity the module's.
 *
 * The attributes of arrays, textures and surfaces are no exceptions, though memcast has none of
 * these: they limit what a program may ask for, and promise nothing. The calls that would
 * create such an object return CUDA_ERROR_NOT_SUPPORTED for any arguments.
 */
static const struct {
	CUdevice_attribute attribute;
	int value;
} exceptions[] = {
	/* features that functions of the CPU lack */
	ONE(COOPERATIVE_MULTI_DEVICE_LAUNCH, 0),
	ONE(TENSOR_MAP_ACCESS_SUPPORTED, 0),
	/* devices do not read the host's page tables */
	ONE(PAGEABLE_MEMORY_ACCESS, 0),
	ONE(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0),
	ONE(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 0),
	/* external semaphores, graphics, decompression, Windows */
	ONE(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 0),
	ONE(D3D12_CIG_SUPPORTED, 0),
	ONE(VULKAN_CIG_SUPPORTED, 0),
	ONE(MEM_DECOMPRESS_ALGORITHM_MASK, 0),
	ONE(MEM_DECOMPRESS_MAXIMUM_LENGTH, 0),
	ONE(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0),
	ONE(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, 0),
	/* flushes are calls, not operations of streams */
	ONE(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
	    CU_FLUSH_GPU_DIRECT_RDMA_WRITES_OPTION_HOST),
	ONE(CAN_FLUSH_REMOTE_WRITES, 0),
	ONE(HOST_ALLOC_DMA_BUF_SUPPORTED, 0),
	/* pools are exported as fds only */
	ONE(MEMPOOL_SUPPORTED_HANDLE_TYPES, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
	/* devices are on no bus, and have no NUMA node of their own */
	ONE(PCI_DEVICE_ID, 0),
	ONE(NUMA_CONFIG, CU_DEVICE_NUMA_CONFIG_NONE),
	ONE(NUMA_ID, -1),
	ONE(INTEGRATED, 0),
	/* features that work on every device */
	ONE(UNIFIED_ADDRESSING, 1),
	ONE(CAN_MAP_HOST_MEMORY, 1),
	ONE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
	ONE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
	ONE(DMA_BUF_SUPPORTED, 1),
	ONE(MEMORY_POOLS_SUPPORTED, 1),
};

/* PCI domains that no machine has; each has a device on each of its buses. */
#define PCI_DOMAIN	0xca57
#define PCI_BUSES	256

static int value_of(CUdevice_attribute attribute)
{
	for (size_t i = 0; i < ARRAY_SIZE(exceptions); i++)
		if (exceptions[i].attribute == attribute)
			return exceptions[i].value;
	return profile_attribute(attribute);
}

CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	struct memcast_device_info info = {};
	CUresult result;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (((int)attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) &&
	    attribute != CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such attribute");
	result = device_info(device, &info);
	if (result != CUDA_SUCCESS)
		return result;

	if (attribute_override(value, attribute, visible_module_number(device)))
		return CUDA_SUCCESS;
	switch ((int)attribute) {
	case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
		*value = !!(info.out_flags & MEMCAST_DEVICE_MULTICAST);
		break;
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED:
		*value = !!(info.out_flags & MEMCAST_DEVICE_FABRIC);
		break;
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
		*value = info.out_node;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
		*value = PCI_DOMAIN + visible_machine_number(device) / PCI_BUSES;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*value = visible_machine_number(device) % PCI_BUSES;
		break;
	case CU_DEVICE_ATTRIBUTE_DMA_BUF_MMAP_SUPPORTED:
		*value = 1;
		break;
	default:
		*value = value_of(attribute);
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
			      CUdevice device)
{
	return CALL(device_attribute(value, attribute, device), value, attribute, device);
}
