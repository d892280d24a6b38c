// SPDX-License-Identifier: MIT
/*
 * The switch of stacks, for arm64. A fiber that does not run has on its stack, from its pointer up:
 * x19 to x30, the lower halves of v8 to v15, and the control word of floating point arithmetic.
 */
#include "fiber/fiber.h"

/* The control word is loaded only if it differs, as loading is slow. */
asm(".text\n"
    ".p2align 4\n"
    ".globl fiber_switch\n"
    ".hidden fiber_switch\n"
    ".type fiber_switch, @function\n"
    "fiber_switch:\n"
    "	.cfi_startproc\n"
    "	hint #34\n"			/* bti c */
    "	sub sp, sp, #176\n"
    "	stp x19, x20, [sp]\n"
    "	stp x21, x22, [sp, #16]\n"
    "	stp x23, x24, [sp, #32]\n"
    "	stp x25, x26, [sp, #48]\n"
    "	stp x27, x28, [sp, #64]\n"
    "	stp x29, x30, [sp, #80]\n"
    "	stp d8, d9, [sp, #96]\n"
    "	stp d10, d11, [sp, #112]\n"
    "	stp d12, d13, [sp, #128]\n"
    "	stp d14, d15, [sp, #144]\n"
    "	mrs x2, fpcr\n"
    "	str x2, [sp, #160]\n"
    "	mov x3, sp\n"
    "	str x3, [x0]\n"
    "	mov sp, x1\n"
    "	ldr x3, [sp, #160]\n"
    "	cmp x2, x3\n"
    "	b.ne 2f\n"
    "1:	ldp x19, x20, [sp]\n"
    "	ldp x21, x22, [sp, #16]\n"
    "	ldp x23, x24, [sp, #32]\n"
    "	ldp x25, x26, [sp, #48]\n"
    "	ldp x27, x28, [sp, #64]\n"
    "	ldp x29, x30, [sp, #80]\n"
    "	ldp d8, d9, [sp, #96]\n"
    "	ldp d10, d11, [sp, #112]\n"
    "	ldp d12, d13, [sp, #128]\n"
    "	ldp d14, d15, [sp, #144]\n"
    "	add sp, sp, #176\n"
    "	ret\n"
    "2:	msr fpcr, x3\n"
    "	b 1b\n"
    "	.cfi_endproc\n"
    ".size fiber_switch, . - fiber_switch\n");

/* Where a new fiber begins: x19 has its function, x20 the argument. */
void fiber_first(void) __attribute__((visibility("hidden")));
asm(".text\n"
    ".p2align 4\n"
    ".globl fiber_first\n"
    ".hidden fiber_first\n"
    ".type fiber_first, @function\n"
    "fiber_first:\n"
    "	.cfi_startproc\n"
    "	.cfi_undefined x30\n"		/* debuggers find no caller */
    "	mov x0, x20\n"
    "	blr x19\n"
    "	brk #1\n"
    "	.cfi_endproc\n"
    ".size fiber_first, . - fiber_first\n");

struct image {
	uint64_t x19, x20, x21_to_x28[8], x29, x30, d8_to_d15[8], control, unused;
};

_Static_assert(sizeof(struct image) == 176, "as fiber_switch() has it");

void *fiber_begin(void *top, void (*function)(void *), void *data)
{
	struct image *image = (struct image *)((uintptr_t)top & ~15UL) - 1;

	*image = (struct image) {
		.x19 = (uintptr_t)function, .x20 = (uintptr_t)data,
		.x30 = (uintptr_t)fiber_first,
	};
	asm volatile("mrs %0, fpcr" : "=r" (image->control));
	return image;
}
