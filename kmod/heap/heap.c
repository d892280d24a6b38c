// SPDX-License-Identifier: GPL-2.0-only
/* Heaps: where a client's blocks come from. The client's heap_lock protects all of them. */
#include "heap.h"

#define HEAP_LIMIT	XA_LIMIT(MEMCAST_MAX_DEVICES + 1, INT_MAX)

/* Return: a heap in no table yet, for memory as @create has it; or NULL, with the reason. */
struct mc_heap *mc_heap_new(struct mc_call *call, const struct memcast_memory_create *create,
			    struct mc_device *device, u32 flags)
{
	const struct mc_host *host = call->client->host;
	struct mc_heap *heap = mc_alloc(call, call->client->account,
					     sizeof(*heap));

	if (!heap)
		return NULL;
	heap->account = call->client->account;
	heap->create = *create;
	heap->device = device;
	heap->flags = flags;
	if (!(flags & MEMCAST_HEAP_POOL))
		bitmap_set(heap->readable, host->first, host->devices);
	else if (device)
		__set_bit(device->id, heap->readable);
	memcpy(heap->writable, heap->readable, sizeof(heap->writable));
	if (!device)
		heap->host = MEMCAST_ACCESS_READWRITE;
	INIT_LIST_HEAD(&heap->registered);
	INIT_LIST_HEAD(&heap->segments);
	INIT_LIST_HEAD(&heap->rooms);
	INIT_LIST_HEAD(&heap->freed);
	return heap;
}

/* Makes a device's default pool, on first use. Return: it; NULL: no such device; or an error. */
static struct mc_heap *heap_default(struct mc_call *call, u32 id)
{
	struct memcast_memory_create create = { .location = MEMCAST_LOCATION_DEVICE };
	struct mc_device *device = mc_find_device(call, id - 1);
	struct mc_heap *heap;

	if (IS_ERR(device))
		return NULL;
	heap = mc_heap_new(call, &create, device, MEMCAST_HEAP_POOL);
	if (!heap)
		return ERR_PTR(-ENOMEM);
	heap->id = id;
	if (!xa_insert(&call->client->heaps, id, heap, GFP_KERNEL_ACCOUNT))
		return heap;
	mc_heap_free(heap);
	return ERR_PTR(-ENOMEM);
}

/*
 * Return: the heap of that number, or an error. A device's default pool is made on first
 * use. The heap_lock is held, and keeps the heap.
 */
struct mc_heap *mc_heap_find(struct mc_call *call, u32 id)
{
	struct mc_heap *heap = xa_load(&call->client->heaps, id);

	lockdep_assert_held(&call->client->heap_lock);
	if (!heap && id && id <= MEMCAST_MAX_DEVICES)
		heap = heap_default(call, id);
	return heap ?: ERR_PTR(mc_fail(call, -ENOENT, "no heap %u", id));
}

/*
 * Frees all heaps of a client. The file is gone, and its mappings, so no other thread is left; this
 * takes the heap_lock for the functions that assert it.
 */
void mc_heaps_destroy(struct mc_client *client)
{
	struct mc_heap *heap;
	struct rb_node *node;
	LIST_HEAD(reaped);
	unsigned long id;

	mutex_lock(&client->heap_lock);
	while ((node = rb_first_cached(&client->blocks))) {
		mc_block_end(client, rb_entry(node, struct mc_block, va.rb), &reaped);
		cond_resched();
	}
	mc_heap_reap_all(client, &reaped);
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(NULL, &reaped);
	xa_for_each(&client->heaps, id, heap) {
		mc_heap_free(heap);
		cond_resched();
	}
	mc_xa_destroy(&client->heaps);
	mutex_destroy(&client->heap_lock);
}

