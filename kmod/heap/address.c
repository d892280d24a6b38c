// SPDX-License-Identifier: GPL-2.0-only
/* MEMCAST_ADDRESS_INFO: the block or the mapping at an address. */
#include "heap.h"

/* A replica has the location of its device, a window that of the first member. */
static void describe_location(struct memcast_address_info *info,
			      const struct mc_mapping *mapping)
{
	const struct mc_client *client = mapping->reservation->client;
	const struct mc_member *member = mapping->replica;

	if (mapping->object->type == MEMCAST_TYPE_MEMORY) {
		mc_memory_tell_location(client, mc_memory(mapping->object), &info->out_location,
					&info->out_location_id);
		return;
	}
	/* the team is complete, or it would not be mapped: no lock */
	if (!member)
		member = mc_team(mapping->object)->member;
	mc_device_tell_location(client, member->device->id, &info->out_location,
				&info->out_location_id);
}

static void describe(struct memcast_address_info *info, const struct mc_device *device,
		     struct mc_mapping *mapping)
{
	struct mc_object *object = mapping->object;

	info->out_mapping = mapping->va.start;
	info->out_mapping_bytes = mapping->va.last - mapping->va.start + 1;
	info->out_object = object->number;
	info->out_number = mapping->number;
	info->out_offset = mapping->range.bytes.start;
	info->out_block_flags = READ_ONCE(mapping->flags);
	info->out_type = object->type;
	info->out_handle_types = object->handle_types;
	if (object->type == MEMCAST_TYPE_MEMORY)
		info->out_flags = mc_memory(object)->flags;
	else if (mapping->replica)
		info->out_flags = MEMCAST_ADDRESS_REPLICA;
	describe_location(info, mapping);
	info->out_access = mc_set_allows(mc_mapping_readable(mapping),
					 mc_mapping_writable(mapping), device);
	info->out_any = mapping->any;
}

static bool describe_reservation(struct mc_client *client, const struct mc_device *device,
				 struct memcast_address_info *info)
{
	struct mc_reservation *reservation =
		mc_reservation_find(client, info->address);
	struct mc_mapping *mapping;
	bool of_heap;

	if (!reservation)
		return false;
	info->out_reservation = reservation->start;
	info->out_reservation_bytes = reservation->end - reservation->start;
	down_read(&reservation->lock);
	of_heap = reservation->of_heap;
	mapping = mc_mapping_find(reservation, info->address);
	if (mapping)
		describe(info, device, mapping);
	up_read(&reservation->lock);
	mc_reservation_put(reservation);
	return !of_heap;
}

/* MEMCAST_ADDRESS_INFO: describe the mapping at an address; in a heap, the block there. */
int mc_address_info(struct mc_call *call)
{
	struct memcast_address_info *given = call->arg;
	struct memcast_address_info info = {
		.header = given->header,
		.address = given->address,
		.device = given->device,
	};
	const struct mc_device *device = NULL;

	if (given->reserved || given->padding)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (given->device != MEMCAST_DEVICE_NONE) {
		device = mc_find_device(call, given->device);
		if (IS_ERR(device))
			return PTR_ERR(device);
	}
	if (!describe_reservation(call->client, device, &info) &&
	    !mc_block_describe(call->client, &info))
		return mc_fail(call, -EINVAL, "%#llx is not in a reservation",
			       info.address);
	*given = info;
	return mc_respond(call);
}
