// SPDX-License-Identifier: MIT
/*
 * Fabric handles and IMEX channels, and the fabric that the module's parameters
 * play. Tests of handles need the module's imex_channels=2.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "memcast_test.h"

#define FABRIC		CU_MEM_HANDLE_TYPE_FABRIC
#define PARAMETERS	"/sys/module/memcast/parameters/"
#define CHANNEL		"/dev/memcast-imex/channel"

static const struct {
	const char *name, *value;
} defaults[] = {
	{ "fabric_state", "ready" },
	{ "multicast", "1" },
	{ "team_slots", "1024" },
	{ "team_setup_delay_ms", "0" },
	{ "team_timeout_ms", "0" },
	{ "recommended_mib", "2" },
};

static int set_parameter(const char *name, const char *value)
{
	char path[128];
	FILE *file;
	int failed;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "we");
	if (!file)
		return -1;
	failed = fputs(value, file) < 0;
	return fclose(file) || failed ? -1 : 0;
}

static void set_defaults(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		set_parameter(defaults[i].name, defaults[i].value);
}

#define SET(name, value)	ASSERT_EQ(0, set_parameter(name, value))

FIXTURE(fabric) { char unused; };
FIXTURE_SETUP(fabric)
{
	if (geteuid())
		SKIP(return, "parameters are root's");
}

/* After a failed test too: the programs that follow count on it. */
FIXTURE_TEARDOWN_PARENT(fabric)
{
	set_defaults();
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

/* ---- what parameters do ---- */

TEST_F(fabric, not_ready)
{
	CUmemGenericAllocationHandle handle, part;
	CUdeviceptr at;

	cuda_start(0);
	handle = full_team(2, CHUNK);
	part = memory(0, CHUNK);
	at = ADDRESS(mapped(part, CHUNK, 0));
	SET("fabric_state", "not_ready");
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastAddDevice(team(2, CHUNK), 0));
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindAddr(handle, 0, at, CHUNK, 0));
	/* arguments are looked at first */
	EXPECT_INVALID(cuMulticastBindMem(handle, 1, part, 0, CHUNK, 0));
	SET("fabric_state", "ready");
	EXPECT_OK(cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	EXPECT_INVALID(cuMulticastBindAddr(handle, 0, at, CHUNK, 0));
}

TEST_F(fabric, illegal_state)
{
	CUmemGenericAllocationHandle handle;

	cuda_start(0);
	handle = full_team(2, CHUNK);
	SET("fabric_state", "illegal");
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuMulticastAddDevice(team(2, CHUNK), 0));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuMulticastBindMem(handle, 0, memory(0, CHUNK), 0, CHUNK, 0));
}

