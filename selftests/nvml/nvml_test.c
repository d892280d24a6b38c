// SPDX-License-Identifier: MIT
/* libnvidia-ml.so.1: devices and processes as the driver's library and other tools show them. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memcast/device.h>

#include "nvml_fixture.h"
#include "reason.h"

struct line {
	const char *symbol;
	bool unsupported;
};

#define COMPLETE(symbol)		{ #symbol, false },
#define PARTIAL(symbol, missing)	{ #symbol, false },
#define UNSUPPORTED(symbol, lacking)	{ #symbol, true },

static const struct line lines[] = {
#include "../lib/nvml/functions.def"
};

/* Where its failures go, as those of the driver: CUDA_LOG_FILE */
TEST_F(nvml, log_on_stdout)
{
	char said[200] = "", path[] = "/tmp/memcast-nvml-XXXXXX";
	int file = mkstemp(path), before = dup(STDOUT_FILENO);

	ASSERT_LE(0, file);
	unlink(path);
	fflush(stdout);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", "stdout", 1));
	dup2(file, STDOUT_FILENO);
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetCount(NULL));
	dup2(before, STDOUT_FILENO);
	EXPECT_LT(0, pread(file, said, sizeof(said) - 1, 0));
	EXPECT_SAYS(said, "nvmlDeviceGetCount");
}

TEST_F(nvml, every_symbol)
{
	unsigned int unsupported = 0;

	EXPECT_EQ(396, ARRAY_SIZE(lines));
	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++) {
		nvmlReturn_t (*call)(void) = dlsym(RTLD_DEFAULT, lines[i].symbol);

		ASSERT_NE(NULL, call)
			TH_LOG("%s is not there", lines[i].symbol);
		if (!lines[i].unsupported)
			continue;
		EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, call());
		unsupported++;
	}
	ASSERT_GOOD(nvmlShutdown());
	for (unsigned int i = 0; i < ARRAY_SIZE(lines); i++) {
		nvmlReturn_t (*call)(void) = dlsym(RTLD_DEFAULT, lines[i].symbol);

		if (lines[i].unsupported)
			EXPECT_NVML(NVML_ERROR_UNINITIALIZED, call());
	}
	EXPECT_LT(unsupported, 396);
}

TEST_F(nvml, users_are_counted)
{
	unsigned int count;

	ASSERT_GOOD(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlInitWithFlags(4));
	EXPECT_GOOD(nvmlShutdown());
	EXPECT_GOOD(nvmlDeviceGetCount(&count));
	EXPECT_GOOD(nvmlShutdown());
	EXPECT_NVML(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount(&count));
	EXPECT_GOOD(nvmlInit());
	EXPECT_GOOD(nvmlDeviceGetCount(&count));
}

