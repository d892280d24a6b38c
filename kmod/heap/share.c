// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares: what other processes get of a heap. The exporter's heap keeps a list of
 * its memories there, by number; who has the fd can map them, and does so once
 * for all blocks in one.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include "heap.h"

struct mc_share {
	struct kref kref;		/* the exporter's heap, its segments, fds, imports */
	struct mc_account *account;	/* charged with the struct */
	struct memcast_memory_create create;
	struct mc_device *device;
	struct xarray memories;		/* by number; holds their structs */
};

struct mc_share *mc_share_new(struct mc_call *call,
			      const struct memcast_memory_create *create,
			      struct mc_device *device)
{
	struct mc_share *share = mc_alloc(call, call->client->account,
					     sizeof(*share));

	if (!share)
		return NULL;
	share->account = call->client->account;
	kref_init(&share->kref);
	share->create = *create;
	share->device = device;
	xa_init_flags(&share->memories, XA_FLAGS_ACCOUNT);
	return share;
}

struct mc_share *mc_share_get(struct mc_share *share)
{
	kref_get(&share->kref);
	return share;
}

/* Empty by now: segments hold it as long as they are in it. */
static void share_free(struct kref *kref)
{
	struct mc_share *share = container_of(kref, struct mc_share, kref);

	xa_destroy(&share->memories);
	mc_free(share->account, share, sizeof(*share));
}

void mc_share_put(struct mc_share *share)
{
	kref_put(&share->kref, share_free);
}

int mc_share_add(struct mc_share *share, struct mc_memory *memory)
{
	int ret = xa_insert(&share->memories, memory->object.number, memory,
			    GFP_KERNEL_ACCOUNT);

	if (!ret)
		kref_get(&memory->object.kref);
	return ret;
}

void mc_share_remove(struct mc_share *share, u64 object)
{
	struct mc_memory *memory = xa_erase(&share->memories, object);

	if (memory)
		mc_object_forget(&memory->object);
}

/* Return: the memory with a user, or NULL if it has gone. */
static struct mc_memory *share_memory(struct mc_share *share, u64 object)
{
	struct mc_memory *memory;

	xa_lock(&share->memories);
	memory = xa_load(&share->memories, object);
	if (memory && !mc_object_tryget(&memory->object))
		memory = NULL;
	xa_unlock(&share->memories);
	return memory;
}

static int share_release(struct inode *inode, struct file *file)
{
	struct mc_share *share = file->private_data;

	mc_uncharge(share->account, MC_FILE_BYTES);
	mc_share_put(share);
	return 0;
}

static const struct file_operations share_fops = {
	.owner = THIS_MODULE,
	.release = share_release,
	.llseek = noop_llseek,
};

static int export_share(struct mc_call *call, struct mc_share *share)
{
	struct memcast_heap_export *export = call->arg;
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;
	int ret;

	if (fd < 0)
		return mc_fail(call, -ENOMEM, "the process has no free fd (errno %d)", -fd);
	ret = mc_charge(call, share->account, MC_FILE_BYTES);
	if (ret)
		goto put_fd;
	file = anon_inode_getfile("memcast-heap", &share_fops, share, O_RDWR);
	if (IS_ERR(file)) {
		mc_uncharge(share->account, MC_FILE_BYTES);
		ret = mc_fail(call, -ENOMEM, "the machine has no free file (errno %ld)",
			      -PTR_ERR(file));
		goto put_fd;
	}
	mc_share_get(share);
	export->out_fd = fd;
	ret = mc_respond(call);
	if (!ret) {
		fd_install(fd, file);
		return 0;
	}
	fput(file);
put_fd:
	put_unused_fd(fd);
	return ret;
}

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
	ret = export_share(call, share);
	mc_share_put(share);
	return ret;
}

/* One that this client has imported already. Return: whether there is one. */
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

int mc_heap_import(struct mc_call *call)
{
	const u32 flags = MEMCAST_HEAP_POOL | MEMCAST_HEAP_IMPORTED;
	struct memcast_heap_import *import = call->arg;
	struct mc_heap *heap = NULL;
	struct mc_share *share;
	struct file *file;

	if (import->reserved || import->handle_type != MEMCAST_HANDLE_FD)
		return mc_fail(call, -EINVAL, "heaps are imported from fds");
	file = fget(import->fd);
	if (!file || file->f_op != &share_fops) {
		if (file)
			fput(file);
		return mc_fail(call, -EBADF, "fd %d does not stand for a heap", import->fd);
	}
	share = file->private_data;
	if (find_imported(call, share)) {
		fput(file);
		return mc_respond(call);
	}
	heap = mc_heap_new(call, &share->create, share->device, flags);
	if (heap)
		heap->share = mc_share_get(share);
	fput(file);
	return heap ? mc_heap_publish(call, heap, &import->out_heap) : -ENOMEM;
}

int mc_block_export(struct mc_call *call)
{
	struct memcast_block_export *export = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	bool good;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, export->address, export->address);
	good = block && block->at.start == export->address && block->segment &&
	       block->segment->share;
	if (good) {
		export->out_object = block->segment->memory->object.number;
		export->out_offset = block->at.start - block->segment->start;
		export->out_bytes = mc_block_bytes(block);
	}
	mutex_unlock(&client->heap_lock);
	if (!good)
		return mc_fail(call, -EINVAL, "no block that can be shared starts at %#llx",
			       export->address);
	return mc_respond(call);
}

/* As its exporter has placed it: what is larger than a chunk is alone. */
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

/* The heap_lock is held, but not all the time. */
static struct mc_segment *import_segment(struct mc_call *call, struct mc_heap *heap,
					 struct list_head *reaped)
{
	struct memcast_block_import *import = call->arg;
	struct mc_segment *segment = find_segment(heap, import->object);
	struct mc_memory *memory;
	u64 bytes;

	lockdep_assert_held(&call->client->heap_lock);
	if (segment)
		return segment;
	memory = share_memory(heap->share, import->object);
	if (!memory)
		return ERR_PTR(mc_fail(call, -EINVAL, "the block's memory is not there"));
	bytes = memory->object.bytes;
	mutex_unlock(&call->client->heap_lock);
	segment = mc_segment_new(call, heap, bytes, memory, 0);
	mc_object_put(&memory->object);
	mutex_lock(&call->client->heap_lock);
	if (!IS_ERR(segment)) {
		heap->taken += bytes;
		mc_segment_add(segment, reaped);
	}
	return segment;
}

/* Return: 0; 1: the block is there already; or an error. */
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
	if (other && other->at.start == first && mc_block_bytes(other) == import->bytes &&
	    !other->freeing)
		return 1;
	if (other)
		return mc_fail(call, -EINVAL, "a part of the block is imported as another");
	mc_segment_place(segment, block, import->offset, import->bytes);
	mc_block_insert(call->client, block);
	return 0;
}

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
			mc_heap_settle(heap, &reaped);
	}
	mutex_unlock(&client->heap_lock);
	mc_segments_free(client, &reaped);
	if (ret) {
		mc_block_drop(call, block);
		return ret < 0 ? ret : mc_respond(call);
	}
	return mc_block_respond(call, import->out_address);
}
