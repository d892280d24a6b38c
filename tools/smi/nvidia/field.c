// SPDX-License-Identifier: MIT
/*
 * The fields of a device, from NVML. A function writes the value with its unit; it returns false
 * where there is none, and then has written why ("N/A").
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "nvidia.h"
#include "shared/name.h"

#define PRINT(...)	(snprintf(value, NVIDIA_VALUE, __VA_ARGS__), true)
#define DEVICE		const struct nvidia_device *device __attribute__((unused)), \
			char *value __attribute__((unused))

unsigned int nvidia_all_count;

void nvidia_date(char *date, size_t size)
{
	time_t now = time(NULL);

	strftime(date, size, "%a %b %e %H:%M:%S %Y", localtime(&now));
}

void nvidia_versions(char *driver, char *cuda, size_t size)
{
	int version = 0;

	if (nvmlSystemGetDriverVersion(driver, size))
		snprintf(driver, size, "N/A");
	nvmlSystemGetCudaDriverVersion(&version);
	snprintf(cuda, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static bool now(DEVICE)
{
	struct timeval time;
	struct tm local;
	char text[32];

	gettimeofday(&time, NULL);
	localtime_r(&time.tv_sec, &local);
	strftime(text, sizeof(text), "%Y/%m/%d %H:%M:%S", &local);
	return PRINT("%s.%03ld", text, (long)time.tv_usec / 1000);
}

static bool driver_version(DEVICE)
{
	char cuda[NVIDIA_VALUE];

	nvidia_versions(value, cuda, NVIDIA_VALUE);
	return true;
}

static bool count_all(DEVICE)
{
	return PRINT("%u", nvidia_all_count);
}

static bool index_of(DEVICE)
{
	return PRINT("%u", device->index);
}

/* Texts of NVML */
#define TEXT(name, function)							\
static bool name(DEVICE)							\
{										\
	return !function(device->handle, value, NVIDIA_VALUE - 1);		\
}

static bool name_of(DEVICE)
{
	if (nvmlDeviceGetName(device->handle, value, NVIDIA_VALUE - 1))
		return false;
	name_clean(value);
	return true;
}

TEXT(serial, nvmlDeviceGetSerial)
TEXT(uuid, nvmlDeviceGetUUID)
TEXT(vbios, nvmlDeviceGetVbiosVersion)

#define PCI(name, format, ...)							\
static bool name(DEVICE)							\
{										\
	nvmlPciInfoExt_t pci = { .version = nvmlPciInfoExt_v1 };		\
										\
	return !nvmlDeviceGetPciInfoExt(device->handle, &pci) && PRINT(format, __VA_ARGS__); \
}

PCI(pci_address, "%s", pci.busId)
PCI(pci_domain, "0x%04X", pci.domain)
PCI(pci_bus, "0x%02X", pci.bus)
PCI(pci_slot, "0x%02X", pci.device)
PCI(pci_class, "0x%X", pci.baseClass)
PCI(pci_subclass, "0x%X", pci.subClass)
PCI(pci_id, "0x%08X", pci.pciDeviceId)
PCI(pci_subsystem, "0x%08X", pci.pciSubSystemId)

/* Numbers of NVML */
#define NUMBER(name, function, format)						\
static bool name(DEVICE)							\
{										\
	unsigned int number;							\
										\
	return !function(device->handle, &number) && PRINT(format, number);	\
}

NUMBER(link_now, nvmlDeviceGetCurrPcieLinkGeneration, "%u")
NUMBER(link_most, nvmlDeviceGetMaxPcieLinkGeneration, "%u")
NUMBER(link_gpu_most, nvmlDeviceGetGpuMaxPcieLinkGeneration, "%u")
NUMBER(width_now, nvmlDeviceGetCurrPcieLinkWidth, "%u")
NUMBER(width_most, nvmlDeviceGetMaxPcieLinkWidth, "%u")
NUMBER(width_now_log, nvmlDeviceGetCurrPcieLinkWidth, "%ux")
NUMBER(width_most_log, nvmlDeviceGetMaxPcieLinkWidth, "%ux")
NUMBER(fan, nvmlDeviceGetFanSpeed, "%u %%")
NUMBER(module_id, nvmlDeviceGetModuleId, "%u")
NUMBER(minor_number, nvmlDeviceGetMinorNumber, "%u")
NUMBER(board_id, nvmlDeviceGetBoardId, "0x%x")

