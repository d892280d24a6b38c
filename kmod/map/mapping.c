// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: a part of a reservation that shows a memory, a team's window, or
 * one replica of a team.
 */
#include <linux/sched/signal.h>
#include "space.h"

struct mc_mapping *mc_mapping_find(struct mc_reservation *reservation,
				   unsigned long address)
{
	struct interval_tree_node *at;

	lockdep_assert_held(&reservation->lock);
	at = interval_tree_iter_first(&reservation->mappings, address, address);
	return at ? container_of(at, struct mc_mapping, at) : NULL;
}

/* Where those look who change what a mapping of a team shows. */
static struct rb_root_cached *mappings_of_team(const struct mc_mapping *mapping)
{
	return mapping->replica ? &mapping->replica->replicas :
				  &mc_team(mapping->object)->windows;
}

/* The caller zaps, once for all that it undoes. */
static void mapping_undo(struct mc_mapping *mapping, struct list_head *undone)
{
	lockdep_assert_held_write(&mapping->reservation->lock);
	interval_tree_remove(&mapping->at, &mapping->reservation->mappings);
	if (mapping->object->type == MEMCAST_TYPE_TEAM) {
		struct mc_team *team = mc_team(mapping->object);

		down_write(&team->lock);
		interval_tree_remove(&mapping->shows, mappings_of_team(mapping));
		up_write(&team->lock);
	}
	list_add(&mapping->list, undone);
}

static void mapping_free(struct mc_mapping *mapping)
{
	mc_object_put(mapping->object);
	mc_free(mapping->reservation->client->account, mapping, sizeof(*mapping));
}

/* Without locks: what is shown may end here. */
static void mappings_free(struct list_head *undone)
{
	struct mc_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, undone, list) {
		mc_handle_unmapped(mapping->reservation->client, mapping->handle);
		mapping_free(mapping);
		atomic_long_dec(&mc_stats.mappings);
		cond_resched();
	}
}

/* The VMA has gone, or what it shows has to. */
void mc_mappings_undo(struct mc_reservation *reservation)
{
	struct rb_node *node;
	LIST_HEAD(undone);

	down_write(&reservation->lock);
	reservation->dead = true;
	while ((node = rb_first_cached(&reservation->mappings))) {
		mapping_undo(rb_entry(node, struct mc_mapping, at.rb), &undone);
		cond_resched();
	}
	mc_reservation_zap(reservation, reservation->start, reservation->end - 1);
	up_write(&reservation->lock);
	mappings_free(&undone);
}

/* Return: a mapping that is not in the tree yet, or NULL. */
struct mc_mapping *mc_mapping_new(struct mc_call *call, struct mc_reservation *reservation,
				  struct mc_object *object, unsigned long address,
				  unsigned long offset, unsigned long bytes)
{
	struct mc_mapping *mapping = mc_alloc(call, call->client->account,
					     sizeof(*mapping));

	if (!mapping)
		return NULL;
	mapping->at.start = address;
	mapping->at.last = address + bytes - 1;
	mapping->shows.start = offset;
	mapping->shows.last = offset + bytes - 1;
	mapping->reservation = reservation;
	mapping->object = mc_object_get(object);
	mapping->number = mc_object_number();
	return mapping;
}

static int mapping_link(struct mc_call *call, struct mc_mapping *mapping)
{
	struct mc_reservation *reservation = mapping->reservation;
	struct mc_object *object = mapping->object;
	int ret = 0;

	down_write(&reservation->lock);
	if (reservation->dead || reservation->retiring) {
		ret = mc_fail(call, -EINVAL, "the reservation has been freed");
	} else if (interval_tree_iter_first(&reservation->mappings,
					    mapping->at.start,
					    mapping->at.last)) {
		ret = mc_fail(call, -EINVAL, "something is mapped there already");
	} else {
		interval_tree_insert(&mapping->at, &reservation->mappings);
		if (object->type == MEMCAST_TYPE_TEAM) {
			struct mc_team *team = mc_team(object);

			down_write(&team->lock);
			interval_tree_insert(&mapping->shows, mappings_of_team(mapping));
			up_write(&team->lock);
		}
	}
	up_write(&reservation->lock);
	return ret;
}

