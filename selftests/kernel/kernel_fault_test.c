// SPDX-License-Identifier: MIT
/*
 * Kernels by name: what can go wrong in them, and what becomes of the context and of the program.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <memcast/trap.h>
#include "kernel_fixture.h"

MEMCAST_KERNEL(check, MEMCAST_ONCE, void *, size_t)
{
	memcastKernelCheck(at, PARAMETER(at, 0, void *), PARAMETER(at, 1, size_t));
}

static uint32_t __attribute__((noinline)) deeper(uint32_t depth)
{
	volatile char room[4096];

	for (unsigned int i = 0; i < sizeof(room); i++)
		room[i] = depth + 1;
	return depth ? deeper(depth - 1) + room[depth % sizeof(room)] : 0;
}

/* Odd depths: in one thread only */
MEMCAST_KERNEL(recurse, MEMCAST_THREADS, uint32_t)
{
	uint32_t depth = PARAMETER(at, 0, uint32_t);

	memcastSyncThreads(at);
	if (depth % 2 == 0 || at->thread_index.x == 5)
		deeper(depth);
}

MEMCAST_KERNEL(trap, MEMCAST_THREADS)
{
	memcastSyncThreads(at);
	memcastKernelFail(at, CUDA_ERROR_LAUNCH_FAILED, "as the code says");
}

/* Its threads wait for a word, and meet each time that they look at it. */
MEMCAST_KERNEL(meet, MEMCAST_THREADS, const uint32_t *, uint32_t)
{
	do
		memcastSyncThreads(at);
	while (__atomic_load_n(PARAMETER(at, 0, const uint32_t *), __ATOMIC_ACQUIRE) !=
	       PARAMETER(at, 1, uint32_t));
}

TEST_F(kernel, faults_at_nothing)
{
	CUdeviceptr bad = 0x7000000000;

	load_kernels();
	ASSERT_OK(LAUNCH("store", 2, 4, &bad));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS,
		   "kernel store, block (1, 0, 0), thread (2, 0, 0): store at 0x7000000000: ");
}

TEST_F(kernel, faults_at_freed_memory)
{
	CUdeviceptr address = 0;
	CUmemGenericAllocationHandle handle;

	load_kernels();
	handle = new_memory(0, CHUNK);
	address = ADDRESS(mapped(handle, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(address, CHUNK));
	ASSERT_OK(LAUNCH("store", 2, 4, &address));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store", "cuMemUnmap() took");
}

TEST_F(kernel, faults_at_read_only_memory)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	load_kernels();
	ASSERT_OK(LAUNCH("store", 2, 4, &page));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store");
}

TEST_F(kernel, checks_host_memory)
{
	char own[64];
	void *address = own;
	size_t bytes = 1 << 20;

	load_kernels();
	ASSERT_OK(LAUNCH("check", 1, 1, &self->memory, &bytes));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	bytes = sizeof(own);
	ASSERT_OK(LAUNCH("check", 1, 1, &address, &bytes));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel check", "cannot access");
}

TEST_F(kernel, stack_overflow)
{
	uint32_t depth = 4;

	load_kernels();
	ASSERT_OK(LAUNCH("recurse", 1, 8, &depth));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	depth = 1000;
	ASSERT_OK(LAUNCH("recurse", 1, 8, &depth));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel recurse, block (0, 0, 0), thread (0, 0, 0)");
}

/* A thread that reaches into the next stack, but not to a guard */
TEST_F(kernel, stack_overflow_by_little)
{
	uint32_t depth = 15;

	load_kernels();
	ASSERT_OK(LAUNCH("recurse", 1, 8, &depth));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel recurse, block (0, 0, 0), thread (5, 0, 0)",
		   "stack has overflowed");
}

TEST_F(kernel, traps)
{
	load_kernels();
	ASSERT_OK(LAUNCH("trap", 1, 8, NULL));
	EXPECT_END(CUDA_ERROR_LAUNCH_FAILED, "kernel trap", "as the code says");
}

/* Kernels that wait at barriers which their shapes do not have */
MEMCAST_KERNEL(turns, MEMCAST_THREADS, uint32_t *)
{
	memcastSyncGrid(at);
}

MEMCAST_KERNEL(sum, MEMCAST_THREADS_ALONE, uint32_t *, const uint32_t *)
{
	memcastSyncThreads(at);
}

TEST_F(kernel, barrier_of_a_grid_in_blocks)
{
	load_kernels();
	ASSERT_OK(LAUNCH("turns", 2, 4, &self->memory));
	EXPECT_END(CUDA_ERROR_LAUNCH_FAILED, "kernel turns",
		   "memcastSyncGrid() is for MEMCAST_GRID");
}

TEST_F(kernel, barrier_of_threads_alone)
{
	load_kernels();
	ASSERT_OK(LAUNCH("sum", 2, 4, &self->memory, &self->memory));
	EXPECT_END(CUDA_ERROR_LAUNCH_FAILED, "kernel sum",
		   "memcastSyncThreads() is for MEMCAST_THREADS and MEMCAST_GRID");
}

static volatile int *volatile nowhere = (volatile int *)8;

static void on_fault(int number)
{
	_exit(number == SIGSEGV ? 42 : 1);
}

/* A fault outside of kernels goes to the program's own handler, as before. */
TEST_F(kernel, others_faults_stay)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, on_fault);
		load_kernels();
		EXPECT_OK(LAUNCH("trap", 1, 1, NULL));
		EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
		*nowhere = 1;
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(42, WEXITSTATUS(status));
}

static void ask_library(int number, siginfo_t *info, void *context)
{
	if (!memcastTrap(number, info, context))
		_exit(2);
}

/* Return: how many threads of this process block a signal */
static int count_blocking(int number)
{
	DIR *threads = opendir("/proc/self/task");
	unsigned long long blocked;
	char path[300], line[100];
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(threads))) {
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		status = fopen(path, "r");
		while (status && fgets(line, sizeof(line), status))
			if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
				count += blocked >> (number - 1) & 1;
		if (status)
			fclose(status);
	}
	closedir(threads);
	return count;
}

/* Linux blocks the signal for a handler, which the end of the launch leaves by a jump. */
TEST_F(kernel, faults_by_way_of_a_handler_of_the_program)
{
	struct sigaction action = { .sa_sigaction = ask_library, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	CUdeviceptr bad = 0x7000000000;

	load_kernels();
	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	ASSERT_OK(LAUNCH("store", 2, 4, &bad));
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store");
	EXPECT_EQ(0, count_blocking(SIGSEGV));
}

/* A failure ends the kernels of its device that wait. */
TEST_F(kernel, traps_end_kernels_that_wait)
{
	uint32_t value = 1;
	CUstream other[2];

	load_kernels();
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(cuStreamCreate(&other[i], CU_STREAM_NON_BLOCKING));
		ASSERT_OK(launch(self->module, other[i], i ? "wait_word" : "meet", 1, 1 + i,
				 (void *[]) { &self->memory, &value }));
	}
	ASSERT_OK(LAUNCH("trap", 1, 2));
	EXPECT_END(CUDA_ERROR_LAUNCH_FAILED, "as the code says");
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(other[0]));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(other[1]));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
}

/* A process is killed in a kernel that never ends; the fixture checks that its memory is back. */
TEST_F(kernel, endless)
{
	int pipes[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		uint32_t value = 1;

		load_kernels();
		ASSERT_OK(LAUNCH("wait_word", 1, 1, &self->memory, &value));
		ASSERT_EQ(1, write(pipes[1], "", 1));
		pause();
	}
	close(pipes[1]);
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_HARNESS_MAIN
