// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: a part of a reservation that shows a memory, a team's window, or
 * one replica of a team.
 */
#include "map.h"

/* Return: the mapping at an address, or NULL. The reservation's lock is held, and keeps it. */
struct mc_mapping *mc_mapping_find(struct mc_reservation *reservation,
				   unsigned long address)
{
	struct interval_tree_node *node;

	lockdep_assert_held(&reservation->lock);
	node = interval_tree_iter_first(&reservation->mappings, address, address);
	return node ? container_of(node, struct mc_mapping, va) : NULL;
}

/* The tree in which a bind or an unbind finds the mappings of a team that it changes */
static struct rb_root_cached *mappings_of_team(const struct mc_mapping *mapping)
{
	return mapping->replica ? &mapping->replica->replicas :
				  &mc_team(mapping->object)->windows;
}

/* Takes what is being removed out of the page tables, for the check in mapping_unlink(). */
static void zap_removed(struct mc_reservation *reservation, unsigned long first,
			unsigned long last)
{
	mc_reservation_zap(reservation, first, last);
	reservation->zapped = true;
}

static void mapping_unlink(struct mc_mapping *mapping)
{
	struct mc_reservation *reservation = mapping->reservation;

	trace_memcast_unmap(mapping->object->number, mapping->va.start,
			    mapping->range.bytes.start, mapping->va.last - mapping->va.start + 1);
	VM_WARN_ON_ONCE(!reservation->zapped);
	interval_tree_remove(&mapping->va, &reservation->mappings);
	if (mapping->object->type == MEMCAST_TYPE_TEAM) {
		struct mc_team *team = mc_team(mapping->object);

		down_write(&team->lock);
		interval_tree_remove(&mapping->range.bytes, mappings_of_team(mapping));
		up_write(&team->lock);
	}
}

/**
 * mc_mappings_remove() - take mappings out of page tables, then out of the trees
 * @reservation: its lock is held for writing, and so no fault fills the page tables again
 * @node: the first mapping in the range, by mc_mapping.va, or NULL
 * @first: the first address of a range that cuts no mapping in two
 * @last: the last one
 * @removed: output: the mappings, for mc_mappings_free() without the lock
 *
 * The only function that takes mappings out of the trees. A thread that revokes a binding of a
 * team looks in the team's trees for the page tables that it has to zap: so a mapping stays there
 * until its own page tables show nothing. Takes the locks of teams.
 */
void mc_mappings_remove(struct mc_reservation *reservation, struct interval_tree_node *node,
			unsigned long first, unsigned long last, struct list_head *removed)
{
	struct interval_tree_node *next;

	lockdep_assert_held_write(&reservation->lock);
	if (!node)
		return;
	zap_removed(reservation, first, last);
	for (; node; node = next) {
		struct mc_mapping *mapping = container_of(node, struct mc_mapping, va);

		next = node->last < last ? interval_tree_iter_next(node, first, last) : NULL;
		reservation->unmapped = (struct mc_unmapped) {
			.first = mapping->va.start, .last = mapping->va.last,
			.object = mapping->object->number,
			.type = mapping->object->type,
		};
		mapping_unlink(mapping);
		list_add(&mapping->list, removed);
		cond_resched();
	}
	reservation->zapped = false;
}

static size_t mapping_bytes(void)
{
	return sizeof(struct mc_mapping) + 2 * mc_set_words() * sizeof(long);
}

/* @ended: output, the mapping's object, if nothing else uses it */
static void mapping_free(struct mc_mapping *mapping, struct list_head *ended)
{
	mc_object_put_later(mapping->object, ended);
	mc_free(mapping->reservation->client->account, mapping, mapping_bytes());
}

static void mappings_free(struct list_head *removed, struct list_head *ended)
{
	struct mc_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, removed, list) {
		atomic_long_dec(&mapping->reservation->client->mapping_count);
		mc_handle_unmapped(mapping->reservation->client, mapping->handle);
		mapping_free(mapping, ended);
		atomic_long_dec(&mc_stats.mappings);
		cond_resched();
	}
}

/* Frees removed mappings, and gives up their objects. Without locks: an object may end here. */
void mc_mappings_free(struct list_head *removed)
{
	LIST_HEAD(ended);

	mappings_free(removed, &ended);
	mc_objects_end(&ended);
}

/*
 * Undoes all mappings of a reservation, for good: its VMA goes, or its client has ended or lost its
 * host. @ended: output, what was mapped and has no other user, for mc_objects_end(): those of many
 * reservations end together. Without locks but mmap_lock.
 */
void mc_mappings_undo(struct mc_reservation *reservation, struct list_head *ended)
{
	unsigned long first = reservation->start, last;
	LIST_HEAD(removed);

	down_write(&reservation->lock);
	last = reservation->reach - 1;
	reservation->dead = true;
	mc_mappings_remove(reservation,
			   interval_tree_iter_first(&reservation->mappings, first, last),
			   first, last, &removed);
	up_write(&reservation->lock);
	mappings_free(&removed, ended);
}

/* Return: the first mapping that goes on behind the reservation's end, or NULL. With the lock. */
static struct interval_tree_node *first_behind(struct mc_reservation *reservation)
{
	lockdep_assert_held(&reservation->lock);
	return interval_tree_iter_first(&reservation->mappings, reservation->end, ULONG_MAX);
}

