// SPDX-License-Identifier: MIT
/* Bindings: which memory may be bound where, unbinding, and ends of memories. */
#include <signal.h>
#include <memcast/view.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

/* A team of devices 0 and 1, four chunks; memories of four chunks on 0, 1, 2 */
FIXTURE(bind)
{
	CUmemGenericAllocationHandle team, memory[3];
	struct memcast_view view;
};

FIXTURE_SETUP(bind)
{
	int i;

	cuda_start(0);
	self->team = complete_team(2, 4 * CHUNK);
	for (i = 0; i < 3; i++)
		self->memory[i] = new_memory(i, 4 * CHUNK);
	ASSERT_OK(memcastViewCreate(&self->view, self->team, 0, 4 * CHUNK));
}
NOTHING_LEFT(bind)

#define BIND(to, i, from, n)						\
	cuMulticastBindMem(self->team, (to) * CHUNK, self->memory[i],	\
			   (from) * CHUNK, (n) * CHUNK, 0)
#define UNBIND(device, at, n)						\
	cuMulticastUnbind(self->team, device, (at) * CHUNK, (n) * CHUNK)
#define REPLICA(i, chunk)	((void *)(self->view.replica[i] + (chunk) * CHUNK))
#define LOAD(i, chunk)		try_load(REPLICA(i, chunk), NULL)

static volatile uint32_t *word(void *at)
{
	return at;
}

TEST_F(bind, shows_the_memory)
{
	volatile uint32_t *at = mapped(self->memory[1], 4 * CHUNK, 1);

	at[2 * CHUNK / 4] = 22;
	at[3 * CHUNK / 4] = 33;
	EXPECT_OK(BIND(1, 1, 2, 2));
	EXPECT_EQ(22, *word(REPLICA(1, 1)));
	EXPECT_EQ(33, *word(REPLICA(1, 2)));
	*word(REPLICA(1, 2)) = 44;
	EXPECT_EQ(44, at[3 * CHUNK / 4]);
	EXPECT_EQ(SIGBUS, LOAD(1, 0));
	EXPECT_EQ(SIGBUS, LOAD(1, 3));
	EXPECT_EQ(SIGBUS, LOAD(0, 1));
}

TEST_F(bind, misaligned)
{
	EXPECT_REASON(cuMulticastBindMem(self->team, 4096, self->memory[0], 0, CHUNK, 0),
		      "team offset # is not a multiple of the granularity #");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, self->memory[0], 4096, CHUNK, 0),
		      "memory offset # is not a multiple of the granularity #");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, self->memory[0], 0, 4096, 0),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, self->memory[0], 0, 0, 0), "the size is #");
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
}

TEST_F(bind, out_of_range)
{
	EXPECT_REASON(BIND(0, 0, 0, 5), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND(3, 0, 0, 2), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND(4, 0, 0, 1), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND(0, 0, 3, 2), "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(BIND(0, 0, 4, 1), "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(BIND(1, 0, 0, -1UL), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND(-1UL, 0, 0, 2), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND(0, 0, -1UL, 2), "# bytes from # are outside the memory of # bytes");
	EXPECT_REASON(BIND(1UL << 42, 0, 0, 1), "# bytes from # are outside the team of # bytes");
	EXPECT_EQ(SIGBUS, LOAD(0, 3));
}

TEST_F(bind, handles_and_flags)
{
	EXPECT_REASON(cuMulticastBindMem(12345, 0, self->memory[0], 0, CHUNK, 0),
		      "no handle #: never given out, or released");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, 12345, 0, CHUNK, 0),
		      "no handle #: never given out, or released");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, self->memory[0], 0, CHUNK, 1),
		      "flags must be #");
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, self->memory[0], 0, CHUNK, 1ULL << 32),
		      "flags must be #");
	EXPECT_REASON(cuMulticastBindAddr(self->team, 0, reserve(CHUNK), CHUNK, 1),
		      "flags must be #");
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
}

