// SPDX-License-Identifier: MIT
/* Functions of PTX that have one address in the modules of all devices. */
#include <stdio.h>
#include "memcast_test.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Calls the function at @function with @value, and stores its result. */
#define USE								\
	".visible .entry use(.param .u64 function, .param .u64 to, .param .u32 value) {\n" \
	".reg .b64 %d<3>; .reg .b32 %r<3>;\n"				\
	"ld.param.u64 %d1, [function]; ld.param.u64 %d2, [to]; ld.param.u32 %r1, [value];\n" \
	"{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r1;\n"	\
	"like: .callprototype (.param .b32 _) _ (.param .b32 _);\n"	\
	"call (r), %d1, (a), like; ld.param.b32 %r2, [r]; }\n"		\
	"st.global.u32 [%d2], %r2; ret; }\n"

/* times() multiplies with its module's own factor. */
static const char functions[] = HEAD
	".visible .global .align 4 .b32 factor = 1;\n"
	".global .attribute(.unified(5, 6)) .align 4 .b32 nought = 0;\n"
	".func .attribute(.unified(0xab, 0xcd)) (.param .b32 r) times(.param .b32 a) {\n"
	".reg .b32 %r<5>; ld.param.b32 %r1, [a]; ld.global.u32 %r2, [factor];\n"
	"ld.global.u32 %r4, [nought]; mad.lo.u32 %r3, %r1, %r2, %r4; st.param.b32 [r], %r3; ret; }\n"
	".func (.param .b32 r) plain(.param .b32 a) { ret; }\n"
	".global .align 8 .u64 pointer = times;\n"
	/* the function's address, by the instruction and by the variable */
	".visible .entry give(.param .u64 to) {\n"
	".reg .b64 %d<4>; ld.param.u64 %d1, [to];\n"
	"mov.u64 %d2, times; st.global.u64 [%d1], %d2;\n"
	"ld.global.u64 %d3, [pointer]; st.global.u64 [%d1 + 8], %d3; ret; }\n"
	USE;

static const char caller[] = HEAD USE;

FIXTURE(unified)
{
	CUcontext context[3];
	CUdeviceptr memory[3];
};

FIXTURE_SETUP(unified) { }
NOTHING_LEFT(unified)

TEST_HELPER CUresult launch(CUmodule module, const char *name, void **parameters)
{
	CUfunction function;
	CUresult result = cuModuleGetFunction(&function, module, name);

	return result ? result : cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}

#define LAUNCH(module, name, parameters...)	launch(module, name, (void *[]) { parameters })

/* Contexts of three devices; that of device 0 is current. */
#define start()	start_(_metadata, self)
TEST_HELPER void start_(struct __test_metadata *_metadata, FIXTURE_DATA(unified) *self)
{
	uint64_t nowhere = 0;
	uint32_t value = 0;
	CUmodule module;

	ASSERT_OK(cuInit(0));
	for (int i = 2; i >= 0; i--) {
		ASSERT_OK(cuDevicePrimaryCtxRetain(&self->context[i], i));
		ASSERT_OK(cuCtxSetCurrent(self->context[i]));
		ASSERT_OK(cuMemAlloc(&self->memory[i], CHUNK));
	}
	ASSERT_OK(cuModuleLoadData(&module, HEAD ".visible .entry empty() { ret; }\n"));
	/* make test T=ptx_unified_test and host-ptx.sh bring memcast-ptx.so and LLVM along */
	if (LAUNCH(module, "empty", &nowhere, &value) == CUDA_ERROR_NOT_SUPPORTED)
		SKIP(_exit(KSFT_SKIP), "memcast-ptx.so is not here");
}

/* Sets the factor of a module in the current context. */
#define set_factor(module, value)	set_factor_(_metadata, module, value)
TEST_HELPER void set_factor_(struct __test_metadata *_metadata, CUmodule module, uint32_t value)
{
	CUdeviceptr factor;

	ASSERT_OK(cuModuleGetGlobal(&factor, NULL, module, "factor"));
	ASSERT_OK(cuMemcpyHtoD(factor, &value, 4));
}

/* Return: where the function is, as a kernel of the module finds it in both ways */
#define given(module, memory)	given_(_metadata, module, memory)
TEST_HELPER CUdeviceptr given_(struct __test_metadata *_metadata, CUmodule module,
			       CUdeviceptr memory)
{
	CUdeviceptr pointers[2] = { 1, 2 };

	ASSERT_OK(LAUNCH(module, "give", &memory));
	ASSERT_OK(cuMemcpyDtoH(pointers, memory, sizeof(pointers)));
	ASSERT_EQ(pointers[0], pointers[1]);
	return pointers[0];
}

