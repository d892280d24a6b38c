// SPDX-License-Identifier: MIT
/* Graphs that are built by hand, and launched. */
#include <stdatomic.h>
#include "graph_fixture.h"
#include "reason.h"

TEST_F(stream, a_thousand_launches)
{
	CUgraph graph = graph_new();
	CUgraphNode set = add_words(graph, NULL, AT(0), 7), copy, call;
	CUgraphExec instance;
	int calls = 0, i;

	copy = add_copy(graph, set, AT(8), AT(0));
	call = add_call(graph, copy, add_one, &calls);
	ASSERT_NE(NULL, call);
	instance = instance_of(graph);
	EXPECT_EQ(0, self->at[0]);
	for (i = 0; i < 1000; i++)
		ASSERT_OK(cuGraphLaunch(instance, i & 1 ? self->first : self->second));
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(1000, calls);
	EXPECT_EQ(7, self->at[0]);
	EXPECT_EQ(7, self->at[11]);
	EXPECT_EQ(0, self->at[12]);
	/* the instance no longer needs the graph */
	self->at[8] = 0;
	EXPECT_OK(cuGraphDestroy(graph));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(7, self->at[8]);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_REASON(cuGraphLaunch(instance, self->first),
		      "# was not instantiated, or is destroyed");
	EXPECT_REASON(cuGraphExecDestroy(instance), "# was not instantiated, or is destroyed");
}

/* ---- order ---- */

#define DAG_NODES	24

static int dag_time, dag_at[DAG_NODES];

static void stamp(void *data)
{
	dag_at[(intptr_t)data] = ++dag_time;
}

/* Half of the random edges lead from a node to one that was added earlier. */
TEST_F(stream, edges_are_kept)
{
	unsigned int seed = 5, round, i, k;

	for (round = 0; round < loops(40) + 1; round++) {
		bool edge[DAG_NODES][DAG_NODES] = {};
		int rank[DAG_NODES];
		CUgraphNode node[DAG_NODES];
		CUgraph graph = graph_new();
		CUgraphExec instance;

		for (i = 0; i < DAG_NODES; i++) {
			rank[i] = rand_r(&seed);
			node[i] = add_call(graph, NULL, stamp, (void *)(intptr_t)i);
		}
		for (i = 0; i < DAG_NODES; i++)
			for (k = 0; k < DAG_NODES; k++)
				if (rank[i] < rank[k] && rand_r(&seed) % 6 == 0) {
					edge[i][k] = true;
					ASSERT_OK(cuGraphAddDependencies(graph, &node[i], &node[k],
									 NULL, 1));
				}
		instance = instance_of(graph);
		dag_time = 0;
		memset(dag_at, 0, sizeof(dag_at));
		launch_and_wait(instance, self->first);
		EXPECT_EQ(DAG_NODES, dag_time);
		for (i = 0; i < DAG_NODES; i++) {
			for (k = 0; k < DAG_NODES; k++) {
				if (edge[i][k])
					EXPECT_LT(dag_at[i], dag_at[k]) TH_LOG("%u to %u", i, k);
			}
		}
		ASSERT_OK(cuGraphExecDestroy(instance));
		ASSERT_OK(cuGraphDestroy(graph));
	}
}

TEST_F(stream, cycles_are_found)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
	CUgraphNode node[3], outside;
	CUgraph graph = graph_new();
	CUgraphExec instance = NULL;
	int i;

	ASSERT_OK(cuGraphAddEmptyNode(&outside, graph, NULL, 0));
	for (i = 0; i < 3; i++)
		ASSERT_OK(cuGraphAddEmptyNode(&node[i], graph, NULL, 0));
	for (i = 0; i < 3; i++)
		EXPECT_OK(cuGraphAddDependencies(graph, &node[i], &node[(i + 1) % 3], NULL, 1));
	EXPECT_REASON(cuGraphInstantiate(&instance, graph, 0), "the edges form a cycle");
	EXPECT_REASON(cuGraphInstantiateWithParams(&instance, graph, &params),
		      "the edges form a cycle");
	EXPECT_EQ(NULL, instance);
	EXPECT_EQ((int)CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, (int)params.result_out);
	EXPECT_TRUE(params.hErrNode_out == node[0] || params.hErrNode_out == node[1] ||
		    params.hErrNode_out == node[2]);
	EXPECT_OK(cuGraphRemoveDependencies(graph, &node[2], &node[0], NULL, 1));
	EXPECT_OK(cuGraphInstantiateWithParams(&instance, graph, &params));
	EXPECT_EQ((int)CUDA_GRAPH_INSTANTIATE_SUCCESS, (int)params.result_out);
	EXPECT_EQ(NULL, params.hErrNode_out);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(stream, flags_of_instances)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = {
		.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH };
	CUgraph graph = graph_new();
	cuuint64_t flags = 77;
	CUgraphExec instance;

	EXPECT_REFUSED(cuGraphInstantiateWithParams(&instance, graph, &params));
	EXPECT_EQ((int)CUDA_GRAPH_INSTANTIATE_ERROR, (int)params.result_out);
	params.flags = 16;
	EXPECT_REASON(cuGraphInstantiateWithParams(&instance, graph, &params), "unknown flags");
	EXPECT_REASON(cuGraphInstantiate(&instance, graph, 16), "flags # are not for this call");
	ASSERT_OK(cuGraphInstantiate(&instance, graph,
				     CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
				     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
	EXPECT_OK(cuGraphExecGetFlags(instance, &flags));
	EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, flags);
}

