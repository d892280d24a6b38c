// SPDX-License-Identifier: MIT
/* Devices, from NVML. */
#include <stdio.h>
#include <string.h>

#include "smi.h"
#include "smi-nvml.h"

#define add(object, name, value)	json_object_object_add(object, name, value)
#define number(value)			json_object_new_int64(value)
#define string(value)			json_object_new_string(value)

bool smi_devices(struct smi_devices *devices)
{
	nvmlReturn_t result = nvmlInit();

	if (result == NVML_SUCCESS)
		result = nvmlDeviceGetCount(&devices->count);
	if (result == NVML_SUCCESS && devices->count > SMI_DEVICES)
		result = NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; result == NVML_SUCCESS && i < devices->count; i++)
		result = nvmlDeviceGetHandleByIndex(i, &devices->device[i]);
	if (result == NVML_SUCCESS && devices->count)
		return true;
	if (result == NVML_ERROR_DRIVER_NOT_LOADED)
		fputs("memcast-smi: no devices in /sys/class/memcast: insmod memcast.ko, or run "
		      "under tools/memcast-vm\n", stderr);
	else
		fprintf(stderr, "memcast-smi: libnvidia-ml.so.1: %s\n", nvmlErrorString(result));
	return false;
}

/* The NUMA node whose memory a device's is */
int smi_node(nvmlDevice_t device)
{
	enum { NODES = 1024, BITS = 8 * sizeof(unsigned long) };
	unsigned long set[NODES / BITS] = {};

	if (nvmlDeviceGetMemoryAffinity(device, NODES / BITS, set, NVML_AFFINITY_SCOPE_NODE))
		return 0;
	for (int node = 0; node < NODES; node++)
		if (set[node / BITS] >> node % BITS & 1)
			return node;
	return 0;
}

/* NULL: NVML did not answer. The UUID is without "GPU-", as sysfs has it. */
static struct json_object *device_new(unsigned int id, nvmlDevice_t device)
{
	char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE], name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	struct json_object *object;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;

	if (nvmlDeviceGetUUID(device, uuid, sizeof(uuid)) ||
	    nvmlDeviceGetName(device, name, sizeof(name)) ||
	    nvmlDeviceGetPciInfo(device, &pci) || nvmlDeviceGetMemoryInfo(device, &memory))
		return NULL;
	object = json_object_new_object();
	add(object, "device", number(id));
	add(object, "name", string(name));
	add(object, "uuid", string(uuid + strlen("GPU-")));
	add(object, "address", string(pci.busId));
	add(object, "node", number(smi_node(device)));
	add(object, "total", number(memory.total));
	add(object, "free", number(memory.free));
	add(object, "seen", number(0));
	return object;
}

struct json_object *smi_look_devices(void)
{
	static struct smi_devices devices;
	struct json_object *all;

	if (!smi_devices(&devices))
		return NULL;
	all = json_object_new_array();
	for (unsigned int i = 0; i < devices.count; i++) {
		struct json_object *device = device_new(i, devices.device[i]);

		if (!device) {
			fprintf(stderr, "memcast-smi: libnvidia-ml.so.1 does not describe device "
				"%u: CUDA_LOG_FILE=stderr says why\n", i);
			json_object_put(all);
			return NULL;
		}
		json_object_array_add(all, device);
	}
	return all;
}
