// SPDX-License-Identifier: MIT
/*
 * Copies and fills in a stream: when they are done, and what is checked when. The kernel's copy
 * engine does them. What a call itself does, or waits for, is work of the stream, too.
 *
 *   device to device, fills	in the stream; a call without a stream does them at once if no
 *				earlier work is left, and else waits unless may_return()
 *   from other host memory	as if at once: a small source is read into a buffer (put_aside()),
 *				for a large one, or without room for more, the call waits
 *   to other host memory	the call waits
 *
 * "Other" host memory is memory outside all reservations: NVIDIA's driver has to put such memory
 * through buffers of its own, so programs count on this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "alloc/alloc.h"
#include "base/ioctl.h"

#define ASIDE_MAX	(1 << 20)	/* bytes of a small source */
#define ASIDE_ALL	(64 << 20)	/* of all sources that are put aside; cuda.h says so */

static atomic_size_t aside_all;

/* A call that waits for its own transfer, and returns its failure */
struct waiter {
	struct fence *fence;
	uint64_t number;	/* of the work in its stream */
	char reason[256];
};

struct transfer {
	struct work work;
	struct waiter *waiter;		/* or NULL */
	bool is_copy;
	size_t aside_bytes;
	union {
		struct layers layers;
		struct memcast_fill fill;
	};
	char aside[];
};

static CUresult do_fill(const struct memcast_fill *fill, uint32_t flags)
{
	struct memcast_fill arg = *fill;

	arg.flags |= flags;
	return device_answer(arg.device, device_ioctl(MEMCAST_FILL, &arg));
}

/* @flags: MEMCAST_COPY_CHECK, or 0 */
static CUresult do_layers(const struct layers *layers, uint32_t flags)
{
	struct memcast_copy layer = layers->copy;
	CUresult result = CUDA_SUCCESS;

	layer.flags |= flags;
	for (uint64_t i = 0; i < layers->count && result == CUDA_SUCCESS; i++) {
		result = device_ioctl(MEMCAST_COPY, &layer);
		layer.to += layers->to_pitch;
		layer.from += layers->from_pitch;
	}
	return device_answer(layer.device, result);
}

CUresult layers_check(const struct layers *layers)
{
	return do_layers(layers, MEMCAST_COPY_CHECK);
}

/* The kernel checks a layer before it writes to it; this checks several layers. */
CUresult layers_copy(const struct layers *layers)
{
	CUresult result = layers->count > 1 ? layers_check(layers) : CUDA_SUCCESS;

	if (__builtin_expect(devices_shared, 0) && result == CUDA_SUCCESS && layers->copy.bytes &&
	    !(layers->copy.flags & MEMCAST_COPY_PEER))
		result = copy_between_contexts(layers->copy.to, layers->copy.from);
	return result == CUDA_SUCCESS ? do_layers(layers, 0) : result;
}

CUresult fill_check(const struct memcast_fill *fill)
{
	return do_fill(fill, MEMCAST_FILL_CHECK);
}

/* Return: has no context of another device plain memory? */
static bool no_other_device_has_memory(uint32_t device)
{
	return __builtin_expect(contexts_with_memory == with_memory[device], 1);
}

/* Checks peer access to plain memory, of which the kernel does not know. */
CUresult fill_check_access(CUcontext context, const struct memcast_fill *fill)
{
	if (!fill->count || no_other_device_has_memory(fill->device))
		return CUDA_SUCCESS;
	return fill_from_context(context, fill->to);
}

static CUresult do_transfer(struct transfer *transfer)
{
	return transfer->is_copy ? layers_copy(&transfer->layers) :
				   do_fill(&transfer->fill, 0);
}

static CUresult check_transfer(const struct transfer *transfer)
{
	return transfer->is_copy ? layers_check(&transfer->layers) :
				   fill_check(&transfer->fill);
}

/* The calling thread does the transfer itself, in a stream that it has taken. */
static CUresult do_taken(struct stream *stream, struct transfer *transfer)
{
	CUresult result = do_transfer(transfer);

	stream_give(stream);
	return result;
}

