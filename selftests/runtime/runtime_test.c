// SPDX-License-Identifier: MIT
/* The runtime: contexts that it makes when they are needed, errors, devices, memory, copies. */
#include <cuda_runtime_api.h>
#include <limits.h>
#include "runtime_fixture.h"

RUNTIME_FIXTURE(runtime)

/* ---- errors ---- */

TEST_F(runtime, names_of_errors)
{
	EXPECT_STREQ("cudaSuccess", cudaGetErrorName(cudaSuccess));
	EXPECT_STREQ("no error", cudaGetErrorString(cudaSuccess));
	EXPECT_STREQ("cudaErrorMemoryAllocation", cudaGetErrorName(cudaErrorMemoryAllocation));
	EXPECT_STREQ("out of memory", cudaGetErrorString(cudaErrorMemoryAllocation));
	EXPECT_STREQ("cudaErrorUnknown", cudaGetErrorName(cudaErrorUnknown));
	EXPECT_STREQ("unrecognized error code", cudaGetErrorName(10));
	EXPECT_STREQ("unrecognized error code", cudaGetErrorString(12345));
	EXPECT_STREQ("unrecognized error code", cudaGetErrorString(-1));
}

static void *last_error_here(void *unused __attribute__((unused)))
{
	return (void *)(long)cudaPeekAtLastError();
}

TEST_F(runtime, last_error_is_a_threads)
{
	pthread_t thread;
	void *other;

	EXPECT_RT(cudaErrorInvalidDevice, cudaSetDevice(99));
	ASSERT_EQ(0, pthread_create(&thread, NULL, last_error_here, NULL));
	ASSERT_EQ(0, pthread_join(thread, &other));
	EXPECT_EQ(0, (long)other);
	EXPECT_RT(cudaErrorInvalidDevice, cudaPeekAtLastError());
	EXPECT_RT(cudaErrorInvalidDevice, cudaGetLastError());
	EXPECT_RT(cudaSuccess, cudaGetLastError());
}

TEST_F(runtime, version)
{
	int version = 0;

	EXPECT_RT(cudaSuccess, cudaRuntimeGetVersion(&version));
	EXPECT_EQ(CUDART_VERSION, version);
	EXPECT_RT(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
}

/* A call that succeeds keeps the last error, and work that is under way sets none. */
TEST_F(runtime, last_error_stays)
{
	cudaStream_t stream;
	int go = 0;

	EXPECT_RT(cudaErrorInvalidValue, cudaMalloc(NULL, 1));
	ASSERT_RT(cudaStreamCreate(&stream));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetLastError());
	ASSERT_RT(cudaLaunchHostFunc(stream, wait_for, &go));
	EXPECT_RT(cudaErrorNotReady, cudaStreamQuery(stream));
	EXPECT_RT(cudaSuccess, cudaGetLastError());
	let_go(&go);
	EXPECT_RT(cudaSuccess, cudaStreamSynchronize(stream));
	EXPECT_RT(cudaSuccess, cudaStreamDestroy(stream));
}

/* ---- contexts ---- */

static int primary_active(int device)
{
	unsigned int flags;
	int active = -1;

	cuDevicePrimaryCtxGetState(device, &flags, &active);
	return active;
}

TEST_F(runtime, contexts_are_made_when_needed)
{
	CUcontext context = NULL;
	int count = 0, device = -1;
	void *memory;

	ASSERT_RT(cudaGetDeviceCount(&count));
	EXPECT_LT(0, count);
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(0, device);
	ASSERT_OK(cuCtxGetCurrent(&context));
	EXPECT_EQ(NULL, context);
	EXPECT_EQ(0, primary_active(0));

	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_OK(cuCtxGetCurrent(&context));
	EXPECT_NE(NULL, context);
	EXPECT_EQ(1, primary_active(0));
	ASSERT_OK(cuCtxPopCurrent(&context));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	ASSERT_OK(cuCtxGetCurrent(&context));
	EXPECT_NE(NULL, context);
}

TEST_F(runtime, choosing_a_device_makes_its_context)
{
	int device = -1;
	CUdevice current;

	ASSERT_RT(cudaSetDevice(1));
	EXPECT_EQ(0, primary_active(0));
	EXPECT_EQ(1, primary_active(1));
	ASSERT_OK(cuCtxGetDevice(&current));
	EXPECT_EQ(1, current);
	EXPECT_RT(cudaErrorInvalidDevice, cudaSetDevice(-1));
	EXPECT_RT(cudaErrorInvalidDevice, cudaSetDevice(INT_MAX));
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(1, device);
	ASSERT_RT(cudaInitDevice(0, 0, 0));
	EXPECT_EQ(1, primary_active(0));
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(1, device);
	EXPECT_RT(cudaErrorInvalidDevice, cudaInitDevice(99, 0, 0));
	EXPECT_RT(cudaErrorInvalidValue, cudaInitDevice(0, 0, 2));
}

