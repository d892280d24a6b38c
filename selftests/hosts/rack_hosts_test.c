// SPDX-License-Identifier: MIT
/*
 * Hosts of one machine do not see each other: a process of one host uses devices, fds, numbers,
 * handles and files of another, and is refused. (rack_fabric_test has what hosts do share.)
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include "rack_hosts.h"

struct identity {
	CUuuid uuid;
	char bus[16];
};

static struct identity identity_of(CUdevice device)
{
	struct identity found = {};

	cuDeviceGetUuid(&found.uuid, device);
	cuDeviceGetPCIBusId(found.bus, sizeof(found.bus), device);
	return found;
}

/* The process of another host, which sends the UUID and the bus id of its device @last. */
static void be_another(struct __test_metadata *_metadata, int link, int last)
{
	struct identity mine = identity_of(last);

	SEND_VALUE(link, mine);
	receive_number(link);
	_exit(_metadata->exit_code);
}

TEST_F(hosts, devices_of_others)
{
	struct identity theirs, mine;
	int link, count = 0, i, found;

	if (!host_fork(1, &link))
		be_another(_metadata, link, self->each - 1);
	RECEIVE_VALUE(link, theirs);
	go_to(0);
	cuda_start(0);
	EXPECT_OK(cuDeviceGetCount(&count));
	EXPECT_EQ(self->each, count);
	for (i = 0; i < self->each; i++) {
		mine = identity_of(i);
		EXPECT_NE(0, memcmp(&mine.uuid, &theirs.uuid, sizeof(mine.uuid)));
		EXPECT_STRNE(theirs.bus, mine.bus);
		EXPECT_OK(cuDeviceGetByPCIBusId(&found, mine.bus));
		EXPECT_EQ(i, found);
	}
	EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&found, theirs.bus));
	/* numbers of other hosts' devices, as the whole machine counts, up to one past the last */
	for (i = self->each; i <= self->machine; i++) {
		EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&found, i));
		EXPECT_CU(CUDA_ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&found, 0, i));
	}
	send_number(link, 0);
}

/* Without the library, every command that takes a device's number refuses another host's. */
TEST_F(hosts, numbers_of_others)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE, .access = MEMCAST_ACCESS_READWRITE,
	};
	CUmemGenericAllocationHandle team;
	struct memcast_system_info system = {};
	CUmulticastObjectProp prop = {
		.numDevices = 2, .size = CHUNK, .handleTypes = FABRIC,
	};
	CUdeviceptr at;
	int fd, i;

	go_to(1);
	cuda_start(0);
	fd = raw_library_fd();
	ASSERT_OK(cuMulticastCreate(&team, &prop));
	at = ADDRESS(mapped(new_memory(0, CHUNK), CHUNK, 0));
	ASSERT_EQ(0, RAW(fd, SYSTEM_INFO, system));
	EXPECT_EQ(1, system.out_host);
	EXPECT_EQ(self->hosts, system.out_hosts);
	EXPECT_EQ(self->each, system.out_first);
	EXPECT_EQ(self->each, system.out_devices);
	EXPECT_EQ(self->machine, system.out_machine);

	for (i = self->each; i <= self->machine; i++) {
		struct memcast_device_info info = { .device = i };
		struct memcast_memory_create create = {
			.location = MEMCAST_LOCATION_DEVICE, .location_id = i, .bytes = CHUNK,
		};
		struct memcast_team_add add = { .team = team, .device = i };
		struct memcast_bind_address bind = {
			.team = team, .device = i, .address = at, .bytes = CHUNK,
			.flags = MEMCAST_NO_WAIT,
		};
		struct memcast_unbind unbind = { .team = team, .device = i, .bytes = CHUNK };
		struct memcast_set_access set = {
			.address = at, .bytes = CHUNK, .entries = (uintptr_t)&entry, .count = 1,
		};
		struct memcast_get_access get = {
			.location = MEMCAST_LOCATION_DEVICE, .location_id = i, .address = at,
		};
		struct memcast_address_info address = { .address = at, .device = i };
		struct memcast_copy copy = { .device = i, .to = at, .from = at, .bytes = 4 };
		struct memcast_copy from = {
			.from_device = i, .flags = MEMCAST_COPY_PEER, .to = at, .from = at + 8,
			.bytes = 4,
		};
		struct memcast_fill fill = { .device = i, .to = at, .width = 4, .count = 1 };
		struct memcast_heap_create heap = {
			.location = MEMCAST_LOCATION_DEVICE, .location_id = i,
		};
		struct memcast_block_alloc block = {
			.heap = MEMCAST_HEAP_DEFAULT(i), .bytes = 512,
		};
		struct memcast_heap_info pool = {
			.heap = MEMCAST_HEAP_DEFAULT(0), .device = i,
		};

		entry.location_id = i;
		EXPECT_EQ(ENODEV, RAW(fd, DEVICE_INFO, info));
		EXPECT_EQ(ENODEV, RAW(fd, MEMORY_CREATE, create));
		EXPECT_EQ(ENODEV, RAW(fd, TEAM_ADD, add));
		EXPECT_EQ(ENODEV, RAW(fd, BIND_ADDRESS, bind));
		EXPECT_EQ(ENODEV, RAW(fd, UNBIND, unbind));
		EXPECT_EQ(EINVAL, RAW(fd, SET_ACCESS, set));
		EXPECT_EQ(ENODEV, RAW(fd, GET_ACCESS, get));
		EXPECT_EQ(ENODEV, RAW(fd, ADDRESS_INFO, address));
		EXPECT_EQ(ENODEV, RAW(fd, COPY, copy));
		EXPECT_EQ(ENODEV, RAW(fd, COPY, from));
		EXPECT_EQ(ENODEV, RAW(fd, FILL, fill));
		EXPECT_EQ(ENODEV, RAW(fd, HEAP_CREATE, heap));
		EXPECT_EQ(ENOENT, RAW(fd, BLOCK_ALLOC, block));
		EXPECT_EQ(ENODEV, RAW(fd, HEAP_INFO, pool));
	}
}

