// SPDX-License-Identifier: MIT
/*
 * Kernels and variables that a program registers, as nvcc's code does before main(): here by hand,
 * with an image of PTX.
 */
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include "fatbin.h"
#include "log_lines.h"
#include "runtime_kernel_fixture.h"

static void **left;			/* images that are there when the process exits */

FIXTURE(runtime_kernel) {
	void **handle;
};

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

/* Registering neither reads the image nor calls the driver; the first use of a kernel does. */
TEST_F(runtime_kernel, registering_asks_nobody)
{
	CUcontext context;

	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
	EXPECT_RT(cudaSuccess, cudaPeekAtLastError());
	__cudaUnregisterFatBinary(self->handle);
	__cudaUnregisterFatBinary(NULL);
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
}

/* Two libraries have a kernel and a variable at the same addresses; each comes and goes. */
TEST_F(runtime_kernel, two_images_with_the_same_names)
{
	void **second = register_all();
	struct cudaFuncAttributes attributes;
	int value = 6;

	/* a setting and a value last while the first is there */
	ASSERT_RT(cudaFuncSetAttribute(&plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
	ASSERT_RT(cudaMemcpyToSymbol(&counter, &value, 4, 0, cudaMemcpyHostToDevice));
	__cudaUnregisterFatBinary(second);
	second = register_all();
	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	EXPECT_EQ(65536, attributes.maxDynamicSharedSizeBytes);
	ASSERT_RT(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
	EXPECT_EQ(6, value);
	__cudaUnregisterFatBinary(self->handle);
	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	EXPECT_EQ(49152, attributes.maxDynamicSharedSizeBytes);
	ASSERT_RT(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
	EXPECT_EQ(5, value);
	__cudaUnregisterFatBinary(second);
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &plain));
}

/* A library with kernels is closed while a stream is captured. */
TEST_F(runtime_kernel, unregistering_breaks_no_capture)
{
	struct cudaFuncAttributes attributes;
	cudaStream_t stream;
	cudaGraph_t graph;

	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	__cudaUnregisterFatBinary(self->handle);
	ASSERT_RT(cudaStreamEndCapture(stream, &graph));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

/* The program's code follows its pointer to a managed variable, which is NULL before. */
TEST_F(runtime_kernel, managed_variables)
{
	static const char text[] =
		".version 9.0\n.target sm_90\n.address_size 64\n"
		".global .attribute(.managed) .align 8 .b64 both[2] = {5, 6};\n";
	static long *both;
	struct cudaPointerAttributes attributes;
	void **handle = __cudaRegisterFatBinary((void *)text), *where;
	long value = 7;

	__cudaRegisterManagedVar(handle, (void **)&both, "both", "both", 0, 16, 0, 0);
	ASSERT_EQ(NULL, both);
	ASSERT_EQ(1, __cudaInitModule(handle));
	EXPECT_EQ(5, both[0]);
	EXPECT_EQ(6, both[1]);
	ASSERT_RT(cudaMemcpyToSymbol(both, &value, 8, 8, cudaMemcpyHostToDevice));
	ASSERT_EQ(1, __cudaInitModule(handle));
	EXPECT_EQ(7, both[1]);
	ASSERT_RT(cudaGetSymbolAddress(&where, both));
	EXPECT_EQ(both, where);
	ASSERT_RT(cudaPointerGetAttributes(&attributes, both));
	EXPECT_EQ(cudaMemoryTypeManaged, attributes.type);
	__cudaUnregisterFatBinary(handle);
	EXPECT_RT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&where, both));
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
	ASSERT_RT(cudaFuncGetAttributes(&attributes, &plain));
	EXPECT_EQ(65536, attributes.maxDynamicSharedSizeBytes);
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
	EXPECT_RT(cudaErrorInvalidValue, cudaFuncGetName(NULL, &add));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaGetFuncBySymbol(&function, &nowhere));
	EXPECT_RT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&nowhere, one, one, NULL, 0,
								   NULL));
	EXPECT_RT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&where, &nowhere));
	/* registered, but not in the image */
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
	EXPECT_RT(cudaSuccess, cudaMemcpyToSymbol(&counter, where, 4, 0, cudaMemcpyDeviceToDevice));
	EXPECT_RT(cudaSuccess, cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDefault));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaMemcpyToSymbol(&counter, &value, 4, 0, cudaMemcpyHostToHost));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaMemcpyToSymbolAsync(&counter, &value, 4, 0, cudaMemcpyDeviceToHost, NULL));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyHostToDevice));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaMemcpyFromSymbolAsync(&value, &counter, 4, 0, cudaMemcpyHostToHost, NULL));
	__cudaUnregisterFatBinary(self->handle);
	EXPECT_RT(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&where, &counter));
}

