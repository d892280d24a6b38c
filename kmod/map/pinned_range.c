// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned ranges: the kernel's own way to the chunks mapped at an address, for the copy
 * engine and for debuggers. A pinned range is a user of its memories, so the chunks stay
 * while they are copied without a lock.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "map.h"

static bool may(struct mc_mapping *mapping, u32 device, bool write)
{
	if (device == MC_ANY_DEVICE)
		return true;
	return mc_set_has(write ? mc_mapping_writable(mapping) : mc_mapping_readable(mapping),
			  device);
}

static void pinned_range_add(struct mc_pinned_range *pinned, struct mc_memory *memory,
			     unsigned long offset)
{
	struct mc_spot *spot = &pinned->spot[pinned->replicas++];

	pinned->bytes = min(pinned->bytes, mc_memory_extent(memory, offset));
	spot->memory = memory;
	spot->offset = offset;
	if (likely(!mc_memory_lacks(memory, offset))) {
		spot->kaddr = mc_memory_address(memory, offset);
	} else {
		spot->kaddr = NULL;
		pinned->lacks = true;
	}
}

/**
 * mc_pinned_range_fill() - populate a pinned range
 * @pinned: from mc_pinned_range_find() or mc_pinned_range_add_team()
 * @write: take chunks; else the chunk of zeros will do, which all readers share
 *
 * The caller holds no lock but that of a team's dma-buf, as chunks come from the host.
 *
 * Return: 0, or -ENOMEM; then some spots still have no chunk.
 */
int mc_pinned_range_fill(struct mc_pinned_range *pinned, bool write)
{
	struct mc_spot *spot;
	int ret = 0;

	if (likely(!pinned->lacks))
		return 0;
	for (spot = pinned->spot; spot < pinned->spot + pinned->replicas; spot++) {
		if (spot->kaddr)
			continue;
		if (write && mc_memory_touch(spot->memory, spot->offset)) {
			ret = -ENOMEM;
			continue;
		}
		spot->kaddr = mc_memory_lacks(spot->memory, spot->offset) ?
			mc_lazy_zeros() + spot->offset % MC_CHUNK_SIZE :
			mc_memory_address(spot->memory, spot->offset);
		cond_resched();
	}
	pinned->lacks = ret;
	return ret;
}

/*
 * Pins the bytes at an offset of a team: of one @replica, or (NULL) of a window, of which a read
 * needs the first bound member and a write all. Takes the team's lock.
 */
void mc_pinned_range_add_team(struct mc_pinned_range *pinned, struct mc_team *team,
			      struct mc_member *replica, unsigned long offset, bool write)
{
	u32 i;

	down_read(&team->lock);
	for (i = 0; i < team->joined; i++) {
		struct mc_member *member = &team->member[i];
		struct mc_binding *binding;

		if (replica && replica != member)
			continue;
		binding = mc_binding_find(member, offset);
		/* a memory that is ending, or lost, counts as unbound already */
		if (!binding || READ_ONCE(binding->memory->object.lost) ||
		    !mc_object_tryget(&binding->memory->object)) {
			pinned->missed = true;
			continue;
		}
		pinned_range_add(pinned, binding->memory,
				 mc_binding_memory_offset(binding, offset));
		/* a read needs the first bound member only */
		if (!write)
			break;
	}
	up_read(&team->lock);
}

/**
 * mc_pinned_range_find() - pin the bytes mapped at an address, without taking chunks
 * @pinned: output, with room for mc_spots(); the caller gives it to mc_pinned_range_put()
 * @reservation: around the address
 * @address: the first byte
 * @bytes: how many at most; the range ends with the chunk at the latest
 * @device: the device that accesses them, or MC_ANY_DEVICE
 * @write: pin all replicas of a window; else the one that is read
 *
 * Takes the reservation's lock. Spots of a lazy pool may have no chunk: mc_pinned_range_fill().
 *
 * Return: 0, -EINVAL if there is nothing that the device may access, or -EHOSTUNREACH: what is
 * mapped there is memory of a host that was lost.
 */
int mc_pinned_range_find(struct mc_pinned_range *pinned, struct mc_reservation *reservation,
			 u64 address, u64 bytes, u32 device, bool write)
{
	struct mc_mapping *mapping;
	unsigned long offset;
	int ret = -EINVAL;

	pinned->replicas = 0;
	pinned->lacks = false;
	pinned->missed = false;
	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, address);
	if (mapping && may(mapping, device, write)) {
		offset = mc_mapping_offset(mapping, address);
		pinned->bytes = min3(bytes, mapping->va.last + 1 - address,
				     (u64)MC_CHUNK_SIZE - offset % MC_CHUNK_SIZE);
		if (mapping->object->type == MEMCAST_TYPE_TEAM) {
			struct mc_team *team = mc_team(mapping->object);

			mc_pinned_range_add_team(pinned, team, mapping->replica, offset, write);
			if (write && !mapping->replica && pinned->replicas &&
			    device != MC_ANY_DEVICE)
				atomic64_inc(&team->writes);
		} else if (unlikely(READ_ONCE(mapping->object->lost))) {
			ret = -EHOSTUNREACH;
		} else {
			struct mc_memory *memory = mc_memory(mapping->object);

			mc_object_get(&memory->object);
			pinned_range_add(pinned, memory, offset);
		}
	}
	up_read(&reservation->lock);
	return pinned->replicas ? 0 : ret;
}

