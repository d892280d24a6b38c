// SPDX-License-Identifier: MIT
/*
 * Views: one reservation, in which the replicas of a team lie side by side. Signal handlers make
 * views as well (window.c): no malloc.
 */
#include <string.h>
#include <sys/mman.h>

#include "memory/address.h"
#include "memory/handle.h"
#include "base/ioctl.h"
#include "view.h"

_Static_assert(MEMCAST_VIEW_MAX == MEMCAST_MAX_DEVICES, "a view has all members of a team");

static CUresult map_replica(const char *call, uint32_t team, CUdeviceptr address,
			    size_t offset, size_t bytes, uint32_t member)
{
	struct memcast_map arg = {
		.handle = team,
		.flags = MEMCAST_MAP_REPLICA | MEMCAST_NO_WAIT,
		.address = address,
		.bytes = bytes,
		.offset = offset,
		.member = member,
	};

	return team_ioctl(call, MEMCAST_MAP, &arg.header, sizeof(arg), team, 0);
}

/*
 * Sets the access of a device, visible or not, to adjacent replicas: it is also the CPU's
 * access.
 */
CUresult view_allow(const struct memcast_view *view, unsigned int first,
		    unsigned int count, CUdevice device, CUmemAccess_flags access)
{
	struct memcast_access_entry entry = {
		.location = MEMCAST_LOCATION_DEVICE,
		.location_id = device,
		.access = access,
	};
	struct memcast_set_access arg = {
		.address = (uintptr_t)view->replica[first],
		.bytes = count * view->bytes,
		.entries = (uintptr_t)&entry,
		.count = 1,
	};

	return device_ioctl(MEMCAST_SET_ACCESS, &arg);
}

/* Unmaps a view's reservation and its mappings with one system call, which cannot fail. */
void view_unmap(const struct memcast_view *view)
{
	munmap(view->replica[0], view->replicas * view->bytes);
}

/*
 * Finds the device by whose access the CPU gets access to each replica: the member that the
 * replica is of, or, if another host has that, the first member of this host.
 */
static CUresult find_accessors(const struct memcast_handle_info *team, uint32_t *accessor,
			       unsigned int count)
{
	size_t bytes = team->out_devices * sizeof(struct memcast_team_member);
	struct memcast_team_member *member = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct memcast_team_members members = {
		.team = team->handle, .count = team->out_devices, .members = (uintptr_t)member,
	};
	unsigned int here = 0;
	CUresult result;

	if (member == MAP_FAILED)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u members",
			    team->out_devices);
	result = device_ioctl(MEMCAST_TEAM_MEMBERS, &members);
	while (result == CUDA_SUCCESS && member[here].flags & MEMCAST_MEMBER_ELSEWHERE)
		if (++here == members.count)
			result = fail(CUDA_ERROR_INVALID_DEVICE,
				      "no device of this host is a member of the team");
	for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++)
		accessor[i] = member[member[i].flags & MEMCAST_MEMBER_ELSEWHERE ? here : i].device;
	munmap(member, bytes);
	return result;
}

/*
 * Maps all replicas of a team, without access for any device. @accessor: output, for each of
 * the first @count replicas the device that is to get access. The team is complete when this
 * returns.
 */
CUresult view_map(const char *call, struct memcast_view *view,
		  const struct memcast_handle_info *team, size_t offset, size_t bytes,
		  uint32_t *accessor, unsigned int count)
{
	unsigned int replicas = team->out_devices;
	CUdeviceptr start;
	CUresult result;
	size_t total;

	if (replicas > MEMCAST_VIEW_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "%u replicas are more than the %u of a view",
			    replicas, MEMCAST_VIEW_MAX);
	if (__builtin_mul_overflow(replicas, bytes, &total))
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no room for %u replicas of %zu bytes",
			    replicas, bytes);
	result = address_reserve(&start, total, 0, 0, 0);
	if (result != CUDA_SUCCESS)
		return result;
	view->replicas = replicas;
	view->bytes = bytes;
	for (uint32_t i = 0; i < replicas; i++)
		view->replica[i] = (unsigned char *)start + i * bytes;

	for (uint32_t i = 0; result == CUDA_SUCCESS && i < replicas; i++)
		result = map_replica(call, team->handle, start + i * bytes, offset, bytes,
				     i);
	/* The first mapping waited for all members: now they are known. */
	if (result == CUDA_SUCCESS)
		result = find_accessors(team, accessor, count);
	if (result != CUDA_SUCCESS)
		view_unmap(view);
	return result;
}

static CUresult create_for(struct memcast_view *out, const struct memcast_handle_info *team,
			   size_t offset, size_t bytes)
{
	uint32_t accessor[MEMCAST_VIEW_MAX];
	struct memcast_view view;
	CUresult result;

	result = view_map("memcastViewCreate", &view, team, offset, bytes, accessor,
			  team->out_devices);
	if (result != CUDA_SUCCESS)
		return result;
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < view.replicas; i++)
		result = view_allow(&view, i, 1, accessor[i],
				    CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	if (result == CUDA_SUCCESS)
		/*
		 * copy no more: a caller that was compiled for smaller teams has no room for
		 * more replicas
		 */
		memcpy(out, &view, offsetof(struct memcast_view, replica[view.replicas]));
	else
		view_unmap(&view);
	return result;
}

DEFINE_CALL(memcastViewCreate, (struct memcast_view *view, CUmemGenericAllocationHandle team,
				size_t offset, size_t bytes),
	    view, (unsigned long)team, offset, bytes)
{
	struct memcast_handle_info info = {};
	CUresult result;

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
	return create_for(view, &info, offset, bytes);
}

DEFINE_CALL(memcastViewDestroy, (struct memcast_view *view), view)
{
	CUresult result;

	if (!view)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL view");
	result = address_free_mapped((uintptr_t)view->replica[0],
				     view->replicas * view->bytes);
	if (result == CUDA_SUCCESS)
		memset(view, 0, offsetof(struct memcast_view, replica[view->replicas]));
	return result;
}
