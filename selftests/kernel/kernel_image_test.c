// SPDX-License-Identifier: MIT
/* Device code: what the library reads of PTX and fatbins, and what it refuses. */
#include <fenv.h>
#include <limits.h>

#include "kernel_image_fixture.h"
#include "reason.h"

#define check_functions(module)	check_functions_(_metadata, module)
static void check_functions_(struct __test_metadata *_metadata, CUmodule module)
{
	static const size_t expected[][2] = { { 0, 1 }, { 2, 2 }, { 4, 4 }, { 8, 8 }, { 16, 20 } };
	CUfunction function, all[2] = {};
	size_t offset, bytes, i;
	unsigned int count;
	const char *name;
	int value;

	ASSERT_OK(cuModuleGetFunctionCount(&count, module));
	EXPECT_EQ(2, count);
	ASSERT_OK(cuModuleGetFunction(&function, module, "first"));
	for (i = 0; i < 5; i++) {
		ASSERT_OK(cuFuncGetParamInfo(function, i, &offset, &bytes));
		EXPECT_EQ(expected[i][0], offset);
		EXPECT_EQ(expected[i][1], bytes);
	}
	EXPECT_REASON(cuFuncGetParamInfo(function, i, &offset, &bytes),
		      "the kernel has # parameters");
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
	EXPECT_EQ(64, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
	EXPECT_EQ(100, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
	EXPECT_EQ(24, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, function));
	EXPECT_EQ(16, value);
	EXPECT_REASON(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function),
		      "no attribute #");
	EXPECT_EQ(16, value);
	ASSERT_OK(cuModuleEnumerateFunctions(all, 2, module));
	EXPECT_OK(cuFuncGetName(&name, all[1]));
	EXPECT_STREQ("second", name);
}

TEST_F(kernel_image, ptx)
{
	static const signed char table[6] = { 1, 2, 0, 3 };
	static const int constants[4] = { -1, 22, 33 };
	CUdeviceptr address = 0;
	unsigned int word = 0;
	size_t bytes = 0;
	char copy[16];

	ASSERT_OK(cuModuleLoadData(&self->module, text));
	check_functions(self->module);
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	EXPECT_EQ(4, bytes);
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(7, word);
	EXPECT_REASON(cuMemcpyDtoH(copy, address, 8), "the source leaves the block at #");
	EXPECT_REASON(cuMemFree(address), "a module's variable");
	EXPECT_REASON(cuMemFreeAsync(address, NULL), "a module's variable");
	ASSERT_OK(cuModuleGetGlobal(&address, NULL, self->module, "third"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(0x3eaaaaab, word);
	ASSERT_OK(cuModuleGetGlobal(&address, NULL, self->module, "table"));
	ASSERT_OK(cuMemcpyDtoH(copy, address, 6));
	EXPECT_EQ(0, memcmp(table, copy, 6));
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "constants"));
	ASSERT_EQ(16, bytes);
	ASSERT_OK(cuMemcpyDtoH(copy, address, 16));
	EXPECT_EQ(0, memcmp(constants, copy, 16));
	EXPECT_REASON(cuModuleGetGlobal(&address, &bytes, self->module, "first"),
		      "first is a kernel");
	EXPECT_CU(CUDA_ERROR_NOT_FOUND,
		  cuModuleGetGlobal(&address, &bytes, self->module, "nothing"));
	EXPECT_OK(cuModuleUnload(self->module));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(self->module));
}

