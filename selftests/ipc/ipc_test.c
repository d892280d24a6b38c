// SPDX-License-Identifier: MIT
/*
 * Plain allocations of other processes: which processes may open a handle, and how long a handle is
 * good.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "memcast_test.h"
#include "raw.h"
#include "reason.h"

#define LAZY	CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
#define NOBODY	65534
#define NO_SUCH_HANDLE	"no such handle: its memory was freed, or is another's"
#define KIND_BYTES	8	/* at the start of a handle, the same in all of them */

/* Shared by all processes of a test */
FIXTURE(ipc)
{
	CUipcMemHandle handle;
};

FIXTURE_SETUP(ipc) { }
NOTHING_LEFT(ipc)

/* Starts a process that exports a block of @bytes, and then does what its link says. */
static pid_t exporter(struct __test_metadata *_metadata, CUipcMemHandle *handle, size_t bytes,
		      int *link)
{
	pid_t pid = peer_fork(link);
	CUdeviceptr at;

	if (pid) {
		receive_number(*link);
		return pid;
	}
	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&at, bytes));
	ASSERT_OK(cuMemsetD32(at, 0x1234, bytes / 4));
	ASSERT_OK(cuIpcGetMemHandle(handle, at));
	send_number(*link, 0);
	/* 0: free the block; 1: say what the block holds; any other number: end */
	for (;;) {
		long what = receive_number(*link);

		if (what == 0)
			ASSERT_OK(cuMemFree(at));
		if (what > 1)
			_exit(_metadata->exit_code);
		send_number(*link, what ? *(volatile uint32_t *)at : 0);
	}
}

static long ask(struct __test_metadata *_metadata, int link, long what)
{
	send_number(link, what);
	return receive_number(link);
}

struct closing {
	CUcontext context;
	CUdeviceptr at;
	CUresult set, result;
};

static void close_in_stream(void *data)
{
	struct closing *closing = data;

	closing->set = cuCtxSetCurrent(closing->context);
	closing->result = cuIpcCloseMemHandle(closing->at);
}

TEST_F(ipc, of_two_processes)
{
	struct closing closing = {};
	CUmulticastObjectProp prop = { .numDevices = 2, .size = CHUNK };
	CUmemGenericAllocationHandle team;
	CUdeviceptr at, again, base;
	CUipcMemHandle other;
	unsigned int type;
	size_t bytes;
	int link, device, capable;
	pid_t pid = exporter(_metadata, &self->handle, 3 * CHUNK, &link);

	cuda_start(1);
	ASSERT_OK(cuIpcOpenMemHandle(&at, self->handle, LAZY));
	ASSERT_OK(cuIpcOpenMemHandle(&again, self->handle, LAZY));
	EXPECT_EQ(at, again);
	EXPECT_EQ(0x1234, *(volatile uint32_t *)(at + 3 * CHUNK - 4));
	EXPECT_OK(cuMemsetD32(at, 0x5678, 1));
	EXPECT_EQ(0x5678, ask(_metadata, link, 1));
	EXPECT_OK(cuMemGetAddressRange(&base, &bytes, at + CHUNK));
	EXPECT_EQ(at, base);
	EXPECT_EQ(3 * CHUNK, bytes);
	EXPECT_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at));
	EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
	EXPECT_OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
	/* the device is that of the context that opened the handle, wherever the memory is */
	EXPECT_EQ(1, device);
	EXPECT_OK(cuPointerGetAttribute(&capable,
					CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, at));
	EXPECT_EQ(0, capable);

	/* only the exporter frees the block, or gives a handle of it to others */
	EXPECT_REASON(cuMemFree(at), "# is another process's: close its handle");
	EXPECT_REASON(cuMemFreeAsync(at, NULL), "# is another process's: close its handle");
	EXPECT_REASON(cuIpcGetMemHandle(&other, at),
		      "# is not in a block of this process, out of a pool");
	EXPECT_REASON(cuIpcCloseMemHandle(at + 512), "no handle is open at #");

	/* nor is it bound, as other blocks of the exporter may be in its chunks */
	ASSERT_OK(cuMulticastCreate(&team, &prop));
	for (device = 0; device < 2; device++)
		ASSERT_OK(cuMulticastAddDevice(team, device));
	EXPECT_REASON(cuMulticastBindAddr(team, 0, at, CHUNK, 0),
		      "memory of cuMemAlloc() cannot be bound");
	EXPECT_OK(cuMemRelease(team));

	/*
	 * when the exporter frees the block, those who have it open keep it, but nobody opens it
	 * again
	 */
	ask(_metadata, link, 0);
	EXPECT_EQ(0x5678, *(volatile uint32_t *)at);
	EXPECT_OK(cuIpcCloseMemHandle(at));
	EXPECT_EQ(0x5678, *(volatile uint32_t *)at);
	/* a host function cannot wait for the stream: it closes nothing */
	ASSERT_OK(cuCtxGetCurrent(&closing.context));
	closing.at = at;
	ASSERT_OK(cuLaunchHostFunc(NULL, close_in_stream, &closing));
	ASSERT_OK(cuCtxSynchronize());
	EXPECT_OK(closing.set);
	EXPECT_CU(CUDA_ERROR_NOT_PERMITTED, closing.result);
	EXPECT_EQ(0x5678, *(volatile uint32_t *)at);
	EXPECT_OK(cuIpcCloseMemHandle(at));
	EXPECT_REASON(cuIpcCloseMemHandle(at), "no handle is open at #");
	EXPECT_REASON(cuIpcOpenMemHandle(&at, self->handle, LAZY),
		      NO_SUCH_HANDLE);
	EXPECT_EQ(device_bytes(0, "pool_bytes"), device_bytes(0, "free_bytes"));
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

