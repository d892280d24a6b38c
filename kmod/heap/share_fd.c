// SPDX-License-Identifier: GPL-2.0-only
/* Commands that share heaps by fds: processes export and import heaps, and blocks of them. */
#include "heap.h"

/* MEMCAST_HEAP_EXPORT: an fd that stands for a heap. */
int mc_heap_export(struct mc_call *call)
{
	struct memcast_heap_export *export = call->arg;
	struct mc_client *client = call->client;
	struct mc_share *share = NULL;
	struct mc_heap *heap;
	int ret = 0;

	if (export->reserved || export->handle_type != MEMCAST_HANDLE_FD)
		return mc_fail(call, -EINVAL, "heaps are exported as fds");
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, export->heap);
	if (IS_ERR(heap))
		ret = PTR_ERR(heap);
	else if (!heap->share || heap->flags & MEMCAST_HEAP_IMPORTED)
		ret = mc_fail(call, -EINVAL, "heap %u was not created to be exported",
			      export->heap);
	else
		share = mc_share_get(heap->share);
	mutex_unlock(&client->heap_lock);
	if (ret)
		return ret;
	ret = mc_share_export(call, share, &export->out_fd);
	mc_share_put(share);
	return ret;
}

/* Has the client imported this heap already? Then the answer names the heap that it has. */
static bool find_imported(struct mc_call *call, const struct mc_share *share)
{
	struct memcast_heap_import *import = call->arg;
	struct mc_client *client = call->client;
	struct mc_heap *heap;
	unsigned long id;

	mutex_lock(&client->heap_lock);
	xa_for_each(&client->heaps, id, heap) {
		if (heap->share == share && heap->flags & MEMCAST_HEAP_IMPORTED)
			break;
		cond_resched();
	}
	if (heap)
		import->out_heap = heap->id;
	mutex_unlock(&client->heap_lock);
	return heap;
}

/* MEMCAST_HEAP_IMPORT: a heap for the blocks of another process's heap, once per client. */
int mc_heap_import(struct mc_call *call)
{
	const u32 flags = MEMCAST_HEAP_POOL | MEMCAST_HEAP_IMPORTED;
	struct memcast_heap_import *import = call->arg;
	struct mc_share *share;
	char words[MC_WORDS];
	struct mc_heap *heap;
	int ret;

	if (import->reserved || import->handle_type != MEMCAST_HANDLE_FD)
		return mc_fail(call, -EINVAL, "heaps are imported from fds");
	share = mc_share_of_fd(import->fd);
	if (!share)
		return mc_fail(call, -EBADF, "fd %d does not stand for a heap", import->fd);
	if (share->host != call->client->host) {
		ret = mc_fail(call, -EBADF,
			      "fd %d was exported on %s, and means nothing on another",
			      import->fd, mc_host_words(share->host, words));
		goto put_share;
	}
	if (find_imported(call, share)) {
		ret = mc_respond(call);
		goto put_share;
	}
	heap = mc_heap_new(call, &share->create, share->device, flags);
	ret = -ENOMEM;
	if (heap) {
		heap->share = mc_share_get(share);
		ret = mc_heap_publish(call, heap, &import->out_heap);
	}
put_share:
	mc_share_put(share);
	return ret;
}

/* MEMCAST_BLOCK_EXPORT: what another process has to know to import a block. */
int mc_block_export(struct mc_call *call)
{
	struct memcast_block_export *export = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	bool good;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, export->address, export->address);
	good = block && block->va.start == export->address && block->segment &&
	       block->segment->share;
	if (good) {
		export->out_object = block->segment->memory->object.number;
		export->out_offset = block->va.start - block->segment->start;
		export->out_bytes = mc_block_bytes(block);
	}
	mutex_unlock(&client->heap_lock);
	if (!good)
		return mc_fail(call, -EINVAL, "no block that can be shared starts at %#llx",
			       export->address);
	return mc_respond(call);
}