/* The values of an array tell how many vectors it has; braces are around each, or around all. */
TEST_F(kernel_image, arrays_of_vectors)
{
	static const char vectors[] =
		HEAD ".visible .global .v4 .u32 a[] = { { 1, 2, 3 }, { 5, 6, 7, 8 } };\n"
		".visible .global .v2 .u16 b[] = { 1, 2, 3 };\n"
		".visible .global .v2 .u8 c[][2] = { { { 1 }, { 3, 4 } }, { 5 } };\n" ENTRY;
	static const struct {
		const char *name;
		size_t bytes;
		unsigned char value[32];
	} arrays[] = {
		{ "a", 32, { [0] = 1, [4] = 2, [8] = 3, [16] = 5, [20] = 6, [24] = 7, [28] = 8 } },
		{ "b", 8, { [0] = 1, [2] = 2, [4] = 3 } },
		{ "c", 8, { 1, 0, 3, 4, 5 } },
	};
	unsigned char copy[32];
	CUdeviceptr address;
	size_t bytes;

	ASSERT_OK(cuModuleLoadData(&self->module, vectors));
	for (unsigned int i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, arrays[i].name));
		ASSERT_EQ(arrays[i].bytes, bytes)
			TH_LOG("%s", arrays[i].name);
		ASSERT_OK(cuMemcpyDtoH(copy, address, bytes));
		EXPECT_EQ(0, memcmp(arrays[i].value, copy, bytes))
			TH_LOG("%s", arrays[i].name);
	}
}

/* Dimensions are constant expressions, and each name of a list has its own. */
TEST_F(kernel_image, dimensions)
{
	static const char lists[] = HEAD ".visible .global .u32 a[2 * 2], b, c[(1 << 1) + 1] = {7};\n"
		".func f() { ret; }\n.visible .func g();\n.alias g, f;\n"
		".visible .entry k(.param .b8 p[4*4], .param .u32 q)\n{ .reg .u64 fp;\n"
		"P: .callprototype _ ();\n mov.u64 fp, f; call fp, (), P; call g; ret; }\n";
	static const size_t expected[] = { 16, 4, 12 };
	CUfunction function;
	CUdeviceptr address;
	size_t offset, bytes;

	ASSERT_OK(cuModuleLoadData(&self->module, lists));
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++) {
		const char name[] = { 'a' + i, '\0' };

		ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, name));
		EXPECT_EQ(expected[i], bytes)
			TH_LOG("%s", name);
	}
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "k"));
	EXPECT_OK(cuFuncGetParamInfo(function, 0, &offset, &bytes));
	EXPECT_EQ(16, bytes);
	EXPECT_OK(cuFuncGetParamInfo(function, 1, &offset, &bytes));
	EXPECT_EQ(16, offset);
}

