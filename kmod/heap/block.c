// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks: pieces of a heap's memory, and ranges of the program's own memory that
 * it has registered. The blocks of a client are in one tree, by address.
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
 * Return: the first block that has any of these addresses, or NULL. The heap_lock is held, and
 * keeps it.
 */
struct mc_block *mc_block_find(struct mc_client *client, unsigned long first,
			       unsigned long last)
{
	struct interval_tree_node *node;

	lockdep_assert_held(&client->heap_lock);
	node = interval_tree_iter_first(&client->blocks, first, last);
	return node ? container_of(node, struct mc_block, va) : NULL;
}

/* Puts a block with addresses into the tree, where calls find it. The heap_lock is held. */
void mc_block_insert(struct mc_client *client, struct mc_block *block)
{
	lockdep_assert_held(&client->heap_lock);
	block->number = mc_object_number();
	interval_tree_insert(&block->va, &client->blocks);
	atomic_long_inc(&mc_stats.blocks);
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
	struct mc_block *block;
	bool holds;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, address, address);
	holds = block && bytes <= ALIGN(block->va.last + 1, unit) - address;
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
