// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks whose ends are announced in an order, such as a stream's, are *queued* until their ends
 * are carried out: earlier work of the stream may still use them, and finds them in the tree of
 * blocks. Later work comes after that, so a block that is allocated in the same order may have
 * their place at once. Until they have ended, blocks overlap then:
 *
 * - Of the blocks that have one byte, all but one at most are queued.
 * - A slot of a segment is marked as long as any block has it: what a queued block and a later one
 *   share goes to blocks of other orders when both have ended, whichever ends first.
 * - A queued block all of whose bytes are in a later block ends at once: the later one holds its
 *   place for it, also against the end of its own, until the ticket in its @after is called.
 *   So however often a stream allocates and frees the same size, one block is in the tree.
 * - heap->used and client->queued count a queued block until some of its place is used again.
 *
 * The heap_lock protects all of this.
 */
#include "heap.h"

static struct mc_block *block_of(struct interval_tree_node *node)
{
	return container_of(node, struct mc_block, va);
}

/* Return: the block of a segment after @block, or the first if that is NULL; NULL: none */
static struct mc_block *next_in(const struct mc_segment *segment, struct mc_block *block)
{
	unsigned long first = segment->start, last = segment->start + segment->bytes - 1;
	struct mc_client *client = segment->reservation->client;
	struct interval_tree_node *node;

	lockdep_assert_held(&client->heap_lock);
	node = block ? interval_tree_iter_next(&block->va, first, last) :
		       interval_tree_iter_first(&client->blocks, first, last);
	return node ? block_of(node) : NULL;
}

static unsigned long slot_of(const struct mc_block *block)
{
	return (block->va.start - block->segment->start) / MEMCAST_BLOCK_ALIGN;
}

static unsigned long slots_of(const struct mc_block *block)
{
	return DIV_ROUND_UP(mc_block_bytes(block), MEMCAST_BLOCK_ALIGN);
}

/* Is the segment empty but for blocks that are queued in that order? */
static bool all_queued(const struct mc_segment *segment, u64 order)
{
	struct mc_block *block = next_in(segment, NULL);

	while (block && block->order == order)
		block = next_in(segment, block);
	return !block;
}

/*
 * Finds a place in a chunk: the best begins where a queued block does, and is as long.
 * Return: a slot, or MC_SLOTS.
 */
static unsigned long find_slots(const struct mc_segment *segment, unsigned long slots, u64 order)
{
	unsigned long found = MC_SLOTS, slot;
	DECLARE_BITMAP(taken, MC_SLOTS);
	struct mc_block *block;

	bitmap_zero(taken, MC_SLOTS);
	for (block = next_in(segment, NULL); block; block = next_in(segment, block)) {
		if (block->order != order)
			bitmap_set(taken, slot_of(block), slots_of(block));
	}
	for (block = next_in(segment, NULL); block; block = next_in(segment, block)) {
		slot = slot_of(block);
		if (block->order != order || slots > MC_SLOTS - slot ||
		    find_next_bit(taken, slot + slots, slot) < slot + slots)
			continue;
		if (slots_of(block) == slots)
			return slot;
		if (found == MC_SLOTS)
			found = slot;
	}
	if (found == MC_SLOTS)
		found = bitmap_find_next_zero_area(taken, MC_SLOTS, 0, slots, 0);
	return min(found, MC_SLOTS);
}

/* @larger: may the segment be larger than the block needs? */
static bool find_place(const struct mc_segment *segment, u64 bytes, u64 order, bool larger,
		       unsigned long *offset)
{
	unsigned long slot;

	*offset = 0;
	if (mc_segment_is_exposed(segment))
		return false;
	if (segment->bytes != MC_CHUNK_SIZE) {
		if (larger ? segment->bytes < bytes :
			     segment->bytes != round_up(bytes, MC_CHUNK_SIZE))
			return false;
		return all_queued(segment, order);
	}
	if (bytes > MC_CHUNK_SIZE)
		return false;
	slot = find_slots(segment, DIV_ROUND_UP(bytes, MEMCAST_BLOCK_ALIGN), order);
	*offset = slot * MEMCAST_BLOCK_ALIGN;
	return slot < MC_SLOTS;
}

/*
 * Puts a block where queued blocks may be. @ticket: output, the last of theirs, or 0. The segment
 * is never without a block meanwhile, so it is not reaped.
 */
static void take_place(struct mc_segment *segment, struct mc_block *block, unsigned long offset,
		       u64 bytes, u64 *ticket, struct list_head *reaped)
{
	unsigned long first = segment->start + offset, last = first + bytes - 1;
	struct mc_client *client = segment->reservation->client;
	struct interval_tree_node *node, *next;

	*ticket = 0;
	for (node = interval_tree_iter_first(&client->blocks, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		struct mc_block *queued = block_of(node);

		*ticket = max(*ticket, queued->ticket);
		if (!queued->reused) {
			segment->heap->used -= mc_block_bytes(queued);
			client->queued -= mc_block_bytes(queued);
		}
		queued->reused = true;
	}
	mc_segment_place(segment, block, offset, bytes);
	mc_block_insert(client, block);
	for (node = interval_tree_iter_first(&client->blocks, first, last); node; node = next) {
		next = interval_tree_iter_next(node, first, last);
		if (node == &block->va || node->start < first || node->last > last)
			continue;
		block->after = max(block->after, block_of(node)->ticket);
		mc_block_end_later(client, block_of(node), reaped);
	}
}

/*
 * Places a block where blocks are queued in its order; 0: it has none. @larger: also in a segment
 * of one block that is larger. Return: was there room?
 */
bool mc_queued_place(struct mc_heap *heap, struct mc_block *block, u64 bytes, u64 order,
		     bool larger, struct list_head *reaped)
{
	struct mc_segment *segment;
	unsigned long offset;
	u64 ticket;

	if (!order)
		return false;
	list_for_each_entry(segment, &heap->queued, queue) {
		cond_resched();
		if (!find_place(segment, bytes, order, larger, &offset))
			continue;
		take_place(segment, block, offset, bytes, &ticket, reaped);
		return true;
	}
	return false;
}

/*
 * Likewise, where blocks are queued in any one order. @ticket: output: the block may be used after
 * the end with that ticket.
 */
bool mc_queued_place_others(struct mc_heap *heap, struct mc_block *block, u64 bytes,
			    u64 *ticket, struct list_head *reaped)
{
	struct mc_segment *segment;
	struct mc_block *queued;
	unsigned long offset;
	u64 tried;

	list_for_each_entry(segment, &heap->queued, queue) {
		tried = 0;
		for (queued = next_in(segment, NULL); queued; queued = next_in(segment, queued)) {
			cond_resched();
			if (queued->order == tried)
				continue;
			tried = queued->order;
			if (!tried || !find_place(segment, bytes, tried, true, &offset))
				continue;
			take_place(segment, block, offset, bytes, ticket, reaped);
			return true;
		}
	}
	return false;
}
