// SPDX-License-Identifier: MIT
/*
 * Plain allocations of other processes, opened by handles of 64 bytes. A handle has the key of
 * a block in the kernel, which decides which processes may map the block's memory. This file
 * keeps only which handles are open, and how often: a context that opens a handle again gets
 * the same address.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "stream/capture.h"
#include "alloc.h"
#include "base/ioctl.h"

/* The content of a CUipcMemHandle */
struct handle {
	char kind[8];
	uint8_t key[MEMCAST_IPC_KEY_SIZE];
	uint64_t zero[5];
};

_Static_assert(sizeof(struct handle) == sizeof(CUipcMemHandle),
	       "it has the size that the interface gives it");

static const char kind[8] = "memcast";

struct opened {
	struct opened *next, **link;	/* list of all */
	struct handle handle;
	CUcontext context;
	CUdeviceptr address;
	unsigned int times;
};

/* All that is open, and trees of it by address and by handle and context */
static pthread_mutex_t opened_lock = PTHREAD_MUTEX_INITIALIZER;	/* protects the next three */
static struct opened *all_opened;
static void *by_address, *by_handle;

static int compare_addresses(const void *one, const void *other)
{
	const struct opened *a = one, *b = other;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_handles(const void *one, const void *other)
{
	const struct opened *a = one, *b = other;

	if (a->context != b->context)
		return (uintptr_t)a->context < (uintptr_t)b->context ? -1 : 1;
	return memcmp(&a->handle, &b->handle, sizeof(a->handle));
}

static struct opened *ipc_find(const struct opened *wanted, void *const *tree,
			       int (*order)(const void *one, const void *other))
{
	struct opened **found = tfind(wanted, tree, order);

	return found ? *found : NULL;
}

/* With opened_lock held, as remember() */
static void forget(struct opened *opened)
{
	tdelete(opened, &by_address, compare_addresses);
	tdelete(opened, &by_handle, compare_handles);
	*opened->link = opened->next;
	if (opened->next)
		opened->next->link = opened->link;
	free(opened);
}

/* A context ends, and with it what it has opened. slots_lock is held. */
void ipc_forget(CUcontext context)
{
	struct opened *opened, *next;

	pthread_mutex_lock(&opened_lock);
	for (opened = all_opened; opened; opened = next) {
		next = opened->next;
		if (opened->context == context)
			forget(opened);
	}
	pthread_mutex_unlock(&opened_lock);
}

/* Return: is there memory for the trees? If not, the entry is in none of them. */
static bool remember(struct opened *opened)
{
	struct opened *stale = ipc_find(opened, &by_address, compare_addresses);

	/* the program has unmapped what was at the address */
	if (stale)
		forget(stale);
	if (!tsearch(opened, &by_address, compare_addresses))
		return false;
	if (!tsearch(opened, &by_handle, compare_handles)) {
		tdelete(opened, &by_address, compare_addresses);
		return false;
	}
	opened->next = all_opened;
	opened->link = &all_opened;
	if (opened->next)
		opened->next->link = &opened->next;
	all_opened = opened;
	return true;
}

DEFINE_CALL(cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr address), handle, address)
{
	struct memcast_address_info info = { .address = address };
	struct memcast_ipc_export arg = { .address = address };
	struct handle filled = {};
	CUresult result;
	uint32_t device;

	result = context_device(&device);
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = device_ioctl(MEMCAST_ADDRESS_INFO, &info);
	if (result == CUDA_SUCCESS &&
	    (info.out_location != MEMCAST_LOCATION_DEVICE || !slot_of_block(&info)))
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "%#llx is not in what cuMemAlloc() gave", address);
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_IPC_EXPORT, &arg);
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(filled.kind, kind, sizeof(kind));
	memcpy(filled.key, arg.out_key, sizeof(filled.key));
	memcpy(handle, &filled, sizeof(filled));
	return CUDA_SUCCESS;
}

