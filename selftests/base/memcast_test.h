/* SPDX-License-Identifier: MIT */
/*
 * Macros and helpers that memcast's selftests share. The harness runs each test in a process of
 * its own, so each calls cuInit() itself. A test forks its peers before that, as a client does
 * not survive fork().
 */
#ifndef MEMCAST_TEST_H
#define MEMCAST_TEST_H

#include <stdint.h>
#include <cuda.h>

#include "helpers.h"
#include "kselftest_harness.h"

/* No timeout ends a test, as machines differ and are busy: run.sh ends a test that is stuck. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400

#define CHUNK		(2UL << 20)
#define SHAREABLE	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/* Results are compared as int: an enum's constants are int, but its type may be unsigned. */
#define ASSERT_CU(result, call)	ASSERT_EQ((int)(result), (int)(call))
#define EXPECT_CU(result, call)	EXPECT_EQ((int)(result), (int)(call))
#define ASSERT_OK(call)		ASSERT_EQ((int)CUDA_SUCCESS, (int)(call))
#define EXPECT_OK(call)		EXPECT_EQ((int)CUDA_SUCCESS, (int)(call))

/* @said contains @text; else the failure shows @said. */
#define EXPECT_SAYS(said, text)						\
	EXPECT_NE(NULL, strstr(said, text)) TH_LOG("it said: %s", said)

/* errno if the system call fails, else 0 */
#define ERRNO_OF(call)		((long)(call) < 0 ? errno : 0)

#define TEST_HELPER	static inline __attribute__((__unused__))

/*
 * Checks after each test, when its process has ended, that the module holds nothing of it. After
 * a failed assertion the harness may come here before the process has ended. The memory of a
 * fixture is shared by all processes of the test.
 */
#define NOTHING_LEFT(fixture)						\
FIXTURE_TEARDOWN_PARENT(fixture)					\
{									\
	if (!_metadata->aborted)					\
		EXPECT_STREQ("", left_over());				\
}

/* Makes the primary context of @device current. */
#define cuda_start(device)	cuda_start_(_metadata, device)
TEST_HELPER void cuda_start_(struct __test_metadata *_metadata, CUdevice device)
{
	CUcontext context;

	ASSERT_OK(cuInit(0));
	ASSERT_OK(cuDevicePrimaryCtxRetain(&context, device));
	ASSERT_OK(cuCtxSetCurrent(context));
}

TEST_HELPER CUmemAllocationProp memory_on(CUdevice device)
{
	return (CUmemAllocationProp) {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = SHAREABLE,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};
}

#define new_memory(device, bytes)	new_memory_(_metadata, device, bytes)
TEST_HELPER CUmemGenericAllocationHandle
new_memory_(struct __test_metadata *_metadata, CUdevice device, size_t bytes)
{
	CUmemAllocationProp prop = memory_on(device);
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(cuMemCreate(&handle, bytes, &prop, 0));
	return handle;
}

/* @bytes as whole chunks: a buffer of another driver may end with any page. */
TEST_HELPER size_t chunks_for(size_t bytes)
{
	return (bytes + CHUNK - 1) & -CHUNK;
}

#define reserve(bytes)		reserve_(_metadata, bytes)
TEST_HELPER CUdeviceptr reserve_(struct __test_metadata *_metadata, size_t bytes)
{
	CUdeviceptr address = 0;

	ASSERT_OK(cuMemAddressReserve(&address, chunks_for(bytes), 0, 0, 0));
	return address;
}

TEST_HELPER CUresult allow(CUdeviceptr address, size_t bytes, CUdevice device,
			   CUmemAccess_flags access)
{
	CUmemAccessDesc desc = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
		.flags = access,
	};

	return cuMemSetAccess(address, bytes, &desc, 1);
}

#define READ		CU_MEM_ACCESS_FLAGS_PROT_READ
#define READWRITE	CU_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NONE		CU_MEM_ACCESS_FLAGS_PROT_NONE

/* Maps a whole memory or window in a reservation of its own, with access for @device. */
#define mapped(handle, bytes, device)	mapped_(_metadata, handle, bytes, device)
TEST_HELPER volatile uint32_t *
mapped_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle handle,
	size_t bytes, CUdevice device)
{
	CUdeviceptr address = reserve(bytes);

	ASSERT_OK(cuMemMap(address, bytes, 0, handle, 0));
	ASSERT_OK(allow(address, bytes, device, READWRITE));
	return (volatile uint32_t *)address;
}

#define ADDRESS(pointer)	((CUdeviceptr)(uintptr_t)(pointer))

