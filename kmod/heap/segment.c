// SPDX-License-Identifier: GPL-2.0-only
/*
 * Segments: the memory of a heap, and where in it a block fits.
 *
 * The kernel's gen_pool would do the latter too, but it gives no memory back,
 * dies of a wrong argument, and not every kernel has it. What it uses inside,
 * bitmap_find_next_zero_area(), is used here.
 */
#include <linux/bitmap.h>
#include <linux/mman.h>
#include "heap.h"

static int segment_map(struct mc_call *call, struct mc_segment *segment,
		       struct mc_memory *memory, u64 from)
{
	struct mc_mapping *mapping;

	segment->memory = memory;
	kref_get(&memory->object.kref);
	/* memory in pages may end within the last chunk */
	mapping = mc_mapping_new(call, segment->reservation, &memory->object,
				 segment->start, from,
				 min_t(u64, segment->bytes, memory->object.bytes - from));
	return mapping ? mc_mapping_insert(call, mapping) : -ENOMEM;
}

/* Maps new memory, which other processes can import if the heap is shared. */
static int segment_fill(struct mc_call *call, struct mc_segment *segment)
{
	struct mc_heap *heap = segment->heap;
	struct mc_memory *memory;
	int ret;

	memory = mc_memory_new(call, heap->device, &heap->create, segment->bytes);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	ret = segment_map(call, segment, memory, 0);
	if (!ret && heap->share) {
		ret = mc_share_add(heap->share, memory);
		if (!ret)
			segment->share = mc_share_get(heap->share);
	}
	mc_object_put(&memory->object);
	return ret;
}

/*
 * Makes the reservation the heap's, unless another thread has replaced it, mapped something or made
 * a tail.
 */
static bool reservation_claim(struct mc_segment *segment)
{
	struct mc_reservation *reservation = segment->reservation;
	bool ours;

	down_write(&reservation->lock);
	ours = !reservation->of_heap && reservation->start == segment->start &&
	       reservation->end == segment->start + segment->bytes &&
	       reservation->reach == reservation->end &&
	       RB_EMPTY_ROOT(&reservation->mappings.rb_root);
	if (ours) {
		reservation->of_pool = segment->heap->flags & MEMCAST_HEAP_POOL;
		WRITE_ONCE(reservation->lasting, segment->heap->flags & MEMCAST_HEAP_LASTING);
		WRITE_ONCE(reservation->of_heap, true);
	}
	up_write(&reservation->lock);
	if (!ours) {
		mc_reservation_put(reservation);
		segment->reservation = NULL;
	}
	return ours;
}

/* @device: whose memory it is to show; NULL: the host's */
static int segment_reserve(struct mc_call *call, struct mc_segment *segment,
			   const struct mc_device *device)
{
	unsigned long key = device ? READ_ONCE(call->client->protection) : 0;
	unsigned long address;

	/* the file aligns a VMA that is as long as a chunk, if there is room for that */
	address = vm_mmap(call->file, 0, segment->bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED, key << MC_CHUNK_SHIFT);
	if (address == -EINTR)
		return -EINTR;
	if (IS_ERR_VALUE(address))
		return mc_fail(call, -ENOMEM,
			       "no room for %lu bytes of addresses (errno %ld)",
			       segment->bytes, -(long)address);
	segment->start = address;
	segment->reservation = mc_reservation_find(call->client, address);
	if (!segment->reservation || !reservation_claim(segment))
		return mc_fail(call, -ENOMEM, "the program unmaps what is not its own");
	return 0;
}

/* Unmaps a segment's reservation, if it still is the one there: nothing is mapped in it. */
static void segment_unmap(struct mc_client *client, struct mc_segment *segment)
{
	struct mc_reservation *reservation =
		mc_reservation_find(client, segment->start);

	if (!reservation)
		return;
	/* where munmap() fails (mseal(), no memory) only the addresses stay */
	if (reservation == segment->reservation)
		vm_munmap(segment->start, segment->bytes);
	mc_reservation_put(reservation);
}

/**
 * mc_segment_new() - get memory for a heap
 * @call: the call
 * @heap: the heap, which stays as the call has counted a block in it
 * @bytes: how much, in whole chunks
 * @memory: what to map; NULL: new memory
 * @from: bytes into @memory, whole chunks
 *
 * Without the client's heap_lock: this takes long.
 *
 * Return: a segment in no list, or an error.
 */
