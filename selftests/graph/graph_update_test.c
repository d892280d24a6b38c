// SPDX-License-Identifier: MIT
/* Changes to instances: what an update or a call for a node may change; what an update names. */
#include "graph_fixture.h"
#include "reason.h"

TEST_F(stream, updates_that_do_not_fit)
{
	CUgraph graph = graph_new(), other;
	CUgraphNode set = add_words(graph, NULL, AT(0), 1);
	CUDA_MEMSET_NODE_PARAMS rows = { .dst = AT(0), .pitch = 64, .value = 8, .elementSize = 4,
					 .width = 4, .height = 2 };
	CUgraphExecUpdateResultInfo info;
	CUgraphExec instance;

	add_copy(graph, set, AT(8), AT(0));
	instance = instance_of(graph);
#define NO_UPDATE(reason, with_node)						\
({										\
	info.result = 77;							\
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,				\
		  cuGraphExecUpdate(instance, other, &info));			\
	EXPECT_EQ((int)CU_GRAPH_EXEC_UPDATE_ERROR_##reason, (int)info.result);	\
	EXPECT_EQ(with_node, !!info.errorNode);					\
	ASSERT_OK(cuGraphDestroy(other));					\
	other = graph_new();							\
})
	other = graph_new();
	NO_UPDATE(TOPOLOGY_CHANGED, false);
	set = add_words(other, NULL, AT(0), 8);
	add_copy(other, NULL, AT(8), AT(0));
	NO_UPDATE(TOPOLOGY_CHANGED, true);
	set = add_words(other, NULL, AT(0), 8);
	add_words(other, set, AT(8), 8);
	NO_UPDATE(NODE_TYPE_CHANGED, true);
	ASSERT_OK(cuGraphAddMemsetNode(&set, other, NULL, 0, &rows, NULL));
	add_copy(other, set, AT(8), AT(0));
	NO_UPDATE(PARAMETERS_CHANGED, true);
	info.result = 77;
	EXPECT_REASON(cuGraphExecUpdate(instance, NULL, &info), "# is not a graph, or destroyed");
	EXPECT_EQ(0, (int)info.result);

	launch_and_wait(instance, self->first);
	EXPECT_EQ(1, self->at[8]);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuGraphDestroy(other));
}

/* Adds two fills, the first one last if that is to be so, and a copy of the first behind both. */
#define add_three(graph, reversed, value)	add_three_(_metadata, graph, AT(0), reversed, value)
static CUgraphNode add_three_(struct __test_metadata *_metadata, CUgraph graph, CUdeviceptr at,
			      bool reversed, uint32_t value)
{
	CUDA_MEMCPY3D copy = bytes_from(at + 64, at, 16);
	CUgraphNode sets[2], last;

	for (int i = 0; i < 2; i++) {
		int set = i ^ reversed;

		sets[set] = add_words(graph, NULL, at + 32 * set, value + set);
	}
	ASSERT_OK(cuGraphAddMemcpyNode(&last, graph, sets, 2, &copy, NULL));
	return sets[0];
}

#define EXPECT_THREE(value)				\
({							\
	launch_and_wait(instance, self->first);		\
	EXPECT_EQ((value), self->at[0]);		\
	EXPECT_EQ((value) + 1, self->at[8]);		\
	EXPECT_EQ((value), self->at[16]);		\
})

/* Nodes are paired by their edges, not by the order in which they were added. */
TEST_F(stream, updates_in_another_order)
{
	CUgraph graph = graph_new(), other = graph_new();
	CUgraphNode first = add_three(graph, false, 10), child;
	CUDA_MEMSET_NODE_PARAMS params = words(AT(0), 30, 4);
	CUgraphExec instance = instance_of(graph);

	add_three(other, true, 20);
	ASSERT_OK(cuGraphExecUpdate(instance, other, NULL));
	EXPECT_THREE(20);
	ASSERT_OK(cuGraphExecMemsetNodeSetParams(instance, first, &params, NULL));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(30, self->at[0]);
	EXPECT_EQ(21, self->at[8]);
	EXPECT_EQ(30, self->at[16]);
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	EXPECT_THREE(10);
	ASSERT_OK(cuGraphExecDestroy(instance));

	/* those of child graphs, too */
	first = add_three(other, false, 10);
	graph = graph_new();
	ASSERT_OK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, other));
	instance = instance_of(graph);
	other = graph_new();
	add_three(other, false, 20);
	add_three(other, true, 40);
	ASSERT_OK(cuGraphExecChildGraphNodeSetParams(instance, child, other));
	EXPECT_THREE(40);
	graph = graph_new();
	other = graph_new();
	add_three(other, true, 50);
	add_three(other, true, 60);
	ASSERT_OK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, other));
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	EXPECT_THREE(60);
}

