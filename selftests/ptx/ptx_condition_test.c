// SPDX-License-Identifier: MIT
/* Conditional nodes of graphs, whose conditions kernels set from their PTX. */
#include "graph_fixture.h"
#include "memcast_test.h"
#include "reason.h"

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
	CUdeviceptr memory;
	CUgraph graph;
};

FIXTURE_SETUP(condition) { }
NOTHING_LEFT(condition)

#define start()	start_(_metadata, self)
TEST_HELPER void start_(struct __test_metadata *_metadata, FIXTURE_DATA(condition) *self)
{
	uint32_t value = 0;
	CUmodule module;
	void *parameters[] = { &self->memory, &value };

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&self->memory, CHUNK));
	ASSERT_OK(cuMemsetD32(self->memory, 0, 64));
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

static void nothing(void *data)
{
	(void)data;
}

static uint32_t word(CUdeviceptr at)
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

static CUgraphNodeParams conditional(CUgraphConditionalHandle handle,
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

/* A kernel sets the condition; the node behind it does one graph, or the other. */
TEST_F(condition, of_an_if_with_else)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node, behind;
	CUgraphExec instance;
	CUdeviceptr at;
	CUgraph *bodies;

	start();
	at = self->memory;
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_IF, 2);
	add_words(bodies[0], NULL, at + 64, 10);
	add_words(bodies[1], NULL, at + 64, 20);
	behind = add_copy(self->graph, node, at + 128, at + 64);
	EXPECT_NE(NULL, behind);
	instance = instance_of(self->graph);
	put_word(at, 7);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(10, word(at + 128));
	put_word(at, 0);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(20, word(at + 128));
}

/* Without a second graph nothing is done for 0; the graph may have been destroyed. */
TEST_F(condition, of_an_if_whose_graph_is_destroyed)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node;
	CUgraphExec instance;
	CUdeviceptr at;
	CUgraph *bodies;

	start();
	at = self->memory;
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	add_words(bodies[0], NULL, at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuGraphDestroy(self->graph));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(self->graph));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(0, word(at + 64));
	put_word(at, 1);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(10, word(at + 64));
}

/* A loop ends when its own kernel says so. Each launch begins with the default. */
TEST_F(condition, of_a_while)
{
	CUgraphConditionalHandle handle;
	uint32_t one = 1, three = 3;
	CUgraphExec instance;
	CUgraphNode node, last;
	CUdeviceptr at, sum;
	CUgraph *bodies;

	start();
	at = self->memory;
	sum = at + 64;
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	last = add_kernel(bodies[0], NULL, self->add, &sum, &one);
	add_kernel(bodies[0], last, self->down, &handle, &at);
	instance = instance_of(self->graph);
	for (uint32_t i = 1; i <= 3; i++) {
		put_word(at, 5);
		launch_and_wait(instance, self->stream);
		EXPECT_EQ(0, word(at));
		EXPECT_EQ(5 * i, word(sum));
	}
	/* a node of the loop's graph can be changed in the instance */
	ASSERT_OK(cuGraphExecKernelNodeSetParams(instance, last, &(CUDA_KERNEL_NODE_PARAMS) {
		.func = self->add, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
		.blockDimY = 1, .blockDimZ = 1, .kernelParams = (void *[]) { &sum, &three } }));
	put_word(at, 2);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(21, word(sum));
}

/* Without ASSIGN_DEFAULT a launch leaves the condition as it is: here at 0. */
TEST_F(condition, that_no_launch_sets)
{
	CUgraphConditionalHandle handle;
	CUgraphExec instance;
	CUgraphNode node;
	uint32_t one = 1;
	CUdeviceptr at;
	CUgraph *bodies;

	start();
	at = self->memory;
	handle = condition_new(1, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	node = add_kernel(bodies[0], NULL, self->add, &(CUdeviceptr) { at + 64 }, &one);
	add_kernel(bodies[0], node, self->down, &handle, &at);
	instance = instance_of(self->graph);
	put_word(at, 2);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(2, word(at + 64));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(2, word(at + 64));
}

TEST_F(condition, of_a_switch)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node;
	CUgraphExec instance;
	CUdeviceptr at;
	CUgraph *bodies;

	start();
	at = self->memory;
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_SWITCH, 4);
	for (int i = 0; i < 4; i++)
		if (i != 2)
			add_words(bodies[i], NULL, at + 64, 100 + i);
	instance = instance_of(self->graph);
	for (uint32_t i = 0; i < 6; i++) {
		put_word(at, i);
		put_word(at + 64, 1);
		launch_and_wait(instance, self->stream);
		EXPECT_EQ(i < 4 && i != 2 ? 100 + i : 1, word(at + 64));
	}
}

