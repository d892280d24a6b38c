// SPDX-License-Identifier: MIT
/*
 * Lazy pools: creating a memory promises chunks, the first touch of a chunk takes it, whichever
 * process touches it, and freeing the memory gives all chunks back to the machine.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "lazy_fixture.h"
#include "peers.h"

FIXTURE(lazy)
{
	long pool;
};

FIXTURE_SETUP(lazy)
{
	NEEDS_LAZY();
	/* what the test before closed may still be on its way out */
	ASSERT_STREQ("", left_over());
	cuda_start(0);
	self->pool = device_bytes(0, "pool_bytes");
	ASSERT_LE((long)(64 * CHUNK), self->pool);
}
NOTHING_LEFT(lazy)

/* Three figures of a pool: what it promises, how much of that is in use, and what it has taken. */
TEST_F(lazy, promised_used_taken)
{
	size_t half = self->pool / 2 / CHUNK * CHUNK, free, total;
	CUmemGenericAllocationHandle handle = new_memory(0, half);
	volatile uint32_t *at;
	uint32_t value = 1;

	EXPECT_OK(cuMemGetInfo(&free, &total));
	EXPECT_EQ((size_t)self->pool, total);
	EXPECT_EQ(self->pool - half, free);
	EXPECT_EQ((long)free, device_bytes(0, "free_bytes"));
	EXPECT_TAKEN(0, 0);
	at = mapped(handle, half, 0);
	EXPECT_TAKEN(0, 0);
	at[5] = 7;
	EXPECT_TAKEN(1, 0);
	EXPECT_EQ(0, try_load(at + (half - 4) / 4, &value));
	EXPECT_EQ(0, value);
	EXPECT_TAKEN(2, 0);
	at[CHUNK / 4 - 1] = 8;
	EXPECT_TAKEN(2, 0);

	EXPECT_OK(cuMemUnmap(ADDRESS(at), half));
	EXPECT_TAKEN(2, 0);
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_TAKEN(0, 0);
	EXPECT_EQ(self->pool, device_bytes(0, "free_bytes"));
}

/* A pool promises no more than its size, touched or not. */
TEST_F(lazy, promises_end)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle;

	new_memory(0, self->pool - 4 * CHUNK);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&handle, 5 * CHUNK, &prop, 0));
	EXPECT_OK(cuMemCreate(&handle, 4 * CHUNK, &prop, 0));
	EXPECT_TAKEN(0, 0);
}

TEST_F(lazy, copies)
{
	CUdeviceptr from = ADDRESS(mapped(new_memory(0, 8 * CHUNK), 8 * CHUNK, 0));
	CUdeviceptr to = ADDRESS(mapped(new_memory(0, 8 * CHUNK), 8 * CHUNK, 0));
	uint32_t words[4] = { 1, 2, 3, 4 };

	/* a read takes no chunk */
	EXPECT_OK(cuMemcpyDtoH(words, from + CHUNK - 8, sizeof(words)));
	EXPECT_EQ(0, words[0] | words[1] | words[2] | words[3]);
	EXPECT_TAKEN(0, 0);
	/* a fill across a border of chunks */
	EXPECT_OK(cuMemsetD32(from + CHUNK - 8, 9, 4));
	EXPECT_TAKEN(2, 0);
	EXPECT_OK(cuMemcpyDtoD(to + CHUNK, from, 3 * CHUNK));
	EXPECT_TAKEN(5, 0);
	EXPECT_OK(cuMemcpyDtoH(words, to + 2 * CHUNK - 8, sizeof(words)));
	EXPECT_EQ(9, words[0]);
	EXPECT_EQ(9, words[3]);
	/* a copy from chunks that were never written overwrites the destination with zeros */
	EXPECT_OK(cuMemcpyDtoD(to + CHUNK, from + 4 * CHUNK, 3 * CHUNK));
	EXPECT_TAKEN(5, 0);
	EXPECT_OK(cuMemcpyDtoH(words, to + 2 * CHUNK - 8, sizeof(words)));
	EXPECT_EQ(0, words[0] | words[1] | words[2] | words[3]);
	/* a rectangle of which each row is in another chunk */
	EXPECT_OK(cuMemsetD2D8(from + 4 * CHUNK, CHUNK, 1, 16, 4));
	EXPECT_TAKEN(9, 0);
}