/* Gives a new segment the access of its heap. */
static void heap_grant(struct mc_segment *segment)
{
	struct mc_reservation *reservation = segment->reservation;
	struct mc_heap *heap = segment->heap;
	struct mc_mapping *mapping;

	down_write(&reservation->lock);
	mapping = mc_mapping_find(reservation, segment->start);
	if (mapping) {
		bitmap_copy(mc_mapping_readable(mapping), heap->readable, mc_device_count);
		bitmap_copy(mc_mapping_writable(mapping), heap->writable, mc_device_count);
		mapping->any = mc_set_most(heap->readable, heap->writable);
		mapping->host = heap->host;
	}
	up_write(&reservation->lock);
}

/*
 * Adds a segment to its heap, whose heap->taken counts it already. Segments that other heaps need
 * not keep go to @reaped. The heap_lock is held.
 */
void mc_heap_add_segment(struct mc_segment *segment, struct list_head *reaped)
{
	struct mc_client *client = segment->reservation->client;
	unsigned long last = segment->start + segment->bytes - 1;
	struct mc_heap *heap = segment->heap;
	struct mc_block *stale;

	lockdep_assert_held(&client->heap_lock);
	/* the program has unmapped the memory of blocks that were here */
	while ((stale = mc_block_find(client, segment->start, last))) {
		mc_block_end(client, stale, reaped);
		cond_resched();
	}
	list_add_tail(&segment->list, &heap->segments);
	list_add_tail(&segment->room, &heap->rooms);
	heap->taken_high = max(heap->taken_high, heap->taken);
	heap_grant(segment);
}

/* MEMCAST_HEAP_CREATE: make a heap, or a pool. */
int mc_heap_create(struct mc_call *call)
{
	struct memcast_heap_create *arg = call->arg;
	struct memcast_memory_create create = {
		.location = arg->location,
		.location_id = arg->location_id,
		.handle_types = arg->handle_types,
	};
	struct mc_device *device;
	struct mc_heap *heap;

	if (arg->flags & ~(MEMCAST_HEAP_POOL | MEMCAST_HEAP_LASTING) || arg->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	if (arg->handle_types & ~MEMCAST_HANDLE_FD)
		return mc_fail(call, -EOPNOTSUPP, "heaps are shared as fds only");
	device = mc_memory_find_device(call, &create);
	if (IS_ERR(device))
		return PTR_ERR(device);
	if (arg->flags & MEMCAST_HEAP_LASTING &&
	    (device || arg->flags & MEMCAST_HEAP_POOL || arg->handle_types))
		return mc_fail(call, -EINVAL,
			       "a lasting heap is of the host's memory, no pool, and not shared");
	heap = mc_heap_new(call, &create, device, arg->flags);
	if (!heap)
		return -ENOMEM;
	/* a heap takes whole chunks */
	heap->limit = roundup(min_t(u64, arg->limit, TASK_SIZE_MAX), MC_CHUNK_SIZE);
	if (arg->handle_types) {
		heap->share = mc_share_new(call, &create, device);
		if (!heap->share) {
			mc_heap_free(heap);
			return -ENOMEM;
		}
	}
	return mc_heap_publish(call, heap, &arg->out_heap);
}

/* Numbers a heap and answers the call, or frees it. Takes the heap_lock. Return: 0 or an error. */
int mc_heap_publish(struct mc_call *call, struct mc_heap *heap, u32 *id)
{
	struct mc_client *client = call->client;
	int ret;

	mutex_lock(&client->heap_lock);
	ret = xa_alloc_cyclic(&client->heaps, &heap->id, NULL, HEAP_LIMIT,
			      &client->next_heap, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&client->heap_lock);
	if (ret < 0) {
		mc_heap_free(heap);
		return -ENOMEM;
	}
	*id = heap->id;
	ret = mc_respond(call);
	mutex_lock(&client->heap_lock);
	if (ret) {
		xa_release(&client->heaps, heap->id);
		mc_heap_free(heap);
	} else {
		/* the place is reserved: this allocates nothing */
		xa_store(&client->heaps, heap->id, heap, GFP_KERNEL);
	}
	mutex_unlock(&client->heap_lock);
	return ret;
}

static void end_blocks(struct mc_client *client, struct mc_heap *heap,
		       struct list_head *reaped)
{
	struct mc_registered *registered, *next;
	struct interval_tree_node *node;
	struct mc_segment *segment;

	lockdep_assert_held(&client->heap_lock);
	list_for_each_entry_safe(registered, next, &heap->registered, list) {
		mc_block_end(client, registered->block, reaped);
		cond_resched();
	}
	heap->ending = true;
	list_for_each_entry(segment, &heap->segments, list) {
		unsigned long last = segment->start + segment->bytes - 1;

		while ((node = interval_tree_iter_first(&client->blocks, segment->start,
							last))) {
			mc_block_end(client, container_of(node, struct mc_block, va),
				     reaped);
			cond_resched();
		}
		cond_resched();
	}
	heap->ending = false;
}

/* MEMCAST_HEAP_DESTROY: make no new blocks; the heap goes with its last one. */
int mc_heap_destroy(struct mc_call *call)
{
	struct memcast_heap_destroy *destroy = call->arg;
	struct mc_client *client = call->client;
	struct mc_heap *heap;
	LIST_HEAD(reaped);
	int ret = 0;

	if (destroy->flags & ~MEMCAST_HEAP_FORCE)
		return mc_fail(call, -EINVAL, "unknown flags %#x", destroy->flags);
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, destroy->heap);
	if (IS_ERR(heap)) {
		ret = PTR_ERR(heap);
	} else if (heap->id <= MEMCAST_MAX_DEVICES) {
		ret = mc_fail(call, -EINVAL, "a device's default pool stays");
	} else {
		xa_erase(&client->heaps, heap->id);
		heap->blocks++;
		if (destroy->flags & MEMCAST_HEAP_FORCE)
			end_blocks(client, heap, &reaped);
		heap->ended = true;
		mc_heap_put_block(heap, &reaped);
	}
	mutex_unlock(&client->heap_lock);
	mc_registered_free_ended(client);
	mc_segments_free(client, &reaped);
	return ret;
}

