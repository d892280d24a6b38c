// SPDX-License-Identifier: MIT
/*
 * Kernels and variables that a program registers, as nvcc's code does before main(): here by
 * hand, with an image of PTX.
 */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <memcast/kernel.h>
#include "log_lines.h"
#include "role.h"
#include "runtime_fixture.h"

/* What nvcc's code calls; no header of the toolkit declares it for C. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
			    int thread_limit, void *tid, void *bid, dim3 *block, dim3 *grid,
			    int *warp);
void __cudaRegisterVar(void **handle, char *symbol, char *device, const char *name, int ext,
		       size_t bytes, int constant, int global);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t bytes,
					 cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
			       size_t bytes, cudaStream_t stream);

static const char image[] =
	".version 9.0\n.target sm_90\n.address_size 64\n"
	".visible .global .align 4 .u32 counter = 5;\n"
	".visible .entry runtime_test_add(.param .u64 a, .param .u32 n)\n"
	".maxntid 256, 1, 1\n{\n\tret;\n}\n"
	".visible .entry runtime_test_plain()\n{\n\tret;\n}\n";

/* The program's own: only their addresses count. */
static char add, plain, absent, counter, nowhere;
static const dim3 one = { 1, 1, 1 };

FIXTURE(runtime_kernel) {
	void **handle;
};

static void function(void **handle, const char *stub, const char *name)
{
	__cudaRegisterFunction(handle, stub, (char *)stub, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void **register_all(void)
{
	void **handle = __cudaRegisterFatBinary((void *)image);

	if (!handle)
		return NULL;
	function(handle, &add, "runtime_test_add");
	function(handle, &plain, "runtime_test_plain");
	function(handle, &absent, "runtime_test_absent");
	__cudaRegisterVar(handle, &counter, &counter, "counter", 0, 4, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
	return handle;
}

FIXTURE_SETUP(runtime_kernel)
{
	self->handle = register_all();
	ASSERT_NE(NULL, self->handle);
	EXPECT_NE(0, __cudaInitModule(self->handle));
}

FIXTURE_TEARDOWN_PARENT(runtime_kernel)
{
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

/* Until something in it is wanted, nobody looks at an image, nor at the driver. */
TEST_F(runtime_kernel, registering_asks_nobody)
{
	CUcontext context;

	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
	EXPECT_RT(cudaSuccess, cudaPeekAtLastError());
	__cudaUnregisterFatBinary(self->handle);
	__cudaUnregisterFatBinary(NULL);
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
}

TEST_F(runtime_kernel, attributes)
{
	struct cudaFuncAttributes attributes;
	cudaKernel_t kernel = NULL;
	cudaFunction_t function = NULL;
	const char *name = NULL;
	size_t offset = 0, size = 0;
	int blocks = -1;

	ASSERT_RT(cudaFuncGetAttributes(&attributes, &add));
	EXPECT_EQ(256, attributes.maxThreadsPerBlock);
	EXPECT_EQ(90, attributes.binaryVersion);
	EXPECT_EQ(49152, attributes.maxDynamicSharedSizeBytes);
	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	EXPECT_EQ(1024, attributes.maxThreadsPerBlock);
	ASSERT_RT(cudaFuncSetAttribute(&plain, cudaFuncAttributeMaxDynamicSharedMemorySize,
				       65536));
	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	EXPECT_EQ(65536, attributes.maxDynamicSharedSizeBytes);
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaFuncSetAttribute(&plain, cudaFuncAttributeMaxDynamicSharedMemorySize,
				       1 << 30));
	ASSERT_RT(cudaFuncGetName(&name, &add));
	EXPECT_STREQ("runtime_test_add", name);
	ASSERT_RT(cudaFuncGetParamInfo(&add, 1, &offset, &size));
	EXPECT_EQ(8, offset);
	EXPECT_EQ(4, size);
	ASSERT_RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &add, 256, 0));
	EXPECT_EQ(8, blocks);

	ASSERT_RT(cudaGetFuncBySymbol(&function, &add));
	EXPECT_NE(NULL, function);
	ASSERT_RT(cudaGetKernel(&kernel, &add));
	ASSERT_RT(cudaFuncGetAttributes(&attributes, kernel));
	EXPECT_EQ(256, attributes.maxThreadsPerBlock);
}

TEST_F(runtime_kernel, what_is_not_registered)
{
	struct cudaFuncAttributes attributes;
	cudaFunction_t function;
	const char *name;
	void *where;

	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &nowhere));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, NULL));
	EXPECT_RT(cudaErrorInvalidValue, cudaFuncGetAttributes(NULL, &add));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaFuncGetName(&name, &nowhere));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaGetFuncBySymbol(&function, &nowhere));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&nowhere, one, one, NULL, 0,
								   NULL));
	EXPECT_RT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&where, &nowhere));
	/* registered, and not in the image */
	EXPECT_RT(cudaErrorSymbolNotFound, cudaFuncGetAttributes(&attributes, &absent));
}

