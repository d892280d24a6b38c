// SPDX-License-Identifier: MIT
/*
 * Loads a program or library as far as its device code goes: its segments are laid out as for
 * running it, and addresses within it, which nvcc's wrappers of fatbins have, are made real.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx.h"

#define SEGMENT		".nvFatBinSegment"
#define RELOCATABLE	"__nv_relfatbin"
#define BYTES_MOST	(8UL << 30)

/* A file's bytes, and its header */
struct source {
	const char *bytes;
	uint64_t size;
	const Elf64_Ehdr *head;
};

static const void *at(const struct source *source, uint64_t offset, uint64_t bytes)
{
	return offset <= source->size && bytes <= source->size - offset ? source->bytes + offset :
									  NULL;
}

static const Elf64_Phdr *segment(const struct source *source, uint32_t index)
{
	return at(source, source->head->e_phoff + index * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
}

static const Elf64_Shdr *section(const struct source *source, uint32_t index)
{
	return at(source, source->head->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static bool lay_out(struct file *file, const struct source *source)
{
	uint64_t end = 0, first = UINT64_MAX;

	for (uint32_t i = 0; i < source->head->e_phnum; i++) {
		const Elf64_Phdr *part = segment(source, i);

		if (!part || (part->p_type == PT_LOAD &&
			      (part->p_vaddr > BYTES_MOST || part->p_memsz > BYTES_MOST ||
			       part->p_filesz > part->p_memsz)))
			return false;
		if (part->p_type != PT_LOAD)
			continue;
		if (part->p_vaddr < first)
			first = part->p_vaddr;
		if (part->p_vaddr + part->p_memsz > end)
			end = part->p_vaddr + part->p_memsz;
	}
	if (first >= end)
		return false;
	file->bytes = end - first;
	file->mapped = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (file->mapped == MAP_FAILED) {
		file->mapped = NULL;
		return false;
	}
	file->memory = (char *)file->mapped - first;
	for (uint32_t i = 0; i < source->head->e_phnum; i++) {
		const Elf64_Phdr *part = segment(source, i);
		const void *bytes = part->p_type == PT_LOAD ? at(source, part->p_offset,
								  part->p_filesz) : NULL;

		if (bytes)
			memcpy(file->memory + part->p_vaddr, bytes, part->p_filesz);
	}
	return true;
}

static bool inside(const struct file *file, uint64_t address, uint64_t bytes)
{
	uint64_t first = (char *)file->mapped - file->memory;

	return address >= first && bytes <= file->bytes && address - first <= file->bytes - bytes;
}

/* Return: the type of a relocation by the file's own address; 0: no processor that memcast runs on */
static uint32_t relative(const struct source *source)
{
	switch (source->head->e_machine) {
	case EM_X86_64:	 return R_X86_64_RELATIVE;
	case EM_AARCH64: return R_AARCH64_RELATIVE;
	default:	 return 0;
	}
}

/* Makes addresses of the segment that has the wrappers real ones. */
static void relocate(struct file *file, const struct source *source, const Elf64_Shdr *wrappers)
{
	uint64_t *word;

	for (uint32_t i = 0; i < source->head->e_shnum; i++) {
		const Elf64_Shdr *about = section(source, i);
		const Elf64_Rela *list = about && about->sh_type == SHT_RELA ?
					 at(source, about->sh_offset, about->sh_size) : NULL;

		for (uint64_t r = 0; list && r < about->sh_size / sizeof(*list); r++)
			if (ELF64_R_TYPE(list[r].r_info) == relative(source) &&
			    inside(file, list[r].r_offset, 8) &&
			    inside(file, list[r].r_addend, 1)) {
				word = (uint64_t *)(file->memory + list[r].r_offset);
				*word = (uintptr_t)file->memory + list[r].r_addend;
			}
	}
	/*
	 * A program with fixed addresses has them in place, and so has one with packed relocations
	 * (SHT_RELR); what has been made real is outside of the file's own addresses.
	 */
	for (uint64_t offset = 8; offset + 16 <= wrappers->sh_size; offset += 24)
		for (int i = 0; i < 2; i++) {
			word = (uint64_t *)(file->memory + wrappers->sh_addr + offset + 8 * i);
			if (*word && inside(file, *word, 8))
				*word += (uintptr_t)file->memory;
		}
}

/* Are a wrapper's addresses within the file? Those of parts end with NULL. */
static bool is_sound(const struct file *file, const struct wrapper *wrapper)
{
	const char *base = file->memory;

	if (wrapper->magic != WRAPPER_MAGIC || !wrapper->data ||
	    !inside(file, (const char *)wrapper->data - base, 16))
		return false;
	if (wrapper->version != WRAPPER_LINKED)
		return true;
	for (const void *const *part = wrapper->parts; part; part++) {
		if (!inside(file, (const char *)part - base, 8))
			return false;
		if (!*part)
			return true;
		if (!inside(file, (const char *)*part - base, 16))
			return false;
	}
	return true;
}

bool file_is_part(const struct file *file, const struct wrapper *wrapper)
{
	return (uintptr_t)wrapper->data - (uintptr_t)file->relocatable < file->relocatable_bytes;
}

/*
 * A program collects the parts of its linked code when it starts, in the order of its files, which
 * is that of the wrappers.
 */
static const char *link_parts(struct file *file)
{
	uint32_t count = 0;

	file->parts = calloc(file->count + 1, sizeof(*file->parts));
	if (!file->parts)
		return "no memory";
	for (uint32_t i = 0; i < file->count; i++)
		if (file_is_part(file, &file->wrappers[i]))
			file->parts[count++] = file->wrappers[i].data;
	for (uint32_t i = 0; i < file->count; i++)
		if (file->wrappers[i].version == WRAPPER_LINKED &&
		    (!file->wrappers[i].parts || !*file->wrappers[i].parts))
			file->wrappers[i].parts = file->parts;
	return NULL;
}

static bool is_called(const struct source *source, const Elf64_Shdr *names, const Elf64_Shdr *one,
		      const char *name)
{
	size_t bytes = strlen(name) + 1;
	const char *own = one ? at(source, names->sh_offset + one->sh_name, bytes) : NULL;

	return own && !memcmp(own, name, bytes);
}

static const char *load(struct file *file, const struct source *source)
{
	const Elf64_Shdr *names, *found = NULL, *relocatable = NULL, *one;

	if (source->size < sizeof(*source->head) || memcmp(source->bytes, ELFMAG, SELFMAG) ||
	    source->bytes[EI_CLASS] != ELFCLASS64 || !relative(source))
		return NULL;
	names = section(source, source->head->e_shstrndx);
	for (uint32_t i = 0; names && i < source->head->e_shnum; i++) {
		one = section(source, i);
		if (is_called(source, names, one, SEGMENT))
			found = one;
		if (is_called(source, names, one, RELOCATABLE))
			relocatable = one;
	}
	if (!found)
		return NULL;
	if (!lay_out(file, source) || !inside(file, found->sh_addr, found->sh_size))
		return "it is damaged";
	relocate(file, source, found);
	file->wrappers = (struct wrapper *)(file->memory + found->sh_addr);
	file->count = found->sh_size / sizeof(struct wrapper);
	for (uint32_t i = 0; i < file->count; i++)
		if (!is_sound(file, &file->wrappers[i])) {
			file->count = i;
			return "its device code is of a kind that is not known";
		}
	if (relocatable && inside(file, relocatable->sh_addr, relocatable->sh_size)) {
		file->relocatable = file->memory + relocatable->sh_addr;
		file->relocatable_bytes = relocatable->sh_size;
	}
	return link_parts(file);
}

const char *file_load(struct file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct source source = {};
	const char *wrong = NULL;
	struct stat about;

	*file = (struct file) { .path = path };
	if (fd < 0 || fstat(fd, &about)) {
		wrong = "it cannot be read";
	} else if (about.st_size) {
		source.size = about.st_size;
		source.bytes = mmap(NULL, source.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (source.bytes == MAP_FAILED) {
			wrong = "it cannot be read";
		} else {
			source.head = (const Elf64_Ehdr *)source.bytes;
			file->windows = memmem(source.bytes, source.size, "cuMulticast", 11);
			wrong = load(file, &source);
			munmap((void *)source.bytes, source.size);
		}
	}
	if (fd >= 0)
		close(fd);
	return wrong;
}

void file_unload(struct file *file)
{
	free(file->parts);
	if (file->mapped)
		munmap(file->mapped, file->bytes);
}