static void do_awaited(struct stream *stream, struct transfer *transfer, CUresult error)
{
	struct waiter *waiter = transfer->waiter;
	struct fence *fence = waiter->fence;

	waiter->number = stream->done + 1;	/* it changes in this thread alone */
	if (error == CUDA_SUCCESS) {
		error = do_transfer(transfer);
		if (error != CUDA_SUCCESS)
			snprintf(waiter->reason, sizeof(waiter->reason), "%s", fail_reason());
	}
	fence_signal(fence, error);
	fence_put(fence);
}

static CUresult run_transfer(struct work *work, struct stream *stream, CUresult error)
{
	struct transfer *transfer = (struct transfer *)work;

	if (transfer->waiter) {
		do_awaited(stream, transfer, error);
		return CUDA_SUCCESS;
	}
	if (error == CUDA_SUCCESS && transfer->is_copy)
		error = layers_result(&transfer->layers, layers_copy(&transfer->layers));
	else if (error == CUDA_SUCCESS)
		error = fill_result(&transfer->fill, do_fill(&transfer->fill, 0));
	aside_all -= transfer->aside_bytes;
	return error;
}

/* Reads the source of a copy now, into the piece of work. */
static void put_aside(struct transfer *work)
{
	struct layers *layers = &work->layers;
	struct memcast_copy *copy = &layers->copy;
	char *to = work->aside;

	for (uint64_t layer = 0; layer < layers->count; layer++)
		for (uint64_t row = 0; row < copy->rows; row++, to += copy->bytes)
			memcpy(to, (char *)(uintptr_t)(copy->from + row * copy->from_pitch +
						       layer * layers->from_pitch),
			       copy->bytes);
	copy->from = (uintptr_t)work->aside;
	copy->from_pitch = copy->bytes;
	layers->from_pitch = copy->bytes * copy->rows;
}

/* Takes room for a source that is put aside. Return: is there room? */
static bool take_room(size_t bytes)
{
	if (atomic_fetch_add(&aside_all, bytes) + bytes <= ASIDE_ALL)
		return true;
	aside_all -= bytes;
	return false;
}

/* @aside: bytes of the source to read now, for which there is room: all of it, or 0 */
static CUresult transfer_submit(struct stream *stream, const struct transfer *transfer,
				size_t aside)
{
	struct transfer *work = malloc(sizeof(*work) + aside);
	CUresult result;

	if (!work)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	*work = *transfer;
	work->work.run = run_transfer;
	work->aside_bytes = aside;
	result = work->waiter ? CUDA_SUCCESS : check_transfer(work);
	if (aside && result == CUDA_SUCCESS)
		put_aside(work);
	if (result == CUDA_SUCCESS)
		result = stream_submit(stream, &work->work);
	if (result != CUDA_SUCCESS)
		free(work);
	return result;
}

/* Queues a transfer and waits for it. */
static CUresult submit_and_wait(struct stream *stream, struct transfer *transfer)
{
	struct waiter waiter = { .fence = fence_alloc(), .reason = "work in a stream has failed" };
	CUresult result;

	if (!waiter.fence)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for work");
	transfer->waiter = &waiter;
	fence_reference(waiter.fence);
	result = transfer_submit(stream, transfer, 0);
	if (result != CUDA_SUCCESS) {
		fence_put(waiter.fence);
	} else {
		result = fence_wait(waiter.fence);
		/* until the stream counts it as done, too: who asks the stream next sees that */
		points_wait(&(struct points) { 1, &(struct point) { stream, waiter.number } });
		prints_flush();
		if (result != CUDA_SUCCESS)
			fail(result, "%s", waiter.reason);
	}
	fence_put(waiter.fence);
	return result;
}

static CUresult do_and_wait(struct stream *stream, struct transfer *transfer)
{
	bool taken;
	CUresult result = stream_take(stream, &taken);

	if (result != CUDA_SUCCESS)
		return result;
	return taken ? do_taken(stream, transfer) : submit_and_wait(stream, transfer);
}

static bool is_mapped(uint64_t address)
{
	struct memcast_address_info info = { .address = address };

	return memory_ask(&info) > MEMORY_MISSING;
}

