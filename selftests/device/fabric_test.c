// SPDX-License-Identifier: MIT
/* Parameters of the module that simulate states of the fabric. */
#include "memcast_test.h"
#include "reason.h"

#define PARAMETERS	"/sys/module/memcast/parameters/"

static const struct {
	const char *name, *value;
} defaults[] = {
	{ "fabric_state", "ready" },
	{ "multicast", "1" },
	{ "team_slots", "1024" },
	{ "team_setup_delay_ms", "0" },
	{ "team_timeout_ms", "0" },
	{ "team_notice_ms", "5000" },
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

/* Sets the state of one device's link, in sysfs. */
static int set_link(int device, const char *state)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "/sys/class/memcast/memcast%d", device);
	return write_in(folder, "fabric_state", state);
}

static void set_defaults(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		set_parameter(defaults[i].name, defaults[i].value);
	set_link(1, "ready");
}

#define SET(name, value)	ASSERT_EQ(0, set_parameter(name, value))

FIXTURE(fabric) { char unused; };
FIXTURE_SETUP(fabric)
{
	if (geteuid())
		SKIP(return, "parameters are root's");
}

/* Sets defaults after a failed test as well: the programs that follow need them. */
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
	handle = complete_team(2, CHUNK);
	part = new_memory(0, CHUNK);
	at = ADDRESS(mapped(part, CHUNK, 0));
	SET("fabric_state", "not_ready");
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastAddDevice(new_team(2, CHUNK), 0));
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindAddr(handle, 0, at, CHUNK, 0));
	/* arguments are checked before the fabric's state */
	EXPECT_REASON(cuMulticastBindMem(handle, 1, part, 0, CHUNK, 0),
		      "team offset # is not a multiple of the granularity #");
	SET("fabric_state", "ready");
	EXPECT_OK(cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	EXPECT_REASON(cuMulticastBindAddr(handle, 0, at, CHUNK, 0),
		      "the range overlaps a binding of device #");
}

TEST_F(fabric, illegal_state)
{
	CUmemGenericAllocationHandle handle;

	cuda_start(0);
	handle = complete_team(2, CHUNK);
	SET("fabric_state", "illegal");
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuMulticastAddDevice(new_team(2, CHUNK), 0));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
		  cuMulticastBindMem(handle, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
}

/* While one device's link is not ready, other devices join and bind as before. */
TEST_F(fabric, one_link)
{
	CUmemGenericAllocationHandle handle, joining, part;
	CUdeviceptr at;

	cuda_start(0);
	handle = complete_team(2, 2 * CHUNK);
	joining = new_team(2, CHUNK);
	part = new_memory(1, CHUNK);
	at = ADDRESS(mapped(part, CHUNK, 1));
	ASSERT_OK(cuMulticastBindMem(handle, CHUNK, part, 0, CHUNK, 0));
	ASSERT_EQ(0, set_link(1, "in_progress"));
	EXPECT_CU_REASON(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastAddDevice(joining, 1),
			 "device #'s link to the fabric is still in progress "
			 "(its fabric_state in sysfs)");
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMulticastBindAddr(handle, 0, at, CHUNK, 0));
	EXPECT_OK(cuMulticastAddDevice(joining, 0));
	EXPECT_OK(cuMulticastBindMem(handle, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	/* an earlier binding stays, and can be undone */
	EXPECT_OK(cuMulticastUnbind(handle, 1, CHUNK, CHUNK));

	ASSERT_EQ(0, set_link(1, "failed"));
	EXPECT_CU_REASON(CUDA_ERROR_ILLEGAL_STATE,
			 cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0),
			 "device #'s link to the fabric has failed (its fabric_state in sysfs)");
	EXPECT_NE(0, set_link(1, "not_ready"));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, cuMulticastAddDevice(joining, 1));

	ASSERT_EQ(0, set_link(1, "ready"));
	EXPECT_OK(cuMulticastAddDevice(joining, 1));
	EXPECT_OK(cuMulticastBindMem(handle, 0, part, 0, CHUNK, 0));
}

TEST_F(fabric, slots)
{
	CUmemGenericAllocationHandle first, second, part, other;

	cuda_start(0);
	first = complete_team(2, CHUNK);
	second = complete_team(2, CHUNK);
	part = new_memory(0, CHUNK);
	other = new_memory(1, CHUNK);
	SET("team_slots", "1");
	ASSERT_OK(cuMulticastBindMem(first, 0, part, 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMulticastBindMem(second, 0, other, 0, CHUNK, 0));
	/* a team takes one slot, not one per binding */
	EXPECT_OK(cuMulticastBindMem(first, 0, other, 0, CHUNK, 0));
	ASSERT_OK(cuMulticastUnbind(first, 1, 0, CHUNK));
	ASSERT_OK(cuMemRelease(first));
	EXPECT_OK(cuMulticastBindMem(second, 0, other, 0, CHUNK, 0));
	EXPECT_NE(0, set_parameter("team_slots", "0"));
	EXPECT_NE(0, set_parameter("team_slots", "many"));
}

TEST_F(fabric, setup_delay)
{
	CUmemGenericAllocationHandle handle;
	double start;

	cuda_start(0);
	SET("team_setup_delay_ms", "300");
	start = now();
	handle = complete_team(2, CHUNK);
	ASSERT_OK(cuMulticastBindMem(handle, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_LE(0.29, now() - start);
}

TEST_F(fabric, timeout)
{
	CUmemGenericAllocationHandle handle;
	double start;

	cuda_start(0);
	SET("team_timeout_ms", "200");
	handle = new_team(2, CHUNK);
	start = now();
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY,
		  cuMulticastBindMem(handle, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_LE(0.19, now() - start);
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMemMap(reserve(CHUNK), CHUNK, 0, handle, 0));
}

/* The notice that a call waits makes the call's wait neither longer nor shorter. */
TEST_F(fabric, notice_before_timeout)
{
	CUmemGenericAllocationHandle handle;
	static char lines[4096];
	size_t size = sizeof(lines);
	double start;
	int devices;

	cuda_start(0);
	SET("team_notice_ms", "50");
	SET("team_timeout_ms", "300");
	ASSERT_OK(cuDeviceGetCount(&devices));
	handle = new_team(devices, CHUNK);
	start = now();
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY,
		  cuMulticastBindMem(handle, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	EXPECT_LE(0.29, now() - start);
	ASSERT_OK(cuLogsDumpToMemory(NULL, lines, &size, 0));
	EXPECT_SAYS(lines, " have joined; missing: devices 0, 1");
	EXPECT_SAYS(lines, "joined within team_timeout_ms; not yet: 0, 1");

	SET("team_notice_ms", "0");
	handle = new_team(2, CHUNK);
	size = sizeof(lines);
	EXPECT_CU(CUDA_ERROR_SYSTEM_NOT_READY, cuMemMap(reserve(CHUNK), CHUNK, 0, handle, 0));
	ASSERT_OK(cuLogsDumpToMemory(NULL, lines, &size, 0));
	EXPECT_EQ(NULL, strstr(strstr(lines, "missing:") + 1, "missing:"));
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
	handle = complete_team(2, CHUNK);
	part = new_memory(0, CHUNK);
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
	EXPECT_OK(cuMemRelease(new_memory(0, CHUNK)));
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

TEST_HARNESS_MAIN
