// SPDX-License-Identifier: MIT
/* A mapped team: the window, replicas, and which contents show in them when. */
#include <signal.h>
#include <sys/mman.h>
#include <memcast/view.h>
#include "memcast_test.h"
#include "reason.h"

/* A team that devices 2, 0, 1 joined in this order; three chunks, all mapped */
FIXTURE(window)
{
	CUmemGenericAllocationHandle team, memory[3];
	volatile uint32_t *plain[3], *window;
	struct memcast_view view;
};

FIXTURE_SETUP(window)
{
	uint32_t i;

	cuda_start(0);
	self->team = new_team(3, 3 * CHUNK);
	ASSERT_OK(cuMulticastAddDevice(self->team, 2));
	ASSERT_OK(cuMulticastAddDevice(self->team, 0));
	ASSERT_OK(cuMulticastAddDevice(self->team, 1));
	for (i = 0; i < 3; i++) {
		self->memory[i] = new_memory(i, CHUNK);
		self->plain[i] = mapped(self->memory[i], CHUNK, i);
		*self->plain[i] = 100 + i;
	}
	self->window = mapped(self->team, 3 * CHUNK, 0);
	ASSERT_OK(memcastViewCreate(&self->view, self->team, 0, 3 * CHUNK));
}
NOTHING_LEFT(window)

#define BIND(device)	\
	cuMulticastBindMem(self->team, 0, self->memory[device], 0, CHUNK, 0)
#define UNBIND(device)	cuMulticastUnbind(self->team, device, 0, CHUNK)

/* Loads come from the first bound member in the order of joining, whenever it was bound. */
TEST_F(window, loads_from_the_first_bound_member)
{
	EXPECT_EQ(SIGBUS, try_load(self->window, NULL));
	ASSERT_OK(BIND(1));
	EXPECT_EQ(101, *self->window);
	ASSERT_OK(BIND(0));
	EXPECT_EQ(100, *self->window);
	ASSERT_OK(BIND(2));
	EXPECT_EQ(102, *self->window);
	ASSERT_OK(UNBIND(2));
	EXPECT_EQ(100, *self->window);
	ASSERT_OK(UNBIND(0));
	EXPECT_EQ(101, *self->window);
	ASSERT_OK(UNBIND(1));
	EXPECT_EQ(SIGBUS, try_load(self->window, NULL));
}

TEST_F(window, stores_trap)
{
	ASSERT_OK(BIND(2));
	EXPECT_EQ(SIGSEGV, try_store(self->window, 1));
	EXPECT_EQ(102, *self->window);
	EXPECT_EQ(SIGSEGV, try_store(self->window, 1));
	EXPECT_EQ(102, *self->plain[2]);
	/* the entry that the load made does not let a store through elsewhere in the chunk */
	EXPECT_EQ(SIGSEGV, try_store(self->window + CHUNK / 8, 1));
}

TEST_F(window, unbound_parts_fault)
{
	ASSERT_OK(BIND(2));
	EXPECT_EQ(0, try_load(self->window + CHUNK / 4 - 1, NULL));
	EXPECT_EQ(SIGBUS, try_load(self->window + CHUNK / 4, NULL));
	EXPECT_EQ(SIGBUS, try_load(self->window + 3 * CHUNK / 4 - 1, NULL));
}

/* The first member's memory ends with its last handle and mapping, without an unbind. */
TEST_F(window, falls_back_when_memory_ends)
{
	ASSERT_OK(BIND(2));
	ASSERT_OK(BIND(1));
	EXPECT_EQ(102, *self->window);
	ASSERT_OK(cuMemRelease(self->memory[2]));
	EXPECT_EQ(102, *self->window);
	ASSERT_OK(cuMemUnmap(ADDRESS(self->plain[2]), CHUNK));
	EXPECT_EQ(101, *self->window);
}

TEST_F(window, replicas_in_order_of_joining)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		ASSERT_OK(BIND(i));
	EXPECT_EQ(3, self->view.replicas);
	EXPECT_EQ(3 * CHUNK, self->view.bytes);
	EXPECT_EQ(102, *(uint32_t *)(void *)self->view.replica[0]);
	EXPECT_EQ(100, *(uint32_t *)(void *)self->view.replica[1]);
	EXPECT_EQ(101, *(uint32_t *)(void *)self->view.replica[2]);
	*(volatile uint32_t *)(void *)self->view.replica[0] = 7;
	EXPECT_EQ(7, *self->plain[2]);
	EXPECT_EQ(100, *self->plain[0]);
	EXPECT_EQ(7, *self->window);
}

TEST_F(window, view_arguments)
{
	struct memcast_view view;

	EXPECT_REASON(memcastViewCreate(NULL, self->team, 0, CHUNK), "NULL output");
	EXPECT_REASON(memcastViewCreate(&view, self->memory[0], 0, CHUNK), "not a team");
	EXPECT_REASON(memcastViewCreate(&view, 12345, 0, CHUNK), "no handle #: never given out,");
	EXPECT_REASON(memcastViewCreate(&view, self->team, 0, 4 * CHUNK), "# bytes at # are not");
	EXPECT_REASON(memcastViewCreate(&view, self->team, 3 * CHUNK, CHUNK),
		      "# bytes at # are not inside the team's #");
	EXPECT_REASON(memcastViewCreate(&view, self->team, 4096, CHUNK), "object offset # is not");
	EXPECT_REASON(memcastViewCreate(&view, self->team, 0, 4096), "size # is not a multiple of");
	EXPECT_REASON(memcastViewCreate(&view, self->team, 0, 0), "# bytes at # are not inside");
	EXPECT_REASON(memcastViewDestroy(NULL), "NULL view");
	ASSERT_OK(memcastViewCreate(&view, self->team, CHUNK, CHUNK));
	ASSERT_OK(memcastViewDestroy(&view));
}