static atomic_bool enough;
static char large;

static void *ask_for_large(void *unused)
{
	void *where;

	while (!enough)
		cudaGetSymbolAddress(&where, &large);
	return unused;
}

/* Another thread resets the device while a variable gets its first value: an error, no signal. */
TEST_F(runtime_kernel, resets_while_a_variable_is_placed)
{
	static const char text[] =
		".version 9.0\n.target sm_90\n.address_size 64\n"
		".global .align 4 .b8 large[16777216];\n";
	void **handle = __cudaRegisterFatBinary((void *)text), *where;
	pthread_t thread;

	__cudaRegisterVar(handle, &large, &large, "large", 0, 16 << 20, 0, 0);
	ASSERT_EQ(0, pthread_create(&thread, NULL, ask_for_large, NULL));
	for (int i = 0; i < 100; i++) {
		usleep(100 * i);
		EXPECT_RT(cudaSuccess, cudaDeviceReset());
	}
	enough = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_RT(cudaSuccess, cudaGetSymbolAddress(&where, &large));
	__cudaUnregisterFatBinary(handle);
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
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaGraphMemcpyNodeSetParamsToSymbol(nodes[0], &counter, &from, 4, 0,
						       cudaMemcpyDeviceToHost));
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaGraphMemcpyNodeSetParamsFromSymbol(nodes[1], &to, &counter, 4, 0,
							 cudaMemcpyHostToDevice));
	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, NULL));
	ASSERT_RT(cudaStreamSynchronize(NULL));
	EXPECT_EQ(17, to);
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
}

/*
 * <<<grid, block, bytes, stream>>>: an argument may itself launch a kernel, so configurations form
 * a stack.
 */
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

/* The runtime refuses a launch, and the log names the kernel. */
TEST_F(runtime_kernel, launches)
{
	char path[] = "/tmp/runtime_kernel_XXXXXX", text[4096];
	cudaLaunchConfig_t config = { .gridDim = one, .blockDim = one };
	unsigned int number = 4;
	void *memory = NULL, *arguments[] = { &memory, &number };
	cudaKernel_t kernel;
	int log = mkstemp(path);

	ASSERT_LE(0, log);
	ASSERT_EQ(0, setenv("MEMCAST_PTX", "0", 1));
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	EXPECT_RT(cudaErrorNotSupported, cudaLaunchKernel(&add, one, one, arguments, 0, NULL));
	EXPECT_RT(cudaErrorNotSupported, cudaGetLastError());
	read_file(text, sizeof(text), path);
	EXPECT_SAYS(text, "kernel runtime_test_add cannot run");
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

static void unregister_at_exit(void)
{
	__cudaUnregisterFatBinary(left);
}

static int exit_with_work(void)
{
	static int never;
	void *address;

	left = register_all();
	if (!left || atexit(unregister_at_exit) ||
	    cudaGetSymbolAddress(&address, &counter) != cudaSuccess ||
	    cudaLaunchHostFunc(NULL, wait_for, &never) != cudaSuccess)
		return 1;
	exit(0);
}

/* A process ends although work of its streams does not, and its images with it. */
TEST(runtime_exit)
{
	IN_CHILD(exit_with_work() == 0);
}

/* What is wrong with an image is the error of each call that asks for a part of it. */
TEST_F(runtime_kernel, wrong_images)
{
	static const struct { FATBIN_FIELDS; } empty = {
		.magic = FATBIN_MAGIC, .version = 1, .header_bytes = 16,
	};
	static const struct {
		const char *text;
		cudaError_t error;
	} cases[] = {
		{ ".version 9.0\n.target sm_90\n.entry k() { frobnicate; }\n", cudaErrorInvalidPtx },
		{ ".version 99.0\n.target sm_90\n.entry k() { ret; }\n",
		  cudaErrorUnsupportedPtxVersion },
		{ (const char *)&empty, cudaErrorNoKernelImageForDevice },
	};
	struct cudaFuncAttributes attributes;
	static char stub, variable;
	void **handle, *where;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		handle = __cudaRegisterFatBinary((void *)cases[i].text);
		function(handle, &stub, "k");
		__cudaRegisterVar(handle, &variable, &variable, "v", 0, 4, 0, 0);
		for (int twice = 0; twice < 2; twice++)
			EXPECT_RT(cases[i].error, cudaFuncGetAttributes(&attributes, &stub));
		EXPECT_RT(cases[i].error, cudaLaunchKernel(&stub, one, one, NULL, 0, NULL));
		EXPECT_RT(cases[i].error, cudaGetSymbolAddress(&where, &variable));
		__cudaUnregisterFatBinary(handle);
	}
}

TEST_HARNESS_MAIN
