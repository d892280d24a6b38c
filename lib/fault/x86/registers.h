/* SPDX-License-Identifier: MIT */
/* x86-64: what a signal's saved registers tell. */
#ifndef MEMCAST_REGISTERS_H
#define MEMCAST_REGISTERS_H

#include "fault/object.h"

static inline uintptr_t fault_instruction(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t fault_stack_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RSP];
}

static inline bool fault_is_of_a_page(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_TRAPNO] == FAULT_OF_A_PAGE;
}

static inline bool fault_writes(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_ERR] & FAULT_ERROR_WRITE;
}

/*
 * Did the kernel call this handler, not a function of the program? The kernel puts the context right
 * above the address to which the handler returns. @frame: __builtin_dwarf_cfa() of the handler
 */
static inline bool fault_by_kernel(const void *frame, const siginfo_t *info, const void *context)
{
	(void)info;
	return context == frame;
}

#endif /* MEMCAST_REGISTERS_H */
