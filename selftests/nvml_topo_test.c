// SPDX-License-Identifier: MIT
/* What memcast-smi shows of devices is what NVML says, also as a topology file for NCCL. */
#define _GNU_SOURCE
#include <stdio.h>

#include "nvml_fixture.h"

/* All that a command prints; NULL if it fails */
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

/* The end of the element that begins at @start */
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
		/* it is below the node that it is on */
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
}

TEST_F(nvml, table)
{
	const char *text = output_of("./memcast-smi topo");

	ASSERT_NE(NULL, text);
	EXPECT_EQ(self->devices * (self->devices - 1), count_of(text, "NV18 "));
	EXPECT_EQ(self->devices, count_of(text, "X "));
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
	EXPECT_EQ(NULL, output_of("./memcast-smi --json topo 2>/dev/null"));
}

TEST_HARNESS_MAIN
