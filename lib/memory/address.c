// SPDX-License-Identifier: MIT
/* Reservations and mappings. */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "address.h"
#include "base/host_access.h"
#include "base/ioctl.h"
#include "base/visible.h"
#include "handle.h"
#include "memory/view/view.h"

/* The library passes these numbers to the kernel unchanged. */
_Static_assert((int)CU_MEM_ACCESS_FLAGS_PROT_NONE == MEMCAST_ACCESS_NONE &&
	       (int)CU_MEM_ACCESS_FLAGS_PROT_READ == MEMCAST_ACCESS_READ &&
	       (int)CU_MEM_ACCESS_FLAGS_PROT_READWRITE == MEMCAST_ACCESS_READWRITE,
	       "access flags have the same numbers");

const struct memory_watcher *memory_watcher;
const char *(*block_origin)(const struct memcast_address_info *info);

/*
 * Where the last reservation ends. As on hardware, the next one lies behind it if that place is
 * free: a program that runs over the end of the first meets the second, and each thread's
 * addresses ascend, by which ranks in threads sort their memories. The lock makes the place one
 * reservation's, from looking at it until the next place is known.
 */
static uintptr_t next_place;
static pthread_mutex_t place_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Addresses that a reservation leaves free behind it if it cannot lie behind the last one. The
 * kernel gives addresses from above, so other mappings take the far end of them first.
 */
#define FREE_BEHIND	(64ULL << 30)

/* Claims addresses that nothing else in the process gets, as the place of a reservation. */
static char *claim(char *hint, size_t size, size_t alignment, int flags)
{
	return mmap(hint, size + alignment, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static char *claim_at(uintptr_t place, size_t size, size_t alignment)
{
	place = (place + alignment - 1) & ~(alignment - 1);
	return claim((char *)place, size, 0, MAP_FIXED_NOREPLACE);
}

/*
 * Claims addresses for a reservation whose place the program leaves open: behind the last
 * reservation, or where much is free behind it.
 */
static char *claim_anywhere(size_t size, size_t alignment)
{
	size_t with_free = alignment + FREE_BEHIND;
	uintptr_t place = next_place;
	char *claimed = MAP_FAILED;

	if (place)
		claimed = claim_at(place, size, alignment);
	if (claimed != MAP_FAILED || size > addresses_end - with_free)
		return claimed;
	claimed = claim(NULL, size, with_free, 0);
	if (claimed == MAP_FAILED)
		return claimed;
	munmap(claimed, size + with_free);
	return claim_at((uintptr_t)claimed, size, alignment);
}

/* Return: addresses, of @size bytes, or of more, so that aligned ones are among them */
static char *claim_place(size_t size, size_t alignment, CUdeviceptr hint, size_t *claimed_size)
{
	char *claimed = MAP_FAILED;

	*claimed_size = size;
	if (!hint)
		claimed = claim_anywhere(size, alignment);
	else if (!(hint % alignment))
		claimed = claim((char *)hint, size, 0, MAP_FIXED_NOREPLACE);
	if (claimed == MAP_FAILED) {
		*claimed_size = size + alignment;
		claimed = claim((char *)hint, size, alignment, 0);
	}
	return claimed;
}

/* The place of a reservation that was freed is the next one's, if it was the last one's. */
static void give_place_back(CUdeviceptr address, size_t size)
{
	int before = cancel_hold();

	pthread_mutex_lock(&place_lock);
	if (next_place == address + size)
		next_place = address;
	pthread_mutex_unlock(&place_lock);
	cancel_release(before);
}

/*
 * The kernel takes a mapping of the device only where its address is a multiple of the
 * granularity, which mmap() cannot be asked for: claim a larger range, map the device over an
 * aligned part of it, unmap the rest. A place that fits is tried first, without spare bytes, as
 * the ranges beside it may be taken. @key: protection key of what is mapped there
 */
CUresult address_reserve(CUdeviceptr *address, size_t size, size_t alignment,
			 CUdeviceptr hint, unsigned int key)
{
	size_t claimed_size, rest;
	char *claimed, *start;
	int before;

	if (alignment < MEMCAST_GRANULARITY)
		alignment = MEMCAST_GRANULARITY;
	if (__builtin_add_overflow(size, alignment, &rest))
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for %zu bytes", size);

	before = cancel_hold();
	pthread_mutex_lock(&place_lock);
	claimed = claim_place(size, alignment, hint, &claimed_size);
	/* The highest aligned place, so that no hole is left below the mapping above. */
	rest = (claimed_size - size) & ~(alignment - 1);
	rest -= ((uintptr_t)claimed + rest) & (alignment - 1);
	start = claimed + rest;
	if (claimed != MAP_FAILED) {
		if (rest)
			munmap(claimed, rest);
		/* before another thread looks for its place behind this one */
		if (claimed_size - rest > size)
			munmap(start + size, claimed_size - rest - size);
		if (!hint)
			next_place = (uintptr_t)start + size;
	}
	pthread_mutex_unlock(&place_lock);
	cancel_release(before);
	if (claimed == MAP_FAILED)
		return fail(CUDA_ERROR_OUT_OF_MEMORY,
			    "no room for %zu bytes of addresses: %m", size);

	if (mmap(start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 library_fd(), key * MEMCAST_GRANULARITY) == MAP_FAILED) {
		CUresult result = fail(result_of_errno(errno), "mmap of %zu bytes: %m%s", size,
				       errno == ENOMEM ? " " SHARE_HINT : "");

		munmap(start, size);
		give_place_back((uintptr_t)start, size);
		return result;
	}
	*address = (uintptr_t)start;
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemAddressReserve, (CUdeviceptr *address, size_t size, size_t alignment,
				  CUdeviceptr hint, unsigned long long flags),
	    address, size, alignment, hint, flags)
{
	if (!address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (alignment & (alignment - 1))
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "alignment %zu is not a power of two", alignment);
	if (alignment >= addresses_end)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "no address is a multiple of %zu", alignment);
	if (!size || size % MEMCAST_GRANULARITY)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "size %zu is not a multiple of the granularity %llu", size,
			    MEMCAST_GRANULARITY);
	if (hint % MEMCAST_GRANULARITY)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "address %#llx is not a multiple of the granularity %llu", hint,
			    MEMCAST_GRANULARITY);
	if (hint >= addresses_end)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no process has addresses from %#llx on",
			    hint);
	return address_reserve(address, size, alignment, hint, host_access_key);
}

