// SPDX-License-Identifier: MIT
/* What conditional nodes, and the graphs around them, may be, and what is refused. */
#include "condition_fixture.h"
#include "reason.h"

static void nothing(void *data)
{
	(void)data;
}

/* Kernels of another context, and conditions of one, are refused. */
TEST_F(condition, of_another_context)
{
	CUDA_KERNEL_NODE_PARAMS kernel = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
					   .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1 };
	CUgraphConditionalHandle handle;
	CUgraphNodeParams params;
	CUcontext context;
	CUfunction other;
	CUmodule module;
	CUgraphNode node;
	CUgraph *bodies;

	start();
	handle = condition_new(0, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	handle = condition_new(0, 0);
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	params = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddNode(&node, self->graph, NULL, NULL, 0, &params));
	ASSERT_OK(cuModuleLoadData(&module, kernels));
	ASSERT_OK(cuModuleGetFunction(&kernel.func, module, "set"));
	kernel.kernelParams = (void *[]) { &handle, &self->at };
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddKernelNode(&node, bodies[0], NULL, 0, &kernel));
	other = kernel.func;
	kernel.func = self->set;
	ASSERT_OK(cuGraphAddKernelNode(&node, bodies[0], NULL, 0, &kernel));
	kernel.func = other;
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(node, &kernel));
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
		  cuMemsetD32Async(self->at, 1, 1, other));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(other, &graph));

	handle = condition_new(0, 0);
	bodies = add_condition(self->graph, NULL, &node, handle, CU_GRAPH_COND_TYPE_IF, 1);
	ASSERT_OK(cuStreamBeginCaptureToGraph(other, bodies[0], NULL, NULL, 0,
					      CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
		  cuGraphInstantiate(&instance, self->graph, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(self->graph));
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
	EXPECT_REASON(cuGraphDestroy(bodies[0]), "the graph is a conditional node's");

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
	/* a launch copies a child node's graph into the one around it, where no condition can be */
	handle = condition_new(0, 0);
	ASSERT_OK(cuGraphAddChildGraphNode(&other, self->graph, NULL, 0, graph_new()));
	ASSERT_OK(cuGraphChildGraphNodeGetGraph(other, &graph));
	params = conditional(handle, CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_CU_REASON(CUDA_ERROR_NOT_SUPPORTED,
			 cuGraphAddNode(&node, graph, NULL, NULL, 0, &params),
			 "graphs of child nodes have no conditions");
}

TEST_F(condition, nests_as_deep_as_child_graphs)
{
	CUgraphNodeParams params;
	CUgraphNode node;
	CUgraph graph;

	start();
	graph = self->graph;
	for (int depth = 1; depth < 64; depth++)
		graph = *add_condition(graph, NULL, &node, condition_new(0, 0),
				       CU_GRAPH_COND_TYPE_IF, 1);
	params = conditional(condition_new(0, 0), CU_GRAPH_COND_TYPE_IF, 1);
	EXPECT_REFUSED(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
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

TEST_HARNESS_MAIN
