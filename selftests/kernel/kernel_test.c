// SPDX-License-Identifier: MIT
/* Kernels by name: launches and their order, in streams and graphs. */
#include <sys/mman.h>
#include <unistd.h>
#include <memcast/multimem.h>
#include "kernel_fixture.h"
#include "reason.h"
#include "role.h"

#define STREAMS		32
#define LAUNCHES	10000

static uint32_t mixed(uint32_t to, uint32_t from, uint32_t add)
{
	return to * 3 + from + add;
}

MEMCAST_KERNEL(mix, MEMCAST_ONCE, uint32_t *, uint32_t *, uint32_t)
{
	uint32_t *to = PARAMETER(at, 0, uint32_t *);

	*to = mixed(*to, *PARAMETER(at, 1, uint32_t *), PARAMETER(at, 2, uint32_t));
}

/* A tree of sums in shared memory, with a barrier between its levels */
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

/* Waits in the middle of a block until as many blocks as are expected have come. */
MEMCAST_KERNEL(meet, MEMCAST_THREADS, uint32_t *, uint32_t)
{
	uint32_t *met = PARAMETER(at, 0, uint32_t *);

	memcastSyncThreads(at);
	if (!at->thread_index.x)
		__atomic_fetch_add(met, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(met, __ATOMIC_ACQUIRE) < PARAMETER(at, 1, uint32_t))
		memcastYield(at);
	memcastSyncThreads(at);
	__atomic_fetch_add(&met[1], 1, __ATOMIC_RELAXED);
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

/* Stores a good while after it has begun. */
MEMCAST_KERNEL(slow, MEMCAST_ONCE, volatile uint32_t *)
{
	usleep(100000);
	*PARAMETER(at, 0, volatile uint32_t *) = 1;
}

/* Gets on for longer than a second, and gives its turn away for a while in between. */
MEMCAST_KERNEL(kind, MEMCAST_ONCE, volatile uint32_t *)
{
	for (int i = 0; i < 30; i++) {
		double end = now() + 0.04;

		while (now() < end)
			memcastYield(at);
		usleep(20000);
	}
	*PARAMETER(at, 0, volatile uint32_t *) = 1;
}

TEST_F(kernel, shapes)
{
	uint32_t *memory, value = 5, i;
	CUdeviceptr to;

	load_kernels();
	memory = (uint32_t *)self->memory;
	to = self->memory + 4096;
	ASSERT_OK(LAUNCH("fill", 4, 32, &self->memory, &value));
	value = 6;	/* the launch copied the value */
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

/* The memory of a context stays as long as its kernels run. */
TEST_F(kernel, runs_before_its_context_ends)
{
	volatile uint32_t done = 0;
	void *to = (void *)&done;
	CUdeviceptr other;

	load_kernels();
	ASSERT_OK(LAUNCH("slow", 1, 1, &self->memory));
	ASSERT_OK(LAUNCH("slow", 1, 1, &to));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_EQ(1, done);
	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&other, 4));
	EXPECT_OK(cuCtxSynchronize());
}

/* A kernel that yields now and then still gets on. */
TEST_F(kernel, yields_before_its_context_ends)
{
	volatile uint32_t done = 0;
	void *to = (void *)&done;

	load_kernels();
	ASSERT_OK(LAUNCH("kind", 1, 1, &to));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_EQ(1, done);
}

/* A kernel that waits for a word which nobody writes does not keep its context. */
TEST_F(kernel, waits_as_its_context_ends)
{
	static const char *const name[] = { "wait_word", "meet" };
	static uint32_t words[2];
	uint32_t *at = words, value = 5;

	for (int i = 0; i < 2; i++) {
		load_kernels();
		ASSERT_OK(LAUNCH(name[i], 1, 1 + i, &at, &value));
		ASSERT_OK(cuDevicePrimaryCtxReset(0));
	}
}

