// SPDX-License-Identifier: MIT
/*
 * A lost host's memory, fabric handles and teams, seen by the other hosts of a machine
 * (host-lost.sh): teams with its devices, and teams that its processes created.
 */
#include <memcast/view.h>
#include "fabric_peers.h"
#include "foreign.h"
#include "memcast_test.h"
#include "lost_host.h"
#include "peers.h"
#include "raw.h"
#include "reason.h"

FIXTURE(lost)
{
	struct lost_host host;
};

FIXTURE_SETUP(lost)
{
	if (!lost_host_find(&self->host) || self->host.hosts < 2 ||
	    access("/dev/memcast-imex/channel0", F_OK))
		SKIP(return, "needs root, hosts=2, devices=4 and imex_channels=1");
}

FIXTURE_TEARDOWN_PARENT(lost)
{
	host_return(&self->host);
	write_in(PARAMETERS, "team_slots", "1024");
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

/* Forks a process of a host, with device 0 current. */
#define process_of(number, link)	process_of_(_metadata, self, number, link)
static pid_t process_of_(struct __test_metadata *_metadata, FIXTURE_DATA(lost) *self,
			 unsigned int number, int *link)
{
	pid_t pid = peer_fork(link);

	if (!pid) {
		ASSERT_EQ(0, host_enter(&self->host, number));
		cuda_start(0);
	}
	return pid;
}

#define fork_victim(link)	process_of(self->host.number, link)

#define fabric_memory(device)	fabric_memory_(_metadata, device)
static CUmemGenericAllocationHandle fabric_memory_(struct __test_metadata *_metadata,
						   CUdevice device)
{
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle handle = 0;

	prop.requestedHandleTypes = FABRIC;
	ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
	return handle;
}

#define fabric_team(devices)	fabric_team_(_metadata, devices)
static CUmemGenericAllocationHandle fabric_team_(struct __test_metadata *_metadata,
						 unsigned int devices)
{
	CUmulticastObjectProp prop = {
		.numDevices = devices, .size = CHUNK, .handleTypes = FABRIC,
	};
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(cuMulticastCreate(&handle, &prop));
	return handle;
}

static CUresult import(CUmemGenericAllocationHandle *handle, CUmemFabricHandle *shareable)
{
	return cuMemImportFromShareableHandle(handle, shareable, FABRIC);
}

/* Imports the object whose fabric handle comes through a link. */
#define import_received(link)	import_received_(_metadata, link)
static CUmemGenericAllocationHandle import_received_(struct __test_metadata *_metadata, int link)
{
	CUmemFabricHandle shareable = receive_fabric(link);
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(import(&handle, &shareable));
	return handle;
}

static bool pool_is_full(unsigned int device)
{
	return device_bytes(device, "pool_bytes") == device_bytes(device, "free_bytes");
}

/* ---- memory ---- */

/* Calls by which a process's device accesses another host's memory that is lost */
enum meeting { COPY_TO, COPY_FROM, FILL, ASYNC_COPY, ASYNC_FILL, WORD, MEETINGS };

static CUresult meet(enum meeting how, CUdeviceptr at, CUdeviceptr own, CUstream stream)
{
	uint32_t word = 1;

	switch (how) {
	case COPY_TO:
		return cuMemcpyDtoD(at, own, 64);
	case COPY_FROM:
		return cuMemcpyDtoH(&word, at, sizeof(word));
	case FILL:
		return cuMemsetD32(at, 1, 16);
	case ASYNC_COPY:
		return cuMemcpyDtoDAsync(own, at, 64, stream) ?: cuStreamSynchronize(stream);
	case ASYNC_FILL:
		return cuMemsetD32Async(at, 1, 16, stream) ?: cuStreamSynchronize(stream);
	default:
		return cuStreamWaitValue32(stream, at, 1, CU_STREAM_WAIT_VALUE_EQ) ?:
		       cuStreamSynchronize(stream);
	}
}

static void look_on(struct __test_metadata *_metadata, int link, enum meeting how)
{
	CUmemGenericAllocationHandle theirs, again;
	CUmemFabricHandle shareable;
	CUdeviceptr at, own, free;
	CUstream stream;
	uint32_t word;

	ASSERT_OK(cuStreamCreate(&stream, 0));
	ASSERT_OK(cuMemAlloc(&own, 64));
	free = reserve(CHUNK);
	shareable = receive_fabric(link);
	ASSERT_OK(import(&theirs, &shareable));
	at = ADDRESS(mapped(theirs, CHUNK, 0));
	ASSERT_OK(cuMemsetD32(at, 5, 16));
	EXPECT_EQ(5, *(volatile uint32_t *)at);
	handshake(link);

	EXPECT_EQ(SIGBUS, try_load((void *)at, &word));
	EXPECT_EQ(SIGBUS, try_store((void *)at, 1));
	EXPECT_REASON(import(&again, &shareable), "memory # was of host #, which was lost");
	EXPECT_REASON(cuMemMap(free, CHUNK, 0, theirs, 0),
		      "memory # was of host #, which was lost");
	/* the process's own memory is unchanged */
	EXPECT_OK(cuMemsetD32(own, 6, 16));
	EXPECT_OK(cuMemcpyDtoH(&word, own, sizeof(word)));
	EXPECT_EQ(6, word);
	/* the first access to lost memory ends the device for the process */
	EXPECT_CU(CUDA_ERROR_NVLINK_UNCORRECTABLE, meet(how, at, own, stream));
	EXPECT_CU(CUDA_ERROR_NVLINK_UNCORRECTABLE, cuMemsetD32(own, 6, 16));
	EXPECT_CU(CUDA_ERROR_NVLINK_UNCORRECTABLE, cuStreamSynchronize(stream));
	/* calls without a context still succeed, so the process can free the lost memory */
	EXPECT_OK(cuMemUnmap(at, CHUNK));
	EXPECT_OK(cuMemRelease(theirs));
	handshake(link);
	_exit(_metadata->exit_code);
}

TEST_F(lost, memory)
{
	CUmemFabricHandle shareable;
	unsigned int how;
	int link, other;
	pid_t pid, lost;

	for (how = 0; how < MEETINGS; how++) {
		lost = fork_victim(&link);
		if (!lost) {
			send_fabric(link, fabric_memory(1));
			receive_number(link);
			_exit(_metadata->exit_code);
		}
		shareable = receive_fabric(link);
		pid = process_of(0, &other);
		if (!pid)
			look_on(_metadata, other, how);
		ASSERT_EQ(sizeof(shareable), send(other, &shareable, sizeof(shareable), 0));
		receive_number(other);
		ASSERT_EQ(0, host_lose(&self->host));
		/* the importer still holds the memory */
		EXPECT_FALSE(pool_is_full(self->host.first + 1));
		handshake(other);
		EXPECT_TRUE(pool_is_full(self->host.first + 1));
		send_number(other, 0);
		EXPECT_EQ(0, reap_child(pid)) TH_LOG("meeting %u", how);
		end_peer(link, lost);
		ASSERT_EQ(0, host_return(&self->host));
	}
}

/* ---- teams ---- */

/* A host's part of a team: its two devices join; bind_two() binds a chunk of each. */
#define join_two(team)	join_two_(_metadata, team)
static void join_two_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle team)
{
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMulticastAddDevice(team, 1));
}

