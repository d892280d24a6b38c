// SPDX-License-Identifier: MIT
/* x86-64: calls on other stacks, and the frame of a signal. */
#include <string.h>

#include "fault/fault.h"
#include "registers.h"

asm(".pushsection .text\n"
	".type fault_stack_call, @function\n"
	".globl fault_stack_call\n"
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

bool fault_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	asm volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a" (pointer));	/* rdsspq %rax */
	return pointer;
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

/* Return: the place of the signal's frame on the thread's own stack; NULL: there is no room. */
struct fault_frame *fault_frame_place(const ucontext_t *context)
{
	const unsigned int red_zone = 128;
	uintptr_t end = fault_stack_pointer(context) - red_zone, at = end;
	const void *state = context->uc_mcontext.fpregs;

	if (state)
		at = (at - state_bytes(state)) & -64UL;
	at = ((at - sizeof(struct fault_frame)) & -16UL) - 8;
	return fault_writable(at, end) ? (struct fault_frame *)at : NULL;
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
