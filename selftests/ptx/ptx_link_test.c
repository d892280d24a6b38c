// SPDX-License-Identifier: MIT
/* Texts of PTX: what is wrong with them, options of compilers, and linking. */
#include "fatbin.h"
#include "ptx_fixture.h"
#include "reason.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* The program's own allocator, as with jemalloc: the C library's free() would abort at its memory. */
#define OWN 0x6f776e206f776e21

void *__libc_malloc(size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static bool is_own(const uint64_t *memory)
{
	return memory && memory[-1] == OWN;
}

static void *make_own(uint64_t *memory)
{
	if (!memory)
		return NULL;
	memory[1] = OWN;
	return memory + 2;
}

void *malloc(size_t size)
{
	return make_own(__libc_malloc(size + 16));
}

void *realloc(void *memory, size_t size)
{
	if (memory && !is_own(memory))
		return __libc_realloc(memory, size);
	return make_own(__libc_realloc(memory ? (uint64_t *)memory - 2 : NULL, size + 16));
}

void free(void *memory)
{
	__libc_free(is_own(memory) ? (uint64_t *)memory - 2 : memory);
}
#endif

TEST_F(ptx, wrong_text)
{
	static const char text[] = HEAD ".visible .entry k() {\n.reg .b32 %r<2>;\n"
		"add.u32 %r0, %r1, %r1;\nadd.u33 %r0, %r1, %r1;\nret; }\n";
	static const char calls[] = HEAD ".extern .func none();\n.entry k() { call none; ret; }\n";
	char error[512] = "";
	CUjit_option options[] = {
		CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
	};
	void *values[] = { error, (void *)sizeof(error) };

	load(kernels);
	EXPECT_CU(CUDA_ERROR_INVALID_PTX,
		  cuModuleLoadDataEx(&self->module, text, 2, options, values));
	EXPECT_SAYS(error, "line 7");
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&self->module, calls),
			 "ptxas: line #: nothing defines the function 'none'");
}

static CUresult load_for(CUmodule *module, const char *text, unsigned int target)
{
	CUjit_option option = CU_JIT_TARGET;
	void *value = (void *)(uintptr_t)target;

	return cuModuleLoadDataEx(module, text, 1, &option, &value);
}

/* CU_JIT_TARGET is neither older than the text nor another device's. */
TEST_F(ptx, jit_target)
{
	static const char text[] = HEAD ".visible .entry k() { ret; }\n";
	CUmodule module;

	load(kernels);
	EXPECT_CU(CUDA_ERROR_INVALID_PTX, load_for(&module, text, 80));
	EXPECT_CU(CUDA_ERROR_INVALID_SOURCE, load_for(&module, text, 100));
	ASSERT_OK(load_for(&module, text, 90));
	ASSERT_OK(cuModuleUnload(module));
	ASSERT_OK(load_for(&module, text, 0x10000 + 90));	/* 90a */
	ASSERT_OK(cuModuleUnload(module));
}

TEST_F(ptx, debug_needs_information)
{
	static const char text[] = ".version 8.0\n.target sm_90, debug\n.address_size 64\n"
		".visible .entry k() { ret; }\n";
	static const char debugged[] = ".version 8.0\n.target sm_90, debug\n.address_size 64\n"
		".visible .entry k() { ret; }\n.section .debug_info { .b8 0 }\n";
	CUmodule module;

	load(kernels);
	EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, text));
	ASSERT_OK(cuModuleLoadData(&module, debugged));
	ASSERT_OK(cuModuleUnload(module));
}

TEST_F(ptx, links_parts)
{
	static const char caller[] = HEAD
		".extern .func (.param .b32 r) twice(.param .b32 x);\n"
		".visible .entry k(.param .u64 to) {\n.reg .b32 %r<3>; .reg .b64 %d<2>;\n"
		"ld.param.u64 %d1, [to]; mov.u32 %r1, %tid.x;\n"
		"{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r1; call (v), twice, (a);\n"
		"ld.param.b32 %r2, [v]; }\n"
		"mul.wide.u32 %d0, %r1, 4; add.u64 %d1, %d1, %d0; st.global.u32 [%d1], %r2; ret; }\n";
	static const char called[] = HEAD
		".visible .func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %r<2>;\n"
		"ld.param.b32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }\n";
	uint32_t *to;
	CUlinkState state;
	CUmodule linked;
	size_t bytes;
	void *image;

	load(kernels);
	to = (uint32_t *)self->memory;
	ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)caller, sizeof(caller), "caller",
				0, NULL, NULL));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)called, sizeof(called), "called",
				0, NULL, NULL));
	ASSERT_OK(cuLinkComplete(state, &image, &bytes));
	ASSERT_OK(cuModuleLoadData(&linked, image));
	ASSERT_OK(cuLinkDestroy(state));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
	ASSERT_OK(launch(linked, self->stream, "k", 1, 32, (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (uint32_t i = 0; i < 32; i++)
		EXPECT_EQ(2 * i, to[i]);
}

/*
 * A variable has no address before the texts are linked, as a later try writes initial values; and
 * linking needs memory for all of them.
 */
TEST_F(ptx, links_when_there_is_memory)
{
	static const char small[] = HEAD ".visible .global .align 4 .u32 a = 7;\n";
	static const char large[] = HEAD ".visible .global .b8 large[1 << 20][1 << 19];\n";
	CUdeviceptr address;
	CUlibrary library;
	CUlinkState state;
	CUmodule linked;
	size_t bytes;
	void *image;

	load(kernels);
	ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)small, sizeof(small), "small", 0, NULL,
				NULL));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)large, sizeof(large), "large", 0, NULL,
				NULL));
	ASSERT_OK(cuLinkComplete(state, &image, &bytes));
	ASSERT_OK(cuModuleLoadData(&linked, image));
	ASSERT_OK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuLinkDestroy(state));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuModuleGetGlobal(&address, NULL, linked, "a"));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuLibraryGetGlobal(&address, NULL, library, "a"));
	ASSERT_OK(cuLibraryUnload(library));
	ASSERT_OK(cuModuleUnload(linked));
}