/* Nor are nodes of a conditional node's graph, whose condition is always true here. */
TEST_F(stream, conditional_updates_in_another_order)
{
	CUgraphNodeParams params;
	CUgraphNode node, first = NULL;
	CUgraphExec instance = NULL;

	for (int i = 0; i < 2; i++) {
		CUgraph graph = graph_new();

		params = (CUgraphNodeParams) {
			.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
			.conditional = { .type = CU_GRAPH_COND_TYPE_IF, .size = 1 },
		};
		ASSERT_OK(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, NULL,
							 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
		ASSERT_OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
		node = add_three(params.conditional.phGraph_out[0], i, 10 + 10 * i);
		if (i) {
			ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
		} else {
			instance = instance_of(graph);
			first = node;
		}
		EXPECT_THREE(10 + 10 * i);
	}
	ASSERT_OK(cuGraphNodeSetEnabled(instance, first, 0));
	self->at[0] = self->at[8] = 0;
	launch_and_wait(instance, self->first);
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(21, self->at[8]);
}

TEST_F(stream, nodes_of_instances_that_stay)
{
	CUstreamBatchMemOpParams write[2] = { [0 ... 1] = { .writeValue = {
		.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = AT(32), .value = 1 } } };
	CUDA_BATCH_MEM_OP_NODE_PARAMS memops = { NULL, 1, write, 0 };
	CUDA_MEMCPY3D params = bytes_from(AT(8), AT(0), 16);
	CUgraph graph = graph_new();
	CUgraphNode operations, copy = add_copy(graph, NULL, AT(8), AT(0)), call;
	CUgraphExec instance;
	int calls = 0;

	ASSERT_OK(cuGraphAddBatchMemOpNode(&operations, graph, NULL, 0, &memops));
	call = add_call(graph, NULL, add_one, &calls);
	instance = instance_of(graph);
	params.srcMemoryType = CU_MEMORYTYPE_HOST;
	params.srcHost = write;
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, copy, &params, NULL),
		      "a memory type cannot change");
	params = bytes_from(AT(8), AT(0), 16);
	params.dstMemoryType = CU_MEMORYTYPE_HOST;
	params.dstHost = write;
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, copy, &params, NULL),
		      "a memory type cannot change");
	memops.count = 2;
	EXPECT_REASON(cuGraphExecBatchMemOpNodeSetParams(instance, operations, &memops),
		      "the number of operations cannot change");
	memops.count = 1;
	write[0] = (CUstreamBatchMemOpParams) { .operation = CU_STREAM_MEM_OP_BARRIER };
	EXPECT_REASON(cuGraphExecBatchMemOpNodeSetParams(instance, operations, &memops),
		      "an operation's type cannot change");
	EXPECT_REASON(cuGraphNodeSetEnabled(instance, call, 0), "only kernels, copies and fills");
	launch_and_wait(instance, self->first);
	EXPECT_EQ(1, self->at[32]);
	EXPECT_EQ(1, calls);
	write[1].writeValue.value = 2;
	memops.paramArray = &write[1];
	ASSERT_OK(cuGraphExecBatchMemOpNodeSetParams(instance, operations, &memops));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(2, self->at[32]);
}

