// SPDX-License-Identifier: MIT
/*
 * Fabric handles and IMEX channels. The tests need the module's imex_channels=2, except the last:
 * host-rack.sh runs that one on a machine without channels.
 */
#include <sys/stat.h>
#include "fabric_peers.h"
#include "memcast_test.h"
#include "reason.h"

#define CHANNEL		"/dev/memcast-imex/channel"
/* Bytes of a fabric handle: 8 are a magic number, then 16 a key, and the others are zero. */
#define IS_KEY(byte)	((byte) >= 8 && (byte) < 24)

FIXTURE(channel) { char unused; };
FIXTURE_SETUP(channel)
{
	if (geteuid() || access(CHANNEL "0", F_OK) || access(CHANNEL "1", F_OK))
		SKIP(return, "needs root and imex_channels=2");
}

#define DEVICE_1	"/sys/class/memcast/memcast1"

FIXTURE_TEARDOWN_PARENT(channel)
{
	int i;

	write_in(DEVICE_1, "fabric_state", "ready");
	for (i = 0; i < 2; i++) {
		const char *path = i ? CHANNEL "1" : CHANNEL "0";

		if (!chown(path, 0, 0))
			chmod(path, 0666);
	}
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define fabric_memory(device, types)	fabric_memory_(_metadata, device, types)
static CUmemGenericAllocationHandle
fabric_memory_(struct __test_metadata *_metadata, CUdevice device, int types)
{
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle handle = 0;

	prop.requestedHandleTypes = types;
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	return handle;
}

static CUresult receive(CUmemGenericAllocationHandle *handle, CUmemFabricHandle *shareable)
{
	return cuMemImportFromShareableHandle(handle, shareable, FABRIC);
}

TEST_F(channel, arguments)
{
	CUmemGenericAllocationHandle handle, got = 77;
	CUmemFabricHandle shareable, none;
	unsigned int i;
	int value = 0, fd = -1;

	cuda_start(0);
	EXPECT_OK(cuDeviceGetAttribute(&value,
				       CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	memset(&none, 7, sizeof(none));
	shareable = none;
	EXPECT_REASON(cuMemExportToShareableHandle(&shareable, new_memory(0, CHUNK), FABRIC, 0),
		      "it was not created to be exported as a fabric handle");
	handle = fabric_memory(0, FABRIC);
	EXPECT_REASON(cuMemExportToShareableHandle(NULL, handle, FABRIC, 0), "NULL output");
	EXPECT_REASON(cuMemExportToShareableHandle(&shareable, handle, FABRIC, 1),
		      "flags must be #");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0),
		      "it was not created to be exported as an fd");
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(0, memcmp(&shareable, &none, sizeof(none)));

	shareable = fabric_handle(handle);
	EXPECT_REASON(receive(NULL, &shareable), "NULL pointer");
	EXPECT_REASON(receive(&got, NULL), "NULL pointer");
	EXPECT_REASON(receive(&got, &none), "not a fabric handle");
	/* a handle with any byte changed is invalid */
	for (i = 0; i < sizeof(shareable); i++) {
		shareable.data[i] ^= 1;
		EXPECT_REASON(receive(&got, &shareable), IS_KEY(i) ?
			      "the fabric handle's object is unknown or gone" :
			      "not a fabric handle");
		shareable.data[i] ^= 1;
	}
	EXPECT_EQ(77, got);
	EXPECT_OK(receive(&got, &shareable));
}

/* A memory has one fabric handle, unlike any other's, which does not keep the memory. */
TEST_F(channel, identity)
{
	CUmemGenericAllocationHandle handle, other;
	CUmemFabricHandle first, second, third;

	cuda_start(0);
	handle = fabric_memory(0, FABRIC);
	first = fabric_handle(handle);
	second = fabric_handle(handle);
	EXPECT_EQ(0, memcmp(&first, &second, sizeof(first)));
	third = fabric_handle(fabric_memory(0, FABRIC));
	EXPECT_NE(0, memcmp(&first, &third, sizeof(first)));
	ASSERT_OK(receive(&other, &first));
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_OK(receive(&handle, &first));
	ASSERT_OK(cuMemRelease(handle));
	ASSERT_OK(cuMemRelease(other));
	EXPECT_REASON(receive(&handle, &first), "the fabric handle's object is unknown or gone");
}

TEST_F(channel, both_types)
{
	CUmemGenericAllocationHandle handle, got;
	CUmemFabricHandle shareable;
	CUmemAllocationProp prop;
	int fd;

	cuda_start(0);
	handle = fabric_memory(0, FABRIC | SHAREABLE);
	shareable = fabric_handle(handle);
	fd = exported(handle);
	ASSERT_OK(receive(&got, &shareable));
	imported(fd);
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, got));
	/* an imported memory has no handle types */
	EXPECT_EQ(0, (int)prop.requestedHandleTypes);
}