struct mc_segment *mc_segment_new(struct mc_call *call, struct mc_heap *heap,
				  u64 bytes, struct mc_memory *memory, u64 from)
{
	struct mc_segment *segment = mc_alloc(call, call->client->account,
					     sizeof(*segment));
	LIST_HEAD(failed);
	int ret;

	if (!segment)
		return ERR_PTR(-ENOMEM);
	segment->heap = heap;
	segment->account = call->client->account;
	segment->bytes = bytes;
	segment->free = MC_SLOTS;
	segment->most = MC_SLOTS;
	INIT_LIST_HEAD(&segment->room);
	ret = segment_reserve(call, segment, memory ? memory->device : heap->device);
	if (!ret)
		ret = memory ? segment_map(call, segment, memory, from) :
			       segment_fill(call, segment);
	if (!ret)
		return segment;
	list_add(&segment->list, &failed);
	mc_segments_free(call->client, &failed);
	return ERR_PTR(ret);
}

/*
 * A team or a dma-buf that shows a segment goes on to show it after the block is gone:
 * later blocks must not come there. An imported memory may have been passed on, too.
 */
static bool is_exposed(const struct mc_segment *segment)
{
	return segment->alone || READ_ONCE(segment->memory->exposed);
}

/* Return: the slots that a block takes of a segment that it shares; 0: it has the segment alone. */
static unsigned long shared_slots(const struct mc_segment *segment, u64 bytes)
{
	unsigned long slots = DIV_ROUND_UP(bytes, MEMCAST_BLOCK_ALIGN);

	return segment->alone || slots > MC_SLOTS ? 0 : slots;
}

static bool find_room(struct mc_segment *segment, u64 bytes, unsigned long *offset)
{
	unsigned long slots, slot;

	*offset = 0;
	if (is_exposed(segment))
		return false;
	if (bytes > MC_CHUNK_SIZE)
		return segment->bytes == round_up(bytes, MC_CHUNK_SIZE);
	slots = DIV_ROUND_UP(bytes, MEMCAST_BLOCK_ALIGN);
	if (segment->bytes != MC_CHUNK_SIZE || segment->free < slots ||
	    segment->most < slots)
		return false;
	slot = bitmap_find_next_zero_area(segment->slots, MC_SLOTS, 0, slots, 0);
	if (slot >= MC_SLOTS)
		segment->most = slots - 1;
	*offset = slot * MEMCAST_BLOCK_ALIGN;
	return slot < MC_SLOTS;
}

static void set_of_block(struct mc_segment *segment, bool of_block)
{
	down_write(&segment->reservation->lock);
	segment->reservation->of_block = of_block;
	up_write(&segment->reservation->lock);
}

/* Puts a block at @offset, which is free; at 0 if it has the segment alone. With the heap_lock. */
void mc_segment_place(struct mc_segment *segment, struct mc_block *block,
		      unsigned long offset, u64 bytes)
{
	unsigned long slots = shared_slots(segment, bytes);

	lockdep_assert_held(&segment->reservation->client->heap_lock);
	block->segment = segment;
	block->va.start = segment->start + offset;
	block->va.last = block->va.start + bytes - 1;
	segment->heap->used += bytes;
	segment->heap->used_high = max(segment->heap->used_high, segment->heap->used);
	segment->blocks++;
	if (segment->alone || (bytes > MC_CHUNK_SIZE - MEMCAST_BLOCK_ALIGN &&
			       segment->heap->flags & MEMCAST_HEAP_POOL))
		set_of_block(segment, true);
	if (slots) {
		bitmap_set(segment->slots, offset / MEMCAST_BLOCK_ALIGN, slots);
		segment->free -= slots;
	}
	/* A segment in use is the first to be filled, so that others become empty and end. */
	if (!slots || !segment->free)
		list_del_init(&segment->room);
	else if (segment->blocks == 1)
		list_move(&segment->room, &segment->heap->rooms);
}

/**
 * mc_segments_place() - find room for a block
 * @heap: the heap; the client's heap_lock is held
 * @block: output: its segment and its addresses
 * @bytes: how much
 *
 * Return: was there room?
 */