/* Index, both forms of the UUID, and bus address find the same device; the old names do so, too. */
TEST_F(nvml, one_device_by_all_names)
{
	nvmlReturn_t (*old)(const char *text, nvmlDevice_t *device) =
		dlsym(RTLD_DEFAULT, "nvmlDeviceGetHandleByPciBusId");

	ASSERT_OK(cuInit(0));
	for (unsigned int i = 0; i < self->devices; i++) {
		nvmlDevice_t device = device_at(i), found;
		char uuid[96], address[32], name[96], cuda_name[96];
		nvmlUUID_t by = { .version = nvmlUUID_v1, .type = NVML_UUID_TYPE_BINARY };
		nvmlPciInfoExt_t info = { .version = nvmlPciInfoExt_v1 };
		CUuuid cuda;

		ASSERT_GOOD(nvmlDeviceGetUUID(device, uuid, sizeof(uuid)));
		EXPECT_EQ(40, strlen(uuid));
		EXPECT_GOOD(nvmlDeviceGetHandleByUUID(uuid, &found));
		EXPECT_EQ(device, found);
		ASSERT_OK(cuDeviceGetUuid(&cuda, i));
		memcpy(by.value.bytes, cuda.bytes, sizeof(by.value.bytes));
		EXPECT_GOOD(nvmlDeviceGetHandleByUUIDV(&by, &found));
		EXPECT_EQ(device, found);
		by.type = NVML_UUID_TYPE_ASCII;
		memcpy(by.value.str, uuid, sizeof(by.value.str));
		EXPECT_GOOD(nvmlDeviceGetHandleByUUIDV(&by, &found));
		EXPECT_EQ(device, found);

		ASSERT_OK(cuDeviceGetPCIBusId(address, sizeof(address), i));
		EXPECT_GOOD(nvmlDeviceGetHandleByPciBusId(address, &found));
		EXPECT_EQ(device, found);
		EXPECT_GOOD(nvmlDeviceGetPciInfoExt(device, &info));
		EXPECT_GOOD(old(info.busId, &found));
		EXPECT_EQ(device, found);

		ASSERT_OK(cuDeviceGetName(cuda_name, sizeof(cuda_name), i));
		EXPECT_GOOD(nvmlDeviceGetName(device, name, sizeof(name)));
		EXPECT_STREQ(cuda_name, name);
	}
}

TEST_F(nvml, nothing_is_found)
{
	static const char *const wrong[] = { "", "x", "ca57:0:0.0 ", "ca57:00:00.0z", "::" };
	nvmlUUID_t by = { .version = nvmlUUID_v1 + 1, .type = NVML_UUID_TYPE_ASCII };
	nvmlDevice_t found = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
			    nvmlDeviceGetHandleByPciBusId(wrong[i], &found));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByPciBusId(NULL, &found));
	EXPECT_NVML(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("GPU-0", &found));
	EXPECT_NVML(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("", &found));
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlDeviceGetHandleByUUIDV(&by, &found));
	by.version = nvmlUUID_v1;
	by.type = NVML_UUID_TYPE_NONE;
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByUUIDV(&by, &found));
	EXPECT_EQ(NULL, found);
}

/* Each version of a call writes no more than its version of the structure has. */
TEST_F(nvml, old_structures)
{
	static const struct {
		const char *symbol;
		size_t size;
	} calls[] = {
		{ "nvmlDeviceGetPciInfo", 32 },
		{ "nvmlDeviceGetPciInfo_v2", 36 },
		{ "nvmlDeviceGetPciInfo_v3", 68 },
	};

	EXPECT_EQ(68, sizeof(nvmlPciInfo_t));
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		nvmlReturn_t (*call)(nvmlDevice_t, void *) = dlsym(RTLD_DEFAULT, calls[i].symbol);
		unsigned char info[80];

		memset(info, 0xaa, sizeof(info));
		ASSERT_GOOD(call(self->device, info));
		EXPECT_NE(0xaa, info[calls[i].size - 1]);
		for (size_t at = calls[i].size; at < sizeof(info); at++)
			EXPECT_EQ(0xaa, info[at]);
	}
}

TEST_F(nvml, memory)
{
	nvmlMemory_v2_t newer = { .version = nvmlMemory_v2 };
	nvmlMemory_t before, after;
	CUmemGenericAllocationHandle handle;

	ASSERT_GOOD(nvmlDeviceGetMemoryInfo(self->device, &before));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), before.total);
	EXPECT_EQ(before.total, before.free + before.used);
	cuda_start(0);
	handle = new_memory(0, 3 * CHUNK);
	ASSERT_GOOD(nvmlDeviceGetMemoryInfo(self->device, &after));
	EXPECT_EQ(before.used + 3 * CHUNK, after.used);
	EXPECT_EQ(before.free - 3 * CHUNK, after.free);
	ASSERT_GOOD(nvmlDeviceGetMemoryInfo_v2(self->device, &newer));
	EXPECT_EQ(after.used, newer.used);
	EXPECT_EQ(0, newer.reserved);
	newer.version = nvmlMemory_v2 ^ 1;
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlDeviceGetMemoryInfo_v2(self->device, &newer));
	EXPECT_OK(cuMemRelease(handle));
}

