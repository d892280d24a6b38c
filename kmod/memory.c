// SPDX-License-Identifier: GPL-2.0-only
/* Memories: chunks of one device. */
#include <linux/overflow.h>
#include <linux/slab.h>
#include "private.h"

static struct mc_memory *memory_create(struct mc_call *call,
				       struct mc_device *device)
{
	struct memcast_memory_create *create = call->arg;
	unsigned long chunks = create->bytes >> MC_CHUNK_SHIFT;
	struct mc_memory *memory;
	int ret;

	/* before the array is allocated, whose size the caller chose */
	if (chunks > READ_ONCE(device->pool.free))
		goto no_room;
	memory = kvzalloc(struct_size(memory, chunk, chunks), GFP_KERNEL);
	if (!memory)
		return ERR_PTR(-ENOMEM);

	ret = mc_pool_take(&device->pool, memory->chunk, chunks);
	if (ret) {
		kvfree(memory);
		if (ret != -ENOMEM)
			return ERR_PTR(ret);
		goto no_room;
	}

	mc_object_init(&memory->object, MEMCAST_TYPE_MEMORY, create->bytes,
		       create->handle_types);
	memory->device = device;
	memory->flags = create->flags;
	memory->chunks = chunks;
	spin_lock_init(&memory->lock);
	INIT_LIST_HEAD(&memory->bindings);
	atomic_long_inc(&mc_stats.memories);
	return memory;

no_room:
	return ERR_PTR(mc_fail(call, -ENOMEM,
			       "%llu bytes are more than the %lu free on device %u",
			       create->bytes,
			       READ_ONCE(device->pool.free) << MC_CHUNK_SHIFT,
			       device->id));
}

/* No user is left, so nothing maps it: what shows it are its bindings. */
void mc_memory_end(struct mc_memory *memory)
{
	mc_bindings_undo_memory(memory);
	mc_pool_give(&memory->device->pool, memory->chunk, memory->chunks);
	atomic_long_dec(&mc_stats.memories);
}

int mc_memory_create(struct mc_call *call)
{
	struct memcast_memory_create *create = call->arg;
	struct mc_device *device;
	struct mc_memory *memory;
	struct mc_handle *handle;
	int channel, ret;

	if (create->flags & ~MEMCAST_MEMORY_RDMA || create->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	if (create->handle_types & ~(MEMCAST_HANDLE_FD | MEMCAST_HANDLE_FABRIC))
		return mc_fail(call, -EINVAL, "unknown handle types %#x",
			       create->handle_types);
	if (create->location == MEMCAST_LOCATION_HOST ||
	    create->location == MEMCAST_LOCATION_HOST_NUMA)
		return mc_fail(call, -EOPNOTSUPP,
			       "memory on the host is not supported yet");
	if (create->location != MEMCAST_LOCATION_DEVICE)
		return mc_fail(call, -EINVAL, "unknown location type %u",
			       create->location);
	device = mc_find_device(call, create->location_id);
	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = mc_check_range(call, "memory", 0, create->bytes, U64_MAX);
	if (ret)
		return ret;
	channel = mc_fabric_channel(call, create->handle_types);
	if (channel < 0)
		return channel;

	handle = mc_handle_reserve(call->client);
	if (IS_ERR(handle))
		return PTR_ERR(handle);

	memory = memory_create(call, device);
	if (IS_ERR(memory)) {
		ret = PTR_ERR(memory);
		goto cancel_handle;
	}

	memory->object.channel = channel;
	create->out_handle = handle->id;
	ret = mc_respond(call);
	if (ret)
		goto put_memory;
	mc_handle_publish(call->client, handle, &memory->object);
	return 0;

put_memory:
	mc_object_put(&memory->object);
cancel_handle:
	mc_handle_cancel(call->client, handle);
	return ret;
}
