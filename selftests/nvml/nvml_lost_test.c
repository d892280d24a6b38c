// SPDX-License-Identifier: MIT
/*
 * Answers of NVML and memcast-smi about devices whose host was lost, and about a device whose links
 * are not ready. In a machine with several hosts, host 1 is lost; otherwise the only one.
 */
#include "memcast_test.h"
#include "lost_host.h"

#include <nvml.h>

#define EXPECT_NVML(result, call)	EXPECT_EQ((int)(result), (int)(call))
#define EXPECT_GOOD(call)		EXPECT_NVML(NVML_SUCCESS, call)
#define EXPECT_LOST(call)		EXPECT_NVML(NVML_ERROR_GPU_IS_LOST, call)

FIXTURE(lost)
{
	struct lost_host host;
	unsigned int devices;		/* of the machine */
	char folder[32];		/* of the first lost device, in sysfs */
};

FIXTURE_SETUP(lost)
{
	if (!lost_host_find(&self->host))
		SKIP(return, "needs root and two devices per host");
	self->devices = lost_parameter("devices", 0);
	snprintf(self->folder, sizeof(self->folder), "/sys/class/memcast/memcast%u",
		 self->host.first);
	ASSERT_EQ(0, (int)nvmlInit());
}

FIXTURE_TEARDOWN_PARENT(lost)
{
	host_return(&self->host);
	write_in(self->folder, "fabric_state", "ready");
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

TEST_F(lost, nvml)
{
	unsigned int lost = self->host.first, last = lost + self->host.devices - 1, count, index;
	char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE], name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
	nvmlDevice_t before, device;
	nvmlMemory_t memory;
	nvmlPciInfo_t pci;

	EXPECT_GOOD(nvmlDeviceGetHandleByIndex(lost, &before));
	EXPECT_GOOD(nvmlDeviceGetUUID(before, uuid, sizeof(uuid)));
	EXPECT_GOOD(nvmlDeviceGetPciInfo(before, &pci));
	ASSERT_EQ(0, host_lose(&self->host));

	/* lost devices are counted, but NVML gives no handle of them */
	EXPECT_GOOD(nvmlDeviceGetCount(&count));
	EXPECT_EQ(self->devices, count);
	EXPECT_LOST(nvmlDeviceGetHandleByIndex(lost, &device));
	EXPECT_LOST(nvmlDeviceGetHandleByIndex(last, &device));
	EXPECT_LOST(nvmlDeviceGetHandleByUUID(uuid, &device));
	EXPECT_LOST(nvmlDeviceGetHandleByPciBusId(pci.busId, &device));
	/* a handle from before is of no use any more */
	EXPECT_LOST(nvmlDeviceGetName(before, name, sizeof(name)));
	EXPECT_LOST(nvmlDeviceGetUUID(before, uuid, sizeof(uuid)));
	EXPECT_LOST(nvmlDeviceGetIndex(before, &index));
	EXPECT_LOST(nvmlDeviceGetMemoryInfo(before, &memory));
	EXPECT_LOST(nvmlDeviceGetPciInfo(before, &pci));
	/* other hosts' devices are as before */
	for (unsigned int i = 0; i < lost; i++) {
		EXPECT_GOOD(nvmlDeviceGetHandleByIndex(i, &device));
		EXPECT_GOOD(nvmlDeviceGetMemoryInfo(device, &memory));
	}

	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_GOOD(nvmlDeviceGetHandleByIndex(lost, &device));
	EXPECT_EQ(before, device);
	EXPECT_GOOD(nvmlDeviceGetMemoryInfo(before, &memory));
}

/* Gets memcast-smi's word for the state of device @wanted. Return: how many devices it lists */
static unsigned int ask_smi(unsigned int wanted, char state[16])
{
	FILE *smi = popen("./memcast-smi --query-device=index,state --format=csv,noheader", "re");
	unsigned int count = 0, index;
	char word[16];

	strcpy(state, "?");
	while (smi && fscanf(smi, "%u, %15s\n", &index, word) == 2) {
		if (index == wanted)
			strcpy(state, word);
		count++;
	}
	return smi && !pclose(smi) ? count : 0;
}

#define EXPECT_STATE(word, device)				\
do {								\
	char state_[16];					\
								\
	EXPECT_EQ(self->devices, ask_smi(device, state_));	\
	EXPECT_STREQ(word, state_);				\
} while (0)

TEST_F(lost, smi)
{
	unsigned int lost = self->host.first;

	if (access("memcast-smi", X_OK))
		SKIP(return, "no memcast-smi here");
	EXPECT_STATE("ready", lost);
	ASSERT_EQ(0, write_in(self->folder, "fabric_state", "in_progress"));
	EXPECT_STATE("in_progress", lost);
	EXPECT_STATE("ready", lost + 1);
	ASSERT_EQ(0, write_in(self->folder, "fabric_state", "failed"));
	EXPECT_STATE("failed", lost);
	ASSERT_EQ(0, write_in(self->folder, "fabric_state", "ready"));
	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_STATE("lost", lost);
	EXPECT_STATE("lost", lost + self->host.devices - 1);
	if (lost)
		EXPECT_STATE("ready", lost - 1);
	/* the page, the tables and the topology are still shown */
	EXPECT_EQ(0, system("./memcast-smi | grep -q 'STATE' && ./memcast-smi -q | grep -q lost && "
			    "./memcast-smi topo | grep -q lost && "
			    "./memcast-smi topo --json | grep -q '\"lost\"' && "
			    "./memcast-smi --html - | grep -q '>lost<'"));
	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_STATE("ready", lost);
}

/* Reads lines for as long as they have this word. Return: the next word, or "?" */
static const char *next_word(FILE *smi, const char *before)
{
	static char word[32];

	do {
		if (fscanf(smi, " %31[^\n]", word) != 1)
			return "?";
	} while (!strcmp(word, before));
	return word;
}

/* A call that shows devices again and again sees that one is lost, and that it returns. */
TEST_F(lost, smi_again)
{
	char command[128], before[32];
	FILE *smi;

	if (access("memcast-smi", X_OK))
		SKIP(return, "no memcast-smi here");
	snprintf(command, sizeof(command), "./memcast-smi -i %u --query-gpu=memory.total "
		 "--format=csv,noheader -lms 10", self->host.first);
	smi = popen(command, "re");
	ASSERT_NE(NULL, smi);
	snprintf(before, sizeof(before), "%s", next_word(smi, ""));
	EXPECT_NE(NULL, strstr(before, " MiB"));
	EXPECT_EQ(0, host_lose(&self->host));
	EXPECT_STREQ("[GPU is lost]", next_word(smi, before));
	EXPECT_EQ(0, host_return(&self->host));
	EXPECT_STREQ(before, next_word(smi, "[GPU is lost]"));
	pclose(smi);
}

TEST_HARNESS_MAIN
