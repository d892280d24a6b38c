// SPDX-License-Identifier: MIT
/* The answers that binds and unbinds should give; checks come in the order of model_rules.c. */
#include "model_rules.h"

int model_pieces(struct model *m, const struct call *c, struct piece pieces[MOST_CHUNKS])
{
	struct reservation *r = model_reservation(m, c->worker, c->address);
	uint64_t at = c->address, end = c->address + c->bytes;
	int count = 0;

	if (c->function == BIND_MEMORY || c->function == BIND_MEMORY_V2) {
		pieces[0].memory = model_object(m, c->worker, c->memory);
		pieces[0].from = c->memory_offset / CHUNK_BYTES;
		pieces[0].chunks = c->bytes / CHUNK_BYTES;
		return 1;
	}
	while (at < end && count < MOST_CHUNKS) {
		struct mapping *p = model_mapping(m, c->worker, at);
		uint64_t left = end - at;

		if (!p || p->object->team)
			return 0;
		if (model_reservation(m, c->worker, at) != r)
			return UNSAID;
		if (left > p->address + p->bytes - at)
			left = p->address + p->bytes - at;
		pieces[count].memory = p->object;
		pieces[count].from = (at - p->address) / CHUNK_BYTES;
		pieces[count++].chunks = left / CHUNK_BYTES;
		at += left;
	}
	return count;
}

static bool overlaps(struct model *m, const struct object *team, int device, const struct call *c)
{
	uint64_t at;

	for (at = c->offset; at < c->offset + c->bytes; at += CHUNK_BYTES)
		if (model_binding(m, team, device, at / CHUNK_BYTES))
			return true;
	return false;
}

int model_bind_device(const struct call *c, const struct object *memory)
{
	bool v2 = c->function == BIND_MEMORY_V2 || c->function == BIND_ADDRESS_V2;

	if (memory->device == ON_HOST)
		return v2 ? c->device : -1;
	return memory->device;
}

int expect_bind_memory(struct model *m, const struct call *c)
{
	struct object *team = team_of(m, c), *memory = model_object(m, c->worker, c->memory);
	bool range_wrong;
	int device;

	if (c->flags || !team || !memory || memory->team)
		return INVALID;
	device = model_bind_device(c, memory);
	if (device < 0 && c->function == BIND_MEMORY)
		return UNSAID;
	if (c->function == BIND_MEMORY_V2 &&
	    (device < 0 || device >= DEVICES || c->device != device))
		return team->types && !memory->types ? UNSAID : NO_DEVICE;
	range_wrong = !c->bytes || misaligned(c->bytes | c->offset | c->memory_offset) ||
		      outside(c->offset, c->bytes, team->chunks) ||
		      outside(c->memory_offset, c->bytes, memory->chunks) ||
		      (team->types && !memory->types);
	if (range_wrong)
		return model_complete(team) && !model_member(team, device) ?
		       UNSAID : INVALID;
	if (!model_complete(team))
		return WAITS;
	if (!model_member(team, device))
		return NO_DEVICE;
	return overlaps(m, team, device, c) ? INVALID : OK;
}

/* The API does not say whether a wrong device or a wrong range is reported first. */
int expect_bind_address(struct model *m, const struct call *c)
{
	bool v2 = c->function == BIND_ADDRESS_V2, device_wrong = false, range_wrong = false;
	struct object *team = team_of(m, c);
	struct piece pieces[MOST_CHUNKS];
	int i, count = 0;

	if (c->flags || !team)
		return INVALID;
	range_wrong = !c->bytes || misaligned(c->bytes | c->offset | c->address) ||
		      outside(c->offset, c->bytes, team->chunks);
	if (!range_wrong)
		count = model_pieces(m, c, pieces);
	if (count < 0)
		return UNSAID;
	if (v2)
		device_wrong = c->device < 0 || c->device >= DEVICES ||
			       (model_complete(team) && !model_member(team, c->device));
	for (i = 0; i < count; i++) {
		int device = model_bind_device(c, pieces[i].memory);

		if (v2 && c->device != device)
			device_wrong = true;
		if (!v2 && (device < 0 || device != model_bind_device(c, pieces[0].memory)))
			return UNSAID;
		if (model_complete(team) && !model_member(team, device))
			device_wrong = true;
		if (team->types && !pieces[i].memory->types)
			range_wrong = true;
	}
	if (!count)
		range_wrong = true;
	/* the mappings of the range can change while the call waits */
	if ((range_wrong || device_wrong) && !model_complete(team))
		return UNSAID;
	if (range_wrong && device_wrong)
		return UNSAID;
	if (range_wrong || device_wrong)
		return range_wrong ? INVALID : NO_DEVICE;
	if (!model_complete(team))
		return WAITS;
	return overlaps(m, team, model_bind_device(c, pieces[0].memory), c) ? INVALID : OK;
}

int expect_unbind(struct model *m, const struct call *c)
{
	struct object *team = team_of(m, c);
	unsigned int at = c->offset / CHUNK_BYTES, end = at + c->bytes / CHUNK_BYTES;

	if (!team)
		return INVALID;
	if (c->device < 0 || c->device >= DEVICES)
		return NO_DEVICE;
	if (!c->bytes || misaligned(c->bytes | c->offset) ||
	    outside(c->offset, c->bytes, team->chunks))
		return model_member(team, c->device) ? INVALID : UNSAID;
	if (!model_member(team, c->device))
		return NO_DEVICE;
	while (at < end) {
		struct binding *b = model_binding(m, team, c->device, at);

		if (!b || b->at != at || b->chunks > end - at)
			return INVALID;
		at += b->chunks;
	}
	/*
	 * The API does not say whether a part of what one call bound from several memories may be
	 * unbound.
	 */
	for_each(b, m->binding)
		for_each(other, m->binding)
			if (b->team == team && other->team == team && b->bind == other->bind &&
			    (b->at >= c->offset / CHUNK_BYTES && b->at < end) !=
			    (other->at >= c->offset / CHUNK_BYTES && other->at < end))
				return UNSAID;
	return OK;
}
