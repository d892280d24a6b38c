// SPDX-License-Identifier: MIT
/*
 * Writes a profile: a device's attributes, which memcast's devices then have with
 * MEMCAST_PROFILE. It only calls the driver API, and runs on a machine that has the device.
 */
#include <ctype.h>
#include <cuda.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_UNKNOWN	1000	/* no driver has as many attributes */

static const struct {
	const char *name;
	int attribute;
} names[] = {
#include "attribute-names.h"	/* made from cuda.h */
};

static const char usage[] =
	"Usage: memcast-profile [--device N]\n"
	"\n"
	"Write what device N (0) says of itself: its name, memory, granularities and\n"
	"attributes, as a profile. memcast's devices say the same with\n"
	"MEMCAST_PROFILE=FILE. On a machine that has the device, run it with NVIDIA's library:\n"
	"\n"
	"  LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu memcast-profile >a100.profile\n"
	"\n"
	"  --device N   which device\n"
	"  --help       this\n"
	"  --version    the version\n";

#define CHECK(call)							\
({									\
	CUresult result_ = (call);					\
	const char *name_ = "?";					\
									\
	if (result_ != CUDA_SUCCESS) {					\
		cuGetErrorName(result_, &name_);			\
		errx(1, "%s: %s", #call, name_);			\
	}								\
})

/* An attribute that cuda.h does not know is printed as a number. Of two names the first counts. */
static void print_attribute(int attribute, int value)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].attribute == attribute) {
			printf("%s = %d\n", names[i].name, value);
			return;
		}
	}
	printf("# unknown here: %d = %d\n", attribute, value);
}

static void print_granularities(CUdevice device)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};
	size_t minimum, recommended;

	CHECK(cuMemGetAllocationGranularity(&minimum, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemGetAllocationGranularity(&recommended, &prop,
					    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	printf("GRANULARITY_MINIMUM = %zu\nGRANULARITY_RECOMMENDED = %zu\n", minimum, recommended);
}

static void print_profile(CUdevice device)
{
	char name[256] = "";
	size_t memory;
	int version;

	CHECK(cuDriverGetVersion(&version));
	CHECK(cuDeviceGetName(name, sizeof(name), device));
	CHECK(cuDeviceTotalMem(&memory, device));
	printf("# %s, CUDA %d.%d, by memcast-profile\n", name, version / 1000, version % 1000 / 10);
	printf("NAME = %s\nTOTAL_MEMORY = %zu\n", name, memory);
	print_granularities(device);
	for (int attribute = 1; attribute < FIRST_UNKNOWN; attribute++) {
		int value;

		if (cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS)
			print_attribute(attribute, value);
	}
}

int main(int argc, char **argv)
{
	CUdevice device = 0;
	int ordinal = 0;
	char *end;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "--version")) {
			puts("memcast-profile (memcast) " MEMCAST_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "--device") || !argv[i + 1]) {
			fputs(usage, stderr);
			return 2;
		}
		ordinal = (int)strtoul(argv[++i], &end, 10);
		if (!isdigit((unsigned char)*argv[i]) || *end)
			errx(2, "--device %s: not a number", argv[i]);
	}
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, ordinal));
	print_profile(device);
	if (ferror(stdout) || fflush(stdout))
		err(1, "the output");
	return 0;
}