/* Exports and imports of a device's memory need the device's link; imported memory stays. */
TEST_F(channel, link_states)
{
	static const struct {
		const char *state;
		CUresult result;
	} links[] = {
		{ "in_progress", CUDA_ERROR_SYSTEM_NOT_READY },
		{ "failed", CUDA_ERROR_ILLEGAL_STATE },
	};
	CUmemGenericAllocationHandle handle, other, got;
	CUmemFabricHandle shareable, others;
	unsigned int i;

	cuda_start(0);
	handle = fabric_memory(1, FABRIC);
	other = fabric_memory(0, FABRIC);
	shareable = fabric_handle(handle);
	ASSERT_OK(receive(&got, &shareable));
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		ASSERT_EQ(0, write_in(DEVICE_1, "fabric_state", links[i].state));
		EXPECT_CU_REASON(links[i].result,
				 cuMemExportToShareableHandle(&others, handle, FABRIC, 0),
				 "device #'s link to the fabric");
		EXPECT_CU_REASON(links[i].result, receive(&got, &shareable),
				 "device #'s link to the fabric");
		others = fabric_handle(other);
		EXPECT_OK(receive(&got, &others));
	}
	ASSERT_EQ(0, write_in(DEVICE_1, "fabric_state", "ready"));
	EXPECT_OK(receive(&got, &shareable));
	*mapped(handle, CHUNK, 0) = 4711;
	EXPECT_EQ(4711, *mapped(got, CHUNK, 0));
}

TEST_F(channel, host_memory)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = FABRIC,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 } };
	CUmemGenericAllocationHandle handle, got;
	CUmemFabricHandle shareable;
	int value = 0;

	cuda_start(0);
	EXPECT_OK(cuDeviceGetAttribute(&value,
				       CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	shareable = fabric_handle(handle);
	ASSERT_OK(receive(&got, &shareable));
	*mapped(handle, CHUNK, 0) = 4711;
	EXPECT_EQ(4711, *mapped(got, CHUNK, 0));
}

/* Two processes share a memory by the 64 bytes of its handle alone. */
TEST_F(channel, memory)
{
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	cuda_start(0);
	if (!pid) {
		shareable = receive_fabric(link);
		ASSERT_OK(receive(&handle, &shareable));
		EXPECT_EQ(4711, *mapped(handle, CHUNK, 0));
		send_number(link, 1);
		exit(0);
	}
	handle = fabric_memory(1, FABRIC);
	*mapped(handle, CHUNK, 1) = 4711;
	send_fabric(link, handle);
	EXPECT_EQ(1, receive_number(link));
	EXPECT_EQ(0, reap_child(pid));
}

TEST_F(channel, team)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = FABRIC };
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	volatile uint32_t *window;
	int link;
	pid_t pid = peer_fork(&link);

	cuda_start(0);
	if (!pid) {
		shareable = receive_fabric(link);
		ASSERT_OK(receive(&handle, &shareable));
		ASSERT_OK(cuMulticastAddDevice(handle, 1));
		ASSERT_OK(cuMulticastBindMem(handle, 0, fabric_memory(1, FABRIC), 0, CHUNK, 0));
		send_number(link, 1);
		receive_number(link);
		exit(0);
	}
	ASSERT_OK(cuMulticastCreate(&handle, &prop));
	ASSERT_OK(cuMulticastAddDevice(handle, 0));
	send_fabric(link, handle);
	ASSERT_EQ(1, receive_number(link));
	window = mapped(handle, CHUNK, 0);
	ASSERT_OK(cuMemsetD32(ADDRESS(window), 4711, 1));
	EXPECT_EQ(4711, *window);
	send_number(link, 1);
	EXPECT_EQ(0, reap_child(pid));
}

/* A handle ends with its exporter if no process has imported it. */
TEST_F(channel, exporter_gone)
{
	CUmemGenericAllocationHandle handle = 77;
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	cuda_start(0);
	if (!pid) {
		send_fabric(link, fabric_memory(0, FABRIC));
		exit(0);
	}
	shareable = receive_fabric(link);
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_REASON(receive(&handle, &shareable),
		      "the fabric handle's object is unknown or gone");
	EXPECT_EQ(77, handle);
}