/* Initial values are the nearest ones, whatever rounding the thread that loads has chosen. */
TEST_F(kernel_image, rounding_of_the_thread)
{
	static const char text[] = HEAD ".visible .global .f32 x = 0.7;\n"
				   ".visible .global .f64 y = 0.7;\n" ENTRY;
	CUdeviceptr address;
	uint64_t word = 0;
	CUresult result;
	int mode;

	ASSERT_EQ(0, fesetround(FE_UPWARD));
	result = cuModuleLoadData(&self->module, text);
	mode = fegetround();
	fesetround(FE_TONEAREST);
	ASSERT_OK(result);
	EXPECT_EQ(FE_UPWARD, mode);
	ASSERT_OK(cuModuleGetGlobal(&address, NULL, self->module, "x"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(0x3f333333, word);
	ASSERT_OK(cuModuleGetGlobal(&address, NULL, self->module, "y"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 8));
	EXPECT_EQ(0x3fe6666666666666, word);
}

TEST_F(kernel_image, refused)
{
	static const struct {
		const char *text;
		CUresult result;
	} cases[] = {
		{ HEAD ENTRY "junk", CUDA_ERROR_INVALID_PTX },
		{ HEAD ENTRY ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".entry k() { ret;", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".entry k() { frobnicate.u32 a, a; ret; }", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".entry k() { ret }", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".entry k(.param a) { ret; }", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .u32 v = 3", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .u32 v[2] = { 1 2 };" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .u32 v = .u32 3;" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .align 0 .u32 v;" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .align 12 .u32 v;" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .align v .u32 v;" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".visible .entry .attribute(.managed", CUDA_ERROR_INVALID_PTX },
		{ HEAD ".visible .global .attribute(.managed", CUDA_ERROR_INVALID_PTX },
		/* arrays of 2^64 - 1 bytes, and of 2^64 */
		{ HEAD ".global .b8 v[4294967295][641][6700417] = {1};" ENTRY,
		  CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[4294967296][4294967296] = {1};" ENTRY,
		  CUDA_ERROR_INVALID_PTX },
		/* rows that are larger than addresses, and as many as make them so */
		{ HEAD ".global .u32 v[][2147483647][2147483649] = {{1}, 2};" ENTRY,
		  CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[][2147483648][2147483648] = {{1}, {2}, {3}};" ENTRY,
		  CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[2.5];" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[1 - 2];" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[2] = {{{{{{{{{{1}}}}}}}}}};" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 8.0\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 7.0\n.target sm_90\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 9.0\n.target sm_100\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 8.0\n.target sm_90\n.address_size 32\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 99.0\n.target sm_90\n" ENTRY, CUDA_ERROR_UNSUPPORTED_PTX_VERSION },
		{ ".version 8.1\n.target sm_90\n.entry k(.param .b8 p[32765]) { ret; }",
		  CUDA_ERROR_INVALID_PTX },
		{ ".target sm_90\n" ENTRY, CUDA_ERROR_INVALID_IMAGE },
		{ "hello\0\0\0\0\0\0\0\0\0\0\0", CUDA_ERROR_INVALID_IMAGE },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", CUDA_ERROR_INVALID_IMAGE },
	};
	CUmodule module = (CUmodule)77;
	CUlibrary library;
	unsigned int i, count;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		EXPECT_CU(cases[i].result, cuModuleLoadData(&module, cases[i].text))
			TH_LOG("%s", cases[i].text);
		EXPECT_EQ((CUmodule)77, module);
		/*
		 * cuLibraryLoadData() accepts the text, finds no kernels, and the error comes later
		 */
		ASSERT_OK(cuLibraryLoadData(&library, cases[i].text, NULL, NULL, 0, NULL, NULL, 0));
		EXPECT_OK(cuLibraryGetKernelCount(&count, library));
		EXPECT_EQ(0, count);
		EXPECT_CU(cases[i].result, cuLibraryGetModule(&module, library));
		EXPECT_OK(cuLibraryUnload(library));
	}
	/* as many bytes of parameters as there may be */
	ASSERT_OK(cuModuleLoadData(&module, ".version 8.1\n.target sm_90\n"
				   ".entry k(.param .b8 p[32764]) { ret; }"));
	EXPECT_OK(cuModuleUnload(module));
	EXPECT_REASON(cuModuleLoadData(&module, NULL), "NULL output or image");
	EXPECT_REASON(cuModuleLoadData(NULL, text), "NULL output or image");
	EXPECT_CU(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent"));
	EXPECT_REASON(cuModuleLoad(&module, NULL), "NULL output, or no path");
	EXPECT_REASON(cuModuleLoad(&module, ""), "NULL output, or no path");
}

/* Without the translator the library itself reads declarations, and refuses the same. */
TEST_F(kernel_image, alignments_without_a_translator)
{
	static const char *const wrong[] = { "0", "3", "12", "v", "-4", "2147483648" };
	static const char *const right[] = { "1", "4", "16", "256" };
	char code[200];

	ASSERT_EQ(0, setenv("MEMCAST_PTX", "0", 1));
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		snprintf(code, sizeof(code), HEAD ".global .align %s .u32 v;\n" ENTRY, wrong[i]);
		EXPECT_CU(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&self->module, code))
			TH_LOG("%s", wrong[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(right); i++) {
		snprintf(code, sizeof(code), HEAD ".global .align %s .u32 v;\n" ENTRY, right[i]);
		ASSERT_OK(cuModuleLoadData(&self->module, code));
		EXPECT_OK(cuModuleUnload(self->module));
	}
}

/* A function's attributes are ints: more memory than they can say is the most that they can. */
TEST_F(kernel_image, memory_beyond_an_int)
{
	static const char code[] = HEAD ".visible .entry k() { .shared .b8 s[65536][65536]; "
				   ".local .b8 l[2147483647]; .local .b8 m[2147483647]; ret; }\n";
	CUfunction function;
	int value;

	ASSERT_EQ(0, setenv("MEMCAST_PTX", "0", 1));
	ASSERT_OK(cuModuleLoadData(&self->module, code));
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "k"));
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
	EXPECT_EQ(INT_MAX, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
	EXPECT_EQ(INT_MAX, value);
}

TEST_F(kernel_image, says_which_line)
{
	CUjit_option options[2] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	char log[200] = "";
	void *values[2] = { log, (void *)sizeof(log) };

	EXPECT_CU(CUDA_ERROR_INVALID_PTX,
		  cuModuleLoadDataEx(&self->module, HEAD "\n.entry k() { frobnicate a; }", 2,
				     options, values));
	EXPECT_SAYS(log, "line 5");
	EXPECT_SAYS(log, "frobnicate");
	EXPECT_EQ(strlen(log), (size_t)values[1]);
}

static const char managed_text[] = HEAD ENTRY
	".global .attribute(.managed) .align 4 .u32 both = 5;\n"
	".global .u32 word = 7;\n";

/* One for the program and all devices, until the library is unloaded */
TEST_F(kernel_image, managed_variables_of_a_library)
{
	CUdeviceptr address, other;
	CUcontext context;
	CUlibrary library;
	size_t bytes = 0;
	int managed = 0;

	ASSERT_OK(cuLibraryLoadData(&library, managed_text, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuLibraryGetManaged(&address, &bytes, library, "both"));
	EXPECT_EQ(4, bytes);
	EXPECT_EQ(5, *(uint32_t *)address);
	*(uint32_t *)address = 9;
	EXPECT_OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
	EXPECT_EQ(1, managed);
	EXPECT_REASON(cuMemFree(address), "a module's variable");
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&other, NULL, library, "word"));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged(&other, NULL, library, "none"));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLibraryGetManaged(NULL, NULL, library, "both"));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuLibraryGetManaged(&other, NULL, library, "both"));
	EXPECT_EQ(address, other);
	ASSERT_OK(cuLibraryGetGlobal(&other, NULL, library, "both"));
	EXPECT_EQ(address, other);
	EXPECT_EQ(9, *(uint32_t *)address);
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuLibraryGetManaged(&other, NULL, library, "both"));
	EXPECT_EQ(address, other);
	EXPECT_EQ(9, *(uint32_t *)address);
	EXPECT_OK(cuLibraryUnload(library));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
	ASSERT_OK(cuDevicePrimaryCtxRelease(1));
}

