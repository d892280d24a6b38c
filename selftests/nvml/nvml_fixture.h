/* SPDX-License-Identifier: MIT */
/*
 * Shared by tests of libnvidia-ml.so.1. They are root's, as they set the module's parameter
 * multicast.
 */
#ifndef MEMCAST_NVML_FIXTURE_H
#define MEMCAST_NVML_FIXTURE_H

#include "memcast_test.h"

#include <nvml.h>

#define EXPECT_NVML(result, call)	EXPECT_EQ((int)(result), (int)(call))
#define ASSERT_NVML(result, call)	ASSERT_EQ((int)(result), (int)(call))
#define EXPECT_GOOD(call)		EXPECT_NVML(NVML_SUCCESS, call)
#define ASSERT_GOOD(call)		ASSERT_NVML(NVML_SUCCESS, call)

/* The value of an output that a call has not written */
#define UNTOUCHED	99

FIXTURE(nvml)
{
	nvmlDevice_t device;
	unsigned int devices;
};

FIXTURE_SETUP(nvml)
{
	ASSERT_GOOD(nvmlInit());
	ASSERT_GOOD(nvmlDeviceGetCount(&self->devices));
	ASSERT_GOOD(nvmlDeviceGetHandleByIndex(0, &self->device));
}

TEST_HELPER int set_parameter(const char *name, const char *value)
{
	char path[128];
	FILE *file;
	int failed;

	snprintf(path, sizeof(path), "/sys/module/memcast/parameters/%s", name);
	file = fopen(path, "we");
	if (!file)
		return -1;
	failed = fputs(value, file) < 0;
	return fclose(file) || failed ? -1 : 0;
}

#define DEVICE_0	"/sys/class/memcast/memcast0"

/* Runs after a failed test as well: the programs that follow need these values. */
FIXTURE_TEARDOWN_PARENT(nvml)
{
	set_parameter("multicast", "1");
	set_parameter("fabric_state", "ready");
	set_parameter("fabric_cluster", "00000000-0000-0000-0000-000000000000");
	set_parameter("fabric_clique", "0");
	write_in(DEVICE_0, "fabric_state", "ready");
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define SET(name, value)	ASSERT_EQ(0, set_parameter(name, value))

#define device_at(number)	device_at_(_metadata, number)
TEST_HELPER nvmlDevice_t device_at_(struct __test_metadata *_metadata, unsigned int number)
{
	nvmlDevice_t device = NULL;

	ASSERT_GOOD(nvmlDeviceGetHandleByIndex(number, &device));
	return device;
}

#endif /* MEMCAST_NVML_FIXTURE_H */
