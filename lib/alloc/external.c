// SPDX-License-Identifier: MIT
/*
 * External memory: an opaque fd comes from cuMemExportToShareableHandle(), a dma-buf from any
 * driver. In the kernel both are memories, and a mapped buffer is a block. A CUexternalMemory
 * stands for a handle of the kernel's, which ends with its context.
 */
#include <stdlib.h>
#include <unistd.h>

#include "memory/handle.h"
#include "alloc.h"
#include "base/ioctl.h"
#include "table/table.h"

struct external {
	struct external *next;		/* of those that end */
	atomic_uint references;
	CUcontext context;
	uint32_t handle;
};

static void get(void *external)
{
	((struct external *)external)->references++;
}

static struct table table = TABLE(get);
static _Atomic(struct external *) ending;

static CUresult check_reserved(const unsigned int *reserved, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (reserved[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "reserved fields must be 0");
	return CUDA_SUCCESS;
}

static void external_put(struct external *external)
{
	if (--external->references)
		return;
	handle_release(external->handle);
	free(external);
}

static bool is_of(const void *external, const void *context)
{
	return ((const struct external *)external)->context == context;
}

static void put_aside(void *object)
{
	struct external *external = object;

	external->next = ending;
	while (!atomic_compare_exchange_weak(&ending, &external->next, external))
		;
}

void externals_take(CUcontext context)
{
	table_end(&table, is_of, context, put_aside);
}

void externals_end(void)
{
	struct external *next, *external = atomic_exchange(&ending, NULL);

	for (; external; external = next) {
		next = external->next;
		external_put(external);
	}
}

static CUresult check_desc(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	switch (desc->type) {
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD:
		if (desc->flags & ~CUDA_EXTERNAL_MEMORY_DEDICATED)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		break;
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD:
		if (desc->flags)
			return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
		break;
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT:
	case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP:
		return fail(CUDA_ERROR_NOT_SUPPORTED, "only fds are supported");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "there are no handles of type %d",
			    (int)desc->type);
	}
	if (!desc->size)
		return fail(CUDA_ERROR_INVALID_VALUE, "the size is 0");
	return check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
}

/*
 * Imports memory that memcast exported. The program's size may be larger than the memory: it is
 * ignored.
 */
static CUresult import_opaque(struct external *external,
			      const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	struct memcast_import arg = {
		.handle_type = MEMCAST_HANDLE_FD,
		.fd = desc->handle.fd,
	};
	struct memcast_handle_info info = {};
	CUresult result = device_ioctl(MEMCAST_IMPORT, &arg);

	if (result != CUDA_SUCCESS)
		return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_UNKNOWN : result;
	result = memory_handle_info(arg.out_handle, &info);
	if (result == CUDA_SUCCESS && info.out_type != MEMCAST_TYPE_MEMORY)
		result = fail(CUDA_ERROR_UNKNOWN, "the fd is of a team");
	if (result == CUDA_SUCCESS)
		external->handle = arg.out_handle;
	else
		handle_release(arg.out_handle);
	return result;
}

/* Imports a dma-buf. Hardware, as recorded, supports none: the errors are NOT_SUPPORTED. */
static CUresult import_dma_buf(struct external *external,
			       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, uint32_t device)
{
	struct memcast_import arg = {
		.handle_type = MEMCAST_HANDLE_FD,
		.fd = desc->handle.fd,
		.flags = MEMCAST_IMPORT_FOREIGN,
		.device = device,
		.bytes = desc->size,
	};
	CUresult result;

	if (desc->handle.fd < 0)
		return fail(CUDA_ERROR_INVALID_VALUE, "%d is no fd", desc->handle.fd);
	result = device_ioctl(MEMCAST_IMPORT, &arg);
	external->handle = arg.out_handle;
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_SUPPORTED : result;
}

/* Imports memory, and gives it a handle. @external: freed on failure */
static CUresult import(CUexternalMemory *memory, struct external *external,
		       const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc, uint32_t device)
{
	bool opaque = desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
	CUresult result = opaque ? import_opaque(external, desc) :
				   import_dma_buf(external, desc, device);
	CUexternalMemory handle;

	if (result != CUDA_SUCCESS) {
		free(external);
		return result;
	}
	handle = (CUexternalMemory)table_add(&table, external);
	if (!handle) {
		external_put(external);
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many external memories");
	}
	/* CUDA's documentation does not say that the driver takes over a dma-buf's fd */
	if (opaque)
		close(desc->handle.fd);
	*memory = handle;
	return CUDA_SUCCESS;
}

DEFINE_WHOLE_CALL(cuImportExternalMemory, (CUexternalMemory *memory,
					   const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc),
		  memory, desc)
{
	struct external *external;
	struct slot *slot;
	CUresult result;

	if (!memory || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	result = check_desc(desc);
	if (result == CUDA_SUCCESS)
		result = context_find(NULL, &slot);
	if (result != CUDA_SUCCESS)
		return result;
	external = malloc(sizeof(*external));
	if (!external)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an external memory");
	*external = (struct external) { .references = 1, .context = context_value(slot) };
	return import(memory, external, desc, slot->device);
}

static CUresult find(CUexternalMemory memory, bool remove, struct external **external)
{
	if (!memory)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL external memory");
	*external = remove ? table_remove(&table, memory) : table_find(&table, memory);
	if (*external)
		return CUDA_SUCCESS;
	return table_ended(&table, memory) ?
		fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context that imported it has ended") :
		fail(CUDA_ERROR_INVALID_HANDLE, "not an external memory, or destroyed");
}

DEFINE_WHOLE_CALL(cuExternalMemoryGetMappedBuffer,
		  (CUdeviceptr *address, CUexternalMemory memory,
		   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc), address, memory, desc)
{
	struct memcast_block_map arg = {};
	struct external *external;
	CUresult result;

	if (!address || !desc)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (desc->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	result = check_reserved(desc->reserved, ARRAY_SIZE(desc->reserved));
	if (result == CUDA_SUCCESS)
		result = find(memory, false, &external);
	if (result != CUDA_SUCCESS)
		return result;
	arg.handle = external->handle;
	arg.offset = desc->offset;
	arg.bytes = desc->size;
	result = context_heap(HEAP_OF_DEVICE, &arg.heap, &arg.flags);
	arg.flags |= BLOCK_EXTERNAL;
	if (result == CUDA_SUCCESS)
		result = device_ioctl(MEMCAST_BLOCK_MAP, &arg);
	if (result == CUDA_SUCCESS)
		*address = arg.out_address;
	external_put(external);
	return result;
}

DEFINE_WHOLE_CALL(cuDestroyExternalMemory, (CUexternalMemory memory), memory)
{
	struct external *external;
	CUresult result = find(memory, true, &external);

	if (result == CUDA_SUCCESS)
		external_put(external);
	return result;
}
