// SPDX-License-Identifier: MIT
/* Fabric handles of memory, and teams of all hosts' devices, shared from host to host. */
#include <memcast/multimem.h>
#include "rack_hosts.h"

static CUmemLocation location_of(CUmemGenericAllocationHandle handle)
{
	CUmemAllocationProp prop = {};

	cuMemGetAllocationPropertiesFromHandle(&prop, handle);
	return prop.location;
}

static int ordinal_of(volatile void *at)
{
	int ordinal = 99;

	cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, ADDRESS(at));
	return ordinal;
}

/* A process of host 0 that shares a memory, and reports a word of the memory at each request. */
static void owner(struct __test_metadata *_metadata, int link, CUmemGenericAllocationHandle handle)
{
	volatile uint32_t *words = mapped(handle, CHUNK, 0);
	CUmemFabricHandle shareable = fabric_handle(handle);

	words[0] = 4711;
	SEND_VALUE(link, shareable);
	while (!receive_number(link))
		send_number(link, words[1]);
	_exit(_metadata->exit_code);
}

TEST_F(hosts, memory_of_another)
{
	CUmemGenericAllocationHandle handle, team;
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = CHUNK, .handleTypes = FABRIC,
	};
	volatile uint32_t *words;
	uint32_t word = 0;
	int link, fd = -1, type = 0;

	if (!host_fork(0, &link))
		owner(_metadata, link, new_shared(1, FABRIC | SHAREABLE));
	go_to(1);
	cuda_start(0);
	handle = take_object(link);
	EXPECT_EQ(INVISIBLE, (int)location_of(handle).type);
	EXPECT_EQ(CU_DEVICE_INVALID, location_of(handle).id);
	/* a device of this host can get access; the owner's devices have no numbers here */
	words = mapped(handle, CHUNK, 1);
	EXPECT_NE(CUDA_SUCCESS, allow(ADDRESS(words), CHUNK, self->each, READWRITE));
	EXPECT_EQ(CU_DEVICE_INVALID, ordinal_of(words));
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ADDRESS(words)));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_EQ(4711, words[0]);
	ASSERT_OK(allow(ADDRESS(words), CHUNK, 0, READWRITE));
	ASSERT_OK(cuMemsetD32(ADDRESS(words + 1), 42, 1));
	send_number(link, 0);
	EXPECT_EQ(42, receive_number(link));
	ASSERT_OK(cuMemcpyDtoH(&word, ADDRESS(words), sizeof(word)));
	EXPECT_EQ(4711, word);

	/* only processes of the host that created the memory can export and bind it */
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0),
		      "memory that was imported is exported by its creator alone");
	EXPECT_REASON(cuMemGetHandleForAddressRange(&fd, ADDRESS(words), CHUNK,
						    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
		      "no device's memory is mapped there");
	EXPECT_EQ(-1, fd);
	ASSERT_OK(cuMulticastCreate(&team, &prop));
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMulticastAddDevice(team, 1));
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE,
			 cuMulticastBindMem(team, 0, handle, 0, CHUNK, 0),
			 "the memory is on device # of host #");
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE,
			 cuMulticastBindMem_v2(team, 1, 0, handle, 0, CHUNK, 0),
			 "the memory is on device # of host #, not on device #");
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE,
			 cuMulticastBindAddr(team, 0, ADDRESS(words), CHUNK, 0),
			 "the memory is on device # of host #");
	send_number(link, 1);
}

/* Another host's NUMA memory has no location here, although both hosts share the node. */
TEST_F(hosts, node_memory_of_another)
{
	CUmemAllocationProp on_node = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = FABRIC,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 },
	};
	CUmemGenericAllocationHandle handle;
	volatile uint32_t *words;
	int link;

	if (!host_fork(0, &link)) {
		ASSERT_OK(cuMemCreate(&handle, CHUNK, &on_node, 0));
		EXPECT_EQ(CU_MEM_LOCATION_TYPE_HOST_NUMA, (int)location_of(handle).type);
		owner(_metadata, link, handle);
	}
	go_to(1);
	cuda_start(0);
	handle = take_object(link);
	EXPECT_EQ(INVISIBLE, (int)location_of(handle).type);
	EXPECT_EQ(CU_DEVICE_INVALID, location_of(handle).id);
	words = mapped(handle, CHUNK, 0);
	EXPECT_EQ(4711, words[0]);
	send_number(link, 1);
}

