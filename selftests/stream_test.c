// SPDX-License-Identifier: MIT
/* Streams: order, who waits for whom, words to wait for, and failures. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "memcast_test.h"

/*
 * Two streams, and one that is non-blocking, which the legacy one does not know.
 * A stream is held back by its wait for the gate.
 */
FIXTURE(stream)
{
	volatile uint32_t *at;		/* a chunk of device memory, zero */
	volatile uint32_t *gate;	/* its last words */
	CUstream first, second, free;
};

FIXTURE_SETUP(stream)
{
	cuda_start(0);
	self->at = mapped(memory(0, CHUNK), CHUNK, 0);
	self->gate = self->at + CHUNK / 4 - 8;
	ASSERT_OK(cuStreamCreate(&self->first, CU_STREAM_DEFAULT));
	ASSERT_OK(cuStreamCreate(&self->second, CU_STREAM_DEFAULT));
	ASSERT_OK(cuStreamCreate(&self->free, CU_STREAM_NON_BLOCKING));
}
NOTHING_LEFT(stream)

#define AT(word)		ADDRESS(self->at + (word))
#define HOLD(stream)		\
	ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(self->gate), 1, CU_STREAM_WAIT_VALUE_EQ))
#define LET_GO()		(*self->gate = 1)
#define EXPECT_WAITS(stream)	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream))
#define SET(word, value, stream) ASSERT_OK(cuMemsetD32Async(AT(word), value, 1, stream))

/* Lets go a little later, from another thread */
static void *let_go(void *gate)
{
	usleep(50000);
	*(volatile uint32_t *)gate = 1;
	return NULL;
}

#define LET_GO_LATER()							\
({									\
	pthread_t thread;						\
									\
	ASSERT_EQ(0, pthread_create(&thread, NULL, let_go, (void *)self->gate)); \
	thread;								\
})

static unsigned int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count - 2;
}

static void add_one(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

/* ---- order ---- */

TEST_F(stream, work_is_done_in_order)
{
	uint32_t i, seen = 0;

	HOLD(self->first);
	for (i = 1; i <= 100; i++) {
		SET(0, i, self->first);
		ASSERT_OK(cuMemcpyDtoDAsync(AT(i), AT(0), 4, self->first));
	}
	EXPECT_WAITS(self->first);
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuStreamQuery(self->first));
	for (i = 1; i <= 100; i++)
		seen += self->at[i] == i;
	EXPECT_EQ(100, seen);
}

TEST_F(stream, streams_do_not_wait_for_each_other)
{
	HOLD(self->first);
	SET(0, 7, self->second);
	ASSERT_OK(cuStreamSynchronize(self->second));
	EXPECT_EQ(7, self->at[0]);
	EXPECT_WAITS(self->first);
	LET_GO();
}

TEST_F(stream, threads_only_for_work)
{
	int calls = 0;

	ASSERT_OK(cuMemsetD32(AT(0), 1, 4));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, threads());
	ASSERT_OK(cuLaunchHostFunc(self->first, add_one, &calls));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, calls);
	EXPECT_EQ(2, threads());
}

/* The thread ends, too. */
TEST_F(stream, destroyed_finishes_its_work)
{
	int i, calls = 0;

	HOLD(self->first);
	for (i = 0; i < 10; i++)
		ASSERT_OK(cuLaunchHostFunc(self->first, add_one, &calls));
	ASSERT_OK(cuStreamDestroy(self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(self->first));
	LET_GO();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(10, calls);
	for (i = 0; i < 500 && threads() > 1; i++)
		usleep(10000);
	EXPECT_EQ(1, threads());
}

/* ---- default streams ---- */

TEST_F(stream, legacy_waits_for_others_and_they_for_it)
{
	HOLD(self->first);
	SET(0, 1, NULL);
	SET(1, 1, self->second);
	SET(2, 1, self->free);
	ASSERT_OK(cuStreamSynchronize(self->free));
	usleep(50000);
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, self->at[1]);
	EXPECT_EQ(1, self->at[2]);
	EXPECT_WAITS(NULL);
	EXPECT_WAITS(CU_STREAM_LEGACY);
	EXPECT_WAITS(self->second);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->second));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_EQ(1, self->at[1]);
}