TEST_F(bind, device_not_in_the_team)
{
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, BIND(0, 2, 0, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, UNBIND(2, 0, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, UNBIND(99, 0, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, UNBIND(-1, 0, 1));
}

TEST_F(bind, explicit_device)
{
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindMem_v2(self->team, 1, 0, self->memory[0], 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindMem_v2(self->team, 99, 0, self->memory[0], 0, CHUNK, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindMem_v2(self->team, -1, 0, self->memory[0], 0, CHUNK, 0));
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	EXPECT_OK(cuMulticastBindMem_v2(self->team, 0, 0, self->memory[0], 0, CHUNK, 0));
	EXPECT_EQ(0, LOAD(0, 0));
}

TEST_F(bind, overlap)
{
	EXPECT_OK(BIND(1, 0, 0, 2));
	EXPECT_REASON(BIND(1, 0, 0, 2), "the range overlaps a binding of device #");
	EXPECT_REASON(BIND(0, 0, 0, 2), "the range overlaps a binding of device #");
	EXPECT_REASON(BIND(2, 0, 2, 2), "the range overlaps a binding of device #");
	EXPECT_REASON(BIND(0, 0, 0, 4),
		      "the range overlaps a binding of device #: memory # is bound from byte "
		      "# to #, and this process added the device");
	/* the other member's places are its own; the same memory may be bound at two places */
	EXPECT_OK(BIND(1, 1, 0, 2));
	EXPECT_OK(BIND(0, 0, 0, 1));
	EXPECT_OK(BIND(3, 0, 3, 1));
}

TEST_F(bind, private_memory_to_shareable_team)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle private;
	CUmulticastObjectProp team_prop = { .numDevices = 2, .size = CHUNK };
	CUmemGenericAllocationHandle private_team;

	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	ASSERT_OK(cuMemCreate(&private, CHUNK, &prop, 0));
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, private, 0, CHUNK, 0),
		      "a shareable team takes only shareable memory:");

	ASSERT_OK(cuMulticastCreate(&private_team, &team_prop));
	ASSERT_OK(cuMulticastAddDevice(private_team, 0));
	ASSERT_OK(cuMulticastAddDevice(private_team, 1));
	EXPECT_OK(cuMulticastBindMem(private_team, 0, private, 0, CHUNK, 0));
}

/* Memory for the tiles of arrays has no addresses, so no team shows it. */
TEST_F(bind, memory_for_tiles)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle tiles;

	prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
	ASSERT_OK(cuMemCreate(&tiles, CHUNK, &prop, 0));
	EXPECT_REASON(cuMulticastBindMem(self->team, 0, tiles, 0, CHUNK, 0),
		      "the memory is for the tiles of arrays alone");
}

