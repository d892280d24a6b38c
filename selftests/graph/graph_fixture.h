/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of graphs. */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#include "stream_fixture.h"

#define EXPECT_REFUSED(call)	EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, call)

#define graph_new()		graph_new_(_metadata)
TEST_HELPER CUgraph graph_new_(struct __test_metadata *_metadata)
{
	CUgraph graph = NULL;

	ASSERT_OK(cuGraphCreate(&graph, 0));
	return graph;
}

#define instance_of(graph)	instance_of_(_metadata, graph)
TEST_HELPER CUgraphExec instance_of_(struct __test_metadata *_metadata, CUgraph graph)
{
	CUgraphExec instance = NULL;

	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	return instance;
}

TEST_HELPER CUDA_MEMSET_NODE_PARAMS words(CUdeviceptr at, uint32_t value, size_t count)
{
	return (CUDA_MEMSET_NODE_PARAMS) { .dst = at, .value = value, .elementSize = 4,
					   .width = count, .height = 1 };
}

TEST_HELPER CUDA_MEMCPY3D bytes_from(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return (CUDA_MEMCPY3D) {
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = to,
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from,
		.WidthInBytes = bytes, .Height = 1, .Depth = 1,
	};
}

#define add_words(graph, after, at, value)	add_words_(_metadata, graph, after, at, value)
TEST_HELPER CUgraphNode add_words_(struct __test_metadata *_metadata, CUgraph graph,
			      CUgraphNode after, CUdeviceptr at, uint32_t value)
{
	CUDA_MEMSET_NODE_PARAMS params = words(at, value, 4);
	CUgraphNode node = NULL;

	ASSERT_OK(cuGraphAddMemsetNode(&node, graph, &after, !!after, &params, NULL));
	return node;
}

#define add_copy(graph, after, to, from)	add_copy_(_metadata, graph, after, to, from)
TEST_HELPER CUgraphNode add_copy_(struct __test_metadata *_metadata, CUgraph graph,
			     CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
	CUDA_MEMCPY3D params = bytes_from(to, from, 16);
	CUgraphNode node = NULL;

	ASSERT_OK(cuGraphAddMemcpyNode(&node, graph, &after, !!after, &params, NULL));
	return node;
}

#define add_call(graph, after, function, data)		\
	add_call_(_metadata, graph, after, function, data)
TEST_HELPER CUgraphNode add_call_(struct __test_metadata *_metadata, CUgraph graph,
			     CUgraphNode after, CUhostFn function, void *data)
{
	CUDA_HOST_NODE_PARAMS params = { function, data };
	CUgraphNode node = NULL;

	ASSERT_OK(cuGraphAddHostNode(&node, graph, &after, !!after, &params));
	return node;
}

#define launch_and_wait(instance, stream)		\
({							\
	ASSERT_OK(cuGraphLaunch(instance, stream));	\
	ASSERT_OK(cuStreamSynchronize(stream));		\
})

TEST_HELPER size_t nodes_of(CUgraph graph)
{
	size_t count = SIZE_MAX;

	cuGraphGetNodes(graph, NULL, &count);
	return count;
}

TEST_HELPER size_t edges_of(CUgraph graph)
{
	size_t count = SIZE_MAX;

	cuGraphGetEdges(graph, NULL, NULL, NULL, &count);
	return count;
}

#endif /* GRAPH_FIXTURE_H */