TEST_F(kernel, not_registered)
{
	CUdeviceptr a = 0;
	uint32_t c = 0;
	char log[4096];
	size_t size = sizeof(log);

	setenv("MEMCAST_PTX", "0", 1);
	load_kernels();
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, LAUNCH("unknown", 1, 1, &a, &a, &c));
	ASSERT_OK(cuLogsDumpToMemory(NULL, log, &size, 0));
	EXPECT_SAYS(log, "kernel unknown(8, 8, 4) is not registered: memcast/kernel.h");
	/* a refused launch leaves the context as it was */
	EXPECT_OK(LAUNCH("fill", 1, 1, &self->memory, &c));
	EXPECT_OK(cuCtxSynchronize());
}

/* Launches a kernel that cannot run, twice. */
static int refused(void)
{
	CUdeviceptr a = 0;
	uint32_t c = 0;
	void *parameters[] = { &a, &a, &c };
	CUfunction function;
	CUcontext context;
	CUmodule module;

	setenv("MEMCAST_PTX", "0", 1);
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, "unknown"))
		return 0;
	for (int i = 0; i < 2; i++)
		if (cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) !=
		    CUDA_ERROR_NOT_SUPPORTED)
			return 0;
	return 1;
}

static const struct role roles[] = {
	{ "refused", refused },
	{}
};

/* Without CUDA_LOG_FILE, stderr says once that a kernel cannot run, and what would. */
TEST_F(kernel, refused_aloud)
{
	char said[4096];

	EXPECT_EQ(0, run_role("refused", "NOTHING=", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_SAYS(said, "]: a kernel cannot run: kernel unknown(8, 8, 4) is not registered");
	EXPECT_SAYS(said, "nvcc -arch=compute_90, ");
	EXPECT_SAYS(said, "memcast-vm --kernels FILE, docs/stack/kernels.md");
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

	/* registered before there is a module: checked at the first launch */
	ASSERT_OK(memcastKernelRegister(&late));
	EXPECT_REASON(memcastKernelRegister(&late), "kernel late is registered already");
	load_kernels();
	EXPECT_REASON(LAUNCH("late", 1, 1, &self->memory),
		      "kernel late takes (#), but is registered with (#, #)");
	/* registered while there is a module: checked at once */
	late.count = 0;
	EXPECT_REASON(memcastKernelRegister(&late), "kernel late takes (#), not ()");
	late.count = 1;
	late.sizes = right;
	EXPECT_OK(memcastKernelRegister(&late));
	EXPECT_OK(LAUNCH("late", 1, 1, &self->memory));
	EXPECT_OK(cuCtxSynchronize());
	late.name = NULL;
	EXPECT_REASON(memcastKernelRegister(&late), "NULL pointer, no name, or no such shape");
	EXPECT_REASON(memcastKernelRegister(NULL), "NULL pointer, no name, or no such shape");
}

static void set_to_nine(const struct memcast_launch *at)
{
	*PARAMETER(at, 0, int *) = 9;
}

/* A function that fits a kernel's whole name replaces one that was found by a part of it. */
TEST_F(kernel, registered_by_a_better_name)
{
	const size_t sizes[] = { 8 };
	const struct memcast_kernel better = {
		.size = sizeof(better), .name = "_Z5plainPi", .function = set_to_nine,
		.sizes = sizes, .count = 1,
	};

	load_kernels();
	ASSERT_OK(LAUNCH("_Z5plainPi", 1, 1, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(1, *(uint32_t *)self->memory);
	ASSERT_OK(memcastKernelRegister(&better));
	ASSERT_OK(LAUNCH("_Z5plainPi", 1, 1, &self->memory));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(9, *(uint32_t *)self->memory);
}

/* Of a buffer that ends before the parameters do, no byte behind its end is read. */
TEST_F(kernel, a_short_buffer_of_parameters)
{
	size_t size = sizeof(self->memory), page = getpagesize();
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	char *at = pages + page - size;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, at, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			  CU_LAUNCH_PARAM_END };
	CUfunction function;

	load_kernels();
	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + page, page, PROT_NONE));
	memcpy(at, &self->memory, size);
	*(uint32_t *)self->memory = 5;
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "fill"));
	ASSERT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, self->stream, NULL, extra));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	/* the value, which is missing, is 0 */
	EXPECT_EQ(0, *(uint32_t *)self->memory);
	munmap(pages, 2 * page);
}

