// SPDX-License-Identifier: MIT
/*
 * Every function of docs/multimem.md's table, on a view and on an address: its effect on 2, 3 and 8
 * replicas, bit for bit, and that it leaves neighbouring bytes alone. functions.h is made from the
 * table: FUNCTION(name, instruction, operator, accumulator, n, T) for each.
 */
#include <memcast/multimem.h>
#include "reference.h"

#define BYTES	64		/* per replica; the access is in the middle */
#define AT	16
#define MOST	8

static unsigned char memory[MOST][BYTES], before[MOST][BYTES];
static struct memcast_view view;
static const CUdeviceptr address = 0x7f0000000000;

/* Replaces the library's function, which would ask the module. */
const struct memcast_view *memcastViewAt(CUdeviceptr at, size_t *offset)
{
	*offset = at - address;
	return &view;
}

enum operation { op_none, op_add, op_min, op_max, op_and, op_or, op_xor };

/* The type of a register's lanes; @format NULL: an integer, or f64 */
struct kind {
	const struct format *format;
	unsigned int bytes, lane_bytes;
	bool is_signed, is_f64;
};

static const struct kind kind_u32 = { NULL, 4, 4, false, false };
static const struct kind kind_b32 = { NULL, 4, 4, false, false };
static const struct kind kind_s32 = { NULL, 4, 4, true, false };
static const struct kind kind_u64 = { NULL, 8, 8, false, false };
static const struct kind kind_b64 = { NULL, 8, 8, false, false };
static const struct kind kind_s64 = { NULL, 8, 8, true, false };
static const struct kind kind_f64 = { NULL, 8, 8, false, true };
static const struct kind kind_f32 = { &f32_format, 4, 4, false, false };
static const struct kind kind_f16 = { &f16_format, 2, 2, false, false };
static const struct kind kind_f16x2 = { &f16_format, 4, 2, false, false };
static const struct kind kind_bf16 = { &bf16_format, 2, 2, false, false };
static const struct kind kind_bf16x2 = { &bf16_format, 4, 2, false, false };
static const struct kind kind_e4m3 = { &e4m3_format, 1, 1, false, false };
static const struct kind kind_e4m3x2 = { &e4m3_format, 2, 1, false, false };
static const struct kind kind_e4m3x4 = { &e4m3_format, 4, 1, false, false };
static const struct kind kind_e5m2 = { &e5m2_format, 1, 1, false, false };
static const struct kind kind_e5m2x2 = { &e5m2_format, 2, 1, false, false };
static const struct kind kind_e5m2x4 = { &e5m2_format, 4, 1, false, false };

static const struct format *const acc_none = NULL;
static const struct format *const acc_f32 = &f32_format;
static const struct format *const acc_f16 = &f16_format;

static uint64_t lane_at(const unsigned char *at, unsigned int bytes)
{
	uint64_t lane = 0;

	memcpy(&lane, at, bytes);
	return lane;
}

/* A sum in f64. x87 has a mantissa of 64 bits, the last of which is set if anything was lost. */
static uint64_t f64_sum(uint64_t a_bits, uint64_t b_bits)
{
	double a, b, result;
	uint64_t bits;

	memcpy(&a, &a_bits, sizeof(a));
	memcpy(&b, &b_bits, sizeof(b));
	if (isnan(a) || isnan(b) || isinf(a) || isinf(b)) {
		result = a + b;
	} else {
		volatile long double sum = (long double)a + b;
		volatile long double b_part = sum - a, a_part = sum - b_part;
		long double lost = ((long double)a - a_part) + ((long double)b - b_part);
		long double odd = sum;
		uint64_t mantissa;

		memcpy(&mantissa, &odd, sizeof(mantissa));
		if (lost != 0 && !(mantissa & 1))
			odd = nextafterl(odd, lost > 0 ? (long double)INFINITY :
							 -(long double)INFINITY);
		result = (double)odd;
	}
	memcpy(&bits, &result, sizeof(bits));
	return bits;
}