TEST_F(runtime_kernel, variables)
{
	int value = 0;
	size_t bytes = 0;
	void *where = NULL;

	ASSERT_RT(cudaGetSymbolSize(&bytes, &counter));
	EXPECT_EQ(4, bytes);
	ASSERT_RT(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
	EXPECT_EQ(5, value);
	value = 6;
	ASSERT_RT(cudaMemcpyToSymbol(&counter, &value, 4, 0, cudaMemcpyHostToDevice));
	ASSERT_RT(cudaGetSymbolAddress(&where, &counter));
	value = 0;
	ASSERT_RT(cudaMemcpy(&value, where, 4, cudaMemcpyDeviceToHost));
	EXPECT_EQ(6, value);
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaMemcpyToSymbol(&counter, &value, 4, 1, cudaMemcpyHostToDevice));
	__cudaUnregisterFatBinary(self->handle);
	EXPECT_RT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&where, &counter));
}

TEST_F(runtime_kernel, variables_in_graphs)
{
	int from = 17, to = 0;
	cudaGraphNode_t nodes[2];
	cudaGraphExec_t instance;
	cudaGraph_t graph;

	ASSERT_RT(cudaGraphCreate(&graph, 0));
	ASSERT_RT(cudaGraphAddMemcpyNodeToSymbol(&nodes[0], graph, NULL, 0, &counter, &from, 4, 0,
						 cudaMemcpyHostToDevice));
	ASSERT_RT(cudaGraphAddMemcpyNodeFromSymbol(&nodes[1], graph, nodes, 1, &to, &counter, 4, 0,
						   cudaMemcpyDeviceToHost));
	EXPECT_RT(cudaErrorInvalidSymbol,
		  cudaGraphMemcpyNodeSetParamsToSymbol(nodes[0], &nowhere, &from, 4, 0,
						       cudaMemcpyHostToDevice));
	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, NULL));
	ASSERT_RT(cudaStreamSynchronize(NULL));
	EXPECT_EQ(17, to);
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
}

