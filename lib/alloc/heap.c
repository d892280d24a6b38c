// SPDX-License-Identifier: MIT
/* Blocks of heaps, and the heaps of contexts. */
#include "advice.h"
#include "stream/capture.h"
#include "alloc.h"
#include "base/ioctl.h"
#include "memory/address.h"

atomic_bool blocks_kept;

CUresult heap_alloc(uint32_t heap, size_t bytes, uint32_t flags, CUdeviceptr *address)
{
	struct memcast_block_alloc arg = { .heap = heap, .bytes = bytes, .flags = flags };
	CUresult result;

	if (flags & BLOCK_MODULE)
		blocks_kept = true;
	result = device_ioctl(MEMCAST_BLOCK_ALLOC, &arg);
	if (result == CUDA_SUCCESS)
		*address = arg.out_address;
	return result;
}

CUresult heap_free(CUdeviceptr address, uint32_t flags)
{
	struct memcast_block_free arg = { .address = address, .flags = flags };

	return device_ioctl(MEMCAST_BLOCK_FREE, &arg);
}

/*
 * How many contexts have memory of their device, in all and per device; how many devices have
 * several such contexts
 */
atomic_uint contexts_with_memory, with_memory[MEMCAST_MAX_DEVICES];
atomic_uint devices_shared;

static void count_memory(const struct slot *slot, int change)
{
	unsigned int before = atomic_fetch_add(&with_memory[slot->device], change);

	contexts_with_memory += change;
	if (before + change == 2 && change > 0)
		devices_shared++;
	if (before == 2 && change < 0)
		devices_shared--;
}

/* Ends a heap, if there is one, with its blocks. */
void heap_end(uint32_t heap)
{
	struct memcast_heap_destroy arg = { .heap = heap, .flags = MEMCAST_HEAP_FORCE };

	if (heap)
		device_ioctl(MEMCAST_HEAP_DESTROY, &arg);
}

