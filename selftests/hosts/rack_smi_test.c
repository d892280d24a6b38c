// SPDX-License-Identifier: MIT
/* memcast-smi shows one host's devices on a host, and those of all hosts on /dev/memcast. */
#include "rack_hosts.h"

struct line {
	unsigned int host;
	unsigned long seen, teams;	/* MiB of processes' memory; teams of the device */
};

/* @line: output, memcast-smi's line of a device. Return: the number of devices, or -1 */
static int ask_smi(int device, struct line *line)
{
	FILE *smi = popen("./memcast-smi --query-device=index,host,memory.seen,teams "
			  "--format=csv,noheader,nounits", "re");
	struct line one;
	int count = 0, index;

	memset(line, 0xff, sizeof(*line));
	while (smi && fscanf(smi, "%d, %u, %lu, %lu\n", &index, &one.host, &one.seen,
			     &one.teams) == 4) {
		if (index == device)
			*line = one;
		count++;
	}
	return smi && !pclose(smi) ? count : -1;
}

TEST_F(hosts, smi)
{
	CUmulticastObjectProp prop = {
		.numDevices = 3, .size = CHUNK, .handleTypes = FABRIC,
	};
	CUmemGenericAllocationHandle team;
	CUmemFabricHandle shareable;
	int link, other, device;
	struct line line;

	if (access("memcast-smi", X_OK))
		SKIP(return, "no memcast-smi here");
	if (!host_fork(1, &link)) {
		ASSERT_OK(cuMulticastCreate(&team, &prop));
		ASSERT_OK(cuMulticastAddDevice(team, 1));
		shareable = fabric_handle(team);
		SEND_VALUE(link, shareable);
		new_memory(1, CHUNK);
		receive_number(link);
		/* the host's own device has a team; the member on the other host has none here */
		EXPECT_EQ(self->each, ask_smi(1, &line));
		EXPECT_EQ(1, line.host);
		EXPECT_EQ(2, line.seen);
		EXPECT_EQ(1, line.teams);
		EXPECT_EQ(self->each, ask_smi(0, &line));
		EXPECT_EQ(0, line.seen);
		EXPECT_EQ(0, line.teams);
		handshake(link);
		_exit(_metadata->exit_code);
	}
	RECEIVE_VALUE(link, shareable);
	if (!host_fork(0, &other)) {
		ASSERT_OK(cuMemImportFromShareableHandle(&team, &shareable, FABRIC));
		ASSERT_OK(cuMulticastAddDevice(team, 0));
		new_memory(0, 2 * CHUNK);
		handshake(other);
		EXPECT_EQ(self->each, ask_smi(0, &line));
		EXPECT_EQ(0, line.host);
		EXPECT_EQ(4, line.seen);
		EXPECT_EQ(1, line.teams);
		handshake(other);
		_exit(_metadata->exit_code);
	}
	receive_number(other);
	handshake(other);
	handshake(link);

	/* all devices of the rack, by the machine's numbers */
	for (device = 0; device < self->machine; device++) {
		EXPECT_EQ(self->machine, ask_smi(device, &line));
		EXPECT_EQ(device / self->each, line.host);
		EXPECT_EQ(device ? device == self->each + 1 ? 2 : 0 : 4, line.seen);
		EXPECT_EQ(!device || device == self->each + 1, line.teams);
	}
	send_number(link, 0);
	send_number(other, 0);
}

TEST_HARNESS_MAIN
