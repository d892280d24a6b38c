// SPDX-License-Identifier: MIT
/*
 * Tails: on hardware a mapping may reach over its reservation's end. So it may here, if nothing of
 * the process is behind that: the reservation gets a tail there, until the mapping goes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "address.h"
#include "base/host_access.h"
#include "base/ioctl.h"
#include "handle.h"

/* Tails that this library has mapped: without one, cuMemUnmap() does not look for them */
static atomic_uint tails;

/*
 * Return: where a range leaves its reservation; 0: it does not, or is in none. device_ask() gives
 * no reason, so that the call's own reason stays.
 */
static uint64_t leaves_at(CUdeviceptr address, size_t size)
{
	struct memcast_address_info info = { .address = address };
	uint64_t end;

	if (!device_ask(MEMCAST_ADDRESS_INFO, &info))
		return 0;
	end = info.out_reservation + info.out_reservation_bytes;
	return address < end && size > end - address && size <= addresses_end - address ? end : 0;
}

struct tail {
	uint64_t start;
	size_t bytes;
};

static void tail_drop(void *data)
{
	const struct tail *tail = data;

	munmap((void *)tail->start, tail->bytes);
	tails--;
}

/* As the tail has the place for all that time, no other thread's reservation or tail can get it. */
CUresult tail_map(struct memcast_map *arg)
{
	uint64_t end = leaves_at(arg->address, arg->bytes);
	struct tail tail = { end, arg->address + arg->bytes - end };
	CUresult result;

	if (!end)
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap((void *)end, tail.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		 library_fd(), host_access_key * MEMCAST_GRANULARITY + MEMCAST_MMAP_TAIL) ==
	    MAP_FAILED)
		return errno == EEXIST || errno == EINVAL ?
			fail(CUDA_ERROR_INVALID_VALUE,
			     "%zu bytes are behind the reservation's end, where something else is",
			     tail.bytes) :
			fail(result_of_errno(errno), "no mapping of %zu bytes: %m", tail.bytes);
	arg->flags |= MEMCAST_MAP_TAIL;
	tails++;
	/* the call may wait for a team, and its thread be cancelled meanwhile */
	pthread_cleanup_push(tail_drop, &tail);
	result = team_ioctl("cuMemMap", MEMCAST_MAP, &arg->header, sizeof(*arg), arg->handle, 0);
	pthread_cleanup_pop(result != CUDA_SUCCESS);
	return result;
}

CUresult tail_unmap(struct memcast_unmap *arg)
{
	uint64_t end = tails ? leaves_at(arg->address, arg->bytes) : 0;
	CUresult result = device_ioctl(MEMCAST_UNMAP, arg);

	if (result == CUDA_SUCCESS && end)
		tail_drop(&(struct tail){ end, arg->address + arg->bytes - end });
	return result;
}
