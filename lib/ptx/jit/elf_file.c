// SPDX-License-Identifier: MIT
/* Sections and symbols of objects. LLVM wrote them, so they are taken as right. */
#include <string.h>

#include "elf_file.h"

bool elf_open(struct elf *elf, const void *bytes, size_t size)
{
	const Elf64_Ehdr *head = bytes;

	if (size < sizeof(*head) || head->e_shoff > size ||
	    (size - head->e_shoff) / sizeof(Elf64_Shdr) < head->e_shnum ||
	    head->e_shstrndx >= head->e_shnum)
		return false;
	*elf = (struct elf) { .bytes = bytes, .size = size, .count = head->e_shnum };
	elf->sections = (const void *)(elf->bytes + head->e_shoff);
	elf->names = (const char *)elf->bytes + elf->sections[head->e_shstrndx].sh_offset;
	return true;
}

const Elf64_Shdr *elf_section(const struct elf *elf, const char *name)
{
	for (uint32_t i = 0; i < elf->count; i++)
		if (!strcmp(elf->names + elf->sections[i].sh_name, name))
			return &elf->sections[i];
	return NULL;
}

struct elf_symbols elf_symbols(const struct elf *elf)
{
	const Elf64_Shdr *table = elf_section(elf, ".symtab");

	if (!table)
		return (struct elf_symbols) {};
	return (struct elf_symbols) {
		.at = (const void *)(elf->bytes + table->sh_offset),
		.names = (const char *)elf->bytes + elf->sections[table->sh_link].sh_offset,
		.count = table->sh_size / sizeof(Elf64_Sym),
	};
}

uint64_t elf_symbol_offset(const struct elf *elf, const char *name)
{
	struct elf_symbols symbols = elf_symbols(elf);

	for (uint64_t i = 0; i < symbols.count; i++)
		if (!strcmp(symbols.names + symbols.at[i].st_name, name))
			return symbols.at[i].st_value;
	return UINT64_MAX;
}

uintptr_t elf_text(const void *bytes, size_t size, const char *name, uintptr_t address)
{
	struct elf elf;
	uint64_t offset = elf_open(&elf, bytes, size) ? elf_symbol_offset(&elf, name) : UINT64_MAX;

	return offset == UINT64_MAX ? 0 : address - offset;
}
