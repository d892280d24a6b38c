// SPDX-License-Identifier: MIT
/* Threads that are cancelled in calls that queue work: graphs, captures, kernels, 3D copies. */
#include <memcast/kernel.h>
#include "cancel_fixture.h"

static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .global .u32 word = 7;\n"
	".visible .entry cancel_test_store(.param .u64 to) { ret; }\n";

MEMCAST_KERNEL(cancel_test_store, MEMCAST_THREADS_ALONE, volatile uint32_t *)
{
	*MEMCAST_PARAMETER(at, 0, volatile uint32_t *) = 1;
}

/* All rounds use one stream, so that two threads meet in it. */
static CUstream stream;

static void nothing(void *data)
{
	(void)data;
}

static CUDA_MEMCPY3D layers(void)
{
	return (CUDA_MEMCPY3D) {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = on.at, .srcPitch = 64,
		.srcHeight = 4, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = on.at + 65536, .dstPitch = 64, .dstHeight = 4,
		.WidthInBytes = 50, .Height = 3, .Depth = 2,
	};
}

/* Each round makes the calls of a group once. Return: did they all succeed? */

static bool make_graph(CUgraph *graph)
{
	CUDA_MEMSET_NODE_PARAMS fill = {
		.dst = on.at, .value = 3, .elementSize = 4, .width = 4, .height = 1,
	};
	CUDA_HOST_NODE_PARAMS call = { nothing, NULL };
	CUDA_MEMCPY3D copied = layers();
	CUgraphNode node[4];

	return !cuGraphCreate(graph, 0) &&
	       !cuGraphAddMemsetNode(&node[0], *graph, NULL, 0, &fill, NULL) &&
	       !cuGraphAddMemcpyNode(&node[1], *graph, node, 1, &copied, NULL) &&
	       !cuGraphAddHostNode(&node[2], *graph, NULL, 0, &call) &&
	       !cuGraphAddEmptyNode(&node[3], *graph, NULL, 0) &&
	       !cuGraphAddDependencies(*graph, &node[1], &node[2], NULL, 1) &&
	       !cuGraphMemsetNodeSetParams(node[0], &fill) &&
	       !cuGraphDestroyNode(node[3]);
}

static bool use_graphs(void)
{
	CUgraphExecUpdateResultInfo info;
	CUgraph graph, clone;
	CUgraphExec instance;
	CUuserObject object;
	size_t count = 0;

	return make_graph(&graph) && !cuGraphGetNodes(graph, NULL, &count) && count == 3 &&
	       !cuGraphGetEdges(graph, NULL, NULL, NULL, &count) &&
	       !cuUserObjectCreate(&object, &on, nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) &&
	       !cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) &&
	       !cuGraphClone(&clone, graph) && !cuGraphInstantiate(&instance, graph, 0) &&
	       !cuGraphExecUpdate(instance, clone, &info) && !cuGraphUpload(instance, stream) &&
	       !cuGraphLaunch(instance, stream) && !cuStreamSynchronize(stream) &&
	       !cuGraphExecDestroy(instance) && !cuGraphDestroy(clone) && !cuGraphDestroy(graph);
}

/* Captures in a stream of the round's own, as a capture belongs to one thread. */
static bool capture(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstreamCaptureStatus status;
	CUgraphExec instance;
	CUstream captured;
	CUgraph graph;

	return !cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING) &&
	       !cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) &&
	       !cuMemsetD32Async(on.at, 1, 4, captured) &&
	       !cuLaunchHostFunc(captured, nothing, NULL) &&
	       !cuThreadExchangeStreamCaptureMode(&mode) &&
	       !cuThreadExchangeStreamCaptureMode(&mode) &&
	       !cuStreamIsCapturing(captured, &status) &&
	       !cuStreamEndCapture(captured, &graph) &&
	       !cuGraphInstantiate(&instance, graph, 0) && !cuGraphDestroy(graph) &&
	       !cuGraphLaunch(instance, captured) && !cuStreamSynchronize(captured) &&
	       !cuGraphExecDestroy(instance) && !cuStreamDestroy(captured);
}

