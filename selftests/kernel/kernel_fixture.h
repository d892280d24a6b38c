/* SPDX-License-Identifier: MIT */
/* Kernels by name: the kernels that tests launch, and how tests launch them. */
#ifndef KERNEL_FIXTURE_H
#define KERNEL_FIXTURE_H

#include <memcast/kernel.h>
#include "log_lines.h"

static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .global .u32 word = 7;\n"
	".visible .entry fill(.param .u64 to, .param .u32 value) { ret; }\n"
	".visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 add) { ret; }\n"
	".visible .entry sum(.param .u64 to, .param .u64 from) { .shared .b8 s[256]; ret; }\n"
	".visible .entry turns(.param .u64 to) { ret; }\n"
	".visible .entry store(.param .u64 to) { ret; }\n"
	".visible .entry check(.param .u64 at, .param .u64 bytes) { ret; }\n"
	".visible .entry recurse(.param .u32 depth) { ret; }\n"
	".visible .entry wait_word(.param .u64 at, .param .u32 value) { ret; }\n"
	".visible .entry meet(.param .u64 at, .param .u32 blocks) { ret; }\n"
	".visible .entry trap() { trap; }\n"
	".visible .entry read_word(.param .u64 to) { ret; }\n"
	".visible .entry all_reduce(.param .u64 team) { ret; }\n"
	".visible .entry _Z5plainPi(.param .u64 to) .maxntid 64 { ret; }\n"
	".visible .entry late(.param .u64 to) { ret; }\n"
	".visible .entry slow(.param .u64 to) { ret; }\n"
	".visible .entry kind(.param .u64 to) { ret; }\n"
	".visible .entry unknown(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n";

#define PARAMETER	MEMCAST_PARAMETER

MEMCAST_KERNEL(fill, MEMCAST_THREADS_ALONE, uint32_t *, uint32_t)
{
	PARAMETER(at, 0, uint32_t *)[memcast_thread(at)] = PARAMETER(at, 1, uint32_t);
}

MEMCAST_KERNEL(store, MEMCAST_THREADS_ALONE, volatile uint32_t *)
{
	if (at->block_index.x == 1 && at->thread_index.x == 2)
		*PARAMETER(at, 0, volatile uint32_t *) = 1;
}

MEMCAST_KERNEL(wait_word, MEMCAST_ONCE, const uint32_t *, uint32_t)
{
	while (__atomic_load_n(PARAMETER(at, 0, const uint32_t *), __ATOMIC_ACQUIRE) !=
	       PARAMETER(at, 1, uint32_t))
		memcastYield(at);
}

FIXTURE(kernel)
{
	CUmodule module;
	CUstream stream;
	CUdeviceptr memory;
};

FIXTURE_SETUP(kernel) { }
NOTHING_LEFT(kernel)

/* Prepares the test's own process; a test that forks a child does so before. */
#define load_kernels()	load_kernels_(_metadata, self)
TEST_HELPER void load_kernels_(struct __test_metadata *_metadata, FIXTURE_DATA(kernel) *self)
{
	cuda_start(0);
	ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuMemAlloc(&self->memory, 1 << 20));
	ASSERT_OK(cuMemsetD32(self->memory, 0, 1 << 18));
}

TEST_HELPER CUresult launch(CUmodule module, CUstream stream, const char *name, unsigned int grid,
		       unsigned int block, void **parameters)
{
	CUfunction function;
	CUresult result = cuModuleGetFunction(&function, module, name);

	return result ? result : cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream,
						parameters, NULL);
}

#define LAUNCH(name, grid, block, parameters...)	\
	launch(self->module, self->stream, name, grid, block, (void *[]) { parameters })

/* The stream's work ends with @result. @names: words that the log must have */
#define EXPECT_END(result, names...)	\
	expect_end(_metadata, self, result, (const char *[]) { names, NULL })
TEST_HELPER void expect_end(struct __test_metadata *_metadata, FIXTURE_DATA(kernel) *self,
			    CUresult result, const char *const *names)
{
	char log[8192];
	size_t size = sizeof(log);
	CUdeviceptr more;

	EXPECT_CU(result, cuStreamSynchronize(self->stream));
	EXPECT_CU(result, cuCtxSynchronize());
	EXPECT_CU(result, cuMemAlloc(&more, 4096));
	ASSERT_OK(cuLogsDumpToMemory(NULL, log, &size, 0));
	for (; *names; names++) {
		EXPECT_NE(NULL, strstr(log, *names))
			TH_LOG("no '%s' in: %s", *names, log);
	}
}

#endif /* KERNEL_FIXTURE_H */