TEST_F(kernel_image, managed_variables_of_modules)
{
	CUdeviceptr address, other;
	CUmodule second;
	int managed;

	ASSERT_OK(cuModuleLoadData(&self->module, managed_text));
	ASSERT_OK(cuModuleLoadData(&second, managed_text));
	ASSERT_OK(cuModuleGetGlobal(&address, NULL, self->module, "both"));
	ASSERT_OK(cuModuleGetGlobal(&other, NULL, second, "both"));
	EXPECT_NE(address, other);
	EXPECT_EQ(5, *(uint32_t *)address);
	EXPECT_OK(cuModuleUnload(second));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, other));
	EXPECT_OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
	EXPECT_OK(cuModuleUnload(self->module));
}

/* Modules end with the primary context. A library's variables start anew in the next one. */
TEST_F(kernel_image, reset)
{
	CUdeviceptr address, other;
	CUlaunchConfig config = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1 };
	CUfunction function;
	CUlibrary library;
	CUcontext context;
	unsigned int word = 0;
	size_t bytes;
	int count;

	ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuLibraryGetGlobal(&address, &bytes, library, "word"));
	EXPECT_REASON(cuLibraryGetKernel(NULL, library, "fill"), "NULL output or name");
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuMemAlloc(&other, 64 << 10));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuLibraryGetGlobal(&address, &bytes, library, "word"));
	EXPECT_OK(cuMemcpyDtoH(&word, address, sizeof(word)));
	EXPECT_EQ(7, word);
	/* a block without threads, and clusters whose size wraps, cause no division by zero */
	ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
	config.attrs = (CUlaunchAttribute[]) { {
		.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { 1, 1, 1 } } };
	config.numAttrs = 1;
	ASSERT_OK(cuOccupancyMaxPotentialClusterSize(&count, function, &config));
	EXPECT_EQ(8, count);
	EXPECT_REASON(cuOccupancyMaxPotentialClusterSize(NULL, function, &config), "NULL output");
	EXPECT_REASON(cuOccupancyMaxActiveClusters(&count, function, &config),
		      "no block has # x # x # threads");
	config.blockDimX = config.blockDimY = config.blockDimZ = 1;
	config.gridDimX = config.gridDimY = config.gridDimZ = 0;
	config.attrs->value.clusterDim.x = config.attrs->value.clusterDim.y = 1U << 31;
	config.attrs->value.clusterDim.z = 4;
	EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE,
		  cuOccupancyMaxActiveClusters(&count, function, &config));
	EXPECT_OK(cuModuleUnload(self->module));
	EXPECT_OK(cuLibraryUnload(library));
	EXPECT_OK(cuMemFree(other));
}

