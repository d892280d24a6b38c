// SPDX-License-Identifier: MIT
/*
 * Groups on replicas in shared memory: barriers that no rank passes early, and all-reduces of all
 * sizes, by as many ranks as replicas or not.
 */
#include <string.h>

#include "group_fixture.h"
#include "helpers.h"
#include "processor.h"

static int count_together(struct memcast_group *group, uint32_t *count)
{
	uint32_t round;

	for (round = 1; round <= 500; round++) {
		__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
		memcastBarrier(group);
		if (__atomic_load_n(count, __ATOMIC_RELAXED) != round * group->ranks)
			return 1;
		memcastBarrier(group);
	}
	return 0;
}

TEST_F(group, barrier)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, count_together));
}

/*
 * Each rank stores a few bytes to some lines past the caches, so that they stay in the processor's
 * write-combining buffers; all must be in memory after the barrier.
 */
static int stream_together(struct memcast_group *group, uint32_t *count)
{
	const unsigned int lines = 3;
	int *at = (int *)(void *)group->view->replica[0], round;
	unsigned int rank, k;

	(void)count;
	for (round = 1; round <= (int)loops(500); round++) {
		for (k = 0; k < lines; k++)
			store_past(at + 1024 * (group->rank * lines + k), round);
		memcastBarrier(group);
		for (rank = 0; rank < group->ranks; rank++)
			for (k = 0; k < lines; k++)
				if (at[1024 * (rank * lines + k)] != round)
					return 1;
		memcastBarrier(group);
	}
	return 0;
}

TEST_F(group, stores_past_the_caches)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, stream_together));
}

/* Small numbers, exact in all types, that differ by replica, place and round */
static uint32_t number(unsigned int replica, size_t at, unsigned int round)
{
	return (7 * replica + at % 11 + round) % 16;
}

static uint32_t number_of_all(unsigned int replicas, size_t at, unsigned int round)
{
	uint32_t sum = 0;

	while (replicas--)
		sum += number(replicas, at, round);
	return sum;
}

#define REDUCE(T, type, element)						\
static int reduce_##T(struct memcast_group *group, size_t offset, size_t count,	\
		      unsigned int round)					\
{										\
	const struct memcast_view *view = group->view;				\
	unsigned int i, replica;						\
	size_t k;								\
										\
	/* a rank fills its own replica, or several in turn */			\
	for (i = 0; i < view->replicas; i++) {					\
		type *at = (type *)(void *)(view->replica[i] + offset);		\
										\
		if (i % group->ranks == group->rank)				\
			for (k = 0; k < count; k++)				\
				at[k] = number(i, k, round);			\
	}									\
	if (memcastAllReduce(group, offset, count, element, MEMCAST_ADD))	\
		return 1;							\
	replica = group->rank % view->replicas;					\
	for (k = 0; k < count; k++)						\
		if (((type *)(void *)(view->replica[replica] + offset))[k] !=	\
		    (type)number_of_all(view->replicas, k, round))		\
			return 1;						\
	return 0;								\
}

REDUCE(u32, uint32_t, MEMCAST_U32)
REDUCE(f32, float, MEMCAST_F32)
REDUCE(u64, uint64_t, MEMCAST_U64)

/* Without a barrier in between where each rank has a replica of its own */
static int reduce_often(struct memcast_group *group, uint32_t *count)
{
	static const size_t sizes[] = {
		1, 2, 13, 14, 15, 16, 17, 60, 111, 112, 113, 250, 1023, 2048, 5000, 30000, 131072,
	};
	unsigned int n, round;

	(void)count;
	for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		for (round = 0; round < 2 + 40 / (1 + sizes[n] / 100); round++) {
			bool own = group->ranks == group->view->replicas;

			if (reduce_f32(group, 4 * (n % 3), sizes[n], round))
				return 1;
			if (!own)
				memcastBarrier(group);
			if (reduce_u32(group, 64, sizes[n], round + 1))
				return 1;
			if (!own)
				memcastBarrier(group);
			if (reduce_u64(group, 8, sizes[n] / 2, round + 2))
				return 1;
			if (!own)
				memcastBarrier(group);
			if (round % 8 == 3)
				memcastBarrier(group);
		}
	}
	return 0;
}

