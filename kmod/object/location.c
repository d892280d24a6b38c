// SPDX-License-Identifier: GPL-2.0-only
/* Locations of memories, as a client is told them that may be on another host. */
#include "object.h"

/* Is the memory on the client's host? A client has memory of other hosts by fabric handles. */
bool mc_memory_is_local(const struct mc_client *client, const struct mc_memory *memory)
{
	return memory->device ? mc_host_has(client->host, memory->device->id) :
				mc_host_sees(client->host, memory->object.host);
}

/**
 * mc_memory_tell_location() - say to a client where a memory is
 * @client: the client
 * @memory: the memory
 * @location: output, enum memcast_location
 * @id: output, the client's ordinal of the device, or the node; MEMCAST_DEVICE_NONE if the
 *	memory is on another host
 */
void mc_memory_tell_location(const struct mc_client *client, const struct mc_memory *memory,
			     u32 *location, u32 *id)
{
	if (memory->device) {
		mc_device_tell_location(client, memory->device->id, location, id);
	} else if (mc_memory_is_local(client, memory)) {
		*location = memory->location;
		*id = memory->location_id;
	} else {
		*location = MEMCAST_LOCATION_ELSEWHERE;
		*id = MEMCAST_DEVICE_NONE;
	}
}
