// SPDX-License-Identifier: MIT
/*
 * Cubins: ELF files. Kernels are symbols; sections whose name has the name of a kernel describe
 * its parameters and memory. Symbols and sections are read once, in their order, so that the
 * time is in proportion to the file's size.
 */
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

#define MACHINE_CUDA	190
#define OTHER_ENTRY	0x10	/* in a symbol's st_other: it is a kernel */
#define ABI_NEW		8	/* e_flags has the architecture in other bits from here on */
#define RESERVED_SHARED	1024U	/* the system's part of a block's shared memory */
#define MAX_THREADS	1024

/* Attributes in .nv.info: two bytes of form and name, then two of length or value */
enum {
	FORM_SIZED		= 4,
	INFO_MAX_THREADS	= 0x05,
	INFO_REQUIRED_THREADS	= 0x10,
	INFO_FRAME		= 0x11,
	INFO_PARAMETER		= 0x17,
	INFO_PARAMETERS_BYTES	= 0x19,
	INFO_REGISTERS		= 0x2f,
	INFO_CLUSTER		= 0x3d,
	INFO_PARAMETER_LARGE	= 0x45,
};

struct cubin {
	struct image *image;
	Elf *elf;
	Elf_Data *symbols;
	size_t symbols_count, strings;
	struct code **of_symbol;	/* by number of a symbol, or NULL */
	size_t reserved;		/* of each block's shared memory, in bytes */
	size_t values_left;		/* of the file, in bytes, for variables' values */
};

/* Return: the size of an ELF file of which only the address is known. */
static size_t elf_bytes(const Elf64_Ehdr *header)
{
	size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	size_t other = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
	const Elf64_Shdr *section = (const void *)((const char *)header + header->e_shoff);

	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (section[i].sh_type != SHT_NOBITS &&
		    section[i].sh_offset + section[i].sh_size > end)
			end = section[i].sh_offset + section[i].sh_size;
	return end > other ? end : other;
}

/* Do the headers describe more bytes than there are? */
static bool is_cut_short(const Elf64_Ehdr *header, size_t bytes)
{
	size_t sections = (size_t)header->e_shnum * sizeof(Elf64_Shdr);
	const Elf64_Shdr *section;

	if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > bytes ||
	    header->e_shoff % __alignof__(Elf64_Shdr) || sections > bytes - header->e_shoff)
		return true;
	section = (const void *)((const char *)header + header->e_shoff);
	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (section[i].sh_type != SHT_NOBITS &&
		    (section[i].sh_offset > bytes ||
		     section[i].sh_size > bytes - section[i].sh_offset))
			return true;
	return false;
}

static uint32_t word(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t half(const unsigned char *at)
{
	return at[0] | at[1] << 8;
}

/* Return: the room of an array for so many parameters: a power of two, so that it moves rarely. */
static uint32_t room_of(uint32_t count)
{
	uint32_t room = 1;

	while (room < count)
		room *= 2;
	return count ? room : 0;
}

static CUresult cubin_add_parameter(struct cubin *cubin, struct code *code, uint32_t number,
				    uint32_t offset, uint32_t size)
{
	struct parameter *more;

	if (size > KERNEL_PARAMETERS_MOST || offset > KERNEL_PARAMETERS_MOST - size)
		return fail(CUDA_ERROR_INVALID_IMAGE, "a kernel's parameters are too large");
	if (number >= room_of(code->parameters_count)) {
		more = image_keep(cubin->image, NULL, room_of(number + 1) * sizeof(*more));
		if (!more)
			return image_no_memory();
		if (code->parameters)
			memcpy(more, code->parameters,
			       code->parameters_count * sizeof(*more));
		code->parameters = more;
	}
	if (number >= code->parameters_count)
		code->parameters_count = number + 1;
	code->parameters[number] = (struct parameter) { offset, size };
	if (offset + size > code->parameters_bytes)
		code->parameters_bytes = offset + size;
	return CUDA_SUCCESS;
}

static CUresult kernel_info(struct cubin *cubin, struct code *code, unsigned int name,
			    const unsigned char *data, size_t bytes)
{
	if (name == INFO_PARAMETER && bytes >= 12)
		return cubin_add_parameter(cubin, code, half(data + 4), half(data + 6),
					   word(data + 8) >> 18);
	if (name == INFO_PARAMETER_LARGE && bytes >= 12)
		return cubin_add_parameter(cubin, code, half(data + 4), half(data + 6),
					   word(data + 8));
	for (int i = 0; i < 3 && bytes >= 12; i++) {
		if (name == INFO_REQUIRED_THREADS)
			code->block[i] = word(data + 4 * i);
		if (name == INFO_CLUSTER)
			code->cluster[i] = word(data + 4 * i);
	}
	if (name == INFO_MAX_THREADS && bytes >= 12)
		code->max_threads = word(data) * word(data + 4) * word(data + 8);
	return CUDA_SUCCESS;
}

/* Reads a section with attributes of all kernels: entries name a kernel by its symbol. */
static CUresult common_info(struct cubin *cubin, unsigned int name, const unsigned char *data,
			    size_t bytes)
{
	struct code *code = NULL;

	if (bytes >= 8 && word(data) < cubin->symbols_count)
		code = cubin->of_symbol[word(data)];
	if (code && name == INFO_REGISTERS)
		code->registers = word(data + 4);
	if (code && name == INFO_FRAME)
		code->local = word(data + 4);
	return CUDA_SUCCESS;
}

static CUresult read_info(struct cubin *cubin, struct code *code, Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	const unsigned char *at, *end;
	CUresult result = CUDA_SUCCESS;
	size_t bytes;

	if (!data || !data->d_buf)
		return CUDA_SUCCESS;
	at = data->d_buf;
	for (end = at + data->d_size; end - at >= 4 && result == CUDA_SUCCESS; at += 4 + bytes) {
		bytes = at[0] == FORM_SIZED ? half(at + 2) : 0;
		if (bytes > (size_t)(end - at) - 4)
			break;
		result = code ? kernel_info(cubin, code, at[1], at + 4, bytes) :
				common_info(cubin, at[1], at + 4, bytes);
	}
	return result;
}

static struct code *named(struct cubin *cubin, const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) ? NULL :
		(struct code *)image_kernel(cubin->image, name + length);
}

