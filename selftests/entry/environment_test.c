// SPDX-License-Identifier: MIT
/*
 * Variables of the environment: CUDA_LOG_FILE, MEMCAST_ATTR, MEMCAST_PROFILE and
 * MEMCAST_INJECT. The library reads them once, so each setting needs a new program: role.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <memcast/device.h>
#include "log_lines.h"
#include "role.h"

FIXTURE(environment) { char unused; };
FIXTURE_SETUP(environment) { }
NOTHING_LEFT(environment)

static int fail_thrice(void)
{
	cuInit(0);
	fail_once();
	cuMemMap(0, 4096, 1, 0, 0);
	return cuMemRelease(4711) == CUDA_ERROR_INVALID_VALUE;
}

/* A call before the failing one was interrupted: that is not the log's concern. */
static int fail_interrupted(void)
{
	errno = EINTR;
	return cuDriverGetVersion(NULL) == CUDA_ERROR_INVALID_VALUE;
}

/* What programs ask to find out, and then a failure */
static int ask_first(void)
{
	CUresult (*first)(const char *name, void **function, int version, cuuint64_t flags) =
		dlsym(RTLD_DEFAULT, "cuGetProcAddress");
	CUcontext context;
	CUdeviceptr base;
	void *function;

	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    first("cuNoSuch", &function, 12000, 0) != CUDA_ERROR_NOT_FOUND ||
	    cuMemGetAddressRange(&base, NULL, ADDRESS(&base)) != CUDA_ERROR_NOT_FOUND)
		return 0;
	fail_once();
	return 1;
}

static int ask_all(void)
{
	setenv("MEMCAST_LOG", "all", 1);
	return ask_first();
}

/* As NVIDIA's static runtime begins */
static int ask_for_tables(void)
{
	CUresult (*table)(const void **table, const CUuuid *id) =
		dlsym(RTLD_DEFAULT, "cuGetExportTable");
	const void *pointer = NULL;
	CUuuid id = {};

	return cuInit(0) == CUDA_SUCCESS && table(&pointer, &id) == CUDA_ERROR_NOT_SUPPORTED &&
	       table(&pointer, &id) == CUDA_ERROR_NOT_SUPPORTED && !pointer;
}

static int attribute(CUdevice device, CUdevice_attribute attribute)
{
	int value = -77;

	cuDeviceGetAttribute(&value, attribute, device);
	return value;
}

static int see_attributes(void)
{
	char bus[20] = "";

	cuInit(0);
	cuDeviceGetPCIBusId(bus, sizeof(bus), 1);
	return attribute(0, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) == 0 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) == 1 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID) == -5 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9 &&
	       !strcmp(bus, "ca57:ab:00.0");
}

static bool name_is(const char *expected)
{
	char name[64] = "";

	return cuDeviceGetName(name, sizeof(name), 1) == CUDA_SUCCESS && !strcmp(name, expected);
}

static size_t granularity(CUmemAllocationGranularity_flags which)
{
	CUmemAllocationProp prop = memory_on(0);
	size_t bytes = 0;

	cuMemGetAllocationGranularity(&bytes, &prop, which);
	return bytes;
}

static int see_profile(void)
{
	size_t bytes = 0;

	cuInit(0);
	cuDeviceTotalMem(&bytes, 0);
	return name_is("Some Device = 1") && bytes == (size_t)device_bytes(0, "pool_bytes") &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 12 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) == 7 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 5 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH) == 5 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) == 0xca57 &&
	       granularity(CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CHUNK &&
	       granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) == 256 * CHUNK;
}

/* the largest that a profile can say */
static int see_tebibyte(void)
{
	cuInit(0);
	return granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) == 1UL << 40;
}

static int see_default(void)
{
	cuInit(0);
	return name_is("NVIDIA H100 80GB HBM3") &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32;
}

/* Attributes that the profile omits are 0, but features that memcast has on any device are 1. */
static int see_little(void)
{
	cuInit(0);
	return name_is("Little") && attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 0 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) == 1;
}

static int described(CUdevice device, CUdevice_attribute attribute)
{
	int value = -77;

	memcastDeviceDescribe(device, NULL, 0, &value, &attribute, 1);
	return value;
}

