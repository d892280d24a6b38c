// SPDX-License-Identifier: MIT
/*
 * Operations on words in memory: streams write words, and wait for them. The kernel reads and
 * writes the words, so that a word in memory that has gone is a failure of the work, not a
 * signal.
 */
#include <stdlib.h>

#include "capture.h"
#include "base/ioctl.h"

#define OPERATIONS	255	/* in one batch */

/* Is an address in memory of a pool? NULL as long as this process has had no such memory. */
static bool (*_Atomic in_pool)(CUdeviceptr address);

struct memop_work {
	struct work work;
	struct memops memops;
};

static CUresult move(uint32_t device, uint64_t to, uint64_t from, uint32_t size, uint32_t flags)
{
	struct memcast_copy arg = {
		.to = to,
		.from = from,
		.bytes = size,
		.device = device,
		.flags = flags,
	};

	return device_answer(device, device_ioctl(MEMCAST_COPY, &arg));
}

static bool holds(const struct operation *operation, uint64_t seen)
{
	uint64_t value = operation->value;
	/* shifted to the top of 64 bits, a 32-bit word compares as it does alone */
	unsigned int shift = operation->size == 4 ? 32 : 0;

	switch (operation->how) {
	case CU_STREAM_WAIT_VALUE_EQ:
		return seen == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return seen & value;
	case CU_STREAM_WAIT_VALUE_NOR:
		return ~(seen | value) << shift;
	default:
		return (int64_t)((seen - value) << shift) >= 0;
	}
}

/* Does a write, or checks a wait. *@done: output; false: the wait goes on. */
static CUresult try_operation(uint32_t device, const struct operation *operation, bool *done)
{
	uint64_t seen = 0;
	CUresult result;

	*done = true;
	if (!operation->size)
		return CUDA_SUCCESS;
	if (operation->wait) {
		result = move(device, (uintptr_t)&seen, operation->address, operation->size, 0);
		*done = holds(operation, seen);
		return result;
	}
	/* the address of the value is that of its low half: little endian only */
	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word's low half");
	return move(device, operation->address, (uintptr_t)&operation->value, operation->size, 0);
}

/*
 * memops_try() - do operations up to the first that has to wait
 * @at: how many are done, input and output; NULL: none of them is a wait
 * @done: output, are all done?
 */
CUresult memops_try(const struct memops *memops, uint32_t device, uint32_t *at, bool *done)
{
	CUresult result = CUDA_SUCCESS;
	uint32_t none = 0;

	at = at ? at : &none;
	*done = true;
	while (*at < memops->count && result == CUDA_SUCCESS) {
		result = try_operation(device, &memops->at[*at], done);
		if (!*done)
			break;
		++*at;
	}
	return result;
}

/* Ends early after a failure in the context, and at the end of the context or of the process. */
static CUresult try_until_done(const struct memops *memops, const struct stream *stream,
			       struct pause *pause)
{
	uint32_t at = 0, before;
	bool done = false;

	while (!done) {
		uint64_t progress = look_begin();
		CUresult result;

		before = at;
		pause_begin(pause);
		result = memops_try(memops, stream->set->device, &at, &done);
		if (result != CUDA_SUCCESS)
			return result;
		if (at != before) {
			long start = pause->start;

			pause_end(pause);
			pause->start = pause->begun = start;
			stream_got_on(stream);
		}
		if (done || stream->set->error != CUDA_SUCCESS)
			break;
		result = library_ready();
		if (result != CUDA_SUCCESS)
			return result == CUDA_ERROR_UNKNOWN ? result : CUDA_SUCCESS;
		look_in_vain(progress);
		pause_notice(pause, &memops->at[at], stream);
		pause_sleep(pause);
	}
	return CUDA_SUCCESS;
}

static CUresult do_memops(const struct memops *memops, const struct stream *stream)
{
	struct pause pause = {};
	CUresult result = try_until_done(memops, stream, &pause);

	pause_end(&pause);
	return result;
}

static CUresult run_memops(struct work *work, struct stream *stream, CUresult error)
{
	if (error == CUDA_SUCCESS)
		error = do_memops(&((struct memop_work *)work)->memops, stream);
	return work_result(error);
}

/* lib/alloc/pool/, which stands above, gives this process memory of a pool. */
void memops_pools_used(bool (*function)(CUdeviceptr address))
{
	if (!in_pool)
		in_pool = function;
}

/* As on hardware, streams write no words to memory of a pool. */
static CUresult check_pool(const struct operation *operation)
{
	bool (*asks)(CUdeviceptr address) = in_pool;

	if (!asks || operation->wait || !asks(operation->address))
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is memory of a pool, where no stream writes words",
		    (unsigned long long)operation->address);
}

/*
 * Checks that the words are in memory of the device, or in host memory that it can reach.
 * Whether the device may write there is checked as the work is done.
 */
CUresult memops_check(const struct memops *memops, uint32_t device)
{
	CUresult result = CUDA_SUCCESS;
	uint64_t word = 0;

	for (unsigned int i = 0; i < memops->count && result == CUDA_SUCCESS; i++) {
		const struct operation *operation = &memops->at[i];

		if (!operation->size)
			continue;
		result = move(device, (uintptr_t)&word, operation->address, operation->size,
			      MEMCAST_COPY_CHECK | MEMCAST_COPY_FROM_DEVICE);
		if (result == CUDA_SUCCESS)
			result = check_pool(operation);
	}
	return result;
}

