// SPDX-License-Identifier: MIT
/* Graphs that change: children, copies; bad input; threads. */
#include "graph_fixture.h"
#include "reason.h"

/* ---- graphs in graphs ---- */

TEST_F(stream, children)
{
	CUgraph inner = graph_new(), outer = graph_new(), got = NULL, other;
	CUgraphNode child, set = add_words(inner, NULL, AT(0), 3), last;
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_GRAPH };
	CUgraphExec instance;

	add_copy(inner, set, AT(8), AT(0));
	ASSERT_OK(cuGraphAddChildGraphNode(&child, outer, NULL, 0, inner));
	last = add_copy(outer, child, AT(16), AT(8));
	ASSERT_NE(NULL, last);
	ASSERT_OK(cuGraphChildGraphNodeGetGraph(child, &got));
	EXPECT_NE(inner, got);
	EXPECT_EQ(2, nodes_of(got));
	EXPECT_REASON(cuGraphDestroy(got), "the graph is a child node's");
	/* the child node has a copy: the original can be destroyed */
	EXPECT_OK(cuGraphDestroy(inner));
	instance = instance_of(outer);
	launch_and_wait(instance, self->first);
	EXPECT_EQ(3, self->at[16]);

	other = graph_new();
	set = add_words(other, NULL, AT(0), 6);
	add_copy(other, set, AT(8), AT(0));
	EXPECT_OK(cuGraphExecChildGraphNodeSetParams(instance, child, other));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(6, self->at[16]);
	add_words(other, NULL, AT(100), 1);
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
		  cuGraphExecChildGraphNodeSetParams(instance, child, other));
	EXPECT_REASON(cuGraphExecChildGraphNodeSetParams(instance, last, other), "not a child");
	EXPECT_REASON(cuGraphExecChildGraphNodeSetParams(instance, NULL, other), "NULL node");
	launch_and_wait(instance, self->first);
	EXPECT_EQ(6, self->at[16]);
	EXPECT_EQ(0, self->at[100]);

	/* the call for nodes of any type does the same */
	params.graph.graph = other;
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
		  cuGraphExecNodeSetParams(instance, child, &params));
	EXPECT_REASON(cuGraphExecNodeSetParams(instance, last, &params), "not a child");
	EXPECT_REASON(cuGraphExecNodeSetParams(instance, NULL, &params), "NULL node");
	params.graph.graph = got;
	EXPECT_OK(cuGraphExecNodeSetParams(instance, child, &params));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(3, self->at[16]);

	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(outer));
	EXPECT_REASON(cuGraphGetNodes(got, NULL, &(size_t) { 0 }), "# is not a graph, or");
	EXPECT_OK(cuGraphDestroy(other));
}

TEST_F(stream, nesting_has_a_limit)
{
	CUgraph graph = graph_new(), outer, inner;
	CUgraphNode node;
	int depth;

	ASSERT_OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	EXPECT_REFUSED(cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph));
	/* nor in a graph inside of it */
	outer = graph_new();
	ASSERT_OK(cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
	ASSERT_OK(cuGraphChildGraphNodeGetGraph(node, &inner));
	EXPECT_REFUSED(cuGraphAddChildGraphNode(&node, inner, NULL, 0, outer));
	ASSERT_OK(cuGraphDestroy(outer));
	for (depth = 1; depth < 100; depth++) {
		CUgraphNodeParams params = {
			.type = CU_GRAPH_NODE_TYPE_GRAPH,
			.graph = { graph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE },
		};
		CUresult result;

		outer = graph_new();
		result = cuGraphAddNode(&node, outer, NULL, NULL, 0, &params);
		if (result != CUDA_SUCCESS) {
			EXPECT_EQ((int)CUDA_ERROR_NOT_SUPPORTED, (int)result);
			EXPECT_EQ(0, nodes_of(outer));
			ASSERT_OK(cuGraphDestroy(outer));
			break;
		}
		/* the graph belongs to the child node now */
		EXPECT_REASON(cuGraphDestroy(graph), "the graph is a child node's");
		graph = outer;
	}
	EXPECT_EQ(64, depth);
	EXPECT_OK(cuGraphExecDestroy(instance_of(graph)));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(stream, graphs_that_cannot_move)
{
	CUgraph inner = graph_new(), outer = graph_new(), third = graph_new();
	CUgraphNode node;
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_GRAPH,
		.graph = { inner, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE },
	};
#define NO_MOVE(to, what, reason)							\
	EXPECT_REASON((params.graph.graph = what,					\
		       cuGraphAddNode(&node, to, NULL, NULL, 0, &params)), reason)

	ASSERT_OK(cuGraphAddNode(&node, outer, NULL, NULL, 0, &params));
	NO_MOVE(third, inner, "the graph is in another");
	NO_MOVE(inner, outer, "the graph is in another");
	ASSERT_OK(cuStreamBeginCaptureToGraph(self->free, third, NULL, NULL, 0,
					      CU_STREAM_CAPTURE_MODE_RELAXED));
	NO_MOVE(outer, third, "the graph is in another, or a stream is captured");
	ASSERT_OK(cuStreamEndCapture(self->free, NULL));
	params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE + 1;
	NO_MOVE(outer, third, "no such ownership");
	EXPECT_EQ(1, nodes_of(outer));
}