/* A team is for at most a host's devices, or with fabric handles for all of the machine's. */
TEST_F(hosts, size_of_teams)
{
	CUmulticastObjectProp prop = { .size = CHUNK };
	CUmemGenericAllocationHandle team;
	size_t bytes;

	go_to(0);
	cuda_start(0);
	prop.numDevices = self->each;
	EXPECT_OK(cuMulticastCreate(&team, &prop));
	prop.numDevices = self->each + 1;
	EXPECT_REASON(cuMulticastCreate(&team, &prop), "a team is for # to # devices, not #");
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM),
		      "a team is for # to # devices, not #");
	prop.handleTypes = SHAREABLE;
	EXPECT_REASON(cuMulticastCreate(&team, &prop), "a team is for # to # devices, not #");
	prop.handleTypes = FABRIC;
	EXPECT_OK(cuMulticastCreate(&team, &prop));
	EXPECT_OK(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
	prop.numDevices = self->machine;
	EXPECT_OK(cuMulticastCreate(&team, &prop));
	prop.numDevices = self->machine + 1;
	EXPECT_REASON(cuMulticastCreate(&team, &prop), "a team is for # to # devices, not #");
	EXPECT_REASON(cuMulticastGetGranularity(&bytes, &prop, CU_MULTICAST_GRANULARITY_MINIMUM),
		      "a team is for # to # devices, not #");
}

/* ---- a team of all devices of all hosts, with a process for each device ---- */

struct rank {
	unsigned int host;
	int device;			/* the host's number of the device */
	unsigned int number, ranks;
	CUmemGenericAllocationHandle team;
	volatile uint32_t *own;		/* the memory that the rank has bound */
	volatile uint32_t *window;
};

/* No rank goes on before all ranks are here: rank 0 collects the messages and answers them. */
static void barrier(struct __test_metadata *_metadata, const struct rank *rank, const int *links)
{
	unsigned int i;

	if (rank->number) {
		handshake(links[0]);
		return;
	}
	for (i = 1; i < rank->ranks; i++)
		receive_number(links[i]);
	for (i = 1; i < rank->ranks; i++)
		send_number(links[i], 0);
}

/* The team's members have the machine's numbers as seen from here, and other hosts' are marked. */
static void check_members(struct __test_metadata *_metadata, const struct rank *rank, int each)
{
	struct memcast_team_member member[MEMCAST_MAX_DEVICES] = {};
	struct memcast_team_members all = {
		.team = rank->team, .count = rank->ranks, .members = (uintptr_t)member,
	};
	bool seen[MEMCAST_MAX_DEVICES] = {};
	unsigned int i;

	ASSERT_EQ(0, RAW(raw_library_fd(), TEAM_MEMBERS, all));
	ASSERT_EQ(rank->ranks, all.count);
	for (i = 0; i < all.count; i++) {
		ASSERT_GT(rank->ranks, member[i].device);
		EXPECT_FALSE(seen[member[i].device]);
		seen[member[i].device] = true;
		EXPECT_EQ((int)member[i].device >= each,
			  !!(member[i].flags & MEMCAST_MEMBER_ELSEWHERE));
	}
}

static void join(struct __test_metadata *_metadata, struct rank *rank)
{
	CUmemGenericAllocationHandle memory = new_shared(rank->device, FABRIC);

	ASSERT_OK(cuMulticastAddDevice(rank->team, rank->device));
	/* the call waits until the devices of all hosts have joined */
	ASSERT_OK(cuMulticastBindMem(rank->team, 0, memory, 0, CHUNK, 0));
	rank->own = mapped(memory, CHUNK, rank->device);
	rank->window = mapped(rank->team, CHUNK, rank->device);
}

/* Each rank writes to all replicas, and checks its own replica. */
static void exchange(struct __test_metadata *_metadata, struct rank *rank, const int *links)
{
	struct memcast_view view;
	unsigned int i;

	ASSERT_OK(memcastViewCreate(&view, rank->team, 0, CHUNK));
	ASSERT_EQ(rank->ranks, view.replicas);
	barrier(_metadata, rank, links);
	/* a fill, a store of the CPU and operations of multimem, each at addresses of its own */
	ASSERT_OK(cuMemsetD32(ADDRESS(&rank->window[rank->number]), 100 + rank->number, 1));
	rank->window[1000 + rank->number] = 200 + rank->number;
	multimem_st_u32(&view, (2000 + rank->number) * 4, 300 + rank->number);
	multimem_red_add_u32(&view, 3000 * 4, 1 + rank->number);
	barrier(_metadata, rank, links);
	for (i = 0; i < rank->ranks; i++) {
		EXPECT_EQ(100 + i, rank->own[i]);
		EXPECT_EQ(200 + i, rank->own[1000 + i]);
		EXPECT_EQ(300 + i, rank->own[2000 + i]);
	}
	EXPECT_EQ(rank->ranks * (rank->ranks + 1) / 2, rank->own[3000]);
	barrier(_metadata, rank, links);
	rank->own[4000] = 1 + rank->number;
	barrier(_metadata, rank, links);
	EXPECT_EQ(rank->ranks * (rank->ranks + 1) / 2,
		  multimem_ld_reduce_add_u32(&view, 4000 * 4));
	barrier(_metadata, rank, links);
	EXPECT_OK(memcastViewDestroy(&view));
}