/* MEMCAST_HEAP_INFO: a heap's properties, and how much memory it has. */
int mc_heap_info(struct mc_call *call)
{
	struct memcast_heap_info *info = call->arg;
	struct mc_client *client = call->client;
	const struct mc_device *device = NULL;
	struct mc_heap *heap;

	if (info->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (info->device != MEMCAST_DEVICE_NONE) {
		device = mc_find_device(call, info->device);
		if (IS_ERR(device))
			return PTR_ERR(device);
	}
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, info->heap);
	if (!IS_ERR(heap)) {
		info->out_location = heap->create.location;
		info->out_location_id = heap->device ?
			mc_device_ordinal(client, heap->device->id) : heap->create.location_id;
		info->out_handle_types = heap->create.handle_types;
		info->out_flags = heap->flags;
		info->out_options = heap->options;
		info->out_threshold = heap->threshold;
		info->out_taken = heap->taken;
		info->out_taken_high = heap->taken_high;
		info->out_used = heap->used;
		info->out_used_high = heap->used_high;
		info->out_access = mc_set_allows(heap->readable, heap->writable, device);
		info->out_host = heap->host;
	}
	mutex_unlock(&client->heap_lock);
	return IS_ERR(heap) ? PTR_ERR(heap) : mc_respond(call);
}

static int heap_set(struct mc_call *call, struct mc_heap *heap, u32 setting, u64 value)
{
	switch (setting) {
	case MEMCAST_HEAP_THRESHOLD:
		heap->threshold = value;
		return 0;
	case MEMCAST_HEAP_OPTIONS:
		if (value > U32_MAX)
			break;
		heap->options = value;
		return 0;
	case MEMCAST_HEAP_TAKEN_HIGH:
		if (value)
			break;
		heap->taken_high = heap->taken;
		return 0;
	case MEMCAST_HEAP_USED_HIGH:
		if (value)
			break;
		heap->used_high = heap->used;
		return 0;
	default:
		return mc_fail(call, -EINVAL, "unknown setting %u", setting);
	}
	return mc_fail(call, -EINVAL, "setting %u cannot be %llu", setting, value);
}

