// SPDX-License-Identifier: MIT
/* Views: one reservation, in it the replicas of a team side by side. */
#include <sys/mman.h>

#include "library.h"

static CUresult map_replica(uint32_t team, CUdeviceptr address, size_t offset,
			    size_t bytes, uint32_t member)
{
	struct memcast_map arg = {
		.handle = team,
		.flags = MEMCAST_MAP_REPLICA,
		.address = address,
		.bytes = bytes,
		.offset = offset,
		.member = member,
	};

	return device_ioctl(MEMCAST_MAP, &arg);
}

static CUresult allow(CUdeviceptr address, size_t bytes, CUdevice device)
{
	CUmemAccessDesc desc = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	return address_set_access(address, bytes, &desc, 1);
}

static CUresult map_replicas(struct memcast_handle_info *info, CUdeviceptr start,
			     size_t offset, size_t bytes)
{
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; result == CUDA_SUCCESS && i < info->out_devices; i++)
		result = map_replica(info->handle, start + i * bytes, offset, bytes, i);
	/* The first mapping waited for the members: now they are known. */
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_HANDLE_INFO, info);
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < info->out_devices; i++)
		result = allow(start + i * bytes, bytes, info->out_member[i]);
	return result;
}

static CUresult create(struct memcast_view *view, CUmemGenericAllocationHandle team,
		       size_t offset, size_t bytes)
{
	struct memcast_handle_info info = {};
	CUdeviceptr start;
	CUresult result;
	size_t total;

	if (!view)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = memory_handle_info(team, &info);
	if (result != CUDA_SUCCESS)
		return result;
	if (info.out_type != MEMCAST_TYPE_TEAM)
		return fail(CUDA_ERROR_INVALID_VALUE, "not a team");
	if (!bytes || offset > info.out_bytes || bytes > info.out_bytes - offset)
		return fail(CUDA_ERROR_INVALID_VALUE,
			    "%zu bytes at %zu are not inside the team's %llu", bytes, offset,
			    (unsigned long long)info.out_bytes);

	if (__builtin_mul_overflow(info.out_devices, bytes, &total))
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for %u replicas of %zu bytes",
			    info.out_devices, bytes);
	result = address_reserve(&start, total, 0, 0);
	if (result != CUDA_SUCCESS)
		return result;
	result = map_replicas(&info, start, offset, bytes);
	if (result != CUDA_SUCCESS) {
		/* Takes what is mapped along, and leaves the reason as it is. */
		munmap((void *)start, total);
		return result;
	}

	*view = (struct memcast_view) { .replicas = info.out_devices, .bytes = bytes };
	for (uint32_t i = 0; i < info.out_devices; i++)
		view->replica[i] = (unsigned char *)start + i * bytes;
	return CUDA_SUCCESS;
}

CUresult memcastViewCreate(struct memcast_view *view, CUmemGenericAllocationHandle team,
			   size_t offset, size_t bytes)
{
	return CALL(create(view, team, offset, bytes),
		    "view=%p, team=%llu, offset=%zu, bytes=%zu",
		    (void *)view, team, offset, bytes);
}

static CUresult destroy(struct memcast_view *view)
{
	CUdeviceptr start;
	CUresult result;

	if (!view)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL view");
	start = (uintptr_t)view->replica[0];
	result = address_unmap(start, view->replicas * view->bytes);
	if (result == CUDA_SUCCESS)
		result = address_free(start, view->replicas * view->bytes);
	if (result == CUDA_SUCCESS)
		*view = (struct memcast_view) {};
	return result;
}

CUresult memcastViewDestroy(struct memcast_view *view)
{
	return CALL(destroy(view), "view=%p", (void *)view);
}