/* The second device's module is linked when the program and the first device have changed it. */
TEST_F(ptx, links_managed_variables)
{
	static const char adder[] = HEAD
		".extern .global .attribute(.managed) .align 4 .u32 both;\n"
		".visible .entry k() { .reg .b32 %r;\n"
		"ld.global.u32 %r, [both]; add.u32 %r, %r, 2; st.global.u32 [both], %r; ret; }\n";
	static const char variable[] = HEAD
		".visible .global .attribute(.managed) .align 4 .u32 both = 5;\n";
	CUdeviceptr both;
	CUlinkState state;
	CUlibrary library;
	CUkernel kernel;
	size_t bytes;
	void *image;

	load(kernels);
	ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)adder, sizeof(adder), "adder",
				0, NULL, NULL));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)variable, sizeof(variable),
				"variable", 0, NULL, NULL));
	ASSERT_OK(cuLinkComplete(state, &image, &bytes));
	ASSERT_OK(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuLinkDestroy(state));
	ASSERT_OK(cuLibraryGetKernel(&kernel, library, "k"));
	ASSERT_OK(cuLibraryGetManaged(&both, NULL, library, "both"));
	EXPECT_EQ(5, *(uint32_t *)both);
	*(uint32_t *)both = 10;
	for (CUdevice device = 0; device < 2; device++) {
		cuda_start(device);
		ASSERT_OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
		ASSERT_OK(cuCtxSynchronize());
		EXPECT_EQ(12 + 2 * device, *(uint32_t *)both);
	}
	ASSERT_OK(cuLibraryUnload(library));
}

/* A part may be a fatbin; what is none is refused, and the parts before it stay. */
TEST_F(ptx, links_a_fatbin)
{
	static const char text[] = HEAD ".visible .entry k(.param .u64 to) { .reg .b64 %d;\n"
		"ld.param.u64 %d, [to]; st.global.u32 [%d], 7; ret; }\n";
	static struct {
		FATBIN_FIELDS;
		struct {
			FATBIN_ENTRY_FIELDS;
			char data[(sizeof(text) + 7) & ~7UL];
		} entry;
	} fatbin = {
		.magic = FATBIN_MAGIC, .version = 1, .header_bytes = 16,
		.bytes = sizeof(fatbin.entry),
		.entry = {
			.kind = 1, .version = 0x101, .architecture = 90, .flags = 0x11,
			.header_bytes = sizeof(fatbin.entry) - sizeof(fatbin.entry.data),
			.bytes = sizeof(fatbin.entry.data),
		},
	};
	CUlinkState state;
	CUmodule linked;
	size_t bytes;
	void *image;

	load(kernels);
	memcpy(fatbin.entry.data, text, sizeof(text));
	ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, &fatbin, sizeof(fatbin), "fat", 0,
				NULL, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE,
		  cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, (void *)text, sizeof(text), "text",
				0, NULL, NULL));
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE,
			 cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, &fatbin, sizeof(fatbin) - 1,
				       "cut", 0, NULL, NULL),
			 "a fatbin that ends before its end");
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE,
			 cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, &fatbin, 15, "cut", 0, NULL,
				       NULL), "a fatbin that ends in its header");
	fatbin.entry.architecture = 120;
	EXPECT_CU_REASON(CUDA_ERROR_NO_BINARY_FOR_GPU,
			 cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, &fatbin, sizeof(fatbin),
				       "new", 0, NULL, NULL),
			 "the fatbin has no PTX for the device");
	EXPECT_REASON(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, 0, "text", 0, NULL,
				    NULL), "NULL part, or no size of it");
	ASSERT_OK(cuLinkComplete(state, &image, &bytes));
	EXPECT_REASON(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, sizeof(text), "late", 0,
				    NULL, NULL), "the parts are linked already");
	ASSERT_OK(cuModuleLoadData(&linked, image));
	ASSERT_OK(cuLinkDestroy(state));
	ASSERT_OK(launch(linked, self->stream, "k", 1, 1, (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(7, *(uint32_t *)self->memory);
	ASSERT_OK(cuModuleUnload(linked));
}

/* Two parts have a private variable of one name, and one that both may see. */
#define PART(function, value) HEAD						\
	".global .u32 own = " value "; .extern .global .u32 seen;\n"		\
	".visible .func (.param .b32 r) " function "() { .reg .b32 %a, %b;\n"	\
	"ld.global.u32 %a, [own]; ld.global.u32 %b, [seen]; add.u32 %a, %a, %b;\n" \
	"st.param.b32 [r], %a; ret; }\n"

TEST_F(ptx, links_private_names)
{
	static const char caller[] = HEAD ".visible .global .u32 seen = 100;\n"
		".extern .func (.param .b32 r) one();\n.extern .func (.param .b32 r) two();\n"
		".visible .entry k(.param .u64 to) {\n.reg .b32 %r<3>; .reg .b64 %d<2>;\n"
		"ld.param.u64 %d1, [to]; { .param .b32 v; call (v), one, (); ld.param.b32 %r1, [v]; }\n"
		"{ .param .b32 v; call (v), two, (); ld.param.b32 %r2, [v]; }\n"
		"st.global.v2.u32 [%d1], {%r1, %r2}; ret; }\n";
	static const char *const parts[] = { caller, PART("one", "1"), PART("two", "2") };
	uint32_t *to, value = 200;
	CUdeviceptr seen;
	CUlinkState state;
	CUmodule linked;
	size_t bytes;
	void *image;

	load(kernels);
	to = (uint32_t *)self->memory;
	ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
	for (int i = 0; i < 3; i++)
		ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)parts[i],
					strlen(parts[i]) + 1, "part", 0, NULL, NULL));
	ASSERT_OK(cuLinkComplete(state, &image, &bytes));
	ASSERT_OK(cuModuleLoadData(&linked, image));
	ASSERT_OK(cuLinkDestroy(state));
	/* what a program writes before the first launch stays */
	ASSERT_OK(cuModuleGetGlobal(&seen, &bytes, linked, "seen"));
	EXPECT_EQ(100, *(uint32_t *)seen);
	ASSERT_OK(cuMemcpyHtoD(seen, &value, sizeof(value)));
	ASSERT_OK(launch(linked, self->stream, "k", 1, 1, (void *[]) { &self->memory }));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(201, to[0]);
	EXPECT_EQ(202, to[1]);
	ASSERT_OK(cuModuleUnload(linked));
}

