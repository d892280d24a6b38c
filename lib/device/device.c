// SPDX-License-Identifier: MIT
/* Devices: the properties that the kernel tells of each. */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "base/ioctl.h"
#include "base/visible.h"

CUresult system_info(struct memcast_system_info *info)
{
	CUresult result = device_ioctl(MEMCAST_SYSTEM_INFO, info);

	if (result == CUDA_SUCCESS)
		info->out_devices = visible_count(info->out_devices);
	return result;
}

CUresult device_info(CUdevice device, struct memcast_device_info *info)
{
	info->device = device_number(device);
	return device_ioctl(MEMCAST_DEVICE_INFO, info);
}

DEFINE_CALL(cuDeviceGetCount, (int *count), count)
{
	struct memcast_system_info info = {};
	CUresult result;

	if (!count)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = system_info(&info);
	if (result == CUDA_SUCCESS)
		*count = info.out_devices;
	return result;
}

/* Defines a call that outputs what is known of a device, by @action, in which @info is of use. */
#define DEFINE_GET(call, parameters, output, device, action)			\
DEFINE_CALL(call, parameters, output, device)					\
{										\
	struct memcast_device_info info = {};					\
	CUresult result;							\
										\
	if (!output)								\
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");		\
	result = device_info(device, &info);					\
	if (result == CUDA_SUCCESS)						\
		action;								\
	return result;								\
}

DEFINE_GET(cuDeviceGet, (CUdevice *device, int ordinal), device, ordinal, *device = ordinal)
DEFINE_GET(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device), uuid, device,
	   memcpy(uuid->bytes, info.out_uuid, sizeof(uuid->bytes)))
DEFINE_GET(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device), bytes, device,
	   *bytes = info.out_pool_bytes)

DEFINE_CALL(cuDeviceGetName, (char *name, int length, CUdevice device), name, length, device)
{
	struct memcast_device_info info = {};
	CUresult result;

	if (!name || length < 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "no room for the name");
	result = device_info(device, &info);
	if (result == CUDA_SUCCESS)
		snprintf(name, length, "%s", profile_name());
	return result;
}

/* Every kind of affinity is unsupported, known or not. */
static CUresult device_affinity(int *supported, CUdevice device)
{
	struct memcast_device_info info = {};
	CUresult result;

	if (!supported)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = device_info(device, &info);
	if (result == CUDA_SUCCESS)
		*supported = 0;
	return result;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice device)
{
	return CALL(device_affinity(supported, device), supported, type, device);
}

DEFINE_CALL(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
	    major, minor, device)
{
	CUresult result;

	if (!major || !minor)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = device_attribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	if (result == CUDA_SUCCESS)
		result = device_attribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
					  device);
	return result;
}

DEFINE_CALL(cuDeviceGetProperties, (CUdevprop *prop, CUdevice device), prop, device)
{
	CUdevprop read;
	const struct {
		int *value;
		CUdevice_attribute attribute;
	} parts[] = {
		{ &read.maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK },
		{ &read.maxThreadsDim[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X },
		{ &read.maxThreadsDim[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y },
		{ &read.maxThreadsDim[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z },
		{ &read.maxGridSize[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X },
		{ &read.maxGridSize[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y },
		{ &read.maxGridSize[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z },
		{ &read.sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK },
		{ &read.totalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY },
		{ &read.SIMDWidth, CU_DEVICE_ATTRIBUTE_WARP_SIZE },
		{ &read.memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH },
		{ &read.regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK },
		{ &read.clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE },
		{ &read.textureAlign, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT },
	};

	if (!prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		CUresult result = device_attribute(parts[i].value, parts[i].attribute, device);

		if (result != CUDA_SUCCESS)
			return result;
	}
	*prop = read;
	return CUDA_SUCCESS;
}

/* Devices are not split into instances: both versions return the same UUID. */
#undef cuDeviceGetUuid
OLDER_NAME(cuDeviceGetUuid, (CUuuid *uuid, CUdevice dev), cuDeviceGetUuid_v2(uuid, dev))