DEFINE_CALL(cuMemAddressFree, (CUdeviceptr address, size_t size), address, size)
{
	struct memcast_reservation_free arg = { .address = address, .bytes = size };
	CUresult result = device_ioctl(MEMCAST_RESERVATION_FREE, &arg);

	if (result == CUDA_SUCCESS)
		give_place_back(address, size);
	return result;
}

/* Frees a reservation and all mappings in it in one step, which fails as a whole. */
CUresult address_free_mapped(CUdeviceptr address, size_t size)
{
	struct memcast_reservation_free arg = {
		.address = address,
		.bytes = size,
		.flags = MEMCAST_FREE_MAPPED,
	};
	CUresult result = device_ioctl(MEMCAST_RESERVATION_FREE, &arg);

	if (result == CUDA_SUCCESS)
		give_place_back(address, size);
	return result;
}

/*
 * Memory of the host is the program's own: a reservation that shows some loses its protection key.
 * A reservation is one VMA, which is never split, so it loses the key as a whole.
 */
static void open_for_host(CUdeviceptr address)
{
	struct memcast_address_info info = { .address = address };
	uint64_t end;

	if (device_ioctl(MEMCAST_ADDRESS_INFO, &info) != CUDA_SUCCESS ||
	    info.out_type != MEMCAST_TYPE_MEMORY ||
	    info.out_location == MEMCAST_LOCATION_DEVICE ||
	    info.out_location == MEMCAST_LOCATION_ELSEWHERE)
		return;
	end = info.out_reservation + info.out_reservation_bytes;
	if (info.out_mapping + info.out_mapping_bytes > end)
		end = info.out_mapping + info.out_mapping_bytes;
	pkey_mprotect((void *)info.out_reservation, end - info.out_reservation,
		      PROT_READ | PROT_WRITE, 0);
}