TEST_F(hosts, team_of_all)
{
	CUmulticastObjectProp prop = {
		.numDevices = self->machine, .size = CHUNK, .handleTypes = FABRIC,
	};
	struct rank rank = { .ranks = self->machine };
	int links[64], parent;
	CUmemFabricHandle shareable;
	unsigned int i;

	ASSERT_GT(ARRAY_SIZE(links), rank.ranks);
	for (i = 1; i < rank.ranks; i++) {
		if (peer_fork(&links[i]))
			continue;
		parent = links[i];
		rank.number = i;
		rank.host = i / self->each;
		rank.device = i % self->each;
		go_to(rank.host);
		cuda_start(rank.device);
		rank.team = take_object(parent);
		join(_metadata, &rank);
		check_members(_metadata, &rank, self->each);
		exchange(_metadata, &rank, &parent);
		_exit(_metadata->exit_code);
	}
	go_to(0);
	cuda_start(0);
	ASSERT_OK(cuMulticastCreate(&rank.team, &prop));
	shareable = fabric_handle(rank.team);
	for (i = 1; i < rank.ranks; i++)
		SEND_VALUE(links[i], shareable);
	join(_metadata, &rank);
	check_members(_metadata, &rank, self->each);
	exchange(_metadata, &rank, links);
}

/* A team's fd is good on its exporter's host only; other hosts need a fabric handle. */
TEST_F(hosts, team_fds)
{
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = CHUNK, .handleTypes = FABRIC | SHAREABLE,
	};
	CUmemGenericAllocationHandle team, again;
	CUmemFabricHandle shareable;
	int link, fd;

	if (!host_fork(0, &link)) {
		ASSERT_OK(cuMulticastCreate(&team, &prop));
		shareable = fabric_handle(team);
		SEND_VALUE(link, shareable);
		send_fd(link, exported(team));
		/* the other host's fd is refused here, although the team was created here */
		fd = receive_fd(link);
		EXPECT_CU(CUDA_ERROR_UNKNOWN,
			  cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, SHAREABLE));
		send_number(link, 0);
		_exit(_metadata->exit_code);
	}
	go_to(1);
	cuda_start(0);
	team = take_object(link);
	fd = receive_fd(link);
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, SHAREABLE));
	fd = exported(team);
	imported(fd);
	send_fd(link, fd);
	receive_number(link);
}

/* A process with /dev/memcast sees all hosts' devices, and is on no host. */
TEST_F(hosts, whole_machine)
{
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	int link, count = 0, fd;

	if (!host_fork(1, &link)) {
		handle = new_shared(1, FABRIC | SHAREABLE);
		*mapped(handle, CHUNK, 1) = 4711;
		shareable = fabric_handle(handle);
		SEND_VALUE(link, shareable);
		send_fd(link, exported(handle));
		/* memory that the process on no host created on this host's device 1 */
		handle = take_object(link);
		EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE, (int)location_of(handle).type);
		EXPECT_EQ(1, location_of(handle).id);
		fd = receive_fd(link);
		EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
				 cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
								SHAREABLE),
				 "fd # was exported on the machine (/dev/memcast)");
		send_number(link, 0);
		_exit(_metadata->exit_code);
	}
	cuda_start(0);
	EXPECT_OK(cuDeviceGetCount(&count));
	EXPECT_EQ(self->machine, count);
	handle = take_object(link);
	EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE, (int)location_of(handle).type);
	EXPECT_EQ(self->each + 1, location_of(handle).id);
	EXPECT_EQ(4711, *mapped(handle, CHUNK, 0));
	fd = receive_fd(link);
	EXPECT_CU(CUDA_ERROR_UNKNOWN,
		  cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, SHAREABLE));
	handle = new_shared(self->each + 1, FABRIC | SHAREABLE);
	shareable = fabric_handle(handle);
	SEND_VALUE(link, shareable);
	send_fd(link, exported(handle));
	receive_number(link);
}

TEST_HARNESS_MAIN
