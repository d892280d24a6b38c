// SPDX-License-Identifier: MIT
/* Bulk functions that store the same bytes to all replicas: copies and fills. */
#include <string.h>

#include "array.h"

/* Part of the source that stays in the first-level cache from replica to replica */
#define BLOCK_BYTES	8192

/*
 * The C library's copy takes a while to begin, so its blocks are larger; two fit most
 * first-level caches.
 */
#define LIBC_BYTES	16384

/*
 * Bytes that go past the caches to a replica before the next replica gets them: meanwhile the
 * next bytes of the source are fetched (measured: blocks of 8 KiB take a tenth longer).
 */
#define PAST_BYTES	1024

#define FEW_BYTES	64	/* no more bytes than these ever go past the caches */

/*
 * Copies block by block, so that N replicas cost one read of the source. @repeat: the source is
 * one block and a line, for all blocks.
 *
 * Whole lines are those of each replica: if it is not aligned as the others are, its blocks are
 * some bytes further on.
 */
static void broadcast_past_caches(const struct memcast_view *view, size_t offset,
				  const unsigned char *from, size_t bytes, bool repeat)
{
	const struct bulk_loops *copies = bulk_machine()->copies;

	for (size_t at = 0; at < bytes; at += PAST_BYTES) {
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
			if (left > PAST_BYTES)
				left = PAST_BYTES;
			lines = left / BULK_LINE * BULK_LINE;
			copies->stream(to, source, lines);
			if (lines < left)
				memcpy(to + lines, source + lines, left - lines);
		}
	}
	processor_fence();
}

/* The loops here are for places at the start of a line. The C library's copy does the others. */
static void broadcast_block(const struct memcast_view *view, size_t at,
			    const unsigned char *from, size_t bytes, enum bulk_way way)
{
	if (way == BULK_LOOP && (uintptr_t)(view->replica[0] + at) % BULK_LINE == 0) {
		bulk_machine()->copies->copy_block(view->replica, at, view->replicas, from, bytes);
		return;
	}
	for (unsigned int i = 0; i < view->replicas; i++)
		if (view->replica[i] + at != from)	/* the source may be a replica */
			memcpy(view->replica[i] + at, from, bytes);
}

static void broadcast_blocks(const struct memcast_view *view, size_t offset,
			     const unsigned char *from, size_t bytes, bool repeat,
			     enum bulk_way way)
{
	size_t block = BLOCK_BYTES;

	if (!repeat && way != BULK_LOOP)
		block = way == BULK_LIBC ? LIBC_BYTES : bytes;

	for (size_t at = 0; at < bytes; at += block)
		broadcast_block(view, offset + at, repeat ? from : from + at,
				bytes - at < block ? bytes - at : block, way);
}

/* Broadcasts more bytes than copy() is for, or any before the processor is known. */
static __attribute__((__noinline__)) CUresult
broadcast_long(const struct memcast_view *view, size_t offset, const unsigned char *from,
	       size_t bytes, bool repeat)
{
	const struct bulk_machine *machine = bulk_machine();
	size_t written = bytes * view->replicas;
	struct bulk_trial trial;
	enum bulk_way way;

	if (!bytes)
		return CUDA_SUCCESS;
	if (bytes <= FEW_BYTES)
		return machine->copy(view->replica, offset, view->replicas, from, bytes);

	way = bulk_way(BULK_COPY, view->replicas, repeat ? written : written + bytes, written,
		       &trial);
	if (way == BULK_PAST)
		broadcast_past_caches(view, offset, from, bytes, repeat);
	else
		broadcast_blocks(view, offset, from, bytes, repeat, way);
	bulk_way_done(&trial);
	return CUDA_SUCCESS;
}

static inline CUresult broadcast_bytes(const struct memcast_view *view, size_t offset,
				       const unsigned char *from, size_t bytes)
{
	const struct bulk_machine *machine = &bulk_machine_known;

	/*
	 * short_bytes is 0 before the processor is known; for 0 bytes, bytes - 1 is the largest
	 * number
	 */
	if (bytes - 1 < __atomic_load_n(&machine->short_bytes, __ATOMIC_ACQUIRE))
		return machine->copy(view->replica, offset, view->replicas, from, bytes);
	return broadcast_long(view, offset, from, bytes, false);
}

void bulk_broadcast(const struct memcast_view *view, size_t offset, const unsigned char *from,
		    size_t bytes)
{
	broadcast_bytes(view, offset, from, bytes);
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

/* A function of its own, so that the usual path need not keep the arguments of the message. */
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
	if (!view || !from || view->replicas - 1 >= MEMCAST_VIEW_MAX || offset > view->bytes ||
	    bytes > view->bytes - offset)
		return broadcast_logged(view, offset, from, bytes);
	return broadcast_bytes(view, offset, from, bytes);
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
	return broadcast_long(view, offset, block, bytes, true);
}

CUresult memcastFill(const struct memcast_view *view, size_t offset, const void *element,
		     size_t width, size_t count)
{
	return LOGGED(fill(view, offset, element, width, count),
		      "view=%p, offset=%zu, element=%p, width=%zu, count=%zu",
		      (const void *)view, offset, element, width, count);
}
