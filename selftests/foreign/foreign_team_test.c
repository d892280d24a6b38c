// SPDX-License-Identifier: MIT
/* Foreign memory: bound to teams, and its lifetime. */
#include <memcast/multimem.h>
#include <signal.h>
#include <unistd.h>
#include "foreign_fixture.h"
#include "reason.h"

/* Binds the foreign memory as the first replica, memory of device 1 as the second. */
#define team_of(theirs, own, window)	team_of_(_metadata, theirs, own, window)
static CUmemGenericAllocationHandle
team_of_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle theirs,
	 uint8_t **own, CUdeviceptr *window)
{
	CUmemGenericAllocationHandle group = complete_team(2, SIZE), second = new_memory(1, SIZE);

	ASSERT_OK(cuMulticastBindMem_v2(group, 0, 0, theirs, 0, SIZE, 0));
	ASSERT_OK(cuMulticastBindMem(group, 0, second, 0, SIZE, 0));
	*own = (uint8_t *)mapped(second, SIZE, 1);
	*window = ADDRESS(mapped(group, SIZE, 0));
	return group;
}

TEST_F(foreign, bound)
{
	uint8_t *plain = patterned(_metadata, SIZE, 8), *own, *back = calloc(1, SIZE);
	CUmemGenericAllocationHandle group;
	struct memcast_view view;
	CUdeviceptr window;

	ASSERT_NE(NULL, back);
	group = team_of(imported(self->fd), &own, &window);
	ASSERT_OK(cuMemcpyHtoD(window, plain, SIZE));
	EXPECT_EQ(0, memcmp(plain, self->theirs, SIZE));
	EXPECT_EQ(0, memcmp(plain, own, SIZE));
	ASSERT_OK(cuMemsetD8(window + 3, 4, SIZE - 7));
	EXPECT_TRUE(all_are(self->theirs + 3, 4, SIZE - 7));
	EXPECT_TRUE(all_are(own + 3, 4, SIZE - 7));

	/* a window is read from its first replica */
	pattern(self->theirs, SIZE, 9);
	EXPECT_EQ(0, memcmp((void *)window, self->theirs, SIZE));
	ASSERT_OK(cuMemcpyDtoH(back, window, SIZE));
	EXPECT_EQ(0, memcmp(back, self->theirs, SIZE));
	EXPECT_EQ(SIGSEGV, try_store((void *)window, 1));

	ASSERT_OK(memcastViewCreate(&view, group, 0, SIZE));
	multimem_st_u32(&view, CHUNK + 2 * PAGE, 1000);
	multimem_red_add_u32(&view, CHUNK + 2 * PAGE, 5);
	EXPECT_EQ(1005, *(uint32_t *)(self->theirs + CHUNK + 2 * PAGE));
	EXPECT_EQ(1005, *(uint32_t *)(own + CHUNK + 2 * PAGE));
	EXPECT_EQ(2010, multimem_ld_reduce_add_u32(&view, CHUNK + 2 * PAGE));

	/* once unbound, the foreign memory is out of the window's reach */
	ASSERT_OK(cuMulticastUnbind(group, 0, 0, SIZE));
	EXPECT_EQ(SIGBUS, try_load(view.replica[0], NULL));
	memset(self->theirs, 0, SIZE);
	ASSERT_OK(cuMemsetD8(window, 6, SIZE));
	EXPECT_TRUE(all_are(self->theirs, 0, SIZE));
	EXPECT_TRUE(all_are(own, 6, SIZE));
}

/* Foreign memory can be bound by address, for the device of its context or for any other. */
TEST_F(foreign, bound_by_address)
{
	CUmemGenericAllocationHandle group = complete_team(2, SIZE);
	CUexternalMemory memory = import_buffer(self->fd, SIZE);
	CUdeviceptr whole, odd, window;

	whole = map_buffer(memory, 0, SIZE);
	odd = map_buffer(memory, PAGE, CHUNK);
	EXPECT_REASON(cuMulticastBindAddr(group, 0, odd, CHUNK, 0),
		      "address # is not a multiple of the granularity #");
	ASSERT_OK(cuMulticastBindAddr(group, 0, whole, CHUNK, 0));
	ASSERT_OK(cuMulticastBindAddr_v2(group, 1, 0, whole + CHUNK, CHUNK, 0));
	window = ADDRESS(mapped(group, SIZE, 0));
	memset(self->theirs, 0, SIZE);
	ASSERT_OK(cuMemsetD8(window, 3, CHUNK));
	EXPECT_TRUE(all_are(self->theirs, 3, 2 * CHUNK));
	EXPECT_TRUE(all_are(self->theirs + 2 * CHUNK, 0, 2 * CHUNK));

	/* the binding goes with the memory, the memory with its last user */
	ASSERT_OK(cuMemFree(odd));
	ASSERT_OK(cuMemFree(whole));
	EXPECT_EQ(0, try_load((void *)window, NULL));
	ASSERT_OK(cuDestroyExternalMemory(memory));
	EXPECT_EQ(SIGBUS, try_load((void *)window, NULL));
}