TEST_F(stream, legacy_does_not_wait_for_non_blocking)
{
	HOLD(self->free);
	SET(0, 1, NULL);
	ASSERT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_WAITS(self->free);
	LET_GO();
}

TEST_F(stream, calls_without_stream_come_after)
{
	pthread_t thread;
	uint32_t word = 0;

	HOLD(self->first);
	SET(0, 5, self->first);
	thread = LET_GO_LATER();
	ASSERT_OK(cuMemcpyDtoH(&word, AT(0), 4));
	EXPECT_EQ(5, word);
	pthread_join(thread, NULL);
}

/* As they need no memory of the caller's, they go on in the legacy stream. */
TEST_F(stream, fills_without_stream_do_not_block)
{
	HOLD(self->first);
	ASSERT_OK(cuMemsetD32(AT(0), 3, 1));
	ASSERT_OK(cuMemcpyDtoD(AT(1), AT(0), 4));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(3, self->at[1]);
}

static void *id_of_own(void *id)
{
	CUcontext context;

	if (cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuMemsetD32Async(0, 0, 0, CU_STREAM_PER_THREAD) ||
	    cuStreamGetId(CU_STREAM_PER_THREAD, id))
		return id;
	return NULL;
}

TEST_F(stream, per_thread_default)
{
	CUresult (*query)(CUstream stream), (*fill)(CUdeviceptr, unsigned int, size_t, CUstream);
	CUdriverProcAddressQueryResult status;
	unsigned long long own, legacy, other = 0;
	pthread_t thread;
	void *failed = NULL;

	ASSERT_OK(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
	ASSERT_OK(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
	EXPECT_NE(own, legacy);
	ASSERT_EQ(0, pthread_create(&thread, NULL, id_of_own, &other));
	ASSERT_EQ(0, pthread_join(thread, &failed));
	EXPECT_EQ(NULL, failed);
	EXPECT_NE(own, other);

	/* it is a blocking stream; with these functions, NULL is it */
	ASSERT_OK(cuGetProcAddress("cuMemsetD32Async", (void **)&fill, 12000,
				   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	ASSERT_OK(cuGetProcAddress("cuStreamQuery", (void **)&query, 12000,
				   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	HOLD(CU_STREAM_LEGACY);
	ASSERT_OK(fill(AT(0), 4, 1, NULL));
	EXPECT_CU(CUDA_ERROR_NOT_READY, query(NULL));
	EXPECT_WAITS(CU_STREAM_PER_THREAD);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	EXPECT_EQ(4, self->at[0]);
	/* the legacy stream may have none, and this one has: no mixing up */
	self->gate[0] = 0;
	HOLD(CU_STREAM_PER_THREAD);
	EXPECT_CU(CUDA_ERROR_NOT_READY, query(NULL));
	LET_GO();
}

TEST_F(stream, context_synchronize_waits_for_all)
{
	pthread_t thread;

	HOLD(self->free);
	SET(0, 1, self->free);
	thread = LET_GO_LATER();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(1, self->at[0]);
	pthread_join(thread, NULL);
}

/* ---- host functions ---- */

static void sigmask_of(void *mask)
{
	pthread_sigmask(SIG_BLOCK, NULL, mask);
}

TEST_F(stream, threads_block_signals)
{
	sigset_t mask;

	sigemptyset(&mask);
	ASSERT_OK(cuLaunchHostFunc(self->first, sigmask_of, &mask));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, sigismember(&mask, SIGTERM));
	EXPECT_EQ(1, sigismember(&mask, SIGPROF));
	EXPECT_EQ(1, sigismember(&mask, SIGUSR1));
}

struct seen {
	CUstream stream;
	CUresult status, inside;
};

static void look(CUstream stream, CUresult status, void *data)
{
	struct seen *seen = data;

	seen->stream = stream;
	seen->status = status;
	seen->inside = cuStreamSynchronize(stream);
}

TEST_F(stream, callbacks_may_not_call)
{
	struct seen seen = { .status = CUDA_ERROR_UNKNOWN };

	EXPECT_INVALID(cuStreamAddCallback(self->first, look, &seen, 1));
	EXPECT_INVALID(cuStreamAddCallback(self->first, NULL, &seen, 0));
	EXPECT_INVALID(cuLaunchHostFunc(self->first, NULL, NULL));
	ASSERT_OK(cuStreamAddCallback(self->first, look, &seen, 0));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(self->first, seen.stream);
	EXPECT_CU(CUDA_SUCCESS, seen.status);
	EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, seen.inside);
}

/* ---- words ---- */

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
	{ CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH, 5, 6, 5, 0 },
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
	EXPECT_INVALID(cuStreamWaitValue32(self->first, AT(0) + 2, 0, 0));
	EXPECT_INVALID(cuStreamWaitValue64(self->first, AT(1), 0, 0));
	EXPECT_INVALID(cuStreamWriteValue64(self->first, AT(1), 0, 0));
	EXPECT_INVALID(cuStreamWaitValue32(self->first, AT(0), 0, 4));
	EXPECT_INVALID(cuStreamWriteValue32(self->first, AT(0), 0, 2));
	EXPECT_INVALID(cuStreamWriteValue32(self->first, AT(CHUNK / 4), 0, 0));
	EXPECT_INVALID(cuStreamWaitValue32(self->first, 0, 0, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuStreamWriteValue32(self->first, AT(0), 0,
				       CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
	EXPECT_OK(cuStreamQuery(self->first));
}

TEST_F(stream, write_value)
{
	uint64_t host[2] = { -1ULL, -1ULL };

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
	CUmemGenericAllocationHandle team = full_team(2, CHUNK), part[2];
	volatile uint32_t *plain[2], *window;
	int i;

	for (i = 0; i < 2; i++) {
		part[i] = memory(i, CHUNK);
		plain[i] = mapped(part[i], CHUNK, i);
		ASSERT_OK(cuMulticastBindMem(team, 0, part[i], 0, CHUNK, 0));
	}
	window = mapped(team, CHUNK, 0);
	ASSERT_OK(cuStreamWriteValue32(self->first, ADDRESS(window + 3), 77, 0));
	ASSERT_OK(cuStreamWaitValue32(self->first, ADDRESS(window + 3), 77,
				      CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(77, plain[0][3]);
	EXPECT_EQ(77, plain[1][3]);
}

/* The fixture's process has no peers; its memory has. */
TEST_F(stream, other_processes_words)
{
	uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
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
	EXPECT_EQ(0, ended(pid));
}

static void *count_up(void *argument)
{
	volatile uint64_t *word = argument;
	uint64_t i;

	/* the word behind it says when to stop */
	for (i = 1; !__atomic_load_n(&word[1], __ATOMIC_RELAXED); i++)
		*word = i << 32 | (uint32_t)i;
	return NULL;
}

/* Both halves are always of one store, read by copies as by waits. */
TEST_F(stream, words_are_never_torn)
{
	uint64_t seen = 0;
	unsigned int i, torn = 0;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, count_up, (void *)self->at));
	for (i = 0; i < loops(20000); i++) {
		ASSERT_OK(cuMemcpyDtoH(&seen, AT(0), 8));
		torn += seen >> 32 != (uint32_t)seen;
	}
	EXPECT_EQ(0, torn);
	EXPECT_NE(0, seen);
	__atomic_store_n((uint64_t *)(self->at + 2), 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

TEST_F(stream, waiting_costs_little)
{
	struct timespec used;

	HOLD(self->first);
	HOLD(self->second);
	usleep(200000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	sleep(2);
	EXPECT_WAITS(self->first);
	/* two that spin would use four seconds; emulated machines are slow */
	{
		struct timespec now;
		double cost;

		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		cost = (now.tv_sec - used.tv_sec) + (now.tv_nsec - used.tv_nsec) * 1e-9;
		EXPECT_LT(cost, 1.5);
		TH_LOG("two waits for two seconds used %.3f s", cost);
	}
	LET_GO();
}

TEST_F(stream, batch)
{
	CUstreamBatchMemOpParams params[5] = {};

	params[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	params[0].waitValue.address = ADDRESS(self->gate);
	params[0].waitValue.value = 1;
	params[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	params[1].writeValue.address = AT(0);
	params[1].writeValue.value = 1;
	params[2].operation = CU_STREAM_MEM_OP_BARRIER;
	params[3].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
	params[4].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	params[4].writeValue.address = AT(0);
	params[4].writeValue.value64 = 0x200000003;

	ASSERT_OK(cuStreamBatchMemOp(self->first, 5, params, 0));
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(3, self->at[0]);
	EXPECT_EQ(2, self->at[1]);

	/* one is wrong: none is done */
	self->at[0] = 0;
	params[4].writeValue.address = AT(1);
	EXPECT_INVALID(cuStreamBatchMemOp(self->first, 5, params, 0));
	params[4].operation = 99;
	EXPECT_INVALID(cuStreamBatchMemOp(self->first, 5, params, 0));
	EXPECT_INVALID(cuStreamBatchMemOp(self->first, 257, params, 0));
	EXPECT_INVALID(cuStreamBatchMemOp(self->first, 1, params, 1));
	EXPECT_INVALID(cuStreamBatchMemOp(self->first, 1, NULL, 0));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0, self->at[0]);
}

/* ---- copies ---- */

TEST_F(stream, async_arguments_are_checked_at_the_call)
{
	uint32_t host = 0;

	HOLD(self->first);
	EXPECT_INVALID(cuMemcpyHtoDAsync(AT(CHUNK / 4 - 1), &host, 8, self->first));
	EXPECT_INVALID(cuMemcpyHtoDAsync(AT(0), NULL, 4, self->first));
	EXPECT_INVALID(cuMemcpyDtoDAsync(AT(0), ADDRESS(&host), 4, self->first));
	EXPECT_INVALID(cuMemsetD32Async(AT(0) + 2, 0, 1, self->first));
	EXPECT_INVALID(cuMemsetD8Async(ADDRESS(&host), 0, 1, self->first));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuMemsetD32Async(AT(0), 0, 1, (CUstream)0x1234));
	LET_GO();
	EXPECT_OK(cuStreamSynchronize(self->first));
}

TEST_F(stream, host_source_may_change_after_the_call)
{
	uint32_t host[64], i;

	for (i = 0; i < 64; i++)
		host[i] = i;
	HOLD(self->first);
	ASSERT_OK(cuMemcpyHtoDAsync(AT(0), host, sizeof(host), self->first));
	memset(host, 0xff, sizeof(host));
	EXPECT_EQ(0, self->at[63]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[1]);
	EXPECT_EQ(63, self->at[63]);
}

TEST_F(stream, host_destination_is_written_at_return)
{
	uint32_t host = 0;
	pthread_t thread;

	HOLD(self->first);
	SET(0, 8, self->first);
	thread = LET_GO_LATER();
	ASSERT_OK(cuMemcpyDtoHAsync(&host, AT(0), 4, self->first));
	EXPECT_EQ(8, host);
	pthread_join(thread, NULL);
}

/* Neither device reaches the other's side. */
TEST_F(stream, peer_copies)
{
	volatile uint32_t *other = mapped(memory(1, CHUNK), CHUNK, 1);
	CUcontext context, peer;

	ASSERT_OK(cuCtxGetCurrent(&context));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
	self->at[0] = 11;
	EXPECT_INVALID(cuMemcpyDtoD(ADDRESS(other), AT(0), 4));
	ASSERT_OK(cuMemcpyPeer(ADDRESS(other), peer, AT(0), context, 4));
	EXPECT_EQ(11, other[0]);
	EXPECT_INVALID(cuMemcpyPeer(ADDRESS(other), context, AT(0), peer, 4));
	other[0] = 12;
	ASSERT_OK(cuMemcpyPeerAsync(AT(1), context, ADDRESS(other), peer, 4, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(12, self->at[1]);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
		  cuMemcpyPeer(ADDRESS(other), (CUcontext)0x5, AT(0), context, 4));
}

/* ---- failures ---- */

TEST_F(stream, late_failures_stay)
{
	struct seen seen = {};
	CUdeviceptr gone = ADDRESS(mapped(memory(0, CHUNK), CHUNK, 0));
	CUcontext context;
	CUstream stream;
	int calls = 0;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	HOLD(stream);
	ASSERT_OK(cuMemsetD32Async(gone, 1, 1, stream));
	ASSERT_OK(cuLaunchHostFunc(stream, add_one, &calls));
	ASSERT_OK(cuStreamAddCallback(stream, look, &seen, 0));
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	LET_GO();
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
	EXPECT_EQ(0, calls);
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, seen.status);
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamQuery(stream));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32Async(AT(0), 1, 1, stream));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemsetD32(AT(0), 1, 1));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
	/* of that context only */
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
	EXPECT_OK(cuStreamQuery(self->first));
	EXPECT_OK(cuCtxSynchronize());
}

TEST_F(stream, waits_for_memory_that_goes)
{
	CUdeviceptr gone = ADDRESS(mapped(memory(0, CHUNK), CHUNK, 0));

	ASSERT_OK(cuStreamWaitValue32(self->first, gone, 1, CU_STREAM_WAIT_VALUE_EQ));
	usleep(20000);
	EXPECT_WAITS(self->first);
	ASSERT_OK(cuMemUnmap(gone, CHUNK));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->first));
}

/* What is queued is left out, and waits end. */
TEST_F(stream, context_ends_with_work)
{
	CUcontext context;
	CUstream stream;
	unsigned int i;

	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&stream, 0));
	HOLD(stream);
	SET(0, 1, stream);
	SET(1, 1, NULL);
	SET(2, 1, CU_STREAM_PER_THREAD);
	ASSERT_OK(cuCtxDestroy(context));
	for (i = 0; i < 500 && threads() > 1; i++)
		usleep(10000);
	EXPECT_EQ(1, threads());
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(0, self->at[1]);
	EXPECT_EQ(0, self->at[2]);
}

TEST_F(stream, child_of_fork)
{
	pid_t pid;

	HOLD(self->first);
	SET(0, 1, self->first);
	pid = fork();
	if (!pid) {
		alarm(20);
		exit(cuStreamSynchronize(self->first) != CUDA_ERROR_NOT_INITIALIZED ||
		     cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED ||
		     cuStreamDestroy(self->first) != CUDA_ERROR_NOT_INITIALIZED ||
		     cuMemsetD32Async(AT(0), 1, 1, NULL) != CUDA_ERROR_NOT_INITIALIZED);
	}
	EXPECT_EQ(0, ended(pid));
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[0]);
}

TEST(exit_with_work_queued)
{
	pid_t pid = fork();

	if (!pid) {
		static uint32_t never;
		CUstream stream;
		unsigned int i;

		alarm(20);
		cuda_start(0);
		for (i = 0; i < 4; i++) {
			ASSERT_OK(cuStreamCreate(&stream, 0));
			ASSERT_OK(cuStreamWaitValue32(stream, ADDRESS(&never), 1, 0));
			ASSERT_OK(cuMemsetD32Async(0, 0, 0, NULL));
		}
		exit(3);
	}
	EXPECT_EQ(3 << 8, ended(pid));
}

/* ---- what there is to ask ---- */

TEST_F(stream, what_it_is)
{
	CUcontext context, current;
	unsigned long long id[2];
	unsigned int flags = 9;
	CUgreenCtx green = (CUgreenCtx)&flags;
	CUdevice device = 9;
	CUstream stream;
	int priority = 9;

	ASSERT_OK(cuCtxGetCurrent(&current));
	ASSERT_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100));
	EXPECT_OK(cuStreamGetFlags(stream, &flags));
	EXPECT_EQ(CU_STREAM_NON_BLOCKING, flags);
	EXPECT_OK(cuStreamGetFlags(self->first, &flags));
	EXPECT_EQ(CU_STREAM_DEFAULT, flags);
	EXPECT_OK(cuStreamGetPriority(stream, &priority));
	EXPECT_EQ(0, priority);
	EXPECT_OK(cuStreamGetDevice(stream, &device));
	EXPECT_EQ(0, device);
	EXPECT_OK(cuStreamGetCtx(stream, &context));
	EXPECT_EQ(current, context);
	context = NULL;
	EXPECT_OK(cuStreamGetCtx_v2(NULL, &context, &green));
	EXPECT_EQ(current, context);
	EXPECT_EQ(NULL, green);
	EXPECT_OK(cuStreamGetId(stream, &id[0]));
	EXPECT_OK(cuStreamGetId(self->first, &id[1]));
	EXPECT_NE(id[0], id[1]);

	EXPECT_INVALID(cuStreamCreate(&stream, 2));
	EXPECT_INVALID(cuStreamCreate(NULL, 0));
	EXPECT_INVALID(cuStreamGetFlags(stream, NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(CU_STREAM_LEGACY));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuStreamGetId((CUstream)0x77777777, &id[0]));
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuStreamSynchronize(NULL));
	EXPECT_OK(cuStreamSynchronize(self->first));
}

