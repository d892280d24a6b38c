/* SPDX-License-Identifier: MIT */
/* What tests ask of the processor, for x86-64 and arm64 */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#ifdef __aarch64__

/* Of the control word of floating-point arithmetic (FPCR) */
#define CONTROL_FLAGS		0U
#define CONTROL_DEFAULT		0U
#define CONTROL_UP		(1U << 22)
#define CONTROL_TO_ZERO		(3U << 22)
#define CONTROL_NO_SUBNORMALS	(1U << 24)
#define CONTROL_ODD		(1U << 25)	/* all NaNs are one; signals are not there to ask for */

static inline unsigned int control_get(void)
{
	return __builtin_aarch64_get_fpcr();
}

static inline void control_set(unsigned int control)
{
	__builtin_aarch64_set_fpcr(control);
}

static inline void processor_relax(void)
{
	__asm__ volatile("yield" : : : "memory");
}

static inline uintptr_t instruction_of(const ucontext_t *context)
{
	return context->uc_mcontext.pc;
}

/* A signal of arithmetic; a division by zero raises none. */
static inline void arithmetic_fails(void)
{
	raise(SIGFPE);
}

/* Copies without the C library. */
static inline void bytes_copy(void *to, const void *from, size_t bytes)
{
	const unsigned char *source = from;
	unsigned char *place = to;

	for (; bytes; bytes--) {
		*place++ = *source++;
		__asm__ volatile("" : "+r" (place));	/* or this would be a call of memcpy() */
	}
}

/* Stores past the caches, where there is a word for that. */
static inline void store_past(int *to, int value)
{
	__atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* Arguments of a call that are in registers */
#define CALL_REGISTERS		8
/* Addresses that a process has are below 2 to the power of this. */
#define ADDRESS_BITS		48
/* Does the library know protection keys of memory? */
#define KEYS_KNOWN		false
/* In names of facts (selftests/facts/tables/): it is one of other processors only. */
#define OF_OTHERS		"(x86-64)"
/* How a message about an instruction begins: there is no text of it */
#define SAID_INSTRUCTION	"the instruction at 0x"
/* The sets of instructions that the loops of arrays are built for */
#define SAID_SETS		"neon"

#else
#include <immintrin.h>

/* Of the control word of floating-point arithmetic (MXCSR) */
#define CONTROL_FLAGS		_MM_EXCEPT_MASK
#define CONTROL_DEFAULT		0x1f80U
#define CONTROL_UP		0x5f80U
#define CONTROL_TO_ZERO		0x7f80U
#define CONTROL_NO_SUBNORMALS	0x9fc0U
#define CONTROL_ODD		0U		/* a signal for every exception */

static inline unsigned int control_get(void)
{
	return _mm_getcsr();
}

static inline void control_set(unsigned int control)
{
	_mm_setcsr(control);
}

static inline void processor_relax(void)
{
	_mm_pause();
}

static inline uintptr_t instruction_of(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RIP];
}

static inline void arithmetic_fails(void)
{
	__asm__ volatile("divl %0" : : "r" (0), "a" (1), "d" (0) : "cc");
}

static inline void bytes_copy(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (bytes) : : "memory");
}

static inline void store_past(int *to, int value)
{
	_mm_stream_si32(to, value);
}

#define CALL_REGISTERS		6
#define ADDRESS_BITS		47
#define KEYS_KNOWN		true
#define OF_OTHERS		"(arm64)"
#define SAID_INSTRUCTION	"'"
#define SAID_SETS		"sse2, avx2, avx512"

#endif

#endif /* PROCESSOR_H */
