// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks: pieces of a heap's memory, and ranges of the program's own memory that
 * it has registered. The blocks of a client are in one tree, by address. They overlap only as
 * queued.c says.
 */
#include "heap.h"

/* Return: a block that has no addresses yet, and is in no tree; or NULL, with the reason. */
struct mc_block *mc_block_new(struct mc_call *call, u32 flags)
{
	struct mc_block *block = mc_alloc(call, call->client->account,
					     sizeof(*block));

	if (block)
		block->flags = flags;
	return block;
}

/* Frees a block that is in no tree. */
void mc_block_drop(struct mc_call *call, struct mc_block *block)
{
	mc_free(call->client->account, block, sizeof(*block));
}

/*
 * Return: the first block that has any of these addresses, but one whose end is announced only if
 * there is no other; or NULL. The heap_lock is held, and keeps it.
 */
struct mc_block *mc_block_find(struct mc_client *client, unsigned long first,
			       unsigned long last)
{
	struct interval_tree_node *node;
	struct mc_block *found = NULL;

	lockdep_assert_held(&client->heap_lock);
	for (node = interval_tree_iter_first(&client->blocks, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		struct mc_block *block = container_of(node, struct mc_block, va);

		if (!block->freeing)
			return block;
		found = found ?: block;
	}
	return found;
}

/* Puts a block with addresses into the tree, where calls find it. The heap_lock is held. */
void mc_block_insert(struct mc_client *client, struct mc_block *block)
{
	lockdep_assert_held(&client->heap_lock);
	block->number = mc_object_number();
	interval_tree_insert(&block->va, &client->blocks);
	atomic_long_inc(&mc_stats.blocks);
}

/* Announces a block's end. Only blocks of a pool of the client's own can have an order. */
void mc_block_queue(struct mc_block *block, u64 order, u64 ticket)
{
	struct mc_segment *segment = block->segment;

	block->freeing = true;
	block->ticket = ticket;
	if (!segment)
		return;
	segment->reservation->client->queued += mc_block_bytes(block);
	if (!order || segment->heap->flags != MEMCAST_HEAP_POOL)
		return;
	block->order = order;
	if (!segment->queued++)
		list_add(&segment->queue, &segment->heap->queued);
}

/* Takes back what mc_block_queue() did, if it did. */
void mc_block_unqueue(struct mc_block *block)
{
	if (block->freeing && block->segment && !block->reused)
		block->segment->reservation->client->queued -= mc_block_bytes(block);
	if (block->order && !--block->segment->queued)
		list_del_init(&block->segment->queue);
	block->order = 0;
	block->ticket = 0;
	block->freeing = false;
}

/*
 * Carries out an end that was announced, with its ticket, for a block at @address. Return: the
 * block, if it has not ended before. A block that held its place need not any more.
 */
struct mc_block *mc_block_of_ticket(struct mc_client *client, unsigned long address, u64 ticket)
{
	struct interval_tree_node *node;

	lockdep_assert_held(&client->heap_lock);
	for (node = interval_tree_iter_first(&client->blocks, address, address); node;
	     node = interval_tree_iter_next(node, address, address)) {
		struct mc_block *block = container_of(node, struct mc_block, va);

		if (block->after == ticket)
			block->after = 0;
		if (block->ticket == ticket)
			return block;
	}
	return NULL;
}

/* Describes the block around info->address. Return: is there one? Takes the heap_lock. */
bool mc_block_describe(struct mc_client *client, struct memcast_address_info *info)
{
	struct mc_block *block;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, info->address, info->address);
	if (block) {
		info->out_reservation = block->va.start;
		info->out_reservation_bytes = mc_block_bytes(block);
		info->out_mapping = block->va.start;
		info->out_mapping_bytes = mc_block_bytes(block);
		info->out_object = block->number;
		info->out_number = block->number;
		info->out_offset = 0;
		info->out_block_flags = block->flags;
		if (block->segment) {
			info->out_heap = block->segment->heap->id;
		} else {
			info->out_location = MEMCAST_LOCATION_HOST;
			info->out_any = MEMCAST_ACCESS_READWRITE;
			if (info->device != MEMCAST_DEVICE_NONE)
				info->out_access = MEMCAST_ACCESS_READWRITE;
		}
	}
	mutex_unlock(&client->heap_lock);
	return block;
}

static bool block_holds(struct mc_client *client, u64 address, u64 bytes, u64 unit)
{
	struct interval_tree_node *node;
	bool holds = false;

	mutex_lock(&client->heap_lock);
	for (node = interval_tree_iter_first(&client->blocks, address, address); node && !holds;
	     node = interval_tree_iter_next(node, address, address))
		holds = bytes <= ALIGN(node->last + 1, unit) - address;
	mutex_unlock(&client->heap_lock);
	return holds;
}

/* Is all of the range in one block? Takes the heap_lock. */
bool mc_block_holds(struct mc_client *client, u64 address, u64 bytes)
{
	return block_holds(client, address, bytes, 1);
}

/* Is it in one block and the rest of the block's last page? Importers of a dma-buf get pages. */
bool mc_block_pages_hold(struct mc_client *client, u64 address, u64 bytes)
{
	return block_holds(client, address, bytes, PAGE_SIZE);
}
