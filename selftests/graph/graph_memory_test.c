// SPDX-License-Identifier: MIT
/* Memory that graphs allocate, and user objects that they keep alive. */
#include "graph_fixture.h"
#include "reason.h"

#define MIB	(1ULL << 20)

static CUDA_MEM_ALLOC_NODE_PARAMS of_device(CUdevice device, size_t bytes)
{
	return (CUDA_MEM_ALLOC_NODE_PARAMS) {
		.poolProps = {
			.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
		},
		.bytesize = bytes,
	};
}

static cuuint64_t usage(CUgraphMem_attribute attribute)
{
	cuuint64_t bytes = 77;

	cuDeviceGetGraphMemAttribute(0, attribute, &bytes);
	return bytes;
}

/* Makes a graph that allocates memory and fills it; @address: output, the memory's address */
#define new_allocating_graph(address)	new_allocating_graph_(_metadata, address)
static CUgraph new_allocating_graph_(struct __test_metadata *_metadata, CUdeviceptr *address)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = of_device(0, 4 * MIB);
	CUDA_MEMSET_NODE_PARAMS fill = words(0, 0x42, 16);
	CUgraphNode node;
	CUgraph graph;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	*address = fill.dst = params.dptr;
	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, NULL));
	return graph;
}

/* An alloc node's memory is a pool's, also in a process that has used no other pool. */
TEST_F(stream, no_words_are_written_to_alloc_nodes)
{
	CUdeviceptr at;
	CUgraph graph = new_allocating_graph(&at);
	CUgraphExec instance;
	CUmemoryPool pool;

	/* but none of the program's, which could destroy it */
	EXPECT_OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at));
	EXPECT_EQ(NULL, pool);
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_REASON(cuStreamWriteValue32(self->first, at, 1, 0), "# is memory of a pool, ");
	EXPECT_OK(cuMemFree(at));
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(stream, memory_is_allocated_by_launches)
{
	CUdeviceptr at;
	CUgraph graph = new_allocating_graph(&at);
	CUgraphExec instance, second;
	cuuint64_t zero = 0;
	uint32_t word = 0;

	EXPECT_EQ(0, usage(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
	EXPECT_REASON(cuMemFree(at), "# is an alloc node's, and no launch has allocated it");
	EXPECT_REASON(cuMemFreeAsync(at, self->first),
		      "# is an alloc node's, and no launch has allocated it");
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_EQ(32 * MIB, usage(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
	ASSERT_OK(cuStreamSynchronize(self->first));
	ASSERT_OK(cuMemcpyDtoH(&word, at, 4));
	EXPECT_EQ(0x42, word);
	EXPECT_REASON(cuGraphLaunch(instance, self->first),
		      "an earlier launch allocated #, and nobody freed it");
	EXPECT_OK(cuMemFreeAsync(at, self->first));
	EXPECT_REASON(cuMemFreeAsync(at, self->first),
		      "# is an alloc node's, and no launch has allocated it");
	EXPECT_EQ(0, usage(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
	EXPECT_EQ(32 * MIB, usage(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
	EXPECT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_OK(cuMemFree(at));
	EXPECT_OK(cuDeviceGraphMemTrim(0));
	EXPECT_EQ(0, usage(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
	EXPECT_EQ(32 * MIB, usage(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
	EXPECT_OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
	EXPECT_EQ(0, usage(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
	EXPECT_REASON(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
		      "only the highest can be set, and to #");
	EXPECT_OK(cuGraphExecDestroy(instance));
	/* each launch frees the memory that the launch before has left */
	ASSERT_OK(cuGraphInstantiate(&instance, graph,
				     CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
	EXPECT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_OK(cuGraphLaunch(instance, self->first));
	EXPECT_EQ(32 * MIB, usage(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
	EXPECT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuGraphExecDestroy(instance));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* A graph's memory outlives the graph, and returns to the device when the program frees it. */
TEST_F(stream, memory_outlives_its_graph)
{
	long before = device_bytes(0, "free_bytes"), i;
	CUgraphExec instance;
	CUdeviceptr at;
	CUgraph graph;
	uint32_t word;

	for (i = 0; i < 4; i++) {
		graph = new_allocating_graph(&at);
		ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
		ASSERT_OK(cuGraphLaunch(instance, self->first));
		if (i & 1)
			ASSERT_OK(cuGraphDestroy(graph));
		ASSERT_OK(cuGraphExecDestroy(instance));
		if (!(i & 1))
			ASSERT_OK(cuGraphDestroy(graph));
		ASSERT_OK(cuStreamSynchronize(self->first));
		ASSERT_OK(cuMemcpyDtoH(&word, at, 4));
		EXPECT_EQ(0x42, word);
		EXPECT_OK(i & 2 ? cuMemFree(at) : cuMemFreeAsync(at, self->first));
		ASSERT_OK(cuStreamSynchronize(self->first));
		EXPECT_REASON(cuMemFree(at), "# is not in a reservation");
	}
	EXPECT_EQ(before, device_bytes(0, "free_bytes"));
}

/* A graph's memory, freed behind work in its stream, stays until that work has ended. */
TEST_F(stream, memory_stays_for_work_before_its_free)
{
	CUgraphExec instance;
	CUdeviceptr at;
	CUgraph graph = new_allocating_graph(&at);

	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	ASSERT_OK(cuMemcpyDtoDAsync(AT(0), at, 4, self->first));
	ASSERT_OK(cuMemFreeAsync(at, self->first));
	ASSERT_OK(cuGraphExecDestroy(instance));
	ASSERT_OK(cuGraphDestroy(graph));
	LET_GO();
	ASSERT_OK(cuStreamSynchronize(self->first));
	EXPECT_EQ(0x42, self->at[0]);
}

TEST_F(stream, graphs_with_memory_keep_their_shape)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = of_device(0, 4096);
	CUgraph graph, outer, copy;
	CUgraphNode alloc, empty, free_node, node;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphCreate(&outer, 0));
	ASSERT_OK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
	ASSERT_OK(cuGraphAddEmptyNode(&empty, graph, &alloc, 1));
	ASSERT_OK(cuGraphAddMemFreeNode(&free_node, graph, &empty, 1, params.dptr));
	EXPECT_REASON(cuGraphAddMemFreeNode(&node, graph, &empty, 1, params.dptr),
		      "the graph frees # already");
	EXPECT_REASON(cuGraphAddMemFreeNode(&node, graph, &empty, 1, AT(0)),
		      "no alloc node has memory at #");
	EXPECT_REASON(cuGraphAddMemFreeNode(&node, graph, &empty, 1, 0),
		      "no alloc node has memory at #");
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuGraphDestroyNode(empty));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuGraphRemoveDependencies(graph, &alloc, &empty, NULL, 1));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&copy, graph));
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
	params = of_device(0, 0);
	EXPECT_REASON(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), "the size is #");
	params = of_device(99, 4096);
	EXPECT_REASON(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params),
		      "no such location: type #, #");
	params = of_device(0, 4096);
	params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST;
	EXPECT_REFUSED(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	params = of_device(0, 4096);
	params.accessDescCount = 1;
	EXPECT_REASON(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), "NULL pointer");
	params = of_device(0, 4096);
	params.poolProps.allocType = 0;
	EXPECT_REASON(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params),
		      "type # is not PINNED");
	params = of_device(0, 4096);
	params.poolProps.handleTypes = SHAREABLE;
	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
		  cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	params = of_device(0, 1ULL << 50);
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
		  cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
	EXPECT_EQ(0, params.dptr);
	EXPECT_OK(cuGraphDestroy(graph));
	EXPECT_OK(cuGraphDestroy(outer));
}

/* A second device has access to a graph's memory only if the alloc node names that device. */
TEST_F(stream, memory_for_other_devices)
{
	CUmemAccessDesc other = { { CU_MEM_LOCATION_TYPE_DEVICE, 1 }, READWRITE };
	CUDA_MEM_ALLOC_NODE_PARAMS shared = of_device(0, 4096), own = of_device(0, 4096);
	CUcontext context;
	CUgraphNode node;
	CUgraph graph;

	shared.accessDescs = &other;
	shared.accessDescCount = 1;
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &shared));
	ASSERT_OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &own));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxPushCurrent(context));
	EXPECT_OK(cuMemsetD32(shared.dptr, 1, 1));
	EXPECT_REASON(cuMemsetD32(own.dptr, 1, 1),
		      "device # cannot write # bytes at #: unmapped, unbound");
	ASSERT_OK(cuCtxPopCurrent(NULL));
	EXPECT_OK(cuGraphDestroy(graph));
}

/* Captured memory is where its pool is, for the devices that had access to the pool then. */
TEST_F(stream, captured_memory_of_pools)
{
	CUmemPoolProps props = of_device(0, 0).poolProps;
	CUmemAccessDesc access = { { CU_MEM_LOCATION_TYPE_DEVICE, 1 }, READWRITE };
	CUdeviceptr shared, own, far, current, none = 77;
	CUmemoryPool pool, other, host;
	CUcontext context;
	CUgraph graph;
	int device = -1;

	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	props.location.id = 1;
	ASSERT_OK(cuMemPoolCreate(&other, &props));
	props.location = (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST, 0 };
	ASSERT_OK(cuMemPoolCreate(&host, &props));
	ASSERT_OK(cuMemPoolSetAccess(pool, &access, 1));
	ASSERT_OK(cuDeviceSetMemPool(0, pool));
	ASSERT_OK(cuStreamBeginCapture(self->first, CU_STREAM_CAPTURE_MODE_RELAXED));
	ASSERT_OK(cuMemAllocFromPoolAsync(&shared, 4096, pool, self->first));
	ASSERT_OK(cuMemAllocAsync(&current, 4096, self->first));
	ASSERT_OK(cuMemAllocFromPoolAsync(&far, 4096, other, self->first));
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
	ASSERT_OK(cuMemPoolSetAccess(pool, &access, 1));
	ASSERT_OK(cuMemAllocFromPoolAsync(&own, 4096, pool, self->first));
	EXPECT_REFUSED(cuMemAllocFromPoolAsync(&none, 4096, host, self->first));
	EXPECT_EQ(77, none);
	ASSERT_OK(cuStreamEndCapture(self->first, &graph));
	EXPECT_EQ(4, nodes_of(graph));
	launch_and_wait(instance_of(graph), self->first);

	EXPECT_OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, far));
	EXPECT_EQ(1, device);
	EXPECT_REASON(cuMemsetD32(far, 1, 1), "device # cannot write # bytes at #: unmapped");
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxPushCurrent(context));
	EXPECT_OK(cuMemsetD32(shared, 1, 1));
	EXPECT_OK(cuMemsetD32(current, 1, 1));
	EXPECT_OK(cuMemsetD32(far, 1, 1));
	EXPECT_REASON(cuMemsetD32(own, 1, 1), "device # cannot write # bytes at #: unmapped");
	ASSERT_OK(cuCtxPopCurrent(NULL));
}

/* ---- user objects ---- */

static void count_destroyed(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

/* Destructors run in a thread of the library's */
static bool becomes(int *counter, int value)
{
	double end = now() + 60;

	while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) != value && now() < end)
		usleep(1000);
	return *counter == value;
}

