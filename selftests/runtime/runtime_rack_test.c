// SPDX-License-Identifier: MIT
/*
 * The runtime on the last device of the machine, whatever its number. host-rack.sh runs this on a
 * machine with the 72 devices of a rack.
 */
#include <cuda_runtime_api.h>
#include "runtime_fixture.h"

FIXTURE(runtime_rack)
{
	int last;
};

FIXTURE_SETUP(runtime_rack)
{
	ASSERT_RT(cudaGetDeviceCount(&self->last));
	self->last--;
}
NOTHING_LEFT(runtime_rack)

static int active(int device)
{
	unsigned int flags;
	int active = -1;

	cuDevicePrimaryCtxGetState(device, &flags, &active);
	return active;
}

TEST_F(runtime_rack, reset)
{
	void *memory;

	for (int i = 0; i < 3; i++) {
		ASSERT_RT(cudaSetDevice(self->last));
		ASSERT_RT(cudaMalloc(&memory, 1));
		EXPECT_RT(cudaSuccess, cudaDeviceReset());
		EXPECT_EQ(0, active(self->last));
	}
	ASSERT_RT(cudaMalloc(&memory, 1));
	EXPECT_EQ(1, active(self->last));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

/* The runtime retains the context once, however often the program chooses the device. */
TEST_F(runtime_rack, one_reference)
{
	for (int i = 0; i < 3; i++)
		ASSERT_RT(cudaSetDevice(self->last));
	EXPECT_EQ(1, active(self->last));
	EXPECT_OK(cuDevicePrimaryCtxRelease(self->last));
	EXPECT_EQ(0, active(self->last));
}

TEST_HARNESS_MAIN
