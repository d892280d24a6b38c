// SPDX-License-Identifier: MIT
/*
 * Bulk functions, with each instruction set that the CPU has, against one element
 * after the other. They need no device: replicas are plain memory here.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
#include <memcast/bulk.h>
#include <memcast/multimem.h>

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300

#define EXPECT_OK(call)		EXPECT_EQ((int)CUDA_SUCCESS, (int)(call))
#define ASSERT_OK(call)		ASSERT_EQ((int)CUDA_SUCCESS, (int)(call))
#define EXPECT_INVALID(call)	EXPECT_EQ((int)CUDA_ERROR_INVALID_VALUE, (int)(call))

/* ---- one element after the other, as plainly as can be */

struct type {
	const char *name;
	enum memcast_element element;
	size_t width;
	bool is_float;
};

static const struct type types[] = {
	{ "u32", MEMCAST_U32, 4, false }, { "s32", MEMCAST_S32, 4, false },
	{ "u64", MEMCAST_U64, 8, false }, { "s64", MEMCAST_S64, 8, false },
	{ "f32", MEMCAST_F32, 4, true }, { "f64", MEMCAST_F64, 8, true },
	{ "f16", MEMCAST_F16, 2, true }, { "bf16", MEMCAST_BF16, 2, true },
};

static const char *const op_names[] = { "add", "min", "max", "and", "or", "xor" };

static float f32_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t bits_of_f32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? 0x7fffffff : bits;
}

static uint64_t bits_of_f64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? INT64_MAX : bits;
}

static float f16[65536];	/* what each f16 is worth */

static void fill_f16(void)
{
	unsigned int bits;

	for (bits = 0; bits < 65536; bits++) {
		int exponent = bits >> 10 & 31, fraction = bits & 1023;
		float value;

		if (exponent == 31)
			value = fraction ? NAN : INFINITY;
		else if (exponent)
			value = ldexpf(1024 + fraction, exponent - 25);
		else
			value = ldexpf(fraction, -24);
		f16[bits] = bits & 0x8000 ? -value : value;
	}
}

/* The value of a float in @bits; all of them are doubles, too. */
static double value_of(enum memcast_element element, uint64_t bits)
{
	double value;

	switch (element) {
	case MEMCAST_F64:
		memcpy(&value, &bits, sizeof(value));
		return value;
	case MEMCAST_F32:
		return f32_of_bits(bits);
	case MEMCAST_BF16:
		return f32_of_bits(bits << 16);
	case MEMCAST_F16:
		return f16[bits];
	default:	/* not asked for */
		return 0;
	}
}

/* Of the two 16-bit floats around @value the nearer one, or the even one. */
static uint16_t nearest(enum memcast_element element, double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0, low = 0, high, infinity;
	double magnitude = fabs(value), below, above;

	infinity = element == MEMCAST_F16 ? 0x7c00 : 0x7f80;
	if (isnan(value))
		return 0x7fff;
	if (isinf(value))
		return sign | infinity;
	high = infinity;
	while (high - low > 1) {
		uint16_t middle = (low + high) / 2;

		if (value_of(element, middle) <= magnitude)
			low = middle;
		else
			high = middle;
	}
	below = magnitude - value_of(element, low);
	/* what would come after the greatest, were there no infinity */
	above = (high < infinity ? value_of(element, high) :
		 ldexp(1, element == MEMCAST_F16 ? 16 : 128)) - magnitude;
	if (above < below || (above == below && !(high & 1)))
		low = high;
	return sign | low;
}

