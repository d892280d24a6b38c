// SPDX-License-Identifier: GPL-2.0-only
/* Commands that map and unmap, and that ask for the handle of a mapped object. */
#include "map.h"

static struct mc_member *map_replica(struct mc_call *call,
				     struct mc_object *object)
{
	struct memcast_map *map = call->arg;

	if (!(map->flags & MEMCAST_MAP_REPLICA))
		return NULL;
	if (map->member >= mc_team(object)->devices)
		return ERR_PTR(mc_fail(call, -EINVAL, "no member %u: there are %u",
				       map->member, mc_team(object)->devices));
	return &mc_team(object)->member[map->member];
}

static int map_check(struct mc_call *call, struct mc_object *object)
{
	struct memcast_map *map = call->arg;
	u32 granularity = object->granularity;

	if (map->flags & MEMCAST_MAP_REPLICA && object->type != MEMCAST_TYPE_TEAM)
		return mc_fail(call, -ENOENT, "%u is not the handle of a team",
			       map->handle);
	if (object->type == MEMCAST_TYPE_MEMORY &&
	    mc_memory(object)->flags & MEMCAST_MEMORY_TILES)
		return mc_fail(call, -EINVAL, "the memory is for the tiles of arrays alone");
	if (map->flags & MEMCAST_MAP_WHOLE) {
		if (object->type == MEMCAST_TYPE_TEAM && map->offset)
			return mc_fail(call, -EINVAL, "a team's window begins at offset 0");
		if (object->type == MEMCAST_TYPE_MEMORY && map->bytes &&
		    (map->offset || map->bytes != object->bytes))
			return mc_fail(call, -EOPNOTSUPP,
				       "a memory is mapped as a whole: %llu bytes from offset 0",
				       object->bytes);
		/* other drivers' memory may be mapped at any page */
		if (object->type == MEMCAST_TYPE_MEMORY && !mc_memory(object)->foreign)
			granularity = MC_CHUNK_SIZE;
	}
	if (!IS_ALIGNED(map->address, granularity))
		return mc_fail(call, -EINVAL,
			       "address %#llx is not a multiple of the granularity %u",
			       map->address, granularity);
	return mc_check_range(call, "object", map->offset, map->bytes,
			      object->bytes, object->granularity);
}

static int map_object(struct mc_call *call, struct mc_object *object)
{
	struct memcast_map *map = call->arg;
	struct mc_reservation *reservation;
	struct mc_mapping *mapping;
	struct mc_member *replica;
	int ret;

	ret = map_check(call, object);
	if (ret)
		return ret;
	replica = map_replica(call, object);
	if (IS_ERR(replica))
		return PTR_ERR(replica);
	reservation = mc_reservation_around(call, map->address, map->bytes);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	/* another thread's tail may stand there, and go if that thread's call fails */
	if (map->address + map->bytes > reservation->end && !(map->flags & MEMCAST_MAP_TAIL)) {
		ret = mc_fail(call, -EINVAL, "%llu bytes from %#llx leave the reservation",
			      map->bytes, map->address);
		goto put_reservation;
	}
	if (object->type == MEMCAST_TYPE_TEAM) {
		ret = mc_team_await(call, mc_team(object), MEMCAST_NR_MAP,
				    map->flags & MEMCAST_NO_WAIT);
		if (ret)
			goto put_reservation;
	}

	mapping = mc_mapping_new(call, reservation, object, map->address, map->offset,
				 map->bytes);
	if (mapping) {
		mapping->replica = replica;
		mapping->strict = map->flags & MEMCAST_MAP_STRICT;
		mapping->handle = map->handle;
		ret = mc_mapping_insert(call, mapping);
	} else {
		ret = -ENOMEM;
	}
put_reservation:
	mc_reservation_put(reservation);
	return ret;
}