/* A number that says yes or no */
#define SWITCH(name, type, function, yes, no)					\
static bool name(DEVICE)							\
{										\
	type number;								\
										\
	return !function(device->handle, &number) && PRINT("%s", number ? yes : no); \
}

SWITCH(display_active, nvmlEnableState_t, nvmlDeviceGetDisplayActive, "Enabled", "Disabled")
SWITCH(persistence, nvmlEnableState_t, nvmlDeviceGetPersistenceMode, "Enabled", "Disabled")
SWITCH(multigpu_board, unsigned int, nvmlDeviceGetMultiGpuBoard, "Yes", "No")

static bool addressing(DEVICE)
{
	nvmlDeviceAddressingMode_t mode = { .version = nvmlDeviceAddressingMode_v1 };

	return !nvmlDeviceGetAddressingMode(device->handle, &mode) &&
	       PRINT("%s", mode.value == NVML_DEVICE_ADDRESSING_MODE_NONE ? "None" : "HMM");
}

static bool display_mode(DEVICE)
{
	snprintf(value, NVIDIA_VALUE, "Requested functionality has been deprecated");
	return false;
}

static bool pstate(DEVICE)
{
	nvmlPstates_t state;

	return !nvmlDeviceGetPerformanceState(device->handle, &state) && PRINT("P%d", (int)state);
}

#define MEMORY(name, member)							\
static bool name(DEVICE)							\
{										\
	nvmlMemory_v2_t memory = { .version = nvmlMemory_v2 };			\
										\
	return !nvmlDeviceGetMemoryInfo_v2(device->handle, &memory) &&		\
		PRINT("%llu MiB", memory.member >> 20);				\
}

MEMORY(memory_total, total)
MEMORY(memory_reserved, reserved)
MEMORY(memory_used, used)
MEMORY(memory_free, free)

static bool compute_mode(DEVICE)
{
	static const char *const modes[] = {
		"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"
	};
	nvmlComputeMode_t mode;

	return !nvmlDeviceGetComputeMode(device->handle, &mode) &&
	       (unsigned int)mode < NVML_COMPUTEMODE_COUNT && PRINT("%s", modes[mode]);
}

static bool compute_capability(DEVICE)
{
	int major, minor;

	return !nvmlDeviceGetCudaComputeCapability(device->handle, &major, &minor) &&
	       PRINT("%d.%d", major, minor);
}

#define LOAD(name, member)							\
static bool name(DEVICE)							\
{										\
	nvmlUtilization_t load;							\
										\
	return !nvmlDeviceGetUtilizationRates(device->handle, &load) &&		\
	       PRINT("%u %%", load.member);					\
}

LOAD(load_gpu, gpu)
LOAD(load_memory, memory)

/* Two states: the one that is, and the one that comes with the next reset */
#define MODE(name, type, function, member)					\
static bool name(DEVICE)							\
{										\
	type state[2];								\
										\
	return !function(device->handle, &state[0], &state[1]) &&		\
	       PRINT("%s", state[member] ? "Enabled" : "Disabled");		\
}

MODE(ecc_now, nvmlEnableState_t, nvmlDeviceGetEccMode, 0)
MODE(ecc_pending, nvmlEnableState_t, nvmlDeviceGetEccMode, 1)
MODE(mig_now, unsigned int, nvmlDeviceGetMigMode, 0)
MODE(mig_pending, unsigned int, nvmlDeviceGetMigMode, 1)

static bool number_of(nvmlDevice_t device, unsigned int field, unsigned long long *number)
{
	nvmlFieldValue_t asked = { .fieldId = field };

	if (nvmlDeviceGetFieldValues(device, 1, &asked) || asked.nvmlReturn)
		return false;
	*number = asked.value.ullVal;
	return true;
}

#define ROWS(name, field, format, ...)						\
static bool name(DEVICE)							\
{										\
	unsigned long long number;						\
										\
	return number_of(device->handle, field, &number) && PRINT(format, __VA_ARGS__); \
}

