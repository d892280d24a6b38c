/* SPDX-License-Identifier: MIT */
/* Handles of memories and teams, and the calls on them that wait for a team's members. */
#ifndef LIBRARY_HANDLE_H
#define LIBRARY_HANDLE_H

#include "base/base.h"

/* memory.c */
static inline CUresult memory_handle(CUmemGenericAllocationHandle handle, uint32_t *number)
{
	if (handle > UINT32_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such handle");
	*number = handle;
	return CUDA_SUCCESS;
}

CUresult memory_other_handle_types(unsigned long long types, uint32_t *mask);

/* Converts handle types to a mask of MEMCAST_HANDLE_…; most calls ask for an fd or for none. */
static inline CUresult memory_handle_types(unsigned long long types, uint32_t *mask)
{
	if (types & ~(unsigned long long)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return memory_other_handle_types(types, mask);
	*mask = types ? MEMCAST_HANDLE_FD : 0;
	return CUDA_SUCCESS;
}

CUmemAllocationHandleType memory_types_of_mask(uint32_t mask);
CUresult memory_handle_info(CUmemGenericAllocationHandle handle,
			    struct memcast_handle_info *info);

/* wait.c */
CUresult team_ioctl(const char *call, unsigned long request, struct memcast_header *argument,
		    size_t size, uint32_t team, uint32_t memory);

/* A pointer parameter is an fd itself, where a handle to be imported is one. */
static inline CUresult memory_fd(const void *shareable, int *fd)
{
	*fd = (intptr_t)shareable;
	return *fd == (intptr_t)shareable ? CUDA_SUCCESS :
		fail(CUDA_ERROR_UNKNOWN, "%p is not an fd: pass it itself, not its address",
		     shareable);
}

/* fabric.c */
CUresult fabric_open_channels(bool again);

#endif /* LIBRARY_HANDLE_H */