/* An if in a loop, whose condition is made for the outer graph; and a captured body */
TEST_F(condition, in_the_graph_of_another)
{
	CUgraphConditionalHandle loop, inner;
	CUgraphExec instance;
	CUgraphNode node, set, down;
	CUgraph *bodies, *inside;
	CUdeviceptr at, flag, sum;
	uint32_t two = 2;

	start();
	at = self->memory;
	flag = at + 64;
	sum = at + 128;
	loop = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	inner = condition_new(0, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, loop, CU_GRAPH_COND_TYPE_WHILE, 1);
	set = add_kernel(bodies[0], NULL, self->set, &inner, &flag);
	inside = add_condition(bodies[0], set, &node, inner, CU_GRAPH_COND_TYPE_IF, 1);
	ASSERT_OK(cuStreamBeginCaptureToGraph(self->stream, inside[0], NULL, NULL, 0,
					      CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(self->graph));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(node));
	ASSERT_OK(cuLaunchKernel(self->add, 1, 1, 1, 1, 1, 1, 0, self->stream,
				 (void *[]) { &sum, &two }, NULL));
	ASSERT_OK(cuStreamEndCapture(self->stream, &inside[0]));
	down = add_kernel(bodies[0], node, self->down, &loop, &at);
	EXPECT_NE(NULL, down);
	instance = instance_of(self->graph);
	put_word(at, 4);
	put_word(flag, 1);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(8, word(sum));
	put_word(at, 4);
	put_word(flag, 0);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(8, word(sum));
}