TEST_F(fabric, slots)
{
	CUmemGenericAllocationHandle first, second, part, other;

	cuda_start(0);
	first = full_team(2, CHUNK);
	second = full_team(2, CHUNK);
	part = memory(0, CHUNK);
	other = memory(1, CHUNK);
	SET("team_slots", "1");
	ASSERT_OK(cuMulticastBindMem(first, 0, part, 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMulticastBindMem(second, 0, other, 0, CHUNK, 0));
	/* one per team, not per binding */
	EXPECT_OK(cuMulticastBindMem(first, 0, other, 0, CHUNK, 0));
	ASSERT_OK(cuMulticastUnbind(first, 1, 0, CHUNK));
	ASSERT_OK(cuMemRelease(first));
	EXPECT_OK(cuMulticastBindMem(second, 0, other, 0, CHUNK, 0));
}

TEST_F(fabric, setup_delay)
{
	CUmemGenericAllocationHandle handle;
	double start;

	cuda_start(0);
	SET("team_setup_delay_ms", "300");
	start = now();
	handle = full_team(2, CHUNK);
	ASSERT_OK(cuMulticastBindMem(handle, 0, memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_LE(0.29, now() - start);
}

TEST_F(fabric, timeout)
{
	CUmemGenericAllocationHandle handle;
	double start;

	cuda_start(0);
	SET("team_timeout_ms", "200");
	handle = team(2, CHUNK);
	start = now();
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY,
		  cuMulticastBindMem(handle, 0, memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_LE(0.19, now() - start);
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMemMap(reserve(CHUNK), CHUNK, 0, handle, 0));
}

/* No call works, and none writes its output. */
TEST_F(fabric, no_multicast)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	CUmemGenericAllocationHandle handle, part, made = 77;
	size_t bytes = 77;
	CUdeviceptr at;
	int value = 77;

	cuda_start(0);
	handle = full_team(2, CHUNK);
	part = memory(0, CHUNK);
	at = ADDRESS(mapped(part, CHUNK, 0));
	SET("multicast", "0");
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
	EXPECT_EQ(0, value);
#define NOT_SUPPORTED(call)	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, call)
	NOT_SUPPORTED(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
	NOT_SUPPORTED(cuMulticastCreate(&made, &prop));
	NOT_SUPPORTED(cuMulticastAddDevice(handle, 0));
	NOT_SUPPORTED(cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	NOT_SUPPORTED(cuMulticastBindMem_v2(handle, 0, 0, part, 0, CHUNK, 0));
	NOT_SUPPORTED(cuMulticastBindAddr(handle, 0, at, CHUNK, 0));
	NOT_SUPPORTED(cuMulticastBindAddr_v2(handle, 0, 0, at, CHUNK, 0));
	NOT_SUPPORTED(cuMulticastUnbind(handle, 0, 0, CHUNK));
	EXPECT_EQ(77, bytes);
	EXPECT_EQ(77, made);
	EXPECT_OK(cuMemRelease(memory(0, CHUNK)));
}

TEST_F(fabric, recommended_granularity)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .handleTypes = SHAREABLE };
	size_t bytes = 0;

	cuda_start(0);
	SET("recommended_mib", "512");
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_RECOMMENDED));
	EXPECT_EQ(512UL << 20, bytes);
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
	EXPECT_EQ(CHUNK, bytes);
}

/* ---- handles ---- */

FIXTURE(channel) { char unused; };
FIXTURE_SETUP(channel)
{
	if (geteuid() || access(CHANNEL "0", F_OK) || access(CHANNEL "1", F_OK))
		SKIP(return, "needs root and imex_channels=2");
}