/* A small block shares its chunk: a process that opened it does not see blocks that come later. */
TEST_F(ipc, small)
{
	int link;
	pid_t pid = exporter(_metadata, &self->handle, 1000, &link);
	CUdeviceptr at, base, own, later;
	CUipcMemHandle handle, same;
	size_t bytes;

	cuda_start(0);
	ASSERT_OK(cuIpcOpenMemHandle(&at, self->handle, LAZY));
	EXPECT_EQ(0x1234, *(volatile uint32_t *)(at + 996));
	EXPECT_OK(cuMemGetAddressRange(&base, &bytes, at));
	EXPECT_EQ(1000, bytes);
	EXPECT_REASON(cuMemsetD8(at, 0, 1001), "the destination leaves the block at #");
	ASSERT_OK(cuMemAlloc(&own, 1000));
	ASSERT_OK(cuIpcGetMemHandle(&handle, own + 999));
	ASSERT_OK(cuIpcGetMemHandle(&same, own));
	EXPECT_EQ(0, memcmp(&handle, &same, sizeof(handle)));
	ASSERT_OK(cuMemAlloc(&later, 1000));
	EXPECT_NE(own / CHUNK, later / CHUNK);
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&base, handle, LAZY));
	/* a killed exporter leaves other processes what they have opened */
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	EXPECT_EQ(0x1234, *(volatile uint32_t *)at);
	/*
	 * the same context gets the block that it has open; another context can no longer open it
	 */
	EXPECT_OK(cuIpcOpenMemHandle(&base, self->handle, LAZY));
	EXPECT_EQ(at, base);
	EXPECT_OK(cuIpcCloseMemHandle(at));
	EXPECT_OK(cuIpcCloseMemHandle(at));
	EXPECT_REASON(cuIpcOpenMemHandle(&base, self->handle, LAZY),
		      NO_SUCH_HANDLE);
}

/*
 * A handle ends with its process, even if another process has a duplicate of its file and a mapping
 * keeps the memory.
 */
TEST_F(ipc, ends_with_its_process)
{
	int link, pidfd, file;
	pid_t pid = exporter(_metadata, &self->handle, 1000, &link);
	CUdeviceptr at, other;
	CUcontext context;

	cuda_start(0);
	ASSERT_OK(cuIpcOpenMemHandle(&at, self->handle, LAZY));
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	file = syscall(SYS_pidfd_getfd, pidfd, raw_fd_of(pid), 0);
	ASSERT_LE(0, file);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	EXPECT_REASON(cuIpcOpenMemHandle(&other, self->handle, LAZY),
		      NO_SUCH_HANDLE);
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_OK(cuIpcCloseMemHandle(at));
	close(file);
	close(pidfd);
}