ROWS(rows_correctable, NVML_FI_DEV_REMAPPED_COR, "%llu", number)
ROWS(rows_uncorrectable, NVML_FI_DEV_REMAPPED_UNC, "%llu", number)
ROWS(rows_pending, NVML_FI_DEV_REMAPPED_PENDING, "%s", number ? "Yes" : "No")
ROWS(rows_failure, NVML_FI_DEV_REMAPPED_FAILURE, "%s", number ? "Yes" : "No")

static bool temperature(DEVICE)
{
	unsigned int celsius;

	return !nvmlDeviceGetTemperature(device->handle, NVML_TEMPERATURE_GPU, &celsius) &&
	       PRINT("%u", celsius);
}

#define POWER(name, function)							\
static bool name(DEVICE)							\
{										\
	unsigned int milliwatts;						\
										\
	return !function(device->handle, &milliwatts) &&			\
	       PRINT("%.2f W", milliwatts / 1000.0);				\
}

POWER(power, nvmlDeviceGetPowerUsage)
POWER(power_limit, nvmlDeviceGetPowerManagementLimit)
POWER(power_enforced, nvmlDeviceGetEnforcedPowerLimit)

#define CLOCK(name, function, type)						\
static bool name(DEVICE)							\
{										\
	unsigned int mhz;							\
										\
	return !function(device->handle, type, &mhz) && PRINT("%u MHz", mhz);	\
}

CLOCK(clock_graphics, nvmlDeviceGetClockInfo, NVML_CLOCK_GRAPHICS)
CLOCK(clock_sm, nvmlDeviceGetClockInfo, NVML_CLOCK_SM)
CLOCK(clock_memory, nvmlDeviceGetClockInfo, NVML_CLOCK_MEM)
CLOCK(clock_video, nvmlDeviceGetClockInfo, NVML_CLOCK_VIDEO)
CLOCK(most_graphics, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_GRAPHICS)
CLOCK(most_sm, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM)
CLOCK(most_memory, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_MEM)

/* Return: is there a fabric? */
static bool fabric_of(const struct nvidia_device *device, nvmlGpuFabricInfoV_t *fabric)
{
	*fabric = (nvmlGpuFabricInfoV_t) { .version = nvmlGpuFabricInfo_v3 };
	return !nvmlDeviceGetGpuFabricInfoV(device->handle, fabric) &&
	       fabric->state != NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
}

static bool fabric_state(DEVICE)
{
	static const char *const states[] = { "N/A", "Not Started", "In Progress", "Completed" };
	nvmlGpuFabricInfoV_t fabric;

	return fabric_of(device, &fabric) && fabric.state < 4 && PRINT("%s", states[fabric.state]);
}

static bool fabric_status(DEVICE)
{
	nvmlGpuFabricInfoV_t fabric;

	return fabric_of(device, &fabric) && fabric.state == NVML_GPU_FABRIC_STATE_COMPLETED &&
	       PRINT("%s", fabric.status ? nvmlErrorString(fabric.status) : "Success");
}

static bool fabric_clique(DEVICE)
{
	nvmlGpuFabricInfoV_t fabric;

	return fabric_of(device, &fabric) && PRINT("%u", fabric.cliqueId);
}

static bool fabric_cluster(DEVICE)
{
	nvmlGpuFabricInfoV_t fabric;
	char *at = value;

	if (!fabric_of(device, &fabric))
		return false;
	for (unsigned int i = 0; i < sizeof(fabric.clusterUuid); i++)
		at += sprintf(at, "%s%02x", i >= 4 && i <= 10 && !(i % 2) ? "-" : "",
			      fabric.clusterUuid[i]);
	return true;
}

/* Not in brackets, as recorded */
static bool fabric_health(DEVICE)
{
	return PRINT("N/A");
}

static bool brand(DEVICE)
{
	nvmlBrandType_t type;

	return !nvmlDeviceGetBrand(device->handle, &type) && type == NVML_BRAND_NVIDIA &&
	       PRINT("NVIDIA");
}

static bool architecture(DEVICE)
{
	static const char *const names[] = {
		[NVML_DEVICE_ARCH_AMPERE] = "Ampere", [NVML_DEVICE_ARCH_ADA] = "Ada Lovelace",
		[NVML_DEVICE_ARCH_HOPPER] = "Hopper", [NVML_DEVICE_ARCH_BLACKWELL] = "Blackwell",
	};
	nvmlDeviceArchitecture_t kind;

	return !nvmlDeviceGetArchitecture(device->handle, &kind) &&
	       kind < sizeof(names) / sizeof(*names) && names[kind] && PRINT("%s", names[kind]);
}