TEST_F(group, all_reduce)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, reduce_often));
}

/* So many calls that a rank that reads too early finds the values of the call before. */
static int reduce_few(struct memcast_group *group, uint32_t *count)
{
	static const size_t sizes[] = { 14, 15, 112 };
	unsigned int n, round;

	(void)count;
	for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
		for (round = 0; round < loops(2500) / group->ranks; round++) {
			if (reduce_f32(group, 0, sizes[n], round))
				return 1;
			if (group->ranks != group->view->replicas)
				memcastBarrier(group);
		}
	return 0;
}

TEST_F(group, all_reduce_of_few)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, reduce_few));
}

/*
 * All ranks get the same bits although they round in different ways, of few elements and
 * of many. In f32 every step of 1 + 2^-25 + 2^-25 … is rounded down, and up with 3 * 2^-25.
 */
static int reduce_differently(struct memcast_group *group, uint32_t *count)
{
	static const unsigned int controls[] = {
		CONTROL_DEFAULT, CONTROL_UP, CONTROL_TO_ZERO, CONTROL_NO_SUBNORMALS,
	};
	const struct memcast_view *view = group->view;
	unsigned int own = group->rank % view->replicas, i;
	size_t counts[] = { 20, 100000 }, n, k;
	const float little[2] = { 0x1p-25f, 0x3p-25f };
	float sum[2] = { 1, 1 + (float)(view->replicas - 1) * 0x1p-23f };
	int wrong = 0;

	(void)count;
	for (n = 0; n < 2; n++) {
		for (i = 0; i < view->replicas; i++)
			for (k = 0; k < counts[n] && i % group->ranks == group->rank; k++)
				((float *)(void *)view->replica[i])[k] = i ? little[k % 2] : 1;
		memcastBarrier(group);
		control_set(controls[group->rank % 4]);
		wrong |= memcastAllReduce(group, 0, counts[n], MEMCAST_F32, MEMCAST_ADD) !=
			 CUDA_SUCCESS;
		control_set(controls[0]);
		for (k = 0; k < counts[n]; k++)
			wrong |= ((float *)(void *)view->replica[own])[k] != sum[k % 2];
		memcastBarrier(group);
	}
	return wrong;
}

TEST_F(group, arithmetic_of_ranks)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, reduce_differently));
}

static int replica_fd[3];

/* Shrinks the rank's replica after the call: a rank that still touched it would get SIGBUS. */
static int leave(struct memcast_group *group, uint32_t *count)
{
	const size_t elements[] = { 10, 20000 };
	size_t many = elements[*count / 3 % 2];

	switch (*count % 3) {
	case 0:
		memcastBarrier(group);
		break;
	case 1:
		memcastAllReduce(group, 0, many, MEMCAST_F32, MEMCAST_ADD);
		break;
	default:
		memcastGroupBroadcast(group, 1, 0, many);
	}
	return ftruncate(replica_fd[group->rank], 0);
}

TEST(replicas_that_go)
{
	struct memcast_view view = {
		.replicas = 3, .bytes = DATA_BYTES + MEMCAST_GROUP_BYTES(3),
	};
	unsigned int i;
	uint32_t round;

	for (round = 0; round < loops(40); round++) {
		for (i = 0; i < 3; i++) {
			replica_fd[i] = memfd_create("replica", MFD_CLOEXEC);
			ASSERT_EQ(0, ftruncate(replica_fd[i], (off_t)view.bytes));
			view.replica[i] = mmap(NULL, view.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
					       replica_fd[i], 0);
			ASSERT_NE(MAP_FAILED, (void *)view.replica[i]);
		}
		ASSERT_EQ(0, run(&view, 3, &round, leave));
		for (i = 0; i < 3; i++) {
			munmap(view.replica[i], view.bytes);
			close(replica_fd[i]);
		}
	}
}