/* A UUID in CUDA_VISIBLE_DEVICES names a device on its own host only. */
TEST_F(hosts, visible_uuids_of_others)
{
	struct identity theirs;
	unsigned char *u = (unsigned char *)theirs.uuid.bytes;
	char text[48];
	int link, own;

	if (!host_fork(1, &link))
		be_another(_metadata, link, 0);
	RECEIVE_VALUE(link, theirs);
	snprintf(text, sizeof(text),
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
	setenv("CUDA_VISIBLE_DEVICES", text, 1);
	if (!peer_fork(&own)) {
		int count = 0;

		go_to(1);
		EXPECT_OK(cuInit(0));
		EXPECT_OK(cuDeviceGetCount(&count));
		EXPECT_EQ(1, count);
		send_number(own, 0);
		_exit(_metadata->exit_code);
	}
	receive_number(own);
	go_to(0);
	EXPECT_CU(CUDA_ERROR_NO_DEVICE, cuInit(0));
	send_number(link, 0);
}

/* One fd of each kind: a memory, a team, a node's memory, a range, a pool, and /dev/memcast */
enum { MEMORY, TEAM, NODE_MEMORY, RANGE, POOL, CLIENT, FDS };

static void exporter(struct __test_metadata *_metadata, int link)
{
	CUmemAllocationProp on_node = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 },
	};
	CUmemPoolProps props = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemGenericAllocationHandle handle = new_memory(0, CHUNK), node;
	CUmemoryPool pool;
	int fd[FDS], i;

	*mapped(handle, CHUNK, 0) = 4711;
	fd[MEMORY] = exported(handle);
	fd[TEAM] = exported(complete_team(2, CHUNK));
	ASSERT_OK(cuMemCreate(&node, CHUNK, &on_node, 0));
	fd[NODE_MEMORY] = exported(node);
	ASSERT_OK(cuMemGetHandleForAddressRange(&fd[RANGE], ADDRESS(mapped(handle, CHUNK, 0)),
						CHUNK, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	ASSERT_OK(cuMemPoolCreate(&pool, &props));
	ASSERT_OK(cuMemPoolExportToShareableHandle(&fd[POOL], pool, SHAREABLE, 0));
	fd[CLIENT] = raw_library_fd();
	for (;;) {
		long asked = receive_number(link);

		if (asked < 0)
			_exit(_metadata->exit_code);
		for (i = 0; i < FDS; i++)
			ASSERT_EQ(0, peer_send(link, asked ? fd[i] : 0, asked ? -1 : fd[i]));
	}
}

static int import_foreign(int fd, uint32_t device)
{
	struct memcast_import import = {
		.handle_type = MEMCAST_HANDLE_FD, .fd = fd, .device = device,
		.flags = MEMCAST_IMPORT_FOREIGN,
	};

	return RAW(raw_library_fd(), IMPORT, import);
}

/* Every use of another host's fds fails. */
static void expect_meaningless(struct __test_metadata *_metadata, const int *fd)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC outside = {
		.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = CHUNK,
	};
	struct memcast_system_info info = {};
	CUmemGenericAllocationHandle handle;
	CUexternalMemory external;
	CUmemoryPool pool;
	int i;

	for (i = MEMORY; i <= RANGE; i++) {
		EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
				 cuMemImportFromShareableHandle(&handle,
								(void *)(intptr_t)fd[i],
								SHAREABLE),
				 "fd # was exported on host #, and means nothing on another");
		outside.handle.fd = dup(fd[i]);
		EXPECT_NE(CUDA_SUCCESS, cuImportExternalMemory(&external, &outside));
		EXPECT_EQ(EBADF, import_foreign(fd[i], MEMCAST_DEVICE_NONE));
		EXPECT_EQ(EBADF, import_foreign(fd[i], 0));
		EXPECT_EQ(EBADF, import_foreign(fd[i], 1));
	}
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN,
			 cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd[POOL],
							    SHAREABLE, 0),
			 "fd # was exported on host #, and means nothing on another");
	/* another host's open /dev/memcast is of no use either */
	EXPECT_EQ(ESRCH, RAW(fd[CLIENT], SYSTEM_INFO, info));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, fd[CLIENT], 0));
}