static void *prefer_the_second(void *unused)
{
	int second = 1, device = -1;

	return cudaSetValidDevices(&second, 1) == cudaSuccess &&
	       cudaGetDevice(&device) == cudaSuccess && device == 1 &&
	       cudaSetValidDevices(NULL, 0) == cudaSuccess &&
	       cudaGetDevice(&device) == cudaSuccess && device == 0 &&
	       cudaSetValidDevices(&second, 1) == cudaSuccess ? unused : NULL;
}

TEST_F(runtime, valid_devices_are_a_threads)
{
	int device = -1, none = 99;
	pthread_t thread;
	void *good;

	ASSERT_EQ(0, pthread_create(&thread, NULL, prefer_the_second, &device));
	ASSERT_EQ(0, pthread_join(thread, &good));
	EXPECT_NE(NULL, good);
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(0, device);
	EXPECT_RT(cudaErrorInvalidDevice, cudaSetValidDevices(&none, 1));
	EXPECT_RT(cudaErrorInvalidValue, cudaSetValidDevices(NULL, 1));
}

TEST_F(runtime, a_programs_own_context_is_used)
{
	CUcontext own, current;
	int device = -1;
	void *memory;

	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuCtxCreate(&own, NULL, 0, 1));
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(1, device);
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_OK(cuCtxGetCurrent(&current));
	EXPECT_EQ(own, current);
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	EXPECT_OK(cuCtxDestroy(own));
}

static void *reset_here(void *unused __attribute__((unused)))
{
	return (void *)(long)cudaDeviceReset();
}

/* After a reset, also by another thread, the next call makes a new context. */
TEST_F(runtime, reset)
{
	unsigned int flags = 0;
	pthread_t thread;
	void *memory, *result;

	ASSERT_RT(cudaMalloc(&memory, 1));
	EXPECT_RT(cudaSuccess, cudaDeviceReset());
	EXPECT_EQ(0, primary_active(0));
	ASSERT_RT(cudaGetDeviceFlags(&flags));
	EXPECT_EQ(cudaDeviceMapHost, flags);
	EXPECT_RT(cudaErrorInvalidValue, cudaFree(memory));
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, reset_here, NULL));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(0, (long)result);
	EXPECT_EQ(0, primary_active(0));
	ASSERT_RT(cudaMalloc(&memory, 1));
	EXPECT_EQ(1, primary_active(0));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

static void count_line(void *count, CUlogLevel level, char *line, size_t length)
{
	(void)level;
	(void)line;
	(void)length;
	++*(int *)count;
}

/* The driver's reset, too, also of a context that the program alone has retained. */
TEST_F(runtime, reset_by_the_driver)
{
	int device = -1, lines = 0;
	CUcontext context;
	void *memory;

	ASSERT_OK(cuLogsRegisterCallback(count_line, &lines, NULL));
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_RT(cudaMalloc(&memory, 1));
	EXPECT_RT(cudaSuccess, cudaFree(memory));
	/* the runtime's question is no failure of the program's */
	EXPECT_EQ(0, lines);
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	EXPECT_RT(cudaErrorInvalidValue, cudaFree(memory));
	/* the runtime holds one reference, as before, and again if the program releases it */
	for (int i = 0; i < 2; i++) {
		ASSERT_OK(cuDevicePrimaryCtxRelease(0));
		EXPECT_EQ(0, primary_active(0));
		ASSERT_RT(cudaMalloc(&memory, 1));
		EXPECT_RT(cudaSuccess, cudaFree(memory));
	}
	ASSERT_OK(cuDevicePrimaryCtxRelease(0));
	EXPECT_EQ(0, primary_active(0));

	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
	ASSERT_OK(cuCtxSetCurrent(context));
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_OK(cuDevicePrimaryCtxReset(1));
	ASSERT_RT(cudaMalloc(&memory, 1));
	ASSERT_RT(cudaGetDevice(&device));
	EXPECT_EQ(1, device);
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

TEST_F(runtime, children)
{
	void *memory;
	int count;

	IN_CHILD(cudaGetDeviceCount(&count) == cudaSuccess);
	ASSERT_RT(cudaMalloc(&memory, 1));
	IN_CHILD(cudaMalloc(&memory, 1) == cudaErrorInitializationError);
	IN_CHILD(cudaGetDeviceCount(&count) == cudaErrorInitializationError);
	EXPECT_RT(cudaSuccess, cudaFree(memory));
}

/* ---- devices ---- */

TEST_F(runtime, properties)
{
	struct cudaDeviceProp properties, untouched;
	int count = 0, value = 0;
	size_t bytes;

	ASSERT_RT(cudaGetDeviceCount(&count));
	memset(&properties, 0xee, sizeof(properties));
	memset(&untouched, 0xee, sizeof(untouched));
	EXPECT_RT(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, count));
	EXPECT_EQ(0, memcmp(&properties, &untouched, sizeof(properties)));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
	EXPECT_EQ(1008, sizeof(properties));

	ASSERT_RT(cudaGetDeviceProperties(&properties, 0));
	EXPECT_LT(0, strlen(properties.name));
	ASSERT_OK(cuDeviceTotalMem(&bytes, 0));
	EXPECT_EQ(bytes, properties.totalGlobalMem);
	EXPECT_EQ(9, properties.major);
	EXPECT_EQ(49152, properties.sharedMemPerBlock);
	ASSERT_RT(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
	EXPECT_EQ(value, properties.multiProcessorCount);
	ASSERT_RT(cudaDeviceGetAttribute(&value, cudaDevAttrHostNumaId, 0));
	EXPECT_EQ(value, properties.hostNumaId);
	EXPECT_EQ(0, properties.reserved[55]);
	EXPECT_RT(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, 1, count));
	EXPECT_RT(cudaErrorInvalidValue, cudaDeviceGetAttribute(NULL, 1, 0));

	/* of equal devices the first, and that one also if none is as good */
	ASSERT_RT(cudaChooseDevice(&value, &properties));
	EXPECT_EQ(0, value);
	properties.major = 99;
	value = -1;
	ASSERT_RT(cudaChooseDevice(&value, &properties));
	EXPECT_EQ(0, value);
	EXPECT_RT(cudaErrorInvalidValue, cudaChooseDevice(&value, NULL));
}