#define bind_two(team)	bind_two_(_metadata, team)
static void bind_two_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle team)
{
	int i;

	for (i = 0; i < 2; i++)
		ASSERT_OK(cuMulticastBindMem(team, 0, fabric_memory(i), 0, CHUNK, 0));
}

/* Return: a bit for each replica that can be read and has this value, in order of joining */
static unsigned int replicas_with(struct memcast_view *view, uint32_t value)
{
	unsigned int i, found = 0;
	uint32_t word;

	for (i = 0; i < view->replicas; i++)
		if (!try_load(view->replica[i], &word) && word == value)
			found |= 1 << i;
	return found;
}

TEST_F(lost, members)
{
	CUmemGenericAllocationHandle team;
	struct memcast_view view;
	CUdeviceptr window;
	uint32_t word;
	int link, later;
	pid_t pid, next;

	/* forked before this process calls cuInit(): its children could not call it later */
	next = peer_fork(&later);
	if (!next) {
		receive_number(later);
		ASSERT_EQ(0, host_enter(&self->host, self->host.number));
		cuda_start(0);
		bind_two(import_received(later));
		handshake(later);
		_exit(_metadata->exit_code);
	}
	pid = fork_victim(&link);
	if (!pid) {
		team = import_received(link);
		join_two(team);
		send_number(link, 0);
		bind_two(team);
		handshake(link);
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(0, host_enter(&self->host, 0));
	cuda_start(0);
	team = fabric_team(4);
	send_fabric(link, team);
	/* the devices that will be lost join first, so that loads read from their replicas */
	receive_number(link);
	join_two(team);
	bind_two(team);
	receive_number(link);
	window = ADDRESS(mapped(team, CHUNK, 0));
	ASSERT_OK(memcastViewCreate(&view, team, 0, CHUNK));
	ASSERT_OK(cuMemsetD32(window, 3, 1));
	EXPECT_EQ(15, replicas_with(&view, 3));
	EXPECT_EQ(3, *(volatile uint32_t *)window);

	ASSERT_EQ(0, host_lose(&self->host));
	/* copies, fills and loads of the window go on, without an error, on the other replicas */
	EXPECT_OK(cuMemsetD32(window, 4, 1));
	EXPECT_EQ(4, *(volatile uint32_t *)window);
	EXPECT_EQ(2, __builtin_popcount(replicas_with(&view, 4)));
	EXPECT_EQ(0, replicas_with(&view, 3));
	EXPECT_OK(cuMemcpyDtoH(&word, window, sizeof(word)));
	EXPECT_EQ(4, word);
	end_peer(link, pid);

	/* the lost devices are still members: after the return, a new process there binds again */
	ASSERT_EQ(0, host_return(&self->host));
	send_number(later, 0);
	send_fabric(later, team);
	receive_number(later);
	EXPECT_EQ(2, __builtin_popcount(replicas_with(&view, 0)));
	EXPECT_OK(cuMemsetD32(window, 5, 1));
	EXPECT_EQ(15, replicas_with(&view, 5));
	end_peer(later, next);
}

/*
 * Teams that a lost host's process created go on until their last user ends: one that was mapped
 * before the loss, and one that is completed after it.
 */
TEST_F(lost, teams_of_its_making)
{
	CUmemGenericAllocationHandle team[2], again;
	CUmemFabricHandle shareable;
	CUdeviceptr window[2];
	int link, i;
	pid_t pid;

	pid = fork_victim(&link);
	if (!pid) {
		for (i = 0; i < 2; i++) {
			team[i] = fabric_team(4);
			join_two(team[i]);
			send_fabric(link, team[i]);
		}
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(0, host_enter(&self->host, 0));
	cuda_start(0);
	for (i = 0; i < 2; i++) {
		shareable = receive_fabric(link);
		ASSERT_OK(import(&team[i], &shareable));
	}
	for (i = 0; i < 2; i++) {
		if (i)
			ASSERT_EQ(0, host_lose(&self->host));
		join_two(team[i]);
		bind_two(team[i]);
		window[i] = ADDRESS(mapped(team[i], CHUNK, 0));
	}
	EXPECT_REASON(import(&again, &shareable), "team # was of host #, which was lost");
	for (i = 0; i < 2; i++) {
		EXPECT_OK(cuMemsetD32(window[i], 4, 1));
		EXPECT_EQ(4, *(volatile uint32_t *)window[i]);
	}
	end_peer(link, pid);
}

/* A process with /dev/memcast is on no host, but loses its memory on a lost host's devices. */
TEST_F(lost, process_of_no_host)
{
	CUdevice lost = self->host.first;
	CUmemAllocationProp prop = memory_on(lost);
	CUmemGenericAllocationHandle handle, team, other;
	volatile uint32_t *at, *window;
	uint32_t word;

	cuda_start(0);
	handle = new_memory(lost, CHUNK);
	at = mapped(handle, CHUNK, 0);
	team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, lost));
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMulticastBindMem(team, 0, handle, 0, CHUNK, 0));
	window = mapped(team, CHUNK, 0);
	*at = 1;
	EXPECT_EQ(1, *window);
	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(SIGBUS, try_load(at, &word));
	EXPECT_EQ(SIGBUS, try_load(window, &word));
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&other, CHUNK, &prop, 0),
			 "host # was lost");
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE,
			 cuMulticastBindMem(team, 0, handle, 0, CHUNK, 0),
			 "host # was lost, and its devices with it");
	other = new_memory(0, CHUNK);
	EXPECT_OK(cuMulticastBindMem(team, 0, other, 0, CHUNK, 0));
	EXPECT_OK(cuMemsetD32(ADDRESS(window), 4, 1));
	EXPECT_EQ(4, *window);

	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_EQ(SIGBUS, try_load(at, &word));
	EXPECT_OK(cuMulticastBindMem(team, 0, new_memory(lost, CHUNK), 0, CHUNK, 0));
	/* loads read from the first member's replica again */
	EXPECT_EQ(0, *window);
}