bool mc_segments_place(struct mc_heap *heap, struct mc_block *block, u64 bytes)
{
	struct mc_segment *segment;
	unsigned long offset;

	list_for_each_entry(segment, &heap->rooms, room) {
		lockdep_assert_held(&segment->reservation->client->heap_lock);
		cond_resched();
		if (!find_room(segment, bytes, &offset))
			continue;
		mc_segment_place(segment, block, offset, bytes);
		return true;
	}
	return false;
}

/* Takes a block out of its segment. The heap_lock is held. */
void mc_segment_take_back(struct mc_block *block)
{
	struct mc_segment *segment = block->segment;
	unsigned long slots = shared_slots(segment, mc_block_bytes(block));

	lockdep_assert_held(&segment->reservation->client->heap_lock);
	segment->heap->used -= mc_block_bytes(block);
	segment->blocks--;
	if (!slots || slots == MC_SLOTS)
		set_of_block(segment, false);
	if (slots) {
		bitmap_clear(segment->slots, (block->va.start - segment->start) /
			     MEMCAST_BLOCK_ALIGN, slots);
		segment->free += slots;
		segment->most = MC_SLOTS;
	}
	if (segment->blocks)
		list_move(&segment->room, &segment->heap->rooms);
	else
		list_move_tail(&segment->room, &segment->heap->rooms);
}

/* Moves an unused segment from its heap to @reaped. The heap_lock is held. */
static void segment_reap(struct mc_segment *segment, struct list_head *reaped)
{
	segment->heap->taken -= segment->bytes;
	list_del(&segment->room);
	list_move(&segment->list, reaped);
}

/*
 * Moves unused segments of a heap to @reaped, but leaves it @keep bytes; exposed segments go in
 * any case, as they cannot be used again. The heap_lock is held.
 */
void mc_segments_reap(struct mc_heap *heap, u64 keep, struct list_head *reaped)
{
	struct mc_segment *segment, *next;

	list_for_each_entry_safe_reverse(segment, next, &heap->rooms, room) {
		lockdep_assert_held(&segment->reservation->client->heap_lock);
		cond_resched();
		if (segment->blocks)
			break;
		if (!is_exposed(segment)) {
			if (heap->taken - MC_CHUNK_SIZE < keep)
				break;
			if (heap->taken - segment->bytes < keep)
				continue;
		}
		segment_reap(segment, reaped);
	}
}

/* Programs see what a pool has taken in such steps, as on hardware. */
#define STEP	(16 * (u64)MC_CHUNK_SIZE)

/*
 * Moves unused segments, in which a block does not fit, to @reaped, so that their heap takes
 * @bytes for it without more steps than it has. If nothing smaller will do, the smallest of the
 * segments goes that are larger than what is missing. The heap_lock is held.
 */
void mc_segments_replace(struct mc_heap *heap, u64 bytes, struct list_head *reaped)
{
	u64 most = min(round_up(heap->taken, STEP), heap->limit ?: U64_MAX);
	struct mc_segment *segment, *smallest = NULL;
	u64 keep = most - min(most, bytes);

	mc_segments_reap(heap, keep, reaped);
	if (heap->taken <= keep)
		return;
	list_for_each_entry_reverse(segment, &heap->rooms, room) {
		lockdep_assert_held(&segment->reservation->client->heap_lock);
		cond_resched();
		if (segment->blocks)
			break;
		if (!smallest || segment->bytes < smallest->bytes)
			smallest = segment;
	}
	if (smallest)
		segment_reap(smallest, reaped);
}

/**
 * mc_segments_free() - end segments that no heap has any more
 * @client: the client; NULL if its process has none of them mapped any more
 * @reaped: list of them
 *
 * Without locks: memory may end here, that of all segments together.
 */
void mc_segments_free(struct mc_client *client, struct list_head *reaped)
{
	struct mc_segment *segment, *next;
	LIST_HEAD(ended);

	list_for_each_entry(segment, reaped, list) {
		if (segment->share) {
			mc_share_remove(segment->share, segment->memory->object.number);
			mc_share_put(segment->share);
		}
		if (segment->reservation && client)
			mc_mappings_undo(segment->reservation, &ended);
		cond_resched();
	}
	mc_objects_end(&ended);
	list_for_each_entry_safe(segment, next, reaped, list) {
		if (segment->reservation) {
			if (client)
				segment_unmap(client, segment);
			mc_reservation_put(segment->reservation);
		}
		if (segment->memory)
			mc_object_forget(&segment->memory->object);
		mc_free(segment->account, segment, sizeof(*segment));
		cond_resched();
	}
}
