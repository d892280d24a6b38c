// SPDX-License-Identifier: MIT
/* Teams: cuMulticast…(). */
#include "address.h"
#include "device/device.h"
#include "handle.h"
#include "base/ioctl.h"
#include "base/visible.h"

/* Checks what CUmulticastObjectProp has, except the size. */
static CUresult team_check_prop(const CUmulticastObjectProp *prop, uint32_t *handle_types)
{
	if (prop->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	return memory_handle_types(prop->handleTypes, handle_types);
}

DEFINE_CALL(cuMulticastGetGranularity, (size_t *bytes, const CUmulticastObjectProp *prop,
					CUmulticastGranularity_flags option),
	    bytes, prop, option)
{
	struct memcast_device_info device = {};
	struct memcast_system_info info = {};
	uint32_t handle_types, most;
	CUresult result;

	if (!bytes || !prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (option != CU_MULTICAST_GRANULARITY_MINIMUM &&
	    option != CU_MULTICAST_GRANULARITY_RECOMMENDED)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such option");
	result = team_check_prop(prop, &handle_types);
	if (result == CUDA_SUCCESS)
		result = device_info(0, &device);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_SYSTEM_INFO, &info);
	if (result != CUDA_SUCCESS)
		return result;
	/*
	 * Of the team calls, only this one has no command of its own that would return the
	 * error.
	 */
	if (!(device.out_flags & MEMCAST_DEVICE_MULTICAST))
		return fail(CUDA_ERROR_NOT_SUPPORTED, "no device can multicast");
	/* Those that the program does not see count as well: other processes add them. */
	most = handle_types & MEMCAST_HANDLE_FABRIC ? info.out_machine : info.out_devices;
	/*
	 * A program that sees one device may ask with its own count: that no team has a single
	 * member is for cuMulticastCreate() to say.
	 */
	if (!prop->numDevices || prop->numDevices > most)
		return fail(CUDA_ERROR_INVALID_VALUE, "a team is for 2 to %u devices, not %u",
			    most, prop->numDevices);
	*bytes = option == CU_MULTICAST_GRANULARITY_MINIMUM ?
		 info.out_granularity : info.out_recommended;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMulticastCreate, (CUmemGenericAllocationHandle *team,
				const CUmulticastObjectProp *prop),
	    team, prop)
{
	struct memcast_team_create arg = {};
	CUresult result;

	if (!team || !prop)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = team_check_prop(prop, &arg.handle_types);
	if (result != CUDA_SUCCESS)
		return result;
	arg.bytes = prop->size;
	arg.devices = prop->numDevices;
	result = device_ioctl(MEMCAST_TEAM_CREATE, &arg);
	if (result == CUDA_SUCCESS) {
		*team = arg.out_handle;
		memory_watcher->expect_team();
	}
	return result;
}

DEFINE_CALL(cuMulticastAddDevice, (CUmemGenericAllocationHandle team, CUdevice device),
	    (unsigned long)team, device)
{
	struct memcast_team_add arg = { .device = device_number(device) };
	CUresult result = memory_handle(team, &arg.team);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_TEAM_ADD, &arg);
	return result;
}

static CUresult bind_memory(const char *call, CUmemGenericAllocationHandle team, uint32_t device,
			    size_t offset, CUmemGenericAllocationHandle memory,
			    size_t memory_offset, size_t size, unsigned long long flags)
{
	struct memcast_bind_memory arg = {
		.device = device,
		.team_offset = offset,
		.memory_offset = memory_offset,
		.bytes = size,
		.flags = MEMCAST_NO_WAIT,
	};
	CUresult result;

	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = memory_handle(team, &arg.team);
	if (result == CUDA_SUCCESS)
		result = memory_handle(memory, &arg.memory);
	if (result == CUDA_SUCCESS)
		result = team_ioctl(call, MEMCAST_BIND_MEMORY, &arg.header, sizeof(arg), arg.team,
				    arg.memory);
	return result;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle team, size_t offset,
			    CUmemGenericAllocationHandle memory, size_t memory_offset,
			    size_t size, unsigned long long flags)
{
	return CALL(bind_memory(__func__, team, MEMCAST_DEVICE_OF_MEMORY, offset, memory,
				memory_offset, size, flags),
		    (unsigned long)team, offset, (unsigned long)memory, memory_offset, size, flags);
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle team, CUdevice device,
			       size_t offset, CUmemGenericAllocationHandle memory,
			       size_t memory_offset, size_t size, unsigned long long flags)
{
	return CALL(bind_memory(__func__, team, device_number(device), offset, memory,
				memory_offset, size, flags), (unsigned long)team, device, offset,
		    (unsigned long)memory, memory_offset, size, flags);
}

static CUresult bind_address(const char *call, CUmemGenericAllocationHandle team, uint32_t device,
			     size_t offset, CUdeviceptr address, size_t size,
			     unsigned long long flags)
{
	struct memcast_bind_address arg = {
		.device = device,
		.team_offset = offset,
		.address = address,
		.bytes = size,
		.flags = MEMCAST_NO_WAIT,
	};
	CUresult result;

	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = memory_handle(team, &arg.team);
	if (result == CUDA_SUCCESS)
		result = team_ioctl(call, MEMCAST_BIND_ADDRESS, &arg.header, sizeof(arg), arg.team,
				    0);
	return result;
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle team, size_t offset,
			     CUdeviceptr address, size_t size, unsigned long long flags)
{
	return CALL(bind_address(__func__, team, MEMCAST_DEVICE_OF_MEMORY, offset, address, size,
				 flags), (unsigned long)team, offset, address, size, flags);
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle team, CUdevice device,
				size_t offset, CUdeviceptr address, size_t size,
				unsigned long long flags)
{
	return CALL(bind_address(__func__, team, device_number(device), offset, address, size,
				 flags), (unsigned long)team, device, offset, address, size, flags);
}

DEFINE_CALL(cuMulticastUnbind, (CUmemGenericAllocationHandle team, CUdevice device,
				size_t offset, size_t size),
	    (unsigned long)team, device, offset, size)
{
	struct memcast_unbind arg = {
		.device = device_number(device),
		.team_offset = offset,
		.bytes = size,
	};
	CUresult result = memory_handle(team, &arg.team);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_UNBIND, &arg);
	return result;
}