FIXTURE_TEARDOWN_PARENT(channel)
{
	int i;

	for (i = 0; i < 2; i++) {
		const char *path = i ? CHANNEL "1" : CHANNEL "0";

		if (!chown(path, 0, 0))
			chmod(path, 0666);
	}
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define share(handle)		share_(_metadata, handle)
static CUmemFabricHandle share_(struct __test_metadata *_metadata,
				CUmemGenericAllocationHandle handle)
{
	CUmemFabricHandle shareable;

	ASSERT_OK(cuMemExportToShareableHandle(&shareable, handle, FABRIC, 0));
	return shareable;
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
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	memset(&none, 7, sizeof(none));
	shareable = none;
	EXPECT_INVALID(cuMemExportToShareableHandle(&shareable, memory(0, CHUNK), FABRIC, 0));
	handle = fabric_memory(0, FABRIC);
	EXPECT_INVALID(cuMemExportToShareableHandle(NULL, handle, FABRIC, 0));
	EXPECT_INVALID(cuMemExportToShareableHandle(&shareable, handle, FABRIC, 1));
	EXPECT_INVALID(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(0, memcmp(&shareable, &none, sizeof(none)));

	shareable = share(handle);
	EXPECT_INVALID(receive(NULL, &shareable));
	EXPECT_INVALID(receive(&got, NULL));
	EXPECT_INVALID(receive(&got, &none));
	/* every byte counts */
	for (i = 0; i < sizeof(shareable); i++) {
		shareable.data[i] ^= 1;
		EXPECT_INVALID(receive(&got, &shareable));
		shareable.data[i] ^= 1;
	}
	EXPECT_EQ(77, got);
	EXPECT_OK(receive(&got, &shareable));
}

/* The same each time, unlike any other's, and no life of its own. */
TEST_F(channel, identity)
{
	CUmemGenericAllocationHandle handle, other;
	CUmemFabricHandle first, second, third;

	cuda_start(0);
	handle = fabric_memory(0, FABRIC);
	first = share(handle);
	second = share(handle);
	EXPECT_EQ(0, memcmp(&first, &second, sizeof(first)));
	third = share(fabric_memory(0, FABRIC));
	EXPECT_NE(0, memcmp(&first, &third, sizeof(first)));
	ASSERT_OK(receive(&other, &first));
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_OK(receive(&handle, &first));
	ASSERT_OK(cuMemRelease(handle));
	ASSERT_OK(cuMemRelease(other));
	EXPECT_INVALID(receive(&handle, &first));
}

TEST_F(channel, both_types)
{
	CUmemGenericAllocationHandle handle, got;
	CUmemFabricHandle shareable;
	CUmemAllocationProp prop;
	int fd;

	cuda_start(0);
	handle = fabric_memory(0, FABRIC | SHAREABLE);
	shareable = share(handle);
	fd = export(handle);
	ASSERT_OK(receive(&got, &shareable));
	import(fd);
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, got));
	EXPECT_EQ(FABRIC | SHAREABLE, (int)prop.requestedHandleTypes);
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
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED, 0));
	EXPECT_EQ(1, value);
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	shareable = share(handle);
	ASSERT_OK(receive(&got, &shareable));
	*mapped(handle, CHUNK, 0) = 4711;
	EXPECT_EQ(4711, *mapped(got, CHUNK, 0));
}

/* Between processes that share nothing but the 64 bytes */
TEST_F(channel, memory)
{
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	ASSERT_LE(0, pid);
	cuda_start(0);
	if (!pid) {
		ASSERT_EQ(sizeof(shareable), recv(link, &shareable, sizeof(shareable), 0));
		ASSERT_OK(receive(&handle, &shareable));
		EXPECT_EQ(4711, *mapped(handle, CHUNK, 0));
		tell(link, 1);
		exit(0);
	}
	handle = fabric_memory(1, FABRIC);
	*mapped(handle, CHUNK, 1) = 4711;
	shareable = share(handle);
	ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
	EXPECT_EQ(1, hear(link));
	EXPECT_EQ(0, ended(pid));
}

TEST_F(channel, team)
{
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK, .handleTypes = FABRIC };
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	volatile uint32_t *window;
	int link;
	pid_t pid = peer_fork(&link);

	ASSERT_LE(0, pid);
	cuda_start(0);
	if (!pid) {
		ASSERT_EQ(sizeof(shareable), recv(link, &shareable, sizeof(shareable), 0));
		ASSERT_OK(receive(&handle, &shareable));
		ASSERT_OK(cuMulticastAddDevice(handle, 1));
		ASSERT_OK(cuMulticastBindMem(handle, 0, fabric_memory(1, FABRIC), 0, CHUNK, 0));
		tell(link, 1);
		hear(link);
		exit(0);
	}
	ASSERT_OK(cuMulticastCreate(&handle, &prop));
	ASSERT_OK(cuMulticastAddDevice(handle, 0));
	shareable = share(handle);
	ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
	ASSERT_EQ(1, hear(link));
	window = mapped(handle, CHUNK, 0);
	ASSERT_OK(cuMemsetD32(ADDRESS(window), 4711, 1));
	EXPECT_EQ(4711, *window);
	tell(link, 1);
	EXPECT_EQ(0, ended(pid));
}

