/* SPDX-License-Identifier: MIT */
/* arm64: what C cannot say, for all files of libmemcast.so. */
#ifndef MEMCAST_PROCESSOR_H
#define MEMCAST_PROCESSOR_H

extern const struct bulk_loops bulk_neon;
#define BULK_LEAST	bulk_neon	/* the loops of every processor */

#define BULK_CONTROL	0U	/* of FPCR: round to nearest, keep subnormals and NaNs, no signals */
#define BULK_FLAGS	0U	/* flags of exceptions are in another register */

static inline unsigned int processor_control(void)
{
	return __builtin_aarch64_get_fpcr();
}

static inline void processor_set_control(unsigned int control)
{
	__builtin_aarch64_set_fpcr(control);
}

/* In a loop that waits for another thread */
static inline void processor_pause(void)
{
	asm volatile("yield" : : : "memory");
}

/*
 * Orders stores past the caches before later stores. A release store, which follows, waits for such
 * stores here as for all others: this only keeps the compiler from moving them.
 */
static inline void processor_fence(void)
{
	asm volatile("" : : : "memory");
}

#endif /* MEMCAST_PROCESSOR_H */