/*
 * A range of a lost host's memory, exported and imported again, is lost with the host: the import
 * shows no page of it, in a mapping or in a team, and gives none away.
 */
TEST_F(lost, range_that_was_imported)
{
	CUdevice lost = self->host.first;
	CUexternalMemory external, again;
	volatile uint32_t *at, *window;
	CUdeviceptr imported;
	CUmemGenericAllocationHandle team;
	uint32_t word;
	int fd;

	cuda_start(0);
	at = mapped(new_memory(lost, CHUNK), CHUNK, 0);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd, ADDRESS(at), CHUNK,
						CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	external = import_buffer(fd, CHUNK);
	imported = map_buffer(external, 0, CHUNK);
	team = new_team(2, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, lost));
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMulticastBindAddr_v2(team, lost, 0, imported, CHUNK, 0));
	window = mapped(team, CHUNK, 0);
	*at = 7;
	ASSERT_EQ(7, *(volatile uint32_t *)imported);
	ASSERT_EQ(7, *window);

	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(SIGBUS, try_load(at, &word));
	EXPECT_EQ(SIGBUS, try_load((void *)imported, &word));
	EXPECT_EQ(SIGBUS, try_store((void *)imported, 1));
	EXPECT_EQ(SIGBUS, try_load(window, &word));
	EXPECT_EQ(0, stat_of("bindings"));
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, import_as(&again, DMABUF, fd, CHUNK));
	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_EQ(SIGBUS, try_load((void *)imported, &word));
	EXPECT_CU_REASON(CUDA_ERROR_NOT_SUPPORTED, import_as(&again, DMABUF, fd, CHUNK),
			 "memory # was of host #, which was lost");
	EXPECT_CU(CUDA_ERROR_NVLINK_UNCORRECTABLE, cuMemcpyDtoH(&word, imported, sizeof(word)));
	ASSERT_EQ(0, close(fd));
}

