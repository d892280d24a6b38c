// SPDX-License-Identifier: MIT
/* Peer access, PCI bus ids, and queries of devices and contexts */
#include "memcast_test.h"
#include "reason.h"

FIXTURE(peer)
{
	int count;
};

FIXTURE_SETUP(peer)
{
	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDeviceGetCount(&self->count));
	ASSERT_LT(1, self->count);
}
NOTHING_LEFT(peer)

TEST_F(peer, can_access)
{
	int possible = 77;

	EXPECT_OK(cuDeviceCanAccessPeer(&possible, 0, 1));
	EXPECT_EQ(1, possible);
	EXPECT_OK(cuDeviceCanAccessPeer(&possible, 1, 1));
	EXPECT_EQ(0, possible);
	EXPECT_REASON(cuDeviceCanAccessPeer(NULL, 0, 1), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&possible, 0, self->count));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&possible, -1, 0));
}

TEST_F(peer, attributes)
{
	const int expected[] = { -1, 0, 1, 1, 1, 0 };
	int i, value;

	for (i = 1; i <= 5; i++) {
		value = 77;
		EXPECT_OK(cuDeviceGetP2PAttribute(&value, i, 0, 1));
		EXPECT_EQ(expected[i], value);
	}
	value = 77;
	EXPECT_REASON(cuDeviceGetP2PAttribute(NULL, 1, 0, 1), "NULL output");
	EXPECT_REASON(cuDeviceGetP2PAttribute(&value, 0, 0, 1), "no such attribute");
	EXPECT_REASON(cuDeviceGetP2PAttribute(&value, 6, 0, 1), "no such attribute");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&value, 1, 1, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&value, 1, 0, self->count));
	EXPECT_EQ(77, value);
}

TEST_F(peer, enable_and_disable)
{
	CUcontext first, second, same;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&second, 1));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(second, 0));
	ASSERT_OK(cuCtxCreate(&same, NULL, 0, 0));
	ASSERT_OK(cuCtxSetCurrent(first));

	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(second));
	EXPECT_REASON(cuCtxEnablePeerAccess(second, 1), "flags must be #");
	EXPECT_OK(cuCtxEnablePeerAccess(second, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(second, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(first, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(first));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(NULL, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(same, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(same));

	/* peer access goes one way only, and ends with the context */
	ASSERT_OK(cuCtxSetCurrent(second));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(first));
	ASSERT_OK(cuCtxSetCurrent(first));
	EXPECT_OK(cuCtxDisablePeerAccess(second));
	EXPECT_OK(cuCtxEnablePeerAccess(second, 0));
	ASSERT_OK(cuDevicePrimaryCtxReset(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(second));
}

/* Access is to one context, not to all of its device, and ends with that context. */
TEST_F(peer, access_to_a_context_that_ends)
{
	CUdeviceptr at, other;
	CUcontext context, first, second, third;

	ASSERT_OK(cuCtxCreate(&first, NULL, 0, 1));
	ASSERT_OK(cuMemAlloc(&at, 4));
	ASSERT_OK(cuCtxCreate(&second, NULL, 0, 1));
	ASSERT_OK(cuMemAlloc(&other, 4));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	EXPECT_OK(cuCtxEnablePeerAccess(first, 0));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(second));
	EXPECT_OK(cuMemsetD32(at, 1, 1));
	EXPECT_REASON(cuMemsetD32(other, 1, 1), "# is of device #, which device #'s context has");
	EXPECT_OK(cuCtxEnablePeerAccess(second, 0));
	EXPECT_OK(cuMemsetD32(other, 1, 1));

	ASSERT_OK(cuCtxDestroy(first));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxDisablePeerAccess(first));
	ASSERT_OK(cuCtxCreate(&third, NULL, 0, 1));
	ASSERT_OK(cuCtxSetCurrent(context));
	EXPECT_CU(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(third));
	EXPECT_OK(cuCtxEnablePeerAccess(third, 0));
	EXPECT_OK(cuCtxDisablePeerAccess(second));

	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 1));
	EXPECT_OK(cuCtxEnablePeerAccess(first, 0));
	ASSERT_OK(cuDevicePrimaryCtxReset(1));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 1));
	EXPECT_OK(cuCtxEnablePeerAccess(first, 0));
}

