// SPDX-License-Identifier: MIT
/* Connections of devices: memcast-smi shows NVML's answers, also as a topology file for NCCL. */
#include <stdio.h>

#include "nvml_fixture.h"

/* Return: all that a command prints; NULL if the command fails */
static const char *output_of(const char *command)
{
	static char text[1 << 16];
	FILE *from = popen(command, "re");
	size_t length = from ? fread(text, 1, sizeof(text) - 1, from) : 0;

	text[length] = '\0';
	return from && !pclose(from) ? text : NULL;
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	while ((text = strstr(text, word))) {
		count++;
		text += strlen(word);
	}
	return count;
}

/* Return: the end of the element that begins at @start */
static const char *end_of(const char *start, const char *end)
{
	const char *found = start ? strstr(start, end) : NULL;

	return found ? found : "";
}

TEST_F(nvml, file_for_nccl)
{
	const char *text = output_of("./memcast-smi topo --nccl");

	ASSERT_NE(NULL, text);
	EXPECT_EQ(0, strncmp(text, "<system version=\"1\">\n", 21));
	EXPECT_EQ(self->devices, count_of(text, "<gpu "));
	EXPECT_EQ(self->devices, count_of(text, "</gpu>"));
	EXPECT_EQ(count_of(text, "<cpu "), count_of(text, "</cpu>"));
	ASSERT_OK(cuInit(0));
	for (unsigned int i = 0; i < self->devices; i++) {
		char address[32], words[64], node[64];
		const char *device, *cpu, *at;

		ASSERT_OK(cuDeviceGetPCIBusId(address, sizeof(address), i));
		snprintf(words, sizeof(words), "<pci busid=\"%s\" class=\"0x03", address);
		device = strstr(text, words);
		ASSERT_NE(NULL, device)
			TH_LOG("no %s in %s", words, text);
		snprintf(words, sizeof(words), "<gpu dev=\"%u\" sm=\"90\">", i);
		at = strstr(device, words);
		ASSERT_NE(NULL, at);
		EXPECT_LT(at, end_of(device, "</pci>"));
		EXPECT_EQ(0, strncmp(strstr(at, "<nvlink"), "<nvlink target=\"ffffffff:ff:ff.0\" "
				     "count=\"18\" tclass=\"0x068000\"/>", 61));
		/* the device is an element below its NUMA node */
		snprintf(node, sizeof(node), "<cpu numaid=\"%ld\">", device_bytes(i, "numa_node"));
		cpu = strstr(text, node);
		ASSERT_NE(NULL, cpu);
		EXPECT_LT(cpu, device);
		EXPECT_LT(device, end_of(cpu, "</cpu>"));
	}
}

TEST_F(nvml, file_without_links)
{
	const char *text;

	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("multicast", "0");
	text = output_of("./memcast-smi topo --nccl");
	ASSERT_NE(NULL, text);
	EXPECT_EQ(self->devices, count_of(text, "<gpu "));
	EXPECT_EQ(0, count_of(text, "<nvlink"));
	text = output_of("./memcast-smi topo");
	ASSERT_NE(NULL, text);
	EXPECT_EQ(NULL, strstr(text, "NV18 "));
	text = output_of("./memcast-smi topo --json");
	ASSERT_NE(NULL, text);
	EXPECT_EQ(self->devices, count_of(text, "\"links\":0"));
	EXPECT_EQ(0, count_of(text, "\"switch\""));
}

TEST_F(nvml, table)
{
	const char *text = output_of("./memcast-smi topo");

	ASSERT_NE(NULL, text);
	EXPECT_EQ(self->devices * (self->devices - 1), count_of(text, "NV18 "));
	EXPECT_EQ(self->devices, count_of(text, "X "));
}

/* The JSON says the same as the table. */
TEST_F(nvml, json)
{
	const char *text = output_of("./memcast-smi topo --json");

	ASSERT_NE(NULL, text);
	EXPECT_EQ(self->devices * (self->devices - 1), count_of(text, "\"NV18\""));
	EXPECT_EQ(self->devices, count_of(text, "\"X\""));
	EXPECT_EQ(self->devices, count_of(text, "\"links\":18"));
	EXPECT_EQ(self->devices, count_of(text, "\"switch\":\"ffffffff:ff:ff.0\""));
	EXPECT_EQ(self->devices, count_of(text, "\"node\":"));
}

TEST_F(nvml, devices_of_smi)
{
	const char *text = output_of("./memcast-smi --json");

	ASSERT_NE(NULL, text);
	for (unsigned int i = 0; i < self->devices; i++) {
		char uuid[96], words[128];
		nvmlPciInfo_t pci;

		ASSERT_GOOD(nvmlDeviceGetUUID(device_at(i), uuid, sizeof(uuid)));
		snprintf(words, sizeof(words), "\"uuid\":\"%s\"", uuid + 4);
		EXPECT_EQ(1, count_of(text, words));
		ASSERT_GOOD(nvmlDeviceGetPciInfo(device_at(i), &pci));
		snprintf(words, sizeof(words), "\"address\":\"%s\"", pci.busId);
		EXPECT_EQ(1, count_of(text, words));
	}
}