/* NVML lists another process that holds memory, on the device of that memory. */
TEST_F(nvml, processes)
{
	int link[2];
	nvmlProcessInfo_t infos[64] = {};
	unsigned int count = 0, i;
	char name[64] = "";
	int free_fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, link));
	pid = fork();
	if (!pid) {
		cuda_start(1);
		new_memory(1, 2 * CHUNK);
		send_number(link[1], 1);
		receive_number(link[1]);
		_exit(0);
	}
	receive_number(link[0]);
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_SIZE,
		    nvmlDeviceGetComputeRunningProcesses(device_at(1), &count, NULL));
	EXPECT_LE(1, count);
	count = ARRAY_SIZE(infos);
	ASSERT_GOOD(nvmlDeviceGetComputeRunningProcesses(device_at(1), &count, infos));
	for (i = 0; i < count && infos[i].pid != (unsigned int)pid; i++)
		;
	ASSERT_LT(i, count);
	EXPECT_EQ(2 * CHUNK, infos[i].usedGpuMemory);
	EXPECT_EQ(~0U, infos[i].gpuInstanceId);
	EXPECT_GOOD(nvmlSystemGetProcessName(pid, name, sizeof(name)));
	EXPECT_SAYS(name, "nvml_test");
	count = ARRAY_SIZE(infos);
	ASSERT_GOOD(nvmlDeviceGetComputeRunningProcesses(device_at(0), &count, infos));
	for (i = 0; i < count; i++)
		EXPECT_NE((unsigned int)pid, infos[i].pid);
	count = ARRAY_SIZE(infos);
	EXPECT_GOOD(nvmlDeviceGetGraphicsRunningProcesses(device_at(1), &count, infos));
	EXPECT_EQ(0, count);
	/* no file stays open */
	free_fd = dup(link[0]);
	close(free_fd);
	count = ARRAY_SIZE(infos);
	ASSERT_GOOD(nvmlDeviceGetComputeRunningProcesses(device_at(1), &count, infos));
	EXPECT_EQ(free_fd, dup(link[0]));
	send_number(link[0], 1);
	EXPECT_EQ(0, reap_child(pid));
}

/* Memory that two processes hold counts for each of them. */
TEST_F(nvml, memory_of_two_processes)
{
	nvmlProcessInfo_t infos[64] = {};
	unsigned int count = ARRAY_SIZE(infos), found = 0;
	CUmemGenericAllocationHandle handle;
	int link[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, link));
	pid = fork();
	if (!pid) {
		cuda_start(0);
		imported(receive_fd(link[1]));
		send_number(link[1], 1);
		receive_number(link[1]);
		_exit(0);
	}
	cuda_start(0);
	handle = new_memory(0, 2 * CHUNK);
	send_fd(link[0], exported(handle));
	receive_number(link[0]);
	ASSERT_GOOD(nvmlDeviceGetComputeRunningProcesses(self->device, &count, infos));
	for (unsigned int i = 0; i < count; i++) {
		if (infos[i].pid != (unsigned int)pid && infos[i].pid != (unsigned int)getpid())
			continue;
		EXPECT_EQ(2 * CHUNK, infos[i].usedGpuMemory);
		found++;
	}
	EXPECT_EQ(2, found);
	send_number(link[0], 1);
	EXPECT_EQ(0, reap_child(pid));
}