/* A range of two hosts' memory would outlive one of them. */
TEST_F(lost, range_of_two_hosts)
{
	CUmemAllocationProp prop = memory_on(0);
	CUmemGenericAllocationHandle handle;
	CUmemFabricHandle shareable;
	struct memcast_export_range range = {};
	CUdeviceptr at;
	int link[2];
	pid_t pid[2];

	prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	prop.location.id = 0;
	prop.requestedHandleTypes = FABRIC;
	for (int i = 0; i < 2; i++) {
		pid[i] = process_of(i, &link[i]);
		if (pid[i])
			continue;
		ASSERT_OK(cuMemCreate(&handle, CHUNK, &prop, 0));
		send_fabric(link[i], handle);
		receive_number(link[i]);
		_exit(_metadata->exit_code);
	}
	cuda_start(0);
	ASSERT_OK(cuMemAddressReserve(&at, 2 * CHUNK, CHUNK, 0, 0));
	for (int i = 0; i < 2; i++) {
		shareable = receive_fabric(link[i]);
		ASSERT_OK(import(&handle, &shareable));
		ASSERT_OK(cuMemMap(at + i * CHUNK, CHUNK, 0, handle, 0));
		EXPECT_OK(cuMemRelease(handle));
	}
	/* libcuda.so.1 exports devices' memory only */
	range.address = at;
	range.bytes = CHUNK;
	EXPECT_EQ(0, RAW(raw_library_fd(), EXPORT_RANGE, range));
	EXPECT_EQ(0, close(range.out_fd));
	range.bytes = 2 * CHUNK;
	EXPECT_EQ(EINVAL, RAW(raw_library_fd(), EXPORT_RANGE, range));
	for (int i = 0; i < 2; i++) {
		EXPECT_OK(cuMemUnmap(at + i * CHUNK, CHUNK));
		send_number(link[i], 0);
		EXPECT_EQ(0, reap_child(pid[i]));
	}
	EXPECT_OK(cuMemAddressFree(at, 2 * CHUNK));
}

