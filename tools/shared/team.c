// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/multimem.h>

#include "team.h"

/*
 * The sync area at the end of the team, at a multiple of 64: the group's flags, then a word of each
 * rank.
 */
#define SYNC_WORDS(ranks)	MEMCAST_GROUP_BYTES(ranks)
#define SYNC_BYTES(ranks)	(SYNC_WORDS(ranks) + (ranks) * sizeof(uint64_t))

#define MORE_DEVICES	"memcast.ko devices= or memcast-vm --devices gives more"

static const char *advice(CUresult result)
{
	switch (result) {
	case CUDA_ERROR_NO_DEVICE:
		return "no /dev/memcast: insmod memcast.ko, or run under tools/memcast-vm";
	case CUDA_ERROR_OPERATING_SYSTEM:
		return "/dev/memcast cannot be opened: ls -l /dev/memcast shows who may";
	case CUDA_ERROR_OUT_OF_MEMORY:
		return "a pool is full: take smaller sizes, or larger pools (memcast.ko "
		       "pool_mib=, memcast-vm --pool-mib)";
	case CUDA_ERROR_INVALID_DEVICE:
		return "there are fewer devices: " MORE_DEVICES;
	case CUDA_ERROR_NOT_PERMITTED:
		return "fabric handles take an IMEX channel: memcast.ko imex_channels=1, or "
		       "memcast-vm --param imex_channels=1";
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return "the fabric is not ready: see memcast.ko's parameter fabric_state";
	default:
		return "CUDA_LOG_FILE=stderr shows the reason";
	}
}

void team_check(CUresult result, const char *call)
{
	const char *name = "unknown error";

	if (result == CUDA_SUCCESS)
		return;
	cuGetErrorName(result, &name);
	rank_die("%.*s: %s (%s)", (int)strcspn(call, "("), call, name,
		 advice(result));
}

const struct element element_u32 = { "u32", "uint32", sizeof(uint32_t), MEMCAST_U32 };
const struct element element_u64 = { "u64", "uint64", sizeof(uint64_t), MEMCAST_U64 };
const struct element element_f32 = { "f32", "float", sizeof(float), MEMCAST_F32 };

const struct element *element_find(const char *name)
{
	static const struct element *const known[] = {
		&element_u32, &element_u64, &element_f32,
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i]->name) ||
		    !strcmp(name, known[i]->nccl_name))
			return known[i];
	return NULL;
}

