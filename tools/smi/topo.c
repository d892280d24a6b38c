// SPDX-License-Identifier: MIT
/*
 * The connections of devices, from NVML: as a table, as JSON
 * (docs/stack/memcast-smi-topo.schema.json), or as a topology file for NCCL, which looks for
 * devices in /sys/bus/pci and would not find memcast's.
 */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "devices.h"

#define NODES	1024

static unsigned int links_of(nvmlDevice_t device)
{
	nvmlEnableState_t active;
	unsigned int links = 0;

	for (unsigned int link = 0; link < NVML_NVLINK_MAX_LINKS; link++)
		links += !nvmlDeviceGetNvLinkState(device, link, &active) && active;
	return links;
}

static const char *lower(char *text)
{
	for (char *at = text; *at; at++)
		*at = tolower((unsigned char)*at);
	return text;
}

/* The words of /sys/bus/pci/devices/…/max_link_speed */
static const char *speed_of(nvmlDevice_t device)
{
	static const char *const speeds[] = { "", "2.5", "5.0", "8.0", "16.0", "32.0", "64.0" };
	unsigned int generation = 0;

	nvmlDeviceGetMaxPcieLinkGeneration(device, &generation);
	return generation < sizeof(speeds) / sizeof(*speeds) ? speeds[generation] : "";
}

static void print_links(nvmlDevice_t device)
{
	unsigned int links = links_of(device);
	nvmlPciInfo_t remote;

	/* All links go to one switch; "068000" is the class of switches. */
	if (links && !nvmlDeviceGetNvLinkRemotePciInfo(device, 0, &remote))
		printf("        <nvlink target=\"%s\" count=\"%u\" tclass=\"0x068000\"/>\n",
		       lower(remote.busId), links);
}

static bool print_device(unsigned int number, nvmlDevice_t device)
{
	nvmlPciInfoExt_t pci = { .version = nvmlPciInfoExt_v1 };
	unsigned int width = 0;
	int major, minor;

	if (nvmlDeviceGetPciInfoExt(device, &pci) ||
	    nvmlDeviceGetMaxPcieLinkWidth(device, &width) ||
	    nvmlDeviceGetCudaComputeCapability(device, &major, &minor))
		return false;
	printf("    <pci busid=\"%04x:%02x:%02x.0\" class=\"0x%02x%02x00\"", pci.domain, pci.bus,
	       pci.device, pci.baseClass, pci.subClass);
	printf(" vendor=\"0x%04x\" device=\"0x%04x\"", pci.pciDeviceId & 0xffff,
	       pci.pciDeviceId >> 16);
	printf(" subsystem_vendor=\"0x%04x\" subsystem_device=\"0x%04x\"",
	       pci.pciSubSystemId & 0xffff, pci.pciSubSystemId >> 16);
	printf(" link_speed=\"%s GT/s PCIe\" link_width=\"%u\">\n", speed_of(device), width);
	printf("      <gpu dev=\"%u\" sm=\"%d\">\n", number, 10 * major + minor);
	print_links(device);
	puts("      </gpu>\n    </pci>");
	return true;
}

/* Prints a <cpu> for each node that has devices, with its devices; lost devices are left out. */
bool smi_topo_nccl(const struct smi_devices *devices)
{
	bool done[NODES] = {};

	puts("<system version=\"1\">");
	for (unsigned int i = 0; i < devices->count; i++) {
		int node = devices->device[i] ? smi_node(devices->device[i]) : 0;

		if (!devices->device[i] || done[node])
			continue;
		done[node] = true;
		printf("  <cpu numaid=\"%d\">\n", node);
		for (unsigned int k = i; k < devices->count; k++)
			if (devices->device[k] && smi_node(devices->device[k]) == node &&
			    !print_device(k, devices->device[k]))
				return false;
		puts("  </cpu>");
	}
	puts("</system>");
	return true;
}

/* In nvidia-smi's words: NV and how many links, host bridge, across nodes */
void smi_connection(nvmlDevice_t first, nvmlDevice_t second, char *word, size_t size)
{
	nvmlGpuP2PStatus_t status;
	nvmlGpuTopologyLevel_t level;

	if (!first || !second)
		snprintf(word, size, "lost");
	else if (first == second)
		snprintf(word, size, "X");
	else if (!nvmlDeviceGetP2PStatus(first, second, NVML_P2P_CAPS_INDEX_NVLINK, &status) &&
		 status == NVML_P2P_STATUS_OK)
		snprintf(word, size, "NV%u", links_of(first));
	else if (!nvmlDeviceGetTopologyCommonAncestor(first, second, &level))
		snprintf(word, size, "%s", level == NVML_TOPOLOGY_HOSTBRIDGE ? "PHB" : "SYS");
	else
		snprintf(word, size, "?");
}

void smi_topo_print(const struct smi_devices *devices)
{
	char word[16];

	printf("%-8s", "");
	for (unsigned int i = 0; i < devices->count; i++) {
		snprintf(word, sizeof(word), "GPU%u", i);
		printf("%-8s", word);
	}
	puts("NUMA node");
	for (unsigned int i = 0; i < devices->count; i++) {
		snprintf(word, sizeof(word), "GPU%u", i);
		printf("%-8s", word);
		for (unsigned int k = 0; k < devices->count; k++) {
			smi_connection(devices->device[i], devices->device[k], word,
				       sizeof(word));
			printf("%-8s", word);
		}
		if (devices->device[i])
			printf("%d\n", smi_node(devices->device[i]));
		else
			puts("-");
	}
	puts("\nNV18: so many links to a switch; PHB: the host bridge of one NUMA node; SYS: "
	     "across nodes;\nlost: the device's host was lost");
}

static struct json_object *device_json(const struct smi_devices *devices, unsigned int number)
{
	struct json_object *object = json_object_new_object(), *words = json_object_new_array();
	nvmlDevice_t device = devices->device[number];
	unsigned int links = device ? links_of(device) : 0;
	nvmlPciInfo_t remote;
	char word[16];

	json_object_object_add(object, "device", json_object_new_int64(number));
	if (device)
		json_object_object_add(object, "node", json_object_new_int64(smi_node(device)));
	json_object_object_add(object, "links", json_object_new_int64(links));
	if (links && !nvmlDeviceGetNvLinkRemotePciInfo(device, 0, &remote))
		json_object_object_add(object, "switch",
				       json_object_new_string(lower(remote.busId)));
	for (unsigned int i = 0; i < devices->count; i++) {
		smi_connection(device, devices->device[i], word, sizeof(word));
		json_object_array_add(words, json_object_new_string(word));
	}
	json_object_object_add(object, "connections", words);
	return object;
}

void smi_topo_json(const struct smi_devices *devices)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();

	for (unsigned int i = 0; i < devices->count; i++)
		json_object_array_add(list, device_json(devices, i));
	json_object_object_add(all, "devices", list);
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}
