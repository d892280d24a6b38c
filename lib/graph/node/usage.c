// SPDX-License-Identifier: MIT
/*
 * Which memory of alloc nodes is allocated: launches and calls of the program change it. The
 * sums count in steps of POOL_GROWTH, as hardware does.
 */
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "memory.h"
#include "alloc/pool/pool.h"

/* Under memory_lock */
static struct usage {
	uint64_t allocated;	/* bytes */
	uint64_t used_high, reserved, reserved_high;	/* multiples of POOL_GROWTH */
} usages[MEMCAST_MAX_DEVICES];

static uint64_t used(const struct usage *usage)
{
	return (usage->allocated + POOL_GROWTH - 1) / POOL_GROWTH * POOL_GROWTH;
}

/* With the lock held */
static void set_allocated(struct memory *memory, bool allocated)
{
	struct usage *usage = &usages[memory->device];
	uint64_t now;

	if (memory->allocated == allocated)
		return;
	memory->allocated = allocated;
	usage->allocated += allocated ? memory->bytes : -memory->bytes;
	now = used(usage);
	if (usage->used_high < now)
		usage->used_high = now;
	if (usage->reserved < now)
		usage->reserved = now;
	if (usage->reserved_high < usage->reserved)
		usage->reserved_high = usage->reserved;
}

/* With the lock held */
static void undo(const struct memory_step *steps, size_t count)
{
	while (count--)
		set_allocated(steps[count].memory, steps[count].was);
}

/* Does a launch's steps in their order: all of them, or none. */
CUresult memory_launch(struct memory_step *steps, size_t count, bool auto_free)
{
	CUresult result = CUDA_SUCCESS;
	size_t i;

	memory_lock();
	for (i = 0; i < count && result == CUDA_SUCCESS; i++) {
		struct memory *memory = steps[i].memory;

		steps[i].was = memory->allocated;
		if (steps[i].allocates && memory->allocated && !auto_free)
			result = fail(CUDA_ERROR_INVALID_VALUE,
				      "an earlier launch allocated %#llx, and nobody freed it",
				      memory->address);
		else if (!steps[i].allocates && !memory->allocated)
			result = fail(CUDA_ERROR_INVALID_VALUE,
				      "the graph frees %#llx, which is not allocated",
				      memory->address);
		else
			set_allocated(memory, steps[i].allocates);
	}
	if (result != CUDA_SUCCESS)
		undo(steps, i);
	memory_unlock();
	return result;
}

void memory_unlaunch(const struct memory_step *steps, size_t count)
{
	memory_lock();
	undo(steps, count);
	memory_unlock();
}

/*
 * The program frees an address. @kept: output, the memory with a reference; NULL: the address
 * is no alloc node's, or no node and no launch has the memory any more. Then the caller frees
 * the block.
 */
static CUresult graph_usage_release(CUdeviceptr address, struct memory **kept)
{
	CUresult result = CUDA_SUCCESS;
	struct memory *memory, *gone = NULL;

	*kept = NULL;
	memory_lock();
	memory = memory_at(address);
	if (memory && !memory->allocated) {
		result = fail(CUDA_ERROR_INVALID_VALUE,
			      "%#llx is an alloc node's, and no launch has allocated it",
			      address);
	} else if (memory) {
		set_allocated(memory, false);
		if (memory->references++) {
			*kept = memory;
		} else {
			memory_forget(memory);
			gone = memory;
		}
	}
	memory_unlock();
	if (gone)
		free(gone->frees);
	free(gone);
	return result;
}

struct put_work {
	struct work work;
	struct memory *memory;
};

static CUresult run_put(struct work *work, struct stream *stream, CUresult error)
{
	(void)stream;
	(void)error;
	memory_put(((struct put_work *)work)->memory);
	return CUDA_SUCCESS;
}

/* Puts a memory in a stream: its nodes may be destroyed before the stream comes there. */
static CUresult put_in_stream(struct stream *stream, struct memory *memory)
{
	const struct put_work work = { .work.run = run_put, .memory = memory };

	return stream_submit_copy(stream, &work.work, sizeof(work));
}

CUresult memory_free_address(CUdeviceptr address, struct stream *stream, bool *taken)
{
	struct memory *memory;
	CUresult result = graph_usage_release(address, &memory);

	*taken = memory;
	if (!memory)
		return result;
	if (stream) {
		result = put_in_stream(stream, memory);
		if (result == CUDA_SUCCESS)
			return result;
		memory_lock();
		set_allocated(memory, true);
		memory_unlock();
	}
	memory_put(memory);
	return result;
}

DEFINE_WHOLE_CALL(cuDeviceGraphMemTrim, (CUdevice device), device)
{
	CUresult result = context_check_device(device);

	if (result != CUDA_SUCCESS)
		return result;
	memory_lock();
	usages[device].reserved = used(&usages[device]);
	memory_unlock();
	return CUDA_SUCCESS;
}

DEFINE_WHOLE_CALL(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute,
						 void *value),
		  device, attribute, value)
{
	CUresult result = context_check_device(device);
	const struct usage *usage;
	cuuint64_t bytes = 0;

	if (result != CUDA_SUCCESS)
		return result;
	if (!value || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		return fail(CUDA_ERROR_INVALID_VALUE, value ? "no such attribute" : "NULL output");
	usage = &usages[device];
	memory_lock();
	switch (attribute) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		bytes = used(usage);
		break;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		bytes = usage->used_high;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		bytes = usage->reserved;
		break;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		bytes = usage->reserved_high;
		break;
	}
	memory_unlock();
	memcpy(value, &bytes, sizeof(bytes));
	return CUDA_SUCCESS;
}

/* Sets a highest value so far to the current value. */
DEFINE_WHOLE_CALL(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute,
						 void *value),
		  device, attribute, value)
{
	CUresult result = context_check_device(device);
	struct usage *usage;
	cuuint64_t bytes;

	if (result != CUDA_SUCCESS)
		return result;
	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	memcpy(&bytes, value, sizeof(bytes));
	if (bytes || (attribute != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
		      attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
		return fail(CUDA_ERROR_INVALID_VALUE, "only the highest can be set, and to 0");
	usage = &usages[device];
	memory_lock();
	if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		usage->used_high = used(usage);
	else
		usage->reserved_high = usage->reserved;
	memory_unlock();
	return CUDA_SUCCESS;
}
