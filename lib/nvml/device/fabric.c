// SPDX-License-Identifier: MIT
/*
 * Connections of devices. Devices that can multicast have links to a switch, as on the recorded
 * machine with two devices; others have only the bus.
 */
#include <string.h>

#include "library.h"

nvmlReturn_t device_nvlink(nvmlDevice_t device, const struct kind **kind, bool *linked)
{
	const struct facts *facts;
	nvmlReturn_t result = device_facts(device, &facts);

	if (result != NVML_SUCCESS)
		return result;
	*kind = kind_of(facts);
	return state_multicast(linked);
}

/* Fills in all but the version, which the caller has checked. */
static nvmlReturn_t fabric_of(nvmlDevice_t device, nvmlGpuFabricInfo_v3_t *info)
{
	struct state_fabric fabric;
	unsigned int number;
	bool linked;
	nvmlReturn_t result = device_number(device, &number) ?: state_multicast(&linked);

	if (result != NVML_SUCCESS)
		return result;
	*info = (nvmlGpuFabricInfo_v3_t) { .state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED };
	if (!linked)
		return NVML_SUCCESS;
	result = state_fabric(number, &fabric);
	if (result != NVML_SUCCESS)
		return result;
	info->state = fabric.ready ? NVML_GPU_FABRIC_STATE_COMPLETED :
				     NVML_GPU_FABRIC_STATE_IN_PROGRESS;
	/* valid once the state is COMPLETED */
	info->status = fabric.illegal ? NVML_ERROR_INVALID_STATE : NVML_SUCCESS;
	info->cliqueId = fabric.clique;
	memcpy(info->clusterUuid, fabric.cluster, sizeof(info->clusterUuid));
	info->healthSummary = fabric.illegal ? NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY :
					       NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceGetGpuFabricInfoV, (nvmlDevice_t device, nvmlGpuFabricInfoV_t *info),
	    device, info)
{
	nvmlGpuFabricInfo_v3_t found;
	nvmlReturn_t result;

	if (!info)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (info->version != nvmlGpuFabricInfo_v2 && info->version != nvmlGpuFabricInfo_v3)
		return fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "version %#x", info->version);
	result = fabric_of(device, &found);
	if (result != NVML_SUCCESS)
		return result;
	found.version = info->version;
	memcpy(info, &found, found.version == nvmlGpuFabricInfo_v2 ?
	       sizeof(nvmlGpuFabricInfo_v2_t) : sizeof(found));
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceGetGpuFabricInfo, (nvmlDevice_t device, nvmlGpuFabricInfo_t *info),
	    device, info)
{
	nvmlGpuFabricInfo_v3_t found;
	nvmlReturn_t result;

	if (!info)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	result = fabric_of(device, &found);
	if (result != NVML_SUCCESS)
		return result;
	*info = (nvmlGpuFabricInfo_t) {
		.status = found.status,
		.cliqueId = found.cliqueId,
		.state = found.state,
	};
	memcpy(info->clusterUuid, found.clusterUuid, sizeof(info->clusterUuid));
	return NVML_SUCCESS;
}

static nvmlReturn_t pair(nvmlDevice_t first, nvmlDevice_t second, unsigned int numbers[2])
{
	nvmlReturn_t result = device_number(first, &numbers[0]);

	return result == NVML_SUCCESS ? device_number(second, &numbers[1]) : result;
}

/*
 * As recorded: with links, everything but the bus works, also from a device to itself; without
 * links, nothing works from a device to itself. The index UNKNOWN returns OK.
 */