/* ---- many at once ---- */

#define CALLERS	4

struct caller {
	CUcontext context;
	CUdeviceptr at;
	CUstream streams[3];	/* all callers' */
	int *calls, failed;
};

/* Every call is good; whose work comes first is open. */
static void *call_around(void *argument)
{
	struct caller *caller = argument;
	unsigned int seed = (uintptr_t)caller >> 4, i, count = loops(300);
	CUevent event;
	CUstream own;

#define GOOD(call)	(caller->failed += (call) != CUDA_SUCCESS)
	GOOD(cuCtxSetCurrent(caller->context));
	GOOD(cuEventCreate(&event, 0));
	for (i = 0; i < count; i++) {
		CUstream some = caller->streams[rand_r(&seed) % 3];

		GOOD(cuMemsetD32Async(caller->at, i, 64, some));
		GOOD(cuEventRecord(event, some));
		GOOD(cuStreamWaitEvent(caller->streams[rand_r(&seed) % 3], event, 0));
		GOOD(cuLaunchHostFunc(some, add_one, caller->calls));
		switch (rand_r(&seed) % 8) {
		case 0:
			GOOD(cuStreamSynchronize(some));
			break;
		case 1:
			GOOD(cuMemsetD32Async(caller->at, 1, 64, NULL));
			break;
		case 2:
			GOOD(cuStreamCreate(&own, 0));
			GOOD(cuMemsetD32Async(caller->at, 2, 64, own));
			GOOD(cuLaunchHostFunc(own, add_one, caller->calls));
			GOOD(cuStreamDestroy(own));
			__atomic_sub_fetch(caller->calls, 1, __ATOMIC_RELAXED);
			break;
		case 3:
			GOOD(cuMemsetD32Async(caller->at, 3, 64, CU_STREAM_PER_THREAD));
			break;
		case 4:
			GOOD(cuEventSynchronize(event));
			break;
		case 5:
			GOOD(cuCtxSynchronize());
			break;
		}
	}
	GOOD(cuEventDestroy(event));
	return NULL;
}

TEST_F(stream, many_callers)
{
	struct caller callers[CALLERS];
	pthread_t thread[CALLERS];
	CUcontext context;
	int i, calls = 0;

	ASSERT_OK(cuCtxGetCurrent(&context));
	for (i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller) { .context = context, .at = AT(64 * i),
			.streams = { self->first, self->second, self->free }, .calls = &calls };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, call_around, &callers[i]));
	}
	for (i = 0; i < CALLERS; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
		EXPECT_EQ(0, callers[i].failed);
	}
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(CALLERS * loops(300), calls);
}

TEST_HARNESS_MAIN