TEST_F(kernel, wrong_shape)
{
	uint32_t value = 1;
	CUfunction turns;

	load_kernels();
	EXPECT_REASON(LAUNCH("_Z5plainPi", 1, 65, &self->memory),
		      "# threads in a block, the most is #");
	EXPECT_REASON(LAUNCH("fill", 0, 1, &self->memory, &value), "a grid of #, #, # blocks");
	EXPECT_REASON(LAUNCH("fill", 1, 1025, &self->memory, &value), "a block of #, #, # threads");
	EXPECT_REASON(LAUNCH("fill", 1, 1, &self->memory, NULL), "NULL parameter #");
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  LAUNCH("turns", 100, 1024, &self->memory));
	/* 2^64 threads */
	ASSERT_OK(cuModuleGetFunction(&turns, self->module, "turns"));
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  cuLaunchKernel(turns, 1 << 30, 1 << 14, 1 << 14, 64, 1, 1, 0, self->stream,
				 (void *[]) { &self->memory }, NULL));
	EXPECT_OK(cuCtxSynchronize());
	EXPECT_EQ(0, *(uint32_t *)self->memory);
}

/* Events that a launch records are checked before it runs, or becomes a node. */
TEST_F(kernel, events_of_launches)
{
	CUlaunchAttribute attribute = { .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT };
	CUlaunchConfig config = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
		.blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
		.attrs = &attribute, .numAttrs = 1,
	};
	void *parameters[] = { &self->memory, &(uint32_t) { 5 } };
	CUcontext context, other;
	CUfunction function;
	CUevent own, others;
	size_t nodes = 1;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "fill"));
	ASSERT_OK(cuEventCreate(&own, 0));
	ASSERT_OK(cuCtxGetCurrent(&context));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&other, 1));
	ASSERT_OK(cuCtxSetCurrent(other));
	ASSERT_OK(cuEventCreate(&others, 0));
	ASSERT_OK(cuCtxSetCurrent(context));
	config.hStream = self->stream;
	attribute.value.programmaticEvent.event = others;
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernelEx(&config, function, parameters, NULL));
	ASSERT_OK(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernelEx(&config, function, parameters, NULL));
	ASSERT_OK(cuStreamEndCapture(self->stream, &graph));
	EXPECT_OK(cuGraphGetNodes(graph, NULL, &nodes));
	EXPECT_EQ(0, nodes);
	EXPECT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(0, *(uint32_t *)self->memory);
	/* a default stream is the function's context's */
	config.hStream = NULL;
	attribute.value.programmaticEvent.event = own;
	ASSERT_OK(cuCtxSetCurrent(NULL));
	EXPECT_OK(cuLaunchKernelEx(&config, function, parameters, NULL));
	EXPECT_OK(cuEventSynchronize(own));
	EXPECT_EQ(5, *(uint32_t *)self->memory);
	ASSERT_OK(cuCtxSetCurrent(context));
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuEventDestroy(own));
	EXPECT_OK(cuEventDestroy(others));
	EXPECT_OK(cuDevicePrimaryCtxRelease(1));
}