TEST_F(stream, objects_live_as_long_as_they_are_used)
{
	int destroyed = 0, other_destroyed = 0;
	CUuserObject object = NULL, other;
	CUgraph graph, clone;
	CUgraphExec instance;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuUserObjectCreate(&object, &destroyed, count_destroyed, 1, 1));
	ASSERT_OK(cuUserObjectRetain(object, 2));
	ASSERT_OK(cuUserObjectRelease(object, 2));
	EXPECT_REASON(cuUserObjectRelease(object, 2), "the program has # references");
	ASSERT_OK(cuGraphRetainUserObject(graph, object, 2, 0));
	ASSERT_OK(cuUserObjectRelease(object, 1));
	EXPECT_REASON(cuUserObjectRelease(object, 1), "the program has # references");
	ASSERT_OK(cuGraphClone(&clone, graph));
	ASSERT_OK(cuGraphInstantiate(&instance, clone, 0));
	ASSERT_OK(cuGraphReleaseUserObject(graph, object, 1));
	EXPECT_REASON(cuGraphReleaseUserObject(graph, object, 2), "the graph has # references");
	ASSERT_OK(cuGraphReleaseUserObject(graph, object, 1));
	ASSERT_OK(cuGraphDestroy(graph));
	ASSERT_OK(cuGraphDestroy(clone));
	/* a launch under way keeps the object after its instance is destroyed */
	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	ASSERT_OK(cuGraphExecDestroy(instance));
	EXPECT_EQ(0, destroyed);
	EXPECT_OK(cuUserObjectRetain(object, 1));
	EXPECT_OK(cuUserObjectRelease(object, 1));
	LET_GO();
	EXPECT_TRUE(becomes(&destroyed, 1));
	EXPECT_REASON(cuUserObjectRetain(object, 1), "# is not a user object, or destroyed");

	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuUserObjectCreate(&other, &other_destroyed, count_destroyed, 3, 1));
	EXPECT_REASON(cuGraphRetainUserObject(graph, other, 4, CU_GRAPH_USER_OBJECT_MOVE),
		      "the program has # references");
	ASSERT_OK(cuGraphRetainUserObject(graph, other, 3, CU_GRAPH_USER_OBJECT_MOVE));
	EXPECT_REASON(cuUserObjectRelease(other, 1), "the program has # references");
	ASSERT_OK(cuGraphDestroy(graph));
	EXPECT_TRUE(becomes(&other_destroyed, 1));
	EXPECT_EQ(1, destroyed);
}