/* Fills of memory that another device's context has allocated need peer access, copies do not. */
TEST_F(peer, fills_of_plain_memory)
{
	CUdeviceptr own, other;
	CUcontext first, second;
	CUstream stream;
	uint32_t word = 0;

	ASSERT_OK(cuDevicePrimaryCtxRetain(&first, 0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&second, 1));
	ASSERT_OK(cuCtxSetCurrent(first));
	ASSERT_OK(cuMemAlloc(&other, 4096));
	EXPECT_OK(cuMemsetD32(other, 7, 1024));
	ASSERT_OK(cuCtxSetCurrent(second));
	EXPECT_REASON(cuMemsetD32(other, 1, 1), "# is of device #, which device #'s context has");
	ASSERT_OK(cuMemAlloc(&own, 4096));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	EXPECT_REASON(cuMemsetD32(other, 1, 1), "# is of device #, which device #'s context has");
	EXPECT_REASON(cuMemsetD32Async(other, 1, 1, stream), "# is of device #, which device #'s");
	EXPECT_REASON(cuMemsetD2D8(other, 512, 1, 4, 2), "# is of device #, which device #'s");
	EXPECT_OK(cuMemsetD32(other, 1, 0));
	EXPECT_OK(cuMemcpyDtoD(own, other, 4096));
	EXPECT_OK(cuMemcpyDtoH(&word, own + 4092, 4));
	EXPECT_EQ(7, word);

	/* the context of the stream needs the access, which goes one way */
	EXPECT_OK(cuCtxEnablePeerAccess(first, 0));
	EXPECT_OK(cuMemsetD32(other, 8, 1));
	EXPECT_OK(cuMemsetD32Async(other + 4, 9, 1, stream));
	EXPECT_OK(cuStreamSynchronize(stream));
	ASSERT_OK(cuCtxSetCurrent(first));
	EXPECT_REASON(cuMemsetD32(own, 1, 1), "# is of device #, which device #'s context has no");
	EXPECT_OK(cuMemsetD32Async(other + 8, 10, 1, stream));
	EXPECT_OK(cuStreamSynchronize(stream));
	EXPECT_OK(cuMemcpyDtoH(&word, other + 8, 4));
	EXPECT_EQ(10, word);
	ASSERT_OK(cuCtxSetCurrent(second));
	EXPECT_OK(cuCtxDisablePeerAccess(first));
	EXPECT_REASON(cuMemsetD32(other, 1, 1), "# is of device #, which device #'s context has");

	/* memory of cuMemCreate() has access of its own */
	EXPECT_OK(cuMemsetD8(ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 1)), 1, CHUNK));
}