/* A process that may open no channel can neither create nor import fabric handles. */
TEST_F(channel, no_channel)
{
	CUmulticastObjectProp team_prop = { .numDevices = 2, .size = CHUNK, .handleTypes = FABRIC };
	CUmemGenericAllocationHandle handle = 77;
	CUmemAllocationProp prop = memory_on(0);
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		ASSERT_EQ(1, receive_number(link));
		ASSERT_EQ(0, setuid(65534));
		cuda_start(0);
		prop.requestedHandleTypes = FABRIC;
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, CHUNK, &prop, 0));
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuMulticastCreate(&handle, &team_prop));
		shareable = receive_fabric(link);
		EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, receive(&handle, &shareable));
		EXPECT_EQ(77, handle);
		EXPECT_OK(cuMemRelease(new_memory(0, CHUNK)));
		send_number(link, 1);
		exit(0);
	}
	cuda_start(0);
	shareable = fabric_handle(fabric_memory(0, FABRIC));
	ASSERT_EQ(0, chmod(CHANNEL "0", 0600));
	ASSERT_EQ(0, chmod(CHANNEL "1", 0600));
	send_number(link, 1);
	ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
	EXPECT_EQ(1, receive_number(link));
	EXPECT_EQ(0, reap_child(pid));
}

/*
 * Two users may open one channel each; root may open both, and can import from both users. So
 * can a user who may open the second channel later.
 */
TEST_F(channel, other_channel)
{
	CUmemGenericAllocationHandle handle = 77;
	CUmemFabricHandle shareable[2];
	int i, links[2];
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = peer_fork(&links[i]);
		if (!pids[i]) {
			ASSERT_EQ(1, receive_number(links[i]));
			ASSERT_EQ(0, setuid(1000 + i));
			cuda_start(0);
			shareable[i] = fabric_handle(fabric_memory(0, FABRIC));
			ASSERT_EQ(64, send(links[i], &shareable[i], 64, 0));
			ASSERT_EQ(64, recv(links[i], &shareable[!i], 64, 0));
			EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, receive(&handle, &shareable[!i]));
			EXPECT_EQ(77, handle);
			EXPECT_OK(receive(&handle, &shareable[i]));
			send_number(links[i], 1);
			receive_number(links[i]);
			if (!i)
				EXPECT_OK(receive(&handle, &shareable[1]));
			exit(0);
		}
	}
	ASSERT_EQ(0, chown(CHANNEL "0", 1000, 0));
	ASSERT_EQ(0, chown(CHANNEL "1", 1001, 0));
	ASSERT_EQ(0, chmod(CHANNEL "0", 0600));
	ASSERT_EQ(0, chmod(CHANNEL "1", 0600));
	for (i = 0; i < 2; i++) {
		send_number(links[i], 1);
		ASSERT_EQ(64, recv(links[i], &shareable[i], 64, 0));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(64, send(links[i], &shareable[!i], 64, 0));
		EXPECT_EQ(1, receive_number(links[i]));
	}
	cuda_start(0);
	for (i = 0; i < 2; i++)
		EXPECT_OK(receive(&handle, &shareable[i]));
	ASSERT_EQ(0, chmod(CHANNEL "1", 0666));
	for (i = 0; i < 2; i++) {
		send_number(links[i], 1);
		EXPECT_EQ(0, reap_child(pids[i]));
	}
}

/*
 * As on hardware, the attribute tells what a device can do, not whether this machine has a
 * channel: a program that trusts it alone fails here, too.
 */
TEST(none_on_the_machine)
{
	CUmulticastObjectProp team_prop = { .numDevices = 2, .size = CHUNK, .handleTypes = FABRIC };
	CUmemGenericAllocationHandle handle = 77;
	CUmemAllocationProp prop = memory_on(0);
	CUmemFabricHandle shareable = {};
	int value = 0;

	if (!access(CHANNEL "0", F_OK))
		SKIP(return, "needs imex_channels=0");
	cuda_start(0);
	EXPECT_OK(cuDeviceGetAttribute(&value,
				       CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	EXPECT_OK(cuDeviceGetAttribute(&value,
				       CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, 0));
	EXPECT_EQ(0, value);
	prop.requestedHandleTypes = FABRIC;
	EXPECT_CU_REASON(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, CHUNK, &prop, 0),
			 "fabric handles need an IMEX channel: no node in /dev/memcast-imex can be opened (parameter imex_channels)");
	EXPECT_CU_REASON(CUDA_ERROR_NOT_PERMITTED, cuMulticastCreate(&handle, &team_prop),
			 "fabric handles need an IMEX channel: no node in /dev/memcast-imex can be opened (parameter imex_channels)");
	EXPECT_CU_REASON(CUDA_ERROR_NOT_SUPPORTED, receive(&handle, &shareable),
			 "fabric handles need an IMEX channel, and none is open (parameter imex_channels)");
	EXPECT_EQ(77, handle);
}

TEST_HARNESS_MAIN
