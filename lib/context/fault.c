// SPDX-License-Identifier: MIT
/*
 * Faults: errors that a device finds while it works, after the call that asked for the work. As
 * on hardware, a fault ends the device for the process: all its contexts are unusable, none can
 * be made, and later calls return the fault's error. A context with a fault is marked as not
 * live, so calls notice it where they notice a destroyed one, and pay nothing for the check.
 */
#include "context.h"

static _Atomic CUresult faults[MEMCAST_MAX_DEVICES];

/* A device keeps its first fault. Takes slots_lock. */
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
 * Takes note of the kernel's result for work of a device. A device finds out only while it
 * works that its link leads nowhere.
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
