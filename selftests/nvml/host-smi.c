// SPDX-License-Identifier: MIT
/*
 * Processes that hold an object of each kind, for host-smi.sh: "rank0" holds memory of device 0 and
 * a whole team; "rank1" a part of both, and a team that it waits for; and one process has a name
 * that a page must not take for a tag.
 */
#include <cuda.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CHUNK		(2ul << 20)
#define CHECK(call)	((call) ? errx(1, "%s failed", #call) : (void)0)

static CUmemGenericAllocationHandle new_memory(int device, size_t size)
{
	CUmemGenericAllocationHandle handle;
	const CUmemAllocationProp on = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};

	CHECK(cuMemCreate(&handle, size, &on, 0));
	return handle;
}

static CUmemGenericAllocationHandle new_team(unsigned int devices, unsigned int joined, size_t size)
{
	CUmemGenericAllocationHandle handle;
	const CUmulticastObjectProp prop = {
		.numDevices = devices, .size = size,
		.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
	};

	CHECK(cuMulticastCreate(&handle, &prop));
	for (unsigned int device = 0; device < joined; device++)
		CHECK(cuMulticastAddDevice(handle, (int)device));
	return handle;
}

static void start(const char *name, CUmemGenericAllocationHandle team,
		  CUmemGenericAllocationHandle memory)
{
	char fds[2][16];
	int fd;

	CHECK(cuMemExportToShareableHandle(&fd, team, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	snprintf(fds[0], sizeof(fds[0]), "%d", fd);
	fcntl(fd, F_SETFD, 0);
	CHECK(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					   0));
	snprintf(fds[1], sizeof(fds[1]), "%d", fd);
	fcntl(fd, F_SETFD, 0);
	if (fork())
		return;
	execl("/proc/self/exe", "host-smi", name, fds[0], fds[1], NULL);
	err(1, "exec");
}

static CUmemGenericAllocationHandle imported(const char *fd)
{
	CUmemGenericAllocationHandle handle;

	CHECK(cuMemImportFromShareableHandle(&handle, (void *)atol(fd),
					     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	return handle;
}

int main(int argc, char **argv)
{
	CUmemGenericAllocationHandle whole, own;

	prctl(PR_SET_NAME, argc > 1 ? argv[1] : "rank0");
	CHECK(cuInit(0));
	if (argc == 1) {
		own = new_memory(0, 8 * CHUNK);
		whole = new_team(2, 2, 8 * CHUNK);
		CHECK(cuMulticastBindMem(whole, 0, own, 0, 8 * CHUNK, 0));
		start("rank1", whole, own);
		start("<b>&\"\1'", whole, own);
	} else if (!strcmp(argv[1], "rank1")) {
		whole = imported(argv[2]);
		imported(argv[3]);
		own = new_memory(1, 12 * CHUNK);
		CHECK(cuMulticastBindMem(whole, 0, own, 2 * CHUNK, 2 * CHUNK, 0));
		CHECK(cuMulticastBindMem(whole, 4 * CHUNK, own, 0, 2 * CHUNK, 0));
		whole = new_team(3, 2, CHUNK);
		cuMulticastBindMem(whole, 0, own, 0, CHUNK, 0);
	} else {
		new_memory(3, 3 * CHUNK);
	}
	pause();
	return 0;
}