/* NVIDIA's header calls the functions of shared memory's banks deprecated; programs call them. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST_F(runtime, flags_and_limits)
{
	enum cudaSharedMemConfig banks;
	unsigned int flags = 0;
	size_t limit = 0;
	int least, greatest;

	ASSERT_RT(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
	ASSERT_RT(cudaGetDeviceFlags(&flags));
	EXPECT_EQ(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost, flags);
	EXPECT_RT(cudaErrorInvalidValue, cudaSetDeviceFlags(0xffff));
	EXPECT_RT(cudaErrorInvalidValue, cudaGetDeviceFlags(NULL));
	ASSERT_RT(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
	ASSERT_RT(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	ASSERT_RT(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
	EXPECT_EQ(2048, limit);
	EXPECT_RT(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&limit,
								cudaLimitDevRuntimeSyncDepth));
	ASSERT_RT(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	ASSERT_RT(cudaDeviceGetSharedMemConfig(&banks));
	EXPECT_EQ((int)cudaSharedMemBankSizeFourByte, (int)banks);
	EXPECT_RT(cudaErrorInvalidValue, cudaDeviceSetSharedMemConfig(3));
	ASSERT_RT(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	EXPECT_EQ(0, least);
	EXPECT_EQ(-5, greatest);
}

TEST_F(runtime, devices_by_bus)
{
	int device = -1, count = 0;
	char id[32];

	ASSERT_RT(cudaGetDeviceCount(&count));
	ASSERT_RT(cudaDeviceGetPCIBusId(id, sizeof(id), count - 1));
	ASSERT_RT(cudaDeviceGetByPCIBusId(&device, id));
	EXPECT_EQ(count - 1, device);
	EXPECT_RT(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
	EXPECT_RT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "junk"));
	EXPECT_RT(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(id, 12, 0));
}

TEST_F(runtime, peers)
{
	void *here, *there;
	int can = -1;
	char byte = 7, copied = 0;

	EXPECT_RT(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
	EXPECT_RT(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(99, 0));
	EXPECT_RT(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 1));
	EXPECT_RT(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
	ASSERT_RT(cudaDeviceCanAccessPeer(&can, 0, 1));
	EXPECT_EQ(1, can);
	ASSERT_RT(cudaDeviceEnablePeerAccess(1, 0));
	EXPECT_RT(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));

	ASSERT_RT(cudaMalloc(&here, 1));
	ASSERT_RT(cudaMemcpy(here, &byte, 1, cudaMemcpyHostToDevice));
	ASSERT_RT(cudaSetDevice(1));
	ASSERT_RT(cudaMalloc(&there, 1));
	ASSERT_RT(cudaMemcpyPeer(there, 1, here, 0, 1));
	ASSERT_RT(cudaMemcpy(&copied, there, 1, cudaMemcpyDeviceToHost));
	EXPECT_EQ(7, copied);
	EXPECT_RT(cudaErrorInvalidDevice, cudaMemcpyPeer(there, 99, here, 0, 1));
	EXPECT_RT(cudaSuccess, cudaFree(there));
	EXPECT_RT(cudaSuccess, cudaFree(here));
}

TEST_HARNESS_MAIN
