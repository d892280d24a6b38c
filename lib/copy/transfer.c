// SPDX-License-Identifier: MIT
/*
 * Copies and fills in a stream: when they are done, and what is checked when.
 * The kernel's copy engine does them.
 *
 *   device to device, fills	in the stream; calls without a stream do them at once
 *				if nothing comes before
 *   from other host memory	as if at once: what is small is put aside, else the
 *				call waits
 *   to other host memory	the call waits
 *
 * "Other" host memory is what no reservation has: the real driver has to put
 * such memory through buffers of its own, so programs count on this.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define ASIDE_MAX	(1 << 20)	/* bytes */

struct transfer {
	struct work work;
	unsigned long request;
	size_t size;		/* of the argument */
	union {
		struct memcast_header header;
		struct memcast_copy copy;
		struct memcast_fill fill;
	};
	char aside[];
};

static CUresult do_transfer(struct transfer *transfer)
{
	return device_ioctl_fd(library_fd(), transfer->request, &transfer->header,
			       transfer->size);
}

static CUresult run_transfer(struct work *work, struct stream *stream, CUresult error)
{
	(void)stream;
	if (error == CUDA_SUCCESS)
		error = do_transfer((struct transfer *)work);
	/* it was good when it was asked for */
	return error == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_ILLEGAL_ADDRESS : error;
}

static CUresult check_transfer(struct transfer *transfer)
{
	bool is_copy = transfer->request == MEMCAST_COPY;
	uint32_t *flags = is_copy ? &transfer->copy.flags : &transfer->fill.flags;
	uint32_t check = is_copy ? MEMCAST_COPY_CHECK : MEMCAST_FILL_CHECK;
	CUresult result;

	*flags |= check;
	result = do_transfer(transfer);
	*flags &= ~check;
	return result;
}

static CUresult submit(struct stream *stream, const struct transfer *transfer, size_t aside)
{
	struct transfer *work = malloc(sizeof(*work) + aside);
	CUresult result;

	if (!work)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	*work = *transfer;
	work->work.run = run_transfer;
	result = check_transfer(work);
	if (aside) {
		struct memcast_copy *copy = &work->copy;

		for (uint64_t row = 0; row < copy->rows && result == CUDA_SUCCESS; row++)
			memcpy(work->aside + row * copy->bytes,
			       (char *)(uintptr_t)(copy->from + row * copy->from_pitch),
			       copy->bytes);
		copy->from = (uintptr_t)work->aside;
		copy->from_pitch = copy->bytes;
	}
	if (result == CUDA_SUCCESS)
		result = stream_submit(stream, &work->work);
	if (result != CUDA_SUCCESS)
		free(work);
	return result;
}

static CUresult wait_and_do(struct stream *stream, struct transfer *transfer)
{
	CUresult result = stream_wait(stream, WAIT_OWN | WAIT_BEFORE);

	return result == CUDA_SUCCESS ? do_transfer(transfer) : result;
}

static bool is_mapped(uint64_t address)
{
	struct memcast_address_info info = { .address = address };

	return device_ioctl(MEMCAST_ADDRESS_INFO, &info) == CUDA_SUCCESS &&
	       info.out_mapping_bytes;
}

static CUresult start(struct stream *stream, struct transfer *transfer, bool async)
{
	const struct memcast_copy *copy = &transfer->copy;
	bool is_copy = transfer->request == MEMCAST_COPY, idle;
	CUresult result = stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle);

	if (result != CUDA_SUCCESS)
		return result;
	if (idle && !async)
		return do_transfer(transfer);
	if (is_copy && !(copy->flags & MEMCAST_COPY_TO_DEVICE) && !is_mapped(copy->to))
		return wait_and_do(stream, transfer);
	if (is_copy && !(copy->flags & MEMCAST_COPY_FROM_DEVICE) && !is_mapped(copy->from)) {
		if (idle || !async || !copy->bytes || copy->rows > ASIDE_MAX / copy->bytes)
			return wait_and_do(stream, transfer);
		return submit(stream, transfer, copy->bytes * copy->rows);
	}
	return submit(stream, transfer, 0);
}

static CUresult in_stream(CUstream handle, struct transfer *transfer, uint32_t *device,
			  bool async)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (device)
		*device = stream->set->device;
	result = start(stream, transfer, async);
	stream_put(stream);
	return result;
}

/**
 * transfer_copy() - copy rows in a stream
 * @handle: the stream
 * @arg: what to copy, at least one row; its device is the stream's, unless it
 *	has MEMCAST_COPY_PEER
 * @async: the call has a stream, and need not wait
 */
CUresult transfer_copy(CUstream handle, const struct memcast_copy *arg, bool async)
{
	struct transfer transfer = {
		.request = MEMCAST_COPY,
		.size = sizeof(*arg),
		.copy = *arg,
	};

	return in_stream(handle, &transfer, arg->flags & MEMCAST_COPY_PEER ? NULL :
			 &transfer.copy.device, async);
}

/* As transfer_copy(). */
CUresult transfer_fill(CUstream handle, const struct memcast_fill *arg, bool async)
{
	struct transfer transfer = {
		.request = MEMCAST_FILL,
		.size = sizeof(*arg),
		.fill = *arg,
	};

	return in_stream(handle, &transfer, &transfer.fill.device, async);
}