/* Without a file descriptor NVML cannot look, and says so; what it knew before stays. */
TEST_F(nvml, no_descriptor)
{
	struct rlimit limit, none;
	unsigned int count = UNTOUCHED;
	nvmlDevice_t found[1];
	nvmlMemory_t memory = { .total = UNTOUCHED };
	int next = dup(STDERR_FILENO);

	ASSERT_LE(0, next);
	close(next);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = (struct rlimit) { 0, limit.rlim_max };
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_RESOURCES, nvmlInit());
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_RESOURCES,
		    nvmlDeviceGetMemoryInfo(self->device, &memory));
	EXPECT_EQ(UNTOUCHED, memory.total);
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_RESOURCES,
		    nvmlSystemGetTopologyGpuSet(0, &count, found));
	EXPECT_EQ(UNTOUCHED, count);
	/* one is enough for /proc, but not for a process's files */
	none.rlim_cur = next + 1;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	count = 0;
	EXPECT_NVML(NVML_ERROR_INSUFFICIENT_RESOURCES,
		    nvmlDeviceGetComputeRunningProcesses(self->device, &count, NULL));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_GOOD(nvmlDeviceGetMemoryInfo(self->device, &memory));
	EXPECT_GOOD(nvmlDeviceGetCount(&count));
	EXPECT_EQ(self->devices, count);
}

/* Asking NVML about devices initialises nothing: children may use them afterwards. */
TEST_F(nvml, children_may_use_devices)
{
	char name[96];
	pid_t pid;

	ASSERT_GOOD(nvmlDeviceGetName(self->device, name, sizeof(name)));
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetName(name, sizeof(name), 0));
	pid = fork();
	if (!pid)
		_exit(cuInit(0) == CUDA_SUCCESS ? 0 : 1);
	EXPECT_EQ(0, reap_child(pid));
}

/* The child of a process that uses devices may ask NVML about them. */
TEST_F(nvml, children_may_look)
{
	char name[96];
	pid_t pid;

	cuda_start(0);
	pid = fork();
	if (!pid)
		_exit(nvmlDeviceGetName(device_at(1), name, sizeof(name)) == NVML_SUCCESS &&
		      cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
	EXPECT_EQ(0, reap_child(pid));
}

/* The function by which NVML asks the driver's library */
TEST_F(nvml, describe)
{
	static const CUdevice_attribute attributes[] = {
		CU_DEVICE_ATTRIBUTE_WARP_SIZE, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
	};
	int before[2] = {}, after[2] = {}, value = UNTOUCHED;
	char name[96] = "", cuda_name[96];

	EXPECT_OK(memcastDeviceDescribe(0, name, sizeof(name), before, attributes, 2));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  memcastDeviceDescribe(self->devices, NULL, 0, before, attributes, 2));
	EXPECT_REASON(memcastDeviceDescribe(0, NULL, 0, NULL, attributes, 1), "NULL array");
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED,
		  cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	EXPECT_EQ(UNTOUCHED, value);
	ASSERT_OK(cuInit(0));
	EXPECT_OK(memcastDeviceDescribe(0, NULL, 0, after, attributes, 2));
	EXPECT_OK(cuDeviceGetName(cuda_name, sizeof(cuda_name), 0));
	EXPECT_STREQ(cuda_name, name);
	for (int i = 0; i < 2; i++) {
		EXPECT_OK(cuDeviceGetAttribute(&value, attributes[i], 0));
		EXPECT_EQ(value, before[i]);
		EXPECT_EQ(value, after[i]);
	}
}

/*
 * A process that was given another process's file holds nothing by it, however many files there
 * are.
 */
TEST_F(nvml, inherited_files)
{
	enum { FILES = 100 };
	nvmlProcessInfo_t infos[64];
	unsigned int count = ARRAY_SIZE(infos), found = 0;
	int link[2], file = -1;
	pid_t pid;

	cuda_start(0);
	new_memory(0, CHUNK);
	for (int fd = 3; fd < 64 && file < 0; fd++) {
		char path[32], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0 &&
		    !strcmp(target, "/dev/memcast"))
			file = dup(fd);
	}
	ASSERT_LE(0, file);
	for (int i = 0; i < FILES; i++)
		ASSERT_LE(0, open("/dev/memcast", O_RDWR));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, link));
	pid = fork();
	if (!pid) {
		receive_number(link[1]);
		_exit(0);
	}
	EXPECT_GOOD(nvmlDeviceGetComputeRunningProcesses(self->device, &count, infos));
	for (unsigned int i = 0; i < count; i++) {
		EXPECT_NE((unsigned int)pid, infos[i].pid);
		found += infos[i].pid == (unsigned int)getpid();
	}
	EXPECT_EQ(1, found);
	send_number(link[0], 1);
	EXPECT_EQ(0, reap_child(pid));
}