/* Finds a context's heap of one kind, or makes it. */
CUresult context_heap_of(struct slot *slot, enum context_heap which, uint32_t *heap)
{
	struct memcast_heap_create arg = {};
	CUresult result;
	uint32_t none = 0;

	*heap = slot->heaps[which];
	if (*heap)
		return CUDA_SUCCESS;
	arg.location = MEMCAST_LOCATION_HOST;
	if (which == HEAP_OF_DEVICE) {
		arg.location = MEMCAST_LOCATION_DEVICE;
		arg.location_id = slot->device;
	}
	result = device_ioctl(MEMCAST_HEAP_CREATE, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	*heap = arg.out_heap;
	if (!atomic_compare_exchange_strong(&slot->heaps[which], &none, *heap)) {
		heap_end(*heap);
		*heap = none;
	} else if (which == HEAP_OF_DEVICE) {
		count_memory(slot, 1);
	}
	return CUDA_SUCCESS;
}

/*
 * Finds the current context's heap of one kind, or makes it. @tag: output, the context's, for the
 * flags of a new block
 */
CUresult context_heap(enum context_heap which, uint32_t *heap, uint32_t *tag)
{
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	*tag = block_flags_of(slot);
	return context_heap_of(slot, which, heap);
}

/*
 * The two halves of ending a context's heaps. They are taken out of the slot with slots_lock
 * held; the kernel may need long to end them, so that happens without a lock.
 */
static void heaps_take(struct slot *slot, uint32_t *heaps)
{
	for (unsigned int i = 0; i < CONTEXT_HEAPS; i++)
		heaps[i] = atomic_exchange(&slot->heaps[i], 0);
	if (heaps[HEAP_OF_DEVICE])
		count_memory(slot, -1);
	externals_take(context_value(slot));
	ipc_forget(context_value(slot));
}

static void heaps_end(const uint32_t *heaps)
{
	for (unsigned int i = 0; i < CONTEXT_HEAPS; i++)
		heap_end(heaps[i]);
	advice_forget_heap(heaps[HEAP_MANAGED]);
	externals_end();
}

static const char *origin_of(const struct memcast_address_info *info)
{
	if (info->out_block_flags & BLOCK_MODULE)
		return "cuModuleGetGlobal()";
	if (info->out_block_flags & BLOCK_IPC)
		return "cuIpcOpenMemHandle()";
	if (info->out_block_flags & BLOCK_EXTERNAL)
		return "cuExternalMemoryGetMappedBuffer()";
	return slot_of_block(info) ? "cuMemAlloc()" : "cuMemAllocAsync()";
}

__attribute__((constructor))
static void heap_load(void)
{
	block_origin = origin_of;
	context_operations.take_heaps = heaps_take;
	context_operations.end_heaps = heaps_end;
}

/* Return: the context's tag, for the flags of its blocks. */
uint32_t block_flags_of(const struct slot *slot)
{
	return (uint32_t)(uintptr_t)context_value(slot) << BLOCK_CONTEXT_SHIFT;
}

static bool has_heap(const struct slot *slot, uint32_t heap)
{
	for (unsigned int i = 0; heap && i < CONTEXT_HEAPS; i++)
		if (slot->heaps[i] == heap)
			return true;
	return false;
}

/*
 * The slot of the context that allocated or registered a block, or NULL: no context did. A block
 * in a heap goes with its context, so its heap says whether the context still lives. So does a
 * registered range, but it has no heap.
 */
struct slot *slot_of_block(const struct memcast_address_info *info)
{
	uint32_t tag = info->out_block_flags & BLOCK_CONTEXT_MASK;
	struct slot *slot = &slots[(tag >> BLOCK_CONTEXT_SHIFT) % SLOTS];

	if (!block_registered(info))
		return has_heap(slot, info->out_heap) ? slot : NULL;
	return slot->live && block_flags_of(slot) == tag ? slot : NULL;
}

static struct slot *context_with_memory(uint64_t address)
{
	struct memcast_address_info info = { .address = address };
	struct slot *slot = NULL;

	if (device_ioctl(MEMCAST_ADDRESS_INFO, &info) == CUDA_SUCCESS)
		slot = slot_of_block(&info);
	return slot && slot->heaps[HEAP_OF_DEVICE] == info.out_heap ? slot : NULL;
}

/*
 * copy_between_contexts() - check a copy where contexts share a device
 *
 * On hardware each context has an address space of its own, and a copy runs in one of them: what
 * the other context has allocated is not in it, and the copy ends in a fault of the device.
 */
CUresult copy_between_contexts(uint64_t to, uint64_t from)
{
	struct slot *one = context_with_memory(to), *other = context_with_memory(from);

	if (!one || !other || one == other || one->device != other->device)
		return CUDA_SUCCESS;
	context_fault(one->device, CUDA_ERROR_LAUNCH_FAILED);
	return fail(CUDA_ERROR_LAUNCH_FAILED,
		    "a copy between what two contexts of device %u have allocated", one->device);
}

/*
 * fill_from_context() - check a fill where contexts of other devices have plain memory
 *
 * A device reaches plain memory of another device's context if the filling context has peer
 * access to that context. Copies need no such access: the driver handles both sides.
 */
CUresult fill_from_context(CUcontext context, uint64_t to)
{
	const struct slot *owner = context_with_memory(to), *slot = context_slot(context);

	if (!owner || owner->device == slot->device || slot_has_peer(slot, owner))
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE,
		    "%#llx is of device %u, which device %u's context has no access to: cuCtxEnablePeerAccess()",
		    (unsigned long long)to, owner->device, slot->device);
}

/* A module ends its variables, and what a handle opened is closed: programs free neither. */
CUresult check_free(const struct memcast_address_info *info)
{
	if (info->out_block_flags & BLOCK_MODULE)
		return fail(CUDA_ERROR_INVALID_VALUE, "a module's variable");
	if (info->out_block_flags & BLOCK_IPC)
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is another process's: close its handle",
			    (unsigned long long)info->address);
	return CUDA_SUCCESS;
}

/* Frees a block after all work in its context's streams, which may use it. */
CUresult context_free(CUdeviceptr address, uint32_t kind)
{
	struct memcast_address_info info = { .address = address };
	struct slot *current, *slot;
	CUresult result;
	bool taken;

	/*
	 * as with free(), NULL is no error; a thread may free without a current context, but
	 * not with one that has ended
	 */
	if (!address)
		return CUDA_SUCCESS;
	result = context_find(NULL, &current);
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_CONTEXT)
		return result;
	result = capture_unsafe();
	if (result == CUDA_SUCCESS)
		result = graph_memory_free(address, NULL, &taken);
	if (result != CUDA_SUCCESS || taken)
		return result;
	result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);
	if (result == CUDA_SUCCESS)
		result = check_free(&info);
	if (result != CUDA_SUCCESS)
		return result;
	if (block_managed(&info)) {
		if (kind)
			return fail(CUDA_ERROR_INVALID_VALUE, "managed memory: cuMemFree() frees it");
		kind = MEMCAST_BLOCK_HOST;
	}
	slot = block_registered(&info) ? NULL : slot_of_block(&info);
	if (slot)
		result = streams_wait(context_value(slot));
	if (result == CUDA_SUCCESS)
		result = heap_free(address, kind);
	if (result == CUDA_SUCCESS && block_managed(&info))
		advice_forget(&info);
	return result;
}
