// SPDX-License-Identifier: MIT
/*
 * Calls that tables of facts make. All arguments of the driver's functions are integers,
 * pointers or, rarely, structs by value: one type of function pointer calls them all.
 */
#include <stdlib.h>
#include <string.h>
#include <cuda.h>

#include "facts.h"
#include "processor.h"

void *fact_zeroed(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		fact_nonsense("there is no memory for %zu bytes", size);
	return memory;
}

/* Calls cuInit() and makes the device's primary context current. */
static int64_t start(int64_t device)
{
	CUcontext context = NULL;
	CUresult result = cuInit(0);

	if (result == CUDA_SUCCESS)
		result = cuDevicePrimaryCtxRetain(&context, device);
	if (result == CUDA_SUCCESS)
		result = cuCtxSetCurrent(context);
	if (result != CUDA_SUCCESS)
		fact_nonsense("start() failed with %d", result);
	return (intptr_t)context;
}

/* Maps a new memory of device 0 at an address of its own, and releases the handle. */
static int64_t mapped(size_t size, CUmemAccess_flags flags)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
	};
	CUmemAccessDesc access = { .location = prop.location, .flags = flags };
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address = 0;

	if (cuMemCreate(&handle, size, &prop, 0) ||
	    cuMemAddressReserve(&address, 2 * size, 0, 0, 0) ||
	    cuMemMap(address, size, 0, handle, 0) ||
	    (flags && cuMemSetAccess(address, size, &access, 1)) || cuMemRelease(handle))
		fact_nonsense("mapped() failed");
	return address;
}

bool fact_own_function(const char *name, const int64_t *a, size_t count, int64_t *value)
{
	if (!strcmp(name, "start") && count == 1)
		*value = start(a[0]);
	else if (!strcmp(name, "mapped") && count == 2)
		*value = mapped(a[0], a[1]);
	else if (!strcmp(name, "buffer") && count == 1)
		*value = (intptr_t)fact_zeroed(a[0]);
	else if (!strcmp(name, "u8") && count == 1)
		*value = *(uint8_t *)a[0];
	else if (!strcmp(name, "u32") && count == 1)
		*value = *(uint32_t *)a[0];
	else if (!strcmp(name, "u64") && count == 1)
		*value = *(int64_t *)a[0];
	else if (!strcmp(name, "function") && count == 1)
		*value = (intptr_t)fact_function((const char *)a[0]);
	else if (!strcmp(name, "same_text") && count == 2)
		*value = !strcmp((const char *)a[0], (const char *)a[1]);
	else
		return false;
	return true;
}

typedef uint64_t (*any_function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
				 uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
				 uint64_t, uint64_t, uint64_t, uint64_t);

/*
 * As the calling conventions want it: six arguments are in registers on x86-64, eight on arm64, the
 * others on the stack. A struct passed by value is on the stack on x86-64; on arm64 its address is
 * the argument, which in both calls that take one is the second.
 */
int64_t fact_call(const char *name, const int64_t *a, size_t count, const int64_t *by_value)
{
	any_function function = (any_function)fact_function(name);
	uint64_t registers[8] = {}, stack[10] = {};
	size_t i, stacked = 0, first = 0;

	if (!function)
		fact_nonsense("there is no function '%s'", name);
	for (i = 0; i < count && first < CALL_REGISTERS; i++) {
		registers[first++] = a[i];
		if (by_value && !i && CALL_REGISTERS == 8)
			registers[first++] = (uintptr_t)by_value;
	}
	for (; i < count; i++)
		stack[stacked++] = a[i];
	if (CALL_REGISTERS == 8)
		return function(registers[0], registers[1], registers[2], registers[3],
				registers[4], registers[5], registers[6], registers[7], stack[0],
				stack[1], stack[2], stack[3], stack[4], stack[5], stack[6],
				stack[7]);
	if (by_value)
		memcpy(stack + stacked, by_value, 64);
	return function(registers[0], registers[1], registers[2], registers[3], registers[4],
			registers[5], stack[0], stack[1], stack[2], stack[3], stack[4], stack[5],
			stack[6], stack[7], stack[8], stack[9]);
}
