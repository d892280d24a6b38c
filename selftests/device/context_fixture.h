/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of contexts */
#ifndef CONTEXT_FIXTURE_H
#define CONTEXT_FIXTURE_H

#include "memcast_test.h"
#include "reason.h"

/* Binaries of before CUDA 13.0 import these; cuda.h declares the newest under the plain name. */
CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *limits, int count,
			unsigned int flags, CUdevice device);

/* No context is current, and no primary context is retained. */
FIXTURE(context) { int devices; };
FIXTURE_SETUP(context)
{
	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDeviceGetCount(&self->devices));
	ASSERT_LE(2, self->devices);
}
NOTHING_LEFT(context)

#define UNTOUCHED	((CUcontext)0x7777)
#define MAX_CONTEXTS	3520
#define MAX_STACK	256

/* @call fails with @result for the reason @text; it makes no context and pushes none. */
#define EXPECT_NO_CONTEXT(result, call, text)		\
do {							\
	EXPECT_CU_REASON(result, call, text);		\
	EXPECT_EQ(UNTOUCHED, context);			\
	EXPECT_EQ(NULL, current());			\
} while (0)

TEST_HELPER CUcontext current(void)
{
	CUcontext context = UNTOUCHED;

	cuCtxGetCurrent(&context);
	return context;
}

TEST_HELPER CUdevice current_device(void)
{
	CUdevice device = -1;

	cuCtxGetDevice(&device);
	return device;
}

#define created(flags, device)	created_(_metadata, flags, device)
TEST_HELPER CUcontext created_(struct __test_metadata *_metadata, unsigned int flags,
			  CUdevice device)
{
	CUcontext context = NULL;

	ASSERT_OK(cuCtxCreate(&context, NULL, flags, device));
	return context;
}

#endif /* CONTEXT_FIXTURE_H */
