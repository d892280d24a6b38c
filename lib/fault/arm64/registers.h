/* SPDX-License-Identifier: MIT */
/* arm64: what a signal's saved registers tell. */
#ifndef MEMCAST_REGISTERS_H
#define MEMCAST_REGISTERS_H

#include <asm/sigcontext.h>

#include "fault/object.h"

#define EXCEPTION_CLASS(syndrome)	((syndrome) >> 26 & 0x3f)
#define CLASS_FETCH	0x20	/* of a lower level, as programs are */
#define CLASS_DATA	0x24
#define STATUS_TYPE(syndrome)		((syndrome) >> 2 & 0xf)
#define TYPE_FIRST	1	/* translation, access flag, and */
#define TYPE_LAST	3	/* permission */
#define SYNDROME_WRITE	(1U << 6)
#define SYNDROME_CACHE	(1U << 8)	/* an operation on caches, which SYNDROME_WRITE marks, too */

static inline uintptr_t fault_instruction(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

static inline uintptr_t fault_stack_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}

/* Return: a record of the context, or NULL */
static inline const struct _aarch64_ctx *fault_record(const ucontext_t *context, uint32_t magic)
{
	const unsigned char *at = context->uc_mcontext.__reserved;
	const unsigned char *end = at + sizeof(context->uc_mcontext.__reserved);
	const struct _aarch64_ctx *record;

	for (; at + sizeof(*record) <= end; at += record->size) {
		record = (const void *)at;
		if (record->magic == magic)
			return record;
		if (!record->magic || !record->size)
			break;
	}
	return NULL;
}

/* Return: the processor's syndrome of the fault (ESR_EL1), or 0 */
static inline uint64_t fault_syndrome(const ucontext_t *context)
{
	const struct esr_context *record = (const void *)fault_record(context, ESR_MAGIC);

	return record ? record->esr : 0;
}

static inline bool fault_is_of_a_page(const ucontext_t *context)
{
	uint64_t syndrome = fault_syndrome(context);

	return (EXCEPTION_CLASS(syndrome) == CLASS_DATA ||
		EXCEPTION_CLASS(syndrome) == CLASS_FETCH) &&
	       STATUS_TYPE(syndrome) >= TYPE_FIRST && STATUS_TYPE(syndrome) <= TYPE_LAST;
}

static inline bool fault_writes(const ucontext_t *context)
{
	uint64_t syndrome = fault_syndrome(context);

	return EXCEPTION_CLASS(syndrome) == CLASS_DATA && syndrome & SYNDROME_WRITE &&
	       !(syndrome & SYNDROME_CACHE);
}

/*
 * Did the kernel call this handler, not a function of the program? The kernel's frame begins with the
 * siginfo_t, at the stack pointer. @frame: __builtin_dwarf_cfa() of the handler
 */
static inline bool fault_by_kernel(const void *frame, const siginfo_t *info, const void *context)
{
	(void)context;
	return info == frame;
}

#endif /* MEMCAST_REGISTERS_H */
