// SPDX-License-Identifier: MIT
/* Devices, from NVML. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "smi.h"
#include "smi-nvml.h"

#define add(object, name, value)	json_object_object_add(object, name, value)
#define number(value)			json_object_new_int64(value)
#define string(value)			json_object_new_string(value)

bool smi_not_loaded;

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
		smi_not_loaded = true;
	if (smi_not_loaded)
		fputs("memcast-smi: no devices in /sys/class/memcast: insmod memcast.ko, or run "
		      "under tools/memcast-vm\n", stderr);
	else
		fprintf(stderr, "memcast-smi: libnvidia-ml.so.1: %s\n", nvmlErrorString(result));
	return false;
}

/* The first line of a file, or "?" */
static struct json_object *line_of(const char *path)
{
	char text[128] = "?";
	FILE *file = fopen(path, "re");

	if (file && fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return string(text);
}

void smi_look_versions(struct json_object *all)
{
	struct json_object *version = json_object_new_object();
	char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "?", date[32], zone[8];
	time_t now = time(NULL);
	int cuda = 0;

	add(version, "tool", string(MEMCAST_VERSION));
	add(version, "module", line_of("/sys/module/memcast/version"));
	add(version, "linux", line_of("/proc/sys/kernel/osrelease"));
	add(all, "version", version);
	strftime(date, sizeof(date), "%FT%T", localtime(&now));
	strftime(zone, sizeof(zone), "%z", localtime(&now));
	strcat(date, zone);
	add(all, "time", string(date));
	nvmlSystemGetDriverVersion(text, sizeof(text));
	add(all, "driver", string(text));
	nvmlSystemGetCudaDriverVersion(&cuda);
	snprintf(text, sizeof(text), "%d.%d", cuda / 1000, cuda % 1000 / 10);
	add(all, "cuda", string(text));
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

/* What the device's pool has of the machine's memory: with backing=lazy, what was touched */
static int64_t taken(unsigned int id)
{
	struct json_object *bytes;
	char path[64];
	int64_t number;

	snprintf(path, sizeof(path), "/sys/class/memcast/memcast%u/taken_bytes", id);
	bytes = line_of(path);
	number = json_object_get_int64(bytes);
	json_object_put(bytes);
	return number;
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
	add(object, "taken", number(taken(id)));
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