static bool use_modules(void)
{
	void *parameters[] = { &on.at };
	unsigned int count;
	CUmodule module, same;
	CUfunction function;
	CUdeviceptr word;
	int value;

	return !cuModuleLoadData(&module, text) && !cuModuleGetFunctionCount(&count, module) &&
	       !cuModuleGetFunction(&function, module, "cancel_test_store") &&
	       !cuModuleGetGlobal(&word, NULL, module, "word") &&
	       !cuFuncGetModule(&same, function) && !cuFuncLoad(function) &&
	       !cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) &&
	       !cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 32, 0) &&
	       !cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL) &&
	       !cuStreamSynchronize(stream) && !cuModuleUnload(module);
}

static bool use_libraries(void)
{
	CUkernel kernel, same;
	CUlibrary library, its;
	CUfunction function;
	unsigned int count;
	CUdeviceptr word;
	CUmodule module;
	const char *name;
	int value;

	return !cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0) &&
	       !cuLibraryGetKernelCount(&count, library) &&
	       !cuLibraryEnumerateKernels(&same, 1, library) &&
	       !cuLibraryGetKernel(&kernel, library, "cancel_test_store") &&
	       !cuLibraryGetModule(&module, library) &&
	       !cuLibraryGetGlobal(&word, NULL, library, "word") &&
	       !cuKernelGetFunction(&function, kernel) && !cuKernelGetLibrary(&its, kernel) &&
	       !cuKernelGetName(&name, kernel) &&
	       !cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0) &&
	       !cuLibraryUnload(library);
}

static bool copy_layers(void)
{
	CUDA_MEMCPY3D copied = layers();
	CUDA_MEMCPY2D rows = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = on.at, .srcPitch = 512,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = on.at + 65536,
		.dstPitch = 512, .WidthInBytes = 100, .Height = 10,
	};
	CUcontext here;

	return !cuCtxGetCurrent(&here) && !cuMemcpy3D(&copied) &&
	       !cuMemcpy3DAsync(&copied, stream) && !cuMemcpy2DUnaligned(&rows) &&
	       !cuMemcpy2DAsync(&rows, stream) &&
	       !cuMemcpyPeer(on.at, here, on.at + 4096, here, 100) &&
	       !cuMemcpyPeerAsync(on.at, here, on.at + 4096, here, 100, stream) &&
	       !cuMemsetD2D32(on.at, 64, 5, 4, 4) &&
	       !cuMemsetD2D8Async(on.at, 64, 5, 4, 4, stream) &&
	       !cuStreamSynchronize(stream);
}

static bool copy_batches(void)
{
	CUdeviceptr to[] = { on.at, on.at + 4096 }, from[] = { on.at + 8192, on.at + 8192 };
	CUmemcpyAttributes attribute = { .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM };
	CUDA_MEMCPY3D_BATCH_OP copied = {
		.src = { .type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = on.at },
		.dst = { .type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = on.at + 4096 },
		.extent = { 4, 2, 2 },
		.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	};
	size_t bytes[] = { 100, 8 }, first = 0;

	return !cuMemcpyBatchAsync(to, from, bytes, 2, &attribute, &first, 1, stream) &&
	       !cuMemcpy3DBatchAsync(1, &copied, 0, stream) && !cuStreamSynchronize(stream);
}

ROUND(use_graphs);
ROUND(capture);
ROUND(use_modules);
ROUND(use_libraries);
ROUND(copy_layers);
ROUND(copy_batches);

bool (*const rounds[])(void) = {
	use_graphs, capture, use_modules, use_libraries, copy_layers, copy_batches, NULL,
};

static void prepare_early(struct __test_metadata *_metadata)
{
	(void)_metadata;
}

static void prepare(struct __test_metadata *_metadata)
{
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

TEST_HARNESS_MAIN
