/* SPDX-License-Identifier: MIT */
/* arm64: what GCC's vectors cannot say, for bulk-values.h. */
#include <arm_neon.h>

INLINE bool any(u8_v mask)
{
	return vmaxvq_u32((uint32x4_t)mask);
}

/* GCC has no word for a store past the caches; STNP is a hint that processors may pass over. */
INLINE void store_past(unsigned char *to, u8_v value)
{
	*(loose_v *)to = value;
}

/* Finds NaNs in either vector. */
INLINE u8_v nans_wide_bf16(wide_v all)
{
	return (u8_v)((all.a != all.a) | (all.b != all.b));
}
