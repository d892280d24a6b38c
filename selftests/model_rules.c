// SPDX-License-Identifier: MIT
/*
 * What each call should answer. Its checks stand in their order: flags, handles,
 * devices, alignment, range, state, resources. Who is a member is state, as long as
 * a team is not complete; where a call is wrong in that and in its range, nothing
 * says which comes first, and it is not made.
 */
#include "model.h"

#define FD		CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define WINDOWS		(CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)
#define FABRIC		CU_MEM_HANDLE_TYPE_FABRIC

#define OK		CUDA_SUCCESS
#define INVALID		CUDA_ERROR_INVALID_VALUE
#define NO_DEVICE	CUDA_ERROR_INVALID_DEVICE

static struct object *team_of(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);

	return o && o->team ? o : NULL;
}

/* ACROSS: more than one reservation; HOLES: that, too, and parts of none */
enum span { WHOLE, HOLES, PARTLY, ACROSS };

/* Whether a range consists of whole mappings */
static enum span span_of(struct model *m, const struct call *c)
{
	uint64_t at = c->address, end = c->address + c->bytes;
	struct reservation *r = model_reservation(m, c->worker, at);
	bool holes = false, parts = false, across = false;

	if (!r || end < at || c->bytes > 1UL << 40)
		return PARTLY;
	while (at < end) {
		struct mapping *p = model_mapping(m, c->worker, at);

		across |= model_reservation(m, c->worker, at) != r;
		holes |= !p;
		parts |= p && (p->address != at || p->bytes > end - at);
		at = p ? p->address + p->bytes : at + CHUNK_BYTES;
	}
	if (across)
		return holes || parts ? PARTLY : ACROSS;
	return parts ? PARTLY : holes ? HOLES : WHOLE;
}

/* Whether the copy engine may go there for the worker's device */
static int reachable(struct model *m, unsigned int worker, uint64_t address, uint64_t bytes,
		     unsigned int access)
{
	struct reservation *r = model_reservation(m, worker, address);
	uint64_t at = address / CHUNK_BYTES * CHUNK_BYTES;
	bool across = false;

	for (; at < address + bytes; at += CHUNK_BYTES) {
		struct mapping *p = model_mapping(m, worker, at);
		uint32_t *words[DEVICES];

		if (!p || (p->access[worker] & access) != access || !model_words(m, p, at, words))
			return INVALID;
		across |= model_reservation(m, worker, at) != r;
	}
	return across ? UNSAID : OK;
}

/* ---- what calls should answer */

static bool misaligned(uint64_t number)
{
	return number % CHUNK_BYTES;
}

static bool outside(uint64_t offset, uint64_t bytes, unsigned int chunks)
{
	return offset > chunks * CHUNK_BYTES || bytes > chunks * CHUNK_BYTES - offset;
}

static int expect_types(const struct model *m, uint64_t types)
{
	if (types & ~(uint64_t)(FD | WINDOWS | FABRIC))
		return INVALID;
	if (types & WINDOWS)
		return INVALID;
	if (types & FABRIC)
		return m->channels ? UNSAID : CUDA_ERROR_NOT_PERMITTED;
	return OK;
}

static int expect_create(struct model *m, const struct call *c)
{
	/* other bits mean nothing */
	int types = expect_types(m, c->types & (FD | WINDOWS | FABRIC));

	if (c->flags || c->kind != CU_MEM_ALLOCATION_TYPE_PINNED)
		return INVALID;
	if (types == INVALID)
		return types;
	if (c->host && (c->compression || c->rdma))
		return INVALID;
	if (c->device < 0 || c->device >= (c->host ? 1 : DEVICES))
		return c->host ? INVALID : NO_DEVICE;
	/* of the host's memory only what devices can have too */
	if (c->host && c->bytes / CHUNK_BYTES > MOST_CHUNKS && !misaligned(c->bytes))
		return UNSAID;
	if (!c->bytes || misaligned(c->bytes))
		return INVALID;
	if (types)
		return types;
	if (!c->host && c->bytes / CHUNK_BYTES > model_free_chunks(m, c->device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return c->bytes / CHUNK_BYTES > MOST_CHUNKS ? UNSAID : OK;
}

static int expect_team_create(struct model *m, const struct call *c)
{
	int types = expect_types(m, c->types);

	if (c->flags || types == INVALID)
		return INVALID;
	if (c->device < 2 || c->device > DEVICES || !c->bytes || misaligned(c->bytes))
		return INVALID;
	if (types)
		return types;
	return c->bytes / CHUNK_BYTES > MOST_CHUNKS ? UNSAID : OK;
}

static int expect_map(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);
	struct reservation *r = model_reservation(m, c->worker, c->address);
	uint64_t at;

	if (c->flags || !o || !c->bytes)
		return INVALID;
	/* where the address is wrong as well, nothing says which comes first */
	if (!o->team && (c->offset || c->bytes != o->chunks * CHUNK_BYTES))
		return !r || misaligned(c->address) ? UNSAID : CUDA_ERROR_NOT_SUPPORTED;
	if (c->offset || misaligned(c->address | c->bytes) ||
	    outside(0, c->bytes, o->chunks))
		return INVALID;
	if (!r || c->bytes > r->address + r->bytes - c->address)
		return INVALID;
	for (at = c->address; at < c->address + c->bytes; at += CHUNK_BYTES)
		if (model_mapping(m, c->worker, at))
			return o->team && !model_complete(o) ? UNSAID : INVALID;
	return o->team && !model_complete(o) ? WAITS : OK;
}

static int expect_set_access(struct model *m, const struct call *c)
{
	enum span span;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < c->count; i++)
		if (c->access[i].flags > 3 || c->access[i].flags == 2 ||
		    c->access[i].device < 0 || c->access[i].device >= DEVICES)
			return INVALID;
	if (!c->count || !c->bytes || misaligned(c->address | c->bytes))
		return INVALID;
	span = span_of(m, c);
	if (span != WHOLE)
		return span == ACROSS ? UNSAID : INVALID;
	for (at = c->address; at < c->address + c->bytes; at += CHUNK_BYTES)
		for (i = 0; i < c->count; i++) {
			struct object *o = model_mapping(m, c->worker, at)->object;

			if (o->team && !model_member(o, c->access[i].device))
				return NO_DEVICE;
		}
	return OK;
}