/* A capture leaves the memory types to the addresses: a copy may name the same ones later. */
TEST_F(stream, memory_types_of_addresses)
{
	static uint32_t host[2][4] = { { 1 }, { 2 } };
	CUDA_MEMCPY3D params = bytes_from(AT(8), AT(0), 16);
	CUgraphExec instance;
	CUgraphNode nodes[3];
	size_t count = 3;
	CUgraph graph;
	void *pinned;

	ASSERT_OK(cuMemHostAlloc(&pinned, 16, 0));
	memset(pinned, 0, 16);
	ASSERT_OK(cuStreamBeginCapture(self->first, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASSERT_OK(cuMemcpyAsync(ADDRESS(pinned), ADDRESS(host[0]), 16, self->first));
	ASSERT_OK(cuMemcpyAsync(AT(8), AT(0), 16, self->first));
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	ASSERT_OK(cuGraphGetNodes(graph, nodes, &count));
	ASSERT_EQ(2, count);
	instance = instance_of(graph);
	EXPECT_OK(cuGraphExecMemcpyNodeSetParams(instance, nodes[1], &params, NULL));
	params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
	EXPECT_OK(cuGraphExecMemcpyNodeSetParams(instance, nodes[1], &params, NULL));
	params.srcDevice = ADDRESS(host[1]);
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, nodes[1], &params, NULL),
		      "a memory type cannot change");
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, nodes[0], &params, NULL),
		      "a memory type cannot change");
	params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_HOST;
	params.srcHost = host[1];
	params.dstHost = pinned;
	EXPECT_OK(cuGraphExecMemcpyNodeSetParams(instance, nodes[0], &params, NULL));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(2, *(uint32_t *)pinned);
	/* the graph's node has what the capture gave it */
	ASSERT_OK(cuGraphMemcpyNodeGetParams(nodes[0], &params));
	EXPECT_EQ((int)CU_MEMORYTYPE_UNIFIED, (int)params.srcMemoryType);
	EXPECT_OK(cuGraphExecDestroy(instance));
}

/* So does one that names the type of one side only, unless that leaves no other type. */
TEST_F(stream, memory_types_of_one_side)
{
	CUDA_MEMCPY2D copy = { .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = AT(8),
			       .srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = AT(0),
			       .WidthInBytes = 16, .Height = 1 };
	CUDA_MEMCPY3D params = bytes_from(AT(8), AT(0), 16);
	static uint32_t host[4];
	CUgraphExec instance;
	CUgraphNode nodes[2];
	size_t count = 2;
	CUgraph graph;

	ASSERT_OK(cuStreamBeginCapture(self->first, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASSERT_OK(cuMemcpy2DAsync(&copy, self->first));
	ASSERT_OK(cuMemcpyHtoDAsync(AT(8), host, 16, self->first));
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	ASSERT_OK(cuGraphGetNodes(graph, nodes, &count));
	ASSERT_EQ(2, count);
	instance = instance_of(graph);
	EXPECT_OK(cuGraphExecMemcpyNodeSetParams(instance, nodes[0], &params, NULL));
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, nodes[1], &params, NULL),
		      "a memory type cannot change");
	ASSERT_OK(cuGraphMemcpyNodeGetParams(nodes[0], &params));
	EXPECT_EQ((int)CU_MEMORYTYPE_UNIFIED, (int)params.srcMemoryType);
	ASSERT_OK(cuGraphMemcpyNodeGetParams(nodes[1], &params));
	EXPECT_EQ((int)CU_MEMORYTYPE_HOST, (int)params.srcMemoryType);
	EXPECT_OK(cuGraphExecDestroy(instance));
}

/* A node gets its addresses later: until then both are 1, as in clients' graphs. */
TEST_F(stream, placeholders_of_copies)
{
	CUDA_MEMCPY3D params = { .srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = 1,
				 .dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = 1,
				 .WidthInBytes = 1, .Height = 1, .Depth = 1 };
	CUgraph graph = graph_new();
	CUgraphExec instance;
	CUgraphNode node;

	self->at[0] = 7;
	ASSERT_OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, NULL));
	instance = instance_of(graph);
	params = bytes_from(AT(8), AT(0), 16);
	ASSERT_OK(cuGraphExecMemcpyNodeSetParams(instance, node, &params, NULL));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(7, self->at[8]);
	/* with one address alone it is no place-holder */
	params.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
	params.srcDevice = 1;
	EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
		  cuGraphAddMemcpyNode(&node, graph, NULL, 0, &params, NULL));
	EXPECT_OK(cuGraphExecDestroy(instance));
	/* who launches it without addresses learns that */
	instance = instance_of(graph);
	EXPECT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
}

