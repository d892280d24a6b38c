// SPDX-License-Identifier: MIT
/*
 * Where a thread runs, by the symbols of its program and libraries. Without tables for unwinding,
 * callers are what on the stack points behind a call: some may be of earlier calls.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "place.h"

#define CALLERS		6
#define STACK_WORDS	1024

/* Code of a process, as its maps show it */
struct region {
	unsigned long start, end, offset;
	char path[256];
};

struct regions {
	pid_t pid;
	struct region *at;
	size_t count;
};

static struct regions read_regions(pid_t pid)
{
	struct regions regions = { .pid = pid };
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		struct region one = { .path = "" };
		struct region *more;
		char rights[8];

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255[^\n]", &one.start, &one.end, rights,
			   &one.offset, one.path) < 4 || rights[2] != 'x')
			continue;
		more = realloc(regions.at, (regions.count + 1) * sizeof(one));
		if (!more)
			break;
		regions.at = more;
		regions.at[regions.count++] = one;
	}
	free(line);
	if (file)
		fclose(file);
	return regions;
}

static const struct region *region_of(const struct regions *regions, uintptr_t address)
{
	for (size_t i = 0; i < regions->count; i++)
		if (address >= regions->at[i].start && address < regions->at[i].end)
			return &regions->at[i];
	return NULL;
}

/* A program or library, all of it in memory */
struct binary {
	const char *bytes;
	uint64_t size;
};

static const void *at(const struct binary *binary, uint64_t offset, uint64_t bytes)
{
	return offset <= binary->size && bytes <= binary->size - offset ? binary->bytes + offset :
									  NULL;
}

/* Return: the address, by the file, of what is at an offset in it */
static uint64_t virtual_of(const struct binary *binary, const Elf64_Ehdr *head, uint64_t offset)
{
	for (unsigned int i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *part = at(binary, head->e_phoff + i * sizeof(*part),
					    sizeof(*part));

		if (part && part->p_type == PT_LOAD && offset >= part->p_offset &&
		    offset - part->p_offset < part->p_filesz)
			return part->p_vaddr + offset - part->p_offset;
	}
	return 0;
}

static void find_symbol(const struct binary *binary, uint64_t offset, char *text, size_t size)
{
	const Elf64_Ehdr *head = at(binary, 0, sizeof(*head));
	uint64_t address, best = 0;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64)
		return;
	address = virtual_of(binary, head, offset);
	for (unsigned int i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *table = at(binary, head->e_shoff + i * sizeof(*table),
					     sizeof(*table));
		const Elf64_Shdr *strings = table && (table->sh_type == SHT_SYMTAB ||
						      table->sh_type == SHT_DYNSYM) ?
					    at(binary, head->e_shoff +
					       table->sh_link * sizeof(*table), sizeof(*table)) :
					    NULL;
		const Elf64_Sym *symbols = strings ? at(binary, table->sh_offset, table->sh_size) :
						     NULL;

		for (uint64_t s = 0; symbols && s < table->sh_size / sizeof(*symbols); s++) {
			const char *name = at(binary, strings->sh_offset + symbols[s].st_name, 1);
			const char *end = binary->bytes + binary->size;
			unsigned int kind = ELF64_ST_TYPE(symbols[s].st_info);

			if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || !name ||
			    symbols[s].st_value > address || symbols[s].st_value < best ||
			    address - symbols[s].st_value >= symbols[s].st_size)
				continue;
			best = symbols[s].st_value;
			snprintf(text, size, "%.*s+%#lx", (int)strnlen(name, end - name < 160 ?
				 end - name : 160), name, address - best);
		}
	}
}

/* Writes "function+0x1c", or nothing, for a place in the file of a region. */
static void name_place(pid_t pid, const struct region *region, uintptr_t address, char *text,
		       size_t size)
{
	uint64_t offset = address - region->start + region->offset;
	struct binary binary = {};
	struct stat about;
	char path[320];
	void *bytes;
	int fd;

	*text = '\0';
	if (*region->path != '/')
		return;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, region->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && !fstat(fd, &about) && S_ISREG(about.st_mode) && about.st_size) {
		bytes = mmap(NULL, about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			binary = (struct binary) { bytes, about.st_size };
			find_symbol(&binary, offset, text, size);
			munmap(bytes, about.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	if (!*text)
		snprintf(text, size, "%#lx", offset);
}

static void print(FILE *to, const struct regions *regions, uintptr_t address, const char *before)
{
	const struct region *region = region_of(regions, address);
	const char *file = region ? strrchr(region->path, '/') : NULL;
	char name[200];

	if (!region)
		return;
	name_place(regions->pid, region, address, name, sizeof(name));
	if (*name)
		fprintf(to, "%s%s (%s)\n", before, name, file ? file + 1 : region->path);
	else if (*region->path)
		fprintf(to, "%s%s\n", before, region->path);	/* [vdso] */
	else
		fprintf(to, "%scode that was compiled while the program ran\n", before);
}

static bool read_memory(pid_t pid, uintptr_t address, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)address, bytes };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static void print_callers(FILE *to, const struct regions *regions, uintptr_t stack)
{
	unsigned char before[8];
	uintptr_t word;
	int count = 0;

	for (int i = 0; i < STACK_WORDS && count < CALLERS; i++) {
		if (!read_memory(regions->pid, stack + i * sizeof(word), &word, sizeof(word)))
			return;
		if (!region_of(regions, word) ||
		    !read_memory(regions->pid, word - sizeof(before), before, sizeof(before)) ||
		    !is_behind_call(before))
			continue;
		print(to, regions, word - 1, "called by ");
		count++;
	}
}

/* Return: has the thread stopped within a second? @signal: that it was about to get, or 0 */
static bool stop(pid_t tid, int *signal)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	int status;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return false;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	for (int i = 0; i < 100; i++) {
		if (waitpid(tid, &status, WNOHANG | __WALL) == tid) {
			/* a stop by PTRACE_INTERRUPT has an event in the bits above */
			*signal = status >> 16 ? 0 : WSTOPSIG(status);
			return WIFSTOPPED(status);
		}
		nanosleep(&moment, NULL);
	}
	return false;
}

void place_print(FILE *to, pid_t pid, pid_t tid)
{
	uintptr_t instruction, stack;
	struct regions regions;
	int signal;

	if (!stop(tid, &signal))
		return;
	if (registers_read(tid, &instruction, &stack)) {
		regions = read_regions(pid);
		print(to, &regions, instruction, "");
		print_callers(to, &regions, stack);
		free(regions.at);
	}
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
}
