/* SPDX-License-Identifier: MIT */
/* Graphs with conditional nodes, and kernels that set the conditions from their PTX. */
#ifndef CONDITION_FIXTURE_H
#define CONDITION_FIXTURE_H

#include "graph_fixture.h"
#include "memcast_test.h"

/*
 * set: the condition becomes the word at @at. down: takes one from the word, and the condition
 * becomes what is left. add: adds @value to the word.
 */
static const char kernels[] =
	".version 8.6\n.target sm_90\n.address_size 64\n"
	".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
	".visible .entry set(.param .u64 handle, .param .u64 at)\n{\n"
	".reg .b64 %h, %a; .reg .b32 %v;\n"
	"ld.param.u64 %h, [handle]; ld.param.u64 %a, [at]; ld.global.u32 %v, [%a];\n"
	"{ .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %h; st.param.b32 [p1], %v;\n"
	"call.uni cudaGraphSetConditional, (p0, p1); }\n"
	"ret;\n}\n"
	".visible .entry down(.param .u64 handle, .param .u64 at)\n{\n"
	".reg .b64 %h, %a; .reg .b32 %v;\n"
	"ld.param.u64 %h, [handle]; ld.param.u64 %a, [at]; ld.global.u32 %v, [%a];\n"
	"sub.u32 %v, %v, 1; st.global.u32 [%a], %v;\n"
	"{ .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %h; st.param.b32 [p1], %v;\n"
	"call.uni cudaGraphSetConditional, (p0, p1); }\n"
	"ret;\n}\n"
	".visible .entry add(.param .u64 at, .param .u32 value)\n{\n"
	".reg .b64 %a; .reg .b32 %v, %w;\n"
	"ld.param.u64 %a, [at]; ld.param.u32 %w, [value]; ld.global.u32 %v, [%a];\n"
	"add.u32 %v, %v, %w; st.global.u32 [%a], %v;\n"
	"ret;\n}\n";

FIXTURE(condition)
{
	CUfunction set, down, add;
	CUstream stream;
	CUdeviceptr at;			/* a chunk of zeros */
	CUgraph graph;
};

FIXTURE_SETUP(condition) { }
NOTHING_LEFT(condition)

#define start()	start_(_metadata, self)
TEST_HELPER void start_(struct __test_metadata *_metadata, FIXTURE_DATA(condition) *self)
{
	uint32_t value = 0;
	CUmodule module;
	void *parameters[] = { &self->at, &value };

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&self->at, CHUNK));
	ASSERT_OK(cuMemsetD32(self->at, 0, 64));
	ASSERT_OK(cuModuleLoadData(&module, kernels));
	ASSERT_OK(cuModuleGetFunction(&self->set, module, "set"));
	ASSERT_OK(cuModuleGetFunction(&self->down, module, "down"));
	ASSERT_OK(cuModuleGetFunction(&self->add, module, "add"));
	/* make test T=ptx_condition_test and host-ptx.sh bring memcast-ptx.so and LLVM along */
	if (cuLaunchKernel(self->add, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) ==
	    CUDA_ERROR_NOT_SUPPORTED)
		SKIP(_exit(KSFT_SKIP), "memcast-ptx.so is not here");
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuCtxSynchronize());
	self->graph = graph_new();
}

TEST_HELPER uint32_t word(CUdeviceptr at)
{
	uint32_t value = ~0U;

	return cuMemcpyDtoH(&value, at, 4) ? ~0U : value;
}

/* A copy, which is done when it returns: no stream of the tests waits for fills of another. */
#define put_word(at, value)	ASSERT_OK(cuMemcpyHtoD(at, &(uint32_t) { value }, 4))

#define condition_new(initial, flags)	condition_new_(_metadata, self->graph, initial, flags)
TEST_HELPER CUgraphConditionalHandle condition_new_(struct __test_metadata *_metadata,
						    CUgraph graph, unsigned int initial,
						    unsigned int flags)
{
	CUgraphConditionalHandle handle = 0;

	ASSERT_OK(cuGraphConditionalHandleCreate(&handle, graph, NULL, initial, flags));
	return handle;
}

TEST_HELPER CUgraphNodeParams conditional(CUgraphConditionalHandle handle,
					  CUgraphConditionalNodeType type, unsigned int size)
{
	return (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = { .handle = handle, .type = type, .size = size },
	};
}

/* Return: the node's graphs */
#define add_condition(graph, after, node, handle, type, size)	\
	add_condition_(_metadata, graph, after, node, handle, type, size)
TEST_HELPER CUgraph *add_condition_(struct __test_metadata *_metadata, CUgraph graph,
				    CUgraphNode after, CUgraphNode *node,
				    CUgraphConditionalHandle handle,
				    CUgraphConditionalNodeType type, unsigned int size)
{
	CUgraphNodeParams params = conditional(handle, type, size);

	ASSERT_OK(cuGraphAddNode(node, graph, &after, NULL, !!after, &params));
	ASSERT_NE(NULL, params.conditional.phGraph_out);
	return params.conditional.phGraph_out;
}

#define add_kernel(graph, after, function, parameters...)	\
	add_kernel_(_metadata, graph, after, function, (void *[]) { parameters })
TEST_HELPER CUgraphNode add_kernel_(struct __test_metadata *_metadata, CUgraph graph,
				    CUgraphNode after, CUfunction function, void **parameters)
{
	CUDA_KERNEL_NODE_PARAMS params = { .func = function, .gridDimX = 1, .gridDimY = 1,
					   .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
					   .blockDimZ = 1, .kernelParams = parameters };
	CUgraphNode node = NULL;

	ASSERT_OK(cuGraphAddKernelNode(&node, graph, &after, !!after, &params));
	return node;
}

#endif /* CONDITION_FIXTURE_H */