struct used {
	int destroyed, launched;
};

/* A graph that calls, and keeps, an object */
#define graph_with(used)	graph_with_(_metadata, used)
static CUgraph graph_with_(struct __test_metadata *_metadata, struct used *used)
{
	CUgraph graph = graph_new();
	CUuserObject object;

	add_call(graph, NULL, add_one, &used->launched);
	ASSERT_OK(cuUserObjectCreate(&object, &used->destroyed, count_destroyed, 1, 1));
	ASSERT_OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return graph;
}

/* A graph whose child's child it is; @node: output, the child's node for it */
#define graph_around(used, node)	graph_around_(_metadata, used, node)
static CUgraph graph_around_(struct __test_metadata *_metadata, struct used *used,
			     CUgraphNode *node)
{
	CUgraph outer = graph_new(), middle = graph_new(), inner = graph_with(used);

	ASSERT_OK(cuGraphAddChildGraphNode(node, middle, NULL, 0, inner));
	ASSERT_OK(cuGraphAddChildGraphNode(node, outer, NULL, 0, middle));
	ASSERT_OK(cuGraphDestroy(inner));
	ASSERT_OK(cuGraphDestroy(middle));
	ASSERT_OK(cuGraphChildGraphNodeGetGraph(*node, &middle));
	ASSERT_OK(cuGraphGetNodes(middle, node, &(size_t) { 1 }));
	return outer;
}

