// SPDX-License-Identifier: MIT
/*
 * Names and lines of compiled code, for gdb by its interface for compilers at run time: a list of
 * objects, and a function in which gdb has a breakpoint. For perf there is a file that perf reads
 * after the process has ended.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"
#include "elf_file.h"

/* These types and the two names are gdb's. */
struct gdb_entry {
	struct gdb_entry *next, *previous;
	const void *object;
	uint64_t bytes;
};

struct gdb_list {
	uint32_t version, action;
	struct gdb_entry *changed, *first;
};

#define GDB_ADDED	1
#define GDB_REMOVED	2

extern struct gdb_list __jit_debug_descriptor __attribute__((visibility("default")));
void __jit_debug_register_code(void) __attribute__((visibility("default"), noinline));

struct gdb_list __jit_debug_descriptor = { .version = 1 };

void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

static pthread_mutex_t gdb_lock = PTHREAD_MUTEX_INITIALIZER;	/* protects gdb's list */
static pthread_mutex_t perf_lock = PTHREAD_MUTEX_INITIALIZER;	/* protects perf's file */

/* gdb reads an object as a linker leaves it: the section of code has an address. */
static void place(void *object, size_t size, uintptr_t text)
{
	struct elf elf;

	if (!elf_open(&elf, object, size))
		return;
	for (uint32_t i = 0; i < elf.count; i++) {
		Elf64_Shdr *section = (Elf64_Shdr *)&elf.sections[i];

		if (!strcmp(elf.names + section->sh_name, ".text"))
			section->sh_addr = text;
		else
			section->sh_flags &= ~(uint64_t)SHF_ALLOC;
	}
}

static void gdb_tell(struct gdb_entry *entry, uint32_t action)
{
	__jit_debug_descriptor.changed = entry;
	__jit_debug_descriptor.action = action;
	__jit_debug_register_code();
}

struct gdb_entry *gdb_add(const void *object, size_t size, uintptr_t text)
{
	struct gdb_entry *entry = malloc(sizeof(*entry) + size);

	if (!entry)
		return NULL;
	*entry = (struct gdb_entry) { .object = entry + 1, .bytes = size };
	memcpy(entry + 1, object, size);
	place(entry + 1, size, text);
	pthread_mutex_lock(&gdb_lock);
	entry->next = __jit_debug_descriptor.first;
	if (entry->next)
		entry->next->previous = entry;
	__jit_debug_descriptor.first = entry;
	gdb_tell(entry, GDB_ADDED);
	pthread_mutex_unlock(&gdb_lock);
	return entry;
}

void gdb_remove(struct gdb_entry *entry)
{
	if (!entry)
		return;
	pthread_mutex_lock(&gdb_lock);
	if (entry->previous)
		entry->previous->next = entry->next;
	else
		__jit_debug_descriptor.first = entry->next;
	if (entry->next)
		entry->next->previous = entry->previous;
	gdb_tell(entry, GDB_REMOVED);
	pthread_mutex_unlock(&gdb_lock);
	free(entry);
}

/* Names in objects are "function.12", of the function's number. Return: its symbol, or NULL */
static const struct symbol *symbol_of(const struct ptx_code *code, const char *name)
{
	const char *number = strrchr(name, '.');

	for (uint32_t u = 0; number && u < code->units_count; u++)
		for (struct function *function = code->units[u].functions; function;
		     function = function->next)
			if (facts_of(function)->number == strtoul(number + 1, NULL, 10))
				return function->symbol;
	return NULL;
}

/*
 * Opens the file where perf looks for names, unless another user has put something there: a link, a
 * pipe, which would wait for a reader, or one more name of a file of this user's. What an earlier
 * process of the same number has left is emptied. With the perf_lock.
 */
static FILE *perf_open(void)
{
	static pid_t opened;
	struct stat about;
	pid_t pid = getpid();
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &about) || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
	    about.st_nlink != 1 || (opened != pid && ftruncate(fd, 0))) {
		close(fd);
		return NULL;
	}
	opened = pid;
	return fdopen(fd, "a");
}

void perf_add(const struct ptx_code *code, const void *object, size_t size, uintptr_t text)
{
	struct elf_symbols symbols;
	struct elf elf;
	FILE *file;

	if (!elf_open(&elf, object, size))
		return;
	symbols = elf_symbols(&elf);
	pthread_mutex_lock(&perf_lock);
	file = perf_open();
	for (uint64_t i = 0; file && i < symbols.count; i++) {
		const Elf64_Sym *at = &symbols.at[i];
		const struct symbol *symbol = ELF64_ST_TYPE(at->st_info) == STT_FUNC ?
					      symbol_of(code, symbols.names + at->st_name) : NULL;

		if (symbol)
			fprintf(file, "%lx %lx %.*s\n", text + at->st_value, at->st_size,
				(int)symbol->length, symbol->name);
	}
	if (file)
		fclose(file);
	pthread_mutex_unlock(&perf_lock);
}
