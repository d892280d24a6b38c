// SPDX-License-Identifier: GPL-2.0-only
/* Commands that make and free blocks: in a heap, of a memory, or of the program's own memory. */
#include <linux/overflow.h>
#include "heap.h"

/* Return: would a heap have more than it may if it grew? */
static bool exceeds_limit(const struct mc_heap *heap, u64 bytes)
{
	return heap->limit && (bytes > heap->limit || heap->taken > heap->limit - bytes);
}

/*
 * Adds a segment to a heap, which first gives back unused ones. The heap_lock is released
 * meanwhile: the heap stays, as the caller has counted a block in it, but other threads may take
 * the new segment first. What the heap may have is claimed before that, or others would have it.
 */
static int heap_grow(struct mc_call *call, struct mc_heap *heap, u64 bytes,
		     struct list_head *reaped)
{
	struct mc_segment *segment;
	LIST_HEAD(unused);

	lockdep_assert_held(&call->client->heap_lock);
	if (!heap->limit || bytes <= heap->limit)
		mc_segments_replace(heap, bytes, &unused);
	if (exceeds_limit(heap, bytes)) {
		list_splice(&unused, reaped);
		return mc_fail(call, -ENOMEM,
			       "the heap has %llu of the %llu bytes that it may have",
			       heap->taken, heap->limit);
	}
	heap->taken += bytes;
	mutex_unlock(&call->client->heap_lock);
	mc_segments_free(call->client, &unused);
	segment = mc_segment_new(call, heap, bytes, NULL, 0);
	mutex_lock(&call->client->heap_lock);
	if (IS_ERR(segment))
		heap->taken -= bytes;
	else
		mc_heap_add_segment(segment, reaped);
	return PTR_ERR_OR_ZERO(segment);
}

/*
 * Gives unused memory of the client's heaps back. Return: was there any? The heap_lock is
 * released meanwhile, as memory may end.
 */
static bool make_room(struct mc_client *client)
{
	LIST_HEAD(reaped);

	lockdep_assert_held(&client->heap_lock);
	if (!mc_heap_reap_all(client, &reaped))
		return false;
	mutex_unlock(&client->heap_lock);
	mc_segments_free(client, &reaped);
	mutex_lock(&client->heap_lock);
	return true;
}

/*
 * Finds or makes room for a block. The heap_lock is held, but released meanwhile: other
 * threads may take the room that this makes, and may make room that this can take.
 */
static int block_place(struct mc_call *call, struct mc_heap *heap,
		       struct mc_block *block, u64 bytes, struct list_head *reaped)
{
	u64 chunks = round_up(bytes, MC_CHUNK_SIZE);
	bool made_room = false;
	int ret;

	lockdep_assert_held(&call->client->heap_lock);
	while (!mc_segments_place(heap, block, bytes)) {
		ret = heap_grow(call, heap, chunks, reaped);
		if (!ret)
			continue;
		if (mc_segments_place(heap, block, bytes))
			break;
		/* no other heap's memory helps one that has all that it may have */
		if (ret != -ENOMEM || made_room || exceeds_limit(heap, chunks) ||
		    !make_room(call->client))
			return ret;
		made_room = true;
	}
	mc_block_insert(call->client, block);
	return 0;
}

/*
 * Answers the call that made the block at @address; if that fails, the block ends. Takes the
 * heap_lock. Return: 0, or an error.
 */
int mc_block_respond(struct mc_call *call, unsigned long address)
{
	struct mc_client *client = call->client;
	int ret = mc_respond(call);
	struct mc_block *block;
	LIST_HEAD(reaped);

	if (!ret)
		return 0;
	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, address, address);
	if (block)
		mc_block_end(client, block, &reaped);
	mutex_unlock(&client->heap_lock);
	mc_segments_free(client, &reaped);
	return ret;
}

/* MEMCAST_BLOCK_ALLOC: make a block of a heap, which grows if there is no room. */
int mc_block_alloc(struct mc_call *call)
{
	struct memcast_block_alloc *alloc = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	struct mc_heap *heap;
	LIST_HEAD(reaped);
	int ret;

	if (!alloc->bytes)
		return mc_fail(call, -EINVAL, "the size is 0");
	if (alloc->bytes > TASK_SIZE_MAX)
		return mc_fail(call, -ENOMEM, "%llu bytes are more than addresses reach",
			       alloc->bytes);
	block = mc_block_new(call, alloc->flags);
	if (!block)
		return -ENOMEM;

	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, alloc->heap);
	ret = PTR_ERR_OR_ZERO(heap);
	if (!ret && heap->flags & MEMCAST_HEAP_IMPORTED)
		ret = mc_fail(call, -EINVAL, "heap %u is another process's", alloc->heap);
	if (!ret) {
		heap->blocks++;
		ret = block_place(call, heap, block, alloc->bytes, &reaped);
		if (ret)
			mc_heap_put_block(heap, &reaped);
	}
	alloc->out_address = block->va.start;
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(client, &reaped);
	if (ret) {
		mc_block_drop(call, block);
		return ret;
	}

	return mc_block_respond(call, alloc->out_address);
}

