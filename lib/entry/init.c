// SPDX-License-Identifier: MIT
/* cuInit(), which opens /dev/memcast for the process; see base/process.c. */
#include <unistd.h>

#include "device/device.h"
#include "base/host_access.h"
#include "fault/fault.h"
#include "launch/launch.h"
#include "base/process.h"
#include "base/visible.h"

/* Opens the file. *@devices: output, the number of devices. */
static CUresult open_and_check(int *devices)
{
	int fd;
	CUresult result = device_open_checked(true, &fd, devices);

	if (result != CUDA_SUCCESS)
		return result;
	result = visible_check();
	if (result != CUDA_SUCCESS) {
		close(fd);
		return result;
	}
	result = host_access_start(fd);
	if (result != CUDA_SUCCESS) {
		close(fd);
		return result;
	}
	process_opened(fd);
	fault_install();
	return CUDA_SUCCESS;
}

static CUresult init(unsigned int flags)
{
	CUresult result = CUDA_SUCCESS;
	int devices = 0;

	if (!process_has_state())
		return fail(CUDA_ERROR_OPERATING_SYSTEM,
			    "no page that fork() clears (Linux before 4.14?)");
	/*
	 * Without the lock: the libraries that this loads run code of their own. They are
	 * loaded once.
	 */
	if (!process_was_opened() && !flags)
		result = kernels_load();
	if (result != CUDA_SUCCESS)
		return result;
	process_lock();
	if (process_ended() || (!library_open() && process_was_opened()))
		result = library_ready();
	else if (flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	else if (!library_open())
		result = open_and_check(&devices);
	process_unlock();
	/* Without the lock: the reader of these lines may be slow. */
	if (devices) {
		profile_complain();
		attribute_overrides_complain((int)visible_count(devices));
	}
	return result;
}

CUresult cuInit(unsigned int flags)
{
	int before = cancel_hold();
	CUresult result = LOGGED(init(flags), flags);

	/* also a failure that MEMCAST_INJECT asks for */
	process_note_failure(result);
	cancel_release(before);
	return result;
}
