// SPDX-License-Identifier: MIT
/*
 * The switch of stacks, for x86-64. A fiber that does not run has on its stack, from its
 * pointer up: the control words of SSE and x87, r15, r14, r13, r12, rbx, rbp and the address
 * where it goes on.
 */
#include "fiber/fiber.h"

/*
 * Control words are loaded only if they differ, as loading is slow. MXCSR's lowest six bits are
 * flags of what has happened, which no fiber owns. A jump, as the processor would predict that a
 * return goes back to the caller.
 */
asm(".text\n"
    ".p2align 4\n"
    ".globl fiber_switch\n"
    ".hidden fiber_switch\n"
    ".type fiber_switch, @function\n"
    "fiber_switch:\n"
    "	.cfi_startproc\n"
    "	endbr64\n"
    "	pushq %rbp\n"
    "	pushq %rbx\n"
    "	pushq %r12\n"
    "	pushq %r13\n"
    "	pushq %r14\n"
    "	pushq %r15\n"
    "	subq $8, %rsp\n"
    "	stmxcsr (%rsp)\n"
    "	fnstcw 4(%rsp)\n"
    "	movl (%rsp), %eax\n"
    "	movzwl 4(%rsp), %ecx\n"
    "	movq %rsp, (%rdi)\n"
    "	movq %rsi, %rsp\n"
    "	xorl (%rsp), %eax\n"
    "	testl $0xffc0, %eax\n"
    "	jne 2f\n"
    "	cmpw 4(%rsp), %cx\n"
    "	jne 2f\n"
    "1:	addq $8, %rsp\n"
    "	popq %r15\n"
    "	popq %r14\n"
    "	popq %r13\n"
    "	popq %r12\n"
    "	popq %rbx\n"
    "	popq %rbp\n"
    "	popq %rdx\n"
    "	jmp *%rdx\n"
    "2:	ldmxcsr (%rsp)\n"
    "	fldcw 4(%rsp)\n"
    "	jmp 1b\n"
    "	.cfi_endproc\n"
    ".size fiber_switch, . - fiber_switch\n");

/* Where a new fiber begins: r12 has its function, r13 the argument. */
void fiber_first(void) __attribute__((visibility("hidden")));
asm(".text\n"
    ".p2align 4\n"
    ".globl fiber_first\n"
    ".hidden fiber_first\n"
    ".type fiber_first, @function\n"
    "fiber_first:\n"
    "	.cfi_startproc\n"
    "	.cfi_undefined rip\n"		/* debuggers find no caller */
    "	movq %r13, %rdi\n"
    "	xorl %ebp, %ebp\n"
    "	call *%r12\n"
    "	ud2\n"
    "	.cfi_endproc\n"
    ".size fiber_first, . - fiber_first\n");

struct image {
	uint32_t mxcsr;
	uint16_t control, unused;
	uint64_t r15, r14, r13, r12, rbx, rbp, rip;
};

void *fiber_begin(void *top, void (*function)(void *), void *data)
{
	/* a function expects a stack that its call has moved from a multiple of 16 */
	struct image *image = (struct image *)((uintptr_t)top & ~15UL) - 1;

	*image = (struct image) {
		.r12 = (uintptr_t)function, .r13 = (uintptr_t)data,
		.rip = (uintptr_t)fiber_first,
	};
	asm volatile("stmxcsr %0" : "=m" (image->mxcsr));
	asm volatile("fnstcw %0" : "=m" (image->control));
	return image;
}