/* ---- changes ---- */

TEST_F(stream, changes_are_for_later_launches)
{
	CUgraph graph = graph_new(), changed = graph_new();
	CUgraphNode set = add_words(graph, NULL, AT(0), 1), again;
	CUDA_MEMSET_NODE_PARAMS params = words(AT(8), 2, 4);
	CUgraphExecUpdateResultInfo info = { .result = 77 };
	CUgraphExec instance = instance_of(graph);
	unsigned int enabled = 77;

	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	ASSERT_OK(cuGraphExecMemsetNodeSetParams(instance, set, &params, NULL));
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	again = add_words(changed, NULL, AT(16), 3);
	ASSERT_OK(cuGraphExecUpdate(instance, changed, &info));
	EXPECT_EQ(0, (int)info.result);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	/* the instance's nodes still go by the nodes of the graph that it was made of */
	EXPECT_REASON(cuGraphNodeSetEnabled(instance, again, 0), "the instance was not made with");
	ASSERT_OK(cuGraphNodeSetEnabled(instance, set, 0));
	ASSERT_OK(cuGraphNodeGetEnabled(instance, set, &enabled));
	EXPECT_EQ(0, enabled);
	EXPECT_EQ(0, self->at[0]);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(1, self->at[0]);
	EXPECT_EQ(2, self->at[8]);
	EXPECT_EQ(3, self->at[16]);
	self->at[16] = 0;
	launch_and_wait(instance, self->first);
	EXPECT_EQ(0, self->at[16]);
	/* what was left out stays so when the instance is updated again */
	ASSERT_OK(cuGraphExecUpdate(instance, changed, &info));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(0, self->at[16]);
	/* changes of the instance have not changed the graph */
	ASSERT_OK(cuGraphMemsetNodeGetParams(set, &params));
	EXPECT_EQ(1, params.value);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuGraphDestroy(changed));
}

