// SPDX-License-Identifier: MIT
/* Export and import: fds, how they travel, and which users keep an object alive. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <memcast/view.h>
#include "memcast_test.h"
#include "reason.h"

FIXTURE(share) { char unused; };
FIXTURE_SETUP(share) { }
NOTHING_LEFT(share)

#define IMPORT(handle, fd, type)	\
	cuMemImportFromShareableHandle(handle, (void *)(intptr_t)(fd), type)

TEST_F(share, export_arguments)
{
	CUmemGenericAllocationHandle handle, private;
	CUmemAllocationProp prop = memory_on(0);
	int fd = -77;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	ASSERT_OK(cuMemCreate(&private, CHUNK, &prop, 0));
	EXPECT_REASON(cuMemExportToShareableHandle(NULL, handle, SHAREABLE, 0), "NULL output");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, SHAREABLE, 1), "flags must be #");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, 0, 0), "handle type #");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, 64, 0), "unknown handle types in");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, 12345, SHAREABLE, 0), "no handle #: never");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, private, SHAREABLE, 0),
		      "it was not created to be exported as an fd (requestedHandleTypes, of teams");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
		      "it was not created to be exported as a fabric handle");
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_WIN32, 0),
		      "handle types #: there are no Windows handles here");
	EXPECT_EQ(-77, fd);
}

TEST_F(share, import_arguments)
{
	CUmemGenericAllocationHandle handle = 77;
	int fd, other = memfd_create("x", 0);
	char theirs[64];

	snprintf(theirs, sizeof(theirs), "%d is the fd of something that is no dma-buf", other);
	cuda_start(0);
	fd = exported(new_memory(0, CHUNK));
	EXPECT_REASON(IMPORT(NULL, fd, SHAREABLE), "NULL pointer");
	EXPECT_CU(CUDA_ERROR_UNKNOWN, IMPORT(&handle, -1, SHAREABLE));
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, IMPORT(&handle, 12345, SHAREABLE),
			 "12345 is no open fd of this process");
	EXPECT_CU_REASON(CUDA_ERROR_UNKNOWN, IMPORT(&handle, other, SHAREABLE), theirs);
	/* the address of the fd, where the call expects the fd itself */
	EXPECT_CU(CUDA_ERROR_UNKNOWN, IMPORT(&handle, &fd, SHAREABLE));
	EXPECT_REASON(IMPORT(&handle, fd, 0), "handle type #");
	EXPECT_REASON(IMPORT(&handle, fd, 64), "unknown handle types in #");
	EXPECT_REASON(IMPORT(&handle, fd, CU_MEM_HANDLE_TYPE_WIN32), "handle types #: there are");
	EXPECT_EQ(77, handle);
	EXPECT_OK(IMPORT(&handle, fd, SHAREABLE));
}

