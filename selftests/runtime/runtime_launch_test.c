// SPDX-License-Identifier: MIT
/* Launches of registered kernels for which memcast runs C functions; kernel nodes. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <memcast/kernel.h>
#include "runtime_kernel_fixture.h"

/* Runs in place of runtime_test_add(): a[i] += n for each thread */
static void add_numbers(const struct memcast_launch *at)
{
	MEMCAST_PARAMETER(at, 0, unsigned int *)[memcast_thread(at)] +=
		MEMCAST_PARAMETER(at, 1, unsigned int);
}

/* Finds memcast's own function by name, as the program may be linked with NVIDIA's stub. */
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

/* <<<2, 32>>>, and each other way in which a program launches */
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
	EXPECT_RT(cudaErrorNotSupported, cudaLaunchKernel(&plain, one, one, NULL, 0, NULL));
	EXPECT_NUMBER(4);
}

/* A shape that no kernel can have is another error than what this kernel or its settings forbid. */
TEST_F(runtime_launch, impossible_launches)
{
	static const struct {
		cudaError_t error;
		size_t shared;
		dim3 grid, block;
	} cases[] = {
		{ cudaErrorInvalidConfiguration, 0, { 1, 1, 1 }, { 0, 1, 1 } },
		{ cudaErrorInvalidConfiguration, 0, { 1, 1, 1 }, { 2048, 1, 1 } },
		{ cudaErrorInvalidConfiguration, 0, { 1, 1, 1 }, { 1024, 2, 1 } },
		{ cudaErrorInvalidConfiguration, 0, { 1, 1, 1 }, { 1, 1, 65 } },
		{ cudaErrorInvalidConfiguration, 0, { 0, 1, 1 }, { 32, 1, 1 } },
		{ cudaErrorInvalidConfiguration, 0, { 1, 65536, 1 }, { 32, 1, 1 } },
		/* the kernel has .maxntid 256 */
		{ cudaErrorInvalidValue, 0, { 1, 1, 1 }, { 512, 1, 1 } },
		{ cudaErrorInvalidValue, 1 << 20, { 1, 1, 1 }, { 32, 1, 1 } },
		{ cudaErrorInvalidValue, 1UL << 32, { 1, 1, 1 }, { 32, 1, 1 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_RT(cases[i].error, cudaLaunchKernel(&add, cases[i].grid, cases[i].block,
							   self->arguments, cases[i].shared, NULL))
			TH_LOG("case %zu", i);
	}
	EXPECT_NUMBER(0);
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

	/* a captured node gives the program's own stub as its kernel */
	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	ASSERT_RT(cudaLaunchKernel(&add, params.gridDim, params.blockDim, self->arguments, 0,
				   stream));
	ASSERT_RT(cudaStreamEndCapture(stream, &graph));
	ASSERT_RT(cudaGraphGetNodes(graph, nodes, &count));
	ASSERT_RT(cudaGraphKernelNodeGetParams(nodes[0], &found));
	EXPECT_EQ((void *)&add, found.func);
	EXPECT_EQ(32, found.blockDim.x);
	/* whichever device is current */
	ASSERT_RT(cudaSetDevice(1));
	ASSERT_RT(cudaGraphKernelNodeGetParams(nodes[0], &found));
	EXPECT_EQ((void *)&add, found.func);
	ASSERT_RT(cudaSetDevice(0));
	/* two more nodes, one of which gets another number */
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

TEST_HARNESS_MAIN
