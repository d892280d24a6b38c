// SPDX-License-Identifier: MIT
/*
 * All-gather and reduce-scatter of several processes on a team, as collective
 * libraries set them up: each rank has a device, rank 0 makes the team and hands it to
 * the others as an fd over a UNIX socket.
 *
 *	make && tools/memcast-vm -- build/examples/all-gather
 *
 * The array has a slice for each rank. All-gather: each rank writes its slice to all
 * replicas. Reduce-scatter: each rank reads the sum of all replicas of its slice.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <memcast/bulk.h>
#include <memcast/group.h>
#include <memcast/view.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS	4
#define SLICE	(1 << 16)	/* floats */
#define BYTES	((size_t)RANKS * SLICE * sizeof(float))

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

/* Return: this rank's replica of the team, and the view of all of them */
static float *join(struct memcast_view *view, const int *sockets)
{
	CUmulticastObjectProp prop = { .numDevices = RANKS };
	CUmemAllocationProp own = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, rank },
	};
	CUmemAccessDesc access = {
		.location = own.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle team, memory;
	size_t bytes = BYTES + MEMCAST_GROUP_BYTES(RANKS), granularity;
	CUdeviceptr at;

	CHECK(cuMulticastGetGranularity(&granularity, &prop, CU_MULTICAST_GRANULARITY_MINIMUM));
	bytes = (bytes + granularity - 1) / granularity * granularity;
	team = get_team(bytes, sockets);
	CHECK(cuMulticastAddDevice(team, rank));
	CHECK(cuMemCreate(&memory, bytes, &own, 0));
	CHECK(cuMulticastBindMem(team, 0, memory, 0, bytes, 0));	/* waits for all devices */
	CHECK(memcastViewCreate(view, team, 0, bytes));

	CHECK(cuMemAddressReserve(&at, bytes, 0, 0, 0));
	CHECK(cuMemMap(at, bytes, 0, memory, 0));
	CHECK(cuMemSetAccess(at, bytes, &access, 1));
	return (float *)at;
}

static int run(const int *sockets)
{
	struct memcast_group group;
	struct memcast_view view;
	static float sum[SLICE];
	unsigned int wrong = 0;
	float *array;

	CHECK(cuInit(0));
	array = join(&view, sockets);
	CHECK(memcastGroupInit(&group, &view, BYTES, rank, RANKS));	/* flags behind it */
	meet(sockets);

	for (unsigned int i = 0; i < SLICE; i++)
		sum[i] = rank + 1;
	CHECK(memcastBroadcast(&view, rank * sizeof(sum), sum, sizeof(sum)));
	CHECK(memcastBarrier(&group));
	for (unsigned int i = 0; i < RANKS * SLICE; i++)
		wrong += array[i] != i / SLICE + 1;
	CHECK(memcastBarrier(&group));

	for (unsigned int i = 0; i < RANKS * SLICE; i++)
		array[i] = rank * RANKS + i / SLICE;
	CHECK(memcastBarrier(&group));
	CHECK(memcastReduceLoad(&view, rank * sizeof(sum), sum, SLICE, MEMCAST_F32, MEMCAST_ADD));
	for (unsigned int i = 0; i < SLICE; i++)
		wrong += sum[i] != RANKS * (RANKS - 1) / 2 * RANKS + RANKS * rank;
	/* not a barrier in memory, which goes with the first rank that ends */
	meet(sockets);
	printf("rank %u: %u of %u values are wrong\n", rank, wrong, (RANKS + 1) * SLICE);
	return wrong != 0;
}

int main(void)
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