/* An instance keeps the objects of child graphs, and those of graphs that replace them. */
TEST_F(stream, objects_of_child_graphs)
{
	struct used first = {}, second = {}, third = {};
	CUgraphNode node, unused;
	CUgraph graph = graph_around(&first, &node);
	CUgraphExec instance = instance_of(graph);

	ASSERT_OK(cuGraphDestroy(graph));
	HOLD(self->first);
	ASSERT_OK(cuGraphLaunch(instance, self->first));
	graph = graph_with(&second);
	ASSERT_OK(cuGraphExecChildGraphNodeSetParams(instance, node, graph));
	ASSERT_OK(cuGraphDestroy(graph));
	EXPECT_EQ(0, first.destroyed);
	LET_GO();
	EXPECT_TRUE(becomes(&first.destroyed, 1));
	EXPECT_EQ(1, first.launched);
	launch_and_wait(instance, self->first);
	EXPECT_EQ(1, second.launched);
	EXPECT_EQ(0, second.destroyed);

	graph = graph_around(&third, &unused);
	ASSERT_OK(cuGraphExecUpdate(instance, graph, NULL));
	ASSERT_OK(cuGraphDestroy(graph));
	EXPECT_TRUE(becomes(&second.destroyed, 1));
	launch_and_wait(instance, self->first);
	EXPECT_EQ(1, third.launched);
	EXPECT_EQ(0, third.destroyed);
	ASSERT_OK(cuGraphExecDestroy(instance));
	EXPECT_TRUE(becomes(&third.destroyed, 1));
}