TEST_F(ipc, arguments)
{
	CUmemGenericAllocationHandle vmm;
	CUdeviceptr at = 77, block, pool;
	CUipcMemHandle handle = {};
	void *host;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, 1000, &link);

	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuIpcGetMemHandle(&handle, 0));
	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcGetMemHandle(NULL, 0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&at, self->handle, LAZY));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcCloseMemHandle(at));
	cuda_start(0);
	vmm = new_memory(0, CHUNK);
	ASSERT_OK(cuMemAlloc(&block, 1000));
	ASSERT_OK(cuMemAllocHost(&host, 1000));
	ASSERT_OK(cuMemAllocAsync(&pool, 1000, NULL));
	EXPECT_REASON(cuIpcGetMemHandle(NULL, block), "NULL output");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, 0), "# is not in a reservation");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, block + 1000), "# is not in a reservation");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, ADDRESS(host)),
		      "# is not in what cuMemAlloc() gave");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, ADDRESS(&handle)), "# is not in a reservation");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, pool), "# is not in what cuMemAlloc() gave");
	EXPECT_REASON(cuIpcGetMemHandle(&handle, ADDRESS(mapped(vmm, CHUNK, 0))),
		      "# is not in what cuMemAlloc() gave");
	EXPECT_REASON(cuIpcOpenMemHandle(&at, self->handle, 0),
		      "flags must be LAZY_ENABLE_PEER_ACCESS");
	EXPECT_REASON(cuIpcOpenMemHandle(&at, self->handle, 2),
		      "flags must be LAZY_ENABLE_PEER_ACCESS");
	EXPECT_REASON(cuIpcOpenMemHandle(NULL, self->handle, LAZY), "NULL output");
	EXPECT_REASON(cuIpcOpenMemHandle(&at, handle, LAZY), "not what cuIpcGetMemHandle() gave");
	/* a handle with any bit changed is refused */
	for (unsigned int i = 0; i < sizeof(handle) / 3; i++) {
		handle = self->handle;
		handle.reserved[i] ^= 1 << i % 8;
		EXPECT_REASON(cuIpcOpenMemHandle(&at, handle, LAZY),
			      i < KIND_BYTES ? "not what cuIpcGetMemHandle() gave" :
					       NO_SUCH_HANDLE);
	}
	EXPECT_REASON(cuIpcCloseMemHandle(0), "no handle is open at #");
	EXPECT_REASON(cuIpcCloseMemHandle(block), "no handle is open at #");
	EXPECT_EQ(77, at);
	EXPECT_OK(cuIpcOpenMemHandle(&at, self->handle, LAZY));
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_OK(cuMemFreeAsync(pool, NULL));
}

/* Each context opens a handle for itself, and what it has open ends with it. */
TEST_F(ipc, contexts)
{
	CUcontext context;
	CUdeviceptr first, second, again;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, CHUNK, &link);

	cuda_start(1);
	ASSERT_OK(cuIpcOpenMemHandle(&first, self->handle, LAZY));
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 0));
	ASSERT_OK(cuIpcOpenMemHandle(&second, self->handle, LAZY));
	EXPECT_NE(first, second);
	EXPECT_EQ(0x1234, *(volatile uint32_t *)second);
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_NE(0, try_load((void *)second, NULL));
	cuda_start(1);
	EXPECT_REASON(cuIpcCloseMemHandle(second), "no handle is open at #");
	ASSERT_OK(cuIpcOpenMemHandle(&again, self->handle, LAZY));
	EXPECT_EQ(first, again);
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
	EXPECT_EQ(0x1234, *(volatile uint32_t *)first);
}

