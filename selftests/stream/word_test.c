// SPDX-License-Identifier: MIT
/* Streams that write words and wait for them. */
#include "reason.h"
#include "stream_fixture.h"

static const struct {
	unsigned int flags;
	uint64_t value, before, after;
	int wide;
} conditions[] = {
	{ CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5, 0 },
	{ CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 0x80000004, 0 },
	{ CU_STREAM_WAIT_VALUE_GEQ, 5, 0x80000005, 6, 0 },
	{ CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffe, 0xfffffffd, 1, 0 },
	{ CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5, 0 },
	{ CU_STREAM_WAIT_VALUE_AND, 6, 9, 4, 0 },
	{ CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 0xf, 0xe, 0 },
	{ CU_STREAM_WAIT_VALUE_GEQ, 1ULL << 40, (1ULL << 40) - 1, 1ULL << 40, 1 },
	{ CU_STREAM_WAIT_VALUE_GEQ, -2ULL, -3ULL, 0, 1 },
	{ CU_STREAM_WAIT_VALUE_EQ, 1ULL << 40, 0, 1ULL << 40, 1 },
	{ CU_STREAM_WAIT_VALUE_AND, 3ULL << 40, 3, 1ULL << 40, 1 },
	{ CU_STREAM_WAIT_VALUE_NOR, -1ULL << 1, 1, 0, 1 },
};

TEST_F(stream, wait_value_conditions)
{
	volatile uint64_t *word = (volatile uint64_t *)self->at;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conditions); i++) {
		*word = conditions[i].before;
		ASSERT_OK(conditions[i].wide ?
			  cuStreamWaitValue64(self->first, AT(0), conditions[i].value,
					      conditions[i].flags) :
			  cuStreamWaitValue32(self->first, AT(0), conditions[i].value,
					      conditions[i].flags));
		usleep(20000);
		EXPECT_WAITS(self->first) TH_LOG("condition %u", i);
		*word = conditions[i].after;
		EXPECT_OK(cuStreamSynchronize(self->first)) TH_LOG("condition %u", i);
	}
}

TEST_F(stream, words_are_checked_at_the_call)
{
	static uint32_t own;

	EXPECT_REASON(cuStreamWaitValue32(self->first, AT(0) + 2, 0, 0), "# is not a multiple of");
	EXPECT_REASON(cuStreamWaitValue64(self->first, AT(1), 0, 0), "# is not a multiple of #");
	EXPECT_REASON(cuStreamWriteValue64(self->first, AT(1), 0, 0), "# is not a multiple of #");
	EXPECT_REASON(cuStreamWaitValue32(self->first, AT(0), 0, 4), "unknown flags #");
	EXPECT_REASON(cuStreamWriteValue32(self->first, AT(0), 0, 2), "flags must be # (a write");
	EXPECT_REASON(cuStreamWriteValue32(self->first, AT(CHUNK / 4), 0, 0),
		      "the source # is not device memory");
	EXPECT_REASON(cuStreamWaitValue32(self->first, 0, 0, 0), "the source # is not device");
	EXPECT_REASON(cuStreamWriteValue32(self->first, AT(0), 0,
					   CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
		      "flags must be # (a write always has a memory barrier)");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuStreamWaitValue32(self->first, AT(0), 0,
				      CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH));
	/* the program's own memory, which is not registered */
	EXPECT_REASON(cuStreamWaitValue32(self->first, ADDRESS(&own), 0, 0), "the source # is not");
	EXPECT_REASON(cuStreamWriteValue32(self->first, ADDRESS(&own), 1, 0),
		      "the source # is not device memory");
	EXPECT_EQ(0, own);
	EXPECT_OK(cuStreamQuery(self->first));
}

/* As on hardware, streams write no words to memory of a pool, but wait for words there. */
TEST_F(stream, no_words_are_written_to_pools)
{
	CUdeviceptr of_pool, plain;

	ASSERT_OK(cuMemAlloc(&plain, 4096));
	ASSERT_OK(cuMemAllocAsync(&of_pool, 4096, self->first));
	ASSERT_OK(cuMemsetD32(of_pool, 7, 2));
	EXPECT_REASON(cuStreamWriteValue32(self->first, of_pool, 1, 0), "# is memory of a pool, ");
	EXPECT_REASON(cuStreamWriteValue64(self->first, of_pool + 8, 1, 0),
		      "# is memory of a pool, ");
	EXPECT_EQ(7, *(volatile uint32_t *)of_pool);
	EXPECT_OK(cuStreamWaitValue32(self->first, of_pool, 7, CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_OK(cuStreamWriteValue32(self->first, plain, 1, 0));
	EXPECT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuMemFreeAsync(of_pool, self->first));
	EXPECT_OK(cuMemFree(plain));
}

/* Pools of the host are no exception; other memory of the host is. */
TEST_F(stream, no_words_are_written_to_pools_of_the_host)
{
	CUmemLocation host = { .type = CU_MEM_LOCATION_TYPE_HOST };
	CUmemAccessDesc device = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemoryPool pool;
	CUdeviceptr of_pool;
	void *pinned;

	ASSERT_OK(cuMemGetDefaultMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
	ASSERT_OK(cuMemPoolSetAccess(pool, &device, 1));
	ASSERT_OK(cuMemAllocFromPoolAsync(&of_pool, 4096, pool, self->first));
	ASSERT_OK(cuMemHostAlloc(&pinned, 4096, 0));
	EXPECT_REASON(cuStreamWriteValue32(self->first, of_pool, 1, 0), "# is memory of a pool, ");
	EXPECT_OK(cuStreamWriteValue32(self->first, (CUdeviceptr)pinned, 1, 0));
	EXPECT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuMemFreeAsync(of_pool, self->first));
	EXPECT_OK(cuMemFreeHost(pinned));
}

TEST_F(stream, write_value)
{
	uint64_t host[2] = { -1ULL, -1ULL };

	ASSERT_OK(cuMemHostRegister(host, sizeof(host), 0));
	HOLD(self->first);
	ASSERT_OK(cuStreamWriteValue32(self->first, AT(0), 0x12345678, 0));
	ASSERT_OK(cuStreamWriteValue64(self->first, AT(2), 0x123456789abcdef0, 0));
	ASSERT_OK(cuStreamWriteValue32(self->first, ADDRESS(host), 1, 0));
	ASSERT_OK(cuStreamWriteValue64(self->first, ADDRESS(host + 1), 2, 0));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0x12345678, self->at[0]);
	EXPECT_EQ(0, self->at[1]);
	EXPECT_EQ(0x9abcdef0, self->at[2]);
	EXPECT_EQ(0x12345678, self->at[3]);
	EXPECT_EQ(0xffffffff00000001, host[0]);
	EXPECT_EQ(2, host[1]);
}