TEST_F(share, each_export_is_a_new_fd)
{
	CUmemGenericAllocationHandle handle;
	int a, b;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	a = exported(handle);
	b = exported(handle);
	EXPECT_NE(a, b);
	EXPECT_EQ(FD_CLOEXEC, fcntl(a, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(b, F_GETFD));
	EXPECT_EQ(CHUNK, (size_t)lseek(a, 0, SEEK_END));
	close(a);
	imported(b);
	/* the caller keeps the fd: it is still open, and can be imported once more */
	EXPECT_EQ(0, ERRNO_OF(fcntl(b, F_GETFD)));
	imported(b);
}

/* An import is the same memory, but without all properties that its creator asked for. */
TEST_F(share, import_shows_the_same)
{
	CUmemAllocationProp prop = memory_on(1), seen;
	CUmemGenericAllocationHandle handle, copy, found;
	volatile uint32_t *a, *b;
	int fd = -77;

	cuda_start(0);
	prop.allocFlags.gpuDirectRDMACapable = 1;
	ASSERT_OK(cuMemCreate(&handle, 2 * CHUNK, &prop, 0));
	copy = imported(exported(handle));
	EXPECT_OK(cuMemGetAllocationPropertiesFromHandle(&seen, copy));
	prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	prop.allocFlags.gpuDirectRDMACapable = 0;
	EXPECT_EQ(0, memcmp(&prop, &seen, sizeof(seen)));
	a = mapped(handle, 2 * CHUNK, 0);
	b = mapped(copy, 2 * CHUNK, 1);
	a[CHUNK / 4] = 5;
	EXPECT_EQ(5, b[CHUNK / 4]);
	/* an address gives the handle by which it was mapped */
	EXPECT_OK(cuMemRetainAllocationHandle(&found, (void *)a));
	EXPECT_EQ(handle, found);
	EXPECT_OK(cuMemRetainAllocationHandle(&found, (void *)b));
	EXPECT_EQ(copy, found);
	/* a process that imported a memory cannot export it; its creator still can */
	EXPECT_REASON(cuMemExportToShareableHandle(&fd, copy, SHAREABLE, 0),
		      "memory that was imported is exported by its creator alone");
	EXPECT_EQ(-77, fd);
	EXPECT_OK(cuMemRelease(copy));
	EXPECT_EQ(5, mapped(imported(exported(handle)), 2 * CHUNK, 0)[CHUNK / 4]);
}

/* Handle, fd and mapping each keep the memory; the last of them gives the chunks back. */
TEST_F(share, lives_as_long_as_its_last_user)
{
	CUmemGenericAllocationHandle handle;
	volatile uint32_t *at;
	size_t full;
	int fd;

	cuda_start(0);
	full = device_bytes(0, "free_bytes");
	handle = new_memory(0, CHUNK);
	at = mapped(handle, CHUNK, 0);
	fd = exported(handle);
	*at = 9;
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	EXPECT_EQ(full - CHUNK, device_bytes(0, "free_bytes"));
	handle = imported(fd);
	close(fd);
	EXPECT_EQ(full - CHUNK, device_bytes(0, "free_bytes"));
	at = mapped(handle, CHUNK, 0);
	EXPECT_EQ(9, *at);
	EXPECT_OK(cuMemRelease(handle));
	EXPECT_EQ(full - CHUNK, device_bytes(0, "free_bytes"));
	EXPECT_OK(cuMemUnmap(ADDRESS(at), CHUNK));
	EXPECT_EQ(full, device_bytes(0, "free_bytes"));
}

/* ---- to another process; the peer sends what it reads in the memory ---- */

static void say_what_is_there(struct __test_metadata *_metadata, int link, int fd)
{
	volatile uint32_t *at;

	cuda_start(1);
	at = mapped(imported(fd), CHUNK, 1);
	send_number(link, *at);
	*at = 6;
	send_number(link, 0);
	_exit(0);
}

TEST_F(share, by_scm_rights)
{
	int link, fd;
	pid_t peer = peer_fork(&link);
	CUmemGenericAllocationHandle handle;
	volatile uint32_t *at;

	if (!peer)
		say_what_is_there(_metadata, link, receive_fd(link));
	cuda_start(0);
	handle = new_memory(0, CHUNK);
	at = mapped(handle, CHUNK, 0);
	*at = 5;
	fd = exported(handle);
	send_fd(link, fd);
	EXPECT_EQ(5, receive_number(link));
	receive_number(link);
	EXPECT_EQ(6, *at);
	EXPECT_EQ(0, reap_child(peer));
}

TEST_F(share, by_pidfd_getfd)
{
	int link, fd;
	pid_t peer = peer_fork(&link);
	CUmemGenericAllocationHandle handle;

	if (!peer) {
		int pidfd = syscall(SYS_pidfd_open, getppid(), 0);

		fd = syscall(SYS_pidfd_getfd, pidfd, (int)receive_number(link), 0);
		if (fd < 0 && errno == EPERM) {
			send_number(link, 5);
			send_number(link, 0);
			SKIP(_exit(0), "not allowed to ptrace");
		}
		ASSERT_LE(0, fd);
		say_what_is_there(_metadata, link, fd);
	}
	cuda_start(0);
	handle = new_memory(0, CHUNK);
	*mapped(handle, CHUNK, 0) = 5;
	send_number(link, exported(handle));
	EXPECT_EQ(5, receive_number(link));
	receive_number(link);
	EXPECT_EQ(0, reap_child(peer));
}

/* Runs this program again, with the number of an fd that it inherits: see main(). */
static int run_inherited(int fd)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr at;

	if (cuInit(0) || IMPORT(&handle, fd, SHAREABLE) ||
	    cuMemAddressReserve(&at, CHUNK, 0, 0, 0) ||
	    cuMemMap(at, CHUNK, 0, handle, 0) || allow(at, CHUNK, 1, READ))
		return 1;
	return *(volatile uint32_t *)at == 5 ? 0 : 2;
}