/* Launches on many streams that wait for each other's events give the result of one stream. */
/* An SM has 2048 threads: two blocks of 1024, and no third. */
TEST_F(kernel, room_for_blocks)
{
	CUfunction function;
	size_t dynamic = 77;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "fill"));
	EXPECT_REASON(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, function, 3, 1024),
		      "there is no room for # blocks");
	EXPECT_REASON(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, function, 0, 1024),
		      "NULL output, no blocks or no threads");
	EXPECT_EQ(77, dynamic);
	EXPECT_OK(cuOccupancyAvailableDynamicSMemPerBlock(&dynamic, function, 2, 1024));
	EXPECT_NE(77, dynamic);
}

TEST_F(kernel, order)
{
	static uint32_t expected[STREAMS];
	CUstream streams[STREAMS];
	CUfunction mix;
	CUevent event;
	uint32_t i, random = 1;

	load_kernels();
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
		/*
		 * the launch comes after the last change of the word that it reads, and before the
		 * next
		 */
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

/* Kernels in two streams, one of which loops until it sees what the other writes */
TEST_F(kernel, waits_in_its_code)
{
	CUstream other;
	uint32_t value = 77;

	load_kernels();
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(LAUNCH("wait_word", 1, 1, &self->memory, &value));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(self->stream));
	ASSERT_OK(launch(self->module, other, "fill", 1, 1, (void *[]) { &self->memory, &value }));
	EXPECT_OK(cuStreamSynchronize(self->stream));
}

/* A window's address as a kernel's parameter, in a stream and in a graph */
TEST_F(kernel, multimem)
{
	CUmemGenericAllocationHandle team, parts[2];
	volatile float *window, *replicas[2];
	CUgraphExec instance;
	CUgraph graph;

	load_kernels();
	team = complete_team(2, CHUNK);
	for (int i = 0; i < 2; i++) {
		parts[i] = new_bound(team, i, CHUNK);
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

/* Parameters of a node: @grid blocks of four threads fill the memory with @value. */
#define FILL(grid, value)							\
	.gridDimX = grid, .gridDimY = 1, .gridDimZ = 1,				\
	.blockDimX = 4, .blockDimY = 1, .blockDimZ = 1,				\
	.kernelParams = (void *[]) { &self->memory, value }

TEST_F(kernel, graph_as_text)
{
	CUDA_KERNEL_NODE_PARAMS params = { FILL(2, &(uint32_t) { 3 }) };
	int file = memfd_create("text", MFD_CLOEXEC);
	char path[32], text[512] = "";
	CUgraphNode node;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	ASSERT_OK(cuGraphDebugDotPrint(graph, path, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
	ASSERT_LT(0, pread(file, text, sizeof(text) - 1, 0));
	EXPECT_NE(NULL, strstr(text, "\"KERNEL\\nfill\\n2 x 1 x 1 blocks of 4 x 1 x 1 threads\""));
	EXPECT_OK(cuGraphDestroy(graph));
	close(file);
}

/*
 * A node's function and parameters may change; a fault of a kernel in a graph is reported as well.
 */
TEST_F(kernel, graph)
{
	CUdeviceptr bad = 16;
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(1, &value) }, found;
	CUkernelNodeAttrValue attribute = { .priority = -1 };
	CUgraphExec instance;
	CUgraphNode node;
	CUgraph graph, clone;

	load_kernels();
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
	/* the module goes; the instance keeps what it needs */
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
	EXPECT_END(CUDA_ERROR_ILLEGAL_ADDRESS, "kernel store", "at 0x10");
}

#define EXPECT_PORT(port, edge)								\
({											\
	EXPECT_EQ(port, (edge).from_port);						\
	EXPECT_EQ((port) ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC : 0, (edge).type);	\
})

/* Between kernels, edges may have a port, which is told by all that tells edges. */
TEST_F(kernel, programmatic_edges)
{
	uint32_t value = 3;
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_KERNEL,
		.kernel = { FILL(1, &value) },
	};
	CUgraphEdgeData edge = { .from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
				 .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC };
	CUgraphEdgeData order = edge, bad, got[4];
	CUgraphNode first, second, third, empty, nodes[4], others[4];
	CUgraphExec instance;
	CUgraph graph, clone;
	size_t count = 4;

	order.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.kernel.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddNode(&first, graph, NULL, NULL, 0, &params));
	value = 4;
	ASSERT_OK(cuGraphAddNode(&second, graph, &first, &edge, 1, &params));
	ASSERT_OK(cuGraphAddNode(&third, graph, &second, NULL, 1, &params));
	ASSERT_OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
	ASSERT_OK(cuGraphAddDependencies(graph, &first, &third, &order, 1));
#define BAD_EDGE(...)									\
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, ({ bad = (CUgraphEdgeData) { __VA_ARGS__ };	\
		  cuGraphAddNode(&nodes[0], graph, &first, &bad, 1, &params); }))
	BAD_EDGE(.type = 1);
	BAD_EDGE(.from_port = 1);
	BAD_EDGE(.from_port = 3, .type = 1);
	BAD_EDGE(.from_port = 1, .to_port = 1, .type = 1);
	BAD_EDGE(.from_port = 1, .type = 2);
	BAD_EDGE(.from_port = 1, .type = 1, .reserved = { 1 });
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddNode(&nodes[0], graph, &empty, &edge, 1, &params));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddDependencies(graph, &third, &empty, &edge, 1));
	/* a graph's edges, and a clone's */
	ASSERT_OK(cuGraphClone(&clone, graph));
	for (int i = 0; i < 2; i++) {
		count = 4;
		ASSERT_OK(cuGraphGetEdges(i ? clone : graph, nodes, others, got, &count));
		ASSERT_EQ(3, count);
		EXPECT_PORT(1, got[0]);
		EXPECT_PORT(2, got[1]);
		EXPECT_PORT(0, got[2]);
	}
	EXPECT_CU(CUDA_ERROR_LOSSY_QUERY, cuGraphGetEdges(graph, nodes, others, NULL, &count));
	EXPECT_OK(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
	ASSERT_OK(cuGraphNodeGetDependencies(third, nodes, got, &count));
	ASSERT_EQ(2, count);
	EXPECT_PORT(0, got[0]);
	EXPECT_PORT(2, got[1]);
	ASSERT_OK(cuGraphNodeGetDependentNodes(first, nodes, got, &count));
	ASSERT_EQ(2, count);
	EXPECT_PORT(1, got[0]);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphRemoveDependencies(graph, &first, &third, NULL, 1));
	ASSERT_OK(cuGraphRemoveDependencies(graph, &first, &third, &order, 1));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(4, ((uint32_t *)self->memory)[3]);
}