/* Two nodes in a row, each with a condition; both graphs set theirs to the word at @at, 0. */
#define two_conditions(graph, first)	two_conditions_(_metadata, self, graph, first)
TEST_HELPER CUgraph *two_conditions_(struct __test_metadata *_metadata,
				     FIXTURE_DATA(condition) *self, CUgraph graph,
				     unsigned int first)
{
	CUgraph *bodies = NULL, *inside;
	CUgraphNode node = NULL, inner;
	CUgraphConditionalHandle handle;
	CUdeviceptr at = self->memory;

	for (unsigned int i = 0; i < 2; i++) {
		handle = condition_new_(_metadata, graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
		bodies = add_condition(graph, node, &node, handle, CU_GRAPH_COND_TYPE_IF, 2);
		add_kernel(bodies[0], NULL, self->set, &handle, &at);
		add_words(bodies[0], NULL, at + 64 * (i + 1), first + i);
		add_words(bodies[1], NULL, at + 64 * (i + 1), 1);
		/* one that is made for the node's graph, and is set there */
		handle = condition_new_(_metadata, bodies[0], 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
		inside = add_condition(bodies[0], NULL, &inner, handle, CU_GRAPH_COND_TYPE_IF, 2);
		add_kernel(inside[0], NULL, self->set, &handle, &at);
		add_words(inside[0], NULL, at + 64 * (i + 3), first + 2 + i);
		add_words(inside[1], NULL, at + 64 * (i + 3), 1);
	}
	return bodies;
}

#define expect_words(first)							\
({										\
	for (uint32_t n_ = 0; n_ < 4; n_++)					\
		EXPECT_EQ((first) + n_, word(self->memory + 64 * (n_ + 1)));	\
	ASSERT_OK(cuMemsetD32(self->memory + 64, 0, 80));			\
	ASSERT_OK(cuStreamSynchronize(NULL));					\
})

/* An update puts the kernels, the handles and the defaults of another graph into an instance. */
TEST_F(condition, of_an_updated_instance)
{
	CUgraph graph, other, *bodies;
	CUgraphConditionalHandle handle;
	CUgraphExec instance;
	CUgraphNode node;

	start();
	two_conditions(self->graph, 10);
	graph = graph_new();
	bodies = two_conditions(graph, 20);
	instance = instance_of(self->graph);
	for (int i = 0; i < 2; i++) {
		launch_and_wait(instance, self->stream);
		expect_words(10);
	}
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	/* a graph of the node that differs keeps the instance as it is */
	add_words(bodies[1], NULL, self->memory, 1);
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(instance, graph, NULL));
	other = graph_new();
	handle = condition_new_(_metadata, other, 1, 0);
	add_condition(other, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	handle = condition_new_(_metadata, other, 1, 0);
	add_condition(other, node, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(instance, other, NULL));
	ASSERT_OK(cuGraphDestroy(graph));
	for (int i = 0; i < 2; i++) {
		launch_and_wait(instance, self->stream);
		expect_words(20);
	}
}

/* A launch that is held up keeps its plan while the instance gets another. */
TEST_F(condition, of_an_instance_that_changes_under_way)
{
	CUgraphConditionalHandle handle;
	CUDA_MEMSET_NODE_PARAMS fill;
	CUgraphExec instance;
	CUgraphNode node;
	CUgraph *bodies;
	CUdeviceptr at;

	start();
	at = self->memory;
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	add_kernel(bodies[0], NULL, self->set, &handle, &at);
	node = add_words(bodies[0], NULL, at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuStreamWaitValue32(self->stream, at + 128, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	fill = words(at + 64, 11, 4);
	ASSERT_OK(cuGraphExecMemsetNodeSetParams(instance, node, &fill, NULL));
	put_word(at + 128, 1);
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(10, word(at + 64));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(11, word(at + 64));
}

static bool loop_has_begun(CUdeviceptr at)
{
	return *(volatile uint32_t *)at;
}

/* A loop without end ends with its context. */
TEST_F(condition, of_a_loop_without_end)
{
	CUgraphConditionalHandle handle;
	CUgraphExec instance;
	CUcontext context;
	CUgraphNode node;
	CUgraph *bodies;
	CUdeviceptr at;

	start();
	at = self->memory;
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	add_words(bodies[0], NULL, at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_TRUE(comes_true(loop_has_begun(at + 64)));
	ASSERT_OK(cuCtxDestroy(context));
}

/* Kernels of another context, and conditions of one, are refused. */
TEST_F(condition, of_another_context)
{
	CUDA_KERNEL_NODE_PARAMS kernel = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
					   .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1 };
	CUgraphConditionalHandle handle;
	CUgraphNodeParams params;
	CUcontext context;
	CUmodule module;
	CUgraphNode node;
	CUgraph *bodies;
	CUdeviceptr at;

	start();
	at = self->memory;
	handle = condition_new(0, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	handle = condition_new(0, 0);
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	params = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddNode(&node, self->graph, NULL, NULL, 0, &params));
	ASSERT_OK(cuModuleLoadData(&module, kernels));
	ASSERT_OK(cuModuleGetFunction(&kernel.func, module, "set"));
	kernel.kernelParams = (void *[]) { &handle, &at };
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddKernelNode(&node, bodies[0], NULL, 0, &kernel));
	kernel.func = self->set;
	ASSERT_OK(cuGraphAddKernelNode(&node, bodies[0], NULL, 0, &kernel));
}

/* A capture to a node's graph fails with the capture that made the graph around it. */
TEST_F(condition, in_a_capture_that_ends)
{
	CUgraphConditionalHandle handle;
	CUstreamCaptureStatus status;
	CUgraph graph, *bodies;
	CUgraphExec instance;
	CUgraphNode node;
	CUstream other;

	start();
	ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamBeginCapture(self->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASSERT_OK(cuStreamGetCaptureInfo(self->stream, &status, NULL, &graph, NULL, NULL, NULL));
	handle = condition_new_(_metadata, graph, 0, 0);
	bodies = add_condition(graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	ASSERT_OK(cuStreamBeginCaptureToGraph(other, bodies[0], NULL, NULL, 0,
					      CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_REFUSED(cuLaunchHostFunc(other, nothing, NULL));
	ASSERT_OK(cuStreamEndCapture(self->stream, NULL));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
		  cuMemsetD32Async(self->memory, 1, 1, other));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(other, &graph));

	handle = condition_new(0, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	ASSERT_OK(cuStreamBeginCaptureToGraph(other, bodies[0], NULL, NULL, 0,
					      CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		  cuGraphInstantiate(&instance, self->graph, 0));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(other, &graph));
}

/* As NVIDIA's headers say: one instance, no copies, no child nodes; and kinds of nodes */
TEST_F(condition, rules_of_graphs)
{
	CUDA_HOST_NODE_PARAMS host = { nothing, NULL };
	CUgraphConditionalHandle handle;
	CUgraphNode node, other;
	CUgraph *bodies, graph, copy;
	CUgraphNodeParams params;
	CUgraphExec instance;
	CUgraphNodeType type;

	start();
	handle = condition_new(0, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	ASSERT_OK(cuGraphNodeGetType(node, &type));
	EXPECT_EQ(CU_GRAPH_NODE_TYPE_CONDITIONAL, type);
	instance = instance_of(self->graph);
	EXPECT_REFUSED(cuGraphInstantiate(&instance, self->graph, 0));
	EXPECT_REFUSED(cuGraphClone(&graph, self->graph));
	graph = graph_new();
	EXPECT_REFUSED(cuGraphAddChildGraphNode(&other, graph, NULL, 0, self->graph));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(bodies[0]));
	EXPECT_EQ(0, reason_begins("the graph is a conditional node's"));

	EXPECT_REFUSED(cuGraphInstantiate(&instance, bodies[0], 0));
	ASSERT_OK(cuGraphAddChildGraphNode(&other, bodies[0], NULL, 0, graph));
	ASSERT_OK(cuGraphExecDestroy(instance));
	instance = instance_of(self->graph);
	EXPECT_REFUSED(cuGraphExecChildGraphNodeSetParams(instance, other, graph));
	EXPECT_REFUSED(cuGraphAddHostNode(&other, bodies[0], NULL, 0, &host));
	ASSERT_OK(cuGraphAddHostNode(&other, graph, NULL, 0, &host));
	EXPECT_REFUSED(cuGraphAddChildGraphNode(&other, bodies[0], NULL, 0, graph));
	/* the handle is free again when its node has ended, or has not come into being */
	ASSERT_OK(cuGraphDestroyNode(node));
	params = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddNode(&node, self->graph, (CUgraphNode[]) { NULL }, NULL, 1, &params));
	ASSERT_OK(cuGraphClone(&copy, self->graph));
	add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&other, bodies[0], NULL, 0, &host));
	ASSERT_OK(cuGraphClone(&graph, graph));
}

TEST_F(condition, refused)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS how = {};
	CUgraphConditionalHandle handle, unused;
	CUgraphNodeParams params;
	CUgraphExec instance;
	CUgraph other;
	CUgraphNode node;

	start();
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphConditionalHandleCreate(NULL, self->graph, NULL, 0, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphConditionalHandleCreate(&handle, NULL, NULL, 0, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphConditionalHandleCreate(&handle, self->graph, NULL, 0, 2));
	handle = condition_new(0, 0);
#define REFUSED(handle, type, size)							\
({											\
	params = conditional(handle, type, size);					\
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,						\
		  cuGraphAddNode(&node, self->graph, NULL, NULL, 0, &params));		\
})
	REFUSED(handle, CU_GRAPH_COND_TYPE_IF, 0);
	REFUSED(handle, CU_GRAPH_COND_TYPE_IF, 3);
	REFUSED(handle, CU_GRAPH_COND_TYPE_WHILE, 2);
	REFUSED(handle, CU_GRAPH_COND_TYPE_SWITCH, 0);
	REFUSED(handle, CU_GRAPH_COND_TYPE_SWITCH + 1, 1);
	REFUSED(handle + 1, CU_GRAPH_COND_TYPE_IF, 1);
	other = self->graph;
	self->graph = graph_new();
	REFUSED(handle, CU_GRAPH_COND_TYPE_IF, 1);
	self->graph = other;
	add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	REFUSED(handle, CU_GRAPH_COND_TYPE_IF, 1);

	unused = condition_new(0, 0);
	EXPECT_NE(handle, unused);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphInstantiateWithParams(&instance, self->graph, &how));
	EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, how.result_out);
}

/* A kernel that sets what is no condition loses the context, and nothing else is written. */
TEST_F(condition, of_no_graph)
{
	CUgraphConditionalHandle handle = 12345678;
	CUdeviceptr at;

	start();
	at = self->memory;
	ASSERT_OK(cuLaunchKernel(self->set, 1, 1, 1, 1, 1, 1, 0, self->stream,
				 (void *[]) { &handle, &at }, NULL));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
}

TEST_HARNESS_MAIN
