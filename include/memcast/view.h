/* SPDX-License-Identifier: MIT */
/*
 * Views: every replica of a team, side by side, for reading and writing.
 *
 * A CPU address names one page, so a store through it cannot reach N replicas.
 * A view gives a program all N addresses; multimem.h turns PTX's multimem
 * operations into plain loads, stores and atomics on them. Source of these
 * calls: ours (the hardware needs none).
 *
 * Library: memcast's libcuda.so.1 (link with -lcuda).
 */
#ifndef MEMCAST_VIEW_H
#define MEMCAST_VIEW_H

#include <stddef.h>
#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A program that was compiled when this was 64 can have views of teams of up to 64 devices. */
#define MEMCAST_VIEW_MAX	576

/**
 * struct memcast_view - the replicas of a team
 * @replicas: how many, in the order their devices joined
 * @bytes: size of each
 * @replica: where they are mapped in this process; an access to a replica at an offset
 *	at which it is not bound raises SIGBUS
 */
struct memcast_view {
	unsigned int replicas;
	size_t bytes;
	unsigned char *replica[MEMCAST_VIEW_MAX];
};

/**
 * memcastViewCreate() - map all replicas of a team
 * @view: output
 * @team: handle of cuMulticastCreate(), imported ones too; may be released
 *	afterwards. The call waits until all devices have joined.
 * @offset: bytes into the team, a multiple of the granularity
 * @bytes: a multiple of the granularity
 *
 * The view follows later binds and unbinds at once.
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (no team, range), CUDA_ERROR_OUT_OF_MEMORY
 * (no room in the address space), CUDA_ERROR_NOT_INITIALIZED.
 */
CUresult memcastViewCreate(struct memcast_view *view,
			   CUmemGenericAllocationHandle team,
			   size_t offset, size_t bytes);

/**
 * memcastViewDestroy() - unmap a view
 * @view: as memcastViewCreate() gave it; empty afterwards
 *
 * Errors: CUDA_ERROR_INVALID_VALUE (NULL, or no mapped view), and then nothing is
 * unmapped; CUDA_ERROR_NOT_INITIALIZED, in a child of fork() too: it has no views.
 */
CUresult memcastViewDestroy(struct memcast_view *view);

/**
 * memcastViewAt() - the view of the team that is mapped at an address
 * @address: anywhere in a mapping of a team, as cuMemMap() was given it
 * @offset: output, bytes: where in the view @address is
 *
 * The view covers that mapping, and its bytes are those of the team that the
 * mapping shows. The first call for a mapping makes the view, later calls find it
 * without a system call and without a lock. Its replicas can be read and
 * written as cuMemSetAccess() allows for the mapping, also when that changes:
 * an access that is not allowed raises SIGSEGV, an access to a replica that is not
 * bound SIGBUS. A signal handler may call this once the mapping has its view.
 *
 * The view is the library's: it is valid until the mapping ends (cuMemUnmap())
 * and must not be given to memcastViewDestroy(). A child of fork() has none.
 *
 * Return: the view; NULL if no team is mapped there or there is no room for its
 * replicas. The log says why (CUDA_LOG_FILE).
 */
const struct memcast_view *memcastViewAt(CUdeviceptr address, size_t *offset);

/**
 * memcastNoView() - say on stderr why the last memcastViewAt() of this thread found no view
 * @address: as it was given
 *
 * For operations on an address that need a view; memcast/multimem.h calls it
 * before it ends the program by SIGILL. Source: ours.
 */
void memcastNoView(CUdeviceptr address) __attribute__((__cold__));

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_VIEW_H */