/* A view of a part of a team whose handle is gone */
TEST_F(window, view_of_a_part)
{
	struct memcast_view view;

	ASSERT_OK(cuMulticastBindMem(self->team, CHUNK, self->memory[2], 0, CHUNK, 0));
	ASSERT_OK(memcastViewCreate(&view, self->team, CHUNK, CHUNK));
	ASSERT_OK(cuMemRelease(self->team));
	EXPECT_EQ(102, *(uint32_t *)(void *)view.replica[0]);
	EXPECT_EQ(SIGBUS, try_load(view.replica[1], NULL));
	EXPECT_OK(memcastViewDestroy(&view));
	EXPECT_EQ(102, self->window[CHUNK / 4]);
}

TEST_F(window, access_only_for_members)
{
	CUmemGenericAllocationHandle two = complete_team(2, CHUNK);
	CUdeviceptr at = reserve(CHUNK);

	ASSERT_OK(cuMemMap(at, CHUNK, 0, two, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, allow(at, CHUNK, 2, READWRITE));
	EXPECT_OK(allow(at, CHUNK, 1, READWRITE));
}

TEST_F(window, retain_gives_the_team)
{
	CUmemGenericAllocationHandle found = 0;

	EXPECT_OK(cuMemRetainAllocationHandle(&found, (char *)self->window + 99));
	EXPECT_EQ(self->team, found);
	EXPECT_OK(cuMemRelease(found));
	EXPECT_OK(cuMemRelease(self->team));
	EXPECT_REASON(cuMulticastUnbind(self->team, 0, 0, CHUNK), "nothing of device # is bound");
	EXPECT_OK(cuMemRetainAllocationHandle(&found, (void *)self->window));
	EXPECT_OK(cuMulticastBindMem(found, 0, self->memory[2], 0, CHUNK, 0));
	EXPECT_EQ(102, *self->window);
}

/* Unmapping one mapping or changing its access does not affect the other. */
TEST_F(window, mapped_twice)
{
	volatile uint32_t *other = mapped(self->team, 3 * CHUNK, 0);

	ASSERT_OK(BIND(2));
	EXPECT_EQ(102, *other);
	EXPECT_EQ(102, *self->window);
	ASSERT_OK(allow(ADDRESS(other), 3 * CHUNK, 0, NONE));
	EXPECT_EQ(SIGSEGV, try_load(other, NULL));
	EXPECT_EQ(102, *self->window);
	ASSERT_OK(allow(ADDRESS(other), 3 * CHUNK, 0, READ));
	EXPECT_EQ(102, *other);
	ASSERT_OK(cuMemUnmap(ADDRESS(self->window), 3 * CHUNK));
	ASSERT_OK(BIND(0));
	ASSERT_OK(UNBIND(2));
	EXPECT_EQ(100, *other);
	EXPECT_EQ(SIGSEGV, try_load(self->window, NULL));
}

/*
 * The program's own munmap() takes a window along; the next window at that place has its own view.
 */
TEST_F(window, place_used_again)
{
	CUmemGenericAllocationHandle other = complete_team(2, 3 * CHUNK);
	CUdeviceptr at = ADDRESS(self->window), again;
	const struct memcast_view *view;
	size_t offset;

	ASSERT_NE(NULL, memcastViewAt(at + CHUNK, &offset));
	ASSERT_EQ(0, munmap((void *)self->window, 3 * CHUNK));
	ASSERT_OK(cuMemAddressReserve(&again, 3 * CHUNK, 0, at, 0));
	if (again != at)
		SKIP(return, "the place is taken");
	ASSERT_OK(cuMemMap(at + CHUNK, CHUNK, 0, other, 0));
	ASSERT_OK(allow(at + CHUNK, CHUNK, 0, READWRITE));
	view = memcastViewAt(at + CHUNK + 8, &offset);
	ASSERT_NE(NULL, view);
	EXPECT_EQ(2, view->replicas);
	EXPECT_EQ(CHUNK, view->bytes);
	EXPECT_EQ(8, offset);
	EXPECT_EQ(NULL, memcastViewAt(at, &offset));
}

#define LEAF	(1UL << 30)	/* the tree of windows has a leaf for each GiB of addresses */

/* A call for a range of addresses finds the windows in it, behind other mappings as well. */
TEST_F(window, behind_other_mappings)
{
	CUdeviceptr start = reserve(3 * LEAF), border = (start + 2 * LEAF - 1) & -LEAF;
	size_t offset;
	int i;

	/* the leaf below the border has no window; above, one comes after another mapping */
	for (i = -1; i < 1; i++)
		ASSERT_OK(cuMemMap(border + i * CHUNK, CHUNK, 0, self->memory[0], 0));
	ASSERT_OK(cuMemMap(border + CHUNK, CHUNK, 0, self->team, 0));
	ASSERT_OK(allow(border - CHUNK, 3 * CHUNK, 0, READWRITE));
	ASSERT_NE(NULL, memcastViewAt(border + CHUNK, &offset));
	ASSERT_OK(cuMemUnmap(border - CHUNK, 3 * CHUNK));
	EXPECT_EQ(NULL, memcastViewAt(border + CHUNK, &offset));
}

TEST_HARNESS_MAIN
