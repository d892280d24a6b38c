// SPDX-License-Identifier: MIT
/* The dma-buf of a team: a store to it reaches every replica. */
#include <signal.h>

#include "staging_fixture.h"

TEST_F(staging, store_reaches_every_replica)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	at[PAGE + 5] = 2;
	at[CHUNK - 1] = 3;
	at[BYTES - 1] = 4;
	/* replicas change only at the end of the bracket */
	EXPECT_ALL(0, 0);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE + 5);
	EXPECT_ALL(3, CHUNK - 1);
	EXPECT_ALL(4, BYTES - 1);

	/* the first store of each bracket is noticed */
	sync_fd(self->fd, START | WR);
	at[0] = 5;
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(5, 0);

	/* a store without a new bracket is noticed as well */
	at[0] = 6;
	EXPECT_ALL(5, 0);
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(6, 0);
}

TEST_F(staging, reading_bracket_broadcasts_nothing)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RD);
	at[0] = 1;
	sync_fd(self->fd, END | RD);
	EXPECT_ALL(0, 0);
	/* the store is not lost */
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(1, at[0]);
	sync_fd(self->fd, END | WR);
	EXPECT_ALL(1, 0);
}

TEST_F(staging, reads_see_the_first_member)
{
	volatile char *at = map_fd_read_only(self->fd, BYTES);

	self->replica[0][PAGE] = 1;
	self->replica[1][PAGE] = 2;
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(1, at[PAGE]);
	sync_fd(self->fd, END | RD);

	/* the next bracket shows what another wrote to the replica */
	self->replica[0][PAGE] = 3;
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(3, at[PAGE]);
	sync_fd(self->fd, END | RD);

	ASSERT_OK(cuMulticastUnbind(self->team, 0, 0, BYTES));
	sync_fd(self->fd, START | RD);
	EXPECT_EQ(2, at[PAGE]);
	sync_fd(self->fd, END | RD);
	EXPECT_EQ(SIGSEGV, try_store(at, 1));
}

/* Pages that were not stored to keep what others wrote to the replicas meanwhile. */
TEST_F(staging, clean_pages_overwrite_nothing)
{
	volatile char *at = map_fd(self->fd, BYTES);
	char sum = 0;

	sync_fd(self->fd, START | RW);
	for (size_t i = 0; i < BYTES; i += PAGE)
		sum += at[i];
	at[3 * PAGE] = 1;
	for (int i = 0; i < DEVICES; i++) {
		self->replica[i][2 * PAGE] = 20 + i;
		self->replica[i][4 * PAGE] = 40 + i;
		self->replica[i][CHUNK] = 60 + i;
	}
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(0, sum);
	EXPECT_ALL(1, 3 * PAGE);
	EXPECT_ALL(20 + _i, 2 * PAGE);
	EXPECT_ALL(40 + _i, 4 * PAGE);
	EXPECT_ALL(60 + _i, CHUNK);
}

/* Stores are not compared: a value that one replica has already still goes to the others. */
TEST_F(staging, same_value_is_a_store_too)
{
	volatile char *at = map_fd(self->fd, BYTES);

	for (int i = 0; i < DEVICES; i++)
		self->replica[i][7] = i;
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(0, at[7]);
	at[7] = 0;
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(0, 7);
}

TEST_F(staging, two_writers_on_different_pages)
{
	volatile char *at = map_fd(self->fd, BYTES), *other = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	sync_fd(self->fd, START | RW);
	at[0] = 1;
	other[PAGE] = 2;
	/* both mappings share the pages */
	EXPECT_EQ(1, other[0]);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE);
	other[2 * PAGE] = 3;
	EXPECT_ALL(0, 2 * PAGE);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(3, 2 * PAGE);
}

/* Each fd that was exported by a call of its own has pages of its own. */
TEST_F(staging, fds_are_independent)
{
	int other_fd = exported(self->team);
	volatile char *at = map_fd(self->fd, BYTES), *other = map_fd(other_fd, BYTES);

	sync_fd(self->fd, START | RW);
	sync_fd(other_fd, START | RW);
	at[0] = 1;
	other[PAGE] = 2;
	EXPECT_EQ(0, other[0]);
	sync_fd(self->fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(0, PAGE);
	sync_fd(other_fd, END | RW);
	EXPECT_ALL(1, 0);
	EXPECT_ALL(2, PAGE);
	/* both fds give the team */
	ASSERT_OK(cuMemRelease(imported(self->fd)));
	ASSERT_OK(cuMemRelease(imported(other_fd)));
}

TEST_F(staging, partly_bound)
{
	volatile char *at = map_fd(self->fd, BYTES);

	/* the second chunk is bound for device 2 alone, the first for none */
	for (int i = 0; i < DEVICES; i++)
		ASSERT_OK(cuMulticastUnbind(self->team, i, 0, BYTES));
	ASSERT_OK(cuMulticastBindMem(self->team, CHUNK, self->own[2], 0, CHUNK, 0));
	self->replica[2][1] = 9;
	self->replica[0][1] = 8;
	sync_fd(self->fd, START | RW);
	EXPECT_EQ(0, at[1]);
	EXPECT_EQ(9, at[CHUNK + 1]);
	at[2] = 1;
	at[CHUNK + 2] = 2;
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(2, self->replica[2][2]);
	EXPECT_EQ(0, self->replica[0][2]);
	EXPECT_EQ(0, self->replica[2][CHUNK + 2]);

	/* the store is gone for good: a later binding does not get it */
	ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[0], 0, CHUNK, 0));
	sync_fd(self->fd, START | RW);
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(0, self->replica[0][2]);
	EXPECT_EQ(8, at[1]);
}

TEST_F(staging, bindings_change_within_a_bracket)
{
	volatile char *at = map_fd(self->fd, BYTES);

	sync_fd(self->fd, START | RW);
	at[0] = 1;
	ASSERT_OK(cuMulticastUnbind(self->team, 1, 0, BYTES));
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(1, self->replica[0][0]);
	EXPECT_EQ(0, self->replica[1][0]);
	EXPECT_EQ(1, self->replica[2][0]);

	sync_fd(self->fd, START | RW);
	at[0] = 2;
	ASSERT_OK(cuMulticastBindMem(self->team, 0, self->own[1], 0, BYTES, 0));
	/* a memory ends, and its binding with it */
	ASSERT_OK(cuMemUnmap(ADDRESS(self->replica[0]), BYTES));
	ASSERT_OK(cuMemRelease(self->own[0]));
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(2, self->replica[1][0]);
	EXPECT_EQ(2, self->replica[2][0]);
}

TEST_F(staging, host_memory)
{
	CUmemAllocationProp prop = memory_on(0);
	volatile char *at = map_fd(self->fd, BYTES), *host;
	CUmemGenericAllocationHandle own;
	int node = -1;

	ASSERT_OK(cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1));
	prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	prop.location.id = node;
	ASSERT_OK(cuMemCreate(&own, BYTES, &prop, 0));
	host = (volatile char *)mapped(own, BYTES, 1);
	ASSERT_OK(cuMulticastUnbind(self->team, 1, 0, BYTES));
	ASSERT_OK(cuMulticastBindMem_v2(self->team, 1, 0, own, 0, BYTES, 0));
	sync_fd(self->fd, START | RW);
	at[CHUNK + 77] = 7;
	sync_fd(self->fd, END | RW);
	EXPECT_EQ(7, self->replica[0][CHUNK + 77]);
	EXPECT_EQ(7, host[CHUNK + 77]);
}

TEST_HARNESS_MAIN