static CUresult read_section(struct cubin *cubin, Elf_Scn *section)
{
	struct code *code;
	const char *name;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header))
		return CUDA_SUCCESS;
	name = elf_strptr(cubin->elf, cubin->strings, header.sh_name);
	if (!name)
		return CUDA_SUCCESS;
	if (!strcmp(name, ".nv.info"))
		return read_info(cubin, NULL, section);
	if (!strcmp(name, ".nv.constant3"))
		cubin->image->constant_bytes = header.sh_size;
	code = named(cubin, name, ".nv.info.");
	if (code)
		return read_info(cubin, code, section);
	code = named(cubin, name, ".nv.shared.");
	if (code)
		code->shared = header.sh_size > cubin->reserved ?
			header.sh_size - cubin->reserved : 0;
	return CUDA_SUCCESS;
}

/* Adds a variable. It is in a section of memory, with its value if the section has content. */
static CUresult add_variable(struct cubin *cubin, const GElf_Sym *symbol, const char *name)
{
	Elf_Scn *section = elf_getscn(cubin->elf, symbol->st_shndx);
	struct variable *variable;
	const char *where;
	GElf_Shdr header;
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, &header))
		return CUDA_SUCCESS;
	where = elf_strptr(cubin->elf, cubin->strings, header.sh_name);
	if (!where || (strncmp(where, ".nv.global", 10) && strcmp(where, ".nv.constant3")))
		return CUDA_SUCCESS;
	variable = image_add_variable(cubin->image);
	if (!variable)
		return image_no_memory();
	variable->of_cubin = true;
	variable->bytes = symbol->st_size;
	variable->name = image_keep_name(cubin->image, name, strlen(name));
	data = header.sh_type == SHT_NOBITS ? NULL : elf_rawdata(section, NULL);
	if (data && data->d_buf && symbol->st_value <= data->d_size &&
	    symbol->st_size <= data->d_size - symbol->st_value) {
		if (symbol->st_size > cubin->values_left)
			return fail(CUDA_ERROR_INVALID_IMAGE, "variables that overlap");
		cubin->values_left -= symbol->st_size;
		variable->value = image_keep(cubin->image, (char *)data->d_buf + symbol->st_value,
					     symbol->st_size);
		if (!variable->value)
			return image_no_memory();
	}
	return variable->name ? CUDA_SUCCESS : image_no_memory();
}