/* A captured stream's next node may have such edges; events hand them on. */
TEST_F(kernel, programmatic_edges_of_captures)
{
	const CUgraphEdgeData order = { .from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER,
					.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC }, *edges;
	CUstreamCaptureStatus state;
	const CUgraphNode *nodes;
	CUgraphNode from[4], to[4];
	CUgraphEdgeData got[4];
	uint32_t value = 3;
	size_t count;
	CUstream other;
	CUgraph graph;
	CUevent event;

	load_kernels();
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	ASSERT_OK(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASSERT_OK(LAUNCH("fill", 1, 4, &self->memory, &value));
	ASSERT_OK(cuStreamGetCaptureInfo(self->stream, &state, NULL, NULL, &nodes, &edges, &count));
	ASSERT_EQ(1, count);
	EXPECT_PORT(0, edges[0]);
	from[0] = nodes[0];
	ASSERT_OK(cuStreamUpdateCaptureDependencies(self->stream, from, &order, 1,
						    CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	ASSERT_OK(cuEventRecord(event, self->stream));
	ASSERT_OK(cuStreamWaitEvent(other, event, 0));
	EXPECT_CU(CUDA_ERROR_LOSSY_QUERY,
		  cuStreamGetCaptureInfo(other, &state, NULL, NULL, &nodes, NULL, &count));
	ASSERT_OK(cuStreamGetCaptureInfo(other, &state, NULL, NULL, &nodes, &edges, &count));
	ASSERT_EQ(1, count);
	EXPECT_EQ(from[0], nodes[0]);
	EXPECT_PORT(2, edges[0]);
	/* only a kernel can be behind such an edge */
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuMemsetD32Async(self->memory, 1, 1, self->stream));
	ASSERT_OK(LAUNCH("fill", 1, 4, &self->memory, &value));
	ASSERT_OK(cuStreamEndCapture(self->stream, &graph));
	count = 4;
	ASSERT_OK(cuGraphGetEdges(graph, from, to, got, &count));
	ASSERT_EQ(1, count);
	EXPECT_PORT(2, got[0]);
}

/* Attributes are no parameters: other parameters leave them, in a graph and in an instance. */
TEST_F(kernel, other_parameters_of_a_node_leave_its_attributes)
{
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(2, &value) };
	CUkernelNodeAttrValue attribute = { .clusterDim = { 2, 1, 1 } };
	CUgraphExec instance;
	CUgraphNode node;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));
	attribute = (CUkernelNodeAttrValue) { .cooperative = 1 };
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
						&attribute));
	attribute = (CUkernelNodeAttrValue) { .priority = -1 };
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	params.gridDimX = 4;
	ASSERT_OK(cuGraphKernelNodeSetParams(node, &params));
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));
	EXPECT_EQ(2, attribute.clusterDim.x);
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
						&attribute));
	EXPECT_EQ(1, attribute.cooperative);
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	EXPECT_EQ(-1, attribute.priority);
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	params.gridDimX = 3;
	EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuGraphKernelNodeSetParams(node, &params));
	EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE,
		  cuGraphExecKernelNodeSetParams(instance, node, &params));
	params.gridDimX = 1000000;
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  cuGraphKernelNodeSetParams(node, &params));
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  cuGraphExecKernelNodeSetParams(instance, node, &params));
	params.gridDimX = 6;
	value = 9;
	EXPECT_OK(cuGraphExecKernelNodeSetParams(instance, node, &params));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(9, *(uint32_t *)self->memory);
}

