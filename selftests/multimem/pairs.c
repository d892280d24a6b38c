// SPDX-License-Identifier: MIT
/*
 * ld_reduce of two replicas for pairs of operands: all pairs of 8 bits; of 16 bits, each value with
 * one of 64 (or of as many as an argument says), drawn anew for each. MEMCAST_TEST_ALL=1 takes all.
 */
#include <memcast/multimem.h>
#include "reference.h"

/* multimem.h needs this function; this program uses no addresses. */
const struct memcast_view *memcastViewAt(CUdeviceptr address, size_t *offset)
{
	(void)address, (void)offset;
	return NULL;
}

#define COUNT	65536

static uint16_t replica[2][COUNT];
static struct memcast_view view = {
	.replicas = 2,
	.bytes = sizeof(replica[0]),
	.replica = { (unsigned char *)replica[0], (unsigned char *)replica[1] },
};

static double values[COUNT];

static void compare(const struct format *f, const char *op, uint32_t a, uint32_t b,
		    uint32_t got, uint32_t want)
{
	if (got != want)
		complain("%s %s of %#x and %#x is %#x, not %#x", f->name, op, a, b, got, want);
}

#define F16_LANES(op, name, T, f, want)						\
	for (k = 0; k < count; k += 2) {					\
		uint32_t got = multimem_ld_reduce_weak_##op##_##T(&view, 2 * k); \
										\
		for (lane = 0; lane < 2; lane++) {				\
			uint32_t a = replica[0][k + lane], b = replica[1][k + lane]; \
										\
			compare(f, name, a, b, got >> 16 * lane & 0xffff, want); \
		}								\
	}

/* With two replicas, both accumulators give the same: one operand in 8 is enough to show it. */
#define PAIRS_16(T, f)								\
static void pairs_##T(uint32_t step)						\
{										\
	const size_t count = COUNT / step;					\
	unsigned int lane;							\
	uint32_t a;								\
	size_t k;								\
										\
	for (a = 0; a < COUNT; a++)						\
		values[a] = value_of(f, a);					\
	for (a = 0; a < COUNT; a++) {						\
		for (k = 0; k < count; k++) {					\
			replica[0][k] = (uint16_t)a;				\
			replica[1][k] = (uint16_t)(k * step + random_bits() % step); \
		}								\
		F16_LANES(add, "add", T, f,					\
			  bits_of(f, exact_sum(values[a], values[b])))		\
		if (a % 8 == 0)							\
			F16_LANES(add_acc_f32, "add.acc::f32", T, f,		\
				  bits_of(f, rounded_sum(&f32_format, values[a], values[b]))) \
		F16_LANES(min, "min", T, f, extreme_of(f, false, a, b))		\
		F16_LANES(max, "max", T, f, extreme_of(f, true, a, b))		\
	}									\
}

PAIRS_16(f16x2, &f16_format)
PAIRS_16(bf16x2, &bf16_format)

#define F8_LANES(op, name, T, f, want)						\
	for (b = 0; b < 256; b += 4) {						\
		uint32_t got = multimem_ld_reduce_weak_##op##_##T(&view, b);	\
										\
		for (lane = 0; lane < 4; lane++)				\
			compare(f, name, a, b + lane, got >> 8 * lane & 0xff, want); \
	}

#define PAIRS_8(T, f)								\
static void pairs_##T(void)							\
{										\
	uint32_t a, b;								\
	unsigned int lane;							\
										\
	for (a = 0; a < 256; a++) {						\
		for (b = 0; b < 256; b++) {					\
			view.replica[0][b] = (unsigned char)a;			\
			view.replica[1][b] = (unsigned char)b;			\
		}								\
		F8_LANES(add, "add", T, f,					\
			 bits_of(f, exact_sum(value_of(f, a), value_of(f, b + lane)))) \
		F8_LANES(add_acc_f16, "add.acc::f16", T, f,			\
			 bits_of(f, rounded_sum(&f16_format, value_of(f, a),	\
						value_of(f, b + lane))))	\
		F8_LANES(min, "min", T, f, extreme_of(f, false, a, b + lane))	\
		F8_LANES(max, "max", T, f, extreme_of(f, true, a, b + lane))	\
	}									\
}

PAIRS_8(e4m3x4, &e4m3_format)
PAIRS_8(e5m2x4, &e5m2_format)

int main(int argc, char **argv)
{
	const char *build = argc > 1 ? argv[1] : "";
	uint32_t step = argc > 2 ? (uint32_t)atoi(argv[2]) : 64;

	if (try_all())
		step = 1;
	printf("1..4\n");
	pairs_e4m3x4();
	result(build, "pairs_e4m3");
	pairs_e5m2x4();
	result(build, "pairs_e5m2");
	pairs_f16x2(step);
	result(build, "pairs_f16");
	pairs_bf16x2(step);
	result(build, "pairs_bf16");
	return failures > 0;
}