/* As mc_pinned_range_find(), and populates the range. Without locks. Return: also -ENOMEM. */
int mc_pinned_range_get(struct mc_pinned_range *pinned, struct mc_reservation *reservation,
			u64 address, u64 bytes, u32 device, bool write)
{
	int ret = mc_pinned_range_find(pinned, reservation, address, bytes, device, write);

	if (ret || likely(!mc_pinned_range_fill(pinned, write)))
		return ret;
	mc_pinned_range_put(pinned);
	return -ENOMEM;
}

/* Gives up the users of the memories. The caller holds no lock: a memory may end here. */
void mc_pinned_range_put(struct mc_pinned_range *pinned)
{
	while (pinned->replicas)
		mc_object_put(&pinned->spot[--pinned->replicas].memory->object);
	pinned->lacks = false;
}

/* Return: the end of a binding at an offset, of any member or of @replica; 0: there is none. */
static unsigned long team_bound_until(struct mc_team *team,
				      struct mc_member *replica,
				      unsigned long offset)
{
	u32 i;

	lockdep_assert_held(&team->lock);
	for (i = 0; i < team->joined; i++) {
		struct mc_member *member = &team->member[i];
		struct mc_binding *binding;

		if (replica && replica != member)
			continue;
		binding = mc_binding_find(member, offset);
		if (binding)
			return binding->range.last + 1;
	}
	return 0;
}

/*
 * Has a team memory bound at all addresses of a range of a mapping? Return: 0, -EFAULT if not, or
 * as mc_must_stop().
 */
static int team_check(struct mc_mapping *mapping, unsigned long first, unsigned long last)
{
	struct mc_team *team = mc_team(mapping->object);
	int ret = 0;

	lockdep_assert_held(&mapping->reservation->lock);
	first = mc_mapping_offset(mapping, first);
	last = mc_mapping_offset(mapping, last);
	down_read(&team->lock);
	while (!ret && first <= last) {
		first = team_bound_until(team, mapping->replica, first);
		ret = first ? mc_must_stop() : -EFAULT;
		cond_resched();
	}
	up_read(&team->lock);
	return ret;
}

/*
 * Could a device access all of a range, as things are now? It pins nothing. Takes the locks of
 * reservation and teams. Return: 0, -EFAULT, -EHOSTUNREACH: memory there is of a host that was
 * lost, or as mc_must_stop().
 */
int mc_mappings_check_access(struct mc_reservation *reservation, u64 address, u64 bytes,
			     u32 device, bool write)
{
	unsigned long last = address + bytes - 1;
	int ret = 0;

	down_read(&reservation->lock);
	while (!ret && address <= last) {
		struct mc_mapping *mapping = mc_mapping_find(reservation, address);
		unsigned long end;

		if (!mapping || !may(mapping, device, write)) {
			ret = -EFAULT;
			break;
		}
		end = min(last, mapping->va.last);
		if (mapping->object->type == MEMCAST_TYPE_MEMORY)
			ret = READ_ONCE(mapping->object->lost) ? -EHOSTUNREACH : 0;
		else
			ret = team_check(mapping, address, end);
		ret = ret ?: mc_must_stop();
		address = end + 1;
		cond_resched();
	}
	up_read(&reservation->lock);
	return ret;
}

/* The VMA's .access, for ptrace and /proc/PID/mem: they need no device that has access. */
int mc_vma_access(struct vm_area_struct *vma, unsigned long address,
		  void *buffer, int bytes, int write)
{
	struct mc_reservation *reservation = vma->vm_private_data;
	struct mc_pinned_range pinned;
	unsigned int i;
	int ret;

	pinned.spot = kmalloc_array(mc_spots(write), sizeof(*pinned.spot), GFP_KERNEL_ACCOUNT);
	if (!pinned.spot)
		return -ENOMEM;
	ret = mc_pinned_range_get(&pinned, reservation, address, bytes, MC_ANY_DEVICE, write);
	if (ret) {
		ret = -EIO;
		goto free_spots;
	}
	if (write)
		for (i = 0; i < pinned.replicas; i++)
			memcpy(pinned.spot[i].kaddr, buffer, pinned.bytes);
	else
		memcpy(buffer, pinned.spot[0].kaddr, pinned.bytes);
	ret = pinned.bytes;
	mc_pinned_range_put(&pinned);
free_spots:
	kfree(pinned.spot);
	return ret;
}