/*
 * Programs get the address of a node's parameters once, and change the node by it again and again.
 * Instances and copies have values of their own.
 */
TEST_F(kernel, parameters_of_a_node_stay_in_their_place)
{
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(1, &value) }, found, again;
	CUkernelNodeAttrValue attribute = { .priority = -1 };
	CUgraphExec instance, of_clone;
	CUgraph graph, clone;
	CUgraphNode node;

#define EXPECT_WORD(expected, instance)						\
({										\
	ASSERT_OK(cuGraphLaunch(instance, self->stream));			\
	ASSERT_OK(cuStreamSynchronize(self->stream));				\
	EXPECT_EQ(expected, *(uint32_t *)self->memory);				\
})
	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphClone(&clone, graph));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphKernelNodeGetParams(node, &found));
	*(uint32_t *)found.kernelParams[1] = 4;
	EXPECT_WORD(3, instance);
	ASSERT_OK(cuGraphInstantiate(&of_clone, clone, 0));
	EXPECT_WORD(3, of_clone);
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	ASSERT_OK(cuGraphKernelNodeCopyAttributes(node, node));
	ASSERT_OK(cuGraphKernelNodeSetParams(node, &found));
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	EXPECT_WORD(4, instance);
	for (value = 5; value < 9; value++) {
		found.kernelParams[1] = &value;
		ASSERT_OK(cuGraphKernelNodeSetParams(node, &found));
		ASSERT_OK(cuGraphKernelNodeGetParams(node, &again));
		EXPECT_EQ(found.kernelParams, again.kernelParams);
		EXPECT_NE(&value, again.kernelParams[1]);
		ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
		EXPECT_WORD(value, instance);
	}
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	EXPECT_EQ(-1, attribute.priority);
	/* an address that is not passed on changes nothing */
	found.kernelParams[1] = NULL;
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	EXPECT_WORD(8, instance);
	ASSERT_OK(cuGraphExecDestroy(instance));
	ASSERT_OK(cuGraphExecDestroy(of_clone));
}

