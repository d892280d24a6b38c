// SPDX-License-Identifier: MIT
/*
 * The stacks of signal handlers.
 *
 * A store to a window takes some kilobytes, and a second signal's frame if a member has no memory
 * there. Many alternate stacks are smaller (8 KiB in every thread of Rust): the handler then does
 * the store on a stack of its own.
 *
 * The library's handler asks for the alternate stack. A handler that the program had before, and
 * that does not ask for it, is called on the thread's own stack, as the kernel would have called it.
 */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "registers.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ	51
#endif

#define LEAST_PAGE	4096UL	/* of any processor */
#define STACKS		16U
#define STORE_BYTES	(8UL << 10)	/* what a store takes beside the frames of signals */
/* Yields until a store does without a stack of its own; each takes some thousand instructions. */
#define PATIENCE	(1 << 20)

static unsigned char *stacks;		/* each above a page that guards it */
static size_t stack_bytes, frame_bytes;
static atomic_uint stacks_free;

/* Called before the first store, not in a handler. Without memory, stores do without. */
void fault_stacks_make(void)
{
	size_t page = sysconf(_SC_PAGESIZE), each;

	frame_bytes = getauxval(AT_MINSIGSTKSZ);
	if (frame_bytes < LEAST_PAGE)
		frame_bytes = LEAST_PAGE;
	each = (page + 2 * (frame_bytes + STORE_BYTES) + page - 1) & -page;
	stacks = mmap(NULL, STACKS * each, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		return;
	stack_bytes = each;
	for (unsigned int i = 0; i < STACKS; i++)
		if (!mprotect(stacks + i * each + page, each - page, PROT_READ | PROT_WRITE))
			atomic_fetch_or(&stacks_free, 1U << i);
}

/* Does this handler run on the alternate stack? @room: output, how much of it is left */
static bool on_alternate(const ucontext_t *context, uintptr_t *room)
{
	const stack_t *alternate = &context->uc_stack;

	*room = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)alternate->ss_sp;
	return !(alternate->ss_flags & SS_DISABLE) && *room < alternate->ss_size;
}

bool fault_on_alternate(const ucontext_t *context)
{
	uintptr_t room;

	return on_alternate(context, &room);
}

/* Return: the number of a stack, or -1 */
static int take(void)
{
	for (unsigned int tries = 0; tries < PATIENCE; tries++) {
		unsigned int available = atomic_load(&stacks_free);

		if (!available)
			sched_yield();
		else if (atomic_compare_exchange_weak(&stacks_free, &available,
						      available & (available - 1)))
			return __builtin_ctz(available);
	}
	return -1;
}

struct call {
	void (*run)(void *data);
	void *data;
};

/*
 * Without an alternate stack meanwhile: the kernel would put the frame of a second signal at its
 * start, where that of the first one is.
 */
static void run_without_alternate(void *data)
{
	static const stack_t none = { .ss_flags = SS_DISABLE };
	const struct call *call = data;
	stack_t before;

	sigaltstack(&none, &before);
	call->run(call->data);
	sigaltstack(&before, NULL);
}

/* Calls a function, on a stack of the library's if the alternate stack is too small for it. */
void fault_call(const ucontext_t *context, void (*run)(void *data), void *data)
{
	struct call call = { run, data };
	int number = -1;
	uintptr_t room;

	if (stack_bytes && on_alternate(context, &room) && room < frame_bytes + STORE_BYTES)
		number = take();
	if (number < 0) {
		run(data);
		return;
	}
	fault_stack_call(stacks + (number + 1) * stack_bytes, run_without_alternate, &call);
	atomic_fetch_or(&stacks_free, 1U << number);
}

/*
 * Is the handler on the alternate stack, and what the signal interrupted is not? (A shadow stack
 * allows no return to another stack: the answer is then no.)
 */
bool fault_has_moved(const ucontext_t *context)
{
	uintptr_t below = fault_stack_pointer(context), room;

	return on_alternate(context, &room) && !fault_has_shadow_stack() &&
	       below - (uintptr_t)context->uc_stack.ss_sp > context->uc_stack.ss_size;
}

/* Writes to each page, by a system call that fails where the program could not write. */
bool fault_writable(uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = start; at < end; at = (at & -LEAST_PAGE) + LEAST_PAGE)
		if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at, sizeof(uint64_t)))
			return false;
	return true;
}