/*
 * Memory that is no lost host's, bound for a device of one, leaves the team with the host: the
 * node's memory, and another driver's.
 */
TEST_F(lost, memory_of_others)
{
	CUdevice lost = self->host.first;
	CUmemGenericAllocationHandle node, team;
	CUmemAllocationProp prop = memory_on(0);
	volatile uint32_t *at, *window;
	CUdeviceptr second;		/* another driver's, where the machine has one */
	int fd = udmabuf_buffer(CHUNK);

	if (fd < 0)
		fd = heap_buffer(CHUNK);
	cuda_start(0);
	prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
	ASSERT_OK(cuDeviceGetAttribute(&prop.location.id, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID,
				       lost));
	ASSERT_OK(cuMemCreate(&node, CHUNK, &prop, 0));
	at = mapped(node, CHUNK, 0);
	second = fd < 0 ? ADDRESS(at) : map_dmabuf(fd, CHUNK);
	close(fd);
	team = new_team(2, 2 * CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, lost));
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	ASSERT_OK(cuMulticastBindMem_v2(team, lost, 0, node, 0, CHUNK, 0));
	ASSERT_OK(cuMulticastBindAddr_v2(team, lost, CHUNK, second, CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(0, 2 * CHUNK), 0, 2 * CHUNK, 0));
	window = mapped(team, 2 * CHUNK, 0);
	at[0] = 7;
	((volatile uint32_t *)second)[1] = 8;
	ASSERT_EQ(7, window[0]);
	ASSERT_EQ(8, window[CHUNK / 4 + 1]);

	ASSERT_EQ(0, host_lose(&self->host));
	EXPECT_EQ(1, stat_of("bindings"));
	EXPECT_EQ(0, window[0]);
	EXPECT_EQ(0, window[CHUNK / 4 + 1]);
	EXPECT_EQ(7, at[0]);
	EXPECT_EQ(8, ((volatile uint32_t *)second)[1]);
	EXPECT_CU_REASON(CUDA_ERROR_INVALID_DEVICE,
			 cuMulticastBindAddr_v2(team, lost, 0, second, CHUNK, 0),
			 "host # was lost, and its devices with it");
	ASSERT_EQ(0, host_return(&self->host));
	EXPECT_OK(cuMulticastBindAddr_v2(team, lost, 0, second, CHUNK, 0));
	EXPECT_EQ(8, window[1]);
}

/* Lost memory's handles and mappings remain; to bind them fails even after the host's return. */
TEST_F(lost, binds_of_lost_memory)
{
	CUdevice lost = self->host.first;
	CUmemGenericAllocationHandle gone, team, other;
	CUdeviceptr at;

	cuda_start(0);
	gone = new_memory(lost, CHUNK);
	at = reserve(2 * CHUNK);
	ASSERT_OK(cuMemMap(at + CHUNK, CHUNK, 0, gone, 0));
	team = complete_team(2, 2 * CHUNK);
	other = new_team(2, 2 * CHUNK);
	ASSERT_OK(cuMulticastAddDevice(other, lost));
	ASSERT_OK(cuMulticastAddDevice(other, 0));
	ASSERT_EQ(0, host_lose(&self->host));
	ASSERT_EQ(0, host_return(&self->host));
	ASSERT_OK(cuMemMap(at, CHUNK, 0, new_memory(lost, CHUNK), 0));

	ASSERT_EQ(0, write_in(PARAMETERS, "team_slots", "1"));
	EXPECT_REASON(cuMulticastBindMem(other, 0, gone, 0, CHUNK, 0),
		      "memory # was of host #, which was lost");
	EXPECT_REASON(cuMulticastBindAddr(other, 0, at, 2 * CHUNK, 0),
		      "memory # was of host #, which was lost");
	/* the failed binds have left the only slot free */
	ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	ASSERT_OK(cuMemRelease(team));
	/* and the part of @at that is not lost can be bound */
	EXPECT_OK(cuMulticastBindAddr(other, 0, at, CHUNK, 0));
}

TEST_HARNESS_MAIN
