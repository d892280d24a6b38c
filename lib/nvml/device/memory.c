// SPDX-License-Identifier: MIT
/* Memory of devices, the CPUs and memory near them, and the processes that hold their memory. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

static nvmlReturn_t sizes_of(nvmlDevice_t device, const void *output, nvmlMemory_t *sizes)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	if (result != NVML_SUCCESS)
		return result;
	if (!output)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	result = state_number(number, "free_bytes", &sizes->free) ?:
		 state_number(number, "pool_bytes", &sizes->total);
	if (result == NVML_SUCCESS)
		sizes->used = sizes->total - sizes->free;
	return result;
}

DEFINE_CALL(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t *memory), device, memory)
{
	nvmlMemory_t sizes;
	nvmlReturn_t result = sizes_of(device, memory, &sizes);

	if (result == NVML_SUCCESS)
		*memory = sizes;
	return result;
}

DEFINE_CALL(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t device, nvmlMemory_v2_t *memory),
	    device, memory)
{
	nvmlMemory_t sizes;
	nvmlReturn_t result = sizes_of(device, memory, &sizes);

	if (result == NVML_SUCCESS)
		result = check_version(memory, nvmlMemory_v2);
	if (result != NVML_SUCCESS)
		return result;
	/* no part of a pool is reserved */
	*memory = (nvmlMemory_v2_t) {
		.version = memory->version,
		.total = sizes.total,
		.free = sizes.free,
		.used = sizes.used,
	};
	return NVML_SUCCESS;
}

/* ---- CPUs and memory near a device */

static nvmlReturn_t cpus(nvmlDevice_t device, unsigned int words, unsigned long *set)
{
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);
	int node;

	if (result != NVML_SUCCESS)
		return result;
	if (!words || !set)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "no room for CPUs");
	return state_node(number, &node) ?: state_node_cpus(node, set, words);
}

FORWARD(nvmlDeviceGetCpuAffinity, (nvmlDevice_t device, unsigned int words, unsigned long *set),
	cpus(device, words, set))

static nvmlReturn_t check_scope(nvmlAffinityScope_t scope)
{
	if (scope > NVML_AFFINITY_SCOPE_SOCKET)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "scope %u", scope);
	return NVML_SUCCESS;
}

/* A NUMA node is a socket here. */
FORWARD(nvmlDeviceGetCpuAffinityWithinScope, (nvmlDevice_t device, unsigned int words,
					      unsigned long *set, nvmlAffinityScope_t scope),
	check_scope(scope) ?: cpus(device, words, set))

static nvmlReturn_t memories(nvmlDevice_t device, unsigned int words, unsigned long *set)
{
	const unsigned int bits = 8 * sizeof(*set);
	unsigned int number;
	int node;
	nvmlReturn_t result = device_number(device, &number) ?: state_node(number, &node);

	if (result != NVML_SUCCESS)
		return result;
	if (!set || (unsigned int)node >= words * bits)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "no room for node %d", node);
	memset(set, 0, words * sizeof(*set));
	set[node / bits] = 1UL << node % bits;
	return NVML_SUCCESS;
}

FORWARD(nvmlDeviceGetMemoryAffinity, (nvmlDevice_t device, unsigned int words, unsigned long *set,
				      nvmlAffinityScope_t scope),
	check_scope(scope) ?: memories(device, words, set))

/* Sets the CPUs of the calling thread. */
static nvmlReturn_t set_cpus(const unsigned long *set, size_t bytes)
{
	if (sched_setaffinity(0, bytes, (const cpu_set_t *)set))
		return fail(NVML_ERROR_UNKNOWN, "sched_setaffinity: %m");
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceSetCpuAffinity, (nvmlDevice_t device), device)
{
	unsigned long set[1024 / 64];
	nvmlReturn_t result = cpus(device, ARRAY_SIZE(set), set);

	return result == NVML_SUCCESS ? set_cpus(set, sizeof(set)) : result;
}

DEFINE_CALL(nvmlDeviceClearCpuAffinity, (nvmlDevice_t device), device)
{
	unsigned long set[1024 / 64];
	unsigned int number;
	nvmlReturn_t result = device_number(device, &number);

	memset(set, 0xff, sizeof(set));
	return result == NVML_SUCCESS ? set_cpus(set, sizeof(set)) : result;
}

/* ---- processes */

/*
 * Outputs processes. The oldest structure ends before the instances, into which devices are not
 * split.
 */
static nvmlReturn_t give(const struct process *found, unsigned int count, void *output,
			 size_t size)
{
	for (unsigned int i = 0; i < count; i++) {
		nvmlProcessInfo_v2_t info = {
			.pid = found[i].pid,
			.usedGpuMemory = found[i].bytes,
			.gpuInstanceId = ~0U,
			.computeInstanceId = ~0U,
		};

		memcpy((char *)output + i * size, &info, size);
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t processes(nvmlDevice_t device, unsigned int *count, void *output, size_t size)
{
	struct process *found;
	unsigned int number, room, there;
	nvmlReturn_t result = device_number(device, &number);

	if (result != NVML_SUCCESS)
		return result;
	if (!count || (*count && !output))
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (!processes_of(number, &found, &there))
		return fail(NVML_ERROR_INSUFFICIENT_RESOURCES, "no memory, or no file descriptor");
	room = *count;
	*count = there;
	result = there <= room ? give(found, there, output, size) :
		 fail(NVML_ERROR_INSUFFICIENT_SIZE, "there are %u processes", there);
	free(found);
	return result;
}

#define SIZE_V1	sizeof(nvmlProcessInfo_v1_t)
#define SIZE_V2	sizeof(nvmlProcessInfo_v2_t)

FORWARD(nvmlDeviceGetComputeRunningProcesses, (nvmlDevice_t device, unsigned int *count,
					       nvmlProcessInfo_v1_t *infos),
	processes(device, count, infos, SIZE_V1))
FORWARD(nvmlDeviceGetComputeRunningProcesses_v2, (nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_v2_t *infos),
	processes(device, count, infos, SIZE_V2))
FORWARD(nvmlDeviceGetComputeRunningProcesses_v3, (nvmlDevice_t device, unsigned int *count,
						  nvmlProcessInfo_t *infos),
	processes(device, count, infos, SIZE_V2))