/* A query writes no more than there is room for, and NULL where there is more room. */
TEST_F(stream, queries_keep_to_their_room)
{
	CUgraph graph = graph_new();
	CUgraphNode node[3], found[4] = {};
	size_t count = 2;

	for (int i = 0; i < 3; i++)
		ASSERT_OK(cuGraphAddEmptyNode(&node[i], graph, NULL, 0));
	EXPECT_OK(cuGraphGetNodes(graph, found, &count));
	EXPECT_EQ(2, count);
	EXPECT_EQ(node[1], found[1]);
	EXPECT_EQ(NULL, found[2]);
	count = 4;
	found[3] = node[0];
	EXPECT_OK(cuGraphGetRootNodes(graph, found, &count));
	EXPECT_EQ(3, count);
	EXPECT_EQ(node[2], found[2]);
	EXPECT_EQ(NULL, found[3]);
	EXPECT_REASON(cuGraphNodeSetParams(node[0], NULL), "NULL pointer");
	EXPECT_REASON(cuGraphGetEdges(graph, NULL, found, NULL, &count), "one of the outputs is");
	EXPECT_REASON(cuGraphGetEdges(graph, found, NULL, NULL, &count), "one of the outputs is");
	EXPECT_OK(cuGraphDestroy(graph));
}

/* A node that waits for a word holds up the nodes that depend on it, but no others. */
TEST_F(stream, waits_let_others_go_on)
{
	CUstreamBatchMemOpParams wait = { .waitValue = {
		.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = AT(100), .value = 3,
		.flags = CU_STREAM_WAIT_VALUE_EQ } };
	CUDA_BATCH_MEM_OP_NODE_PARAMS params = { NULL, 1, &wait, 0 };
	CUgraph graph = graph_new();
	CUgraphNode waiting;
	CUgraphExec instance;

	ASSERT_OK(cuGraphAddBatchMemOpNode(&waiting, graph, NULL, 0, &params));
	add_words(graph, waiting, AT(0), 5);
	/* the node that writes the word is added later, and has no edge to the waiting node */
	add_words(graph, NULL, AT(100), 3);
	instance = instance_of(graph);
	launch_and_wait(instance, self->first);
	EXPECT_EQ(5, self->at[0]);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(stream, launches_are_in_order)
{
	CUgraph graph = graph_new();
	CUgraphExec instance;
	int calls = 0;

	add_words(graph, NULL, AT(0), 4);
	add_call(graph, NULL, add_one, &calls);
	instance = instance_of(graph);
	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	/* a launch in another stream waits for the first launch, and later work there for both */
	ASSERT_OK(cuGraphLaunch(instance, self->free));
	ASSERT_OK(cuMemsetD32Async(AT(0), 9, 1, self->free));
	EXPECT_WAITS(self->free);
	EXPECT_EQ(0, calls);
	LET_GO();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_EQ(2, calls);
	EXPECT_EQ(9, self->at[0]);
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* ---- replicas ---- */

/* A graph leaves a team's replicas as the same calls without a graph do. */
TEST_F(stream, replicas_are_as_without_a_graph)
{
	CUmemGenericAllocationHandle group = complete_team(3, CHUNK), members[3];
	volatile uint32_t *window, *replicas[3];
	CUDA_MEMCPY3D copy;
	CUDA_MEMSET_NODE_PARAMS fill;
	CUgraph graph = graph_new();
	CUgraphNode first, second;
	CUgraphExec instance;
	unsigned char *plain = malloc(4096);
	int i, k;

	for (i = 0; i < 3; i++) {
		members[i] = new_bound(group, i, CHUNK);
		replicas[i] = mapped(members[i], CHUNK, i);
	}
	window = mapped(group, CHUNK, 0);
	for (i = 0; i < 1024; i++)
		self->at[2048 + i] = i * 31;
	fill = words(ADDRESS(window + 16), 0x1234, 100);
	copy = bytes_from(ADDRESS(window + 64), AT(2048), 2000);
	ASSERT_OK(cuMemsetD32(fill.dst, fill.value, fill.width));
	ASSERT_OK(cuMemcpy3D(&copy));
	memcpy(plain, (void *)replicas[1], 4096);
	ASSERT_OK(cuMemsetD8(ADDRESS(window), 0, 4096));

	ASSERT_OK(cuGraphAddMemsetNode(&first, graph, NULL, 0, &fill, NULL));
	ASSERT_OK(cuGraphAddMemcpyNode(&second, graph, &first, 1, &copy, NULL));
	instance = instance_of(graph);
	for (k = 0; k < 3; k++)
		launch_and_wait(instance, self->first);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, memcmp(plain, (void *)replicas[i], 4096)) TH_LOG("replica %d", i);
	}
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
	free(plain);
}