/*
 * Ends a reservation's reach into its tail if nothing is mapped there: a call that maps there anew
 * fails, although the process has not unmapped the tail yet. The lock is held for writing.
 */
void mc_reservation_shrink(struct mc_reservation *reservation)
{
	lockdep_assert_held_write(&reservation->lock);
	if (reservation->reach != reservation->end && !first_behind(reservation))
		WRITE_ONCE(reservation->reach, reservation->end);
}

/*
 * Undoes what is mapped behind a reservation's end, as the tail has gone. Without locks but
 * mmap_lock.
 */
void mc_mappings_cut(struct mc_reservation *reservation)
{
	struct interval_tree_node *node;
	LIST_HEAD(removed);

	down_write(&reservation->lock);
	node = first_behind(reservation);
	if (node)
		mc_mappings_remove(reservation, node, node->start, reservation->reach - 1,
				   &removed);
	mc_reservation_shrink(reservation);
	up_write(&reservation->lock);
	mc_mappings_free(&removed);
}

/* Return: a mapping that is in no tree yet, a user of its object; or NULL. */
struct mc_mapping *mc_mapping_new(struct mc_call *call, struct mc_reservation *reservation,
				  struct mc_object *object, unsigned long address,
				  unsigned long offset, unsigned long bytes)
{
	struct mc_mapping *mapping = mc_alloc(call, call->client->account, mapping_bytes());

	if (!mapping)
		return NULL;
	mapping->va.start = address;
	mapping->va.last = address + bytes - 1;
	mapping->range.bytes.start = offset;
	mapping->range.bytes.last = offset + bytes - 1;
	mapping->range.address = address;
	mapping->range.tables = &reservation->client->mapping;
	mapping->reservation = reservation;
	mapping->object = mc_object_get(object);
	mapping->number = mc_object_number();
	return mapping;
}

static int mapping_link(struct mc_call *call, struct mc_mapping *mapping)
{
	struct mc_reservation *reservation = mapping->reservation;
	struct mc_object *object = mapping->object;
	int ret;

	/* a host that is lost from now on is found out by the fault */
	ret = READ_ONCE(call->client->lost) ? mc_fail_lost(call) :
	      object->type == MEMCAST_TYPE_MEMORY ? mc_object_check(call, object) : 0;
	if (ret)
		return ret;
	down_write(&reservation->lock);
	if (READ_ONCE(call->client->ended)) {
		/* mc_client_unmap() may have gone by already */
		ret = -ESRCH;
	} else if (reservation->dead || reservation->retiring) {
		ret = mc_fail(call, -EINVAL, "the reservation has been freed");
	} else if (mapping->va.last >= reservation->reach) {
		ret = mc_fail(call, -EINVAL, "the reservation's tail has been unmapped");
	} else if (reservation->of_heap && mapping->handle) {
		/* it was nobody's yet when mc_reservation_around() looked */
		ret = mc_fail(call, -EINVAL, "what is at %#lx has become a heap's",
			      mapping->va.start);
	} else if (interval_tree_iter_first(&reservation->mappings,
					    mapping->va.start,
					    mapping->va.last)) {
		ret = mc_fail(call, -EINVAL, "something is mapped there already");
	} else {
		interval_tree_insert(&mapping->va, &reservation->mappings);
		if (object->type == MEMCAST_TYPE_TEAM) {
			struct mc_team *team = mc_team(object);

			down_write(&team->lock);
			interval_tree_insert(&mapping->range.bytes, mappings_of_team(mapping));
			up_write(&team->lock);
		}
		trace_memcast_map(object->number, mapping->va.start, mapping->range.bytes.start,
				  mapping->va.last - mapping->va.start + 1);
	}
	up_write(&reservation->lock);
	return ret;
}

/*
 * Puts a mapping into its trees, or frees it. Takes the locks of reservation and team.
 * Return: 0, or an error.
 */
int mc_mapping_insert(struct mc_call *call, struct mc_mapping *mapping)
{
	int ret;

	/* another thread may unmap it as soon as it is in the trees */
	atomic_long_inc(&mc_stats.mappings);
	atomic_long_inc(&call->client->mapping_count);
	ret = mapping_link(call, mapping);
	if (ret) {
		LIST_HEAD(ended);

		atomic_long_dec(&call->client->mapping_count);
		atomic_long_dec(&mc_stats.mappings);
		mapping_free(mapping, &ended);
		mc_objects_end(&ended);
	}
	return ret;
}

/* Do whole mappings cover a range? Return: 0, -EINVAL with the reason, or -EINTR. With the lock. */
int mc_mappings_cover(struct mc_call *call, struct mc_reservation *reservation,
		      unsigned long first, unsigned long last)
{
	struct interval_tree_node *node;
	unsigned long where;
	int ret;

	lockdep_assert_held(&reservation->lock);
	ret = mc_range_is_covered(&reservation->mappings, first, last, &where, &node);
	if (ret != -EINVAL)
		return ret;
	if (!node)
		return mc_fail(call, -EINVAL, "nothing is mapped at %#lx", where);
	return mc_fail(call, -EINVAL,
		       "only a part of the mapping of %lu bytes at %#lx is in the range",
		       node->last - node->start + 1, node->start);
}