/* A node of an instance keeps the context of its function; one of a graph may get another. */
TEST_F(kernel, an_instance_s_kernels_keep_their_context)
{
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(1, &value) };
	CUgraphExecUpdateResultInfo info;
	CUgraphExec instance;
	CUcontext context;
	CUgraphNode node;
	CUmodule module;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuModuleLoadData(&module, text));
	ASSERT_OK(cuModuleGetFunction(&params.func, module, "fill"));
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_VALUE,
			 cuGraphExecKernelNodeSetParams(instance, node, &params),
			 "the function's context cannot change");
	ASSERT_OK(cuGraphKernelNodeSetParams(node, &params));
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
		  cuGraphExecUpdate(instance, graph, &info));
	EXPECT_EQ((int)CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, (int)info.result);
	EXPECT_EQ(node, info.errorNode);
	ASSERT_OK(cuGraphExecDestroy(instance));
	ASSERT_OK(cuGraphDestroy(graph));
}

/* So does a kernel being cooperative; its priority does if the instance uses that. */
TEST_F(kernel, an_instance_s_kernels_keep_attributes)
{
	CUDA_KERNEL_NODE_PARAMS params = { FILL(1, &(uint32_t) { 3 }) };
	CUkernelNodeAttrValue attribute = { .priority = -1 };
	CUgraphExecUpdateResultInfo info = {};
	CUgraphExec plain, with_priority;
	CUgraphNode node;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphInstantiate(&plain, graph, 0));
	ASSERT_OK(cuGraphInstantiate(&with_priority, graph,
				     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
#define EXPECT_ATTRIBUTES_CHANGED(instance)					\
({										\
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,				\
		  cuGraphExecUpdate(instance, graph, &info));			\
	EXPECT_EQ((int)CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, (int)info.result);	\
	EXPECT_EQ(node, info.errorNode);					\
})
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	EXPECT_OK(cuGraphExecUpdate(plain, graph, &info));
	EXPECT_ATTRIBUTES_CHANGED(with_priority);
	attribute = (CUkernelNodeAttrValue) { .priority = 0 };
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute));
	EXPECT_OK(cuGraphExecUpdate(with_priority, graph, &info));
	attribute = (CUkernelNodeAttrValue) { .cooperative = 1 };
	ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute));
	EXPECT_ATTRIBUTES_CHANGED(plain);
	EXPECT_ATTRIBUTES_CHANGED(with_priority);
}

/* Captures a launch in @stream. Return: its node's priority */
static int priority_of_captured(CUstream stream, CUfunction function, void **parameters,
				const CUlaunchAttribute *own)
{
	const CUlaunchConfig config = {
		.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 4, .blockDimY = 1,
		.blockDimZ = 1, .hStream = stream, .attrs = (CUlaunchAttribute *)own,
		.numAttrs = own ? 1 : 0,
	};
	CUkernelNodeAttrValue attribute = {};
	CUgraph graph = NULL;
	CUgraphNode node;
	size_t count = 1;

	if (cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) ||
	    cuLaunchKernelEx(&config, function, parameters, NULL) ||
	    cuStreamEndCapture(stream, &graph) || cuGraphGetNodes(graph, &node, &count) ||
	    cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute))
		return 1;
	cuGraphDestroy(graph);
	return attribute.priority;
}