TEST_F(share, by_fork_and_exec)
{
	CUmemGenericAllocationHandle handle;
	char number[16];
	pid_t child;
	int fd;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	*mapped(handle, CHUNK, 0) = 5;
	fd = exported(handle);
	ASSERT_EQ(0, fcntl(fd, F_SETFD, 0));
	snprintf(number, sizeof(number), "%d", fd);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		setenv("MEMCAST_TEST_INHERITED", number, 1);
		execl("/proc/self/exe", "share_test", NULL);
		_exit(3);
	}
	EXPECT_EQ(0, reap_child(child));
}

TEST_F(share, outlives_its_exporter)
{
	int link, status;
	pid_t peer = peer_fork(&link);
	volatile uint32_t *at;

	if (!peer) {
		CUmemGenericAllocationHandle handle;

		cuda_start(0);
		handle = new_memory(0, CHUNK);
		at = mapped(handle, CHUNK, 0);
		*at = 5;
		send_fd(link, exported(handle));
		kill(getpid(), SIGKILL);
	}
	cuda_start(1);
	at = mapped(imported(receive_fd(link)), CHUNK, 1);
	status = reap_child(peer);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(5, *at);
	*at = 6;
	EXPECT_EQ(6, *at);
}

/* An fd on its way to a receiver that dies takes its memory along. */
TEST_F(share, fd_in_flight)
{
	int link;
	pid_t peer = peer_fork(&link);
	CUmemGenericAllocationHandle handle;

	if (!peer) {
		pause();
		_exit(0);
	}
	cuda_start(0);
	handle = new_memory(0, CHUNK);
	send_fd(link, exported(handle));
	ASSERT_EQ(0, kill(peer, SIGKILL));
	reap_child(peer);
}

/* ---- teams ---- */

/* A team that is exported to another process, which adds its device and binds */
TEST_F(share, incomplete_team)
{
	int link, fd;
	pid_t peer = peer_fork(&link);
	CUmemGenericAllocationHandle handle, seen;
	struct memcast_view view;

	if (!peer) {
		cuda_start(1);
		handle = imported(receive_fd(link));
		ASSERT_OK(cuMulticastAddDevice(handle, 1));
		seen = new_memory(1, CHUNK);
		*mapped(seen, CHUNK, 1) = 5;
		ASSERT_OK(cuMulticastBindMem(handle, 0, seen, 0, CHUNK, 0));
		handshake(link);
		_exit(0);
	}
	cuda_start(0);
	handle = new_team(2, CHUNK);
	fd = exported(handle);
	send_fd(link, fd);
	ASSERT_OK(cuMulticastAddDevice(handle, 0));
	receive_number(link);
	ASSERT_OK(memcastViewCreate(&view, handle, 0, CHUNK));
	EXPECT_EQ(5, *mapped(handle, CHUNK, 0));
	end_peer(link, peer);
	/* the member's process has died, so the team has no binding any more */
	EXPECT_EQ(SIGBUS, try_load(view.replica[0], NULL));
	EXPECT_EQ(SIGBUS, try_load(view.replica[1], NULL));
}

/* Some clients export a team, release the handle, and import their own fd. */
TEST_F(share, creator_imports_its_own_team)
{
	CUmemGenericAllocationHandle handle, piece;
	volatile uint32_t *window;
	int fd;

	cuda_start(0);
	handle = new_team(2, 2 * CHUNK);
	fd = exported(handle);
	ASSERT_OK(cuMemRelease(handle));
	handle = imported(fd);
	close(fd);
	ASSERT_OK(cuMulticastAddDevice(handle, 0));
	ASSERT_OK(cuMulticastAddDevice(handle, 1));
	/* maps the whole team, then binds pieces at other offsets than 0 */
	window = mapped(handle, 2 * CHUNK, 0);
	piece = new_memory(0, CHUNK);
	*mapped(piece, CHUNK, 0) = 5;
	ASSERT_OK(cuMulticastBindMem(handle, CHUNK, piece, 0, CHUNK, 0));
	EXPECT_EQ(5, window[CHUNK / 4]);
}

int main(int argc, char **argv)
{
	const char *inherited = getenv("MEMCAST_TEST_INHERITED");

	return inherited ? run_inherited(atoi(inherited)) : test_harness_run(argc, argv);
}