static CUresult add_symbol(struct cubin *cubin, const GElf_Sym *symbol, const char *name)
{
	struct code *code;

	if (GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx)
		return add_variable(cubin, symbol, name);
	if (GELF_ST_TYPE(symbol->st_info) != STT_FUNC || !(symbol->st_other & OTHER_ENTRY) ||
	    !symbol->st_shndx)
		return CUDA_SUCCESS;
	code = image_add_kernel(cubin->image);
	if (!code)
		return image_no_memory();
	code->max_threads = MAX_THREADS;
	code->name = image_keep_name(cubin->image, name, strlen(name));
	return code->name ? CUDA_SUCCESS : image_no_memory();
}

static CUresult read_symbols(struct cubin *cubin, Elf_Scn *section)
{
	CUresult result = CUDA_SUCCESS;
	const char *name, *twice;
	GElf_Shdr header;
	GElf_Sym symbol;

	cubin->symbols = elf_getdata(section, NULL);
	if (!cubin->symbols || !gelf_getshdr(section, &header) || !header.sh_entsize)
		return CUDA_SUCCESS;
	cubin->symbols_count = header.sh_size / header.sh_entsize;
	cubin->of_symbol = calloc(cubin->symbols_count + 1, sizeof(*cubin->of_symbol));
	if (!cubin->of_symbol)
		return image_no_memory();
	for (size_t i = 0; i < cubin->symbols_count && result == CUDA_SUCCESS; i++) {
		if (!gelf_getsym(cubin->symbols, i, &symbol))
			break;
		name = elf_strptr(cubin->elf, header.sh_link, symbol.st_name);
		if (!name)
			continue;
		if (!strcmp(name, ".nv.reservedSmem.offset0") &&
		    cubin->image->architecture >= 90)
			cubin->reserved = RESERVED_SHARED;
		result = add_symbol(cubin, &symbol, name);
	}
	if (result == CUDA_SUCCESS)
		result = image_sort(cubin->image, &twice);
	/* now that the kernels do not move any more: find the kernel of each symbol */
	for (size_t i = 0; i < cubin->symbols_count && result == CUDA_SUCCESS; i++) {
		if (!gelf_getsym(cubin->symbols, i, &symbol) ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		name = elf_strptr(cubin->elf, header.sh_link, symbol.st_name);
		if (name)
			cubin->of_symbol[i] = named(cubin, name, "");
	}
	return result;
}

static CUresult read_elf(struct cubin *cubin)
{
	Elf_Scn *section = NULL;
	CUresult result = CUDA_SUCCESS;
	GElf_Shdr header;

	if (elf_getshdrstrndx(cubin->elf, &cubin->strings))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a cubin without names");
	while ((section = elf_nextscn(cubin->elf, section)) && !cubin->symbols &&
	       result == CUDA_SUCCESS)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			result = read_symbols(cubin, section);
	section = NULL;
	while (result == CUDA_SUCCESS && (section = elf_nextscn(cubin->elf, section)))
		result = read_section(cubin, section);
	return result;
}

/* @bytes: 0: unknown */
CUresult cubin_read(struct image *image, const void *data, size_t bytes)
{
	const Elf64_Ehdr *header = data;
	struct cubin cubin = { .image = image };
	CUresult result;
	int device = image->device;

	if (bytes && bytes < sizeof(*header))
		return fail(CUDA_ERROR_UNKNOWN, "a cubin that ends in its header");
	if (memcmp(data, ELFMAG, SELFMAG))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a cubin that is no ELF file");
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != MACHINE_CUDA)
		return fail(CUDA_ERROR_INVALID_IMAGE, "an ELF file, but not of device code");
	if (!header->e_shoff || !header->e_shnum)
		return fail(CUDA_ERROR_UNKNOWN, "a cubin that ends after its header");
	image->binary = header->e_ident[EI_ABIVERSION] >= ABI_NEW ?
		header->e_flags >> 8 & 0xff : header->e_flags & 0xff;
	if (!image->architecture)
		image->architecture = image->binary;
	if (image->binary / 10 != device / 10 || image->binary > device)
		return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "code for %d.%d, the device is %d.%d",
			    image->binary / 10, image->binary % 10, device / 10, device % 10);
	elf_version(EV_CURRENT);
	if (bytes && is_cut_short(header, bytes))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a cubin that ends before its end");
	cubin.values_left = bytes ? bytes : elf_bytes(header);
	cubin.elf = elf_memory((char *)data, cubin.values_left);
	if (!cubin.elf)
		return fail(CUDA_ERROR_INVALID_IMAGE, "%s", elf_errmsg(-1));
	result = read_elf(&cubin);
	elf_end(cubin.elf);
	free(cubin.of_symbol);
	return result;
}