static int64_t signed_of(const struct kind *kind, uint64_t lane)
{
	return kind->lane_bytes == 4 ? (int32_t)lane : (int64_t)lane;
}

static uint64_t combined(const struct kind *kind, enum operation op, uint64_t a, uint64_t b)
{
	bool less;

	switch (op) {
	case op_and: return a & b;
	case op_or:  return a | b;
	case op_xor: return a ^ b;
	case op_add:
		if (kind->is_f64)
			return f64_sum(a, b);
		if (kind->format)
			return bits_of(kind->format,
				       exact_sum(value_of(kind->format, (uint32_t)a),
						 value_of(kind->format, (uint32_t)b)));
		return kind->lane_bytes == 4 ? (uint32_t)(a + b) : a + b;
	default:
		if (kind->format)
			return extreme_of(kind->format, op == op_max, (uint32_t)a, (uint32_t)b);
		less = kind->is_signed ? signed_of(kind, a) < signed_of(kind, b) : a < b;
		return less == (op == op_min) ? a : b;
	}
}

/* f32 and f64 do not specify which NaN a sum gives. */
static bool same(const struct kind *kind, uint64_t a, uint64_t b)
{
	double x = 0, y = 0;

	if (kind->is_f64) {
		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
	} else if (kind->format == &f32_format) {
		x = value_of(kind->format, (uint32_t)a);
		y = value_of(kind->format, (uint32_t)b);
	}
	return a == b || (isnan(x) && isnan(y));
}

/* Random bits of all sorts; some near @like, as otherwise no sum would be rounded */
static void fill(const struct kind *kind, unsigned char *at, const unsigned char *like,
		 unsigned int n)
{
	unsigned int k;

	for (k = 0; k < n * kind->bytes; k += kind->lane_bytes) {
		unsigned int bits = 8 * kind->lane_bytes;
		uint64_t lane = random_bits(), mantissa = 1ULL << (bits - 6);

		switch (random_bits() % 8) {
		case 0:
			lane = (lane & 1) << (bits - 1);		/* zero */
			break;
		case 1:
			lane = (lane & 3) | (lane & 4) << (bits - 3);	/* subnormal */
			break;
		case 2:
			lane |= kind->is_f64 ? 0x7ffULL << 52 : kind->format ?	/* NaN, infinity */
				((1ULL << kind->format->exponent_bits) - 1) <<
				kind->format->mantissa_bits : 0;
			if (lane & 2 && kind->format)
				lane &= ~((1ULL << kind->format->mantissa_bits) - 1);
			break;
		case 3: case 4: case 5: case 6:
			lane = lane_at(like + k, kind->lane_bytes) ^ lane % mantissa ^
			       (lane >> 60 & 1) << (bits - 1);
			break;
		}
		memcpy(at + k, &lane, kind->lane_bytes);
	}
}

static void prepare(const struct kind *kind, unsigned int n, unsigned int replicas)
{
	unsigned int i, k;

	view.replicas = replicas;
	view.bytes = BYTES;
	for (i = 0; i < MOST; i++) {
		view.replica[i] = memory[i];
		for (k = 0; k < BYTES; k++)
			memory[i][k] = (unsigned char)random_bits();
		fill(kind, memory[i] + AT, memory[i ? i - 1 : 0] + AT, n);
	}
	memcpy(before, memory, sizeof(memory));
}

static void check_lane(const char *name, const struct kind *kind, unsigned int k,
		       uint64_t got, uint64_t want)
{
	if (!same(kind, got, want))
		complain("%s: byte %u is %#llx, not %#llx", name, k,
			 (unsigned long long)got, (unsigned long long)want);
}

