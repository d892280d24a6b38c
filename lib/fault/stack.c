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
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ	51
#endif

#define PAGE		4096UL
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
	size_t each;

	frame_bytes = getauxval(AT_MINSIGSTKSZ);
	if (frame_bytes < PAGE)
		frame_bytes = PAGE;
	each = (PAGE + 2 * (frame_bytes + STORE_BYTES) + PAGE - 1) & -PAGE;
	stacks = mmap(NULL, STACKS * each, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		return;
	stack_bytes = each;
	for (unsigned int i = 0; i < STACKS; i++)
		if (!mprotect(stacks + i * each + PAGE, each - PAGE, PROT_READ | PROT_WRITE))
			atomic_fetch_or(&stacks_free, 1U << i);
}

/* Does this handler run on the alternate stack? @room: output, how much of it is left */
static bool on_alternate(const ucontext_t *context, uintptr_t *room)
{
	const stack_t *alternate = &context->uc_stack;

	*room = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)alternate->ss_sp;
	return !(alternate->ss_flags & SS_DISABLE) && *room < alternate->ss_size;
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

/* Calls a function with the stack that ends at @end. */
void fault_stack_call(void *end, void (*run)(void *data), void *data);
asm(".pushsection .text\n"
	".type fault_stack_call, @function\n"
	".hidden fault_stack_call\n"
	"fault_stack_call:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov %rdi, %rsp\n"
	"	mov %rdx, %rdi\n"
	"	call *%rsi\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fault_stack_call, . - fault_stack_call\n"
	".popsection\n");

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

/* What a handler returns to. Debuggers know these bytes. */
void fault_restorer(void);
asm(".pushsection .text\n"
	"	nop\n"	/* or they would take the function before for the caller */
	".type fault_restorer, @function\n"
	".hidden fault_restorer\n"
	"fault_restorer:\n"
	"	.byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0\n"	/* mov $SYS_rt_sigreturn, %rax */
	"	syscall\n"
	".size fault_restorer, . - fault_restorer\n"
	".popsection\n");

/* A signal's frame as the kernel makes it; its context ends earlier than the C library's. */
#define CONTEXT_BYTES	(offsetof(ucontext_t, uc_sigmask) + sizeof(uint64_t))

struct fault_frame {
	void (*restorer)(void);
	unsigned char context[CONTEXT_BYTES];
	siginfo_t info;
};

_Static_assert(offsetof(struct fault_frame, info) == 8 + CONTEXT_BYTES, "as the kernel's");

static bool has_shadow_stack(void)
{
	uint64_t pointer = 0;

	asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a" (pointer));	/* rdsspq %rax */
	return pointer;
}

/*
 * Is the handler on the alternate stack, and what the signal interrupted is not? (A shadow stack
 * allows no return to another stack: the answer is then no.)
 */
bool fault_has_moved(const ucontext_t *context)
{
	uintptr_t below = context->uc_mcontext.gregs[REG_RSP], room;

	return on_alternate(context, &room) && !has_shadow_stack() &&
	       below - (uintptr_t)context->uc_stack.ss_sp > context->uc_stack.ss_size;
}

/* Return: bytes of the floating-point state, as the kernel has noted them in it */
static size_t state_bytes(const unsigned char *state)
{
	const uint32_t magic = 0x46505853;
	uint32_t found, bytes;

	memcpy(&found, state + 464, sizeof(found));
	memcpy(&bytes, state + 468, sizeof(bytes));
	return found == magic ? bytes : 512;
}

/* Writes to each page, by a system call that fails where the program could not write. */
static bool writable(uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = start; at < end; at = (at & -PAGE) + PAGE)
		if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, at, sizeof(uint64_t)))
			return false;
	return true;
}

/* Return: the place of the signal's frame on the thread's own stack; NULL: there is no room. */
struct fault_frame *fault_frame_place(const ucontext_t *context)
{
	const unsigned int red_zone = 128;
	uintptr_t end = context->uc_mcontext.gregs[REG_RSP] - red_zone, at = end;
	const void *state = context->uc_mcontext.fpregs;

	if (state)
		at = (at - state_bytes(state)) & -64UL;
	at = ((at - sizeof(struct fault_frame)) & -16UL) - 8;
	return writable(at, end) ? (struct fault_frame *)at : NULL;
}

/* Goes on in a handler as the kernel calls it. Does not return, but the handler may. */
void fault_handle_at(struct fault_frame *frame, void *handler, int number, const siginfo_t *info,
		     const ucontext_t *context)
{
	const void *state = context->uc_mcontext.fpregs;
	uintptr_t copy = (uintptr_t)(frame + 1);

	frame->restorer = fault_restorer;
	frame->info = *info;
	memcpy(frame->context, context, sizeof(frame->context));
	if (state) {
		copy = (copy + 63) & -64UL;
		memcpy((void *)copy, state, state_bytes(state));
		memcpy(frame->context + offsetof(ucontext_t, uc_mcontext.fpregs), &copy,
		       sizeof(copy));
	}
	asm volatile("mov %0, %%rsp\n\txor %%eax, %%eax\n\tjmp *%1" : :
		     "r" (frame), "r" (handler), "D" (number), "S" (&frame->info),
		     "d" (frame->context) : "rax", "memory");
	__builtin_unreachable();
}