TEST_F(bind, unbind)
{
	ASSERT_OK(BIND(0, 0, 0, 1));
	ASSERT_OK(BIND(1, 0, 1, 2));
	ASSERT_OK(BIND(3, 0, 3, 1));
	ASSERT_OK(BIND(0, 1, 0, 4));
	EXPECT_REASON(UNBIND(0, 1, 1), "only a part of the binding of # bytes at # of device #");
	EXPECT_REASON(UNBIND(0, 0, 2), "only a part of the binding of # bytes at # of device #");
	EXPECT_REASON(UNBIND(0, 2, 2), "only a part of the binding of # bytes at # of device #");
	EXPECT_REASON(UNBIND(0, 0, 0), "the size is #");
	EXPECT_REASON(UNBIND(0, 0, 5), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(UNBIND(0, -1UL, 2), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(cuMulticastUnbind(self->team, 0, 4096, CHUNK),
		      "team offset # is not a multiple of the granularity #");
	EXPECT_REASON(cuMulticastUnbind(12345, 0, 0, CHUNK),
		      "no handle #: never given out, or released");
	EXPECT_EQ(0, LOAD(0, 0));
	EXPECT_EQ(0, LOAD(0, 2));
	EXPECT_OK(UNBIND(0, 0, 3));			/* several whole bindings */
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	EXPECT_EQ(SIGBUS, LOAD(0, 1));
	EXPECT_EQ(SIGBUS, LOAD(0, 2));
	EXPECT_EQ(0, LOAD(0, 3));
	EXPECT_EQ(0, LOAD(1, 0));			/* other bindings stay */
	EXPECT_REASON(UNBIND(0, 0, 3),
		      "nothing of device # is bound at # any more: this process unbound it");
	EXPECT_REASON(UNBIND(0, 0, 4), "nothing of device # is bound at # any more");
	EXPECT_OK(BIND(0, 0, 0, 3));
	EXPECT_EQ(0, LOAD(0, 2));
}

/* A binding does not keep its memory: it ends with the memory's last user. */
TEST_F(bind, ends_with_its_memory)
{
	size_t before = device_bytes(0, "free_bytes");

	ASSERT_OK(BIND(0, 0, 0, 4));
	EXPECT_EQ(0, LOAD(0, 0));
	EXPECT_OK(cuMemRelease(self->memory[0]));
	EXPECT_EQ(before + 4 * CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	EXPECT_REASON(UNBIND(0, 0, 4), "nothing of device # is bound at # any more: "
				       "its last owner, this process, has released it");
	/* the place is free again */
	self->memory[0] = new_memory(0, 4 * CHUNK);
	EXPECT_OK(BIND(0, 0, 0, 4));
	EXPECT_EQ(0, LOAD(0, 3));
}

#define EXPECT_UNBOUND(i, chunk, words)							\
({											\
	char said_[256] = "";								\
	struct memcast_address_check check_ = {						\
		.header = { .reason_size = sizeof(said_), .reason = (uintptr_t)said_ },	\
		.address = ADDRESS(REPLICA(i, chunk)),					\
	};										\
											\
	EXPECT_EQ(EFAULT, RAW(raw_library_fd(), ADDRESS_CHECK, check_));		\
	EXPECT_SAYS(said_, words);							\
})

/* Adjacent losses of a member count as one; of others the last is known. */
TEST_F(bind, says_what_was_lost)
{
	for (int i = 0; i < 6; i++)
		ASSERT_OK(BIND(i / 2, i % 2, i / 2, 1));
	ASSERT_OK(UNBIND(0, 0, 1));
	ASSERT_OK(UNBIND(0, 2, 1));
	EXPECT_UNBOUND(0, 2, "any more: this process unbound it");
	EXPECT_UNBOUND(0, 0, ": not bound yet, or no more");
	for (int i = 0; i < 3; i++)	/* 1, then 2, then 0 */
		ASSERT_OK(UNBIND(1, (i + 1) % 3, 1));
	for (int i = 0; i < 3; i++)
		EXPECT_UNBOUND(1, i, "any more: this process unbound it");
	EXPECT_UNBOUND(1, 3, " yet: cuMulticastBindMem() binds some");
}

static int check_whole(const void *address)
{
	struct memcast_address_check check = {
		.address = (uintptr_t)address, .flags = MEMCAST_CHECK_WHOLE,
	};

	return RAW(raw_library_fd(), ADDRESS_CHECK, check);
}

/* Of a window, any member's gap counts, wherever the address is. */
TEST_F(bind, gaps_in_a_mapping)
{
	void *window = (void *)mapped(self->team, 4 * CHUNK, 0);

	ASSERT_OK(BIND(0, 0, 0, 2));
	ASSERT_OK(BIND(0, 1, 0, 4));
	EXPECT_EQ(EFAULT, check_whole(REPLICA(0, 0)));
	EXPECT_EQ(0, check_whole(REPLICA(1, 3)));
	EXPECT_EQ(EFAULT, check_whole(window));
	ASSERT_OK(BIND(2, 0, 2, 2));
	EXPECT_EQ(0, check_whole(REPLICA(0, 0)));
	EXPECT_EQ(0, check_whole(window));
}

TEST_F(bind, lives_with_a_mapping_of_its_memory)
{
	volatile uint32_t *at = mapped(self->memory[0], 4 * CHUNK, 0);

	ASSERT_OK(BIND(0, 0, 0, 4));
	EXPECT_OK(cuMemRelease(self->memory[0]));
	*word(REPLICA(0, 1)) = 7;
	EXPECT_EQ(7, at[CHUNK / 4]);
	EXPECT_OK(cuMemUnmap(ADDRESS(at), 4 * CHUNK));
	EXPECT_EQ(SIGBUS, LOAD(0, 1));
}

TEST_F(bind, memory_in_two_teams)
{
	CUmemGenericAllocationHandle other = complete_team(2, CHUNK);
	struct memcast_view view;

	ASSERT_OK(memcastViewCreate(&view, other, 0, CHUNK));
	ASSERT_OK(BIND(0, 0, 0, 1));
	ASSERT_OK(cuMulticastBindMem(other, 0, self->memory[0], 0, CHUNK, 0));
	*word(view.replica[0]) = 5;
	EXPECT_EQ(5, *word(REPLICA(0, 0)));
	EXPECT_OK(cuMulticastUnbind(other, 0, 0, CHUNK));
	EXPECT_EQ(SIGBUS, try_load(view.replica[0], NULL));
	EXPECT_EQ(0, LOAD(0, 0));
	ASSERT_OK(cuMulticastBindMem(other, 0, self->memory[0], 0, CHUNK, 0));
	EXPECT_OK(cuMemRelease(self->memory[0]));
	EXPECT_EQ(SIGBUS, try_load(view.replica[0], NULL));
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
}

/* ---- by address ---- */

#define BIND_AT(to, at, n)	\
	cuMulticastBindAddr(self->team, (to) * CHUNK, at, (n) * CHUNK, 0)

TEST_F(bind, address_over_adjacent_mappings)
{
	CUmemGenericAllocationHandle more = new_memory(0, 2 * CHUNK);
	CUdeviceptr at = reserve(8 * CHUNK);
	volatile uint32_t *words = (volatile uint32_t *)at, *window;

	ASSERT_OK(cuMemMap(at, 4 * CHUNK, 0, self->memory[0], 0));
	ASSERT_OK(cuMemMap(at + 4 * CHUNK, 2 * CHUNK, 0, more, 0));
	ASSERT_OK(allow(at, 6 * CHUNK, 0, READWRITE));
	words[3 * CHUNK / 4] = 11;
	words[4 * CHUNK / 4] = 22;
	EXPECT_REASON(BIND_AT(0, at + 4 * CHUNK, 3), "no memory is mapped at #");
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	/* the window shows the second member until the first is bound there, in each chunk */
	window = mapped(self->team, 4 * CHUNK, 0);
	ASSERT_OK(BIND(0, 1, 0, 4));
	EXPECT_EQ(0, window[CHUNK / 4] | window[2 * CHUNK / 4]);
	EXPECT_OK(BIND_AT(1, at + 3 * CHUNK, 2));
	EXPECT_EQ(11, *word(REPLICA(0, 1)));
	EXPECT_EQ(22, *word(REPLICA(0, 2)));
	EXPECT_EQ(11, window[CHUNK / 4]);
	EXPECT_EQ(22, window[2 * CHUNK / 4]);
	EXPECT_REASON(BIND_AT(2, at, 1), "the range overlaps a binding of device #");
	EXPECT_OK(UNBIND(0, 1, 2));
}

TEST_F(bind, address_arguments)
{
	CUdeviceptr at = ADDRESS(mapped(self->memory[0], 4 * CHUNK, 0));
	CUdeviceptr window = reserve(CHUNK);
	int local = 0;

	EXPECT_REASON(BIND_AT(0, ADDRESS(&local) & -CHUNK, 1), "# is not in a reservation");
	EXPECT_REASON(BIND_AT(0, at + 4096, 1), "address # is not a multiple of the granularity #");
	EXPECT_REASON(cuMulticastBindAddr(self->team, 0, at, 4096, 0),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(cuMulticastBindAddr(self->team, 4096, at, CHUNK, 0),
		      "team offset # is not a multiple of the granularity #");
	EXPECT_REASON(BIND_AT(0, reserve(CHUNK), 1), "no memory is mapped at #");
	EXPECT_REASON(BIND_AT(0, at, 5), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND_AT(4, at, 1), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND_AT(0, at, 0), "the size is #");
	EXPECT_REASON(BIND_AT(0, at, -1UL), "# bytes from # are outside the team of # bytes");
	EXPECT_REASON(BIND_AT(0, 0UL, 1), "# is not in a reservation");
	ASSERT_OK(cuMemMap(window, CHUNK, 0, self->team, 0));
	EXPECT_REASON(BIND_AT(0, window, 1), "no memory is mapped at #");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindAddr_v2(self->team, 1, 0, at, CHUNK, 0));
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	EXPECT_OK(cuMulticastBindAddr_v2(self->team, 0, 0, at, CHUNK, 0));
	EXPECT_EQ(0, LOAD(0, 0));
}

/* Memories of two devices that lie next to each other cannot be bound for one member. */
TEST_F(bind, address_over_two_devices)
{
	CUdeviceptr at = reserve(2 * CHUNK);

	ASSERT_OK(cuMemMap(at, CHUNK, 0, new_memory(0, CHUNK), 0));
	ASSERT_OK(cuMemMap(at + CHUNK, CHUNK, 0, new_memory(1, CHUNK), 0));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, BIND_AT(0, at, 2));
	EXPECT_EQ(SIGBUS, LOAD(0, 0));
	EXPECT_OK(BIND_AT(0, at, 1));
	EXPECT_OK(BIND_AT(0, at + CHUNK, 1));
}

TEST_HARNESS_MAIN
