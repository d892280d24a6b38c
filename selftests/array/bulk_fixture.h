/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of bulk functions, with each instruction set that the CPU has; results are
 * compared with bulk_plain.c's. No device is needed: replicas are plain memory, between guard
 * bytes that no function may change.
 */
#ifndef BULK_FIXTURE_H
#define BULK_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "bulk_plain.h"
#include "kselftest_harness.h"
#include "reason.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh see when one is stuck */

#define EXPECT_OK(call)		EXPECT_EQ((int)CUDA_SUCCESS, (int)(call))
#define EXPECT_CU(result, call)	EXPECT_EQ((int)(result), (int)(call))

#define ROOM		512
#define GUARD		0xa5
#define REPLICAS_MAX	12

struct place {
	unsigned char *start, *at;
	size_t bytes;
};

/* @skew: offset of the place in its page, besides ROOM */
static inline void place_make(struct place *place, size_t bytes, size_t skew)
{
	place->bytes = bytes;
	place->start = aligned_alloc(4096, (bytes + 2 * ROOM + 8192) / 4096 * 4096);
	if (!place->start)
		abort();
	place->at = place->start + ROOM + skew;
	memset(place->start, GUARD, bytes + 2 * ROOM + skew);
}

/* Return: how many bytes outside [@from, @to) are not GUARD any more */
static inline size_t damage(const struct place *place, size_t from, size_t to)
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

#ifdef __aarch64__
FIXTURE_VARIANT_ADD(bulk, neon)
{
	.cpu = "neon",
};

static inline bool cpu_has(const char *feature)
{
	return !feature;
}
#else
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

static inline bool cpu_has(const char *feature)
{
	if (!feature)
		return true;
	if (!strcmp(feature, "avx2"))
		return __builtin_cpu_supports("avx2");
	return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl");
}
#endif

FIXTURE_SETUP(bulk)
{
	if (!cpu_has(variant->needs))
		SKIP(return, "this CPU has no %s", variant->cpu);
	/* the library reads both at the first call, in this test's process */
	ASSERT_EQ(0, setenv("MEMCAST_CPU", variant->cpu, 1));
	ASSERT_EQ(0, setenv("MEMCAST_STREAM", "1048576", 1));
	fill_f16();
	self->random = 88172645463325252ULL;
}

FIXTURE_TEARDOWN(bulk)
{
}

/* Replaces all replicas and the buffer; replica i begins i * @skew bytes behind ROOM. */
#define new_replicas(count, bytes, skew)	new_replicas_(self, count, bytes, skew)
static inline void new_replicas_(FIXTURE_DATA(bulk) *self, unsigned int count, size_t bytes,
				 size_t skew)
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

/* Every second KiB has few NaNs or none, as functions look for NaNs block by block. */
static inline void fill_places(FIXTURE_DATA(bulk) *self, const struct type *type, size_t from,
			       size_t bytes)
{
	unsigned int i;
	size_t at;

	for (at = from; at < from + bytes; at += type->width)
		for (i = 0; i < self->view.replicas; i++)
			fill_element(type, self->view.replica[i] + at, &self->random,
				     at & 1024 && random_bits(&self->random) % 256);
}

/* Return: a new buffer with the reduction of [@at, @at + @bytes) of the replicas */
static inline unsigned char *expected(FIXTURE_DATA(bulk) *self, const struct type *type,
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

static inline size_t first_difference(const void *a, const void *b, size_t bytes)
{
	size_t k;

	for (k = 0; k < bytes; k++)
		if (((const unsigned char *)a)[k] != ((const unsigned char *)b)[k])
			return k;
	return bytes;
}

#define EXPECT_SAME(a, b, bytes) EXPECT_EQ(bytes, first_difference(a, b, bytes))

/* Checks all three reductions of [@at, @at + @bytes), with new values; @skew: of the buffer. */
#define check_reductions(...)	check_reductions_(_metadata, self, __VA_ARGS__)
static inline void check_reductions_(struct __test_metadata *_metadata, FIXTURE_DATA(bulk) *self,
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

#define check_broadcast(...)	check_broadcast_(_metadata, self, __VA_ARGS__)
static inline void check_broadcast_(struct __test_metadata *_metadata, FIXTURE_DATA(bulk) *self,
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

#endif /* BULK_FIXTURE_H */