static unsigned int count_devices(void)
{
	int answer[2], count, status;
	pid_t child;

	if (pipe(answer))
		rank_die("pipe: %s", strerror(errno));
	fflush(NULL);
	child = fork();
	if (child < 0)
		rank_die("fork: %s", strerror(errno));
	if (!child) {
		CU(cuInit(0));
		CU(cuDeviceGetCount(&count));
		_exit(write(answer[1], &count, sizeof(count)) != sizeof(count));
	}
	close(answer[1]);
	if (waitpid(child, &status, 0) != child)
		rank_die("waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		rank_die("cuInit: ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	if (read(answer[0], &count, sizeof(count)) != sizeof(count))
		exit(1);	/* the child has said why */
	close(answer[0]);
	return (unsigned int)count;
}

unsigned int team_ranks(unsigned int wanted)
{
	unsigned int devices = count_devices();

	if (!wanted)
		wanted = devices < RANKS_MAX ? devices : RANKS_MAX;
	if (wanted < 2)
		rank_die("a team needs 2 devices or more; " MORE_DEVICES);
	if (wanted > RANKS_MAX)
		rank_die("%u ranks: %d at most", wanted, RANKS_MAX);
	if (wanted > devices)
		rank_die("%u ranks: there are %u devices; " MORE_DEVICES,
			 wanted, devices);
	return wanted;
}

/* Rank 0 creates the team, the others import it. */
static CUmemGenericAllocationHandle team_open(struct rank *rank, const CUmulticastObjectProp *prop)
{
	CUmemGenericAllocationHandle team;
	CUmemFabricHandle fabric;
	int fd = -1;

	if (rank->index == 0)
		CU(cuMulticastCreate(&team, prop));
	if (rank->launched) {
		if (rank->index == 0)
			CU(cuMemExportToShareableHandle(&fabric, team, CU_MEM_HANDLE_TYPE_FABRIC,
							0));
		rank_share(rank, &fabric, sizeof(fabric));
		if (rank->index)
			CU(cuMemImportFromShareableHandle(&team, &fabric,
							  CU_MEM_HANDLE_TYPE_FABRIC));
		return team;
	}
	if (rank->index == 0)
		CU(cuMemExportToShareableHandle(&fd, team,
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	fd = rank_share_fd(rank, fd);
	if (rank->index)
		CU(cuMemImportFromShareableHandle(&team, (void *)(uintptr_t)fd,
			CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(fd);
	return team;
}

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

void team_join(struct team *team, struct rank *rank, const struct team_sizes *sizes)
{
	CUmemAllocationHandleType handles = rank->launched ? CU_MEM_HANDLE_TYPE_FABRIC :
					    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	CUmulticastObjectProp team_prop = { .numDevices = rank->count, .handleTypes = handles };
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = handles,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = (int)rank->device },
	};
	CUmemAccessDesc access = {
		.location = prop.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle, memory;
	char ready = 0, all_ready[RANKS_MAX];
	size_t bytes, created, unit;
	CUdevice device;
	CUcontext context;
	CUdeviceptr own;

	CU(cuInit(0));
	CU(cuDeviceGet(&device, (int)rank->device));
	CU(cuDevicePrimaryCtxRetain(&context, device));
	CU(cuCtxSetCurrent(context));
	CU(cuMulticastGetGranularity(&unit, &team_prop,
				     CU_MULTICAST_GRANULARITY_MINIMUM));
	bytes = round_up(larger(round_up(sizes->bytes, 64) + SYNC_BYTES(rank->count), sizes->bound),
			 unit);
	created = round_up(larger(bytes, sizes->created), unit);
	team_prop.size = bytes;

	handle = team_open(rank, &team_prop);
	rank_turn_begin(rank);
	CU(cuMulticastAddDevice(handle, device));
	rank_turn_end(rank);
	CU(cuMemCreate(&memory, created, &prop, 0));
	CU(cuMulticastBindMem(handle, 0, memory, 0, bytes, 0));
	/* A memory is mapped as a whole, with the bytes that are not bound. */
	CU(cuMemAddressReserve(&own, created, 0, 0, 0));
	CU(cuMemMap(own, created, 0, memory, 0));
	CU(cuMemSetAccess(own, created, &access, 1));
	CU(memcastViewCreate(&team->view, handle, 0, bytes));
	CU(cuMemRelease(memory));	/* the mapping keeps it */
	CU(cuMemRelease(handle));	/* the view keeps it */

	team->own = (unsigned char *)(uintptr_t)own;
	team->sync = (bytes - SYNC_BYTES(rank->count)) / 64 * 64;
	team->index = rank->index;
	team->count = rank->count;
	CU(memcastGroupInit(&team->group, &team->view, team->sync, rank->index, rank->count));
	/* A replica that is not bound yet would answer with SIGBUS. */
	rank_gather(rank, &ready, sizeof(ready), all_ready);
}

void team_barrier(struct team *team)
{
	CU(memcastBarrier(&team->group));
}

void team_exchange(struct team *team, uint64_t mine, uint64_t *all)
{
	size_t words = team->sync + SYNC_WORDS(team->count);

	multimem_st_u64(&team->view, words + team->index * sizeof(mine), mine);
	team_barrier(team);
	memcpy(all, team->own + words, team->count * sizeof(mine));
	team_barrier(team);	/* no rank overwrites words that other ranks still read */
}

void team_allreduce(struct team *team, const struct element *element,
		    size_t count)
{
	CU(memcastAllReduce(&team->group, 0, count, element->type, MEMCAST_ADD));
}

void team_broadcast(struct team *team, const struct element *element,
		    size_t count, unsigned int root, const void *from)
{
	team_barrier(team);
	if (team->index == root)
		CU(memcastBroadcast(&team->view, 0, from, count * element->bytes));
	team_barrier(team);
}

void team_reduce(struct team *team, const struct element *element,
		 size_t count, unsigned int root, void *to)
{
	team_barrier(team);
	if (team->index == root)
		CU(memcastReduceLoad(&team->view, 0, to, count, element->type, MEMCAST_ADD));
	team_barrier(team);
}