TEST_F(nvml, wrong_usage)
{
	EXPECT_EQ(NULL, output_of("./memcast-smi --nccl 2>/dev/null"));
	EXPECT_EQ(NULL, output_of("./memcast-smi topology 2>/dev/null"));
	EXPECT_EQ(NULL, output_of("./memcast-smi --json topo --nccl 2>/dev/null"));
}

TEST_F(nvml, fabric_of_parameters)
{
	static const char cluster[] = "01020304-0506-0708-090a-0b0c0d0e0f10";
	nvmlGpuFabricInfoV_t info = { .version = nvmlGpuFabricInfo_v3 };

	if (geteuid())
		SKIP(return, "parameters are root's");
	SET("fabric_state", "not_ready");
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(self->device, &info));
	EXPECT_EQ(NVML_GPU_FABRIC_STATE_IN_PROGRESS, info.state);
	SET("fabric_state", "illegal");
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(self->device, &info));
	EXPECT_EQ(NVML_GPU_FABRIC_STATE_COMPLETED, info.state);
	EXPECT_EQ(NVML_ERROR_INVALID_STATE, (int)info.status);
	EXPECT_EQ(NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY, info.healthSummary);

	SET("fabric_state", "ready");
	ASSERT_EQ(0, write_in(DEVICE_0, "fabric_state", "in_progress"));
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(self->device, &info));
	EXPECT_EQ(NVML_GPU_FABRIC_STATE_IN_PROGRESS, info.state);
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(device_at(1), &info));
	EXPECT_EQ(NVML_GPU_FABRIC_STATE_COMPLETED, info.state);
	ASSERT_EQ(0, write_in(DEVICE_0, "fabric_state", "failed"));
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(self->device, &info));
	EXPECT_EQ(NVML_GPU_FABRIC_STATE_COMPLETED, info.state);
	EXPECT_EQ(NVML_ERROR_INVALID_STATE, (int)info.status);
	EXPECT_EQ(NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY, info.healthSummary);
	ASSERT_EQ(0, write_in(DEVICE_0, "fabric_state", "ready"));

	SET("fabric_cluster", cluster);
	SET("fabric_clique", "7");
	EXPECT_NE(0, set_parameter("fabric_cluster", "01020304-0506-0708-090a-0b0c0d0e0f"));
	EXPECT_NE(0, set_parameter("fabric_cluster", "01020304-0506-0708-090a-0b0c0d0e0f1011"));
	EXPECT_GOOD(nvmlDeviceGetGpuFabricInfoV(self->device, &info));
	for (int i = 0; i < 16; i++)
		EXPECT_EQ(i + 1, info.clusterUuid[i]);
	EXPECT_EQ(7, info.cliqueId);
	EXPECT_EQ(NVML_SUCCESS, (int)info.status);
}

/* The levels of all pairs agree with the NUMA nodes in sysfs, and so do the nearest GPUs. */
TEST_F(nvml, topology)
{
	for (unsigned int i = 1; i < self->devices; i++) {
		bool one_node = device_bytes(0, "numa_node") == device_bytes(i, "numa_node");
		nvmlGpuTopologyLevel_t level;

		EXPECT_GOOD(nvmlDeviceGetTopologyCommonAncestor(self->device, device_at(i),
								&level));
		EXPECT_EQ(one_node ? NVML_TOPOLOGY_HOSTBRIDGE : NVML_TOPOLOGY_SYSTEM, (int)level);
	}
	for (int level = NVML_TOPOLOGY_HOSTBRIDGE; level <= NVML_TOPOLOGY_SYSTEM; level += 20) {
		nvmlDevice_t near[64];
		unsigned int count = 0, all;

		EXPECT_GOOD(nvmlDeviceGetTopologyNearestGpus(self->device, level, &count, NULL));
		if (level == NVML_TOPOLOGY_SYSTEM)
			EXPECT_EQ(self->devices - 1, count);
		/* with 0 the call tells the number also where it is given an array */
		all = count;
		count = 0;
		EXPECT_GOOD(nvmlDeviceGetTopologyNearestGpus(self->device, level, &count, near));
		EXPECT_EQ(all, count);
		EXPECT_GOOD(nvmlDeviceGetTopologyNearestGpus(self->device, level, &count, near));
		for (unsigned int i = 0; i < count; i++)
			EXPECT_NE(self->device, near[i]);
	}
}

TEST_HARNESS_MAIN
