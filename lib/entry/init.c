// SPDX-License-Identifier: MIT
/* cuInit(), which opens the device's file for the process; see base/process.c. */
#include <unistd.h>

#include "device.h"
#include "fault.h"
#include "launch.h"
#include "process.h"
#include "visible.h"

/* Return: how many devices there are is in *@devices, if it succeeds. */
static CUresult open_and_check(int *devices)
{
	int fd;
	CUresult result = device_open_checked(&fd, devices);

	if (result != CUDA_SUCCESS)
		return result;
	result = visible_check();
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
	/* Without the lock, too: what is loaded may do anything, and is loaded once. */
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
	/* Without the lock: whoever is to read this may be slow. */
	if (devices) {
		profile_complain();
		attribute_overrides_complain(devices);
	}
	return result;
}

CUresult cuInit(unsigned int flags)
{
	int before = cancel_hold();
	CUresult result = LOGGED(init(flags), "flags=%#x", flags);

	/* what MEMCAST_INJECT makes fail as well */
	process_note_failure(result);
	cancel_release(before);
	return result;
}
