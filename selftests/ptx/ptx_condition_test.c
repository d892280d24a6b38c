// SPDX-License-Identifier: MIT
/* Launches of graphs with conditional nodes, whose conditions kernels set. */
#include "condition_fixture.h"

/* A kernel sets the condition; the node behind it does one graph, or the other. */
TEST_F(condition, of_an_if_with_else)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node, behind;
	CUgraphExec instance;
	CUgraph *bodies;

	start();
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &self->at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_IF, 2);
	add_words(bodies[0], NULL, self->at + 64, 10);
	add_words(bodies[1], NULL, self->at + 64, 20);
	behind = add_copy(self->graph, node, self->at + 128, self->at + 64);
	EXPECT_NE(NULL, behind);
	instance = instance_of(self->graph);
	put_word(self->at, 7);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(10, word(self->at + 128));
	put_word(self->at, 0);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(20, word(self->at + 128));
}

/* Without a second graph nothing is done for 0; the graph may have been destroyed. */
TEST_F(condition, of_an_if_whose_graph_is_destroyed)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node;
	CUgraphExec instance;
	CUgraph *bodies;

	start();
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &self->at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	add_words(bodies[0], NULL, self->at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuGraphDestroy(self->graph));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(self->graph));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(0, word(self->at + 64));
	put_word(self->at, 1);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(10, word(self->at + 64));
}

