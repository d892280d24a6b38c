// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: what memories and teams have in common.
 *
 * Users keep an object alive: handles, mappings, exported fds, calls under way.
 * When the last one goes the object ends: its bindings are undone and its chunks
 * go back. The struct stays as long as something still points to it.
 */
#include <linux/slab.h>
#include "object.h"

static atomic64_t last_number;

u64 mc_object_number(void)
{
	return atomic64_inc_return(&last_number);
}

/* Of a memory or a team: zeroed, and charged; or NULL. */
struct mc_object *mc_object_alloc(struct mc_call *call, unsigned long struct_bytes)
{
	struct mc_object *object = mc_alloc_large(call, struct_bytes);

	if (object) {
		object->account = call->client->account;
		object->struct_bytes = struct_bytes;
	}
	return object;
}

void mc_object_init(struct mc_object *object, enum memcast_type type,
		    u64 bytes, u32 granularity, u32 handle_types)
{
	object->type = type;
	object->bytes = bytes;
	object->granularity = granularity;
	object->handle_types = handle_types;
	object->number = mc_object_number();
	dma_resv_init(&object->resv);
	refcount_set(&object->users, 1);
	kref_init(&object->kref);
}

struct mc_object *mc_object_get(struct mc_object *object)
{
	refcount_inc(&object->users);
	return object;
}

/* For those that only hold the struct. Return: NULL if the object has ended. */
struct mc_object *mc_object_tryget(struct mc_object *object)
{
	return refcount_inc_not_zero(&object->users) ? object : NULL;
}

/* May take a team's lock. */
void mc_object_put(struct mc_object *object)
{
	if (!refcount_dec_and_test(&object->users))
		return;

	if (object->handle_types & MEMCAST_HANDLE_FABRIC)
		mc_fabric_forget(object);
	if (object->type == MEMCAST_TYPE_MEMORY)
		mc_memory_end(mc_memory(object));
	else
		mc_team_end(mc_team(object));
	mc_object_forget(object);
}

static void object_free(struct kref *kref)
{
	struct mc_object *object = container_of(kref, struct mc_object, kref);

	/* the first member of either */
	BUILD_BUG_ON(offsetof(struct mc_memory, object) ||
		     offsetof(struct mc_team, object));
	if (object->type == MEMCAST_TYPE_TEAM)
		mc_team_free(mc_team(object));
	dma_resv_fini(&object->resv);
	mc_free_large(object->account, object, object->struct_bytes);
}

/* Give up the struct, as held with kref_get(). */
void mc_object_forget(struct mc_object *object)
{
	kref_put(&object->kref, object_free);
}

int mc_handle_info(struct mc_call *call)
{
	struct memcast_handle_info *info = call->arg;
	bool imported = false;
	struct mc_object *object = mc_handle_find(call->client, info->handle, &imported);
	struct mc_memory *memory;
	struct mc_team *team;
	int ret, i;

	if (!object)
		return mc_no_handle(call, info->handle);

	info->out_type = object->type;
	info->out_bytes = object->bytes;
	info->out_handle_types = imported ? 0 : object->handle_types;
	info->out_flags = 0;
	info->out_location = 0;
	info->out_location_id = 0;
	info->out_devices = 0;
	info->out_joined = 0;
	memset(info->out_member, 0, sizeof(info->out_member));

	if (object->type == MEMCAST_TYPE_MEMORY) {
		memory = mc_memory(object);
		info->out_flags = memory->flags & ~(imported ? MEMCAST_MEMORY_RDMA : 0);
		info->out_location = memory->location;
		info->out_location_id = memory->location_id;
	} else {
		team = mc_team(object);
		down_read(&team->lock);
		info->out_devices = team->devices;
		info->out_joined = team->joined;
		for (i = 0; i < team->joined; i++)
			info->out_member[i] = team->member[i].device->id;
		up_read(&team->lock);
	}
	ret = mc_respond(call);
	mc_object_put(object);
	return ret;
}
