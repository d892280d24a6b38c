// SPDX-License-Identifier: MIT
/* Kernels by name: launches, their order, and what goes wrong in them. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <memcast/kernel.h>
#include <memcast/multimem.h>
#include "log_lines.h"
#include "memcast_test.h"

#define STREAMS		32
#define LAUNCHES	10000

static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .global .u32 word = 7;\n"
	".visible .entry fill(.param .u64 to, .param .u32 value) { ret; }\n"
	".visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 add) { ret; }\n"
	".visible .entry sum(.param .u64 to, .param .u64 from) { .shared .b8 s[256]; ret; }\n"
	".visible .entry turns(.param .u64 to) { ret; }\n"
	".visible .entry store(.param .u64 to) { ret; }\n"
	".visible .entry check(.param .u64 at, .param .u64 bytes) { ret; }\n"
	".visible .entry recurse(.param .u32 depth) { ret; }\n"
	".visible .entry wait_word(.param .u64 at, .param .u32 value) { ret; }\n"
	".visible .entry trap() { trap; }\n"
	".visible .entry read_word(.param .u64 to) { ret; }\n"
	".visible .entry all_reduce(.param .u64 team) { ret; }\n"
	".visible .entry _Z5plainPi(.param .u64 to) .maxntid 64 { ret; }\n"
	".visible .entry late(.param .u64 to) { ret; }\n"
	".visible .entry unknown(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }\n";

#define PARAMETER	MEMCAST_PARAMETER

MEMCAST_KERNEL(fill, MEMCAST_THREADS_ALONE, uint32_t *, uint32_t)
{
	PARAMETER(at, 0, uint32_t *)[memcast_thread(at)] = PARAMETER(at, 1, uint32_t);
}

static uint32_t mixed(uint32_t to, uint32_t from, uint32_t add)
{
	return to * 3 + from + add;
}

MEMCAST_KERNEL(mix, MEMCAST_ONCE, uint32_t *, uint32_t *, uint32_t)
{
	uint32_t *to = PARAMETER(at, 0, uint32_t *);

	*to = mixed(*to, *PARAMETER(at, 1, uint32_t *), PARAMETER(at, 2, uint32_t));
}

/* A tree of sums in shared memory, a barrier between its levels */
MEMCAST_KERNEL(sum, MEMCAST_THREADS, uint32_t *, const uint32_t *)
{
	uint32_t *shared = at->static_shared, x = at->thread_index.x;

	shared[x] = PARAMETER(at, 1, const uint32_t *)[memcast_thread(at)];
	for (unsigned int half = at->block.x / 2; half; half /= 2) {
		memcastSyncThreads(at);
		if (x >= half)
			return;
		shared[x] += shared[x + half];
	}
	PARAMETER(at, 0, uint32_t *)[at->block_index.x] = shared[0];
}

/* Each block waits for all others, twice */
MEMCAST_KERNEL(turns, MEMCAST_GRID, uint32_t *)
{
	uint32_t *to = PARAMETER(at, 0, uint32_t *), sum = 0;
	uint32_t number = memcast_thread(at), all = at->grid.x * at->block.x;

	to[number] = number + 1;
	memcastSyncGrid(at);
	for (uint32_t i = 0; i < all; i++)
		sum += to[i];
	memcastSyncGrid(at);
	to[number] = sum;
}

MEMCAST_KERNEL(store, MEMCAST_THREADS_ALONE, volatile uint32_t *)
{
	if (at->block_index.x == 1 && at->thread_index.x == 2)
		*PARAMETER(at, 0, volatile uint32_t *) = 1;
}

MEMCAST_KERNEL(check, MEMCAST_ONCE, void *, size_t)
{
	memcastKernelCheck(at, PARAMETER(at, 0, void *), PARAMETER(at, 1, size_t));
}

static uint32_t __attribute__((noinline)) deeper(uint32_t depth)
{
	volatile char room[4096];

	room[depth % sizeof(room)] = depth;
	return depth ? deeper(depth - 1) + room[depth % sizeof(room)] : 0;
}

MEMCAST_KERNEL(recurse, MEMCAST_THREADS, uint32_t)
{
	deeper(PARAMETER(at, 0, uint32_t));
}

MEMCAST_KERNEL(wait_word, MEMCAST_ONCE, const uint32_t *, uint32_t)
{
	while (__atomic_load_n(PARAMETER(at, 0, const uint32_t *), __ATOMIC_ACQUIRE) !=
	       PARAMETER(at, 1, uint32_t))
		memcastYield(at);
}

MEMCAST_KERNEL(trap, MEMCAST_THREADS)
{
	memcastSyncThreads(at);
	memcastKernelFail(at, CUDA_ERROR_LAUNCH_FAILED, "as the code says");
}