TEST_F(peer, bus_ids)
{
	char text[20], other[20], small[13] = "x";
	CUdevice device;
	int i;

	for (i = 0; i < self->count; i++) {
		device = -1;
		ASSERT_OK(cuDeviceGetPCIBusId(text, sizeof(text), i));
		EXPECT_EQ(12, strlen(text));
		EXPECT_OK(cuDeviceGetByPCIBusId(&device, text));
		EXPECT_EQ(i, device);
		/* without the function */
		text[strlen(text) - 2] = '\0';
		EXPECT_OK(cuDeviceGetByPCIBusId(&device, text));
		EXPECT_EQ(i, device);
		ASSERT_OK(cuDeviceGetPCIBusId(text, sizeof(text), i));
		ASSERT_OK(cuDeviceGetPCIBusId(other, sizeof(other), (i + 1) % self->count));
		EXPECT_STRNE(text, other);
	}
	EXPECT_OK(cuDeviceGetPCIBusId(small, sizeof(small), 0));
	/* a call with too little room writes as much of the id as fits */
	strcpy(text, small);
	memset(small, 'x', sizeof(small));
	EXPECT_REASON(cuDeviceGetPCIBusId(small, sizeof(small) - 1, 0), "# bytes are too few for");
	text[11] = '\0';
	EXPECT_STREQ(text, small);
	EXPECT_EQ('x', small[12]);
	EXPECT_REASON(cuDeviceGetPCIBusId(small, 0, 0), "# bytes are too few for ca#:#:#.#");
	EXPECT_STREQ(text, small);
	EXPECT_REASON(cuDeviceGetPCIBusId(NULL, 20, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId(text, 20, self->count));

	device = 77;
	EXPECT_REASON(cuDeviceGetByPCIBusId(&device, "nonsense"), "not a PCI bus id");
	EXPECT_REASON(cuDeviceGetByPCIBusId(&device, "ca57:00:00.0 and more"), "not a PCI bus id");
	EXPECT_REASON(cuDeviceGetByPCIBusId(&device, ""), "not a PCI bus id");
	EXPECT_REASON(cuDeviceGetByPCIBusId(&device, NULL), "NULL pointer");
	EXPECT_REASON(cuDeviceGetByPCIBusId(NULL, text), "NULL pointer");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "ca57:ff:00.0"));
	/* without a domain, domain 0 is meant */
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&device, "00:00.0"));
	EXPECT_EQ(77, device);
}

TEST_F(peer, older_queries)
{
	int major = 0, minor = -1, value;
	CUdevprop prop = {};

	EXPECT_OK(cuDeviceComputeCapability(&major, &minor, 0));
	EXPECT_EQ(9, major);
	EXPECT_EQ(0, minor);
	major = 77;
	EXPECT_REASON(cuDeviceComputeCapability(NULL, &minor, 0), "NULL output");
	EXPECT_REASON(cuDeviceComputeCapability(&major, NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE,
		  cuDeviceComputeCapability(&major, &minor, self->count));
	EXPECT_EQ(77, major);

	EXPECT_OK(cuDeviceGetProperties(&prop, 0));
	ASSERT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	EXPECT_EQ(value, prop.SIMDWidth);
	ASSERT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 0));
	EXPECT_EQ(value, prop.maxGridSize[2]);
	EXPECT_REASON(cuDeviceGetProperties(NULL, 0), "NULL output");
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetProperties(&prop, -1));
}