static void check_ld_reduce(const char *name, const struct kind *kind, enum operation op,
			    const struct format *acc, unsigned int n, const void *got)
{
	unsigned int i, k;

	for (k = 0; k < n * kind->bytes; k += kind->lane_bytes) {
		uint64_t want = lane_at(before[0] + AT + k, kind->lane_bytes);
		double sum = acc ? value_of(kind->format, (uint32_t)want) : 0;

		for (i = 1; i < view.replicas; i++) {
			uint64_t one = lane_at(before[i] + AT + k, kind->lane_bytes);

			if (acc)
				sum = rounded_sum(acc, sum, value_of(kind->format, (uint32_t)one));
			else
				want = combined(kind, op, want, one);
		}
		if (acc)
			want = bits_of(kind->format, sum);
		check_lane(name, kind, k, lane_at((const unsigned char *)got + k, kind->lane_bytes),
			   want);
	}
	if (memcmp(before, memory, sizeof(memory)))
		complain("%s has written", name);
}

/* Checks st, with op_none, and red. */
static void check_written(const char *name, const struct kind *kind, enum operation op,
			  unsigned int n, const void *value)
{
	unsigned int i, k;

	for (i = 0; i < view.replicas; i++) {
		for (k = 0; k < n * kind->bytes; k += kind->lane_bytes) {
			uint64_t want = lane_at((const unsigned char *)value + k, kind->lane_bytes);

			if (op != op_none)
				want = combined(kind, op,
						lane_at(before[i] + AT + k, kind->lane_bytes),
						want);
			check_lane(name, kind, k, lane_at(memory[i] + AT + k, kind->lane_bytes),
				   want);
		}
		memcpy(before[i] + AT, memory[i] + AT, n * kind->bytes);
	}
	if (memcmp(before, memory, sizeof(memory)))
		complain("%s has written to what it must not", name);
}

/* The type of n registers T */
#define VALUE_1(T)	multimem_value_##T
#define VALUE_2(T)	struct multimem_v2_##T
#define VALUE_4(T)	struct multimem_v4_##T
#define VALUE_8(T)	struct multimem_v8_##T

/* The place comes last: a view and an offset, or an address. */
#define DO_ld_reduce(name, function, op, acc, n, T, ...) {			\
	VALUE_##n(T) got = function(__VA_ARGS__);				\
										\
	check_ld_reduce(name, &kind_##T, op_##op, acc_##acc, n, &got);		\
}
#define DO_st(name, function, op, acc, n, T, ...) {				\
	VALUE_##n(T) value;							\
										\
	fill(&kind_##T, (unsigned char *)&value, before[0] + AT, n);		\
	function(__VA_ARGS__, value);						\
	check_written(name, &kind_##T, op_##op, n, &value);			\
}
#define DO_red	DO_st

#define FUNCTION(name, instruction, op, acc, n, T)				\
static void test_##name(unsigned int replicas)					\
{										\
	prepare(&kind_##T, n, replicas);					\
	DO_##instruction(#name, name, op, acc, n, T, &view, AT)			\
	prepare(&kind_##T, n, replicas);					\
	DO_##instruction(#name "_at", name##_at, op, acc, n, T, address + AT)	\
}
#include "functions.h"
#undef FUNCTION

static const struct {
	const char *name;
	void (*test)(unsigned int replicas);
} functions[] = {
#define FUNCTION(name, instruction, op, acc, n, T) { #name, test_##name },
#include "functions.h"
};

/* An address may be a number, or a pointer of any kind. */
static void test_pointers(void)
{
	float *p = (float *)(uintptr_t)(address + AT);
	const volatile void *q = p;
	float was;

	prepare(&kind_f32, 1, 2);
	memcpy(&was, memory[1] + AT, sizeof(was));
	multimem_st_f32_at(p, 1);
	multimem_red_add_f32_at(q, 2);
	if (multimem_ld_reduce_add_f32_at(p) != 6)
		complain("pointers are not addresses: %a", was);
}

int main(int argc, char **argv)
{
	const char *build = argc > 1 ? argv[1] : "";
	unsigned int rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 100;
	const unsigned int replicas[] = { 2, 3, MOST, 1 };
	size_t f, r;
	unsigned int k;

	printf("1..1\n");
	for (f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
		for (k = 0; k < rounds; k++)
			/* a view of one replica is rare, but valid */
			for (r = 0; r < 3 + (k == 0); r++)
				functions[f].test(replicas[r]);
	test_pointers();
	result(build, "forms");
	return failures > 0;
}
