// SPDX-License-Identifier: MIT
/* Device code: what is read of PTX, fatbins and cubins, and what is refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stddef.h>
#include "memcast_test.h"

#define HEAD	".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY	".visible .entry noargs() { ret; }\n"

static const char text[] = HEAD
	"// a comment\n"
	".visible .global .align 4 .u32 word = 7;\n"
	".global .f32 third = 0f3EAAAAAB;\n"
	".global .b8 table[2][3] = {{1, 2}, {3}};\n"
	".const .align 4 .s32 constants[4] = {-1, 22, 33};\n"
	".visible .entry first(.param .u8 a, .param .u16 b, .param .u32 c, .param .u64 .ptr .global\n"
	"	.align 4 d, .param .align 16 .b8 e[20]) .maxntid 8, 4, 2\n"
	"{ .reg .pred p; .shared .align 16 .b8 s[100]; .local .b8 l[24]; .reg .u32 x;\n"
	"	LOOP: mov.u32 x, %tid.x; @!p bra LOOP; { mul.wide.u32 x, x, x; } ret; }\n"
	".weak .entry second() .reqntid 64 { exit; }\n";

FIXTURE(kernel_image) { CUmodule module; };
FIXTURE_SETUP(kernel_image)
{
	self->module = NULL;
	cuda_start(0);
}
NOTHING_LEFT(kernel_image)

#define look(module)	look_(_metadata, module)
static void look_(struct __test_metadata *_metadata, CUmodule module)
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
	EXPECT_INVALID(cuFuncGetParamInfo(function, i, &offset, &bytes));
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
	EXPECT_EQ(64, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
	EXPECT_EQ(100, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
	EXPECT_EQ(24, value);
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, function));
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
	look(self->module);
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	EXPECT_EQ(4, bytes);
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(7, word);
	EXPECT_INVALID(cuMemcpyDtoH(copy, address, 8));
	EXPECT_INVALID(cuMemFree(address));
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
	EXPECT_INVALID(cuModuleGetGlobal(&address, &bytes, self->module, "first"));
	EXPECT_CU(CUDA_ERROR_NOT_FOUND,
		  cuModuleGetGlobal(&address, &bytes, self->module, "nothing"));
	EXPECT_OK(cuModuleUnload(self->module));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(self->module));
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
		/* 2^64 - 1 bytes, and 2^64 */
		{ HEAD ".global .b8 v[4294967295][641][6700417] = {1};" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[4294967296][4294967296] = {1};" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".global .b8 v[2] = {{{{{{{{{{1}}}}}}}}}};" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ HEAD ".extern .func none();\n.entry k() { call none; ret; }", CUDA_ERROR_INVALID_PTX },
		{ ".version 8.0\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 7.0\n.target sm_90\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 9.0\n.target sm_100\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 8.0\n.target sm_90\n.address_size 32\n" ENTRY, CUDA_ERROR_INVALID_PTX },
		{ ".version 99.0\n.target sm_90\n" ENTRY, CUDA_ERROR_UNSUPPORTED_PTX_VERSION },
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
		/* as a library it is loaded, has no kernels, and the error comes later */
		ASSERT_OK(cuLibraryLoadData(&library, cases[i].text, NULL, NULL, 0, NULL, NULL, 0));
		EXPECT_OK(cuLibraryGetKernelCount(&count, library));
		EXPECT_EQ(0, count);
		EXPECT_CU(cases[i].result, cuLibraryGetModule(&module, library));
		EXPECT_OK(cuLibraryUnload(library));
	}
	EXPECT_INVALID(cuModuleLoadData(&module, NULL));
	EXPECT_INVALID(cuModuleLoadData(NULL, text));
	EXPECT_CU(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent"));
}

