// SPDX-License-Identifier: MIT
/*
 * Device code: what the library reads of cubins (as much of an ELF file as it reads), and damaged
 * files of all kinds.
 */
#include <elf.h>
#include "kernel_image_fixture.h"
#include "reason.h"

#define FILE_NAME	"/tmp/memcast-image"

/* Loads @data from a file, so that nothing but the file's size bounds it. */
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

static const char names[] = "\0.names\0.symbols\0.text.first\0.nv.info.first\0.nv.shared.first\0"
			    ".nv.info\0.nv.global.init\0first\0word\0helper\0"
			    ".nv.reservedSmem.offset0";

static uint32_t name(const char *wanted)
{
	return (char *)memmem(names, sizeof(names), wanted, strlen(wanted) + 1) - names;
}

struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr section[8];
	Elf64_Sym symbol[4];
	char names[sizeof(names)] __attribute__((aligned(8)));
	uint32_t info[21], common[6], word[2];
};

#define SHARED	40960			/* more bytes than the file has, as they are in no file */

static void fill_cubin(struct cubin *cubin, unsigned int architecture)
{
#define SECTION(called, kind, field, more...)						\
	{ .sh_name = name(called), .sh_type = kind, .sh_size = sizeof(cubin->field),		\
	  .sh_offset = offsetof(struct cubin, field), .sh_addralign = 4, more }
	const uint32_t info[21] = {
		/* form 4, name 0x17, 12 bytes: number, place and offset, size << 18 */
		0x0c1704, 0, 8 << 16 | 1, 4 << 18, 0x0c1704, 0, 0, 8 << 18,
		0x0c0504, 32, 4, 1, 0x0c1004, 16, 4, 2, 0x0c3d04, 2, 1, 1,
		/* 12 bytes that are not there */
		0x0c1704,
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
		{ .sh_name = name(".nv.shared.first"), .sh_type = SHT_NOBITS, .sh_size = SHARED },
		SECTION(".nv.info", SHT_LOPROC, common),
		SECTION(".nv.global.init", SHT_PROGBITS, word),
	}, sizeof(cubin->section));
	cubin->symbol[1] = (Elf64_Sym) { .st_name = name("first"), .st_other = 0x10, .st_shndx = 3,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	cubin->symbol[2] = (Elf64_Sym) { .st_name = name("word"), .st_shndx = 7, .st_value = 4,
		.st_size = 4, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) };
	/* a function that is no kernel */
	cubin->symbol[3] = (Elf64_Sym) { .st_name = name("helper"), .st_shndx = 3,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
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
		{ CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, SHARED },
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
	EXPECT_REASON(cuFuncGetParamInfo(function, 2, &offset, &bytes),
		      "the kernel has # parameters");
	EXPECT_REASON(cuLaunchKernel(function, 2, 1, 1, 16, 4, 1, 0, NULL,
				     (void *[]) { &address, &word }, NULL),
		      "a block of 16, 4, 1 threads, the kernel is for 16, 4, 2");
	EXPECT_CU(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, self->module, "helper"));
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(0xabcd, word);
	/* of sm_90, 1,024 bytes are the system's */
	cubin.symbol[3].st_name = name(".nv.reservedSmem.offset0");
	EXPECT_OK(cuModuleUnload(self->module));
	ASSERT_OK(cuModuleLoadData(&self->module, &cubin));
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
	EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
	EXPECT_EQ(SHARED - 1024, value);
	/* in the form of large parameters: a size that wraps with the offset */
	cubin.info[4] = 0x0c4504;
	cubin.info[6] = 0xfff0U << 16;
	cubin.info[7] = 0xffff0020;
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&self->module, &cubin),
			 "a kernel's parameters are too large");
	fill_cubin(&cubin, 80);
	EXPECT_CU(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&self->module, &cubin));
	cubin.header.e_machine = EM_X86_64;
	EXPECT_CU(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&self->module, &cubin));
}

/*
 * Each of the four parts of a multiprocessor has registers of its own, and a warp's are in one part.
 * As many as a block may have are one part's, in whole warps, times four.
 */
TEST_F(kernel_image, registers_bound_threads)
{
	static const struct {
		int registers, most, block, blocks;
	} cases[] = {
		{ 40, 1024, 96, 16 }, { 80, 768, 800, 0 }, { 80, 768, 768, 1 },
		{ 168, 384, 64, 6 }, { 200, 256, 64, 4 }, { 255, 256, 256, 1 },
	};
	static struct cubin cubin;
	CUfunction function;
	uint32_t word = 0;
	CUdeviceptr address = 0;
	int value;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill_cubin(&cubin, 90);
		memset(cubin.info + 8, 0, sizeof(cubin.info) - 32);	/* neither block nor cluster */
		cubin.common[2] = cases[i].registers;
		cubin.section[5].sh_size = 0;
		ASSERT_OK(cuModuleLoadData(&self->module, &cubin));
		ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
		EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
					     function));
		EXPECT_EQ(cases[i].most, value);
		EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function,
								      cases[i].block, 0));
		EXPECT_EQ(cases[i].blocks, value);
		if (cases[i].most < 1024)
			EXPECT_CU_REASON(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
					 cuLaunchKernel(function, 1, 1, 1, cases[i].most + 1, 1, 1,
							0, NULL, (void *[]) { &address, &word },
							NULL),
					 "# threads with # registers each, there are registers");
		EXPECT_OK(cuModuleUnload(self->module));
	}
}