/* Put it into the tree. If something is there, it is freed. */
int mc_mapping_insert(struct mc_call *call, struct mc_mapping *mapping)
{
	int ret = mapping_link(call, mapping);

	if (ret)
		mapping_free(mapping);
	else
		atomic_long_inc(&mc_stats.mappings);
	return ret;
}

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
		/* other drivers' memory may begin at any page */
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

int mc_map(struct mc_call *call)
{
	struct memcast_map *map = call->arg;
	struct mc_object *object;
	int ret;

	if (map->flags & ~(MEMCAST_MAP_REPLICA | MEMCAST_MAP_STRICT | MEMCAST_MAP_WHOLE |
			   MEMCAST_NO_WAIT) ||
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

/* Do whole mappings cover the range, without a hole? */
int mc_mappings_whole(struct mc_call *call, struct mc_reservation *reservation,
		      unsigned long first, unsigned long last)
{
	struct rb_root_cached *mappings = &reservation->mappings;
	struct interval_tree_node *at;
	unsigned long next = first;

	lockdep_assert_held(&reservation->lock);
	for (at = interval_tree_iter_first(mappings, first, last); at;
	     at = interval_tree_iter_next(at, first, last)) {
		if (at->start != next)
			break;
		if (fatal_signal_pending(current))
			return -EINTR;
		next = at->last + 1;
		cond_resched();
	}
	if (!at && next == last + 1)
		return 0;
	/* it fails at a hole, or at a mapping that is inside only in part */
	next = min(next, last);
	at = interval_tree_iter_first(mappings, next, next);
	if (!at)
		return mc_fail(call, -EINVAL, "nothing is mapped at %#lx", next);
	return mc_fail(call, -EINVAL,
		       "only a part of the mapping of %lu bytes at %#lx is in the range",
		       at->last - at->start + 1, at->start);
}

/* Does the range begin, or end, within a mapping, or between two chunks where none is? */
static int unmap_check(struct mc_call *call, struct mc_reservation *reservation,
		       unsigned long first, unsigned long last)
{
	struct mc_mapping *low = mc_mapping_find(reservation, first);
	struct mc_mapping *high = mc_mapping_find(reservation, last);

	if (low ? low->at.start != first : !IS_ALIGNED(first, MC_CHUNK_SIZE))
		high = low;
	else if (high ? high->at.last == last : IS_ALIGNED(last + 1, MC_CHUNK_SIZE))
		return 0;
	if (high)
		return mc_fail(call, -EINVAL,
			       "only a part of the mapping of %lu bytes at %#lx is in the range",
			       high->at.last - high->at.start + 1, high->at.start);
	return mc_fail(call, -EINVAL,
		       "%#lx to %#lx begins or ends at no mapping, and at no multiple of the granularity %lu",
		       first, last + 1, MC_CHUNK_SIZE);
}

int mc_unmap(struct mc_call *call)
{
	struct memcast_unmap *unmap = call->arg;
	struct interval_tree_node *at, *next;
	struct mc_reservation *reservation;
	unsigned long first, last;
	LIST_HEAD(undone);
	int ret = 0;

	reservation = mc_reservation_around(call, unmap->address, unmap->bytes);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	first = unmap->address;
	last = unmap->address + unmap->bytes - 1;

	down_write(&reservation->lock);
	at = interval_tree_iter_first(&reservation->mappings, first, last);
	/* mostly it is one mapping */
	if (!at || at->start != first || at->last != last)
		ret = unmap_check(call, reservation, first, last);
	if (!ret) {
		for (; at; at = next) {
			struct mc_mapping *mapping = container_of(at, struct mc_mapping, at);

			next = at->last < last ? interval_tree_iter_next(at, first, last) : NULL;
			reservation->unmapped = (struct mc_unmapped) {
				.first = mapping->at.start, .last = mapping->at.last,
				.object = mapping->object->number,
				.type = mapping->object->type,
			};
			mapping_undo(mapping, &undone);
			cond_resched();
		}
		if (!list_empty(&undone))
			mc_reservation_zap(reservation, first, last);
	}
	up_write(&reservation->lock);
	mappings_free(&undone);
	mc_reservation_put(reservation);
	return ret;
}