/* Could an exporter have placed the block so? One larger than a chunk has a segment alone. */
static bool may_be_there(const struct memcast_block_import *import, u64 bytes)
{
	if (!import->bytes || import->bytes > bytes)
		return false;
	if (import->bytes > MC_CHUNK_SIZE)
		return !import->offset;
	return bytes == MC_CHUNK_SIZE && import->offset <= bytes - import->bytes &&
	       IS_ALIGNED(import->offset, MEMCAST_BLOCK_ALIGN);
}

static struct mc_segment *find_segment(struct mc_heap *heap, u64 object)
{
	struct mc_segment *segment;

	list_for_each_entry(segment, &heap->segments, list) {
		if (segment->memory->object.number == object)
			return segment;
		cond_resched();
	}
	return NULL;
}

/*
 * Return: the segment that shows an exporter's memory, made if there is none; or an error. To make
 * one the heap_lock is released: blocks that the caller has found before may be gone. The heap
 * stays, as the caller has counted a block in it.
 */
static struct mc_segment *import_segment(struct mc_call *call, struct mc_heap *heap,
					 struct list_head *reaped)
{
	struct memcast_block_import *import = call->arg;
	struct mc_segment *segment = find_segment(heap, import->object), *other;
	struct mc_memory *memory;
	u64 bytes;

	lockdep_assert_held(&call->client->heap_lock);
	if (segment)
		return segment;
	memory = mc_share_memory(heap->share, import->object);
	if (!memory)
		return ERR_PTR(mc_fail(call, -EINVAL, "the block's memory is not there"));
	bytes = memory->object.bytes;
	mutex_unlock(&call->client->heap_lock);
	segment = mc_segment_new(call, heap, bytes, memory, 0);
	mc_object_put(&memory->object);
	mutex_lock(&call->client->heap_lock);
	if (IS_ERR(segment))
		return segment;
	other = find_segment(heap, import->object);
	if (other) {
		/* another thread was first: a block has one address, whoever imports it */
		list_add(&segment->list, reaped);
		return other;
	}
	heap->taken += bytes;
	mc_heap_add_segment(segment, reaped);
	return segment;
}

/* Return: 0; 1: the block is there already; or an error. The heap_lock is released meanwhile. */
static int import_block(struct mc_call *call, struct mc_heap *heap,
			struct mc_block *block, struct list_head *reaped)
{
	struct memcast_block_import *import = call->arg;
	struct mc_segment *segment = import_segment(call, heap, reaped);
	struct mc_block *other;
	unsigned long first;

	if (IS_ERR(segment))
		return PTR_ERR(segment);
	if (!may_be_there(import, segment->bytes))
		return mc_fail(call, -EINVAL, "no block of %llu bytes can be there",
			       import->bytes);
	first = segment->start + import->offset;
	import->out_address = first;
	other = mc_block_find(call->client, first,
			      round_up(first + import->bytes, MEMCAST_BLOCK_ALIGN) - 1);
	if (other && other->va.start == first && mc_block_bytes(other) == import->bytes &&
	    !other->freeing)
		return 1;
	if (other)
		return mc_fail(call, -EINVAL, "a part of the block is imported as another");
	mc_segment_place(segment, block, import->offset, import->bytes);
	mc_block_insert(call->client, block);
	return 0;
}

/* MEMCAST_BLOCK_IMPORT: a block of an imported heap, where its exporter has placed it. */
int mc_block_import(struct mc_call *call)
{
	struct memcast_block_import *import = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	struct mc_heap *heap;
	LIST_HEAD(reaped);
	int ret;

	block = mc_block_new(call, import->flags);
	if (!block)
		return -ENOMEM;
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, import->heap);
	ret = PTR_ERR_OR_ZERO(heap);
	if (!ret && !(heap->flags & MEMCAST_HEAP_IMPORTED))
		ret = mc_fail(call, -EINVAL, "heap %u is not an imported one", import->heap);
	if (!ret) {
		heap->blocks++;
		ret = import_block(call, heap, block, &reaped);
		if (ret)
			mc_heap_put_block(heap, &reaped);
	}
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(client, &reaped);
	if (ret) {
		mc_block_drop(call, block);
		return ret < 0 ? ret : mc_respond(call);
	}
	return mc_block_respond(call, import->out_address);
}