static uint64_t integer_step(enum memcast_element element, enum memcast_op op, uint64_t a,
			     uint64_t b)
{
	bool less;

	switch (element) {
	case MEMCAST_U32:
		less = (uint32_t)a < (uint32_t)b;
		break;
	case MEMCAST_S32:
		less = (int32_t)a < (int32_t)b;
		break;
	case MEMCAST_U64:
		less = a < b;
		break;
	default:
		less = (int64_t)a < (int64_t)b;
	}
	switch (op) {
	case MEMCAST_ADD:
		return a + b;
	case MEMCAST_MIN:
		return less ? a : b;
	case MEMCAST_MAX:
		return less ? b : a;
	case MEMCAST_AND:
		return a & b;
	case MEMCAST_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static double choose(enum memcast_op op, double a, double b)
{
	bool less = a < b || (a == b && signbit(a) && !signbit(b));

	if (isnan(a))
		return b;
	if (isnan(b))
		return a;
	return less == (op == MEMCAST_MIN) ? a : b;
}

static uint64_t element_at(const struct type *type, const unsigned char *at)
{
	uint64_t bits = 0;

	memcpy(&bits, at, type->width);
	return bits;
}

/* The elements at @at of all @places, in their order */
static uint64_t reduce(const struct type *type, enum memcast_op op,
		       unsigned char *const *places, unsigned int count, size_t at)
{
	uint64_t bits = element_at(type, places[0] + at);
	double value = value_of(type->element, bits), one;
	unsigned int i;

	for (i = 1; i < count; i++) {
		uint64_t next = element_at(type, places[i] + at);

		if (!type->is_float) {
			bits = integer_step(type->element, op, bits, next);
			continue;
		}
		one = value_of(type->element, next);
		if (op != MEMCAST_ADD)
			value = choose(op, value, one);
		else if (type->element == MEMCAST_F64)
			value += one;
		else
			value = (float)value + (float)one;
	}
	if (!type->is_float)
		return type->width == 4 ? (uint32_t)bits : bits;
	if (type->element == MEMCAST_F64)
		return bits_of_f64(value);
	if (type->element == MEMCAST_F32)
		return bits_of_f32((float)value);
	return nearest(type->element, value);
}

/* ---- values */

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dULL;
}

static const uint16_t specials16[] = {
	0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x007f, 0x0080, 0x3c00, 0xbc00,
	0x3f80, 0xbf80, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00,
	0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc0, 0x7fff, 0xffff,
};

/*
 * Bits of all kinds: special floats, floats near each other, so that sums have
 * something to round, and anything.
 */
static void fill_element(const struct type *type, unsigned char *at, uint64_t *state)
{
	uint64_t bits = random_bits(state), kind = random_bits(state) % 8;
	unsigned int shift = 8 * type->width - 16;

	if (kind < 2)
		bits = (uint64_t)specials16[bits % ARRAY_SIZE(specials16)] << shift |
		       (kind && shift ? bits >> (64 - shift) : 0);
	else if (kind < 6 && type->is_float)	/* exponents of 1 to 8 or so */
		bits = (type->width == 8 ? 0x3ff0000000000000 : type->width == 4 ? 0x3f800000 :
			type->element == MEMCAST_F16 ? 0x3c00 : 0x3f80) +
		       (bits >> (66 - 8 * type->width + (type->element == MEMCAST_BF16 ? 4 :
			type->element == MEMCAST_F16 ? 1 : 6)));
	memcpy(at, &bits, type->width);
}

/* ---- replicas in memory, with room around them that stays as it is */

#define ROOM		512
#define GUARD		0xa5
#define REPLICAS_MAX	8

struct place {
	unsigned char *start, *at;
	size_t bytes;
};

/* @skew: bytes from a page on */
static void place_make(struct place *place, size_t bytes, size_t skew)
{
	place->bytes = bytes;
	place->start = aligned_alloc(4096, (bytes + 2 * ROOM + 8192) / 4096 * 4096);
	if (!place->start)
		abort();
	place->at = place->start + ROOM + skew;
	memset(place->start, GUARD, bytes + 2 * ROOM + skew);
}

/* How many bytes around [@from, @to) are not the guard's */
static size_t damage(const struct place *place, size_t from, size_t to)
{
	const unsigned char *end = place->at + place->bytes + ROOM, *byte;
	size_t bad = 0;

	for (byte = place->at - ROOM; byte < end; byte++)
		if ((byte < place->at + from || byte >= place->at + to) && *byte != GUARD)
			bad++;
	return bad;
}

FIXTURE(bulk)
{
	struct memcast_view view;
	struct place place[REPLICAS_MAX], buffer;
	uint64_t random;
};

FIXTURE_VARIANT(bulk)
{
	const char *cpu, *needs;
};

FIXTURE_VARIANT_ADD(bulk, sse2)
{
	.cpu = "sse2",
};

FIXTURE_VARIANT_ADD(bulk, avx2)
{
	.cpu = "avx2", .needs = "avx2",
};

FIXTURE_VARIANT_ADD(bulk, avx512)
{
	.cpu = "avx512", .needs = "avx512bw",
};

static bool cpu_has(const char *feature)
{
	if (!feature)
		return true;
	if (!strcmp(feature, "avx2"))
		return __builtin_cpu_supports("avx2");
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}

FIXTURE_SETUP(bulk)
{
	if (!cpu_has(variant->needs))
		SKIP(return, "this CPU has no %s", variant->cpu);
	/* read at the first use, in this test's process */
	ASSERT_EQ(0, setenv("MEMCAST_CPU", variant->cpu, 1));
	ASSERT_EQ(0, setenv("MEMCAST_STREAM", "1048576", 1));
	fill_f16();
	self->random = 88172645463325252ULL;
}

FIXTURE_TEARDOWN(bulk)
{
}

/* @skew moves each replica a little further than the one before. */
#define replicas(count, bytes, skew)	replicas_(self, count, bytes, skew)
static void replicas_(FIXTURE_DATA(bulk) *self, unsigned int count, size_t bytes, size_t skew)
{
	unsigned int i;

	for (i = 0; i < self->view.replicas; i++)
		free(self->place[i].start);
	free(self->buffer.start);
	self->view.replicas = count;
	self->view.bytes = bytes;
	for (i = 0; i < count; i++) {
		place_make(&self->place[i], bytes, i * skew);
		self->view.replica[i] = self->place[i].at;
	}
	place_make(&self->buffer, bytes, 0);
}

static void fill_places(FIXTURE_DATA(bulk) *self, const struct type *type, size_t from,
			size_t bytes)
{
	unsigned int i;
	size_t at;

	for (at = from; at < from + bytes; at += type->width)
		for (i = 0; i < self->view.replicas; i++)
			fill_element(type, self->view.replica[i] + at, &self->random);
}

/* ---- each type and operator */

static bool has_op(const struct type *type, enum memcast_op op)
{
	return !type->is_float || op <= MEMCAST_MAX;
}

/* What is to be at [@at, @at + @bytes) of the replicas, into a new buffer */
static unsigned char *expected(FIXTURE_DATA(bulk) *self, const struct type *type,
			       enum memcast_op op, size_t at, size_t bytes)
{
	unsigned char *all = malloc(bytes + 1);
	size_t k;

	for (k = 0; k < bytes; k += type->width) {
		uint64_t bits = reduce(type, op, self->view.replica, self->view.replicas, at + k);

		memcpy(all + k, &bits, type->width);
	}
	return all;
}

static size_t first_difference(const void *a, const void *b, size_t bytes)
{
	size_t k;

	for (k = 0; k < bytes; k++)
		if (((const unsigned char *)a)[k] != ((const unsigned char *)b)[k])
			return k;
	return bytes;
}

#define EXPECT_SAME(a, b, bytes) EXPECT_EQ(bytes, first_difference(a, b, bytes))

/* All three reductions of [@at, @at + @bytes) of fresh values; the buffer is skewed. */
#define reductions(...)	reductions_(_metadata, self, __VA_ARGS__)
static void reductions_(struct __test_metadata *_metadata, FIXTURE_DATA(bulk) *self,
			const struct type *type, enum memcast_op op, size_t at,
			size_t bytes, size_t skew)
{
	unsigned int count = self->view.replicas, i;
	unsigned char *to = self->buffer.at + skew, *all, *before;
	size_t elements = bytes / type->width;

	memset(self->buffer.at, GUARD, self->buffer.bytes);
	for (i = 0; i < count; i++)
		memset(self->place[i].at, GUARD, self->place[i].bytes);
	fill_places(self, type, at, bytes);
	all = expected(self, type, op, at, bytes);
	EXPECT_OK(memcastReduceLoad(&self->view, at, to, elements, type->element, op));
	EXPECT_SAME(all, to, bytes) {
		TH_LOG("ReduceLoad: %s %s, %u replicas, %zu bytes at %zu", type->name,
		       op_names[op], count, bytes, at);
	}
	EXPECT_EQ(0, damage(&self->buffer, skew, skew + bytes));

	for (i = 0; i < count; i++) {
		unsigned char *pair[2] = { self->view.replica[i] + at, to };
		unsigned char *after = malloc(bytes + 1);
		size_t k;

		before = malloc(bytes + 1);
		memcpy(before, pair[0], bytes);
		for (k = 0; k < bytes; k += type->width) {
			uint64_t bits = reduce(type, op, pair, 2, k);

			memcpy(after + k, &bits, type->width);
		}
		self->view.replica[0] = self->place[i].at;
		self->view.replicas = 1;
		EXPECT_OK(memcastReduceStore(&self->view, at, to, elements,
					     type->element, op));
		self->view.replica[0] = self->place[0].at;
		self->view.replicas = count;
		EXPECT_SAME(after, pair[0], bytes) {
			TH_LOG("ReduceStore: %s %s", type->name, op_names[op]);
		}
		memcpy(pair[0], before, bytes);
		free(before);
		free(after);
	}

	EXPECT_OK(memcastReduceBroadcast(&self->view, at, elements, type->element, op));
	for (i = 0; i < count; i++) {
		EXPECT_SAME(all, self->view.replica[i] + at, bytes) {
			TH_LOG("ReduceBroadcast: %s %s, replica %u of %u", type->name,
			       op_names[op], i, count);
		}
		EXPECT_EQ(0, damage(&self->place[i], at, at + bytes));
	}
	free(all);
}

TEST_F(bulk, every_type_and_operator)
{
	const unsigned int counts[] = { 1, 2, 3, 8 };
	unsigned int t, n;
	enum memcast_op op;

	for (n = 0; n < ARRAY_SIZE(counts); n++) {
		replicas(counts[n], 4096, 0);
		for (t = 0; t < ARRAY_SIZE(types); t++)
			for (op = MEMCAST_ADD; op <= MEMCAST_XOR; op++)
				if (has_op(&types[t], op))
					reductions(&types[t], op, 24, 3048, 8);
	}
}

/* Every 16-bit float, with others of all kinds; sums of three round in f32. */
TEST_F(bulk, every_half)
{
	const size_t bytes = 65536 * 2;
	unsigned int t, round, n, k;
	enum memcast_op op;

	for (n = 2; n <= 3; n++) {
		replicas(n, bytes, 0);
		for (t = 0; t < ARRAY_SIZE(types); t++)
			for (round = 0; types[t].width == 2 && round < 4; round++)
				for (op = MEMCAST_ADD; op <= MEMCAST_MAX; op++) {
					unsigned char *all;

					fill_places(self, &types[t], 0, bytes);
					for (k = 0; k < 65536; k++)
						((uint16_t *)self->view.replica[round % n])[k] = k;
					all = expected(self, &types[t], op, 0, bytes);
					EXPECT_OK(memcastReduceLoad(&self->view, 0, self->buffer.at,
								    65536, types[t].element, op));
					EXPECT_SAME(all, self->buffer.at, bytes) {
						TH_LOG("%s %s", types[t].name, op_names[op]);
					}
					free(all);
				}
	}
}

#define AS_MULTIMEM(element, op, T, multimem_op)					\
do {										\
	const struct type *type_ = &types[MEMCAST_##element];			\
	size_t at_, bad_ = 0;							\
										\
	fill_places(self, type_, 0, 4096);					\
	EXPECT_OK(memcastReduceLoad(&self->view, 0, self->buffer.at, 4096 / type_->width, \
				    MEMCAST_##element, MEMCAST_##op));		\
	for (at_ = 0; at_ < 4096; at_ += sizeof(T)) {				\
		T one_ = multimem_ld_reduce_##multimem_op(&self->view, at_);	\
		uint64_t bits_ = 0;						\
										\
		memcpy(&bits_, &one_, sizeof(T));				\
		/* which NaN a sum gives is open there */			\
		if (MEMCAST_##element == MEMCAST_F32)				\
			bits_ = bits_of_f32((float)value_of(MEMCAST_F32, bits_)); \
		if (MEMCAST_##element == MEMCAST_F64)				\
			bits_ = bits_of_f64(value_of(MEMCAST_F64, bits_));	\
		bad_ += !!memcmp(&bits_, self->buffer.at + at_, sizeof(T));	\
	}									\
	EXPECT_EQ(0, bad_) {							\
		TH_LOG(#element " " #op);						\
	}									\
} while (0)

/* The operations of multimem.h give the same bits. */
TEST_F(bulk, as_multimem)
{
	unsigned int n, round;

	for (n = 2; n <= 4; n++) {
		replicas(n, 4096, 0);
		for (round = 0; round < 10; round++) {
			AS_MULTIMEM(U32, ADD, uint32_t, add_u32);
			AS_MULTIMEM(U32, MIN, uint32_t, min_u32);
			AS_MULTIMEM(S32, MAX, int32_t, max_s32);
			AS_MULTIMEM(U64, ADD, uint64_t, add_u64);
			AS_MULTIMEM(U64, MAX, uint64_t, max_u64);
			AS_MULTIMEM(S64, MIN, int64_t, min_s64);
			AS_MULTIMEM(U32, XOR, uint32_t, xor_b32);
			AS_MULTIMEM(U64, AND, uint64_t, and_b64);
			AS_MULTIMEM(F32, ADD, float, add_f32);
			AS_MULTIMEM(F64, ADD, double, add_f64);
			AS_MULTIMEM(F16, ADD, uint32_t, add_acc_f32_f16x2);
			AS_MULTIMEM(F16, MIN, uint32_t, min_f16x2);
			AS_MULTIMEM(F16, MAX, uint32_t, max_f16x2);
			AS_MULTIMEM(BF16, ADD, uint32_t, add_acc_f32_bf16x2);
			AS_MULTIMEM(BF16, MIN, uint32_t, min_bf16x2);
			AS_MULTIMEM(BF16, MAX, uint32_t, max_bf16x2);
		}
	}
}

/* ---- sizes and places */

TEST_F(bulk, reductions_of_every_size)
{
	size_t bytes, at;

	replicas(3, 512, 0);
	for (bytes = 0; bytes <= 300; bytes += 2)
		for (at = 0; at < 70; at += 2) {
			const struct type *type = &types[6 + bytes / 2 % 2];

			/* odd places for the buffer, which need not be aligned */
			reductions(type, (enum memcast_op)(at / 2 % 3), at, bytes, at + bytes / 2 % 3);
		}
}

#define broadcast(...)	broadcast_(_metadata, self, __VA_ARGS__)
static void broadcast_(struct __test_metadata *_metadata, FIXTURE_DATA(bulk) *self,
		       size_t at, size_t bytes, size_t skew)
{
	unsigned int i;
	size_t k;

	for (k = 0; k < self->buffer.bytes; k++)
		self->buffer.at[k] = (unsigned char)random_bits(&self->random);
	EXPECT_OK(memcastBroadcast(&self->view, at, self->buffer.at + skew, bytes));
	for (i = 0; i < self->view.replicas; i++) {
		EXPECT_SAME(self->buffer.at + skew, self->view.replica[i] + at, bytes) {
			TH_LOG("Broadcast: %zu bytes at %zu", bytes, at);
		}
		EXPECT_EQ(0, damage(&self->place[i], at, at + bytes)) {
			TH_LOG("Broadcast: %zu bytes at %zu, replica %u", bytes, at, i);
		}
		memset(self->place[i].at, GUARD, self->place[i].bytes);
	}
}

TEST_F(bulk, broadcasts_of_every_size)
{
	size_t bytes, at;

	replicas(3, 512, 0);
	for (bytes = 0; bytes <= 300; bytes++)
		for (at = 0; at < 70; at += 3)
			broadcast(at, bytes, (at * 7 + bytes) % 66);
}

TEST_F(bulk, fills)
{
	unsigned char element[16];
	size_t width, count, at, k;
	unsigned int i;

	replicas(2, (1 << 20) + 4096, 5);
	for (width = 1; width <= 16; width *= 2)
		for (at = 0; at < 3; at++)
			for (count = 0; count <= (1 << 20) / width;
			     count = count * 5 + 1 + (count > 100) * 70000 / width) {
				for (k = 0; k < width; k++)
					element[k] = (unsigned char)random_bits(&self->random);
				EXPECT_OK(memcastFill(&self->view, at, element, width, count));
				for (i = 0; i < 2; i++) {
					unsigned char *got = self->view.replica[i] + at;
					size_t bad = 0;

					for (k = 0; k < count; k++)
						bad += !!memcmp(got + k * width, element, width);
					EXPECT_EQ(0, bad);
					EXPECT_EQ(0, damage(&self->place[i], at, at + count * width));
					memset(self->place[i].at, GUARD, self->place[i].bytes);
				}
			}
}

/* Where stores begin to go past the caches, of replicas that are aligned alike or not */
TEST_F(bulk, around_the_caches)
{
	const size_t change = (1 << 20) / 2, third = (1 << 20) / 3 / 64 * 64;
	const long around[] = { -4096, -64, -8, 0, 8, 64, 72, 8192, 8256 };
	size_t skew, n;

	for (skew = 0; skew <= 8; skew += 8) {
		replicas(2, change + 16384, skew);
		for (n = 0; n < ARRAY_SIZE(around); n++) {
			broadcast(8 * n, change + around[n], n);
			broadcast(64, change + around[n] + 1, 0);
		}
		/* to a buffer, what is read counts, too */
		for (n = 0; n < ARRAY_SIZE(around); n++) {
			reductions(&types[4], MEMCAST_ADD, 8 * n, third + around[n], 0);
			reductions(&types[7], MEMCAST_ADD, 64 + 8 * n, third + around[n], 2);
		}
		replicas(1, change + 16384, skew);
		for (n = 0; n < ARRAY_SIZE(around); n += 3)
			reductions(&types[2], MEMCAST_ADD, 8 * n, change + around[n], 8);
	}
}

/* The result may come where one of the replicas is. */
TEST_F(bulk, in_place)
{
	size_t bytes[] = { 1000, 700 << 10 };
	unsigned int n;

	for (n = 0; n < 2; n++) {
		unsigned char *all;

		replicas(2, bytes[n], 0);
		fill_places(self, &types[0], 0, bytes[n]);
		all = expected(self, &types[0], MEMCAST_ADD, 0, bytes[n]);
		EXPECT_OK(memcastReduceLoad(&self->view, 0, self->view.replica[1], bytes[n] / 4,
					    MEMCAST_U32, MEMCAST_ADD));
		EXPECT_SAME(all, self->view.replica[1], bytes[n]);
		EXPECT_OK(memcastBroadcast(&self->view, 0, self->view.replica[1], bytes[n]));
		EXPECT_SAME(all, self->view.replica[0], bytes[n]);
		EXPECT_SAME(all, self->view.replica[1], bytes[n]);
		free(all);
	}
}

/* ---- several at once */

#define THREADS		4
#define ROUNDS		400
#define ELEMENTS	600

struct adder {
	struct memcast_view *view;
	const struct type *type;
	const void *one;
};

static void *add_often(void *arg)
{
	const struct adder *adder = arg;
	int round;

	for (round = 0; round < ROUNDS; round++)
		memcastReduceStore(adder->view, 8, adder->one, ELEMENTS, adder->type->element,
				   MEMCAST_ADD);
	return NULL;
}

/* No update is lost. A half can count to 2048, and a bf16 to 256. */
TEST_F(bulk, atomic)
{
	const uint64_t ones[] = { 1, 1, 1, 1, 0x3f800000, 0x3ff0000000000000, 0x3c00, 0x3f80 };
	unsigned int t, i, k;

	replicas(2, 8192, 0);
	for (t = 0; t < ARRAY_SIZE(types) - 1; t++) {
		unsigned char one[ELEMENTS * 8];
		struct adder adder = { &self->view, &types[t], one };
		pthread_t thread[THREADS];

		for (k = 0; k < ELEMENTS; k++)
			memcpy(one + k * types[t].width, &ones[t], types[t].width);
		for (i = 0; i < 2; i++)
			memset(self->place[i].at, 0, 8192);
		for (i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, add_often, &adder));
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < 2; i++)
			for (k = 0; k < ELEMENTS; k++) {
				uint64_t bits = element_at(&types[t], self->place[i].at + 8 +
							   k * types[t].width);

				ASSERT_EQ(THREADS * ROUNDS, types[t].is_float ?
					  (uint64_t)value_of(types[t].element, bits) : bits)
					TH_LOG("%s", types[t].name);
			}
	}
}

/* ---- refusals */

TEST_F(bulk, refusals)
{
	struct memcast_view none = { .bytes = 64 }, many = { .replicas = 65, .bytes = 64 };
	struct memcast_view *view = &self->view;
	unsigned char from[64] = {};

	replicas(2, 64, 0);
	EXPECT_INVALID(memcastBroadcast(NULL, 0, from, 1));
	EXPECT_INVALID(memcastBroadcast(&none, 0, from, 1));
	EXPECT_INVALID(memcastBroadcast(&many, 0, from, 1));
	EXPECT_INVALID(memcastBroadcast(view, 0, NULL, 1));
	EXPECT_INVALID(memcastBroadcast(view, 0, from, 65));
	EXPECT_INVALID(memcastBroadcast(view, 64, from, 1));
	EXPECT_INVALID(memcastBroadcast(view, 65, from, 0));
	EXPECT_INVALID(memcastBroadcast(view, SIZE_MAX, from, 2));
	EXPECT_INVALID(memcastFill(view, 0, from, 3, 1));
	EXPECT_INVALID(memcastFill(view, 0, from, 0, 1));
	EXPECT_INVALID(memcastFill(view, 0, from, 32, 1));
	EXPECT_INVALID(memcastFill(view, 0, from, 16, 5));
	EXPECT_INVALID(memcastFill(view, 0, from, 16, SIZE_MAX / 16 + 2));
	EXPECT_INVALID(memcastFill(view, 0, NULL, 1, 1));
	EXPECT_INVALID(memcastReduceLoad(view, 2, from, 1, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceLoad(view, 60, from, 2, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceLoad(view, 0, from, SIZE_MAX / 4 + 2, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceLoad(view, 0, NULL, 1, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceLoad(view, 0, from, 1, MEMCAST_BF16 + 1, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceLoad(view, 0, from, 1, MEMCAST_U32, MEMCAST_XOR + 1));
	EXPECT_INVALID(memcastReduceLoad(view, 0, from, 1, MEMCAST_F32, MEMCAST_AND));
	EXPECT_INVALID(memcastReduceStore(view, 0, from, 1, MEMCAST_BF16, MEMCAST_XOR));
	EXPECT_INVALID(memcastReduceStore(view, 1, from, 1, MEMCAST_BF16, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceBroadcast(view, 4, 8, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_INVALID(memcastReduceBroadcast(view, 8, 8, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_EQ(0, damage(&self->place[0], 0, 0));
	EXPECT_EQ(0, damage(&self->place[1], 0, 0));

	EXPECT_OK(memcastBroadcast(view, 64, NULL, 0));
	EXPECT_OK(memcastFill(view, 64, NULL, 16, 0));
	EXPECT_OK(memcastReduceLoad(view, 64, NULL, 0, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_OK(memcastReduceStore(view, 64, NULL, 0, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_OK(memcastReduceBroadcast(view, 64, 0, MEMCAST_U64, MEMCAST_ADD));
}

/* One that there is not leads to one that there is. */
TEST(chosen)
{
	const char *names[] = { "", "sse3" };	/* and as a number of bytes */
	float a[40], b[40], sum[40] = {};
	struct memcast_view view = {
		.replicas = 2, .bytes = sizeof(a),
		.replica = { (unsigned char *)a, (unsigned char *)b },
	};
	unsigned int n, k;

	for (k = 0; k < ARRAY_SIZE(a); k++) {
		a[k] = k;
		b[k] = 0.5f;
	}
	for (n = 0; n < ARRAY_SIZE(names); n++) {
		pid_t child;
		int status;

		ASSERT_EQ(0, setenv("MEMCAST_CPU", names[n], 1));
		ASSERT_EQ(0, setenv("MEMCAST_STREAM", names[n], 1));
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			memcastReduceLoad(&view, 0, sum, ARRAY_SIZE(a), MEMCAST_F32, MEMCAST_ADD);
			for (k = 0; k < ARRAY_SIZE(a); k++)
				if (sum[k] != k + 0.5f)
					_exit(1);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
}

TEST_HARNESS_MAIN
