// SPDX-License-Identifier: MIT
/* The interface between this object and libcuda.so.1. */
#include <string.h>

#include "trap.h"

static const struct trap_host *host;
static ZydisFormatter formatter;

bool trap_window_at(uintptr_t address, struct trap_window *window)
{
	return host->window_at(address, window);
}

/* Reads the instruction at @rip. A protection key may forbid reading code: this allows all keys. */
static bool read_code(struct trap_op *op, uintptr_t rip)
{
	uint32_t keys = host->keys_set(0);
	bool done = trap_read(op, rip);

	host->keys_set(keys);
	return done;
}

/* Fills in a fault of the program that a store found, as the kernel would report it. */
static void fault_becomes(siginfo_t *info, ucontext_t *context, const struct trap_fault *fault)
{
	greg_t *greg = context->uc_mcontext.gregs;

	memset(info, 0, sizeof(*info));
	info->si_signo = fault->signal;
	info->si_code = fault->code;
	info->si_addr = (void *)fault->address;
	greg[REG_TRAPNO] = fault->trap;
	greg[REG_ERR] = fault->error;
	if (fault->trap == FAULT_OF_A_PAGE)
		greg[REG_CR2] = fault->address;
}

/* Is it a 64-bit code segment? The selector does not tell: Xen has another one than Linux. */
static bool is_64_bit(unsigned int selector)
{
	const unsigned int long_mode = 1 << 21;
	unsigned int rights = 0;

	asm("lar %1, %0" : "+r" (rights) : "r" (selector) : "cc");
	return rights & long_mode;
}

static void format(const struct trap_op *op, uintptr_t rip, char *text, size_t size)
{
	ZydisFormatterFormatInstruction(&formatter, &op->instruction, op->operand,
					op->instruction.operand_count_visible, text, size, rip,
					NULL);
}

__attribute__((noinline))
static void say_cannot(const struct trap *trap, uintptr_t rip, uintptr_t address)
{
	char text[TRAP_TEXT] = "";

	format(&trap->op, rip, text, sizeof(text));
	host->say_cannot(text, rip, address, trap->why);
}

/*
 * Return: was it done? If not, @info is for the program.
 *
 * A function of its own: a handler of the program, called later on the same alternate stack,
 * may have no room below its kilobytes.
 */
__attribute__((noinline))
static bool store(siginfo_t *info, ucontext_t *context)
{
	uintptr_t rip = context->uc_mcontext.gregs[REG_RIP];
	struct trap trap = { .context = context };

	trap_registers_get(context, trap.reg);
	if (!is_64_bit(context->uc_mcontext.gregs[REG_CSGSFS] & 0xffff)) {
		host->say_cannot("", rip, (uintptr_t)info->si_addr, "it is not 64-bit code");
		return false;
	}
	if (!read_code(&trap.op, rip)) {
		host->say_cannot("", rip, (uintptr_t)info->si_addr, "its code cannot be read");
		return false;
	}
	trap.why = trap_decode(&trap.op, trap.reg, rip);
	switch (trap.why ? TRAP_CANNOT : trap_store(&trap, (uintptr_t)info->si_addr)) {
	case TRAP_DONE:
		if (trap.missed)
			host->say_missed((uintptr_t)info->si_addr, trap.missed);
		return true;
	case TRAP_FAULT:
		fault_becomes(info, context, &trap.fault);
		return false;
	default:
		say_cannot(&trap, rip, (uintptr_t)info->si_addr);
		return false;
	}
}

static bool describe(uintptr_t rip, char *text, size_t size)
{
	struct trap_op op;

	if (!read_code(&op, rip))
		return false;
	format(&op, rip, text, size);
	return true;
}

static bool start(const struct trap_host *given)
{
	host = given;
	trap_init_decoder();
	trap_scatter_init();
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	return trap_run_init();
}

const struct trap_object memcast_trap_object = {
	.version = TRAP_OBJECT_VERSION,
	.start = start,
	.caught = trap_run_caught,
	.store = store,
	.text = describe,
};
