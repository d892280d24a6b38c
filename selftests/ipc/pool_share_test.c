// SPDX-License-Identifier: MIT
/* Pools that several processes or threads share. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include "pool_fixture.h"
#include "reason.h"

static const CUmemPoolProps shareable = {
	.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	.handleTypes = SHAREABLE,
	.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
};

/*
 * Heaps and memories answer alike: the kernel's errno for a full table of fds means nothing to the
 * library.
 */
TEST_F(pool, no_free_fd)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	int fd = -7, next = dup(0);
	struct rlimit limit;
	CUmemoryPool pool;

	ASSERT_OK(cuMemPoolCreate(&pool, &shareable));
	close(next);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = next;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
	EXPECT_EQ(-7, fd);
}

TEST_F(pool, export_arguments)
{
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK);
	CUdeviceptr plain, unshared, block, address = 77;
	CUmemoryPool pool, other = (void *)77;
	CUmemPoolPtrExportData data = {};
	int fd = -7, memory_fd = exported(handle);
	cuuint64_t value = 0;

	ASSERT_OK(cuMemPoolCreate(&pool, &shareable));
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, self->pool, SHAREABLE, 0),
		      "heap # was not created to be exported");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(NULL, pool, SHAREABLE, 0), "NULL output");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 1), "flags must be #");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, pool, 0, 0), "pools are shared as fds");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, NULL, SHAREABLE, 0), "no heap #");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_WIN32, 0),
		      "pools are shared as fds only");
	EXPECT_EQ(-7, fd);
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  cuMemPoolImportFromShareableHandle(&other, (void *)-1, SHAREABLE, 0));
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  cuMemPoolImportFromShareableHandle(&other, (void *)0, SHAREABLE, 0));
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
			 cuMemPoolImportFromShareableHandle(&other, (void *)(1L << 32), SHAREABLE, 0),
			 "# is not an fd: pass it itself, not its address");
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  cuMemPoolImportFromShareableHandle(&other, (void *)(long)memory_fd,
						     SHAREABLE, 0));
	EXPECT_EQ((void *)77, other);

	ASSERT_OK(cuMemAlloc(&plain, 100));
	ASSERT_OK(cuMemAllocFromPoolAsync(&unshared, 100, self->pool, self->stream));
	ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, pool, self->stream));
	EXPECT_REASON(cuMemPoolExportPointer(&data, plain), "no block that can be shared starts");
	EXPECT_REASON(cuMemPoolExportPointer(&data, unshared), "no block that can be shared");
	EXPECT_REASON(cuMemPoolExportPointer(&data, block + 512), "no block that can be shared");
	EXPECT_REASON(cuMemPoolExportPointer(NULL, block), "NULL output");

	ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
	/* programs that this one starts inherit the fd */
	EXPECT_EQ(0, fcntl(fd, F_GETFD));
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&other, (void *)(long)fd, SHAREABLE, 0));
	EXPECT_REASON(cuMemPoolImportPointer(&address, other, &data),
		      "not what cuMemPoolExportPointer() said");
	ASSERT_OK(cuMemPoolExportPointer(&data, block));
	EXPECT_REASON(cuMemPoolImportPointer(NULL, other, &data), "NULL pointer");
	EXPECT_REASON(cuMemPoolImportPointer(&address, other, NULL), "NULL pointer");
	EXPECT_REASON(cuMemPoolImportPointer(&address, pool, &data), "heap # is not an imported");
	/* data that no exporter said */
	data.reserved[16] = 1;
	EXPECT_REASON(cuMemPoolImportPointer(&address, other, &data), "no block of # bytes can be");
	data.reserved[16] = 0;
	data.reserved[30] = 1;
	EXPECT_REASON(cuMemPoolImportPointer(&address, other, &data), "no block of # bytes can be");
	EXPECT_EQ(77, address);
	/* an imported pool allocates nothing */
	EXPECT_REASON(cuMemAllocFromPoolAsync(&address, 1, other, self->stream),
		      "heap # is another process's");
	EXPECT_REASON(cuDeviceSetMemPool(0, other), "the pool is another process's");
	EXPECT_REASON(cuMemPoolExportToShareableHandle(&fd, other, SHAREABLE, 0),
		      "heap # was not created to be exported");
	/* an imported pool has no attributes, and no free memory to give back */
	EXPECT_REASON(cuMemPoolGetAttribute(other, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value),
		      "the pool is another process's");
	EXPECT_REASON(cuMemPoolSetAttribute(other, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value),
		      "the pool is another process's");
	EXPECT_REASON(cuMemPoolTrimTo(other, 0), "the pool is another process's");
}

/*
 * Imports within one process. Addresses that differ show that the import has a mapping of its own.
 */
