// SPDX-License-Identifier: MIT
/*
 * The advice of managed memory. A block with advice is cut into pieces that cover it, each with
 * advice of its own; neighbours with the same advice are joined again. The pieces of a heap are
 * in a tree, in which overlapping pieces count as equal.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include <stdatomic.h>

#include "advice.h"

struct piece {
	uint64_t start, end;
	uint64_t block;
	struct advice advice;
};

struct heap_advice {
	struct heap_advice *next;
	uint32_t heap;
	void *pieces;		/* for tsearch() */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap_advice *heaps;	/* changes under the lock */
static atomic_uint heaps_count;

void advice_lock(void)
{
	pthread_mutex_lock(&lock);
}

void advice_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static int advice_compare(const void *left, const void *right)
{
	const struct piece *one = left, *other = right;

	if (one->end <= other->start)
		return -1;
	return one->start >= other->end;
}

static struct heap_advice *heap_find(uint32_t heap)
{
	struct heap_advice *found = heaps;

	while (found && found->heap != heap)
		found = found->next;
	return found;
}

/* Return: a piece that has a byte in common with [@start, @end), or NULL. */
static struct piece *piece_in(struct heap_advice *heap, uint64_t start, uint64_t end)
{
	struct piece wanted = { .start = start, .end = end };
	struct piece **found = heap ? tfind(&wanted, &heap->pieces, advice_compare) : NULL;

	return found ? *found : NULL;
}

static struct piece *piece_at(struct heap_advice *heap, uint64_t address)
{
	return piece_in(heap, address, address + 1);
}

static CUresult no_memory(void)
{
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for what is advised");
}

static CUresult piece_add(struct heap_advice *heap, const struct piece *like)
{
	struct piece *piece = malloc(sizeof(*piece));

	if (!piece)
		return no_memory();
	*piece = *like;
	if (tsearch(piece, &heap->pieces, advice_compare))
		return CUDA_SUCCESS;
	free(piece);
	return no_memory();
}

static void piece_remove(struct heap_advice *heap, struct piece *piece)
{
	tdelete(piece, &heap->pieces, advice_compare);
	free(piece);
}

static struct heap_advice *heap_make(uint32_t number)
{
	struct heap_advice *heap = heap_find(number);

	if (heap)
		return heap;
	heap = calloc(1, sizeof(*heap));
	if (!heap) {
		no_memory();
		return NULL;
	}
	heap->heap = number;
	heap->next = heaps;
	heaps = heap;
	heaps_count++;
	return heap;
}

/* Cuts the piece at @address in two: one ends there, the other starts there. */
static CUresult cut(struct heap_advice *heap, uint64_t address)
{
	struct piece *piece = piece_at(heap, address);
	struct piece behind;
	CUresult result;

	if (!piece || piece->start == address)
		return CUDA_SUCCESS;
	behind = *piece;
	behind.start = address;
	piece->end = address;
	result = piece_add(heap, &behind);
	if (result != CUDA_SUCCESS)
		piece->end = behind.end;
	return result;
}

CUresult advice_prepare(const struct range *range)
{
	struct heap_advice *heap = heap_make(range->heap);
	struct piece *piece, whole = {
		.start = range->block_start, .end = range->block_end, .block = range->block,
	};
	CUresult result = CUDA_SUCCESS;

	if (!heap)
		return CUDA_ERROR_OUT_OF_MEMORY;
	piece = piece_at(heap, range->block_start);
	if (!piece || piece->block != range->block) {
		/* pieces of a block that was freed without advice_forget() */
		while ((piece = piece_in(heap, range->block_start, range->block_end)))
			piece_remove(heap, piece);
		result = piece_add(heap, &whole);
	}
	if (result == CUDA_SUCCESS)
		result = cut(heap, range->start);
	return result == CUDA_SUCCESS ? cut(heap, range->end) : result;
}

void advice_change(const struct range *range,
		   void (*change)(struct advice *advice, const void *how), const void *how)
{
	struct heap_advice *heap = heap_find(range->heap);
	struct piece *piece;

	for (uint64_t at = range->start; at < range->end; at = piece->end) {
		piece = piece_at(heap, at);
		change(&piece->advice, how);
	}
}

/* Joins neighbours with the same advice, around and in the range; other pieces stay. */
void advice_settle(const struct range *range)
{
	struct heap_advice *heap = heap_find(range->heap);
	struct piece *piece = piece_at(heap, range->start > range->block_start ?
				       range->start - 1 : range->start);

	while (piece && piece->block == range->block && piece->end < range->block_end &&
	       piece->end <= range->end) {
		struct piece *next = piece_at(heap, piece->end);
		uint64_t end = next->end;

		if (memcmp(&piece->advice, &next->advice, sizeof(piece->advice))) {
			piece = next;
			continue;
		}
		/* leaves the tree before the other piece grows over it */
		piece_remove(heap, next);
		piece->end = end;
	}
}

static void place_common(CUmemLocation *common, const CUmemLocation *other)
{
	if (memcmp(common, other, sizeof(*common)))
		*common = (CUmemLocation) { CU_MEM_LOCATION_TYPE_INVALID, 0 };
}

void advice_get(const struct range *range, struct advice *common)
{
	struct heap_advice *heap;
	struct piece *piece;

	*common = (struct advice) {};
	advice_lock();
	heap = heap_find(range->heap);
	piece = piece_at(heap, range->start);
	if (piece && piece->block == range->block) {
		*common = piece->advice;
		while (piece->end < range->end) {
			piece = piece_at(heap, piece->end);
			place_common(&common->preferred, &piece->advice.preferred);
			place_common(&common->prefetched, &piece->advice.prefetched);
			common->read_mostly &= piece->advice.read_mostly;
			for (unsigned int i = 0; i < ACCESSOR_WORDS; i++)
				common->accessors[i] &= piece->advice.accessors[i];
		}
	}
	advice_unlock();
}

/* Only the block's own pieces go: another block may be at the address by now. */
void advice_forget(const struct memcast_address_info *block)
{
	uint64_t at = block->out_mapping, end = at + block->out_mapping_bytes;
	struct heap_advice *heap;
	struct piece *piece;

	if (!heaps_count)
		return;
	advice_lock();
	heap = heap_find(block->out_heap);
	while ((piece = piece_at(heap, at)) && piece->block == block->out_number) {
		at = piece->end;
		piece_remove(heap, piece);
		if (at >= end)
			break;
	}
	advice_unlock();
}

void advice_forget_heap(uint32_t number)
{
	struct heap_advice **at = &heaps, *heap;

	if (!number || !heaps_count)
		return;
	advice_lock();
	while ((heap = *at) && heap->heap != number)
		at = &heap->next;
	if (heap) {
		*at = heap->next;
		heaps_count--;
		tdestroy(heap->pieces, free);
		free(heap);
	}
	advice_unlock();
}