/* What a context has open stays so after a fault of its device, until the context ends. */
TEST_F(ipc, a_failed_context)
{
	CUdeviceptr opened, block, other;
	CUcontext context, second;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, CHUNK, &link);

	cuda_start(0);
	ASSERT_OK(cuCtxCreate(&context, NULL, 0, 1));
	ASSERT_OK(cuIpcOpenMemHandle(&opened, self->handle, LAZY));
	ASSERT_OK(cuIpcOpenMemHandle(&opened, self->handle, LAZY));
	ASSERT_OK(cuMemAlloc(&block, CHUNK));
	ASSERT_OK(cuCtxCreate(&second, NULL, 0, 1));
	ASSERT_OK(cuMemAlloc(&other, CHUNK));
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoD(other, block, CHUNK));
	cuda_start(0);
	EXPECT_OK(cuIpcCloseMemHandle(opened));
	/* the last close waits for the context's work, and is told of the failure */
	EXPECT_CU(CUDA_ERROR_LAUNCH_FAILED, cuIpcCloseMemHandle(opened));
	EXPECT_EQ(0x1234, *(volatile uint32_t *)opened);
	ASSERT_OK(cuCtxDestroy(context));
	EXPECT_REASON(cuIpcCloseMemHandle(opened), "no handle is open at #");
	EXPECT_NE(0, try_load((void *)opened, NULL));
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

/* What a primary context had open ends with it, also if the context is revived. */
TEST_F(ipc, a_revived_context)
{
	CUdeviceptr before[100], again;
	CUcontext context;
	int link, i;
	pid_t pid = exporter(_metadata, &self->handle, CHUNK, &link);

	cuda_start(1);
	for (i = 0; i < 100; i++) {
		ASSERT_OK(cuDevicePrimaryCtxRetain(&context, 1));
		ASSERT_OK(cuCtxSetCurrent(context));
		ASSERT_OK(cuIpcOpenMemHandle(&before[i], self->handle, LAZY));
		EXPECT_EQ(0x1234, *(volatile uint32_t *)before[i]);
		if (i < 99)
			ASSERT_OK(cuDevicePrimaryCtxReset(1));
	}
	ASSERT_OK(cuIpcOpenMemHandle(&again, self->handle, LAZY));
	EXPECT_EQ(before[99], again);
	EXPECT_OK(cuIpcCloseMemHandle(again));
	EXPECT_OK(cuIpcCloseMemHandle(again));
	EXPECT_REASON(cuIpcCloseMemHandle(before[0]), "no handle is open at #");
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

/* All that are open stay so, however many there are, until each is closed. */
TEST_F(ipc, many)
{
	enum { MANY = 200 };
	CUipcMemHandle *handle = mmap(NULL, MANY * sizeof(*handle), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CUdeviceptr at[MANY];
	int link, i;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, handle);
	pid = peer_fork(&link);
	ASSERT_LE(0, pid);
	if (!pid) {
		cuda_start(0);
		for (i = 0; i < MANY; i++) {
			ASSERT_OK(cuMemAlloc(&at[i], 512));
			ASSERT_OK(cuMemsetD32(at[i], i, 1));
		}
		for (i = 0; i < MANY; i++)
			ASSERT_OK(cuIpcGetMemHandle(&handle[i], at[i]));
		send_number(link, 0);
		receive_number(link);
		_exit(_metadata->exit_code);
	}
	receive_number(link);
	cuda_start(1);
	for (i = 0; i < MANY; i++)
		ASSERT_OK(cuIpcOpenMemHandle(&at[i], handle[i], LAZY));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ((uint32_t)i, *(volatile uint32_t *)at[i]);
		EXPECT_OK(cuIpcCloseMemHandle(at[i]));
	}
	send_number(link, 0);
	EXPECT_EQ(0, reap_child(pid));
}

enum stranger { NO_STRANGER, OTHER_USER, OTHER_USERS, OTHER_PIDS, SAME_NUMBER };

/* Goes on in a child, whose status the caller takes over. */
static void become_child(struct __test_metadata *_metadata)
{
	pid_t pid = fork();
	int status;

	ASSERT_LE(0, pid);
	if (!pid)
		return;
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	_exit(status ? 1 : _metadata->exit_code);
}

/*
 * A process that differs from the test's own in one thing. Of another user, it opens nothing. In
 * another PID namespace it does, unless it has the exporter's number there.
 */