#define HANDLE_NUMBER(handle)	((uintptr_t)(handle) & 0xfffff)

/* What a library has in a context ends with it: its code, and handles, of which there are 2^20. */
TEST_F(kernel_image, resets_of_a_library)
{
	uintptr_t number, most = 0;
	CUfunction function;
	CUcontext context;
	CUlibrary library;
	CUkernel kernel;
	CUmodule module;

	ASSERT_OK(cuLibraryLoadData(&library, HEAD ENTRY, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuLibraryGetKernel(&kernel, library, "noargs"));
	for (int i = 0; i < 8; i++) {
		ASSERT_OK(cuDevicePrimaryCtxReset(0));
		ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
		ASSERT_OK(cuCtxSetCurrent(context));
		ASSERT_OK(cuLibraryGetModule(&module, library));
		ASSERT_OK(cuKernelGetFunction(&function, kernel));
		number = HANDLE_NUMBER(module);
		if (i == 1)
			most = number;
		else if (i > 1)
			EXPECT_LE(number, most + 2);
	}
	EXPECT_OK(cuLibraryUnload(library));
}

/* ---- fatbins ---- */

TEST_F(kernel_image, fatbins)
{
	struct {
		uint32_t magic, version;
		const void *data, *unused;
	} wrapper = { 0x466243b1, 1, NULL, NULL };
	static struct fatbin fatbin;
	CUlibrary library;
	CUmodule module;

	for (enum pack how = PLAIN; how <= ZSTD; how++) {
		fill(&fatbin, how, 80);
		ASSERT_OK(cuModuleLoadFatBinary(&module, &fatbin));
		check_functions(module);
		EXPECT_OK(cuModuleUnload(module));
		wrapper.data = &fatbin;
		ASSERT_OK(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
		EXPECT_REASON(cuLibraryGetModule(NULL, library), "NULL output");
		ASSERT_OK(cuLibraryGetModule(&module, library));
		check_functions(module);
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
		EXPECT_OK(cuLibraryUnload(library));
	}
	fatbin.entry[0].unpacked_bytes--;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
	fill(&fatbin, PLAIN, 100);
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fatbin));
	/* a cubin runs on devices of its generation only, and on none older than it */
	for (uint32_t architecture = 80; architecture <= 100; architecture += 5) {
		fill(&fatbin, PLAIN, architecture);
		fatbin.entry[0].kind = 2;
		if (architecture != 90)
			EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU,
				  cuModuleLoadData(&module, &fatbin))
				TH_LOG("architecture %u", architecture);
	}
	fatbin.entry[1].bytes++;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
}