TEST_F(pool, imported_blocks)
{
	long before = device_bytes(0, "free_bytes");
	CUdeviceptr block[3], import[3], again;
	const size_t bytes[3] = { 1000, 5000, 3 * CHUNK };
	CUmemPoolPtrExportData data[3];
	CUmemoryPool pool, other, same;
	unsigned int i;
	int fd;

	ASSERT_OK(cuMemPoolCreate(&pool, &shareable));
	ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&other, (void *)(long)fd, SHAREABLE, 0));
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&same, (void *)(long)fd, SHAREABLE, 0));
	EXPECT_EQ(other, same);
	EXPECT_NE(other, pool);
	for (i = 0; i < 3; i++) {
		ASSERT_OK(cuMemAllocFromPoolAsync(&block[i], bytes[i], pool, self->stream));
		ASSERT_OK(cuMemPoolExportPointer(&data[i], block[i]));
		ASSERT_OK(cuMemPoolImportPointer(&import[i], other, &data[i]));
		ASSERT_OK(cuMemPoolImportPointer(&again, other, &data[i]));
		EXPECT_EQ(import[i], again);
		EXPECT_NE(block[i], import[i]);
		ASSERT_OK(cuMemsetD8(block[i], i + 1, bytes[i]));
		EXPECT_EQ(i + 1, ((volatile char *)import[i])[bytes[i] - 1]);
		EXPECT_REASON(cuMemsetD8(import[i], 9, bytes[i] + 1), "the destination leaves the");
		EXPECT_OK(cuMemsetD8(import[i], i + 5, bytes[i]));
		EXPECT_EQ(i + 5, ((volatile char *)block[i])[bytes[i] - 1]);
	}
	/* both sides share one memory; the first two blocks also share one mapping */
	EXPECT_EQ(before - 4 * (long)CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_EQ(STEP, TAKEN(pool));
	EXPECT_EQ(import[1] - import[0], block[1] - block[0]);
	for (i = 0; i < 3; i++) {
		EXPECT_OK(cuMemFreeAsync(import[i], self->stream));
		EXPECT_OK(cuMemFreeAsync(block[i], self->stream));
		EXPECT_REASON(cuMemFree(import[i]), "# is not in a reservation");
	}
	EXPECT_EQ(STEP, TAKEN(pool));
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, TAKEN(pool));
	EXPECT_REASON(cuMemPoolImportPointer(&again, other, &data[0]), "the block's memory is not");
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemPoolDestroy(other));
	EXPECT_OK(cuMemPoolDestroy(pool));
	close(fd);
}

FIXTURE(pools)
{
	CUmemPoolPtrExportData data;
};

FIXTURE_SETUP(pools) { }
NOTHING_LEFT(pools)

/* An imported block outlives its exporter. */
TEST_F(pools, of_two_processes)
{
	CUdeviceptr block, other;
	CUmemoryPool pool;
	int link, fd;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		cuda_start(0);
		ASSERT_OK(cuMemPoolCreate(&pool, &shareable));
		ASSERT_OK(cuMemAllocFromPoolAsync(&block, 1000, pool, NULL));
		ASSERT_OK(cuMemsetD32(block, 0x1234, 250));
		ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
		ASSERT_OK(cuMemPoolExportPointer(&self->data, block));
		send_fd(link, fd);
		receive_number(link);
		EXPECT_EQ(0x5678, *(volatile uint32_t *)block);
		handshake(link);
		_exit(_metadata->exit_code);
	}
	cuda_start(1);
	fd = receive_fd(link);
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(long)fd, SHAREABLE, 0));
	close(fd);
	ASSERT_OK(cuMemPoolImportPointer(&block, pool, &self->data));
	EXPECT_EQ(0x1234, *(volatile uint32_t *)(block + 996));
	*(volatile uint32_t *)block = 0x5678;
	handshake(link);
	end_peer(link, pid);
	EXPECT_EQ(0x5678, *(volatile uint32_t *)block);
	EXPECT_EQ(device_bytes(0, "pool_bytes") - (long)CHUNK, device_bytes(0, "free_bytes"));
	/* with the memory gone, no block can be imported any more */
	ASSERT_OK(cuMemFree(block));
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	EXPECT_REASON(cuMemPoolImportPointer(&other, pool, &self->data), "the block's memory is");
}

struct player {
	pthread_t thread;
	CUmemoryPool pool;
	CUcontext context;
	unsigned int number, failed;
};

/* Allocates, fills, reads and frees, all in one stream, with up to 16 blocks at once. */
static void *play(void *argument)
{
	struct player *player = argument;
	CUdeviceptr at[16] = {};
	size_t bytes[16];
	unsigned int round, seed = player->number;
	CUstream stream;

	player->failed += cuCtxSetCurrent(player->context) != CUDA_SUCCESS;
	player->failed += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
	for (round = 0; round < loops(1000); round++) {
		unsigned int i = rand_r(&seed) % 16, value = player->number << 16 | i;
		uint32_t word;

		if (at[i]) {
			if (cuMemcpyDtoHAsync(&word, at[i] + bytes[i] - 4, 4, stream) ||
			    cuStreamSynchronize(stream) || word != value ||
			    cuMemFreeAsync(at[i], stream))
				player->failed++;
			at[i] = 0;
			continue;
		}
		bytes[i] = 4 * (1 + rand_r(&seed) % (rand_r(&seed) % 16 ? 4000 : 600000));
		if (cuMemAllocFromPoolAsync(&at[i], bytes[i], player->pool, stream)) {
			at[i] = 0;
			player->failed++;
		} else if (cuMemsetD32Async(at[i], value, bytes[i] / 4, stream)) {
			player->failed++;
		}
	}
	for (round = 0; round < 16; round++)
		if (at[round] && cuMemFreeAsync(at[round], stream))
			player->failed++;
	player->failed += cuStreamSynchronize(stream) != CUDA_SUCCESS;
	return NULL;
}

TEST_F(pool, random_from_several_threads)
{
	long before = device_bytes(0, "free_bytes");
	struct player players[4] = {};
	CUcontext context;
	unsigned int i;

	ASSERT_OK(cuCtxGetCurrent(&context));
	for (i = 0; i < 4; i++) {
		players[i] = (struct player) {
			.pool = self->pool, .context = context, .number = i + 1,
		};
		ASSERT_EQ(0, pthread_create(&players[i].thread, NULL, play, &players[i]));
	}
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(players[i].thread, NULL));
		EXPECT_EQ(0, players[i].failed);
	}
	EXPECT_EQ(0, USED(self->pool));
	EXPECT_EQ(0, TAKEN(self->pool));
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

TEST_HARNESS_MAIN