/* <<<grid, block, bytes, stream>>>: arguments may launch, so they are a stack. */
TEST_F(runtime_kernel, configurations)
{
	dim3 grid = { 3, 2, 1 }, block = { 64, 1, 1 };
	cudaStream_t stream = NULL;
	size_t bytes = 0;

	EXPECT_EQ(0, __cudaPushCallConfiguration(grid, block, 5, cudaStreamPerThread));
	EXPECT_EQ(0, __cudaPushCallConfiguration(one, one, 6, NULL));
	EXPECT_RT(cudaSuccess, __cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
	EXPECT_EQ(1, grid.x);
	EXPECT_EQ(6, bytes);
	EXPECT_RT(cudaSuccess, __cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
	EXPECT_EQ(3, grid.x);
	EXPECT_EQ(64, block.x);
	EXPECT_EQ(5, bytes);
	EXPECT_EQ(cudaStreamPerThread, stream);
	EXPECT_RT(cudaErrorMissingConfiguration,
		  __cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
}

/* Nobody runs it, and the log names it. */
TEST_F(runtime_kernel, launches)
{
	char path[] = "/tmp/runtime_kernel_XXXXXX", text[4096];
	cudaLaunchConfig_t config = { .gridDim = one, .blockDim = one };
	unsigned int number = 4;
	void *memory = NULL, *arguments[] = { &memory, &number };
	cudaKernel_t kernel;
	int log = mkstemp(path);

	ASSERT_LE(0, log);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	EXPECT_RT(cudaErrorNotSupported, cudaLaunchKernel(&add, one, one, arguments, 0, NULL));
	EXPECT_RT(cudaErrorNotSupported, cudaGetLastError());
	read_file(text, sizeof(text), path);
	EXPECT_NE(NULL, strstr(text, "kernel runtime_test_add: memcast runs no kernels"))
		TH_LOG("%s", text);
	EXPECT_RT(cudaErrorNotSupported, cudaLaunchKernelExC(&config, &plain, NULL));
	EXPECT_RT(cudaErrorInvalidValue, cudaLaunchKernelExC(NULL, &plain, NULL));
	EXPECT_RT(cudaErrorNotSupported,
		  cudaLaunchCooperativeKernel(&plain, one, one, NULL, 0, NULL));
	EXPECT_RT(cudaSuccess, __cudaGetKernel(&kernel, &plain));
	EXPECT_RT(cudaErrorNotSupported, __cudaLaunchKernel(kernel, one, one, NULL, 0, NULL));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, __cudaGetKernel(&kernel, &nowhere));
	EXPECT_RT(cudaSuccess, cudaDeviceSynchronize());
	unlink(path);
}

/* What runs in place of runtime_test_add(): a[i] += n for each thread */
static void add_numbers(const struct memcast_launch *at)
{
	MEMCAST_PARAMETER(at, 0, unsigned int *)[memcast_thread(at)] +=
		MEMCAST_PARAMETER(at, 1, unsigned int);
}

/* With NVIDIA's stub to link with, memcast's own function is found by name. */
static CUresult register_function(void)
{
	static const size_t sizes[] = { 8, 4 };
	struct memcast_kernel kernel = {
		.size = sizeof(kernel),
		.name = "runtime_test_add",
		.shape = MEMCAST_THREADS_ALONE,
		.function = add_numbers,
		.sizes = sizes,
		.count = 2,
	};
	CUresult (*call)(const struct memcast_kernel *) =
		dlsym(RTLD_DEFAULT, "memcastKernelRegister");

	return call ? call(&kernel) : CUDA_ERROR_NOT_FOUND;
}

FIXTURE(runtime_launch) {
	unsigned int *memory, value;
	void *arguments[2];
};

FIXTURE_SETUP(runtime_launch)
{
	ASSERT_NE(NULL, register_all());
	ASSERT_OK(register_function());
	ASSERT_RT(cudaMalloc((void **)&self->memory, 64 * sizeof(int)));
	ASSERT_RT(cudaMemset(self->memory, 0, 64 * sizeof(int)));
	self->value = 1;
	self->arguments[0] = &self->memory;
	self->arguments[1] = &self->value;
}

FIXTURE_TEARDOWN_PARENT(runtime_launch)
{
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

#define EXPECT_NUMBER(wanted)								\
do {											\
	unsigned int found_[64];							\
											\
	ASSERT_RT(cudaMemcpy(found_, self->memory, sizeof(found_), cudaMemcpyDeviceToHost));	\
	for (int i_ = 0; i_ < 64; i_++)							\
		ASSERT_EQ(wanted, found_[i_]);						\
} while (0)

/* As <<<2, 32>>>, and in each other way that a program has */
TEST_F(runtime_launch, functions_run_in_place_of_kernels)
{
	dim3 grid = { 2, 1, 1 }, block = { 32, 1, 1 };
	cudaLaunchConfig_t config = { .gridDim = grid, .blockDim = block };
	cudaKernel_t kernel;

	EXPECT_RT(cudaSuccess, cudaLaunchKernel(&add, grid, block, self->arguments, 0, NULL));
	EXPECT_NUMBER(1);
	ASSERT_RT(__cudaGetKernel(&kernel, &add));
	EXPECT_RT(cudaSuccess, __cudaLaunchKernel(kernel, grid, block, self->arguments, 0,
						  cudaStreamPerThread));
	EXPECT_RT(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
	EXPECT_NUMBER(2);
	EXPECT_RT(cudaSuccess, cudaLaunchKernelExC(&config, &add, self->arguments));
	EXPECT_NUMBER(3);
	ASSERT_RT(cudaGetKernel(&kernel, &add));
	EXPECT_RT(cudaSuccess, cudaLaunchKernel(kernel, grid, block, self->arguments, 0, NULL));
	EXPECT_NUMBER(4);
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaLaunchKernel(&add, grid, (dim3) { 0, 1, 1 }, self->arguments, 0, NULL));
	EXPECT_RT(cudaErrorNotSupported, cudaLaunchKernel(&plain, one, one, NULL, 0, NULL));
	EXPECT_NUMBER(4);
}

TEST_F(runtime_launch, kernel_nodes)
{
	struct cudaKernelNodeParams found, params = {
		.func = &add,
		.gridDim = { 2, 1, 1 },
		.blockDim = { 32, 1, 1 },
		.kernelParams = self->arguments,
	};
	struct cudaGraphNodeParams any = { .type = cudaGraphNodeTypeKernel };
	cudaGraphExec_t instance;
	cudaGraphNode_t nodes[3];
	cudaStream_t stream;
	cudaGraph_t graph;
	size_t count = 1;

	/* captured: what the node says of the kernel is the program's own stub */
	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	ASSERT_RT(cudaLaunchKernel(&add, params.gridDim, params.blockDim, self->arguments, 0,
				   stream));
	ASSERT_RT(cudaStreamEndCapture(stream, &graph));
	ASSERT_RT(cudaGraphGetNodes(graph, nodes, &count));
	ASSERT_RT(cudaGraphKernelNodeGetParams(nodes[0], &found));
	EXPECT_EQ((void *)&add, found.func);
	EXPECT_EQ(32, found.blockDim.x);
	/* two more, of which one gets another number */
	ASSERT_RT(cudaGraphAddKernelNode(&nodes[1], graph, nodes, 1, &params));
	any.kernel.func = &add;
	any.kernel.gridDim = params.gridDim;
	any.kernel.blockDim = params.blockDim;
	any.kernel.kernelParams = self->arguments;
	ASSERT_RT(cudaGraphAddNode(&nodes[2], graph, &nodes[1], NULL, 1, &any));
	ASSERT_RT(cudaGraphKernelNodeGetParams(nodes[1], &found));
	EXPECT_EQ((void *)&add, found.func);
	self->value = 10;
	ASSERT_RT(cudaGraphKernelNodeSetParams(nodes[1], &params));
	params.func = &nowhere;
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaGraphKernelNodeSetParams(nodes[1], &params));
	EXPECT_RT(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(nodes[1], NULL));
	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, stream));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_NUMBER(12);
	params.func = &add;
	self->value = 100;
	ASSERT_RT(cudaGraphExecKernelNodeSetParams(instance, nodes[2], &params));
	ASSERT_RT(cudaGraphLaunch(instance, stream));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_NUMBER(12 + 111);
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

/* Where the driver loads no code, kernels are known by name all the same. */
static int without_code(void)
{
	struct cudaFuncAttributes first, second;
	cudaFunction_t function;
	const char *name = "";
	void *where;

	return register_all() &&
		cudaFuncGetAttributes(&first, &add) == cudaSuccess &&
		first.maxThreadsPerBlock == 1024 && first.binaryVersion == 90 &&
		cudaFuncSetAttribute(&add, cudaFuncAttributeMaxDynamicSharedMemorySize,
				     65536) == cudaSuccess &&
		cudaFuncGetAttributes(&second, &add) == cudaSuccess &&
		second.maxDynamicSharedSizeBytes == 65536 &&
		cudaFuncSetAttribute(&add, cudaFuncAttributeMaxDynamicSharedMemorySize,
				     1 << 30) == cudaErrorInvalidValue &&
		cudaFuncGetName(&name, &add) == cudaSuccess &&
		!strcmp(name, "runtime_test_add") &&
		cudaGetFuncBySymbol(&function, &add) == cudaErrorNotSupported &&
		cudaLaunchKernel(&add, one, one, NULL, 0, NULL) == cudaErrorNotSupported &&
		cudaGetSymbolAddress(&where, &counter) == cudaErrorNotSupported &&
		cudaDeviceSynchronize() == cudaSuccess;
}

static const struct role roles[] = {
	{ "without_code", without_code },
	{}
};

/* That a kernel is not run is said once without being asked for. */
TEST_F(runtime_kernel, known_without_code)
{
	char said[4096];

	EXPECT_EQ(0, run("without_code", "MEMCAST_INJECT=cuLibraryLoadData:801", said));
	EXPECT_EQ(1, count_lines(said));
	EXPECT_NE(NULL, strstr(said, "]: kernel runtime_test_add: memcast runs no kernels, "))
		TH_LOG("%s", said);
}

TEST_HARNESS_MAIN