bool memops_wait(const struct memops *memops)
{
	for (unsigned int i = 0; i < memops->count; i++)
		if (memops->at[i].size && memops->at[i].wait)
			return true;
	return false;
}

static CUresult translate(const CUstreamBatchMemOpParams *params, struct operation *operation)
{
	unsigned int flags = params->waitValue.flags;
	bool wide = false;

	*operation = (struct operation) {};
	switch (params->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		wide = true;
		/* fall through */
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		operation->wait = true;
		operation->how = flags & ~CU_STREAM_WAIT_VALUE_FLUSH;
		if (operation->how > CU_STREAM_WAIT_VALUE_NOR)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags %#x", flags);
		if (operation->how != flags)
			return fail(CUDA_ERROR_NOT_SUPPORTED, "no remote writes are flushed");
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		wide = true;
		/* fall through */
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		if (flags)
			return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0 (a write always "
				    "has a memory barrier)");
		break;
	/* nothing to do: every write reaches memory, and in order */
	case CU_STREAM_MEM_OP_BARRIER:
		if (params->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		return CUDA_SUCCESS;
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		return fail(CUDA_ERROR_NOT_SUPPORTED, "no remote writes are flushed");
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such operation");
	}
	operation->size = wide ? sizeof(uint64_t) : sizeof(uint32_t);
	operation->address = params->waitValue.address;
	operation->value = wide ? params->waitValue.value64 : params->waitValue.value;
	if (operation->address % operation->size)
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not a multiple of %u",
			    (unsigned long long)operation->address, operation->size);
	return CUDA_SUCCESS;
}

size_t memops_bytes(unsigned int count)
{
	return sizeof(struct memops) + count * sizeof(struct operation);
}

/* Checks the arguments that memops_translate() relies on. */
CUresult memops_check_array(unsigned int count, const CUstreamBatchMemOpParams *params)
{
	if (count > OPERATIONS || (count && !params))
		return fail(CUDA_ERROR_INVALID_VALUE, params ?
			    "more than 255 operations" : "NULL pointer");
	return CUDA_SUCCESS;
}

/* Translates and checks operations, except for memops_check(); makes no system call. */
CUresult memops_translate(struct memops *memops, unsigned int count,
			  const CUstreamBatchMemOpParams *params)
{
	CUresult result = CUDA_SUCCESS;

	memops->count = count;
	for (unsigned int i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = translate(&params[i], &memops->at[i]);
	return result;
}

static CUresult memop_submit(struct stream *stream, unsigned int count,
			     const CUstreamBatchMemOpParams *params)
{
	struct memop_work *work = malloc(sizeof(*work) + count * sizeof(struct operation));
	CUresult result;

	if (!work)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	work->work.run = run_memops;
	result = memops_translate(&work->memops, count, params);
	if (result == CUDA_SUCCESS)
		result = memops_check(&work->memops, stream->set->device);
	if (result == CUDA_SUCCESS && stream_captured(stream)) {
		result = capture_node(stream, &(CUgraphNodeParams) {
			.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
			.memOp = { stream->set->context, count,
				   (CUstreamBatchMemOpParams *)params, 0 },
		});
	} else if (result == CUDA_SUCCESS) {
		result = stream_submit(stream, &work->work);
		if (result == CUDA_SUCCESS)
			return result;
	}
	free(work);
	return result;
}

/* All operations are checked before the first is queued. */
static CUresult stream_memops(CUstream handle, unsigned int count,
			      const CUstreamBatchMemOpParams *params, unsigned int flags)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	else
		result = memops_check_array(count, params);
	if (result == CUDA_SUCCESS)
		result = memop_submit(stream, count, params);
	stream_put(stream);
	return result;
}

FORWARD(cuStreamBatchMemOp_v2, (CUstream stream, unsigned int count,
				CUstreamBatchMemOpParams *params, unsigned int flags),
	stream_memops(stream, count, params, flags), stream, count, params, flags)

static CUresult stream_memop(CUstream stream, CUstreamBatchMemOpType operation,
			     CUdeviceptr address, cuuint64_t value, unsigned int flags)
{
	/* waits and writes have one layout; a 32-bit value is the low half */
	CUstreamBatchMemOpParams params = {
		.waitValue = {
			.operation = operation,
			.address = address,
			.value64 = value,
			.flags = flags,
		},
	};

	return stream_memops(stream, 1, &params, 0);
}

#define MEMOP(name, operation, type)						\
CUresult name(CUstream stream, CUdeviceptr address, type value, unsigned int flags) \
{										\
	return WHOLE_CALL(stream_memop(stream, operation, address, value, flags),	\
			  stream, address, value, flags);				\
}

MEMOP(cuStreamWaitValue32_v2, CU_STREAM_MEM_OP_WAIT_VALUE_32, cuuint32_t)
MEMOP(cuStreamWaitValue64_v2, CU_STREAM_MEM_OP_WAIT_VALUE_64, cuuint64_t)
MEMOP(cuStreamWriteValue32_v2, CU_STREAM_MEM_OP_WRITE_VALUE_32, cuuint32_t)
MEMOP(cuStreamWriteValue64_v2, CU_STREAM_MEM_OP_WRITE_VALUE_64, cuuint64_t)
