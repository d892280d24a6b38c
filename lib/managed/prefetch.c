// SPDX-License-Identifier: MIT
/*
 * Prefetches managed memory, and discards its content. Nothing moves, so there is no work for
 * the stream: a request counts at once, as cuMemRangeGetAttribute() tells the last request, not
 * what was done.
 */
#include <stdlib.h>

#include "stream/capture.h"
#include "managed.h"

static void prefetch_apply(struct advice *advice, const void *how)
{
	advice->prefetched = *(const CUmemLocation *)how;
}

struct prefetch {
	struct range range;
	CUmemLocation place;
};

/* Changes all ranges or none. */
static CUresult prefetch_all(const struct prefetch *prefetches, size_t count)
{
	CUresult result = CUDA_SUCCESS;

	advice_lock();
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = advice_prepare(&prefetches[i].range);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		advice_change(&prefetches[i].range, prefetch_apply, &prefetches[i].place);
	for (size_t i = 0; i < count; i++)
		advice_settle(&prefetches[i].range);
	advice_unlock();
	return result;
}

/* Checks that a stream takes work. If it is captured, its capture fails. */
static CUresult prefetch_check_stream(CUstream handle)
{
	struct stream *stream;
	CUresult result = stream_get(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	result = stream_working(stream);
	if (result == CUDA_SUCCESS && stream_captured(stream))
		result = capture_refuse(stream);
	else if (result == CUDA_SUCCESS && stream->is_legacy)
		result = capture_legacy(stream->set);
	stream_put(stream);
	return result;
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUmemLocation place,
			 unsigned int flags, CUstream stream)
{
	struct prefetch one = { .place = place };
	CUresult result = prefetch_check_stream(stream);

	if (result == CUDA_SUCCESS && flags)
		result = fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (result == CUDA_SUCCESS)
		result = range_of(&one.range, address, bytes);
	if (result == CUDA_SUCCESS)
		result = place_check(&one.place, true);
	return result == CUDA_SUCCESS ? prefetch_all(&one, 1) : result;
}

FORWARD(cuMemPrefetchAsync_v2, (CUdeviceptr address, size_t bytes, CUmemLocation place,
				unsigned int flags, CUstream stream),
	prefetch(address, bytes, place, flags, stream),
	address, bytes, place.type, place.id, flags, stream)
FORWARD(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
	prefetch(address, bytes, place_of_device(device), 0, stream),
	address, bytes, device, stream)

struct batch_of_ranges {
	const CUdeviceptr *addresses;
	const size_t *sizes;
	size_t count;
	const CUmemLocation *places;
	const size_t *starts;		/* the first range of each place */
	size_t places_count;
	unsigned long long flags;
};

static CUresult check_batch(const struct batch_of_ranges *batch, bool places, CUstream stream)
{
	if (!batch->addresses || !batch->sizes || !batch->count)
		return fail(CUDA_ERROR_INVALID_VALUE, "no ranges, or a NULL pointer");
	if (batch->flags)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
	if (!stream || stream == CU_STREAM_LEGACY)
		return fail(CUDA_ERROR_INVALID_VALUE, "batches are not for the legacy stream");
	if (!places)
		return CUDA_SUCCESS;
	if (!batch->places || !batch->starts)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (!batch->places_count || batch->places_count > batch->count)
		return fail(CUDA_ERROR_INVALID_VALUE, "%zu locations for %zu ranges",
			    batch->places_count, batch->count);
	for (size_t i = 0; i < batch->places_count; i++)
		if (batch->starts[i] >= batch->count ||
		    (i ? batch->starts[i] <= batch->starts[i - 1] : batch->starts[0] != 0))
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "location %zu starts at range %zu: 0 at first, then rising",
				    i, batch->starts[i]);
	return CUDA_SUCCESS;
}

static CUresult prefetch_fill(struct prefetch *prefetches, const struct batch_of_ranges *batch,
			      bool places)
{
	CUresult result = CUDA_SUCCESS;
	size_t place = 0;

	for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
		result = range_of(&prefetches[i].range, batch->addresses[i], batch->sizes[i]);
		if (result != CUDA_SUCCESS || !places)
			continue;
		if (place + 1 < batch->places_count && batch->starts[place + 1] == i)
			place++;
		prefetches[i].place = batch->places[place];
		result = place_check(&prefetches[i].place, true);
	}
	return result;
}

/* @places: false: only discard, which leaves no trace */
static CUresult prefetch_do(const struct batch_of_ranges *batch, bool places, CUstream stream)
{
	struct prefetch *prefetches;
	CUresult result = check_batch(batch, places, stream);

	if (result == CUDA_SUCCESS)
		result = prefetch_check_stream(stream);
	if (result != CUDA_SUCCESS)
		return result;
	prefetches = calloc(batch->count, sizeof(*prefetches));
	if (!prefetches)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu ranges", batch->count);
	result = prefetch_fill(prefetches, batch, places);
	if (result == CUDA_SUCCESS && places)
		result = prefetch_all(prefetches, batch->count);
	free(prefetches);
	return result;
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr *addresses, size_t *sizes, size_t count,
				unsigned long long flags, CUstream stream)
{
	struct batch_of_ranges batch = {
		.addresses = addresses, .sizes = sizes, .count = count, .flags = flags,
	};

	return WHOLE_CALL(prefetch_do(&batch, false, stream), addresses, sizes, count, flags,
			  stream);
}

#define PREFETCHES(name)							\
CUresult name(CUdeviceptr *addresses, size_t *sizes, size_t count,		\
	      CUmemLocation *places, size_t *starts, size_t places_count,	\
	      unsigned long long flags, CUstream stream)			\
{										\
	struct batch_of_ranges batch = { addresses, sizes, count, places, starts, \
					 places_count, flags };			\
										\
	return WHOLE_CALL(prefetch_do(&batch, true, stream),			\
			  addresses, sizes, count, places, starts, places_count,	\
			  flags, stream);						\
}

PREFETCHES(cuMemPrefetchBatchAsync)
PREFETCHES(cuMemDiscardAndPrefetchBatchAsync)