/* Return: what the function at @function gives a kernel of the module for 7 */
#define used(module, function, memory)	used_(_metadata, module, function, memory)
TEST_HELPER uint32_t used_(struct __test_metadata *_metadata, CUmodule module,
			   CUdeviceptr function, CUdeviceptr memory)
{
	uint32_t value = 7, result = 0;

	ASSERT_OK(LAUNCH(module, "use", &function, &memory, &value));
	ASSERT_OK(cuMemcpyDtoH(&result, memory, 4));
	return result;
}

TEST_F(unified, one_address_on_all_devices)
{
	CUdeviceptr at[3];
	CUmodule module[3];
	CUlibrary library;
	void *function;

	start();
	ASSERT_OK(cuLibraryLoadData(&library, functions, NULL, NULL, 0, NULL, NULL, 0));
	for (int i = 0; i < 3; i++) {
		ASSERT_OK(cuCtxSetCurrent(self->context[i]));
		ASSERT_OK(cuLibraryGetModule(&module[i], library));
		set_factor(module[i], 10 * (i + 1));
		at[i] = given(module[i], self->memory[i]);
		EXPECT_EQ(at[0], at[i]);
		ASSERT_OK(cuLibraryGetUnifiedFunction(&function, library, "times"));
		EXPECT_EQ(at[0], (CUdeviceptr)function);
	}
	for (int i = 0; i < 3; i++) {
		ASSERT_OK(cuCtxSetCurrent(self->context[i]));
		EXPECT_EQ(70 * (i + 1), (int)used(module[i], at[0], self->memory[i]));
	}
	ASSERT_OK(cuLibraryUnload(library));
}

/* A kernel calls its own module's function, or else one of its context. */
TEST_F(unified, the_kernels_module_comes_first)
{
	CUmodule first, second, without, elsewhere;
	CUdeviceptr at;
	uint32_t value = 7;

	start();
	ASSERT_OK(cuModuleLoadData(&first, functions));
	ASSERT_OK(cuModuleLoadData(&second, functions));
	set_factor(first, 2);
	set_factor(second, 3);
	at = given(first, self->memory[0]);
	EXPECT_EQ(at, given(second, self->memory[0]));
	EXPECT_EQ(14, (int)used(first, at, self->memory[0]));
	EXPECT_EQ(21, (int)used(second, at, self->memory[0]));
	ASSERT_OK(cuModuleUnload(second));
	EXPECT_EQ(14, (int)used(first, at, self->memory[0]));
	ASSERT_OK(cuModuleLoadData(&without, caller));
	EXPECT_EQ(14, (int)used(without, at, self->memory[0]));

	ASSERT_OK(cuCtxSetCurrent(self->context[1]));
	ASSERT_OK(cuModuleLoadData(&elsewhere, caller));
	ASSERT_OK(LAUNCH(elsewhere, "use", &at, &self->memory[1], &value));
	EXPECT_CU(CUDA_ERROR_INVALID_PC, cuCtxSynchronize());
}

TEST_F(unified, names)
{
	CUlibrary library, other;
	void *function;

	start();
	ASSERT_OK(cuLibraryLoadData(&library, functions, NULL, NULL, 0, NULL, NULL, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLibraryGetUnifiedFunction(NULL, library, "times"));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLibraryGetUnifiedFunction(&function, library, NULL));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "plain"));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "use"));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "factor"));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, library, "other"));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetUnifiedFunction(&function, NULL, "times"));
	ASSERT_OK(cuLibraryLoadData(&other, caller, NULL, NULL, 0, NULL, NULL, 0));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetUnifiedFunction(&function, other, "times"));
	ASSERT_OK(cuLibraryUnload(other));
	ASSERT_OK(cuLibraryUnload(library));
}

TEST_F(unified, wrong_text)
{
	static const char *const wrong[] = {
		"()", "(.managed)", "(.unified)", "(.unified(1))", "(.unified(1,))", "(.unified(1, 2)",
		"(.unified(1, 2, 3))", "(.unified(0f3F800000, 2))", "(.unified(1, a))",
		"(.unified(1, 2)) .attribute(.unified(1, 2))",
	};
	char text[256];
	CUmodule module;

	start();
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(text, sizeof(text), HEAD ".func .attribute%s f() { ret; }\n"
			 ".visible .entry k() { call f; ret; }\n", wrong[i]);
		EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, text))
			TH_LOG("%s", wrong[i]);
	}
}

TEST_HARNESS_MAIN
