// SPDX-License-Identifier: MIT
/* Messages on stderr about faults at windows and other mappings: whole lines, no stdio. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "base/log_file.h"

struct line {
	size_t length;
	char text[600];
};

static atomic_bool noted;

static void add(struct line *line, const char *text)
{
	size_t length = strnlen(text, sizeof(line->text) - 1 - line->length);

	memcpy(line->text + line->length, text, length);
	line->length += length;
}

static void add_number(struct line *line, uint64_t number, unsigned int base)
{
	char digits[24], *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	if (base == 16)
		add(line, "0x");
	add(line, at);
}

static void begin(struct line *line)
{
	line->length = 0;
	add(line, "memcast[");
	add_number(line, getpid(), 10);
	add(line, "]: ");
}

static void end(struct line *line)
{
	line->text[line->length++] = '\n';
	log_write(STDERR_FILENO, line->text, line->length);
}

/*
 * Finds the loaded file that has an address. Not by dladdr(), which waits for the loader's
 * lock: the thread that has the lock may be waiting for this one.
 */
static const struct link_map *object_at(uintptr_t rip)
{
#if __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	if (!_dl_find_object((void *)rip, &found))
		return found.dlfo_link_map;
#endif
	(void)rip;
	return NULL;
}

/* Return: the number of symbols that can be looked up by name. */
static uint32_t symbols_of(const uint32_t *hash)
{
	uint32_t buckets = hash[0], offset = hash[1], last = 0;
	const uint32_t *bucket = hash + 4 + hash[2] * sizeof(uintptr_t) / sizeof(uint32_t);
	const uint32_t *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < offset)
		return 0;
	while (!(chain[last - offset] & 1))
		last++;
	return last + 1;
}

static const ElfW(Sym) *symbol_at(const struct link_map *object, uintptr_t offset,
				  const char **names)
{
	const ElfW(Sym) *symbol = NULL, *found = NULL;
	const uint32_t *hash = NULL;

	for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
		const void *at = (void *)entry->d_un.d_ptr;

		/* entries that the loader has not relocated (vdso) are no addresses */
		if (entry->d_un.d_ptr < object->l_addr)
			continue;
		if (entry->d_tag == DT_SYMTAB)
			symbol = at;
		else if (entry->d_tag == DT_STRTAB)
			*names = at;
		else if (entry->d_tag == DT_GNU_HASH)
			hash = at;
	}
	for (uint32_t i = symbol && *names && hash ? symbols_of(hash) : 0; i-- > 0;)
		if (ELF64_ST_TYPE(symbol[i].st_info) == STT_FUNC &&
		    symbol[i].st_shndx != SHN_UNDEF &&
		    offset - symbol[i].st_value < symbol[i].st_size)
			found = &symbol[i];
	return found;
}

static void add_place(struct line *line, const struct link_map *object, uintptr_t rip)
{
	uintptr_t offset = rip - object->l_addr;
	const char *names = NULL;
	const ElfW(Sym) *symbol = symbol_at(object, offset, &names);

	add(line, " (");
	if (symbol) {
		add(line, names + symbol->st_name);
		offset -= symbol->st_value;
	} else {
		add(line, *object->l_name ? object->l_name : program_invocation_name);
	}
	add(line, "+");
	add_number(line, offset, 16);
	add(line, ")");
}

/* Adds an instruction: its text if known, its address, and the place in its file. */
static void add_instruction(struct line *line, const char *text, uintptr_t rip)
{
	const struct link_map *object = object_at(rip);

	if (*text) {
		add(line, "'");
		add(line, text);
		add(line, "' at ");
	} else {
		add(line, "the instruction at ");
	}
	add_number(line, rip, 16);
	if (object)
		add_place(line, object, rip);
}

/* Begins a line about an access: what is wrong, the instruction and the address. */
static void begin_access(struct line *line, const char *what, const char *text, uintptr_t rip,
			 uintptr_t address)
{
	begin(line);
	add(line, what);
	add_instruction(line, text, rip);
	add(line, ", ");
	add_number(line, address, 16);
}

/* Says once in a process that plain stores are slow. */
void fault_say_note(void)
{
	struct line line;

	if (atomic_exchange(&noted, true))
		return;
	begin(&line);
	add(&line, "plain stores to a team's address reach every replica, each by way of a "
	    "signal: slow. memcast/multimem.h has the fast way. MEMCAST_TRAP=0 turns this off.");
	end(&line);
}

/* Says why a launch ends whose kernel may have lost parts of its stacks. */
void fault_say_stack(void)
{
	struct line line;

	begin(&line);
	add(&line, "the program's handler of SIGSEGV ran on the stack of a kernel, which may be too "
	    "small for it, so the kernel ends: it has to be installed with SA_ONSTACK: "
	    "memcast/trap.h");
	end(&line);
}

/*
 * Says once in a process that a store missed a replica. @replica: the address in the replica
 * that has no memory
 */
void fault_say_missed(uintptr_t address, uintptr_t replica)
{
	static atomic_bool said;
	struct line line;
	char why[160];

	if (said || !fault_reason(replica, true, why, sizeof(why)) || atomic_exchange(&said, true))
		return;
	begin(&line);
	add(&line, "a plain store to a team's address, ");
	add_number(&line, address, 16);
	add(&line, ", does not reach every replica: ");
	add(&line, why);
	add(&line, " (said once)");
	end(&line);
}

void fault_say_cannot(const char *text, uintptr_t rip, uintptr_t address,
		     const char *why)
{
	struct line line;

	begin(&line);
	add(&line, "this store to a team's address cannot reach every replica: ");
	add_instruction(&line, text, rip);
	add(&line, ", to ");
	add_number(&line, address, 16);
	add(&line, ": ");
	add(&line, why);
	end(&line);
}

void fault_say_strict(const char *text, uintptr_t rip, uintptr_t address,
		     const struct fault_place *place, bool store)
{
	struct line line;

	begin_access(&line, store ? "MEMCAST_STRICT: a plain store to a team's address: " :
				    "MEMCAST_STRICT: a plain load from a team's address: ",
		     text, rip, address);
	add(&line, ", byte ");
	add_number(&line, place->offset, 10);
	add(&line, " of team ");
	add_number(&line, place->team, 10);
	end(&line);
}

void fault_say_forbidden(const char *text, uintptr_t rip, uintptr_t address, bool store)
{
	struct fault_memory memory;
	struct line line;

	begin_access(&line, store ? "MEMCAST_HOST_ACCESS=forbid: the program stores to device memory: " :
				    "MEMCAST_HOST_ACCESS=forbid: the program loads from device memory: ",
		     text, rip, address);
	if (fault_memory_at(address, &memory)) {
		add(&line, ", byte ");
		add_number(&line, memory.offset, 10);
		add(&line, " of ");
		add_number(&line, memory.bytes, 10);
		add(&line, " by ");
		add(&line, memory.call);
		add(&line, memory.team ? ", team " : ", device ");
		if (memory.team || memory.device != UINT32_MAX)
			add_number(&line, memory.team ?: memory.device, 10);
		else
			add(&line, "of another host");
	}
	add(&line, store ? "; use cuMemcpyHtoD(), a kernel or memcast/multimem.h" :
			   "; use cuMemcpyDtoH(), a kernel or memcast/multimem.h");
	end(&line);
}

void fault_say_end(const char *text, uintptr_t rip, uintptr_t address,
		  const char *why, bool store)
{
	struct line line;

	begin_access(&line, store ? "a store ends the program: " :
				    "a load ends the program: ",
		     text, rip, address);
	add(&line, ": ");
	add(&line, why);
	end(&line);
}