DEFINE_CALL(cuMemMap, (CUdeviceptr address, size_t size, size_t offset,
		       CUmemGenericAllocationHandle handle, unsigned long long flags),
	    address, size, offset, (unsigned long)handle, flags)
{
	struct memcast_map arg = {
		.address = address,
		.bytes = size,
		.offset = offset,
		.flags = MEMCAST_MAP_WHOLE | MEMCAST_NO_WAIT,
	};
	CUresult result;

	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (memory_watcher->strict())
		arg.flags |= MEMCAST_MAP_STRICT;
	result = memory_handle(handle, &arg.handle);
	if (result != CUDA_SUCCESS)
		return result;
	result = team_ioctl("cuMemMap", MEMCAST_MAP, &arg.header, sizeof(arg), arg.handle, 0);
	if (result == CUDA_ERROR_INVALID_VALUE)
		result = tail_map(&arg);
	if (result == CUDA_SUCCESS) {
		if (host_access_key)
			open_for_host(address);
		windows_mapped(address, size);
		memory_watcher->mapped(address);
	}
	return result;
}

/*
 * cuMemUnmap() takes sizes that end within a chunk, as on hardware. If chunks are mapped there, the
 * size grows to the chunk's end; if nothing is, it shrinks to the chunk's start. Other drivers'
 * memory is mapped in pages, and may end there: such a size stays.
 */
static CUresult whole_chunks(CUdeviceptr address, unsigned long long *size)
{
	size_t end = *size % MEMCAST_GRANULARITY;
	struct memcast_address_info info = { .address = address + *size - end };
	CUresult result;

	/* the kernel refuses what begins within a chunk or is too long for addresses */
	if (!end || address % MEMCAST_GRANULARITY || *size >= addresses_end)
		return CUDA_SUCCESS;
	result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (!info.out_mapping_bytes)
		*size -= end;
	else if (!((info.out_mapping + info.out_mapping_bytes) % MEMCAST_GRANULARITY))
		*size += MEMCAST_GRANULARITY - end;
	return result;
}

DEFINE_CALL(cuMemUnmap, (CUdeviceptr address, size_t size), address, size)
{
	struct memcast_unmap arg = { .address = address, .bytes = size };
	CUresult result = whole_chunks(address, &arg.bytes);

	/* less than a chunk, in a reservation, where nothing is mapped: nothing to unmap */
	if (result != CUDA_SUCCESS || (size && !arg.bytes))
		return result;
	result = tail_unmap(&arg);
	if (result == CUDA_SUCCESS)
		windows_changed(address, arg.bytes);
	return result;
}

/* Converts descriptors to entries for the kernel, which takes ACCESS_ENTRIES at most. */
CUresult access_entries(struct memcast_access_entry *entries,
			const CUmemAccessDesc *desc, size_t count)
{
	if (!desc || !count || count > ACCESS_ENTRIES)
		return fail(CUDA_ERROR_INVALID_VALUE, "1 to %u descriptors", ACCESS_ENTRIES);
	for (size_t i = 0; i < count; i++)
		entries[i] = (struct memcast_access_entry) {
			.location = desc[i].location.type,
			.location_id = location_number(&desc[i].location),
			.access = desc[i].flags,
		};
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuMemSetAccess, (CUdeviceptr address, size_t size, const CUmemAccessDesc *desc,
			     size_t count),
	    address, size, desc, count)
{
	struct memcast_access_entry entries[ACCESS_ROOM(count)];
	struct memcast_set_access arg = {
		.address = address,
		.bytes = size,
		.entries = (uintptr_t)entries,
		.count = count,
	};
	CUresult result = access_entries(entries, desc, count);

	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_SET_ACCESS, &arg);
	if (result == CUDA_SUCCESS)
		windows_changed(address, size);
	return result;
}

DEFINE_CALL(cuMemGetAccess, (unsigned long long *flags, const CUmemLocation *location,
			     CUdeviceptr address),
	    flags, location, address)
{
	struct memcast_get_access arg = { .address = address };
	CUresult result;

	if (!flags || !location || !address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (location->type < CU_MEM_LOCATION_TYPE_DEVICE ||
	    location->type > CU_MEM_LOCATION_TYPE_HOST_NUMA)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown location type %d",
			    (int)location->type);
	arg.location = location->type;
	arg.location_id = location_number(location);
	result = device_ioctl(MEMCAST_GET_ACCESS, &arg);
	/* hardware's driver writes this output also where nothing is mapped */
	if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE)
		*flags = arg.out_access;
	return result;
}