DEFINE_CALL(nvmlDeviceGetP2PStatus, (nvmlDevice_t first, nvmlDevice_t second,
				     nvmlGpuP2PCapsIndex_t index, nvmlGpuP2PStatus_t *status),
	    first, second, index, status)
{
	unsigned int numbers[2];
	bool works, linked;
	nvmlReturn_t result = pair(first, second, numbers) ?: state_multicast(&linked);

	if (result != NVML_SUCCESS)
		return result;
	if (!status)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	switch (index) {
	case NVML_P2P_CAPS_INDEX_READ:
	case NVML_P2P_CAPS_INDEX_WRITE:
		works = linked || numbers[0] != numbers[1];
		break;
	case NVML_P2P_CAPS_INDEX_NVLINK:
	case NVML_P2P_CAPS_INDEX_ATOMICS:
		works = linked;
		break;
	case NVML_P2P_CAPS_INDEX_PCI:
		works = !linked && numbers[0] != numbers[1];
		break;
	case NVML_P2P_CAPS_INDEX_UNKNOWN:
		works = true;
		break;
	default:
		return fail(NVML_ERROR_INVALID_ARGUMENT, "index %d", (int)index);
	}
	*status = works ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

/* Each NUMA node has a host bridge with its devices below it. */
static nvmlReturn_t level_between(unsigned int first, unsigned int second,
				  nvmlGpuTopologyLevel_t *level)
{
	int nodes[2];
	nvmlReturn_t result = state_node(first, &nodes[0]) ?: state_node(second, &nodes[1]);

	if (result == NVML_SUCCESS)
		*level = nodes[0] == nodes[1] ? NVML_TOPOLOGY_HOSTBRIDGE : NVML_TOPOLOGY_SYSTEM;
	return result;
}

DEFINE_CALL(nvmlDeviceGetTopologyCommonAncestor, (nvmlDevice_t first, nvmlDevice_t second,
						  nvmlGpuTopologyLevel_t *level),
	    first, second, level)
{
	unsigned int numbers[2];
	nvmlReturn_t result = pair(first, second, numbers);

	if (result != NVML_SUCCESS)
		return result;
	if (!level)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (numbers[0] == numbers[1])
		return fail(NVML_ERROR_NOT_SUPPORTED, "one device is no pair");
	return level_between(numbers[0], numbers[1], level);
}

/*
 * Outputs handles to @array, as many as fit, and their number to *@count. If *@count is 0, it
 * becomes the number of all.
 */
static nvmlReturn_t give(const unsigned int *numbers, unsigned int found, unsigned int *count,
			 nvmlDevice_t *array)
{
	unsigned int room = *count;

	if (!array && room)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	for (unsigned int i = 0; i < found && i < room; i++)
		array[i] = device_handle(numbers[i]);
	*count = room && room < found ? room : found;
	return NVML_SUCCESS;
}

DEFINE_CALL(nvmlDeviceGetTopologyNearestGpus, (nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
					       unsigned int *count, nvmlDevice_t *array),
	    device, level, count, array)
{
	unsigned int numbers[DEVICES_MAX], devices = library_devices(), found = 0, self;
	nvmlGpuTopologyLevel_t between;
	nvmlReturn_t result = device_number(device, &self);

	if (result != NVML_SUCCESS)
		return result;
	if (!count || (int)level % 10 || (int)level < NVML_TOPOLOGY_INTERNAL ||
	    (int)level > NVML_TOPOLOGY_SYSTEM)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output, or no such level");
	for (unsigned int i = 0; i < devices; i++) {
		result = level_between(i, self, &between);
		if (result != NVML_SUCCESS)
			return result;
		if (i != self && between <= level)
			numbers[found++] = i;
	}
	return give(numbers, found, count, array);
}

DEFINE_CALL(nvmlSystemGetTopologyGpuSet, (unsigned int cpu, unsigned int *count,
					  nvmlDevice_t *array),
	    cpu, count, array)
{
	unsigned int numbers[DEVICES_MAX], devices = library_devices(), found = 0;
	const unsigned int bits = 8 * sizeof(unsigned long);
	unsigned long set[1024 / 64];
	nvmlReturn_t result;
	int node;

	if (!count || cpu >= bits * ARRAY_SIZE(set))
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output, or no such CPU");
	for (unsigned int i = 0; i < devices; i++) {
		result = state_node(i, &node) ?: state_node_cpus(node, set, ARRAY_SIZE(set));
		if (result != NVML_SUCCESS)
			return result;
		if (set[cpu / bits] >> cpu % bits & 1)
			numbers[found++] = i;
	}
	return give(numbers, found, count, array);
}