/* Return: how many bytes a copy has; 0: too many to be put aside. */
static size_t small_bytes(const struct layers *layers)
{
	const struct memcast_copy *copy = &layers->copy;

	if (!copy->bytes || !layers->count || copy->rows > ASIDE_MAX / copy->bytes ||
	    layers->count > ASIDE_MAX / (copy->bytes * copy->rows))
		return 0;
	return copy->bytes * copy->rows * layers->count;
}

/* Return: the device whose memory it is, or -1: the host sees it, too, or it has SYNC_MEMOPS */
static int device_alone(uint64_t address)
{
	struct memcast_address_info info = { .address = address };

	return memory_ask(&info) == MEMORY_OF_DEVICE && !(info.out_block_flags & BLOCK_SYNC) ?
	       (int)info.out_location_id : -1;
}

/* Does the call itself say that one side of a copy is memory of the host? */
static bool names_host(const struct memcast_copy *copy)
{
	return !(copy->flags & MEMCAST_COPY_TO_DEVICE) != !(copy->flags & MEMCAST_COPY_FROM_DEVICE);
}

/*
 * Return: may a call without a stream return before its work is done? As NVIDIA documents, only if
 * all its memory is of the stream's device (of a fill: of one): the program reads or changes other
 * memory as soon as the call returns, and work of another device would not come after.
 */
static bool may_return(const struct stream *stream, const struct transfer *transfer)
{
	const struct memcast_copy *copy = &transfer->layers.copy;

	if (context_slot(stream->set->context)->flags & CU_CTX_SYNC_MEMOPS)
		return false;
	if (!transfer->is_copy)
		return !transfer->fill.count || device_alone(transfer->fill.to) >= 0;
	if (names_host(copy) || copy->flags & MEMCAST_COPY_PEER)
		return false;
	return !copy->bytes || !transfer->layers.count ||
	       (device_alone(copy->to) == (int)stream->set->device &&
		device_alone(copy->from) == (int)stream->set->device);
}

struct side {
	CUcontext context;	/* that has allocated it, or NULL */
	int device;		/* -1: none's */
};

static struct side side_at(uint64_t address)
{
	struct memcast_address_info info = { .address = address };
	struct slot *slot;

	if (memory_ask(&info) != MEMORY_OF_DEVICE)
		return (struct side) { .device = -1 };
	slot = slot_of_block(&info);
	return (struct side) { slot ? context_value(slot) : NULL, (int)info.out_location_id };
}

/*
 * Waits, before a copy between two devices, for the work of both: of the context that has allocated
 * the memory, or the device's primary one. As NVIDIA's guide says, such a copy in the legacy stream
 * comes after what was given to either device. A call that names two contexts has waited for them.
 */
static CUresult wait_for_both(const struct stream *stream, const struct transfer *transfer)
{
	const struct layers *layers = &transfer->layers;
	const struct memcast_copy *copy = &layers->copy;
	CUresult result;
	struct side sides[2];

	if (!stream->is_legacy || names_host(copy) || copy->flags & MEMCAST_COPY_PEER ||
	    !copy->bytes || !layers->count || !other_device_streams(stream->set->device))
		return CUDA_SUCCESS;
	sides[0] = side_at(copy->to);
	sides[1] = side_at(copy->from);
	if (sides[0].device < 0 || sides[1].device < 0 || sides[0].device == sides[1].device)
		return CUDA_SUCCESS;
	result = check_transfer(transfer);
	for (int i = 0; i < 2 && result == CUDA_SUCCESS; i++)
		if (sides[i].context != stream->set->context)
			result = blocking_wait(sides[i].context, sides[i].device);
	return result;
}

static CUresult do_sync(struct stream *stream, struct transfer *transfer)
{
	CUresult result = CUDA_SUCCESS;
	bool taken;

	if (transfer->is_copy)
		result = wait_for_both(stream, transfer);
	if (result == CUDA_SUCCESS)
		result = stream_take(stream, &taken);
	if (transfer->is_copy)
		prints_flush();
	if (result != CUDA_SUCCESS)
		return result;
	if (taken)
		return do_taken(stream, transfer);
	if (may_return(stream, transfer))
		return transfer_submit(stream, transfer, 0);
	result = check_transfer(transfer);
	return result == CUDA_SUCCESS ? submit_and_wait(stream, transfer) : result;
}