/* A loop ends when its own kernel says so. Each launch begins with the default. */
TEST_F(condition, of_a_while)
{
	CUgraphConditionalHandle handle;
	uint32_t one = 1, three = 3;
	CUgraphExec instance;
	CUgraphNode node, last;
	CUdeviceptr sum;
	CUgraph *bodies;

	start();
	sum = self->at + 64;
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	last = add_kernel(bodies[0], NULL, self->add, &sum, &one);
	add_kernel(bodies[0], last, self->down, &handle, &self->at);
	instance = instance_of(self->graph);
	for (uint32_t i = 1; i <= 3; i++) {
		put_word(self->at, 5);
		launch_and_wait(instance, self->stream);
		EXPECT_EQ(0, word(self->at));
		EXPECT_EQ(5 * i, word(sum));
	}
	/* a node of the loop's graph can be changed in the instance */
	ASSERT_OK(cuGraphExecKernelNodeSetParams(instance, last, &(CUDA_KERNEL_NODE_PARAMS) {
		.func = self->add, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
		.blockDimY = 1, .blockDimZ = 1, .kernelParams = (void *[]) { &sum, &three } }));
	put_word(self->at, 2);
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
	CUgraph *bodies;

	start();
	handle = condition_new(1, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	node = add_kernel(bodies[0], NULL, self->add, &(CUdeviceptr) { self->at + 64 }, &one);
	add_kernel(bodies[0], node, self->down, &handle, &self->at);
	instance = instance_of(self->graph);
	put_word(self->at, 2);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(2, word(self->at + 64));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(2, word(self->at + 64));
}

TEST_F(condition, of_a_switch)
{
	CUgraphConditionalHandle handle;
	CUgraphNode before, node;
	CUgraphExec instance;
	CUgraph *bodies;

	start();
	handle = condition_new(0, 0);
	before = add_kernel(self->graph, NULL, self->set, &handle, &self->at);
	bodies = add_condition(self->graph, before, &node, handle, CU_GRAPH_COND_TYPE_SWITCH, 4);
	for (int i = 0; i < 4; i++)
		if (i != 2)
			add_words(bodies[i], NULL, self->at + 64, 100 + i);
	instance = instance_of(self->graph);
	for (uint32_t i = 0; i < 6; i++) {
		put_word(self->at, i);
		put_word(self->at + 64, 1);
		launch_and_wait(instance, self->stream);
		EXPECT_EQ(i < 4 && i != 2 ? 100 + i : 1, word(self->at + 64));
	}
}

/* An if in a loop, whose condition is made for the outer graph; and a captured body */
TEST_F(condition, in_the_graph_of_another)
{
	CUgraphConditionalHandle loop, inner;
	CUgraphExec instance;
	CUgraphNode node, set, down;
	CUgraph *bodies, *inside;
	CUdeviceptr flag, sum;
	uint32_t two = 2;

	start();
	flag = self->at + 64;
	sum = self->at + 128;
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
	down = add_kernel(bodies[0], node, self->down, &loop, &self->at);
	EXPECT_NE(NULL, down);
	instance = instance_of(self->graph);
	put_word(self->at, 4);
	put_word(flag, 1);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(8, word(sum));
	put_word(self->at, 4);
	put_word(flag, 0);
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(8, word(sum));
}

/* Two nodes in a row, each with a condition; both graphs set theirs to the word at self->at, 0. */
#define two_conditions(graph, first)	two_conditions_(_metadata, self, graph, first)
TEST_HELPER CUgraph *two_conditions_(struct __test_metadata *_metadata,
				     FIXTURE_DATA(condition) *self, CUgraph graph,
				     unsigned int first)
{
	CUgraph *bodies = NULL, *inside;
	CUgraphNode node = NULL, inner;
	CUgraphConditionalHandle handle;

	for (unsigned int i = 0; i < 2; i++) {
		handle = condition_new_(_metadata, graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
		bodies = add_condition(graph, node, &node, handle, CU_GRAPH_COND_TYPE_IF, 2);
		add_kernel(bodies[0], NULL, self->set, &handle, &self->at);
		add_words(bodies[0], NULL, self->at + 64 * (i + 1), first + i);
		add_words(bodies[1], NULL, self->at + 64 * (i + 1), 1);
		/* one that is made for the node's graph, and is set there */
		handle = condition_new_(_metadata, bodies[0], 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
		inside = add_condition(bodies[0], NULL, &inner, handle, CU_GRAPH_COND_TYPE_IF, 2);
		add_kernel(inside[0], NULL, self->set, &handle, &self->at);
		add_words(inside[0], NULL, self->at + 64 * (i + 3), first + 2 + i);
		add_words(inside[1], NULL, self->at + 64 * (i + 3), 1);
	}
	return bodies;
}

#define expect_words(first)							\
({										\
	for (uint32_t n_ = 0; n_ < 4; n_++)					\
		EXPECT_EQ((first) + n_, word(self->at + 64 * (n_ + 1)));	\
	ASSERT_OK(cuMemsetD32(self->at + 64, 0, 80));			\
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
	add_words(bodies[1], NULL, self->at, 1);
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

	start();
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	add_kernel(bodies[0], NULL, self->set, &handle, &self->at);
	node = add_words(bodies[0], NULL, self->at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuStreamWaitValue32(self->stream, self->at + 128, 1, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	fill = words(self->at + 64, 11, 4);
	ASSERT_OK(cuGraphExecMemsetNodeSetParams(instance, node, &fill, NULL));
	put_word(self->at + 128, 1);
	ASSERT_OK(cuStreamSynchronize(self->stream));
	EXPECT_EQ(10, word(self->at + 64));
	launch_and_wait(instance, self->stream);
	EXPECT_EQ(11, word(self->at + 64));
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

	start();
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuStreamCreate(&self->stream, CU_STREAM_NON_BLOCKING));
	handle = condition_new(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_WHILE, 1);
	add_words(bodies[0], NULL, self->at + 64, 10);
	instance = instance_of(self->graph);
	ASSERT_OK(cuGraphLaunch(instance, self->stream));
	ASSERT_TRUE(comes_true(loop_has_begun(self->at + 64)));
	ASSERT_OK(cuCtxDestroy(context));
}

/* A kernel that sets what is no condition loses the context, and nothing else is written. */
TEST_F(condition, of_no_graph)
{
	CUgraphConditionalHandle handle = 12345678;

	start();
	ASSERT_OK(cuLaunchKernel(self->set, 1, 1, 1, 1, 1, 1, 0, self->stream,
				 (void *[]) { &handle, &self->at }, NULL));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->stream));
}

TEST_HARNESS_MAIN
