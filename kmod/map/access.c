// SPDX-License-Identifier: GPL-2.0-only
/* Access: which devices may read and write a mapping; the CPU may do what any of them may. */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "map.h"

#define MAX_ENTRIES	(2 * MEMCAST_MAX_DEVICES)

static int check_entries(struct mc_call *call,
			 const struct memcast_access_entry *entry, u32 count,
			 struct mc_grant *grant)
{
	const struct mc_device *device;

	for (; count--; entry++) {
		if (entry->reserved)
			return mc_fail(call, -EINVAL, "reserved field is not zero");
		if (entry->access != MEMCAST_ACCESS_NONE &&
		    entry->access != MEMCAST_ACCESS_READ &&
		    entry->access != MEMCAST_ACCESS_READWRITE)
			return mc_fail(call, -EINVAL, "unknown access %u",
				       entry->access);
		if (entry->location == MEMCAST_LOCATION_HOST ||
		    entry->location == MEMCAST_LOCATION_HOST_NUMA) {
			grant->host_named = true;
			grant->host = entry->access;
			continue;
		}
		if (entry->location != MEMCAST_LOCATION_DEVICE)
			return mc_fail(call, -EINVAL, "unknown location type %u",
				       entry->location);
		device = mc_find_device(call, entry->location_id);
		if (IS_ERR(device))
			return PTR_ERR(device);

		__set_bit(device->id, grant->named);
		__assign_bit(device->id, grant->readable,
			     entry->access != MEMCAST_ACCESS_NONE);
		__assign_bit(device->id, grant->writable,
			     entry->access == MEMCAST_ACCESS_READWRITE);
	}
	return 0;
}

static bool is_host_memory(const struct mc_mapping *mapping)
{
	return mapping->object->type == MEMCAST_TYPE_MEMORY &&
	       !mc_memory(mapping->object)->device;
}

/* Return: the CPU's access to a mapping, enum memcast_access. */
static u32 cpu_access(const struct mc_mapping *mapping)
{
	/* of two values of enum memcast_access the larger allows more */
	return max(mapping->any, mapping->host);
}

/* Return: the first named device that is not a member of the team; -1: all are members. */
static int find_stranger(struct mc_mapping *mapping, const struct mc_grant *grant)
{
	const unsigned long *members;
	unsigned int i;

	if (mapping->object->type == MEMCAST_TYPE_MEMORY)
		return -1;
	/* the team is complete, or it would not be mapped: no lock */
	members = mc_team(mapping->object)->members;
	for (i = 0; i < mc_set_words(); i++)
		if (grant->named[i] & ~members[i])
			return i * BITS_PER_LONG + __ffs(grant->named[i] & ~members[i]);
	return -1;
}

/*
 * Changes which devices may access the mappings in a range; page tables follow at once. The
 * reservation's lock is held for writing.
 */