/* PTX beside a cubin tells of variables what a cubin does not: the program may run it. */
TEST_F(kernel_image, variables_of_text_beside_a_cubin)
{
	static const char beside[] = HEAD
		".visible .global .attribute(.managed) .align 4 .u32 held = 5;\n"
		".visible .global .align 4 .u32 word = 7;\n"
		".visible .entry first(.param .u64 a, .param .u32 b) { ret; }\n";
	static struct fatbin fatbin;
	CUlibrary library;
	CUfunction function;
	CUdeviceptr address;
	uint32_t word = 0;
	size_t bytes;
	int registers;

	fill(&fatbin, PLAIN, 90);
	fatbin.entry[0].kind = 2;
	fill_cubin((void *)fatbin.entry[0].data, 90);
	fatbin.entry[1].architecture = 90;
	strcpy(fatbin.entry[1].data, beside);
	ASSERT_OK(cuModuleLoadData(&self->module, &fatbin));
	ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
	ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
	EXPECT_EQ(7, word);
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
	EXPECT_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
	EXPECT_EQ(40, registers);
	EXPECT_OK(cuModuleUnload(self->module));
	ASSERT_OK(cuLibraryLoadData(&library, &fatbin, NULL, NULL, 0, NULL, NULL, 0));
	ASSERT_OK(cuLibraryGetManaged(&address, &bytes, library, "held"));
	EXPECT_EQ(5, *(uint32_t *)address);
	EXPECT_OK(cuLibraryUnload(library));
	/* what no text declares is the cubin's; where a text cannot be read, a launch says so */
	for (int i = 0; i < 2; i++) {
		strcpy(fatbin.entry[1].data, i ? HEAD ".global .u32 word = ;\n" :
						 HEAD ".global .u32 other = 3;\n");
		ASSERT_OK(cuModuleLoadData(&self->module, &fatbin));
		ASSERT_OK(cuModuleGetGlobal(&address, &bytes, self->module, "word"));
		ASSERT_OK(cuMemcpyDtoH(&word, address, 4));
		EXPECT_EQ(0xabcd, word);
		EXPECT_OK(cuModuleUnload(self->module));
	}
}

/*
 * In a fatbin, an entry tells that it is a cubin. The cubin itself has to be one as well. It counts
 * more than PTX for the device, before it or behind it.
 */
TEST_F(kernel_image, cubins_of_fatbins)
{
	static struct fatbin fatbin;
	struct cubin *cubin = (void *)fatbin.entry[0].data;
	CUfunction function;
	int value;

	_Static_assert(sizeof(*cubin) <= sizeof(fatbin.entry[0].data), "it fits");
	fill(&fatbin, PLAIN, 90);
	fatbin.entry[0].kind = 2;
	fill_cubin(cubin, 90);
	ASSERT_OK(cuModuleLoadData(&self->module, &fatbin));
	EXPECT_OK(cuModuleGetFunction(&function, self->module, "first"));
	EXPECT_OK(cuModuleUnload(self->module));
	cubin->header.e_ident[EI_MAG0] ^= 1;
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&self->module, &fatbin),
			 "a cubin that is no ELF file");
	for (int own = 0; own < 2; own++) {
		fill(&fatbin, PLAIN, 90);
		fatbin.entry[1].architecture = 90;
		fatbin.entry[own].kind = 2;
		fill_cubin((void *)fatbin.entry[own].data, 90);
		memcpy(fatbin.entry[!own].data, text, sizeof(text));
		ASSERT_OK(cuModuleLoadData(&self->module, &fatbin));
		ASSERT_OK(cuModuleGetFunction(&function, self->module, "first"));
		EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
		EXPECT_EQ(40, value);	/* text does not tell it */
		EXPECT_OK(cuModuleUnload(self->module));
	}
}

/* Files of each kind, cut short as an interrupted copy leaves them; and files that are none */
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

/* In a linked image a text is padded to 8 bytes, and what lies behind it is of the image, too. */
TEST_F(kernel_image, linked_images)
{
	struct {
		char magic[16];
		uint64_t bytes, count, size;
		char text[(sizeof(text) + 6) & -8];
	} linked = { "memcast linked\n", sizeof(linked), 1, sizeof(text) - 1, {} };
#define BAD_LINKED(bytes, reason)							\
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE, load_as_file(&linked, bytes), reason)

	_Static_assert(sizeof(linked.text) >= sizeof(text), "its end is padding");
	memcpy(linked.text, text, sizeof(text));
	EXPECT_OK(load_as_file(&linked, sizeof(linked)));
	BAD_LINKED(sizeof(linked) - 8, "a linked image that ends before its end");
	linked.count = 2;
	BAD_LINKED(sizeof(linked), "a linked image whose sizes are wrong");
	linked.bytes = offsetof(typeof(linked), text) + sizeof(text) - 1;
	BAD_LINKED(linked.bytes, "a linked image whose sizes are wrong");
	linked.bytes = 16;
	BAD_LINKED(sizeof(linked), "a linked image that ends before its end");
	unlink(FILE_NAME);
}

/* A file with one byte changed may be refused or not, but does no harm. */
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
	/* several values that are the whole file each */
	cubin.section[7].sh_offset = 0;
	cubin.section[7].sh_size = cubin.symbol[2].st_size = sizeof(cubin);
	cubin.symbol[2].st_value = 0;
	cubin.symbol[3] = cubin.symbol[2];
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_IMAGE, load_as_file(&cubin, sizeof(cubin)),
			 "variables that overlap");
	fill_cubin(&cubin, 90);
	/* a value that ends before it begins */
	cubin.symbol[2].st_value = 16;
	cubin.symbol[2].st_size = -8;
	load_as_file(&cubin, sizeof(cubin));
	cubin.symbol[2].st_value = -8;
	cubin.symbol[2].st_size = 8;
	load_as_file(&cubin, sizeof(cubin));
	unlink(FILE_NAME);
}

TEST_HARNESS_MAIN
