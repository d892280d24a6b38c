/* SPDX-License-Identifier: MIT */
/* An object that LLVM made, of which only what is asked for is looked at */
#ifndef MEMCAST_PTX_ELF_FILE_H
#define MEMCAST_PTX_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
	const unsigned char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	const char *names;
	uint32_t count;
};

/* The symbols of an object */
struct elf_symbols {
	const Elf64_Sym *at;
	const char *names;
	uint64_t count;
};

bool elf_open(struct elf *elf, const void *bytes, size_t size);
/* Return: NULL: there is none of that name */
const Elf64_Shdr *elf_section(const struct elf *elf, const char *name);
struct elf_symbols elf_symbols(const struct elf *elf);
/* Return: where a symbol lies in its section; UINT64_MAX: it is not there */
uint64_t elf_symbol_offset(const struct elf *elf, const char *name);
/* Return: where an object's code begins whose symbol @name was put to @address; 0: not known */
uintptr_t elf_text(const void *bytes, size_t size, const char *name, uintptr_t address);

#endif /* MEMCAST_PTX_ELF_FILE_H */
