// SPDX-License-Identifier: MIT
/* Opens /dev/memcast, for cuInit() or for a thread that looks at devices before it. */
#include <unistd.h>

#include "device.h"
#include "base/ioctl.h"
#include "base/process.h"
#include "base/visible.h"

/*
 * Opens the file and checks that the module's interface is the library's. The caller holds the
 * lock. cuInit() (@init) reads MEMCAST_PROFILE, MEMCAST_ATTR and CUDA_VISIBLE_DEVICES as they are
 * by then, also if a thread that looked at devices has read them before: a program that asks NVML
 * which devices there are may set them by the answer. Such a thread sees all devices. MEMCAST_ATTR
 * numbers devices as the thread sees them that opened the file last.
 */
CUresult device_open_checked(bool init, int *opened, int *devices)
{
	static bool read, read_by_init;
	struct memcast_system_info info = {};
	struct visible_list visible;
	bool reads = init ? !read_by_init : !read;
	CUresult result;
	int fd;

	result = device_open(&fd);
	if (result != CUDA_SUCCESS)
		return result;
	result = device_ioctl_fd(fd, MEMCAST_SYSTEM_INFO, &info.header, sizeof(info));
	if (result == CUDA_SUCCESS && info.out_abi != MEMCAST_ABI_VERSION)
		result = fail(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
			      "the module's interface is version %u, the library's %u",
			      info.out_abi, MEMCAST_ABI_VERSION);
	if (result == CUDA_SUCCESS && !info.out_devices)
		result = fail(CUDA_ERROR_NO_DEVICE, "the module has no devices");
	if (result == CUDA_SUCCESS && reads)
		result = visible_read(fd, info.out_devices, &visible);
	if (result != CUDA_SUCCESS) {
		close(fd);
		return result;
	}
	if (reads) {
		profile_read(init);
		attribute_overrides_read(&visible, init);
		if (init)
			visible_use(&visible);
	}
	visible_set_first(info.out_first);
	read = true;
	read_by_init |= init;
	*opened = fd;
	*devices = info.out_devices;
	return CUDA_SUCCESS;
}

/*
 * Until library_return() this thread may ask for devices' properties, whatever the state of the
 * process. *@borrowed: output, has the caller to call library_return()?
 */
CUresult library_borrow(bool *borrowed)
{
	CUresult result;
	int fd, devices;

	*borrowed = false;
	if (!process_has_state())
		return fail(CUDA_ERROR_OPERATING_SYSTEM, "no page that fork() clears");
	if (process_ended())
		return library_ready();
	if (library_open())
		return CUDA_SUCCESS;
	process_lock();
	result = device_open_checked(false, &fd, &devices);
	process_unlock();
	if (result != CUDA_SUCCESS)
		return result;
	process_lend(fd);
	*borrowed = true;
	return CUDA_SUCCESS;
}

void library_return(void)
{
	close(process_take_back());
}