static CUresult ipc_map(CUdeviceptr *address, const struct handle *handle)
{
	struct memcast_block_map block = {};
	struct memcast_ipc_open arg = {};
	CUresult result = context_heap(HEAP_OF_DEVICE, &block.heap, &block.flags);

	if (result != CUDA_SUCCESS)
		return result;
	memcpy(arg.key, handle->key, sizeof(arg.key));
	result = device_ioctl(MEMCAST_IPC_OPEN, &arg);
	/* the kernel's result for a block of this process */
	if (result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (result != CUDA_SUCCESS)
		return result;
	blocks_kept = true;
	block.flags |= BLOCK_IPC;
	block.handle = arg.out_handle;
	block.offset = arg.out_offset;
	block.bytes = arg.out_bytes;
	result = device_ioctl(MEMCAST_BLOCK_MAP, &block);
	*address = block.out_address;
	handle_release(arg.out_handle);
	return result;
}

/* With opened_lock held */
static CUresult open_handle_locked(CUdeviceptr *address, const struct handle *handle,
				   const struct slot *slot)
{
	struct opened wanted = { .handle = *handle, .context = context_value(slot) };
	struct opened *opened = ipc_find(&wanted, &by_handle, compare_handles);
	CUresult result;

	if (!opened) {
		opened = malloc(sizeof(*opened));
		if (!opened)
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a handle");
		*opened = wanted;
		result = ipc_map(&opened->address, handle);
		if (result == CUDA_SUCCESS && !remember(opened)) {
			heap_free(opened->address, 0);
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a handle");
		}
		if (result != CUDA_SUCCESS) {
			free(opened);
			return result;
		}
	}
	opened->times++;
	*address = opened->address;
	return CUDA_SUCCESS;
}

static CUresult ipc_open_handle(CUdeviceptr *address, CUipcMemHandle given, unsigned int flags)
{
	struct handle handle;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!address)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be LAZY_ENABLE_PEER_ACCESS");
	memcpy(&handle, &given, sizeof(handle));
	if (memcmp(handle.kind, kind, sizeof(kind)))
		return fail(CUDA_ERROR_INVALID_VALUE, "not what cuIpcGetMemHandle() gave");
	result = capture_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&opened_lock);
	result = open_handle_locked(address, &handle, slot);
	pthread_mutex_unlock(&opened_lock);
	return result;
}

FORWARD(cuIpcOpenMemHandle_v2, (CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags),
	ipc_open_handle(address, handle, flags), address, flags)

/* The first version does the same. */
#undef cuIpcOpenMemHandle
OLDER_NAME(cuIpcOpenMemHandle, (CUdeviceptr *address, CUipcMemHandle handle,
				unsigned int flags),
	   cuIpcOpenMemHandle_v2(address, handle, flags))

/*
 * Closes an address once, with opened_lock held. *@wait: the context that has been waited for, or
 * NULL; output, the one to wait for before another try, or NULL
 */
static CUresult close_locked(CUdeviceptr address, CUcontext *wait)
{
	const struct opened wanted = { .address = address };
	struct opened *opened = ipc_find(&wanted, &by_address, compare_addresses);
	CUcontext waited = *wait;
	CUresult result;

	*wait = NULL;
	if (!opened)
		return fail(CUDA_ERROR_INVALID_VALUE, "no handle is open at %#llx", address);
	if (opened->times > 1) {
		opened->times--;
		return CUDA_SUCCESS;
	}
	if (opened->context != waited) {
		*wait = opened->context;
		return CUDA_SUCCESS;
	}
	result = heap_free(address, 0);
	if (result == CUDA_SUCCESS)
		forget(opened);
	return result;
}

DEFINE_WHOLE_CALL(cuIpcCloseMemHandle, (CUdeviceptr address), address)
{
	CUcontext wait = NULL;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result == CUDA_SUCCESS)
		result = capture_unsafe();
	do {
		if (wait)
			result = streams_wait(wait);
		if (result != CUDA_SUCCESS)
			return result;
		pthread_mutex_lock(&opened_lock);
		result = close_locked(address, &wait);
		pthread_mutex_unlock(&opened_lock);
	} while (wait);
	return result;
}