/* MEMCAST_MAP: map a memory, a team's window or a replica in a reservation. */
int mc_map(struct mc_call *call)
{
	struct memcast_map *map = call->arg;
	struct mc_object *object;
	int ret;

	if (map->flags & ~(MEMCAST_MAP_REPLICA | MEMCAST_MAP_STRICT | MEMCAST_MAP_WHOLE |
			   MEMCAST_MAP_TAIL | MEMCAST_NO_WAIT) ||
	    map->reserved ||
	    (map->member && !(map->flags & MEMCAST_MAP_REPLICA)))
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	if (map->flags & MEMCAST_MAP_REPLICA && map->flags & MEMCAST_MAP_STRICT)
		return mc_fail(call, -EINVAL, "replicas are for plain access");
	object = mc_handle_mapped(call->client, map->handle);
	if (!object)
		return mc_no_handle(call, map->handle);
	ret = map_object(call, object);
	if (ret)
		mc_handle_unmapped(call->client, map->handle);
	mc_object_put(object);
	return ret;
}

/* Fails if a range begins or ends within a mapping, or off the granularity where none is. */
static int unmap_check(struct mc_call *call, struct mc_reservation *reservation,
		       unsigned long first, unsigned long last)
{
	struct mc_mapping *low = mc_mapping_find(reservation, first);
	struct mc_mapping *high = mc_mapping_find(reservation, last);

	/* the tail is that of a call under way */
	if (last >= reservation->end && !high)
		return mc_fail(call, -EINVAL, "%lu bytes from %#lx leave the reservation",
			       last - first + 1, first);
	if (low ? low->va.start != first : !IS_ALIGNED(first, MC_CHUNK_SIZE))
		high = low;
	else if (high ? high->va.last == last : IS_ALIGNED(last + 1, MC_CHUNK_SIZE))
		return 0;
	if (high)
		return mc_fail(call, -EINVAL,
			       "only a part of the mapping of %lu bytes at %#lx is in the range",
			       high->va.last - high->va.start + 1, high->va.start);
	return mc_fail(call, -EINVAL,
		       "%#lx to %#lx begins or ends at no mapping, and at no multiple of the granularity %lu",
		       first, last + 1, MC_CHUNK_SIZE);
}

/* MEMCAST_UNMAP: undo all mappings in a range, which cuts none in two. */
int mc_unmap(struct mc_call *call)
{
	struct memcast_unmap *unmap = call->arg;
	struct mc_reservation *reservation;
	struct interval_tree_node *node;
	unsigned long first, last;
	LIST_HEAD(removed);
	int ret;

	reservation = mc_reservation_around(call, unmap->address, unmap->bytes);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	first = unmap->address;
	last = unmap->address + unmap->bytes - 1;

	ret = mc_reservation_lock(call, reservation, first);
	if (ret)
		goto put_reservation;
	node = interval_tree_iter_first(&reservation->mappings, first, last);
	/* most ranges are one mapping */
	if (!node || node->start != first || node->last != last)
		ret = unmap_check(call, reservation, first, last);
	if (!ret)
		mc_mappings_remove(reservation, node, first, last, &removed);
	if (!ret && last >= reservation->end)
		mc_reservation_shrink(reservation);
	up_write(&reservation->lock);
	mc_mappings_free(&removed);
put_reservation:
	mc_reservation_put(reservation);
	return ret;
}

/* Return: the handle by which the object at an address was mapped, one reference more; or 0. */
static u32 hold_mapped(struct mc_client *client, struct mc_reservation *reservation,
		       u64 address)
{
	struct mc_mapping *mapping;
	u32 id = 0;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, address);
	/* the mapping keeps the handle, unless the process is ending */
	if (mapping && mapping->handle && mc_handle_hold(client, mapping->handle))
		id = mapping->handle;
	up_read(&reservation->lock);
	return id;
}

/*
 * MEMCAST_HANDLE_RETAIN: add a reference to a handle, or to the handle by which the object at an
 * address was mapped.
 */
int mc_handle_retain(struct mc_call *call)
{
	struct memcast_handle_retain *retain = call->arg;
	struct mc_reservation *reservation;
	int ret;

	if (retain->handle)
		return mc_handle_hold_named(call);
	reservation = mc_reservation_at(call, retain->address);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	retain->out_handle = hold_mapped(call->client, reservation, retain->address);
	mc_reservation_put(reservation);
	if (!retain->out_handle)
		return mc_fail(call, -EINVAL, "no memory with a handle is mapped at %#llx",
			       retain->address);
	ret = mc_respond(call);
	if (ret)
		mc_handle_drop(call->client, retain->out_handle);
	return ret;
}
