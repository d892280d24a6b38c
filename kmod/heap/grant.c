// SPDX-License-Identifier: GPL-2.0-only
/* Access to heaps: which devices may read and write the blocks of one. */
#include "heap.h"

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