TEST_F(foreign, bind_refused)
{
	CUmemGenericAllocationHandle group = complete_team(2, 2 * SIZE);
	CUmemGenericAllocationHandle handle = imported(self->fd);
	CUdeviceptr at = reserve(SIZE + CHUNK);

	/* foreign memory is host memory, which belongs to no device */
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuMulticastBindMem(group, 0, handle, 0, SIZE, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuMulticastBindMem_v2(group, 2, 0, handle, 0, SIZE, 0));
	EXPECT_REASON(cuMulticastBindMem_v2(group, 0, 0, handle, PAGE, CHUNK, 0),
		      "memory offset # is not a multiple of the granularity #");
	EXPECT_REASON(cuMulticastBindMem_v2(group, 0, 0, handle, 0, PAGE, 0),
		      "size # is not a multiple of the granularity #: round it");
	EXPECT_REASON(cuMulticastBindMem_v2(group, 0, 0, handle, CHUNK, SIZE, 0),
		      "# bytes from # are outside the memory of # bytes");
	/* mapped so that chunks of addresses begin within chunks of the memory */
	ASSERT_OK(cuMemMap(at + CHUNK - PAGE, SIZE, 0, handle, 0));
	EXPECT_REASON(cuMulticastBindAddr_v2(group, 0, 0, at + CHUNK, CHUNK, 0),
		      "what is mapped at # is not whole chunks of #");
	EXPECT_EQ(0, stat_of("bindings"));
	EXPECT_OK(cuMulticastBindMem_v2(group, 1, SIZE, handle, 0, SIZE, 0));
}

/* ---- lifetimes ---- */

TEST_F(foreign, fd_goes_first)
{
	CUexternalMemory memory = import_buffer(self->fd, SIZE);
	CUdeviceptr at;
	uint8_t *ours;

	memset(self->theirs, 5, SIZE);
	ASSERT_EQ(0, munmap(self->theirs, SIZE));
	ASSERT_EQ(0, close(self->fd));
	if (self->card >= 0)
		ASSERT_EQ(0, close(self->card));
	at = map_buffer(memory, 0, SIZE);
	ours = (uint8_t *)at;
	EXPECT_TRUE(all_are(ours, 5, SIZE));
	ASSERT_OK(cuDestroyExternalMemory(memory));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, buffer_at(&at, memory, 0, SIZE));
	EXPECT_TRUE(all_are(ours, 5, SIZE));
	ASSERT_OK(cuMemsetD8(ADDRESS(ours), 6, SIZE));
	EXPECT_TRUE(all_are(ours, 6, SIZE));
	EXPECT_EQ(1, stat_of("foreign"));
	ASSERT_OK(cuMemFree(ADDRESS(ours)));
	EXPECT_EQ(0, stat_of("foreign"));
}

/* The last user's end detaches the dma-buf at once. */
TEST_F(foreign, detached_with_the_last_user)
{
	CUmemGenericAllocationHandle handle;
	CUexternalMemory memory;
	CUdeviceptr at, other;
	uint8_t *own;
	/* memcast does not attach to a range of its own memory */
	int one = variant->exporter != OURS;

	if (bufinfo_attached(self->fd) < 0)
		SKIP(return, "needs root and debugfs");
	memory = import_buffer(self->fd, SIZE);
	EXPECT_EQ(one, bufinfo_attached(self->fd));
	at = map_buffer(memory, 0, SIZE);
	other = map_buffer(memory, 0, 5);
	ASSERT_OK(cuDestroyExternalMemory(memory));
	ASSERT_OK(cuMemFree(at));
	EXPECT_EQ(one, bufinfo_attached(self->fd));
	ASSERT_OK(cuMemFree(other));
	EXPECT_EQ(0, bufinfo_attached(self->fd));

	/* a binding does not keep the attachment once the handle is released */
	handle = imported(self->fd);
	team_of(handle, &own, &at);
	EXPECT_EQ(one, bufinfo_attached(self->fd));
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_EQ(0, bufinfo_attached(self->fd));
	ASSERT_OK(cuMemsetD8(at, 1, SIZE));
	EXPECT_TRUE(all_are(own, 1, SIZE));

	/* the last user is a mapping that munmap() ends with its reservation, under mmap_lock */
	handle = imported(self->fd);
	at = ADDRESS(mapped(handle, SIZE, 0));
	*(volatile int *)at = 1;
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_EQ(one, bufinfo_attached(self->fd));
	ASSERT_EQ(0, munmap((void *)at, SIZE));
	EXPECT_EQ(0, bufinfo_attached(self->fd));
}

TEST_F(foreign, goes_with_its_context)
{
	CUcontext context;
	CUexternalMemory memory;
	CUdeviceptr at;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 1));
	memory = import_buffer(self->fd, SIZE);
	at = map_buffer(memory, 3, SIZE - 3);
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_EQ(SIGSEGV, try_load((void *)(at + 1), NULL));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuDestroyExternalMemory(memory));
}

TEST_HARNESS_MAIN
