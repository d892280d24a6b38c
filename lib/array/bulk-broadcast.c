// SPDX-License-Identifier: MIT
/*
 * Bulk functions that store the same to all replicas: copies and fills.
 */
#include <immintrin.h>
#include <string.h>

#include "library.h"
#include "bulk.h"

/* As much of the source as stays in the first-level cache from replica to replica */
#define BLOCK_BYTES	8192

#define FEW_BYTES	64	/* what broadcast_few() has registers for */
#define SHORT_BYTES	4095

/*
 * Block by block, so that N replicas cost one read of the source. @repeat: the
 * source is one block and a line, for all of them.
 *
 * Each replica has lines of its own: where it is not aligned as the others are,
 * its blocks are some bytes further on.
 */
static __attribute__((__noinline__)) void
broadcast_past_caches(const struct memcast_view *view, size_t offset, const unsigned char *from,
		      size_t bytes, bool repeat)
{
	const struct bulk_loops *loops = bulk_loops();

	for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
		for (unsigned int i = 0; i < view->replicas; i++) {
			unsigned char *to = view->replica[i] + offset;
			size_t head = bulk_to_line(to), left, lines;
			const unsigned char *source = from + head;

			if (to == from)
				continue;
			if (head > bytes)
				head = bytes;
			if (!at)
				memcpy(to, from, head);
			if (head + at >= bytes)
				continue;
			to += head + at;
			source += repeat ? 0 : at;
			left = bytes - head - at;
			if (left > BLOCK_BYTES)
				left = BLOCK_BYTES;
			lines = left / BULK_LINE * BULK_LINE;
			loops->stream(to, source, lines);
			memcpy(to + lines, source + lines, left - lines);
		}
	}
	_mm_sfence();
}

/* From both ends: what is in between, or all, is stored twice. */
#define FROM_ENDS(T) do {							\
	T head, tail;								\
										\
	memcpy(&head, from, sizeof(T));						\
	memcpy(&tail, from + bytes - sizeof(T), sizeof(T));			\
	for (i = 0; i < replicas; i++) {					\
		memcpy(view->replica[i] + offset, &head, sizeof(T));		\
		memcpy(view->replica[i] + offset + bytes - sizeof(T), &tail, sizeof(T)); \
	}									\
} while (0)

/* In registers: calls of memcpy() would take most of the time. */
static void broadcast_few(const struct memcast_view *view, size_t offset,
			  const unsigned char *from, size_t bytes)
{
	unsigned int replicas = view->replicas, i;

	if (bytes > 32) {
		__m128i a = _mm_loadu_si128((const void *)from);
		__m128i b = _mm_loadu_si128((const void *)(from + 16));
		__m128i c = _mm_loadu_si128((const void *)(from + bytes - 32));
		__m128i d = _mm_loadu_si128((const void *)(from + bytes - 16));

		for (i = 0; i < replicas; i++) {
			unsigned char *to = view->replica[i] + offset;

			_mm_storeu_si128((void *)to, a);
			_mm_storeu_si128((void *)(to + 16), b);
			_mm_storeu_si128((void *)(to + bytes - 32), c);
			_mm_storeu_si128((void *)(to + bytes - 16), d);
		}
	} else if (bytes >= 16) {
		FROM_ENDS(__m128i);
	} else if (bytes >= 8) {
		FROM_ENDS(uint64_t);
	} else if (bytes >= 4) {
		FROM_ENDS(uint32_t);
	} else if (bytes >= 2) {
		FROM_ENDS(uint16_t);
	} else if (bytes) {
		FROM_ENDS(uint8_t);
	}
}

/*
 * The C library's copy finds out anew for each replica which way to take: that shows in
 * what is short. It is the faster one for what is long and crosses lines (measured).
 */
static void broadcast_block(const struct memcast_view *view, size_t at,
			    const unsigned char *from, size_t bytes)
{
	bool aligned = (uintptr_t)(view->replica[0] + at) % BULK_LINE == 0;
	unsigned int i;

	if (bytes > FEW_BYTES && bytes <= (aligned ? BLOCK_BYTES : SHORT_BYTES)) {
		bulk_loops()->copy(view->replica, at, view->replicas, from, bytes);
		return;
	}
	for (i = 0; i < view->replicas; i++)
		if (view->replica[i] + at != from)	/* that is allowed */
			memcpy(view->replica[i] + at, from, bytes);
}

