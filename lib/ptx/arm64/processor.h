/* SPDX-License-Identifier: MIT */
/* arm64: instructions for which C has no words. */
#ifndef MEMCAST_PTX_PROCESSOR_H
#define MEMCAST_PTX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Bytes of a thread's stack for functions of ptx/run/ that it calls, and what they call. Frames are
 * larger than those of x86-64: a failed look-up of a window does not get by with 4 KiB.
 */
#define FRAME_SLACK	16384U

/*
 * Return: cycles of a constant rate. The counter that programs may read has 25 MHz on some
 * processors, too few for kernels that wait for a number of cycles: the clock counts nanoseconds.
 */
static inline uint64_t processor_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* What a thread's arithmetic with floating point goes by: FPCR has rounding, subnormals, traps */
struct processor_floats {
	uint64_t control;
};

#define PROCESSOR_FLOATS_USUAL	((struct processor_floats) { 0 })

/* Sets it if it differs, as setting is slow. Return: what it was before */
static inline struct processor_floats processor_set_floats(struct processor_floats floats)
{
	struct processor_floats before;

	asm volatile("mrs %0, fpcr" : "=r" (before.control));
	if (before.control != floats.control)
		asm volatile("msr fpcr, %0" : : "r" (floats.control));
	return before;
}

/* Two accesses of 64 bits are taken for one of 128: nothing here looks for processors with LSE2. */
static inline bool processor_halves(void)
{
	return false;
}

/*
 * Stores @value in 16 aligned bytes if they are @expected, which gets what they were. Return: were
 * they? A pair of loads is one access only if the store that follows succeeds, so what was found is
 * stored again. ldaxp and stlxp have all orders of PTX's atomic operations.
 */
static inline bool exchange_128_if(void *memory, uint64_t *expected, const uint64_t *value)
{
	uint64_t low, high, new_low, new_high;
	uint32_t failed;

	asm volatile("1:	ldaxp %0, %1, %5\n"
		     "	cmp %0, %6\n"
		     "	ccmp %1, %7, #0, eq\n"
		     "	csel %2, %8, %0, eq\n"
		     "	csel %3, %9, %1, eq\n"
		     "	stlxp %w4, %2, %3, %5\n"
		     "	cbnz %w4, 1b\n"
		     : "=&r" (low), "=&r" (high), "=&r" (new_low), "=&r" (new_high), "=&r" (failed),
		       "+Q" (*(char (*)[16])memory)
		     : "r" (expected[0]), "r" (expected[1]), "r" (value[0]), "r" (value[1])
		     : "cc", "memory");
	failed = low != expected[0] || high != expected[1];
	expected[0] = low;
	expected[1] = high;
	return !failed;
}

#endif /* MEMCAST_PTX_PROCESSOR_H */