/* Graphs, their clones and the instances of each are destroyed in any order. */
TEST_F(stream, clones_outlive_and_are_outlived)
{
	unsigned int seed = 9, round;

	for (round = 0; round < loops(60) + 1; round++) {
		CUgraph graphs[4] = { graph_new() };
		CUgraphExec instances[4] = {};
		CUgraphNode set = add_words(graphs[0], NULL, AT(0), round + 1), found, copy;
		int i, k, left[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

		copy = add_copy(graphs[0], set, AT(8), AT(0));
		ASSERT_NE(NULL, copy);
		for (i = 1; i < 4; i++) {
			ASSERT_OK(cuGraphClone(&graphs[i], graphs[rand_r(&seed) % i]));
			EXPECT_EQ(2, nodes_of(graphs[i]));
			EXPECT_EQ(1, edges_of(graphs[i]));
		}
		ASSERT_OK(cuGraphNodeFindInClone(&found, set, graphs[1]));
		EXPECT_NE(set, found);
		EXPECT_REASON(cuGraphNodeFindInClone(&found, set, graphs[0]), "the graph has no");
		for (i = 0; i < 4; i++)
			instances[i] = instance_of(graphs[i]);
		for (i = 7; i > 0; i--) {
			int other = rand_r(&seed) % (i + 1), before = left[i];

			left[i] = left[other];
			left[other] = before;
		}
		for (i = 0; i < 8; i++) {
			for (k = 0; k < 4; k++) {
				if (!instances[k])
					continue;
				self->at[8] = 0;
				launch_and_wait(instances[k], self->first);
				EXPECT_EQ(round + 1, self->at[8]);
			}
			if (left[i] < 4) {
				ASSERT_OK(cuGraphDestroy(graphs[left[i]]));
			} else {
				ASSERT_OK(cuGraphExecDestroy(instances[left[i] - 4]));
				instances[left[i] - 4] = NULL;
			}
		}
	}
}

TEST_F(stream, nodes_can_go)
{
	CUgraph graph = graph_new();
	CUgraphNode a, b, c, nodes[4], from[4], to[4];
	CUgraphExec before, after;
	size_t count = 4;

	a = add_words(graph, NULL, AT(0), 1);
	b = add_copy(graph, a, AT(8), AT(0));
	c = add_copy(graph, b, AT(16), AT(8));
	before = instance_of(graph);
	ASSERT_OK(cuGraphDestroyNode(b));
	EXPECT_REASON(cuGraphDestroyNode(b), "# is not a node, or destroyed");
	EXPECT_REASON(cuGraphAddDependencies(graph, &a, &b, NULL, 1), "# is not a node, or");
	ASSERT_OK(cuGraphGetNodes(graph, nodes, &count));
	EXPECT_EQ(2, count);
	EXPECT_EQ(a, nodes[0]);
	EXPECT_EQ(c, nodes[1]);
	EXPECT_EQ(NULL, nodes[2]);
	count = 4;
	ASSERT_OK(cuGraphGetEdges(graph, from, to, NULL, &count));
	EXPECT_EQ(0, count);
	ASSERT_OK(cuGraphAddDependencies(graph, &a, &c, NULL, 1));
	after = instance_of(graph);
	launch_and_wait(after, self->first);
	EXPECT_EQ(0, self->at[16]);
	launch_and_wait(before, self->first);
	EXPECT_EQ(1, self->at[16]);
	EXPECT_OK(cuGraphExecDestroy(before));
	EXPECT_OK(cuGraphExecDestroy(after));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* ---- bad input ---- */

TEST_F(stream, bad_nodes)
{
	CUgraph graph = graph_new(), other = graph_new();
	CUgraphNode node = NULL, foreign, twice[2];
	CUDA_MEMSET_NODE_PARAMS good_set = words(AT(0), 1, 4), set;
	CUDA_MEMCPY3D good_copy = bytes_from(AT(8), AT(0), 16), copy;
	CUDA_HOST_NODE_PARAMS call = {};
	CUgraphNodeParams params;
	CUgraphEdgeData edge = {};

	ASSERT_OK(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
#define BAD_SET(text, ...)	EXPECT_REASON(({ set = good_set; __VA_ARGS__;		\
	cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, NULL); }), text)
	BAD_SET("elements are of #, # or # bytes", set.elementSize = 0);
	BAD_SET("elements are of #, # or # bytes", set.elementSize = 3);
	BAD_SET("elements are of #, # or # bytes", set.elementSize = 8);
	BAD_SET("width or height is #", set.width = 0);
	BAD_SET("width or height is #", set.height = 0);
	BAD_SET("# or the pitch # is not a multiple of #", set.dst++);
	BAD_SET("the destination # is not device memory", set.dst = 0);
	BAD_SET("the destination # is not device memory", set.dst = 0x1000);
	BAD_SET("device # cannot write # bytes at #:", set.width = CHUNK);
	BAD_SET("the destination's pitch # is less than a row of #", set.height = 2, set.pitch = 8);
#define BAD_COPY(text, ...)	EXPECT_REASON(({ copy = good_copy; __VA_ARGS__;		\
	cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, NULL); }), text)
	BAD_COPY("width, height or depth is #", copy.WidthInBytes = 0);
	BAD_COPY("width, height or depth is #", copy.Height = 0);
	BAD_COPY("width, height or depth is #", copy.Depth = 0);
	BAD_COPY("no such memory type: #", copy.srcMemoryType = 9);
	BAD_COPY("the destination # is not device memory", copy.dstDevice = 0);
	BAD_COPY("device # cannot ", copy.WidthInBytes = 2 * CHUNK);
	EXPECT_REASON(cuGraphAddHostNode(&node, graph, NULL, 0, &call), "NULL function");
	EXPECT_REASON(cuGraphAddHostNode(&node, graph, NULL, 0, NULL), "NULL parameters");
	EXPECT_REASON(cuGraphAddEventRecordNode(&node, graph, NULL, 0, NULL), "NULL event");
	EXPECT_REASON(cuGraphAddEventWaitNode(&node, graph, NULL, 0, NULL), "NULL event");
	EXPECT_REASON(cuGraphAddChildGraphNode(&node, graph, NULL, 0, NULL), "# is not a graph,");
	EXPECT_REASON(cuGraphAddEmptyNode(&node, NULL, NULL, 0), "NULL pointer");
	EXPECT_REASON(cuGraphAddEmptyNode(NULL, graph, NULL, 0), "NULL pointer");
	EXPECT_REASON(cuGraphAddEmptyNode(&node, graph, NULL, 1), "NULL pointer");
	EXPECT_REASON(cuGraphAddEmptyNode(&node, graph, &foreign, 1), "dependency # is of another");
	EXPECT_REASON(cuGraphCreate(NULL, 0), "NULL output");
	EXPECT_REASON(cuGraphCreate(&other, 1), "flags must be #");
