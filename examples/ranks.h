/* SPDX-License-Identifier: MIT */
/*
 * Processes that share a team, for all-gather.c and all-reduce-*.c: rank 0 hands it to the
 * others as an fd, over a UNIX socket for each of them.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS	4

/* Set CUDA_LOG_FILE=stderr to read why, in words. */
#define CHECK(call)								\
do {										\
	CUresult result_ = (call);						\
	const char *name_ = "?";						\
										\
	if (result_ != CUDA_SUCCESS) {						\
		cuGetErrorName(result_, &name_);				\
		fprintf(stderr, "rank %u: %s: %s\n", rank, #call, name_);	\
		exit(1);							\
	}									\
} while (0)

static unsigned int rank;

static void give_fd(int socket, int fd)
{
	union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(fd))]; } control = { };
	struct iovec byte = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &byte, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		perror("sendmsg"), exit(1);
}

static int take_fd(int socket)
{
	union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int))]; } control = { };
	char byte;
	struct iovec vector = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &vector, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    control.header.cmsg_type != SCM_RIGHTS)
		fprintf(stderr, "rank %u: rank 0 is gone\n", rank), exit(1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* Rank 0 makes the team, the others have it from there. */
static CUmemGenericAllocationHandle get_team(size_t bytes, const int *sockets)
{
	const CUmemAllocationHandleType shareable = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	CUmulticastObjectProp prop = {
		.numDevices = RANKS, .size = bytes, .handleTypes = shareable,
	};
	CUmemGenericAllocationHandle team;
	int fd;

	if (!rank) {
		CHECK(cuMulticastCreate(&team, &prop));
		CHECK(cuMemExportToShareableHandle(&fd, team, shareable, 0));
		for (int i = 1; i < RANKS; i++)
			give_fd(sockets[i], fd);
	} else {
		fd = take_fd(sockets[0]);
		CHECK(cuMemImportFromShareableHandle(&team, (void *)(intptr_t)fd, shareable));
	}
	close(fd);
	return team;
}

/* Adds this rank's device, and binds memory of it; waits for all devices. Return: the memory */
static CUmemGenericAllocationHandle join_team(CUmemGenericAllocationHandle team, size_t bytes)
{
	CUmemAllocationProp own = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, rank },
	};
	CUmemGenericAllocationHandle memory;

	CHECK(cuMulticastAddDevice(team, rank));
	CHECK(cuMemCreate(&memory, bytes, &own, 0));
	CHECK(cuMulticastBindMem(team, 0, memory, 0, bytes, 0));
	return memory;
}

/* Maps a memory or a team for this rank's device. */
static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
	CUmemAccessDesc access = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, rank },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUdeviceptr at;

	CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CHECK(cuMemMap(at, bytes, 0, handle, 0));
	CHECK(cuMemSetAccess(at, bytes, &access, 1));
	return at;
}

/*
 * All ranks are here. Binding has waited until every device had joined, not until
 * every rank had bound its memory: a store to a replica before that is a SIGBUS.
 */
static void meet(const int *sockets)
{
	int first = rank ? 0 : 1, last = rank ? 0 : RANKS - 1;
	char byte = 0;

	for (int i = first; i <= last; i++)
		if ((rank && write(sockets[i], &byte, 1) != 1) || read(sockets[i], &byte, 1) != 1)
			fprintf(stderr, "rank %u: another rank is gone\n", rank), exit(1);
	for (int i = first; i <= last && !rank; i++)
		if (write(sockets[i], &byte, 1) != 1)
			fprintf(stderr, "rank %u: another rank is gone\n", rank), exit(1);
}

/* Runs a function in a process for each rank; it has sockets to the others, rank 0 to all. */
static int run_ranks(int (*run)(const int *sockets))
{
	int pair[RANKS][2], sockets[RANKS], status, failed = 0;

	/* A client does not survive fork(): that comes before cuInit(). */
	for (int i = 1; i < RANKS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]))
			return perror("socketpair"), 1;
		sockets[i] = pair[i][0];
	}
	for (unsigned int i = 1; i < RANKS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return perror("fork"), 1;
		if (!pid) {
			rank = i;
			return run(&pair[i][1]);
		}
		close(pair[i][1]);
	}
	failed = run(sockets);
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