/* nvcc -rdc: the linker's result and, for devices that it is not for, its parts beside it */
TEST_F(kernel_image, linked_programs)
{
	static struct fatbin linked, part;
	const void *parts[] = { &part, NULL };
	struct {
		uint32_t magic, version;
		const void *data;
		const void *const *parts;
	} wrapper = { 0x466243b1, 2, &linked, parts };

	fill(&linked, PLAIN, 100);
	fill(&part, ZSTD, 80);
	ASSERT_OK(cuModuleLoadData(&self->module, &wrapper));
	check_functions(self->module);
	EXPECT_OK(cuModuleUnload(self->module));
	wrapper.version = 1;
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&self->module, &wrapper));
	wrapper.version = 2;
	parts[0] = NULL;
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&self->module, &wrapper));
}

/* Of texts for several devices the newest counts, wherever it stands. */
TEST_F(kernel_image, newest_text_of_a_fatbin)
{
	static const char other[] = HEAD ENTRY;
	static struct fatbin fatbin;

	for (int newer = 0; newer < 2; newer++) {
		fill(&fatbin, PLAIN, 80);
		memcpy(fatbin.entry[newer].data, text, sizeof(text));
		memcpy(fatbin.entry[!newer].data, other, sizeof(other));
		fatbin.entry[newer].architecture = 80;
		fatbin.entry[!newer].architecture = 75;
		ASSERT_OK(cuModuleLoadData(&self->module, &fatbin));
		check_functions(self->module);
		EXPECT_OK(cuModuleUnload(self->module));
	}
}

TEST_F(kernel_image, damaged_fatbins)
{
	static struct fatbin fatbin;
	CUmodule module;

#define BAD_FATBIN(how, reason, ...)							\
({											\
	fill(&fatbin, how, 80);								\
	__VA_ARGS__;									\
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin),	\
			 reason);							\
})
	BAD_FATBIN(PLAIN, "a fatbin of an unknown version", fatbin.version = 2);
	BAD_FATBIN(PLAIN, "a fatbin of an unknown version", fatbin.header_bytes = 24);
	BAD_FATBIN(PLAIN, "a fatbin whose sizes are wrong", fatbin.entry[1].header_bytes = 40;
		   fatbin.entry[1].bytes += offsetof(struct entry, data) - 40);
	BAD_FATBIN(ZSTD, "a fatbin whose sizes are wrong",
		   fatbin.entry[0].unpacked_bytes = UINT64_MAX);
	BAD_FATBIN(ZSTD, "a fatbin whose sizes are wrong",
		   fatbin.entry[0].packed_bytes = UINT32_MAX);
	BAD_FATBIN(LZ4, "a fatbin whose sizes are wrong", fatbin.entry[0].header_bytes = 48;
		   fatbin.entry[0].bytes += offsetof(struct entry, data) - 48);
	/* nothing, behind which there is more */
	BAD_FATBIN(PLAIN, "an empty cubin in a fatbin", fatbin.entry[0].kind = 2;
		   fatbin.entry[0].architecture = 90; fatbin.entry[0].bytes = 0;
		   fatbin.bytes = fatbin.entry[0].header_bytes);
	/* shorter than it says */
	BAD_FATBIN(LZ4, "an image in a fatbin cannot be unpacked",
		   fatbin.entry[0].unpacked_bytes++);
	/* text in an entry that says it is an ELF file */
	fill(&fatbin, ZSTD, 90);
	fatbin.entry[0].kind = 2;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
}

TEST_F(kernel_image, loading_mode)
{
	CUmoduleLoadingMode mode;

	ASSERT_EQ(0, unsetenv("CUDA_MODULE_LOADING"));
	EXPECT_OK(cuModuleGetLoadingMode(&mode));
	EXPECT_EQ(CU_MODULE_LAZY_LOADING, mode);
	ASSERT_EQ(0, setenv("CUDA_MODULE_LOADING", "EAGER", 1));
	EXPECT_OK(cuModuleGetLoadingMode(&mode));
	EXPECT_EQ(CU_MODULE_EAGER_LOADING, mode);
	EXPECT_REASON(cuModuleGetLoadingMode(NULL), "NULL output");
}

TEST_HARNESS_MAIN