/* Creates a team for @devices members; complete_team() adds devices 0 and up to it. */
#define new_team(devices, bytes)	new_team_(_metadata, devices, bytes)
TEST_HELPER CUmemGenericAllocationHandle
new_team_(struct __test_metadata *_metadata, unsigned int devices, size_t bytes)
{
	CUmulticastObjectProp prop = {
		.numDevices = devices,
		.size = bytes,
		.handleTypes = SHAREABLE,
	};
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(cuMulticastCreate(&handle, &prop));
	return handle;
}

#define complete_team(devices, bytes)	complete_team_(_metadata, devices, bytes)
TEST_HELPER CUmemGenericAllocationHandle
complete_team_(struct __test_metadata *_metadata, unsigned int devices, size_t bytes)
{
	CUmemGenericAllocationHandle handle = new_team(devices, bytes);
	unsigned int i;

	for (i = 0; i < devices; i++)
		ASSERT_OK(cuMulticastAddDevice(handle, i));
	return handle;
}

/* Binds a new memory of @device to a team, where the team begins. Return: the memory */
#define new_bound(team, device, bytes)	new_bound_(_metadata, team, device, bytes)
TEST_HELPER CUmemGenericAllocationHandle
new_bound_(struct __test_metadata *_metadata, CUmemGenericAllocationHandle team,
	   CUdevice device, size_t bytes)
{
	CUmemGenericAllocationHandle handle = new_memory(device, bytes);

	ASSERT_OK(cuMulticastBindMem(team, 0, handle, 0, bytes, 0));
	return handle;
}

/*
 * Repeats @bind while it is invalid, for up to 60 s: a call that still uses the binding that was
 * there before keeps it until the call returns. An overlap is the only such result to wait for.
 */
#define RETRY_BIND(bind)						\
({									\
	double end_ = now() + 60;					\
	CUresult bound_;						\
									\
	do {								\
		bound_ = (bind);					\
	} while (bound_ == CUDA_ERROR_INVALID_VALUE && now() < end_);	\
	bound_;								\
})

#define exported(handle)		exported_(_metadata, handle)
TEST_HELPER int exported_(struct __test_metadata *_metadata,
			  CUmemGenericAllocationHandle handle)
{
	int fd = -1;

	ASSERT_OK(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 0));
	return fd;
}

#define imported(fd)		imported_(_metadata, fd)
TEST_HELPER CUmemGenericAllocationHandle
imported_(struct __test_metadata *_metadata, int fd)
{
	CUmemGenericAllocationHandle handle = 0;

	ASSERT_OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
						 SHAREABLE));
	return handle;
}

/* Imports a dma-buf of another driver as external memory and maps it. Return: the address */
#define external_at(fd, bytes)	external_at_(_metadata, fd, bytes)
TEST_HELPER CUdeviceptr external_at_(struct __test_metadata *_metadata, int fd, size_t bytes)
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC from = {
		.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,
		.handle.fd = fd,
		.size = bytes,
	};
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = { .size = bytes };
	CUexternalMemory outside;
	CUdeviceptr at = 0;

	ASSERT_OK(cuImportExternalMemory(&outside, &from));
	ASSERT_OK(cuExternalMemoryGetMappedBuffer(&at, outside, &whole));
	return at;
}

/* As that of helpers.h, which code outside of tests calls as (peer_fork)(link); this one succeeds. */
TEST_HELPER pid_t peer_fork_(struct __test_metadata *_metadata, int *link)
{
	pid_t pid = peer_fork(link);

	ASSERT_LE(0, pid);
	return pid;
}
#define peer_fork(link)		peer_fork_(_metadata, link)

/* Send to, or wait for, the other side of a link: a number or an fd */
#define send_number(link, number)	ASSERT_EQ(0, peer_send(link, number, -1))
#define send_fd(link, fd)		ASSERT_EQ(0, peer_send(link, 0, fd))
#define receive_number(link)		receive_number_(_metadata, link)
TEST_HELPER long receive_number_(struct __test_metadata *_metadata, int link)
{
	long number = 0;

	ASSERT_EQ(0, peer_receive(link, &number, NULL));
	return number;
}

#define receive_fd(link)		receive_fd_(_metadata, link)
TEST_HELPER int receive_fd_(struct __test_metadata *_metadata, int link)
{
	int fd = -1;

	ASSERT_EQ(0, peer_receive(link, NULL, &fd));
	ASSERT_LE(0, fd);
	return fd;
}

#define reap_child(pid)		reap_child_(_metadata, pid)
TEST_HELPER int reap_child_(struct __test_metadata *_metadata, pid_t pid)
{
	int status = -1;

	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	return status;
}

/* Both sides of a link come here before either goes on. */
#define handshake(link)					\
({							\
	send_number(link, 0);				\
	receive_number(link);				\
})

/* Lets a process that waits at its link go on to its end, which is a good one. */
#define end_peer(link, pid)				\
({							\
	send_number(link, 0);				\
	EXPECT_EQ(0, reap_child(pid));			\
})

#endif /* MEMCAST_TEST_H */
