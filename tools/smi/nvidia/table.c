// SPDX-License-Identifier: MIT
/* The table of devices and processes that nvidia-smi prints without options; -L; --version. */
#include <stdio.h>
#include <string.h>

#include "nvidia.h"

#define LINE	"+-----------------------------------------------------------------------------------------+"
#define CELLS	"+-----------------------------------------+------------------------+----------------------+"

/* A value without the blank before its unit ("97 W" is 97W), in one of the buffers in turn */
static const char *tight(const char *name, const struct nvidia_device *device)
{
	static char values[8][NVIDIA_VALUE];
	static unsigned int turn;
	char *value = values[turn++ % 8], *blank;

	nvidia_text(name, device, value);
	blank = strchr(value, ' ');
	if (blank && strcmp(name, "name"))
		memmove(blank, blank + 1, strlen(blank));
	return value;
}

/* "Enabled" is On, all else Off. */
static const char *on_off(const char *name, const struct nvidia_device *device)
{
	return !strcmp(tight(name, device), "Enabled") ? "On" : "Off";
}

/* A value of at most @most characters, at the right */
#define CELL(most, name)	most, most, tight(name, device)

static void print_device(const struct nvidia_device *device)
{
	printf("|%4s  %-31.31s%-3s |", tight("index", device), tight("name", device),
	       on_off("persistence_mode", device));
	printf("   %16s %-3s |%*.*s |\n", tight("pci.bus_id", device),
	       on_off("display_active", device),
	       CELL(21, "ecc.errors.uncorrected.volatile.total"));
	printf("|%4s%*.*s%*.*s%*.*s /%*.*s |", tight("fan.speed", device),
	       CELL(6, "temperature.gpu"), CELL(6, "pstate"), CELL(16, "power.draw"),
	       CELL(6, "power.limit"));
	printf("%*.*s /%*.*s |%*.*s%*.*s |\n", CELL(11, "memory.used"), CELL(10, "memory.total"),
	       CELL(8, "utilization.gpu"), CELL(13, "compute_mode"));
	printf("|%41s|%24s|%*.*s |\n" CELLS "\n", "", "", CELL(21, "mig.mode.current"));
}

#define NAME	36	/* bytes of a process's name */

/* The end of a name, which tells processes of one folder apart; a character is not cut. */
static const char *end_of(const char *name)
{
	size_t length = strlen(name);

	if (length <= NAME)
		return name;
	name += length - (NAME - 3);
	while ((*name & 0xc0) == 0x80)
		name++;
	return name;
}

static size_t print_processes(const struct nvidia_device *device)
{
	const nvmlProcessInfo_t *list;
	size_t count = nvidia_processes(device, &list);

	for (size_t i = 0; i < count; i++) {
		const char *name = nvidia_process_name(&list[i]), *end = end_of(name);
		char memory[24], shown[NAME + 1];

		snprintf(shown, sizeof(shown), "%s%s", end == name ? "" : "...", end);
		snprintf(memory, sizeof(memory), "%lluMiB", list[i].usedGpuMemory >> 20);
		printf("|%5u   N/A  N/A%16u      C   %-36s%10s |\n", device->index, list[i].pid,
		       shown, memory);
	}
	return count;
}

void nvidia_table(const struct nvidia_devices *devices)
{
	char date[64], driver[NVIDIA_VALUE], cuda[NVIDIA_VALUE];
	size_t processes = 0;

	nvidia_date(date, sizeof(date));
	nvidia_versions(driver, cuda, NVIDIA_VALUE);
	printf("%s       \n" LINE "\n", date);
	printf("| NVIDIA-SMI %-23sDriver Version: %-15sCUDA Version: %-9s|\n" CELLS "\n", driver,
	       driver, cuda);
	puts("| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
	     "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
	     "|                                         |                        |               MIG M. |\n"
	     "|=========================================+========================+======================|");
	for (unsigned int i = 0; i < devices->count; i++)
		print_device(&devices->at[i]);
	puts("\n" LINE);
	puts("| Processes:                                                                              |\n"
	     "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
	     "|        ID   ID                                                               Usage      |\n"
	     "|=========================================================================================|");
	for (unsigned int i = 0; i < devices->count; i++)
		processes += print_processes(&devices->at[i]);
	if (!processes)
		printf("|  %-87s|\n", "No running processes found");
	puts(LINE);
}

void nvidia_print_name(const struct nvidia_device *device)
{
	char name[NVIDIA_VALUE], uuid[NVIDIA_VALUE];

	printf("GPU %u: %s (UUID: %s)\n", device->index, nvidia_text("name", device, name),
	       nvidia_text("uuid", device, uuid));
}

void nvidia_list(const struct nvidia_devices *devices)
{
	for (unsigned int i = 0; i < devices->count; i++)
		nvidia_print_name(&devices->at[i]);
}

void nvidia_print_version(void)
{
	char driver[NVIDIA_VALUE], cuda[NVIDIA_VALUE];
	char nvml[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE] = "N/A";
	unsigned int cuda_major, major, minor;

	nvidia_versions(driver, cuda, NVIDIA_VALUE);
	/* NVML's is CUDA's major version, then the driver's: of that the first two numbers */
	if (!nvmlSystemGetNVMLVersion(nvml, sizeof(nvml)) &&
	    sscanf(nvml, "%u.%u.%u", &cuda_major, &major, &minor) == 3)
		snprintf(nvml, sizeof(nvml), "%u.%u", major, minor);
	printf("NVIDIA-SMI version  : %s\nNVML version        : %s\nDRIVER version      : %s\n"
	       "CUDA Version        : %s\n", driver, nvml, driver, cuda);
}