/* In blocks, but what is not much longer than one at once */
static __attribute__((__noinline__)) void
broadcast_many(const struct memcast_view *view, size_t offset, const unsigned char *from,
	       size_t bytes, bool repeat)
{
	size_t block = bytes <= 2 * BLOCK_BYTES && !repeat ? bytes : BLOCK_BYTES;

	for (size_t at = 0; at < bytes; at += block)
		broadcast_block(view, offset + at, repeat ? from : from + at,
				bytes - at < block ? bytes - at : block);
}

static void broadcast_bytes(const struct memcast_view *view, size_t offset,
			    const unsigned char *from, size_t bytes, bool repeat)
{
	if (bytes <= FEW_BYTES)
		broadcast_few(view, offset, from, bytes);
	else if (bytes * view->replicas >= bulk_stream_bytes())
		broadcast_past_caches(view, offset, from, bytes, repeat);
	else if (bytes <= SHORT_BYTES)
		bulk_loops()->copy(view->replica, offset, view->replicas, from, bytes);
	else
		broadcast_many(view, offset, from, bytes, repeat);
}

void bulk_broadcast(const struct memcast_view *view, size_t offset, const unsigned char *from,
		    size_t bytes)
{
	broadcast_bytes(view, offset, from, bytes, false);
}

static CUresult broadcast(const struct memcast_view *view, size_t offset, const void *from,
			  size_t bytes)
{
	CUresult result = bulk_check_range(view, offset, bytes);

	if (result == CUDA_SUCCESS)
		result = bulk_check_buffer(from, bytes);
	if (result == CUDA_SUCCESS)
		bulk_broadcast(view, offset, from, bytes);
	return result;
}

/* Apart, so that the way of most need not keep what these words are made of. */
static __attribute__((__noinline__, __cold__)) CUresult
broadcast_logged(const struct memcast_view *view, size_t offset, const void *from, size_t bytes)
{
	return LOGGED_AS("memcastBroadcast", broadcast(view, offset, from, bytes),
			 "view=%p, offset=%zu, from=%p, bytes=%zu", (const void *)view, offset,
			 from, bytes);
}

CUresult memcastBroadcast(const struct memcast_view *view, size_t offset, const void *from,
			  size_t bytes)
{
	if (inject_count || !view || !from || view->replicas - 1 >= MEMCAST_VIEW_MAX ||
	    offset > view->bytes || bytes > view->bytes - offset)
		return broadcast_logged(view, offset, from, bytes);
	bulk_broadcast(view, offset, from, bytes);
	return CUDA_SUCCESS;
}

static CUresult fill(const struct memcast_view *view, size_t offset, const void *element,
		     size_t width, size_t count)
{
	unsigned char block[BLOCK_BYTES + BULK_LINE] __attribute__((aligned(BULK_LINE)));
	size_t bytes, at;
	CUresult result;

	if (!width || width > 16 || width & (width - 1))
		return fail(CUDA_ERROR_INVALID_VALUE, "elements of %zu bytes: 1, 2, 4, 8 or 16",
			    width);
	result = bulk_check_elements(view, offset, count, width, &bytes);
	if (result == CUDA_SUCCESS)
		result = bulk_check_buffer(element, bytes);
	if (result != CUDA_SUCCESS)
		return result;

	for (at = 0; at < sizeof(block) && at < bytes; at += width)
		memcpy(block + at, element, width);
	broadcast_bytes(view, offset, block, bytes, true);
	return CUDA_SUCCESS;
}

CUresult memcastFill(const struct memcast_view *view, size_t offset, const void *element,
		     size_t width, size_t count)
{
	return LOGGED(fill(view, offset, element, width, count),
		      "view=%p, offset=%zu, element=%p, width=%zu, count=%zu",
		      (const void *)view, offset, element, width, count);
}
