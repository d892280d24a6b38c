// SPDX-License-Identifier: MIT
/*
 * MEMCAST_HOST_ACCESS=forbid: the program's own code reaches no device memory, in five ways; copies,
 * kernels and views do. Programs fork before cuInit(), as a child of fork() has no device memory.
 */
#include <fcntl.h>
#include <memcast/multimem.h>
#include <signal.h>
#include "kernel_fixture.h"
#include "peers.h"
#include "processor.h"
#include "reason.h"

#define LOG	"/tmp/host-access.log"

FIXTURE(forbid)
{
	int unused;
};

FIXTURE_SETUP(forbid)
{
	if (!KEYS_KNOWN)
		SKIP(return, "it takes protection keys, and these processors have none");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
}
NOTHING_LEFT(forbid)

/* What a child of the test does with memory that is not its own. Without optimisation away. */
static void load(volatile uint32_t *at) { (void)*at; }
static void store(volatile uint32_t *at) { *at = 1; }
static void copy(volatile uint32_t *at) { memcpy((void *)at, LOG, 8); }
static void add(volatile uint32_t *at) { __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); }

/* Linux reads the buffer of a system call for the program, with the program's keys. */
static void give_to_kernel(volatile uint32_t *at)
{
	int ends[2];

	if (!pipe(ends) && write(ends[1], (const void *)at, 4) < 0 && errno == EFAULT &&
	    write(ends[1], LOG, 4) == 4 && read(ends[0], (void *)at, 4) < 0 && errno == EFAULT)
		_exit(99);
}

/* Memory that @how is to access */
static volatile uint32_t *plain(struct __test_metadata *_metadata)
{
	CUdeviceptr at;

	EXPECT_OK(cuMemAlloc(&at, CHUNK));
	return (void *)(at + 16);
}

static volatile uint32_t *ordered(struct __test_metadata *_metadata)
{
	CUdeviceptr at;

	EXPECT_OK(cuMemAllocAsync(&at, CHUNK, 0));
	EXPECT_OK(cuStreamSynchronize(0));
	return (void *)at;
}

static volatile uint32_t *mapped_by_hand(struct __test_metadata *_metadata)
{
	return mapped(new_memory(0, CHUNK), CHUNK, 0);
}

static volatile uint32_t *variable(struct __test_metadata *_metadata)
{
	CUmodule module;
	CUdeviceptr at;
	size_t bytes;

	EXPECT_OK(cuModuleLoadData(&module, text));
	EXPECT_OK(cuModuleGetGlobal(&at, &bytes, module, "word"));
	return (void *)at;
}

static volatile uint32_t *window(struct __test_metadata *_metadata)
{
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);

	for (int i = 0; i < 2; i++)
		EXPECT_OK(cuMulticastBindMem(team, 0, new_memory(i, CHUNK), 0, CHUNK, 0));
	return mapped(team, CHUNK, 0);
}

/* Runs @how at an address that @where gives, in a program of its own. Return: its status */
static int try(struct __test_metadata *_metadata, void (*how)(volatile uint32_t *at),
	       volatile uint32_t *(*where)(struct __test_metadata *_metadata))
{
	volatile uint32_t *at;
	int link, log, status;
	pid_t pid = peer_fork(&link);

	EXPECT_LE(0, pid);
	if (!pid) {
		cuda_start(0);
		at = where(_metadata);
		log = open(LOG, O_CREAT | O_TRUNC | O_WRONLY, 0600);
		dup2(log, 2);
		how(at);
		_exit(0);
	}
	status = reap_child(pid);
	peer_close(link);
	return status;
}

#define EXPECT_REFUSED(how, where, names...)	\
	expect_refused(_metadata, how, where, (const char *[]) { names, NULL })
static void expect_refused(struct __test_metadata *_metadata, void (*how)(volatile uint32_t *at),
			   volatile uint32_t *(*where)(struct __test_metadata *_metadata),
			   const char *const *names)
{
	int status = try(_metadata, how, where);
	char said[4096];

	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	read_file(said, sizeof(said), LOG);
	EXPECT_SAYS(said, "MEMCAST_HOST_ACCESS=forbid: the program ");
	for (; *names; names++)
		EXPECT_SAYS(said, *names);
	EXPECT_EQ(1, count_lines(said)) TH_LOG("%s", said);
}

TEST_F(forbid, five_ways)
{
	int status;

	EXPECT_REFUSED(load, plain, " loads from device memory: ", "(./host_access_test+",
		       ", byte 16 of 2097152 by cuMemAlloc(), device 0; use cuMemcpyDtoH()");
	EXPECT_REFUSED(store, plain, " stores to device memory: ", "(./host_access_test+", "use cuMemcpyHtoD()");
	EXPECT_REFUSED(copy, plain, " by cuMemAlloc(), device 0");
	EXPECT_REFUSED(add, plain, " by cuMemAlloc(), device 0");
	status = try(_metadata, give_to_kernel, plain);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(99, WEXITSTATUS(status));
}

