/* SPDX-License-Identifier: MIT */
/*
 * Heaps exist in the kernel: blocks of any size, and which process has them. Each context has
 * three of its own, for plain allocation on its device and on the host and for managed memory;
 * their numbers are in its slot. A CUmemoryPool is the number of a heap.
 */
#ifndef MEMCAST_ALLOC_H
#define MEMCAST_ALLOC_H

#include "context/context.h"

/*
 * A block's flags, which the kernel keeps: those that the program gave, those of the library,
 * and a tag of the context that allocated, opened or registered it: the lowest bits of the
 * CUcontext (the slot's number and some bits of its count of uses). A block of a pool has no
 * tag; its heap is none of the slot's.
 */
#define BLOCK_FLAGS_GIVEN	0x07
#define BLOCK_GRAPH		0x08	/* of an alloc node, whose heap is no pool of the program's */
#define BLOCK_MANAGED		0x10	/* from cuMemAllocManaged() */
#define BLOCK_MODULE		0x20	/* a variable of a module, freed with the module */
#define BLOCK_IPC		0x40	/* mapped by cuIpcOpenMemHandle() */
#define BLOCK_SYNC		0x80	/* the program or the library set SYNC_MEMOPS */
#define BLOCK_EXTERNAL		0x100	/* mapped by cuExternalMemoryGetMappedBuffer() */
#define BLOCK_CONTEXT_SHIFT	9
#define BLOCK_CONTEXT_MASK	(~0U << BLOCK_CONTEXT_SHIFT)

/* Is it a registered range? Such a range has a mapping, but no heap and no object. */
static inline bool block_registered(const struct memcast_address_info *info)
{
	return info->out_mapping_bytes && !info->out_heap && !info->out_type;
}

static inline bool block_managed(const struct memcast_address_info *info)
{
	return info->out_heap && info->out_block_flags & BLOCK_MANAGED;
}

/* Whose memory is at info->address, which is asked? pointer.c; a failure has no reason of its own. */
enum memory_of {
	MEMORY_UNKNOWN,		/* in no reservation, like what the program's malloc() gives */
	MEMORY_MISSING,		/* in a reservation, where nothing is mapped */
	MEMORY_OF_HOST,
	MEMORY_MANAGED,
	MEMORY_OF_DEVICE,	/* out_location_id */
	MEMORY_ELSEWHERE,	/* of a device that this process does not see */
};

enum memory_of memory_ask(struct memcast_address_info *info);

uint32_t block_flags_of(const struct slot *slot);
struct slot *slot_of_block(const struct memcast_address_info *info);
CUresult heap_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address);
CUresult pool_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address);
void heap_end(uint32_t heap);
CUresult heap_free(CUdeviceptr address, uint32_t flags);
CUresult context_heap_of(struct slot *slot, enum context_heap which, uint32_t *heap);
CUresult context_heap(enum context_heap which, uint32_t *heap, uint32_t *tag);
CUresult context_free(CUdeviceptr address, uint32_t kind);

/* external.c: the two halves of ending a context's external memories, as heap.c's of its heaps */
void externals_take(CUcontext context);
void externals_end(void);

/* ipc.c: a context ends */
void ipc_forget(CUcontext context);

/* Counters by which a copy or fill tells whether contexts can be in each other's way */
extern atomic_uint contexts_with_memory, with_memory[], devices_shared;
CUresult fill_from_context(CUcontext context, uint64_t to);
CUresult copy_between_contexts(uint64_t to, uint64_t from);

/* Were there blocks that check_free() refuses? */
extern atomic_bool blocks_kept;
CUresult check_free(const struct memcast_address_info *info);

#endif /* MEMCAST_ALLOC_H */
