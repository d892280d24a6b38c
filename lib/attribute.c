// SPDX-License-Identifier: MIT
/*
 * Attributes of a device. What memcast cannot do is 0 and not listed: textures,
 * kernels, managed memory, graphics. The sizes that programs divide by
 * are those of a data-centre device of compute capability 9.0.
 */
#include "library.h"

#define ATTRIBUTE(name, value)	[CU_DEVICE_ATTRIBUTE_##name] = (value)

static const int constants[CU_DEVICE_ATTRIBUTE_MAX] = {
	ATTRIBUTE(MAX_THREADS_PER_BLOCK, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_X, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Y, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Z, 64),
	ATTRIBUTE(MAX_GRID_DIM_X, INT_MAX),
	ATTRIBUTE(MAX_GRID_DIM_Y, 65535),
	ATTRIBUTE(MAX_GRID_DIM_Z, 65535),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10),
	ATTRIBUTE(TOTAL_CONSTANT_MEMORY, 64 << 10),
	ATTRIBUTE(WARP_SIZE, 32),
	ATTRIBUTE(MAX_PITCH, INT_MAX),
	ATTRIBUTE(MAX_REGISTERS_PER_BLOCK, 64 << 10),
	/* Not on a bus: where no machine has one. */
	ATTRIBUTE(PCI_DOMAIN_ID, 0xca57),
	ATTRIBUTE(CLOCK_RATE, 1980000),
	ATTRIBUTE(TEXTURE_ALIGNMENT, 512),
	ATTRIBUTE(MULTIPROCESSOR_COUNT, 132),
	ATTRIBUTE(COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT),
	ATTRIBUTE(SURFACE_ALIGNMENT, 512),
	ATTRIBUTE(MEMORY_CLOCK_RATE, 2619000),
	ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH, 5120),
	ATTRIBUTE(L2_CACHE_SIZE, 50 << 20),
	ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR, 2048),
	ATTRIBUTE(ASYNC_ENGINE_COUNT, 1),
	ATTRIBUTE(UNIFIED_ADDRESSING, 1),
	ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT, 32),
	ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR, 9),
	ATTRIBUTE(COMPUTE_CAPABILITY_MINOR, 0),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10),
	ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10),
	/* The device's memory is the host's. */
	ATTRIBUTE(HOST_NATIVE_ATOMIC_SUPPORTED, 1),
	ATTRIBUTE(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10),
	ATTRIBUTE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
	ATTRIBUTE(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
	ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
	ATTRIBUTE(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 1),
	ATTRIBUTE(RESERVED_SHARED_MEMORY_PER_BLOCK, 1 << 10),
	ATTRIBUTE(CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
	ATTRIBUTE(CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
	ATTRIBUTE(MEM_SYNC_DOMAIN_COUNT, 1),
	ATTRIBUTE(NUMA_CONFIG, CU_DEVICE_NUMA_CONFIG_NONE),
	/* What goes with CU_DEVICE_NUMA_CONFIG_NONE. */
	ATTRIBUTE(NUMA_ID, -1),
	ATTRIBUTE(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
	ATTRIBUTE(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
};

CUresult device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	struct memcast_device_info info = {};
	CUresult result;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if ((int)attribute < 1 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such attribute");
	result = device_info(device, &info);
	if (result != CUDA_SUCCESS)
		return result;

	if (attribute_override(value, attribute, device))
		return CUDA_SUCCESS;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
		*value = !!(info.out_flags & MEMCAST_DEVICE_MULTICAST);
		break;
	case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED:
		*value = !!(info.out_flags & MEMCAST_DEVICE_FABRIC);
		break;
	case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
		*value = info.out_node;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*value = device;
		break;
	default:
		*value = constants[attribute];
	}
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
			      CUdevice device)
{
	return CALL(device_attribute(value, attribute, device),
		    "value=%p, attribute=%d, device=%d",
		    (void *)value, (int)attribute, device);
}