/* A process does not see what another process wrote before it gave a chunk back. */
TEST_F(lazy, zeros)
{
	uint32_t *words = malloc(8 * CHUNK);
	int round;

	ASSERT_NE(NULL, words);
	for (round = 0; round < 4; round++) {
		CUmemGenericAllocationHandle handle = new_memory(0, 8 * CHUNK);
		volatile uint32_t *at = mapped(handle, 8 * CHUNK, 0);
		size_t i, others = 0;

		for (i = 0; i < 8; i++)
			at[i * CHUNK / 4 + 1000] = 1;
		EXPECT_TAKEN(8, 0);
		ASSERT_OK(cuMemcpyDtoH(words, ADDRESS(at), 8 * CHUNK));
		for (i = 0; i < 8 * CHUNK / 4; i++)
			others += words[i] != (i % (CHUNK / 4) == 1000);
		EXPECT_EQ(0, others);
		ASSERT_OK(cuMemsetD32(ADDRESS(at), 0xdeadbeef, 2 * CHUNK));
		ASSERT_OK(cuMemUnmap(ADDRESS(at), 8 * CHUNK));
		ASSERT_OK(cuMemRelease(handle));
		EXPECT_TAKEN(0, 0);
	}
	free(words);
}

TEST_F(lazy, team)
{
	CUmemGenericAllocationHandle all = complete_team(2, 8 * CHUNK), part[2];
	volatile uint32_t *window, *first, *second;
	uint32_t value = 1;
	int i;

	for (i = 0; i < 2; i++)
		part[i] = new_bound(all, i, 8 * CHUNK);
	window = mapped(all, 8 * CHUNK, 0);
	first = mapped(part[0], 8 * CHUNK, 0);
	second = mapped(part[1], 8 * CHUNK, 1);
	EXPECT_TAKEN(0, 0);
	EXPECT_TAKEN(0, 1);
	/* a load from the window takes a chunk of the first member alone */
	EXPECT_EQ(0, try_load(window, &value));
	EXPECT_EQ(0, value);
	EXPECT_TAKEN(1, 0);
	EXPECT_TAKEN(0, 1);
	/* a store takes a chunk of each member */
	window[CHUNK / 4] = 3;
	EXPECT_EQ(3, first[CHUNK / 4]);
	EXPECT_EQ(3, second[CHUNK / 4]);
	EXPECT_TAKEN(2, 0);
	EXPECT_TAKEN(1, 1);
	EXPECT_OK(cuMemsetD32(ADDRESS(window) + 3 * CHUNK, 5, 2 * CHUNK / 4));
	EXPECT_EQ(5, second[5 * CHUNK / 4 - 1]);
	EXPECT_TAKEN(4, 0);
	EXPECT_TAKEN(3, 1);
	/* a memory keeps its chunks when it is unbound */
	EXPECT_OK(cuMulticastUnbind(all, 1, 0, 8 * CHUNK));
	EXPECT_EQ(5, second[3 * CHUNK / 4]);
	EXPECT_TAKEN(3, 1);
}

TEST_F(lazy, plain_allocation)
{
	CUdeviceptr at, small;

	ASSERT_OK(cuMemAlloc(&at, 32 * CHUNK));
	ASSERT_OK(cuMemAlloc(&small, 100));
	EXPECT_TAKEN(0, 0);
	EXPECT_OK(cuMemsetD8(small, 1, 100));
	EXPECT_OK(cuMemsetD8(at + 4 * CHUNK, 1, 1));
	EXPECT_TAKEN(2, 0);
	EXPECT_OK(cuMemFree(at));
	EXPECT_OK(cuMemFree(small));
	EXPECT_TAKEN(0, 0);
}

TEST_F(lazy, dma_buf_of_a_program)
{
	int fd = exported(new_memory(0, 8 * CHUNK));
	volatile uint32_t *at = mmap(NULL, 8 * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t value = 1;

	ASSERT_NE(MAP_FAILED, at);
	EXPECT_TAKEN(0, 0);
	EXPECT_EQ(0, try_load(at + 5 * CHUNK / 4, &value));
	EXPECT_EQ(0, value);
	EXPECT_EQ(0, try_store(at + CHUNK / 4 - 1, 6));
	EXPECT_TAKEN(2, 0);
	EXPECT_EQ(6, mapped(imported(fd), 8 * CHUNK, 0)[CHUNK / 4 - 1]);
	EXPECT_TAKEN(2, 0);
	munmap((void *)at, 8 * CHUNK);
	close(fd);
}

/* A driver that maps a dma-buf for its device takes all of its chunks. */
TEST_F(lazy, dma_buf_of_a_driver)
{
	int fd = exported(new_memory(0, 8 * CHUNK)), card = vgem_open();
	uint32_t handle;

	if (card < 0)
		SKIP(return, "no vgem");
	handle = vgem_import(card, fd);
	EXPECT_NE(0, handle);
	EXPECT_TAKEN(8, 0);
	vgem_close(card, handle);
	EXPECT_TAKEN(8, 0);
	close(card);
	close(fd);
}

/* A store to a team's dma-buf takes chunks of each member. */
TEST_F(lazy, dma_buf_of_a_team)
{
	CUmemGenericAllocationHandle all = complete_team(2, 4 * CHUNK), part[2];
	volatile uint32_t *at;
	int i, fd;

	for (i = 0; i < 2; i++)
		part[i] = new_bound(all, i, 4 * CHUNK);
	fd = exported(all);
	at = mmap(NULL, 4 * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, at);
	ASSERT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW));
	EXPECT_EQ(0, at[0]);
	EXPECT_TAKEN(0, 0);
	at[CHUNK / 4] = 4;
	ASSERT_EQ(0, dma_buf_sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW));
	EXPECT_TAKEN(1, 0);
	EXPECT_TAKEN(1, 1);
	EXPECT_EQ(4, mapped(part[1], 4 * CHUNK, 1)[CHUNK / 4]);
	munmap((void *)at, 4 * CHUNK);
	close(fd);
}