#define BAD_PARAMS(result, text, ...)	EXPECT_CU_REASON(CUDA_ERROR_##result, ({	\
	params = (CUgraphNodeParams) { .type = CU_GRAPH_NODE_TYPE_EMPTY };	\
	__VA_ARGS__; cuGraphAddNode(&node, graph, NULL, NULL, 0, &params); }), text)
	BAD_PARAMS(INVALID_VALUE, "no type #", params.type = 14);
	BAD_PARAMS(INVALID_VALUE, "no type -#", params.type = -1);
	BAD_PARAMS(INVALID_VALUE, "reserved fields must be #", params.reserved0[1] = 1);
	BAD_PARAMS(INVALID_VALUE, "reserved fields must be #", params.reserved2 = 1);
	BAD_PARAMS(INVALID_HANDLE, "NULL function", params.type = CU_GRAPH_NODE_TYPE_KERNEL);
	BAD_PARAMS(NOT_SUPPORTED, "type #: external semaphores are",
		   params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
	BAD_PARAMS(INVALID_VALUE, "# graphs: IF has", params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL);
	EXPECT_EQ(NULL, node);
	EXPECT_EQ(0, nodes_of(graph));

	ASSERT_OK(cuGraphAddEmptyNode(&twice[0], graph, NULL, 0));
	twice[1] = twice[0];
	params = (CUgraphNodeParams) { .type = CU_GRAPH_NODE_TYPE_EMPTY };
	EXPECT_REASON(cuGraphAddEmptyNode(&node, graph, twice, 2), "dependency # is there twice");
	edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
	EXPECT_REASON(cuGraphAddNode(&node, graph, twice, &edge, 1, &params), "edge # has a port");
	edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
	EXPECT_REASON(cuGraphAddNode(&node, graph, twice, &edge, 1, &params),
		      "edges of type PROGRAMMATIC are between kernels");
	edge = (CUgraphEdgeData) { .from_port = 1 };
	EXPECT_REASON(cuGraphAddNode(&node, graph, twice, &edge, 1, &params), "edge # has a port");
	EXPECT_REASON(cuGraphAddDependencies(graph, twice, twice, NULL, 1), "a node cannot depend");
	EXPECT_REASON(cuGraphAddDependencies(graph, twice, &foreign, NULL, 1), "a node is of");
	EXPECT_REASON(cuGraphRemoveDependencies(graph, twice, &foreign, NULL, 1), "a node is of");
	EXPECT_REASON(cuGraphAddDependencies(graph, NULL, NULL, NULL, 1), "NULL pointer");
	EXPECT_REASON(cuGraphGetEdges(graph, NULL, NULL, &edge, &(size_t) { 1 }),
		      "one of the outputs is NULL");
	EXPECT_REASON(cuGraphNodeGetDependencies(twice[0], NULL, &edge, &(size_t) { 1 }),
		      "NULL output");
	EXPECT_REASON(cuGraphNodeGetDependentNodes(twice[0], NULL, &edge, &(size_t) { 1 }),
		      "NULL output");
	EXPECT_OK(cuGraphAddDependencies(graph, NULL, NULL, NULL, 0));
	EXPECT_EQ(1, nodes_of(graph));
	EXPECT_EQ(0, edges_of(graph));
	EXPECT_REASON(cuGraphMemsetNodeSetParams(twice[0], &good_set), "the node is of type #,");
	EXPECT_REASON(cuGraphMemcpyNodeGetParams(twice[0], &copy), "the node is of type #, not #");
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_REASON(cuGraphDestroy(graph), "# is not a graph, or destroyed");
	EXPECT_REASON(cuGraphAddEmptyNode(&node, graph, NULL, 0), "# is not a graph, or destroyed");
	EXPECT_OK(cuGraphDestroy(other));
}

