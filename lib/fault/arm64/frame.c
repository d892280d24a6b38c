// SPDX-License-Identifier: MIT
/* arm64: calls on other stacks, and the frame of a signal. */
#include <string.h>

#include "fault/fault.h"
#include "registers.h"

asm(".pushsection .text\n"
	".type fault_stack_call, @function\n"
	".globl fault_stack_call\n"
	".hidden fault_stack_call\n"
	"fault_stack_call:\n"
	"	.cfi_startproc\n"
	"	hint #34\n"		/* bti c */
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, sp\n"
	"	.cfi_def_cfa_register x29\n"
	"	mov sp, x0\n"
	"	mov x0, x2\n"
	"	blr x1\n"
	"	mov sp, x29\n"
	"	.cfi_def_cfa_register sp\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fault_stack_call, . - fault_stack_call\n"
	".popsection\n");

/* What a handler returns to. Debuggers know these bytes. */
void fault_restorer(void);
asm(".pushsection .text\n"
	"	nop\n"	/* or they would take the function before for the caller */
	".type fault_restorer, @function\n"
	".hidden fault_restorer\n"
	"fault_restorer:\n"
	"	mov x8, #139\n"		/* SYS_rt_sigreturn */
	"	svc #0\n"
	".size fault_restorer, . - fault_restorer\n"
	".popsection\n");

/*
 * A signal's frame as the kernel makes it. What does not fit the context (the state of wide vectors)
 * lies behind it, and a record in it says where and how much. Last come the two registers by which
 * debuggers find the caller.
 */
struct fault_frame {
	siginfo_t info;
	ucontext_t context;
};

/* Is there a stack of return addresses? Processors without one do nothing here. */
bool fault_has_shadow_stack(void)
{
	register uint64_t feature asm("x16") = 1;

	asm volatile("hint #40" : "+r" (feature));	/* chkfeat x16 */
	return !feature;
}

/* Return: bytes of the context, with what lies behind it */
static size_t context_bytes(const ucontext_t *context)
{
	const struct extra_context *extra = (const void *)fault_record(context, EXTRA_MAGIC);
	size_t bytes = extra ? extra->datap + extra->size - (uintptr_t)context : 0;

	return bytes > sizeof(*context) ? bytes : sizeof(*context);
}

static size_t frame_bytes(const ucontext_t *context)
{
	return (offsetof(struct fault_frame, context) + context_bytes(context) + 15) & -16UL;
}

/* Return: the place of the signal's frame on the thread's own stack; NULL: there is no room. */
struct fault_frame *fault_frame_place(const ucontext_t *context)
{
	uintptr_t end = fault_stack_pointer(context) & -16UL;
	uintptr_t at = end - 2 * sizeof(uint64_t) - frame_bytes(context);

	return fault_writable(at, end) ? (struct fault_frame *)at : NULL;
}

/* Goes on in a handler as the kernel calls it. Does not return, but the handler may. */
void fault_handle_at(struct fault_frame *frame, void *handler, int number, const siginfo_t *info,
		     const ucontext_t *context)
{
	uint64_t *caller = (uint64_t *)((uintptr_t)frame + frame_bytes(context));
	struct extra_context *extra;
	register uint64_t x0 asm("x0") = number;
	register void *x1 asm("x1") = &frame->info;
	register void *x2 asm("x2") = &frame->context;
	register void *x16 asm("x16") = handler;

	frame->info = *info;
	memcpy(&frame->context, context, context_bytes(context));
	extra = (void *)fault_record(&frame->context, EXTRA_MAGIC);
	if (extra)
		extra->datap += (uintptr_t)&frame->context - (uintptr_t)context;
	caller[0] = context->uc_mcontext.regs[29];
	caller[1] = context->uc_mcontext.regs[30];
	asm volatile("mov sp, %0\n\tmov x29, %1\n\tmov x30, %2\n\tbr x16" : :
		     "r" (frame), "r" (caller), "r" (fault_restorer),
		     "r" (x0), "r" (x1), "r" (x2), "r" (x16) : "memory");
	__builtin_unreachable();
}
