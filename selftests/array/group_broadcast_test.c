// SPDX-License-Identifier: MIT
/*
 * Broadcasts of groups: from every replica, of all sizes, in turn with all-reduces. Where each rank
 * has a replica of its own, it writes and reads only that, and may go on before others are done.
 */
#include <string.h>

#include "group_fixture.h"

#define GUARD	0x5a

static unsigned char byte(unsigned int replica, size_t at, unsigned int round)
{
	return (unsigned char)(replica * 67 + at * 13 + at / 251 + round * 29);
}

static bool own(const struct memcast_group *group, unsigned int replica)
{
	return replica % group->ranks == group->rank;
}

/* Is @replica complete when this rank's call returns? All are, or its own if each rank has one. */
static bool done(const struct memcast_group *group, unsigned int replica)
{
	return group->ranks != group->view->replicas || replica == group->rank;
}

/* Makes one broadcast, between two guards. Return: false if a byte is not as it should be */
static bool one(struct memcast_group *group, unsigned int root, size_t offset, size_t bytes,
		unsigned int round)
{
	const struct memcast_view *view = group->view;
	unsigned int i;
	size_t k;

	for (i = 0; i < view->replicas; i++) {
		unsigned char *at = view->replica[i] + offset;

		if (!own(group, i))
			continue;
		memset(at - 64, GUARD, 64);
		memset(at + bytes, GUARD, 64);
		for (k = 0; k < bytes; k++)
			at[k] = byte(i, k, round);
	}
	if (memcastGroupBroadcast(group, root, offset, bytes))
		return false;
	for (i = 0; i < view->replicas; i++) {
		const unsigned char *at = view->replica[i] + offset;

		if (!done(group, i))
			continue;
		for (k = 0; k < bytes; k++)
			if (at[k] != byte(root, k, round))
				return false;
		for (k = 0; k < 64; k++)
			if (at[-1 - (long)k] != GUARD || at[bytes + k] != GUARD)
				return false;
	}
	return true;
}

/* Ranks wait for each other before they write again, unless each has a replica of its own. */
static void part(struct memcast_group *group)
{
	if (group->ranks != group->view->replicas)
		memcastBarrier(group);
}

static int of_all_sizes(struct memcast_group *group, uint32_t *count)
{
	static const size_t sizes[] = {
		1, 7, 8, 55, 56, 57, 64, 100, 447, 448, 449, 1000, 4095, 4096, 8200, 70001, 400000,
	};
	const struct memcast_view *view = group->view;
	unsigned int n, round;

	(void)count;
	for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++)
		for (round = 0; round < 6; round++) {
			if (!one(group, round % view->replicas, 64 + 5 * n, sizes[n], round))
				return 1;
			part(group);
		}
	return 0;
}

TEST_F(group, broadcast)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, of_all_sizes));
}

TEST_F(group, broadcast_past_the_caches)
{
	ASSERT_EQ(0, setenv("MEMCAST_STREAM", "20000", 1));
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, of_all_sizes));
}

/* So many calls in a row that a rank often posts again before others have read its last post. */
static int in_a_row(struct memcast_group *group, uint32_t *count)
{
	const struct memcast_view *view = group->view;
	uint32_t *numbers = (void *)(view->replica[group->rank % view->replicas] + 4096);
	unsigned int round;

	(void)count;
	for (round = 0; round < 6000 / group->ranks; round++) {
		if (!one(group, round / 3 % view->replicas, 64, 8 + round % 2 * 100, round))
			return 1;
		part(group);
		if (round % 5 > 1 || group->ranks != view->replicas)
			continue;
		numbers[0] = round + group->rank;
		if (memcastAllReduce(group, 4096, 1, MEMCAST_U32, MEMCAST_MAX) ||
		    numbers[0] != round + group->ranks - 1)
			return 1;
	}
	return 0;
}

TEST_F(group, broadcasts_in_a_row)
{
	EXPECT_EQ(0, run(&self->view, variant->ranks, self->count, in_a_row));
}

TEST(broadcast_refusals)
{
	static unsigned char memory[2][MEMCAST_GROUP_BYTES(2) + 128] __attribute__((aligned(64)));
	struct memcast_view view = {
		.replicas = 2, .bytes = sizeof(memory[0]), .replica = { memory[0], memory[1] },
	};
	struct memcast_group group;

	ASSERT_EQ(CUDA_SUCCESS, memcastGroupInit(&group, &view, 128, 0, 2));
	EXPECT_REASON(memcastGroupBroadcast(NULL, 0, 0, 1), "NULL group");
	EXPECT_REASON(memcastGroupBroadcast(&group, 2, 0, 1), "root #: there are # replicas");
	EXPECT_REASON(memcastGroupBroadcast(&group, 0, view.bytes, 1),
		      "# elements of # bytes at # are not inside the view's # bytes");
	EXPECT_REASON(memcastGroupBroadcast(&group, 0, SIZE_MAX, 2),
		      "# elements of # bytes at # are not inside the view's # bytes");
	/* over the group's flags, which begin at 128: no rank would ever see another's post */
	EXPECT_REASON(memcastGroupBroadcast(&group, 0, 0, 129),
		      "# bytes at # share some with the group's own # at #");
	EXPECT_REASON(memcastGroupBroadcast(&group, 0, 128 + MEMCAST_GROUP_BYTES(2) - 1, 1),
		      "# bytes at # share some with the group's own # at #");
	EXPECT_EQ(0, group.epoch);
	/* a broadcast of 0 bytes waits for no rank */
	EXPECT_EQ(CUDA_SUCCESS, memcastGroupBroadcast(&group, 1, 0, 0));
}

TEST_HARNESS_MAIN
