// SPDX-License-Identifier: MIT
/* The runtime's streams, events, capture and graphs; per-thread streams; the driver's functions. */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include "runtime_fixture.h"

RUNTIME_FIXTURE(runtime_stream)

static void count(void *data)
{
	++*(int *)data;
}

TEST_F(runtime_stream, streams)
{
	cudaStream_t stream;
	unsigned int flags = 7;
	int ran = 0, number = -1;
	unsigned long long id = 0;
	cudaLaunchAttributeValue value = { .priority = -2 };

	EXPECT_RT(cudaErrorInvalidValue, cudaStreamCreate(NULL));
	EXPECT_RT(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 2));
	ASSERT_RT(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -7));
	ASSERT_RT(cudaStreamGetPriority(stream, &number));
	EXPECT_EQ(-5, number);
	ASSERT_RT(cudaStreamGetFlags(stream, &flags));
	EXPECT_EQ(cudaStreamNonBlocking, flags);
	ASSERT_RT(cudaStreamGetDevice(stream, &number));
	EXPECT_EQ(0, number);
	ASSERT_RT(cudaStreamGetId(stream, &id));
	EXPECT_LT(0, id);
	ASSERT_RT(cudaLaunchHostFunc(stream, count, &ran));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_EQ(1, ran);
	EXPECT_RT(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, NULL, NULL));
	ASSERT_RT(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value));
	ASSERT_RT(cudaStreamGetPriority(stream, &number));
	EXPECT_EQ(-2, number);
	ASSERT_RT(cudaStreamCopyAttributes(NULL, stream));
	ASSERT_RT(cudaStreamGetAttribute(NULL, cudaLaunchAttributePriority, &value));
	EXPECT_EQ(-2, value.priority);
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
	EXPECT_RT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
}

struct inside {
	cudaError_t memory, host, managed, pinned, info, event, peers;
};

static void allocate(void *data)
{
	struct inside *in = data;
	cudaEvent_t event;
	size_t bytes;
	void *any;

	in->memory = cudaMalloc(&any, 1);
	in->host = cudaMallocHost(&any, 1);
	in->managed = cudaMallocManaged(&any, 1, cudaMemAttachGlobal);
	in->pinned = cudaHostRegister(&any, sizeof(any), 0);
	in->info = cudaMemGetInfo(&bytes, &bytes);
	in->event = cudaEventCreate(&event);
	in->peers = cudaMemcpyPeer(in, 0, in, 0, 1);
}

/* The thread of a host function has no device, and gets none: no context is made. */
TEST_F(runtime_stream, host_functions_do_not_allocate)
{
	struct inside in = {};
	unsigned int flags;
	int active = -1;

	ASSERT_RT(cudaSetDevice(1));
	ASSERT_RT(cudaLaunchHostFunc(NULL, allocate, &in));
	ASSERT_RT(cudaStreamSynchronize(NULL));
	EXPECT_RT(cudaErrorNotPermitted, in.memory);
	EXPECT_RT(cudaErrorNotPermitted, in.host);
	EXPECT_RT(cudaErrorNotPermitted, in.managed);
	EXPECT_RT(cudaErrorNotPermitted, in.pinned);
	EXPECT_RT(cudaErrorNotPermitted, in.info);
	EXPECT_RT(cudaErrorNotPermitted, in.event);
	EXPECT_RT(cudaErrorNotPermitted, in.peers);
	ASSERT_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(0, active);
}

TEST_F(runtime_stream, events)
{
	cudaEvent_t event, other;
	cudaStream_t stream;
	float milliseconds;

	EXPECT_RT(cudaErrorInvalidValue, cudaEventCreateWithFlags(&event, 8));
	ASSERT_RT(cudaEventCreate(&event));
	ASSERT_RT(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
	ASSERT_RT(cudaStreamCreate(&stream));
	EXPECT_RT(cudaSuccess, cudaEventQuery(event));
	EXPECT_RT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event,
								       event));
	ASSERT_RT(cudaEventRecord(event, stream));
	ASSERT_RT(cudaStreamWaitEvent(stream, event, 0));
	ASSERT_RT(cudaEventSynchronize(event));
	ASSERT_RT(cudaEventElapsedTime(&milliseconds, event, event));
	EXPECT_EQ(0, milliseconds);
	ASSERT_RT(cudaEventRecord(other, stream));
	ASSERT_RT(cudaEventSynchronize(other));
	EXPECT_RT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, event,
								       other));
	EXPECT_RT(cudaErrorInvalidValue, cudaEventRecordWithFlags(event, stream, 2));
	EXPECT_RT(cudaErrorInvalidValue, cudaStreamWaitEvent(stream, event, 7));
	EXPECT_RT(cudaSuccess, cudaEventDestroy(event));
	EXPECT_RT(cudaSuccess, cudaEventDestroy(other));
	EXPECT_RT(cudaErrorInvalidResourceHandle, cudaEventDestroy(NULL));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

