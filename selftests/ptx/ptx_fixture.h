/* SPDX-License-Identifier: MIT */
/* Tests of kernels that run from their PTX: a context with a module, a stream and memory. */
#ifndef PTX_FIXTURE_H
#define PTX_FIXTURE_H

#include <string.h>
#include "memcast_test.h"
#include "ptx_kernels.h"

FIXTURE(ptx)
{
	CUmodule module;
	CUstream stream;
	CUdeviceptr memory;
};

FIXTURE_SETUP(ptx) { }
NOTHING_LEFT(ptx)

TEST_HELPER CUresult launch(CUmodule module, CUstream stream, const char *name, unsigned int grid,
			    unsigned int block, void **parameters)
{
	CUfunction function;
	CUresult result = cuModuleGetFunction(&function, module, name);

	return result ? result : cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream,
						parameters, NULL);
}

#define load(text)	load_(_metadata, self, text, 0)
TEST_HELPER void load_(struct __test_metadata *_metadata, FIXTURE_DATA(ptx) *self,
		       const char *text, CUdevice device)
{
	cuda_start(device);
	/* make test T=ptx_test and host-ptx.sh bring memcast-ptx.so and LLVM along */
	ASSERT_OK(cuModuleLoadData(&self->module, kernels));
	if (launch(self->module, NULL, "empty", 1, 1, NULL) == CUDA_ERROR_NOT_SUPPORTED)
		SKIP(_exit(KSFT_SKIP), "memcast-ptx.so is not here");
	if (text != kernels)
		ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuMemAlloc(&self->memory, CHUNK));
	ASSERT_OK(cuMemsetD32(self->memory, 0, CHUNK / 4));
	ASSERT_OK(cuCtxSynchronize());
}

#define LAUNCH(name, grid, block, parameters...)	\
	launch(self->module, self->stream, name, grid, block, (void *[]) { parameters })

/* The log has each of the words. */
#define EXPECT_LOG(words...)	expect_log(_metadata, (const char *[]) { words, NULL })
TEST_HELPER void expect_log(struct __test_metadata *_metadata, const char *const *words)
{
	char log[8192];
	size_t size = sizeof(log);

	ASSERT_OK(cuLogsDumpToMemory(NULL, log, &size, 0));
	for (; *words; words++)
		EXPECT_SAYS(log, *words);
}

#endif /* PTX_FIXTURE_H */
