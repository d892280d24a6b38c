// SPDX-License-Identifier: MIT
/*
 * Words in memory that streams write, and wait for. The kernel reads and writes
 * them, so that memory that went away is a failure of the work and no signal.
 */
#include <stdlib.h>

#include "stream.h"

#define OPERATIONS	256	/* in one batch */

struct operation {
	uint64_t address, value;
	uint32_t size;		/* 4, 8; 0: nothing to do */
	bool wait;
	unsigned int how;	/* CU_STREAM_WAIT_VALUE_… without FLUSH */
};

struct memop_work {
	struct work work;
	unsigned int count;
	struct operation operations[];
};

static CUresult move(const struct stream *stream, uint64_t to, uint64_t from,
		     uint32_t size, uint32_t flags)
{
	struct memcast_copy arg = {
		.to = to,
		.from = from,
		.bytes = size,
		.device = stream->set->device,
		.flags = flags,
	};

	return device_ioctl(MEMCAST_COPY, &arg);
}

static bool holds(const struct operation *operation, uint64_t seen)
{
	uint64_t value = operation->value;
	/* a 32-bit word at the top of 64 bits compares as it does alone */
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

#define LOOKS_AT_ONCE	20
#define PAUSE_FIRST	10000		/* nanoseconds */
#define PAUSE_LAST	1000000
#define PAUSE_SLOW	20000000

static long nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Looks more and more seldom; a wait uses about 5 % of a processor at most. */
static CUresult wait_for(const struct stream *stream, const struct operation *operation)
{
	struct timespec pause = { .tv_nsec = PAUSE_FIRST };
	unsigned int looks;

	for (looks = 0; ; looks++) {
		long limit, start = nanoseconds();
		uint64_t seen = 0;
		CUresult result = move(stream, (uintptr_t)&seen, operation->address,
				       operation->size, 0);

		if (result != CUDA_SUCCESS || holds(operation, seen))
			return result;
		/* a failure in the context; at exit or after it ended, too */
		if (stream->set->error != CUDA_SUCCESS || library_ready() != CUDA_SUCCESS)
			return CUDA_SUCCESS;
		if (looks < LOOKS_AT_ONCE)
			continue;

		limit = 20 * (nanoseconds() - start);
		if (limit < PAUSE_LAST)
			limit = PAUSE_LAST;
		if (limit > PAUSE_SLOW)
			limit = PAUSE_SLOW;
		nanosleep(&pause, NULL);
		pause.tv_nsec = 2 * pause.tv_nsec < limit ? 2 * pause.tv_nsec : limit;
	}
}

static CUresult do_operation(const struct stream *stream, const struct operation *operation)
{
	if (!operation->size)
		return CUDA_SUCCESS;
	if (operation->wait)
		return wait_for(stream, operation);
	/* the low half of the value is where its address is: little endian only */
	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word's low half");
	return move(stream, operation->address, (uintptr_t)&operation->value,
		    operation->size, 0);
}

static CUresult run_memops(struct work *work, struct stream *stream, CUresult error)
{
	struct memop_work *memops = (struct memop_work *)work;

	for (unsigned int i = 0; i < memops->count && error == CUDA_SUCCESS; i++)
		error = do_operation(stream, &memops->operations[i]);
	return error == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_ILLEGAL_ADDRESS : error;
}

static CUresult check_address(const struct stream *stream, const struct operation *operation)
{
	uint64_t word = 0;

	if (operation->address % operation->size)
		return fail(CUDA_ERROR_INVALID_VALUE, "%#llx is not a multiple of %u",
			    (unsigned long long)operation->address, operation->size);
	if (operation->wait)
		return move(stream, (uintptr_t)&word, operation->address,
			    operation->size, MEMCAST_COPY_CHECK);
	return move(stream, operation->address, (uintptr_t)&word,
		    operation->size, MEMCAST_COPY_CHECK);
}

static CUresult translate(const struct stream *stream,
			  const CUstreamBatchMemOpParams *params,
			  struct operation *operation)
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
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		wide = true;
		/* fall through */
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		if (flags == CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
			return fail(CUDA_ERROR_NOT_SUPPORTED, "no writes without barrier");
		if (flags)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags %#x", flags);
		break;
	/* every write reaches memory, and in order */
	case CU_STREAM_MEM_OP_BARRIER:
		if (params->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		return CUDA_SUCCESS;
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		if (params->flushRemoteWrites.flags)
			return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
		return CUDA_SUCCESS;
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "no such operation");
	}
	operation->size = wide ? sizeof(uint64_t) : sizeof(uint32_t);
	operation->address = params->waitValue.address;
	operation->value = wide ? params->waitValue.value64 : params->waitValue.value;
	return check_address(stream, operation);
}

/* All are checked before the first is queued. */
static CUresult stream_memops(CUstream handle, unsigned int count,
			      const CUstreamBatchMemOpParams *params, unsigned int flags)
{
	struct memop_work *work;
	struct stream *stream;
	CUresult result;

	if (flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (count > OPERATIONS || (count && !params))
		return fail(CUDA_ERROR_INVALID_VALUE, params ?
			    "more than 256 operations" : "NULL pointer");
	result = stream_get(handle, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	work = malloc(sizeof(*work) + count * sizeof(*work->operations));
	if (work) {
		work->work.run = run_memops;
		work->count = count;
	} else {
		result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	}
	for (unsigned int i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = translate(stream, &params[i], &work->operations[i]);
	if (result == CUDA_SUCCESS)
		result = stream_submit(stream, &work->work);
	if (result != CUDA_SUCCESS)
		free(work);
	stream_put(stream);
	return result;
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
			       CUstreamBatchMemOpParams *params, unsigned int flags)
{
	return WHOLE_CALL(stream_memops(stream, count, params, flags),
			  "stream=%p, count=%u, params=%p, flags=%#x", (void *)stream, count,
			  (void *)params, flags);
}

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

#define MEMOP(name, operation, type, format)					\
CUresult name(CUstream stream, CUdeviceptr address, type value, unsigned int flags) \
{										\
	return WHOLE_CALL(stream_memop(stream, operation, address, value, flags),	\
			  "stream=%p, address=%#llx, value=" format ", flags=%#x",	\
			  (void *)stream, address, value, flags);			\
}

MEMOP(cuStreamWaitValue32_v2, CU_STREAM_MEM_OP_WAIT_VALUE_32, cuuint32_t, "%#x")
MEMOP(cuStreamWaitValue64_v2, CU_STREAM_MEM_OP_WAIT_VALUE_64, cuuint64_t, "%#lx")
MEMOP(cuStreamWriteValue32_v2, CU_STREAM_MEM_OP_WRITE_VALUE_32, cuuint32_t, "%#x")
MEMOP(cuStreamWriteValue64_v2, CU_STREAM_MEM_OP_WRITE_VALUE_64, cuuint64_t, "%#lx")