TEST_F(runtime_stream, capture)
{
	enum cudaStreamCaptureStatus status;
	cudaGraphExec_t instance;
	unsigned long long id = 0;
	cudaStream_t stream;
	cudaGraph_t graph = NULL, during = NULL;
	size_t nodes = 9;
	int ran = 0;

	ASSERT_RT(cudaStreamCreate(&stream));
	ASSERT_RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	ASSERT_RT(cudaLaunchHostFunc(stream, count, &ran));
	ASSERT_RT(cudaStreamIsCapturing(stream, &status));
	EXPECT_EQ((int)cudaStreamCaptureStatusActive, (int)status);
	ASSERT_RT(cudaStreamGetCaptureInfo(stream, &status, &id, &during, NULL, NULL, &nodes));
	EXPECT_NE(NULL, during);
	EXPECT_EQ(1, nodes);
	ASSERT_RT(cudaStreamEndCapture(stream, &graph));
	EXPECT_EQ(during, graph);
	EXPECT_EQ(0, ran);
	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, stream));
	ASSERT_RT(cudaGraphLaunch(instance, stream));
	ASSERT_RT(cudaStreamSynchronize(stream));
	EXPECT_EQ(2, ran);
	ASSERT_RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	EXPECT_RT(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(stream));
	EXPECT_RT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(during));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

/* A graph that is made node by node; a copy node returns the parameters that it was given. */
TEST_F(runtime_stream, graphs)
{
	struct cudaMemsetParams fill = { .value = 3, .elementSize = 1, .width = 64, .height = 1 };
	struct cudaGraphNodeParams any = { .type = cudaGraphNodeTypeMemcpy };
	struct cudaHostNodeParams host = { .fn = count };
	struct cudaMemcpy3DParms params;
	enum cudaGraphNodeType type;
	char here[64] = "", last[64] = "";
	cudaGraphNode_t nodes[4];
	cudaUserObject_t object;
	cudaGraphExec_t instance;
	int ran = 0, ended = 0;
	cudaGraph_t graph;
	void *memory;

	ASSERT_RT(cudaMalloc(&memory, 64));
	ASSERT_RT(cudaGraphCreate(&graph, 0));
	ASSERT_RT(cudaUserObjectCreate(&object, &ended, count, 1,
				       cudaUserObjectNoDestructorSync));
	ASSERT_RT(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
	fill.dst = memory;
	host.userData = &ran;
	ASSERT_RT(cudaGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill));
	ASSERT_RT(cudaGraphAddMemcpyNode1D(&nodes[1], graph, &nodes[0], 1, here, memory, 64,
					   cudaMemcpyDeviceToHost));
	ASSERT_RT(cudaGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &host));
	any.memcpy.copyParams = (struct cudaMemcpy3DParms) {
		.srcPtr = { memory, 64, 64, 1 },
		.dstPtr = { last, 64, 64, 1 },
		.extent = { 64, 1, 1 },
		.kind = cudaMemcpyDefault,
	};
	ASSERT_RT(cudaGraphAddNode(&nodes[3], graph, &nodes[2], NULL, 1, &any));
	ASSERT_RT(cudaGraphNodeGetType(nodes[3], &type));
	EXPECT_EQ((int)cudaGraphNodeTypeMemcpy, (int)type);
	ASSERT_RT(cudaGraphMemcpyNodeGetParams(nodes[3], &params));
	EXPECT_EQ(memory, params.srcPtr.ptr);
	EXPECT_EQ((void *)last, params.dstPtr.ptr);
	EXPECT_EQ(64, params.extent.width);
	EXPECT_EQ((int)cudaMemcpyDefault, (int)params.kind);
	ASSERT_RT(cudaGraphMemcpyNodeGetParams(nodes[1], &params));
	EXPECT_EQ((int)cudaMemcpyDeviceToHost, (int)params.kind);
	EXPECT_RT(cudaErrorInvalidMemcpyDirection,
		  cudaGraphAddMemcpyNode1D(&nodes[3], graph, NULL, 0, here, memory, 64, 9));
	EXPECT_RT(cudaErrorInvalidValue, cudaGraphAddNode(&nodes[3], graph, NULL, NULL, 0, NULL));

	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, cudaStreamPerThread));
	ASSERT_RT(cudaStreamSynchronize(cudaStreamPerThread));
	EXPECT_EQ(1, ran);
	EXPECT_EQ(3, here[0]);
	EXPECT_EQ(3, last[63]);
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_EQ(0, ended);
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
	/* a thread of the library ends the user object */
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		usleep(1000);
	EXPECT_RT(cudaSuccess, cudaDeviceSynchronize());
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