TEST_F(hosts, fds_of_others)
{
	int link, fd[FDS], i;

	if (!host_fork(0, &link))
		exporter(_metadata, link);
	go_to(1);
	cuda_start(0);
	send_number(link, 0);
	for (i = 0; i < FDS; i++)
		fd[i] = receive_fd(link);
	expect_meaningless(_metadata, fd);
	send_number(link, -1);
}

/* The fds are not sent, but fetched with pidfd_getfd(). */
TEST_F(hosts, fds_by_pidfd)
{
	int link, fd[FDS], i, pidfd;
	pid_t pid = host_fork(0, &link);

	if (!pid)
		exporter(_metadata, link);
	go_to(1);
	cuda_start(0);
	send_number(link, 1);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	ASSERT_LE(0, pidfd);
	for (i = 0; i < FDS; i++) {
		fd[i] = syscall(SYS_pidfd_getfd, pidfd, (int)receive_number(link), 0);
		ASSERT_LE(0, fd[i]);
	}
	expect_meaningless(_metadata, fd);
	send_number(link, -1);
}

/* A process on the exporter's own host can import its fds. */
TEST_F(hosts, fds_at_home)
{
	CUmemGenericAllocationHandle handle;
	int link, fd[FDS], i;
	CUmemoryPool pool;

	if (!host_fork(0, &link))
		exporter(_metadata, link);
	go_to(0);
	cuda_start(1);
	send_number(link, 0);
	for (i = 0; i < FDS; i++)
		fd[i] = receive_fd(link);
	handle = imported(fd[MEMORY]);
	EXPECT_EQ(4711, *mapped(handle, CHUNK, 1));
	imported(fd[TEAM]);
	imported(fd[NODE_MEMORY]);
	EXPECT_EQ(0, import_foreign(fd[RANGE], 0));
	EXPECT_OK(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd[POOL], SHAREABLE,
						     0));
	send_number(link, -1);
}

TEST_F(hosts, ipc_handles_of_others)
{
	CUipcEventHandle event_handle;
	CUipcMemHandle handle;
	CUdeviceptr at;
	CUevent event;
	int link, own;

	if (!host_fork(0, &link)) {
		ASSERT_OK(cuMemAlloc(&at, 4096));
		ASSERT_OK(cuMemsetD32(at, 4711, 1));
		ASSERT_OK(cuIpcGetMemHandle(&handle, at));
		ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
		ASSERT_OK(cuIpcGetEventHandle(&event_handle, event));
		SEND_VALUE(link, handle);
		SEND_VALUE(link, event_handle);
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	RECEIVE_VALUE(link, handle);
	RECEIVE_VALUE(link, event_handle);
	if (!host_fork(0, &own)) {
		ASSERT_OK(cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
		EXPECT_EQ(4711, *(volatile uint32_t *)at);
		EXPECT_OK(cuIpcOpenEventHandle(&event, event_handle));
		send_number(own, 0);
		_exit(_metadata->exit_code);
	}
	receive_number(own);
	go_to(1);
	cuda_start(0);
	EXPECT_REASON(cuIpcOpenMemHandle(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
		      "no such handle");
	EXPECT_NE(CUDA_SUCCESS, cuIpcOpenEventHandle(&event, event_handle));
	send_number(link, 0);
}

/* /proc shows another host's process; its /dev/memcast, reopened there, is still that host's. */
TEST_F(hosts, files_in_proc)
{
	struct memcast_handle_info handle = {};
	struct memcast_system_info info = {};
	int link, again, list, fd[FDS], i, memories = 0;
	char path[64], line[256];
	unsigned int host = 99;
	pid_t pid = host_fork(1, &link);
	FILE *file;

	if (!pid)
		exporter(_metadata, link);
	go_to(0);
	cuda_start(0);
	send_number(link, 1);
	for (i = 0; i < FDS; i++)
		fd[i] = receive_number(link);
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd[CLIENT]);
	file = fopen(path, "re");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "memcast-host: %u", &host);
	fclose(file);
	/* the list has the numbers that the listed client has for devices */
	list = client_list(raw_library_fd(), client_key(pid, fd[CLIENT]));
	ASSERT_LE(0, list);
	file = fdopen(list, "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file)) {
		unsigned int device = 0;
		const char *words = strstr(line, " device ");

		memories += !strncmp(line, "memcast-handle:\tmemory ", 23);
		if (words && sscanf(words, " device %u", &device) == 1)
			EXPECT_EQ(0, device);
	}
	fclose(file);
	EXPECT_EQ(1, host);
	EXPECT_LT(0, memories);

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd[CLIENT]);
	again = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, again);
	ASSERT_EQ(0, RAW(again, SYSTEM_INFO, info));
	EXPECT_EQ(1, info.out_host);
	/* the reopened file is a new client, without the other process's handles */
	for (handle.handle = 1; handle.handle < 64; handle.handle++)
		EXPECT_EQ(ENOENT, RAW(again, HANDLE_INFO, handle));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd[MEMORY]);
	EXPECT_EQ(-1, open(path, O_RDWR | O_CLOEXEC));
	send_number(link, -1);
}

TEST_HARNESS_MAIN