/* A handle ends with its exporter if nobody has imported it. */
TEST_F(channel, exporter_gone)
{
	CUmemGenericAllocationHandle handle = 77;
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	ASSERT_LE(0, pid);
	cuda_start(0);
	if (!pid) {
		shareable = share(fabric_memory(0, FABRIC));
		ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
		exit(0);
	}
	ASSERT_EQ(sizeof(shareable), recv(link, &shareable, sizeof(shareable), 0));
	EXPECT_EQ(0, ended(pid));
	EXPECT_INVALID(receive(&handle, &shareable));
	EXPECT_EQ(77, handle);
}

/* Who may open no channel has no fabric handles. */
TEST_F(channel, no_channel)
{
	CUmulticastObjectProp team_prop = { .numDevices = 2, .size = CHUNK, .handleTypes = FABRIC };
	CUmemGenericAllocationHandle handle = 77;
	CUmemAllocationProp prop = memory_on(0);
	CUmemFabricHandle shareable;
	int link;
	pid_t pid = peer_fork(&link);

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_EQ(1, hear(link));
		ASSERT_EQ(0, setuid(65534));
		cuda_start(0);
		prop.requestedHandleTypes = FABRIC;
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuMemCreate(&handle, CHUNK, &prop, 0));
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuMulticastCreate(&handle, &team_prop));
		ASSERT_EQ(sizeof(shareable), recv(link, &shareable, sizeof(shareable), 0));
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, receive(&handle, &shareable));
		EXPECT_EQ(77, handle);
		EXPECT_OK(cuMemRelease(memory(0, CHUNK)));
		tell(link, 1);
		exit(0);
	}
	cuda_start(0);
	shareable = share(fabric_memory(0, FABRIC));
	ASSERT_EQ(0, chmod(CHANNEL "0", 0600));
	ASSERT_EQ(0, chmod(CHANNEL "1", 0600));
	tell(link, 1);
	ASSERT_EQ(sizeof(shareable), send(link, &shareable, sizeof(shareable), 0));
	EXPECT_EQ(1, hear(link));
	EXPECT_EQ(0, ended(pid));
}

/* Two users with a channel each; root, who has both, can import from both. */
TEST_F(channel, other_channel)
{
	CUmemGenericAllocationHandle handle = 77;
	CUmemFabricHandle shareable[2];
	int i, links[2];
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = peer_fork(&links[i]);
		ASSERT_LE(0, pids[i]);
		if (!pids[i]) {
			ASSERT_EQ(1, hear(links[i]));
			ASSERT_EQ(0, setuid(1000 + i));
			cuda_start(0);
			shareable[i] = share(fabric_memory(0, FABRIC));
			ASSERT_EQ(64, send(links[i], &shareable[i], 64, 0));
			ASSERT_EQ(64, recv(links[i], &shareable[!i], 64, 0));
			EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, receive(&handle, &shareable[!i]));
			EXPECT_EQ(77, handle);
			EXPECT_OK(receive(&handle, &shareable[i]));
			tell(links[i], 1);
			hear(links[i]);
			exit(0);
		}
	}
	ASSERT_EQ(0, chown(CHANNEL "0", 1000, 0));
	ASSERT_EQ(0, chown(CHANNEL "1", 1001, 0));
	ASSERT_EQ(0, chmod(CHANNEL "0", 0600));
	ASSERT_EQ(0, chmod(CHANNEL "1", 0600));
	for (i = 0; i < 2; i++) {
		tell(links[i], 1);
		ASSERT_EQ(64, recv(links[i], &shareable[i], 64, 0));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(64, send(links[i], &shareable[!i], 64, 0));
		EXPECT_EQ(1, hear(links[i]));
	}
	cuda_start(0);
	for (i = 0; i < 2; i++)
		EXPECT_OK(receive(&handle, &shareable[i]));
	for (i = 0; i < 2; i++) {
		tell(links[i], 1);
		EXPECT_EQ(0, ended(pids[i]));
	}
}

TEST_HARNESS_MAIN
