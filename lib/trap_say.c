// SPDX-License-Identifier: MIT
/* What stands on stderr about plain accesses to windows: whole lines, no stdio. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trap.h"

struct line {
	size_t length;
	char text[600];
};

static ZydisFormatter formatter;
static atomic_bool noted;

void trap_say_init(void)
{
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
}

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

/* Nobody may read it: that must not end the program. SIGPIPE is blocked here. */
static void end(struct line *line)
{
	static const struct timespec now;
	sigset_t pending, raised;

	line->text[line->length++] = '\n';
	sigpending(&pending);
	if (write(STDERR_FILENO, line->text, line->length) >= 0 || errno != EPIPE ||
	    sigismember(&pending, SIGPIPE))
		return;
	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigtimedwait(&raised, NULL, &now);
}

/* Its text, its address, and where in which file that is */
static void add_instruction(struct line *line, const struct trap_op *op, uintptr_t rip)
{
	char text[160] = "?";
	Dl_info place;

	if (op)
		ZydisFormatterFormatInstruction(&formatter, &op->instruction, op->operand,
						op->instruction.operand_count_visible, text,
						sizeof(text), rip, NULL);
	add(line, "'");
	add(line, text);
	add(line, "' at ");
	add_number(line, rip, 16);
	if (!dladdr((void *)rip, &place))
		return;
	add(line, " (");
	if (place.dli_sname) {
		add(line, place.dli_sname);
		add(line, "+");
		add_number(line, rip - (uintptr_t)place.dli_saddr, 16);
	} else {
		add(line, place.dli_fname);
		add(line, "+");
		add_number(line, rip - (uintptr_t)place.dli_fbase, 16);
	}
	add(line, ")");
}

/* Once in a process */
void trap_say_note(void)
{
	struct line line;

	if (atomic_exchange(&noted, true))
		return;
	begin(&line);
	add(&line, "plain stores to a team's address reach every replica, each by way of a "
	    "signal: slow. memcast/multimem.h has the fast way. MEMCAST_TRAP=0 turns this off.");
	end(&line);
}

void trap_say_cannot(const struct trap_op *op, uintptr_t rip, uintptr_t address,
		     const char *why)
{
	struct line line;

	begin(&line);
	add(&line, "this store to a team's address cannot reach every replica: ");
	add_instruction(&line, op, rip);
	add(&line, ", to ");
	add_number(&line, address, 16);
	add(&line, ": ");
	add(&line, why);
	end(&line);
}

void trap_say_strict(const struct trap_op *op, uintptr_t rip, uintptr_t address,
		     const struct trap_place *place, bool store)
{
	struct line line;

	begin(&line);
	add(&line, store ? "MEMCAST_STRICT: a plain store to a team's address: " :
			   "MEMCAST_STRICT: a plain load from a team's address: ");
	add_instruction(&line, op, rip);
	add(&line, ", ");
	add_number(&line, address, 16);
	add(&line, ", byte ");
	add_number(&line, place->offset, 10);
	add(&line, " of team ");
	add_number(&line, place->team, 10);
	end(&line);
}

void trap_say_end(const struct trap_op *op, uintptr_t rip, uintptr_t address,
		  const char *why, bool store)
{
	struct line line;

	begin(&line);
	add(&line, store ? "a store ends the program: " : "a load ends the program: ");
	add_instruction(&line, op, rip);
	add(&line, ", ");
	add_number(&line, address, 16);
	add(&line, ": ");
	add(&line, why);
	end(&line);
}