static int expect_add(struct model *m, const struct call *c)
{
	struct object *team = team_of(m, c);

	if (!team)
		return INVALID;
	if (c->device < 0 || c->device >= DEVICES)
		return NO_DEVICE;
	if (model_member(team, c->device))
		return CUDA_ERROR_UNKNOWN;
	return model_complete(team) ? INVALID : OK;
}

int model_pieces(struct model *m, const struct call *c, struct piece pieces[MOST_CHUNKS])
{
	struct reservation *r = model_reservation(m, c->worker, c->address);
	uint64_t at = c->address, end = c->address + c->bytes;
	int count = 0;

	if (c->verb == BIND_MEMORY || c->verb == BIND_MEMORY_V2) {
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
	bool v2 = c->verb == BIND_MEMORY_V2 || c->verb == BIND_ADDRESS_V2;

	if (memory->device == ON_HOST)
		return v2 ? c->device : -1;
	return memory->device;
}

static int expect_bind_memory(struct model *m, const struct call *c)
{
	struct object *team = team_of(m, c), *memory = model_object(m, c->worker, c->memory);
	bool range_wrong;
	int device;

	if (c->flags || !team || !memory || memory->team)
		return INVALID;
	device = model_bind_device(c, memory);
	if (device < 0 && c->verb == BIND_MEMORY)
		return UNSAID;
	if (c->verb == BIND_MEMORY_V2 && (device < 0 || device >= DEVICES || c->device != device))
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

/* Nothing says which comes first of a wrong device and a wrong range. */
static int expect_bind_address(struct model *m, const struct call *c)
{
	bool v2 = c->verb == BIND_ADDRESS_V2, device_wrong = false, range_wrong = false;
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
	/* what is mapped there can change while the call waits */
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

static int expect_unbind(struct model *m, const struct call *c)
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
	/* What one call has bound from several memories: may a part of it go? */
	for_each(b, m->binding)
		for_each(other, m->binding)
			if (b->team == team && other->team == team && b->bind == other->bind &&
			    (b->at >= c->offset / CHUNK_BYTES && b->at < end) !=
			    (other->at >= c->offset / CHUNK_BYTES && other->at < end))
				return UNSAID;
	return OK;
}

static int expect_copy(struct model *m, const struct call *c)
{
	int to = OK, from = OK;

	if (c->verb == FILL && c->address % c->width)
		return INVALID;
	if (c->verb != COPY_OUT)
		to = reachable(m, c->worker, c->address, c->bytes, 3);
	if (c->verb == COPY || c->verb == COPY_OUT)
		from = reachable(m, c->worker, c->from, c->bytes, 1);
	if (to == INVALID || from == INVALID)
		return INVALID;
	return to == UNSAID || from == UNSAID ? UNSAID : OK;
}

static bool full(struct model *m, const struct call *c)
{
	unsigned int objects = 0, handles = 0, reservations = 0, mappings = 0, bindings = 0;
	unsigned int fds = 0, views = 0;

	for_each(o, m->object)
		objects += o->alive;
	for_each(h, m->handle[c->worker])
		handles += h->object != NULL;
	for_each(r, m->reservation[c->worker])
		reservations += r->bytes != 0;
	for_each(p, m->mapping)
		mappings += p->object != NULL;
	for_each(b, m->binding)
		bindings += b->team != NULL;
	for_each(f, m->fd)
		fds += f->object != NULL;
	for_each(v, m->view)
		views += v->object != NULL;
	switch (c->verb) {
	case CREATE:
	case TEAM_CREATE:
		return objects == OBJECTS || handles == HANDLES;
	case RETAIN:
	case IMPORT:
		return handles == HANDLES;
	case RESERVE:
		return reservations == RESERVATIONS;
	case MAP:
		return mappings == MAPPINGS;
	case EXPORT:
		return fds == FDS;
	case VIEW_CREATE:
		return views == VIEWS;
	default:
		return bindings > BINDINGS - MOST_CHUNKS;
	}
}

static int expect(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);
	struct reservation *r = model_reservation(m, c->worker, c->address);
	enum span span;

	switch (c->verb) {
	case CREATE:
		return expect_create(m, c);
	case RELEASE:
		return o && model_handle(m, c->worker, c->handle)->references ? OK : INVALID;
	case RETAIN:
		return model_mapping(m, c->worker, c->address) ? OK : INVALID;
	case PROPERTIES:
		return o && !o->team ? OK : INVALID;
	case GRANULARITY:
	case TEAM_GRANULARITY:
		return c->kind == 0 || c->kind == 1 ? OK : INVALID;
	case EXPORT:
		return !c->flags && o && c->types == FD && (o->types & FD) &&
		       !model_handle(m, c->worker, c->handle)->imported ? OK : INVALID;
	case IMPORT:
		/* a pointer, then */
		if (c->types == FABRIC)
			return UNSAID;
		if (c->types != FD)
			return INVALID;
		return c->fd >= 0 ? OK : CUDA_ERROR_UNKNOWN;
	case RESERVE:
		if (c->flags || !c->bytes || misaligned(c->bytes | c->address) ||
		    (c->offset & (c->offset - 1)) || c->offset >> 47)
			return INVALID;
		return c->address >> 47 ? CUDA_ERROR_OUT_OF_MEMORY : OK;
	case FREE:
		if (!r || r->address != c->address || r->bytes != c->bytes)
			return INVALID;
		for_each(p, m->mapping)
			if (p->object && p->worker == c->worker && p->address >= r->address &&
			    p->address - r->address < r->bytes)
				return INVALID;
		return OK;
	case MAP:
		return expect_map(m, c);
	case UNMAP:
		if (!c->bytes || misaligned(c->address | c->bytes))
			return INVALID;
		span = span_of(m, c);
		return span == WHOLE || span == HOLES ? OK : span == ACROSS ? UNSAID : INVALID;
	case SET_ACCESS:
		return expect_set_access(m, c);
	case GET_ACCESS:
		if (c->device < 0 || c->device >= DEVICES)
			return NO_DEVICE;
		return model_mapping(m, c->worker, c->address) ? OK : INVALID;
	case TEAM_CREATE:
		return expect_team_create(m, c);
	case TEAM_ADD:
		return expect_add(m, c);
	case BIND_MEMORY:
	case BIND_MEMORY_V2:
		return expect_bind_memory(m, c);
	case BIND_ADDRESS:
	case BIND_ADDRESS_V2:
		return expect_bind_address(m, c);
	case UNBIND:
		return expect_unbind(m, c);
	case FILL:
	case COPY_IN:
	case COPY_OUT:
	case COPY:
		return expect_copy(m, c);
	case VIEW_CREATE:
		if (!o || !o->team || !c->bytes || misaligned(c->bytes | c->offset) ||
		    outside(c->offset, c->bytes, o->chunks))
			return INVALID;
		return model_complete(o) ? OK : WAITS;
	default:
		return OK;
	}
}

/* How a view is made of mappings is not said, so neither what calls do to them. */
static bool in_view(const struct model *m, unsigned int worker, uint64_t start, uint64_t end)
{
	int i;

	for_each(v, m->view)
		for (i = 0; v->object && v->worker == worker && i < v->object->joined_count; i++)
			if (start < v->replica[i] + v->bytes && v->replica[i] < end)
				return true;
	return false;
}

int model_expect(struct model *m, const struct call *c)
{
	int result = expect(m, c);

	if (c->verb != RESERVE && c->verb != STORE && c->verb != LOOK &&
	    (in_view(m, c->worker, c->address, c->address + CHUNK_BYTES) ||
	     in_view(m, c->worker, c->address, c->address + c->bytes) ||
	     in_view(m, c->worker, c->from, c->from + c->bytes)))
		return UNSAID;
	return (result == OK || result == WAITS) && full(m, c) ? UNSAID : result;
}
