/* SPDX-License-Identifier: MIT */
/* x86-64: what C cannot say, for all files of libmemcast.so. */
#ifndef MEMCAST_PROCESSOR_H
#define MEMCAST_PROCESSOR_H

#include <immintrin.h>

extern const struct bulk_loops bulk_sse2, bulk_avx2, bulk_avx512;
#define BULK_LEAST	bulk_sse2	/* the loops of every processor */

#define BULK_CONTROL	_MM_MASK_MASK	/* of MXCSR: round to nearest, keep subnormals, no signals */
#define BULK_FLAGS	_MM_EXCEPT_MASK	/* flags of exceptions, which do not matter */

static inline unsigned int processor_control(void)
{
	return _mm_getcsr();
}

static inline void processor_set_control(unsigned int control)
{
	_mm_setcsr(control);
}

/* In a loop that waits for another thread */
static inline void processor_pause(void)
{
	_mm_pause();
}

/* Orders stores past the caches before later stores, which do not wait for them otherwise. */
static inline void processor_fence(void)
{
	_mm_sfence();
}

#endif /* MEMCAST_PROCESSOR_H */