void mc_grant_apply(struct mc_reservation *reservation, unsigned long first,
		    unsigned long last, const struct mc_grant *grant)
{
	struct rb_root_cached *mappings = &reservation->mappings;
	struct interval_tree_node *node;
	bool zap = false;

	lockdep_assert_held_write(&reservation->lock);
	for (node = interval_tree_iter_first(mappings, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		struct mc_mapping *mapping = container_of(node, struct mc_mapping, va);
		u32 before = cpu_access(mapping);

		mc_set_apply(mc_mapping_readable(mapping), grant->named, grant->readable);
		mc_set_apply(mc_mapping_writable(mapping), grant->named, grant->writable);
		mapping->any = mc_set_most(mc_mapping_readable(mapping),
					   mc_mapping_writable(mapping));
		if (grant->host_named)
			mapping->host = grant->host;
		/* without access there are no page-table entries */
		if (before != MEMCAST_ACCESS_NONE && before != cpu_access(mapping))
			zap = true;
		cond_resched();
	}
	if (zap)
		mc_reservation_zap(reservation, first, last);
}

static int set_access(struct mc_call *call, struct mc_reservation *reservation,
		      unsigned long first, unsigned long last,
		      const struct mc_grant *grant)
{
	struct rb_root_cached *mappings = &reservation->mappings;
	struct interval_tree_node *node;
	int ret;

	lockdep_assert_held_write(&reservation->lock);
	ret = mc_mappings_cover(call, reservation, first, last);
	if (ret)
		return ret;
	for (node = interval_tree_iter_first(mappings, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		int stranger = find_stranger(container_of(node, struct mc_mapping, va), grant);

		if (stranger >= 0)
			return mc_no_member(call, stranger);
		if (grant->host_named &&
		    !is_host_memory(container_of(node, struct mc_mapping, va)))
			return mc_fail(call, -EOPNOTSUPP,
				       "the host cannot be given access to device memory");
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	mc_grant_apply(reservation, first, last, grant);
	return 0;
}

/*
 * Reads and checks @count entries at a user's address. Without locks. Return: 0; -ENODEV for an
 * unknown device; or another error.
 */
int mc_grant_read(struct mc_call *call, u64 address, u32 count, struct mc_grant *grant)
{
	struct memcast_access_entry *entries;
	int ret;

	if (!count || count > MAX_ENTRIES)
		return mc_fail(call, -EINVAL, "%u access descriptors: 1 to %u are taken",
			       count, MAX_ENTRIES);
	entries = kmalloc_array(count, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries)
		return -ENOMEM;
	ret = copy_from_user(entries, u64_to_user_ptr(address), count * sizeof(*entries)) ?
		mc_fail(call, -EFAULT, "the access descriptors cannot be read") :
		check_entries(call, entries, count, grant);
	kfree(entries);
	return ret;
}

/* MEMCAST_SET_ACCESS: set what devices and the host may do with whole mappings. */
int mc_set_access(struct mc_call *call)
{
	struct memcast_set_access *set = call->arg;
	struct mc_reservation *reservation;
	struct mc_grant grant = {};
	int ret;

	if (set->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	ret = mc_grant_read(call, set->entries, set->count, &grant);
	/* for this call an unknown device is a bad descriptor */
	if (ret == -ENODEV)
		ret = -EINVAL;
	if (ret)
		return ret;

	reservation = mc_reservation_around(call, set->address, set->bytes);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	ret = mc_reservation_lock(call, reservation, set->address);
	if (!ret) {
		ret = set_access(call, reservation, set->address,
				 set->address + set->bytes - 1, &grant);
		up_write(&reservation->lock);
	}
	mc_reservation_put(reservation);
	return ret;
}

/* The access to a heap is set on the heap and not on its mappings, so these have none. */
static u32 access_of(const struct memcast_get_access *get, const struct mc_device *device,
		     struct mc_mapping *mapping)
{
	if (mapping->reservation->of_heap)
		return MEMCAST_ACCESS_NONE;
	if (get->location == MEMCAST_LOCATION_HOST)
		return cpu_access(mapping);
	if (get->location == MEMCAST_LOCATION_HOST_NUMA)
		return mapping->host;
	return mc_set_allows(mc_mapping_readable(mapping), mc_mapping_writable(mapping), device);
}

/* MEMCAST_GET_ACCESS: what a device, or the host, may do with the mapping at an address. */
int mc_get_access(struct mc_call *call)
{
	struct memcast_get_access *get = call->arg;
	const struct mc_device *device = NULL;
	struct mc_reservation *reservation;
	struct mc_mapping *mapping;
	int ret = 0;

	if (get->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (get->location < MEMCAST_LOCATION_DEVICE ||
	    get->location > MEMCAST_LOCATION_HOST_NUMA)
		return mc_fail(call, -EINVAL, "unknown location type %u",
			       get->location);
	if (get->location == MEMCAST_LOCATION_DEVICE) {
		device = mc_find_device(call, get->location_id);
		if (IS_ERR(device))
			return PTR_ERR(device);
	}
	reservation = mc_reservation_at(call, get->address);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, get->address);
	if (mapping)
		get->out_access = access_of(get, device, mapping);
	else
		ret = mc_fail(call, -EINVAL, "nothing is mapped at %#llx", get->address);
	up_read(&reservation->lock);
	mc_reservation_put(reservation);
	return ret ?: mc_respond(call);
}
