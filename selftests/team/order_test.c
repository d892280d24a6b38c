// SPDX-License-Identifier: MIT
/* The orders in which real clients release and unmap things: all of them work. */
#include <signal.h>
#include "memcast_test.h"

FIXTURE(order)
{
	CUmemGenericAllocationHandle team, memory[2];
	CUdeviceptr window, plain;
};

FIXTURE_SETUP(order)
{
	int i;

	cuda_start(0);
	self->team = complete_team(2, CHUNK);
	self->window = ADDRESS(mapped(self->team, CHUNK, 0));
	for (i = 0; i < 2; i++)
		self->memory[i] = new_bound(self->team, i, CHUNK);
	self->plain = ADDRESS(mapped(self->memory[0], CHUNK, 0));
	*(volatile uint32_t *)self->plain = 5;
	ASSERT_EQ(5, *(volatile uint32_t *)self->window);
}
NOTHING_LEFT(order)

#define POOLS_FULL()	\
	(device_bytes(0, "free_bytes") == device_bytes(0, "pool_bytes") && \
	 device_bytes(1, "free_bytes") == device_bytes(1, "pool_bytes"))

#define UNMAP_BOTH()						\
	EXPECT_OK(cuMemUnmap(self->window, CHUNK));		\
	EXPECT_OK(cuMemAddressFree(self->window, CHUNK));	\
	EXPECT_OK(cuMemUnmap(self->plain, CHUNK));		\
	EXPECT_OK(cuMemAddressFree(self->plain, CHUNK))
#define UNBIND_BOTH()							\
	EXPECT_OK(cuMulticastUnbind(self->team, 0, 0, CHUNK));		\
	EXPECT_OK(cuMulticastUnbind(self->team, 1, 0, CHUNK))
#define RELEASE_MEMORIES()					\
	EXPECT_OK(cuMemRelease(self->memory[0]));		\
	EXPECT_OK(cuMemRelease(self->memory[1]))

TEST_F(order, unmap_unbind_release)
{
	UNMAP_BOTH();
	UNBIND_BOTH();
	RELEASE_MEMORIES();
	EXPECT_TRUE(POOLS_FULL());
	EXPECT_OK(cuMemRelease(self->team));
}

TEST_F(order, unbind_unmap_release)
{
	UNBIND_BOTH();
	UNMAP_BOTH();
	EXPECT_OK(cuMemRelease(self->team));
	RELEASE_MEMORIES();
	EXPECT_TRUE(POOLS_FULL());
}

TEST_F(order, no_unbind)
{
	EXPECT_OK(cuMemRelease(self->team));
	RELEASE_MEMORIES();
	EXPECT_EQ(5, *(volatile uint32_t *)self->window);
	UNMAP_BOTH();
	EXPECT_TRUE(POOLS_FULL());
	EXPECT_EQ(0, stat_of("teams"));
	EXPECT_EQ(0, stat_of("bindings"));
}

TEST_F(order, memory_before_team)
{
	RELEASE_MEMORIES();
	EXPECT_OK(cuMemUnmap(self->plain, CHUNK));
	EXPECT_TRUE(POOLS_FULL());
	EXPECT_EQ(SIGBUS, try_load((void *)self->window, NULL));
	EXPECT_EQ(0, stat_of("bindings"));
	EXPECT_EQ(1, stat_of("teams"));
}

TEST_F(order, nothing_is_taken_down)
{
}

TEST_HARNESS_MAIN