MEMCAST_KERNEL(read_word, MEMCAST_ONCE, uint32_t *)
{
	*PARAMETER(at, 0, uint32_t *) = *(uint32_t *)memcastKernelVariable(at, "word");
}

MEMCAST_KERNEL(all_reduce, MEMCAST_THREADS_ALONE, float *)
{
	float *at_window = PARAMETER(at, 0, float *) + memcast_thread(at);

	multimem_st_f32_at(at_window, multimem_ld_reduce_add_f32_at(at_window));
}

MEMCAST_KERNEL(plain, MEMCAST_THREADS_ALONE, int *)
{
	__atomic_fetch_add(PARAMETER(at, 0, int *), 1, __ATOMIC_RELAXED);
}

FIXTURE(kernel)
{
	CUmodule module;
	CUstream stream;
	CUdeviceptr memory;
};

FIXTURE_SETUP(kernel) { }
NOTHING_LEFT(kernel)

/* What the test's own process has; a child of it comes before */
#define start()	start_(_metadata, self)
static void start_(struct __test_metadata *_metadata, FIXTURE_DATA(kernel) *self)
{
	cuda_start(0);
	ASSERT_OK(cuModuleLoadData(&self->module, text));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuMemAlloc(&self->memory, 1 << 20));
	ASSERT_OK(cuMemsetD32(self->memory, 0, 1 << 18));
}

static CUresult launch(CUmodule module, CUstream stream, const char *name, unsigned int grid,
		       unsigned int block, void **parameters)
{
	CUfunction function;
	CUresult result = cuModuleGetFunction(&function, module, name);

	return result ? result : cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream,
						parameters, NULL);
}

#define LAUNCH(name, grid, block, parameters...)	\
	launch(self->module, self->stream, name, grid, block, (void *[]) { parameters })

TEST_F(kernel, shapes)
{
	uint32_t *memory, value = 5, i;
	CUdeviceptr to;

	start();
	memory = (uint32_t *)self->memory;
	to = self->memory + 4096;
	ASSERT_OK(LAUNCH("fill", 4, 32, &self->memory, &value));
	value = 6;	/* it was copied */
	ASSERT_OK(LAUNCH("sum", 2, 64, &to, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (i = 0; i < 128; i++)
		EXPECT_EQ(5, memory[i]);
	EXPECT_EQ(5 * 64, memory[1024]);
	EXPECT_EQ(5 * 64, memory[1025]);
	ASSERT_OK(LAUNCH("turns", 3, 5, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (i = 0; i < 15; i++)
		EXPECT_EQ(15 * 16 / 2, memory[i]);
	memory[0] = 0;
	ASSERT_OK(LAUNCH("_Z5plainPi", 10, 64, &self->memory));
	ASSERT_OK(LAUNCH("read_word", 1, 1, &to));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(640, memory[0]);
	EXPECT_EQ(7, memory[1024]);
}

TEST_F(kernel, not_registered)
{
	CUdeviceptr a = 0;
	uint32_t c = 0;
	char log[4096];
	size_t size = sizeof(log);

	start();
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, LAUNCH("unknown", 1, 1, &a, &a, &c));
	ASSERT_OK(cuLogsDumpToMemory(NULL, log, &size, 0));
	EXPECT_NE(NULL, strstr(log, "kernel unknown(8, 8, 4) is not registered: memcast/kernel.h"));
	/* the context is as before */
	EXPECT_OK(LAUNCH("fill", 1, 1, &self->memory, &c));
	EXPECT_OK(cuCtxSynchronize());
}

static void nothing(const struct memcast_launch *at)
{
	(void)at;
}

TEST_F(kernel, registered_with_other_parameters)
{
	const size_t wrong[] = { 8, 4 }, right[] = { 8 };
	struct memcast_kernel late = {
		.size = sizeof(late), .name = "late", .function = nothing, .sizes = wrong,
		.count = 2,
	};

	/* before there is a module: at the first launch */
	ASSERT_OK(memcastKernelRegister(&late));
	EXPECT_INVALID(memcastKernelRegister(&late));
	start();
	EXPECT_INVALID(LAUNCH("late", 1, 1, &self->memory));
	/* with one: at once */
	late.count = 0;
	EXPECT_INVALID(memcastKernelRegister(&late));
	late.count = 1;
	late.sizes = right;
	EXPECT_OK(memcastKernelRegister(&late));
	EXPECT_OK(LAUNCH("late", 1, 1, &self->memory));
	EXPECT_OK(cuCtxSynchronize());
	late.name = NULL;
	EXPECT_INVALID(memcastKernelRegister(&late));
	EXPECT_INVALID(memcastKernelRegister(NULL));
}

TEST_F(kernel, wrong_shape)
{
	uint32_t value = 1;

	start();
	EXPECT_INVALID(LAUNCH("_Z5plainPi", 1, 65, &self->memory));
	EXPECT_INVALID(LAUNCH("fill", 0, 1, &self->memory, &value));
	EXPECT_INVALID(LAUNCH("fill", 1, 1025, &self->memory, &value));
	EXPECT_INVALID(LAUNCH("fill", 1, 1, &self->memory, NULL));
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  LAUNCH("turns", 100, 1024, &self->memory));
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, *(uint32_t *)self->memory);
}

/* Launches on many streams that wait for each other's events, as if done one by one */
TEST_F(kernel, order)
{
	static uint32_t expected[STREAMS];
	CUstream streams[STREAMS];
	CUfunction mix;
	CUevent event;
	uint32_t i, random = 1;

	start();
	ASSERT_OK(cuModuleGetFunction(&mix, self->module, "mix"));
	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (i = 0; i < STREAMS; i++)
		ASSERT_OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	for (i = 0; i < LAUNCHES; i++) {
		uint32_t to = (random = random * 1103515245 + 12345) >> 16;
		uint32_t from = (random = random * 1103515245 + 12345) >> 16;
		CUdeviceptr to_word, from_word;

		to %= STREAMS;
		from %= STREAMS;
		to_word = self->memory + 4 * to;
		from_word = self->memory + 4 * from;
		/* after what was last done to the word that is read, and before what is next */
		ASSERT_OK(cuEventRecord(event, streams[from]));
		ASSERT_OK(cuStreamWaitEvent(streams[to], event, 0));
		ASSERT_OK(cuLaunchKernel(mix, 1, 1, 1, 1, 1, 1, 0, streams[to],
					 (void *[]) { &to_word, &from_word, &i }, NULL));
		ASSERT_OK(cuEventRecord(event, streams[to]));
		ASSERT_OK(cuStreamWaitEvent(streams[from], event, 0));
		expected[to] = mixed(expected[to], expected[from], i);
	}
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, memcmp(expected, (void *)self->memory, sizeof(expected)));
}