TEST_F(stream, updates_name_what_differs)
{
	CUgraph graph = graph_new(), other;
	CUgraphExecUpdateResultInfo info;
	CUgraphExec instance;
	CUgraphNode nodes[4];

	/* two nodes after the first, or in a row, and one after both */
#define DIAMOND(in, row)							\
({										\
	nodes[0] = add_words(in, NULL, AT(0), 1);				\
	nodes[1] = add_words(in, nodes[0], AT(8), 1);				\
	nodes[2] = add_words(in, nodes[row], AT(16), 1);			\
	ASSERT_OK(cuGraphAddEmptyNode(&nodes[3], in, &nodes[1], 2));		\
})
#define EXPECT_NAMED(node, from)						\
({										\
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,				\
		  cuGraphExecUpdate(instance, other, &info));			\
	EXPECT_EQ((int)CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, (int)info.result);	\
	EXPECT_EQ(node, info.errorNode);					\
	EXPECT_EQ(from, info.errorFromNode);					\
	other = graph_new();							\
})
	DIAMOND(graph, 0);
	instance = instance_of(graph);
	other = graph_new();
	DIAMOND(other, 1);
	EXPECT_NAMED(nodes[2], nodes[1]);
	/* more dependencies */
	DIAMOND(other, 0);
	ASSERT_OK(cuGraphAddDependencies(other, &nodes[1], &nodes[2], NULL, 1));
	EXPECT_NAMED(nodes[2], NULL);
	/* more nodes that no other comes after */
	DIAMOND(other, 0);
	ASSERT_OK(cuGraphRemoveDependencies(other, &nodes[2], &nodes[3], NULL, 1));
	EXPECT_NAMED(nodes[3], NULL);
	DIAMOND(other, 0);
	EXPECT_OK(cuGraphExecUpdate(instance, other, &info));
	EXPECT_EQ(NULL, info.errorFromNode);
}

/* One of a single row may get another width: updates_that_do_not_fit has it become rows. */
TEST_F(stream, fills_of_rows_keep_their_shape)
{
	const CUDA_MEMSET_NODE_PARAMS rows = { .dst = AT(0), .pitch = 64, .value = 8,
					       .elementSize = 4, .width = 4, .height = 2 };
	CUDA_MEMSET_NODE_PARAMS params = rows;
	CUgraphExecUpdateResultInfo info;
	CUgraph graph = graph_new();
	CUgraphExec instance;
	CUgraphNode node;

	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &rows, NULL));
	instance = instance_of(graph);
#define OTHER_SHAPE(reason, field, changed)						\
({											\
	params = rows;									\
	params.field = changed;								\
	EXPECT_REASON(cuGraphExecMemsetNodeSetParams(instance, node, &params, NULL), reason);	\
	ASSERT_OK(cuGraphMemsetNodeSetParams(node, &params));				\
	EXPECT_CU(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,					\
		  cuGraphExecUpdate(instance, graph, &info));				\
	EXPECT_EQ((int)CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, (int)info.result);	\
	EXPECT_EQ(node, info.errorNode);						\
})
	OTHER_SHAPE("the shape of rows cannot change", width, 8);
	OTHER_SHAPE("the shape of rows cannot change", pitch, 128);
	OTHER_SHAPE("the shape of rows cannot change", elementSize, 2);
	OTHER_SHAPE("the number of rows cannot change", height, 3);
	OTHER_SHAPE("the number of rows cannot change", height, 1);
	params = rows;
	params.dst = AT(64);
	params.value = 9;
	ASSERT_OK(cuGraphExecMemsetNodeSetParams(instance, node, &params, NULL));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(0, self->at[0]);
	EXPECT_EQ(9, self->at[64 + 16]);
}

/* A call for a node changes copies of one row only; an update changes those of rows, too. */
TEST_F(stream, copies_of_rows_change_by_updates)
{
	CUDA_MEMCPY3D row = bytes_from(AT(64), AT(0), 16), rows = row, layers = row;
	CUgraph graph = graph_new();
	CUgraphExec instance;
	CUgraphNode node;

	rows.srcPitch = rows.dstPitch = layers.srcPitch = layers.dstPitch = 32;
	layers.srcHeight = layers.dstHeight = 1;
	rows.Height = layers.Depth = 2;
	self->at[8] = 7;
	ASSERT_OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &row, NULL));
	instance = instance_of(graph);
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, node, &rows, NULL),
		      "a copy of several rows cannot change");
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, node, &layers, NULL),
		      "a copy of several rows cannot change");
	ASSERT_OK(cuGraphMemcpyNodeSetParams(node, &rows));
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(7, self->at[72]);
	EXPECT_REASON(cuGraphExecMemcpyNodeSetParams(instance, node, &row, NULL),
		      "a copy of several rows cannot change");
}

TEST_HARNESS_MAIN