/* Of two kernels, the one that is not weak counts, and its parameters, wherever it is. */
TEST_F(ptx, links_weak_kernels)
{
	static const char *const parts[] = {
		HEAD ".weak .entry k(.param .u64 to) { .reg .b64 %d;\n"
		"ld.param.u64 %d, [to]; st.global.u32 [%d], 1; ret; }\n",
		HEAD ".visible .entry k(.param .u64 to, .param .u32 v) { .reg .b64 %d; .reg .b32 %r;\n"
		"ld.param.u64 %d, [to]; ld.param.u32 %r, [v]; st.global.u32 [%d], %r; ret; }\n",
	};

	load(kernels);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t value = 7 + i, count;
		CUlinkState state;
		CUmodule linked;
		void *image;

		ASSERT_OK(cuLinkCreate(0, NULL, NULL, &state));
		for (uint32_t j = 0; j < 2; j++)
			ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)parts[j == i],
						strlen(parts[j == i]) + 1, "part", 0, NULL,
						NULL));
		ASSERT_OK(cuLinkComplete(state, &image, NULL));
		ASSERT_OK(cuModuleLoadData(&linked, image));
		ASSERT_OK(cuLinkDestroy(state));
		EXPECT_OK(cuModuleGetFunctionCount(&count, linked));
		EXPECT_EQ(1, count);
		ASSERT_OK(launch(linked, self->stream, "k", 1, 1,
				 (void *[]) { &self->memory, &value }));
		ASSERT_OK(cuStreamSynchronize(self->stream));
		EXPECT_EQ(value, *(uint32_t *)self->memory);
		ASSERT_OK(cuModuleUnload(linked));
	}
}

/* The error log has what is wrong with the second part, although the first one was written, too. */
TEST_F(ptx, links_say_why_not)
{
	static const char text[] = HEAD ".visible .func twice() { ret; }\n";
	CUjit_option options[] = {
		CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
	};
	char error[512] = "";
	void *values[] = { error, (void *)sizeof(error) };
	CUlinkState state;
	size_t bytes;
	void *image;

	load(kernels);
	ASSERT_OK(cuLinkCreate(2, options, values, &state));
	ASSERT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, sizeof(text), "first", 0,
				NULL, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_SOURCE,
		  cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, sizeof(text), "second", 0,
				NULL, NULL));
	EXPECT_SAYS(error, "'twice' in 'second'");
	EXPECT_EQ(strlen(error), (size_t)values[1]);
	/* the first part is there still, alone */
	EXPECT_OK(cuLinkComplete(state, &image, &bytes));
	ASSERT_OK(cuLinkDestroy(state));
}

TEST_HARNESS_MAIN
