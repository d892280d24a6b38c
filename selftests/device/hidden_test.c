// SPDX-License-Identifier: MIT
/*
 * Devices that CUDA_VISIBLE_DEVICES hides: no call takes a number for one, and none tells one.
 */
#include <stdlib.h>
#include "memcast_test.h"
#include "peers.h"

#define DEVICES		4	/* of the machine, at least */
#define INVISIBLE	5	/* CU_MEM_LOCATION_TYPE_INVISIBLE of CUDA 13.2 */

FIXTURE(hidden) { char unused; };
FIXTURE_SETUP(hidden)
{
	setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
}
NOTHING_LEFT(hidden)

static CUdevice asked;
static CUdeviceptr mapping;
static CUmemGenericAllocationHandle a_team, a_memory;
static CUmemoryPool a_pool;

static CUmemLocation asked_location(void)
{
	return (CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, asked };
}

#define ASK(name, expression) static CUresult name(void) { return (expression); }

static CUmemAccessDesc asked_access(void)
{
	return (CUmemAccessDesc) { asked_location(), CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
}

static CUresult create(void)
{
	CUmemAllocationProp prop = memory_on(asked);
	CUmemGenericAllocationHandle handle;

	return cuMemCreate(&handle, CHUNK, &prop, 0);
}

static CUresult pool_create(void)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = asked_location() };
	CUmemoryPool pool;

	return cuMemPoolCreate(&pool, &props);
}

static CUresult two_accesses(void)
{
	CUmemAccessDesc both[2] = { asked_access(), asked_access() };

	both[0].location.id = 1;
	return cuMemSetAccess(mapping, CHUNK, both, 2);
}

static CUresult graph_alloc(CUdevice where, CUdevice access)
{
	CUmemAccessDesc desc = { { CU_MEM_LOCATION_TYPE_DEVICE, access },
				 CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUDA_MEM_ALLOC_NODE_PARAMS params = {
		.poolProps = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			       .location = { CU_MEM_LOCATION_TYPE_DEVICE, where } },
		.accessDescs = &desc, .accessDescCount = 1, .bytesize = 64,
	};
	CUgraphNode node;
	CUgraph graph;
	CUresult result = cuGraphCreate(&graph, 0);

	if (result == CUDA_SUCCESS)
		result = cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params);
	cuGraphDestroy(graph);
	return result;
}

static CUresult managed(CUmem_advise advice)
{
	CUdeviceptr at;
	CUresult result = cuMemAllocManaged(&at, CHUNK, CU_MEM_ATTACH_GLOBAL);

	if (result != CUDA_SUCCESS)
		return result;
	result = advice ? cuMemAdvise(at, CHUNK, advice, asked_location()) :
			  cuMemPrefetchAsync(at, CHUNK, asked_location(), 0, NULL);
	cuMemFree(at);
	return result;
}

static int number;
static unsigned int flags;
static cuuint64_t large;
static unsigned long long access_of;
static size_t total;
static char words[64];
static CUuuid identity;
static CUdevice found;
static CUcontext made;
static CUmemoryPool got;

ASK(get, cuDeviceGet(&found, asked))
ASK(attribute, cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, asked))
ASK(device_name, cuDeviceGetName(words, sizeof(words), asked))
ASK(uuid, cuDeviceGetUuid(&identity, asked))
ASK(total_mem, cuDeviceTotalMem(&total, asked))
ASK(bus_id, cuDeviceGetPCIBusId(words, sizeof(words), asked))
ASK(peer_from, cuDeviceCanAccessPeer(&number, asked, 0))
ASK(peer_to, cuDeviceCanAccessPeer(&number, 0, asked))
ASK(p2p_from, cuDeviceGetP2PAttribute(&number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, asked, 0))
ASK(p2p_to, cuDeviceGetP2PAttribute(&number, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, asked))
ASK(affinity, cuDeviceGetExecAffinitySupport(&number, CU_EXEC_AFFINITY_TYPE_SM_COUNT, asked))
ASK(default_pool, cuDeviceGetDefaultMemPool(&got, asked))
ASK(current_pool, cuDeviceGetMemPool(&got, asked))
ASK(set_pool, cuDeviceSetMemPool(asked, a_pool))
ASK(retain, cuDevicePrimaryCtxRetain(&made, asked))
ASK(release, cuDevicePrimaryCtxRelease(asked))
ASK(reset, cuDevicePrimaryCtxReset(asked))
ASK(set_flags, cuDevicePrimaryCtxSetFlags(asked, 0))
ASK(state, cuDevicePrimaryCtxGetState(asked, &flags, &number))
ASK(context, cuCtxCreate(&made, NULL, 0, asked))
ASK(graph_usage, cuDeviceGetGraphMemAttribute(asked, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &large))
ASK(graph_reset, cuDeviceSetGraphMemAttribute(asked, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &large))
ASK(graph_trim, cuDeviceGraphMemTrim(asked))
ASK(alloc_node, graph_alloc(asked, 0))
ASK(alloc_node_access, graph_alloc(0, asked))
ASK(set_access, cuMemSetAccess(mapping, CHUNK, (CUmemAccessDesc[]) { asked_access() }, 1))
ASK(get_access, cuMemGetAccess(&access_of, (CUmemLocation[]) { asked_location() }, mapping))
ASK(pool_access, cuMemPoolSetAccess(a_pool, (CUmemAccessDesc[]) { asked_access() }, 1))
ASK(pool_get_access, cuMemPoolGetAccess((CUmemAccess_flags *)&flags, a_pool,
					(CUmemLocation[]) { asked_location() }))
