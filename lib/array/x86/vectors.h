/* SPDX-License-Identifier: MIT */
/*
 * x86-64: what GCC's vectors cannot say, for bulk-values.h. PROCESSOR_HALF: with WIDTH's instructions
 * the processor converts f16, else bulk-values.h does.
 */
#include <immintrin.h>

INLINE bool any(u8_v mask)
{
#if WIDTH == 64
	return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask);
#elif WIDTH == 32
	return _mm256_movemask_epi8((__m256i)mask);
#else
	return _mm_movemask_epi8((__m128i)mask);
#endif
}

/* Stores past the caches: @to is aligned to WIDTH. */
INLINE void store_past(unsigned char *to, u8_v value)
{
#if WIDTH == 64
	_mm512_stream_si512((void *)to, (__m512i)value);
#elif WIDTH == 32
	_mm256_stream_si256((void *)to, (__m256i)value);
#else
	_mm_stream_si128((void *)to, (__m128i)value);
#endif
}

/* Finds NaNs in either vector: one instruction for two vectors. */
INLINE u8_v nans_wide_bf16(wide_v all)
{
#if WIDTH == 64
	return (u8_v)_mm512_movm_epi32(_mm512_cmp_ps_mask((__m512)all.a, (__m512)all.b,
							  _CMP_UNORD_Q));
#elif WIDTH == 32
	return (u8_v)_mm256_cmp_ps((__m256)all.a, (__m256)all.b, _CMP_UNORD_Q);
#else
	return (u8_v)_mm_cmpunord_ps((__m128)all.a, (__m128)all.b);
#endif
}

#if WIDTH == 64
#define PROCESSOR_HALF
INLINE wide_v load_f16(const unsigned char *from)
{
	return (wide_v){
		(f32_v)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)from)),
		(f32_v)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from + 32))),
	};
}

INLINE u8_v round_wide_f16(wide_v all)
{
	__m256i a = _mm512_cvtps_ph((__m512)all.a, _MM_FROUND_TO_NEAREST_INT);
	__m256i b = _mm512_cvtps_ph((__m512)all.b, _MM_FROUND_TO_NEAREST_INT);

	return (u8_v)_mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}
#elif WIDTH == 32
#define PROCESSOR_HALF
INLINE wide_v load_f16(const unsigned char *from)
{
	return (wide_v){
		(f32_v)_mm256_cvtph_ps(_mm_loadu_si128((const void *)from)),
		(f32_v)_mm256_cvtph_ps(_mm_loadu_si128((const void *)(from + 16))),
	};
}

INLINE u8_v round_wide_f16(wide_v all)
{
	__m128i a = _mm256_cvtps_ph((__m256)all.a, _MM_FROUND_TO_NEAREST_INT);
	__m128i b = _mm256_cvtps_ph((__m256)all.b, _MM_FROUND_TO_NEAREST_INT);

	return (u8_v)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}
#endif