static bool virtualization_mode(DEVICE)
{
	static const char *const modes[] = {
		"None", "Pass-Through", "VGPU", "Host VGPU", "Host VSGA"
	};
	nvmlGpuVirtualizationMode_t mode;

	return !nvmlDeviceGetVirtualizationMode(device->handle, &mode) &&
	       (unsigned int)mode < sizeof(modes) / sizeof(*modes) && PRINT("%s", modes[mode]);
}

#define FIELD(name, other, unit, function)	{ name, other, unit, function },
#define ABSENT(name, other, unit)		{ name, other, unit, NULL },
const struct nvidia_field nvidia_fields[] = {
#include "fields.def"
};

const size_t nvidia_fields_count = sizeof(nvidia_fields) / sizeof(*nvidia_fields);

/* Fields of -q alone */
static const struct nvidia_field log_fields[] = {
	FIELD("brand", NULL, NULL, brand)
	FIELD("architecture", NULL, NULL, architecture)
	FIELD("minor_number", NULL, NULL, minor_number)
	FIELD("multigpu_board", NULL, NULL, multigpu_board)
	FIELD("board_id", NULL, NULL, board_id)
	FIELD("virtualization_mode", NULL, NULL, virtualization_mode)
	FIELD("link_width_current", NULL, NULL, width_now_log)
	FIELD("link_width_max", NULL, NULL, width_most_log)
};

bool nvidia_same(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && !strncmp(name, text, length);
}

const struct nvidia_field *nvidia_field(const char *name, size_t length)
{
	for (size_t i = 0; i < nvidia_fields_count; i++)
		if (nvidia_same(nvidia_fields[i].name, name, length) ||
		    nvidia_same(nvidia_fields[i].other, name, length))
			return &nvidia_fields[i];
	return NULL;
}

static bool is_lost(const struct nvidia_device *device)
{
	nvmlDevice_t handle;

	return nvmlDeviceGetHandleByIndex(device->index, &handle) == NVML_ERROR_GPU_IS_LOST;
}

bool nvidia_value(const struct nvidia_field *field, const struct nvidia_device *device,
		  char *value)
{
	bool needed = field->get != index_of && field->get != count_all && field->get != now &&
		      field->get != driver_version;

	snprintf(value, NVIDIA_VALUE, "N/A");
	if (field->get && (device->handle || !needed) && field->get(device, value))
		return true;
	if (!device->handle || (field->get && is_lost(device)))
		snprintf(value, NVIDIA_VALUE, "GPU is lost");
	else if (field->get != display_mode)
		snprintf(value, NVIDIA_VALUE, "N/A");
	return false;
}

/* Return: the value of a field of fields.def or of -q, or why there is none */
const char *nvidia_text(const char *name, const struct nvidia_device *device, char *value)
{
	const struct nvidia_field *field = nvidia_field(name, strlen(name));

	for (size_t i = 0; !field; i++)
		if (!strcmp(log_fields[i].name, name))
			field = &log_fields[i];
	nvidia_value(field, device, value);
	return value;
}

/* Return: how many; the list is good until the next call. Users see their own, root all. */
size_t nvidia_processes(const struct nvidia_device *device, const nvmlProcessInfo_t **list)
{
	static nvmlProcessInfo_t *infos;
	static unsigned int room;
	unsigned int count = room;
	nvmlReturn_t result;

	/* more may start between two calls */
	while ((result = nvmlDeviceGetComputeRunningProcesses_v3(device->handle, &count, infos)) ==
	       NVML_ERROR_INSUFFICIENT_SIZE) {
		void *more = reallocarray(infos, 2 * (size_t)count, sizeof(*infos));

		if (!more)
			break;
		infos = more;
		count *= 2;
		room = count;
	}
	*list = infos;
	return result == NVML_SUCCESS ? count : 0;
}

const char *nvidia_process_name(const nvmlProcessInfo_t *process)
{
	static char name[PATH_MAX];

	if (nvmlSystemGetProcessName(process->pid, name, sizeof(name)))
		strcpy(name, "[Not Found]");
	name_clean(name);
	return name;
}
