// SPDX-License-Identifier: MIT
/*
 * What a device has found wrong while it worked, after the call that asked for the work.
 * As on hardware, that ends the device for the process: no context of it does anything
 * any more, none can be made, and whoever asks is told what went wrong. Contexts that are
 * marked so are found out where destroyed ones are; all others pay nothing.
 */
#include "context.h"

static _Atomic CUresult faults[MEMCAST_MAX_DEVICES];

/* The first one stays. Takes slots_lock. */
void context_fault(uint32_t device, CUresult error)
{
	CUresult none = CUDA_SUCCESS;
	struct slot *slot;

	pthread_mutex_lock(&slots_lock);
	if (atomic_compare_exchange_strong(&faults[device], &none, error)) {
		for (slot = slots; slot < &slots[SLOTS]; slot++)
			if (slot->live && slot->device == device)
				slot->live = ~(uintptr_t)context_value(slot);
		context_operations.fail_streams(device, error);
	}
	pthread_mutex_unlock(&slots_lock);
}

/*
 * What the kernel has answered to work of a device. A link that leads to nothing is found by
 * the device itself, when its work gets there.
 */
CUresult device_answer(uint32_t device, CUresult result)
{
	if (__builtin_expect(result == CUDA_ERROR_NVLINK_UNCORRECTABLE, 0))
		context_fault(device, result);
	return result;
}

CUresult device_working(uint32_t device)
{
	CUresult error = faults[device];

	return error == CUDA_SUCCESS ? error :
		fail(error, "work of device %u has failed, and with it the device for this process",
		     device);
}