/* May a block of a heap show a memory? A lasting heap has only what is the process's own host's. */
static int map_check(struct mc_call *call, const struct mc_heap *heap,
		     const struct mc_memory *memory)
{
	if (heap->flags & MEMCAST_HEAP_POOL)
		return mc_fail(call, -EINVAL, "heap %u is a pool", heap->id);
	if (heap->flags & MEMCAST_HEAP_LASTING &&
	    (memory->device || memory->foreign || memory->object.place != call->client->host))
		return mc_fail(call, -EINVAL, "heap %u lasts: it has memory of this host alone",
			       heap->id);
	return 0;
}

/*
 * Makes a segment that shows the memory, and the block in it. The heap_lock is released meanwhile:
 * the heap stays, as the caller has counted a block in it.
 */
static int map_block(struct mc_call *call, struct mc_heap *heap,
		     struct mc_memory *memory, struct mc_block *block,
		     struct list_head *reaped)
{
	struct memcast_block_map *map = call->arg;
	u64 from = round_down(map->offset, MC_CHUNK_SIZE);
	u64 bytes = round_up(map->offset + map->bytes, MC_CHUNK_SIZE) - from;
	struct mc_segment *segment;
	int ret = map_check(call, heap, memory);

	lockdep_assert_held(&call->client->heap_lock);
	if (ret)
		return ret;
	mutex_unlock(&call->client->heap_lock);
	segment = mc_segment_new(call, heap, bytes, memory, from);
	mutex_lock(&call->client->heap_lock);
	if (IS_ERR(segment))
		return PTR_ERR(segment);
	segment->alone = true;
	heap->taken += bytes;
	mc_heap_add_segment(segment, reaped);
	mc_segment_place(segment, block, map->offset - from, map->bytes);
	mc_block_insert(call->client, block);
	return 0;
}

/*
 * MEMCAST_BLOCK_MAP: make a block that shows a range of a memory that the caller has a handle
 * of.
 */
int mc_block_map(struct mc_call *call)
{
	struct memcast_block_map *map = call->arg;
	struct mc_client *client = call->client;
	struct mc_memory *memory;
	struct mc_block *block;
	struct mc_heap *heap;
	LIST_HEAD(reaped);
	int ret;

	if (map->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	memory = mc_find_memory(call, map->handle);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	ret = memory->flags & MEMCAST_MEMORY_TILES ?
	      mc_fail(call, -EINVAL, "the memory is for the tiles of arrays alone") :
	      mc_check_range(call, "memory", map->offset, map->bytes,
			     memory->object.bytes, 1);
	if (ret)
		goto put_memory;
	block = mc_block_new(call, map->flags);
	if (!block) {
		ret = -ENOMEM;
		goto put_memory;
	}
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, map->heap);
	ret = PTR_ERR_OR_ZERO(heap);
	if (!ret) {
		heap->blocks++;
		ret = map_block(call, heap, memory, block, &reaped);
		if (ret)
			mc_heap_put_block(heap, &reaped);
	}
	map->out_address = block->va.start;
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(client, &reaped);
	if (ret)
		mc_block_drop(call, block);
	else
		ret = mc_block_respond(call, map->out_address);
put_memory:
	mc_object_put(&memory->object);
	return ret;
}