/* ---- events ---- */

TEST_F(stream, events_in_graphs)
{
	CUgraphNode record, wait, other;
	CUgraph graph = graph_new(), waits = graph_new();
	CUgraphExec instance, waiting;
	CUevent event, outside, got, shared;
	int calls = 0;

	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	ASSERT_OK(cuEventCreate(&outside, CU_EVENT_DISABLE_TIMING));
	ASSERT_OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
	ASSERT_OK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, event));
	ASSERT_OK(cuGraphEventRecordNodeGetEvent(record, &got));
	EXPECT_EQ(event, got);
	instance = instance_of(graph);
	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	/* the call of the launch records the event, before the device runs the node */
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	/* a later launch does not change what an earlier one waits for */
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	ASSERT_OK(cuStreamWaitEvent(self->free, event, 0));
	EXPECT_WAITS(self->free);
	LET_GO();
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_OK(cuEventQuery(event));

	/* a wait node waits for the event's record that is the last when the graph is launched */
	*self->gate = 0;
	ASSERT_OK(cuGraphAddEventWaitNode(&other, waits, NULL, 0, outside));
	add_call(waits, other, add_one, &calls);
	waiting = instance_of(waits);
	HOLD(self->first);
	ASSERT_OK(cuEventRecord(outside, self->first));
	ASSERT_OK(cuGraphLaunch(waiting, self->free));
	EXPECT_WAITS(self->free);
	EXPECT_EQ(0, calls);
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->free));
	EXPECT_EQ(1, calls);

	/* other processes would not see what a node does */
	ASSERT_OK(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	EXPECT_REFUSED(cuGraphAddEventRecordNode(&other, waits, NULL, 0, shared));
	EXPECT_REFUSED(cuGraphAddEventWaitNode(&other, waits, NULL, 0, shared));
	EXPECT_REFUSED(cuGraphEventRecordNodeSetEvent(record, shared));

	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphExecDestroy(waiting));
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuGraphDestroy(waits));
}

/* ---- failures ---- */

TEST_F(stream, what_fails_ends_the_launch)
{
	CUgraph graph = graph_new();
	volatile uint32_t *gone = mapped(new_memory(0, CHUNK), CHUNK, 0);
	CUgraphNode set, record;
	CUgraphExec instance;
	CUevent event;
	int calls = 0;

	ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	set = add_words(graph, NULL, ADDRESS(gone), 1);
	ASSERT_OK(cuGraphAddEventRecordNode(&record, graph, &set, 1, event));
	add_call(graph, record, add_one, &calls);
	instance = instance_of(graph);
	ASSERT_OK(cuMemUnmap(ADDRESS(gone), CHUNK));
	EXPECT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(event));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuGraphLaunch(instance, self->first));
	EXPECT_EQ(0, calls);
}

struct gate {
	atomic_bool entered, open;
};

static void pass(void *data)
{
	struct gate *gate = data;

	gate->entered = true;
	while (!gate->open)
		usleep(1000);
}

/* A fill of a peer's plain memory needs access to it as the node is made, and at the launch. */
TEST_F(stream, fills_of_peers)
{
	CUgraph graph = graph_new();
	CUgraphExec instance;
	CUgraphNode node;
	CUcontext peer;
	CUdeviceptr far;
	CUDA_MEMSET_NODE_PARAMS params;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&peer, 1));
	ASSERT_OK(cuCtxPushCurrent(peer));
	ASSERT_OK(cuMemAlloc(&far, 4096));
	ASSERT_OK(cuCtxPopCurrent(NULL));
	params = words(far, 1, 4);
	EXPECT_REASON(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, NULL),
		      "# is of device #, which device #'s context has no access to");
	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &params, peer));
	ASSERT_OK(cuCtxEnablePeerAccess(peer, 0));
	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, &node, 1, &params, NULL));
	instance = instance_of(graph);
	launch_and_wait(instance, self->first);
	ASSERT_OK(cuCtxDisablePeerAccess(peer));
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
}

/* A failure of another stream's work ends a launch under way behind the node that runs. */
TEST_F(stream, what_fails_elsewhere_ends_the_launch)
{
	volatile uint32_t *gone = mapped(new_memory(0, CHUNK), CHUNK, 0);
	static struct gate gate;
	static int calls;
	CUgraph graph = graph_new();

	add_call(graph, add_call(graph, NULL, pass, &gate), add_one, &calls);
	HOLD(self->free);
	ASSERT_OK(cuMemsetD32Async(ADDRESS(gone), 1, 1, self->free));
	ASSERT_OK(cuMemUnmap(ADDRESS(gone), CHUNK));
	ASSERT_OK(cuGraphLaunch(instance_of(graph), self->first));
	ASSERT_TRUE(comes_true(gate.entered));
	LET_GO();
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->free));
	gate.open = true;
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(self->first));
	EXPECT_EQ(0, calls);
}

TEST_HARNESS_MAIN