TEST_F(kernel_image, says_which_line)
{
	CUjit_option options[2] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	char log[200] = "";
	void *values[2] = { log, (void *)sizeof(log) };

	EXPECT_CU(CUDA_ERROR_INVALID_PTX,
		  cuModuleLoadDataEx(&self->module, HEAD "\n.entry k() { frobnicate a; }", 2,
				     options, values));
	EXPECT_NE(NULL, strstr(log, "line 5"));
	EXPECT_NE(NULL, strstr(log, "frobnicate"));
	EXPECT_EQ(strlen(log), (size_t)values[1]);
}

/* What is loaded ends with a primary context, though that has its value again afterwards. */
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
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_OK(cuMemAlloc(&other, 64 << 10));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuLibraryGetGlobal(&address, &bytes, library, "word"));
	EXPECT_OK(cuMemcpyDtoH(&word, address, sizeof(word)));
	EXPECT_EQ(7, word);
	/* a block without threads, and clusters whose size wraps, divide by nothing */
	ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
	config.attrs = (CUlaunchAttribute[]) { {
		.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { 1, 1, 1 } } };
	config.numAttrs = 1;
	EXPECT_INVALID(cuOccupancyMaxActiveClusters(&count, function, &config));
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

/* ---- fatbins ---- */

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;
	uint32_t packed_bytes, unknown;
	uint16_t minor, major;
	uint32_t architecture;
	uint64_t unknown2, flags, unknown3, unpacked_bytes;
	char data[4096];
};

struct fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
	struct entry entry[2];
};

enum pack { PLAIN, LZ4, ZSTD };

/* The libraries that unpack are there, as libcuda.so.1 needs them. */
static size_t pack(enum pack how, void *to, size_t room)
{
	int (*lz4)(const char *, char *, int, int) = dlsym(RTLD_DEFAULT, "LZ4_compress_default");
	size_t (*zstd)(void *, size_t, const void *, size_t, int) =
		dlsym(RTLD_DEFAULT, "ZSTD_compress");

	if (how == LZ4)
		return lz4(text, to, sizeof(text), room);
	if (how == ZSTD)
		return zstd(to, room, text, sizeof(text), 3);
	memcpy(to, text, sizeof(text));
	return sizeof(text);
}

static void fill(struct fatbin *fatbin, enum pack how, uint32_t architecture)
{
	static const uint64_t flags[] = { 0x11, 0x2011, 0x8011 };

	memset(fatbin, 0, sizeof(*fatbin));
	*fatbin = (struct fatbin) { .magic = 0xba55ed50, .version = 1, .header_bytes = 16,
				    .bytes = sizeof(fatbin->entry) };
	for (int i = 0; i < 2; i++) {
		struct entry *entry = &fatbin->entry[i];

		*entry = (struct entry) {
			.kind = 1, .version = 0x101, .architecture = i ? 120 : architecture,
			.header_bytes = offsetof(struct entry, data), .flags = flags[how],
			.bytes = sizeof(entry->data), .unpacked_bytes = sizeof(text),
		};
		if (!i)
			entry->packed_bytes = pack(how, entry->data, sizeof(entry->data));
	}
}

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
		look(module);
		EXPECT_OK(cuModuleUnload(module));
		wrapper.data = &fatbin;
		ASSERT_OK(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
		ASSERT_OK(cuLibraryGetModule(&module, library));
		look(module);
		EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, cuModuleUnload(module));
		EXPECT_OK(cuLibraryUnload(library));
	}
	fatbin.entry[0].unpacked_bytes--;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
	fill(&fatbin, PLAIN, 100);
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, &fatbin));
	fatbin.entry[1].bytes++;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
}

TEST_F(kernel_image, damaged_fatbins)
{
	static struct fatbin fatbin;
	CUmodule module;

	fill(&fatbin, ZSTD, 80);
	fatbin.entry[0].unpacked_bytes = UINT64_MAX;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
	fill(&fatbin, ZSTD, 80);
	fatbin.entry[0].packed_bytes = UINT32_MAX;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
	fill(&fatbin, LZ4, 80);
	fatbin.entry[0].header_bytes = 48;
	fatbin.entry[0].bytes += offsetof(struct entry, data) - 48;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
	/* text where an ELF file is to be */
	fill(&fatbin, ZSTD, 90);
	fatbin.entry[0].kind = 2;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &fatbin));
}