/* MEMCAST_BLOCK_REGISTER: make a block of a range of the program's own memory. */
int mc_block_register(struct mc_call *call)
{
	struct memcast_block_register *arg = call->arg;
	struct mc_client *client = call->client;
	struct mc_heap *heap = NULL;
	struct mc_block *block;
	int ret;

	if (arg->padding || arg->access & ~MEMCAST_ACCESS_READWRITE)
		return mc_fail(call, -EINVAL, "unknown access or padding");
	ret = mc_check_range(call, NULL, arg->address, arg->bytes,
			     TASK_SIZE_MAX, 1);
	if (ret)
		return ret;
	if (mc_reservation_in(client, arg->address, arg->bytes))
		return mc_fail(call, -EINVAL, "a part of the range is in a reservation");
	block = mc_block_new(call, arg->flags);
	if (!block)
		return -ENOMEM;
	block->va.start = arg->address;
	block->va.last = arg->address + arg->bytes - 1;
	/* an unmapping after the check is noticed */
	ret = mc_registered_watch(call, block);
	if (ret)
		goto drop;
	ret = mc_user_check(arg->address, arg->bytes, arg->access != MEMCAST_ACCESS_READ);
	if (ret) {
		mc_fail(call, ret, "not all of the range is memory, or writable");
		goto end;
	}
	mutex_lock(&client->heap_lock);
	if (arg->heap)
		heap = mc_heap_find(call, arg->heap);
	if (IS_ERR(heap))
		ret = PTR_ERR(heap);
	else if (mc_block_find(client, block->va.start, block->va.last))
		ret = mc_fail(call, -EEXIST, "a part of the range is registered already");
	else
		mc_block_insert(client, block);
	if (!ret && heap)
		list_add(&block->registered->list, &heap->registered);
	mutex_unlock(&client->heap_lock);
	if (!ret)
		return 0;
end:
	mc_registered_free(block->registered);
drop:
	mc_block_drop(call, block);
	return ret;
}

#define KINDS	(MEMCAST_BLOCK_HOST | MEMCAST_BLOCK_REGISTERED)
#define WHEN	(MEMCAST_BLOCK_LATER | MEMCAST_BLOCK_NOW | MEMCAST_BLOCK_KEEP)

static u32 kind_of(const struct mc_block *block)
{
	if (!block->segment)
		return MEMCAST_BLOCK_REGISTERED;
	if (!block->segment->heap->device &&
	    !(block->segment->heap->flags & MEMCAST_HEAP_POOL))
		return MEMCAST_BLOCK_HOST;
	return 0;
}

static int free_check(struct mc_call *call, const struct mc_block *block)
{
	struct memcast_block_free *free = call->arg;
	bool said = free->flags & (MEMCAST_BLOCK_NOW | MEMCAST_BLOCK_KEEP);

	if (!block || block->va.start != free->address)
		return mc_fail(call, -EINVAL,
			       "no block starts at %#llx; what was mapped is unmapped",
			       free->address);
	if (kind_of(block) != (free->flags & KINDS))
		return mc_fail(call, -EINVAL,
			       "the block at %#llx is of another kind", free->address);
	if (block->freeing != said)
		return mc_fail(call, -EINVAL, "the block at %#llx is %s", free->address,
			       said ? "not being freed" : "being freed already");
	return 0;
}

/* MEMCAST_BLOCK_FREE: end a block, or announce its end, or take that back. */
int mc_block_free(struct mc_call *call)
{
	struct memcast_block_free *free = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	LIST_HEAD(reaped);
	int ret;

	if (free->flags & ~(KINDS | WHEN) || hweight32(free->flags & WHEN) > 1 ||
	    free->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, free->address, free->address);
	ret = free_check(call, block);
	if (!ret) {
		if (free->flags & MEMCAST_BLOCK_LATER)
			block->freeing = true;
		else if (free->flags & MEMCAST_BLOCK_KEEP)
			block->freeing = false;
		else if (free->flags & MEMCAST_BLOCK_NOW)
			mc_block_end_later(client, block, &reaped);
		else
			mc_block_end(client, block, &reaped);
	}
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(client, &reaped);
	return ret;
}

static void set_flags(u32 *flags, const struct memcast_block_set *set)
{
	WRITE_ONCE(*flags, (*flags & ~set->mask) | (set->flags & set->mask));
}

/* Sets the flags of a mapping that the program made itself. Return: is there such a mapping? */
static bool mapping_set(struct mc_call *call)
{
	struct memcast_block_set *set = call->arg;
	struct mc_reservation *reservation =
		mc_reservation_find(call->client, set->address);
	struct mc_mapping *mapping = NULL;

	if (!reservation)
		return false;
	down_write(&reservation->lock);
	if (!reservation->of_heap)
		mapping = mc_mapping_find(reservation, set->address);
	if (mapping)
		set_flags(&mapping->flags, set);
	up_write(&reservation->lock);
	mc_reservation_put(reservation);
	return mapping;
}

/*
 * MEMCAST_BLOCK_SET: change the flags of a block, or of a mapping. The module keeps these
 * flags for its client, and does not interpret them.
 */
int mc_block_set(struct mc_call *call)
{
	struct memcast_block_set *set = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, set->address, set->address);
	if (block)
		set_flags(&block->flags, set);
	mutex_unlock(&client->heap_lock);
	if (block || mapping_set(call))
		return 0;
	return mc_fail(call, -EINVAL, "%#llx is in no block or mapping", set->address);
}
