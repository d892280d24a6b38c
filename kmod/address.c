// SPDX-License-Identifier: GPL-2.0-only
/* What there is at an address, for those who only have that. */
#include "private.h"

/* A team's: that of whose replica it is, or of who would be read first. */
static struct mc_device *mapping_device(const struct mc_mapping *mapping)
{
	if (mapping->object->type == MEMCAST_TYPE_MEMORY)
		return mc_memory(mapping->object)->device;
	/* complete, or it would not be mapped: no lock */
	if (mapping->replica)
		return mapping->replica->device;
	return mc_team(mapping->object)->member[0].device;
}

static void describe(struct memcast_address_info *info,
		     const struct mc_mapping *mapping)
{
	struct mc_object *object = mapping->object;

	info->out_mapping = (u64)mapping->at.start << MC_CHUNK_SHIFT;
	info->out_mapping_bytes = (u64)(mapping->at.last - mapping->at.start + 1) <<
				  MC_CHUNK_SHIFT;
	info->out_object = object->number;
	info->out_offset = (u64)mapping->shows.start << MC_CHUNK_SHIFT;
	info->out_type = object->type;
	info->out_handle_types = object->handle_types;
	if (object->type == MEMCAST_TYPE_MEMORY)
		info->out_flags = mc_memory(object)->flags;
	info->out_location = MEMCAST_LOCATION_DEVICE;
	info->out_location_id = mapping_device(mapping)->id;
	info->out_readable = mapping->readable;
	info->out_writable = mapping->writable;
}

int mc_address_info(struct mc_call *call)
{
	struct memcast_address_info *given = call->arg;
	struct memcast_address_info info = {
		.header = given->header,
		.address = given->address,
	};
	struct mc_reservation *reservation;
	struct mc_mapping *mapping;

	if (given->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	reservation = mc_reservation_find(call->client, info.address);
	if (!reservation)
		return mc_fail(call, -EINVAL, "%#llx is not in a reservation",
			       info.address);

	info.out_reservation = reservation->start;
	info.out_reservation_bytes = reservation->end - reservation->start;
	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, info.address >> MC_CHUNK_SHIFT);
	if (mapping)
		describe(&info, mapping);
	up_read(&reservation->lock);
	mc_reservation_put(reservation);

	*given = info;
	return mc_respond(call);
}