TEST_F(stream, write_value_reaches_every_replica)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK), part[2];
	volatile uint32_t *plain[2], *window;
	int i;

	for (i = 0; i < 2; i++) {
		part[i] = new_bound(team, i, CHUNK);
		plain[i] = mapped(part[i], CHUNK, i);
	}
	window = mapped(team, CHUNK, 0);
	ASSERT_OK(cuStreamWriteValue32(self->first, ADDRESS(window + 3), 77, 0));
	ASSERT_OK(cuStreamWaitValue32(self->first, ADDRESS(window + 3), 77,
				      CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(77, plain[0][3]);
	EXPECT_EQ(77, plain[1][3]);
}

/* Another process writes the word: memory that both share is registered. */
TEST_F(stream, other_processes_words)
{
	uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
	ASSERT_OK(cuMemHostRegister(shared, 4096, 0));
	ASSERT_OK(cuStreamWaitValue32(self->first, ADDRESS(shared), 9,
				      CU_STREAM_WAIT_VALUE_EQ));
	EXPECT_WAITS(self->first);
	pid = fork();
	if (!pid) {
		usleep(30000);
		*(volatile uint32_t *)shared = 9;
		_exit(0);
	}
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, reap_child(pid));
}

static void *count_up(void *argument)
{
	volatile uint64_t *word = argument;
	uint64_t i;

	/* the next word says when to stop */
	for (i = 1; !__atomic_load_n(&word[1], __ATOMIC_RELAXED); i++)
		*word = i << 32 | (uint32_t)i;
	return NULL;
}

/* Both halves of a word are always from one store, for copies as for waits. */
TEST_F(stream, words_are_never_torn)
{
	uint64_t seen = 0;
	unsigned int i, torn = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, count_up, (void *)self->at));
	/* the thread has to run once, however loaded the machine is */
	while (!seen)
		ASSERT_OK(cuMemcpyDtoH(&seen, AT(0), 8));
	for (i = 0; i < loops(20000); i++) {
		ASSERT_OK(cuMemcpyDtoH(&seen, AT(0), 8));
		torn += seen >> 32 != (uint32_t)seen;
	}
	EXPECT_EQ(0, torn);
	__atomic_store_n((uint64_t *)(self->at + 2), 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static double processor_time(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec + used.tv_nsec * 1e-9;
}

TEST_F(stream, waiting_costs_little)
{
	double start, cost, passed;

	if (loops(100) < 100)
		SKIP(return, "a debug kernel takes long for each look at the word");
	HOLD(self->first);
	HOLD(self->second);
	usleep(200000);
	start = now();
	cost = processor_time();
	sleep(2);
	cost = processor_time() - cost;
	passed = now() - start;
	EXPECT_WAITS(self->first);
	/* two streams that spin would use twice the time; emulated machines are slow */
	EXPECT_LT(cost, 0.75 * passed);
	TH_LOG("two waits for %.3f s used %.3f s", passed, cost);
	LET_GO();
}

TEST_F(stream, batch)
{
	CUstreamBatchMemOpParams params[5] = {}, many[256] = {};
	unsigned int i;

	params[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	params[0].waitValue.address = ADDRESS(self->gate);
	params[0].waitValue.value = 1;
	params[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	params[1].writeValue.address = AT(0);
	params[1].writeValue.value = 1;
	params[2].operation = CU_STREAM_MEM_OP_BARRIER;
	params[3].operation = CU_STREAM_MEM_OP_BARRIER;
	params[4].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	params[4].writeValue.address = AT(0);
	params[4].writeValue.value64 = 0x200000003;

	ASSERT_OK(cuStreamBatchMemOp(self->first, 5, params, 0));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(3, self->at[0]);
	EXPECT_EQ(2, self->at[1]);

	/* one entry is wrong: none is done */
	self->at[0] = 0;
	params[4].writeValue.address = AT(1);
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 5, params, 0), "# is not a multiple of #");
	params[4].operation = 99;
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 5, params, 0), "no such operation");
	params[4] = params[1];
	params[2].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU + 1;
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 5, params, 0), "unknown flags");
	params[2].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
	params[3].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp(self->first, 5, params, 0));
	for (i = 0; i < 256; i++)
		many[i].operation = CU_STREAM_MEM_OP_BARRIER;
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 256, many, 0), "more than # operations");
	EXPECT_OK(cuStreamBatchMemOp(self->first, 255, many, 0));
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 1, params, 1), "flags must be #");
	EXPECT_REASON(cuStreamBatchMemOp(self->first, 1, NULL, 0), "NULL pointer");
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, self->at[0]);
}

TEST_HARNESS_MAIN