/* MEMCAST_HEAP_SET: change a setting of a heap. */
int mc_heap_set(struct mc_call *call)
{
	struct memcast_heap_set *set = call->arg;
	struct mc_client *client = call->client;
	struct mc_heap *heap;
	int ret;

	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, set->heap);
	ret = IS_ERR(heap) ? PTR_ERR(heap) :
	      heap_set(call, heap, set->setting, set->value);
	mutex_unlock(&client->heap_lock);
	return ret;
}

/* Without the heap_lock */
static void trim_all(struct mc_client *client, bool freed)
{
	LIST_HEAD(reaped);

	mutex_lock(&client->heap_lock);
	if (freed)
		mc_heap_reap_freed(client, &reaped);
	else
		mc_heap_reap_all(client, &reaped);
	mutex_unlock(&client->heap_lock);
	mc_segments_free(client, &reaped);
}

/* MEMCAST_HEAP_TRIM: give back memory that no block is in. */
int mc_heap_trim(struct mc_call *call)
{
	struct memcast_heap_trim *trim = call->arg;
	struct mc_client *client = call->client;
	struct mc_heap *heap;
	LIST_HEAD(reaped);

	if (trim->flags & ~(MEMCAST_TRIM_FREED | MEMCAST_TRIM_ALL) ||
	    hweight32(trim->flags) > 1)
		return mc_fail(call, -EINVAL, "unknown flags %#x", trim->flags);
	if (trim->flags && (trim->heap || trim->keep))
		return mc_fail(call, -EINVAL, "with a flag, heap and bytes must be 0");
	if (trim->flags) {
		trim_all(client, trim->flags & MEMCAST_TRIM_FREED);
		return 0;
	}
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, trim->heap);
	if (!IS_ERR(heap))
		mc_segments_reap(heap, trim->keep, &reaped);
	mutex_unlock(&client->heap_lock);
	mc_segments_free(client, &reaped);
	return PTR_ERR_OR_ZERO(heap);
}

static int heap_check(struct mc_call *call, const struct mc_heap *heap,
		      const struct mc_grant *grant)
{
	if (grant->host_named && heap->device)
		return mc_fail(call, -EOPNOTSUPP,
			       "the host cannot be given access to device memory");
	if (heap->device && mc_set_has(grant->named, heap->device->id) &&
	    !mc_set_has(grant->writable, heap->device->id))
		return mc_fail(call, -EINVAL,
			       "device %u keeps its access to its own memory",
			       mc_device_ordinal(call->client, heap->device->id));
	return 0;
}

static void heap_apply(struct mc_heap *heap, const struct mc_grant *grant)
{
	struct mc_segment *segment;

	mc_set_apply(heap->readable, grant->named, grant->readable);
	mc_set_apply(heap->writable, grant->named, grant->writable);
	if (grant->host_named)
		heap->host = grant->host;
	list_for_each_entry(segment, &heap->segments, list) {
		down_write(&segment->reservation->lock);
		mc_grant_apply(segment->reservation, segment->start,
			       segment->start + segment->bytes - 1, grant);
		up_write(&segment->reservation->lock);
		cond_resched();
	}
}

/*
 * MEMCAST_HEAP_ACCESS: set what devices and the host may do with all blocks of a heap, also with
 * later ones.
 */
int mc_heap_access(struct mc_call *call)
{
	struct memcast_heap_access *access = call->arg;
	struct mc_client *client = call->client;
	struct mc_grant grant = {};
	struct mc_heap *heap;
	int ret;

	ret = mc_grant_read(call, access->entries, access->count, &grant);
	if (ret)
		return ret;
	mutex_lock(&client->heap_lock);
	heap = mc_heap_find(call, access->heap);
	ret = IS_ERR(heap) ? PTR_ERR(heap) : heap_check(call, heap, &grant);
	if (!ret)
		heap_apply(heap, &grant);
	mutex_unlock(&client->heap_lock);
	return ret;
}