TEST_F(forbid, all_device_memory)
{
	EXPECT_REFUSED(store, ordered, " by cuMemAllocAsync(), device 0");
	EXPECT_REFUSED(store, mapped_by_hand, " by cuMemMap(), device 0");
	EXPECT_REFUSED(store, variable, "byte 0 of 4 by cuModuleGetGlobal(), device 0");
	EXPECT_REFUSED(store, window, " by cuMemMap(), team ");
	EXPECT_REFUSED(load, window, " by cuMemMap(), team ");
}

/* By default all of it works. */
TEST(allowed)
{
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "allow", 1));
	EXPECT_EQ(0, try(_metadata, load, plain));
	EXPECT_EQ(0, try(_metadata, store, mapped_by_hand));
	EXPECT_EQ(0, try(_metadata, store, window));
	ASSERT_EQ(0, unsetenv("MEMCAST_HOST_ACCESS"));
	EXPECT_EQ(0, try(_metadata, store, variable));
}

TEST(unknown_word)
{
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "no", 1));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuInit(0));
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
}

/* Where there are no keys, no program runs as if its accesses were refused. */
TEST(refused_without_keys)
{
	if (KEYS_KNOWN)
		SKIP(return, "these processors have protection keys");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
	EXPECT_CU_REASON(CUDA_ERROR_NOT_SUPPORTED, cuInit(0),
			 "MEMCAST_HOST_ACCESS=forbid: memcast does that on x86-64 only");
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxSynchronize());
}

/* The host's memory, in whatever way it came, stays the program's own. */
TEST_F(forbid, memory_of_the_host)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { .type = CU_MEM_LOCATION_TYPE_HOST_NUMA },
	};
	CUmemAccessDesc access = {
		.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr managed, at;
	void *pinned;

	cuda_start(0);
	ASSERT_OK(cuMemAllocHost(&pinned, 4096));
	EXPECT_EQ(0, try_store(pinned, 1));
	ASSERT_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(0, try_store((void *)managed, 1));
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	at = reserve(CHUNK);
	ASSERT_OK(cuMemMap(at, CHUNK, 0, handle, 0));
	ASSERT_OK(cuMemSetAccess(at, CHUNK, &access, 1));
	EXPECT_EQ(0, try_store((void *)at, 1));
}

static volatile int seen;

static void CUDA_CB touches(void *at)
{
	seen = try_load(at, NULL);
}

/* Copies, fills, kernels and views work; functions of the program in a stream are the program's. */
TEST_F(kernel, with_host_access_forbidden)
{
	CUmemGenericAllocationHandle team;
	CUdeviceptr other, bad = 0x7000000000;
	struct memcast_view view;
	uint32_t word = 0, value = 7;

	if (!KEYS_KNOWN)
		SKIP(return, "it takes protection keys, and these processors have none");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
	load_kernels();
	EXPECT_EQ(SIGSEGV, try_load((void *)self->memory, NULL));
	ASSERT_OK(LAUNCH("fill", 1, 8, &self->memory, &value));
	ASSERT_OK(cuStreamWriteValue32(self->stream, self->memory + 64, 9, 0));
	ASSERT_OK(cuLaunchHostFunc(self->stream, touches, (void *)self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(SIGSEGV, seen);
	EXPECT_OK(cuMemcpyDtoH(&word, self->memory + 28, 4));
	EXPECT_EQ(7, word);
	EXPECT_OK(cuMemcpyDtoH(&word, self->memory + 64, 4));
	EXPECT_EQ(9, word);
	ASSERT_OK(cuMemAlloc(&other, CHUNK));
	EXPECT_OK(cuMemcpyDtoD(other, self->memory, 32));

	team = complete_team(2, CHUNK);
	for (int i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(i, CHUNK), 0, CHUNK, 0));
	ASSERT_OK(memcastViewCreate(&view, team, 0, CHUNK));
	multimem_st_u32(&view, 0, 5);
	EXPECT_EQ(10, multimem_ld_reduce_add_u32(&view, 0));
	EXPECT_OK(memcastViewDestroy(&view));

	/* a kernel that fails leaves the stream's thread by way of a signal handler */
	ASSERT_OK(LAUNCH("store", 2, 4, &bad));
	EXPECT_CU(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(self->stream));
	EXPECT_EQ(SIGSEGV, try_load((void *)self->memory, NULL));
}

/* A kernel's plain stores to a window reach all replicas; the signal's handler has the kernel's keys. */
TEST_F(kernel, windows_with_host_access_forbidden)
{
	CUmemGenericAllocationHandle team, memory[2];
	CUdeviceptr at, second;
	uint32_t word = 0, value = 3;

	if (!KEYS_KNOWN)
		SKIP(return, "it takes protection keys, and these processors have none");
	ASSERT_EQ(0, setenv("MEMCAST_HOST_ACCESS", "forbid", 1));
	load_kernels();
	team = complete_team(2, CHUNK);
	for (int i = 0; i < 2; i++)
		memory[i] = new_bound(team, i, CHUNK);
	at = ADDRESS(mapped(team, CHUNK, 0));
	second = ADDRESS(mapped(memory[1], CHUNK, 0));
	ASSERT_OK(LAUNCH("fill", 1, 8, &at, &value));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_OK(cuMemcpyDtoH(&word, second + 28, 4));
	EXPECT_EQ(3, word);
	EXPECT_EQ(SIGSEGV, try_load((void *)second, NULL));
}

TEST_HARNESS_MAIN