TEST(refusals)
{
	static unsigned char memory[2][MEMCAST_GROUP_BYTES(2) + 128] __attribute__((aligned(64)));
	struct memcast_view view = {
		.replicas = 2, .bytes = sizeof(memory[0]), .replica = { memory[0], memory[1] },
	};
	struct memcast_group group, before;

	memset(&group, 0x55, sizeof(group));
	before = group;
	EXPECT_REASON(memcastGroupInit(NULL, &view, 0, 0, 2), "NULL output");
	EXPECT_REASON(memcastGroupInit(&group, NULL, 0, 0, 2), "NULL view");
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 0, 0), "rank # of #; there can be #");
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 2, 2), "rank # of #; there can be #");
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 0, MEMCAST_GROUP_MAX + 1),
		      "rank # of #; there can be #");
	EXPECT_REASON(memcastGroupInit(&group, &view, 8, 0, 2),
		      "flags at #: # bytes, a multiple of #, are not inside");
	EXPECT_REASON(memcastGroupInit(&group, &view, 192, 0, 2),
		      "flags at #: # bytes, a multiple of #, are not inside");
	EXPECT_REASON(memcastGroupInit(&group, &view, -64, 0, 2),
		      "flags at #: # bytes, a multiple of #, are not inside");
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 0, 3),
		      "flags at #: # bytes, a multiple of #, are not inside");
	view.replicas = 0;
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 0, 2), "a view of # replicas");
	view.replicas = MEMCAST_VIEW_MAX + 1;
	EXPECT_REASON(memcastGroupInit(&group, &view, 0, 0, 2), "a view of # replicas");
	view.replicas = 2;
	EXPECT_EQ(0, memcmp(&before, &group, sizeof(group)));

	/* the most replicas that a view can have: here they are the same memory */
	view.replicas = MEMCAST_VIEW_MAX;
	for (unsigned int i = 2; i < MEMCAST_VIEW_MAX; i++)
		view.replica[i] = memory[1];
	EXPECT_EQ(CUDA_SUCCESS, memcastGroupInit(&group, &view, 128, 0, 2));
	view.replicas = 2;
	ASSERT_EQ(CUDA_SUCCESS, memcastGroupInit(&group, &view, 128, 0, 2));
	EXPECT_REASON(memcastBarrier(NULL), "NULL group");
	EXPECT_REASON(memcastAllReduce(NULL, 0, 1, MEMCAST_U32, MEMCAST_ADD), "NULL group");
	EXPECT_REASON(memcastAllReduce(&group, 2, 1, MEMCAST_U32, MEMCAST_ADD),
		      "offset # is not a multiple of the type's # bytes");
	EXPECT_REASON(memcastAllReduce(&group, view.bytes, 1, MEMCAST_U32, MEMCAST_ADD),
		      "# elements of # bytes at # are not inside the view's # bytes");
	EXPECT_REASON(memcastAllReduce(&group, 0, 1, MEMCAST_F32, MEMCAST_OR),
		      "f32 has no operator 'or'");
	/* over the group's flags, which begin at 128: no rank would ever see another's post */
	EXPECT_REASON(memcastAllReduce(&group, 0, 33, MEMCAST_U32, MEMCAST_ADD),
		      "# bytes at # share some with the group's own # at #");
	EXPECT_REASON(memcastAllReduce(&group, 128 + MEMCAST_GROUP_BYTES(2) - 4, 1, MEMCAST_U32,
				       MEMCAST_ADD),
		      "# bytes at # share some with the group's own # at #");
	/* an all-reduce of 0 elements waits for no rank */
	EXPECT_EQ(CUDA_SUCCESS, memcastAllReduce(&group, 0, 0, MEMCAST_F32, MEMCAST_ADD));

	/* arrays that end where the group's flags begin, and begin where they end */
	EXPECT_EQ(CUDA_SUCCESS, memcastGroupInit(&group, &view, 128, 0, 1));
	EXPECT_EQ(CUDA_SUCCESS, memcastAllReduce(&group, 0, 32, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_EQ(CUDA_SUCCESS, memcastAllReduce(&group, 128 + MEMCAST_GROUP_BYTES(1), 1,
						 MEMCAST_U32, MEMCAST_ADD));
}

TEST_HARNESS_MAIN