TEST_F(nvml, events_never_come)
{
	unsigned long long types = UNTOUCHED;
	nvmlEventData_t data;
	nvmlEventSet_t set;

	ASSERT_GOOD(nvmlEventSetCreate(&set));
	EXPECT_GOOD(nvmlDeviceGetSupportedEventTypes(self->device, &types));
	EXPECT_EQ(0, types);
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceRegisterEvents(self->device, 8, set));
	EXPECT_NVML(NVML_ERROR_TIMEOUT, nvmlEventSetWait(set, &data, 1));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlEventSetWait(NULL, &data, 1));
	EXPECT_GOOD(nvmlEventSetFree(set));
}

TEST_F(nvml, several_fields)
{
	nvmlFieldValue_t values[] = {
		{ .fieldId = NVML_FI_DEV_NVLINK_LINK_COUNT },
		{ .fieldId = NVML_FI_MAX },
		{ .fieldId = NVML_FI_DEV_NVLINK_GET_STATE, .scopeId = 18 },
		{ .fieldId = NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, .scopeId = ~0U },
		{ .fieldId = 1 },
	};

	EXPECT_GOOD(nvmlDeviceGetFieldValues(self->device, ARRAY_SIZE(values), values));
	EXPECT_EQ(18, values[0].value.uiVal);
	EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, (int)values[1].nvmlReturn);
	EXPECT_EQ(NVML_ERROR_INVALID_ARGUMENT, (int)values[2].nvmlReturn);
	EXPECT_EQ(NVML_SUCCESS, (int)values[3].nvmlReturn);
	EXPECT_EQ(NVML_ERROR_NOT_SUPPORTED, (int)values[4].nvmlReturn);
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetFieldValues(self->device, 0, values));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetFieldValues(self->device, 1, NULL));
}

TEST_F(nvml, affinity)
{
	unsigned long cpus[2] = {}, nodes = 0;
	cpu_set_t before, now;

	EXPECT_GOOD(nvmlDeviceGetCpuAffinity(self->device, ARRAY_SIZE(cpus), cpus));
	EXPECT_NE(0, cpus[0] | cpus[1]);
	EXPECT_GOOD(nvmlDeviceGetMemoryAffinity(self->device, 1, &nodes,
						NVML_AFFINITY_SCOPE_NODE));
	EXPECT_EQ(1UL << device_bytes(0, "numa_node"), nodes);
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetMemoryAffinity(self->device, 1, &nodes, 2));
	/* the affinity keeps only processors near the device */
	EXPECT_EQ(0, sched_getaffinity(0, sizeof(before), &before));
	EXPECT_GOOD(nvmlDeviceSetCpuAffinity(self->device));
	EXPECT_EQ(0, sched_getaffinity(0, sizeof(now), &now));
	EXPECT_EQ(0, memcmp(cpus, &now, sizeof(cpus)));
	EXPECT_GOOD(nvmlDeviceClearCpuAffinity(self->device));
	EXPECT_EQ(0, sched_getaffinity(0, sizeof(now), &now));
	EXPECT_NE(0, CPU_EQUAL(&before, &now));
}