static void open_by(struct __test_metadata *_metadata, enum stranger stranger,
		    const CUipcMemHandle *handle)
{
	CUdeviceptr at;
	int link;
	pid_t pid = peer_fork(&link);

	if (pid) {
		EXPECT_EQ(0, reap_child(pid));
		peer_close(link);
		return;
	}
	if (stranger == OTHER_USER)
		ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	if (stranger == OTHER_USERS)
		ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	if (stranger == OTHER_PIDS || stranger == SAME_NUMBER) {
		ASSERT_EQ(0, unshare(CLONE_NEWPID));
		become_child(_metadata);
		ASSERT_EQ(1, getpid());
		if (stranger == OTHER_PIDS)
			become_child(_metadata);
	}
	cuda_start(0);
	if (stranger == NO_STRANGER || stranger == OTHER_PIDS) {
		EXPECT_OK(cuIpcOpenMemHandle(&at, *handle, LAZY));
		EXPECT_EQ(0x1234, *(volatile uint32_t *)at);
	} else if (stranger == SAME_NUMBER) {
		EXPECT_CU_REASON(CUDA_ERROR_INVALID_CONTEXT,
				 cuIpcOpenMemHandle(&at, *handle, LAZY),
				 "the exporter has this process's number, #, in another PID namespace");
	} else {
		EXPECT_REASON(cuIpcOpenMemHandle(&at, *handle, LAZY), NO_SUCH_HANDLE);
	}
	_exit(_metadata->exit_code);
}

TEST_F(ipc, strangers)
{
	int link;
	pid_t pid = exporter(_metadata, &self->handle, CHUNK, &link);

	if (geteuid())
		SKIP(return, "only root becomes another user");
	open_by(_metadata, NO_STRANGER, &self->handle);
	open_by(_metadata, OTHER_USER, &self->handle);
	open_by(_metadata, OTHER_PIDS, &self->handle);
	if (!access("/proc/self/ns/user", F_OK))
		open_by(_metadata, OTHER_USERS, &self->handle);
	open_by(_metadata, NO_STRANGER, &self->handle);
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

/* Two containers: each has a PID namespace of its own, in which the exporter is process 1. */
TEST_F(ipc, containers)
{
	int link;
	pid_t pid;

	if (geteuid())
		SKIP(return, "only root makes namespaces");
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = exporter(_metadata, &self->handle, CHUNK, &link);
	open_by(_metadata, SAME_NUMBER, &self->handle);
	open_by(_metadata, OTHER_PIDS, &self->handle);
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

/*
 * Opens by the key alone, with ioctls: the error does not tell whether another user has that key,
 * unless the caller asks just that.
 */
TEST_F(ipc, keys)
{
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_ipc_open open_own = {}, open_none = {};
	char why[2][160] = {};
	int link, client;
	pid_t pid = exporter(_metadata, &self->handle, CHUNK, &link);

	if (geteuid())
		SKIP(return, "only root becomes another user");
	memcpy(open_own.key, self->handle.reserved + 8, sizeof(open_own.key));
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, 0));
	client = open("/dev/memcast", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, client);
	open_own.header.reason = (uintptr_t)why[0];
	open_none.header.reason = (uintptr_t)why[1];
	open_own.header.reason_size = open_none.header.reason_size = sizeof(why[0]);
	EXPECT_EQ(ENOENT, RAW(client, IPC_OPEN, open_own));
	EXPECT_EQ(ENOENT, RAW(client, IPC_OPEN, open_none));
	EXPECT_STREQ(why[0], why[1]);
	open_own.flags = open_none.flags = MEMCAST_IPC_ALIVE;
	EXPECT_EQ(EPERM, RAW(client, IPC_OPEN, open_own));
	EXPECT_EQ(ENOENT, RAW(client, IPC_OPEN, open_none));
	open_own.flags = MEMCAST_IPC_ALIVE << 1;
	EXPECT_EQ(EINVAL, RAW(client, IPC_OPEN, open_own));
	open_own.flags = 0;
	ASSERT_EQ(0, setresuid(0, 0, 0));
	EXPECT_EQ(0, RAW(client, IPC_OPEN, open_own));
	EXPECT_EQ(CHUNK, open_own.out_bytes);
	/* the opened block cannot be exported, as no imported memory can */
	export.handle = open_own.out_handle;
	export.header.reason = (uintptr_t)why[1];
	export.header.reason_size = sizeof(why[1]);
	EXPECT_EQ(EINVAL, RAW(client, EXPORT, export));
	EXPECT_SAYS(why[1], "imported");
	close(client);
	send_number(link, 2);
	EXPECT_EQ(0, reap_child(pid));
}

TEST_HARNESS_MAIN
