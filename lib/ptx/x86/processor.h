/* SPDX-License-Identifier: MIT */
/* x86-64: instructions for which C has no words. */
#ifndef MEMCAST_PTX_PROCESSOR_H
#define MEMCAST_PTX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

/* Bytes of a thread's stack for functions of ptx/run/ that it calls, and what they call */
#define FRAME_SLACK	4096U

/* Return: cycles of a constant rate */
static inline uint64_t processor_clock(void)
{
	return __rdtsc();
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