/* Attributes by which programs choose what to use: the profile's, except for missing features. */
TEST_F(peer, what_can_be_done)
{
	const struct {
		CUdevice_attribute attribute;
		int value;
	} known[] = {
		{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
		{ CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1 },
		{ CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1 },
		{ CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
		{ CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
		{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
		{ CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
	};
	unsigned int i;
	int value;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		value = -7;
		EXPECT_OK(cuDeviceGetAttribute(&value, known[i].attribute, 1));
		EXPECT_EQ(known[i].value, value)
			TH_LOG("attribute %d", known[i].attribute);
	}
}

/* As recorded on hardware: results of get and set, the first value, and the one after setting 1 */
static const struct {
	CUresult known, set;
	size_t initial, one;
} limit_answers[CU_LIMIT_MAX] = {
	[CU_LIMIT_STACK_SIZE] = { 0, 0, 1024, 16 },
	[CU_LIMIT_PRINTF_FIFO_SIZE] = { 0, 0, 8650752, 524288 },
	[CU_LIMIT_MALLOC_HEAP_SIZE] = { 0, 0, 8388608, 4194304 },
	[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = {
		CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_UNSUPPORTED_LIMIT, 77, 77 },
	[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = { 0, 0, 2048, 32 },
	/* for these two limits, the value after setting 1 was not recorded */
	[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = { 0, 0, 64, 1 },
	[CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = { 0, 0, 9830400, 1 },
	[CU_LIMIT_SHMEM_SIZE] = { 0, CUDA_ERROR_NOT_PERMITTED, 232448, 232448 },
	[CU_LIMIT_CIG_ENABLED] = { 0, CUDA_ERROR_NOT_PERMITTED, 0, 0 },
	[CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED] = {
		CUDA_ERROR_UNSUPPORTED_LIMIT, CUDA_ERROR_UNSUPPORTED_LIMIT, 77, 77 },
};

TEST_F(peer, limits)
{
	CUsharedconfig banks = 77;
	CUfunc_cache config = 77;
	size_t value = 77;
	int i, least = 77, greatest = 77;

	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetCacheConfig(&config));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetSharedMemConfig(&banks));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetSharedMemConfig(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetStreamPriorityRange(&least, &greatest));
	cuda_start(0);
	for (i = 0; i < CU_LIMIT_MAX; i++) {
		EXPECT_CU(limit_answers[i].known, cuCtxGetLimit(&value, i)) TH_LOG("limit %d", i);
		EXPECT_EQ(limit_answers[i].initial, value) TH_LOG("limit %d", i);
		EXPECT_CU(limit_answers[i].set, cuCtxSetLimit(i, 1)) TH_LOG("limit %d", i);
		EXPECT_CU(limit_answers[i].known, cuCtxGetLimit(&value, i)) TH_LOG("limit %d", i);
		EXPECT_EQ(limit_answers[i].one, value) TH_LOG("limit %d", i);
		value = 77;
	}
	EXPECT_OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 512 << 10));
	EXPECT_REASON(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, (512 << 10) + 1), "more than #");
	EXPECT_REASON(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, -1), "more than #");
	EXPECT_REASON(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), "NULL output");
	EXPECT_REASON(cuCtxGetLimit(&value, CU_LIMIT_MAX), "no such limit");
	EXPECT_REASON(cuCtxSetLimit(-1, 1), "no such limit");
	EXPECT_EQ(77, value);

	EXPECT_OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
	EXPECT_REASON(cuCtxSetCacheConfig(4), "no such preference");
	EXPECT_OK(cuCtxGetCacheConfig(&config));
	EXPECT_EQ(CU_FUNC_CACHE_PREFER_L1, config);
	EXPECT_REASON(cuCtxGetCacheConfig(NULL), "NULL output");

	EXPECT_OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
	EXPECT_REASON(cuCtxSetSharedMemConfig(3), "no such size of banks");
	EXPECT_OK(cuCtxGetSharedMemConfig(&banks));
	EXPECT_EQ(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, banks);
	EXPECT_REASON(cuCtxGetSharedMemConfig(NULL), "NULL output");

	EXPECT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	EXPECT_EQ(0, least);
	EXPECT_EQ(-5, greatest);
	EXPECT_OK(cuCtxGetStreamPriorityRange(NULL, NULL));
}

TEST_F(peer, context_flags_and_id)
{
	unsigned long long first = 0, second = 0;
	CUcontext context, other;
	unsigned int flags = 77;

	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetFlags(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuCtxGetId(NULL, &first));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuCtxCreate(&other, NULL, 0, 0));
	EXPECT_OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
	EXPECT_OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(CU_CTX_SCHED_SPIN, flags);
	EXPECT_REASON(cuCtxSetFlags(CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD), "several scheduling");
	EXPECT_REASON(cuCtxSetFlags(0x100), "unknown flags");
	EXPECT_OK(cuCtxGetId(context, &first));
	EXPECT_OK(cuCtxGetId(NULL, &second));
	EXPECT_NE(first, second);
	EXPECT_REASON(cuCtxGetId(context, NULL), "NULL output");
	ASSERT_OK(cuCtxDestroy(other));
	EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuCtxGetId(other, &first));
}

TEST_HARNESS_MAIN