/* A condition that is 1 from the beginning: no kernel sets it. */
TEST_F(runtime_stream, conditional_node)
{
	struct cudaMemsetParams fill = { .value = 3, .elementSize = 1, .width = 64, .height = 1 };
	struct cudaGraphNodeParams any = { .type = cudaGraphNodeTypeConditional };
	cudaGraphExec_t instance;
	cudaGraphNode_t node;
	cudaGraph_t graph;
	char here[64] = "";
	void *memory;

	ASSERT_RT(cudaMalloc(&memory, 64));
	fill.dst = memory;
	ASSERT_RT(cudaGraphCreate(&graph, 0));
	EXPECT_RT(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(NULL, graph, 1, 0));
	ASSERT_RT(cudaGraphConditionalHandleCreate(&any.conditional.handle, graph, 1,
						   cudaGraphCondAssignDefault));
	any.conditional.type = cudaGraphCondTypeIf;
	any.conditional.size = 1;
	ASSERT_RT(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &any));
	ASSERT_NE(NULL, any.conditional.phGraph_out);
	ASSERT_RT(cudaGraphAddMemsetNode(&node, any.conditional.phGraph_out[0], NULL, 0, &fill));
	ASSERT_RT(cudaGraphInstantiate(&instance, graph, 0));
	ASSERT_RT(cudaGraphLaunch(instance, cudaStreamPerThread));
	ASSERT_RT(cudaMemcpyAsync(here, memory, 64, cudaMemcpyDefault, cudaStreamPerThread));
	ASSERT_RT(cudaStreamSynchronize(cudaStreamPerThread));
	EXPECT_EQ(3, here[63]);
	EXPECT_RT(cudaSuccess, cudaGraphExecDestroy(instance));
	EXPECT_RT(cudaSuccess, cudaGraphDestroy(graph));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

/*
 * Names that a program built for the per-thread default stream imports: NULL is the thread's own
 * stream.
 */
TEST_F(runtime_stream, per_thread_names)
{
	cudaError_t (*query)(cudaStream_t) = dlsym(RTLD_DEFAULT, "cudaStreamQuery_ptsz");
	cudaError_t (*copy)(void *, const void *, size_t, enum cudaMemcpyKind) =
		dlsym(RTLD_DEFAULT, "cudaMemcpy_ptds");
	cudaStream_t other;
	int go = 0, from = 4, to = 0;

	ASSERT_NE(NULL, query);
	ASSERT_NE(NULL, copy);
	/* a stream that is independent of the legacy stream */
	ASSERT_RT(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	ASSERT_RT(cudaLaunchHostFunc(cudaStreamPerThread, wait_for, &go));
	EXPECT_RT(cudaErrorNotReady, query(NULL));
	EXPECT_RT(cudaSuccess, query(other));
	let_go(&go);
	EXPECT_RT(cudaSuccess, cudaStreamSynchronize(cudaStreamPerThread));
	EXPECT_RT(cudaSuccess, query(NULL));
	EXPECT_RT(cudaSuccess, copy(&to, &from, sizeof(to), cudaMemcpyHostToHost));
	EXPECT_EQ(4, to);
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(other));
}

TEST_F(runtime_stream, drivers_functions)
{
	cudaError_t (*per_thread)(const char *, void **, unsigned int, unsigned long long,
				  enum cudaDriverEntryPointQueryResult *) =
		dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPointByVersion_ptsz");
	enum cudaDriverEntryPointQueryResult status;
	void *function = NULL;

	ASSERT_RT(cudaGetDriverEntryPointByVersion("cuMemCreate", &function, 13000, 0, &status));
	EXPECT_EQ((int)cudaDriverEntryPointSuccess, (int)status);
	EXPECT_EQ(dlsym(RTLD_DEFAULT, "cuMemCreate"), function);
	ASSERT_RT(cudaGetDriverEntryPointByVersion("cuStreamQuery", &function, 13000, 0, &status));
	EXPECT_EQ(dlsym(RTLD_DEFAULT, "cuStreamQuery"), function);
	ASSERT_RT(per_thread("cuStreamQuery", &function, 13000, 0, &status));
	EXPECT_EQ(dlsym(RTLD_DEFAULT, "cuStreamQuery_ptsz"), function);
	ASSERT_RT(cudaGetDriverEntryPointByVersion("cuMulticastCreate", &function, 12000, 0,
						   &status));
	EXPECT_EQ((int)cudaDriverEntryPointVersionNotSufficent, (int)status);
	EXPECT_EQ(NULL, function);
	ASSERT_RT(cudaGetDriverEntryPointByVersion("nosuch", &function, 13000, 0, &status));
	EXPECT_EQ((int)cudaDriverEntryPointSymbolNotFound, (int)status);
	EXPECT_RT(cudaErrorInvalidValue,
		  cudaGetDriverEntryPointByVersion(NULL, &function, 13000, 0, &status));
}

TEST_HARNESS_MAIN
