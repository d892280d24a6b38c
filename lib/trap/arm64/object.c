// SPDX-License-Identifier: MIT
/* The interface between this object and libcuda.so.1, and stores to every replica. */
#include <stdatomic.h>
#include <string.h>

#include "fault/arm64/registers.h"
#include "fault/object.h"
#include "trap.h"

static const struct trap_host *host;

/*
 * Copies 1, 2, 4, 8 or 16 bytes by one access. Return: 0, or the signal of its fault, and the signal's
 * code in the upper half: caught() goes on where this function was called, as it changes no register
 * that its caller keeps.
 */
uint64_t trap_put(void *to, const void *from, uint64_t bytes);
extern const char trap_put_end[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".type trap_put, @function\n"
	".hidden trap_put\n"
	".hidden trap_put_end\n"
	"trap_put:\n"
	"	hint #34\n"		/* bti c */
	"	tbnz x2, #4, 16f\n"
	"	tbnz x2, #3, 8f\n"
	"	tbnz x2, #2, 4f\n"
	"	tbnz x2, #1, 2f\n"
	"	ldrb w3, [x1]\n"
	"	strb w3, [x0]\n"
	"	b 1f\n"
	"2:	ldrh w3, [x1]\n"
	"	strh w3, [x0]\n"
	"	b 1f\n"
	"4:	ldr w3, [x1]\n"
	"	str w3, [x0]\n"
	"	b 1f\n"
	"8:	ldr x3, [x1]\n"
	"	str x3, [x0]\n"
	"	b 1f\n"
	"16:	ldp x3, x4, [x1]\n"
	"	stp x3, x4, [x0]\n"
	"1:	mov x0, #0\n"
	"	ret\n"
	"trap_put_end:\n"
	".size trap_put, . - trap_put\n"
	".popsection\n");

static bool caught(int number, const siginfo_t *info, ucontext_t *context)
{
	mcontext_t *at = &context->uc_mcontext;

	if (at->pc < (uintptr_t)trap_put || at->pc >= (uintptr_t)trap_put_end ||
	    info->si_code <= 0)
		return false;
	at->regs[0] = (uint32_t)number | (uint64_t)(uint32_t)info->si_code << 32;
	at->pc = at->regs[30];
	return true;
}

/* Writes to one replica. Return: 0, or a fault, as trap_put() returns it */
static uint64_t write_replica(const struct trap_store *store, unsigned char *to)
{
	static const unsigned char zeros[16];
	uint64_t fault = 0;

	for (size_t i = 0; i < store->bytes && !fault; i += store->width) {
		if (store->zeros)
			fault = trap_put(to + i, zeros, store->width);
		else if (!store->left_out[i / store->width])
			fault = trap_put(to + i, store->data + i, store->width);
	}
	return fault;
}

/*
 * A replica without memory at the address is left out, as copies do; if none has memory there, the
 * program gets SIGBUS. Return: 0, or the fault
 */
static uint64_t write_all(const struct trap_store *store, const struct trap_window *window)
{
	size_t offset = store->address - window->start;
	uintptr_t missed = 0;
	uint64_t fault, last = 0;
	bool done = false;

	if (store->release)
		atomic_thread_fence(memory_order_release);
	for (unsigned int i = 0; i < window->replicas; i++) {
		fault = write_replica(store, window->replica[i] + offset);
		if (fault && (uint32_t)fault != SIGBUS)
			return fault;
		if (fault) {
			missed = (uintptr_t)window->replica[i] + offset;
			last = fault;
		} else {
			done = true;
		}
	}
	/* No ldar that follows a stlr is done before it. */
	if (store->release)
		atomic_thread_fence(memory_order_seq_cst);
	if (done && missed)
		host->say_missed(store->address, missed);
	return done ? 0 : last;
}

/* Return: NULL, or why it cannot be done */
static const char *find(struct trap_store *store, struct trap_window *window, uintptr_t address,
			const ucontext_t *context)
{
	const char *why;
	uint32_t word;

	if (trap_put(&word, (void *)context->uc_mcontext.pc, sizeof(word)))
		return "its code cannot be read";
	why = trap_decode(store, context, word);
	if (why)
		return why;
	if (address - store->address >= store->bytes)
		return "what it writes is elsewhere";
	if (!host->window_at(address, window))
		return "the window has gone";
	if (store->address < window->start || store->bytes > window->bytes ||
	    store->address - window->start > window->bytes - store->bytes)
		return "it writes over an edge of the window";
	return NULL;
}

/* Return: was it done? If not, @info is for the program. */
static bool store_all(siginfo_t *info, ucontext_t *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	mcontext_t *at = &context->uc_mcontext;
	struct trap_window window;
	struct trap_store store;
	const char *why = find(&store, &window, address, context);
	uint64_t fault;

	if (why) {
		host->say_cannot("", at->pc, address, why);
		return false;
	}
	fault = write_all(&store, &window);
	if (fault) {
		memset(info, 0, sizeof(*info));
		info->si_signo = (uint32_t)fault;
		info->si_code = fault >> 32;
		info->si_addr = (void *)address;
		return false;
	}
	at->pc += sizeof(uint32_t);
	if (store.moves && store.base == TRAP_STACK)
		at->sp = store.moved;
	else if (store.moves)
		at->regs[store.base] = store.moved;
	return true;
}

/* There is no disassembler here. */
static bool describe(uintptr_t rip, char *text, size_t size)
{
	(void)rip;
	(void)text;
	(void)size;
	return false;
}

static bool start(const struct trap_host *given)
{
	host = given;
	return true;
}

const struct trap_object memcast_trap_object = {
	.version = TRAP_OBJECT_VERSION,
	.start = start,
	.caught = caught,
	.store = store_all,
	.text = describe,
};