ASK(join_team, cuMulticastAddDevice(a_team, asked))
ASK(unbind, cuMulticastUnbind(a_team, asked, 0, CHUNK))
ASK(bind_memory, cuMulticastBindMem_v2(a_team, asked, 0, a_memory, 0, CHUNK, 0))
ASK(bind_address, cuMulticastBindAddr_v2(a_team, asked, 0, mapping, CHUNK, 0))
ASK(prefetch, managed(0))
ASK(advise, managed(CU_MEM_ADVISE_SET_PREFERRED_LOCATION))
ASK(advise_access, managed(CU_MEM_ADVISE_SET_ACCESSED_BY))

#define ROW(name) { #name, name }
static const struct {
	const char *name;
	CUresult (*ask)(void);
} questions[] = {
	ROW(get), ROW(attribute), ROW(device_name), ROW(uuid), ROW(total_mem), ROW(bus_id),
	ROW(peer_from), ROW(peer_to), ROW(p2p_from), ROW(p2p_to), ROW(affinity),
	ROW(default_pool), ROW(current_pool), ROW(set_pool), ROW(retain), ROW(release),
	ROW(reset), ROW(set_flags), ROW(state), ROW(context), ROW(graph_usage), ROW(graph_reset),
	ROW(graph_trim), ROW(alloc_node), ROW(alloc_node_access), ROW(set_access),
	ROW(get_access), ROW(pool_access), ROW(pool_get_access), ROW(join_team), ROW(unbind),
	ROW(bind_memory), ROW(bind_address), ROW(prefetch), ROW(advise), ROW(advise_access),
	ROW(create), ROW(pool_create), ROW(two_accesses),
};

/* Each call answers the number of an invisible device as one that no device has. */
TEST_F(hidden, hidden_numbers_are_no_devices)
{
	int count;

	cuda_start(0);
	a_memory = new_memory(0, CHUNK);
	mapping = ADDRESS(mapped(a_memory, CHUNK, 0));
	a_team = new_team(2, CHUNK);
	ASSERT_OK(cuDeviceGetDefaultMemPool(&a_pool, 0));
	ASSERT_OK(cuDeviceGetCount(&count));
	ASSERT_EQ(2, count);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		CUresult none;

		asked = 1000;
		none = questions[i].ask();
		EXPECT_NE(CUDA_SUCCESS, none)
			TH_LOG("%s", questions[i].name);
		for (asked = 2; asked < DEVICES; asked++) {
			EXPECT_EQ(none, questions[i].ask())
				TH_LOG("%s of device %d", questions[i].name, asked);
		}
	}
}

/* Memory of a device that the process does not see, which another process has shared */
TEST_F(hidden, memory_of_hidden_devices)
{
	CUmemGenericAllocationHandle handle;
	CUmemAllocationProp prop;
	unsigned long long access;
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 2 },
	};
	CUmemoryPool pool;
	volatile uint32_t *at;
	unsigned int type;
	long what;
	int link, fd, device = 77;

	if (!peer_fork(&link)) {
		unsetenv("CUDA_VISIBLE_DEVICES");
		cuda_start(2);
		fd = exported(new_memory(2, CHUNK));
		ASSERT_EQ(0, peer_send(link, 0, fd));
		ASSERT_OK(cuMemPoolCreate(&pool, &props));
		ASSERT_OK(cuMemPoolExportToShareableHandle(&fd, pool, SHAREABLE, 0));
		ASSERT_EQ(0, peer_send(link, 0, fd));
		peer_receive(link, &what, NULL);
		_exit(0);
	}
	cuda_start(0);
	ASSERT_EQ(0, peer_receive(link, &what, &fd));
	handle = imported(fd);
	ASSERT_OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle));
	EXPECT_EQ(INVISIBLE, (int)prop.location.type);
	EXPECT_EQ(CU_DEVICE_INVALID, prop.location.id);
	at = mapped(handle, CHUNK, 0);
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDRESS(at)));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ADDRESS(at)));
	EXPECT_EQ(CU_DEVICE_INVALID, device);
	/* it can be used, and exported further */
	EXPECT_OK(cuMemsetD32(ADDRESS(at), 7, 1));
	EXPECT_EQ(7, *at);
	EXPECT_OK(cuMemGetAccess(&access, &(CUmemLocation) { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
				 ADDRESS(at)));
	EXPECT_EQ(READWRITE, access);
	EXPECT_OK(cuMemGetHandleForAddressRange(&fd, ADDRESS(at), CHUNK,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	/* a pool of it is no device's here */
	ASSERT_EQ(0, peer_receive(link, &what, &fd));
	ASSERT_OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(long)fd, SHAREABLE, 0));
	EXPECT_NE(CUDA_SUCCESS, cuDeviceSetMemPool(0, pool));
	EXPECT_NE(CUDA_SUCCESS, cuDeviceSetMemPool(2, pool));
	ASSERT_EQ(0, peer_send(link, 0, -1));
	peer_close(link);
}

TEST_HARNESS_MAIN