#define FILE_NAME	"/tmp/memcast-image"

/* Load it from a file, so that nothing but the file's size bounds it. */
#define load_as_file(data, bytes)	load_as_file_(_metadata, data, bytes)
static CUresult load_as_file_(struct __test_metadata *_metadata, const void *data, size_t bytes)
{
	FILE *file = fopen(FILE_NAME, "w");
	CUmodule module;
	CUresult result;

	ASSERT_NE(NULL, file);
	ASSERT_EQ(bytes, fwrite(data, 1, bytes, file));
	ASSERT_EQ(0, fclose(file));
	result = cuModuleLoad(&module, FILE_NAME);
	if (result == CUDA_SUCCESS)
		EXPECT_OK(cuModuleUnload(module));
	return result;
}

/* ---- cubins: as much of an ELF file as is read ---- */

static const char names[] = "\0.names\0.symbols\0.text.first\0.nv.info.first\0.nv.shared.first\0"
			    ".nv.info\0.nv.global.init\0first\0word";

static uint32_t name(const char *wanted)
{
	return (char *)memmem(names, sizeof(names), wanted, strlen(wanted) + 1) - names;
}

struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr section[8];
	Elf64_Sym symbol[3];
	char names[sizeof(names)] __attribute__((aligned(8)));
	uint32_t info[16], common[6], word[2];
};

static void fill_cubin(struct cubin *cubin, unsigned int architecture)
{
#define SECTION(called, kind, field, more...)						\
	{ .sh_name = name(called), .sh_type = kind, .sh_size = sizeof(cubin->field),		\
	  .sh_offset = offsetof(struct cubin, field), .sh_addralign = 4, more }
	const uint32_t info[16] = {
		/* form 4, name 0x17, 12 bytes: number, place and offset, size << 18 */
		0x0c1704, 0, 8 << 16 | 1, 4 << 18, 0x0c1704, 0, 0, 8 << 18,
		0x0c0504, 32, 4, 1, 0x0c3d04, 2, 1, 1,
	};
	const uint32_t common[6] = { 0x082f04, 1, 40, 0x081104, 1, 16 };

	memset(cubin, 0, sizeof(*cubin));
	memcpy(cubin->header.e_ident, ELFMAG "\2\1\1\x41\x8", 9);
	cubin->header.e_type = ET_EXEC;
	cubin->header.e_machine = 190;
	cubin->header.e_version = 1;
	cubin->header.e_flags = architecture << 8;
	cubin->header.e_ehsize = sizeof(cubin->header);
	cubin->header.e_shoff = offsetof(struct cubin, section);
	cubin->header.e_shentsize = sizeof(Elf64_Shdr);
	cubin->header.e_shnum = 8;
	cubin->header.e_shstrndx = 1;
	memcpy(cubin->section, (Elf64_Shdr[]) { { 0 },
		SECTION(".names", SHT_STRTAB, names),
		SECTION(".symbols", SHT_SYMTAB, symbol, .sh_link = 1,
			.sh_entsize = sizeof(Elf64_Sym), .sh_info = 1),
		SECTION(".text.first", SHT_PROGBITS, word),
		SECTION(".nv.info.first", SHT_LOPROC, info),
		{ .sh_name = name(".nv.shared.first"), .sh_type = SHT_NOBITS, .sh_size = 256 },
		SECTION(".nv.info", SHT_LOPROC, common),
		SECTION(".nv.global.init", SHT_PROGBITS, word),
	}, sizeof(cubin->section));
	cubin->symbol[1] = (Elf64_Sym) { .st_name = name("first"), .st_other = 0x10, .st_shndx = 3,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	cubin->symbol[2] = (Elf64_Sym) { .st_name = name("word"), .st_shndx = 7, .st_value = 4,
		.st_size = 4, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) };
	memcpy(cubin->names, names, sizeof(names));
	memcpy(cubin->info, info, sizeof(info));
	memcpy(cubin->common, common, sizeof(common));
	cubin->word[1] = 0xabcd;
}