/* Kernels in two streams, of which one waits in its code for what the other writes */
TEST_F(kernel, waits_in_its_code)
{
	CUstream other;
	uint32_t value = 77;

	start();
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(LAUNCH("wait_word", 1, 1, &self->memory, &value));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	ASSERT_OK(launch(self->module, other, "fill", 1, 1, (void *[]) { &self->memory, &value }));
	EXPECT_OK(cuStreamSynchronize(self->stream));
}

/* @names: what the log's line has */
#define ends_with(result, names...)	ends_with_(_metadata, self, result, (const char *[]) { names, NULL })
static void ends_with_(struct __test_metadata *_metadata, FIXTURE_DATA(kernel) *self,
		       CUresult result, const char *const *names)
{
	char log[8192];
	size_t size = sizeof(log);
	CUdeviceptr more;

	EXPECT_CU(result, cuStreamSynchronize(self->stream));
	EXPECT_CU(result, cuCtxSynchronize());
	EXPECT_CU(result, cuMemAlloc(&more, 4096));
	ASSERT_OK(cuLogsDumpToMemory(NULL, log, &size, 0));
	for (; *names; names++)
		EXPECT_NE(NULL, strstr(log, *names))
			TH_LOG("no '%s' in: %s", *names, log);
}

TEST_F(kernel, faults_at_nothing)
{
	CUdeviceptr bad = 0x7000000000;

	start();
	ASSERT_OK(LAUNCH("store", 2, 4, &bad));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS,
		  "kernel store, block (1, 0, 0), thread (2, 0, 0): store at 0x7000000000: ");
}

TEST_F(kernel, faults_at_freed_memory)
{
	CUdeviceptr address = 0;
	CUmemGenericAllocationHandle handle;

	start();
	handle = memory(0, CHUNK);
	address = ADDRESS(mapped(handle, CHUNK, 0));
	ASSERT_OK(cuMemUnmap(address, CHUNK));
	ASSERT_OK(LAUNCH("store", 2, 4, &address));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store", "cuMemUnmap() took");
}

TEST_F(kernel, faults_at_read_only_memory)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start();
	ASSERT_OK(LAUNCH("store", 2, 4, &page));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store");
}

TEST_F(kernel, checks_host_memory)
{
	char own[64];
	void *address = own;
	size_t bytes = 1 << 20;

	start();
	ASSERT_OK(LAUNCH("check", 1, 1, &self->memory, &bytes));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	bytes = sizeof(own);
	ASSERT_OK(LAUNCH("check", 1, 1, &address, &bytes));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel check", "cannot access");
}

