// SPDX-License-Identifier: MIT
/*
 * memcast/float.h: every value of a narrow format, and floats around every point where rounding
 * changes its direction. MEMCAST_TEST_ALL=1 tries all 2^32.
 */
#include <memcast/float.h>
#include "reference.h"

#define FORMATS(DO) \
	DO(f16, uint16_t) DO(bf16, uint16_t) DO(e5m2, uint8_t) DO(e4m3, uint8_t)

#define WIDEN(F, type)							\
static void widen_##F(void)						\
{									\
	uint32_t bits;							\
									\
	for (bits = 0; bits >> F##_format.bits == 0; bits++) {		\
		float got = memcast_f32_of_##F((type)bits);		\
		double want = value_of(&F##_format, bits);		\
									\
		if (isnan(want) ? !isnan(got) :				\
		    got != want || !signbit(got) != !signbit(want)) \
			complain("%s %#x is %a, not %a", #F, bits, got, want); \
		if (memcast_##F##_of_f32(got) !=			\
		    bits_of(&F##_format, want))				\
			complain("%s %#x does not come back", #F, bits); \
	}								\
}

#define NARROW(F, type)							\
static void narrow_##F(uint32_t bits)					\
{									\
	float value;							\
	uint32_t got, want;						\
									\
	memcpy(&value, &bits, sizeof(value));				\
	got = memcast_##F##_of_f32(value);				\
	want = bits_of(&F##_format, value_of(&f32_format, bits));	\
	if (got != want)						\
		complain("%a (%#x) to %s is %#x, not %#x", value, bits, #F, got, want); \
}									\
									\
/* The float half way from each number to the next, and its neighbours */ \
static void boundaries_##F(void)					\
{									\
	uint32_t bits, at, sign;					\
	float half;							\
	int k;								\
									\
	for (bits = 0; bits <= largest_of(&F##_format); bits++) {	\
		half = (float)(value_of(&F##_format, bits) / 2 +	\
			       value_of(&F##_format, bits + 1) / 2);	\
		if (bits == largest_of(&F##_format))			\
			half = (float)(value_of(&F##_format, bits) * 1.5 - \
				       value_of(&F##_format, bits - 1) / 2); \
		memcpy(&at, &half, sizeof(at));				\
		for (sign = 0; sign < 2; sign++)			\
			for (k = -3; k <= 3; k++)			\
				narrow_##F((at + (uint32_t)k) ^ sign << 31); \
	}								\
}

FORMATS(WIDEN)
FORMATS(NARROW)

#define RUN_WIDEN(F, type)	widen_##F(); result(build, "widen_" #F);
#define RUN_BOUNDARIES(F, type)	boundaries_##F(); result(build, "boundaries_" #F);
#define RUN_ONE(F, type)	narrow_##F(bits);

static void floats(void)
{
	uint64_t step = try_all() ? 1 : 128, at;
	unsigned int k;

	for (at = 0; at < 1ULL << 32; at += step) {
		uint32_t bits = (uint32_t)(at + (step > 1 ? random_bits() % step : 0));

		FORMATS(RUN_ONE)
	}
	/* the ends: zero, subnormals, the largest, infinity, NaNs */
	for (k = 0; k < 2; k++) {
		for (at = 0; at < 4096; at++) {
			const uint32_t ends[] = { 0, 0x00800000 - 2048, 0x7f800000 - 2048,
						  0x7fffffff - 4095, 0x7fc00000 - 2048 };
			unsigned int e;

			for (e = 0; e < sizeof(ends) / sizeof(ends[0]); e++) {
				uint32_t bits = (ends[e] + (uint32_t)at) | k << 31;

				FORMATS(RUN_ONE)
			}
		}
	}
}

int main(int argc, char **argv)
{
	const char *build = argc > 1 ? argv[1] : "";

	printf("1..9\n");
	FORMATS(RUN_WIDEN)
	FORMATS(RUN_BOUNDARIES)
	floats();
	result(build, "floats");
	return failures > 0;
}
