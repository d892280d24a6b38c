/* SPDX-License-Identifier: MIT */
/* x86-64: instructions for which C has no words. */
#ifndef MEMCAST_PTX_PROCESSOR_H
#define MEMCAST_PTX_PROCESSOR_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <x86intrin.h>

/* Bytes of a thread's stack for functions of ptx/run/ that it calls, and what they call */
#define FRAME_SLACK	4096U

/* Return: cycles of a constant rate */
static inline uint64_t processor_clock(void)
{
	return __rdtsc();
}

/* What a thread's arithmetic with floating point goes by: rounding, subnormals, traps */
struct processor_floats {
	uint32_t sse;
	uint16_t x87;
};

#define PROCESSOR_FLOATS_USUAL	((struct processor_floats) { 0x1f80, 0x37f })

/*
 * Sets what differs, as setting is slow; MXCSR's lowest six bits are flags of what has happened. An
 * exception that x87 has noted is dropped: else it would trap where its new word lets it. Return:
 * what it was before
 */
static inline struct processor_floats processor_set_floats(struct processor_floats floats)
{
	struct processor_floats before;

	asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m" (before.sse), "=m" (before.x87));
	if ((before.sse ^ floats.sse) & ~0x3fU)
		asm volatile("ldmxcsr %0" : : "m" (floats.sse));
	if (before.x87 != floats.x87)
		asm volatile("fnclex\n\tfldcw %0" : : "m" (floats.x87));
	return before;
}

/*
 * Does the processor make two accesses of one of 16 aligned bytes? With AVX it makes one, but not
 * where QEMU emulates it (version 7.2; without KVM).
 */
static inline bool processor_halves(void)
{
	unsigned int most, name[3], a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_AVX))
		return true;
	if (!(c & 1U << 31))			/* no hypervisor */
		return false;
	__cpuid(0x40000000, most, name[0], name[1], name[2]);
	return !memcmp(name, "TCGTCGTCGTCG", sizeof(name));
}

/*
 * Stores @value in 16 aligned bytes if they are @expected, which gets what they were. Return: were
 * they? All processors of 64 bits have cmpxchg16b.
 */
static inline bool exchange_128_if(void *memory, uint64_t *expected, const uint64_t *value)
{
	bool equal;

	asm volatile("lock cmpxchg16b %1"
		     : "=@ccz" (equal), "+m" (*(char (*)[16])memory), "+a" (expected[0]),
		       "+d" (expected[1])
		     : "b" (value[0]), "c" (value[1]) : "memory");
	return equal;
}

#endif /* MEMCAST_PTX_PROCESSOR_H */