TEST_F(kernel, stack_overflow)
{
	uint32_t depth = 3;

	start();
	ASSERT_OK(LAUNCH("recurse", 1, 8, &depth));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	depth = 1000;
	ASSERT_OK(LAUNCH("recurse", 1, 8, &depth));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel recurse, block (0, 0, 0), thread (0, 0, 0)");
}

TEST_F(kernel, traps)
{
	start();
	ASSERT_OK(LAUNCH("trap", 1, 8, NULL));
	ends_with(CUDA_ERROR_LAUNCH_FAILED, "kernel trap", "as the code says");
}

static volatile int *volatile nowhere = (volatile int *)8;

static void on_fault(int number)
{
	_exit(number == SIGSEGV ? 42 : 1);
}

/* A fault elsewhere is the program's, as ever. */
TEST_F(kernel, others_faults_stay)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, on_fault);
		start();
		EXPECT_OK(LAUNCH("trap", 1, 1, NULL));
		EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
		*nowhere = 1;
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(42, WEXITSTATUS(status));
}

/* Killed in a kernel that never ends: what it had is back, which the fixture looks at. */
TEST_F(kernel, endless)
{
	int pipes[2], status;
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		uint32_t value = 1;

		start();
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

/* The window's address as a parameter, in a stream and in a graph */
TEST_F(kernel, multimem)
{
	CUmemGenericAllocationHandle team, parts[2];
	volatile float *window, *replicas[2];
	CUgraphExec instance;
	CUgraph graph;

	start();
	team = full_team(2, CHUNK);
	for (int i = 0; i < 2; i++) {
		parts[i] = memory(i, CHUNK);
		ASSERT_OK(cuMulticastBindMem(team, 0, parts[i], 0, CHUNK, 0));
		replicas[i] = (void *)mapped(parts[i], CHUNK, i);
		for (int k = 0; k < 64; k++)
			replicas[i][k] = k + 1;
	}
	window = (void *)mapped(team, CHUNK, 0);
	ASSERT_OK(LAUNCH("all_reduce", 2, 32, &window));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (int k = 0; k < 64; k++) {
		EXPECT_EQ(2 * (k + 1), replicas[0][k]);
		EXPECT_EQ(2 * (k + 1), replicas[1][k]);
	}
	ASSERT_OK(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	ASSERT_OK(LAUNCH("all_reduce", 2, 32, &window));
	ASSERT_OK(cuStreamEndCapture(self->stream, &graph));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	for (int i = 0; i < 3; i++)
		ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	for (int k = 0; k < 64; k++)
		EXPECT_EQ(16 * (k + 1), replicas[1][k]);
	ASSERT_OK(cuGraphExecDestroy(instance));
	ASSERT_OK(cuGraphDestroy(graph));
}

/* A node's function and parameters may change; a fault in a graph is one, too. */
TEST_F(kernel, graph)
{
	CUdeviceptr bad = 16;
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 4, .blockDimY = 1,
		.blockDimZ = 1, .kernelParams = (void *[]) { &self->memory, &value },
	}, found;
	CUkernelNodeAttrValue attribute = { .priority = -1 };
	CUgraphExec instance;
	CUgraphNode node;
	CUgraph graph, clone;

	start();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	value = 4;
	ASSERT_OK(cuGraphKernelNodeGetParams(node, &found));
	EXPECT_EQ(3, *(uint32_t *)found.kernelParams[1]);
	EXPECT_EQ(params.func, found.func);
	ASSERT_OK(cuGraphClone(&clone, graph));
	ASSERT_OK(cuGraphInstantiate(&instance, clone, 0));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(3, ((uint32_t *)self->memory)[3]);
	EXPECT_EQ(0, ((uint32_t *)self->memory)[4]);
	ASSERT_OK(cuGraphExecDestroy(instance));

	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphExecKernelNodeSetParams(instance, node, &params));
	/* the module goes; the instance has what it needs */
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(4, ((uint32_t *)self->memory)[0]);
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	attribute.priority = 0;
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	EXPECT_EQ(-1, attribute.priority);

	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "store"));
	params.gridDimX = 2;
	params.kernelParams = (void *[]) { &bad };
	ASSERT_OK(cuGraphExecKernelNodeSetParams(instance, node, &params));
	ASSERT_OK(cuModuleUnload(self->module));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE,
		  cuGraphExecKernelNodeSetParams(instance, node, &params));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ends_with(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store", "at 0x10");
}

TEST_HARNESS_MAIN
