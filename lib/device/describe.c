// SPDX-License-Identifier: MIT
/*
 * Devices for programs that only look at them: memcast/device.h. It makes the public calls, in
 * a thread that has a file of its own for the time and sees all devices.
 */
#include <unistd.h>

#include "device.h"
#include "base/visible.h"

#pragma GCC visibility push(default)
#include <memcast/device.h>
#pragma GCC visibility pop

static CUresult device_describe(CUdevice device, char *name, int length, int *values,
				const CUdevice_attribute *attributes, unsigned int count)
{
	CUresult result = CUDA_SUCCESS;

	if (count && (!values || !attributes))
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL array");
	if (name)
		result = cuDeviceGetName(name, length, device);
	for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++)
		result = cuDeviceGetAttribute(&values[i], attributes[i], device);
	return result;
}

DEFINE_BY(WHOLE_LOGGED, memcastDeviceDescribe, (CUdevice device, char *name, int length,
						int *values, const CUdevice_attribute *attributes,
						unsigned int count),
	  device, name, length, values, attributes, count)
{
	bool borrowed, all = visible_all(true);
	CUresult result = library_borrow(&borrowed);

	if (result == CUDA_SUCCESS)
		result = device_describe(device, name, length, values, attributes, count);
	visible_all(all);
	if (borrowed)
		library_return();
	return result;
}