/* Copies from memory outside of all reservations: as if at once */
static CUresult do_from_host(struct stream *stream, struct transfer *transfer)
{
	size_t aside = small_bytes(&transfer->layers);
	bool taken;
	CUresult result = stream_take(stream, &taken);

	if (result != CUDA_SUCCESS)
		return result;
	if (taken)
		return do_taken(stream, transfer);
	if (!aside || !take_room(aside))
		return submit_and_wait(stream, transfer);
	result = transfer_submit(stream, transfer, aside);
	if (result != CUDA_SUCCESS)
		aside_all -= aside;
	return result;
}

static CUresult transfer_start(struct stream *stream, struct transfer *transfer,
			       enum transfer_when when)
{
	const struct memcast_copy *copy = &transfer->layers.copy;
	bool now = when == TRANSFER_READ_NOW;

	if (when == TRANSFER_SYNC)
		return do_sync(stream, transfer);
	if (stream->set->error != CUDA_SUCCESS)
		return fail(stream->set->error, "work in a stream has failed");
	if (!transfer->is_copy || when == TRANSFER_IN_ORDER)
		return transfer_submit(stream, transfer, 0);
	if (!now && !(copy->flags & MEMCAST_COPY_TO_DEVICE) && !is_mapped(copy->to))
		return do_and_wait(stream, transfer);
	if ((copy->flags & MEMCAST_COPY_FROM_DEVICE) || is_mapped(copy->from))
		return now ? do_and_wait(stream, transfer) : transfer_submit(stream, transfer, 0);
	return do_from_host(stream, transfer);
}

static CUresult capture(struct stream *stream, const struct transfer *transfer,
			enum transfer_when when)
{
	if (when == TRANSFER_SYNC)
		return capture_refuse(stream);
	/* this refusal does not make the capture fail */
	if (when != TRANSFER_ASYNC)
		return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "batches cannot be captured");
	return transfer->is_copy ? capture_copy(stream, &transfer->layers) :
				   capture_fill(stream, &transfer->fill);
}

static CUresult in_stream(CUstream handle, struct transfer *transfer, uint32_t *device,
			  enum transfer_when when)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (device)
		*device = stream->set->device;
	if (stream_captured(stream)) {
		result = capture(stream, transfer, when);
	} else {
		result = transfer->is_copy ? CUDA_SUCCESS :
			 fill_check_access(stream->set->context, &transfer->fill);
		if (result == CUDA_SUCCESS)
			result = transfer_start(stream, transfer, when);
	}
	stream_put(stream);
	return result;
}

/**
 * transfer_layers() - copy layers of rows in a stream
 * @handle: the stream
 * @layers: at least one row in a layer; the device is the stream's, unless the flags have
 *	MEMCAST_COPY_PEER
 * @when: when the source is read
 */
CUresult transfer_layers(CUstream handle, const struct layers *layers,
			 enum transfer_when when)
{
	struct transfer transfer = { .is_copy = true, .layers = *layers };

	return in_stream(handle, &transfer, layers->copy.flags & MEMCAST_COPY_PEER ? NULL :
			 &transfer.layers.copy.device, when);
}

/* Copies one layer. @async: the call has a stream, and need not wait */
CUresult transfer_copy(CUstream handle, const struct memcast_copy *arg, bool async)
{
	struct layers layers = { .copy = *arg, .count = 1 };

	return transfer_layers(handle, &layers, async ? TRANSFER_ASYNC : TRANSFER_SYNC);
}

/* Fills memory, like transfer_copy(). */
CUresult transfer_fill(CUstream handle, const struct memcast_fill *arg, bool async)
{
	struct transfer transfer = { .fill = *arg };

	return in_stream(handle, &transfer, &transfer.fill.device,
			 async ? TRANSFER_ASYNC : TRANSFER_SYNC);
}