/* Device 0 of the program is the module's device 1, also for who sees all devices, as NVML does. */
static int see_described(void)
{
	setenv("CUDA_VISIBLE_DEVICES", "1,2", 1);
	for (int i = 0; i < 2; i++) {
		if (described(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) != 32 ||
		    described(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) != 64 ||
		    described(2, CU_DEVICE_ATTRIBUTE_WARP_SIZE) != 32)
			return 0;
		cuInit(0);
	}
	return attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32;
}

/* As a program that asks NVML which devices there are, and sets the variables by the answer */
static int set_after_looking(void)
{
	char *profile = strdupa(getenv("MEMCAST_PROFILE"));
	int count = 0;

	unsetenv("MEMCAST_PROFILE");
	if (described(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) != 32)
		return 0;
	setenv("MEMCAST_PROFILE", profile, 1);
	setenv("MEMCAST_ATTR", "0:WARP_SIZE=64", 1);
	setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
	cuInit(0);
	cuDeviceGetCount(&count);
	return count == 2 && name_is("Little") &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 64 &&
	       attribute(1, CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 0 &&
	       attribute(0, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) == 1;
}

static int see_failures(void)
{
	size_t bytes;
	int (*load)(void) = dlsym(RTLD_DEFAULT, "cuModuleLoad");
	unsigned int i;
	CUdevice device;

	/* results are injected into unsupported functions, and into those that need no cuInit() */
	if (load() != CUDA_ERROR_INVALID_SOURCE || load() != CUDA_ERROR_NOT_INITIALIZED)
		return false;
	if (cuDriverGetVersion(&device) != CUDA_ERROR_STUB_LIBRARY)
		return false;
	for (i = 0; i < 3; i++)
		if (cuInit(0) != CUDA_ERROR_SYSTEM_NOT_READY)
			return false;
	if (cuInit(0) != CUDA_SUCCESS)
		return false;
	/* the name stands for all versions; without a count, every call fails */
	for (i = 0; i < 10; i++)
		if (cuDeviceTotalMem(&bytes, 0) != CUDA_ERROR_UNKNOWN)
			return false;
	/* cuDeviceGet:0*2,cuDeviceGet:101*1: two calls succeed, the third fails */
	return cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
	       cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
	       cuDeviceGet(&device, 0) == CUDA_ERROR_INVALID_DEVICE &&
	       cuDeviceGet(&device, 0) == CUDA_SUCCESS;
}

static int start(void)
{
	return cuInit(0) == CUDA_SUCCESS;
}

static const struct role roles[] = {
	{ "ask_all", ask_all },
	{ "ask_first", ask_first },
	{ "ask_for_tables", ask_for_tables },
	{ "fail_interrupted", fail_interrupted },
	{ "fail_thrice", fail_thrice },
	{ "see_attributes", see_attributes },
	{ "see_default", see_default },
	{ "see_described", see_described },
	{ "see_failures", see_failures },
	{ "see_little", see_little },
	{ "see_profile", see_profile },
	{ "see_tebibyte", see_tebibyte },
	{ "set_after_looking", set_after_looking },
	{ "start", start },
	{ }
};

/* A result that is the answer to a question is no line of CUDA_LOG_FILE; MEMCAST_LOG=all */
TEST_F(environment, answers)
{
	char said[4096];

	EXPECT_EQ(0, run_role("ask_first", "CUDA_LOG_FILE=stderr", said));
	EXPECT_EQ(1, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, ": cuMemRelease(");
	EXPECT_EQ(0, run_role("ask_all", "CUDA_LOG_FILE=stderr", said));
	EXPECT_EQ(3, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, "cuNoSuch is not a function of any version");
}

/* Without CUDA_LOG_FILE, stderr says once which runtime a program has. */
TEST_F(environment, static_runtime)
{
	char said[4096], *first;

	EXPECT_EQ(0, run_role("ask_for_tables", "NOTHING=", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_SAYS(said, "]: role has NVIDIA's static runtime, ");
	EXPECT_SAYS(said, "nvcc --cudart shared (docs/stack/runtime.md)");
	/* and also where stderr is the log */
	EXPECT_EQ(0, run_role("ask_for_tables", "CUDA_LOG_FILE=stderr", said));
	first = strstr(said, "]: role has NVIDIA's static runtime, ");
	ASSERT_NE(NULL, first);
	EXPECT_EQ(NULL, strstr(first + 1, "]: role has NVIDIA's static runtime, "));
	/* a failure that was asked for tells nothing about the program */
	EXPECT_NE(0, run_role("ask_for_tables", "MEMCAST_INJECT=cuGetExportTable:999", said));
	EXPECT_EQ(NULL, strstr(said, "static runtime"));
}

TEST_F(environment, cuda_log_file)
{
	char said[4096], text[4096], setting[64] = "CUDA_LOG_FILE=/tmp/memcast-log-XXXXXX";
	char *path = setting + strlen("CUDA_LOG_FILE=");

	EXPECT_EQ(0, run_role("fail_thrice", "CUDA_LOG_FILE=stderr", said));
	EXPECT_EQ(3, count_lines(said));
	EXPECT_SAYS(said, "cuMemMap(address=0, size=4096, offset=1, handle=0, flags=0): "
		    "CUDA_ERROR_INVALID_VALUE: no handle 0: never given out, or released\n");
	EXPECT_EQ(NULL, strstr(said, "no reason given"));

	ASSERT_LE(0, mkstemp(path));
	EXPECT_EQ(0, run_role("fail_thrice", setting, said));
	EXPECT_STREQ("", said);
	read_file(text, sizeof(text), path);
	EXPECT_EQ(3, count_lines(text));
	unlink(path);

	EXPECT_EQ(0, run_role("fail_interrupted", "CUDA_LOG_FILE=stderr", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run_role("fail_thrice", "CUDA_LOG_FILE=/nowhere/at/all", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run_role("fail_thrice", "UNRELATED=1", said));
	EXPECT_STREQ("", said);
}

TEST_F(environment, memcast_attr)
{
	char said[4096];

	EXPECT_EQ(0, run_role("see_attributes", "MEMCAST_ATTR="
			 "MULTICAST_SUPPORTED=0,1:MULTICAST_SUPPORTED=1,"
			 "WARP_SIZE=0x40,HOST_NUMA_ID=-5,1:PCI_BUS_ID=0xab", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_role("see_described", "MEMCAST_ATTR=0:WARP_SIZE=64", said));
	EXPECT_STREQ("", said);
}

/* cuInit() reports each wrong entry once, and applies the others. */
TEST_F(environment, memcast_attr_wrong)
{
	const char *names;
	char said[8192];

	EXPECT_EQ(0, run_role("see_attributes", "MEMCAST_ATTR="
			 "MULTICAST_SUPPORTED=0,1:MULTICAST_SUPPORTED=1,"
			 "NO_SUCH=1,WARP_SIZE,WARP_SIZE=,WARP_SIZE=7x,x:WARP_SIZE=1,-1:WARP_SIZE=1,"
			 "64:WARP_SIZE=1,WARP_SIZE=99999999999,NO_SUCH_EITHER=1,"
			 "WARP_SIZE=64,HOST_NUMA_ID=-5,1:PCI_BUS_ID=0xab", said));
	EXPECT_EQ(10, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, "memcast: MEMCAST_ATTR: 'NO_SUCH=1' is ignored: no such attribute\n");

	/* cuInit() lists the known names once, even if the program asks for no attribute */
	EXPECT_EQ(0, run_role("start", "MEMCAST_ATTR=NO_SUCH=1,NO_SUCH_EITHER=1", said));
	EXPECT_EQ(3, count_lines(said));
	names = strstr(said, "memcast: MEMCAST_ATTR: the attributes are MAX_THREADS_PER_BLOCK, ");
	ASSERT_NE(NULL, names);
	EXPECT_SAYS(names, " MULTICAST_SUPPORTED,");

	/* the program sees two devices */
	ASSERT_EQ(0, setenv("MEMCAST_ATTR", "1:WARP_SIZE=64,2:WARP_SIZE=1", 1));
	EXPECT_EQ(0, run_role("start", "CUDA_VISIBLE_DEVICES=0,1", said));
	EXPECT_STREQ("memcast: MEMCAST_ATTR: '2:WARP_SIZE=1' is ignored: no such device\n", said);
	ASSERT_EQ(0, unsetenv("MEMCAST_ATTR"));
}

#define run_with_profile(role, text, said)	\
	run_with_profile_(_metadata, role, text, said, sizeof(said))
static int run_with_profile_(struct __test_metadata *_metadata, const char *role,
			     const char *text, char *said, size_t size)
{
	char setting[64] = "MEMCAST_PROFILE=/tmp/memcast-profile-XXXXXX";
	char *path = setting + strlen("MEMCAST_PROFILE=");
	int fd = mkstemp(path), ret = -1;

	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		ret = run_role_(_metadata, role, setting, said, size);
	close(fd);
	unlink(path);
	return ret;
}

TEST_F(environment, memcast_profile)
{
	char said[4096];

	/* MEMCAST_ATTR overrides a profile, and so do attributes that memcast itself determines */
	ASSERT_EQ(0, setenv("MEMCAST_ATTR", "MULTIPROCESSOR_COUNT=5", 1));
	EXPECT_EQ(0, run_with_profile("see_profile", "# a device\n\nBASE = h100\n"
				      "NAME =  Some Device = 1 \r\nWARP_SIZE=64\n13 = 7\n"
				      "  COMPUTE_CAPABILITY_MAJOR = 0xc\t\n  # more\n"
				      "MULTIPROCESSOR_COUNT = 9\nMAXIMUM_TEXTURE1D_WIDTH = 5\n"
				      "PCI_DOMAIN_ID = 3\n"
				      "TOTAL_MEMORY = 1\nGRANULARITY_MINIMUM = 1\n"
				      "GRANULARITY_RECOMMENDED = 0x20000000", said));
	EXPECT_STREQ("", said);
	ASSERT_EQ(0, unsetenv("MEMCAST_ATTR"));
	EXPECT_EQ(0, run_with_profile("see_little", "NAME=Little\n", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_with_profile("see_tebibyte", "GRANULARITY_RECOMMENDED = 0x10000000000\n",
				      said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_role("see_default", "MEMCAST_PROFILE=h100", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_role("see_default", "MEMCAST_PROFILE=", said));
	EXPECT_STREQ("", said);
}

/* cuInit() reads variables as they are by then, whoever has looked at devices before. */
TEST_F(environment, set_after_looking)
{
	char said[4096];

	EXPECT_EQ(0, run_with_profile("set_after_looking", "NAME=Little\n", said));
	EXPECT_STREQ("", said);
}

/* cuInit() reports each wrong line once, with its number, and applies the others. */
TEST_F(environment, memcast_profile_wrong)
{
	char said[4096];

	EXPECT_EQ(0, run_role("see_default", "MEMCAST_PROFILE=/nowhere", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run_role("see_default", "MEMCAST_PROFILE=/tmp", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run_with_profile("see_default", "", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_EQ(0, run_with_profile("see_little", "WARP_SIZE\nWARP_SIZE = x\nNO_SUCH = 1\n"
				      "BASE = a100\n0 = 1\n148 = 1\nWARP_SIZE = 99999999999\n"
				      "GRANULARITY_RECOMMENDED = 5\nTOTAL_MEMORY = much\n= 1\n"
				      "TOTAL_MEMORY =\nGRANULARITY_RECOMMENDED = 0x10000200000\n"
				      "NAME = Little\n", said));
	EXPECT_EQ(12, count_lines(said))
		TH_LOG("%s", said);
	EXPECT_SAYS(said, " is ignored: no such attribute\n");
	EXPECT_SAYS(said, "memcast: MEMCAST_PROFILE: line 10 of /tmp/");
}

TEST_F(environment, memcast_inject)
{
	char said[4096];

	EXPECT_EQ(0, run_role("see_failures",
			      "MEMCAST_INJECT=cuInit:802*3,cuDeviceTotalMem:999,"
			      "cuDeviceGet:0*2,cuDeviceGet:101*1,"
			      "cuModuleLoad:300*1,cuDriverGetVersion:34", said));
	EXPECT_STREQ("", said);
	EXPECT_EQ(0, run_role("start",
			      "MEMCAST_INJECT=cuNoSuch:1,cuInit:12345,cuInit,cuInit:,cuInit:1*,"
			      "cuInit:1*x,cuInit:1*0", said));
	EXPECT_EQ(6, count_lines(said))
		TH_LOG("%s", said);
}

TEST_HARNESS_MAIN
