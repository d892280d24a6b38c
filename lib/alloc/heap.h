/* SPDX-License-Identifier: MIT */
/*
 * Heaps are the kernel's: blocks of any size, and who has which. Each context has
 * three of its own, for plain allocation on its device and on the host and for managed
 * memory, whose numbers are in its slot. A CUmemoryPool is the number of a heap.
 */
#ifndef MEMCAST_HEAP_H
#define MEMCAST_HEAP_H

#include "context.h"

/*
 * A block's flags, which the kernel keeps: those that the program gave, and what a
 * CUcontext begins with (the slot's number and some bits of how often it was used),
 * of the context that registered it. The other blocks are in a context's heap.
 */
#define BLOCK_FLAGS_GIVEN	0x0f
#define BLOCK_MANAGED		0x10	/* what cuMemAllocManaged() gave */
#define BLOCK_MODULE		0x20	/* a variable of a module, which ends with that */
#define BLOCK_IPC		0x40	/* what cuIpcOpenMemHandle() mapped */
#define BLOCK_SYNC		0x80	/* SYNC_MEMOPS was set */
#define BLOCK_CONTEXT_SHIFT	8
#define BLOCK_CONTEXT_MASK	(~0U << BLOCK_CONTEXT_SHIFT)

/* A registered range is in no heap, shows no object and yet is mapped. */
static inline bool block_registered(const struct memcast_address_info *info)
{
	return info->out_mapping_bytes && !info->out_heap && !info->out_type;
}

static inline bool block_managed(const struct memcast_address_info *info)
{
	return info->out_heap && info->out_block_flags & BLOCK_MANAGED;
}

uint32_t block_flags_of(const struct slot *slot);
struct slot *slot_of_block(const struct memcast_address_info *info);
CUresult heap_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address);
CUresult heap_free(CUdeviceptr address, uint32_t flags);
CUresult context_heap_of(struct slot *slot, enum context_heap which, uint32_t *heap);
CUresult context_heap(enum context_heap which, uint32_t *heap);
CUcontext context_of_heap(uint32_t heap);
CUresult context_free(CUdeviceptr address, uint32_t kind);

/* What a copy has to look at where contexts share a device */
extern atomic_uint contexts_with_memory, with_memory[], devices_shared;
CUresult fill_from_context(CUcontext context, uint64_t to);
CUresult copy_between_contexts(uint64_t to, uint64_t from);

/* ipc.c: how many blocks of other processes are open; may a block be freed? */
extern atomic_uint ipc_opened;
CUresult ipc_check_free(CUdeviceptr address);

#endif /* MEMCAST_HEAP_H */
