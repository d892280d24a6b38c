// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans: the kernel's own way to what is mapped at an address, for the copy
 * engine and for debuggers. A span uses its memories, so its chunks stay while
 * they are copied without a lock.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "vm.h"

static bool may(struct mc_mapping *mapping, u32 device, bool write)
{
	if (device == MC_ANY_DEVICE)
		return true;
	return mc_set_has(write ? mc_mapping_writable(mapping) : mc_mapping_readable(mapping),
			  device);
}

static void span_add(struct mc_span *span, struct mc_memory *memory,
		     unsigned long offset)
{
	struct mc_spot *spot = &span->spot[span->replicas++];

	span->bytes = min(span->bytes, mc_memory_extent(memory, offset));
	spot->memory = memory;
	spot->offset = offset;
	if (likely(!mc_memory_lacks(memory, offset))) {
		spot->at = mc_memory_address(memory, offset);
	} else {
		spot->at = NULL;
		span->lacks = true;
	}
}

/**
 * mc_span_fill() - take chunks where nobody has touched a span's memories yet
 * @span: the span, of mc_span_look() or mc_span_team()
 * @write: else zeros will do, which all readers share
 *
 * Without locks, as chunks come from the host: the span uses its memories.
 *
 * Return: 0, or -ENOMEM; then some spots are NULL still.
 */
int mc_span_fill(struct mc_span *span, bool write)
{
	struct mc_spot *spot;
	int ret = 0;

	if (likely(!span->lacks))
		return 0;
	for (spot = span->spot; spot < span->spot + span->replicas; spot++) {
		if (spot->at)
			continue;
		if (write && mc_memory_touch(spot->memory, spot->offset)) {
			ret = -ENOMEM;
			continue;
		}
		spot->at = mc_memory_lacks(spot->memory, spot->offset) ?
			mc_lazy_zeros() + spot->offset % MC_CHUNK_SIZE :
			mc_memory_address(spot->memory, spot->offset);
		cond_resched();
	}
	span->lacks = ret;
	return ret;
}

/* Add what a team shows: one replica, or (NULL) those that a window has. */
void mc_span_team(struct mc_span *span, struct mc_team *team,
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
			span->missed = true;
			continue;
		}
		span_add(span, binding->memory, mc_binding_shows(binding, offset));
		/* reads come from the first that is bound */
		if (!write)
			break;
	}
	up_read(&team->lock);
}

/**
 * mc_span_look() - use what is mapped at an address, touched or not
 * @span: output, but for its mc_spots(); to be given to mc_span_put()
 * @reservation: around the address
 * @address: where
 * @bytes: how much at most; the span ends with the chunk at the latest
 * @device: that accesses it, or MC_ANY_DEVICE
 * @write: a window's replicas all; else only the one to read
 *
 * Return: 0, -EINVAL if there is nothing that the device may access, or -EHOSTUNREACH: what is
 * mapped there is memory of a host that was lost.
 */
int mc_span_look(struct mc_span *span, struct mc_reservation *reservation,
		 u64 address, u64 bytes, u32 device, bool write)
{
	struct mc_mapping *mapping;
	unsigned long offset;
	int ret = -EINVAL;

	span->replicas = 0;
	span->lacks = false;
	span->missed = false;
	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, address);
	if (mapping && may(mapping, device, write)) {
		offset = mc_mapping_shows(mapping, address);
		span->bytes = min3(bytes, mapping->at.last + 1 - address,
				   (u64)MC_CHUNK_SIZE - offset % MC_CHUNK_SIZE);
		if (mapping->object->type == MEMCAST_TYPE_TEAM) {
			struct mc_team *team = mc_team(mapping->object);

			mc_span_team(span, team, mapping->replica, offset, write);
			if (write && !mapping->replica && span->replicas &&
			    device != MC_ANY_DEVICE)
				atomic64_inc(&team->writes);
		} else if (unlikely(READ_ONCE(mapping->object->lost))) {
			ret = -EHOSTUNREACH;
		} else {
			struct mc_memory *memory = mc_memory(mapping->object);

			mc_object_get(&memory->object);
			span_add(span, memory, offset);
		}
	}
	up_read(&reservation->lock);
	return span->replicas ? 0 : ret;
}

/* As mc_span_look(), and nothing of it lacks. Return: also -ENOMEM. */
int mc_span_get(struct mc_span *span, struct mc_reservation *reservation,
		u64 address, u64 bytes, u32 device, bool write)
{
	int ret = mc_span_look(span, reservation, address, bytes, device, write);

	if (ret || likely(!mc_span_fill(span, write)))
		return ret;
	mc_span_put(span);
	return -ENOMEM;
}

/* Without locks: a memory may end here. */
void mc_span_put(struct mc_span *span)
{
	while (span->replicas)
		mc_object_put(&span->spot[--span->replicas].memory->object);
	span->lacks = false;
}

/* The end of what some member has bound at an offset; 0 if none has. */
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
			return binding->at.last + 1;
	}
	return 0;
}

/*
 * Does a mapping of a team show something at all of these addresses? Return: 0, -EFAULT if not,
 * or -EINTR when the caller is dying.
 */
static int team_check(struct mc_mapping *mapping, unsigned long first, unsigned long last)
{
	struct mc_team *team = mc_team(mapping->object);
	int ret = 0;

	lockdep_assert_held(&mapping->reservation->lock);
	first = mc_mapping_shows(mapping, first);
	last = mc_mapping_shows(mapping, last);
	down_read(&team->lock);
	while (!ret && first <= last) {
		first = team_bound_until(team, mapping->replica, first);
		if (!first)
			ret = -EFAULT;
		else if (fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	up_read(&team->lock);
	return ret;
}

/*
 * Could the device access all of the range, as things are now? Return: 0, -EFAULT,
 * -EHOSTUNREACH: memory there is of a host that was lost, or -EINTR when the caller is dying.
 */
int mc_span_check(struct mc_reservation *reservation, u64 address, u64 bytes,
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
		end = min(last, mapping->at.last);
		if (mapping->object->type == MEMCAST_TYPE_MEMORY)
			ret = READ_ONCE(mapping->object->lost) ? -EHOSTUNREACH : 0;
		else
			ret = team_check(mapping, address, end);
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		address = end + 1;
		cond_resched();
	}
	up_read(&reservation->lock);
	return ret;
}

/* For ptrace and /proc/PID/mem, whatever devices may access. */
int mc_vma_access(struct vm_area_struct *vma, unsigned long address,
		  void *buffer, int bytes, int write)
{
	struct mc_reservation *reservation = vma->vm_private_data;
	struct mc_span span;
	unsigned int i;
	int ret;

	span.spot = kmalloc_array(mc_spots(write), sizeof(*span.spot), GFP_KERNEL_ACCOUNT);
	if (!span.spot)
		return -ENOMEM;
	ret = mc_span_get(&span, reservation, address, bytes, MC_ANY_DEVICE, write);
	if (ret) {
		ret = -EIO;
		goto free_spots;
	}
	if (write)
		for (i = 0; i < span.replicas; i++)
			memcpy(span.spot[i].at, buffer, span.bytes);
	else
		memcpy(buffer, span.spot[0].at, span.bytes);
	ret = span.bytes;
	mc_span_put(&span);
free_spots:
	kfree(span.spot);
	return ret;
}
