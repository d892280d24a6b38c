// SPDX-License-Identifier: MIT
/* topo: how devices are connected (-m), and what one may do with another (-p2p). */
#include <stdio.h>
#include <string.h>

#include "nvidia.h"

#define UNDERLINED	"\033[4m"
#define PLAIN		"\033[0m"
#define PROCESSORS	8192
#define BITS		(8 * sizeof(unsigned long))

/* The numbers of set bits, as "0-3,8" */
static void print_ranges(const unsigned long *set, unsigned int count)
{
	const char *between = "";

	for (unsigned int from = 0, to; from < count; from = to + 1) {
		to = from;
		if (!(set[from / BITS] >> from % BITS & 1))
			continue;
		while (to + 1 < count && set[(to + 1) / BITS] >> (to + 1) % BITS & 1)
			to++;
		printf(from == to ? "%s%u" : "%s%u-%u", between, from, to);
		between = ",";
	}
}

static void print_affinity(const struct nvidia_device *device)
{
	unsigned long set[PROCESSORS / BITS] = {};

	if (!device->handle || nvmlDeviceGetCpuAffinity(device->handle, PROCESSORS / BITS, set)) {
		fputs("N/A\tN/A", stdout);
		return;
	}
	print_ranges(set, PROCESSORS);
	printf("\t%d", smi_node(device->handle));
}

static void print_connections(const struct nvidia_devices *devices)
{
	char word[16];

	printf("\t" UNDERLINED);
	for (unsigned int i = 0; i < devices->count; i++)
		printf("GPU%u\t", devices->at[i].index);
	puts("CPU Affinity\tNUMA Affinity\tGPU NUMA ID" PLAIN);
	for (unsigned int i = 0; i < devices->count; i++) {
		printf("GPU%u\t", devices->at[i].index);
		for (unsigned int k = 0; k < devices->count; k++) {
			smi_connection(devices->at[i].handle, devices->at[k].handle, word,
				       sizeof(word));
			printf(i == k ? " X \t" : "%s\t", word);
		}
		print_affinity(&devices->at[i]);
		puts("\t\tN/A");
	}
	puts("\nLegend:\n\n"
	     "  X    = the device itself\n"
	     "  SYS  = by PCIe, and between NUMA nodes\n"
	     "  NODE = by PCIe, and between host bridges of one NUMA node\n"
	     "  PHB  = by PCIe and one host bridge\n"
	     "  PXB  = by several PCIe bridges, but no host bridge\n"
	     "  PIX  = by one PCIe bridge at most\n"
	     "  NV#  = by so many NVLinks");
}

static const char *status_of(nvmlDevice_t first, nvmlDevice_t second, nvmlGpuP2PCapsIndex_t what)
{
	static const char *const words[] = { "OK", "CNS", "GNS", "TNS", "DR", "NS", "U" };
	nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_UNKNOWN;

	if (first && second)
		nvmlDeviceGetP2PStatus(first, second, what, &status);
	return (unsigned int)status < sizeof(words) / sizeof(*words) ? words[status] : "U";
}

static void print_access(const struct nvidia_devices *devices, nvmlGpuP2PCapsIndex_t what)
{
	printf(" \t" UNDERLINED);
	for (unsigned int i = 0; i < devices->count; i++)
		printf("GPU%u\t", devices->at[i].index);
	puts(PLAIN);
	for (unsigned int i = 0; i < devices->count; i++) {
		printf(" GPU%u\t", devices->at[i].index);
		for (unsigned int k = 0; k < devices->count; k++)
			printf("%s\t", i == k ? "X" : status_of(devices->at[i].handle,
								devices->at[k].handle, what));
		putchar('\n');
	}
	puts("\nLegend:\n\n"
	     "  X    = the device itself\n"
	     "  OK   = works\n"
	     "  CNS  = not with this chipset\n"
	     "  GNS  = not with these devices\n"
	     "  TNS  = not as they are connected\n"
	     "  NS   = not supported\n"
	     "  U    = not known");
}

int nvidia_topo(const struct nvidia_devices *devices, int count, char **words)
{
	static const char kinds[] = "rwnap";
	const char *kind;

	if (count >= 1 && (!strcmp(words[0], "-m") || !strcmp(words[0], "--matrix"))) {
		if (count > 1)
			return nvidia_unknown_option(words[1]);
		print_connections(devices);
		return NVIDIA_GOOD;
	}
	if (count >= 1 && devices->count > 1 &&
	    (!strcmp(words[0], "-n") || !strcmp(words[0], "--nearest_gpus"))) {
		puts("Nearest GPUs argument must be used in conjunction with the -i argument "
		     "which must be a single identifier.\n");
		return NVIDIA_USAGE;
	}
	if (count >= 1 && strcmp(words[0], "-p2p") && strcmp(words[0], "--p2pstatus"))
		return nvidia_unknown_option(words[0]);
	kind = count >= 2 && strlen(words[1]) == 1 ? strchr(kinds, *words[1]) : NULL;
	if (!kind) {
		puts("topo takes -m, or -p2p with one of r (reads), w (writes), n (NVLink), "
		     "a (atomics), p (PCIe).\n");
		return NVIDIA_USAGE;
	}
	if (count > 2)
		return nvidia_unknown_option(words[2]);
	/* the letters are in the order of NVML_P2P_CAPS_INDEX_READ and the following */
	print_access(devices, (nvmlGpuP2PCapsIndex_t)(kind - kinds));
	return NVIDIA_GOOD;
}
