// SPDX-License-Identifier: MIT
/*
 * multimem.h on replicas that are plain shared memory: the effect of an operation on values needs
 * no device. Each rule runs on 2, 3 and 8 replicas.
 */
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/multimem.h>

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh notice a stuck test */

#define REPLICA_BYTES	(64 << 10)

FIXTURE(replicas)
{
	struct memcast_view view;
	unsigned char *memory;
};

FIXTURE_VARIANT(replicas)
{
	unsigned int count;
};

FIXTURE_VARIANT_ADD(replicas, two)
{
	.count = 2,
};

FIXTURE_VARIANT_ADD(replicas, three)
{
	.count = 3,
};

FIXTURE_VARIANT_ADD(replicas, eight)
{
	.count = 8,
};

FIXTURE_SETUP(replicas)
{
	unsigned int i;

	/* the children that red_by_many forks share the replicas */
	self->memory = mmap(NULL, variant->count * REPLICA_BYTES,
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
	self->view.replicas = variant->count;
	self->view.bytes = REPLICA_BYTES;
	for (i = 0; i < variant->count; i++)
		self->view.replica[i] = self->memory + i * REPLICA_BYTES;
}

FIXTURE_TEARDOWN(replicas)
{
	munmap(self->memory, variant->count * REPLICA_BYTES);
}

/* Lets children start together; otherwise they would hardly meet. */
#define GATE	1024

static void wait_for_gate(struct memcast_view *view)
{
	while (!multimem_ld_reduce_add_u32(view, GATE))
		sched_yield();
}

/*
 * The same checks for every type. Values are small integers, exact in f32, and
 * differ from replica to replica and from element to element.
 */
#define VALUE(T, i, k)	((T)(3 * (k) + 100 * (i) + 1))

#define TYPED_TESTS(T, type)						\
									\
static type *T##_at(struct memcast_view *view, unsigned int i)		\
{									\
	return (type *)(void *)view->replica[i];			\
}									\
									\
static void T##_fill(struct memcast_view *view)				\
{									\
	size_t k;							\
	unsigned int i;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		for (k = 0; k < REPLICA_BYTES / sizeof(type); k++)	\
			T##_at(view, i)[k] = VALUE(type, i, k);		\
}									\
									\
static type T##_sum(struct memcast_view *view, size_t k)		\
{									\
	unsigned int i;							\
	type sum = 0;							\
									\
	for (i = 0; i < view->replicas; i++)				\
		sum += VALUE(type, i, k);				\
	return sum;							\
}									\
									\
TEST_F(replicas, st_##T)						\
{									\
	unsigned int i;							\
									\
	T##_fill(&self->view);						\
	multimem_st_##T(&self->view, 5 * sizeof(type), 77);		\
	multimem_st_release_##T(&self->view, 9 * sizeof(type), 88);	\
	for (i = 0; i < variant->count; i++) {			\
		type *at = T##_at(&self->view, i);			\
									\
		EXPECT_EQ(VALUE(type, i, 4), at[4]);			\
		EXPECT_EQ(77, at[5]);					\
		EXPECT_EQ(VALUE(type, i, 6), at[6]);			\
		EXPECT_EQ(88, at[9]);					\
		EXPECT_EQ(VALUE(type, i, 10), at[10]);			\
	}								\
}									\
									\
TEST_F(replicas, ld_reduce_add_##T)					\
{									\
	struct memcast_view *view = &self->view;			\
	size_t at = 7 * sizeof(type);					\
	unsigned int i;							\
									\
	T##_fill(view);							\
	EXPECT_EQ(T##_sum(view, 7), multimem_ld_reduce_add_##T(view, at)); \
	EXPECT_EQ(T##_sum(view, 7),					\
		  multimem_ld_reduce_acquire_add_##T(view, at));	\
	for (i = 0; i < variant->count; i++)				\
		EXPECT_EQ(VALUE(type, i, 7), T##_at(view, i)[7]);	\
}									\
									\
TEST_F(replicas, red_add_##T)						\
{									\
	unsigned int i;							\
									\
	T##_fill(&self->view);						\
	multimem_red_add_##T(&self->view, 5 * sizeof(type), 1000);	\
	multimem_red_release_add_##T(&self->view, 5 * sizeof(type), 500); \
	for (i = 0; i < variant->count; i++) {			\
		type *at = T##_at(&self->view, i);			\
									\
		EXPECT_EQ(VALUE(type, i, 4), at[4]);			\
		EXPECT_EQ(VALUE(type, i, 5) + 1500, at[5]);		\
		EXPECT_EQ(VALUE(type, i, 6), at[6]);			\
	}								\
}									\
									\
/* Counts below, at and above a block; neighbours stay as they are. */	\
TEST_F(replicas, arrays_##T)						\
{									\
	const size_t full = MULTIMEM_BLOCK / sizeof(type);		\
	const size_t counts[] = { 0, 1, full - 1, full, full + 1,	\
				  3 * full + 5 };			\
	const size_t first = 3;						\
	static type buffer[MULTIMEM_BLOCK];				\
	struct memcast_view *view = &self->view;			\
	size_t n, k;							\
	unsigned int i;							\
									\
	for (n = 0; n < ARRAY_SIZE(counts); n++) {			\
		size_t count = counts[n], bad = 0;			\
									\
		T##_fill(view);						\
		for (k = 0; k <= count; k++)				\
			buffer[k] = 7;					\
		multimem_ld_reduce_add_##T##_n(view, first * sizeof(type), \
					       buffer, count);		\
		for (k = 0; k < count; k++)				\
			bad += buffer[k] != T##_sum(view, first + k);	\
		EXPECT_EQ(0, bad);					\
		EXPECT_EQ(7, buffer[count]);				\
									\
		multimem_red_add_##T##_n(view, first * sizeof(type),	\
					 buffer, count);		\
		for (i = 0; i < variant->count; i++)			\
			for (k = 0; k < count + first + 1; k++)		\
				bad += T##_at(view, i)[k] != VALUE(type, i, k) + \
				       (k >= first && k < first + count ? \
					T##_sum(view, k) : 0);		\
		EXPECT_EQ(0, bad);					\
									\
		T##_fill(view);						\
		multimem_st_##T##_n(view, first * sizeof(type), buffer,	\
				    count);				\
		for (i = 0; i < variant->count; i++)			\
			for (k = 0; k < count + first + 1; k++)		\
				bad += T##_at(view, i)[k] !=		\
				       (k >= first && k < first + count ? \
					T##_sum(view, k) : VALUE(type, i, k)); \
		EXPECT_EQ(0, bad);					\
	}								\
}									\
									\
/* Four processes update the replicas at once, and no update is lost. */		\
TEST_F(replicas, red_by_many_##T)					\
{									\
	const int processes = 4, rounds = 50000;			\
	int status, p, k;						\
	unsigned int i;							\
									\
	for (p = 0; p < processes; p++) {				\
		pid_t child = fork();					\
									\
		ASSERT_LE(0, child);					\
		if (child)						\
			continue;					\
		wait_for_gate(&self->view);				\
		for (k = 0; k < rounds; k++)				\
			multimem_red_add_##T(&self->view, 8, 1);	\
		_exit(0);						\
	}								\
	multimem_st_u32(&self->view, GATE, 1);				\
	for (p = 0; p < processes; p++) {				\
		ASSERT_LT(0, wait(&status));				\
		ASSERT_EQ(0, status);					\
	}								\
	for (i = 0; i < variant->count; i++)				\
		EXPECT_EQ(processes * rounds,				\
			  T##_at(&self->view, i)[8 / sizeof(type)]);	\
}

TYPED_TESTS(u32, uint32_t)
TYPED_TESTS(u64, uint64_t)
TYPED_TESTS(f32, float)

TEST_F(replicas, integers_wrap)
{
	uint32_t n = variant->count;

	multimem_st_u32(&self->view, 0, UINT32_MAX);
	multimem_st_u64(&self->view, 8, UINT64_MAX);
	EXPECT_EQ(-n, multimem_ld_reduce_add_u32(&self->view, 0));
	EXPECT_EQ(-(uint64_t)n, multimem_ld_reduce_add_u64(&self->view, 8));
	multimem_red_add_u32(&self->view, 0, 2);
	multimem_red_add_u64(&self->view, 8, 2);
	EXPECT_EQ(n, multimem_ld_reduce_add_u32(&self->view, 0));
	EXPECT_EQ(n, multimem_ld_reduce_add_u64(&self->view, 8));
}

/* 2^24 + 1 rounds to 2^24: only additions in the order of members give these sums. */
TEST_F(replicas, f32_in_member_order)
{
	unsigned int i, last = variant->count - 1;
	float sum;

	for (i = 0; i <= last; i++)
		*(float *)(void *)self->view.replica[i] = 1;
	*(float *)(void *)self->view.replica[0] = 0x1p24f;
	EXPECT_EQ(0x1p24f, multimem_ld_reduce_add_f32(&self->view, 0));
	multimem_ld_reduce_add_f32_n(&self->view, 0, &sum, 1);
	EXPECT_EQ(0x1p24f, sum);

	*(float *)(void *)self->view.replica[0] = 1;
	*(float *)(void *)self->view.replica[last] = 0x1p24f;
	sum = 0x1p24f + (float)last;	/* exact, or rounded once at the end */
	EXPECT_EQ(sum, multimem_ld_reduce_add_f32(&self->view, 0));
	multimem_ld_reduce_add_f32_n(&self->view, 0, &sum, 1);
	EXPECT_EQ(0x1p24f + (float)last, sum);
}

TEST_HARNESS_MAIN