TEST_F(kernel_image, cubins)
{
	static const struct {
		CUfunction_attribute attribute;
		int value;
	} expected[] = {
		{ CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 128 },
		{ CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 256 },
		{ CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 16 },
		{ CU_FUNC_ATTRIBUTE_NUM_REGS, 40 },
		{ CU_FUNC_ATTRIBUTE_BINARY_VERSION, 90 },
		{ CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1 },
		{ CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2 },
	};
	static struct cubin cubin;
	CUfunction function;
	CUdeviceptr address;
	size_t offset, bytes;
	uint32_t word = 0;
	int value;

	fill_cubin(&cubin, 90);
	ASSERT_OK(cuModuleLoadData(&self->module, &cubin));
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		EXPECT_OK(cuFuncGetAttribute(&value, expected[i].attribute, function));
		EXPECT_EQ(expected[i].value, value);
	}
	EXPECT_OK(cuFuncGetParamInfo(function, 0, &offset, &bytes));
	EXPECT_EQ(0, offset);
	EXPECT_EQ(8, bytes);
	EXPECT_OK(cuFuncGetParamInfo(function, 1, &offset, &bytes));
	EXPECT_EQ(8, offset);
	EXPECT_EQ(4, bytes);
	EXPECT_INVALID(cuFuncGetParamInfo(function, 2, &offset, &bytes));
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(0xabcd, word);
	fill_cubin(&cubin, 80);
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&self->module, &cubin));
	cubin.header.e_machine = EM_X86_64;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&self->module, &cubin));
}

/* Of each kind, as much as a copy had when it was interrupted; and no file at all */
TEST_F(kernel_image, files_cut_short)
{
	static struct cubin cubin;
	static struct fatbin fatbin;
	size_t bytes;

	fill_cubin(&cubin, 90);
	EXPECT_OK(load_as_file(&cubin, sizeof(cubin)));
	for (bytes = 0; bytes < offsetof(struct cubin, names); bytes += 13)
		EXPECT_NE(CUDA_SUCCESS, load_as_file(&cubin, bytes));
	fill(&fatbin, PLAIN, 80);
	EXPECT_OK(load_as_file(&fatbin, sizeof(fatbin)));
	for (bytes = 0; bytes < sizeof(fatbin); bytes += 131)
		EXPECT_NE(CUDA_SUCCESS, load_as_file(&fatbin, bytes));
	EXPECT_OK(load_as_file(text, sizeof(text) - 1));
	for (bytes = 0; bytes < sizeof(text) - sizeof("exit; }"); bytes += 31)
		load_as_file(text, bytes);
	unlink(FILE_NAME);
	EXPECT_CU(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&self->module, "/dev/zero"));
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoad(&self->module, "/dev/null"));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuModuleLoad(&self->module, "/tmp"));
}

/* A byte that is another one may be refused or not, but harms nobody. */
TEST_F(kernel_image, damaged_bytes)
{
	static struct cubin cubin;
	unsigned char *at = (unsigned char *)&cubin;
	unsigned int i, refused = 0;

	fill_cubin(&cubin, 90);
	for (i = 0; i < sizeof(cubin); i++) {
		at[i] ^= 0xff;
		refused += load_as_file(&cubin, sizeof(cubin)) != CUDA_SUCCESS;
		at[i] ^= 0xff;
	}
	EXPECT_LT(0, refused);
	/* where a value's end is before its begin */
	cubin.symbol[2].st_value = 16;
	cubin.symbol[2].st_size = -8;
	load_as_file(&cubin, sizeof(cubin));
	cubin.symbol[2].st_value = -8;
	cubin.symbol[2].st_size = 8;
	load_as_file(&cubin, sizeof(cubin));
	unlink(FILE_NAME);
}

TEST_HARNESS_MAIN