TEST_F(nvml, confidential_computing_is_off)
{
	nvmlSystemConfComputeSettings_t settings = { .version = nvmlSystemConfComputeSettings_v1 };
	nvmlConfComputeSystemState_t state = { .ccFeature = UNTOUCHED };

	EXPECT_GOOD(nvmlSystemGetConfComputeState(&state));
	EXPECT_EQ(NVML_CC_SYSTEM_FEATURE_DISABLED, state.ccFeature);
	settings.ccFeature = UNTOUCHED;
	EXPECT_GOOD(nvmlSystemGetConfComputeSettings(&settings));
	EXPECT_EQ(NVML_CC_SYSTEM_FEATURE_DISABLED, settings.ccFeature);
	settings.version = 1;
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlSystemGetConfComputeSettings(&settings));
}

TEST_F(nvml, memory_without_errors_or_page_tables_of_the_host)
{
	nvmlDeviceAddressingMode_t mode = { .version = nvmlDeviceAddressingMode_v1,
					    .value = UNTOUCHED };
	unsigned int rows[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	nvmlDevice_t device;

	ASSERT_GOOD(nvmlDeviceGetHandleByIndex_v2(0, &device));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetRemappedRows(device, rows, rows, rows, NULL));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetRemappedRows(NULL, rows, rows, rows, rows));
	EXPECT_EQ(UNTOUCHED, rows[0]);
	EXPECT_GOOD(nvmlDeviceGetRemappedRows(device, rows, rows + 1, rows + 2, rows + 3));
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, rows[i]);
	EXPECT_GOOD(nvmlDeviceGetAddressingMode(device, &mode));
	EXPECT_EQ(NVML_DEVICE_ADDRESSING_MODE_NONE, mode.value);
	mode = (nvmlDeviceAddressingMode_t) { .version = 1, .value = UNTOUCHED };
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlDeviceGetAddressingMode(device, &mode));
	EXPECT_EQ(UNTOUCHED, mode.value);
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetAddressingMode(device, NULL));
}

TEST_F(nvml, clocks_of_memory_do_not_change)
{
	unsigned int mhz = UNTOUCHED, most = UNTOUCHED;
	nvmlDevice_t device;

	ASSERT_GOOD(nvmlDeviceGetHandleByIndex_v2(0, &device));
	EXPECT_GOOD(nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &most));
	EXPECT_EQ(2619, most);
	EXPECT_GOOD(nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &mhz));
	EXPECT_EQ(most, mhz);
	EXPECT_GOOD(nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_SM, &most));
	EXPECT_EQ(1980, most);
	mhz = UNTOUCHED;
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED,
		    nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &mhz));
	EXPECT_NVML(NVML_ERROR_NOT_SUPPORTED,
		    nvmlDeviceGetClockInfo(device, NVML_CLOCK_VIDEO, &mhz));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetClockInfo(device, NVML_CLOCK_COUNT, &mhz));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetClockInfo(NULL, NVML_CLOCK_MEM, &mhz));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT,
		    nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, NULL));
	EXPECT_EQ(UNTOUCHED, mhz);
}

TEST_F(nvml, no_rack)
{
	nvmlPlatformInfo_t info = { .version = nvmlPlatformInfo_v2, .slotNumber = 7,
				    .chassisSerialNumber = "x" };
	nvmlDevice_t device;

	ASSERT_GOOD(nvmlDeviceGetHandleByIndex_v2(0, &device));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetPlatformInfo(NULL, &info));
	EXPECT_NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetPlatformInfo(device, NULL));
	EXPECT_EQ(7, info.slotNumber);
	EXPECT_GOOD(nvmlDeviceGetPlatformInfo(device, &info));
	EXPECT_EQ(0, info.slotNumber);
	EXPECT_EQ(1, info.hostId);
	EXPECT_EQ('\0', info.chassisSerialNumber[0]);
	info = (nvmlPlatformInfo_t) { .version = 1, .slotNumber = 7 };
	EXPECT_NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
		    nvmlDeviceGetPlatformInfo(device, &info));
	EXPECT_EQ(7, info.slotNumber);
}

TEST_HARNESS_MAIN
