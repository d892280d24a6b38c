// SPDX-License-Identifier: MIT
/* Devices, from NVML. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "shared/name.h"
#include "smi.h"
#include "devices.h"

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
	for (unsigned int i = 0; result == NVML_SUCCESS && i < devices->count; i++) {
		result = nvmlDeviceGetHandleByIndex(i, &devices->device[i]);
		if (result == NVML_ERROR_GPU_IS_LOST) {
			devices->device[i] = NULL;
			result = NVML_SUCCESS;
		}
	}
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

void smi_add_versions(struct json_object *all)
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
	add(all, "backing", line_of("/sys/module/memcast/parameters/backing"));
	nvmlSystemGetDriverVersion(text, sizeof(text));
	add(all, "driver", string(text));
	nvmlSystemGetCudaDriverVersion(&cuda);
	snprintf(text, sizeof(text), "%d.%d", cuda / 1000, cuda % 1000 / 10);
	add(all, "cuda", string(text));
}

/* The NUMA node whose memory a device's pool has */
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

static int64_t number_in(const char *path)
{
	struct json_object *line = line_of(path);
	int64_t number = json_object_get_int64(line);

	json_object_put(line);
	return number;
}

/* The machine's number of device 0 here: /dev/memcast may be the file of an emulated host. */
static unsigned int first_device(void)
{
	struct stat file;
	char path[64];

	if (stat("/dev/memcast", &file) || !S_ISCHR(file.st_mode))
		return 0;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/first_device", major(file.st_rdev),
		 minor(file.st_rdev));
	return number_in(path);
}

unsigned int smi_number(const struct smi_count *count, unsigned int device)
{
	unsigned int first = first_device();

	if (!count->all)
		return device - first;
	return (device + count->first + count->all - first) % count->all;
}

/* Reads a device's file in sysfs, which has the machine's numbers for devices. */
static struct json_object *state(unsigned int id, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/memcast/memcast%u/%s", first_device() + id, name);
	return line_of(path);
}

static struct json_object *state_number(unsigned int id, const char *name)
{
	struct json_object *line = state(id, name);
	int64_t value = json_object_get_int64(line);

	json_object_put(line);
	return number(value);
}

/* The state of a device's links to the fabric, in the words of the module's fabric_state */
static const char *link_of(nvmlDevice_t device)
{
	nvmlGpuFabricInfoV_t fabric = { .version = nvmlGpuFabricInfo_v2 };

	if (nvmlDeviceGetGpuFabricInfoV(device, &fabric) ||
	    fabric.state == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED)
		return "ready";
	if (fabric.state != NVML_GPU_FABRIC_STATE_COMPLETED)
		return "in_progress";
	return fabric.status == NVML_SUCCESS ? "ready" : "failed";
}

/* NVML does not describe a lost device any more; sysfs still does. */
static struct json_object *lost_device_new(unsigned int id)
{
	struct json_object *object = json_object_new_object();

	add(object, "device", number(id));
	add(object, "host", state_number(id, "host"));
	add(object, "state", string("lost"));
	add(object, "name", string("?"));
	add(object, "uuid", state(id, "uuid"));
	add(object, "address", string("?"));
	add(object, "node", state_number(id, "numa_node"));
	add(object, "total", state_number(id, "pool_bytes"));
	add(object, "free", state_number(id, "free_bytes"));
	add(object, "taken", state_number(id, "taken_bytes"));
	add(object, "seen", number(0));
	return object;
}

/* On a machine of one host all devices are on host 0, which is not worth showing. */
bool smi_has_hosts(struct json_object *devices)
{
	for (size_t i = 0; i < json_object_array_length(devices); i++)
		if (json_object_get_int64(json_object_object_get(
				json_object_array_get_idx(devices, i), "host")))
			return true;
	return false;
}

/* The UUID is without "GPU-", as sysfs has it. Return: NULL: NVML did not answer */
static struct json_object *device_new(unsigned int id, nvmlDevice_t device)
{
	char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE], name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	struct json_object *object;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;

	if (!device)
		return lost_device_new(id);
	if (nvmlDeviceGetUUID(device, uuid, sizeof(uuid)) ||
	    nvmlDeviceGetName(device, name, sizeof(name)) ||
	    nvmlDeviceGetPciInfo(device, &pci) || nvmlDeviceGetMemoryInfo(device, &memory))
		return nvmlDeviceGetHandleByIndex(id, &device) == NVML_ERROR_GPU_IS_LOST ?
		       lost_device_new(id) : NULL;
	object = json_object_new_object();
	add(object, "device", number(id));
	add(object, "host", state_number(id, "host"));
	add(object, "state", string(link_of(device)));
	add(object, "name", name_new(name));
	add(object, "uuid", string(uuid + strlen("GPU-")));
	add(object, "address", string(pci.busId));
	add(object, "node", number(smi_node(device)));
	add(object, "total", number(memory.total));
	add(object, "free", number(memory.free));
	add(object, "taken", state_number(id, "taken_bytes"));
	add(object, "seen", number(0));
	return object;
}

struct json_object *smi_collect_devices(void)
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
