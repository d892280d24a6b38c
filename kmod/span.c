// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans: the kernel's own way to what is mapped at an address, for the copy
 * engine and for debuggers. A span uses its memories, so its chunks stay while
 * they are copied without a lock.
 */
#include "private.h"

static bool may(const struct mc_mapping *mapping, u32 device, bool write)
{
	if (device == MC_ANY_DEVICE)
		return true;
	return (write ? mapping->writable : mapping->readable) & BIT_ULL(device);
}

static void span_add(struct mc_span *span, struct mc_memory *memory,
		     struct page *chunk, unsigned long offset)
{
	span->at[span->replicas] = page_address(chunk) + offset;
	span->memory[span->replicas] = memory;
	span->replicas++;
}

static void span_team(struct mc_span *span, struct mc_mapping *mapping,
		      unsigned long index, unsigned long offset, bool write)
{
	struct mc_team *team = mc_team(mapping->object);
	u32 i;

	down_read(&team->lock);
	for (i = 0; i < team->joined; i++) {
		struct mc_member *member = &team->member[i];
		struct mc_binding *binding;

		if (mapping->replica && mapping->replica != member)
			continue;
		binding = mc_binding_find(member, index);
		/* a memory that is ending counts as unbound already */
		if (!binding || !mc_object_tryget(&binding->memory->object))
			continue;
		span_add(span, binding->memory, mc_binding_chunk(binding, index),
			 offset);
		/* reads come from the first that is bound */
		if (!write)
			break;
	}
	up_read(&team->lock);
}

/**
 * mc_span_get() - use what is mapped at an address
 * @span: output; to be given to mc_span_put()
 * @reservation: around the address
 * @address: where
 * @bytes: how much at most; the span ends with the chunk at the latest
 * @device: who accesses it, or MC_ANY_DEVICE
 * @write: a window's replicas all; else only the one to read
 *
 * Return: 0, or -EINVAL if there is nothing that the device may access.
 */
int mc_span_get(struct mc_span *span, struct mc_reservation *reservation,
		u64 address, u64 bytes, u32 device, bool write)
{
	unsigned long index = address >> MC_CHUNK_SHIFT;
	unsigned long offset = address & (MC_CHUNK_SIZE - 1);
	struct mc_mapping *mapping;

	span->replicas = 0;
	span->bytes = min_t(u64, bytes, MC_CHUNK_SIZE - offset);

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, index);
	if (mapping && may(mapping, device, write)) {
		index = mc_mapping_shows(mapping, index);
		if (mapping->object->type == MEMCAST_TYPE_TEAM) {
			span_team(span, mapping, index, offset, write);
		} else {
			struct mc_memory *memory = mc_memory(mapping->object);

			mc_object_get(&memory->object);
			span_add(span, memory, memory->chunk[index], offset);
		}
	}
	up_read(&reservation->lock);
	return span->replicas ? 0 : -EINVAL;
}

/* Without locks: a memory may end here. */
void mc_span_put(struct mc_span *span)
{
	while (span->replicas)
		mc_object_put(&span->memory[--span->replicas]->object);
}

static bool team_is_bound(struct mc_team *team, struct mc_member *replica,
			  unsigned long index)
{
	u32 i;

	for (i = 0; i < team->joined; i++)
		if ((!replica || replica == &team->member[i]) &&
		    mc_binding_find(&team->member[i], index))
			return true;
	return false;
}

static bool mapping_is_bound(struct mc_mapping *mapping, unsigned long first,
			     unsigned long last)
{
	struct mc_team *team;
	bool bound = true;

	if (mapping->object->type == MEMCAST_TYPE_MEMORY)
		return true;
	team = mc_team(mapping->object);
	down_read(&team->lock);
	for (; bound && first <= last; first++)
		bound = team_is_bound(team, mapping->replica,
				      mc_mapping_shows(mapping, first));
	up_read(&team->lock);
	return bound;
}

/* Could the device access all of the range, as things are now? */
bool mc_span_check(struct mc_reservation *reservation, u64 address, u64 bytes,
		   u32 device, bool write)
{
	unsigned long index = address >> MC_CHUNK_SHIFT;
	unsigned long last = (address + bytes - 1) >> MC_CHUNK_SHIFT;
	bool good = true;

	down_read(&reservation->lock);
	while (good && index <= last) {
		struct mc_mapping *mapping = mc_mapping_find(reservation, index);
		unsigned long end;

		if (!mapping || !may(mapping, device, write)) {
			good = false;
			break;
		}
		end = min(last, mapping->at.last);
		good = mapping_is_bound(mapping, index, end);
		index = end + 1;
	}
	up_read(&reservation->lock);
	return good;
}