/* A captured kernel has the priority of its launch, or else of its stream. */
TEST_F(kernel, capture_keeps_priorities)
{
	const CUlaunchAttribute own = {
		.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -3,
	};
	void *parameters[] = { &self->memory, &(uint32_t) { 3 } };
	CUfunction function;
	CUstream stream;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&function, self->module, "fill"));
	ASSERT_OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -2));
	EXPECT_EQ(-2, priority_of_captured(stream, function, parameters, NULL));
	EXPECT_EQ(-3, priority_of_captured(stream, function, parameters, &own));
	/* a launch that is refused ends a capture */
	ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, stream,
							   parameters, NULL));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
	ASSERT_OK(cuStreamDestroy(stream));
}

/* Attributes that a launch would refuse are refused for a node, too, and change nothing. */
TEST_F(kernel, attributes_of_a_node_fit_its_grid)
{
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(3, &value) };
	CUkernelNodeAttrValue pair = { .clusterDim = { 2, 1, 1 } }, attribute = pair;
	const CUkernelNodeAttrID share = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
	CUgraphNode node, even;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE,
		  cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&pair));
	attribute.clusterDim.x = attribute.clusterDim.y = 1 << 16;
	EXPECT_NE(CUDA_SUCCESS,
		  cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));

	params.gridDimX = 2;
	ASSERT_OK(cuGraphAddKernelNode(&even, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphKernelNodeSetAttribute(even, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&pair));
	EXPECT_CU(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuGraphKernelNodeCopyAttributes(node, even));
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));
	EXPECT_EQ(0, attribute.clusterDim.x);
	/* a copy of a node without attributes has none */
	ASSERT_OK(cuGraphKernelNodeCopyAttributes(even, node));
	ASSERT_OK(cuGraphKernelNodeGetAttribute(even, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));
	EXPECT_EQ(0, attribute.clusterDim.x);

	params.gridDimX = 1000000;
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	attribute = (CUkernelNodeAttrValue) { .cooperative = 1 };
	EXPECT_CU(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
		  cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
						&attribute));
	/* a share in percent */
	attribute = (CUkernelNodeAttrValue) { .sharedMemCarveout = 100 };
	EXPECT_OK(cuGraphKernelNodeSetAttribute(node, share, &attribute));
	attribute.sharedMemCarveout = 101;
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphKernelNodeSetAttribute(node, share, &attribute));
	ASSERT_OK(cuGraphDestroy(graph));
}

/* What a function requires is no attribute of its node: another function has no such cluster. */
TEST_F(kernel, another_function_of_a_node_has_its_own_cluster)
{
	uint32_t value = 3;
	CUDA_KERNEL_NODE_PARAMS params = { FILL(2, &value) };
	CUkernelNodeAttrValue attribute;
	CUgraphNode node;
	CUgraph graph;

	load_kernels();
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "fill"));
	ASSERT_OK(cuFuncSetAttribute(params.func, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
	ASSERT_OK(cuFuncSetAttribute(params.func, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
	ASSERT_OK(cuFuncSetAttribute(params.func, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
	ASSERT_OK(cuModuleGetFunction(&params.func, self->module, "turns"));
	params.gridDimX = 3;
	ASSERT_OK(cuGraphKernelNodeSetParams(node, &params));
	ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
						&attribute));
	EXPECT_EQ(0, attribute.clusterDim.x);
}

/* One mapping for each stack would be more mappings than a process may have. */
TEST_F(kernel, large_blocks_of_many_streams_wait_for_each_other)
{
	CUstream stream[32];
	uint32_t count = 32, met[2];

	load_kernels();
	for (int i = 0; i < 32; i++) {
		ASSERT_OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
		ASSERT_OK(launch(self->module, stream[i], "meet", 1, 1024,
				 (void *[]) { &self->memory, &count }));
	}
	for (int i = 0; i < 32; i++)
		ASSERT_OK(cuStreamSynchronize(stream[i]));
	ASSERT_OK(cuMemcpyDtoH(met, self->memory, sizeof(met)));
	EXPECT_EQ(32 * 1024, (int)met[1]);
}

TEST_HARNESS_MAIN