TEST_F(lazy, debuggers)
{
	volatile uint32_t *at = mapped(new_memory(0, 4 * CHUNK), 4 * CHUNK, 0);
	int self_memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint32_t value = 1;

	ASSERT_LE(0, self_memory);
	EXPECT_EQ(4, pread(self_memory, &value, 4, (off_t)(uintptr_t)at));
	EXPECT_EQ(0, value);
	EXPECT_TAKEN(0, 0);
	value = 11;
	EXPECT_EQ(4, pwrite(self_memory, &value, 4, (off_t)(uintptr_t)&at[CHUNK / 4]));
	EXPECT_TAKEN(1, 0);
	EXPECT_EQ(11, at[CHUNK / 4]);
	close(self_memory);
}

static void *store_to_all(void *at)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		__atomic_fetch_add((uint32_t *)at + i * (CHUNK / 4), 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Threads that touch a chunk at the same time get the same chunk. */
TEST_F(lazy, at_once)
{
	volatile uint32_t *at = mapped(new_memory(0, 64 * CHUNK), 64 * CHUNK, 0);
	pthread_t threads[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, store_to_all, (void *)at));
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_TAKEN(64, 0);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(4, at[i * (CHUNK / 4)]);
}

static long available_mib(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib >> 10;
}

/*
 * A rack that promises more than its machine has: seven eighths of each device are created, most of
 * that is bound to a team of all devices, and a little of it is touched.
 */
TEST_F(lazy, larger_than_the_machine)
{
	size_t created = self->pool / 8 / CHUNK * CHUNK * 7;
	size_t bound = self->pool / 5 / CHUNK * CHUNK * 4, touched, at;
	volatile uint32_t *window, *replica;
	CUmemGenericAllocationHandle all, *part;
	long before = available_mib();
	int devices, i;

	ASSERT_OK(cuDeviceGetCount(&devices));
	part = calloc(devices, sizeof(*part));
	ASSERT_NE(NULL, part);
	/* 16 MiB on each of 72 devices */
	touched = 72 * 8 / devices ?: 1;
	touched = (touched > 8 ? 8 : touched) * CHUNK;
	all = complete_team(devices, bound);
	for (i = 0; i < devices; i++) {
		part[i] = new_memory(i, created);
		ASSERT_OK(cuMulticastBindMem(all, 0, part[i], 0, bound, 0));
	}
	window = mapped(all, bound, 0);
	EXPECT_EQ(0, taken_by_all());
	TH_LOG("%d devices, %ld MiB each: %zu MiB are created on each, %zu MiB bound", devices,
	       self->pool / MIB, created / MIB, bound / MIB);
	TH_LOG("that takes %ld MiB of the machine's memory", before - available_mib());

	at = bound / 2;
	at -= at % CHUNK;
	ASSERT_OK(cuMemsetD32(ADDRESS(window) + at, 77, touched / 4));
	EXPECT_EQ((long)(devices * touched), taken_by_all());
	TH_LOG("%zu MiB touched on each: %ld MiB", touched / MIB, before - available_mib());
	for (i = 0; i < devices; i += devices / 4 ?: 1) {
		replica = mapped(part[i], created, i);
		EXPECT_EQ(77, replica[at / 4]);
		EXPECT_EQ(77, replica[(at + touched) / 4 - 1]);
		EXPECT_EQ((long)touched, taken(i));
	}
	free(part);
}

TEST_HARNESS_MAIN