/* Calls write only outputs to the parameters: a program may use them again in another context. */
TEST_F(stream, parameters_stay_the_caller_s)
{
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_MEMSET,
		.memset = { .dst = AT(0), .value = 1, .elementSize = 4, .width = 4, .height = 1 },
	}, before = params;
	CUgraph graph = graph_new();
	CUgraphExec instance;
	CUgraphNode node;

#define EXPECT_SAME	EXPECT_EQ(0, memcmp(&before, &params, sizeof(params)))
	ASSERT_OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
	EXPECT_SAME;
	ASSERT_OK(cuGraphNodeSetParams(node, &params));
	EXPECT_SAME;
	instance = instance_of(graph);
	ASSERT_OK(cuGraphExecNodeSetParams(instance, node, &params));
	EXPECT_SAME;
	before.memset.dst = params.memset.dst = 0;
	EXPECT_REASON(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), "the destination #");
	EXPECT_SAME;
	params = (CUgraphNodeParams) {
		.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = { .type = CU_GRAPH_COND_TYPE_IF, .size = 1 },
	};
	ASSERT_OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, NULL, 0, 0));
	before = params;
	ASSERT_OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
	before.conditional.phGraph_out = params.conditional.phGraph_out;
	EXPECT_SAME;
}

/* A node with more graphs than there can be is refused, and leaves none behind. */
TEST_F(stream, too_many_graphs)
{
	CUgraph graph = graph_new(), other = graph_new();
	CUgraphNodeParams params = {
		.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
		.conditional = { .type = CU_GRAPH_COND_TYPE_SWITCH, .size = (1 << 20) - 1 },
	};
	CUgraphNode node;

	ASSERT_OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, NULL, 0, 0));
	EXPECT_CU_REASON(CUDA_ERROR_OUT_OF_MEMORY,
			 cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), "too many graphs");
	EXPECT_EQ(0, nodes_of(graph));
	EXPECT_OK(cuGraphDestroy(graph_new()));
	EXPECT_OK(cuGraphDestroy(other));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* ---- threads ---- */

struct shared {
	CUcontext context;
	CUgraph graph;
	CUgraphNode call;
	CUgraphExec instance;
	int calls;
};

#define LAUNCHES	200

static void *launcher(void *data)
{
	struct shared *shared = data;
	CUDA_HOST_NODE_PARAMS call = { add_one, &shared->calls };
	long failures = 0;
	CUstream stream;
	int i;

	failures += cuCtxSetCurrent(shared->context) != CUDA_SUCCESS;
	failures += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
	for (i = 0; i < LAUNCHES; i++) {
		CUgraph clone;
		CUgraphExec own;

		failures += cuGraphLaunch(shared->instance, stream) != CUDA_SUCCESS;
		if (i % 8)
			continue;
		failures += cuGraphExecHostNodeSetParams(shared->instance, shared->call, &call) !=
			    CUDA_SUCCESS;
		failures += cuGraphExecUpdate(shared->instance, shared->graph, NULL) !=
			    CUDA_SUCCESS;
		failures += cuGraphClone(&clone, shared->graph) != CUDA_SUCCESS;
		failures += cuGraphInstantiate(&own, clone, 0) != CUDA_SUCCESS;
		failures += cuGraphDestroy(clone) != CUDA_SUCCESS;
		failures += cuGraphExecDestroy(own) != CUDA_SUCCESS;
	}
	failures += cuStreamSynchronize(stream) != CUDA_SUCCESS;
	failures += cuStreamDestroy(stream) != CUDA_SUCCESS;
	return (void *)failures;
}

/* Several threads launch one instance, each in its own stream, and change the instance. */
TEST_F(stream, threads_share_an_instance)
{
	struct shared shared = { .graph = graph_new() };
	pthread_t threads[4];
	void *failures;
	int i;

	ASSERT_OK(cuCtxGetCurrent(&shared.context));
	shared.call = add_call(shared.graph, add_words(shared.graph, NULL, AT(0), 1), add_one,
			       &shared.calls);
	shared.instance = instance_of(shared.graph);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, launcher, &shared));
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &failures);
		EXPECT_EQ(0, (long)failures);
	}
	EXPECT_EQ(4 * LAUNCHES, shared.calls);
	EXPECT_OK(cuGraphExecDestroy(shared.instance));
	EXPECT_OK(cuGraphDestroy(shared.graph));
}

TEST_HARNESS_MAIN