TEST_F(stream, bad_objects)
{
	CUuserObject object = NULL;
	CUgraph graph;
	int data = 0;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	EXPECT_REASON(cuUserObjectCreate(NULL, &data, count_destroyed, 1, 1), "NULL pointer");
	EXPECT_REASON(cuUserObjectCreate(&object, &data, NULL, 1, 1), "NULL pointer");
	EXPECT_REASON(cuUserObjectCreate(&object, &data, count_destroyed, 0, 1),
		      "the number of references is not # to #");
	EXPECT_REASON(cuUserObjectCreate(&object, &data, count_destroyed, 1, 0),
		      "flags must be NO_DESTRUCTOR_SYNC");
	EXPECT_REASON(cuUserObjectCreate(&object, &data, count_destroyed, 1U << 31, 1),
		      "the number of references is not # to #");
	EXPECT_EQ(NULL, object);
	EXPECT_REASON(cuUserObjectRetain(NULL, 1), "# is not a user object, or destroyed");
	ASSERT_OK(cuUserObjectCreate(&object, &data, count_destroyed, 1, 1));
	EXPECT_REASON(cuUserObjectRetain(object, 0), "the number of references is not # to #");
	EXPECT_REASON(cuUserObjectRetain(object, INT32_MAX), "the program has # references");
	EXPECT_REASON(cuUserObjectRelease(object, 0), "the number of references is not # to #");
	EXPECT_REASON(cuGraphRetainUserObject(graph, object, 0, 0),
		      "the number of references is not # to #");
	EXPECT_REASON(cuGraphRetainUserObject(graph, object, 1, 8), "unknown flags");
	EXPECT_REASON(cuGraphRetainUserObject(NULL, object, 1, 0),
		      "# is not a graph, or destroyed");
	EXPECT_REASON(cuGraphReleaseUserObject(graph, object, 1), "the graph has # references");
	EXPECT_EQ(0, data);
	EXPECT_OK(cuUserObjectRelease(object, 1));
	EXPECT_TRUE(becomes(&data, 1));
	EXPECT_OK(cuGraphDestroy(graph));
}

struct destroyed {
	int count, raised;
	bool own_signals;
};

static void raise_in_destructor(void *data)
{
	struct destroyed *destroyed = data;

	destroyed->own_signals = signals_are_own();
	destroyed->raised = try_store(NULL, 1);
	count_destroyed(&destroyed->count);
}

/* The program handles what a destructor raises. */
TEST_F(stream, signals_of_a_destructor)
{
	struct destroyed destroyed = {};
	CUuserObject object;

	ASSERT_OK(cuUserObjectCreate(&object, &destroyed, raise_in_destructor, 1, 1));
	ASSERT_OK(cuUserObjectRelease(object, 1));
	ASSERT_TRUE(becomes(&destroyed.count, 1));
	EXPECT_TRUE(destroyed.own_signals);
	EXPECT_EQ(SIGSEGV, destroyed.raised);
}

TEST_HARNESS_MAIN
